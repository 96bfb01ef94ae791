"""What a picture file says of itself without being decoded: format, size, whether it is whole.

A decoder may fill what is missing with grey and call that success, and it may allocate before it looks; so size
and completeness are read here first.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Header:
    """`width` and `height` in px as stored, before any EXIF turn; `is_whole`: it does not end too soon."""

    format: str
    width: int
    height: int
    is_whole: bool


def read_header(data: bytes) -> Header | None:
    """The header of a JPEG, PNG, WebP, BMP, TIFF or PNM picture; None for anything else.

    Raises ValueError where the format is known and its header is not readable.
    """
    for signature, reader in _READERS:
        if data.startswith(signature) and not is_film(data):
            try:
                return reader(data)
            except (struct.error, IndexError) as error:
                raise ValueError(str(error)) from error
    return None


_FTYP_PICTURES = {b"heic": "HEIC", b"heix": "HEIC", b"hevc": "HEIC", b"mif1": "HEIC", b"msf1": "HEIC",
                  b"avif": "AVIF", b"avis": "AVIF"}  # fmt: skip
_OTHERS = (
    (b"GIF8", "GIF"), (b"%PDF", "PDF"), (b"<svg", "SVG"), (b"<?xml", "SVG"), (b"\x00\x00\x00\x0cJXL ", "JPEG XL"),
    (b"\xff\x0a", "JPEG XL"), (b"8BPS", "Photoshop"), (b"\x00\x00\x01\x00", "icon"), (b"PK\x03\x04", "zip"),
)  # fmt: skip
_FILMS = (
    b"\x1a\x45\xdf\xa3",
    b"\x00\x00\x01\xba",
    b"\x00\x00\x01\xb3",
    b"FLV\x01",
    b"\x30\x26\xb2\x75",
    b"OggS",
)


def other_format(data: bytes) -> str:
    """The name of a format that is none of those that are read (`HEIC`, `GIF`, ...), by the first bytes of a file;
    empty where they tell nothing."""
    if data[4:8] == b"ftyp" and data[8:12] in _FTYP_PICTURES:
        return _FTYP_PICTURES[data[8:12]]
    if is_film(data):
        return "film"
    return next((name for start, name in _OTHERS if data.startswith(start)), "")


def is_film(data: bytes) -> bool:
    """Whether the first bytes of a file (12 suffice) are those of a film."""
    if data[4:8] in (b"ftyp", b"moov", b"mdat", b"wide"):
        return data[8:12] not in _FTYP_PICTURES
    return data.startswith(_FILMS) or (data.startswith(b"RIFF") and data[8:12] == b"AVI ")


def _jpeg(data: bytes) -> Header:
    width = height = 0
    at = 2
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            break
        marker = data[at + 1]
        if marker == 0xD9 and width:
            return Header("JPEG", width, height, True)
        if marker == 0xFF:
            at += 1
            continue
        if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD9:
            at += 2
            continue
        if at + 4 > len(data):
            break
        (length,) = struct.unpack_from(">H", data, at + 2)
        is_frame = 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC)
        if is_frame and at + 9 <= len(data):
            height, width = struct.unpack_from(">HH", data, at + 5)
        at += 2 + length
    if not width:
        raise ValueError("no size in it")
    return Header("JPEG", width, height, False)


def _png(data: bytes) -> Header:
    width, height = struct.unpack_from(">II", data, 16)
    at = 8
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            break
        (crc,) = struct.unpack_from(">I", data, end - 4)
        if crc != zlib.crc32(data[at + 4 : end - 4]):
            break
        if kind == b"IEND":
            return Header("PNG", width, height, True)
        at = end
    return Header("PNG", width, height, False)


def _webp(data: bytes) -> Header:
    (size,) = struct.unpack_from("<I", data, 4)
    kind = data[12:16]
    if data[8:12] != b"WEBP":
        raise ValueError("a RIFF file that is no WebP")
    if kind == b"VP8X":
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    else:
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
    return Header("WebP", width, height, len(data) >= size + 8)


def _bmp(data: bytes) -> Header:
    offset, _, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", data, 10)
    rows = abs(height) * ((width * bits + 31) // 32 * 4)
    return Header("BMP", width, abs(height), bool(compression) or len(data) >= offset + rows)


def _tiff(data: bytes) -> Header:
    order = "<" if data[:2] == b"II" else ">"
    (at,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, at)
    tags: dict[int, list[int]] = {}
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind, n = struct.unpack_from(order + "HHI", data, entry)
        code = {1: "B", 3: "H", 4: "I"}.get(kind)
        if tag in (256, 257, 273, 279, 324, 325) and code and n <= len(data):
            fits = n * struct.calcsize(code) <= 4
            (far,) = struct.unpack_from(order + "I", data, entry + 8)
            tags[tag] = list(struct.unpack_from(f"{order}{n}{code}", data, entry + 8 if fits else far))
    starts = tags.get(273) or tags.get(324) or []
    lengths = tags.get(279) or tags.get(325) or []
    ends = [start + length for start, length in zip(starts, lengths, strict=False)]
    return Header("TIFF", tags.get(256, [0])[0], tags.get(257, [0])[0], bool(ends) and max(ends) <= len(data))


def _pnm(data: bytes) -> Header:
    words: list[bytes] = []
    at = 0
    while len(words) < 4 and at < min(len(data), 4096):
        end = at
        while end < len(data) and not data[end : end + 1].isspace():
            end += 1
        if data[at : at + 1] == b"#":
            at = data.find(b"\n", at) + 1 or len(data)
            continue
        if end > at:
            words.append(data[at:end])
        at = end + 1
    width, height, peak = (int(word) for word in words[1:4])
    rows = width * height * (3 if words[0] == b"P6" else 1) * (2 if peak > 255 else 1)
    return Header("PNM", width, height, len(data) - at >= rows)


_READERS = (
    (b"\xff\xd8\xff", _jpeg),
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"RIFF", _webp),
    (b"BM", _bmp),
    (b"II*\x00", _tiff),
    (b"MM\x00*", _tiff),
    (b"P5", _pnm),
    (b"P6", _pnm),
)
