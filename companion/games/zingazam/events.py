"""What happened at a table of Zing-a-Zam."""

from __future__ import annotations

from companion.core.event import Event, EventBody
from companion.games.zingazam.deck import Card


class OldestNamed(EventBody, frozen=True, kw_only=True):
    """Who leads the first round of each game."""

    seat: str


class GameBegun(EventBody, frozen=True, kw_only=True):
    """These seats play, clockwise; their sets are shuffled."""

    seats: tuple[str, ...]


class CardDealt(EventBody, frozen=True, kw_only=True):
    """A card came to the right end of a seat's hand. Secret from its owner unless it faces them."""

    seat: str
    number: int
    faces_owner: bool


class HandSpoiled(EventBody, frozen=True, kw_only=True):
    """A hand is dealt again: `why` in a sentence."""

    seat: str
    why: str


class CardPlayed(EventBody, frozen=True, kw_only=True):
    """A card lies in play. `position` in the hand where that is known, else 0; `faced` empty: to be asked."""

    seat: str
    card: Card
    position: int = 0
    faced: str = ""


class FacingTold(EventBody, frozen=True, kw_only=True):
    """Whom the card that was just played faced."""

    seat: str
    faced: str


class OneKept(EventBody, frozen=True, kw_only=True):
    """A 1 waits for the end of the round."""

    seat: str


class AbilitySkipped(EventBody, frozen=True, kw_only=True):
    """An ability cannot be used: which, by which rule, and why."""

    seat: str
    ability: int
    rule: str
    because: str


class CardTaken(EventBody, frozen=True, kw_only=True):
    """A card went from one score pile to the top of another; `place` counted from 1 at the top."""

    seat: str
    source: str
    place: int
    card: Card


class CardTurned(EventBody, frozen=True, kw_only=True):
    """A card that faced the others faces its owner; `position` where it is known, else 0."""

    seat: str
    position: int = 0


class CatDrawn(EventBody, frozen=True, kw_only=True):
    """A Cat Companion came to the right end of a hand, facing its owner."""

    seat: str


class CatTold(EventBody, frozen=True, kw_only=True):
    """Which Cat Companion it was. Secret from all but its owner."""

    seat: str
    number: int


class AbilityCopied(EventBody, frozen=True, kw_only=True):
    """A 5 uses this number's ability."""

    seat: str
    ability: int


class CardChosen(EventBody, frozen=True, kw_only=True):
    """`target` must play the card at `position`."""

    seat: str
    target: str
    position: int


class PlayerFrozen(EventBody, frozen=True, kw_only=True):
    """`target` plays no card in this round."""

    seat: str
    target: str


class CardGiven(EventBody, frozen=True, kw_only=True):
    """A card went from the own score pile to the top of another's; `place` counted from 1 at the top."""

    seat: str
    to: str
    place: int
    card: Card


class RoundWon(EventBody, frozen=True, kw_only=True):
    """The winner took all cards of the round, and by which rule they won."""

    seat: str
    rule: str
    because: str


class PileStacked(EventBody, frozen=True, kw_only=True):
    """In which order the cards that were taken last lie, the last on top; by their numbers in the order played."""

    seat: str
    order: tuple[int, ...]


class GameCleared(EventBody, frozen=True, kw_only=True):
    """The next game may begin."""


EVENTS: tuple[type[Event], ...] = (
    OldestNamed, GameBegun, CardDealt, HandSpoiled, CardPlayed, FacingTold, OneKept, AbilitySkipped, CardTaken,
    CardTurned, CatDrawn, CatTold, AbilityCopied, CardChosen, PlayerFrozen, CardGiven, RoundWon, PileStacked,
    GameCleared,
)  # fmt: skip
