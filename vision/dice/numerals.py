"""Reading dice with numerals: which kind of die, which number, by a network that was taught on renders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.finding import Mask, Spot, changed
from vision.dice.networks import MODELS, FaceFinder, session
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_looks import KINDS, LEGAL, TEXTS, Pose, cut, features, looks
from vision.dice.reading import Reading
from vision.frame import Frame
from vision.surface import Surface

Floats = NDArray[np.float32]

SMALLEST_RADIUS_PX = 14.0
_RADIUS_OF_SIDE = 0.67  # of the edge that the finder tells: half of what is seen of a die across
_FIRST_TURNS_DEG = (0.0, 90.0, 180.0, 270.0)
_TURNS_DEG = tuple(30.0 * k for k in range(12))
_AGAIN = ((-6.0, 1.0), (6.0, 1.0), (0.0, 0.95), (0.0, 1.05))  # turned by, grown by
_CORRECTIONS = 2  # how often the place is put right
_WORTH_SCAN = 0.04  # chance of a die at the first look from which it is looked at again
_WAYS = 2  # ways round that are taken for possible
_OTHER_WAY_DEG = 65.0  # ways round are farther apart
_MOST_SHIFT, _MOST_GROWTH = 0.45, 1.5  # how far a first look corrects place and size
_CLASSES = len(KINDS) + 2
_LEAST_DIE = 0.5  # chance of a die with numerals, below which a spot is none
_LEAST_SURE = 0.6  # chance of kind and value, below which it is not said
_APART = 0.8  # middles of two dice are farther apart than this share of the larger radius
_COVERED = 0.35  # of a die's middle that must differ from the empty table


@dataclass(frozen=True)
class Judged:
    """What the network says of one spot: `pose` of the die, log-probabilities of classes and texts."""

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

    def __init__(self) -> None:
        self._session = session(Path(str(MODELS / "numerals.onnx")))

    def said(self, seen: Sequence[Frame]) -> tuple[Floats, Floats, Floats]:
        """(n, classes) and (n, texts) log-probabilities and (n, GEOMETRY) of n `looks`."""
        edges = np.stack([features(one) for one in seen]).astype(np.float32) / np.float32(255)
        (out,) = self._session.run(None, {"features": edges})
        texts = out[:, _CLASSES : _CLASSES + len(TEXTS)]
        return _logs(out[:, :_CLASSES]), _logs(texts), np.asarray(out[:, _CLASSES + len(TEXTS) :], np.float32)

    def judged(self, frame: Frame, spots: Sequence[Spot]) -> list[Judged]:
        """What lies at each spot where a die may be: its exact place first, then which way round its numeral stands,
        then what it is."""
        poses = [(Pose(s.x_px, s.y_px, s.side_px * _RADIUS_OF_SIDE), s) for s in spots]
        for _ in range(_CORRECTIONS):
            poses = self._placed(frame, poses)
        return [self._judge(cut(frame, pose), pose, spot) for pose, spot in poses]

    def _placed(self, frame: Frame, spots: list[tuple[Pose, Spot]]) -> list[tuple[Pose, Spot]]:
        """The spots where a die may be, each pose put right as the network sees it."""
        if not spots:
            return spots
        seen = []
        for pose, _ in spots:
            piece = cut(frame, pose)
            seen += [looks(piece, (0.0, 0.0), 1.0, turn) for turn in _FIRST_TURNS_DEG]
        kinds, _, geometry = self.said(seen)
        per = len(_FIRST_TURNS_DEG)
        placed = []
        for k, (pose, spot) in enumerate(spots):
            rows = slice(k * per, (k + 1) * per)
            if float(np.exp(kinds[rows, : len(KINDS)]).sum(1).mean()) >= _WORTH_SCAN:
                placed.append((_corrected(pose, geometry[rows]), spot))
        return placed

    def _judge(self, piece: Frame, pose: Pose, spot: Spot) -> Judged:
        kinds, _, geometry = self.said([looks(piece, (0.0, 0.0), 1.0, turn) for turn in _TURNS_DEG])
        ways = _ways_round(geometry[:, 3])
        again = [looks(piece, (0.0, 0.0), grow, way + turn) for way, _ in ways for turn, grow in _AGAIN]
        more_kinds, texts, _ = self.said(again)
        per_way = [_mean_logs(rows) for rows in texts.reshape(len(ways), len(_AGAIN), -1)]
        mixed = np.logaddexp.reduce(
            [log + text for (_, log), text in zip(ways, per_way, strict=True)], axis=0
        )
        return Judged(
            Pose(pose.x_px, pose.y_px, pose.radius_px, ways[0][0]),
            _mean_logs(np.concatenate([kinds, more_kinds])),
            np.asarray(mixed, np.float32),
            spot.score,
        )


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
        dice = tuple(self.told(frame, one, *self._by_network(one)) for one in found)
        return Reading(
            tuple(sorted(dice, key=lambda die: (die.box_px[1], die.box_px[0]))), () if dice else ("no_dice",)
        )

    def found(self, frame: Frame, least_die: float = _LEAST_DIE) -> list[Judged]:
        """The dice with numerals in `frame`, one a place, the likeliest first; `least_die`: chance of being one."""
        judged = self._network.judged(frame, self._finder.find(frame))
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

    def told(self, frame: Frame, one: Judged, kind: str, text: str, chance: float) -> DieSeen:
        """The die as it is told: its value where the chance is good enough, else why not."""
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
            log = of_kind + float(one.texts[TEXTS.index(text)])
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


def _corrected(pose: Pose, rows: Floats) -> Pose:
    """The pose after what the looks at _FIRST_TURNS_DEG said of it."""
    shifts = []
    for (dx, dy), turn in zip(rows[:, :2].tolist(), _FIRST_TURNS_DEG, strict=True):
        cos, sin = float(np.cos(np.radians(turn))), float(np.sin(np.radians(turn)))
        shifts.append((cos * dx - sin * dy, sin * dx + cos * dy))
    limit = float(np.log(_MOST_GROWTH))
    x, y = np.clip(np.mean(shifts, axis=0), -_MOST_SHIFT, _MOST_SHIFT) * pose.radius_px
    growth = float(np.exp(np.clip(rows[:, 2].mean(), -limit, limit)))
    return Pose(pose.x_px + float(x), pose.y_px + float(y), pose.radius_px * growth)


def _ways_round(upright: Floats) -> list[tuple[float, float]]:
    """The likeliest ways round as (degrees, log-chance against each other), by the logits of looks at _TURNS_DEG."""
    ways: list[tuple[float, float]] = []
    for k in np.argsort(-upright).tolist():
        beside = [_TURNS_DEG[k] + step for step in (-30.0, 0.0, 30.0)]
        weight = 1 / (1 + np.exp(-np.array([upright[k - 1], upright[k], upright[(k + 1) % len(upright)]])))
        turn = float((weight * beside).sum() / weight.sum())
        if all(_between(turn, other) > _OTHER_WAY_DEG for other, _ in ways):
            ways.append((turn, float(upright[k])))
        if len(ways) == _WAYS:
            break
    total = float(np.logaddexp.reduce([log for _, log in ways]))
    return [(turn, log - total) for turn, log in ways]


def _between(one_deg: float, other_deg: float) -> float:
    return abs((one_deg - other_deg + 180.0) % 360.0 - 180.0)


def _distance(one: Pose, other: Pose) -> float:
    return float(np.hypot(one.x_px - other.x_px, one.y_px - other.y_px))


def _covered(mask: Mask, pose: Pose) -> float:
    """Share of a die's middle that is set in the mask."""
    disc = np.zeros_like(mask)
    cv2.circle(disc, (round(pose.x_px), round(pose.y_px)), max(2, round(0.6 * pose.radius_px)), 255, -1)
    return float((mask[disc > 0] > 0).mean()) if disc.any() else 0.0
