"""What a journal leads to, read beside its writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from companion.core import history
from companion.core.codec import Codec
from companion.core.game import Game, Sitting
from companion.core.seat import REFEREE, Viewer
from companion.core.show import show
from companion.core.view import View
from companion.runtime.journal import ROOT, JournalError, Reader, chained
from companion.runtime.opening import read_entries


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """A journal folded anew.

    `lines`: every entry as it counts; `view`: the last one; `state_hash`: SHA-256 over the whole state, hex.
    """

    game: Game[Any]
    version: int
    head: str
    lines: tuple[history.Line, ...]
    sitting: Sitting[Any]
    view: View
    state_hash: str


def replay(path: Path, games: Mapping[str, Game[Any]], viewer: Viewer = REFEREE) -> Replayed:
    """Fold a journal, live or not. Raises JournalError when it is damaged or of an unknown game."""
    with Reader(path) as reader:
        payloads = tuple(reader.checked())
    game, entries = read_entries(payloads, games, path)
    head = ROOT
    for payload in payloads:
        head = chained(head, payload)
    try:
        lines, sitting = history.effective(game, entries)
    except ValueError as error:
        raise JournalError(f"{path}: {error}") from None
    return Replayed(
        game=game,
        version=len(entries),
        head=head.hex(),
        lines=lines,
        sitting=sitting,
        view=show(game, sitting, viewer),
        state_hash=Codec(game).state_hash(sitting),
    )
