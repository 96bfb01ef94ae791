"""Intents at the table. Any may be refused; those here mean the same in every game."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from companion.core.observation import DieSeen, Observation
from companion.core.seat import Actor, Role

PEOPLE = frozenset({Role.REFEREE})
SEATS = frozenset({Role.REFEREE, Role.SEAT})
SENSORS = frozenset({Role.REFEREE, Role.SENSOR})
ANYONE = frozenset({Role.REFEREE, Role.SEAT, Role.SENSOR})
CLOCK = frozenset({Role.CLOCK})


class Command:
    """Any command. The roles in `by` may give it; a seat gives it for itself alone.

    Concrete commands are frozen structs that derive from `CommandBody`; fields of this type hold any of them.
    """

    __slots__ = ()
    by: ClassVar[frozenset[Role]] = PEOPLE
    is_correction: ClassVar[bool] = False
    while_stopped: ClassVar[bool] = False


class CommandBody(
    msgspec.Struct,
    Command,
    frozen=True,
    kw_only=True,
    tag_field="do",
    tag=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Base of the concrete commands: the tag is the class name."""


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command with who gave it and when (host ns).

    `key` makes a repeat harmless: an order whose key was answered before gets the same answer. `expected` is
    the version its sender saw, None to take any. `seen`: the observations it was understood from.
    """

    command: Command
    actor: Actor
    at_ns: int
    key: str
    expected: int | None = None
    seen: tuple[Observation, ...] = ()


# The table


class Start(CommandBody, frozen=True, kw_only=True):
    """A program opened this journal (the first time, or after a crash). The clocks stand until Resume."""

    by = CLOCK
    while_stopped = True
    boot: str
    wall_ms: int


class Stop(CommandBody, frozen=True, kw_only=True):
    """Stop now: clocks and board freeze."""

    by = frozenset({Role.REFEREE, Role.SEAT})
    why: str = ""


class Resume(CommandBody, frozen=True, kw_only=True):
    """Let the clocks run on."""

    while_stopped = True


class OpenReview(CommandBody, frozen=True, kw_only=True):
    """Look at a ruling again: the public sees the table as it was until the review is closed."""

    while_stopped = True
    why: str = ""


class CloseReview(CommandBody, frozen=True, kw_only=True):
    """End the review; the public sees the table as it is now."""

    while_stopped = True


class ReleaseEvidence(CommandBody, frozen=True, kw_only=True):
    """Let seats and public see the pictures kept for one entry."""

    while_stopped = True
    entry: int


class SetAccommodation(CommandBody, frozen=True, kw_only=True):
    """Agree something for one seat, before play (see `Accommodation`)."""

    while_stopped = True
    seat: str
    time_factor: float = 1.0
    start_shift_ms: int = 0
    proxy: str = ""


class ChangeOption(CommandBody, frozen=True, kw_only=True):
    """Change one house rule of the running game; `value` is read as that option's own type."""

    while_stopped = True
    option: str
    value: str | int | bool


class ProvePad(CommandBody, frozen=True, kw_only=True):
    """A seat's pad was pressed while nothing depended on it: it works."""

    by = SENSORS
    while_stopped = True
    seat: str


class AssignPad(CommandBody, frozen=True, kw_only=True):
    """Give a seat another pad, or none: an empty device makes it a click seat."""

    while_stopped = True
    seat: str
    device: str = ""
    input: int = 0


class NotePad(CommandBody, frozen=True, kw_only=True):
    """A device became fit or unfit for a ranked race (see `companion.core.seat.PadNote`)."""

    by = frozenset({Role.SENSOR})
    while_stopped = True
    device: str
    u_ns: int | None = None
    limit_ns: int = 0
    doubt: str = ""
    race_class: str = "ranked"


class WaivePad(CommandBody, frozen=True, kw_only=True):
    """Let a device take part in ranked races though it is not fit: in this round, or until this is undone.

    Rule: TABLE-12
    """

    while_stopped = True
    device: str
    is_for_round: bool = True
    why: str = ""


class Join(CommandBody, frozen=True, kw_only=True):
    """A player sits down."""

    while_stopped = True
    name: str
    device: str = ""
    input: int = 0


class Leave(CommandBody, frozen=True, kw_only=True):
    """A player goes for good."""

    while_stopped = True
    seat: str


# Doubtful readings


class Propose(CommandBody, frozen=True, kw_only=True):
    """A reading not sure enough to act on: `command` waits for a person.

    `reading`: what was read, in words. `confidence`: 0 to 1. `evidence`: references as in a ruling.
    """

    by = ANYONE
    command: Command
    reading: str
    confidence: float
    evidence: tuple[str, ...] = ()


class Confirm(CommandBody, frozen=True, kw_only=True):
    """Yes: do what the proposal says."""

    proposal: int


class Reject(CommandBody, frozen=True, kw_only=True):
    """No: drop the proposal."""

    while_stopped = True
    proposal: int
    why: str = ""


class CorrectDie(CommandBody, frozen=True, kw_only=True):
    """A die that lay still in frame `frame` of camera `source` shows `value`, whatever was read.

    `die`: as it was told; an empty `value`: no die is there. `learn`: the eyes may learn from it. What the game has
    noted of the die is put right where it can be. Rule: TABLE-13
    """

    while_stopped = True
    source: str
    frame: int
    die: DieSeen
    value: int | str
    learn: bool = True


# Corrections. `orphans` names the later entries that lose their effect, as the preview showed them; a
# correction that would orphan others than these is refused with the right list.


class Undo(CommandBody, frozen=True, kw_only=True):
    """Take the last effective entry back."""

    is_correction = True
    while_stopped = True
    why: str = ""


class Void(CommandBody, frozen=True, kw_only=True):
    """An entry did not happen. Voiding a correction brings back what it took away."""

    is_correction = True
    while_stopped = True
    entry: int
    why: str
    orphans: tuple[int, ...] = ()


class Replace(CommandBody, frozen=True, kw_only=True):
    """Instead of an entry something else happened, at the same instant."""

    is_correction = True
    while_stopped = True
    entry: int
    command: Command
    why: str
    orphans: tuple[int, ...] = ()


class Insert(CommandBody, frozen=True, kw_only=True):
    """Something happened just before an entry, and nobody noted it."""

    is_correction = True
    while_stopped = True
    before: int
    command: Command
    why: str
    orphans: tuple[int, ...] = ()


COMMANDS: tuple[type[Command], ...] = (
    Start, Stop, Resume, OpenReview, CloseReview, ReleaseEvidence, SetAccommodation, ChangeOption, ProvePad,
    AssignPad, NotePad, WaivePad, Join, Leave, Propose, Confirm, Reject, CorrectDie, Undo, Void, Replace,
    Insert,
)  # fmt: skip
