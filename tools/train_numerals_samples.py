"""Looks at cut dice as the reader looks at them, with what is true of each; for training only."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from train_numerals_scenes import TETRAHEDRON

from vision.dice.numerals_looks import (
    KINDS,
    LOOK_PX,
    NEAR_REACH,
    TEXTS,
    TURNS,
    WIDE_REACH,
    look,
)

Sample = tuple[np.ndarray, np.ndarray]
NOT_UPRIGHT = len(TEXTS)
# How far a die's place and the log of its radius are off: where the finder shows a part of it, a die, or after a look.
_FAR, _NEAR, _AGAIN = (0.3, 0.33), (0.14, 0.18), (0.05, 0.06)
_FAR_OFF, _FIRST = 0.2, 0.5  # shares of looks of the first, of the first two
_ASTRAY = 0.5  # share of looks at numerals that are turned anyhow
_STEP_DEG = 360.0 / TURNS


class Store:
    """Cut dice of some files of `train_numerals_scenes`: `kinds`, `texts` (-1: none), `ups` in degrees (nan: none)."""

    def __init__(self, files: list[Path]) -> None:
        self._parts = [np.load(file.with_suffix(".npy"), mmap_mode="r") for file in files]
        rows = [np.load(file) for file in files]
        self.kinds, self.texts = (
            np.concatenate([row[k] for row in rows]).astype(int) for k in ("kinds", "texts")
        )
        self.ups = np.concatenate([row["ups"] for row in rows]).astype(float)
        self._of = [(k, n) for k, part in enumerate(self._parts) for n in range(len(part))]

    def __len__(self) -> int:
        return len(self.kinds)

    def piece(self, index: int) -> np.ndarray:
        """(CUT_PX, CUT_PX, 3) of one die."""
        part, row = self._of[index]
        return np.array(self._parts[part][row])


def place_sample(store: Store, index: int, rng: np.random.Generator) -> Sample:
    """A look at a whole die, and: its class, whether a die, right, down, log of radius."""
    is_die = store.kinds[index] < len(KINDS)
    chance = rng.random()
    wide = _FAR if chance < _FAR_OFF else _NEAR if chance < _FIRST else _AGAIN
    shift, grow = rng.normal(0, wide[0], 2), float(np.exp(rng.normal(0, wide[1])))
    turn = float(rng.uniform(-180, 180))
    seen = developed(look(store.piece(index), WIDE_REACH, _pair(shift), grow, turn), rng)
    cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    right, down = -(cos * shift[0] + sin * shift[1]) / grow, -(-sin * shift[0] + cos * shift[1]) / grow
    return seen, np.array([store.kinds[index], is_die, right, down, -np.log(grow)], np.float32)


def read_sample(store: Store, index: int, rng: np.random.Generator) -> Sample:
    """A look at a numeral, and: its text, or NOT_UPRIGHT; whether its way round is known; the share of each way."""
    reach = NEAR_REACH[KINDS[store.kinds[index]]]
    shift, grow = rng.normal(0, 0.04, 2), float(np.exp(rng.normal(0, 0.06)))
    label, up = store.texts[index], store.ups[index]
    ways = np.zeros(TURNS, np.float32)
    turn = float(rng.uniform(0, 360))
    if not np.isnan(up):
        if rng.random() >= _ASTRAY:
            turn = float(rng.choice(_ways(up))) + float(rng.normal(0, 9))
        elif min(abs((turn - one + 180) % 360 - 180) for one in _ways(up)) > 30:
            label = NOT_UPRIGHT
        for way in _ways(up):
            place = ((way - turn) / _STEP_DEG) % TURNS
            low = int(place)
            ways[low % TURNS] += low + 1 - place
            ways[(low + 1) % TURNS] += place - low
        ways /= ways.sum()
    seen = developed(look(store.piece(index), reach, _pair(shift), grow, turn), rng)
    return seen, np.concatenate([np.array([label, not np.isnan(up)], np.float32), ways])


def _ways(up: float) -> list[float]:
    """The right ways round: of a tetrahedron three."""
    return [up - TETRAHEDRON + 120.0 * k for k in range(3)] if up > TETRAHEDRON / 2 else [up]


def _pair(xy: np.ndarray) -> tuple[float, float]:
    return float(xy[0]), float(xy[1])


def developed(piece: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other exposure, colour, contrast, sharpness, glare and noise."""
    picture = piece.astype(np.float32)
    chance = rng.random(8)
    if chance[0] < 0.3:
        grey = picture.mean(2, keepdims=True)
        picture = grey + np.float32(rng.uniform(0.0, 2.4)) * (picture - grey)
    if chance[1] < 0.15:
        picture = picture[:, :, rng.permutation(3)]
    if chance[2] < 0.06:
        picture = 255 - picture
    gain = np.exp(rng.normal(0, 0.12, 3) + rng.normal(0, 0.22)).astype(np.float32)
    middle, contrast = np.float32(rng.uniform(50, 170)), np.float32(np.exp(rng.normal(0.1, 0.35)))
    picture = (picture * gain - middle) * contrast + (middle + np.float32(rng.normal(0, 12)))
    if chance[3] < 0.25:
        picture = picture + _glare(rng)
    if chance[4] < 0.3:
        picture = cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.4, 1.6)))
    elif chance[4] < 0.5:
        picture = picture + np.float32(rng.uniform(0.3, 1.5)) * (
            picture - cv2.GaussianBlur(picture, (0, 0), 1.2)
        )
    if chance[5] < 0.5:
        picture = picture + rng.standard_normal(picture.shape, np.float32) * np.float32(rng.uniform(0, 10))
    if chance[6] < 0.15:
        picture = np.clip(picture, 0, 255)
        small = int(rng.integers(18, 44))
        picture = cv2.resize(
            cv2.resize(picture, (small, small), interpolation=cv2.INTER_AREA), (LOOK_PX, LOOK_PX)
        )
    return np.clip(picture, 0, 255).astype(np.uint8)


_STEPS = np.arange(LOOK_PX, dtype=np.float32) / np.float32(LOOK_PX / 2) - np.float32(1)


def _glare(rng: np.random.Generator) -> np.ndarray:
    """(LOOK_PX, LOOK_PX, 1): a lamp's mirror image, soft or sharp, or a shadow's edge."""
    x, y = rng.uniform(-0.8, 0.8, 2).astype(np.float32)
    if rng.random() < 0.5:
        wide, high = rng.uniform(0.05, 0.5, 2).astype(np.float32)
        blob = np.exp(-(((_STEPS - y) / high) ** 2)[:, None] - (((_STEPS - x) / wide) ** 2)[None, :])
        return (blob * np.float32(rng.uniform(30, 200)))[..., None]
    turn = rng.uniform(0, 2 * np.pi)
    along = (_STEPS - y)[:, None] * np.float32(np.sin(turn)) + (_STEPS - x)[None, :] * np.float32(
        np.cos(turn)
    )
    return (np.float32(rng.uniform(-70, 70)) / (1 + np.exp(-along * np.float32(rng.uniform(3, 30)))))[
        ..., None
    ]
