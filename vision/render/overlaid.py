"""Dark cards that lie over each other on a table: a coloured strip, white lines, filled shapes with dots, a badge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from companion.core.layout import Layout
from vision.render.cloth import PX_PER_MM, cloth_tile
from vision.render.flat import lay_markers
from vision.render.lamp import Lamp
from vision.render.lens import Camera, develop
from vision.render.visitors import Visitor, draw_visitor
from vision.surface import Marks

Colour = tuple[float, float, float]
INKS: Mapping[str, Colour] = {
    "blue": (0.86, 0.48, 0.1), "green": (0.22, 0.72, 0.3), "orange": (0.08, 0.52, 0.96), "pink": (0.62, 0.22, 0.92),
    "purple": (0.68, 0.16, 0.44), "red": (0.14, 0.14, 0.85),
}  # fmt: skip
"""Usual inks, BGR in [0, 1]."""
_PX_PER_MM = 8.0
_FLOOR = (0.07, 0.08, 0.09)


@dataclass(frozen=True)
class Look:
    """How a deck is printed. `inks`: BGR in [0, 1] by name. `fill`: strength of the ink in filled shapes; `line_mm`,
    `corner_mm`: width of the white lines, radius of the card's corners; `badge_mm`: half size of the badge, 0 for none;
    `dark`, `white`: grey of the ground and of lines and dots."""

    inks: tuple[tuple[str, Colour], ...] = tuple(INKS.items())
    fill: float = 1.0
    line_mm: float = 0.7
    corner_mm: float = 2.5
    badge_mm: float = 4.5
    dark: float = 0.05
    white: float = 0.93


@dataclass(frozen=True)
class LaidCard:
    """A card on the table: which side of which, in which ink (empty for none), and where its top-left corner lies."""

    layout: Layout
    colour: str
    flipped: bool
    pose: Pose


@dataclass(frozen=True, kw_only=True)
class CardTable:
    """A table of such cards at one moment, the undermost first.

    `shade`: (x, y, towards_deg, gain), a straight edge of shadow or sun through a place of the table, clockwise of
    which all is `gain` times as bright. `has_floor`: beyond the table lies a dark floor.
    """

    size_mm: tuple[float, float] = (1000.0, 690.0)
    laid: tuple[LaidCard, ...] = ()
    look: Look = field(default_factory=Look)
    cloth: str = "felt"
    light: Lamp = field(default_factory=Lamp)
    shade: tuple[float, float, float, float] | None = None
    marks: Marks | None = None
    visitors: tuple[Visitor, ...] = ()
    has_floor: bool = True
    seed: int = 0

    def picture(self, camera: Camera, tick: int = 0) -> NDArray[np.uint8]:
        """The camera's picture, uint8 BGR (H, W, 3). `tick` numbers the frame: only the noise differs."""
        canvas = self.drawn(camera)
        for visitor in self.visitors:
            draw_visitor(canvas, visitor, camera, self.light)
        return self.shot(canvas, camera, tick)

    def shot(self, canvas: NDArray[np.uint8], camera: Camera, tick: int) -> NDArray[np.uint8]:
        """What the sensor gives of a drawn table, `canvas` (uint8 BGR)."""
        return develop(canvas, camera, (self.seed, tick))

    def drawn(self, camera: Camera) -> NDArray[np.uint8]:
        """The lit table with its cards and without visitors, as the lens would see it, uint8 BGR (H, W, 3)."""
        canvas = _bare(self.size_mm, self.cloth, self.has_floor, camera, self.seed).copy()
        to_px = camera.plane()
        if self.marks is not None:
            lay_markers(canvas, self.marks, self.size_mm, (0.0,) * 4, to_px)
        for card in self.laid:
            _lay(canvas, card, self.look, to_px)
        light = _lit(self, camera)
        return np.asarray(
            np.clip((canvas * light[..., :1] + light[..., 1:]) * self.light.tint() * 255, 0, 255), np.uint8
        )

    def corners_px(self, camera: Camera) -> NDArray[np.float64]:
        """(4, 2): where the table's corners are seen, from the top left clockwise."""
        width, height = self.size_mm
        corners = np.array([(0, 0, 0), (width, 0, 0), (width, height, 0), (0, height, 0)], np.float64)
        return camera.project(corners)


@lru_cache(maxsize=48)
def printed(layout: Layout, colour: str, flipped: bool, look: Look) -> NDArray[np.float32]:
    """(rows, columns, 4): BGR and cover in [0, 1] of one side, 8 px a mm."""
    width, height = (round(side * _PX_PER_MM) for side in layout.size_mm)
    ink = np.array(dict(look.inks)[colour] if colour else (look.white,) * 3) * 255
    dark, white = np.full(3, look.dark * 255), (look.white * 255,) * 3
    art = np.empty((height, width, 3), np.uint8)
    art[:] = np.round(ink)
    strip, (right, bottom) = layout.strip_mm, layout.size_mm
    inner = _px(
        np.array(
            [(strip, strip), (right - strip, strip), (right - strip, bottom - strip), (strip, bottom - strip)]
        )
    )
    cv2.fillPoly(art, [inner], dark.tolist(), cv2.LINE_AA, 4)
    line = max(1, round(look.line_mm * _PX_PER_MM))
    filled = (ink * look.fill + dark * (1 - look.fill)).tolist()
    limits = (np.full(2, strip), np.array(layout.size_mm) - strip)
    for region in layout.regions:
        outline = _px(np.clip(region.outline.corners, *limits))
        if region.dots_mm:
            cv2.fillPoly(art, [outline], filled, cv2.LINE_AA, 4)
        cv2.polylines(art, [outline], True, white, line, cv2.LINE_AA, 4)
    for region in layout.regions:
        for dot in region.dots_mm:
            radius = round(layout.dot_radius_mm * _PX_PER_MM * 16)
            cv2.circle(art, _px(np.array([dot]))[0].tolist(), radius, white, -1, cv2.LINE_AA, 4)
    cv2.polylines(art, [inner], True, white, line, cv2.LINE_AA, 4)
    _badge(art, layout, look, ink)
    cover = _rounded(height, width, round(look.corner_mm * _PX_PER_MM))
    both = np.dstack([art.astype(np.float32) / np.float32(255), cover])
    return np.ascontiguousarray(both[:, ::-1] if flipped else both)


def _badge(art: NDArray[np.uint8], layout: Layout, look: Look, ink: NDArray[np.float64]) -> None:
    """The value in the suit's form in the middle, or a cross on the card that has no suit."""
    (x, y), size = (side / 2 for side in layout.size_mm), look.badge_mm
    white = (look.white * 255,) * 3
    line = max(1, round(look.line_mm * 1.3 * _PX_PER_MM))
    if not layout.badge:
        for way in (1, -1):
            ends = _px(np.array([(x - 6, y - 6 * way), (x + 6, y + 6 * way)]))
            cv2.line(art, ends[0].tolist(), ends[1].tolist(), white, line, cv2.LINE_AA, 4)
        return
    if not size:
        return
    if layout.badge == "circle":
        cv2.circle(
            art,
            _px(np.array([(x, y)]))[0].tolist(),
            round(size * _PX_PER_MM * 16),
            ink.tolist(),
            -1,
            cv2.LINE_AA,
            4,
        )
    elif layout.badge == "square":
        form = [(x - size, y - size), (x + size, y - size), (x + size, y + size), (x - size, y + size)]
        cv2.fillPoly(art, [_px(np.array(form))], ink.tolist(), cv2.LINE_AA, 4)
    else:
        form = [(x, y - 1.25 * size), (x + 1.15 * size, y + 0.85 * size), (x - 1.15 * size, y + 0.85 * size)]
        cv2.fillPoly(art, [_px(np.array(form))], ink.tolist(), cv2.LINE_AA, 4)
    _digit(art, str(sum(len(region.dots_mm) for region in layout.regions)), look)


def _digit(art: NDArray[np.uint8], text: str, look: Look) -> None:
    """The value in white, a little higher than half the badge."""
    large = np.zeros((200, 200), np.uint8)
    cv2.putText(large, text, (50, 150), cv2.FONT_HERSHEY_SIMPLEX, 4.0, 255, 10, cv2.LINE_AA)
    x, y, wide, high = cv2.boundingRect(large)
    scale = 1.15 * look.badge_mm * _PX_PER_MM / high
    size = (round(wide * scale), round(high * scale))
    digit = cv2.resize(large[y : y + high, x : x + wide], size, interpolation=cv2.INTER_AREA)
    top, left = (art.shape[0] - size[1]) // 2, (art.shape[1] - size[0]) // 2
    part, cover = art[top : top + size[1], left : left + size[0]], digit[..., None].astype(np.float32) / 255
    part[:] = np.round(part * (1 - cover) + 255 * look.white * cover)


def _px(points_mm: NDArray[np.float64]) -> NDArray[np.int32]:
    """Points of a print for drawing with four bits of a pixel's fraction; a pixel's middle is at half of it."""
    return np.round((np.asarray(points_mm) * _PX_PER_MM - 0.5) * 16).astype(np.int32)


def _rounded(height: int, width: int, radius: int) -> NDArray[np.float32]:
    cover = np.zeros((height, width), np.uint8)
    cv2.rectangle(cover, (radius, 0), (width - 1 - radius, height - 1), 255, -1)
    cv2.rectangle(cover, (0, radius), (width - 1, height - 1 - radius), 255, -1)
    for x in (radius, width - 1 - radius):
        for y in (radius, height - 1 - radius):
            cv2.circle(cover, (x, y), radius, 255, -1, cv2.LINE_AA)
    return np.asarray(cover, np.float32) / np.float32(255)


def _lay(canvas: NDArray[np.float32], card: LaidCard, look: Look, to_px: NDArray[np.float64]) -> None:
    """Prints a card into `canvas` (float32 BGR in [0, 1], unlit), with a thin shadow around it."""
    art = printed(card.layout, card.colour, card.flipped, look)
    height, width = art.shape[:2]
    sides = card.layout.size_mm
    corners = np.array([card.pose.apply(p) for p in ((0, 0), (sides[0], 0), sides, (0, sides[1]))])
    seen = cv2.perspectiveTransform(corners[None], to_px)[0]
    x0, y0 = np.maximum(np.floor(seen.min(0)).astype(int) - 3, 0)
    x1, y1 = np.minimum(np.ceil(seen.max(0)).astype(int) + 4, (canvas.shape[1], canvas.shape[0]))
    if x1 <= x0 or y1 <= y0:
        return
    shrink = float(np.sqrt(cv2.contourArea(seen.astype(np.float32)) / (width * height)))
    sigma = 0.4 / max(shrink, 0.05)
    edge = round(4 * sigma)
    padded = cv2.copyMakeBorder(art, edge, edge, edge, edge, cv2.BORDER_REPLICATE)
    padded[..., 3] = cv2.copyMakeBorder(art[..., 3], edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=0)
    padded = cv2.GaussianBlur(padded, (0, 0), sigma)
    print_px = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32) - 0.5 + edge
    plane = cv2.getPerspectiveTransform(print_px, (seen - (x0, y0)).astype(np.float32))
    drawn = cv2.warpPerspective(padded, plane, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    part, alpha = canvas[y0:y1, x0:x1], drawn[..., 3:]
    shadow = cv2.GaussianBlur(drawn[..., 3], (0, 0), 1.2)[..., None]
    part[:] = part * (1 - 0.35 * shadow) * (1 - alpha) + drawn[..., :3] * alpha


@lru_cache(maxsize=2)
def _bare(
    size_mm: tuple[float, float], cloth: str, has_floor: bool, camera: Camera, seed: int
) -> NDArray[np.float32]:
    """The empty table, unlit, float32 BGR (H, W, 3)."""
    places = _places(camera)
    tile = cloth_tile(cloth, seed)
    at = places * PX_PER_MM % len(tile)
    canvas = cv2.remap(tile, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    if has_floor:
        beyond = ((places < 0) | (places > np.array(size_mm, np.float32))).any(axis=2)
        canvas[beyond] = _FLOOR
    return np.asarray(canvas, np.float32)


@lru_cache(maxsize=2)
def _places(camera: Camera) -> NDArray[np.float32]:
    """(H, W, 2): the table place in mm that each pixel shows."""
    width, height = camera.size_px
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    grid = np.stack([x, y], axis=-1).reshape(1, -1, 2)
    found = cv2.perspectiveTransform(grid, np.linalg.inv(camera.plane()))
    return np.asarray(found.reshape(height, width, 2), np.float32)


def _lit(table: CardTable, camera: Camera) -> NDArray[np.float32]:
    """(H, W, 2): gain and shine of the lamp at each pixel."""
    width, height = camera.size_px
    coarse = _places(camera)[::8, ::8].astype(np.float64)
    coarse = np.concatenate([coarse, np.zeros((*coarse.shape[:2], 1))], axis=2)
    up = np.array((0.0, 0.0, 1.0))
    diffuse, shine = table.light.on(coarse, up, np.array(camera.lens_mm), table.light.sheen)
    both = cv2.resize(np.dstack([diffuse, shine]).astype(np.float32), (width, height))
    if table.shade is not None:
        x, y, towards_deg, gain = table.shade
        turn = np.radians(towards_deg)
        beyond = (_places(camera) - np.array((x, y), np.float32)) @ np.array(
            (-np.sin(turn), np.cos(turn)), np.float32
        )
        both *= (1 + (gain - 1) / (1 + np.exp(-np.clip(beyond / 1.5, -30, 30))))[..., None]
    return np.asarray(both, np.float32)
