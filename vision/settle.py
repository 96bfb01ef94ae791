"""Has the table come to rest? Asked of a small grey picture, thirty times a second.

The picture is cut into cells; one cell that changes more than the camera's own noise means that something
moves there. What all cells do alike (the lamp flickers, the camera sets its exposure) is no movement.
"""

from __future__ import annotations

from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

State = Literal["moving", "rested"]
WIDTH_PX = 240  # of the small picture
_CELL_PX = 8
_FLOOR = 2.0  # grey levels: a quieter camera than this is not believed
_OVER_NOISE = 5.0


def small_grey(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A BGR or grey picture as grey, WIDTH_PX wide, for `SettleGate.step`."""
    height, width = frame.shape[:2]
    size = (WIDTH_PX, max(_CELL_PX, round(height * WIDTH_PX / width)))
    shrunk = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
    return np.asarray(shrunk if shrunk.ndim == 2 else cv2.cvtColor(shrunk, cv2.COLOR_BGR2GRAY), np.uint8)


class SettleGate:
    """Tells movement from rest. `rest_ns`: how long nothing may move before the table counts as rested."""

    def __init__(self, rest_ns: int = 300_000_000) -> None:
        self._rest_ns = rest_ns
        self._still_ns: int | None = None
        self._before: NDArray[np.float32] | None = None
        self._since: NDArray[np.float32] | None = None
        self._noise = _FLOOR

    def step(
        self, frame_small: NDArray[np.uint8], t_ns: int, where: NDArray[np.bool_] | None = None
    ) -> State:
        """One picture (H, W) uint8 taken at `t_ns` of any steady clock.

        `where`: (H, W), the part to watch; None: all. The picture is held against the one before and against
        the first of this rest, so that a slow slide is seen too.
        """
        cells = _cells(frame_small, where)
        before, since = self._before, self._since
        self._before = cells
        if before is None or since is None or before.shape != cells.shape:
            return self._stir(cells)
        change, noise = _change(cells, before)
        self._noise += 0.1 * (noise - self._noise)
        limit = max(_FLOOR, _OVER_NOISE * self._noise)
        if change > limit or _change(cells, since)[0] > 1.5 * limit:
            return self._stir(cells)
        if self._still_ns is None:
            self._still_ns = t_ns
        return "rested" if t_ns - self._still_ns >= self._rest_ns else "moving"

    def _stir(self, cells: NDArray[np.float32]) -> State:
        self._since = cells
        self._still_ns = None
        return "moving"


def _cells(grey: NDArray[np.uint8], where: NDArray[np.bool_] | None) -> NDArray[np.float32]:
    """Mean grey of each cell, (rows, columns); nan where it is not watched."""
    size = (max(1, grey.shape[1] // _CELL_PX), max(1, grey.shape[0] // _CELL_PX))
    cells = np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.float32)
    if where is not None:
        share = cv2.resize(where.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        cells = np.where(share > 0.5, cells, np.float32("nan"))
    return cells


def _change(cells: NDArray[np.float32], other: NDArray[np.float32]) -> tuple[float, float]:
    """(largest change of a cell, usual change of a cell) in grey levels, without what all cells have in
    common."""
    difference = (cells - other)[np.isfinite(cells) & np.isfinite(other)]
    if difference.size == 0:
        return 0.0, 0.0
    difference = np.abs(difference - np.median(difference))
    return float(difference.max()), float(np.median(difference))
