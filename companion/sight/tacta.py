"""What a camera or a photograph is looked at for at a table of Tacta: white dots on the printed colours."""

from __future__ import annotations

from vision.dots.reading import DotsRead, read_dots
from vision.frame import Frame

HUES = {"red": 35.0, "orange": 67.0, "green": 130.0, "blue": 280.0, "purple": 311.0, "pink": 350.0}
"""Hue angle in degrees in Lab of each printed colour, its dots being white."""


def dots(frame: Frame) -> DotsRead:
    """The dots of a table that lies in `frame` (uint8 BGR (rows, columns, 3))."""
    return read_dots(frame, HUES)
