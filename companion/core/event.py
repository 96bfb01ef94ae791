"""Facts, past tense. Journalled, never edited; those here mean the same in every game."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from companion.core.command import Command
from companion.core.observation import DieSeen, Observation
from companion.core.ruling import Ruling
from companion.core.seat import Accommodation, Actor, PadNote, Seat


class Event:
    """Any event. `is_bookkeeping`: undo passes over it, for it changes nothing that was played."""

    __slots__ = ()
    is_bookkeeping: ClassVar[bool] = False


class EventBody(
    msgspec.Struct, Event, frozen=True, kw_only=True, tag_field="is", tag=True, omit_defaults=True
):
    """Base of the concrete events: the tag is the class name."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the journal: an order that was answered, and the facts it made.

    `n` counts from 1 without gaps. `at_ns`: table time (host ns), never less than the line before. `wall_ms`:
    for people. `command` is None only in the first line. `seen`: the observations it came from.
    """

    n: int
    at_ns: int
    wall_ms: int
    actor: Actor
    key: str
    command: Command | None
    events: tuple[Event, ...]
    seen: tuple[Observation, ...] = ()


class Opened(EventBody, frozen=True, kw_only=True):
    """The first fact: which game, who sits where, under which house rules, with which chance.

    `options` are the game's house rules as plain data; `data` is the text of the game's data file (deck, map)
    as it was at that moment, so that the journal needs no other file. `seed` decides every shuffle.
    """

    is_bookkeeping = True
    game: str
    table: str
    seats: tuple[Seat, ...]
    options: dict[str, str | int | bool]
    seed: int
    data: str = ""


class Started(EventBody, frozen=True, kw_only=True):
    """A program took the journal up; clocks stand."""

    is_bookkeeping = True
    boot: str
    wall_ms: int


class Refused(EventBody, frozen=True, kw_only=True):
    """A command that was not accepted, and why."""

    is_bookkeeping = True
    command: Command
    ruling: Ruling


class Stopped(EventBody, frozen=True, kw_only=True):
    """Clocks and board stand."""

    is_bookkeeping = True
    why: str = ""


class Resumed(EventBody, frozen=True, kw_only=True):
    """Clocks run on."""

    is_bookkeeping = True


class ReviewOpened(EventBody, frozen=True, kw_only=True):
    """The public view is held as it was."""

    is_bookkeeping = True
    why: str = ""


class ReviewClosed(EventBody, frozen=True, kw_only=True):
    """The public view is let go."""

    is_bookkeeping = True


class EvidenceReleased(EventBody, frozen=True, kw_only=True):
    """The pictures of one entry may be seen by all."""

    is_bookkeeping = True
    entry: int


class AccommodationSet(EventBody, frozen=True, kw_only=True):
    """What was agreed for one seat."""

    seat: str
    accommodation: Accommodation


class OptionChanged(EventBody, frozen=True, kw_only=True):
    """A house rule is another one from here on."""

    option: str
    value: str | int | bool


class PadProven(EventBody, frozen=True, kw_only=True):
    """A seat's pad has been heard."""

    is_bookkeeping = True
    seat: str


class PadAssigned(EventBody, frozen=True, kw_only=True):
    """A seat has another pad; it is unproven until it is heard."""

    is_bookkeeping = True
    seat: str
    device: str = ""
    input: int = 0


class PadNoted(EventBody, frozen=True, kw_only=True):
    """How fit a device is for a ranked race from here on."""

    is_bookkeeping = True
    pad: PadNote


class PadWaived(EventBody, frozen=True, kw_only=True):
    """A device that is not fit takes part all the same."""

    is_bookkeeping = True
    device: str
    is_for_round: bool = True
    why: str = ""


class Joined(EventBody, frozen=True, kw_only=True):
    """A player sat down."""

    seat: Seat


class Left(EventBody, frozen=True, kw_only=True):
    """A player went for good."""

    seat: str


class Proposed(EventBody, frozen=True, kw_only=True):
    """A doubtful reading waits for a person. Its id is the number of its entry."""

    command: Command
    reading: str
    confidence: float
    evidence: tuple[str, ...] = ()


class Confirmed(EventBody, frozen=True, kw_only=True):
    """A person said yes; what follows from it stands behind it in the same entry."""

    proposal: int


class Rejected(EventBody, frozen=True, kw_only=True):
    """A person said no."""

    proposal: int
    why: str = ""


class DieCorrected(EventBody, frozen=True, kw_only=True):
    """A person said what a die shows that a camera read; what follows for the game stands behind it in the same
    entry. `learn`: the eyes may learn from it as long as this counts."""

    source: str
    frame: int
    die: DieSeen
    value: int | str
    learn: bool = True


class Voided(EventBody, frozen=True, kw_only=True):
    """An entry has no effect any more."""

    is_bookkeeping = True
    entry: int
    why: str


class Replaced(EventBody, frozen=True, kw_only=True):
    """In place of an entry these facts stand, at its instant."""

    is_bookkeeping = True
    entry: int
    command: Command
    events: tuple[Event, ...]
    why: str


class Inserted(EventBody, frozen=True, kw_only=True):
    """Just before an entry these facts stand."""

    is_bookkeeping = True
    before: int
    command: Command
    events: tuple[Event, ...]
    why: str


EVENTS: tuple[type[Event], ...] = (
    Opened, Started, Refused, Stopped, Resumed, ReviewOpened, ReviewClosed, EvidenceReleased,
    AccommodationSet, OptionChanged, PadProven, PadAssigned, PadNoted, PadWaived, Joined, Left, Proposed,
    Confirmed, Rejected, DieCorrected, Voided, Replaced, Inserted,
)  # fmt: skip
