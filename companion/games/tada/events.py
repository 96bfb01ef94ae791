"""What happened at a table of Ta-Da!"""

from __future__ import annotations

from companion.core.clock import Stamp
from companion.core.event import Event, EventBody


class HandsDealt(EventBody, frozen=True, kw_only=True):
    """Hands were filled with `drawn`; the piles as they are now, top first."""

    drawn: dict[str, tuple[str, ...]]
    deck: tuple[str, ...]
    discard: tuple[str, ...]
    reshuffled: bool = False


class FeatRevealed(EventBody, frozen=True, kw_only=True):
    """This feat binds everyone; the feat piles as they are now."""

    feat: str
    feats: tuple[str, ...]
    feat_discard: tuple[str, ...]
    instead_of: str = ""
    why: str = ""


class EffectWaived(EventBody, frozen=True, kw_only=True):
    """The seat need not suffer that spell's effect."""

    seat: str
    spell: str
    why: str = ""


class SpellChosen(EventBody, frozen=True, kw_only=True):
    """The seat will cast this spell (secret until revealed)."""

    seat: str
    spell: str


class SpellsRevealed(EventBody, frozen=True, kw_only=True):
    """All chosen spells lie face up."""


class CasterReady(EventBody, frozen=True, kw_only=True):
    """These seats have all dice in the cup."""

    seats: tuple[str, ...]


class GoSet(EventBody, frozen=True, kw_only=True):
    """GO comes for these seats at host instant `at_ns`, each shifted as agreed."""

    at_ns: int
    seats: tuple[str, ...]


class GoGiven(EventBody, frozen=True, kw_only=True):
    """GO has come for these seats. To undo means to undo the call for it."""

    is_bookkeeping = True
    seats: tuple[str, ...]


class FalseStarted(EventBody, frozen=True, kw_only=True):
    """A slam before GO."""

    seat: str
    stamp: Stamp


class RollSeen(EventBody, frozen=True, kw_only=True):
    """The seat rolled these symbols."""

    seat: str
    symbols: tuple[str, ...]


class DieLocked(EventBody, frozen=True, kw_only=True):
    """A die lies on a slot."""

    seat: str
    slot: int
    symbol: str


class DieReturned(EventBody, frozen=True, kw_only=True):
    """A die went back in the cup."""

    seat: str
    slot: int
    why: str = ""


class TaDaCalled(EventBody, frozen=True, kw_only=True):
    """The seat called TA-DA!"""

    seat: str


class Slammed(EventBody, frozen=True, kw_only=True):
    """The seat's cup came down at `stamp`."""

    seat: str
    stamp: Stamp


class SlamVerified(EventBody, frozen=True, kw_only=True):
    """The dice on the spell were looked at."""

    seat: str
    slam: int
    complete: bool
    symbols: tuple[str, ...] = ()


class ProtestNoted(EventBody, frozen=True, kw_only=True):
    """A slam from before the end became known after it."""

    seat: str
    stamp: Stamp


class ProtestsClosed(EventBody, frozen=True, kw_only=True):
    """Nobody took these slams up: they are no claims any more, unless somebody looks at them all the same."""

    slams: tuple[int, ...]


class BreachFound(EventBody, frozen=True, kw_only=True):
    """The seat broke the feat, an effect or a lock, and is out of the round."""

    seat: str
    of: str
    note: str = ""


class GaveUp(EventBody, frozen=True, kw_only=True):
    """The seat stopped casting."""

    seat: str


class TurnEnded(EventBody, frozen=True, kw_only=True):
    """Where they cast in turn: the round clock ran out for these seats, and the next may cast."""

    seats: tuple[str, ...]


class ClockExtended(EventBody, frozen=True, kw_only=True):
    """The round clock was given more (or less) time."""

    by_s: int


class RuledOut(EventBody, frozen=True, kw_only=True):
    """These seats can no longer take a place."""

    is_bookkeeping = True
    seats: tuple[str, ...]


class CastEnded(EventBody, frozen=True, kw_only=True):
    """Nobody casts any more; `by_clock`: the round clock ran out."""

    by_clock: bool = False


class HeatSettled(EventBody, frozen=True, kw_only=True):
    """The table settled a dead heat for a ``place`` or the ``win``."""

    of: str
    winners: tuple[str, ...]


class OrderEntered(EventBody, frozen=True, kw_only=True):
    """People entered the finishing order."""

    order: tuple[tuple[str, ...], ...]
    why: str = ""


class RoundVoided(EventBody, frozen=True, kw_only=True):
    """The round does not count."""

    why: str = ""


class RoundResolved(EventBody, frozen=True, kw_only=True):
    """Spells were scored and discarded."""


class EffectAimed(EventBody, frozen=True, kw_only=True):
    """The seat chose who suffers its effect, or nobody."""

    seat: str
    target: str = ""


EVENTS: tuple[type[Event], ...] = (
    HandsDealt, FeatRevealed, EffectWaived, SpellChosen, SpellsRevealed, CasterReady, GoSet, GoGiven,
    FalseStarted, RollSeen, DieLocked, DieReturned, TaDaCalled, Slammed, SlamVerified, ProtestNoted,
    ProtestsClosed,
    BreachFound, GaveUp, TurnEnded, ClockExtended, RuledOut, CastEnded, HeatSettled, OrderEntered, RoundVoided,
    RoundResolved, EffectAimed,
)  # fmt: skip
