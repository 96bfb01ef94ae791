"""Makes the dice that the board's network learns from: `python tools/train_board_dice_scenes.py --out CACHE --seed N`.

Our own renders only: boards with towers and many dice, each file of CACHE holds one board's dice, cut out, and what is
true of them. Places where no die is are those that the finder of dice proposes.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from train_numerals_scenes import fonts_in

from vision.dice.networks import FaceFinder
from vision.dice.numerals_looks import TEXTS
from vision.frame import Frame
from vision.render.board import BoardScene
from vision.render.boards import (
    BOARD_MM,
    DICE,
    OWNERS,
    DiceSet,
    any_board_camera,
    any_board_lamp,
    any_palette,
    any_set,
    any_terrains,
    any_towers,
    is_free,
    usual_marks,
)
from vision.render.cloth import CLOTHS
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, shown_text
from vision.towers.looks import KINDS, NOTHING, USUAL_MM, cut

STORED_PX = 96
_FREE_MM = 14.0
_SHARES = (0.12, 0.12, 0.13, 0.15, 0.15, 0.2, 0.13)
_DICE = 110


def one_board(rng: np.random.Generator, finder: FaceFinder, fonts: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The cuts of one board and their truth."""
    marks, camera, lamp = usual_marks(), any_board_camera(rng), any_board_lamp(rng)
    owners = [str(name) for name in rng.permutation(OWNERS)[: int(rng.integers(2, 6))]]
    towers = any_towers(rng, owners, marks.tower)
    scene = BoardScene(
        marks=marks,
        terrains=any_terrains(rng, int(rng.integers(8, 22))),
        towers=towers,
        palette=any_palette(rng),
        grain=float(rng.uniform(0.03, 0.2)),
        cloth=str(rng.choice(CLOTHS)),
        light=lamp,
        bend=float(rng.uniform(-0.01, 0.01)),
        seed=int(rng.integers(1 << 20)),
    )
    sets = [any_set(rng, name, fonts) for name in OWNERS for _ in range(2)]
    dice, owner_of = _scattered(rng, sets, scene, camera)
    frame = replace(scene, dice=tuple(dice)).picture(camera, 0, scene.ground(camera))
    quality = int(rng.integers(70, 97))
    frame = np.asarray(
        cv2.imdecode(cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR),
        np.uint8,
    )
    return _cuts(frame, dice, owner_of, camera, finder)


def _scattered(
    rng: np.random.Generator, sets: list[DiceSet], scene: BoardScene, camera: Camera
) -> tuple[list[PolyDie], list[int]]:
    dice: list[PolyDie] = []
    owner_of: list[int] = []
    for _ in range(_DICE * 3):
        xy = (float(rng.uniform(-30, BOARD_MM[0] + 30)), float(rng.uniform(-12, BOARD_MM[1] + 12)))
        if len(dice) < _DICE and is_free(xy, scene.towers, dice, camera, scene.marks.tower):
            of = sets[int(rng.integers(len(sets)))]
            dice.append(of.die(rng, str(rng.choice(DICE, p=_SHARES)), xy))
            owner_of.append(OWNERS.index(of.owner))
    return dice, owner_of


def _cuts(
    frame: Frame, dice: list[PolyDie], owner_of: list[int], camera: Camera, finder: FaceFinder
) -> dict[str, np.ndarray]:
    pieces, kinds, texts, owners, sizes, middles = [], [], [], [], [], []
    for die, owner in zip(dice, owner_of, strict=True):
        placed = die.corners()
        high = float(placed[:, 2].max()) / 2 if not die.is_tetrahedron else die.radius_mm / 3
        point = np.array([(*die.xy_mm, high)])
        at = camera.project(point)[0]
        right = camera.project(point + np.array((1.0, 0.0, 0.0)))[0]
        pieces.append(
            cut(frame, (float(at[0]), float(at[1])), float(np.linalg.norm(right - at)), 0.0, STORED_PX)
        )
        kinds.append(KINDS.index(die.look.kind))
        texts.append(TEXTS.index(shown_text(die.look.kind, die.shown)))
        owners.append(owner)
        sizes.append(np.log(die.radius_mm / USUAL_MM))
        middles.append(at)
    scale = float(
        np.linalg.norm(np.diff(camera.project(np.array([(400, 250, 8.0), (401, 250, 8.0)])), axis=0))
    )
    spots = [*finder.look(frame, 1280 / 2304), *finder.look(frame, 1.0)]
    for spot in spots:
        away = np.linalg.norm(np.array(middles) - (spot.x_px, spot.y_px), axis=1).min() / scale
        if away > _FREE_MM:
            pieces.append(cut(frame, (spot.x_px, spot.y_px), scale, 0.0, STORED_PX))
            kinds.append(NOTHING)
            texts.append(-1)
            owners.append(-1)
            sizes.append(0.0)
    return {
        "pieces": np.stack(pieces),
        "kinds": np.array(kinds, np.int8),
        "texts": np.array(texts, np.int8),
        "owners": np.array(owners, np.int8),
        "sizes": np.array(sizes, np.float32),
    }


def main() -> None:
    """Writes boards until it is stopped or `--boards` are there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--boards", type=int, default=400)
    parser.add_argument("--fonts", type=Path, help="folder of typefaces; without it our own strokes alone")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    cv2.setNumThreads(1)
    finder, fonts = FaceFinder(), fonts_in(args.fonts)
    begun = time.monotonic()
    for number in range(args.boards):
        file = args.out / f"board-{args.seed}-{number:04d}.npz"
        if not file.exists():
            rng = np.random.default_rng((args.seed, number, 97))
            np.savez_compressed(file, **one_board(rng, finder, fonts))
        print(f"{number + 1} boards, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
