"""What a place that looks like a dot is: a network of ours says how likely a dot shows there, whole or in part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.networks import MODELS, session
from vision.frame import Frame

SIDE_PX = 24
"""Side of a cut: what a dot lies on is seen, too, not only the dot."""
REACH = 3.8
"""Half the side of a cut, in radii of a dot."""
_BATCH = 512

Floats = NDArray[np.float32]


def cut(frame: Frame, places: Sequence[tuple[float, float]], radius: float, side: int = SIDE_PX) -> Floats:
    """(n, side, side, 3), BGR, 1 being the place's own white: what lies around each place (x, y) in px, a dot's radius
    being `radius` px; a larger `side` than the network's shows more of it at the same scale."""
    scale = 2 * REACH * radius / SIDE_PX
    cuts = np.empty((len(places), side, side, 3), np.float32)
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    inside = np.hypot(x, y) * scale < radius
    middle = (side - 1) / 2 * scale
    for n, (px, py) in enumerate(places):
        to_frame = np.array([[scale, 0, px - middle], [0, scale, py - middle]])
        piece = cv2.warpAffine(
            frame,
            to_frame,
            (side, side),
            flags=cv2.INTER_AREA | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
        white = np.percentile(piece[inside], 80, axis=0)
        cuts[n] = np.clip(piece / np.maximum(white, 20.0), 0.0, 1.25)
    return cuts


class DotJudge:
    """Says of cuts what they show."""

    def __init__(self, file: Path) -> None:
        """`file`: the network."""
        self._session = session(file)

    def judge(self, cuts: Floats) -> NDArray[np.float32]:
        """(n, 2) of cuts (n, 24, 24, 3): how likely a dot shows by more than half, and how likely by a part only."""
        found = [np.zeros((0, 2), np.float32)]
        for first in range(0, len(cuts), _BATCH):
            planes = np.ascontiguousarray(
                cuts[first : first + _BATCH].transpose(0, 3, 1, 2) - np.float32(0.5)
            )
            (seen,) = self._session.run(None, {"picture": planes})
            found.append(np.asarray(1 / (1 + np.exp(-seen)), np.float32))
        return np.concatenate(found)


@lru_cache(maxsize=1)
def dot_judge() -> DotJudge:
    """The one in the package."""
    return DotJudge(Path(str(MODELS / "dots.onnx")))
