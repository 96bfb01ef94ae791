"""What runs inside a camera's own process: grab, keep evidence, watch, tell.

Three threads: one grabs without ever waiting for another, one looks at the newest frame only, and one
keeps the line to the parent, so that a long look is not taken for a dead process. What is not looked at is
counted as dropped; the evidence ring gets it all the same.
"""

from __future__ import annotations

import importlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NamedTuple, Protocol, runtime_checkable

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import CameraChanged, Observed
from vision.dice.reader import Reader
from vision.evidence import EvidenceRing, RestPictures, encode
from vision.surface import Marks

BEAT_S = 0.5
_LOST_AFTER_NS = 2_000_000_000
_STUCK_AFTER_NS = 15_000_000_000
_LOOK_NS = 10_000_000_000  # a look that takes longer has hung: then the beat stops and the parent starts anew
_LISTEN_S = 0.03
_log = logging.getLogger(__name__)
_REOPEN_S = (0.5, 1.0, 2.0, 4.0)


class SourceLostError(Exception):
    """The camera gives no more frames; the text says what to do. `is_over`: it never will again."""

    def __init__(self, detail: str, *, is_over: bool = False) -> None:
        super().__init__(detail)
        self.is_over = is_over


class Shot(NamedTuple):
    """A frame as grabbed: BGR (H, W, 3), host ns, its uncertainty, and the count of frames since the
    start."""

    frame: NDArray[np.uint8]
    seen_ns: int
    uncertainty_ns: int
    number: int


class Source(Protocol):
    """An opened camera."""

    def grab(self) -> tuple[NDArray[np.uint8], int, int] | None:
        """(frame, seen_ns, ns that taking it over took), None when there was none yet. Raises
        SourceLostError."""

    def close(self) -> None: ...


class Lookout(Protocol):
    """What looks at a camera's frames, one after the other."""

    def step(
        self, frame: NDArray[np.uint8], seen_ns: int, uncertainty_ns: int, number: int
    ) -> list[Observed]:
        """What follows from this BGR frame (H, W, 3), in order. `number` counts the camera's frames."""

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Which printed things lie where."""


@runtime_checkable
class Rests(Protocol):
    """A lookout that keeps pictures of what rested, and reads by files that may change."""

    @property
    def rests(self) -> RestPictures:
        """Where the pictures are kept."""

    def renew(self) -> None:
        """Take up the changed files. Raises whatever its readers do."""


class LookoutSpec(Protocol):
    """Says, as data that another process can be given, what shall look at a camera's frames."""

    @property
    def longest_look_s(self) -> float:
        """A look that takes longer has hung, however busy the machine is."""

    def lookout(self, name: str, marks: Marks | None) -> Lookout:
        """Made in the camera's own process. `name`: the camera's; `marks`: the table's markers."""


class ReaderSpec(msgspec.Struct, frozen=True):
    """Which reader the child builds: `factory` is ``module:function``, called with `paths`."""

    factory: str
    paths: tuple[str, ...] = ()

    def build(self) -> Reader:
        """The reader. Whatever its factory raises comes through."""
        module, _, name = self.factory.partition(":")
        reader: Reader = getattr(importlib.import_module(module), name)(self.paths)
        return reader


class EyeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How a camera is doing. `state`: ``starting``, ``live``, ``blind``, ``lost``, ``over``. `fps` over the
    last second, `frames` grabbed and `dropped` since its start, `size_px` (width, height), `seen_ns` of the
    newest frame."""

    state: str = "starting"
    detail: str = ""
    fps: float = 0.0
    frames: int = 0
    dropped: int = 0
    size_px: tuple[int, int] = (0, 0)
    seen_ns: int = 0
    evidence_bytes: int = 0
    restarts: int = 0


class Mailbox:
    """Holds the newest frame only; counts the ones that nobody took."""

    def __init__(self) -> None:
        self._shot: Shot | None = None
        self._change = threading.Condition()
        self.dropped = 0

    def put(self, shot: Shot) -> None:
        """Replaces the frame that waits."""
        with self._change:
            if self._shot is not None:
                self.dropped += 1
            self._shot = shot
            self._change.notify()

    def take(self, timeout_s: float) -> Shot | None:
        """The waiting frame, or the next one that comes within `timeout_s`, or None."""
        with self._change:
            self._change.wait_for(lambda: self._shot is not None, timeout_s)
            shot, self._shot = self._shot, None
            return shot


class Grabber:
    """Takes frames from a source as fast as they come, reopens it when it is lost. `ring`: keeps what was, None where
    nobody asks for it."""

    def __init__(
        self, open_source: Callable[[], Source], mailbox: Mailbox, ring: EvidenceRing | None = None
    ) -> None:
        self._open = open_source
        self._mailbox = mailbox
        self._ring = ring
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="grab", daemon=True)
        self.lost: SourceLostError | None = None
        self.frames = 0
        self.fps = 0.0
        self.newest: Shot | None = None
        self.entered_ns = time.monotonic_ns()  # when the driver was last asked for something

    def start(self) -> None:
        """Starts grabbing."""
        self._thread.start()

    def stop(self) -> None:
        """Stops after the frame that is being waited for."""
        self._stop.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            before = self.frames
            try:
                self._grab_all()
            except SourceLostError as lost:
                self.lost = lost
                if lost.is_over:
                    self._stop.wait()
                    return
            failures = 0 if self.frames > before else failures + 1
            self._stop.wait(_REOPEN_S[min(failures, len(_REOPEN_S) - 1)])

    def _grab_all(self) -> None:
        self.entered_ns = time.monotonic_ns()
        source = self._open()
        try:
            gap_ns, last_ns = 0.0, 0
            while not self._stop.is_set():
                self.entered_ns = time.monotonic_ns()
                grabbed = source.grab()
                if grabbed is None:
                    continue
                frame, seen_ns, took_ns = grabbed
                if last_ns:
                    gap_ns += (seen_ns - last_ns - gap_ns) * (0.1 if gap_ns else 1.0)
                    self.fps = 1e9 / max(gap_ns, 1.0)
                last_ns = seen_ns
                self.frames += 1
                self.lost = None
                self.newest = Shot(frame, seen_ns, int(gap_ns / 2) + took_ns, self.frames)
                self._mailbox.put(self.newest)
                if self._ring is not None:
                    self._ring.offer(frame, seen_ns)
        finally:
            source.close()


class Looker:
    """Looks at the newest frame, again and again, in a thread of its own; what it sees waits in `seen`."""

    def __init__(
        self,
        mailbox: Mailbox,
        lookout: Lookout,
        rebuild: Callable[[], None] | None,
        longest_look_s: float | None,
    ) -> None:
        self._mailbox = mailbox
        self._lookout = lookout
        self._longest_ns = _LOOK_NS if longest_look_s is None else round(longest_look_s * 1e9)
        self._rebuild = rebuild
        self._is_stale = threading.Event()
        self._layouts: tuple[Placed, ...] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="look", daemon=True)
        self.seen: queue.SimpleQueue[list[Observed] | BaseException] = queue.SimpleQueue()
        self.since_ns = 0  # when the look that is under way began, 0 between looks

    def start(self) -> None:
        """Starts looking."""
        self._thread.start()

    def stop(self) -> None:
        """Stops after the look that is under way."""
        self._stop.set()
        self._thread.join(1.0)

    def is_hung(self) -> bool:
        """Whether the look under way takes so long that it will not end."""
        since_ns = self.since_ns
        return since_ns > 0 and time.monotonic_ns() - since_ns > self._longest_ns

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Which printed things lie where, from the next look on."""
        self._layouts = layouts

    def renew(self) -> None:
        """Build the reader anew before the next look: its files have changed."""
        self._is_stale.set()

    def _renew(self) -> None:
        self._is_stale.clear()
        try:
            if self._rebuild is not None:
                self._rebuild()
        except Exception as error:  # whatever its files hold now, the old reader goes on
            _log.warning("the reader is not built anew, the old one goes on: %s", error)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                if self._is_stale.is_set():
                    self._renew()
                shot = self._mailbox.take(0.1)
                layouts, self._layouts = self._layouts, None
                if layouts is not None:
                    self._lookout.set_layouts(layouts)
                if shot is not None:
                    self.since_ns = time.monotonic_ns()
                    self.seen.put(self._lookout.step(*shot))
                    self.since_ns = 0
        except BaseException as error:  # handed to the thread that speaks to the parent
            self.seen.put(error)


class Eye:
    """The child's loop. Speaks over `line`: ``(word, ...)`` tuples both ways, see `vision.camera`.

    `rests`: where pictures of what rested are kept, by whoever looks; `rebuild` takes up changed files of a reader.
    `longest_look_s`: a look that takes longer has hung, by default 10 s.
    """

    def __init__(
        self,
        line: Connection,
        open_source: Callable[[], Source],
        name: str,
        lookout: Lookout,
        *,
        rests: RestPictures | None = None,
        rebuild: Callable[[], None] | None = None,
        longest_look_s: float | None = None,
    ) -> None:
        self._line = line
        self._name = name
        self._mailbox = Mailbox()
        self._ring = EvidenceRing()
        self._grabber = Grabber(open_source, self._mailbox, self._ring)
        self._rests = rests or RestPictures()
        self._looker = Looker(self._mailbox, lookout, rebuild, longest_look_s)
        self._clips: list[tuple[int, int, int]] = []
        self._state = EyeStatus()
        self._blind = ""

    def run(self) -> None:
        """Until told to stop or the other end is gone."""
        cv2.setNumThreads(1)
        self._grabber.start()
        self._looker.start()
        next_beat = 0.0
        try:
            while self._obey():
                self._tell_seen()
                self._note_state()
                self._answer_clips()
                if time.monotonic() >= next_beat and not self._looker.is_hung():
                    next_beat = time.monotonic() + BEAT_S
                    self._line.send(("status", self._state))
        except (EOFError, OSError):
            return  # the parent is gone
        finally:
            self._looker.stop()
            self._grabber.stop()

    def _obey(self) -> bool:
        while self._line.poll(0.0 if self._looker.seen.qsize() else _LISTEN_S):
            word, *rest = self._line.recv()
            if word == "stop":
                return False
            if word == "layouts":
                self._set_layouts(*rest)
            elif word == "reader":
                self._looker.renew()
            elif word == "face":
                self._line.send(("answer", rest[0], self._rests.face(rest[1], rest[2])))
            elif word == "clip":
                self._clips.append((rest[0], rest[1], rest[2]))
            elif word == "still":
                newest = self._grabber.newest
                picture = None if newest is None else (newest.seen_ns, encode(newest.frame, rest[1]))
                self._line.send(("answer", rest[0], picture))
        return True

    def _set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        self._looker.set_layouts(layouts)

    def _tell_seen(self) -> None:
        while self._looker.seen.qsize():
            seen = self._looker.seen.get()
            if isinstance(seen, BaseException):
                raise seen
            self._tell(seen)

    def _tell(self, observations: list[Observed]) -> None:
        for observed in observations:
            if isinstance(observed, CameraChanged):
                self._blind = observed.detail if observed.state == "blind" else ""
            else:
                self._line.send(("saw", observed))

    def _note_state(self) -> None:
        """Tells when the camera's state is another one than before."""
        grabber, now_ns = self._grabber, time.monotonic_ns()
        newest, lost = grabber.newest, grabber.lost
        silent_ns = now_ns - (newest.seen_ns if newest else grabber.entered_ns)
        stuck_ns = now_ns - grabber.entered_ns
        if lost is not None:
            state, detail = ("over" if lost.is_over else "lost"), str(lost)
        elif newest is None and silent_ns < _LOST_AFTER_NS:
            state, detail = "starting", ""
        elif silent_ns >= _LOST_AFTER_NS:
            state, detail = "lost", "the camera sends no frames: check its cable"
            if stuck_ns > _STUCK_AFTER_NS:
                os._exit(3)  # the driver hangs and no thread can be ended; the parent starts anew
        else:
            state, detail = ("blind", self._blind) if self._blind else ("live", "")
        before = self._state
        self._state = EyeStatus(
            state=state,
            detail=detail,
            fps=0.0 if state in ("lost", "over") else grabber.fps,
            frames=grabber.frames,
            dropped=self._mailbox.dropped,
            size_px=(newest.frame.shape[1], newest.frame.shape[0]) if newest else (0, 0),
            seen_ns=newest.seen_ns if newest else 0,
            evidence_bytes=self._ring.size_bytes(),
        )
        if state != "starting" and (state, detail) != (before.state, before.detail):
            self._line.send(("saw", camera_changed(self._name, self._state, now_ns)))

    def _answer_clips(self) -> None:
        newest = self._grabber.newest
        done_ns = newest.seen_ns if newest else 0
        if self._state.state in ("lost", "over"):
            done_ns = time.monotonic_ns()
        for clip in [clip for clip in self._clips if clip[2] <= done_ns]:
            self._clips.remove(clip)
            number, from_ns, to_ns = clip
            self._line.send(("answer", number, self._ring.between(from_ns, to_ns)))


def camera_changed(name: str, status: EyeStatus, seen_ns: int) -> CameraChanged:
    """The observation of a camera's state; an ended film counts as lost."""
    return CameraChanged(
        source=name,
        seen_ns=seen_ns,
        uncertainty_ns=_LOST_AFTER_NS if status.state in ("lost", "over") else 0,
        state="lost" if status.state == "over" else status.state,
        fps=round(status.fps, 1),
        dropped=status.dropped,
        detail=status.detail,
    )
