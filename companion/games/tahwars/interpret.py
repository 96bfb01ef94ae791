"""What sensors and camera saw, understood. Pure; forgets after ten seconds."""

from __future__ import annotations

import math

import msgspec

from companion.core.command import Command, Propose, ProvePad
from companion.core.geometry import Point
from companion.core.observation import (
    BoardDie,
    BoardRested,
    CardLaid,
    DieDropped,
    DieNearTower,
    Observation,
    Pressed,
    TowerHit,
    TowerSeen,
    reference,
)
from companion.core.seat import MARKS, Seat
from companion.games.tahwars import commands as c
from companion.games.tahwars import quests_seen
from companion.games.tahwars.ground import likeliest_kind
from companion.games.tahwars.model import (
    Castle,
    Piece,
    Table,
    data_of,
    deployable,
    in_order,
    open_attack,
    targets,
    title,
    to_launch,
)
from companion.games.tahwars.placing import shifted

Commands = tuple[Command, ...]
MEMORY_NS = 10_000_000_000
SURE, FAINT = 0.8, 0.5
"""From SURE on a die is taken as it was read; below it is proposed; below FAINT it may be no die at all."""
TOUCH_MM = 1.0
"""A die that came surely this near to a tower touched it, as far as a camera can tell."""
STIR_MM = 8.0
"""A die that lies farther from where it lay was pushed."""
FIRST_TAG = 10
"""Tag on the tower of the first colour of MARKS; the others follow in order."""
AGREED, ALONE, DOUBTED = 0.95, 0.7, 0.4
"""Confidence in a hit: sensor and camera agree; the camera alone where no sensor is; one against the other."""


class Touch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that speaks for a hit on the tower of seat `tower`; a sensor knows no die, so `kind` is empty then."""

    tower: str
    at_ns: int
    evidence: str
    kind: str = ""


class Trace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was noticed since the last rest and not yet understood, and what was said already in this turn.

    `has_dropped`: a die went through a tower, or rolled by one, since then. `lay`: dice that the camera saw at the last
    rest, by ``SEAT/KIND``: what it never saw it cannot miss. `found`: those that lay there before the turn began.
    """

    turn: str = ""
    touches: tuple[Touch, ...] = ()
    has_dropped: bool = False
    said: tuple[str, ...] = ()
    lay: dict[str, Point] = {}
    found: dict[str, Point] = {}


def interpret(trace: msgspec.Struct, table: Table, seen: Observation) -> tuple[msgspec.Struct, Commands]:
    """The next trace and what the table is asked to do about an observation.

    What a camera saw before the turn began, and tells only now, says nothing of this turn.
    """
    notes = trace if isinstance(trace, Trace) else Trace()
    state = table.game
    turn = f"{state.part}/{state.phase}/{state.turn}"
    if notes.turn != turn:
        notes = Trace(turn=turn, lay=notes.lay, found=notes.lay)
    match seen:
        case BoardRested() if not seen.flags and seen.seen_ns < state.since_ns:
            lay = _lay(_by_kind(table, seen))
            return msgspec.structs.replace(notes, lay=lay, found=lay), ()
        case DieNearTower() | DieDropped() if seen.seen_ns < state.since_ns:
            return notes, ()
        case CardLaid():
            return notes, quests_seen.laid(table, seen)
        case Pressed():
            seat = table.seat_of(seen.source, seen.input)
            is_new = seat is not None and seat.id not in table.proven
            return notes, (ProvePad(seat=seat.id),) if seat is not None and is_new else ()
        case TowerHit():
            seat = _tower_of(table, seen)
            if seat is None:
                return notes, ()
            touch = Touch(tower=seat.id, at_ns=seen.seen_ns, evidence=reference(seen))
            proof: Commands = () if seat.id in table.proven else (ProvePad(seat=seat.id),)
            return _noted(notes, touch), proof
        case DieNearTower() if _seat_of(table, seen.owner) == state.turn:
            tower = seat_of_tag(table, seen.tag)
            is_touch = seen.gap_mm - seen.u_mm <= TOUCH_MM
            if not tower or not is_touch:
                return notes, ()
            near = Touch(tower=tower, at_ns=seen.seen_ns, evidence=reference(seen), kind=seen.kind)
            return _noted(notes, near), ()
        case DieDropped():
            return msgspec.structs.replace(notes, has_dropped=True), ()
        case BoardRested() if not seen.flags:
            return _rested(notes, table, seen)
        case _:
            return notes, ()


def _tower_of(table: Table, seen: TowerHit) -> Seat | None:
    """Whose tower was struck: a tower's box may have its button, its beam and its piezo on inputs of their own."""
    of_device = [seat for seat in table.playing() if seat.device == seen.source]
    return of_device[0] if len(of_device) == 1 else table.seat_of(seen.source, seen.input)


def _noted(notes: Trace, touch: Touch) -> Trace:
    kept = tuple(old for old in notes.touches if touch.at_ns - old.at_ns <= MEMORY_NS)
    return msgspec.structs.replace(notes, touches=(*kept, touch), has_dropped=True)


def seat_of_tag(table: Table, tag: int) -> str:
    """Whose tower bears this tag; empty when nobody's that plays."""
    if not 0 <= tag - FIRST_TAG < len(MARKS):
        return ""
    return _seat_of(table, MARKS[tag - FIRST_TAG][0])


def _seat_of(table: Table, owner: str) -> str:
    """Whose dice bear this name: a seat's id, colour or player; nobody's when two fit."""
    seats = [seat for seat in table.playing() if owner and owner in (seat.id, seat.colour, seat.name)]
    found = seats[0].id if len(seats) == 1 else ""
    return found if found in in_order(table) else ""


def _rested(notes: Trace, table: Table, seen: BoardRested) -> tuple[Trace, Commands]:
    """Everything lies still: what moved, what was dropped, what was pushed, what was hit."""
    said = list(notes.said)
    found: list[Command] = []
    for tower in seen.towers:
        found += _tower(table, tower, said)
    kinds = _by_kind(table, seen)
    if table.game.phase in ("launch", "actions"):
        waiting = _landed(table, kinds)
        landed = [each for each in waiting if not _is_found(table, notes, *each)]
        found += _found(table, [each for each in waiting if each not in landed], said, seen)
        found += [_sure(table, command, die, seen) for command, die in landed]
        has_dropped = notes.has_dropped or bool(landed)
        found += _pushed(table, kinds, said, seen, has_dropped=has_dropped)
        found += _gone(table, [lost for lost in notes.lay if tuple(lost.split("/")) not in kinds], said, seen)
        found += _hits(table, notes, tuple(command.kind for command, _ in landed), seen)
    return msgspec.structs.replace(
        notes, said=tuple(said), lay=_lay(kinds), touches=(), has_dropped=False
    ), tuple(found)


def _lay(kinds: dict[tuple[str, str], BoardDie]) -> dict[str, Point]:
    return {f"{seat}/{kind}": die.xy_mm for (seat, kind), die in kinds.items()}


# Towers


def _tower(table: Table, tower: TowerSeen, said: list[str]) -> list[Command]:
    """A castle that stands elsewhere than it stood; the same place is said once. Rule: TAH-14 TAH-37"""
    seat, state = seat_of_tag(table, tower.tag), table.game
    if not seat or state.map is None or state.phase == "over":
        return []
    old = state.players[seat].castle
    new = Castle(xy_mm=tower.xy_mm, heading_deg=tower.heading_deg, u_mm=tower.u_mm, u_deg=tower.u_deg)
    went = shifted(old, new) if old is not None else None
    kind = likeliest_kind(*went) if went is not None else "place"
    word = f"{seat}/{tower.xy_mm[0]:.0f}/{tower.xy_mm[1]:.0f}/{tower.heading_deg:.0f}"
    if kind is None or word in said:
        return []
    said.append(word)
    pose = {"xy_mm": tower.xy_mm, "heading_deg": tower.heading_deg, "u_mm": tower.u_mm, "u_deg": tower.u_deg}
    if went is None or state.phase == "setup":
        return [c.PlaceCastle(seat=seat, **pose)]  # type: ignore[arg-type]  # the fields of a pose
    doing = state.doing
    may_move = state.phase == "actions" and seat == state.turn and not doing.spent and doing.attack is None
    if may_move and not doing.moved:
        made = c.RotateCastle if kind == "rotate" else c.MoveCastle
        return [made(seat=seat, **pose)]  # type: ignore[arg-type]  # the fields of a pose
    return [c.NotePutBack(owner=seat)]


# Dice


def _by_kind(table: Table, seen: BoardRested) -> dict[tuple[str, str], BoardDie]:
    """The dice that are told apart, by owner and kind; of two alike neither is."""
    found: dict[tuple[str, str], BoardDie] = {}
    twice = set()
    for die in seen.dice:
        if die.confidence < FAINT:
            continue
        key = (_seat_of(table, die.owner), die.kind)
        twice |= {key} if key in found else set()
        found[key] = die
    return {key: die for key, die in found.items() if key[0] and key not in twice}


def _landed(table: Table, kinds: dict[tuple[str, str], BoardDie]) -> list[tuple[c.DropDie, BoardDie]]:
    """Dice of the seat on turn that were not there before. Rule: TAH-3 TAH-18"""
    state, seat = table.game, table.game.turn
    if not seat:
        return []
    waiting = to_launch(state.players[seat]) if state.phase == "launch" else deployable(table, seat)
    found = []
    for kind in waiting:
        die = kinds.get((seat, kind))
        if die is not None and (die.value is not None or not die.on_board):
            made = c.DropDie(seat=seat, kind=kind, shows=die.value, is_off_board=not die.on_board,
                             xy_mm=die.xy_mm if die.on_board else None)  # fmt: skip
            found.append((made, die))
    return found


def _is_found(table: Table, notes: Trace, command: c.DropDie, die: BoardDie) -> bool:
    """Whether a die lies where it lay before the turn began: it may just not have been taken away."""
    old = notes.found.get(f"{command.seat}/{command.kind}") if table.game.phase == "actions" else None
    return old is not None and math.dist(old, die.xy_mm) <= max(STIR_MM, die.u_mm)


def _found(
    table: Table, dice: list[tuple[c.DropDie, BoardDie]], said: list[str], seen: BoardRested
) -> list[Command]:
    """Dice that may have been launched before the turn was given on are asked for, once. Rule: TAH-18"""
    asked: list[Command] = []
    for command, die in dice:
        word = f"{command.seat}/{command.kind}/found"
        if word not in said:
            said.append(word)
            doubted = msgspec.structs.replace(die, confidence=min(die.confidence, DOUBTED))
            asked.append(_sure(table, command, doubted, seen))
    return asked


def _sure(table: Table, command: c.DropDie | c.NoteKnock, die: BoardDie, seen: BoardRested) -> Command:
    """The command itself where it was read well, else a question."""
    if die.confidence >= SURE and die.reason is None:
        return command
    who = table.name(command.seat if isinstance(command, c.DropDie) else command.owner)
    reading = f"{who}'s {title(command.kind)} shows {command.shows}"
    return Propose(command=command, reading=reading, confidence=die.confidence, evidence=(reference(seen),))


def _pushed(
    table: Table,
    kinds: dict[tuple[str, str], BoardDie],
    said: list[str],
    seen: BoardRested,
    *,
    has_dropped: bool,
) -> list[Command]:
    """Lying dice that lie or count otherwise now, or are gone: by a die, or by a hand. Rule: TAH-25 TAH-33"""
    found: list[Command] = []
    for owner in in_order(table):
        for piece in table.game.players[owner].dice.values():
            if piece.place != "board" or piece.xy_mm is None:
                continue
            die = kinds.get((owner, piece.kind))
            if die is not None and _is_otherwise(table, piece, die):
                word = f"{owner}/{piece.kind}/{die.xy_mm[0]:.0f}/{die.xy_mm[1]:.0f}/{die.value}"
                if word in said:
                    continue
                said.append(word)
                is_far = _is_far(piece, die)
                if has_dropped:
                    knock = c.NoteKnock(owner=owner, kind=piece.kind, shows=die.value,
                                        is_off_board=not die.on_board,
                                        xy_mm=die.xy_mm if die.on_board else None)  # fmt: skip
                    # One that counts otherwise where it lay was hardly pushed: it is asked.
                    unsure = msgspec.structs.replace(die, confidence=min(die.confidence, ALONE))
                    found.append(_sure(table, knock, die if is_far else unsure, seen))
                elif is_far:
                    found.append(c.NotePutBack(owner=owner, kind=piece.kind))
    return found


def _is_otherwise(table: Table, piece: Piece, die: BoardDie) -> bool:
    if not die.on_board:
        return True
    known = data_of(table).die(piece.kind)
    if die.value is None or known is None or piece.xy_mm is None:
        return False
    is_read = die.confidence >= SURE and die.reason is None
    return _is_far(piece, die) or (is_read and known.number(die.value) != piece.number)


def _is_far(piece: Piece, die: BoardDie) -> bool:
    """Whether a die lies surely elsewhere than it lay."""
    is_apart = piece.xy_mm is not None and math.dist(piece.xy_mm, die.xy_mm) > max(STIR_MM, die.u_mm)
    return is_apart or not die.on_board


def _gone(table: Table, lost: list[str], said: list[str], seen: BoardRested) -> list[Command]:
    """A die that lay there at the last rest and is not seen any more is asked for. Rule: TAH-25"""
    found: list[Command] = []
    for each in lost:
        owner, kind = each.split("/")
        player = table.game.players.get(owner)
        piece = player.dice.get(kind) if player is not None else None
        word = f"{each}/gone"
        if piece is None or piece.place != "board" or piece.xy_mm is None or word in said:
            continue
        if any(math.dist(piece.xy_mm, die.xy_mm) <= max(STIR_MM, die.u_mm) for die in seen.dice):
            continue  # something lies where it lay, though the camera cannot say what
        said.append(word)
        reading = f"{table.name(owner)}'s {title(kind)} is not seen any more: it left the board"
        knock = c.NoteKnock(owner=owner, kind=kind, is_off_board=True)
        found.append(Propose(command=knock, reading=reading, confidence=DOUBTED, evidence=(reference(seen),)))
    return found


# Hits


def _hits(table: Table, notes: Trace, landed: tuple[str, ...], seen: BoardRested) -> list[Command]:
    """Towers that the declared dice of this rest touched: where sensor and camera agree, where not. Rule: TAH-20"""
    attack, seat = open_attack(table), table.game.turn
    dice = [kind for kind in landed if attack is not None and kind in attack.waiting]
    fresh = [touch for touch in notes.touches if seen.seen_ns - touch.at_ns <= MEMORY_NS]
    found: list[Command] = []
    for tower in targets(table, seat) if dice else ():
        felt = [touch for touch in fresh if touch.tower == tower and not touch.kind]
        for kind in dice:
            near = [touch for touch in fresh if touch.tower == tower and touch.kind == kind]
            is_others = any(t.tower == tower and t.kind in dice and t.kind != kind for t in fresh)
            if near or (felt and not is_others):
                found.append(_hit(table, (kind, tower), felt, near, seen))
    return found


def _hit(
    table: Table, which: tuple[str, str], felt: list[Touch], near: list[Touch], seen: BoardRested
) -> Command:
    """A hit as a question: how sure it is and what speaks for it."""
    kind, tower = which
    seat, owner = table.game.turn, table.seat(tower)
    has_sensor = owner is not None and bool(owner.device) and tower in table.proven
    if felt and near:
        confidence, why = AGREED, "its sensor and the camera agree"
    elif near and not has_sensor:
        confidence, why = ALONE, "the camera saw it; that tower has no sensor"
    elif near:
        confidence, why = DOUBTED, "the camera saw it, its sensor felt nothing"
    else:
        confidence, why = DOUBTED, "its sensor felt it, the camera saw no die there"
    reading = f"{table.name(seat)}'s {title(kind)} touched {table.name(tower)}'s tower: {why}"
    evidence = (*(touch.evidence for touch in (*felt, *near)), reference(seen))
    hit = c.NoteHit(seat=seat, kind=kind, tower=tower)
    return Propose(command=hit, reading=reading, confidence=confidence, evidence=evidence)
