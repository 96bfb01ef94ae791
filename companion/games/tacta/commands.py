"""What may be asked for at a table of Tacta."""

from __future__ import annotations

from companion.core.clock import Stamp
from companion.core.command import ANYONE, CLOCK, SEATS, SENSORS, Command, CommandBody
from companion.core.geometry import Pose


class TakeColour(CommandBody, frozen=True, kw_only=True):
    """A seat takes the deck of a colour; a team takes one together. Rule: TACTA-23"""

    by = SEATS
    seat: str
    colour: str


class PassSuits(CommandBody, frozen=True, kw_only=True):
    """A seat plays with `keeps` of its own and passes `passes` to the left. Rule: TACTA-21"""

    by = SEATS
    seat: str
    keeps: str
    passes: str


class Begin(CommandBody, frozen=True, kw_only=True):
    """All decks are shuffled and the starting card lies on the table: `pose` of its top-left corner in table mm,
    None where nobody measured it. Rule: TACTA-3 TACTA-23"""

    by = SENSORS
    pose: Pose | None = None
    flipped: bool = False
    u_mm: float = 0.0


class ShowEnds(CommandBody, frozen=True, kw_only=True):
    """The outermost cards of a seat's deck, as ``COLOUR:CARD`` or ``CARD`` of its own colour. Rule: TACTA-4 TACTA-5"""

    by = ANYONE
    seat: str
    cards: tuple[str, ...]


class CallStart(CommandBody, frozen=True, kw_only=True):
    """Count down to the start of free play. Rule: TACTA-20"""


class GiveStart(CommandBody, frozen=True, kw_only=True):
    """The instant of the start has come."""

    by = CLOCK


class Lay(CommandBody, frozen=True, kw_only=True):
    """A hand left this card of the seat on the table; `card` as in `ShowEnds`.

    `pose` of the top-left corner of the face that is up, in table mm, with its uncertainty `u_mm` and `u_deg`; without
    a pose the table's word counts. `stamp`: when the hand left, None for now. `no_play`: the player said that neither
    outermost card has a legal play. Rule: TACTA-6 TACTA-10 TACTA-11
    """

    by = ANYONE
    seat: str
    card: str
    flipped: bool = False
    pose: Pose | None = None
    u_mm: float = 0.0
    u_deg: float = 0.0
    stamp: Stamp | None = None
    no_play: bool = False


class SayNoPlay(CommandBody, frozen=True, kw_only=True):
    """The player says that neither outermost card has a legal play; it is checked where places are known.
    Rule: TACTA-11"""

    by = SEATS
    seat: str


class Aim(CommandBody, frozen=True, kw_only=True):
    """A seat wants to be guided to one of its legal plays, `at` as `phrases.key_of` names it; empty: no more."""

    by = SEATS
    seat: str
    at: str


class NoteLaying(CommandBody, frozen=True, kw_only=True):
    """The card that a guided seat lays lies at `pose`, not yet where it aims; it is not released. Rule: TACTA-10"""

    by = SENSORS
    seat: str
    flipped: bool
    pose: Pose


class BoxCard(CommandBody, frozen=True, kw_only=True):
    """No legal play and no free place: one outermost card goes to the box. Rule: TACTA-11"""

    by = SEATS
    seat: str
    card: str


class RuleCard(CommandBody, frozen=True, kw_only=True):
    """The table decides about card number `n`: legal or not. `is_covered`: another lies on it, None to go by the
    poses. Rule: TACTA-9 TACTA-12 TACTA-13"""

    n: int
    is_legal: bool
    is_covered: bool | None = None
    why: str = ""


class NoteBump(CommandBody, frozen=True, kw_only=True):
    """Card number `n` was pushed out of its place by `moved_mm`. Rule: TACTA-10"""

    by = SENSORS
    n: int
    moved_mm: float = 0.0


class NoteRestored(CommandBody, frozen=True, kw_only=True):
    """Card number `n` lies where it lay before it was bumped. Rule: TACTA-10"""

    by = SENSORS
    n: int


class EnterDots(CommandBody, frozen=True, kw_only=True):
    """Visible dots of a colour as people or a photograph count them. Rule: TACTA-14 TACTA-2"""

    by = SENSORS
    colour: str
    dots: int


class Score(CommandBody, frozen=True, kw_only=True):
    """Count the round: illegal cards are taken away first. Rule: TACTA-13 TACTA-14"""


class NextRound(CommandBody, frozen=True, kw_only=True):
    """Clear the table and play the next round. Rule: TACTA-16 TACTA-17"""


COMMANDS: tuple[type[Command], ...] = (
    TakeColour, PassSuits, Begin, ShowEnds, CallStart, GiveStart, SayNoPlay, Aim, NoteLaying, Lay, BoxCard, RuleCard,
    NoteBump, NoteRestored, EnterDots, Score, NextRound,
)  # fmt: skip
