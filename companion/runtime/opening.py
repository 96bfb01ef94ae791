"""From a file to a table that stands ready: made new, or taken up again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core.codec import Codec
from companion.core.game import Game
from companion.core.seat import Actor, Role, Seat
from companion.runtime.host_clock import HostClock
from companion.runtime.journal import Journal, JournalError, is_unused
from companion.runtime.table import Table, decoded

MakeClock = Callable[[int, str], HostClock]
"""A host clock from the last journalled instant and the boot that its start named."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """An open table: hand its parts to a `TableLoop`, or close the journal."""

    table: Table[Any]
    journal: Journal
    clock: HostClock


class _Head(msgspec.Struct):
    is_: str = msgspec.field(name="is")
    game: str = ""


class _First(msgspec.Struct):
    events: tuple[_Head, ...]


def game_of(payload: bytes, games: Mapping[str, Game[Any]], path: Path) -> Game[Any]:
    """The game that a journal's first row opens. Raises JournalError when we do not know it."""
    try:
        first = msgspec.json.decode(payload, type=_First).events[0]
    except (msgspec.MsgspecError, IndexError):
        first = _Head("")
    if first.is_ != "Opened":
        raise JournalError(f"{path}: the journal does not begin with the opening of a game")
    if first.game not in games:
        known = ", ".join(sorted(games))
        raise JournalError(f"{path}: a game of {first.game!r}, which this program does not know ({known})")
    return games[first.game]


def read_entries(
    payloads: Sequence[bytes], games: Mapping[str, Game[Any]], path: Path
) -> tuple[Game[Any], tuple[e.Entry, ...]]:
    """The game and the entries of a journal's rows. Raises JournalError, one line."""
    if not payloads:
        raise JournalError(f"{path}: the journal is empty; delete it and open a new one")
    game = game_of(payloads[0], games, path)
    try:
        return game, tuple(decoded(Codec(game), payloads))
    except ValueError as error:
        raise JournalError(f"{path}: {error}") from None


def create(
    path: Path,
    game: Game[Any],
    *,
    seats: tuple[Seat, ...],
    seed: int,
    options: Mapping[str, str | int | bool] | None = None,
    table: str = "table",
    data: str = "",
    make_clock: MakeClock = HostClock,
) -> Opening:
    """A new journal with its first fact, and the table standing stopped until the referee resumes.

    `options`: house rules that are not the default, checked before; `data`: text of the game's data file.
    Raises JournalError when there is a file already or it cannot be made.
    """
    if not is_unused(path):
        raise JournalError(f"{path}: there is a journal already; choose another name, or take it up again")
    clock = make_clock(0, "")
    at_ns = clock.now_ns()
    opened = e.Opened(
        game=game.name,
        table=table,
        seats=seats,
        options={**game.options, **(options or {})},
        seed=seed,
        data=data,
    )
    entry = e.Entry(
        n=1,
        at_ns=at_ns,
        wall_ms=clock.wall_ms(at_ns),
        actor=Actor(Role.CLOCK),
        key="opened",
        command=None,
        events=(opened,),
    )
    with _held(path) as journal:
        journal.append([Codec(game).encode(entry)])
        return _started(journal, game, (entry,), clock)


def reopen(path: Path, games: Mapping[str, Game[Any]], *, make_clock: MakeClock = HostClock) -> Opening:
    """Take a journal up again where it ended; the table stands stopped until the referee resumes.

    Raises JournalError when it is missing, damaged, held by another process or of an unknown game.
    """
    if not path.is_file():
        raise JournalError(f"{path}: there is no such journal")
    with _held(path) as journal:
        game, entries = read_entries(journal.payloads(), games, path)
        boots = [fact.boot for entry in entries for fact in entry.events if isinstance(fact, e.Started)]
        return _started(journal, game, entries, make_clock(entries[-1].at_ns, boots[-1] if boots else ""))


@contextmanager
def _held(path: Path) -> Iterator[Journal]:
    journal = Journal(path)
    try:
        yield journal
    except BaseException:
        journal.close()
        raise


def _started(journal: Journal, game: Game[Any], entries: tuple[e.Entry, ...], clock: HostClock) -> Opening:
    try:
        table = Table(game, journal, entries, clock.wall_ms)
    except ValueError as error:
        raise JournalError(f"{journal.path}: {error}") from None
    # Nobody knows when the last program died. The clocks stand from the last instant that is known to have
    # been played, so that no deadline runs out while nobody watched.
    at_ns = table.at_ns
    start = c.Start(boot=clock.boot, wall_ms=clock.wall_ms(clock.now_ns()))
    key = f"start {table.version + 1}"
    step = table.step([c.Order(command=start, actor=Actor(Role.CLOCK), at_ns=at_ns, key=key)], at_ns, at_ns)
    for broken in step.failures.values():
        raise broken
    return Opening(table=table, journal=journal, clock=clock)
