"""Where cards may lie: rectangles of a card's size whose rim is marked, at any angle, in a map of a table."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from vision.outlined.fitting import pose_about

Floats = NDArray[np.float32]
STEP_DEG = 3.0
_RIM_MM = (-0.6, 2.4)  # inside of the edge: where strip and line lie, with room for a coarse angle


class Ring(NamedTuple):
    """A place for a card: its pose, and which share of its rim is marked."""

    pose: Pose
    share: float


def rings(
    marked: Floats, per_mm: float, size_mm: tuple[float, float], *, least: float, most: int
) -> list[Ring]:
    """The likeliest places of cards of `size_mm`, the best first, none on another's middle.

    `marked`: (rows, columns) in [0, 1], `per_mm` cells a mm from the table's top left. `least`: share of the rim that
    must be marked; `most`: how many at most. An upside-down card lies on the same place: angles are in (-90, 90].
    """
    reach = round((np.hypot(*size_mm) / 2 + 4) * per_mm)
    padded = cv2.copyMakeBorder(
        np.asarray(marked, np.float32), reach, reach, reach, reach, cv2.BORDER_CONSTANT
    )
    best = np.zeros(marked.shape, np.float32)
    angle = np.zeros(marked.shape, np.float32)
    for turn, kernel in _kernels(size_mm, per_mm, reach):
        score = cv2.matchTemplate(padded, kernel, cv2.TM_CCORR)[: marked.shape[0], : marked.shape[1]]
        better = score > best
        best[better], angle[better] = score[better], turn
    found: list[Ring] = []
    apart = round(min(size_mm) * 0.3 * per_mm)
    while len(found) < most:
        _, share, _, (x, y) = cv2.minMaxLoc(best)
        if share < least:
            break
        centre = ((x + 0.5) / per_mm, (y + 0.5) / per_mm)
        found.append(Ring(pose_about(centre, float(angle[y, x]), size_mm), float(share)))
        cv2.circle(best, (x, y), max(1, apart), 0.0, -1)
    return found


@lru_cache(maxsize=4)
def _kernels(size_mm: tuple[float, float], per_mm: float, reach: int) -> tuple[tuple[float, Floats], ...]:
    """Rims of cards at each angle, each of sum 1."""
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1] / per_mm
    made = []
    for turn in np.arange(-90 + STEP_DEG, 90.1, STEP_DEG):
        cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        across, down = np.abs(cos * x + sin * y), np.abs(-sin * x + cos * y)
        deep = np.minimum(size_mm[0] / 2 - across, size_mm[1] / 2 - down)
        soft = 0.5 / per_mm
        rim = np.clip((deep - _RIM_MM[0]) / soft / 2 + 0.5, 0, 1) * np.clip(
            (_RIM_MM[1] - deep) / soft / 2 + 0.5, 0, 1
        )
        made.append((float(turn), np.asarray(rim / rim.sum(), np.float32)))
    return tuple(made)
