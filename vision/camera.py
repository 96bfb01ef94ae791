"""Cameras: the only module that opens one, each in a process of its own.

Words on the line. To the child: ``("layouts", tuple[Placed])``, ``("clip", n, from_ns, to_ns)``,
``("still", n, max_width)``, ``("face", n, frame, box)``, ``("reader",)``, ``("stop",)``. From it:
``("status", EyeStatus)`` every half second, ``("saw", Observed)``, ``("answer", n, result)``, ``("failed", text)``.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import Observed
from vision import MAX_PICTURE_PIXELS
from vision.evidence import RestPictures, Stamped
from vision.eye import Eye, EyeStatus, LookoutSpec, ReaderSpec, Rests, Source, SourceLostError, camera_changed
from vision.feed import PREFIX, FeedLine
from vision.folders import pictures_in
from vision.frame import PICTURE_SUFFIXES, Unreadable, load
from vision.surface import Marks
from vision.watcher import Watcher

SILENCE_S = 3.0
# The readers' matrices are small: threads that wait for each other on a busy machine make them many times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_FIRST_WORD_S = 40.0  # a slow or busy machine takes long to load the readers
_RESTART_S = (0.5, 1.0, 2.0, 4.0, 8.0)
_URLS = ("http://", "https://", "rtsp://")
_SHOW_NS = 1_500_000_000  # how long each picture of a folder is shown
_FOLDER_FPS = 10.0


class CameraChild:
    """A camera in its own process, started anew whenever it falls silent.

    `source`: a device number or path, a film, a picture or a folder of them, an http or rtsp address, a
    `Feed.source`. `sink` gets every observation, from a thread of this object; it must not wait. `marks`:
    the table has corner markers.
    """

    def __init__(
        self,
        source: str,
        reader: ReaderSpec | LookoutSpec | None,
        sink: Callable[[Observed], None],
        *,
        name: str = "camera",
        marks: Marks | None = None,
    ) -> None:
        self._arguments = (source, name, reader, marks)
        self._name = name
        self._sink = sink
        self._layouts: tuple[Placed, ...] = ()
        self._status = EyeStatus()
        self._restarts = 0
        self._line: Connection | None = None
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._answers: dict[int, tuple[threading.Event, list[Any]]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_alive, name=f"{name}-line", daemon=True)

    def start(self) -> None:
        """Starts the child; observations follow."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the child; nothing more is told after this returns."""
        self._stop.set()
        self._send(("stop",))
        self._thread.join(5.0)

    def status(self) -> EyeStatus:
        """How the camera was doing half a second ago at most."""
        return msgspec.structs.replace(self._status, restarts=self._restarts)

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Tells the readers which printed things lie where; kept across restarts."""
        with self._lock:
            self._layouts = layouts
        self._send(("layouts", layouts))

    def clip(self, from_ns: int, to_ns: int, timeout_s: float = 8.0) -> list[Stamped]:
        """The kept frames of [from_ns, to_ns] in host time as (ns, JPEG bytes), oldest first; waits until
        `to_ns` is past. Empty when the camera does not answer in time."""
        answer = self._ask("clip", (from_ns, to_ns), timeout_s)
        return list(answer) if answer else []

    def still(self, max_width: int = 1280, timeout_s: float = 2.0) -> Stamped | None:
        """The newest frame as (ns, JPEG bytes), or None."""
        answer: Stamped | None = self._ask("still", (max_width,), timeout_s)
        return answer

    def face(self, frame: int, box_px: tuple[int, int, int, int], timeout_s: float = 2.0) -> bytes | None:
        """The die in this box of a rest's frame, with what is around it, as PNG; None where that frame is not kept
        any more or the camera does not answer."""
        answer: bytes | None = self._ask("face", (frame, box_px), timeout_s)
        return answer

    def renew_reader(self) -> None:
        """The reader's files have changed: it is built anew before the next look; until then the old one reads."""
        self._send(("reader",))

    def _ask(self, word: str, details: tuple[Any, ...], timeout_s: float) -> Any:
        number = next(self._numbers)
        event, result = threading.Event(), list[Any]()
        self._answers[number] = (event, result)
        if self._send((word, number, *details)):
            event.wait(timeout_s)
        del self._answers[number]
        return result[0] if result else None

    def _send(self, message: tuple[Any, ...]) -> bool:
        with self._lock:
            if self._line is None:
                return False
            try:
                self._line.send(message)
            except OSError:
                return False
            return True

    def _keep_alive(self) -> None:
        failures = 0
        while not self._stop.is_set():
            started = time.monotonic()
            detail = self._live_once()
            if self._stop.is_set():
                return
            failures = 0 if time.monotonic() - started > 30.0 else failures + 1
            self._restarts += 1
            self._status = EyeStatus(state="lost", detail=detail)
            self._sink(camera_changed(self._name, self._status, time.monotonic_ns()))
            self._stop.wait(_RESTART_S[min(failures, len(_RESTART_S)) - 1])

    def _live_once(self) -> str:
        """One child's life; returns why it ended."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        child = context.Process(
            target=_child, args=(there, *self._arguments), name=f"camera {self._name}", daemon=True
        )
        child.start()
        there.close()
        with self._lock:
            self._line = here
            here.send(("layouts", self._layouts))
        if self._stop.is_set():
            self._send(("stop",))
        try:
            return self._listen(here)
        finally:
            with self._lock:
                self._line = None
            _end(child)
            here.close()

    def _listen(self, line: Connection) -> str:
        patience_s, last_word = _FIRST_WORD_S, time.monotonic()
        why = "the camera's process ended"
        while True:
            try:
                if not line.poll(0.25):
                    if time.monotonic() - last_word > patience_s:
                        return "the camera's process fell silent"
                    continue
                word, *rest = line.recv()
            except (EOFError, OSError):
                return why
            patience_s, last_word = SILENCE_S, time.monotonic()
            if word == "status":
                self._status = rest[0]
            elif word == "saw" and not self._stop.is_set():
                self._sink(rest[0])
            elif word == "answer":
                event, result = self._answers.get(rest[0], (threading.Event(), []))
                result.append(rest[1])
                event.set()
            elif word == "failed":
                why = rest[0]


def check_source(source: str) -> None:
    """Raises ValueError with one line that helps when `source` can be no camera."""
    known = source.isdigit() or source.startswith((PREFIX, *_URLS)) or Path(source).exists()
    if not known:
        raise ValueError(
            f"camera {source}: no such device, film or folder; give a number (0 is the first one), a path or"
            " an http or rtsp address"
        )


def is_live(source: str) -> bool:
    """Whether this names a camera and no file: a number, a device, an http or rtsp address, a `Feed.source`."""
    is_number = source.isdigit() and not Path(source).exists()
    return is_number or source.startswith((PREFIX, *_URLS, "/dev/"))


def open_source(source: str) -> Source:
    """Opens a camera by what `CameraChild` calls its source. Raises SourceLostError when it cannot be
    opened."""
    if source.startswith(PREFIX):
        return _FedSource(source)
    if source.isdigit() or source.startswith((*_URLS, "/dev/")):
        return _DeviceSource(source)
    path = Path(source)
    if path.is_dir() or path.suffix.lower() in PICTURE_SUFFIXES:
        return _FolderSource(path)
    return _FilmSource(path)


class _DeviceSource:
    """A camera at the computer or on the network."""

    def __init__(self, source: str) -> None:
        if source.isdigit():
            self._capture = cv2.VideoCapture(int(source))
        elif source.startswith("/dev/"):
            self._capture = cv2.VideoCapture(source)
        else:
            patience = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, 5000, cv2.CAP_PROP_READ_TIMEOUT_MSEC, 5000]
            self._capture = cv2.VideoCapture(source, cv2.CAP_FFMPEG, patience)
        if not self._capture.isOpened():
            raise SourceLostError(
                f"camera {source} does not open: is it plugged in, and does no other program use it?"
            )
        if not source.startswith(_URLS):
            self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
            self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, 1280)
            self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, 720)
            self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self._source = source

    def grab(self) -> tuple[NDArray[np.uint8], int, int]:
        is_there = self._capture.grab()
        seen_ns = time.monotonic_ns()
        taken, frame = self._capture.retrieve() if is_there else (False, None)
        if not taken or frame is None:
            raise SourceLostError(f"camera {self._source} was lost: check its cable")
        return _as_bgr(frame), seen_ns, time.monotonic_ns() - seen_ns

    def close(self) -> None:
        self._capture.release()


class Film:
    """A film. Raises SourceLostError when it is none that can be played."""

    def __init__(self, path: Path) -> None:
        self._capture = cv2.VideoCapture(str(path))
        width, height = (
            self._capture.get(of) for of in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
        )
        if not self._capture.isOpened():
            raise SourceLostError(
                f"{path.name} is no film that can be played: convert it to MP4", is_over=True
            )
        if width * height > MAX_PICTURE_PIXELS:
            raise SourceLostError(
                f"{path.name} has frames of {width:.0f} x {height:.0f} px: make it smaller", is_over=True
            )
        fps = self._capture.get(cv2.CAP_PROP_FPS)
        self._gap_ns = int(1e9 / (fps if 1.0 <= fps <= 240.0 else 30.0))
        self.length = max(0, int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        """How many frames it says it has; 0 when it does not say."""

    def frames(self) -> Iterator[tuple[NDArray[np.uint8], int]]:
        """(BGR frame, ns since the film's beginning), every frame, as fast as they are taken."""
        seen_ns = -1
        while True:
            taken, frame = self._capture.read()
            if not taken or frame is None:
                return
            # Films of telephones have frames of uneven lengths, which their own stamps tell; some tell nothing.
            own_ns = int(self._capture.get(cv2.CAP_PROP_POS_MSEC) * 1e6)
            seen_ns = own_ns if own_ns > seen_ns else seen_ns + self._gap_ns
            yield _as_bgr(frame), seen_ns

    def close(self) -> None:
        """Lets the file go."""
        self._capture.release()


class _FilmSource:
    """A film, each frame shown at its own instant."""

    def __init__(self, path: Path) -> None:
        self._film = Film(path)
        self._frames = self._film.frames()
        self._begun_ns = time.monotonic_ns()

    def grab(self) -> tuple[NDArray[np.uint8], int, int]:
        taken = next(self._frames, None)
        if taken is None:
            raise SourceLostError("the film is over", is_over=True)
        frame, since_begin_ns = taken
        seen_ns = self._begun_ns + since_begin_ns
        _sleep_until(seen_ns)
        return frame, seen_ns, 0

    def close(self) -> None:
        self._film.close()


class _FolderSource:
    """A picture or a folder of them in the order of their names, each shown a while; the last one stays
    until more are put there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shown: set[Path] = set()
        self._frame: NDArray[np.uint8] | None = None
        self._since_ns = 0
        self._due_ns = time.monotonic_ns()

    def grab(self) -> tuple[NDArray[np.uint8], int, int] | None:
        _sleep_until(self._due_ns)
        now_ns = time.monotonic_ns()
        self._due_ns = now_ns + int(1e9 / _FOLDER_FPS)
        if self._frame is None or now_ns - self._since_ns >= _SHOW_NS:
            self._turn_page(now_ns)
        return None if self._frame is None else (self._frame, now_ns, 0)

    def _turn_page(self, now_ns: int) -> None:
        for path in self._pictures():
            if path in self._shown:
                continue
            try:
                self._frame = load(path)
            except Unreadable:
                # It may be half written; one that stays unreadable must not stop those behind it.
                if time.time() - path.stat().st_mtime > 2.0:
                    self._shown.add(path)
                continue
            self._shown.add(path)
            self._since_ns = now_ns
            return

    def _pictures(self) -> list[Path]:
        if self._path.is_dir():
            return pictures_in(self._path)
        if not self._path.exists():
            raise SourceLostError(f"{self._path.name} is gone")
        return [self._path]

    def close(self) -> None:
        self._frame = None


class _FedSource:
    """Frames that another process pushes."""

    def __init__(self, source: str) -> None:
        try:
            self._line = FeedLine(source)
        except (OSError, EOFError, ValueError, multiprocessing.AuthenticationError) as error:
            raise SourceLostError("nobody feeds this camera: start the program that does") from error

    def grab(self) -> tuple[NDArray[np.uint8], int, int] | None:
        try:
            frame = self._line.take(0.5)
        except (OSError, EOFError) as error:
            raise SourceLostError("the camera was unplugged: plug it in again") from error
        return None if frame is None else (frame, time.monotonic_ns(), 0)

    def close(self) -> None:
        self._line.close()


def _as_bgr(frame: NDArray[Any]) -> NDArray[np.uint8]:
    if frame.ndim == 2:
        frame = cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR)
    return np.asarray(frame, np.uint8)


def _sleep_until(due_ns: int) -> None:
    time.sleep(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))


def _child(
    line: Connection, source: str, name: str, reader: ReaderSpec | LookoutSpec | None, marks: Marks | None
) -> None:
    """The child's first function."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the parent ends the child in order
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(5)  # the referee's pages and the pads come first
    try:
        eye = _eye(line, source, name, reader, marks)
    except Exception as error:  # whatever the reader's files hold, the table must hear one line about it
        line.send(("failed", f"the reader does not start: {error}"))
        return
    eye.run()
    if any(thread.is_alive() for thread in threading.enumerate() if thread is not threading.current_thread()):
        os._exit(0)  # a look or a driver that is still at work must not see its libraries taken down


def _eye(
    line: Connection, source: str, name: str, reader: ReaderSpec | LookoutSpec | None, marks: Marks | None
) -> Eye:
    """The child's loop with what looks at its frames: a reader of dice, or a lookout of its own."""
    if reader is not None and not isinstance(reader, ReaderSpec):
        lookout, patience_s = reader.lookout(name, marks), reader.longest_look_s
        rests, renew = (lookout.rests, lookout.renew) if isinstance(lookout, Rests) else (None, None)
        return Eye(
            line,
            lambda: open_source(source),
            name,
            lookout,
            rests=rests,
            rebuild=renew,
            longest_look_s=patience_s,
        )
    rests = RestPictures()
    watcher = Watcher(name, reader.build() if reader else None, marks, kept=rests)

    def rebuild() -> None:
        if reader is not None:
            watcher.set_reader(reader.build())

    return Eye(line, lambda: open_source(source), name, watcher, rests=rests, rebuild=rebuild)


def _end(child: BaseProcess) -> None:
    child.join(1.0)
    if child.is_alive():
        child.terminate()
        child.join(1.0)
    if child.is_alive():
        child.kill()
        child.join()
    child.close()
