"""Counted dots drawn for people: each in its colour, doubtful ones crossed."""

from __future__ import annotations

import cv2
import numpy as np

from vision.dots.reading import Dot, DotsRead
from vision.frame import Frame

INKS = {
    "red": (40, 40, 230), "orange": (30, 140, 255), "green": (60, 200, 60), "blue": (240, 120, 40),
    "purple": (200, 60, 140), "pink": (190, 90, 255),
}  # fmt: skip
"""In which each colour's dots are marked, BGR."""


def drawn(frame: Frame, found: DotsRead) -> Frame:
    """A copy of `frame` (uint8 BGR) with a ring around each dot in its colour; doubtful ones are crossed."""
    picture = np.ascontiguousarray(frame)
    for dot in found.dots:
        _mark(picture, dot)
    return picture


def _mark(picture: Frame, dot: Dot) -> None:
    x, y = (round(value) for value in dot.xy_px)
    reach = max(5, round(dot.radius_px * 1.7))
    cv2.circle(picture, (x, y), reach, (255, 255, 255), 4, cv2.LINE_AA)
    cv2.circle(picture, (x, y), reach, INKS[dot.colour], 2, cv2.LINE_AA)
    if dot.confidence < 0.5:
        cv2.line(picture, (x - reach, y - reach), (x + reach, y + reach), (255, 255, 255), 2, cv2.LINE_AA)
