"""The one encoder of pictures: colour frames to bytes, and to files that a person asked for."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from vision.frame import Frame

SUFFIXES = (".png", ".jpg", ".jpeg")
"""What the name of a picture that is written may end in."""
QUALITY = 92


def jpeg(picture: Frame, quality: int = QUALITY) -> bytes:
    """A picture (uint8 BGR) as JPEG; `quality` of 100."""
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def png(picture: Frame) -> bytes:
    """A picture (uint8 BGR) as PNG."""
    return cv2.imencode(".png", picture)[1].tobytes()


def save(path: Path, picture: Frame) -> None:
    """Writes a picture (uint8 BGR) as the kind that the name's ending says. Raises ValueError for no such kind,
    OSError when it cannot be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: a picture's name ends in {', '.join(SUFFIXES)}")
    path.write_bytes(png(picture) if path.suffix.lower() == ".png" else jpeg(picture))


def smaller(picture: Frame, longest_px: int) -> Frame:
    """A picture no longer than that in rows and columns; itself where it is none."""
    rows, columns = picture.shape[:2]
    scale = longest_px / max(rows, columns)
    if scale >= 1:
        return picture
    size = (round(columns * scale), round(rows * scale))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def enlarged(picture: Frame, side_px: int) -> Frame:
    """A small square picture for people to look at, so many px a side."""
    return np.asarray(cv2.resize(picture, (side_px, side_px), interpolation=cv2.INTER_CUBIC), np.uint8)
