"""The one decoder of pictures: whatever a file holds, a plain colour frame or one clear error comes out."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import MAX_PICTURE_PIXELS
from vision.frame_header import other_format, read_header

Frame = NDArray[np.uint8]
"""A colour picture: uint8, (rows, columns, 3), blue green red."""

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")
"""How the names of pictures end that are looked for in a folder."""

MAX_FILE_BYTES = 256_000_000
_SMALLEST_SIDE_PX = 8
_CV_THREADS = 2

# A table's computer also runs a browser and a broker: the eyes never take more than this.
cv2.setNumThreads(min(_CV_THREADS, os.cpu_count() or 1))


class Unreadable(Exception):  # noqa: N818 - it names the state of a file, as callers say it
    """These bytes are no picture that can be read; the text is one line that says what to do."""


def decode(data: bytes) -> Frame:
    """The picture in `data` as uint8 BGR (rows, columns, 3), turned as its EXIF says.

    16-bit pictures are scaled to 8 bits, grey ones repeated over the three channels, CMYK converted, and what
    is transparent lies on white. Raises Unreadable for anything that is no picture, is cut off, or holds more
    than 60 million pixels (the last is seen in the header, before memory is taken).
    """
    try:
        header = read_header(data)
    except ValueError as error:
        raise Unreadable(f"the picture's header is damaged ({error}): take the picture again") from error
    if header is None:
        other = other_format(data[:16])
        what = f"a {other} file, " if other else ""
        what += "not a JPEG, PNG, WebP, BMP, TIFF or PNM picture"
        raise Unreadable(f"{what if data else 'the file is empty'}: save it again as JPEG or PNG")
    if min(header.width, header.height) < _SMALLEST_SIDE_PX:
        raise Unreadable(f"the picture is only {header.width} x {header.height} px: take a larger one")
    if header.width * header.height > MAX_PICTURE_PIXELS:
        raise Unreadable(
            f"the picture has {header.width} x {header.height} px, more than"
            f" {MAX_PICTURE_PIXELS // 1_000_000} million: make it smaller first"
        )
    if not header.is_whole:
        raise Unreadable(f"the {header.format} picture is cut off or damaged: copy or take it again")
    return _decode_whole(data, header.format)


def load(path: str | Path) -> Frame:
    """The picture in the file at `path`, see `decode`; Unreadable also when it cannot be read."""
    file = Path(path)
    try:
        mode = file.stat().st_mode
        if stat.S_ISDIR(mode):
            raise Unreadable("this is a folder: check the name, or give the pictures in it")
        if not stat.S_ISREG(mode):
            raise Unreadable("this is no ordinary file: save the picture to one first")
        with file.open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise Unreadable(
                f"the file is larger than {MAX_FILE_BYTES // 1_000_000} MB: make it smaller first"
            )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"{reason}: check the name and the permission") from error
    return decode(data)


def _decode_whole(data: bytes, kind: str) -> Frame:
    packed = np.frombuffer(data, np.uint8)
    try:
        picture = cv2.imdecode(packed, cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH)
        alpha = _alpha(packed) if kind in ("PNG", "WebP", "TIFF") else None
    except (cv2.error, MemoryError) as error:
        raise Unreadable(f"the {kind} picture does not decode: take it again or save it as JPEG") from error
    if picture is None:
        raise Unreadable(f"the {kind} picture does not decode: take it again or save it as JPEG")
    colour = _eight_bits(picture)
    if alpha is not None and alpha.shape == colour.shape[:2]:
        cover = alpha[:, :, None].astype(np.float32) / 255.0
        colour = (colour * cover + 255.0 * (1.0 - cover) + 0.5).astype(np.uint8)
    return np.ascontiguousarray(colour)


def _alpha(packed: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """The alpha plane (rows, columns) where the picture has one that hides something.

    Flags that keep alpha also switch the EXIF turn off, so a turned picture is read without its alpha.
    """
    full = cv2.imdecode(packed, cv2.IMREAD_UNCHANGED)
    if full is None or full.ndim != 3 or full.shape[2] != 4:
        return None
    alpha = _eight_bits(full[:, :, 3])
    return alpha if int(alpha.min()) < 255 else None


def _eight_bits(plane: NDArray[np.generic]) -> NDArray[np.uint8]:
    if plane.dtype == np.uint8:
        return np.asarray(plane, np.uint8)
    values = plane.astype(np.float32)
    if plane.dtype == np.uint16:
        values /= 257.0
    elif plane.dtype in (np.float32, np.float64):
        values = np.nan_to_num(values) * 255.0
    else:
        raise Unreadable(f"the picture stores its pixels as {plane.dtype}: save it again as JPEG or PNG")
    return np.asarray(np.clip(values + 0.5, 0, 255), np.uint8)
