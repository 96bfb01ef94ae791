"""A square piece of a picture, as the networks look at it."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import Frame

_GRAIN_PX = 0.6  # blur that takes a sensor's grain out before contrast is drawn out
_LEAST_CONTRAST = 8.0  # levels below which a face is not drawn out further
_DARK, _LIGHT = 35.0, 220.0


def square(frame: Frame, middle_px: tuple[float, float], half_px: float, to_px: int) -> Frame:
    """`half_px` to each side of the middle (x, y) as (to_px, to_px, 3); beyond the picture its rim goes on."""
    x0, y0 = round(middle_px[0] - half_px), round(middle_px[1] - half_px)
    reach = max(4, round(2 * half_px))
    rows, columns = frame.shape[:2]
    left, top = max(0, -x0), max(0, -y0)
    right, low = max(0, x0 + reach - columns), max(0, y0 + reach - rows)
    x_in, y_in = min(max(x0, 0), columns - 1), min(max(y0, 0), rows - 1)
    piece = frame[y_in : max(y_in + 1, y0 + reach), x_in : max(x_in + 1, x0 + reach)]
    if left or top or right or low:
        piece = np.asarray(cv2.copyMakeBorder(piece, top, low, left, right, cv2.BORDER_REPLICATE), np.uint8)
    way = cv2.INTER_AREA if reach > to_px else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(piece, (to_px, to_px), interpolation=way), np.uint8)


def red_alone(face: Frame, is_negative: bool) -> Frame:
    """A square face by its red channel alone, from dark to light over its middle; light and dark exchanged where
    `is_negative`. Red pips in a dark body become white ones, and a faint print becomes a plain one."""
    red = cv2.GaussianBlur(np.ascontiguousarray(face), (0, 0), _GRAIN_PX)[:, :, 2].astype(np.float32)
    edge = len(red) // 5
    low, high = np.percentile(red[edge:-edge, edge:-edge], (2, 98))
    level = np.clip((red - low) / max(float(high - low), _LEAST_CONTRAST), -0.15, 1.15)
    grey = _DARK + (_LIGHT - _DARK) * (1 - level if is_negative else level)
    return np.asarray(np.repeat(grey[:, :, None], 3, 2), np.uint8)
