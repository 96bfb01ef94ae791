"""The badge in a card's middle: a value in a suit's form, by which sides are told apart that show the same shapes."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from vision.outlined.faces import CELLS_PER_MM
from vision.outlined.fitting import sampled
from vision.outlined.plane import Flat

Floats = NDArray[np.float32]
_FINE = 4  # cells a mm of a badge
_REACH_MM = 6.0
_INK_MM = 2.5
_SIZES_MM = (3.6, 4.1, 4.6, 5.2)  # half a badge's size
_HIGH = (0.75, 0.95, 1.2)  # a digit's height in half sizes of the badge
_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX)
_SHIFTS = tuple((x, y) for x in (-2, 0, 2) for y in (-2, 0, 2))


def badge_likeness(
    flat: Flat, pose: Pose, size_mm: tuple[float, float], badge: tuple[str, int, bool], sigma_mm: float
) -> float:
    """How well the middle of a card that lies at `pose` looks like a badge (form, value, mirrored): minus the logarithm
    of the share of what is to be seen there that the badge does not explain. Forms: circle, square, triangle (its tip
    up)."""
    reach = round(_REACH_MM * _FINE)
    turn = Pose(pose.x_mm, pose.y_mm, pose.angle_deg)
    step = CELLS_PER_MM / _FINE
    x, y = turn.apply((size_mm[0] / 2 - _REACH_MM, size_mm[1] / 2 - _REACH_MM))
    # A finer grid than the card's own: the same sampling on a picture that is said to be coarser.
    origin_mm = (flat.origin_mm[0] / step, flat.origin_mm[1] / step)
    finer = Flat(flat.bgr, flat.scale * step, flat.px_per_mm, flat.shown, origin_mm)
    cells = sampled(finer, Pose(x / step, y / step, pose.angle_deg), (2 * reach, 2 * reach)).reshape(-1, 3)
    cells = cells - cells.mean(0)
    whole = float((cells**2).sum()) + 1e-6
    best = 0.0
    for basis in _looks(badge, round(sigma_mm * 20) / 20):
        told = basis.T @ cells
        best = max(best, float((told**2).sum()) / whole)
    return float(-np.log(1.0 - min(best, 0.9999)))


def badge_ink(flat: Flat, pose: Pose, size_mm: tuple[float, float]) -> tuple[float, float, float] | None:
    """The ink (BGR) in the middle of a card that lies at `pose`, which hardly any play covers; None where it is dark or
    of no strong colour."""
    columns, rows = (round(2 * _INK_MM * CELLS_PER_MM),) * 2
    x, y = pose.apply((size_mm[0] / 2 - _INK_MM, size_mm[1] / 2 - _INK_MM))
    cells = sampled(flat, Pose(x, y, pose.angle_deg), (columns, rows)).reshape(-1, 3)
    strength = cells.max(1) - cells.min(1)
    strong = cells[strength >= np.percentile(strength, 40)]
    ink = np.median(strong, axis=0)
    if ink.max() - ink.min() < 0.25 * max(float(ink.max()), 60.0):
        return None
    return float(ink[0]), float(ink[1]), float(ink[2])


@lru_cache(maxsize=64)
def _looks(badge: tuple[str, int, bool], sigma_mm: float) -> tuple[Floats, ...]:
    """Orthonormal bases (cells, 2) of the form and the digit in every size, font and place that is tried."""
    form, value, mirrored = badge
    side = 2 * round(_REACH_MM * _FINE)
    made = []
    for size in _SIZES_MM:
        for high in _HIGH:
            for font in _FONTS:
                shape = _form(form, size, side)
                digit = _digit(str(value), size * high, font, side)
                if mirrored:
                    digit = np.ascontiguousarray(digit[:, ::-1])
                soft = _soft(shape, sigma_mm)
                for shift in _SHIFTS:
                    moved = np.roll(_soft(digit, sigma_mm), shift, axis=(1, 0))
                    planes = np.stack([soft.ravel(), (moved * soft).ravel()], 1)
                    made.append(np.asarray(np.linalg.qr(planes - planes.mean(0))[0], np.float32))
    return tuple(made)


def _form(form: str, size_mm: float, side: int) -> NDArray[np.uint8]:
    plane, middle, size = np.zeros((side, side), np.uint8), side / 2 - 0.5, size_mm * _FINE
    if form == "circle":
        cv2.circle(plane, (round(middle * 16),) * 2, round(size * 16), 255, -1, cv2.LINE_AA, 4)
        return plane
    corners = (
        [(-1, -1), (1, -1), (1, 1), (-1, 1)] if form == "square" else [(0, -1.2), (1.15, 0.85), (-1.15, 0.85)]
    )
    cv2.fillPoly(
        plane, [np.round((np.array(corners) * size + middle) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4
    )
    return plane


def _digit(text: str, high_mm: float, font: int, side: int) -> NDArray[np.uint8]:
    large = np.zeros((160, 160), np.uint8)
    cv2.putText(large, text, (40, 120), font, 3.0, 255, 9, cv2.LINE_AA)
    x, y, width, height = cv2.boundingRect(large)
    scale = high_mm * _FINE / height
    small = cv2.resize(
        large[y : y + height, x : x + width], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
    )
    plane = np.zeros((side, side), np.uint8)
    top, left = (side - small.shape[0]) // 2, (side - small.shape[1]) // 2
    plane[top : top + small.shape[0], left : left + small.shape[1]] = small
    return plane


def _soft(plane: NDArray[np.uint8], sigma_mm: float) -> Floats:
    return np.asarray(cv2.GaussianBlur(plane.astype(np.float32) / 255, (0, 0), sigma_mm * _FINE), np.float32)
