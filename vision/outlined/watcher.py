"""A camera's eye, or a folder's, on one table of overlapping cards: what was laid, bumped and taken away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from companion.core.geometry import Pose
from companion.core.observation import CameraChanged, CardChanged, CardHeld, Observed, TableStirred
from vision.frame import Frame
from vision.outlined.changes import Change, Changes, Lies, Look
from vision.outlined.plane import NoPlaneError, Plane, laid_flat
from vision.outlined.reading import CardRead, CardReader
from vision.settle import SettleGate, small_grey
from vision.surface import Marks, NoSurfaceError, calibrate, find_markers

PlaneFinder = Callable[[Frame], Plane]
"""Finds where the table is in a picture. Raises NoPlaneError with what to do."""
_AGAIN_NS = 700_000_000
"""So long after a picture that was not of a settled table the next is looked at, while nothing moves."""


def by_markers(marks: Marks) -> PlaneFinder:
    """The table between its four markers."""

    def find(frame: Frame) -> Plane:
        try:
            surface = calibrate(find_markers(frame, marks.family), marks, (frame.shape[1], frame.shape[0]))
        except NoSurfaceError as error:
            raise NoPlaneError(str(error)) from error
        return Plane(surface.to_px, surface.size_mm, 0.3)

    return find


class CardWatcher:
    """Feed it the pictures of one table in order: `step` those of a camera or film, `settled` those of which each is an
    instant. `find_plane`: where the table is; it is asked once, and anew when pictures change their size.
    """

    def __init__(
        self, source: str, reader: CardReader, find_plane: PlaneFinder, *, gate: SettleGate | None = None
    ) -> None:
        self.source = source
        self._reader = reader
        self._find_plane = find_plane
        self._gate = gate or SettleGate()
        self._changes = Changes(reader)
        self._shape: tuple[int, ...] | None = None
        self._is_rested = False
        self._looked_ns: int | None = None
        self._blind: str | None = None
        self.plane: Plane | None = None
        self.last: Look | None = None

    @property
    def lying(self) -> tuple[Lies, ...]:
        """The cards as they lay at the last settled picture, in the order in which they came."""
        return self._changes.lying

    def step(self, frame: Frame, seen_ns: int, uncertainty_ns: int, number: int) -> list[Observed]:
        """What follows from this frame (uint8 BGR) of a camera: cards are looked at once all has come to rest, and
        again while something that is no card lies there; then what a hand holds is told too."""
        calm = self._gate.step(small_grey(frame), seen_ns)
        if calm.state != "rested":
            was_rested, self._is_rested, self._looked_ns = self._is_rested, False, None
            times = {"seen_ns": seen_ns, "uncertainty_ns": uncertainty_ns}
            return [TableStirred(source=self.source, frame=number, **times)] if was_rested else []
        is_due = self._looked_ns is not None and seen_ns - self._looked_ns >= _AGAIN_NS
        if self._is_rested or not (self._looked_ns is None or is_due):
            return []
        self._looked_ns = seen_ns
        told = self.settled(frame, seen_ns, uncertainty_ns, number)
        self._is_rested = self.last is not None and self.last.is_settled
        held = self.last.held if self.last is not None else ()
        return [*told, *(self._held(read, number, seen_ns, uncertainty_ns) for read in held)]

    def settled(self, frame: Frame, seen_ns: int, uncertainty_ns: int, number: int) -> list[Observed]:
        """What follows from this picture (uint8 BGR) of a table that nobody touches; nothing where a hand is over it:
        then `last` is not settled."""
        if frame.shape != self._shape:
            self._shape, self.plane, self._changes = frame.shape, None, Changes(self._reader)
        told: list[Observed] = []
        times = {"seen_ns": seen_ns, "uncertainty_ns": uncertainty_ns}
        self.last = None
        if self.plane is None:
            try:
                self.plane, blind = self._find_plane(frame), ""
            except NoPlaneError as error:
                blind = str(error)
            if blind != self._blind:
                self._blind = blind
                state = "blind" if blind else "live"
                told.append(CameraChanged(source=self.source, state=state, detail=blind, **times))
            if self.plane is None:
                return told
        self.last = self._changes.look(laid_flat(frame, self.plane))
        said = [self._said(change, number, seen_ns, uncertainty_ns) for change in self.last.changes]
        return told + said

    def _held(self, read: CardRead, number: int, seen_ns: int, uncertainty_ns: int) -> CardHeld:
        return CardHeld(
            source=self.source, seen_ns=seen_ns, uncertainty_ns=uncertainty_ns, frame=number,
            candidates=read.candidates, colour=read.colour, flipped=read.flipped, pose=_rounded(read.pose),
            u_mm=read.u_mm,
        )  # fmt: skip

    def _said(self, change: Change, number: int, seen_ns: int, uncertainty_ns: int) -> CardChanged:
        read = change.card.read
        plane_mm = self.plane.u_mm if self.plane is not None else 0.0
        return CardChanged(
            source=self.source, seen_ns=seen_ns, uncertainty_ns=uncertainty_ns, frame=number, change=change.kind,
            n=change.card.n, card=read.card, colour=read.colour, flipped=read.flipped,
            pose=_rounded(read.pose),
            u_mm=round(float(np.hypot(read.u_mm, plane_mm)), 3), u_deg=read.u_deg, confidence=read.confidence,
            candidates=read.candidates, moved_mm=change.moved_mm,
        )  # fmt: skip


def _rounded(pose: Pose) -> Pose:
    return Pose(round(pose.x_mm, 3), round(pose.y_mm, 3), round(pose.angle_deg, 3))
