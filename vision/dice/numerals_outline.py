"""The outline of a d4 that stands on a face: seen from above it is a triangle."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.cutting import square
from vision.dice.numerals_looks import Pose
from vision.frame import Frame

WHOLE_PX = 160
_REACH = 2.0  # times the distance from the base's middle to its corners that a whole die's picture reaches
CORNER_PX = WHOLE_PX / 2 / _REACH
"""From the middle of a whole die's picture to the corners of its base."""
_REACHES = (2.0, 1.2, 3.4)  # radii of the pose: looked for so far around it, for its size may be misjudged
_PER_LIGHTNESS = (0.6, 0.2)  # lightness counts less than hue, for a shadow differs from the cloth as well
_LEVELS = (
    1.0,
    0.6,
    0.35,
)  # of the best level between cloth and die: ink and lit sides are not all of the die
_SOFT_PX = 1.2
_LEAST_AREA = 0.04  # of the picture
_SAME = 0.06  # of its size: outlines that differ less are one
_PLAIN_RATIO = 1.1  # triangle around a die with rounded corners against the die
_CERTAIN = 0.2  # how odd an outline may be that nothing better is looked for
_TOO_ODD = 0.7
_MOST = 3  # outlines worth a look
_THIRDS = np.exp(2j * np.pi * np.arange(3) / 3)


@dataclass(frozen=True)
class Base:
    """A triangle with three equal sides: `middle`, and the way from it to one `corner`, as x + iy in px. `oddness`:
    0 where the outline is just such a triangle."""

    middle: complex
    corner: complex
    oddness: float

    def is_like(self, other: Base) -> bool:
        """Whether both are one outline."""
        near = _SAME * abs(self.corner)
        return abs(self.middle - other.middle) < near and abs(abs(self.corner) - abs(other.corner)) < near


@dataclass(frozen=True)
class Whole:
    """A standing d4 cut out: `picture` (WHOLE_PX, WHOLE_PX, 3) uint8 BGR, its `base` there."""

    picture: Frame
    base: Base


def wholes(frame: Frame, pose: Pose) -> list[Whole]:
    """What may be the standing d4 about `pose`, the likeliest first; nothing where no triangle lies there."""
    found: list[Base] = []
    for reach in _REACHES:
        half = reach * pose.radius_px
        corner = complex(round(pose.x_px - half), round(pose.y_px - half))
        scale = 2 * half / WHOLE_PX
        for base in bases(square(frame, (pose.x_px, pose.y_px), half, WHOLE_PX)):
            there = Base(corner + base.middle * scale, base.corner * scale, base.oddness)
            if not any(there.is_like(other) for other in found):
                found.append(there)
        if found and min(base.oddness for base in found) < _CERTAIN:
            break
    return [_whole(frame, base) for base in sorted(found, key=lambda base: base.oddness)[:_MOST]]


def whole_of(picture: Frame) -> Whole | None:
    """The die in a picture that `wholes` gave, where it is still to be seen."""
    found = bases(picture)
    return Whole(picture, found[0]) if found else None


def bases(picture: Frame) -> list[Base]:
    """The triangles in a square picture that may be the outline of the thing in its middle, the least odd first."""
    found: list[Base] = []
    for mask in _masks(picture):
        base = _base(mask)
        if base is not None and base.oddness < _TOO_ODD:
            alike = [other for other in found if base.is_like(other)]
            if all(base.oddness < other.oddness for other in alike):
                found = [other for other in found if other not in alike] + [base]
    return sorted(found, key=lambda base: base.oddness)


def _whole(frame: Frame, base: Base) -> Whole:
    half = _REACH * abs(base.corner)
    scale = WHOLE_PX / max(4, round(2 * half))
    corner = complex(round(base.middle.real - half), round(base.middle.imag - half))
    there = Base((base.middle - corner) * scale, base.corner * scale, base.oddness)
    return Whole(square(frame, (base.middle.real, base.middle.imag), half, WHOLE_PX), there)


def _masks(picture: Frame) -> list[NDArray[np.uint8]]:
    """What differs from the picture's rim, by several measures."""
    lab = cv2.cvtColor(picture.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)
    lab = cv2.GaussianBlur(lab, (0, 0), _SOFT_PX)
    step = np.arange(len(picture)) - (len(picture) - 1) / 2
    cloth = np.median(lab[np.hypot(step[:, None], step[None, :]) > 0.49 * len(picture)], axis=0)
    block, masks = np.ones((5, 5), np.uint8), []
    for lightness in _PER_LIGHTNESS:
        apart = np.linalg.norm((lab - cloth) * np.array((lightness, 1.0, 1.0)), axis=2)
        level = np.clip(2 * apart, 0, 255).astype(np.uint8)
        best, _ = cv2.threshold(level, 0, 255, cv2.THRESH_OTSU)
        for share in _LEVELS:
            mask = (level > best * share).astype(np.uint8)
            for way in (cv2.MORPH_CLOSE, cv2.MORPH_OPEN):
                mask = np.asarray(cv2.morphologyEx(mask, way, block), np.uint8)
            masks.append(mask)
    return masks


def _base(mask: NDArray[np.uint8]) -> Base | None:
    """The triangle around the area nearest to the middle."""
    side = len(mask)
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    large = [line for line in outlines if cv2.contourArea(line) > _LEAST_AREA * side * side]
    if not large:
        return None
    outline = min(large, key=lambda line: float(np.hypot(*(line[:, 0].mean(0) - side / 2))))
    area = float(cv2.contourArea(outline))
    around, corners = cv2.minEnclosingTriangle(outline.astype(np.float32))
    if around <= 0:
        return None
    x, y = np.asarray(corners, np.float64).reshape(3, 2).T
    at = x + 1j * y
    one, two = at[1] - at[0], at[2] - at[0]
    if (one.conjugate() * two).imag < 0:
        at = at[::-1]  # clockwise as it is seen
    middle = complex(at.mean())
    corner = complex(((at - middle) * _THIRDS.conj()).mean())
    off = float(np.abs(at - middle - corner * _THIRDS).max()) / (abs(corner) + 1e-9)
    ends = middle + corner * _THIRDS
    beyond = max(-ends.real.min(), -ends.imag.min(), ends.real.max() - side, ends.imag.max() - side)
    if abs(corner) > 0.6 * side or beyond > 0.1 * side:
        return None
    hollow = 1.0 - area / max(1.0, float(cv2.contourArea(cv2.convexHull(outline))))
    return Base(middle, corner, max(0.0, around / area - _PLAIN_RATIO) + 2 * off + 2 * hollow)
