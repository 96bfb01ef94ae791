"""What is printed on faces and slots: our own drawings, as soft masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.float32]
"""(side, side) float32 in [0, 1]: 1 where the ink is."""

_FINE = 256  # px of the canvas that is drawn on; the mask is a shrunk copy
STYLES = 6


def _arrow(canvas: NDArray[np.uint8], style: int) -> None:
    style %= STYLES
    if style == 4:  # its outline
        corners = [
            (0, -0.4),
            (0.34, -0.02),
            (0.14, -0.02),
            (0.14, 0.38),
            (-0.14, 0.38),
            (-0.14, -0.02),
            (-0.34, -0.02),
        ]
        _line(canvas, [*corners, corners[0]], 0.07)
        return
    if style == 5:  # two chevrons over a bar
        for down in (0.0, 0.26):
            _line(canvas, [(-0.32, down - 0.06), (0, down - 0.36), (0.32, down - 0.06)], 0.11)
        _line(canvas, [(-0.2, 0.36), (0.2, 0.36)], 0.09)
        return
    shaft, head, neck, tail = ((0.15, 0.36, 0.02, 0.38), (0.08, 0.30, -0.06, 0.42), (0.2, 0.4, 0.06, 0.3))[
        style % 3
    ]
    if style == 3:  # a chevron on a stick
        _line(canvas, [(0, 0.4), (0, -0.34)], 0.1)
        _line(canvas, [(-0.3, -0.06), (0, -0.36), (0.3, -0.06)], 0.12)
        return
    _fill(
        canvas,
        [
            (0, -0.42),
            (head, neck),
            (shaft, neck),
            (shaft, tail),
            (-shaft, tail),
            (-shaft, neck),
            (-head, neck),
        ],
    )


def _burst(canvas: NDArray[np.uint8], style: int) -> None:
    style %= STYLES
    if style == 4:  # rays around nothing
        for k in range(10):
            way = np.array((np.cos(np.pi * k / 5), np.sin(np.pi * k / 5)))
            _line(canvas, [tuple(0.17 * way), tuple((0.42 if k % 2 else 0.32) * way)], 0.065)
        return
    if style == 5:  # a star of four points and sparks between
        turns, radii = np.pi * np.arange(8) / 4, np.where(np.arange(8) % 2 == 0, 0.42, 0.13)
        _fill(canvas, [(r * np.sin(t), -r * np.cos(t)) for r, t in zip(radii, turns, strict=True)])
        for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            _disc(canvas, (0.25 * x, 0.25 * y), 0.05)
        return
    if style == 3:  # confetti: rays and bits
        for k in range(9):
            turn = 2 * np.pi * k / 9
            way = np.array((np.cos(turn), np.sin(turn)))
            _line(canvas, [tuple(0.12 * way), tuple(0.3 * way)], 0.07)
            _disc(canvas, tuple(0.4 * way), 0.045)
        return
    points, inner = ((8, 0.45), (12, 0.6), (7, 0.38))[style % 3]
    turns = np.pi * np.arange(2 * points) / points
    radii = np.where(np.arange(2 * points) % 2 == 0, 0.42, 0.42 * inner)
    _fill(canvas, [(r * np.sin(t), -r * np.cos(t)) for r, t in zip(radii, turns, strict=True)])


def _spiral(canvas: NDArray[np.uint8], style: int) -> None:
    style %= STYLES
    if style == 4:  # with corners
        reach = [0.06, 0.06, 0.16, 0.16, 0.26, 0.26, 0.36, 0.36, 0.36]
        ways = [(1, -1), (1, 1), (-1, 1), (-1, -1)]
        _line(canvas, [(r * ways[k % 4][0], r * ways[k % 4][1]) for k, r in enumerate(reach)], 0.07)
        return
    if style == 5:  # two arms
        turns = np.linspace(0.4, 1.5 * np.pi, 80)
        for half in (1, -1):
            radii = half * 0.4 * turns / turns[-1]
            _line(canvas, [(r * np.cos(t), r * np.sin(t)) for r, t in zip(radii, turns, strict=True)], 0.1)
        return
    rounds, width = ((2.6, 0.075), (2.1, 0.095), (3.1, 0.055), (1.75, 0.12))[style]
    turns = np.linspace(0.6, 2 * np.pi * rounds, 160)
    radii = 0.38 * turns / turns[-1]
    hand = -1 if style % 2 else 1
    _line(canvas, [(r * np.cos(t), hand * r * np.sin(t)) for r, t in zip(radii, turns, strict=True)], width)


def _wand(canvas: NDArray[np.uint8], style: int) -> None:
    style %= STYLES
    if style == 4:  # cracked through
        _line(canvas, [(0.12, 0.42), (0.02, 0.1), (0.12, 0.04)], 0.09)
        _line(canvas, [(-0.1, -0.02), (0.0, -0.08), (-0.06, -0.24)], 0.09)
        _disc(canvas, (-0.09, -0.33), 0.09)
        return
    if style == 5:  # its halves side by side, a cross at the tip
        _line(canvas, [(-0.16, 0.4), (-0.1, -0.02)], 0.11)
        _line(canvas, [(0.06, 0.14), (0.16, -0.3)], 0.11)
        _line(canvas, [(0.02, -0.32), (0.32, -0.26)], 0.06)
        _line(canvas, [(0.2, -0.44), (0.14, -0.14)], 0.06)
        return
    width, gap, kink = ((0.09, 0.07, 0.04), (0.06, 0.05, 0.1), (0.12, 0.09, 0.0), (0.08, 0.04, -0.07))[style]
    _line(canvas, [(kink, 0.42), (0.0, gap)], width)
    _line(canvas, [(0.0, -gap), (kink, -0.26)], width)
    turns = np.pi * np.arange(10) / 5
    radii = np.where(np.arange(10) % 2 == 0, 0.15, 0.065)
    _fill(canvas, [(kink + r * np.sin(t), -0.32 - r * np.cos(t)) for r, t in zip(radii, turns, strict=True)])
    _disc(canvas, (0.1, 0.0), 0.035)
    _disc(canvas, (-0.1, 0.02), 0.03)


_SYMBOLS: Mapping[str, Callable[[NDArray[np.uint8], int], None]] = {
    "arrow": _arrow,
    "burst": _burst,
    "spiral": _spiral,
    "wand": _wand,
}
SYMBOLS = tuple(_SYMBOLS)
TADA_FACES = ("arrow", "burst", "arrow", "burst", "spiral", "wand")  # opposite faces: 0-2, 1-3, 4-5

_PIPS: Mapping[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


@lru_cache(maxsize=256)
def face_mask(value: str | int, style: int, side_px: int, scale: float = 0.7) -> Mask:
    """The drawing of a symbol (a name of SYMBOLS) or of 1-6 pips, upright in a face of `side_px`.

    `scale`: the drawing's size as a share of the face; pips always keep their places. Raises ValueError for a
    value that has no drawing.
    """
    canvas = np.zeros((_FINE, _FINE), np.uint8)
    if value in _PIPS:
        radius = (0.085, 0.1, 0.075, 0.09)[style % 4]
        for column, row in _PIPS[int(value)]:
            _disc(canvas, (0.25 * column, 0.25 * row), radius)
        scale = 1.0
    elif value in _SYMBOLS:
        _SYMBOLS[str(value)](canvas, style)
    else:
        raise ValueError(f"no drawing for {value}: known are {', '.join(SYMBOLS)} and 1 to 6")
    place = np.array([(scale, 0, (1 - scale) * _FINE / 2), (0, scale, (1 - scale) * _FINE / 2)])
    scaled = cv2.warpAffine(canvas, place, (_FINE, _FINE), flags=cv2.INTER_AREA)
    shrunk = cv2.resize(scaled, (side_px, side_px), interpolation=cv2.INTER_AREA)
    mask = np.asarray(shrunk, np.float32) / np.float32(255)
    mask.flags.writeable = False
    return mask


def _at(points: list[tuple[float, ...]]) -> NDArray[np.int32]:
    """Points in [-0.5, 0.5] as canvas pixels with 4 fractional bits."""
    return np.asarray(np.round((np.asarray(points) + 0.5) * _FINE * 16), np.int32)


def _fill(canvas: NDArray[np.uint8], corners: list[tuple[float, ...]]) -> None:
    cv2.fillPoly(canvas, [_at(corners)], 255, cv2.LINE_AA, 4)


def _line(canvas: NDArray[np.uint8], points: list[tuple[float, ...]], width: float) -> None:
    cv2.polylines(canvas, [_at(points)], False, 255, max(1, round(width * _FINE)), cv2.LINE_AA, 4)


def _disc(canvas: NDArray[np.uint8], centre: tuple[float, ...], radius: float) -> None:
    x, y = _at([centre])[0]
    cv2.circle(canvas, (int(x), int(y)), round(radius * _FINE * 16), 255, -1, cv2.LINE_AA, 4)
