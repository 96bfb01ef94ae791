"""What a face shows, by network and pattern, set right by what is known of one table's dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.colour import Palette
from vision.dice.judging import PATTERN_WEIGHT, RARER
from vision.dice.networks import COCKED, FaceClassifier
from vision.dice.pips import FACE_PX, SPREAD, pattern_shares
from vision.dice.profile import NO_FACE, LearntFace
from vision.frame import Frame

Floats = NDArray[np.float32]

_LEAST = 0.02
_FLOOR = -9.0  # log chances below are all the same
_FEW = 12  # faces with a value from which corrections are learnt
_PULL = 0.004  # how strongly corrections are held to none, per face
_CORRECTED = 4.0  # what a face counts that a referee named
_STEPS = 400
_STRANGE = np.array(
    [22.0, 8.0, 8.0], np.float32
)  # 8-bit Lab: usual differences of one die's body under drifting light
_FREE = 2.0  # such differences that cost nothing
_NEIGHBOURS = 3


@dataclass(frozen=True)
class Judged:
    """What a face may be. `values`: chances (6,) of 1 to 6 if it is a top face; `is_die`: chance that it is one, of a
    die at rest or leaning; `is_cocked`: chance that it leans; `owner`: whose by its colours, empty when unknown."""

    values: Floats
    is_die: float
    is_cocked: float
    owner: str = ""

    @property
    def value(self) -> int:
        """The likeliest."""
        return int(self.values.argmax()) + 1

    @property
    def chance(self) -> float:
        """That the likeliest value is right."""
        return float(self.values.max()) * (self.is_die - self.is_cocked)


class TunedJudge:
    """Judges cut faces. `learnt`: what is known of this table's dice; none: the networks as they are."""

    def __init__(self, classifier: FaceClassifier, learnt: Sequence[LearntFace] = ()) -> None:
        self._classifier = classifier
        faces = [face for face in learnt if face.value != NO_FACE]
        colours = [colours_of(face.picture) for face in faces]
        self._bodies = np.array([body for body, _ in colours], np.float32).reshape(-1, 3)
        owned = [(f.owner, *c) for f, c in zip(faces, colours, strict=True) if f.owner]
        self._palette = Palette(owned) if owned else None
        self._weights: Floats | None = None
        if len(faces) >= _FEW:
            self._weights = self._fitted(learnt)

    def judge(self, looks: Sequence[Sequence[Frame]]) -> list[Judged]:
        """One answer per face; each face by several looks, its plain cut first, as `pips.cut` makes them."""
        if not looks:
            return []
        base, signs, cocked = self._evidence(looks)
        if self._weights is not None:
            base = base + signs @ self._weights
        bodies = [colours_of(face[0]) for face in looks]
        base[:, 0] += self._strangeness(np.array([body for body, _ in bodies], np.float32))
        shares = _softmax(base)
        found = []
        for share, lean, (body, ink) in zip(shares, cocked, bodies, strict=True):
            values = share[1:] / max(1e-9, float(share[1:].sum()))
            is_die = 1.0 - float(share[0])
            owner = self._palette.whose(body, ink) if self._palette else None
            name = owner.owner if owner is not None and owner.is_known else ""
            found.append(Judged(np.asarray(values, np.float32), is_die, float(lean) * is_die, name))
        return found

    def _evidence(self, looks: Sequence[Sequence[Frame]]) -> tuple[Floats, Floats, Floats]:
        """(n, 7) log chances of no top face and of 1 to 6; (n, 16) signs that corrections weigh; (n,) share of
        leaning ones among dice."""
        count = len(looks[0])
        raw = self._classifier.logs([face for several in looks for face in several])
        logs = np.maximum(raw.reshape(len(looks), count, -1).mean(1), _FLOOR) - RARER
        pattern = np.log(np.maximum(np.stack([pattern_shares(several[0]) for several in looks]), _LEAST))
        dice = np.logaddexp(np.logaddexp.reduce(logs[:, 1:7], axis=1), logs[:, COCKED])
        none = np.logaddexp(logs[:, 0], logs[:, 7])
        # The pattern moves chances among the values, not from no die to a die.
        values = logs[:, 1:7] + PATTERN_WEIGHT * pattern
        values += (dice - np.logaddexp.reduce(values, axis=1))[:, None]
        base = np.column_stack([none, values])
        signs = np.column_stack([logs / 4, pattern / 4, np.ones(len(logs))])
        cocked = np.exp(logs[:, COCKED] - dice)
        return np.asarray(base, np.float32), np.asarray(signs, np.float32), np.asarray(cocked, np.float32)

    def _fitted(self, learnt: Sequence[LearntFace]) -> Floats:
        """Weights (16, 7) that set the log chances right for the learnt faces, held near 0."""
        base, signs, _ = self._evidence([(face.picture,) for face in learnt])
        wanted = np.eye(7, dtype=np.float32)[[face.value for face in learnt]]
        counts = np.array([_CORRECTED if face.is_corrected else 1.0 for face in learnt], np.float32)
        weights = np.zeros((signs.shape[1], 7), np.float32)
        speed = np.zeros_like(weights)
        rate = 1.0 / float((counts[:, None] * signs**2).sum(1).max() + 1e-6)
        rate = min(rate, 0.5) * 2.0 / np.sqrt(len(learnt))
        for _ in range(_STEPS):
            off = (_softmax(base + signs @ weights) - wanted) * counts[:, None]
            slope = signs.T @ off + _PULL * len(learnt) * weights
            speed = 0.9 * speed - rate * slope
            weights = weights + speed
        return np.asarray(weights, np.float32)

    def _strangeness(self, bodies: Floats) -> Floats:
        """(n,) log odds against a body colour (n, 3) that no learnt die has."""
        if len(self._bodies) < _FEW:
            return np.zeros(len(bodies), np.float32)
        apart = np.linalg.norm((bodies[:, None] - self._bodies[None]) / _STRANGE, axis=2)
        few = min(_NEIGHBOURS, apart.shape[1])
        near = np.partition(apart, few - 1, axis=1)[:, :few].mean(1)
        return np.asarray(np.maximum(0.0, near - _FREE) ** 2, np.float32)


def colours_of(face: Frame) -> tuple[Floats, Floats]:
    """(body, ink) of a cut face as 8-bit Lab (3,) each: the larger and the smaller of the two colours on it."""
    lab = cv2.cvtColor(face, cv2.COLOR_BGR2LAB).astype(np.float32)
    pixels = lab[_INNER]
    body = np.median(pixels, axis=0)
    far = np.linalg.norm(pixels - body, axis=1)
    ink = np.median(pixels[far >= np.percentile(far, 95)], axis=0)
    return np.asarray(body, np.float32), np.asarray(ink, np.float32)


def _disc(share: float) -> NDArray[np.bool_]:
    y, x = np.mgrid[0:FACE_PX, 0:FACE_PX] - (FACE_PX - 1) / 2
    return np.asarray(np.hypot(x, y) < share * FACE_PX / SPREAD, np.bool_)


_INNER = _disc(0.44)


def _softmax(logs: Floats) -> Floats:
    shares = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True), np.float32)
