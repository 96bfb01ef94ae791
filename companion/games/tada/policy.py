"""One sensible command of a referee who clicks for everybody; for simulated evenings and the laws' tests."""

from __future__ import annotations

from companion.core import chance
from companion.core.command import Command, WaivePad
from companion.core.fitness import barred
from companion.core.seat import Role, Viewer
from companion.games.tada import commands as c
from companion.games.tada.actions import actions, primary
from companion.games.tada.model import Table, heat, is_win_open, must_choose, named_twice, racers, would_win


def policy(table: Table, salt: int) -> Command | None:
    """What to do next; None when only time passes (a countdown) or the game is over."""
    state = table.game
    if state.phase == "choose":
        for seat in must_choose(table):
            if seat not in state.chosen or seat in named_twice(table)[1:]:
                return _choice(table, seat, salt)
    if state.aiming:
        others = [s.id for s in table.playing() if s.id != state.aiming[0]] + [""]
        return c.ChooseTarget(seat=state.aiming[0], target=_pick(table, salt, others))
    among, room = heat(table)
    if among and state.phase == "resolve":
        drawn = chance.shuffled(table.opened.seed, f"policy/{salt}", among)
        return c.SettleHeat(of="place", winners=drawn[:room])
    if is_win_open(table) and state.phase == "resolve":
        return c.SettleHeat(of="win", winners=(_pick(table, salt, list(would_win(table))),))
    main = primary(table, Viewer(Role.REFEREE))
    if main is not None:
        return main.command
    if unfit := barred(table, racers(table)):
        return WaivePad(device=unfit[0].device)
    if state.phase == "cast":
        return _cast(table, salt)
    return None


def _pick(table: Table, salt: int, among: list[str]) -> str:
    return among[chance.number(table.opened.seed, f"policy/{salt}", len(among))]


def _choice(table: Table, seat: str, salt: int) -> Command | None:
    cards = []
    for action in actions(table, Viewer(Role.SEAT, seat)):
        if isinstance(action.command, c.ChooseSpell):
            named = [str(choice.value) for field in action.fields for choice in field.choices]
            cards += named or [action.command.spell]
    return c.ChooseSpell(seat=seat, spell=_pick(table, salt, cards)) if cards else None


def _cast(table: Table, salt: int) -> Command | None:
    """A seat locks its next die, or slams when its spell is complete."""
    casting = [k for k in table.game.casters.values() if k.is_casting and k.has_started]
    if not casting:
        return None
    seat = _pick(table, salt, [k.seat for k in casting])
    caster = table.game.casters[seat]
    if caster.is_complete:
        return c.Slam(seat=seat)
    locks = [a for a in actions(table, Viewer(Role.SEAT, seat)) if isinstance(a.command, c.LockDie)]
    return locks[0].command if locks else c.Slam(seat=seat)
