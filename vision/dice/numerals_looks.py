"""How a die with numerals is cut out of a picture for the network, and what the network's answers mean."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

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

GEOMETRY = 5
"""Numbers after the classes: how far right and down the top face's middle lies (in radii), log of the true radius
against the assumed one, and where the numeral's top points (right, down)."""

CUT_PX = 128
CUT_REACH = 1.7  # radii from the middle of a cut to its rim
LOOK_PX = 64
WIDE, NEAR = 1.3, 0.65  # radii that the two looks reach


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
    half = max(2.0, pose.radius_px * radii)
    reach = max(4, round(2 * half))
    x0, y0 = round(pose.x_px - half), round(pose.y_px - half)
    rows, columns = frame.shape[:2]
    left, top = max(0, -x0), max(0, -y0)
    right, low = max(0, x0 + reach - columns), max(0, y0 + reach - rows)
    x_in, y_in = min(max(x0, 0), columns - 1), min(max(y0, 0), rows - 1)
    piece = frame[y_in : max(y_in + 1, y0 + reach), x_in : max(x_in + 1, x0 + reach)]
    if left or top or right or low:
        piece = np.asarray(cv2.copyMakeBorder(piece, top, low, left, right, cv2.BORDER_REPLICATE), np.uint8)
    way = cv2.INTER_AREA if reach > CUT_PX else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(piece, (CUT_PX, CUT_PX), interpolation=way), np.uint8)


def looks(piece: Frame, shift: tuple[float, float], grow: float, turn_deg: float) -> Frame:
    """(LOOK_PX, LOOK_PX, 6) uint8: a wide and a near look at a `cut` piece, moved to `shift` (in radii of the cut),
    at `grow` times its radius, turned so that what points `turn_deg` clockwise from up points up."""
    per_radius = CUT_PX / 2 / CUT_REACH
    turn = np.radians(turn_deg)
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    centre = np.array(shift) * per_radius + (CUT_PX - 1) / 2
    seen = []
    for reach in (WIDE, NEAR):
        scale = reach * grow * per_radius / (LOOK_PX / 2)
        # From a look's pixel to the piece's.
        back = np.array([[cos * scale, -sin * scale, 0.0], [sin * scale, cos * scale, 0.0]])
        back[:, 2] = centre - back[:, :2] @ np.full(2, (LOOK_PX - 1) / 2)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        seen.append(
            cv2.warpAffine(piece, back, (LOOK_PX, LOOK_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        )
    return np.asarray(np.concatenate(seen, axis=2), np.uint8)


def planes(seen: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(n, LOOK_PX, LOOK_PX, 6) uint8 as the network takes it: (n, 6, LOOK_PX, LOOK_PX) of -0.5 to 0.5."""
    return np.asarray(seen.transpose(0, 3, 1, 2), np.float32) / np.float32(255) - np.float32(0.5)
