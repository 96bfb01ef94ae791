"""Has the table come to rest, and where? Asked of a small grey picture, thirty times a second.

The picture is cut into cells; a cell that changes more than the camera's own noise moves. What all cells do alike
(the lamp flickers, the camera sets its exposure) is no movement. Each cell rests for itself, so that a hand which
fidgets at one edge does not keep the dice at the other from being read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

State = Literal["moving", "rested"]
Mask = NDArray[np.bool_]
WIDTH_PX = 240  # of the small picture
CELL_PX = 8  # of the small picture
_FLOOR = 2.0  # grey levels: a quieter camera than this is not believed
_OVER_NOISE = 5.0
_SLIDE = 1.5  # times the limit: change since a cell's rest began that is movement
_ENOUGH = 0.1  # share of the watched cells that must rest to tell what the light does
_BESIDE = np.ones((3, 3), np.uint8)
_MOVING = -1  # in place of the instant since which a cell is still


@dataclass(frozen=True)
class Calm:
    """Where one picture is at rest, cell by cell, (rows, columns).

    `state`: ``rested`` when every watched cell rests. `still`: the cell rests (or is not watched). `stirred`: it,
    or a cell beside it, moved in this very picture. `lively`: it did so a moment ago.
    `grey`: how bright it is, less what the light did to all since the gate began; nan where it is not watched.
    """

    state: State
    still: Mask
    stirred: Mask
    lively: Mask
    grey: NDArray[np.float32]

    def is_settling(self) -> bool:
        """Whether somewhere all movement has ended and rest is near: what lies there will be told with the rest."""
        count, parts = cv2.connectedComponents((~self.still).astype(np.uint8), connectivity=8)
        return len(np.unique(parts[self.lively & ~self.still])) < count - 1


def small_grey(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A BGR or grey picture as grey, WIDTH_PX wide, for `SettleGate.step`."""
    height, width = frame.shape[:2]
    size = (WIDTH_PX, max(CELL_PX, round(height * WIDTH_PX / width)))
    shrunk = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
    return np.asarray(shrunk if shrunk.ndim == 2 else cv2.cvtColor(shrunk, cv2.COLOR_BGR2GRAY), np.uint8)


class SettleGate:
    """Tells movement from rest. `rest_ns`: how long nothing may move before a place counts as rested."""

    def __init__(self, rest_ns: int = 300_000_000) -> None:
        self._rest_ns = rest_ns
        self._before: NDArray[np.float32] | None = None
        self._since: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._still_ns: NDArray[np.int64] = np.zeros((0, 0), np.int64)
        self._light = 0.0  # grey levels: how much brighter all is than when the gate began
        self._noise = _FLOOR

    def step(self, frame_small: NDArray[np.uint8], t_ns: int, where: Mask | None = None) -> Calm:
        """One picture (H, W) uint8 taken at `t_ns` of any steady clock.

        `where`: (H, W), the part to watch; None: all. The picture is held against the one before and against
        the first of each cell's rest, so that a slow slide is seen too. Another size begins anew.
        """
        cells = _cells(frame_small, where)
        watched = np.isfinite(cells)
        before, self._before = self._before, cells
        if before is None or before.shape != cells.shape:
            self._since, self._light = cells, 0.0
            self._still_ns = np.full(cells.shape, _MOVING, np.int64)
            return Calm("moving", ~watched, watched, watched, cells)
        moved = self._moved(cells, before)
        self._still_ns = np.where(
            moved, _MOVING, np.where(self._still_ns == _MOVING, t_ns, self._still_ns)
        ).astype(np.int64)
        is_moving, since_ns = self._still_ns == _MOVING, t_ns - self._still_ns
        restless = watched & (is_moving | (since_ns < self._rest_ns))
        lively = watched & (is_moving | (since_ns < self._rest_ns / 2))
        return Calm(
            "moving" if restless.any() else "rested",
            ~restless,
            moved & watched,
            lively,
            (cells - self._light).astype(np.float32),
        )

    def _moved(self, cells: NDArray[np.float32], before: NDArray[np.float32]) -> Mask:
        """The cells that changed since the picture before, or since their rest began, and those beside them."""
        jump, noise = _common(cells - before)
        self._noise += 0.1 * (noise - self._noise)
        limit = max(_FLOOR, _OVER_NOISE * self._noise)
        # What the light did since each rest began is told by all that rest; a new rest is noted without it.
        slid = cells - self._since
        resting = np.isfinite(slid) & (self._still_ns != _MOVING)
        enough = resting.sum() >= _ENOUGH * np.isfinite(cells).sum()
        self._light = float(np.median(slid[resting])) if enough else self._light + jump
        moved = (np.abs(cells - before - jump) > limit) | (np.abs(slid - self._light) > _SLIDE * limit)
        moved |= np.isfinite(cells) & ~np.isfinite(self._since)  # watched from now on
        # Beside what moved, a little of it may show that stays below the limit: that is where rest begins anew too.
        moved = cv2.dilate(moved.astype(np.uint8), _BESIDE) > 0
        self._since = np.where(moved, cells - self._light, self._since).astype(np.float32)
        return np.asarray(moved, np.bool_)


def _common(change: NDArray[np.float32]) -> tuple[float, float]:
    """(what all cells changed by, how much a usual cell changed beside that) in grey levels."""
    told = change[np.isfinite(change)]
    if told.size == 0:
        return 0.0, 0.0
    common = float(np.median(told))
    return common, float(np.median(np.abs(told - common)))


def _cells(grey: NDArray[np.uint8], where: Mask | None) -> NDArray[np.float32]:
    """Mean grey of each cell, (rows, columns); nan where it is not watched."""
    size = (max(1, grey.shape[1] // CELL_PX), max(1, grey.shape[0] // CELL_PX))
    cells = np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.float32)
    if where is not None:
        share = cv2.resize(where.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        cells = np.where(share > 0.5, cells, np.float32("nan"))
    return cells
