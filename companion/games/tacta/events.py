"""What happened at a table of Tacta."""

from __future__ import annotations

from companion.core.clock import Stamp
from companion.core.event import Event, EventBody
from companion.core.geometry import Pose
from companion.games.tacta.placement import Judged


class ColourTaken(EventBody, frozen=True, kw_only=True):
    """A seat plays with this colour."""

    seat: str
    colour: str


class SuitsPassed(EventBody, frozen=True, kw_only=True):
    """A seat keeps one suit and passes another to the left."""

    seat: str
    keeps: str
    passes: str


class RoundBegun(EventBody, frozen=True, kw_only=True):
    """The starting card lies on the table, decks are in the hands."""

    pose: Pose | None
    flipped: bool
    u_mm: float


class EndsShown(EventBody, frozen=True, kw_only=True):
    """The outermost cards of a seat's deck, as ``COLOUR:CARD``."""

    seat: str
    cards: tuple[str, ...]


class StartSet(EventBody, frozen=True, kw_only=True):
    """Free play starts at host instant `at_ns`."""

    at_ns: int


class Started(EventBody, frozen=True, kw_only=True, tag="FreePlayStarted"):
    """Free play has started."""


class CardLaid(EventBody, frozen=True, kw_only=True):
    """A card was released on the table, and what was said of it then."""

    seat: str
    card: str
    flipped: bool
    pose: Pose | None
    u_mm: float
    judged: Judged
    is_apart: bool
    stamp: Stamp


class NoPlaySaid(EventBody, frozen=True, kw_only=True):
    """A player said that nothing can be played, and nothing that is known speaks against it; `is_checked`: whether all
    places were known."""

    seat: str
    is_checked: bool


class Aimed(EventBody, frozen=True, kw_only=True):
    """A seat is guided to a play: this side of this card at `pose`; no card when it is guided no more."""

    seat: str
    card: str
    flipped: bool = False
    pose: Pose | None = None


class LayingSeen(EventBody, frozen=True, kw_only=True):
    """The card of a guided seat lies there, not yet where it aims."""

    seat: str
    flipped: bool
    pose: Pose


class CardBoxed(EventBody, frozen=True, kw_only=True):
    """A card went to the box unplayed."""

    seat: str
    card: str


class CardRuled(EventBody, frozen=True, kw_only=True):
    """The table decided about a card; `is_covered`: another lies on it, so it stays until scoring."""

    n: int
    is_legal: bool
    is_covered: bool
    why: str


class CardBumped(EventBody, frozen=True, kw_only=True):
    """A card was pushed out of its place."""

    n: int
    moved_mm: float


class CardRestored(EventBody, frozen=True, kw_only=True):
    """A bumped card lies in its place again."""

    n: int


class DotsEntered(EventBody, frozen=True, kw_only=True):
    """Visible dots of a colour, as people or a photograph count them."""

    colour: str
    dots: int


class RoundScored(EventBody, frozen=True, kw_only=True):
    """The round's visible dots by colour, after these cards were taken away."""

    dots: dict[str, int]
    taken_away: tuple[int, ...]


class RoundCleared(EventBody, frozen=True, kw_only=True):
    """The table is cleared for the next round."""


EVENTS: tuple[type[Event], ...] = (
    ColourTaken, SuitsPassed, RoundBegun, EndsShown, StartSet, Started, NoPlaySaid, Aimed, LayingSeen, CardLaid,
    CardBoxed, CardRuled, CardBumped,
    CardRestored, DotsEntered, RoundScored, RoundCleared,
)  # fmt: skip
