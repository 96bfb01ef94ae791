"""Rendered tables with symbol dice, each with its truth, for `benchmarks.dice_symbols`.

A world is one group's set of dice: drawings, colours and bodies of its own. Nothing here was looked at when the reader
was tuned: drawings (the last two styles of `vision.render`), seeds, lamps and cloths of these worlds are used for
measuring alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from companion.core.layout import Placed
from vision.render.cube import Die, Livery
from vision.render.drawings import SYMBOLS
from vision.render.enrolment import any_lamp, enrolment_pictures
from vision.render.flat import Card, sample_spell
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.scene import DieTruth, Scene
from vision.surface import Marks

SIZE_MM = (480.0, 320.0)
SHOTS = 5
_HUES = {"red": 176, "blue": 108, "green": 66, "yellow": 26, "purple": 142}
"""Of the owners' dice, in OpenCV's half degrees; black has none."""
_CARDS = tuple((x, y) for y in (88.0, 232.0) for x in (95.0, 240.0, 385.0))
_PALE, _DARK = (0.93, 0.95, 0.96), (0.1, 0.08, 0.08)


@dataclass(frozen=True)
class World:
    """`liveries`: owner -> how that owner's dice look. `lamp` and `cloth`: those of the place of enrolment."""

    seed: int
    pattern: str
    style: int
    liveries: dict[str, Livery]
    lamp: Lamp
    cloth: str

    def write_enrolment(self, folder: Path, is_one_light: bool) -> None:
        """``folder/<owner>/<face>/N.jpg``, five of each: all under the world's own lamp and on its cloth, or under
        another lamp and on three cloths."""
        for owner, livery in self.liveries.items():
            for face in SYMBOLS:
                place = folder / owner / face
                place.mkdir(parents=True, exist_ok=True)
                pictures = enrolment_pictures(
                    livery,
                    face,
                    shots=SHOTS,
                    seed=self.seed,
                    cloths=(self.cloth,) if is_one_light else ("felt", "paper", "wood"),
                    lamp=self.lamp if is_one_light else None,
                )
                for shot, picture in enumerate(pictures):
                    cv2.imwrite(str(place / f"{shot}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 92])


@dataclass(frozen=True)
class Table:
    """One picture with its truth. `layouts`: the cards that lie there; None of `marks`: a table without markers."""

    picture: NDArray[np.uint8]
    truth: tuple[DieTruth, ...]
    layouts: tuple[Placed, ...]
    complete: tuple[bool, ...]
    marks: Marks | None


def world(seed: int, pattern: str, style: int, cloths: Sequence[str]) -> World:
    """The world of this number."""
    rng = np.random.default_rng((seed, 77))
    liveries = {}
    for i, owner in enumerate((*_HUES, "black")):
        if owner == "black":
            body = tuple(float(v) for v in rng.uniform(0.06, 0.14, 3))
        else:
            hsv = (
                _HUES[owner] + int(rng.integers(-4, 5)), int(rng.integers(170, 236)), int(rng.integers(130, 236))
            )  # fmt: skip
            body = _bgr((hsv[0] % 180, hsv[1], max(hsv[2], 205) if owner == "yellow" else hsv[2]))
        away = rng.uniform(0.25, 0.6)
        second = tuple(
            float(c * (1 - away) + away * v) for c, v in zip(body, rng.uniform(0, 0.75, 3), strict=True)
        )
        ink = _DARK if owner == "yellow" else _PALE
        liveries[owner] = Livery(
            body=(body[0], body[1], body[2]),
            ink=ink,
            pattern=pattern,
            second=(second[0], second[1], second[2]),
            style=style,
            ink_scale=float(rng.uniform(0.68, 0.8)),
            gloss=float(rng.uniform(0.2, 0.6)),
            seed=seed * 10 + i,
        )
    return World(seed, pattern, style, liveries, any_lamp(rng), cloths[seed % len(cloths)])


def _bgr(hsv: tuple[int, int, int]) -> tuple[float, float, float]:
    b, g, r = cv2.cvtColor(np.uint8([[hsv]]), cv2.COLOR_HSV2BGR).reshape(3).tolist()  # type: ignore[arg-type]  # a pixel
    return (b / 255, g / 255, r / 255)


def loose_table(
    home: World, number: int, *, same_light: bool, cloths: Sequence[str], count: int = 30
) -> Table:
    """`count` dice of all owners lying about; every other table has no markers."""
    rng = np.random.default_rng((home.seed, number, 5))
    marks = Marks(size_mm=SIZE_MM) if number % 2 else None
    places = _scattered(rng, count)
    dice = [_die(home, rng, place) for place in places]
    scene = Scene(
        size_mm=SIZE_MM,
        marks=marks,
        dice=tuple(dice),
        cloth=home.cloth if same_light else cloths[number % len(cloths)],
        light=home.lamp if same_light else any_lamp(rng),
        seed=home.seed if same_light else home.seed + 31 * number,
    )
    camera = _camera(rng)
    return Table(scene.picture(camera), scene.truth(camera), (), (), marks)


def spell_table(home: World, number: int, cloths: Sequence[str]) -> Table:
    """Six spells, half of them complete; of the others one slot is empty, or holds another symbol or the right one of
    somebody else's."""
    rng = np.random.default_rng((home.seed, number, 6))
    owners = list(home.liveries)
    cards, dice, complete = [], [], []
    for i, (x, y) in enumerate(_CARDS):
        symbols = tuple(str(s) for s in rng.choice(SYMBOLS, int(rng.integers(4, 6))))
        angle = float(rng.uniform(-12, 12) + (180 if y < 160 else 0))
        turn = np.radians(angle)
        corner = np.array(((-31.5, -44.0),)) @ np.array(
            ((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn)))
        )
        pose = Pose(x + float(corner[0, 0]), y + float(corner[0, 1]), angle)
        card = Card(
            layout=sample_spell(f"s{i + 1}", symbols), pose=pose, owner=owners[i], title="Zimzala",
            seed=home.seed * 100 + number * 6 + i, style=home.style,
        )  # fmt: skip
        cards.append(card)
        is_complete = bool((i + number) % 2)
        complete.append(is_complete)
        odd, how = (
            int(rng.integers(len(symbols))),
            str(rng.choice(("missing", "symbol", "owner"), p=(0.45, 0.45, 0.1))),
        )
        for slot, (region, printed) in enumerate(zip(card.layout.regions, symbols, strict=True)):
            owner, symbol = owners[i], printed
            if slot == odd and not is_complete:
                if how == "missing":
                    continue
                if how == "symbol":
                    symbol = str(rng.choice([other for other in SYMBOLS if other != printed]))
                else:
                    owner = owners[(i + 2) % len(owners)]
            px, py = pose.apply(region.outline.centre())
            at = (px + float(rng.uniform(-1.8, 1.8)), py + float(rng.uniform(-1.8, 1.8)))
            dice.append(
                Die(
                    value=symbol, owner=owner, livery=home.liveries[owner], xy_mm=at, lift_mm=0.4, card=i, slot=slot,
                    angle_deg=float(rng.uniform(0, 360)) if rng.random() < 0.4 else angle + float(rng.uniform(-14, 14)),
                )
            )  # fmt: skip
    dice += [
        _die(home, rng, (x, 160.0 + float(rng.uniform(-6, 6))))
        for x in (75.0, 120.0, 168.0, 312.0, 360.0, 405.0)
    ]
    marks = Marks(size_mm=SIZE_MM)
    scene = Scene(
        size_mm=SIZE_MM, marks=marks, cards=tuple(cards), dice=tuple(dice), cloth=cloths[number % len(cloths)],
        light=any_lamp(rng), seed=home.seed + 17 * number,
    )  # fmt: skip
    camera = _camera(rng)
    layouts = tuple(Placed(layout=card.layout, pose=card.pose, owner=card.owner) for card in cards)
    return Table(scene.picture(camera), scene.truth(camera), layouts, tuple(complete), marks)


def _camera(rng: np.random.Generator) -> Camera:
    """A camera that hangs somewhere above the table and is not quite in focus."""
    x, y, high = (float(rng.uniform(*ends)) for ends in ((195, 285), (136, 196), (670, 750)))
    return Camera(
        lens_mm=(x, y, high),
        look_mm=(240.0, 160.0),
        roll_deg=float(rng.uniform(-4, 4)),
        across_deg=52.0,
        size_px=(1920, 1080),
        blur_px=float(rng.uniform(0.5, 1.1)),
        soft_px=float(rng.uniform(0, 0.8)),
        soft_side_deg=float(rng.uniform(0, 360)),
        noise=float(rng.uniform(2, 4)),
    )  # fmt: skip


def _die(home: World, rng: np.random.Generator, at: tuple[float, float]) -> Die:
    owner = str(rng.choice(list(home.liveries)))
    return Die(
        value=str(rng.choice(SYMBOLS)), owner=owner, livery=home.liveries[owner], xy_mm=at,
        angle_deg=float(rng.uniform(0, 360)),
    )  # fmt: skip


def _scattered(rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
    """Places on the free part of the table; some dice lie close to each other, none on another."""
    places: list[tuple[float, float]] = []
    while len(places) < count:
        x, y = float(rng.uniform(60, 420)), float(rng.uniform(20, 300))
        on_marker = (x < 72 or x > 408) and (y < 72 or y > 248)
        if not on_marker and all(np.hypot(x - a, y - b) > 24.0 for a, b in places):
            places.append((x, y))
    return places
