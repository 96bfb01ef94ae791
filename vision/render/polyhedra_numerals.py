"""Numerals as they are printed on dice: our own strokes in many shapes, or a typeface that the machine has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

MASK_PX = 96
MARKS = ("bar", "dot", "none")
STROKES = "strokes"

Points = list[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Typeface:
    """How numerals look. `name`: STROKES for our own, "sans" or "italic" for those that OpenCV brings, or a font
    file's path. `weight`: 0.08 to 0.26 of the height for strokes, 100 to 900 for OpenCV's. `slant`: shift to the right
    per height. `stretch`: width against the usual. `seed` chooses the strokes' forms (open or closed 4, serifs ..).
    `mark`: how 6 and 9 are told apart, one of MARKS; `marks_all`: a 6 or 9 on a die without the other too."""

    name: str = STROKES
    weight: float = 0.14
    slant: float = 0.0
    stretch: float = 1.0
    seed: int = 0
    mark: str = "bar"
    marks_all: bool = True


@lru_cache(maxsize=4096)
def numeral_mask(text: str, face: Typeface, is_marked: bool) -> NDArray[np.float32]:
    """(MASK_PX, MASK_PX) float32, 0 to 1, upright: the numeral in the middle, half as high as the mask.

    `is_marked`: whether a lone 6 or 9 gets its mark.
    """
    fine = MASK_PX * 2
    mask = np.zeros((fine, fine), np.uint8)
    if face.name == STROKES:
        _strokes(mask, text, face)
    else:
        _typeset(mask, text, face)
    ys, xs = np.nonzero(mask > 100)
    if not len(xs):
        return np.zeros((MASK_PX, MASK_PX), np.float32)
    x0, x1, y0, y1 = xs.min(), xs.max(), ys.min(), ys.max()
    grow = 0.5 * fine / max(1, y1 - y0)
    around = np.array(
        [
            [grow * face.stretch, -grow * face.slant, 0],
            [0, grow, 0],
        ],
        np.float32,
    )
    around[:, 2] = fine / 2 - around[:, :2] @ np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    mask = np.asarray(cv2.warpAffine(mask, around, (fine, fine), flags=cv2.INTER_LINEAR), np.uint8)
    if is_marked and text in ("6", "9") and face.mark != "none":
        _marked(mask, face)
    small = np.asarray(
        cv2.resize(mask, (MASK_PX, MASK_PX), interpolation=cv2.INTER_AREA), np.float32
    ) / np.float32(255)
    small.flags.writeable = False
    return small


def _marked(mask: NDArray[np.uint8], face: Typeface) -> None:
    """The bar under, or the dot beside the foot of a numeral that is upright."""
    fine = len(mask)
    rng = np.random.default_rng((face.seed, 77))
    xs = np.nonzero(mask.max(0) > 100)[0]
    left, right, foot = int(xs.min()), int(xs.max()), round(0.75 * fine)
    thick = max(3, round(fine * 0.5 * rng.uniform(0.08, 0.16)))
    if face.mark == "bar":
        low = foot + round(fine * rng.uniform(0.05, 0.09))
        more = round(fine * rng.uniform(-0.02, 0.03))
        cv2.rectangle(mask, (left - more, low), (right + more, low + thick), 255, -1)
        return
    radius = max(4, round(thick * rng.uniform(0.6, 0.9)))
    beside = right + radius + round(fine * rng.uniform(0.015, 0.05))
    cv2.circle(mask, (beside, foot - round(radius * rng.uniform(0.2, 1.0))), radius, 255, -1, cv2.LINE_AA)


def _typeset(mask: NDArray[np.uint8], text: str, face: Typeface) -> None:
    fine = len(mask)
    size = round(fine * (0.5 if len(text) == 1 else 0.42))
    cv2.putText(
        mask,
        text,
        (round(fine * 0.2), round(fine * 0.7)),
        (255,),
        _font(face.name),
        size,
        round(face.weight) if face.weight > 1 else 0,
    )


@lru_cache(maxsize=64)
def _font(name: str) -> cv2.FontFace:
    return cv2.FontFace(name)


def _strokes(mask: NDArray[np.uint8], text: str, face: Typeface) -> None:
    fine = len(mask)
    rng = np.random.default_rng((face.seed, 31))
    width = 0.6 * float(rng.uniform(0.85, 1.1))
    gap = width + face.weight + float(rng.uniform(0.08, 0.2))
    high = fine * (0.5 if len(text) == 1 else 0.4)
    thick = max(2, round(high * face.weight))
    forms = _forms(face.seed)
    start = fine / 2 - high * (gap * (len(text) - 1) + width) / 2
    for place, digit in enumerate(text):
        at = start + high * gap * place
        for line in forms[digit]:
            xy = np.array(line) * (width * high, high) + (at, fine * 0.25)
            fixed = np.round(xy * 16).astype(np.int32)[:, None]
            cv2.polylines(mask, [fixed], False, 255, thick, cv2.LINE_AA, 4)
    if rng.random() < 0.3:  # cut with straight ends rather than drawn with a round pen
        kernel = np.ones((3, 3), np.uint8)
        mask[:] = cv2.erode(cv2.dilate(mask, np.ones((5, 5), np.uint8)), kernel)


def _arc(centre: tuple[float, float], radii: tuple[float, float], start: float, end: float) -> Points:
    """Points on an ellipse from `start` to `end` degrees, clockwise as y goes down, 0 to the right."""
    turns = np.radians(np.linspace(start, end, 15))
    x, y = centre
    return [(x + radii[0] * float(np.cos(t)), y + radii[1] * float(np.sin(t))) for t in turns]


@lru_cache(maxsize=512)
def _forms(seed: int) -> dict[str, list[Points]]:
    """Digit -> its lines in a box of width and height 1; the same form for the same seed."""
    rng = np.random.default_rng((seed, 41))
    odd = rng.random(8) < 0.5
    waist = float(rng.uniform(0.44, 0.52))
    one: list[Points] = [[(0.5, 0.0), (0.5, 1.0)]]
    if odd[0] or rng.random() < 0.6:
        one[0] = [(0.22, float(rng.uniform(0.14, 0.28))), (0.5, 0.0), (0.5, 1.0)]
    if odd[0]:
        one.append([(0.22, 1.0), (0.78, 1.0)])
    bowl = _arc((0.5, 0.27), (0.46, 0.27), 190, 375)
    foot_y = 1.0
    two = [[*bowl, (0.02, foot_y), (1.0, foot_y)]]
    upper = _arc((0.46, waist / 2), (0.46, waist / 2), 200, 450)
    lower = _arc((0.46, (1 + waist) / 2), (0.5, (1 - waist) / 2), 270, 520)
    three = [[(0.05, 0.0), (0.92, 0.0), (0.42, waist - 0.06)], lower] if odd[1] else [upper, lower]
    bar_y = float(rng.uniform(0.66, 0.78))
    if odd[2]:
        four = [[(0.3, 0.0), (0.05, bar_y), (1.0, bar_y)], [(0.72, 0.3), (0.72, 1.0)]]
    else:
        four = [[(0.72, 1.0), (0.72, 0.0), (0.02, bar_y), (1.0, bar_y)]]
    belly = _arc((0.46, 0.68), (0.5, 0.32), 235, 510)
    five = [[(0.92, 0.0), (0.18, 0.0), (0.12, 0.45)], belly]
    ring = _arc((0.5, 0.68), (0.48, 0.32), 0, 360)
    six = [ring, [(0.72, 0.0), (0.04, 0.6)]] if odd[3] else [ring, _arc((0.62, 0.62), (0.6, 0.62), 290, 180)]
    nine = [[(1 - x, 1 - y) for x, y in line] for line in six]
    seven: list[Points] = [[(0.02, 0.0), (0.98, 0.0), (0.35, 1.0)]]
    if rng.random() < 0.15:
        seven.append([(0.3, 0.52), (0.85, 0.52)])
    top = _arc((0.5, waist / 2), (0.4, waist / 2), 0, 360)
    low = _arc((0.5, (1 + waist) / 2), (0.48, (1 - waist) / 2), 0, 360)
    zero = [_arc((0.5, 0.5), (0.48 if odd[5] else 0.42, 0.5), 0, 360)]
    return {
        "0": zero, "1": one, "2": two, "3": three, "4": four,
        "5": five, "6": six, "7": seven, "8": [top, low], "9": nine,
    }  # fmt: skip
