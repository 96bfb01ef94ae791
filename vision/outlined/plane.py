"""A picture of a table, laid flat: pixels are square and of one size in mm everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame

Floats = NDArray[np.float64]
_FINEST_PX_PER_MM, _COARSEST_PX_PER_MM = 3.0, 1.0


class NoPlaneError(ValueError):
    """The corners that were given span no table; the text says what to do."""


@dataclass(frozen=True)
class Plane:
    """Where a table is seen. `to_px`: 3x3 homography, table mm -> px; `size_mm`: (width, height) of what is laid flat.

    `u_mm`: how well the corners or markers themselves are known, as an error of places on the table.
    """

    to_px: Floats
    size_mm: tuple[float, float]
    u_mm: float = 0.1

    @property
    def px_per_mm(self) -> float:
        """Pixels a mm in the middle of the table, the mean over directions."""
        x, y = self.size_mm[0] / 2, self.size_mm[1] / 2
        around = np.array([[(x, y), (x + 1, y), (x, y + 1)]], np.float64)
        middle, right, down = cv2.perspectiveTransform(around, self.to_px)[0]
        a, b = right - middle, down - middle
        return float(np.sqrt(abs(a[0] * b[1] - a[1] * b[0])))


def plane_of(corners_px: Floats, table_mm: tuple[float, float], picture_size: tuple[int, int]) -> Plane:
    """The plane whose rectangle `table_mm` (width, height) has these corners (4, 2), clockwise from the top left.

    `picture_size` is (width, height) in px. Raises NoPlaneError where they make no rectangle that a camera can see.
    """
    corners = np.asarray(corners_px, np.float32)
    width, height = table_mm
    if not (50 <= width <= 10_000 and 50 <= height <= 10_000):
        raise NoPlaneError(f"a table of {width:g} x {height:g} mm: give its width and height in mm")
    if corners.shape != (4, 2) or not np.isfinite(corners).all():
        raise NoPlaneError("give four corners: top left, top right, bottom right, bottom left")
    along = np.roll(corners, -1, 0) - corners
    after = np.roll(along, -1, 0)
    turns = along[:, 0] * after[:, 1] - along[:, 1] * after[:, 0]
    if not (turns > 0).all():
        raise NoPlaneError("the corners must go clockwise: top left, top right, bottom right, bottom left")
    if np.abs(corners).max() > 20 * max(picture_size) or cv2.contourArea(corners) < 0.005 * np.prod(
        picture_size
    ):
        raise NoPlaneError("the corners span too little of the picture: give them in pixels")
    outer = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    return Plane(np.asarray(cv2.getPerspectiveTransform(outer, corners), np.float64), table_mm)


@dataclass(frozen=True)
class Flat:
    """A picture laid flat, or a part of it. `bgr`: uint8 (rows, columns, 3); the pixel (column, row) shows the table
    place `origin_mm` + ((column + .5) / scale, (row + .5) / scale). `px_per_mm`: how fine the picture was; `shown`:
    (rows, columns), False where it shows nothing."""

    bgr: NDArray[np.uint8]
    scale: float
    px_per_mm: float
    shown: NDArray[np.bool_]
    origin_mm: tuple[float, float] = (0.0, 0.0)

    def around(self, middle_mm: tuple[float, float], reach_mm: float) -> Flat:
        """The part of it no farther than `reach_mm` from a place, to either side; at least a pixel of it."""
        rows, columns = self.shown.shape
        ranges = []
        for middle, origin, most in zip(middle_mm, self.origin_mm, (columns, rows), strict=True):
            first = int(np.clip((middle - reach_mm - origin) * self.scale, 0, most - 1))
            ranges.append((first, int(np.clip((middle + reach_mm - origin) * self.scale, first + 1, most))))
        (x0, x1), (y0, y1) = ranges
        origin_mm = (self.origin_mm[0] + x0 / self.scale, self.origin_mm[1] + y0 / self.scale)
        return Flat(self.bgr[y0:y1, x0:x1], self.scale, self.px_per_mm, self.shown[y0:y1, x0:x1], origin_mm)


def laid_flat(frame: Frame, plane: Plane) -> Flat:
    """`frame` (uint8 BGR) as seen straight from above, a little finer than it was, so that nothing is lost."""
    fine = plane.px_per_mm
    scale = float(np.clip(1.2 * fine, _COARSEST_PX_PER_MM, _FINEST_PX_PER_MM))
    size = (round(plane.size_mm[0] * scale), round(plane.size_mm[1] * scale))
    to_mm = np.array([(1 / scale, 0, 0.5 / scale), (0, 1 / scale, 0.5 / scale), (0, 0, 1.0)])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    source = frame
    if fine > 1.3 * scale:  # a picture much finer than is needed is smoothed first
        source = np.asarray(cv2.GaussianBlur(frame, (0, 0), 0.4 * fine / scale), np.uint8)
    flat = cv2.warpPerspective(source, plane.to_px @ to_mm, size, flags=flags)
    inside = cv2.warpPerspective(
        np.full(frame.shape[:2], 255, np.uint8),
        plane.to_px @ to_mm,
        size,
        flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP,
    )
    return Flat(np.asarray(flat, np.uint8), scale, fine, inside > 0)
