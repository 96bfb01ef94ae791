"""Make the scenes that `train_dice` learns from: `python tools/train_dice_scenes.py --out CACHE --scenes 8000`.

Writes CACHE/scenes-NN.npy (uint8, (n, 320, 320, 3), BGR) beside CACHE/scenes-NN.json (per scene the list of dice).
`--pictures` names folders of licensed pictures without dice, from which some tables are cut.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import cv2
import numpy as np
from train_dice_scene import HARD, USUAL, Mix, Scene, finish
from train_dice_tables import table

SIZE_PX = 320
SHARD = 250
EDGE_PX = (10.0, 110.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=Path, nargs="*", default=[])
    parser.add_argument(
        "--part", type=int, nargs=2, default=(0, 1), help="part I of N, to run several at once"
    )
    parser.add_argument(
        "--hard", action="store_true", help="more of what is hard to read, and more leaning dice"
    )
    options = parser.parse_args()
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    files = sorted(file for folder in options.pictures for file in folder.rglob("*.jpg"))
    chosen = np.random.default_rng(options.seed).permutation(len(files))[:120]
    pictures = [_shrunk(cv2.imread(str(files[i]))) for i in chosen]
    for shard in range(options.scenes // SHARD):
        if shard % options.part[1] == options.part[0]:
            _write(
                options.out / f"scenes-{shard:02d}",
                options.seed * 1000 + shard,
                pictures,
                HARD if options.hard else USUAL,
            )
            print(f"shard {shard + 1} of {options.scenes // SHARD}", flush=True)


def _shrunk(picture: np.ndarray) -> np.ndarray:
    scale = 900 / max(picture.shape[:2])
    return (
        cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else picture
    )


def _write(stem: Path, seed: int, pictures: list[np.ndarray], mix: Mix) -> None:
    rng = np.random.default_rng(seed)
    images, truth = [], []
    for _ in range(SHARD):
        edge_px = float(np.exp(rng.uniform(*np.log(EDGE_PX))))
        empty = table(rng, SIZE_PX, pictures)
        if rng.random() < 0.06:
            images.append(finish(rng, empty, edge_px))
            truth.append([])
            continue
        scene = Scene(rng, SIZE_PX, empty, edge_px, mix)
        images.append(finish(rng, scene.canvas, edge_px))
        truth.append([asdict(die) for die in scene.dice])
    np.save(stem.with_suffix(".npy"), np.stack(images))
    stem.with_suffix(".json").write_text(json.dumps(truth))


if __name__ == "__main__":
    main()
