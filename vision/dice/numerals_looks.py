"""How a die with numerals is cut out of a picture for the network, and what the network's answers mean."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.cutting import square
from vision.frame import Frame

KINDS = ("d4", "d6-numeral", "d8", "d10", "d12", "d20", "d100")
NOTHING, OTHER = len(KINDS), len(KINDS) + 1
"""Classes beside KINDS: no die, a die without numerals."""

TEXTS = (*(str(n) for n in range(21)), "00", *(str(n) for n in range(30, 100, 10)))
"""What can be printed on a face."""

LEGAL: dict[str, tuple[str, ...]] = {
    "d4": TEXTS[1:5],
    "d6-numeral": TEXTS[1:7],
    "d8": TEXTS[1:9],
    "d10": TEXTS[0:10],
    "d12": TEXTS[1:13],
    "d20": TEXTS[1:21],
    "d100": ("00", *(str(n) for n in range(10, 100, 10))),
}
"""Kind -> the texts on its faces."""

GEOMETRY = 4
"""Numbers after the classes: how far right and down the top face's middle lies (in radii), log of the true radius
against the assumed one, and the logit of the numeral standing upright."""

CUT_PX = 128
CUT_REACH = 1.7  # radii from the middle of a cut to its rim
LOOK_PX = 64
REACHES = (1.3, 0.65, 0.36)
"""Radii that the looks reach: the die, its top face, its numeral."""
_CELL_PX, _BINS = 8, 8
CELLS = LOOK_PX // _CELL_PX
FEATURES = len(REACHES) * CELLS * CELLS * _BINS
_ROWS = np.arange(LOOK_PX) // _CELL_PX
_CELL_OF = (
    (_ROWS[:, None] * CELLS + _ROWS[None, :]) * _BINS
).ravel()  # of each pixel, the first sum of its cell
_QUIET = 6.0  # levels per px: edges weaker than this are hardly there


@dataclass(frozen=True)
class Pose:
    """Where a die is believed to lie: middle of its top face and radius in px of the picture, and the way its
    numeral's top points, in degrees clockwise from up."""

    x_px: float
    y_px: float
    radius_px: float
    turn_deg: float = 0.0


def cut(frame: Frame, pose: Pose, radii: float = CUT_REACH) -> Frame:
    """(CUT_PX, CUT_PX, 3) around the pose, `radii` to each side, not turned; beyond the picture its rim goes on."""
    half_px = max(2.0, pose.radius_px * radii)
    return square(frame, (pose.x_px, pose.y_px), half_px, CUT_PX)


def looks(piece: Frame, shift: tuple[float, float], grow: float, turn_deg: float) -> Frame:
    """(looks, LOOK_PX, LOOK_PX, 3) uint8: looks of REACHES at a `cut` piece, moved to `shift` (in radii of the cut), at
    `grow` times its radius, turned so that what points `turn_deg` clockwise from up points up."""
    per_radius = CUT_PX / 2 / CUT_REACH
    turn = np.radians(turn_deg)
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    centre = np.array(shift) * per_radius + (CUT_PX - 1) / 2
    seen = []
    for reach in REACHES:
        scale = reach * grow * per_radius / (LOOK_PX / 2)
        # From a look's pixel to the piece's.
        back = np.array([[cos * scale, -sin * scale, 0.0], [sin * scale, cos * scale, 0.0]])
        back[:, 2] = centre - back[:, :2] @ np.full(2, (LOOK_PX - 1) / 2)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        seen.append(
            cv2.warpAffine(piece, back, (LOOK_PX, LOOK_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        )
    return np.asarray(np.stack(seen), np.uint8)


def features(seen: Frame) -> NDArray[np.uint8]:
    """(FEATURES,) of `looks`: how strong edges of each direction are in each cell, against what is around.

    Light ink on a dark body gives what dark ink on a light one gives.
    """
    return np.concatenate([_edges(look).ravel() for look in seen])


def _edges(look: Frame) -> NDArray[np.uint8]:
    """(cells, cells, _BINS) of one look (LOOK_PX, LOOK_PX, 3); 255 is 1."""
    size, way = cv2.cartToPolar(cv2.Sobel(look, cv2.CV_32F, 1, 0), cv2.Sobel(look, cv2.CV_32F, 0, 1))
    one, two = size[..., 0] >= size[..., 1], np.maximum(size[..., 0], size[..., 1]) >= size[..., 2]
    steep = np.where(two, np.where(one, size[..., 0], size[..., 1]), size[..., 2]).ravel()
    turn = np.where(two, np.where(one, way[..., 0], way[..., 1]), way[..., 2]).ravel() * (_BINS / np.pi)
    lower = turn.astype(np.int64)
    upper_share = steep * (turn - lower)
    total = CELLS * CELLS * _BINS
    sums = np.bincount(_CELL_OF + lower % _BINS, steep - upper_share, total)
    sums += np.bincount(_CELL_OF + (lower + 1) % _BINS, upper_share, total)
    cells = (sums / _CELL_PX**2).reshape(CELLS, CELLS, _BINS).astype(np.float32)
    around = cv2.blur(np.sqrt((cells**2).sum(2)), (3, 3), borderType=cv2.BORDER_REPLICATE)
    even = np.minimum(cells / (around + _QUIET)[..., None], 1.0)
    return np.asarray(even * 255, np.uint8)
