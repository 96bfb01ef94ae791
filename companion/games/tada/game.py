"""Ta-Da! as the catalogue holds it."""

from __future__ import annotations

from companion.core.command import Command
from companion.core.game import Game
from companion.games.tada import commands, events
from companion.games.tada.actions import may_accommodate
from companion.games.tada.cues import cues
from companion.games.tada.decide import decide
from companion.games.tada.deck import check
from companion.games.tada.evolve import evolve, open_game
from companion.games.tada.interpret import Trace, amend, interpret
from companion.games.tada.model import Table, Tada, open_protests, out_at, slams
from companion.games.tada.policy import policy
from companion.games.tada.rulebook import CHOICES, OPTIONS
from companion.games.tada.verdicts import rule
from companion.games.tada.view import score_table, view


def deadlines(table: Table) -> tuple[tuple[int, Command], ...]:
    """Instants in play time with what is due then: GO, the round clock, when nobody can place any more, and when
    the protests have waited long enough."""
    state = table.game
    found: list[tuple[int, Command]] = []
    for caster in state.casters.values():
        is_open = state.phase in ("countdown", "cast")
        if is_open and caster.go_ns is not None and not caster.has_started:
            found.append((caster.go_ns, commands.GiveGo()))
        if state.phase == "cast" and caster.is_casting and not caster.is_ruled_out:
            instant = out_at(table, caster)
            if instant is not None:
                found.append((instant, commands.RuleOut()))
    if state.phase == "resolve" and state.protest_ends_ns is not None and open_protests(table):
        found.append((state.protest_ends_ns, commands.CloseProtests()))
    if state.clock is not None:
        found.append((state.clock.ends_play_ns, commands.TimeUp()))
    return tuple(found)


GAME = Game[Tada](
    name="tada",
    title="Ta-Da!",
    min_seats=1,
    max_seats=6,
    options=OPTIONS,
    choices=CHOICES,
    data_file="house.toml",
    check_data=check,
    commands=commands.COMMANDS,
    events=events.EVENTS,
    state=Tada,
    open=open_game,
    may_accommodate=may_accommodate,
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
    slams=slams,
    amend=amend,
)
