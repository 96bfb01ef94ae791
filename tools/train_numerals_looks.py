"""Looks at rendered dice as the reader does: `python tools/train_numerals_looks.py --cache CACHE ...`.

Beside each file of `train_numerals_scenes` it writes what the network is told of its dice, other light and blur laid
over, and what is true of each look.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from vision.dice.numerals_looks import KINDS, features, looks

_FIRST, _ANYHOW = 0.2, 0.3  # shares of looks as the finder shows a die, and of exact ones turned anyhow


@dataclass
class Store:
    """One file of `train_numerals_scenes`."""

    pieces: np.ndarray
    kinds: np.ndarray
    texts: np.ndarray
    ups: np.ndarray


def look_at(cache: Path, rounds: int, seed: int) -> None:
    """Looks at each die of a cache `rounds` times and keeps what the network is told of it beside the dice."""
    begun = time.monotonic()
    for file in sorted(cache.glob("dice-*.npz")):
        out = cache / f"looks-{file.stem}-{seed}.npz"
        if out.exists():
            continue
        with np.load(file) as rows:
            store = Store(
                np.load(file.with_suffix(".npy"), mmap_mode="r"), rows["kinds"], rows["texts"], rows["ups"]
            )
        rng = np.random.default_rng((seed, *file.stem.encode()))
        made = [sample(store, index, rng) for index in range(len(store.kinds)) for _ in range(rounds)]
        np.savez(out, seen=np.stack([seen for seen, _ in made]), truth=np.stack([truth for _, truth in made]))
        print(f"{out.name}: {len(made)} looks, {time.monotonic() - begun:.0f} s", flush=True)


def sample(store: Store, index: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The (FEATURES,) of one look, and what is true of it: kind, text, whether a die, whether its text may be asked
    for, whether upright (-1: nobody asks), then place and size."""
    piece, up = np.array(store.pieces[index]), float(store.ups[index])
    kind, text = int(store.kinds[index]), int(store.texts[index])
    is_die, has_up, chance = kind < len(KINDS), not np.isnan(up), rng.random()
    if chance < _FIRST:  # as the finder shows a die: about its place and size
        shift, grow = rng.normal(0, 0.13, 2), float(np.exp(rng.normal(0.0, 0.17)))
    else:  # as it is looked at again
        shift, grow = rng.normal(0, 0.045, 2), float(np.exp(rng.normal(0, 0.06)))
    off = float(rng.normal(0, 9)) if chance > _FIRST + _ANYHOW and has_up else float(rng.uniform(-180, 180))
    turn = off + (up if has_up else 0.0)
    seen = features(looks(_developed(piece, rng), (float(shift[0]), float(shift[1])), grow, turn))
    angle = np.radians(turn)
    cos, sin = np.cos(angle), np.sin(angle)
    # The die's middle as seen in the turned look, in assumed radii.
    dx, dy = -(cos * shift[0] + sin * shift[1]) / grow, -(-sin * shift[0] + cos * shift[1]) / grow
    is_upright = (1.0 if abs(off) < 14 else 0.0 if abs(off) > 28 else -1.0) if is_die and has_up else -1.0
    may_ask = is_die and (abs(off) < 25 or not has_up)
    return seen, np.array([kind, text, is_die, may_ask, is_upright, dx, dy, -np.log(grow)], np.float32)


def _developed(piece: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other exposure, colour, contrast, sharpness and noise."""
    picture = piece.astype(np.float32)
    if rng.random() < 0.3:
        grey = picture.mean(2, keepdims=True)
        picture = grey + float(rng.uniform(0.0, 2.2)) * (picture - grey)
    gain = np.exp(rng.normal(0, 0.12, 3) + rng.normal(0, 0.18)).astype(np.float32)
    middle, contrast = float(rng.uniform(60, 150)), float(np.exp(rng.normal(0.05, 0.3)))
    picture = (picture * gain - middle) * contrast + middle + float(rng.normal(0, 10))
    if rng.random() < 0.3:
        picture = cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.4, 1.8)))
    elif rng.random() < 0.2:
        picture = picture + float(rng.uniform(0.3, 1.5)) * (picture - cv2.GaussianBlur(picture, (0, 0), 1.2))
    if rng.random() < 0.5:
        picture = picture + rng.standard_normal(picture.shape, np.float32) * float(rng.uniform(0, 9))
    return np.clip(picture, 0, 255).astype(np.uint8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder of train_numerals_scenes")
    parser.add_argument("--rounds", type=int, default=4, help="looks at each die")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    look_at(options.cache, options.rounds, options.seed)


if __name__ == "__main__":
    main()
