"""Every odd file comes out as a plain colour frame or as one clear line."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision import MAX_PICTURE_PIXELS
from vision.frame import Unreadable, decode, load

ROWS, COLUMNS = 40, 64

# A 16 x 16 px red square stored as cyan, magenta, yellow and black.
CMYK_RED_JPEG = base64.b64decode(
    "/9j/7gAOQWRvYmUAZAAAAAAC/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZM"
    "TlJTUjI+WmFaUGBKUVJP/9sAQwEODg4TERMmFRUmTzUtNU9PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P"
    "T09PT09PT09PT09P/8AAFAgAEAAQBAERAAIRAQMRAQQRAP/EABYAAQEBAAAAAAAAAAAAAAAAAAAFB//EABQQAQAAAAAAAAAA"
    "AAAAAAAAAAD/xAAWAQEBAQAAAAAAAAAAAAAAAAAABQf/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADgQBAAIRAxEEAAA/AL6y"
    "zZpwAAAD/9k="
)


def picture() -> np.ndarray:
    """Left half blue, right half red, a green band at the bottom."""
    image = np.zeros((ROWS, COLUMNS, 3), np.uint8)
    image[:, : COLUMNS // 2] = (250, 10, 10)
    image[:, COLUMNS // 2 :] = (10, 10, 250)
    image[-8:] = (10, 250, 10)
    return image


def packed(ext: str, image: np.ndarray, *options: int) -> bytes:
    ok, data = cv2.imencode(ext, image, list(options))
    assert ok
    return data.tobytes()


def with_exif(jpeg: bytes, orientation: int) -> bytes:
    tiff = b"MM\x00*\x00\x00\x00\x08" + struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, orientation, 0, 0)
    body = b"Exif\x00\x00" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def png_of_size(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


def assert_is_picture(frame: np.ndarray) -> None:
    assert frame.dtype == np.uint8
    assert frame.shape == (ROWS, COLUMNS, 3)
    assert frame.flags["C_CONTIGUOUS"]
    assert np.allclose(frame[10, 10].astype(int), (250, 10, 10), atol=14)
    assert np.allclose(frame[10, -10].astype(int), (10, 10, 250), atol=14)
    assert np.allclose(frame[-3, 30].astype(int), (10, 250, 10), atol=14)


@pytest.mark.parametrize("ext", [".jpg", ".png", ".webp", ".bmp", ".tiff", ".ppm"])
def test_each_format_is_read(ext: str) -> None:
    assert_is_picture(decode(packed(ext, picture())))


@pytest.mark.parametrize("ext", [".jpg", ".png", ".webp", ".bmp", ".tiff", ".ppm"])
@pytest.mark.parametrize("share", [0.2, 0.6, 0.97])
def test_a_cut_off_file_is_unreadable(ext: str, share: float) -> None:
    noisy = np.random.default_rng(1).integers(0, 255, (64, 64, 3)).astype(np.uint8)
    data = packed(ext, noisy)
    decode(data)
    with pytest.raises(Unreadable) as caught:
        decode(data[: int(len(data) * share)])
    assert "\n" not in str(caught.value)


def test_a_damaged_png_is_unreadable() -> None:
    data = bytearray(packed(".png", picture()))
    data[len(data) // 2] ^= 0x55
    with pytest.raises(Unreadable, match="damaged"):
        decode(bytes(data))


@pytest.mark.parametrize(("orientation", "corner"), [(1, (0, 0)), (3, (-1, -1)), (6, (0, -1)), (8, (-1, 0))])
def test_exif_turns_the_picture(orientation: int, corner: tuple[int, int]) -> None:
    image = np.full((32, 48, 3), 20, np.uint8)
    image[:16, :16] = 240
    frame = decode(with_exif(packed(".jpg", image), orientation))
    assert frame.shape[:2] == ((32, 48) if orientation in (1, 3) else (48, 32))
    assert frame[corner].min() > 200
    others = {(0, 0), (0, -1), (-1, 0), (-1, -1)} - {corner}
    assert all(frame[other].max() < 60 for other in others)


def test_sixteen_bits_and_grey() -> None:
    assert_is_picture(decode(packed(".png", picture().astype(np.uint16) * 257)))
    grey = decode(packed(".png", np.full((20, 30), 77, np.uint8)))
    assert grey.shape == (20, 30, 3)
    assert (grey == 77).all()
    deep = decode(packed(".png", np.full((20, 30), 77 * 257, np.uint16)))
    assert deep.shape == (20, 30, 3)
    assert (deep == 77).all()


@pytest.mark.parametrize("ext", [".png", ".webp", ".tiff"])
def test_what_is_transparent_lies_on_white(ext: str) -> None:
    image = np.zeros((20, 30, 4), np.uint8)
    image[:, :15] = (10, 20, 200, 255)
    frame = decode(packed(ext, image))
    assert frame.shape == (20, 30, 3)
    assert np.allclose(frame[10, 5].astype(int), (10, 20, 200), atol=14)
    assert frame[10, 25].min() > 240


def test_cmyk_jpeg() -> None:
    frame = decode(CMYK_RED_JPEG)
    assert frame.shape == (16, 16, 3)
    blue, green, red = (int(v) for v in frame[8, 8])
    assert red > 180
    assert blue < 80
    assert green < 80


def test_a_huge_picture_is_refused_by_its_header() -> None:
    with pytest.raises(Unreadable, match="60 million"):
        decode(png_of_size(30_000, 30_000))
    assert os.environ["OPENCV_IO_MAX_IMAGE_PIXELS"] == str(MAX_PICTURE_PIXELS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no picture at all",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"BM",
        b"II*\x00",
        b"P6 x y z",
        b"RIFF1234",
        b"GIF89a",
    ],
)
def test_rubbish_is_unreadable_in_one_line(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_random_damage_never_escapes() -> None:
    rng = np.random.default_rng(7)
    for ext in (".jpg", ".png", ".webp", ".bmp", ".tiff", ".ppm"):
        whole = packed(ext, picture())
        for _ in range(60):
            data = bytearray(whole)
            for at in rng.integers(0, len(data), 4):
                data[at] = int(rng.integers(256))
            try:
                frame = decode(bytes(data))
            except Unreadable:
                continue
            assert frame.dtype == np.uint8
            assert frame.ndim == 3


def test_load_says_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    good = tmp_path / "good.png"
    good.write_bytes(packed(".png", picture()))
    assert_is_picture(load(good))
    for bad in (tmp_path / "absent.jpg", tmp_path, "nul\0byte"):
        with pytest.raises(Unreadable) as caught:
            load(bad)
        assert "check the name" in str(caught.value)
