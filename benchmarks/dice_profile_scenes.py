"""Rolls of dice with pips on rendered tables that each have a profile: looks, cloths and seeds in two halves, one to
tune on and one that only measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.frame import Frame
from vision.render.cube import BODIES, Die, Livery
from vision.render.enrolment import any_lamp
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.scene import DieTruth, Scene
from vision.surface import Marks

TUNED, HELD_OUT = "tuned", "held out"
CLOTHS = {TUNED: ("felt", "wood", "linen", "playmat"), HELD_OUT: ("paper", "checks", "marble")}
_FIRST_SEED = {TUNED: 0, HELD_OUT: 50_000}
_SIZES_PX = ((1280, 720), (1280, 720), (1024, 768))
_FACE_PX = (62.0, 92.0)
FAR_PX = 7.5
_WHITE, _BLACK = (0.95, 0.95, 0.95), (0.06, 0.06, 0.06)
_BODIES = {
    TUNED: (
        (0.93, 0.94, 0.94), (0.1, 0.1, 0.1), (0.12, 0.1, 0.75), (0.7, 0.3, 0.1), (0.2, 0.75, 0.9),
        (0.25, 0.5, 0.12),
    ),
    HELD_OUT: (
        (0.8, 0.9, 0.93), (0.2, 0.18, 0.18), (0.2, 0.35, 0.9), (0.35, 0.12, 0.4), (0.75, 0.65, 0.2),
        (0.35, 0.25, 0.12),
    ),
}  # fmt: skip
"""BGR of the dice: white, black, red, blue, yellow, green; ivory, charcoal, orange, purple, turquoise, teal."""


@dataclass(frozen=True)
class Roll:
    """One picture with what is true of its dice; `before` is the frame before it, where something moved."""

    frame: Frame
    dice: tuple[DieTruth, ...]
    before: Frame | None = None


@dataclass(frozen=True)
class Table:
    """A camera over a cloth with the dice that are thrown there."""

    scene: Scene
    camera: Camera
    liveries: tuple[Livery, ...]
    seed: int

    def empty(self) -> Frame:
        """The table without dice."""
        return self.scene.picture(self.camera, tick=1)

    def roll(self, n: int, reason: str = "") -> Roll:
        """The `n`-th roll of one to six dice; with a `reason` of DIE_REASONS one more die that gives it."""
        rng = np.random.default_rng((self.seed, n, len(reason)))
        dice = self._thrown(rng, int(rng.integers(1, 7)) if not reason else int(rng.integers(0, 3)))
        scene = replace(self.scene, dice=dice, light=self._drifted(rng))
        if not reason:
            return Roll(scene.picture(self.camera, tick=n), scene.truth(self.camera))
        odd = self._odd(rng, reason, dice)
        if reason == "glare":
            scene = replace(scene, light=self._mirrored(odd[0], scene.light))
        if reason == "moving":
            gone = replace(odd[0], xy_mm=(odd[0].xy_mm[0] + 2.5, odd[0].xy_mm[1] + 2.5))
            earlier = replace(scene, dice=(gone, *dice)).picture(self.camera, tick=n + 1)
        scene = replace(scene, dice=(*odd, *dice))
        frame = scene.picture(self.camera, tick=n)
        if reason == "too_small":
            return _far_away(frame, scene.truth(self.camera)[:1])
        return Roll(frame, scene.truth(self.camera), earlier if reason == "moving" else None)

    def _odd(self, rng: np.random.Generator, reason: str, others: Sequence[Die]) -> tuple[Die, ...]:
        """The die that gives `reason`, first; a die below it where it is stacked."""
        die = self._die(rng, self._free(rng, others))
        if reason == "cocked":
            return (replace(die, tilt_deg=float(rng.choice((-1, 1)) * rng.uniform(15, 40))),)
        if reason == "stacked":
            shift = rng.uniform(-4, 4, 2)
            on = replace(self._die(rng, die.xy_mm), lift_mm=die.side_mm)
            return (replace(on, xy_mm=(die.xy_mm[0] + shift[0], die.xy_mm[1] + shift[1])), die)
        if reason == "cut_off":
            return (replace(die, xy_mm=self._at_the_rim(rng)),)
        if reason == "glare":
            return (replace(die, livery=replace(die.livery, gloss=1.0)),)
        return (die,)

    def _mirrored(self, die: Die, lamp: Lamp) -> Lamp:
        """The lamp where the die's top face mirrors it into the lens."""
        x, y, high = self.camera.lens_mm
        place = (2 * die.xy_mm[0] - x, 2 * die.xy_mm[1] - y, high)
        return replace(lamp, place_mm=place, ambient=0.35, level=1.1)

    def _thrown(self, rng: np.random.Generator, count: int) -> tuple[Die, ...]:
        dice: list[Die] = []
        for _ in range(count):
            dice.append(self._die(rng, self._free(rng, dice)))
        return tuple(dice)

    def _die(self, rng: np.random.Generator, xy_mm: tuple[float, float]) -> Die:
        return Die(
            kind="d6-pips",
            value=int(rng.integers(1, 7)),
            owner="",
            livery=self.liveries[int(rng.integers(len(self.liveries)))],
            xy_mm=xy_mm,
            angle_deg=float(rng.uniform(0, 360)),
        )

    def _free(self, rng: np.random.Generator, others: Sequence[Die]) -> tuple[float, float]:
        """A place whole in the picture, clear of `others`; a third of the dice come to lie against another one."""
        side = 16.0
        while True:
            if others and rng.random() < 0.33:
                near, turn = others[int(rng.integers(len(others)))], rng.uniform(0, 2 * np.pi)
                reach = side * rng.uniform(1.0, 1.45)
                xy = np.array(near.xy_mm) + reach * np.array((np.cos(turn), np.sin(turn)))
            else:
                xy = self._in_view(rng.uniform(0.08, 0.92, 2))
            corners = np.array(
                [(xy[0] + x, xy[1] + y, 8.0 + z) for x in (-12, 12) for y in (-12, 12) for z in (-8, 8)]
            )
            seen = self.camera.project(corners)
            is_in = seen.min() > 4 and bool((seen.max(0) < np.array(self.camera.size_px) - 5).all())
            if is_in and all(_are_clear(xy, other.xy_mm) for other in others):
                return float(xy[0]), float(xy[1])

    def _in_view(self, share: np.ndarray) -> np.ndarray:
        """The table place seen at a share (x, y) of the picture."""
        pixel = np.append(share * np.array(self.camera.size_px), 1.0)
        x, y, w = np.linalg.inv(self.camera.plane()) @ pixel
        return np.array((x / w, y / w))

    def _at_the_rim(self, rng: np.random.Generator) -> tuple[float, float]:
        """A place where a third to two thirds of the top face lie outside."""
        share = rng.uniform(0.15, 0.85, 2)
        axis, end = int(rng.integers(2)), float(rng.integers(2))
        share[axis] = end
        xy = self._in_view(share)
        return float(xy[0]), float(xy[1])

    def _drifted(self, rng: np.random.Generator) -> Lamp:
        lamp = self.scene.light
        cast = tuple(float(c * k) for c, k in zip(lamp.cast, rng.uniform(0.97, 1.03, 3), strict=True))
        return replace(lamp, level=lamp.level * float(rng.uniform(0.88, 1.12)), cast=cast)


def _far_away(frame: Frame, dice: tuple[DieTruth, ...]) -> Roll:
    """The picture as a camera of so few pixels gives it that the first die's face is FAR_PX wide."""
    scale = FAR_PX / float(np.hypot(*np.subtract(dice[0].quad_px[0], dice[0].quad_px[1])))
    small = cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    moved = tuple(
        replace(
            die,
            centre_px=(die.centre_px[0] * scale, die.centre_px[1] * scale),
            quad_px=tuple((x * scale, y * scale) for x, y in die.quad_px),
        )
        for die in dice
    )
    return Roll(np.asarray(small, np.uint8), moved)


def tables(half: str, count: int) -> Iterator[Table]:
    """`count` tables of TUNED or HELD_OUT; every second one has markers in its corners."""
    for index in range(count):
        seed = _FIRST_SEED[half] + index
        rng = np.random.default_rng((seed, 77))
        yield _table(half, seed, rng, has_marks=index % 2 == 0)


def _table(half: str, seed: int, rng: np.random.Generator, has_marks: bool) -> Table:
    size_px = _SIZES_PX[int(rng.integers(len(_SIZES_PX)))]
    across = float(rng.uniform(38, 64))
    px_per_mm = float(rng.uniform(*_FACE_PX)) / 16.0
    width_mm = size_px[0] / px_per_mm
    height_mm = width_mm * size_px[1] / size_px[0]
    high = width_mm / 2 / np.tan(np.radians(across) / 2)
    aside = (
        high
        * np.tan(np.radians(rng.uniform(0, 20)))
        * np.array([np.cos(t := rng.uniform(0, 6.28)), np.sin(t)])
    )
    lens = Camera(
        roll_deg=float(rng.uniform(-8, 8)),
        across_deg=across,
        size_px=size_px,
        blur_px=float(rng.uniform(0.5, 1.3)),
        soft_px=float(rng.choice((0.0, 0.0, 0.8))),
        soft_side_deg=float(rng.uniform(0, 360)),
        noise=float(rng.uniform(1.5, 4.5)),
    )
    camera, size_mm = _framed(lens, (width_mm, height_mm), (float(aside[0]), float(aside[1]), float(high)))
    lamp = any_lamp(rng)
    scene = Scene(
        size_mm=size_mm,
        marks=Marks(marker_mm=18.0) if has_marks else None,
        cloth=CLOTHS[half][int(rng.integers(len(CLOTHS[half])))],
        light=lamp,
        seed=seed,
    )
    kinds = [_livery(half, rng) for _ in range(int(rng.integers(1, 4)))]
    return Table(scene, camera, tuple(kinds), seed)


def _framed(
    lens: Camera, view_mm: tuple[float, float], aside_mm: tuple[float, float, float]
) -> tuple[Camera, tuple[float, float]]:
    """The camera over the middle of the largest rectangle whose corners it sees, and that rectangle in mm."""
    for share in np.arange(0.9, 0.3, -0.04):
        width, height = (float(side * share) for side in view_mm)
        middle = (width / 2, height / 2)
        place = (middle[0] + aside_mm[0], middle[1] + aside_mm[1], aside_mm[2])
        camera = replace(lens, lens_mm=place, look_mm=middle)
        seen = camera.project(np.array([(x, y, 0.0) for x in (-2, width + 2) for y in (-2, height + 2)]))
        if seen.min() > 0 and bool((seen.max(0) < np.array(lens.size_px)).all()):
            break
    return camera, (width, height)


def _livery(half: str, rng: np.random.Generator) -> Livery:
    body = np.array(_BODIES[half][int(rng.integers(len(_BODIES[half])))])
    ink = _BLACK if body.mean() > 0.55 or (body.max() > 0.8 and rng.random() < 0.5) else _WHITE
    pattern = BODIES[int(rng.integers(len(BODIES)))] if rng.random() < 0.4 else "plain"
    second = np.clip(body * rng.uniform(0.6, 1.3), 0.02, 0.98)
    return Livery(
        body=tuple(float(v) for v in body),
        ink=ink,
        pattern=pattern,
        second=tuple(float(v) for v in second),
        style=int(rng.integers(4)),
        gloss=float(rng.uniform(0.1, 0.9)),
        seed=int(rng.integers(1000)),
    )


def _are_clear(xy: np.ndarray, other: tuple[float, float]) -> bool:
    """Whether two dice can lie there side by side, however they are turned but for a few degrees."""
    return bool(np.hypot(xy[0] - other[0], xy[1] - other[1]) > 16.0 * 1.25)
