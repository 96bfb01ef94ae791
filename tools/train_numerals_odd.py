"""Makes what the finder shows and is no die with numerals: `python tools/train_numerals_odd.py --out CACHE ...`.

Cut out as the reader cuts it: spots of the finder on made-up tables without dice, and on made-up scenes of dice with
pips. The files are as those of `train_numerals_scenes`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
from train_dice_data import scenes
from train_dice_tables import table

from vision.dice.networks import FaceFinder
from vision.dice.numerals import RADIUS_OF_SIDE
from vision.dice.numerals_looks import CUT_PX, NOTHING, OTHER, Pose, cut
from vision.frame import Frame

_MOST, _OF_SCENE = 8, 10
_LEAST_SCORE = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tables", type=int, default=1500)
    parser.add_argument("--scenes", type=Path, help="folder of train_dice_scenes")
    parser.add_argument(
        "--pictures", type=Path, nargs="*", default=[], help="folders of pictures without dice"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    rng, finder = np.random.default_rng(options.seed), FaceFinder()
    files = sorted(file for folder in options.pictures for file in folder.rglob("*.jpg"))
    pictures = [
        cv2.imread(str(file), cv2.IMREAD_REDUCED_COLOR_2) for file in files[:: max(1, len(files) // 150)]
    ]
    pieces: list[Frame] = []
    kinds: list[int] = []
    for _ in range(options.tables):
        frame = np.clip(table(rng, 640, pictures), 0, 255).astype(np.uint8)
        spots = finder.find(frame)[:_MOST]
        for spot in spots:
            pieces.append(cut(frame, Pose(spot.x_px, spot.y_px, spot.side_px * RADIUS_OF_SIDE)))
            kinds.append(NOTHING)
    print(f"{len(pieces)} of tables", flush=True)
    for scene in scenes(options.scenes) if options.scenes else []:
        frame = np.ascontiguousarray(scene.image)
        for spot in finder.find(frame)[:_OF_SCENE]:
            near = [f for f in scene.faces if np.hypot(f.x - spot.x_px, f.y - spot.y_px) < 0.7 * f.side]
            piece = cut(frame, Pose(spot.x_px, spot.y_px, spot.side_px * RADIUS_OF_SIDE))
            if not near:
                pieces.append(piece)
                kinds.append(NOTHING)
            elif all(1 <= f.label <= 6 and f.seen > 0.8 and f.side > 14 for f in near):
                pieces.append(piece)
                kinds.append(OTHER)
    options.out.mkdir(parents=True, exist_ok=True)
    name = options.out / f"odd-{options.seed}"
    np.save(name.with_suffix(".npy"), np.stack(pieces).reshape(-1, CUT_PX, CUT_PX, 3))
    none = np.full(len(kinds), -1, np.int8)
    np.savez(
        name.with_suffix(".npz"),
        kinds=np.array(kinds, np.int8),
        texts=none,
        ups=np.full(len(kinds), np.nan, np.float32),
    )
    print(f"{len(pieces)} kept", flush=True)


if __name__ == "__main__":
    main()
