"""How a die at rest stands in the picture: its top face, its outline, and how well an outline fits what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.finding import Mask
from vision.surface import Surface

Floats = NDArray[np.float64]
Pose = tuple[Floats, float, float]
"""Corners (n, 3) in edges around the middle of the top face, the height of that middle, the turn in radians."""

_TURN_STEP = float(np.radians(11.25))
_TURNS = [k * _TURN_STEP for k in range(8)]
_LEAN_TURNS = [float(turn) for turn in np.radians(np.arange(0, 360, 20.0))]
_TILTS = [float(tilt) for tilt in np.radians((15.0, 25.0, 36.0))]
_NUDGE = 0.08  # of a face's edge: how far the top face may lie off the place that was looked at
_ROUND = 0.94  # rounded corners: an outline's corners lie this far out
_WORK_EDGE_PX = 26.0  # a face's edge in the small picture in which outlines are held against masks


class View(Protocol):
    """How dice on one table are seen."""

    def side_px(self, xy_px: tuple[float, float]) -> float:
        """Edge of a top face whose middle is seen at `xy_px`."""

    def seen(self, xy_px: tuple[float, float], points: Floats, high: float = 1.0) -> Floats:
        """(n, 2) px of points (n, 3) near a die, all in edges of a die: x, y from below the point that is seen at
        `xy_px` and is `high` above the table, then the height above the table."""


@dataclass(frozen=True)
class SurfaceView:
    """By the measured table. `die_mm`: the dice's edge."""

    surface: Surface
    die_mm: float

    def side_px(self, xy_px: tuple[float, float]) -> float:
        return self.die_mm * self.surface.px_per_mm(self.surface.mm(xy_px, self.die_mm), self.die_mm)

    def seen(self, xy_px: tuple[float, float], points: Floats, high: float = 1.0) -> Floats:
        x, y = self.surface.mm(xy_px, self.die_mm * high)
        places = points * self.die_mm + (x, y, 0.0)
        return np.asarray(self.surface.px_of(places), np.float64)


@dataclass(frozen=True)
class LearntView:
    """By what rolls showed: `side` and `shift` (from a die's foot to its top face) are linear in the place.

    `side`: (3,) factors of 1, x, y for the edge; `shift`: (2, 3) the same for x and y; both in px of a picture that is
    to be enlarged by `scale`.
    """

    side: Floats
    shift: Floats
    scale: float

    def side_px(self, xy_px: tuple[float, float]) -> float:
        return float(self.side @ (1.0, xy_px[0] / self.scale, xy_px[1] / self.scale)) * self.scale

    def seen(self, xy_px: tuple[float, float], points: Floats, high: float = 1.0) -> Floats:
        shift = self.shift @ (1.0, xy_px[0] / self.scale, xy_px[1] / self.scale) * self.scale
        moved = (points[:, 2:] - high) * shift + np.array(xy_px)
        return np.asarray(points[:, :2] * self.side_px(xy_px) + moved, np.float64)


@dataclass(frozen=True)
class Fit:
    """How a die's outline lies over a mask. `overlap`: shared area over joined area, 0 to 1; `inside`: share of the
    outline that is masked; `xy_px`: middle of the top face; `turn`: radians; `outline`: (n, 2) px."""

    overlap: float
    inside: float
    xy_px: tuple[float, float]
    turn: float
    outline: Floats


def fit(mask: Mask, view: View, xy_px: tuple[float, float], others: Sequence[Floats] = ()) -> Fit:
    """The die at rest with its top face near `xy_px` whose outline lies best over the mask.

    `others`: outlines of dice beside it, whose areas count neither way.
    """
    side = view.side_px(xy_px)
    window = _Window(mask, xy_px, side, others)
    coarse = window.best(view, [(turned(turn), 1.0, turn) for turn in _TURNS], _around(xy_px, _NUDGE * side))
    turns = [coarse.turn + step * _TURN_STEP / 2 for step in (-1, 0, 1)]
    fine = window.best(
        view, [(turned(turn), 1.0, turn) for turn in turns], _around(coarse.xy_px, _NUDGE * side / 2)
    )
    return max(coarse, fine, key=lambda one: one.overlap)


def fit_stacked(mask: Mask, view: View, found: Fit, others: Sequence[Floats] = ()) -> float:
    """The best overlap (0 to 1) if the die of `found` lies on another one."""
    upper = turned(found.turn) + np.array((0.0, 0.0, 1.0))
    both = [(np.concatenate([upper, turned(turn)]), 2.0, turn) for turn in _TURNS[::2]]
    window = _Window(mask, found.xy_px, view.side_px(found.xy_px), others)
    return window.best(view, both, [found.xy_px]).overlap


def fit_leaning(mask: Mask, view: View, found: Fit, others: Sequence[Floats] = ()) -> float:
    """The best overlap (0 to 1) if the die of `found` stands on an edge and leans."""
    side = view.side_px(found.xy_px)
    window = _Window(mask, found.xy_px, side, others)
    leans = [(*_leaning(turn, tilt), turn) for turn in _LEAN_TURNS for tilt in _TILTS]
    coarse = window.best(view, leans, [found.xy_px])
    near = [lean for lean in leans if lean[2] == coarse.turn]
    return window.best(view, near, _around(found.xy_px, _NUDGE * side)).overlap


def turned(turn: float) -> Floats:
    """(8, 3) corners of a die at rest around (0, 0), in edges: the top face's first."""
    square = _square(turn)
    return np.concatenate([np.column_stack([square, np.full(4, high)]) for high in (1.0, 0.0)])


@cache
def _leaning(turn: float, tilt: float) -> tuple[Floats, float]:
    """(8, 3) corners of a die on one edge around the middle of its top face, and the height of that middle."""
    cube = np.array([(x, y, z) for z in (0.5, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    lean = np.array([(np.cos(tilt), 0, np.sin(tilt)), (0, 1, 0), (-np.sin(tilt), 0, np.cos(tilt))])
    spin = np.array([(np.cos(turn), -np.sin(turn), 0), (np.sin(turn), np.cos(turn), 0), (0, 0, 1)])
    corners = cube @ lean.T @ spin.T
    corners[:, 2] -= corners[:, 2].min()
    middle = corners[:4].mean(0)
    return np.asarray(corners - (middle[0], middle[1], 0), np.float64), float(middle[2])


def hull(points: Floats) -> Floats:
    """(n, 2) outline around corners, drawn in a little because a die's corners are round."""
    middle = points.mean(0)
    around = cv2.convexHull(((points - middle) * _ROUND + middle).astype(np.float32))
    return np.asarray(around.reshape(-1, 2), np.float64)


def filled(shape: tuple[int, int], outlines: Sequence[Floats]) -> Mask:
    """uint8 (rows, columns), 255 inside any of `outlines`."""
    mask = np.zeros(shape, np.uint8)
    for outline in outlines:
        cv2.fillPoly(mask, [np.round(outline * 16).astype(np.int32)], 255, cv2.LINE_8, 4)
    return mask


def _around(xy_px: tuple[float, float], reach: float) -> list[tuple[float, float]]:
    steps = (0.0, -reach, reach)
    return [(xy_px[0] + dx, xy_px[1] + dy) for dx in steps for dy in steps]


class _Window:
    """The part of a mask around one die, small."""

    def __init__(self, mask: Mask, xy_px: tuple[float, float], side: float, others: Sequence[Floats]) -> None:
        self._scale = min(1.0, _WORK_EDGE_PX / side)
        half = 1.9 * side
        self._first = np.array([int(xy_px[0] - half), int(xy_px[1] - half)])
        reach = max(8, round(2 * half * self._scale))
        place = np.array(
            [[self._scale, 0, -self._first[0] * self._scale], [0, self._scale, -self._first[1] * self._scale]]
        )
        # Nearest, since the mask was itself enlarged from a picture of about this size.
        seen = cv2.warpAffine(mask, place, (reach, reach), flags=cv2.INTER_NEAREST)
        inside = cv2.warpAffine(np.full_like(mask, 255), place, (reach, reach), flags=cv2.INTER_NEAREST)
        counts = inside > 0
        for other in others:
            counts &= self._drawn(other, (reach, reach)) == 0
        self._counts = counts
        self._seen = self._own_part(np.where(counts, seen, np.uint8(0)), xy_px)

    def best(self, view: View, poses: Sequence[Pose], places: Sequence[tuple[float, float]]) -> Fit:
        """The pose at the place where it fits best."""
        tried = [
            self.held(hull(view.seen(at, corners, high)), at, turn)
            for at in places
            for corners, high, turn in poses
        ]
        return max(tried, key=lambda one: one.overlap)

    def held(self, outline: Floats, at: tuple[float, float], turn: float) -> Fit:
        drawn = (self._drawn(outline, self._seen.shape) > 0) & self._counts
        both = int((drawn & self._seen).sum())
        area = max(1, int(drawn.sum()))
        joined = max(1, int((drawn | self._seen).sum()))
        return Fit(both / joined, both / area, at, turn, outline)

    def _drawn(self, outline: Floats, shape: tuple[int, ...]) -> Mask:
        return filled((shape[0], shape[1]), [(outline - self._first) * self._scale])

    def _own_part(self, seen: Mask, xy_px: tuple[float, float]) -> NDArray[np.bool_]:
        """The connected area that is nearest to the die's middle; all of it where none is near."""
        count, found = cv2.connectedComponents(seen, connectivity=4)
        row, column = (
            int(v) for v in np.clip((np.array(xy_px) - self._first)[::-1] * self._scale, 0, len(seen) - 1)
        )
        reach = max(2, round(_WORK_EDGE_PX / 4))
        near = found[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1]
        labels = np.bincount(near.ravel(), minlength=count)
        labels[0] = 0
        if not labels.any():
            return np.asarray(seen > 0)
        return np.asarray(found == int(labels.argmax()))


def _square(turn: float) -> Floats:
    """(4, 2) corners of a unit square around 0."""
    cos, sin = np.cos(turn), np.sin(turn)
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    return np.asarray(corners @ np.array([[cos, sin], [-sin, cos]]), np.float64)
