"""Flat printed things: spell cards and the corner markers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose, rectangle
from companion.core.layout import Layout, Region
from vision.markers import marker_modules
from vision.render.drawings import SYMBOLS, face_mask
from vision.surface import Marks

_PX_PER_MM = 6.0
_QUIET_MM = 7.0
CARD_MM = (63.0, 88.0)
_SLOT_MM = 15.0
_FOUR = ((12.0, 22.0), (34.0, 22.0), (12.0, 43.0), (34.0, 43.0))
_FIVE = ((5.0, 21.0), (23.5, 21.0), (42.0, 21.0), (12.0, 42.0), (34.0, 42.0))


@dataclass(frozen=True, kw_only=True)
class Card:
    """A printed card on the table. `layout` says where which symbol is printed; `owner` whose it is;
    `title` is printed on it; `seed` picks the picture behind; `style`: which drawings."""

    layout: Layout
    pose: Pose
    owner: str = ""
    title: str = ""
    seed: int = 0
    style: int = 0


def sample_spell(name: str, symbols: tuple[str, ...]) -> Layout:
    """A spell card with 4 or 5 slots named ``slot-0`` and so on, for pictures that belong to no game."""
    places = _FOUR if len(symbols) == len(_FOUR) else _FIVE
    regions = tuple(
        Region(f"slot-{i}", rectangle(x, y, _SLOT_MM, _SLOT_MM), symbol)
        for i, ((x, y), symbol) in enumerate(zip(places, symbols, strict=True))
    )
    return Layout(name, CARD_MM, regions)


def printed(card: Card) -> NDArray[np.uint8]:
    """The card's face as it is printed, uint8 BGR (rows, columns, 3), its top up."""
    ink = _card_print(card.layout, card.title, card.seed, card.style)
    return np.asarray(np.round(ink * 255), np.uint8)


def lay_card(canvas: NDArray[np.float32], card: Card, table_to_px: NDArray[np.float64]) -> None:
    """Prints the card into `canvas` (float32 BGR in [0, 1], unlit) in place."""
    corners = [card.pose.apply(corner) for corner in rectangle(0, 0, *card.layout.size_mm).corners]
    lay_print(
        canvas, _card_print(card.layout, card.title, card.seed, card.style), np.array(corners), table_to_px
    )


def lay_markers(
    canvas: NDArray[np.float32],
    marks: Marks,
    size_mm: tuple[float, float],
    turns_deg: tuple[float, ...],
    table_to_px: NDArray[np.float64],
) -> None:
    """Lays the four markers with their outer corners on the rectangle's corners, each turned by its
    `turns_deg` about that corner."""
    width, height = size_mm
    side = marks.marker_mm
    outer = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
    offsets = ((0.0, 0.0), (-side, 0.0), (-side, -side), (0.0, -side))
    for i, (corner, offset, turn) in enumerate(zip(outer, offsets, turns_deg, strict=True)):
        pose = Pose(*corner, turn)
        edge = _QUIET_MM
        paper = rectangle(offset[0] - edge, offset[1] - edge, side + 2 * edge, side + 2 * edge).placed(pose)
        share = edge / (side + 2 * edge)
        lay_print(canvas, _marker_print(i, marks.family, share), np.array(paper.corners), table_to_px)


@lru_cache(maxsize=8)
def _marker_print(marker: int, family: str, quiet: float) -> NDArray[np.float32]:
    modules = marker_modules(marker, family)
    side = len(modules) * 16
    ink = cv2.resize(modules.astype(np.uint8), (side, side), interpolation=cv2.INTER_NEAREST)
    edge = round(side * quiet / (1 - 2 * quiet))
    paper = np.full((side + 2 * edge, side + 2 * edge, 3), 0.93, np.float32)
    paper[edge : edge + side, edge : edge + side] -= np.float32(0.85) * ink[..., None]
    return paper


@lru_cache(maxsize=32)
def _card_print(layout: Layout, title: str, seed: int, style: int) -> NDArray[np.float32]:
    rng = np.random.default_rng((seed, 23))
    width, height = (round(side * _PX_PER_MM) for side in layout.size_mm)
    upper, lower = rng.uniform(0.35, 0.9, 3), rng.uniform(0.3, 0.9, 3)
    down = np.linspace(0, 1, height)[:, None, None]
    shade = (upper * (1 - down) + lower * down) * 255
    art = np.broadcast_to(shade, (height, width, 3)).astype(np.uint8).copy()
    for _ in range(int(rng.integers(6, 16))):
        centre = (int(rng.integers(0, width)), int(rng.integers(height // 6, height)))
        colour = rng.uniform(25, 255, 3).tolist()
        cv2.circle(art, centre, int(rng.integers(6, 34)), colour, int(rng.choice([-1, -1, 3])), cv2.LINE_AA)
    first_line = round(height * 0.72)
    for k in range(3):
        y = first_line + k * 18
        cv2.line(art, (30, y), (int(rng.integers(width // 2, width - 20)), y), (25, 25, 25), 2, cv2.LINE_AA)
    bar = round(height * 0.16)
    art[:bar] = int(rng.integers(215, 250))
    cv2.putText(art, title, (16, bar - 26), cv2.FONT_HERSHEY_DUPLEX, 1.25, (20, 20, 25), 3, cv2.LINE_AA)
    for region in layout.regions:
        _print_region(art, region, style, int(rng.integers(220, 250)))
    cv2.rectangle(art, (0, 0), (width - 1, height - 1), (40, 40, 40), 2)
    return np.asarray(art, np.float32) / np.float32(255)


def _print_region(art: NDArray[np.uint8], region: Region, style: int, paper: int) -> None:
    corners = np.array(region.outline.corners) * _PX_PER_MM
    cv2.fillPoly(art, [np.round(corners).astype(np.int32)], (paper, paper, paper))
    cv2.polylines(art, [np.round(corners).astype(np.int32)], True, (50, 50, 50), 2, cv2.LINE_AA)
    if region.symbol not in SYMBOLS:
        return
    x0, y0 = np.round(corners.min(0)).astype(int)
    side = int(np.round(corners.max(0) - corners.min(0)).min())
    mask = face_mask(region.symbol, style, side)[..., None]
    part = art[y0 : y0 + side, x0 : x0 + side]
    part[:] = (part * (1 - mask) + np.array((40, 25, 25), np.float32) * mask).astype(np.uint8)


def lay_print(
    canvas: NDArray[np.float32],
    picture: NDArray[np.float32],
    corners_mm: NDArray[np.float64],
    table_to_px: NDArray[np.float64],
) -> None:
    """Lays a print (float32 BGR in [0, 1]) with its corners (4, 2) there, from the top left clockwise, into `canvas`
    (float32 BGR in [0, 1], unlit) in place."""
    height, width = picture.shape[:2]
    corners = cv2.perspectiveTransform(corners_mm[None], table_to_px)[0].astype(np.float32)
    square = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32) - 0.5
    plane = cv2.getPerspectiveTransform(square, corners)
    size = (canvas.shape[1], canvas.shape[0])
    shrink = float(np.sqrt(cv2.contourArea(corners) / (width * height)))
    if shrink < 0.8:  # a print finer than the camera sees is smoothed first, or it would flicker
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.45 / max(shrink, 0.1)), np.float32)
    drawn = cv2.warpPerspective(picture, plane, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    cover = np.zeros(size[::-1], np.uint8)
    cv2.fillPoly(cover, [np.round(corners * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    alpha = cover[..., None].astype(np.float32) / 255
    canvas[:] = canvas * (1 - alpha) + drawn * alpha
