"""A table with everything on it, as a picture and as the truth about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.cloth import PX_PER_MM, cloth_tile
from vision.render.cube import Die, draw_die, shadow
from vision.render.flat import Card, lay_card, lay_markers
from vision.render.lamp import Lamp
from vision.render.lens import Camera, develop
from vision.render.visitors import Visitor, draw_visitor
from vision.surface import Marks


@dataclass(frozen=True, kw_only=True)
class DieTruth:
    """What is true of one die in a picture. `box_px` holds all that is visible of it; `centre_px` and
    `quad_px` are those of the top face; `xy_mm` its foot on the table."""

    kind: str
    value: str | int
    owner: str
    box_px: tuple[int, int, int, int]
    centre_px: tuple[float, float]
    quad_px: tuple[tuple[float, float], ...]
    xy_mm: tuple[float, float]
    card: int | None
    slot: int | None
    is_cocked: bool


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A table at one moment. `size_mm`: the marked rectangle; `marks`: None for a table without markers;
    `cloth`: one of `cloth.CLOTHS`. The same values give the same picture, whatever was drawn before."""

    size_mm: tuple[float, float] = (600.0, 400.0)
    marks: Marks | None = field(default_factory=Marks)
    marks_turned_deg: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    cards: tuple[Card, ...] = ()
    dice: tuple[Die, ...] = ()
    visitors: tuple[Visitor, ...] = ()
    cloth: str = "felt"
    light: Lamp = field(default_factory=Lamp)
    seed: int = 0

    def picture(self, camera: Camera, tick: int = 0) -> NDArray[np.uint8]:
        """The camera's picture, uint8 BGR (H, W, 3). `tick` numbers the frame: only the noise differs."""
        return self.shot(self.drawn(camera), camera, tick)

    def shot(self, drawn: NDArray[np.uint8], camera: Camera, tick: int) -> NDArray[np.uint8]:
        """One more frame of what `drawn` gave: much cheaper than drawing a still table again."""
        return develop(drawn, camera, (self.seed, tick))

    def drawn(self, camera: Camera) -> NDArray[np.uint8]:
        """The scene before lens and sensor, uint8 BGR (H, W, 3)."""
        canvas = _ground(replace(self, dice=(), visitors=()), camera).copy()
        _draw_shadows(canvas, self.dice, camera, self.light)
        far_first = sorted(self.dice, key=lambda die: -_far(die, camera))
        for die in sorted(far_first, key=lambda die: die.lift_mm):
            draw_die(canvas, die, camera, self.light)
        for visitor in self.visitors:
            draw_visitor(canvas, visitor, camera, self.light)
        return canvas

    def truth(self, camera: Camera) -> tuple[DieTruth, ...]:
        """The dice of which any part is in the picture, in the order of `dice`; hands and cups hide nothing
        here."""
        width, height = camera.size_px
        found = []
        for die in self.dice:
            seen = camera.project(die.corners())
            (x0, y0), (x1, y1) = np.floor(seen.min(0)), np.ceil(seen.max(0))
            if x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height:
                continue
            top = tuple((float(x), float(y)) for x, y in seen[:4])
            middle = seen[:4].mean(0)
            found.append(
                DieTruth(
                    kind=die.kind,
                    value=die.value,
                    owner=die.owner,
                    box_px=(int(max(x0, 0)), int(max(y0, 0)), int(min(x1, width)), int(min(y1, height))),
                    centre_px=(float(middle[0]), float(middle[1])),
                    quad_px=top,
                    xy_mm=die.xy_mm,
                    card=die.card,
                    slot=die.slot,
                    is_cocked=die.tilt_deg != 0.0,
                )
            )
        return tuple(found)


def _far(die: Die, camera: Camera) -> float:
    return float(np.hypot(die.xy_mm[0] - camera.lens_mm[0], die.xy_mm[1] - camera.lens_mm[1]))


def _draw_shadows(canvas: NDArray[np.uint8], dice: tuple[Die, ...], camera: Camera, lamp: Lamp) -> None:
    if not dice:
        return
    height, width = canvas.shape[:2]
    dark = np.zeros((height // 2, width // 2), np.uint8)
    for die in dice:
        mask = shadow(die, camera, lamp, (width, height))
        np.maximum(dark, mask, out=dark)
    soft = cv2.GaussianBlur(dark, (0, 0), 2.2).astype(np.float32) / 255
    strength = (1 - lamp.ambient) * 0.75
    gain = cv2.resize(1 - strength * soft, (width, height), interpolation=cv2.INTER_LINEAR)
    canvas[:] = (canvas * gain[..., None]).astype(np.uint8)


@lru_cache(maxsize=2)
def _ground(bare: Scene, camera: Camera) -> NDArray[np.uint8]:
    """The table without dice, lit; kept, since only dice and visitors change from frame to frame."""
    width, height = camera.size_px
    to_px = camera.plane()
    inverse = np.linalg.inv(to_px)
    grid = np.stack(
        np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)), axis=-1
    )
    places = cv2.perspectiveTransform(grid.reshape(1, -1, 2), inverse).reshape(height, width, 2)
    tile = cloth_tile(bare.cloth, bare.seed)
    at = places * PX_PER_MM % len(tile)
    laid = cv2.remap(tile, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    canvas = np.asarray(laid, np.float32)
    if bare.marks is not None:
        lay_markers(canvas, bare.marks, bare.size_mm, bare.marks_turned_deg, to_px)
    light = bare.light
    for card in bare.cards:
        lay_card(canvas, card, to_px)
    coarse = np.concatenate([places[::8, ::8], np.zeros((*places[::8, ::8].shape[:2], 1))], axis=2)
    diffuse, shine = light.on(coarse, np.array((0.0, 0.0, 1.0)), np.array(camera.lens_mm), light.sheen)
    both = cv2.resize(np.dstack([diffuse, shine]).astype(np.float32), (width, height))
    lit = (canvas * both[..., :1] + both[..., 1:]) * light.tint()
    still = np.asarray(np.clip(lit * 255, 0, 255), np.uint8)
    still.flags.writeable = False
    return still
