"""Whose turn is next, and which phase. Pure. Rule: TAH-5"""

from __future__ import annotations

import msgspec

from companion.games.tahwars.model import Doing, Table, TahWars, in_order, next_after, to_launch, to_order
from companion.games.tahwars.scoring import round_over

replace = msgspec.structs.replace
NEXT = {"launch": "quests", "quests": "orders", "orders": "recruit", "recruit": "actions"}


def entered(table: Table, phase: str) -> TahWars:
    """The game at the beginning of a phase."""
    state = replace(table.game, phase=phase, doing=Doing(), finished=(), bought={})
    first = next(iter(in_order(table)), "")
    return replace(state, turn="" if phase == "recruit" else first)


def gone_on(table: Table) -> TahWars:
    """The game where the seat on turn, or the phase, may be through by itself."""
    state = table.game
    if state.phase == "launch":
        late = next((seat for seat in in_order(table) if to_launch(state.players[seat])), "")
        return replace(state, turn=late) if late else entered(table, "quests")
    if state.phase == "orders" and state.turn in in_order(table):
        is_through = state.doing.has_gathered and not to_order(table, state.turn)
        return passed_on(table, state.turn) if is_through else state
    if state.phase == "recruit" and all(seat in state.finished for seat in in_order(table)):
        return entered(table, "actions")
    return state


def passed_on(table: Table, seat: str) -> TahWars:
    """The game after `seat` is through with the phase."""
    state = table.game
    following = next_after(table, seat)
    if following:
        return replace(state, turn=following, doing=Doing())
    if state.phase != "actions":
        return entered(table, NEXT.get(state.phase, "quests"))
    return _next_round(table)


def _next_round(table: Table) -> TahWars:
    """The marker goes on and a new round begins, unless the game is decided. Rule: TAH-5 TAH-28"""
    state = round_over(table)
    if state.phase == "over":
        return state
    first = next_after(table, state.first, wraps=True)
    begun = replace(state, part=state.part + 1, first=first)
    return entered(replace(table, game=begun), "quests")
