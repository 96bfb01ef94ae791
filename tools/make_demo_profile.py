"""Make the profile of the demo's dice: shown to the demo's camera under its lamp, as an owner does at set-up.

    python -m tools.make_demo_profile

Writes companion/demo/data/demo.dice.npz; the same program gives the same samples.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from companion.core.seat import MARKS
from companion.demo.stage import SIZE_MM, eye_over, livery
from companion.games.tada.deck import SYMBOLS
from vision.encoding import save
from vision.enrol import enrol_folder
from vision.render.cube import Die
from vision.render.lens import Camera
from vision.render.scene import Scene

OUT = Path(__file__).parents[1] / "companion" / "demo" / "data" / "demo.dice.npz"
PLACES_MM = ((90.0, 70.0), (390.0, 80.0), (240.0, 160.0), (100.0, 250.0), (380.0, 240.0))
"""Where each face is shown: all over the table, since its light is not even."""
AROUND_MM = 26.0


def main() -> None:
    """Render the demo's table and camera, cut the die out, enrol, save, and say what came out."""
    rng = np.random.default_rng(20260)
    camera = eye_over(SIZE_MM)
    with tempfile.TemporaryDirectory() as place:
        for colour, _ in MARKS:
            for face in SYMBOLS:
                folder = Path(place) / colour / face
                folder.mkdir(parents=True)
                for shot, (x, y) in enumerate(PLACES_MM):
                    at = (x + rng.uniform(-6, 6), y + rng.uniform(-6, 6))
                    die = Die(value=face, owner=colour, livery=livery(colour), xy_mm=at,
                              angle_deg=float(rng.uniform(0, 360)))  # fmt: skip
                    scene = Scene(size_mm=SIZE_MM, marks=None, dice=(die,), cloth="felt", seed=3)
                    save(folder / f"{shot}.png", _around(scene.picture(camera, shot), camera, at))
        profile, result = enrol_folder(Path(place), "tada")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    profile.save(OUT)
    print(f"{OUT.name}: {result}")


def _around(picture: NDArray[np.uint8], camera: Camera, xy_mm: tuple[float, float]) -> NDArray[np.uint8]:
    """The part of the picture that shows the die and a little of the table."""
    corners = np.array([(xy_mm[0] + d, xy_mm[1] + d, 8.0) for d in (-AROUND_MM, AROUND_MM)])
    (x0, y0), (x1, y1) = np.round(camera.project(corners)).astype(int)
    return picture[max(0, y0) : y1, max(0, x0) : x1]


if __name__ == "__main__":
    main()
