"""What may be asked for at a table of TAH WARS."""

from __future__ import annotations

from companion.core.command import ANYONE, SEATS, SENSORS, Command, CommandBody
from companion.core.geometry import Point
from companion.games.tahwars.maps import Map


class LayMap(CommandBody, frozen=True, kw_only=True):
    """A map lies in the middle of the table: one of the data by its name, or a painted one. Rule: TAH-2"""

    name: str = ""
    map: Map | None = None


class PlaceCastle(CommandBody, frozen=True, kw_only=True):
    """A castle stands at its player's edge, or where it is put right.

    `terrains` by the table's word (``unpainted`` alone where nothing is painted); measured, the middle of its foot
    `xy_mm` on the map and its heading.
    Rule: TAH-2 TAH-34
    """

    by = ANYONE
    seat: str
    terrains: tuple[str, ...] = ()
    xy_mm: Point | None = None
    heading_deg: float = 0.0
    u_mm: float = 0.0
    u_deg: float = 0.0


class ChooseFirst(CommandBody, frozen=True, kw_only=True):
    """This seat gets the first-player marker, and the game begins. Rule: TAH-2 TAH-3"""

    first: str


class TurnUp(CommandBody, frozen=True, kw_only=True):
    """This quest card was turned up for the line-up, where people deal. Rule: TAH-2 TAH-6"""

    by = SENSORS
    quest: str


class TakeQuest(CommandBody, frozen=True, kw_only=True):
    """Phase 1 (a): take a quest of the line-up. Rule: TAH-6"""

    by = SEATS
    seat: str
    quest: str


class DrawQuest(CommandBody, frozen=True, kw_only=True):
    """Phase 1 (b): take the top of the deck; `quest` says which it was, where people deal. Rule: TAH-6"""

    by = SEATS
    seat: str
    quest: str = ""


class DropQuest(CommandBody, frozen=True, kw_only=True):
    """Phase 1 (c): discard a quest of the line-up. Rule: TAH-6"""

    by = SEATS
    seat: str
    quest: str


class PassQuest(CommandBody, frozen=True, kw_only=True):
    """Phase 1 where no card is left to choose. Rule: TAH-6"""

    by = SEATS
    seat: str


class GatherCastle(CommandBody, frozen=True, kw_only=True):
    """Phase 2: the castle's resource; empty where there is no choice. Rule: TAH-7"""

    by = SEATS
    seat: str
    resource: str = ""


class Gather(CommandBody, frozen=True, kw_only=True):
    """Phase 2: a die gathers. `split` where there is a choice, as ``forest 3, city fish``. Rule: TAH-9"""

    by = SEATS
    seat: str
    kind: str
    split: str = ""


class Stay(CommandBody, frozen=True, kw_only=True):
    """Phase 2: a die stays and is turned up by one. Rule: TAH-11"""

    by = SEATS
    seat: str
    kind: str


class Recruit(CommandBody, frozen=True, kw_only=True):
    """Phase 3: pay for a die. Rule: TAH-12"""

    by = SEATS
    seat: str
    kind: str


class BuyCrown(CommandBody, frozen=True, kw_only=True):
    """Phase 3: three of each resource for a crown. Rule: TAH-12 TAH-31"""

    by = SEATS
    seat: str


class FinishTrade(CommandBody, frozen=True, kw_only=True):
    """Phase 3: this seat buys no more. Rule: TAH-12 TAH-31"""

    by = SEATS
    seat: str


class MoveCastle(CommandBody, frozen=True, kw_only=True):
    """Phase 4: the castle was slid; where it stands now as in `PlaceCastle`. Rule: TAH-14 TAH-15"""

    by = ANYONE
    seat: str
    terrains: tuple[str, ...] = ()
    xy_mm: Point | None = None
    heading_deg: float = 0.0
    u_mm: float = 0.0
    u_deg: float = 0.0


class RotateCastle(CommandBody, frozen=True, kw_only=True):
    """Phase 4: the castle was turned; measured, its place and heading now. Rule: TAH-14 TAH-16"""

    by = ANYONE
    seat: str
    xy_mm: Point | None = None
    heading_deg: float = 0.0
    u_mm: float = 0.0
    u_deg: float = 0.0


class TakeBackMove(CommandBody, frozen=True, kw_only=True):
    """The table says that a move or rotation was against a rule: it is taken back and done again. Rule: TAH-37"""

    seat: str
    rule: str
    why: str = ""


class DeclareAttack(CommandBody, frozen=True, kw_only=True):
    """Phase 4: these dice attack. Rule: TAH-19"""

    by = SEATS
    seat: str
    dice: tuple[str, ...]


class DropDie(CommandBody, frozen=True, kw_only=True):
    """A die was dropped through its tower and came to rest; `shows` what it shows, None where that was not seen.

    `terrains` by the table's word, or `xy_mm` measured; `touched`: towers that it touched before it came to rest.
    Rule: TAH-3 TAH-18 TAH-20
    """

    by = ANYONE
    seat: str
    kind: str
    shows: int | None = None
    terrains: tuple[str, ...] = ()
    is_off_board: bool = False
    touched: tuple[str, ...] = ()
    xy_mm: Point | None = None


class NoteHit(CommandBody, frozen=True, kw_only=True):
    """A launched attacker touched a tower, or it did not after all. Rule: TAH-20"""

    by = SENSORS
    seat: str
    kind: str
    tower: str
    is_hit: bool = True


class NoteKnock(CommandBody, frozen=True, kw_only=True):
    """A launched die pushed `owner`'s die: what it shows and where it lies now. Rule: TAH-25 TAH-33"""

    by = SENSORS
    owner: str
    kind: str
    shows: int | None = None
    terrains: tuple[str, ...] = ()
    is_off_board: bool = False
    xy_mm: Point | None = None


class NotePutBack(CommandBody, frozen=True, kw_only=True):
    """A hand, sleeve or tower moved `owner`'s die (without a kind: something moved the castle): it is put back as last
    seen. Rule: TAH-33 TAH-37"""

    by = SENSORS
    owner: str
    kind: str = ""


class NoteStuck(CommandBody, frozen=True, kw_only=True):
    """A die is stuck in its tower: it is dropped again. Rule: TAH-36"""

    by = SENSORS
    seat: str
    kind: str


class LayFlat(CommandBody, frozen=True, kw_only=True):
    """A leaning or stacked die of `owner` is laid flat, and the table says what it counts as. Rule: TAH-36"""

    owner: str
    kind: str
    shows: int


class SettleAttack(CommandBody, frozen=True, kw_only=True):
    """All declared dice lie still: the attack is counted. Rule: TAH-21 TAH-22"""

    by = SEATS
    seat: str


class CompleteQuest(CommandBody, frozen=True, kw_only=True):
    """A quest is completed at the end of the turn; `dice` that lie in the castle's area, by the table's word where
    nothing is measured. Rule: TAH-26"""

    by = SEATS
    seat: str
    quest: str
    dice: tuple[str, ...] = ()


class EndTurn(CommandBody, frozen=True, kw_only=True):
    """Phase 4 is over for this seat. Rule: TAH-5 TAH-25"""

    by = SEATS
    seat: str


class SetCubes(CommandBody, frozen=True, kw_only=True):
    """A player board is put right: `item` is a resource, ``shield``, ``attack`` or ``health``. Rule: TAH-10"""

    seat: str
    item: str
    value: int


COMMANDS: tuple[type[Command], ...] = (
    LayMap, PlaceCastle, ChooseFirst, TurnUp, TakeQuest, DrawQuest, DropQuest, PassQuest, GatherCastle, Gather, Stay,
    Recruit, BuyCrown, FinishTrade, MoveCastle, RotateCastle, TakeBackMove, DeclareAttack, DropDie, NoteHit, NoteKnock,
    NotePutBack, NoteStuck, LayFlat, SettleAttack, CompleteQuest, EndTurn, SetCubes,
)  # fmt: skip
