"""What is said of a whole picture in which dice were read."""

from __future__ import annotations

import cv2
import numpy as np

from companion.core.observation import DieSeen
from vision.dice.finding import Mask
from vision.frame import Frame

_DARK_LEVEL = 60.0
_BLURRED_SHARPNESS = 6.0
_SMALL_SIDE_PX = 14.0


def flags_of(frame: Frame, dice: tuple[DieSeen, ...], strange: int) -> tuple[str, ...]:
    """What to say of a whole picture: no_dice, too_dark, too_small, blurred, clutter. `strange`: how many places looked
    like dice and are none."""
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
