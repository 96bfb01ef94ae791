"""A dark card with a white line along its border, found on a photograph of it alone and laid flat."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame
from vision.surface import FAMILIES

Floats = NDArray[np.float64]
PX_PER_MM = 10.0
MARGIN_MM = 6.0
_LONGEST_PX = 1800
_RATIO = (1.15, 1.75)  # of a card's sides
_SMALLEST_SHARE = 0.03  # of the picture that a card covers
_STRIP_MM = 5.0  # how far outside the line a card's edge is looked for


class NoCardError(ValueError):
    """No card can be made out; the text says what to do."""


@dataclass(frozen=True)
class Upright:
    """A card laid flat, higher than wide: `bgr` (rows, columns, 3) at PX_PER_MM with MARGIN_MM of table around it.

    `size_mm`: (width, height) of the card; `strip_mm`: from its edge to the middle of the white line; `line_mm`: how
    wide that is. `is_measured`: whether somebody or a marker told how large it is.
    """

    bgr: NDArray[np.uint8]
    size_mm: tuple[float, float]
    strip_mm: float
    line_mm: float
    is_measured: bool


def upright(frame: Frame, size_mm: tuple[float, float] | None, width_mm: float, marker_mm: float) -> Upright:
    """The card in `frame` (uint8 BGR). `size_mm`: its (width, height) where somebody measured it; else a marker of
    `marker_mm` beside it tells, and without one it is taken to be `width_mm` wide. Raises NoCardError."""
    rows, columns = frame.shape[:2]
    scale = min(1.0, _LONGEST_PX / max(rows, columns))
    small = np.asarray(cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    line = _line_corners(small)
    per_px = _marker_scale(small, line, marker_mm)
    sides = [float(np.linalg.norm(line[i] - line[(i + 1) % 4])) for i in range(4)]
    across, along = (sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2
    inner = (
        (across * per_px, along * per_px) if per_px else (width_mm * 0.965, width_mm * 0.965 * along / across)
    )
    flat, edges = _flat(small, line, inner)
    outside, width = _strip(flat, edges), _line_width(flat, edges)
    total = (inner[0] + 2 * outside, inner[1] + 2 * outside)
    guessed = total if per_px else (width_mm, width_mm * total[1] / total[0])
    wanted = size_mm or guessed
    grow = (wanted[0] / total[0], wanted[1] / total[1])
    mean = (grow[0] + grow[1]) / 2
    outside, width = outside * mean, width * mean
    final = (wanted[0] - 2 * outside, wanted[1] - 2 * outside)
    flat, _ = _flat(small, line, final, MARGIN_MM + outside)
    return Upright(flat, wanted, outside + width / 2, width, is_measured=bool(size_mm or per_px))


def _line_corners(picture: Frame) -> Floats:
    """The corners (4, 2) in px of the white line's outer side, clockwise, the first side a short one."""
    white = picture.min(axis=2)
    window = round(max(white.shape) / 45) | 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (window, window))
    lines = cv2.morphologyEx(white, cv2.MORPH_TOPHAT, kernel)
    level = max(30.0, 0.45 * float(np.percentile(lines, 99.5)))
    mask = cv2.morphologyEx((lines > level).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    best: Floats | None = None
    most = _SMALLEST_SHARE * white.size
    for contour in cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]:
        hull = cv2.convexHull(contour)
        area = cv2.contourArea(hull)
        if area < most:
            continue
        corners = cv2.approxPolyDP(hull, 0.03 * cv2.arcLength(hull, True), True)[:, 0].astype(np.float64)
        if len(corners) != 4:
            continue
        fitted = _fitted(corners, hull[:, 0].astype(np.float64), contour[:, 0].astype(np.float64))
        sides = np.linalg.norm(fitted - np.roll(fitted, -1, 0), axis=1)
        pair = sorted((sides[0] + sides[2], sides[1] + sides[3]))
        if _RATIO[0] < pair[1] / pair[0] < _RATIO[1]:
            best, most = _in_order(fitted), area
    if best is None:
        raise NoCardError("no card was found: one card alone, from above, sharp, on a table of one colour")
    return best


def _fitted(corners: Floats, hull: Floats, contour: Floats) -> Floats:
    """The corners where straight lines along the outer side of the white line meet."""
    lines = []
    for a, b in zip(corners, np.roll(corners, -1, 0), strict=True):
        ahead = (b - a) / np.linalg.norm(b - a)
        normal = np.array((-ahead[1], ahead[0]))
        along, off = (contour - a) @ ahead, np.abs((contour - a) @ normal)
        length = float(np.linalg.norm(b - a))
        near = (along > 0.08 * length) & (along < 0.92 * length) & (off < 0.02 * length)
        points = contour[near] if near.sum() > 20 else np.stack([a, b])
        fitted = cv2.fitLine(points.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel().tolist()
        x, y, x0, y0 = fitted
        lines.append(np.array((-y, x, y * x0 - x * y0)))
    found = []
    for one, other in zip(np.roll(lines, 1, 0), lines, strict=True):
        point = np.cross(one, other)
        if abs(point[2]) < 1e-9:
            return hull[:4]
        found.append(point[:2] / point[2])
    return np.array(found)


def _in_order(corners: Floats) -> Floats:
    """Clockwise as seen, from the top left of the card set upright."""
    after = np.roll(corners, -1, 0)
    area = float(np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]))
    turning = corners if area > 0 else corners[::-1]
    sides = np.linalg.norm(turning - np.roll(turning, -1, 0), axis=1)
    first = 0 if sides[0] + sides[2] < sides[1] + sides[3] else 1
    options = [np.roll(turning, -first, 0), np.roll(turning, -first - 2, 0)]
    return min(options, key=lambda each: float(each[0].sum()))


def _flat(
    picture: Frame, line: Floats, inner_mm: tuple[float, float], margin_mm: float = MARGIN_MM
) -> tuple[NDArray[np.uint8], tuple[int, int, int, int]]:
    """The picture laid flat so that the line is `inner_mm` large, and the line's box (x0, y0, x1, y1) in it."""
    x0, y0 = (round(margin_mm * PX_PER_MM),) * 2
    x1, y1 = x0 + round(inner_mm[0] * PX_PER_MM), y0 + round(inner_mm[1] * PX_PER_MM)
    wanted = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], np.float32)
    plane = cv2.getPerspectiveTransform(line.astype(np.float32), wanted)
    flat = cv2.warpPerspective(picture, plane, (x1 + x0, y1 + y0), flags=cv2.INTER_CUBIC)
    return np.asarray(flat, np.uint8), (x0, y0, x1, y1)


def _profile(flat: NDArray[np.uint8], box: tuple[int, int, int, int]) -> NDArray[np.float32]:
    """(4, 2 * margin, 3): the mean colour across each side, from outside to inside, the line in the middle."""
    x0, y0, x1, y1 = box
    middle_x, middle_y = (
        slice(x0 + (x1 - x0) // 6, x1 - (x1 - x0) // 6),
        slice(y0 + (y1 - y0) // 6, y1 - (y1 - y0) // 6),
    )
    found = [
        np.median(flat[: 2 * y0, middle_x], axis=1),
        np.median(flat[::-1][: 2 * y0, middle_x], axis=1),
        np.median(flat[middle_y, : 2 * x0], axis=0),
        np.median(flat[middle_y, ::-1][:, : 2 * x0], axis=0),
    ]
    return np.asarray(found, np.float32)


def _strip(flat: NDArray[np.uint8], box: tuple[int, int, int, int]) -> float:
    """From the white line's outer side to where the card ends, in mm: the strongest step outside of the line."""
    line = box[0]
    least, most = round(0.4 * PX_PER_MM), round(_STRIP_MM * PX_PER_MM)
    found = []
    for side in _profile(flat, box):
        step = np.abs(side[4:] - side[:-4]).sum(axis=1)
        outside = step[line - most - 2 : line - least - 2]
        found.append(most - int(outside.argmax()))
    return float(np.median(found)) / PX_PER_MM


def _line_width(flat: NDArray[np.uint8], box: tuple[int, int, int, int]) -> float:
    """How wide the white line is, in mm, at half of its height."""
    line, reach = box[0], round(1.5 * PX_PER_MM)
    found = []
    for side in _profile(flat, box):
        white = side.min(axis=1)[line - reach : line + reach]
        found.append(int((white > (white.max() + white.min()) / 2).sum()))
    return float(np.median(found)) / PX_PER_MM


def _marker_scale(picture: Frame, line: Floats, marker_mm: float) -> float | None:
    """Millimetres a px by a marker that lies beside the card; None where none does."""
    for family in FAMILIES.values():
        detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(family))
        corners, ids, _ = detector.detectMarkers(picture)
        if ids is not None:
            sides = [np.linalg.norm(c[0] - np.roll(c[0], -1, 0), axis=1).mean() for c in corners]
            return marker_mm / float(np.median(sides))
    return None
