"""Reading dice with numerals: which kind of die, which number, by a network that was taught on renders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.finding import Mask, Spot, changed
from vision.dice.networks import MODELS, FaceFinder, planes, session
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_looks import (
    KINDS,
    LEGAL,
    NEAR_REACH,
    TEXTS,
    TURNS,
    WIDE_REACH,
    Pose,
    cut,
    look,
)
from vision.dice.reading import Reading
from vision.frame import Frame
from vision.surface import Surface

Floats = NDArray[np.float32]

SMALLEST_RADIUS_PX = 14.0
RADIUS_OF_SIDE = 0.67  # of the edge that the finder tells: half of what is seen of a die across
_TURNS_DEG = (
    (0.0, 180.0),
    (0.0, 90.0, 180.0, 270.0),
)  # at each look at its place, the place put right after each
_AROUND_DEG = (0.0, 90.0, 180.0, 270.0)  # from which it is told which way round the numeral stands
_AGAIN = ((-6.0, 1.0), (0.0, 1.05))  # turned by, grown by
_WORTH_READING = 0.04  # chance of a die at the first look from which it is looked at again
_WAYS = 3  # ways round that are taken for possible
_PER_WAY = 0.5  # of their log-chances: what can be read there says more
_HARDLY = 3.0  # log-chance below the likeliest way from which one is not read
_OTHER_WAY = 3  # of TURNS: ways round are farther apart
_LIKELY_KINDS = 2  # kinds of die whose numerals are looked for
_AT_ONCE = 32  # looks that a network is given at once: more take longer each
_MOST_SHIFT, _MOST_GROWTH = 0.45, 1.5  # how far a look corrects place and size
_CLASSES = len(KINDS) + 2
_MOVES = 3  # right and down to the top face's middle in radii, log of the radius against the assumed one
_READINGS = len(TEXTS) + 1  # the last: not upright
_FAR_LESS_LIKELY = 3.0  # log-chance of a kind below the likeliest from which its numerals are not looked for
_NEVER = -12.0  # log-chance of a text that was not looked for
_LEAST_DIE = 0.5  # chance of a die with numerals, below which a spot is none
_LEAST_SURE = 0.5  # chance of kind and value, below which it is not said
_APART = 0.8  # middles of two dice are farther apart than this share of the larger radius
_COVERED = 0.35  # of a die's middle that must differ from the empty table


@dataclass(frozen=True)
class Judged:
    """What the networks say of one spot: `pose` of the die, log-probabilities of classes (classes,) and, were it of the
    kind, of texts (KINDS, TEXTS)."""

    pose: Pose
    kinds: Floats
    texts: Floats
    score: float

    @property
    def is_die(self) -> float:
        """Chance that a die with numerals lies there."""
        return float(np.exp(self.kinds[: len(KINDS)]).sum())


class NumeralNetwork:
    """Tells kind, number and pose of cut dice."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where the networks lie, by default in the package."""
        self._place = session(Path(str((folder or MODELS) / "numerals_place.onnx")))
        self._read = session(Path(str((folder or MODELS) / "numerals_read.onnx")))

    def judged(self, frame: Frame, spots: Sequence[Spot], kinds: Sequence[str] = KINDS) -> list[Judged]:
        """What lies at each spot where a die may be: its exact place first, then which way round its numeral stands,
        then what it is. `kinds`: those that may lie there."""
        poses = [(Pose(s.x_px, s.y_px, s.side_px * RADIUS_OF_SIDE), s) for s in spots]
        logs = np.zeros((0, _CLASSES), np.float32)
        for turns in _TURNS_DEG:
            logs, poses = self._placed(frame, poses, turns)
        return self._judge(frame, poses, logs, kinds)

    def _placed(
        self, frame: Frame, spots: list[tuple[Pose, Spot]], turns: Sequence[float]
    ) -> tuple[Floats, list[tuple[Pose, Spot]]]:
        """The spots where a die may be: log-probabilities (n, classes), and each pose put right."""
        all_logs: list[Floats] = []
        placed: list[tuple[Pose, Spot]] = []
        if spots:
            pieces = [cut(frame, pose) for pose, _ in spots]
            seen = [look(piece, WIDE_REACH, (0.0, 0.0), 1.0, turn) for piece in pieces for turn in turns]
            out = _run(self._place, seen).reshape(len(spots), len(turns), -1)
            for rows, (pose, spot) in zip(out, spots, strict=True):
                kinds = _mean_logs(_logs(rows[:, :_CLASSES]))
                if float(np.exp(kinds[: len(KINDS)]).sum()) >= _WORTH_READING:
                    all_logs.append(kinds)
                    placed.append((_corrected(pose, rows[:, _CLASSES:], turns), spot))
        return np.array(all_logs, np.float32).reshape(-1, _CLASSES), placed

    def _judge(
        self, frame: Frame, spots: list[tuple[Pose, Spot]], logs: Floats, kinds: Sequence[str]
    ) -> list[Judged]:
        """What each die says, were it of its likeliest kinds; all dice are looked at together."""
        pieces = [cut(frame, pose) for pose, _ in spots]
        asked = [(n, kind) for n, row in enumerate(logs) for kind in _likely_kinds(row, kinds)]
        seen = [
            look(pieces[n], NEAR_REACH[kind], (0.0, 0.0), 1.0, turn)
            for n, kind in asked
            for turn in _AROUND_DEG
        ]
        turned = _logs(_run(self._read, seen)[:, _READINGS:]).reshape(-1, len(_AROUND_DEG), TURNS)
        back = [round(turn * TURNS / 360.0) for turn in _AROUND_DEG]
        ways = [
            _ways_round(_mean_logs(np.stack([np.roll(w, step) for w, step in zip(rows, back, strict=True)])))
            for rows in turned
        ]
        seen = [
            look(pieces[n], NEAR_REACH[kind], (0.0, 0.0), grow, way + off)
            for (n, kind), likely in zip(asked, ways, strict=True)
            for way, _ in likely
            for off, grow in _AGAIN
        ]
        read = _logs(_run(self._read, seen)[:, :_READINGS]).reshape(-1, len(_AGAIN), _READINGS).mean(1)
        texts = np.full((len(spots), len(KINDS), len(TEXTS)), _NEVER, np.float32)
        turns: dict[int, float] = {}
        end = 0
        for (n, kind), likely in zip(asked, ways, strict=True):
            here, end = read[end : end + len(likely), : len(TEXTS)], end + len(likely)
            said = np.logaddexp.reduce(here + _PER_WAY * np.array([[log] for _, log in likely]), axis=0)
            legal = [TEXTS.index(text) for text in LEGAL[kind]]
            # What is no text of the kind speaks against it: a 70 is on no d10.
            texts[n, KINDS.index(kind), legal] = (said - np.logaddexp.reduce(said))[legal]
            turns.setdefault(n, likely[0][0])
        return [
            Judged(replace(pose, turn_deg=turns[n]), logs[n], texts[n], spot.score)
            for n, (pose, spot) in enumerate(spots)
        ]


def _likely_kinds(logs: Floats, kinds: Sequence[str]) -> list[str]:
    """Of `kinds` those whose numerals are looked for, the likeliest first."""
    likely = sorted(kinds, key=lambda kind: -float(logs[KINDS.index(kind)]))[:_LIKELY_KINDS]
    least = float(logs[KINDS.index(likely[0])]) - _FAR_LESS_LIKELY
    return [kind for kind in likely if kind == likely[0] or logs[KINDS.index(kind)] > least]


def _run(network: ort.InferenceSession, seen: Sequence[Frame]) -> Floats:
    """(looks, what the network says)."""
    parts = [seen[k : k + _AT_ONCE] for k in range(0, max(1, len(seen)), _AT_ONCE)]
    outs = [network.run(None, {"picture": planes(np.stack(part))})[0] for part in parts if part]
    width = network.get_outputs()[0].shape[1]
    return np.asarray(np.concatenate(outs) if outs else np.zeros((0, width)), np.float32)


class NumeralReader:
    """Reads dice with numerals that nobody enrolled; to be used from one thread."""

    def __init__(self, conventions: Conventions | None = None, empty: Frame | None = None) -> None:
        """`empty`: the same camera's picture of the table without dice."""
        self._conventions = conventions or Conventions()
        self._empty = empty
        self._finder = FaceFinder()
        self._network = NumeralNetwork()

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in `frame` (uint8 BGR (rows, columns, 3)), from the top left; a doubtful one has no value.

        `box_px` holds the die, `confidence` is the chance that kind and value are right. Tells no places on the
        table: `composed.ComposedReader` does.
        """
        found = self.found(frame)
        dice = tuple(self.told(frame, one, self._by_network(one)) for one in found)
        return Reading(
            tuple(sorted(dice, key=lambda die: (die.box_px[1], die.box_px[0]))), () if dice else ("no_dice",)
        )

    def found(self, frame: Frame, least_die: float = _LEAST_DIE) -> list[Judged]:
        """The dice with numerals in `frame`, one a place, the likeliest first; `least_die`: chance of being one."""
        judged = self._network.judged(frame, self._finder.find(frame), self._conventions.kinds)
        if self._empty is not None:
            mask = changed(frame, self._empty)
            judged = [one for one in judged if _covered(mask, one.pose) > _COVERED]
        kept: list[Judged] = []
        for one in sorted(judged, key=lambda j: -j.is_die):
            apart = all(
                _distance(one.pose, k.pose) > _APART * max(one.pose.radius_px, k.pose.radius_px) for k in kept
            )
            if one.is_die >= least_die and apart:
                kept.append(one)
        return kept

    def _by_network(self, one: Judged) -> tuple[str, str, float]:
        return best_of(one, self._conventions.kinds)

    def told(self, frame: Frame, one: Judged, face: tuple[str, str, float]) -> DieSeen:
        """The die as it is told: its value where the chance in `face` (kind, text, chance) is good enough, else why
        not."""
        kind, text, chance = face
        pose = one.pose
        box = (
            round(pose.x_px - pose.radius_px),
            round(pose.y_px - pose.radius_px),
            round(pose.x_px + pose.radius_px),
            round(pose.y_px + pose.radius_px),
        )
        reason = None
        if max(-box[0], -box[1], box[2] - frame.shape[1], box[3] - frame.shape[0]) > 0.6 * pose.radius_px:
            reason = "cut_off"
        elif pose.radius_px < SMALLEST_RADIUS_PX:
            reason = "too_small"
        elif chance < _LEAST_SURE:
            reason = "margin"
        return DieSeen(
            kind=kind,
            value=None if reason else self._conventions.value(kind, text),
            box_px=box,
            confidence=round(chance, 3),
            reason=reason,
        )


def best_of(one: Judged, kinds: Sequence[str]) -> tuple[str, str, float]:
    """(kind, text, chance) that is likeliest where only these kinds of dice are."""
    best = ("", "", -np.inf)
    total = []
    for kind in kinds:
        of_kind = float(one.kinds[KINDS.index(kind)])
        for text in LEGAL[kind]:
            log = of_kind + float(one.texts[KINDS.index(kind), TEXTS.index(text)])
            total.append(log)
            if log > best[2]:
                best = (kind, text, log)
    share = float(np.exp(best[2] - np.logaddexp.reduce(total)))
    allowed = float(np.exp(one.kinds[[KINDS.index(kind) for kind in kinds]]).sum())
    return best[0], best[1], share * allowed / (allowed + 1.0 - one.is_die + 1e-6)


def _logs(out: NDArray[np.float32]) -> Floats:
    top = out.max(1, keepdims=True)
    return np.asarray(out - top - np.log(np.exp(out - top).sum(1, keepdims=True)), np.float32)


def _mean_logs(rows: Floats) -> Floats:
    return np.asarray(_logs(rows.mean(0, keepdims=True))[0], np.float32)


def _corrected(pose: Pose, rows: Floats, turns: Sequence[float]) -> Pose:
    """The pose after what the looks at `turns` said of it."""
    shifts = []
    for (dx, dy), turn in zip(rows[:, :2].tolist(), turns, strict=True):
        cos, sin = float(np.cos(np.radians(turn))), float(np.sin(np.radians(turn)))
        shifts.append((cos * dx - sin * dy, sin * dx + cos * dy))
    limit = float(np.log(_MOST_GROWTH))
    x, y = np.clip(np.mean(shifts, axis=0), -_MOST_SHIFT, _MOST_SHIFT) * pose.radius_px
    growth = float(np.exp(np.clip(rows[:, 2].mean(), -limit, limit)))
    return Pose(pose.x_px + float(x), pose.y_px + float(y), pose.radius_px * growth)


def _ways_round(logs: Floats) -> list[tuple[float, float]]:
    """The likeliest ways round as (degrees, log-chance against each other), by (TURNS,) log-probabilities."""
    chance = np.exp(logs)
    near = chance + np.roll(chance, 1) + np.roll(chance, -1)
    ways: list[tuple[int, float, float]] = []
    for k in np.argsort(-near).tolist():
        beside = np.array([k - 1, k, k + 1])
        weight = chance[beside % TURNS] + 1e-9
        if all(abs((k - other + TURNS / 2) % TURNS - TURNS / 2) >= _OTHER_WAY for other, _, _ in ways):
            ways.append((k, float((weight * beside).sum() / weight.sum()), float(np.log(near[k] + 1e-9))))
        if len(ways) == _WAYS:
            break
    ways = [way for way in ways if way[2] > ways[0][2] - _HARDLY]
    total = float(np.logaddexp.reduce([log for _, _, log in ways]))
    return [(place * 360.0 / TURNS, log - total) for _, place, log in ways]


def _distance(one: Pose, other: Pose) -> float:
    return float(np.hypot(one.x_px - other.x_px, one.y_px - other.y_px))


def _covered(mask: Mask, pose: Pose) -> float:
    """Share of a die's middle that is set in the mask."""
    disc = np.zeros_like(mask)
    cv2.circle(disc, (round(pose.x_px), round(pose.y_px)), max(2, round(0.6 * pose.radius_px)), 255, -1)
    return float((mask[disc > 0] > 0).mean()) if disc.any() else 0.0
