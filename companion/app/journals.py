"""Commands on a journal: replay, verify, export, import. All work beside a live writer."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from companion.app.settings import SettingsError
from companion.catalogue import GAMES
from companion.core.codec import Codec
from companion.core.view import View
from companion.runtime.exchange import export
from companion.runtime.exchange import import_ as import_lines
from companion.runtime.journal import JournalError, Reader, verify
from companion.runtime.opening import read_entries
from companion.runtime.replay import Replayed, replay


def replay_(path: Path, as_json: bool, is_open: bool = False) -> None:
    """Print every entry as it counts, then where it leads. Raises SettingsError as `export_` does."""
    if as_json and not is_open:
        _refuse_hidden(path)
    found = replay(path, GAMES)
    if as_json:
        _replay_json(found)
    else:
        _replay_text(found)


def _replay_json(found: Replayed) -> None:
    encode = Codec(found.game).encode
    for line in found.lines:
        click.echo(encode(line))
    last = {
        "version": found.version,
        "head": found.head,
        "state_hash": found.state_hash,
        "view": msgspec.to_builtins(found.view),
    }
    click.echo(msgspec.json.encode(last))


def _replay_text(found: Replayed) -> None:
    for line in found.lines:
        names = ", ".join(type(event).__name__ for event in line.entry.events)
        orphan = f"  (no effect: {line.orphan})" if line.orphan else ""
        click.echo(
            f"{line.entry.n:5d}  {line.entry.at_ns / 1e9:12.3f}  {line.entry.actor.role.value:8s}  {names}{orphan}"
        )
    view: View = found.view
    click.echo(f"\n{found.game.title}, round {view.part}: {view.headline}")
    for standing in found.game.standings(found.sitting):
        shared = " (shared)" if standing.shared else ""
        click.echo(f"  {standing.place}. {found.sitting.name(standing.seat)}  {standing.score}{shared}")
    click.echo(f"head  {found.head}\nstate {found.state_hash}")


def verify_(path: Path, head: str | None) -> int:
    """Print {"ok", "events", "head", "first_bad"} (and why); the exit status."""
    found = verify(path, head)
    click.echo(msgspec.json.encode({**msgspec.to_builtins(found)}))
    return 0 if found.ok else 1


def _refuse_hidden(path: Path) -> None:
    """Raises SettingsError while a sound journal holds cards that nobody who reads it may know yet."""
    try:
        found = replay(path, GAMES)
        with Reader(path) as reader:
            _, entries = read_entries(tuple(reader.checked()), GAMES, path)
    except JournalError:
        return
    if any(found.game.is_secret(found.sitting, entry) for entry in entries):
        raise SettingsError(
            f"{path}: cards in it are still hidden; wait for the end of the game, or add --hidden"
        )


def export_(path: Path, out: Path | None, sound_only: bool, is_open: bool = False) -> None:
    """Write JSON Lines to a file or to standard output.

    Raises SettingsError while the journal holds hidden cards, unless `is_open`.
    """
    if not is_open:
        _refuse_hidden(path)
    if out is None:
        export(path, sys.stdout.buffer, sound_only=sound_only)
        return
    with out.open("xb") as stream:
        found = export(path, stream, sound_only=sound_only)
    click.echo(f"{found.events} entries, head {found.head}", err=True)


def import_(lines: Path, path: Path) -> None:
    """Make a journal from exported lines and print its head."""
    if str(lines) == "-":
        head = import_lines(sys.stdin.buffer, path)
    else:
        with lines.open("rb") as stream:
            head = import_lines(stream, path)
    click.echo(head)
