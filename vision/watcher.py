"""From frames to observations: each rest of the table is read by several still frames and reported once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import CameraChanged, DiceRested, DieSeen, Observed, TableStirred
from vision.settle import SettleGate, small_grey
from vision.surface import Marks, NoSurfaceError, Surface, calibrate, find_markers, follow

_WATCH_MARGIN_MM = 10.0


class Reading(Protocol):
    """What a reader saw in one picture."""

    @property
    def dice(self) -> tuple[DieSeen, ...]: ...

    @property
    def flags(self) -> tuple[str, ...]: ...


class Reader(Protocol):
    """Reads the dice of one still BGR picture (H, W, 3) uint8."""

    def read(
        self, frame: NDArray[np.uint8], surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading: ...


@runtime_checkable
class Rereader(Protocol):
    """A reader that looks at one more frame of a still table faster than at the first."""

    def again(
        self, frame: NDArray[np.uint8], surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading: ...


class Watcher:
    """One camera's eye on one table. Feed it every frame that is worth looking at, in order.

    `marks`: the table has corner markers, so places in mm are told; they are looked for once a rest.
    `votes`: how many still frames are read; up to two more when they do not agree. `reader` None: only rest
    and stirring.
    """

    def __init__(
        self,
        source: str,
        reader: Reader | None,
        marks: Marks | None = None,
        *,
        votes: int = 3,
        gate: SettleGate | None = None,
    ) -> None:
        self._source = source
        self._reader = reader
        self._marks = marks
        self._votes = votes
        self._gate = gate or SettleGate()
        self._layouts: tuple[Placed, ...] = ()
        self._where: NDArray[np.bool_] | None = None
        self._readings: list[Reading] = []
        self._first: tuple[int, int, int] | None = (
            None  # seen_ns, uncertainty_ns, number of the first still frame
        )
        self._is_reported = False
        self._blind: str | None = None
        self.surface: Surface | None = None

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Which printed things lie where. A table at rest is read again when they changed."""
        if layouts != self._layouts:
            self._layouts = layouts
            self._is_reported = False
            self._readings.clear()
            self._first = None

    def step(
        self, frame: NDArray[np.uint8], seen_ns: int, uncertainty_ns: int, number: int
    ) -> list[Observed]:
        """What follows from this BGR frame, in order. `seen_ns` is host time; `number` counts the camera's
        frames."""
        small = small_grey(frame)
        if self._gate.step(small, seen_ns, self._where) == "moving":
            return self._stir(seen_ns, uncertainty_ns, number)
        if self._is_reported:
            return []
        told: list[Observed] = []
        if self._first is None:
            self._first = (seen_ns, uncertainty_ns, number)
            told += self._find_surface(frame, small.shape, seen_ns, uncertainty_ns)
        if self._reader is None:
            return told + self._report((), ())
        reader = self._reader
        look = reader.again if self._readings and isinstance(reader, Rereader) else reader.read
        self._readings.append(look(frame, self.surface, self._layouts))
        dice, flags, agreed = vote(self._readings)
        if len(self._readings) >= self._votes + (0 if agreed else 2):
            told += self._report(dice, flags)
        return told

    def _stir(self, seen_ns: int, uncertainty_ns: int, number: int) -> list[Observed]:
        self._readings.clear()
        self._first = None
        if not self._is_reported:
            return []
        self._is_reported = False
        return [
            TableStirred(source=self._source, seen_ns=seen_ns, uncertainty_ns=uncertainty_ns, frame=number)
        ]

    def _report(self, dice: tuple[DieSeen, ...], flags: tuple[str, ...]) -> list[Observed]:
        if self._first is None:
            return []
        self._is_reported = True
        seen_ns, uncertainty_ns, number = self._first
        return [
            DiceRested(
                source=self._source,
                seen_ns=seen_ns,
                uncertainty_ns=uncertainty_ns,
                frame=number,
                dice=dice,
                flags=flags,
            )
        ]

    def _find_surface(
        self, frame: NDArray[np.uint8], small_shape: tuple[int, ...], seen_ns: int, uncertainty_ns: int
    ) -> list[Observed]:
        if self._marks is None:
            return []
        markers = find_markers(frame, self._marks.family)
        size = (frame.shape[1], frame.shape[0])
        before = self.surface
        try:
            if before is None or before.picture_size != size:
                self.surface = calibrate(markers, self._marks, size)
            else:
                self.surface = follow(before, markers, self._marks)
            blind = ""
        except NoSurfaceError as error:
            blind = str(error)
        if self.surface is not None and self.surface is not before:
            self._where = _table_mask(self.surface, small_shape)
        if blind == self._blind:
            return []
        self._blind = blind
        return [
            CameraChanged(
                source=self._source,
                seen_ns=seen_ns,
                uncertainty_ns=uncertainty_ns,
                state="blind" if blind else "live",
                detail=blind,
            )
        ]


def vote(readings: Sequence[Reading]) -> tuple[tuple[DieSeen, ...], tuple[str, ...], bool]:
    """(dice, flags, whether all readings agree) of several readings of the same still table.

    A die counts when most readings see it; its value is the one that most of those give, else None for
    ``margin``. Its confidence falls with every reading that says otherwise.
    """
    groups: list[list[DieSeen]] = []
    for reading in readings:
        for die in reading.dice:
            group = next((group for group in groups if _is_same(group[0], die)), None)
            if group is None:
                groups.append([die])
            else:
                group.append(die)
    dice, agreed = [], True
    for group in groups:
        if 2 * len(group) <= len(readings):
            agreed = False
            continue
        (value, count), *_ = Counter(die.value for die in group).most_common(1)
        agreed = agreed and count == len(readings)
        chosen = next(die for die in group if die.value == value)
        confidence = sum(die.confidence for die in group if die.value == value) / len(readings)
        if 2 * count <= len(group):
            dice.append(msgspec.structs.replace(chosen, value=None, reason="margin", confidence=confidence))
        else:
            dice.append(msgspec.structs.replace(chosen, confidence=confidence))
    flags = Counter(flag for reading in readings for flag in reading.flags)
    kept = tuple(flag for flag, count in flags.items() if 2 * count > len(readings))
    return tuple(dice), kept, agreed


def _is_same(one: DieSeen, other: DieSeen) -> bool:
    """Whether both are the same die: their boxes' centres are nearer than half a box."""
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = one.box_px, other.box_px
    apart = max(abs(ax0 + ax1 - bx0 - bx1), abs(ay0 + ay1 - by0 - by1)) / 2
    return apart < max(ax1 - ax0, ay1 - ay0, bx1 - bx0, by1 - by0) / 2


def _table_mask(surface: Surface, small_shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """(H, W) of the small picture: True on the marked rectangle and a little around it."""
    (width, height), edge = surface.size_mm, _WATCH_MARGIN_MM
    corners = [(-edge, -edge), (width + edge, -edge), (width + edge, height + edge), (-edge, height + edge)]
    scale = small_shape[1] / surface.picture_size[0]
    outline = np.array([surface.px(corner) for corner in corners]) * scale
    mask = np.zeros(small_shape, np.uint8)
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 1)
    return mask.astype(np.bool_)
