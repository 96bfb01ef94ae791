"""From frames to observations: each rest of the table is read by several still frames and reported once."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import CameraChanged, DiceRested, DieSeen, Observed, TableStirred
from vision.dice.reader import Reader, Reading, Rereader
from vision.dice.voting import vote
from vision.evidence import RestPictures
from vision.restless import boxes_px, covered, told_as_moving
from vision.settle import Calm, Mask, SettleGate, small_grey
from vision.surface import Marks, NoSurfaceError, Surface, calibrate, find_markers, follow

PARTLY_NS = 700_000_000
"""The least time between two tellings of a table that is not wholly at rest."""
_VISIT_NS = 350_000_000
_LANDS_NS = 500_000_000
_WATCH_MARGIN_MM = 10.0
_SAME_GREY = 4.0  # levels: a place that differs by less looks as it did
_LEAST_CELLS = 2  # of the settle gate: fewer that came to rest are noise


class Watcher:
    """One camera's eye on one table. Feed it every frame that is worth looking at, in order.

    `marks`: the table has corner markers, so places in mm are told; they are looked for once a rest.
    `votes`: how many still frames are read; up to two more when they do not agree. `reader` None: only rest
    and stirring. `kept` gets the picture of each rest that shows dice.

    The whole table is told once a rest. While something keeps moving, the parts that came to rest are told at most
    every PARTLY_NS, with where it still moves.
    """

    def __init__(
        self,
        source: str,
        reader: Reader | None,
        marks: Marks | None = None,
        *,
        votes: int = 3,
        gate: SettleGate | None = None,
        kept: RestPictures | None = None,
    ) -> None:
        self._source = source
        self._reader = reader
        self._marks = marks
        self._votes = votes
        self._gate = gate or SettleGate()
        self._kept = kept
        self._layouts: tuple[Placed, ...] = ()
        self._where: Mask | None = None
        self._vote: _Vote | None = None
        self._untold: Mask | None = None  # cells that moved since they were told, None for all
        self._told_ns: int | None = None
        self._waits_ns: int | None = None  # since when a part could be told
        self._told_grey: NDArray[np.float32] | None = (
            None  # of each cell as it was when it was told, nan for never
        )
        self._is_reported = False  # the whole table, and nothing moved since
        self._blind: str | None = None
        self._shape: tuple[int, ...] | None = None  # of the pictures
        self.surface: Surface | None = None

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Which printed things lie where. A table at rest is read again when they changed."""
        if layouts != self._layouts:
            self._layouts = layouts
            self._begin_anew()

    def set_reader(self, reader: Reader | None) -> None:
        """Read by another reader from the next frame on; a table at rest is read again."""
        self._reader = reader
        self._begin_anew()

    def step(
        self, frame: NDArray[np.uint8], seen_ns: int, uncertainty_ns: int, number: int
    ) -> list[Observed]:
        """What follows from this BGR frame, in order. `seen_ns` is host time; `number` counts the camera's
        frames. A picture of another size begins anew."""
        if frame.shape != self._shape:
            self._shape, self.surface, self._where = frame.shape, None, None
            self._begin_anew()
        small = small_grey(frame)
        calm = self._gate.step(small, seen_ns, self._where)
        if self._untold is None:
            self._untold = np.ones_like(calm.still)
        if self._told_grey is None:
            self._told_grey = np.full(calm.still.shape, np.nan, np.float32)
        self._untold |= calm.stirred
        stamp = _Stamp(seen_ns, uncertainty_ns, number)
        told: list[Observed] = []
        if calm.stirred.any() and self._is_reported:
            self._is_reported = False
            told.append(TableStirred(source=self._source, frame=number, **stamp.times()))
        if self._vote is not None and not self._vote.goes_on(calm):
            self._vote = None
        if self._vote is None:
            is_same = np.abs(calm.grey - self._told_grey) < _SAME_GREY
            if not self._is_ready(calm, self._untold, is_same, seen_ns):
                return told
            self._vote = _Vote(stamp, self._untold & calm.still, calm)
            if calm.state == "rested" or self.surface is None:
                told += self._find_surface(frame, small.shape, stamp)
        return told + self._look(frame, self._vote)

    def _begin_anew(self) -> None:
        self._untold = self._vote = self._told_ns = self._told_grey = None
        self._is_reported = False

    def _is_ready(self, calm: Calm, untold: Mask, is_same: Mask, seen_ns: int) -> bool:
        """Whether something rests that was not told as it lies now. While anything moves, a place that looks as it
        did when it was told (a hand went over it) is not looked at again."""
        if calm.state == "rested":
            return bool(untold.any())
        is_due = self._told_ns is None or seen_ns - self._told_ns >= PARTLY_NS
        if self._reader is None or not is_due or (untold & calm.still & ~is_same).sum() < _LEAST_CELLS:
            self._waits_ns = None
            return False
        if self._waits_ns is None:
            self._waits_ns = seen_ns
        # A hand that only comes and goes is waited for, and a throw does not land all at once; but what always
        # flickers somewhere is not waited for.
        waited_ns = seen_ns - self._waits_ns
        return waited_ns >= (_LANDS_NS if calm.is_settling() else _VISIT_NS)

    def _look(self, frame: NDArray[np.uint8], ballot: _Vote) -> list[Observed]:
        """One more still frame is read; tells when enough were."""
        if self._reader is None:
            return [self._report(ballot, (), (), frame)]
        reader = self._reader
        look = reader.again if ballot.readings and isinstance(reader, Rereader) else reader.read
        ballot.readings.append(look(frame, self.surface, self._layouts))
        dice, flags, agreed = vote(ballot.readings)
        if len(ballot.readings) < self._votes + (0 if agreed else 2):
            return []
        return [self._report(ballot, dice, flags, frame)]

    def _report(
        self, ballot: _Vote, dice: tuple[DieSeen, ...], flags: tuple[str, ...], frame: NDArray[np.uint8]
    ) -> DiceRested:
        still, size = ballot.still, (frame.shape[1], frame.shape[0])
        is_whole = bool(still.all())
        self._vote = None
        self._is_reported = is_whole
        self._told_ns = ballot.stamp.seen_ns
        if self._untold is not None:
            self._untold &= ~still
        if self._told_grey is not None:
            self._told_grey = np.where(still, ballot.grey, self._told_grey)
        if self._kept is not None and dice:
            self._kept.keep(ballot.stamp.number, frame)
        return DiceRested(
            source=self._source,
            frame=ballot.stamp.number,
            dice=dice if is_whole else told_as_moving(dice, still, size),
            flags=flags,
            restless_px=() if is_whole else boxes_px(still, size),
            covered=() if is_whole else covered(self._layouts, still, self.surface),
            **ballot.stamp.times(),
        )

    def _find_surface(
        self, frame: NDArray[np.uint8], small_shape: tuple[int, ...], stamp: _Stamp
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
                source=self._source, state="blind" if blind else "live", detail=blind, **stamp.times()
            )
        ]


class _Times(TypedDict):
    seen_ns: int
    uncertainty_ns: int


class _Stamp(NamedTuple):
    """When a frame was taken, and its number."""

    seen_ns: int
    uncertainty_ns: int
    number: int

    def times(self) -> _Times:
        return {"seen_ns": self.seen_ns, "uncertainty_ns": self.uncertainty_ns}


class _Vote:
    """Readings of the same rest. `stamp`: of its first frame; `still`: what has rested in all its frames."""

    def __init__(self, stamp: _Stamp, of: Mask, calm: Calm) -> None:
        self.stamp = stamp
        self.still = calm.still
        self.grey = calm.grey
        self.readings: list[Reading] = []
        self._of = of

    def goes_on(self, calm: Calm) -> bool:
        """Whether what the vote is about still rests for the most part; notes what does not."""
        self.still = self.still & calm.still
        return bool(2 * (self._of & self.still).sum() > self._of.sum())


def _table_mask(surface: Surface, small_shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """(H, W) of the small picture: True on the marked rectangle and a little around it."""
    (width, height), edge = surface.size_mm, _WATCH_MARGIN_MM
    corners = [(-edge, -edge), (width + edge, -edge), (width + edge, height + edge), (-edge, height + edge)]
    scale = small_shape[1] / surface.picture_size[0]
    outline = np.array([surface.px(corner) for corner in corners]) * scale
    mask = np.zeros(small_shape, np.uint8)
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 1)
    return mask.astype(np.bool_)
