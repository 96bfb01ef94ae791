"""What the camera saw, kept as JPEG: the last seconds, and the last rests."""

from __future__ import annotations

import threading
from collections import deque

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.encoding import jpeg, png
from vision.frame import decode
from vision.learn import crop_around

Stamped = tuple[int, bytes]
"""(host ns, JPEG bytes) of one frame."""

_QUALITY = 80
_SHARP = 95  # where a face is to be learnt from it


class EvidenceRing:
    """The newest frames, oldest first, at most `max_bytes` and at most `keep_ns` long; safe between threads.

    Frames are thinned to `fps` and shrunk to `max_width` px.
    """

    def __init__(
        self,
        *,
        fps: float = 15.0,
        max_width: int = 1280,
        max_bytes: int = 40_000_000,
        keep_ns: int = 20_000_000_000,
    ) -> None:
        # A little under the period, lest a camera of exactly this rate loses every second frame to jitter.
        self._gap_ns = int(0.9e9 / fps)
        self._max_width = max_width
        self._max_bytes = max_bytes
        self._keep_ns = keep_ns
        self._frames: deque[Stamped] = deque()
        self._bytes = 0
        self._lock = threading.Lock()

    def offer(self, frame: NDArray[np.uint8], t_ns: int) -> None:
        """Keeps a BGR frame taken at `t_ns`, unless the one before is too near."""
        with self._lock:
            if self._frames and t_ns - self._frames[-1][0] < self._gap_ns:
                return
        data = encode(frame, self._max_width)
        with self._lock:
            self._frames.append((t_ns, data))
            self._bytes += len(data)
            while self._frames and (
                self._bytes > self._max_bytes or t_ns - self._frames[0][0] > self._keep_ns
            ):
                self._bytes -= len(self._frames.popleft()[1])

    def between(self, from_ns: int, to_ns: int) -> list[Stamped]:
        """The kept frames taken in [from_ns, to_ns], oldest first."""
        with self._lock:
            return [kept for kept in self._frames if from_ns <= kept[0] <= to_ns]

    def size_bytes(self) -> int:
        """How much the kept frames take."""
        with self._lock:
            return self._bytes


class RestPictures:
    """The pictures of the last rests, by number of their frame, whole and sharp, so that a die can be looked at
    again; at most `most` and `max_bytes`. Safe between threads."""

    def __init__(self, most: int = 30, max_bytes: int = 24_000_000) -> None:
        self._most, self._max_bytes = most, max_bytes
        self._kept: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def keep(self, number: int, frame: NDArray[np.uint8]) -> None:
        """Keeps a BGR frame; the oldest make room."""
        data = jpeg(frame, _SHARP)
        with self._lock:
            self._kept[number] = data
            while len(self._kept) > self._most or sum(map(len, self._kept.values())) > self._max_bytes:
                del self._kept[next(iter(self._kept))]

    def face(self, number: int, box_px: tuple[int, int, int, int]) -> bytes | None:
        """The die in this box of that frame with what is around it, as `vision.learn.crop_around` cuts it, as PNG;
        None when the frame is not kept any more."""
        with self._lock:
            data = self._kept.get(number)
        if data is None:
            return None
        return png(crop_around(decode(data), box_px))


def encode(frame: NDArray[np.uint8], max_width: int) -> bytes:
    """A BGR frame as JPEG, shrunk to at most `max_width` px."""
    if frame.shape[1] > max_width:
        height = round(frame.shape[0] * max_width / frame.shape[1])
        frame = np.asarray(cv2.resize(frame, (max_width, height), interpolation=cv2.INTER_AREA), np.uint8)
    return jpeg(frame, _QUALITY)
