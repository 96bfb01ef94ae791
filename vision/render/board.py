"""A painted board with towers and dice on it, as a picture; what is true of it stands in the scene itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Point
from vision.markers import marker_modules
from vision.render.cloth import PX_PER_MM, cloth_tile, smooth_noise
from vision.render.lamp import Lamp
from vision.render.lens import Camera, Floats, develop
from vision.render.polyhedra import PolyDie, draw_polyhedron, draw_shadow
from vision.render.visitors import Visitor, draw_visitor
from vision.towers.marks import BoardMarks

Colour = tuple[float, float, float]
"""BGR in [0, 1]."""

TERRAINS: dict[str, Colour] = {
    "rivers": (0.72, 0.52, 0.22),
    "forest": (0.22, 0.46, 0.2),
    "mountains": (0.45, 0.47, 0.5),
    "neonite": (0.66, 0.28, 0.6),
    "city": (0.3, 0.62, 0.86),
}
"""How the terrains of our own boards are printed."""

TOWERS: dict[str, Colour] = {
    "red": (0.13, 0.12, 0.82),
    "blue": (0.72, 0.3, 0.08),
    "green": (0.24, 0.52, 0.1),
    "yellow": (0.12, 0.75, 0.92),
    "purple": (0.62, 0.16, 0.42),
    "black": (0.1, 0.09, 0.09),
}
"""Colours of towers and dice, by whose they are."""

_EDGE = 1.0  # cells of white around a tag
_PAPER, _INK = 0.93, 0.08
_LINE_MM = 1.6
_GRAIN_MM = 1.2
_FINER = 2


@dataclass(frozen=True, kw_only=True)
class Block:
    """A tower: its foot's middle, heading (degrees clockwise of its tag's top edge), height, and what is on its top."""

    tag: int
    xy_mm: Point
    heading_deg: float
    height_mm: float
    colour: Colour


@dataclass(frozen=True, kw_only=True)
class BoardScene:
    """A board at one moment, in board mm. `terrains`: (name, polygon) as painted; `palette`: colours by name. The same
    values give the same picture. `bend`: k1 of the lens."""

    marks: BoardMarks
    terrains: tuple[tuple[str, tuple[Point, ...]], ...]
    towers: tuple[Block, ...] = ()
    dice: tuple[PolyDie, ...] = ()
    visitors: tuple[Visitor, ...] = ()
    palette: dict[str, Colour] = field(default_factory=lambda: TERRAINS)
    grain: float = 0.1
    cloth: str = "felt"
    light: Lamp = field(default_factory=Lamp)
    bend: float = 0.0
    seed: int = 0

    def ground(self, camera: Camera) -> NDArray[np.uint8]:
        """The board and its tags without towers, dice and hands, before lens and sensor, uint8 BGR (H, W, 3)."""
        width, height = camera.size_px
        to_px = camera.plane()
        grid = np.stack(
            np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)), axis=-1
        )
        flat = cv2.perspectiveTransform(grid.reshape(1, -1, 2), np.linalg.inv(to_px))
        places = np.asarray(flat.reshape(height, width, 2), np.float32)
        tile = cloth_tile(self.cloth, self.seed)
        at = places * PX_PER_MM % len(tile)
        laid = cv2.remap(tile, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
        canvas = np.asarray(laid, np.float32)
        self._paint(canvas, places, to_px)
        corners = self.marks.corner_tags
        for tag, centre in zip(corners.ids, corners.centres_mm, strict=True):
            _lay_tag(canvas, tag, _square(centre, 0.0, corners.side_mm), to_px)
        coarse = np.concatenate([places[::8, ::8], np.zeros((*places[::8, ::8].shape[:2], 1))], axis=2)
        lamp = self.light
        diffuse, shine = lamp.on(coarse, np.array((0.0, 0.0, 1.0)), np.array(camera.lens_mm), lamp.sheen)
        both = cv2.resize(np.dstack([diffuse, shine]).astype(np.float32), (width, height))
        lit = (canvas * both[..., :1] + both[..., 1:]) * lamp.tint()
        return np.asarray(np.clip(lit * 255, 0, 255), np.uint8)

    def _paint(self, canvas: NDArray[np.float32], places: NDArray[np.float32], to_px: Floats) -> None:
        grain = smooth_noise(np.random.default_rng((self.seed, 61)), (_GRAIN_MM * PX_PER_MM,) * 2)
        at = places * PX_PER_MM % len(grain)
        light = 1 + self.grain * cv2.remap(
            grain, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP
        )
        height, width = canvas.shape[:2]
        colours = np.zeros((height, width, 3), np.uint8)
        cover, lines = np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8)
        per_mm = float(np.sqrt(abs(np.linalg.det(to_px[:2, :2]))))
        for name, polygon in self.terrains:
            seen = cv2.perspectiveTransform(np.array(polygon)[None], to_px)
            fixed = [np.round(seen[0] * 16).astype(np.int32)]
            cv2.fillPoly(colours, fixed, [round(255 * c) for c in self.palette[name]], cv2.LINE_8, 4)
            cv2.fillPoly(cover, fixed, 255, cv2.LINE_8, 4)
            cv2.polylines(lines, fixed, True, 255, max(1, round(_LINE_MM * per_mm)), cv2.LINE_AA, 4)
        is_painted = cover > 0
        canvas[is_painted] = colours[is_painted].astype(np.float32) / 255 * light[is_painted][:, None]
        canvas *= 1 - 0.6 * lines[..., None].astype(np.float32) / 255

    def picture(
        self, camera: Camera, tick: int = 0, ground: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """The camera's picture, uint8 BGR (H, W, 3). `ground`: what `ground` gave for the same board and camera;
        `tick` numbers the frame: only the noise differs."""
        return self.shot(self.drawn(camera, ground), camera, tick)

    def drawn(self, camera: Camera, ground: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The lit board with all that is on it, before lens and sensor, uint8 BGR (H, W, 3)."""
        canvas = (self.ground(camera) if ground is None else ground).copy()
        for block in self.towers:
            _shade(canvas, _corners(block, self.marks), camera, self.light)
        for die in self.dice:
            draw_shadow(canvas, die, camera, self.light)
        for die in self.dice:
            draw_polyhedron(canvas, die, camera, self.light)
        for block in sorted(self.towers, key=lambda tower: -_far(tower.xy_mm, camera)):
            _draw_block(canvas, block, self.marks, (camera, self.light))
        for visitor in self.visitors:
            draw_visitor(canvas, visitor, camera, self.light)
        return canvas

    def shot(self, canvas: NDArray[np.uint8], camera: Camera, tick: int) -> NDArray[np.uint8]:
        """What lens and sensor give of a drawn board; the noise goes by `tick`."""
        return develop(_bent(canvas, camera, self.bend), camera, (self.seed, tick))


def _far(xy_mm: Point, camera: Camera) -> float:
    return float(np.hypot(xy_mm[0] - camera.lens_mm[0], xy_mm[1] - camera.lens_mm[1]))


def _square(centre: Point, heading_deg: float, side_mm: float) -> Floats:
    """(4, 2) corners clockwise from the top left."""
    turn = np.radians(heading_deg)
    along = np.array((np.cos(turn), np.sin(turn))) * side_mm / 2
    down = np.array((-np.sin(turn), np.cos(turn))) * side_mm / 2
    return np.array(centre) + np.stack([-along - down, along - down, along + down, down - along])


def _corners(block: Block, marks: BoardMarks) -> Floats:
    """(8, 3) mm: foot, then top."""
    flat = _square(block.xy_mm, block.heading_deg, marks.tower.side_mm)
    return np.concatenate(
        [np.column_stack([flat, np.zeros(4)]), np.column_stack([flat, np.full(4, block.height_mm)])]
    )


def _tag_print(tag: int) -> NDArray[np.float32]:
    """A tag with its white edge, (rows, columns, 3) in [0, 1]."""
    modules = marker_modules(tag).astype(np.uint8)
    ink = np.kron(np.pad(modules, round(_EDGE)), np.ones((16, 16), np.uint8))
    return np.asarray((_PAPER - (_PAPER - _INK) * ink)[..., None].repeat(3, axis=2), np.float32)


def _lay_tag(canvas: NDArray[np.float32], tag: int, black: Floats, to_px: Floats) -> None:
    """Prints a tag into `canvas` (float32 BGR) in place; `black` (4, 2): its black square in mm of the plane."""
    cells = len(marker_modules(tag))
    centre = black.mean(0)
    paper = centre + (black - centre) * (cells + 2 * _EDGE) / cells
    seen = cv2.perspectiveTransform(paper[None], to_px)[0]
    x0, y0 = np.maximum(np.floor(seen.min(0)).astype(int) - 2, 0)
    x1, y1 = np.minimum(np.ceil(seen.max(0)).astype(int) + 3, canvas.shape[1::-1])
    if x1 <= x0 or y1 <= y0:
        return
    fine = 4
    size = ((int(x1) - int(x0)) * fine, (int(y1) - int(y0)) * fine)
    local = ((seen - (x0, y0) + 0.5) * fine - 0.5).astype(np.float32)
    picture = _tag_print(tag)
    side = len(picture)
    square = np.array([(0, 0), (side, 0), (side, side), (0, side)], np.float32) - 0.5
    plane = cv2.getPerspectiveTransform(square, local)
    drawn = cv2.warpPerspective(picture, plane, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    cover = np.zeros(size[::-1], np.uint8)
    cv2.fillPoly(cover, [np.round(local * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    small = (size[0] // fine, size[1] // fine)
    alpha = cv2.resize(cover, small, interpolation=cv2.INTER_AREA).astype(np.float32)[..., None] / 255
    part = canvas[y0:y1, x0:x1]
    part[:] = part * (1 - alpha) + cv2.resize(drawn, small, interpolation=cv2.INTER_AREA) * alpha


def _shade(canvas: NDArray[np.uint8], placed: Floats, camera: Camera, lamp: Lamp) -> None:
    """Darkens the board where a tower keeps the lamp off it."""
    flat = np.concatenate([placed[:4, :2], lamp.shadow_of(placed[4:], 0.0)])
    outline = cv2.convexHull(camera.project(np.column_stack([flat, np.zeros(8)])).astype(np.float32))
    dark = np.zeros(canvas.shape[:2], np.uint8)
    cv2.fillPoly(dark, [np.round(outline * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    x, y, width, height = cv2.boundingRect(np.round(outline).astype(np.int32))
    rows, columns = (
        slice(max(0, y - 12), max(0, y + height + 12)),
        slice(max(0, x - 12), max(0, x + width + 12)),
    )
    soft = cv2.GaussianBlur(dark[rows, columns], (0, 0), 3.0).astype(np.float32)[..., None] / 255
    part = canvas[rows, columns]
    part[:] = (part * (1 - (1 - lamp.ambient) * 0.6 * soft)).astype(np.uint8)


def _draw_block(
    canvas: NDArray[np.uint8], block: Block, marks: BoardMarks, sight: tuple[Camera, Lamp]
) -> None:
    camera, lamp = sight
    placed = _corners(block, marks)
    seen = camera.project(placed)
    x0, y0 = np.maximum(np.floor(seen.min(0)).astype(int) - 2, 0)
    x1, y1 = np.minimum(np.ceil(seen.max(0)).astype(int) + 3, canvas.shape[1::-1])
    if x1 <= x0 or y1 <= y0:
        return
    size = ((int(x1) - int(x0)) * _FINER, (int(y1) - int(y0)) * _FINER)
    local = (seen - (x0, y0) + 0.5) * _FINER - 0.5
    part = canvas[y0:y1, x0:x1]
    fine = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_LINEAR), np.float32) / np.float32(255)
    cover = np.zeros(size[::-1], np.uint8)
    eye = np.array(camera.lens_mm)
    middle = placed.mean(0)
    for k in range(4):
        ring = [k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4]
        face = placed[ring]
        out = face.mean(0) - middle
        normal = out / np.linalg.norm(out)
        if normal @ (eye - face.mean(0)) <= 0:
            continue
        _fill(fine, cover, local[ring], _light_on(lamp, face.mean(0), normal, eye, block.colour))
    top = _light_on(lamp, placed[4:].mean(0), np.array((0.0, 0.0, 1.0)), eye, block.colour)
    _fill(fine, cover, local[4:], top)
    shrunk = cv2.resize(fine, part.shape[1::-1], interpolation=cv2.INTER_AREA)
    alpha = (
        cv2.resize(cover, part.shape[1::-1], interpolation=cv2.INTER_AREA).astype(np.float32)[..., None] / 255
    )
    drawn = part.astype(np.float32) / 255 * (1 - alpha) + shrunk * alpha
    black = _square(block.xy_mm, block.heading_deg, marks.tower.tag_side_mm)
    to_px = camera.plane(block.height_mm)
    to_part = np.array([(1, 0, -x0), (0, 1, -y0), (0, 0, 1)], np.float64) @ to_px
    unlit = np.asarray(drawn / max(0.05, float(top.max() / max(block.colour))), np.float32)
    light = top / np.array(block.colour)
    before = unlit.copy()
    _lay_tag(unlit, block.tag, black, to_part)
    is_tag = np.abs(unlit - before).max(2, keepdims=True) > 1e-6
    part[:] = np.clip(np.where(is_tag, unlit * light, drawn) * 255, 0, 255).astype(np.uint8)


def _light_on(lamp: Lamp, point: Floats, normal: Floats, eye: Floats, colour: Colour) -> Floats:
    diffuse, _ = lamp.on(point[None, None], normal, eye, 0.0)
    return np.asarray(float(diffuse[0, 0]) * lamp.tint() * np.array(colour), np.float64)


def _fill(fine: NDArray[np.float32], cover: NDArray[np.uint8], ring: Floats, colour: Floats) -> None:
    fixed = [np.round(ring * 16).astype(np.int32)]
    cv2.fillPoly(fine, fixed, colour.tolist(), cv2.LINE_AA, 4)
    cv2.fillPoly(cover, fixed, 255, cv2.LINE_AA, 4)


def _bent(canvas: NDArray[np.uint8], camera: Camera, bend: float) -> NDArray[np.uint8]:
    """What a lens with k1 = `bend` makes of a pinhole's picture."""
    if bend == 0.0:
        return canvas
    at = _bent_places(camera.size_px, camera.across_deg, bend)
    return np.asarray(cv2.remap(canvas, at[..., 0], at[..., 1], cv2.INTER_CUBIC), np.uint8)


@lru_cache(maxsize=2)
def _bent_places(size_px: tuple[int, int], across_deg: float, bend: float) -> NDArray[np.float32]:
    """(H, W, 2) where in the pinhole's picture each pixel of the lens's picture is."""
    width, height = size_px
    focal = width / 2 / np.tan(np.radians(across_deg) / 2)
    middle = np.array(((width - 1) / 2, (height - 1) / 2))
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1)
    flat = (grid - middle) / focal
    straight = flat
    for _ in range(5):
        straight = flat / (1 + bend * (straight**2).sum(2, keepdims=True))
    return np.asarray(straight * focal + middle, np.float32)
