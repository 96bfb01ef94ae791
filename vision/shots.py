"""The frames of a film, of a folder of frames or of a camera, one after the other, each with its instant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from vision.camera import Film, open_source
from vision.evidence import EvidenceRing
from vision.eye import Grabber, Mailbox, Shot, SourceLostError
from vision.frame import Unreadable, load

_LOST_S = 3.0
_WAIT_S = 0.25


def film_shots(path: Path) -> Iterator[Shot]:
    """Every frame of a film as fast as it is taken; `seen_ns` counts from the film's beginning. Raises
    SourceLostError when it is no film, or one without frames."""
    film = Film(path)
    try:
        number = 0
        for number, (frame, seen_ns) in enumerate(film.frames(), start=1):
            yield Shot(frame, seen_ns, 0, number)
        if not number:
            raise SourceLostError(
                f"{path.name} holds no frame that can be played: convert it to MP4", is_over=True
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
    grabber = Grabber(lambda: open_source(source), mailbox, EvidenceRing(max_bytes=0))
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
