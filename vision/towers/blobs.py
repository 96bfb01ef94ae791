"""Where a board shows a patch of an owner's colour that is as large as a die: a pyramid has no top that a finder of
faces knows."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.finding import Spot
from vision.frame import Frame
from vision.towers.colours import likeness

Floats = NDArray[np.float64]

_PX_PER_MM = 1.0  # of the picture in which patches are looked for
_LIKE = 40.0  # Lab distance within which a place is of an owner's colour
_AREA_MM2 = (100.0, 800.0)
_ACROSS_MM = 38.0
_FILLED = 0.8  # of a patch's hull that it covers
_SCORE = 0.4  # what a patch is worth beside the faces that a finder is sure of


def coloured(frame: Frame, per_mm: float, owners: Mapping[str, Floats]) -> list[Spot]:
    """Patches in `frame` (uint8 BGR) that may be dice, `per_mm` px being a mm of the board. `side_px` is the root of
    what a patch covers.

    `owners`: name -> the colour that this picture shows of what is theirs, (3,) BGR.
    """
    scale = min(1.0, _PX_PER_MM / per_mm)
    small = cv2.GaussianBlur(
        cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), (0, 0), 0.8
    )
    px_per_mm = per_mm * scale
    spots = []
    for far in likeness(np.asarray(small, np.uint8), owners).values():
        mask = cv2.morphologyEx((far < _LIKE).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        for outline in cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]:
            hull = cv2.convexHull(outline)
            area = cv2.contourArea(outline) / px_per_mm**2
            across = max(cv2.minAreaRect(outline)[1]) / px_per_mm
            is_whole = area >= _FILLED * cv2.contourArea(hull) / px_per_mm**2
            if _AREA_MM2[0] < area < _AREA_MM2[1] and across < _ACROSS_MM and is_whole:
                moments = cv2.moments(hull)
                x, y = moments["m10"] / moments["m00"], moments["m01"] / moments["m00"]
                at = (np.array((x, y)) + 0.5) / scale - 0.5
                side = float(np.sqrt(area)) * per_mm
                spots.append(Spot(float(at[0]), float(at[1]), side, _SCORE))
    return spots
