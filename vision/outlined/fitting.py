"""Where exactly a side lies: its maps and the picture brought together by least squares, with what cannot be known.

Each cell of the picture is taken to be dark + white x line + ink x ink, where dark, white and ink are colours that may
change evenly over the card (a lamp's fall); what fits none of it (a card above, a glare, the edge of a shadow) loses
weight. The pose is never drawn to where other cards lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from vision.outlined.faces import CELLS_PER_MM, Side
from vision.outlined.plane import Flat

Floats = NDArray[np.float32]
_ROUNDS = 12
_STILL_MM = 0.004
_TOLERANT = (0.8, 0.25)
"""What differs by more than this share of the white lines' contrast loses weight: at first, and in the end."""


@dataclass(frozen=True)
class Fit:
    """A side brought onto a picture. `pose` of its top-left corner in table mm; `sure_mm`, `sure_deg`: deviation of
    what noise alone does to it. `misfit`: deviation of the picture from the side in the unit of the white lines'
    contrast, what lost its weight left out; `weight`: share of the cells that kept theirs. `ink`, `white`, `dark`: BGR
    colours in the middle."""

    pose: Pose
    sure_mm: float
    sure_deg: float
    misfit: float
    weight: float
    ink: tuple[float, float, float]
    white: tuple[float, float, float]
    dark: tuple[float, float, float]


def sampled(flat: Flat, pose: Pose, size: tuple[int, int]) -> Floats:
    """(rows, columns, 3) float32 BGR: the picture under a side of `size` (columns, rows) cells that lies at `pose`."""
    turn = np.radians(pose.angle_deg)
    cos, sin = np.cos(turn), np.sin(turn)
    cell, scale = 1 / CELLS_PER_MM, flat.scale
    across, down = np.array((cos, sin)) * cell * scale, np.array((-sin, cos)) * cell * scale
    start = (np.array((pose.x_mm, pose.y_mm)) - flat.origin_mm) * scale - 0.5 + (across + down) / 2
    warp = np.array([(across[0], down[0], start[0]), (across[1], down[1], start[1])])
    found = cv2.warpAffine(
        flat.bgr, warp, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(found, np.float32)


def greatest(channels: Floats) -> Floats:
    """(...,): the greatest of three channels (..., 3)."""
    return np.asarray(
        np.maximum(np.maximum(channels[..., 0], channels[..., 1]), channels[..., 2]), np.float32
    )


def centre_of(pose: Pose, size_mm: tuple[float, float]) -> tuple[float, float]:
    """The middle of a card whose top-left corner lies at `pose`."""
    return pose.apply((size_mm[0] / 2, size_mm[1] / 2))


def pose_about(centre: tuple[float, float], angle_deg: float, size_mm: tuple[float, float]) -> Pose:
    """The pose of the top-left corner of a card with this middle."""
    around = Pose(centre[0], centre[1], angle_deg)
    x, y = around.apply((-size_mm[0] / 2, -size_mm[1] / 2))
    return Pose(x, y, 180.0 - (180.0 - angle_deg) % 360.0)


class Fitter:
    """Fits one side. `mask`: cells that count, else those of the side; made once for several starts."""

    def __init__(self, side: Side, mask: NDArray[np.bool_] | None = None) -> None:
        self.side = side
        rows, columns = side.line.shape
        self.size = (columns, rows)
        self.size_mm = (columns / CELLS_PER_MM, rows / CELLS_PER_MM)
        counts = side.counts if mask is None else side.counts & mask
        self._at = np.flatnonzero(counts)
        y, x = np.mgrid[:rows, :columns]
        # Places in mm from the middle of the card.
        px = ((x + 0.5 - columns / 2) / CELLS_PER_MM).ravel()[self._at].astype(np.float32)
        py = ((y + 0.5 - rows / 2) / CELLS_PER_MM).ravel()[self._at].astype(np.float32)
        line, ink = side.line.ravel()[self._at], side.ink.ravel()[self._at]
        far = np.float32(max(self.size_mm) / 2)
        one = np.ones_like(px)
        self._basis = np.stack(
            [
                one,
                line,
                ink,
                px / far,
                py / far,
                line * px / far,
                line * py / far,
                ink * px / far,
                ink * py / far,
            ],
            1,
        )
        self._is_inked = bool(ink.max(initial=0.0) > 0.3)
        if not self._is_inked:
            self._basis = self._basis[:, [0, 1, 3, 4, 5, 6]]
        slopes = [np.gradient(m) for m in (side.line, side.ink)]
        self._slopes = [
            (gx.ravel()[self._at] * CELLS_PER_MM, gy.ravel()[self._at] * CELLS_PER_MM) for gy, gx in slopes
        ]
        self._places = (px, py)

    def fit(self, flat: Flat, start: Pose, rounds: int = _ROUNDS) -> Fit:
        """The side where it fits best near `start` (pose of its top-left corner)."""
        centre, angle = np.array(centre_of(start, self.size_mm)), start.angle_deg
        weights = np.ones(len(self._at), np.float32)
        normal = np.eye(3)
        for number in range(rounds):
            pose = pose_about((centre[0], centre[1]), angle, self.size_mm)
            cells = sampled(flat, pose, self.size).reshape(-1, 3)[self._at]
            share = min(1.0, 2 * number / rounds)
            tolerant = _TOLERANT[0] + (_TOLERANT[1] - _TOLERANT[0]) * share
            colours, rest, weights = self._explained(cells, weights, tolerant)
            step, normal = self._step(colours, rest, weights)
            turn = np.radians(angle)
            way = np.array([(np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))])
            centre = centre + way @ step[:2]
            angle += float(np.degrees(step[2]))
            if share == 1.0 and np.hypot(step[0], step[1]) < _STILL_MM and abs(step[2]) * 50 < _STILL_MM:
                break
        return self._told(flat, (centre, angle), normal)

    def judged(self, flat: Flat, pose: Pose) -> Fit:
        """How well the side fits where it is said to lie, without moving it."""
        return self._told(flat, (np.array(centre_of(pose, self.size_mm)), pose.angle_deg), np.eye(3))

    def _explained(self, cells: Floats, weights: Floats, tolerant: float) -> tuple[Floats, Floats, Floats]:
        """Colours of dark, white and ink that explain the cells best, what is left over, and new weights."""
        weighted = self._basis * weights[:, None]
        matrix = weighted.T @ self._basis + 1e-3 * np.eye(self._basis.shape[1], dtype=np.float32)
        colours = np.linalg.solve(matrix.astype(np.float64), (weighted.T @ cells).astype(np.float64)).astype(
            np.float32
        )
        rest = cells - self._basis @ colours
        off = greatest(np.abs(rest))
        usual = max(3.0 * float(np.median(off)), tolerant * float(np.abs(colours[1]).max())) + 1.0
        return (
            colours,
            np.asarray(rest, np.float32),
            np.asarray(1.0 / (1.0 + (off / usual) ** 2) ** 2, np.float32),
        )

    def _step(
        self, colours: Floats, rest: Floats, weights: Floats
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        px, py = self._places
        normal, pull = np.zeros((3, 3)), np.zeros(3)
        for channel in range(3):
            gx = colours[1, channel] * self._slopes[0][0]
            gy = colours[1, channel] * self._slopes[0][1]
            if self._is_inked:
                gx = gx + colours[2, channel] * self._slopes[1][0]
                gy = gy + colours[2, channel] * self._slopes[1][1]
            slope = np.stack([gx, gy, gy * px - gx * py], axis=1)
            weighted = slope * weights[:, None]
            normal += weighted.T @ slope
            pull += weighted.T @ rest[:, channel]
        normal += np.diag(np.diag(normal)) * 0.01 + 1e-6 * np.eye(3)
        step = -np.linalg.solve(normal, pull)
        step[:2] *= min(1.0, 1.5 / max(float(np.hypot(step[0], step[1])), 1e-9))
        step[2] = np.clip(step[2], -0.05, 0.05)
        return np.asarray(step, np.float64), normal

    def _told(
        self, flat: Flat, where: tuple[NDArray[np.float64], float],
        normal: NDArray[np.float64],
    ) -> Fit:  # fmt: skip
        centre, angle = where
        pose = pose_about((float(centre[0]), float(centre[1])), angle, self.size_mm)
        cells = sampled(flat, pose, self.size).reshape(-1, 3)[self._at]
        weights = np.ones(len(self._at), np.float32)
        for _ in range(3):
            colours, rest, weights = self._explained(cells, weights, _TOLERANT[1])
        white = float(np.abs(colours[1]).mean()) + 1e-3
        total = float(weights.sum()) + 1e-6
        spread = float(np.sqrt((weights[:, None] * rest**2).sum() / (3 * total)))
        # Neighbouring cells err alike, so there is less to go by than cells.
        doubt = np.linalg.inv(normal) * spread**2 * 4.0
        dark = colours[0]
        ink = dark + colours[2] if self._is_inked else dark + colours[1]
        sure_mm, sure_deg = (
            float(np.sqrt(max(doubt[0, 0], doubt[1, 1]))),
            float(np.degrees(np.sqrt(doubt[2, 2]))),
        )
        return Fit(
            pose, sure_mm, sure_deg, spread / white, total / max(len(weights), 1), _bgr(ink), _bgr(dark + colours[1]),
            _bgr(dark),
        )  # fmt: skip


def _bgr(colour: Floats) -> tuple[float, float, float]:
    return (float(colour[0]), float(colour[1]), float(colour[2]))
