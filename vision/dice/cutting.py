"""A square piece of a picture, as the networks look at it."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import Frame


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
