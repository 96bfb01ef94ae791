"""From what was seen to what it means at this table. Pure; forgets after ten seconds."""

from __future__ import annotations

import msgspec

from companion.core.clock import Stamp
from companion.core.command import Command, Propose, ProvePad
from companion.core.observation import CardLaid, DiceRested, DieSeen, Observation, Pressed
from companion.games.tada import cards_seen
from companion.games.tada import commands as c
from companion.games.tada.deck import SYMBOLS
from companion.games.tada.model import Caster, Table, spell_of
from companion.games.tada.rulebook import DICE

SURE = 0.8
"""From this confidence on a lock or a roll is taken as seen; below it is proposed."""
MOVED_MM = 4.0
"""Loose dice that moved less than this were not rolled."""
MEMORY_NS = 10_000_000_000

Commands = tuple[Command, ...]


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Loose dice of one seat as they last lay, and what was said about its card already."""

    loose: tuple[tuple[str, float, float], ...] = ()
    said: tuple[str, ...] = ()
    at_ns: int = 0


class Trace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was seen and not yet understood, by seat, of one cast (`key` tells casts apart). `faces`: the spell that
    lies face up before each seat."""

    key: str = ""
    seats: dict[str, Seen] = {}
    faces: dict[str, str] = {}


def interpret(trace: msgspec.Struct, table: Table, seen: Observation) -> tuple[msgspec.Struct, Commands]:
    """The next trace and what the table is asked to do about an observation."""
    notes = trace if isinstance(trace, Trace) else Trace()
    key = f"{table.game.part}/{table.game.phase}"
    if notes.key != key:
        notes = Trace(key=key)
    if isinstance(seen, Pressed):
        return notes, _pressed(table, seen)
    if isinstance(seen, CardLaid):
        faces, found = cards_seen.laid(table, notes.faces, seen)
        return msgspec.structs.replace(notes, faces=faces), found
    if isinstance(seen, DiceRested) and table.game.phase in ("cast", "resolve"):
        return _rested(notes, table, seen)
    return notes, ()


def _pressed(table: Table, seen: Pressed) -> Commands:
    seat = table.seat_of(seen.source, seen.input)
    if seat is None:
        return ()
    state = table.game
    if state.phase in ("countdown", "cast", "resolve") and seat.id in state.casters:
        stamp = Stamp(
            at_ns=seen.seen_ns,
            u_ns=seen.uncertainty_ns,
            clock=f"{seen.source}/{seen.boot}",
            own_u_ns=seen.own_u_ns,
        )
        slam = c.Slam(seat=seat.id, stamp=stamp, is_early=seen.early and state.phase == "countdown")
        if not seen.suspect:
            return (slam,)
        what = f"may be {seen.suspect}"
        if seen.suspect == "clock":
            what = f"cannot be dated to less than ± {seen.uncertainty_ns / 1e6:.0f} ms: its clock jumped or runs wrong"
        reading = f"{seat.name}'s pad reports a slam that {what}"
        press = f"press:{seen.source}/{seen.boot}/{seen.n}"
        return (Propose(command=slam, reading=reading, confidence=0.4, evidence=(press,)),)
    return () if seat.id in table.proven else (ProvePad(seat=seat.id),)


def _rested(notes: Trace, table: Table, seen: DiceRested) -> tuple[Trace, Commands]:
    found: list[Command] = []
    seats = dict(notes.seats)
    for caster in table.game.casters.values():
        if caster.go_ns is None or caster.out or caster.kept:
            continue
        mine = [die for die in seen.dice if _owner(table, die.owner) == caster.seat]
        note = seats.get(caster.seat, Seen())
        if seen.seen_ns - note.at_ns > MEMORY_NS:
            note = msgspec.structs.replace(note, said=())
        note, asked = _seat_rested(table, caster, mine, seen, note)
        seats[caster.seat] = msgspec.structs.replace(note, at_ns=seen.seen_ns)
        found += asked
    return msgspec.structs.replace(notes, seats=seats), tuple(found)


def _owner(table: Table, name: str) -> str:
    """Whose dice bear this name: a seat's id, colour or player, in that order; nobody's when two fit."""
    seats = table.playing()
    for found in (
        [s.id for s in seats if s.id == name],
        [s.id for s in seats if s.colour == name],
        [s.id for s in seats if s.name == name],
    ):
        if found:
            return found[0] if len(found) == 1 else ""
    return ""


def _seat_rested(
    table: Table, caster: Caster, mine: list[DieSeen], seen: DiceRested, note: Seen
) -> tuple[Seen, list[Command]]:
    rest = f"rest:{seen.source}/{seen.frame}"
    locked = {
        int(die.on[1]): die for die in mine if die.on and die.on[0] == caster.seat and die.on[1].isdecimal()
    }
    loose = [die for die in mine if die.on is None or die.on[0] != caster.seat]
    found: list[Command] = []
    is_covered = caster.seat in seen.covered
    if table.options["locks"] == "camera" and caster.is_casting:
        # Under what still moves more dice may lie: a roll is told when none is missing.
        is_all_there = len(loose) + max(len(locked), caster.locked) >= DICE
        rolled: list[Command] = []
        if is_all_there or not seen.restless_px:
            note, rolled = _rolled(caster, loose, note)
        if not is_covered:
            note, asked = _locked(table, caster, locked, rest, (note, bool(rolled)))
            rolled += asked
        found += rolled
    if is_covered:
        return note, found
    note, verify = _verify(table, caster, locked, seen, (note, rest))
    return note, found + verify


def _locked(
    table: Table, caster: Caster, locked: dict[int, DieSeen], rest: str, noted: tuple[Seen, bool]
) -> tuple[Seen, list[Command]]:
    """Dice that are new on the spell. One more than there were rolls is asked, for a roll may have been missed.

    Rule: TADA-12
    """
    note, has_rolled = noted
    rolls = 1 + max(caster.rolls, caster.locked) if has_rolled else caster.rolls
    count, found = caster.locked, list[Command]()
    for slot, die in sorted(locked.items()):
        if die.value not in SYMBOLS or slot >= len(caster.locks) or caster.locks[slot] is not None:
            continue
        spell = spell_of(table, caster.seat)
        is_right = spell is not None and spell.symbols[slot] == die.value
        is_odd = is_right and 0 < rolls <= count
        word = f"{'roll? ' if is_odd else ''}{slot}={die.value}"
        if word in note.said:
            continue
        note = msgspec.structs.replace(note, said=(*note.said, word)[-20:])
        lock = c.LockDie(seat=caster.seat, slot=slot, symbol=str(die.value))
        if is_odd:
            found.append(_ask_roll(table, lock, die, rest))
            continue
        count += is_right
        found.append(lock if die.confidence >= SURE else _propose(table, lock, die, rest))
    return note, found


def _ask_roll(table: Table, lock: c.LockDie, die: DieSeen, rest: str) -> Propose:
    reading = (
        f"{table.name(lock.seat)} locked {lock.symbol} on place {lock.slot + 1} without a roll that was seen: confirm"
        " that a roll was missed, or reject and that die goes back in the cup"
    )
    roll = c.RecordRoll(seat=lock.seat, symbols=())
    return Propose(command=roll, reading=reading, confidence=min(0.5, die.confidence), evidence=(rest,))


def _propose(table: Table, lock: c.LockDie, die: DieSeen, rest: str) -> Propose:
    reading = f"{table.name(lock.seat)} may have locked {lock.symbol} on place {lock.slot + 1}"
    return Propose(command=lock, reading=reading, confidence=die.confidence, evidence=(rest,))


def _rolled(caster: Caster, loose: list[DieSeen], note: Seen) -> tuple[Seen, list[Command]]:
    """A roll is loose dice of a seat that lie elsewhere than before, all of them read."""
    if not loose or any(die.value not in SYMBOLS or die.confidence < SURE for die in loose):
        return note, []
    lie = tuple(sorted((str(die.value), *(die.xy_mm or (0.0, 0.0))) for die in loose))
    if _is_same(lie, note.loose):
        return note, []
    symbols = tuple(word for word, _, _ in lie)
    note = msgspec.structs.replace(note, loose=lie)
    return note, [c.RecordRoll(seat=caster.seat, symbols=symbols)]


def _is_same(lie: tuple[tuple[str, float, float], ...], before: tuple[tuple[str, float, float], ...]) -> bool:
    """Whether every die that lies there lay there before (some may have gone)."""
    return all(
        any(w == word and abs(x - a) < MOVED_MM and abs(y - b) < MOVED_MM for w, a, b in before)
        for word, x, y in lie
    )


def amend(table: Table, die: DieSeen, value: int | str) -> Command | None:
    """A die on a seat's spell shows another symbol than was read: it is locked if it is right after all, and goes
    back if it is not. Rule: TADA-12"""
    caster = table.game.casters.get(die.on[0]) if die.on else None
    spell = spell_of(table, caster.seat) if caster else None
    slot = int(die.on[1]) if die.on and die.on[1].isdecimal() and len(die.on[1]) == 1 else -1
    if caster is None or spell is None or not 0 <= slot < len(caster.locks):
        return None
    is_right = value == spell.symbols[slot]
    if is_right and caster.locks[slot] is None:
        return c.LockDie(seat=caster.seat, slot=slot, symbol=str(value))
    if not is_right and caster.locks[slot] is not None and die.value == caster.locks[slot]:
        return c.ReturnDie(seat=caster.seat, slot=slot, why="it was read wrongly")
    return None


def _verify(
    table: Table, caster: Caster, locked: dict[int, DieSeen], seen: DiceRested, noted: tuple[Seen, str]
) -> tuple[Seen, list[Command]]:
    """A proposal about the slam that waits, once the dice on its spell can be read; each reading is said once.

    Rule: TADA-15
    """
    note, rest = noted
    spell = spell_of(table, caster.seat)
    bumps = (s for s in reversed(caster.slams) if s.complete is None)
    slam = caster.pending or next(bumps, None)
    if spell is None or slam is None or seen.seen_ns < slam.stamp.at_ns or caster.finish:
        return note, []
    lie = [locked.get(slot) for slot in range(len(spell.symbols))]
    if any(die is not None and die.value not in SYMBOLS for die in lie):
        return note, []
    symbols = tuple("none" if die is None else str(die.value) for die in lie)
    complete, is_hidden = symbols == spell.symbols, None in lie
    is_old = caster.rolls > slam.rolls or seen.seen_ns - slam.stamp.at_ns > MEMORY_NS
    if not slam.is_claim and (not complete or is_old or f"{slam.n}: bump" in note.said):
        # Who rolls or locks on after it was not done then, whatever lies there later.
        return msgspec.structs.replace(note, said=(*note.said, f"{slam.n}: bump")[-20:]), []
    word = f"{slam.n}: {complete}"
    open_ = [p.command for p in table.proposals if isinstance(p.command, c.VerifySlam)]
    if word in note.said or any(v.slam == slam.n and v.complete == complete for v in open_):
        return note, []
    note = msgspec.structs.replace(note, said=(*note.said, word)[-20:])
    sure = min((die.confidence for die in lie if die is not None), default=0.5)
    what = (
        "is complete"
        if complete
        else ("is not complete, or dice are hidden" if is_hidden else "is not complete")
    )
    proposed = Propose(
        command=c.VerifySlam(seat=caster.seat, slam=slam.n, complete=complete, symbols=symbols),
        reading=f"{table.name(caster.seat)}'s spell {what}: {', '.join(symbols)}",
        confidence=min(0.5, sure) if is_hidden else sure,
        evidence=(rest,),
    )
    return note, [proposed]
