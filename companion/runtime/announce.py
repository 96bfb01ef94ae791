"""The one announcement queue: all that is said, shown or sounded at once goes out through it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import msgspec

from companion.core import event as e
from companion.core.cue import Cue
from companion.runtime.desk import Announcement

KEPT = 400
_log = logging.getLogger(__name__)


def _notice(text: str, target: str = "all", pattern: str = "notice", urgent: bool = False) -> Cue:
    return Cue(target=target, pattern=pattern, text=text, urgent=urgent)


def _with_why(text: str, why: str) -> str:
    return f"{text}: {why}" if why else f"{text}."


def core_cues(entry: e.Entry, event: e.Event) -> tuple[Cue, ...]:
    """What every table says about a fact, whatever is played: stop, resume, review, correction, refusal.

    A refusal goes to the seat it concerns, else to the referee.
    """
    match event:
        case e.Stopped(why=why):
            return (_notice(_with_why("Stop", why), pattern="stop", urgent=True),)
        case e.Started():
            return (_notice("The program was started; the clocks stand."),)
        case e.Resumed():
            return (_notice("The clocks run on."),)
        case e.ReviewOpened(why=why):
            return (_notice(_with_why("Under review", why)),)
        case e.ReviewClosed():
            return (_notice("The review is closed."),)
        case e.Voided(entry=n, why=why):
            return (_notice(_with_why(f"Correction, entry {n} does not count", why)),)
        case e.Replaced(entry=n, why=why):
            return (_notice(_with_why(f"Correction, entry {n} was replaced", why)),)
        case e.Inserted(before=n, why=why):
            return (_notice(_with_why(f"Correction, something was put in before entry {n}", why)),)
        case e.Refused(ruling=ruling):
            target = ruling.seat or entry.actor.seat or "referee"
            return (_notice(f"Not accepted: {ruling.because}", target=target),)
        case _:
            return ()


class Announcer:
    """Numbers cues from 1, keeps the last 400, and hands each to its subscribers. Safe from any thread."""

    def __init__(self) -> None:
        """Empty."""
        self._lock = threading.Lock()
        self._kept: deque[Announcement] = deque(maxlen=KEPT)
        self._last = 0
        self._meant: dict[str, tuple[str, int]] = {}
        self._said: dict[str, str] = {}
        self._listeners: list[Callable[[Announcement], None]] = []

    def say(self, cues: Iterable[Cue]) -> tuple[Announcement, ...]:
        """Put cues into the queue, in order; gives them as they went out."""
        with self._lock:
            made = tuple(self._number(cue) for cue in cues)
            self._kept.extend(made)
            listeners = tuple(self._listeners)
        for announcement in made:
            for listener in listeners:
                try:
                    listener(announcement)
                except Exception:
                    _log.exception("an output failed on announcement %d", announcement.id)
        return made

    def after(self, number: int) -> Sequence[Announcement]:
        """The announcements with an id above `number` that are still kept.

        A number that was never given out comes from an earlier start of the program: then all of them.
        """
        with self._lock:
            known = number if number <= self._last else 0
            return tuple(a for a in self._kept if a.id > known)

    def subscribe(self, listener: Callable[[Announcement], None]) -> Callable[[], None]:
        """Call `listener` (quickly, on the speaking thread) with each one; returns the way to stop it."""
        with self._lock:
            self._listeners.append(listener)

        def stop() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return stop

    def _number(self, cue: Cue) -> Announcement:
        self._last += 1
        return Announcement(id=self._last, cue=msgspec.structs.replace(cue, text=self._distinct(cue)))

    def _distinct(self, cue: Cue) -> str:
        """The text, changed where somebody would hear it twice in a row: screen readers drop the second.

        What is said to all is heard by every target.
        """
        heard_by = {"all", *self._said} if cue.target == "all" else {cue.target}
        if cue.target not in self._said:
            self._meant[cue.target] = self._meant.get("all", ("", 0))
            self._said[cue.target] = self._said.get("all", "")
        times = 1 + max(
            (
                count
                for text, count in map(self._meant.__getitem__, heard_by & set(self._meant))
                if text == cue.text
            ),
            default=0,
        )
        spoken = (
            cue.text if times == 1 else f"again: {cue.text}" if times == 2 else f"again ({times}): {cue.text}"
        )
        while spoken in {self._said[target] for target in heard_by & set(self._said)}:
            spoken = f"again: {spoken}"
        for target in heard_by:
            self._meant[target], self._said[target] = (cue.text, times), spoken
        return spoken
