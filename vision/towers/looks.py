"""How a die on a board is cut out of a picture for the network, and what the network's answers mean."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.numerals_looks import TEXTS
from vision.frame import Frame

KINDS = ("d4", "d6", "d8", "d10", "d12", "d20", "d100")
NOTHING = len(KINDS)
"""The class beside KINDS: no die has its middle there."""
OWNERS = ("red", "blue", "green", "yellow", "purple", "black")
MEASURES = 3
"""Numbers after the classes: mm from the cut's middle to the middle of the die's body, right and down as the cut is
turned, and the log of half of what it measures across against USUAL_MM."""
OUTPUTS = len(KINDS) + 1 + len(TEXTS) + len(OWNERS) + MEASURES
USUAL_MM = 12.0
CUT_PX = 48
PX_PER_MM = 2.0
LEGAL: dict[str, tuple[str, ...]] = {
    "d4": TEXTS[1:5],
    "d6": TEXTS[1:7],
    "d8": TEXTS[1:9],
    "d10": TEXTS[0:10],
    "d12": TEXTS[1:13],
    "d20": TEXTS[1:21],
    "d100": ("00", *(str(n) for n in range(10, 100, 10))),
}
"""Kind -> the texts on its faces."""


def cut(
    frame: Frame, at_px: tuple[float, float], px_per_mm: float, turn_deg: float = 0.0, side_px: int = CUT_PX
) -> Frame:
    """(side, side, 3) around a place at PX_PER_MM, so that what points `turn_deg` clockwise from up points up."""
    scale = px_per_mm / PX_PER_MM
    turn = np.radians(turn_deg)
    cos, sin = float(np.cos(turn)) * scale, float(np.sin(turn)) * scale
    back = np.array([[cos, -sin, 0.0], [sin, cos, 0.0]])
    back[:, 2] = np.array(at_px) - back[:, :2] @ np.full(2, (side_px - 1) / 2)
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(frame, back, (side_px, side_px), flags=flags, borderMode=cv2.BORDER_REPLICATE),
        np.uint8,
    )


def planes(cuts: Sequence[Frame]) -> NDArray[np.float32]:
    """(n, 3, CUT_PX, CUT_PX) of n cuts, -0.5 to 0.5."""
    return np.stack(cuts).transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255) - np.float32(0.5)


def value_of(kind: str, text: str) -> int:
    """What a face with this text shows as a number: a d10's 0 is 10, a d100's 00 is 0. Rule: TAH-35"""
    return 10 if (kind, text) == ("d10", "0") else int(text)
