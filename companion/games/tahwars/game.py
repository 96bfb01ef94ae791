"""TAH WARS as the catalogue holds it."""

from __future__ import annotations

from companion.core.game import Game
from companion.games.tahwars import commands, events
from companion.games.tahwars.cues import cues
from companion.games.tahwars.decide import decide
from companion.games.tahwars.deck import check, lacks
from companion.games.tahwars.evolve import evolve, open_game
from companion.games.tahwars.interpret import Trace, interpret
from companion.games.tahwars.model import Table, TahWars
from companion.games.tahwars.policy import policy
from companion.games.tahwars.rulebook import CHOICES, OPTIONS
from companion.games.tahwars.scoring import score_table
from companion.games.tahwars.verdicts import rule
from companion.games.tahwars.view import view


def why_fixed(table: Table, option: str) -> str:
    """House rules are chosen before play; who deals, before the cards are dealt. Rule: TAH-27"""
    if option == "dealing":
        return "Who deals the quest cards is fixed when the table is opened."
    return "" if table.game.phase == "setup" else "House rules are chosen before play."


GAME = Game[TahWars](
    name="tahwars",
    title="TAH WARS",
    min_seats=2,
    max_seats=6,
    options=OPTIONS,
    choices=CHOICES,
    data_file="house.json",
    check_data=check,
    commands=commands.COMMANDS,
    events=events.EVENTS,
    state=TahWars,
    open=open_game,
    may_accommodate=lambda table: table.game.phase == "setup",
    decide=decide,
    evolve=evolve,
    rule=rule,
    cues=cues,
    deadlines=lambda _table: (),
    trace=Trace,
    interpret=interpret,
    view=view,
    standings=score_table,
    part=lambda table: table.game.part,
    is_over=lambda table: table.game.phase == "over",
    policy=policy,
    why_fixed=why_fixed,
    explain_data=lacks,
)
