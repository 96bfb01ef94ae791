"""The outline of one die that lies alone on a cloth, whatever the colours of its body: for enrolment."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

_SHORT_PX = 240  # the picture's shorter side while looking
_BORDER = 0.07  # of the shorter side: what is taken for cloth
_LEVELS = (1.5, 2.0, 3.0, 4.5, 6.5)  # times what the cloth itself strays
_SHADOW = 0.5  # what is only darker than the cloth counts so much less
_LEAST_STRAY = (8.0, 4.0, 4.0)  # Lab units
_WIDTHS = (0.08, 0.9)  # of the shorter side
_MOST_OBLONG = 1.35
_LEAST_VALUE = 1.2

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Silhouette:
    """`xy`: its middle in px of the picture; `width_px`: of the square around it, which a side face that shows or a
    shadow makes larger than the top face; `value`: how square and full it is, at most 1.5."""

    xy: tuple[float, float]
    width_px: float
    value: float


def silhouette(frame: NDArray[np.uint8]) -> Silhouette | None:
    """The squarest thing in a BGR picture that is not as its border is, or None."""
    scale = _SHORT_PX / min(frame.shape[:2])
    size = (max(8, round(frame.shape[1] * scale)), max(8, round(frame.shape[0] * scale)))
    small = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
    strange = _strangeness(np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2LAB), np.float32))
    best: Silhouette | None = None
    for level in _LEVELS:
        mask = cv2.morphologyEx((strange > level).astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for outline in outlines:
            (x, y), (width, height), _ = cv2.minAreaRect(outline)
            short, long = sorted((width, height))
            if short < _WIDTHS[0] * _SHORT_PX or long > _WIDTHS[1] * _SHORT_PX or long > _MOST_OBLONG * short:
                continue
            hull = cv2.contourArea(cv2.convexHull(outline)) / (short * long)
            full = cv2.contourArea(outline) / (short * long)
            value = float(full + hull / 2 - np.log(long / short))
            if value >= _LEAST_VALUE and (best is None or value > best.value):
                best = Silhouette((x / scale, y / scale), float(np.sqrt(short * long)) / scale, value)
    return best


def _strangeness(lab: Floats) -> Floats:
    """(H, W) how many times farther than the cloth itself strays each pixel is from it; the cloth's colour may change
    evenly over the picture."""
    height, width = lab.shape[:2]
    edge = round(_BORDER * min(height, width))
    border = np.ones((height, width), np.bool_)
    border[edge:-edge, edge:-edge] = False
    down, across = np.mgrid[0:height, 0:width].astype(np.float32) / max(height, width) - 0.5
    basis = np.stack([np.ones_like(across), across, down], axis=-1)
    total = np.zeros((height, width), np.float32)
    for channel, least in enumerate(_LEAST_STRAY):
        values, used = lab[..., channel], border
        for _ in range(3):
            plane, *_ = np.linalg.lstsq(basis[used], values[used], rcond=None)
            off = np.abs(values - basis @ plane)
            used = border & (off <= 2.5 * np.median(off[border]) + 1)
        stray = 2 * 1.48 * float(np.median(off[border]))
        if channel == 0:
            off = np.where(values < basis @ plane, _SHADOW * off, off)
        total += (off / max(stray, least)) ** 2
    return np.asarray(cv2.GaussianBlur(np.sqrt(total), (0, 0), 1.0), np.float32)
