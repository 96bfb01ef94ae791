"""Makes the dice that the numeral network learns from: `python tools/train_numerals_scenes.py --out CACHE ...`.

Our own renders only. Each file of CACHE holds cut dice and what is true of them. Typefaces named by HELD_OUT are never
used here: they are for measuring.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.dice.numerals_looks import CUT_PX, KINDS, NOTHING, OTHER, TEXTS, Pose, cut
from vision.frame import Frame
from vision.render.cloth import CLOTHS
from vision.render.cube import BODIES, Die, Livery, draw_die
from vision.render.drawings import TADA_FACES
from vision.render.enrolment import any_lamp
from vision.render.lens import develop
from vision.render.polyhedra import PolyDie, draw_polyhedron, draw_shadow, shown_text, truth_of
from vision.render.polyhedra_looks import RADIUS_MM, any_colour, any_look, any_typeface, camera_above, thrown
from vision.render.scene import Scene

HELD_OUT = ("sans", "italic", "URWBookman", "URWGothic", "Z003", "Symbol", "D050000", "Math")
TETRAHEDRON = 1000.0
_SHARES = {"d4": 0.15, "d6": 0.11, "d8": 0.13, "d10": 0.14, "d12": 0.14, "d20": 0.21, "d100": 0.12}
_PLACES = [(x, y) for y in (92, 146, 200, 254, 308) for x in (165, 219, 273, 327, 381, 435)]


@dataclass
class Made:
    """Dice cut out: `pieces` (n, CUT_PX, CUT_PX, 3) and per die kind, text (-1: none), up in degrees (nan: none; of a
    tetrahedron one of three, and TETRAHEDRON more)."""

    pieces: list[Frame]
    kinds: list[int]
    texts: list[int]
    ups: list[float]

    def add(self, piece: Frame, kind: int, text: int, up: float) -> None:
        self.pieces.append(piece)
        self.kinds.append(kind)
        self.texts.append(text)
        self.ups.append(up)


def one_scene(
    rng: np.random.Generator,
    fonts: tuple[str, ...],
    cloth: tuple[str, int],
    made: Made,
    shares: dict[str, float] = _SHARES,
) -> None:
    """Draws one table full of dice on a cloth (its name and seed) and cuts them out. `shares`: of each kind."""
    width_px = int(np.exp(rng.uniform(np.log(700), np.log(1500))))
    # Noise is laid over by the training, anew for each look.
    camera, lamp = camera_above(rng, width_px, float(rng.uniform(350, 420)), 0.0), any_lamp(rng)
    if rng.random() < 0.2:
        lamp = replace(lamp, level=float(rng.uniform(1.1, 1.7)))
    scene = Scene(marks=None, cloth=cloth[0], light=lamp, seed=cloth[1])
    canvas = scene.drawn(camera).copy()
    if rng.random() < 0.35:  # dark trays
        canvas[:] = (canvas * float(rng.uniform(0.02, 0.6))).astype(np.uint8)
    dice: list[PolyDie] = []
    others: list[Die] = []
    for x, y in _PLACES:
        xy = (x + float(rng.uniform(-12, 12)), y + float(rng.uniform(-12, 12)))
        chance = rng.random()
        if chance < 0.07:
            others.append(_cube(rng, xy))
        elif chance < 0.93:
            kind = str(rng.choice(list(shares), p=list(shares.values())))
            look = any_look(rng, kind, any_typeface(rng, fonts))
            dice.append(thrown(rng, look, xy, RADIUS_MM[kind] * float(rng.uniform(0.85, 1.2))))
    for die in dice:
        draw_shadow(canvas, die, camera, lamp)
    for cube in others:
        draw_die(canvas, cube, camera, lamp)
    for die in dice:
        draw_polyhedron(canvas, die, camera, lamp)
    frame = develop(canvas, camera, (int(rng.integers(1 << 20)), 0))
    if rng.random() < 0.5:
        quality = int(rng.integers(45, 95))
        data = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        frame = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    wide, high = camera.size_px
    for die in dice:
        truth = truth_of(die, camera)
        x0, y0, x1, y1 = truth.box_px
        if x0 < 0 or y0 < 0 or x1 > wide or y1 > high:
            continue
        kind = "d6-numeral" if truth.kind == "d6" else truth.kind
        text = TEXTS.index(shown_text(truth.kind, truth.shown))
        up = truth.up_deg + (TETRAHEDRON if die.is_tetrahedron else 0.0)
        x, y = truth.centre_px
        made.add(cut(frame, Pose(x, y, truth.radius_px)), KINDS.index(kind), text, up)
    usual = float(np.median([truth_of(die, camera).radius_px for die in dice])) if dice else 40.0
    for cube in others:
        seen = camera.project(cube.corners())
        x, y = seen[:4].mean(0).tolist()
        made.add(cut(frame, Pose(x, y, 0.5 * float(np.ptp(seen, axis=0).max()))), OTHER, -1, float("nan"))
    for _ in range(2):  # where no die is, or only a part of one
        x, y = float(rng.uniform(0, frame.shape[1])), float(rng.uniform(0, frame.shape[0]))
        truths = [truth_of(die, camera) for die in dice]
        near = min(
            (np.hypot(t.centre_px[0] - x, t.centre_px[1] - y) / t.radius_px for t in truths), default=9.0
        )
        if near > 0.9:
            made.add(cut(frame, Pose(x, y, usual * float(rng.uniform(0.5, 1.3)))), NOTHING, -1, float("nan"))


def _cube(rng: np.random.Generator, xy: tuple[float, float]) -> Die:
    is_pips = rng.random() < 0.6
    livery = Livery(
        body=any_colour(rng),
        ink=(0.95,) * 3 if rng.random() < 0.5 else (0.05,) * 3,
        pattern=str(rng.choice(BODIES)),
        second=any_colour(rng),
        seed=int(rng.integers(100)),
        ink_scale=float(rng.uniform(0.6, 0.8)),
    )
    value: str | int = int(rng.integers(1, 7)) if is_pips else str(rng.choice(TADA_FACES))
    return Die(
        value=value,
        owner="",
        livery=livery,
        kind="d6-pips" if is_pips else "tada",
        xy_mm=xy,
        angle_deg=float(rng.uniform(0, 360)),
        side_mm=float(rng.uniform(13, 18)),
    )


def fonts_in(folder: Path | None) -> tuple[str, ...]:
    """Font files below a folder, without those held out."""
    if folder is None:
        return ()
    found = sorted(str(p) for p in folder.rglob("*") if p.suffix.lower() in (".ttf", ".otf"))
    return tuple(name for name in found if not any(word in name for word in (*HELD_OUT, "Fallback")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(_SHARES), help="one kind of die alone")
    parser.add_argument("--fonts", type=Path, help="folder of typefaces; without it our own strokes alone")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    shares = {options.only: 1.0} if options.only else _SHARES
    fonts, begun = fonts_in(options.fonts), time.monotonic()
    print(f"{len(fonts)} typefaces", flush=True)
    for first in range(0, options.scenes, 40):
        made = Made([], [], [], [])
        for scene in range(first, min(first + 40, options.scenes)):
            bolt = scene // 4  # making a cloth takes as long as a table full of dice
            cloth = CLOTHS[bolt % len(CLOTHS)], 1000 * options.seed + bolt
            one_scene(np.random.default_rng((options.seed, scene)), fonts, cloth, made, shares)
        rows: dict[str, Any] = {
            "kinds": np.array(made.kinds, np.int8),
            "texts": np.array(made.texts, np.int8),
            "ups": np.array(made.ups, np.float32),
        }
        name = options.out / f"dice-{options.seed}-{first:05}"
        np.save(name.with_suffix(".npy"), np.stack(made.pieces).reshape(-1, CUT_PX, CUT_PX, 3))
        np.savez(name.with_suffix(".npz"), **rows)
        print(f"{first + 40} scenes, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
