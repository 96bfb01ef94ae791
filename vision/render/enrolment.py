"""Pictures as an owner takes them to enrol a die: each face alone, a few times, at other places and turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.encoding import save
from vision.render.cube import Die, Livery
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.scene import Scene

_SIDE_PX = 400


def enrolment_pictures(
    livery: Livery,
    value: str | int,
    *,
    shots: int = 5,
    seed: int = 0,
    kind: str = "tada",
    cloths: tuple[str, ...] = ("felt", "paper", "wood"),
    lamp: Lamp | None = None,
) -> Iterator[NDArray[np.uint8]]:
    """`shots` BGR pictures (_SIDE_PX square) of one face on `cloths` in turn. `lamp`: None for another each time."""
    rng = np.random.default_rng((seed, *str(value).encode()))
    camera = Camera(
        lens_mm=(300.0, 200.0, 300.0), look_mm=(300.0, 200.0), across_deg=15.0, size_px=(_SIDE_PX, _SIDE_PX)
    )
    for shot in range(shots):
        x, y = rng.uniform(-22, 22, 2).tolist()
        die = Die(
            value=value,
            owner="",
            livery=livery,
            kind=kind,
            xy_mm=(300.0 + x, 200.0 + y),
            angle_deg=float(rng.uniform(0, 360)),
        )
        scene = Scene(
            marks=None,
            dice=(die,),
            cloth=cloths[shot % len(cloths)],
            light=lamp or any_lamp(rng),
            seed=seed,
        )
        yield scene.picture(replace(camera, blur_px=float(rng.uniform(0.4, 1.2))), shot)


def any_lamp(rng: np.random.Generator) -> Lamp:
    """A lamp as rooms have them: dim or bright, warm or cold, from any side."""
    warm = float(rng.uniform(-0.16, 0.16))
    turn = float(rng.uniform(0, 2 * np.pi))
    far = float(rng.uniform(100, 700))
    return Lamp(
        place_mm=(
            300 + far * float(np.cos(turn)),
            200 + far * float(np.sin(turn)),
            float(rng.uniform(700, 1500)),
        ),
        ambient=float(rng.uniform(0.35, 0.75)),
        level=float(rng.uniform(0.65, 1.15)),
        cast=(1 - warm, 1 + float(rng.uniform(-0.06, 0.06)), 1 + warm),
        sheen=float(rng.uniform(0, 0.25)),
    )


def write_enrolment(
    folder: Path, liveries: dict[str, Livery], values: tuple[str | int, ...], *, shots: int = 5, seed: int = 0
) -> None:
    """Writes ``folder/<owner>/<value>/NN.jpg`` for every owner of `liveries`."""
    for owner, livery in liveries.items():
        for value in values:
            place = folder / owner / str(value)
            place.mkdir(parents=True, exist_ok=True)
            pictures = enrolment_pictures(livery, value, shots=shots, seed=seed)
            for shot, picture in enumerate(pictures):
                save(place / f"{shot:02}.jpg", picture)
