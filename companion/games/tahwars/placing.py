"""Where castles and dice stand: by the table's word, or measured."""

from __future__ import annotations

import math
from functools import lru_cache

from companion.core.geometry import Point
from companion.core.ruling import Ruling, Verdict, breach, ok
from companion.games.tahwars import commands as c
from companion.games.tahwars.deck import Die, Quest
from companion.games.tahwars.ground import (
    CastleAt,
    Gap,
    Ground,
    Measured,
    castle_foot,
    die_foot,
    faults,
    gaps,
    is_on_map,
    judge,
)
from companion.games.tahwars.maps import TERRAINS, UNPAINTED, Map
from companion.games.tahwars.model import Castle, Piece, Player, Table, data_of, in_order, on_board, title
from companion.games.tahwars.rulebook import MOST_TERRAINS

Placing = c.PlaceCastle | c.MoveCastle | c.RotateCastle
Why = tuple[str, str] | None
"""Rule and reason why not; None where nothing speaks against it."""
FAR_MM, MOST_U_MM = 10_000.0, 50.0
"""A place that is less sure than this says nothing about a stick's length."""
UNKNOWN_DEG = 180.0
"""The uncertainty of a heading that nobody measured."""


@lru_cache(maxsize=8)
def ground_for(found: Map) -> Ground | None:
    """A map worked out, None for one that cannot be played on."""
    return None if faults(found) else Ground(found)


def ground_of(table: Table) -> Ground | None:
    """The ground in play, None while no map is laid."""
    laid = table.game.map
    return ground_for(laid) if laid is not None else None


def why_not_map(found: Map) -> str:
    """Why a map cannot be played on, in words; empty when it can. Rule: TAH-2"""
    return next((fault.words for fault in faults(found)), "")


def why_not_terrains(terrains: tuple[str, ...]) -> Why:
    """Why nothing can stand on these terrains. Rule: TAH-4 TAH-34"""
    if terrains == (UNPAINTED,):
        return None
    if strange := [name for name in terrains if name not in TERRAINS]:
        return "TAH-4", f"There is no terrain {strange[0][:30]!r}; there are: {', '.join(TERRAINS)}."
    if len(terrains) > MOST_TERRAINS or len(set(terrains)) != len(terrains):
        return "TAH-34", f"A footprint stands on at most {MOST_TERRAINS} terrains, each named once."
    return None


def painted(terrains: tuple[str, ...]) -> tuple[str, ...]:
    """The terrains that people named, none where they said that the ground is unpainted."""
    return tuple(name for name in terrains if name != UNPAINTED)


WHERE = ("TAH-34", "Say on which terrain it stands or lies, or that the ground there is unpainted.")


def why_not_place(table: Table, xy_mm: Point | None) -> Why:
    """Why nothing can be measured there."""
    if xy_mm is None:
        return None
    if not all(math.isfinite(v) and abs(v) <= FAR_MM for v in xy_mm):
        return "TAH-34", "A place is given in mm from the map's corner."
    if ground_of(table) is None:
        return "TAH-2", "No map is laid on which a place could be measured: name the terrains."
    return None


def why_not_castle(table: Table, command: Placing) -> Why:
    """Why a castle cannot be said to stand so; whether it may is another question."""
    terrains = getattr(command, "terrains", ())
    if found := why_not_terrains(terrains) or why_not_place(table, command.xy_mm):
        return found
    if isinstance(command, c.PlaceCastle) and not terrains and command.xy_mm is None:
        return WHERE
    numbers = (command.heading_deg, command.u_mm, command.u_deg)
    if not all(math.isfinite(v) and abs(v) <= FAR_MM for v in numbers):
        return "TAH-16", "A heading is given in degrees."
    if not (0 <= command.u_mm <= MOST_U_MM and 0 <= command.u_deg <= UNKNOWN_DEG):
        return "TAH-15", f"A castle's place is known to {MOST_U_MM:g} mm at least, or it is left out."
    return None


def castle_at(table: Table, command: Placing) -> Castle:
    """The castle as it stands then: the table's word on terrains outranks what is measured; a castle that is moved
    without a word stays on its terrains. Rule: TAH-34"""
    said = getattr(command, "terrains", ())
    ground, xy = ground_of(table), command.xy_mm
    if xy is None or ground is None:
        old = table.game.players[command.seat].castle
        return Castle(terrains=painted(said) if said or old is None else old.terrains)
    foot = castle_foot(xy, command.heading_deg, data_of(table).tower_mm)
    return Castle(
        terrains=painted(said) if said else ground.terrains_of(foot), xy_mm=xy, heading_deg=command.heading_deg,
        u_mm=command.u_mm, u_deg=command.u_deg,
    )  # fmt: skip


def terrains_of_die(table: Table, die: Die, xy_mm: Point | None) -> tuple[str, ...]:
    """The terrains that a die at a measured place lies on. Rule: TAH-34"""
    ground = ground_of(table)
    if xy_mm is None or ground is None:
        return ()
    return ground.terrains_of(die_foot(xy_mm, die.footprint_mm))[:MOST_TERRAINS]


def shifted(old: Castle, new: Castle) -> tuple[Measured, Measured] | None:
    """How far a castle went, in mm, and turned, in degrees; None where one place is not known."""
    if old.xy_mm is None or new.xy_mm is None:
        return None
    turn = ((new.heading_deg or 0.0) - (old.heading_deg or 0.0) + 180) % 360 - 180
    moved = Measured(math.dist(old.xy_mm, new.xy_mm), math.hypot(old.u_mm, new.u_mm))
    return moved, Measured(turn, math.hypot(old.u_deg, new.u_deg))


def judged_move(table: Table, seat: str, how: str, new: Castle) -> Ruling:
    """What is said of a move or rotation to this place. Rule: TAH-15 TAH-16 TAH-17 TAH-37"""
    old = table.game.players[seat].castle
    went = shifted(old, new) if old is not None else None
    if went is None or new.u_deg >= UNKNOWN_DEG:
        rule, limits = (
            ("TAH-15", "within the stick, not turned") if how == "move" else ("TAH-16", "on the spot")
        )
        return ok(rule, f"Nobody measured {table.name(seat)}'s castle; the table says: {limits}.", seat)
    found = judge(how, *went, data_of(table).stick_mm)
    wrong = judged_place(table, seat, new)
    if wrong is not None and (found.verdict is Verdict.OK or wrong.verdict is Verdict.BREACH):
        return wrong
    return Ruling(verdict=found.verdict, rule=found.rule, because=found.because, seat=seat)


def judged_place(table: Table, seat: str, castle: Castle) -> Ruling | None:
    """What speaks against a castle at this measured place; None where nothing does. Rule: TAH-17 TAH-37"""
    ground = ground_of(table)
    if castle.xy_mm is None or ground is None:
        return None
    side = data_of(table).tower_mm
    here = _at(seat, castle)
    on_map = is_on_map(here, side, ground.map.board_mm) if here else Verdict.OK
    if on_map is Verdict.BREACH:
        return breach("TAH-37", f"{table.name(seat)}'s castle stands beyond the rim of the map.", seat)
    if under := _dice_under(table, castle, side):
        return breach("TAH-37", f"{table.name(seat)}'s castle stands where {under} lies.", seat)
    gap = _narrowest(table, seat, castle)
    if gap is not None and gap.verdict is not Verdict.OK:
        other = table.name(gap.other if gap.one == seat else gap.one)
        because = (
            f"Between the castles of {table.name(seat)} and {other} are {gap.gap_mm.value:.0f} mm"
            f" +- {gap.gap_mm.u:.0f}: a D20 needs {gap.least_mm:g}."
        )
        return Ruling(verdict=gap.verdict, rule="TAH-17", because=because, seat=seat)
    return None


def _at(seat: str, castle: Castle) -> CastleAt | None:
    if castle.xy_mm is None:
        return None
    return CastleAt(name=seat, xy_mm=castle.xy_mm, heading_deg=castle.heading_deg or 0.0, u_mm=castle.u_mm)


def _narrowest(table: Table, seat: str, castle: Castle) -> Gap | None:
    """The narrowest gap beside this castle. Rule: TAH-17"""
    standing = []
    for each in in_order(table):
        stands = castle if each == seat else table.game.players[each].castle
        at = _at(each, stands) if stands is not None else None
        if at is not None:
            standing.append(at)
    data = data_of(table)
    found = gaps(standing, data.tower_mm, data.d20_gap_mm)
    return next((gap for gap in found if seat in (gap.one, gap.other)), None)


def _dice_under(table: Table, castle: Castle, side_mm: float) -> str:
    """A die that a castle was slid into, in words; empty where there is none. Rule: TAH-37"""
    if castle.xy_mm is None:
        return ""
    foot = castle_foot(castle.xy_mm, castle.heading_deg or 0.0, side_mm).buffer(-castle.u_mm)
    for owner in in_order(table):
        for piece in on_board(table.game.players[owner]):
            if piece.xy_mm is not None and foot.contains(die_foot(piece.xy_mm, 1.0)):
                return f"{table.name(owner)}'s {title(piece.kind)}"
    return ""


def is_measured(table: Table, player: Player, kinds: tuple[str, ...]) -> bool:
    """Whether the places of a castle and these dice are all known, and a map is laid."""
    is_castle = player.castle is not None and player.castle.xy_mm is not None
    known = all(player.dice[kind].xy_mm is not None for kind in kinds)
    return ground_of(table) is not None and is_castle and known


def is_in_area(table: Table, player: Player, quest: Quest, piece: Piece) -> bool:
    """Whether a measured die lies in the castle's own connected area of the quest's terrain. Rule: TAH-26"""
    ground, castle, die = ground_of(table), player.castle, data_of(table).die(piece.kind)
    if ground is None or castle is None or castle.xy_mm is None or piece.xy_mm is None or die is None:
        return False
    foot = castle_foot(castle.xy_mm, castle.heading_deg or 0.0, data_of(table).tower_mm)
    return ground.is_in_same_area(quest.terrain, foot, die_foot(piece.xy_mm, die.footprint_mm))
