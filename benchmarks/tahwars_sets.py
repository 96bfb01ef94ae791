"""Sets of dice that owners enrolled before the evening: one an owner's colour, with pictures as an owner takes them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vision.dice.numerals_matching import FaceShot
from vision.dice.numerals_profile import FaceTaker
from vision.render.boards import DICE, OWNERS, DiceSet, any_set
from vision.render.enrolment import any_lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, shown_text, with_numerals
from vision.render.polyhedra_solids import SIDES
from vision.render.scene import Scene

SEED = 4242
_SHOTS = 3
_CLOTHS = ("felt", "wood", "paper")
_SIDE_PX = 420


def owned() -> dict[str, DiceSet]:
    """Everybody's dice."""
    return {owner: any_set(np.random.default_rng((SEED, n)), owner) for n, owner in enumerate(OWNERS)}


def enrolled(sets: Mapping[str, DiceSet]) -> dict[str, tuple[FaceShot, ...]]:
    """Each owner's pictures: every face of every die _SHOTS times, by another lamp and on another cloth each time."""
    taker = FaceTaker()
    return {
        owner: _pictures(of, taker, np.random.default_rng((SEED, 9, n)))
        for n, (owner, of) in enumerate(sets.items())
    }


def _pictures(of: DiceSet, taker: FaceTaker, rng: np.random.Generator) -> tuple[FaceShot, ...]:
    found = []
    for kind in DICE:
        for side in range(SIDES[kind]):
            shown = side * 10 if kind == "d100" else side if kind == "d10" else side + 1
            for shot in range(_SHOTS):
                x, y = rng.uniform(-14, 14, 2).tolist()
                camera = Camera(
                    lens_mm=(300.0, 200.0, 380.0), look_mm=(300.0, 200.0), across_deg=16.5,
                    size_px=(_SIDE_PX, _SIDE_PX), blur_px=float(rng.uniform(0.4, 0.9)), noise=2.0,
                )  # fmt: skip
                die = PolyDie(
                    look=of.looks[kind], shown=shown, xy_mm=(300 + x, 200 + y), radius_mm=of.radius_mm[kind],
                    angle_deg=float(rng.uniform(0, 360)),
                )  # fmt: skip
                scene = Scene(marks=None, cloth=_CLOTHS[shot % len(_CLOTHS)], light=any_lamp(rng), seed=shot)
                text = shown_text(kind, shown)
                name = "d6-numeral" if kind == "d6" else kind
                taken = taker.taken(with_numerals(scene, [die], camera, shot), name, text)
                if taken is not None:
                    found.append(taken)
    return tuple(found)
