"""Zing-a-Zam as the catalogue holds it."""

from __future__ import annotations

from companion.core.game import Game
from companion.games.zingazam import commands, events
from companion.games.zingazam.cues import cues
from companion.games.zingazam.decide import decide
from companion.games.zingazam.deck import check
from companion.games.zingazam.evolve import evolve, open_game
from companion.games.zingazam.interpret import Trace, interpret
from companion.games.zingazam.model import Table, Zingazam, is_over, is_private
from companion.games.zingazam.policy import policy
from companion.games.zingazam.rulebook import AT_ANY_TIME, BOUNDS, CHOICES, OPTIONS
from companion.games.zingazam.secrets import is_secret
from companion.games.zingazam.verdicts import rule
from companion.games.zingazam.view import score_table, view


def why_fixed(table: Table, option: str) -> str:
    """House rules are agreed before a game; how many are played may be said at any time. Rule: ZAZ-23"""
    if option in AT_ANY_TIME or table.game.phase in ("setup", "counted"):
        return ""
    return "This house rule is fixed while a game runs."


GAME = Game[Zingazam](
    name="zingazam",
    title="Zing-a-Zam",
    min_seats=2,
    max_seats=5,
    options=OPTIONS,
    choices=CHOICES,
    data_file="cards.toml",
    check_data=check,
    commands=commands.COMMANDS,
    events=events.EVENTS,
    state=Zingazam,
    open=open_game,
    may_accommodate=lambda table: table.game.phase == "setup",
    decide=decide,
    evolve=evolve,
    rule=rule,
    cues=cues,
    deadlines=lambda table: (),
    trace=Trace,
    interpret=interpret,
    view=view,
    standings=score_table,
    part=lambda table: table.game.part,
    is_over=is_over,
    policy=policy,
    bounds=BOUNDS,
    why_fixed=why_fixed,
    is_private=is_private,
    is_secret=is_secret,
)
