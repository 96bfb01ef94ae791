"""Tags in a picture, their corners to a small part of a pixel."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame
from vision.surface import FAMILIES

Floats = NDArray[np.float64]

_CELLS = 8  # of a 36h11 tag across, its black border included
_WHITE = 0.6  # cells of the white edge that are compared too
_STEPS, _ENOUGH, _SMOOTH_PX = 40, 1e-5, 5
_LEAST_ALIKE = 0.8  # correlation with the tag as it is printed, below which something lies over it
_EVERYWHERE: Any = None  # as a mask: the wheel's own type information leaves it out
_REACH_PX = 12  # around the tag
_LARGEST_STRAY = 0.06  # of the side, that the exact place may be off the first one


def find_tags(frame: Frame, family: str = "apriltag") -> dict[int, Floats]:
    """Every tag of the family in a BGR or grey picture: id -> (4, 2) corners of its black square in px, clockwise from
    the tag's own top left. An id that is seen twice, or a tag that is partly hidden, is left out."""
    grey = frame if frame.ndim == 2 else cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.minDistanceToBorder = 1
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(FAMILIES[family]), parameters)
    corners, ids, _ = detector.detectMarkers(grey)
    quads: dict[int, list[Floats]] = {}
    for quad, tag in zip(corners, [] if ids is None else [int(i) for i in ids.ravel()], strict=True):
        quads.setdefault(tag, []).append(np.asarray(quad, np.float64).reshape(4, 2))
    found = {}
    for tag, seen in sorted(quads.items()):
        exact = _laid_over(np.asarray(grey, np.uint8), tag, seen[0], family) if len(seen) == 1 else None
        if exact is not None:
            found[tag] = exact
    return found


def _laid_over(grey: NDArray[np.uint8], tag: int, quad: Floats, family: str) -> Floats | None:
    """The corners where the whole printed tag, laid over the picture, fits best; None where it does not fit."""
    side = float(np.linalg.norm(quad - np.roll(quad, -1, axis=0), axis=1).mean())
    cell = max(4, round(side / _CELLS))
    printed, corners = _printed(tag, cell, family)
    x0, y0 = np.maximum(np.floor(quad.min(0) - _REACH_PX).astype(int), 0)
    x1, y1 = np.ceil(quad.max(0) + _REACH_PX + 1).astype(int)
    part = grey[y0:y1, x0:x1].astype(np.float32)
    start = cv2.getPerspectiveTransform(corners, (quad - (x0, y0)).astype(np.float32)).astype(np.float32)
    until = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, _STEPS, _ENOUGH)
    try:
        alike, plane = cv2.findTransformECC(
            printed, part, start, cv2.MOTION_HOMOGRAPHY, until, _EVERYWHERE, _SMOOTH_PX
        )
    except cv2.error:  # it wandered off: what is seen there is not the tag
        return None
    placed = cv2.perspectiveTransform(corners[None], plane)[0].astype(np.float64)
    exact = placed + np.array((x0, y0))
    is_near = float(np.abs(exact - quad).max()) < max(2.0, _LARGEST_STRAY * side)
    return np.asarray(exact, np.float64) if alike >= _LEAST_ALIKE and is_near else None


@lru_cache(maxsize=128)
def _printed(tag: int, cell: int, family: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(picture of the tag with some of its white edge, its black corners (4, 2) in that picture)."""
    dictionary = cv2.aruco.getPredefinedDictionary(FAMILIES[family])
    modules = cv2.aruco.generateImageMarker(dictionary, tag, dictionary.markerSize + 2)
    edge = round(_WHITE * cell)
    large = np.kron(modules, np.ones((cell, cell), np.uint8))
    framed = cv2.copyMakeBorder(large, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=(255,))
    low, high = edge - 0.5, edge + len(modules) * cell - 0.5
    corners = np.array([(low, low), (high, low), (high, high), (low, high)], np.float32)
    return framed.astype(np.float32), corners
