"""Own renders of dice with numerals, for measuring only: typefaces, cloths and seeds that no training saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from vision.frame import Frame
from vision.render.enrolment import any_lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, PolyLook, PolyTruth, shown_text, truth_of, with_numerals
from vision.render.polyhedra_looks import RADIUS_MM, any_look, any_typeface, apart, camera_above, thrown
from vision.render.polyhedra_solids import KINDS, SIDES
from vision.render.scene import Scene

TYPEFACES = ("sans", "italic")
"""Typefaces that OpenCV brings and that `tools/train_numerals_scenes.py` leaves out."""
_LEGIBLE = 60.0  # Lab units
_CLOTHS = ("felt", "wood", "paper", "linen")
_CLOTH_SEED = 900_000
_SIDE_PX = 420
_WIDTH_PX, _WIDTH_MM = 1280, 340.0
_PLACES = tuple((x, y) for y in (145, 200, 255) for x in (190, 245, 300, 355, 410))

Picture = tuple[Frame, tuple[PolyTruth, ...]]


def look_held_out(rng: np.random.Generator, kind: str) -> PolyLook:
    """A die in a typeface that was never learnt from, its ink at least _LEGIBLE from its body as dice are sold, 6 and 9
    marked."""
    face = replace(any_typeface(rng), name=str(rng.choice(TYPEFACES)), weight=float(rng.integers(350, 900)))
    if face.mark == "none":
        face = replace(face, mark="bar")
    while True:
        look = any_look(rng, kind, face)
        bodies = (look.body, look.second) if look.swirl else (look.body,)
        if min(apart(look.ink, body) for body in bodies) >= _LEGIBLE:
            return look


def mixed_tables(seed: int, count: int, per_picture: int = 9) -> Iterator[Picture]:
    """Pictures with dice of all kinds thrown on cloths."""
    for index in range(count):
        rng = np.random.default_rng((seed, index))
        kinds = [KINDS[(index + k) % len(KINDS)] for k in range(per_picture)]
        yield _table(rng, [look_held_out(rng, kind) for kind in kinds], index)


def tables_of(look: PolyLook, seed: int, count: int, per_picture: int = 6) -> Iterator[Picture]:
    """Pictures with throws of one die."""
    for index in range(count):
        rng = np.random.default_rng((seed, index, 2))
        yield _table(rng, [look] * per_picture, seed + index)


def _table(rng: np.random.Generator, looks: list[PolyLook], index: int) -> Picture:
    camera = camera_above(rng, _WIDTH_PX, _WIDTH_MM, noise=2.0)
    scene = Scene(
        marks=None, cloth=_CLOTHS[index % len(_CLOTHS)], light=any_lamp(rng), seed=_CLOTH_SEED + index % 8
    )
    places = rng.permutation(len(_PLACES))[: len(looks)]
    dice: list[PolyDie] = []
    for look, place in zip(looks, places, strict=True):
        x, y = _PLACES[int(place)]
        xy = (x + float(rng.uniform(-9, 9)), y + float(rng.uniform(-9, 9)))
        dice.append(thrown(rng, look, xy, RADIUS_MM[look.kind]))
    return with_numerals(scene, dice, camera), tuple(truth_of(die, camera) for die in dice)


def write_faces(folder: Path, look: PolyLook, seed: int, shots: int = 3) -> None:
    """Writes ``folder/<text>/NN.jpg``: the pictures that an owner takes to enrol the die."""
    rng = np.random.default_rng((seed, 7))
    for side in range(SIDES[look.kind]):
        number = side * 10 if look.kind == "d100" else side if look.kind == "d10" else side + 1
        place = folder / shown_text(look.kind, number)
        place.mkdir(parents=True, exist_ok=True)
        for shot in range(shots):
            x, y = rng.uniform(-14, 14, 2).tolist()
            camera = Camera(
                lens_mm=(300.0, 200.0, 380.0),
                look_mm=(300.0, 200.0),
                across_deg=16.5,
                size_px=(_SIDE_PX, _SIDE_PX),
                blur_px=float(rng.uniform(0.4, 0.9)),
                noise=2.0,
            )
            die = PolyDie(
                look=look,
                shown=number,
                xy_mm=(300 + x, 200 + y),
                radius_mm=RADIUS_MM[look.kind],
                angle_deg=float(rng.uniform(0, 360)),
            )
            cloth = _CLOTHS[shot % len(_CLOTHS)]
            scene = Scene(marks=None, cloth=cloth, light=any_lamp(rng), seed=_CLOTH_SEED + 20 + shot)
            picture = with_numerals(scene, [die], camera, shot)
            cv2.imwrite(str(place / f"{shot:02}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 93])
