"""The journal with its corrections applied: what counts, and what a correction would change."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core.game import (
    Game,
    Moment,
    S,
    Sitting,
    decide,
    evolve,
    is_refused,
    open_sitting,
    refusal,
    refuse,
)
from companion.core.observation import reference
from companion.core.seat import Role


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry as it counts. `orphan`: why it has no effect any more, empty while it has."""

    entry: e.Entry
    orphan: str = ""


Correction = e.Voided | e.Replaced | e.Inserted


def correction_of(entry: e.Entry) -> Correction | None:
    """The correction that an entry makes, None when it makes none."""
    found = entry.events[0] if entry.events else None
    return found if isinstance(found, Correction) else None


def corrected(entries: Sequence[e.Entry]) -> tuple[e.Entry, ...]:
    """The entries that count, in table-time order: voided ones out, replaced and inserted ones in.

    A correction may itself be voided by a later one. Entries keep their numbers; an inserted one bears the
    number of the correction that brought it, and may be corrected by that number.
    """
    dead: set[int] = set()
    for entry in reversed(entries):
        found = correction_of(entry)
        if isinstance(found, e.Voided) and entry.n not in dead:
            dead.add(found.entry)
    swapped: dict[int, e.Entry] = {}
    before: dict[int, list[e.Entry]] = {}
    for entry in entries:
        found = correction_of(entry)
        if isinstance(found, e.Replaced) and entry.n not in dead:
            swapped[found.entry] = _body(entry, found)
        elif isinstance(found, e.Inserted):
            before.setdefault(found.before, []).append(_body(entry, found))
    kept: list[e.Entry] = []

    def place(entry: e.Entry, at_ns: int) -> None:
        for new in before.get(entry.n, ()):
            place(new, at_ns)
        if entry.n not in dead:
            body = swapped.get(entry.n, entry)
            is_as_written = body is entry and entry.at_ns == at_ns
            kept.append(entry if is_as_written else msgspec.structs.replace(body, n=entry.n, at_ns=at_ns))

    for entry in entries:
        if correction_of(entry) is None:
            place(entry, entry.at_ns)
    return tuple(kept)


def _body(entry: e.Entry, found: e.Replaced | e.Inserted) -> e.Entry:
    return msgspec.structs.replace(entry, command=found.command, events=found.events)


def apply(game: Game[S], sitting: Sitting[S], entry: e.Entry) -> Sitting[S]:
    """The table after all facts of one entry."""
    moment = moment_of(sitting, entry)
    for event in entry.events:
        sitting = evolve(game, sitting, event, moment)
    return sitting


def moment_of(sitting: Sitting[S], entry: e.Entry) -> Moment:
    """When an entry stands, and what its facts rest on: what was seen, or the proposal that it confirms."""
    found = [reference(seen) for seen in entry.seen]
    for event in entry.events:
        if isinstance(event, e.Confirmed):
            found.append(f"entry:{event.proposal}")
            found += [ref for p in sitting.proposals if p.id == event.proposal for ref in p.evidence]
    return Moment(entry=entry.n, at_ns=entry.at_ns, evidence=tuple(dict.fromkeys(found)))


def opening(game: Game[S], entry: e.Entry) -> Sitting[S]:
    """The table after the first entry. Raises ValueError when that does not open this game."""
    opened = entry.events[0] if entry.events else None
    if not isinstance(opened, e.Opened) or opened.game != game.name:
        raise ValueError(f"the journal does not begin with a game of {game.title}")
    return open_sitting(game, opened)


def effective(game: Game[S], entries: Sequence[e.Entry]) -> tuple[tuple[Line, ...], Sitting[S]]:
    """What counts and the table it leads to.

    Without corrections this is the plain fold. With them every entry behind the first change is tried anew:
    one whose command is no longer legal stays as an orphan without effect.
    """
    kept = corrected(entries)
    sitting = opening(game, kept[0])
    untouched = _common_prefix(entries, kept)
    lines = [Line(entry=kept[0])]
    for place, entry in enumerate(kept[1:], start=1):
        orphan = _why_orphan(game, sitting, entry) if place >= untouched else ""
        if not orphan:
            sitting = apply(game, sitting, entry)
        lines.append(Line(entry=entry, orphan=orphan))
    return tuple(lines), sitting


def _common_prefix(entries: Sequence[e.Entry], kept: Sequence[e.Entry]) -> int:
    for place, entry in enumerate(kept):
        if entry is not entries[place]:
            return place
    return len(kept)


def order_of(entry: e.Entry, command: c.Command) -> c.Order:
    """The order that an entry answered."""
    return c.Order(command=command, actor=entry.actor, at_ns=entry.at_ns, key=entry.key, seen=entry.seen)


def _why_orphan(game: Game[S], sitting: Sitting[S], entry: e.Entry) -> str:
    if entry.command is None or is_refused(entry.events):
        return ""
    ruling = refusal(decide(game, sitting, order_of(entry, entry.command)))
    return "" if ruling is None else f"{ruling.rule}: {ruling.because}"


def correct(game: Game[S], entries: Sequence[e.Entry], order: c.Order) -> tuple[e.Event, ...]:
    """The facts of a correction (Undo, Void, Replace, Insert).

    Refused when its target cannot be corrected, when what it puts in is not legal there, or when the orphans
    it names are not the ones it would make; the refusal then names them. Rule: TABLE-10
    """
    command = order.command
    facts = _facts(game, entries, order)
    if is_refused(facts) or not isinstance(command, c.Void | c.Replace | c.Insert):
        return facts
    found = preview(game, entries, order, facts)
    if set(found) != set(command.orphans):
        named = ", ".join(str(number) for number in found) or "none"
        return refuse(
            command, "TABLE-10", f"Later entries that would lose their effect: {named}. Name them to confirm."
        )
    return facts


def orphans(game: Game[S], entries: Sequence[e.Entry], order: c.Order) -> tuple[int, ...]:
    """Numbers of the entries that would newly lose their effect by this correction; none if it is refused."""
    facts = _facts(game, entries, order)
    return () if is_refused(facts) else preview(game, entries, order, facts)


def _facts(game: Game[S], entries: Sequence[e.Entry], order: c.Order) -> tuple[e.Event, ...]:
    command = order.command
    if order.actor.role is not Role.REFEREE:
        return refuse(command, "TABLE-1", "Only the referee corrects the journal.")
    match command:
        case c.Undo(why=why):
            target = _last_undoable(game, entries)
            if target is None:
                return refuse(command, "TABLE-10", "There is nothing to undo.")
            return (e.Voided(entry=target, why=why[:200] or "undo"),)
        case c.Void(entry=number, why=why):
            if not any(entry.n == number and entry.n > 1 for entry in entries):
                return refuse(command, "TABLE-10", f"Entry {number} cannot be voided.")
            return (e.Voided(entry=number, why=why[:200]),)
        case c.Replace(entry=number, command=new, why=why):
            made = _made_there(game, entries, order, new, number)
            return (
                made
                if is_refused(made)
                else (e.Replaced(entry=number, command=new, events=made, why=why[:200]),)
            )
        case c.Insert(before=number, command=new, why=why):
            made = _made_there(game, entries, order, new, number)
            return (
                made
                if is_refused(made)
                else (e.Inserted(before=number, command=new, events=made, why=why[:200]),)
            )
        case _:
            return refuse(command, "TABLE-10", "That is no correction.")


def preview(
    game: Game[S], entries: Sequence[e.Entry], order: c.Order, facts: tuple[e.Event, ...]
) -> tuple[int, ...]:
    """Numbers of the entries that would newly become orphans if these facts were journalled."""
    last = entries[-1]
    tried = e.Entry(
        n=last.n + 1, at_ns=max(order.at_ns, last.at_ns), wall_ms=last.wall_ms, actor=order.actor,
        key=order.key, command=order.command, events=facts,
    )  # fmt: skip
    now = {line.entry.n for line in effective(game, entries)[0] if line.orphan}
    then = {line.entry.n for line in effective(game, (*entries, tried))[0] if line.orphan}
    return tuple(sorted(then - now))


def _last_undoable(game: Game[S], entries: Sequence[e.Entry]) -> int | None:
    for line in reversed(effective(game, entries)[0]):
        entry = line.entry
        if entry.n > 1 and not line.orphan and any(not event.is_bookkeeping for event in entry.events):
            return entry.n
    return None


def _made_there(
    game: Game[S], entries: Sequence[e.Entry], order: c.Order, command: c.Command, number: int
) -> tuple[e.Event, ...]:
    """The facts that `command` makes just before entry `number`, as it counts now."""
    lines = effective(game, entries)[0]
    place = next((place for place, line in enumerate(lines) if line.entry.n == number), 0)
    if command.is_correction or place == 0:
        return refuse(order.command, "TABLE-10", f"Nothing can be put in the place of entry {number}.")
    sitting = opening(game, lines[0].entry)
    for line in lines[1:place]:
        if not line.orphan:
            sitting = apply(game, sitting, line.entry)
    at_ns = lines[place].entry.at_ns
    return decide(game, sitting, msgspec.structs.replace(order, command=command, at_ns=at_ns))
