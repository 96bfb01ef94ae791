"""Said, not guessed: how often the reader without a profile says why a die cannot be read, on rendered tables.

Each picture holds upright dice and one odd die: leaning, half out of the picture, in motion, too small or under a lamp
mirrored in its top. An odd die is *guessed* when a value is said that does not lie on top (of a leaning die: any
value), *told* when it is said to be unread, for whatever reason. What lies upright beside it must still be read, but
where all are too small or under the same lamp.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.figures import Figure
from companion.core.observation import DieSeen
from vision.dice.reading import PipsReader
from vision.frame import Frame
from vision.render.cube import Die, Livery
from vision.render.enrolment import any_lamp
from vision.render.lens import Camera
from vision.render.scene import DieTruth, Scene

REASONS = ("cocked", "cut_off", "moving", "too_small", "glare")
_ALL_ALIKE = ("too_small", "glare")
PICTURES = 40
_TARGETS = ((">=", 80.0), ("<=", 8.0))
_CLOTHS = ("paper", "felt", "linen", "wood")
_SIDE_MM = 16.0
_FACE_PX = (32.0, 70.0)
_TINY_PX = (4.0, 8.0)
_SIZE_PX = (960, 720)


@dataclass(frozen=True)
class Shot:
    """A picture; `odd`: the die that cannot be read, first of `dice`."""

    frame: Frame
    dice: tuple[DieTruth, ...]

    @property
    def odd(self) -> DieTruth:
        return self.dice[0]


def figures(progress: Callable[[str], None]) -> list[Figure]:
    """Per reason the odd dice that were told and guessed, and the upright dice that were read right."""
    reader = PipsReader()
    found = []
    upright: Counter[str] = Counter()
    for reason in REASONS:
        odd: Counter[str] = Counter()
        for shot in shots(reason):
            said = reader.read(shot.frame).dice
            odd[_odd(said, shot.odd, reason)] += 1
            if reason not in _ALL_ALIKE:
                upright.update(_upright(said, die) for die in shot.dice[1:])
        progress(f"{reason}: {dict(odd)}")
        told = odd["this reason"] + odd["another reason"]
        why = ", ".join(f"{what} {count}" for what, count in odd.most_common())
        for name, count, (op, target) in zip(
            ("told", "guessed"), (told, odd["guessed"]), _TARGETS, strict=True
        ):
            share = 100.0 * count / odd.total()
            found.append(Figure(f"{reason} dice {name}", share, "%", op, target, odd.total(), True, why=why))
    read = 100.0 * upright["right"] / upright.total()
    why = ", ".join(f"{what} {count}" for what, count in upright.most_common())
    found.append(
        Figure("dice beside an odd one, read", read, "%", ">=", 95.0, upright.total(), True, why=why)
    )
    return found


def shots(reason: str, count: int = PICTURES) -> Iterator[Shot]:
    """Pictures with one odd die each, the same at every run."""
    for n in range(count):
        yield _shot(np.random.default_rng((REASONS.index(reason), n, 77)), reason)


def _shot(rng: np.random.Generator, reason: str) -> Shot:
    face_px = float(rng.uniform(*(_TINY_PX if reason == "too_small" else _FACE_PX)))
    height_mm = 620.0
    focal_px = face_px / _SIDE_MM * (height_mm - _SIDE_MM)
    across = 2 * np.degrees(np.arctan(_SIZE_PX[0] / 2 / focal_px))
    middle = (300.0, 200.0)
    camera = Camera(lens_mm=(*middle, height_mm), look_mm=middle, across_deg=float(across), size_px=_SIZE_PX)
    half_mm = np.array(_SIZE_PX) / 2 * _SIDE_MM / face_px
    places = _places(rng, np.minimum(half_mm - _SIDE_MM, 170.0)) + middle
    livery = _livery(rng)
    dice = [
        Die(
            value=int(rng.integers(1, 7)),
            owner="",
            livery=livery if rng.random() < 0.5 else _livery(rng),
            xy_mm=(float(x), float(y)),
            angle_deg=float(rng.uniform(0, 360)),
            kind="d6-pips",
        )
        for x, y in places
    ]
    lamp = any_lamp(rng)
    odd = dice[0]
    if reason == "cocked":
        odd = replace(odd, tilt_deg=float(rng.uniform(20, 42)))
    elif reason == "cut_off":
        side = int(rng.choice([-1, 1]))
        odd = replace(odd, xy_mm=(float(middle[0] + side * half_mm[0]), odd.xy_mm[1]))
    elif reason == "moving":
        way = rng.uniform(0, 2 * np.pi)
        far = rng.uniform(9, 18)
        odd = replace(odd, smear_mm=(float(far * np.cos(way)), float(far * np.sin(way))))
    elif reason == "glare":
        x, y = odd.xy_mm
        lamp = replace(lamp, place_mm=(2 * x - middle[0], 2 * y - middle[1], height_mm), ambient=0.3)
        odd = replace(odd, livery=replace(odd.livery, gloss=1.0))
        lamp = replace(lamp, level=1.9)
    scene = Scene(
        marks=None,
        dice=(odd, *dice[1:]),
        cloth=str(rng.choice(_CLOTHS)),
        light=lamp,
        seed=int(rng.integers(1 << 20)),
    )
    return Shot(scene.picture(camera), scene.truth(camera))


def _livery(rng: np.random.Generator) -> Livery:
    body = rng.uniform(0.05, 0.95, 3)
    ink = 0.95 if body.mean() < 0.5 else 0.06
    b, g, r = (float(v) for v in body)
    return Livery(
        body=(b, g, r), ink=(ink, ink, ink), gloss=float(rng.uniform(0, 0.6)), seed=int(rng.integers(99))
    )


def _places(rng: np.random.Generator, reach_mm: np.ndarray) -> np.ndarray:
    """(4, 2) places at least two dice apart."""
    places: list[np.ndarray] = []
    while len(places) < 4:
        place = rng.uniform(-reach_mm, reach_mm)
        if all(np.hypot(*(place - other)) > 2 * _SIDE_MM for other in places):
            places.append(place)
    return np.array(places)


def _at(said: tuple[DieSeen, ...], die: DieTruth) -> list[DieSeen]:
    """What was said of the place where `die` lies."""
    x0, y0, x1, y1 = die.box_px
    return [
        d
        for d in said
        if x0 <= (d.box_px[0] + d.box_px[2]) / 2 <= x1 and y0 <= (d.box_px[1] + d.box_px[3]) / 2 <= y1
    ]


def _odd(said: tuple[DieSeen, ...], die: DieTruth, reason: str) -> str:
    there = _at(said, die)
    values = [d.value for d in there if d.value is not None]
    if any(value != die.value or reason == "cocked" for value in values):
        return "guessed"
    if values:
        return "read right"
    if not there:
        return "not seen"
    return "this reason" if any(d.reason == reason for d in there) else "another reason"


def _upright(said: tuple[DieSeen, ...], die: DieTruth) -> str:
    there = _at(said, die)
    values = [d.value for d in there if d.value is not None]
    if values:
        return "right" if values == [die.value] else "wrong"
    return "unread" if there else "not seen"
