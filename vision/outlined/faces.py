"""Sides of cards as maps of where white and where ink is printed, for comparison with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Polygon
from companion.core.layout import Layout, Region

Floats = NDArray[np.float32]
CELLS_PER_MM = 2.0
"""How fine a side is compared."""
COARSER = 2
_FINER = 4
_BAND_MM = 2.5  # inside of the line: so much of a frame is compared
_LINE_MM = 0.75  # a usual white line
_MIDDLE_MM = 7.0  # around the middle, where badges differ from deck to deck
_RIM_MM = 0.45  # at the very edge the table shines through


@dataclass(frozen=True)
class Side:
    """One side of one card. Maps are (rows, columns), CELLS_PER_MM cells a mm, the top-left corner of the side first.

    `line`, `ink`: share of each cell that is white or in the deck's ink; `counts`: False where a side is not compared.
    """

    card: str
    flipped: bool
    line: Floats
    ink: Floats
    counts: NDArray[np.bool_]

    @cached_property
    def coarse(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The same three maps, COARSER times coarser."""
        return coarser(self.line), coarser(self.ink), coarser(self.counts.astype(np.float32)) > 0.6


def sides_of(layouts: Sequence[Layout], sigma_mm: float) -> tuple[Side, ...]:
    """Both sides of each card as a picture shows them that is blurred by `sigma_mm`."""
    return tuple(_side(layout, flipped, sigma_mm) for layout in layouts for flipped in (False, True))


@lru_cache(maxsize=512)
def _side(layout: Layout, flipped: bool, sigma_mm: float) -> Side:
    fine = CELLS_PER_MM * _FINER
    width, height = (round(side * fine) for side in layout.size_mm)
    line = np.zeros((height, width), np.uint8)
    ink = np.zeros((height, width), np.uint8)
    strip, (right, bottom) = layout.strip_mm, layout.size_mm
    rim = np.array(
        [(strip, strip), (right - strip, strip), (right - strip, bottom - strip), (strip, bottom - strip)]
    )
    is_inked = any(region.dots_mm for region in layout.regions)
    cv2.rectangle(ink if is_inked else line, (0, 0), (width - 1, height - 1), 255, -1)
    cv2.fillPoly(ink if is_inked else line, [_px(rim, fine)], 0, cv2.LINE_AA, 4)
    thick = max(1, round(_LINE_MM * fine))
    for region in layout.regions:
        outline = _px(np.clip(region.outline.corners, strip, np.array(layout.size_mm) - strip), fine)
        if region.dots_mm:
            cv2.fillPoly(ink, [outline], 255, cv2.LINE_AA, 4)
        cv2.polylines(line, [outline], True, 255, thick, cv2.LINE_AA, 4)
    cv2.polylines(line, [_px(rim, fine)], True, 255, thick, cv2.LINE_AA, 4)
    for region in layout.regions:
        for dot in region.dots_mm:
            centre = _px(np.array([dot]), fine)[0].tolist()
            cv2.circle(line, centre, round(layout.dot_radius_mm * fine * 16), 255, -1, cv2.LINE_AA, 4)
    ink = np.minimum(ink, 255 - line)
    size = (round(layout.size_mm[0] * CELLS_PER_MM), round(layout.size_mm[1] * CELLS_PER_MM))
    maps = [_seen(plane, sigma_mm * fine, size) for plane in (line, ink)]
    y, x = np.mgrid[: size[1], : size[0]]
    places = (np.stack([x, y], axis=-1) + 0.5) / CELLS_PER_MM
    middle = np.array(layout.size_mm) / 2
    counts = np.hypot(*np.moveaxis(places - middle, -1, 0)) > _MIDDLE_MM
    counts &= ((places > _RIM_MM) & (places < np.array(layout.size_mm) - _RIM_MM)).all(axis=-1)
    if flipped:
        maps, counts = [np.ascontiguousarray(m[:, ::-1]) for m in maps], counts[:, ::-1]
    return Side(layout.id, flipped, maps[0], maps[1], np.ascontiguousarray(counts))


@lru_cache(maxsize=16)
def frame_of(size_mm: tuple[float, float], strip_mm: float, sigma_mm: float) -> Side:
    """What all sides of a deck share: the strip of ink around the edge and the line inside of it."""
    dot = Region("", Polygon(((0.0, 0.0), (0.0, 0.0), (0.0, 0.0))), "", ((-99.0, -99.0),))
    side = _side(Layout("", size_mm, (dot,), strip_mm=strip_mm, dot_radius_mm=1.0), False, sigma_mm)
    y, x = np.mgrid[: side.line.shape[0], : side.line.shape[1]]
    deep = np.minimum(np.minimum(x, side.line.shape[1] - 1 - x), np.minimum(y, side.line.shape[0] - 1 - y))
    counts = (deep + 0.5) / CELLS_PER_MM < strip_mm + _BAND_MM
    return Side("", False, side.line, side.ink, side.counts & counts)


def coarser(plane: Floats) -> Floats:
    """A map or picture (rows, columns[, 3]) with the mean of COARSER by COARSER cells in each."""
    size = (plane.shape[1] // COARSER, plane.shape[0] // COARSER)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _px(points_mm: NDArray[np.float64], fine: float) -> NDArray[np.int32]:
    return np.round((np.asarray(points_mm) * fine - 0.5) * 16).astype(np.int32)


def _seen(plane: NDArray[np.uint8], sigma: float, size: tuple[int, int]) -> Floats:
    blurred = cv2.GaussianBlur(
        plane.astype(np.float32) / 255, (0, 0), max(sigma, 0.3), borderType=cv2.BORDER_REPLICATE
    )
    return np.asarray(cv2.resize(blurred, size, interpolation=cv2.INTER_AREA), np.float32)
