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
    number of the correction that brought it.
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
        if entry.n in dead or found is None or isinstance(found, e.Voided):
            continue
        body = msgspec.structs.replace(entry, command=found.command, events=found.events)
        if isinstance(found, e.Replaced):
            swapped[found.entry] = body
        else:
            before.setdefault(found.before, []).append(body)
    kept: list[e.Entry] = []
    for entry in entries:
        place = entry.at_ns
        kept += [msgspec.structs.replace(new, at_ns=place) for new in before.get(entry.n, ())]
        if entry.n in dead or correction_of(entry) is not None:
            continue
        new = swapped.get(entry.n)
        kept.append(entry if new is None else msgspec.structs.replace(new, n=entry.n, at_ns=place))
    return tuple(kept)


def apply(game: Game[S], sitting: Sitting[S], entry: e.Entry) -> Sitting[S]:
    """The table after all facts of one entry."""
    for event in entry.events:
        sitting = evolve(game, sitting, event, Moment(entry=entry.n, at_ns=entry.at_ns))
    return sitting


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
    if order.actor.role is not Role.REFEREE:
        return refuse(command, "TABLE-1", "Only the referee corrects the journal.")
    match command:
        case c.Undo(why=why):
            target = _last_undoable(entries)
            if target is None:
                return refuse(command, "TABLE-10", "There is nothing to undo.")
            return (e.Voided(entry=target, why=why[:200] or "undo"),)
        case c.Void(entry=number, why=why):
            if not any(entry.n == number and entry.n > 1 for entry in entries):
                return refuse(command, "TABLE-10", f"Entry {number} cannot be voided.")
            facts: tuple[e.Event, ...] = (e.Voided(entry=number, why=why[:200]),)
        case c.Replace(entry=number) | c.Insert(before=number):
            made = _made_there(game, entries, order, command.command, number)
            if is_refused(made):
                return made
            if isinstance(command, c.Replace):
                facts = (
                    e.Replaced(entry=number, command=command.command, events=made, why=command.why[:200]),
                )
            else:
                facts = (
                    e.Inserted(before=number, command=command.command, events=made, why=command.why[:200]),
                )
        case _:
            return refuse(command, "TABLE-10", "That is no correction.")
    orphans = preview(game, entries, order, facts)
    if set(orphans) != set(command.orphans):
        named = ", ".join(str(number) for number in orphans) or "none"
        return refuse(
            command, "TABLE-10", f"Later entries that would lose their effect: {named}. Name them to confirm."
        )
    return facts


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


def _last_undoable(entries: Sequence[e.Entry]) -> int | None:
    for entry in reversed(corrected(entries)):
        if entry.n > 1 and any(not event.is_bookkeeping for event in entry.events):
            return entry.n
    return None


def _made_there(
    game: Game[S], entries: Sequence[e.Entry], order: c.Order, command: c.Command, number: int
) -> tuple[e.Event, ...]:
    """The facts that `command` makes just before entry `number`, as it counts now."""
    kept = corrected(entries)
    if command.is_correction or number <= 1 or all(entry.n != number for entry in kept):
        return refuse(order.command, "TABLE-10", f"Nothing can be put in the place of entry {number}.")
    place = next(place for place, entry in enumerate(kept) if entry.n == number)
    sitting = effective(game, kept[:place])[1]
    return decide(game, sitting, msgspec.structs.replace(order, command=command, at_ns=kept[place].at_ns))
