"""How a die that was drawn by itself comes into the picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

FINER = 2
"""A die is drawn this much larger and shrunk, so that its edges are smooth."""


def lay(
    canvas: NDArray[np.uint8], colour: NDArray[np.float32], cover: NDArray[np.float32], at: tuple[int, int]
) -> None:
    """Lays a die over `canvas`, BGR (H, W, 3), its top left at `at` (x, y), which may lie outside.

    `colour`: (h, w, 3), 0 to 1, times `cover`; `cover`: (h, w), 0 to 1; both FINER times as large as the place.
    """
    size = (cover.shape[1] // FINER, cover.shape[0] // FINER)
    colour = np.asarray(cv2.resize(colour, size, interpolation=cv2.INTER_AREA), np.float32)
    cover = np.asarray(cv2.resize(cover, size, interpolation=cv2.INTER_AREA), np.float32)
    x, y = at
    left, top = max(0, -x), max(0, -y)
    right, bottom = min(size[0], canvas.shape[1] - x), min(size[1], canvas.shape[0] - y)
    part = canvas[y + top : y + bottom, x + left : x + right]
    alpha = cover[top:bottom, left:right, None]
    part[:] = np.clip(part * (1 - alpha) + 255 * colour[top:bottom, left:right], 0, 255).astype(np.uint8)
