"""Made-up faces that are no pips: numerals, letters, shapes, pictures in a disc; for training only."""

from __future__ import annotations

import cv2
import numpy as np

SIZE = 64
MIDDLE = SIZE // 2


def symbol(rng: np.random.Generator) -> np.ndarray | None:
    """A 64 x 64 mask (uint8) of what is printed on a face; None for a bare face."""
    kind = rng.random()
    if kind > 0.93:
        return None
    draw = _written if kind < 0.38 else _shape if kind < 0.6 else _cross if kind < 0.74 else _disc
    face = draw(rng)
    turn = cv2.getRotationMatrix2D((MIDDLE, MIDDLE), rng.uniform(0, 360), 1.0)
    return cv2.GaussianBlur(cv2.warpAffine(face, turn, (SIZE, SIZE)), (0, 0), 0.8)


def _written(rng: np.random.Generator) -> np.ndarray:
    face = np.zeros((SIZE, SIZE), np.uint8)
    kind = rng.random()
    text = str(rng.integers(1, 7)) if kind < 0.6 else chr(rng.integers(65, 91)) if kind < 0.85 else "?"
    text += "." if rng.random() < 0.15 else ""
    scale = rng.uniform(1.2, 1.9)
    thick = int(rng.integers(3, 8))
    font = int(rng.choice([0, 2, 3, 4, 6, 7]))
    (width, height), _ = cv2.getTextSize(text, font, scale, thick)
    at = (MIDDLE - width // 2, MIDDLE + height // 2)
    cv2.putText(face, text, at, font, scale, 255, thick, cv2.LINE_AA)
    return face


def _shape(rng: np.random.Generator) -> np.ndarray:
    """A ragged or a regular polygon, filled or as a line."""
    face = np.zeros((SIZE, SIZE), np.uint8)
    if rng.random() < 0.5:
        corners = int(rng.integers(3, 12))
        angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
        reach = rng.uniform(6, 25, corners)
    else:
        corners = 2 * int(rng.integers(3, 7))
        angle = np.arange(corners) * 2 * np.pi / corners
        reach = rng.uniform(14, 25) * np.where(np.arange(corners) % 2, rng.uniform(0.4, 0.9), 1.0)
    xy = np.stack([MIDDLE + reach * np.cos(angle), MIDDLE + reach * np.sin(angle)], 1).astype(np.int32)
    if rng.random() < 0.5:
        cv2.fillPoly(face, [xy], 255, cv2.LINE_AA)
    else:
        cv2.polylines(face, [xy], True, 255, int(rng.integers(2, 6)), cv2.LINE_AA)
    return face


def _cross(rng: np.random.Generator) -> np.ndarray:
    face = np.zeros((SIZE, SIZE), np.uint8)
    reach, half = int(rng.integers(12, 24)), int(rng.integers(3, 8))
    face[MIDDLE - reach : MIDDLE + reach, MIDDLE - half : MIDDLE + half] = 255
    if rng.random() < 0.75:
        face[MIDDLE - half : MIDDLE + half, MIDDLE - reach : MIDDLE + reach] = 255
    return face


def _disc(rng: np.random.Generator) -> np.ndarray:
    """A picture in a disc or in a ring."""
    face = np.zeros((SIZE, SIZE), np.uint8)
    radius = int(rng.integers(17, 26))
    thick = -1 if rng.random() < 0.5 else int(rng.integers(2, 6))
    cv2.circle(face, (MIDDLE, MIDDLE), radius, 255, thick, cv2.LINE_AA)
    if thick > 0 and rng.random() < 0.15:
        return face
    ink = 0 if thick < 0 else 255
    for _ in range(int(rng.integers(2, 6))):
        at = rng.normal(MIDDLE, radius / 3, 2)
        if rng.random() < 0.5:
            axes = tuple(int(v) for v in rng.uniform(2, radius / 1.8, 2))
            cv2.ellipse(
                face, (int(at[0]), int(at[1])), axes, rng.uniform(0, 180), 0, 360, ink, -1, cv2.LINE_AA
            )
        else:
            tip = at + rng.normal(0, radius / 2, 2)
            ends = [(int(x), int(y)) for x, y in (at, tip)]
            cv2.line(face, *ends, ink, int(rng.integers(2, 6)), cv2.LINE_AA)
    return face
