"""How a die with numerals is cut out of a picture for the network, and what the network's answers mean."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

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

CUT_PX = 128
CUT_REACH = 1.7  # radii from the middle of a cut to its rim
LOOK_PX = 64
WIDE_REACH = 1.4
"""Radii that the look at a whole die reaches: kind, place and which way round are told from it."""
NEAR_REACH = {"d4": 0.75, "d6-numeral": 0.85, "d8": 0.65, "d10": 0.62, "d12": 0.62, "d20": 0.5, "d100": 0.58}
"""Kind -> radii that the look at its numeral reaches."""
TURNS = 24
"""Ways round that are told apart: n of 360 / TURNS degrees clockwise from up."""


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


def look(piece: Frame, reach: float, shift: tuple[float, float], grow: float, turn_deg: float) -> Frame:
    """(LOOK_PX, LOOK_PX, 3) uint8: a look at a `cut` piece, moved to `shift` (in radii of the cut), `reach` radii to
    each side at `grow` times its radius, turned so that what points `turn_deg` clockwise from up points up."""
    per_radius = CUT_PX / 2 / CUT_REACH
    turn = np.radians(turn_deg)
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    scale = reach * grow * per_radius / (LOOK_PX / 2)
    # From a look's pixel to the piece's.
    back = np.array([[cos * scale, -sin * scale, 0.0], [sin * scale, cos * scale, 0.0]])
    centre = np.array(shift) * per_radius + (CUT_PX - 1) / 2
    back[:, 2] = centre - back[:, :2] @ np.full(2, (LOOK_PX - 1) / 2)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    seen = cv2.warpAffine(piece, back, (LOOK_PX, LOOK_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, np.uint8)
