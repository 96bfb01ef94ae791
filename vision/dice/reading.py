"""Reading six-sided dice with pips in one picture, with or without knowledge of the table."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from companion.core.observation import DieSeen
from vision.dice.finding import Mask, Spot, changed, spots_in, table_between
from vision.dice.pips import cut, pattern_scores
from vision.frame import Frame

KIND = "d6-pips"
SMALLEST_SIDE_PX = 10.0
_NO_PATTERN = 0.45
_LEAST_MARGIN = 0.05
_DARK_LEVEL = 60.0
_BLURRED_SHARPNESS = 6.0
_SMALL_SIDE_PX = 14.0


@dataclass(frozen=True)
class Reading:
    """What one picture shows. `flags`: no_dice, too_dark, too_small, blurred, clutter."""

    dice: tuple[DieSeen, ...]
    flags: tuple[str, ...] = ()


class PipsReader:
    """Reads pips; safe to keep and to use for many pictures, from one thread."""

    def __init__(
        self, empty: Frame | None = None, px_per_mm: float | None = None, die_mm: float = 16.0
    ) -> None:
        """`empty`: the same camera's picture of the table without dice. `px_per_mm`: scale at the table."""
        self._empty = empty
        self._side_px = px_per_mm * die_mm if px_per_mm else None

    def read(self, frame: Frame) -> Reading:
        """The dice in `frame` (uint8 BGR (rows, columns, 3)), from the top left; a doubtful one has no value.

        `box_px` of a die hugs the face that was read, `confidence` is the chance that its value is right.
        """
        mask = changed(frame, self._empty if self._empty is not None else table_between(frame))
        spots = spots_in(mask, self._side_px)
        found = [die for spot in spots if (die := _die(frame, spot))]
        dice = tuple(sorted(found, key=lambda die: (die.box_px[1], die.box_px[0])))
        return Reading(dice, _flags(frame, dice, len(spots) - len(dice)))


def _die(frame: Frame, spot: Spot) -> DieSeen | None:
    """The die at `spot`; None where nothing there looks like a face with pips."""
    scores = pattern_scores(cut(frame, spot.x_px, spot.y_px, spot.side_px))
    order = np.argsort(scores)[::-1]
    best, margin = float(scores[order[0]]), float(scores[order[0]] - scores[order[1]])
    if best < _NO_PATTERN:
        return None
    box = _box(spot)
    rows, columns = frame.shape[:2]
    reason = None
    if box[0] < 0 or box[1] < 0 or box[2] > columns or box[3] > rows:
        reason = "cut_off"
    elif spot.side_px < SMALLEST_SIDE_PX:
        reason = "too_small"
    elif margin < _LEAST_MARGIN:
        reason = "margin"
    value = None if reason else int(order[0]) + 1
    confidence = 1.0 / (1.0 + float(np.exp(-25.0 * (margin - 0.03))))
    return DieSeen(kind=KIND, value=value, box_px=box, confidence=round(confidence, 3), reason=reason)


def _box(spot: Spot) -> tuple[int, int, int, int]:
    half = spot.side_px / 2
    return (
        round(spot.x_px - half),
        round(spot.y_px - half),
        round(spot.x_px + half),
        round(spot.y_px + half),
    )


def _flags(frame: Frame, dice: tuple[DieSeen, ...], strange: int) -> tuple[str, ...]:
    flags = []
    grey = np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), np.uint8)
    if not dice:
        flags.append("no_dice")
    if float(np.percentile(grey[::4, ::4], 95)) < _DARK_LEVEL:
        flags.append("too_dark")
    sides = [die.box_px[2] - die.box_px[0] for die in dice]
    if sides and float(np.median(sides)) < _SMALL_SIDE_PX:
        flags.append("too_small")
    if dice and _sharpness(grey, dice) < _BLURRED_SHARPNESS:
        flags.append("blurred")
    if strange > max(6, 2 * len(dice)):
        flags.append("clutter")
    return tuple(flags)


def _sharpness(grey: Mask, dice: tuple[DieSeen, ...]) -> float:
    """The steepest edges of the sharpest die, in percent of its contrast per 1/48 of its edge."""
    sharpest = 0.0
    for die in dice:
        x0, y0, x1, y1 = die.box_px
        face = grey[max(0, y0) : max(1, y1), max(0, x0) : max(1, x1)]
        if min(face.shape) < 6:
            continue
        face = cv2.resize(face, (48, 48), interpolation=cv2.INTER_AREA).astype(np.float32)
        slope = np.hypot(cv2.Sobel(face, -1, 1, 0), cv2.Sobel(face, -1, 0, 1)) / 8
        contrast = float(np.percentile(face, 98) - np.percentile(face, 2)) + 8.0
        sharpest = max(sharpest, 100.0 * float(np.percentile(slope, 98)) / contrast)
    return sharpest
