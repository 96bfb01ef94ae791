"""Which entries of the journal hold cards that are hidden still. Rule: ZAZ-24"""

from __future__ import annotations

from companion.core import command as k
from companion.core.event import Entry
from companion.core.observation import CardLaid, CardLifted
from companion.games.zingazam import commands as c
from companion.games.zingazam.model import Table, is_full


def is_secret(table: Table, entry: Entry) -> bool:
    """Whether an entry of the running game tells a card in a hand: as it was dealt or drawn, or as it was seen then.

    When a game is counted, its cards may be known.
    """
    state = table.game
    if not is_full(table) or state.phase in ("setup", "counted") or entry.n < state.since:
        return False
    return _names_a_card(entry.command) or (
        not isinstance(entry.command, c.Play | c.Collect)
        and any(isinstance(seen, CardLaid | CardLifted) for seen in entry.seen)
    )


def _names_a_card(command: k.Command | None) -> bool:
    """Whether a command, or one that it holds, says which card is in a hand."""
    while command is not None:
        if isinstance(command, c.Deal | c.TellCat):
            return True
        command = getattr(command, "command", None)
    return False
