"""The command that says what an owner's own data file lacks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from companion.app.settings import SettingsError, game_named
from companion.catalogue import GAMES
from companion.core.game import Game

MOST_BYTES = 5_000_000


def lacks_of(game: Game[Any], text: str) -> tuple[str, ...]:
    """All that a text lacks to be a data file of this game, a line each; nothing when it is one."""
    found = game.explain_data(text)
    wrong = game.check_data(text)
    return found or ((wrong,) if wrong else ())


def game_of(text: str, name: str) -> Game[Any]:
    """The game that a data file is for: the one that is named, that takes it, or of which it speaks.

    Raises SettingsError when that cannot be told.
    """
    if name:
        return game_named(name)
    with_data = [game for game in GAMES.values() if game.data_file]
    spoken = re.search(r"""["']?format["']?\s*[:=]\s*["']([a-z]+)""", text)
    of_format = spoken.group(1) if spoken else ""
    for game in with_data:
        if game.name == of_format or not game.check_data(text):
            return game
    known = ", ".join(game.name for game in with_data)
    raise SettingsError(f"say for which game this file is: --game NAME ({known})")


def check_file(path: Path, name: str, *, as_json: bool) -> int:
    """Print what the file lacks, a line each; the exit status: 1 when it lacks anything. Raises SettingsError."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SettingsError(f"{path}: a data file has at most {MOST_BYTES // 1_000_000} MB")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the data file cannot be read ({error})") from error
    game = game_of(text, name)
    found = lacks_of(game, text)
    if as_json:
        click.echo(json.dumps({"file": str(path), "game": game.name, "lacks": list(found)}))
    else:
        for said in found:
            click.echo(f"{path}: {said}")
        click.echo(f"{path}: {game.title}, " + (f"{len(found)} to mend" if found else "nothing is missing"))
    return 1 if found else 0
