"""What may be asked for at a table of Ta-Da!"""

from __future__ import annotations

from companion.core.clock import Stamp
from companion.core.command import ANYONE, CLOCK, SEATS, SENSORS, Command, CommandBody


class Deal(CommandBody, frozen=True, kw_only=True):
    """Fill every hand to two spells. Rule: TADA-6"""


class RevealFeat(CommandBody, frozen=True, kw_only=True):
    """Turn the round's feat up; `feat` names it where the table holds the cards. Rule: TADA-8"""

    by = SENSORS
    feat: str = ""


class ReplaceFeat(CommandBody, frozen=True, kw_only=True):
    """Somebody cannot do this feat: take another one. Rule: TADA-26"""

    why: str = ""
    feat: str = ""


class WaiveEffect(CommandBody, frozen=True, kw_only=True):
    """A seat need not suffer an effect this round (it cannot, or not with the feat). Rule: TADA-22 TADA-26"""

    seat: str
    spell: str
    why: str = ""


class ChooseSpell(CommandBody, frozen=True, kw_only=True):
    """Choose the spell to cast, in secret; or it lies face up where a camera sees it. Rule: TADA-10"""

    by = ANYONE
    seat: str
    spell: str


class Reveal(CommandBody, frozen=True, kw_only=True):
    """Turn all chosen spells up. Rule: TADA-10"""

    by = SENSORS


class Ready(CommandBody, frozen=True, kw_only=True):
    """All six dice of this seat are in the cup. Rule: TADA-11"""

    by = SEATS
    seat: str


class ReadyAll(CommandBody, frozen=True, kw_only=True):
    """All dice of all casters are in their cups. Rule: TADA-11"""


class CallGo(CommandBody, frozen=True, kw_only=True):
    """Start the countdown to GO for all, or, where they cast in turn, for `caster`. Rule: TADA-11"""

    caster: str = ""


class GiveGo(CommandBody, frozen=True, kw_only=True):
    """The instant of GO has come."""

    by = CLOCK


class RecordRoll(CommandBody, frozen=True, kw_only=True):
    """A seat rolled these symbols; none when nobody read them. Rule: TADA-12"""

    by = SENSORS
    seat: str
    symbols: tuple[str, ...]


class LockDie(CommandBody, frozen=True, kw_only=True):
    """A die with this symbol lies on a slot (counted from 0) of the seat's spell. Rule: TADA-12"""

    by = ANYONE
    seat: str
    slot: int
    symbol: str


class ReturnDie(CommandBody, frozen=True, kw_only=True):
    """A wrong or second lock was seen before the slam: that die goes back. Rule: TADA-12"""

    seat: str
    slot: int
    why: str = ""


class CallTaDa(CommandBody, frozen=True, kw_only=True):
    """The seat called TA-DA! Rule: TADA-14"""

    by = ANYONE
    seat: str


class Slam(CommandBody, frozen=True, kw_only=True):
    """The seat's cup came down; `stamp` None when a person clicked for it. Rule: TADA-14"""

    by = ANYONE
    seat: str
    stamp: Stamp | None = None
    is_early: bool = False


class VerifySlam(CommandBody, frozen=True, kw_only=True):
    """Slam number `slam` of the seat had all symbols, or not; `symbols` as they lie. Rule: TADA-15"""

    seat: str
    slam: int
    complete: bool
    symbols: tuple[str, ...] = ()


class FlagBreach(CommandBody, frozen=True, kw_only=True):
    """A seat did not keep the `feat`, an `effect` or a `lock`; a sensor only proposes it. Rule: TADA-9"""

    by = SENSORS
    seat: str
    of: str = "feat"
    note: str = ""


class GiveUp(CommandBody, frozen=True, kw_only=True):
    """A caster stops casting for this round."""

    by = SEATS
    seat: str


class ExtendClock(CommandBody, frozen=True, kw_only=True):
    """Give the round clock more (or less) time."""

    by_s: int


class TimeUp(CommandBody, frozen=True, kw_only=True):
    """The round clock has run out."""

    by = CLOCK


class RuleOut(CommandBody, frozen=True, kw_only=True):
    """From now on no slam could still take a place. Rule: TADA-19"""

    by = CLOCK


class CloseProtests(CommandBody, frozen=True, kw_only=True):
    """Nobody took up the protests in time: the result stands. Rule: TADA-19"""

    by = CLOCK


class EndCast(CommandBody, frozen=True, kw_only=True):
    """Call the end of the cast. Rule: TADA-19"""


class SettleHeat(CommandBody, frozen=True, kw_only=True):
    """Who of a dead heat gets what is left; `of` is ``place`` or ``win``. Rule: TADA-18"""

    of: str
    winners: tuple[str, ...]


class EnterOrder(CommandBody, frozen=True, kw_only=True):
    """The finishing order as people saw it, ties together; who is not named did not finish."""

    order: tuple[tuple[str, ...], ...]
    why: str = ""


class VoidRound(CommandBody, frozen=True, kw_only=True):
    """The round does not count and is cast anew with the same hands and feat."""

    why: str = ""


class Resolve(CommandBody, frozen=True, kw_only=True):
    """Score the round. Rule: TADA-20"""


class ChooseTarget(CommandBody, frozen=True, kw_only=True):
    """Who suffers the effect of the seat's spell; empty for nobody. Rule: TADA-21"""

    by = SEATS
    seat: str
    target: str = ""


COMMANDS: tuple[type[Command], ...] = (
    Deal, RevealFeat, ReplaceFeat, WaiveEffect, ChooseSpell, Reveal, Ready, ReadyAll, CallGo, GiveGo,
    RecordRoll, LockDie, ReturnDie, CallTaDa, Slam, VerifySlam, FlagBreach, GiveUp, ExtendClock, TimeUp,
    RuleOut, CloseProtests, EndCast, SettleHeat, EnterOrder, VoidRound, Resolve, ChooseTarget,
)  # fmt: skip
