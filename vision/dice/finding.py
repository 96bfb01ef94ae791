"""Where something lies on the table that was not there when it was empty."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame

Mask = NDArray[np.uint8]
"""uint8 (rows, columns), 255 where something lies."""
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Spot:
    """A die's top face: centre (x, y) and edge in px of the frame; `score`: 0 to 1, how sure."""

    x_px: float
    y_px: float
    side_px: float
    score: float

    @property
    def box_px(self) -> tuple[int, int, int, int]:
        """(x0, y0, x1, y1) around an upright face."""
        half = self.side_px / 2
        return (
            round(self.x_px - half),
            round(self.y_px - half),
            round(self.x_px + half),
            round(self.y_px + half),
        )


_WORK_PX = 640  # long side of the picture in which areas are compared
_SHADOW_KEEPS = (0.45, 1.0)  # share of the light that a shadow leaves
_SHADOW_OFF = 8.0  # levels (0 to 255) by which a channel may differ from that share
_CHANGE = 16.0  # Lab distance that is a change on a quiet picture
_LEAST_AREA = 80.0  # px of a mask: smaller spots are noise where no die's size is known
_MOVED = 0.45  # share of the picture that has changed when no longer the same view is seen


def changed(frame: Frame, empty: Frame) -> Mask:
    """What lies on the table that is not in `empty` (same camera, any size): shadows left out, holes filled.

    The mask has the size of `frame`. What the whole picture shares (lamp, exposure) is taken out.
    """
    size = _work_size(frame)
    mask = _differs(_soft(frame, size), _soft(empty, size))
    return _sized(_filled(mask), frame)


def is_same_view(mask: Mask) -> bool:
    """Whether what `changed` gave can be dice on the table; False where the camera has moved since."""
    return float(mask.mean()) / 255.0 < _MOVED


def spots_in(mask: Mask, side_px: float | None = None) -> tuple[Spot, ...]:
    """Dice-like areas of a mask; `side_px` is a die's edge where known. Dice that touch are split by size."""
    found, areas = cv2.connectedComponentsWithStats(mask, connectivity=4)[1:3]
    least = min(_LEAST_AREA, 0.5 * side_px**2) if side_px else _LEAST_AREA
    boxes = [(n, areas[n]) for n in range(1, len(areas)) if areas[n][4] >= least]
    if not boxes:
        return ()
    side = side_px or float(np.sqrt(np.median([box[4] for _, box in boxes])))
    spots: list[Spot] = []
    for n, (x, y, width, height, area) in boxes:
        if not 0.25 * side**2 < area < 30 * side**2:
            continue
        part = (found[y : y + height, x : x + width] == n).astype(np.uint8)
        spots += [Spot(s.x_px + x, s.y_px + y, s.side_px, s.score) for s in _split(part, side)]
    return tuple(spots)


def _split(part: Mask, side: float) -> list[Spot]:
    """Dice in one connected area (uint8 0/1), by the peaks of the distance to its edge."""
    contours = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    contour = max(contours, key=cv2.contourArea)
    (x, y), (width, height), _ = cv2.minAreaRect(contour)
    area = float(part.sum())
    if max(width, height) < 1.55 * side and area < 2.2 * side**2:
        fill = area / max(1.0, width * height)
        square = min(width, height) / max(1.0, width, height)
        return [Spot(float(x), float(y), float(np.sqrt(max(1.0, width * height))), float(fill * square))]
    framed = cv2.copyMakeBorder(part, 1, 1, 1, 1, cv2.BORDER_CONSTANT)
    deep = cv2.GaussianBlur(cv2.distanceTransform(framed, cv2.DIST_L2, 5), (0, 0), max(0.5, side * 0.06))
    spots: list[Spot] = []
    while True:
        _, depth, _, (column, row) = cv2.minMaxLoc(deep)
        if depth < 0.3 * side:
            return spots
        spots.append(Spot(column - 1.0, row - 1.0, side, 0.6))
        cv2.circle(deep, (column, row), max(1, round(0.7 * side)), 0.0, -1)


def _work_size(frame: Frame) -> tuple[int, int]:
    rows, columns = frame.shape[:2]
    scale = min(1.0, _WORK_PX / max(rows, columns))
    return (max(8, round(columns * scale)), max(8, round(rows * scale)))


def _soft(picture: Frame, size: tuple[int, int]) -> Frame:
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(small, (0, 0), 0.8), np.uint8)


def _differs(now: Frame, before: Frame) -> Mask:
    """uint8 255 where two pictures of one size differ by more than a shadow, the lamp or noise."""
    difference = _lab(now) - _lab(before)
    difference -= np.median(difference[::3, ::3].reshape(-1, 3), axis=0)
    level, a, b = cv2.split(difference)
    whole = cv2.sqrt(0.5 * level * level + 2.0 * (a * a + b * b))
    some = whole[::3, ::3]
    noise = 1.4826 * float(np.median(np.abs(some - np.median(some))))
    mask = whole > _CHANGE + 3.0 * noise
    rows, columns = np.nonzero(mask)
    shade = _is_shadow(now[rows, columns].astype(np.float32), before[rows, columns].astype(np.float32))
    mask[rows[shade], columns[shade]] = False
    return mask.astype(np.uint8) * np.uint8(255)


def _lab(picture: Frame) -> Floats:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2LAB), np.float32)


def _is_shadow(now: Floats, before: Floats) -> NDArray[np.bool_]:
    """Where all three channels of (n, 3) colours lost the same share of their light."""
    kept = (now * before).sum(1) / np.maximum((before * before).sum(1), 1.0)
    off = np.abs(now - kept[:, None] * before).max(1)
    return np.asarray((kept > _SHADOW_KEEPS[0]) & (kept < _SHADOW_KEEPS[1]) & (off < _SHADOW_OFF), np.bool_)


def _filled(mask: Mask) -> Mask:
    closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    contours = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    solid = np.zeros_like(mask)
    cv2.drawContours(solid, contours, -1, 255, -1)
    return np.asarray(cv2.morphologyEx(solid, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), np.uint8)


def _sized(mask: Mask, frame: Frame) -> Mask:
    rows, columns = frame.shape[:2]
    return np.asarray(cv2.resize(mask, (columns, rows), interpolation=cv2.INTER_NEAREST), np.uint8)
