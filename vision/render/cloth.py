"""What dice lie on: wood, felt, paper, linen and others, as seamless tiles."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Tile = NDArray[np.float32]
"""(TILE_PX, TILE_PX, 3) float32 BGR in [0, 1], repeating without a seam."""

TILE_PX = 1024
PX_PER_MM = 4.0
CLOTHS = ("wood", "felt", "paper", "linen", "checks", "marble", "playmat")

_FELTS = (
    (70, 110, 40),
    (60, 60, 60),
    (110, 80, 50),
    (45, 35, 120),
    (120, 50, 90),
    (50, 90, 130),
    (95, 85, 75),
)
_WOODS = ((85, 130, 180), (55, 90, 130), (60, 70, 120), (120, 165, 205), (45, 60, 80))
_PAPERS = ((225, 235, 240), (200, 215, 225), (235, 225, 220), (190, 200, 190), (170, 175, 180))


@lru_cache(maxsize=6)
def cloth_tile(kind: str, seed: int) -> Tile:
    """The tile of one of CLOTHS; `seed` picks its colour and grain. Raises ValueError for another kind."""
    rng = np.random.default_rng((seed, 11))
    if kind == "wood":
        tile = _wood(rng)
    elif kind == "felt":
        tile = _plain(rng, _FELTS, ((0.9, 0.07), (2.5, 0.04), (40.0, 0.03)))
    elif kind == "paper":
        tile = _plain(rng, _PAPERS, ((0.8, 0.02), (6.0, 0.015)))
    elif kind == "linen":
        tile = _plain(rng, _PAPERS + _FELTS, ((1.5, 0.02),)) * _weave(rng)
    elif kind == "checks":
        tile = _checks(rng)
    elif kind == "marble":
        tile = _marble(rng)
    elif kind == "playmat":
        tile = _playmat(rng)
    else:
        raise ValueError(f"unknown cloth {kind}: choose one of {', '.join(CLOTHS)}")
    tile = np.clip(tile, 0, 1).astype(np.float32)
    tile.flags.writeable = False
    return tile


def smooth_noise(rng: np.random.Generator, sigma: tuple[float, float], size: int = TILE_PX) -> Tile:
    """(size, size) float32 noise of deviation 1 without a seam, smooth over `sigma` = (x, y) px."""
    white = rng.standard_normal((size, size), np.float32)
    frequency = np.fft.fftfreq(size)
    fall = [np.exp(-2 * (np.pi * s * frequency) ** 2) for s in sigma]
    spectrum = np.fft.fft2(white) * fall[1][:, None] * fall[0][None, :]
    noise = np.fft.ifft2(spectrum).real
    return np.asarray(noise / noise.std(), np.float32)


def _colour(rng: np.random.Generator, palette: tuple[tuple[int, int, int], ...]) -> NDArray[np.float32]:
    colour = np.array(palette[rng.integers(len(palette))], np.float32) / 255
    return np.clip(colour * rng.uniform(0.8, 1.2, 3).astype(np.float32), 0.03, 1)


def _plain(
    rng: np.random.Generator,
    palette: tuple[tuple[int, int, int], ...],
    grains: tuple[tuple[float, float], ...],
) -> Tile:
    light = 1 + sum(strength * smooth_noise(rng, (sigma, sigma)) for sigma, strength in grains)
    return np.asarray(_colour(rng, palette) * np.asarray(light)[..., None], np.float32)


def _wood(rng: np.random.Generator) -> Tile:
    rows = np.arange(TILE_PX, dtype=np.float32)[:, None]
    bend = 14 * smooth_noise(rng, (160, 90))
    period = TILE_PX / rng.integers(14, 30)
    rings = np.sin(2 * np.pi * (rows + bend) / period) + 0.6 * smooth_noise(rng, (90, 7))
    streaks = smooth_noise(rng, (30, 0.8))
    light = 1 + 0.11 * rings + 0.05 * streaks + 0.03 * smooth_noise(rng, (0.7, 0.7))
    knots = np.clip(smooth_noise(rng, (22, 14)) - 2.6, 0, 1) * 0.4
    return np.asarray(_colour(rng, _WOODS) * (light - knots)[..., None], np.float32)


def _weave(rng: np.random.Generator) -> Tile:
    period = TILE_PX / rng.integers(120, 220)
    x = np.arange(TILE_PX, dtype=np.float32)[None, :] * 2 * np.pi / period
    y = np.arange(TILE_PX, dtype=np.float32)[:, None] * 2 * np.pi / period
    return np.asarray((1 + 0.09 * np.sin(x) * np.sin(y) + 0.04 * np.sin(x + y))[..., None], np.float32)


def _checks(rng: np.random.Generator) -> Tile:
    count = int(rng.integers(6, 16)) * 2
    line = (np.arange(TILE_PX) * count // TILE_PX) % 2
    share = (line[None, :] + line[:, None]).astype(np.float32)[..., None] / 2
    one, other = _colour(rng, _PAPERS), _colour(rng, _FELTS)
    tile = one * (1 - share) + other * share
    return np.asarray(tile * (1 + 0.04 * smooth_noise(rng, (1.0, 1.0)))[..., None], np.float32)


def _marble(rng: np.random.Generator) -> Tile:
    veins = np.abs(smooth_noise(rng, (45, 60)) + 0.4 * smooth_noise(rng, (9, 9)))
    share = np.exp(-veins * 6)[..., None] * rng.uniform(0.3, 0.8)
    return np.asarray(_colour(rng, _PAPERS) * (1 - share) + _colour(rng, _FELTS) * share, np.float32)


def _playmat(rng: np.random.Generator) -> Tile:
    """A printed picture: soft colour fields with hard-edged shapes in them."""
    fields = np.stack([smooth_noise(rng, (120, 120)) for _ in range(3)], axis=-1)
    tile = np.asarray(0.42 + 0.16 * fields, np.float32)
    for _ in range(40):
        centre = tuple(int(v) for v in rng.integers(60, TILE_PX - 60, 2))
        radius, width = int(rng.integers(8, 55)), int(rng.choice([-1, 2, 4]))
        cv2.circle(tile, centre, radius, tuple(rng.uniform(0.1, 0.9, 3).tolist()), width, cv2.LINE_AA)
    return np.asarray(tile * (1 + 0.03 * smooth_noise(rng, (0.8, 0.8)))[..., None], np.float32)
