"""The frames of a film, of a folder of frames or of a camera, one after the other, and the rolls in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from companion.core.observation import DiceRested
from vision.camera import Film, open_source
from vision.dice.reader import Reader
from vision.dice.rolls import Lifted, Roll, RollTracker
from vision.eye import Grabber, Mailbox, Shot, SourceLostError
from vision.frame import Unreadable, load
from vision.surface import Marks
from vision.watcher import Watcher

_LOST_S = 3.0
_WAIT_S = 0.25


class Told(NamedTuple):
    """What a source's rests told. `frame`: the BGR picture that was read last of it; `begun_ns`: the instant of the
    source's first frame."""

    what: Roll | Lifted
    frame: NDArray[np.uint8]
    begun_ns: int


def rolls_in(shots: Iterable[Shot], reader: Reader, source: str) -> Iterator[Told]:
    """Each roll, and each taking up of dice, as it comes to rest in these frames. Where the table has markers, its
    places are told in mm."""
    watcher, tracker = Watcher(source, reader, Marks()), RollTracker()
    begun_ns: int | None = None
    for shot in shots:
        begun_ns = shot.seen_ns if begun_ns is None else begun_ns
        rests = [seen for seen in watcher.step(*shot) if isinstance(seen, DiceRested)]
        for told in (*map(tracker.step, rests), tracker.due(shot.seen_ns)):
            if told is not None:
                yield Told(told, shot.frame, begun_ns)


def film_shots(film: Film, name: str) -> Iterator[Shot]:
    """Every frame of a film as fast as it is taken; `seen_ns` counts from the film's beginning; closes it. Raises
    SourceLostError when it has none."""
    try:
        number = 0
        for number, (frame, seen_ns) in enumerate(film.frames(), start=1):
            yield Shot(frame, seen_ns, 0, number)
        if not number:
            raise SourceLostError(
                f"{name} holds no frame that can be played: convert it to MP4", is_over=True
            )
    finally:
        film.close()


def frame_shots(
    paths: list[Path], fps: float, unreadable: Callable[[Path, Unreadable], None]
) -> Iterator[Shot]:
    """Pictures as the frames of a film of this speed. What cannot be read is handed to `unreadable` and left out,
    its time passes."""
    for number, path in enumerate(paths, start=1):
        try:
            frame = load(path)
        except Unreadable as error:
            unreadable(path, error)
            continue
        yield Shot(frame, round((number - 1) * 1e9 / fps), 0, number)


def live_shots(source: str, patience_s: float = _LOST_S) -> Iterator[Shot]:
    """The newest frame of a camera, again and again, in host time; what comes while the last one is looked at is
    skipped. Raises SourceLostError when it does not open, or stays lost for `patience_s`; ends with the source."""
    mailbox = Mailbox()
    grabber = Grabber(lambda: open_source(source), mailbox)
    grabber.start()
    lost_s: float | None = None
    try:
        while True:
            shot = mailbox.take(_WAIT_S)
            if shot is not None:
                lost_s = None
                yield shot
                continue
            lost, now_s = grabber.lost, time.monotonic()
            if lost is not None and lost.is_over:
                return
            silent_s = 0.0 if lost_s is None else now_s - lost_s
            if lost is not None and (not grabber.frames or silent_s >= patience_s):
                raise lost
            if silent_s >= patience_s and grabber.frames:
                raise SourceLostError(f"camera {source} sends no frames any more: check its cable")
            lost_s = now_s if lost_s is None else lost_s
    finally:
        grabber.stop()
