"""The dice as the camera read them, for the referee's page; and what its corrections teach the eyes.

A correction that counts, and that may be learnt from, adds the picture of that face to the dice's profile; once it is
undone the picture is taken out again. The camera then reads by the new profile; the table goes on meanwhile.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from companion.core.event import DieCorrected, Entry
from companion.core.history import corrected, correction_of
from companion.core.observation import DiceRested, DieSeen, Observed
from companion.runtime.private_file import write_private
from vision.camera import CameraChild
from vision.frame import decode
from vision.learn import learn_at, unlearn_at
from vision.profile import EnrolError, load_profile

RESTS = 30
MOST_SHOTS = 200
"""Pictures of corrected dice kept beside a profile; the oldest make room."""
_log = logging.getLogger(__name__)


class Entries(Protocol):
    """Where the journal is read."""

    def entries(self, after: int = 0) -> Sequence[Entry]:
        """The entries with a number above `after`."""


class Lesson(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one correction taught: the number of the picture in the profile, 0 for none and then why not."""

    face: str
    owner: str
    number: int = 0
    why_not: str = ""


class DiceDesk:
    """The last rests of a camera, and the lessons of this table's corrections. One thread; entries never wait for it.

    `profile`: the file of the enrolled dice, None where none are read. `lessons`: the file beside the journal that
    remembers what was learnt, so that it can be taken back after a restart.
    """

    def __init__(
        self, camera: CameraChild | None, profile: Path | None, lessons: Path, journal: Entries
    ) -> None:
        """Starts nothing; see `start`."""
        self._camera, self._profile, self._file, self._journal = camera, profile, lessons, journal
        self._rests: tuple[DiceRested, ...] = ()
        self._lessons: dict[int, Lesson] = _read(lessons)
        self._faces: tuple[str, ...] = ()
        self._work: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="dice-desk", daemon=True)

    def start(self) -> None:
        """Begin to learn; what was undone while nobody looked is taken back now."""
        if self._profile is not None:
            try:
                self._faces = tuple(sorted({sample.face for sample in load_profile(self._profile).samples}))
            except EnrolError as error:
                _log.warning("%s", error)
        self._thread.start()
        self._work.put(True)

    def stop(self) -> None:
        """End after the lesson that is under way."""
        self._work.put(False)
        self._thread.join(5.0)

    def saw(self, seen: Observed) -> None:
        """Called for each observation of the camera, in its own words and stamps; never waits."""
        if isinstance(seen, DiceRested) and seen.dice:
            is_anew = bool(self._rests) and seen.frame <= self._rests[0].frame  # then its pictures are gone
            self._rests = (seen, *(() if is_anew else self._rests))[:RESTS]

    def note(self, entry: Entry) -> None:
        """Called for each new entry; never waits."""
        if correction_of(entry) is not None or any(isinstance(event, DieCorrected) for event in entry.events):
            self._work.put(True)

    def rests(self) -> Sequence[DiceRested]:
        """The last rests that showed dice, the newest first, since the camera began to count its frames."""
        return self._rests

    def face(self, frame: int, box_px: tuple[int, int, int, int]) -> bytes | None:
        """The picture of the die in this box of a rest's frame, as PNG; None when it is not kept any more."""
        return None if self._camera is None else self._camera.face(frame, box_px)

    def faces(self) -> Sequence[str]:
        """What a die of the enrolled sort may show."""
        return self._faces

    def lessons(self) -> Mapping[int, str]:
        """What came of each correction that was to be learnt from, by number of its entry, in words."""
        return {
            n: lesson.why_not or f"learnt as a picture of {lesson.face}"
            for n, lesson in self._lessons.items()
        }

    # The desk's thread

    def _run(self) -> None:
        while self._work.get():
            try:
                self._learn()
            except (EnrolError, OSError) as error:
                _log.error("what corrections teach could not be kept: %s", error)

    def _learn(self) -> None:
        """Bring the profile to what the corrections that count now say."""
        wanted = {
            entry.n: event
            for entry in corrected(self._journal.entries())
            for event in entry.events
            if isinstance(event, DieCorrected) and event.learn and event.value
        }
        before = self._lessons
        try:
            for n in [n for n in before if n not in wanted]:
                self._forget(n)
            for n, event in wanted.items():
                if n not in before:
                    self._lessons = {**self._lessons, n: self._lesson(n, event)}
        finally:
            if self._lessons is not before:
                write_private(self._file, msgspec.json.encode(self._lessons))
                if self._camera is not None:
                    self._camera.renew_reader()

    def _lesson(self, n: int, event: DieCorrected) -> Lesson:
        face, die = str(event.value), event.die
        told = Lesson(face=face, owner=die.owner)
        if self._profile is None:
            return msgspec.structs.replace(told, why_not="not learnt: no dice are enrolled at this table")
        # Frame numbers of a camera that began anew mean other pictures: only what was told of this one is learnt.
        is_told = any(
            (rest.source, rest.frame) == (event.source, event.frame) and die in rest.dice
            for rest in self._rests
        )
        png = self.face(event.frame, die.box_px) if is_told else None
        if png is None:
            return msgspec.structs.replace(told, why_not="not learnt: its picture is not kept any more")
        try:
            profile = learn_at(self._profile, decode(png), face, die.owner or None)
        except EnrolError as error:
            return msgspec.structs.replace(told, why_not=f"not learnt: {error}")
        try:
            self._keep_shot(n, die, face, png)
        except OSError as error:
            _log.warning("the picture of a corrected die could not be kept: %s", error)
        newest = max(profile.samples, key=lambda sample: sample.learnt)
        return Lesson(face=face, owner=newest.owner, number=newest.learnt)

    def _forget(self, n: int) -> None:
        """Take a lesson back; it stays a lesson where that fails, to be tried again."""
        lesson = self._lessons[n]
        if lesson.number and self._profile is not None:
            if self._profile.is_file():
                unlearn_at(self._profile, lesson.owner, lesson.face, lesson.number)
            for shot in shots_of(self._profile).glob(f"{self._file.stem}-{n}-*.png"):
                shot.unlink(missing_ok=True)
        self._lessons = {k: v for k, v in self._lessons.items() if k != n}

    def _keep_shot(self, n: int, die: DieSeen, face: str, png: bytes) -> None:
        """The face as the camera saw it, beside the profile: with it the profile could be made anew."""
        if self._profile is None:
            return
        folder = shots_of(self._profile)
        folder.mkdir(exist_ok=True)
        plain = "-".join("".join(c for c in word if c.isalnum()) or "x" for word in (die.owner, face))
        (folder / f"{self._file.stem}-{n}-{plain}.png").write_bytes(png)
        for old in sorted(folder.glob("*.png"), key=lambda path: path.stat().st_mtime)[:-MOST_SHOTS]:
            old.unlink(missing_ok=True)


def shots_of(profile: Path) -> Path:
    """The folder beside a dice profile that holds the pictures of corrected dice."""
    return profile.with_name(f"{profile.name}.learnt")


def _read(path: Path) -> dict[int, Lesson]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[int, Lesson])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        _log.warning("%s cannot be read (%s): what was learnt before cannot be taken back", path.name, error)
        return {}
