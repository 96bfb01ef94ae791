"""What happened at a table of TAH WARS."""

from __future__ import annotations

from companion.core.event import Event, EventBody
from companion.core.geometry import Point
from companion.core.ruling import Ruling
from companion.games.tahwars.deck import Reward
from companion.games.tahwars.maps import Map
from companion.games.tahwars.model import Castle, Strike


class MapLaid(EventBody, frozen=True, kw_only=True):
    """A map lies on the table."""

    map: Map


class CastlePlaced(EventBody, frozen=True, kw_only=True):
    """A castle stands here."""

    seat: str
    castle: Castle


class FirstChosen(EventBody, frozen=True, kw_only=True):
    """The game begins, with this seat. `teams`: the team of each seat."""

    first: str
    teams: dict[str, str]


class CardTurnedUp(EventBody, frozen=True, kw_only=True):
    """A quest card lies in the line-up."""

    quest: str


class QuestTaken(EventBody, frozen=True, kw_only=True):
    """A seat took a quest of the line-up."""

    seat: str
    quest: str


class QuestDrawn(EventBody, frozen=True, kw_only=True):
    """A seat took the top of the deck; `quest` is named where people deal."""

    seat: str
    quest: str = ""


class QuestDropped(EventBody, frozen=True, kw_only=True):
    """A seat discarded a quest of the line-up."""

    seat: str
    quest: str


class QuestPassed(EventBody, frozen=True, kw_only=True):
    """There was no card to choose."""

    seat: str


class CastleGathered(EventBody, frozen=True, kw_only=True):
    """A castle gave one of this resource; empty: nothing."""

    seat: str
    resource: str


class DieGathered(EventBody, frozen=True, kw_only=True):
    """A die gave this, share by share, and left the board."""

    seat: str
    kind: str
    gives: tuple[tuple[str, int], ...]


class DieStayed(EventBody, frozen=True, kw_only=True):
    """A die stays and shows this now."""

    seat: str
    kind: str
    shows: int
    number: int


class DieRecruited(EventBody, frozen=True, kw_only=True):
    """A die was paid for and is in the population."""

    seat: str
    kind: str
    paid: dict[str, int]


class CrownBought(EventBody, frozen=True, kw_only=True):
    """A crown was bought."""

    seat: str


class TradeFinished(EventBody, frozen=True, kw_only=True):
    """A seat is through with phase 3."""

    seat: str


class CastleMoved(EventBody, frozen=True, kw_only=True):
    """A castle was moved (`how`: ``move``) or turned (``rotate``), and what was said of it."""

    seat: str
    how: str
    castle: Castle
    ruling: Ruling


class MoveTakenBack(EventBody, frozen=True, kw_only=True):
    """A move or rotation was against a rule: the castle stands where it stood and is moved again."""

    seat: str
    how: str
    ruling: Ruling


class AttackDeclared(EventBody, frozen=True, kw_only=True):
    """These dice attack."""

    seat: str
    dice: tuple[str, ...]


class DieLaunched(EventBody, frozen=True, kw_only=True):
    """A die came to rest on the board or beside it. `is_attack`: it was declared; `touched` then counts."""

    seat: str
    kind: str
    shows: int | None
    number: int
    terrains: tuple[str, ...]
    is_off_board: bool
    touched: tuple[str, ...] = ()
    is_attack: bool = False
    xy_mm: Point | None = None


class HitNoted(EventBody, frozen=True, kw_only=True):
    """An attacker touched a tower, or did not after all."""

    seat: str
    kind: str
    tower: str
    is_hit: bool


class DieKnocked(EventBody, frozen=True, kw_only=True):
    """A lying die was pushed by one that seat `by` launched."""

    owner: str
    by: str
    kind: str
    shows: int | None
    number: int
    terrains: tuple[str, ...]
    is_off_board: bool
    xy_mm: Point | None = None


class PutBack(EventBody, frozen=True, kw_only=True):
    """A die, or without a kind the castle, lies where it was last seen."""

    owner: str
    kind: str


class DieStuck(EventBody, frozen=True, kw_only=True):
    """A die did not come out of its tower."""

    seat: str
    kind: str


class DieLaidFlat(EventBody, frozen=True, kw_only=True):
    """A leaning die was laid flat and counts so."""

    owner: str
    kind: str
    shows: int
    number: int


class AttackSettled(EventBody, frozen=True, kw_only=True):
    """What an attack came to; `is_raised`: the attacker's attack rises."""

    seat: str
    strikes: tuple[Strike, ...]
    is_raised: bool


class QuestCompleted(EventBody, frozen=True, kw_only=True):
    """A quest was completed, paid and rewarded."""

    seat: str
    quest: str
    paid: dict[str, int]
    reward: Reward
    because: str


class TurnEnded(EventBody, frozen=True, kw_only=True):
    """Phase 4 is over for a seat."""

    seat: str


class CubesSet(EventBody, frozen=True, kw_only=True):
    """A player board was put right."""

    seat: str
    item: str
    value: int


EVENTS: tuple[type[Event], ...] = (
    MapLaid, CastlePlaced, FirstChosen, CardTurnedUp, QuestTaken, QuestDrawn, QuestDropped, QuestPassed, CastleGathered,
    DieGathered, DieStayed, DieRecruited, CrownBought, TradeFinished, CastleMoved, MoveTakenBack, AttackDeclared,
    DieLaunched, HitNoted, DieKnocked, PutBack, DieStuck, DieLaidFlat, AttackSettled, QuestCompleted, TurnEnded,
    CubesSet,
)  # fmt: skip
