"""Tacta as the catalogue holds it."""

from __future__ import annotations

from companion.core.command import Command
from companion.core.game import Game
from companion.games.tacta import commands, events
from companion.games.tacta.cues import cues
from companion.games.tacta.decide import decide
from companion.games.tacta.deck import check
from companion.games.tacta.evolve import evolve, open_game
from companion.games.tacta.interpret import Trace, interpret
from companion.games.tacta.model import Table, Tacta
from companion.games.tacta.policy import policy
from companion.games.tacta.rulebook import BOUNDS, CHOICES, OPTIONS
from companion.games.tacta.verdicts import rule
from companion.games.tacta.view import score_table, view


def deadlines(table: Table) -> tuple[tuple[int, Command], ...]:
    """The start of free play, at its instant in play time. Rule: TACTA-20"""
    state = table.game
    return (
        ((state.go_ns, commands.GiveStart()),)
        if state.phase == "countdown" and state.go_ns is not None
        else ()
    )


def why_fixed(table: Table, option: str) -> str:
    """House rules are agreed before cards lie; how and how long is played, before the first round."""
    if table.game.phase != "setup":
        return "House rules are fixed while cards lie on the table."
    if option in ("mode", "match") and table.game.part > 1:
        return f"{option} is fixed from the first round on."
    return ""


GAME = Game[Tacta](
    name="tacta",
    title="Tacta",
    min_seats=2,
    max_seats=6,
    options=OPTIONS,
    choices=CHOICES,
    data_file="deck-a.json",
    check_data=check,
    commands=commands.COMMANDS,
    events=events.EVENTS,
    state=Tacta,
    open=open_game,
    may_accommodate=lambda table: table.game.phase == "setup",
    decide=decide,
    evolve=evolve,
    rule=rule,
    cues=cues,
    deadlines=deadlines,
    trace=Trace,
    interpret=interpret,
    view=view,
    standings=score_table,
    part=lambda table: table.game.part,
    is_over=lambda table: table.game.phase == "over",
    policy=policy,
    bounds=BOUNDS,
    why_fixed=why_fixed,
)
