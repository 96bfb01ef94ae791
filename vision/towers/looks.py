"""How the top of a small die is cut out of a picture for the network that reads its number."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.numerals_looks import Pose
from vision.frame import Frame

TOP_PX = 32
TOP_REACH = 0.62
"""Radii of the die from the middle of a cut to its rim."""
_QUIET = 6.0  # levels: a face whose colours differ by less shows nothing


def top_cut(frame: Frame, pose: Pose, turn_deg: float) -> Frame:
    """(TOP_PX, TOP_PX, 3) the top of the die at `pose`; what points `turn_deg` clockwise from up points up there."""
    scale = 2 * TOP_REACH * pose.radius_px / TOP_PX
    turn = np.radians(turn_deg)
    cos, sin = float(np.cos(turn)) * scale, float(np.sin(turn)) * scale
    back = np.array([[cos, -sin, 0.0], [sin, cos, 0.0]])
    back[:, 2] = np.array((pose.x_px, pose.y_px)) - back[:, :2] @ np.full(2, (TOP_PX - 1) / 2)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    laid = cv2.warpAffine(frame, back, (TOP_PX, TOP_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(laid, np.uint8)


def planes(cuts: Sequence[Frame]) -> NDArray[np.float32]:
    """(n, 3, TOP_PX, TOP_PX): each channel against its middle level, in deviations of the whole cut."""
    rows = np.stack(cuts).astype(np.float32)
    rows -= np.median(rows, axis=(1, 2), keepdims=True)
    spread = np.sqrt((rows**2).mean((1, 2, 3), keepdims=True)) + np.float32(_QUIET)
    return np.ascontiguousarray((rows / spread).transpose(0, 3, 1, 2))
