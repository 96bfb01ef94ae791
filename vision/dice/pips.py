"""How well a face fits each of the six legal patterns of pips, on the colour axis that shows them."""

from __future__ import annotations

import itertools
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.cutting import square
from vision.frame import Frame

FACE_PX = 48
"""A face is cut to FACE_PX x FACE_PX px, and its edge is then FACE_PX / SPREAD px long."""
SPREAD = 1.6

Floats = NDArray[np.float32]

_SITES = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
_PATTERNS = (
    (1, "000010000"),
    (2, "100000001"),
    (2, "001000100"),
    (3, "100010001"),
    (3, "001010100"),
    (4, "101000101"),
    (5, "101010101"),
    (6, "101101101"),
    (6, "111000111"),
)
_COUNTS = np.array([value for value, _ in _PATTERNS], np.float32)
_FAR, _NEAR = (-0.16, -0.08, 0.0, 0.08, 0.16), (-0.08, 0.0, 0.08)  # of the edge, tried each way
_PIP_RADII = (2.0, 2.7, 3.5)
_MIRRORED_LAMP_PX = 3  # a lamp mirrored in a pip is at most this wide in the cut face
_WIDER_THAN_A_PIP = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (13, 13))
_TEMPERATURE = 0.06


def cut(frame: Frame, x_px: float, y_px: float, side_px: float) -> Frame:
    """The face of edge `side_px` around (x, y), uint8 BGR (FACE_PX, FACE_PX, 3).

    Beyond the picture its rim goes on.
    """
    return square(frame, (x_px, y_px), side_px * SPREAD / 2, FACE_PX)


def pattern_scores(face: Frame, is_centred: bool = False) -> Floats:
    """Correlation (6,), at most 1, of the best placed pattern of the values 1 to 6. `face` as of `cut`.

    `is_centred`: the face is known to lie in the middle, so that fewer places are tried.
    """
    sites, prior = _lattices(_NEAR if is_centred else _FAR)
    disc = _disc()
    area = float(disc.sum())
    best = np.zeros(6, np.float32)
    for plane, weight in _pip_planes(face):
        inside = plane[disc]
        mean, spread = float(inside.mean()), float(inside.std())
        for radius in _PIP_RADII:
            blob = _blob(radius)
            size = float(blob.sum())
            sums = cv2.filter2D(
                np.where(disc, plane, np.float32(mean)), -1, blob, borderType=cv2.BORDER_REPLICATE
            ).reshape(-1)
            scores = (sums[sites] @ _masks().T - size * mean * _COUNTS) / (area * spread)
            share = _COUNTS * size / area
            scores = weight * scores / np.sqrt(share * (1 - share)) + prior[:, None]
            for column, (value, _) in enumerate(_PATTERNS):
                best[value - 1] = max(best[value - 1], scores[:, column].max())
    return best


def pattern_shares(face: Frame, is_centred: bool = False) -> Floats:
    """Probability (6,) of the values 1 to 6, by the patterns alone; as of `pattern_scores`."""
    scores = pattern_scores(face, is_centred) / _TEMPERATURE
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum(), np.float32)


def _pip_planes(face: Frame) -> list[tuple[Floats, float]]:
    """Maps (FACE_PX, FACE_PX) of 0 to 1, high where a pip would be, per colour axis and sign, with a weight."""
    lab = cv2.cvtColor(face, cv2.COLOR_BGR2LAB).astype(np.float32)
    lab[:, :, 0] *= 0.7
    disc = _disc()
    pixels = lab[disc]
    middle = np.median(pixels, axis=0)
    _, _, axes = np.linalg.svd(pixels - pixels.mean(0), full_matrices=False)
    planes = []
    for axis in (np.array([1, 0, 0], np.float32), axes[0], axes[1]):
        level = (lab - middle) @ axis.astype(np.float32)
        for sign in (1.0, -1.0):
            plane = cv2.morphologyEx(
                sign * level, cv2.MORPH_CLOSE, np.ones((_MIRRORED_LAMP_PX,) * 2, np.uint8)
            )
            plane = cv2.GaussianBlur(plane, (0, 0), 0.8)
            plane = cv2.morphologyEx(plane, cv2.MORPH_TOPHAT, _WIDER_THAN_A_PIP)
            low, high = np.percentile(plane[disc], (50, 97))
            if high - low < 6:
                continue
            middle_level = (low + high) / 2
            sharp = 1 / (1 + np.exp(-(plane - middle_level) / (0.12 * (high - low))))
            planes.append((sharp.astype(np.float32), high - low))
    strongest = max((contrast for _, contrast in planes), default=1.0)
    return [(plane, (contrast / strongest) ** 0.3) for plane, contrast in planes]


@cache
def _disc() -> NDArray[np.bool_]:
    y, x = np.mgrid[0:FACE_PX, 0:FACE_PX] - (FACE_PX - 1) / 2
    return np.asarray(np.hypot(x, y) < 0.56 * FACE_PX / SPREAD, np.bool_)


@cache
def _blob(radius: float) -> Floats:
    y, x = np.mgrid[-5:6, -5:6]
    return np.asarray(np.clip(radius + 0.5 - np.hypot(x, y), 0, 1), np.float32)


@cache
def _masks() -> Floats:
    return np.array([[int(c) for c in pattern] for _, pattern in _PATTERNS], np.float32)


@cache
def _lattices(shifts: tuple[float, ...]) -> tuple[NDArray[np.int64], Floats]:
    """Pixel indices (placements, 9) of the nine sites, and the log prior of each placement."""
    edge = FACE_PX / SPREAD
    rows, priors = [], []
    turns = np.radians(np.arange(0, 90, 7.5))
    for turn, pitch, dx, dy, flat in itertools.product(turns, (0.22, 0.26, 0.3), shifts, shifts, (1.0, 0.82)):
        for lean in (0.0,) if flat == 1.0 else (0.0, np.pi / 2):
            sites = (
                np.array(_SITES)
                * pitch
                @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
            )
            squeeze = np.array([flat, 1.0]) if lean == 0 else np.array([1.0, flat])
            xy = (sites * squeeze + (dx, dy)) * edge + (FACE_PX - 1) / 2
            column, row = np.clip(np.rint(xy), 0, FACE_PX - 1).astype(np.int64).T
            rows.append(row * FACE_PX + column)
            priors.append(-0.25 * (abs(dx) + abs(dy)) - 0.15 * (1 - flat))
    return np.array(rows), np.array(priors, np.float32)
