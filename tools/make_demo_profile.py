"""Make the profile of the demo's dice: rendered pictures, enrolled as an owner's photographs would be.

    python -m tools.make_demo_profile

Writes companion/demo/data/demo.dice.npz; the same program gives the same samples.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from companion.core.seat import MARKS
from companion.demo.stage import livery
from companion.games.tada.deck import SYMBOLS
from vision.dice.report import save
from vision.enrol import enrol_folder
from vision.render.cube import Die
from vision.render.lens import Camera
from vision.render.scene import Scene

OUT = Path(__file__).parents[1] / "companion" / "demo" / "data" / "demo.dice.npz"
SHOTS = 4
PLATE_MM = 120.0


def main() -> None:
    """Render, enrol, save, and say what came out."""
    rng = np.random.default_rng(20260)
    camera = Camera(lens_mm=(60, 62, 260), look_mm=(60, 60), across_deg=26, size_px=(360, 360))
    with tempfile.TemporaryDirectory() as place:
        for colour, _ in MARKS:
            for face in SYMBOLS:
                folder = Path(place) / colour / face
                folder.mkdir(parents=True)
                for shot in range(SHOTS):
                    at = (60 + rng.uniform(-6, 6), 60 + rng.uniform(-6, 6))
                    die = Die(value=face, owner=colour, livery=livery(colour), xy_mm=at,
                              angle_deg=float(rng.uniform(0, 360)))  # fmt: skip
                    scene = Scene(size_mm=(PLATE_MM, PLATE_MM), marks=None, dice=(die,), cloth="felt", seed=3)
                    save(folder / f"{shot}.png", scene.picture(camera, shot))
        profile, result = enrol_folder(Path(place), "tada")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    profile.save(OUT)
    print(f"{OUT.name}: {result}")


if __name__ == "__main__":
    main()
