"""Several pictures of a board that lies still, taken as one: what a camera's sensor adds by chance is in none twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame

PICTURES = 5
WAIT_NS = 400_000_000
"""A camera that gives fewer pictures in this time is not waited for."""


class Stills:
    """Takes up pictures of one rest, uint8 BGR (H, W, 3) of one size."""

    def __init__(self) -> None:
        self._sum: NDArray[np.uint32] | None = None
        self._count = 0
        self._since_ns = 0

    def add(self, frame: Frame, seen_ns: int) -> None:
        """One more. `seen_ns` is host time."""
        if self._sum is None:
            self._sum, self._since_ns = np.zeros(frame.shape, np.uint32), seen_ns
        self._sum += frame
        self._count += 1

    def is_enough(self, now_ns: int) -> bool:
        """Whether no more pictures are waited for."""
        return self._count >= PICTURES or (self._count > 0 and now_ns - self._since_ns >= WAIT_NS)

    def picture(self) -> Frame:
        """The mean of all. Raises ValueError where there are none."""
        if self._sum is None:
            raise ValueError("no picture was taken up")
        return np.asarray((self._sum + self._count // 2) // self._count, np.uint8)
