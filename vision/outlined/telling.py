"""Which card it is, and in which ink: every side is held against the picture where a card lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from vision.outlined.faces import Side, coarser
from vision.outlined.fitting import greatest, sampled
from vision.outlined.plane import Flat

Floats = NDArray[np.float32]
_OFF = 0.3  # of the white lines' contrast: a cell that is farther off does not fit at all


class Told(NamedTuple):
    """One side that may lie there; `is_turned`: its top is where the pose says the bottom is. `cost`: share of the
    card that does not fit, 0 to 1."""

    side: Side
    is_turned: bool
    cost: float


def told_apart(
    flat: Flat, pose: Pose, sides: Sequence[Side], mask: NDArray[np.bool_] | None = None,
    *, turned: Sequence[bool] = (False, True),
) -> list[Told]:  # fmt: skip
    """Every side at `pose`, both ways round or as `turned` says, the one that fits best first. `mask`: cells of the
    card that are not covered."""
    rows, columns = sides[0].line.shape
    small = coarser(sampled(flat, pose, (columns, rows)))
    free = np.ones(small.shape[:2], bool) if mask is None else coarser(mask.astype(np.float32)) > 0.9
    contrast = float(np.percentile(small, 98) - np.percentile(small, 10)) + 1.0
    y, x = np.mgrid[: small.shape[0], : small.shape[1]]
    fall = np.stack([x / small.shape[1] - 0.5, y / small.shape[0] - 0.5], -1).astype(np.float32)
    found = []
    for side in sides:
        for is_turned in turned:
            line, ink, counts = side.coarse
            if is_turned:
                line, ink, counts = line[::-1, ::-1], ink[::-1, ::-1], counts[::-1, ::-1]
            at = counts & free
            cost = _cost(small[at], line[at], ink[at], fall[at], contrast) if at.any() else 1.0
            found.append(Told(side, is_turned, cost))
    return sorted(found, key=lambda told: told.cost)


def _cost(cells: Floats, line: Floats, ink: Floats, fall: Floats, contrast: float) -> float:
    basis = np.stack([np.ones_like(line), line, ink, fall[:, 0], fall[:, 1]], 1)
    weights = np.ones(len(line), np.float32)
    off = weights
    for _ in range(3):
        weighted = basis * weights[:, None]
        matrix = weighted.T @ basis + 1e-2 * np.eye(basis.shape[1], dtype=np.float32)
        colours = np.linalg.solve(matrix, weighted.T @ cells)
        off = greatest(np.abs(cells - basis @ colours)) / np.float32(_OFF * contrast)
        weights = np.asarray(1.0 / (1.0 + off**2) ** 2, np.float32)
    return float(np.minimum(off**2, 1.0).mean())


class Ink(NamedTuple):
    """A colour's name, and how much nearer its hue is than the next colour's, in degrees."""

    name: str
    margin_deg: float


def ink_of(ink: Sequence[float], white: Sequence[float], hues: Mapping[str, float]) -> Ink:
    """The name of an ink (BGR) beside a white (BGR) that shows the lamp's tint; ``""`` where it has no strong colour.

    `hues`: hue angle in Lab in degrees of each colour that a card may have.
    """
    level = np.clip(np.asarray(ink, np.float32) / np.maximum(np.asarray(white, np.float32), 1.0), 0, 1.2)
    if level.max() - level.min() < 0.25 * max(float(level.max()), 0.2):
        return Ink("", 0.0)
    lab = cv2.cvtColor(np.clip(level, 0, 1)[None, None].astype(np.float32), cv2.COLOR_BGR2LAB)[0, 0]
    hue = float(np.degrees(np.arctan2(lab[2], lab[1])))
    far = sorted((abs((hue - wanted + 180) % 360 - 180), name) for name, wanted in hues.items())
    margin = far[1][0] - far[0][0] if len(far) > 1 else 180.0
    return Ink(far[0][1], margin)
