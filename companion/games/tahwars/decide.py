"""May it be done, and which facts does it make. Pure and total."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from companion.core.command import Command, Order
from companion.core.event import Event
from companion.core.game import refuse
from companion.core.ruling import Verdict
from companion.games.tahwars import commands as c
from companion.games.tahwars import engage
from companion.games.tahwars import events as e
from companion.games.tahwars.deck import RESOURCES, goods_in_words
from companion.games.tahwars.model import (
    Table,
    castle_gives,
    data_of,
    in_order,
    may_draw,
    may_pay,
    owes_card,
    player_of,
    title,
    titles,
    to_order,
)
from companion.games.tahwars.placing import castle_at, judged_place, why_not_castle, why_not_map
from companion.games.tahwars.rulebook import CROWN_COST, MOST_QUESTS, PHASES
from companion.games.tahwars.scoring import may_buy_crown
from companion.games.tahwars.splits import read_split

Facts = tuple[Event, ...]


def decide(table: Table, order: Order) -> Facts:
    """The facts that an order makes at this table."""
    command, state = order.command, table.game
    rule = RULES.get(type(command))
    seat = getattr(command, "seat", "")
    if rule is None:
        return refuse(command, "TABLE-3", "This game has no such command.")
    phases, judge = rule
    if state.phase == "over":
        return refuse(command, "TAH-28", "The game is over.", seat)
    if seat and player_of(table, seat) is None:
        return refuse(command, "TAH-32", "Who is out of the game takes no part in it.", seat)
    if state.phase not in phases:
        because = f"{PHASES[state.phase]} is under way: this belongs to another phase."
        return refuse(command, "TAH-5", because, seat)
    if seat and state.turn and type(command) not in AT_ANY_TIME and seat != state.turn:
        return refuse(command, "TAH-5", f"It is {table.name(state.turn)}'s turn.", seat)
    return judge(table, order, command)


# Set-up


def _lay_map(table: Table, _: Order, command: c.LayMap) -> Facts:
    if command.map is None:
        found = data_of(table).map(command.name)
        if found is None:
            known = ", ".join(each.name for each in data_of(table).maps) or "none"
            return refuse(command, "TAH-2", f"There is no such map; there are: {known}.")
        return (e.MapLaid(map=found),)
    if wrong := why_not_map(command.map):
        return refuse(command, "TAH-2", f"That map cannot be used, the old one stays: {wrong}.")
    return (e.MapLaid(map=command.map),)


def _place_castle(table: Table, _: Order, command: c.PlaceCastle) -> Facts:
    if found := why_not_castle(table, command):
        return refuse(command, *found, command.seat)
    castle = castle_at(table, command)
    wrong = judged_place(table, command.seat, castle)
    if wrong is not None and wrong.verdict is Verdict.BREACH:
        return refuse(command, wrong.rule, wrong.because, command.seat)
    return (e.CastlePlaced(seat=command.seat, castle=castle),)


def _choose_first(table: Table, _: Order, command: c.ChooseFirst) -> Facts:
    state, seats = table.game, in_order(table)
    if command.first not in seats:
        return refuse(command, "TAH-3", "Nobody sits there.")
    if len(seats) < 2:
        return refuse(command, "TAH-2", "TAH WARS is played by two to six.")
    if state.map is None and data_of(table).maps:
        return refuse(command, "TAH-2", "One map is chosen first.")
    late = [table.name(seat) for seat in seats if state.players[seat].castle is None]
    if late:
        because = f"Each castle stands at its player's edge first: {', '.join(late)}."
        return refuse(command, "TAH-2", because)
    if owes_card(table):
        return refuse(command, "TAH-2", "Four quest cards are turned up first.")
    teams = team_names(str(table.options["teams"]), seats)
    if teams is None:
        return refuse(command, "TAH-30", WHY_NO_TEAMS[str(table.options["teams"])])
    return (e.FirstChosen(first=command.first, teams=teams),)


WHY_NO_TEAMS = {
    "pairs": "Teams of two are played by four or six.",
    "threes": "Teams of three are played by six.",
}


def team_names(way: str, seats: tuple[str, ...]) -> dict[str, str] | None:
    """The team of each seat, partners opposite; nothing where none play, None where so many cannot. Rule: TAH-30"""
    count = len(seats)
    if way == "off":
        return {}
    if (way == "pairs" and count not in (4, 6)) or (way == "threes" and count != 6):
        return None
    teams = 2 if way == "threes" else count // 2
    return {seat: f"team {number % teams + 1}" for number, seat in enumerate(seats)}


# Phase 1


def _turn_up(table: Table, _: Order, command: c.TurnUp) -> Facts:
    if not owes_card(table):
        return refuse(command, "TAH-6", "No card is to be turned up now.")
    if command.quest not in table.game.deck:
        return refuse(command, "TAH-6", "That card is not in the deck.")
    return (e.CardTurnedUp(quest=command.quest),)


def _may_take(table: Table, seat: str) -> bool:
    return len(table.game.players[seat].quests) < MOST_QUESTS


def _take_quest(table: Table, _: Order, command: c.TakeQuest) -> Facts:
    seat = command.seat
    if not _may_take(table, seat):
        return refuse(command, "TAH-6", "With two quests a quest of the line-up is discarded instead.", seat)
    if command.quest not in table.game.line_up:
        return refuse(command, "TAH-6", "That quest does not lie in the line-up.", seat)
    return (e.QuestTaken(seat=seat, quest=command.quest),)


def _draw_quest(table: Table, _: Order, command: c.DrawQuest) -> Facts:
    seat, state = command.seat, table.game
    if not _may_take(table, seat):
        return refuse(command, "TAH-6", "With two quests a quest of the line-up is discarded instead.", seat)
    if not may_draw(state):
        return refuse(command, "TAH-6", "The deck is empty, and so are the discards.", seat)
    if table.options["dealing"] == "table":
        if command.quest not in (state.deck or state.discards):
            return refuse(command, "TAH-6", "Say which card of the deck was drawn.", seat)
    elif command.quest:
        return refuse(command, "TAH-6", "The top card is drawn: nobody chooses it.", seat)
    return (e.QuestDrawn(seat=seat, quest=command.quest),)


def _drop_quest(table: Table, _: Order, command: c.DropQuest) -> Facts:
    if command.quest not in table.game.line_up:
        return refuse(command, "TAH-6", "That quest does not lie in the line-up.", command.seat)
    return (e.QuestDropped(seat=command.seat, quest=command.quest),)


def _pass_quest(table: Table, _: Order, command: c.PassQuest) -> Facts:
    state = table.game
    if state.line_up or (may_draw(state) and _may_take(table, command.seat)):
        return refuse(command, "TAH-6", "One of the three choices is made.", command.seat)
    return (e.QuestPassed(seat=command.seat),)


# Phase 2


def _gather_castle(table: Table, _: Order, command: c.GatherCastle) -> Facts:
    seat = command.seat
    if table.game.doing.has_gathered:
        return refuse(command, "TAH-7", "The castle has gathered in this round.", seat)
    gives = castle_gives(table.game.players[seat].castle)
    resource = command.resource or (gives[0] if len(gives) == 1 else "")
    if resource not in (gives or ("",)):
        because = (
            f"That castle gathers 1 of {' or '.join(gives)}." if gives else "It stands on unpainted ground."
        )
        return refuse(command, "TAH-7", because, seat)
    return (e.CastleGathered(seat=seat, resource=resource),)


def _why_not_order(table: Table, command: c.Gather | c.Stay) -> tuple[str, str] | None:
    """Rule and reason why a die cannot be ordered now. Rule: TAH-8 TAH-13"""
    seat, kind = command.seat, command.kind
    player, doing = table.game.players[seat], table.game.doing
    if kind not in player.dice:
        return "TAH-1", "There is no such die in the set."
    if kind == "d20":
        return "TAH-13", "The D20 only attacks: it is not ordered."
    if not doing.has_gathered:
        return "TAH-10", "The castle gathers first."
    if player.dice[kind].place != "board":
        rule = "TAH-11" if isinstance(command, c.Stay) else "TAH-9"
        return rule, f"The {title(kind)} does not lie on the board."
    if kind in doing.stayed:
        return "TAH-8", f"The {title(kind)} has its order."
    if kind not in to_order(table, seat):
        return "TAH-8", f"The fewest faces come first: {titles(to_order(table, seat))}."
    return None


def _gather(table: Table, _: Order, command: c.Gather) -> Facts:
    seat = command.seat
    if found := _why_not_order(table, command):
        return refuse(command, *found, seat)
    gives = read_split(table.game.players[seat].dice[command.kind], command.split)
    if isinstance(gives, str):
        return refuse(command, "TAH-9", gives, seat)
    return (e.DieGathered(seat=seat, kind=command.kind, gives=gives),)


def _stay(table: Table, _: Order, command: c.Stay) -> Facts:
    seat = command.seat
    if found := _why_not_order(table, command):
        return refuse(command, *found, seat)
    die, piece = data_of(table).die(command.kind), table.game.players[seat].dice[command.kind]
    faces = die.faces_shown if die else ()
    number = min(len(faces), piece.number + 1)
    shows = faces[number - 1] if 0 < number <= len(faces) else 0
    return (e.DieStayed(seat=seat, kind=command.kind, shows=shows, number=number),)


# Phase 3


def _why_not_trade(table: Table, command: Command, seat: str) -> Facts:
    if seat in table.game.finished:
        return refuse(command, "TAH-12", "That seat is through with this phase.", seat)
    return ()


def _recruit(table: Table, _: Order, command: c.Recruit) -> Facts:
    seat, kind = command.seat, command.kind
    if refused := _why_not_trade(table, command, seat):
        return refused
    die, player = data_of(table).die(kind), table.game.players[seat]
    if die is None or kind not in player.dice:
        return refuse(command, "TAH-1", "There is no such die in the set.", seat)
    if kind == "d4":
        return refuse(command, "TAH-12", "The D4 is always active and free.", seat)
    if player.dice[kind].place != "home":
        because = f"The {title(kind)} is not on the player board: only from there it is recruited."
        return refuse(command, "TAH-12", because, seat)
    if not may_pay(player.resources, die.cost):
        because = f"The {title(kind)} costs {goods_in_words(die.cost)}."
        return refuse(command, "TAH-12", because, seat)
    return (e.DieRecruited(seat=seat, kind=kind, paid=die.cost),)


def _buy_crown(table: Table, _: Order, command: c.BuyCrown) -> Facts:
    seat = command.seat
    if refused := _why_not_trade(table, command, seat):
        return refused
    if not may_pay(table.game.players[seat].resources, dict.fromkeys(RESOURCES, CROWN_COST)):
        return refuse(command, "TAH-12", f"A crown costs {CROWN_COST} of each resource.", seat)
    if not may_buy_crown(table, seat):
        return refuse(command, "TAH-30", "The winning crown cannot be bought (no_bought_win).", seat)
    return (e.CrownBought(seat=seat),)


def _finish_trade(table: Table, _: Order, command: c.FinishTrade) -> Facts:
    return _why_not_trade(table, command, command.seat) or (e.TradeFinished(seat=command.seat),)


def _set_cubes(table: Table, _: Order, command: c.SetCubes) -> Facts:
    """People outrank what the program counts, within what a player board holds. Rule: TAH-10"""
    data, seat, item = data_of(table), command.seat, command.item
    bounds = dict.fromkeys(RESOURCES, ("TAH-10", 0, data.resource_cap))
    bounds |= {
        "shield": ("TAH-22", 0, data.shield_cap),
        "attack": ("TAH-22", 0, data.attack_cap),
        "health": ("TAH-27", 1, data.health_cap),
    }
    if item not in bounds:
        return refuse(command, "TAH-21", "Crowns come by the rules alone: correct the entry instead.", seat)
    rule, low, high = bounds[item]
    if not low <= command.value <= high:
        return refuse(command, rule, f"A player board holds {low} to {high} of {item}.", seat)
    return (e.CubesSet(seat=seat, item=item, value=command.value),)


Judge = Callable[[Table, Order, Any], Facts]
SETUP, LAUNCH, QUESTS = frozenset({"setup"}), frozenset({"launch"}), frozenset({"quests"})
ORDERS, RECRUIT, ACTIONS = frozenset({"orders"}), frozenset({"recruit"}), frozenset({"actions"})
PLAY = LAUNCH | QUESTS | ORDERS | RECRUIT | ACTIONS
RULES: Mapping[type[Command], tuple[frozenset[str], Judge]] = {
    c.LayMap: (SETUP, _lay_map),
    c.PlaceCastle: (SETUP | PLAY, _place_castle),
    c.ChooseFirst: (SETUP, _choose_first),
    c.TurnUp: (SETUP | LAUNCH | QUESTS, _turn_up),
    c.TakeQuest: (QUESTS, _take_quest),
    c.DrawQuest: (QUESTS, _draw_quest),
    c.DropQuest: (QUESTS, _drop_quest),
    c.PassQuest: (QUESTS, _pass_quest),
    c.GatherCastle: (ORDERS, _gather_castle),
    c.Gather: (ORDERS, _gather),
    c.Stay: (ORDERS, _stay),
    c.Recruit: (RECRUIT, _recruit),
    c.BuyCrown: (RECRUIT, _buy_crown),
    c.FinishTrade: (RECRUIT, _finish_trade),
    c.MoveCastle: (ACTIONS, engage.move_castle),
    c.RotateCastle: (ACTIONS, engage.rotate_castle),
    c.TakeBackMove: (ACTIONS, engage.take_back_move),
    c.DeclareAttack: (ACTIONS, engage.declare_attack),
    c.DropDie: (LAUNCH | ACTIONS, engage.drop_die),
    c.NoteHit: (ACTIONS, engage.note_hit),
    c.NoteKnock: (LAUNCH | ACTIONS, engage.note_knock),
    c.NotePutBack: (PLAY, engage.note_put_back),
    c.NoteStuck: (LAUNCH | ACTIONS, engage.note_stuck),
    c.LayFlat: (LAUNCH | ACTIONS, engage.lay_flat),
    c.SettleAttack: (ACTIONS, engage.settle_attack),
    c.CompleteQuest: (ACTIONS, engage.complete_quest),
    c.EndTurn: (ACTIONS, engage.end_turn),
    c.SetCubes: (PLAY, _set_cubes),
}
"""Which phases each command belongs to, and who judges it. Rule: TAH-5"""
AT_ANY_TIME = frozenset({c.PlaceCastle, c.SetCubes})
"""What is put right for a seat that is not on turn."""
