"""Dice that roll by towers: how near each came, in the frames between two rests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame
from vision.towers.colours import likeliest_owner
from vision.towers.marks import BoardMarks
from vision.towers.poses import BoardPose, TowerAt

Floats = NDArray[np.float64]

_WORK_PX = 900  # long side of the picture in which movement is looked for
_CHANGE = 38.0  # levels, summed over the channels, that are movement
_DIE_MM = (9.0, 42.0)  # across, of what may be a rolling die, a blur along its way included
_HALF_MM = 9.0  # of a die
_HIGH_MM = 9.0  # of its middle over the board
_STEP_MM = 90.0  # that a die rolls from one frame to the next at most
_U_MM = 5.0
_LEAST_CHANCE = 0.5
_HAND_MM = 60.0
_OTHER_LIGHT = 0.45  # share of the picture that differs when the light does


@dataclass(frozen=True)
class Near:
    """A die of `owner` came within `gap_mm` of a tower's foot at `at_ns`, in frame `frame`."""

    tag: int
    owner: str
    gap_mm: float
    u_mm: float
    at_ns: int
    frame: int


@dataclass
class _Track:
    owner: str
    xy_mm: tuple[float, float]


class RollWatch:
    """Follows what moves on a board that lay still a moment ago. `frame`s are uint8 BGR, all of one size."""

    def __init__(
        self, still: Frame, pose: BoardPose, marks: BoardMarks, owners: Mapping[str, Floats]
    ) -> None:
        self._scale = min(1.0, _WORK_PX / max(still.shape[:2]))
        self._still = self._small(still).astype(np.int16)
        self._pose, self._marks, self._owners = pose, marks, owners
        self._tracks: list[_Track] = []
        self._nearest: dict[tuple[int, str], Near] = {}

    def _small(self, frame: Frame) -> Frame:
        small = cv2.resize(frame, None, fx=self._scale, fy=self._scale, interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.GaussianBlur(small, (0, 0), 0.8), np.uint8)

    def _moved(self, small: Frame) -> NDArray[np.uint8]:
        """(H, W), 1 where the small picture differs from the board that lay still."""
        moved = (np.abs(small.astype(np.int16) - self._still).sum(2) > _CHANGE).astype(np.uint8)
        return np.asarray(cv2.morphologyEx(moved, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), np.uint8)

    def has_hand(self, frame: Frame) -> bool:
        """Whether something large reaches into the picture from its rim that was not there when the board lay still."""
        moved = self._moved(self._small(frame))
        if moved.mean() > _OTHER_LIGHT:
            return False
        _, _, stats, _ = cv2.connectedComponentsWithStats(moved, connectivity=8)
        rows, columns = moved.shape
        for x, y, wide, high, area in stats[1:].tolist():
            ends = np.array([(x, y), (x + wide, y + high)]) / self._scale
            first, last = self._pose.camera.mm(ends, 0.0)
            across = np.abs(last - first)
            at_rim = x == 0 or y == 0 or x + wide == columns or y + high == rows
            if at_rim and float(across.max()) > _HAND_MM and area > 0.15 * wide * high:
                return True
        return False

    def step(self, frame: Frame, at_ns: int, number: int) -> None:
        """One more frame while something moves."""
        small = self._small(frame)
        moved = self._moved(small)
        fresh: list[_Track] = []
        for xy, owner in self._dice(small, moved):
            before = min(
                (
                    t
                    for t in self._tracks
                    if t.owner == owner and np.hypot(*np.subtract(t.xy_mm, xy)) < _STEP_MM
                ),
                key=lambda t: float(np.hypot(*np.subtract(t.xy_mm, xy))),
                default=None,
            )
            way = (xy, before.xy_mm) if before is not None else (xy,)
            self._note(way, owner, at_ns, number)
            fresh.append(_Track(owner, xy))
        self._tracks = fresh

    def _dice(self, small: Frame, moved: NDArray[np.uint8]) -> list[tuple[tuple[float, float], str]]:
        """(place in mm, owner) of what moves and is as large as a die."""
        found = []
        _, labels, stats, middles = cv2.connectedComponentsWithStats(moved, connectivity=8)
        for n in range(1, len(stats)):
            x, y, wide, high, area = (int(v) for v in stats[n])
            ends = np.array([(x, y), (x + wide, y + high)]) / self._scale
            left, right = self._pose.camera.mm(ends, _HIGH_MM)
            across = np.sort(np.abs(right - left))
            if not (_DIE_MM[0] < across[0] and across[1] < _DIE_MM[1]) or area < 0.3 * wide * high:
                continue
            part = labels[y : y + high, x : x + wide] == n
            colour = np.median(small[y : y + high, x : x + wide][part], axis=0).astype(np.float64)
            owner, chance = likeliest_owner(colour, self._owners)
            place = self._pose.camera.mm(np.array([middles[n]]) / self._scale, _HIGH_MM)[0]
            if chance >= _LEAST_CHANCE:
                found.append(((float(place[0]), float(place[1])), owner))
        return found

    def _note(self, way: Sequence[tuple[float, float]], owner: str, at_ns: int, number: int) -> None:
        for tower in self._pose.towers:
            gap = min(_gap_mm(tower, way, self._marks.tower.side_mm) - _HALF_MM, 1e6)
            key = (tower.tag, owner)
            if key not in self._nearest or gap < self._nearest[key].gap_mm:
                # Between two frames a die may have been nearer than in either.
                reach = 0.3 * float(np.hypot(*np.subtract(way[0], way[-1])))
                self._nearest[key] = Near(tower.tag, owner, gap, _U_MM + reach, at_ns, number)

    def near(self, most_mm: float) -> tuple[Near, ...]:
        """Who came within so many mm of a foreign tower, uncertainty counted, the nearest first."""
        found = [near for near in self._nearest.values() if near.gap_mm - near.u_mm <= most_mm]
        return tuple(sorted(found, key=lambda near: near.gap_mm))


def _gap_mm(tower: TowerAt, way: Sequence[tuple[float, float]], side_mm: float) -> float:
    """From a way (one place or a straight run) to a tower's foot, 0 within."""
    turn = np.radians(tower.heading_deg)
    cos, sin = np.cos(turn), np.sin(turn)
    ends = np.array([way[0], way[-1]]) - np.array(tower.xy_mm)
    own = ends @ np.array([(cos, -sin), (sin, cos)])
    points = own[0] + np.linspace(0, 1, 9)[:, None] * (own[1] - own[0])
    out = np.maximum(np.abs(points) - side_mm / 2, 0.0)
    return float(np.hypot(out[:, 0], out[:, 1]).min())
