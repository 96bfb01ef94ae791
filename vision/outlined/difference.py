"""What looks otherwise than before on a table laid flat, whatever the lamp did to all of it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.outlined.fitting import greatest
from vision.outlined.plane import Flat

Floats = NDArray[np.float32]
_FULL = 248.0
_FLOOR, _SHARE = (
    9.0,
    0.12,
)  # levels, and share of the brighter one, by which a place may differ and be the same


def millimetres(flat: Flat) -> NDArray[np.float32]:
    """The table at one cell a mm, float32 BGR (rows, columns, 3); nan where the picture does not show it."""
    size = (round(flat.bgr.shape[1] / flat.scale), round(flat.bgr.shape[0] / flat.scale))
    small = cv2.resize(flat.bgr, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    shown = cv2.resize(flat.shown.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    small[shown == 0] = np.nan
    return np.asarray(small, np.float32)


def difference(before: Floats, now: Floats) -> Floats:
    """(rows, columns) in [0, 1]: how surely a cell looks otherwise; both as `millimetres` gives them."""
    lit = (greatest(before) > 30) & np.isfinite(greatest(now))
    gain = np.ones(3, np.float32)
    if lit.any():
        gain = np.asarray(np.median(now[lit] / np.maximum(before[lit], 1.0), axis=0), np.float32)
    alike = before * np.clip(gain, 0.4, 2.5)
    apart = np.abs(now - np.minimum(alike, 255.0))
    apart[(before > _FULL) & (now > alike)] = 0.0  # how bright it was is not known
    off = np.nan_to_num(greatest(apart))
    limit = _FLOOR + _SHARE * np.nan_to_num(greatest(np.maximum(now, alike)))
    found = np.clip((off - 0.7 * limit) / (0.6 * limit), 0, 1).astype(np.float32)
    return np.asarray(
        np.minimum(found, cv2.dilate(cv2.erode(found, np.ones((2, 2))), np.ones((3, 3)))), np.float32
    )
