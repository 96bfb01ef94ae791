"""What each fact does to the game. Pure and total."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from companion.core import chance
from companion.core.event import Event, Joined, Left, Opened
from companion.core.game import Moment
from companion.games.tahwars import events as e
from companion.games.tahwars.deck import RESOURCES, Data, read
from companion.games.tahwars.flow import gone_on, passed_on
from companion.games.tahwars.model import (
    Attack,
    Doing,
    Piece,
    Player,
    Table,
    TahWars,
    are_partners,
    data_of,
    gained,
    may_draw,
)
from companion.games.tahwars.rulebook import (
    CROWN_COST,
    LINE_UP,
    START_ATTACK,
    START_EACH,
    START_HEALTH,
    START_SHIELD,
)
from companion.games.tahwars.scoring import after_gain, bought_in_order, last_left

replace = msgspec.structs.replace


def open_game(opened: Opened) -> TahWars:
    """The game before a map lies: every board as the set-up wants it. Rule: TAH-2"""
    data = read(opened.data)
    ids = tuple(quest.id for quest in data.quests)
    players = {seat.id: new_player(data) for seat in opened.seats}
    if opened.options.get("dealing") == "table":
        return TahWars(phase="setup", part=1, players=players, deck=ids)
    deck = chance.shuffled(opened.seed, "quests/0", ids)
    return TahWars(phase="setup", part=1, players=players, deck=deck[LINE_UP:], line_up=deck[:LINE_UP])


def new_player(data: Data) -> Player:
    """A board as the set-up wants it; the D4 is always active. Rule: TAH-2 TAH-12"""
    dice = {die.kind: Piece(kind=die.kind, place=_home(die.kind)) for die in data.dice}
    return Player(
        shield=START_SHIELD, attack=START_ATTACK, health=START_HEALTH,
        resources=dict.fromkeys(RESOURCES, START_EACH), dice=dice,
    )  # fmt: skip


def _home(kind: str) -> str:
    """Where a die goes that leaves the board: the D4 is always active. Rule: TAH-9 TAH-24 TAH-25"""
    return "population" if kind == "d4" else "home"


def evolve(table: Table, event: Event, moment: Moment) -> TahWars:
    """The game after one fact; `table` has the common part evolved already."""
    before, after = table.game, _after(table, event)
    is_new = (after.part, after.phase, after.turn) != (before.part, before.phase, before.turn)
    return replace(after, since_ns=moment.at_ns) if is_new else after


def _after(table: Table, event: Event) -> TahWars:
    state = table.game
    match event:
        case Joined(seat=joined):
            player = replace(new_player(data_of(table)), is_out=state.phase != "setup")
            return replace(state, players={**state.players, joined.id: player})
        case Left(seat=seat):
            return _left(table, seat)
        case e.MapLaid(map=laid):
            return replace(state, map=laid)
        case e.FirstChosen(first=first, teams=teams):
            players = {seat: replace(p, team=teams.get(seat, "")) for seat, p in state.players.items()}
            begun = replace(state, players=players, first=first if first in players else "", phase="launch")
            return gone_on(_with(table, begun))
        case e.CardTurnedUp() | e.QuestTaken() | e.QuestDrawn() | e.QuestDropped() | e.QuestPassed():
            return _quest_board(table, event)
    seat = getattr(event, "seat", "") or getattr(event, "owner", "")
    if seat not in state.players:
        return state
    return _of_player(table, event, seat)


def _with(table: Table, state: TahWars) -> Table:
    return replace(table, game=state)


def _changed(state: TahWars, seat: str, **changes: Any) -> TahWars:
    return replace(state, players={**state.players, seat: replace(state.players[seat], **changes)})


def _doing(state: TahWars, **changes: Any) -> TahWars:
    return replace(state, doing=replace(state.doing, **changes))


def _piece(state: TahWars, seat: str, kind: str, piece: Piece) -> TahWars:
    """The same game with another of a player's seven dice; a die that nobody has changes nothing. Rule: TAH-1"""
    dice = state.players[seat].dice
    return _changed(state, seat, dice={**dice, kind: piece}) if kind in dice else state


def _of_player(table: Table, event: Event, seat: str) -> TahWars:
    state = table.game
    player = state.players[seat]
    match event:
        case e.CastlePlaced(castle=castle):
            return _changed(state, seat, castle=castle)
        case e.CastleGathered(resource=resource):
            cap = data_of(table).resource_cap
            after = _changed(state, seat, resources=gained(player.resources, ((resource, 1),), cap))
            return gone_on(_with(table, _doing(after, has_gathered=True)))
        case e.DieGathered(kind=kind, gives=gives):
            cap = data_of(table).resource_cap
            after = _changed(state, seat, resources=gained(player.resources, gives, cap))
            after = _piece(after, seat, kind, Piece(kind=kind, place=_home(kind)))
            return gone_on(_with(table, after))
        case e.DieStayed(kind=kind, shows=shows, number=number):
            piece = player.dice.get(kind)
            if piece is None:
                return state
            after = _piece(state, seat, kind, replace(piece, shown=shows, number=number))
            return gone_on(_with(table, _doing(after, stayed=(*state.doing.stayed, kind))))
        case e.DieRecruited(kind=kind, paid=paid):
            after = _changed(state, seat, resources=_paid(player.resources, paid))
            return _piece(after, seat, kind, Piece(kind=kind, place="population"))
        case e.CrownBought():
            paid = dict.fromkeys(RESOURCES, CROWN_COST)
            after = _changed(state, seat, crowns=player.crowns + 1, resources=_paid(player.resources, paid))
            bought = {**state.bought, seat: state.bought.get(seat, 0) + 1}
            return after_gain(_with(table, replace(after, bought=bought)), seat)
        case e.TradeFinished():
            after = bought_in_order(_with(table, replace(state, finished=(*state.finished, seat))))
            return gone_on(_with(table, after))
        case e.CubesSet(item=item, value=value):
            if item in player.resources:
                return _changed(state, seat, resources={**player.resources, item: value})
            return _changed(state, seat, **{item: value}) if item in ("shield", "attack", "health") else state
        case _:
            return _in_actions(table, event, seat)


def _paid(resources: Mapping[str, int], cost: Mapping[str, int]) -> dict[str, int]:
    return {name: max(0, held - max(0, cost.get(name, 0))) for name, held in resources.items()}


def _quest_board(table: Table, event: Event) -> TahWars:
    """Phase 1: cards change places. Rule: TAH-6"""
    state = table.game
    match event:
        case e.CardTurnedUp(quest=quest):
            if quest not in state.deck:
                return state
            deck = tuple(each for each in state.deck if each != quest)
            return _dealt(table, replace(state, deck=deck, line_up=(*state.line_up, quest)))
        case e.QuestTaken(seat=seat, quest=quest):
            if seat not in state.players or quest not in state.line_up:
                return state
            after = _without(state, quest)
            after = _changed(after, seat, quests=(*after.players[seat].quests, quest))
        case e.QuestDropped(seat=seat, quest=quest):
            if quest not in state.line_up:
                return state
            after = _without(state, quest)
            after = replace(after, discards=(*after.discards, quest))
        case e.QuestDrawn(seat=seat, quest=named):
            after = _shuffled(table, state)
            if seat not in after.players or not after.deck:
                return state
            quest = named if named in after.deck else after.deck[0]
            after = replace(after, deck=tuple(each for each in after.deck if each != quest))
            after = _changed(after, seat, quests=(*after.players[seat].quests, quest))
        case e.QuestPassed(seat=seat):
            after = state
        case _:
            return state
    dealt = _dealt(table, after)
    return passed_on(_with(table, dealt), seat) if dealt.phase == "quests" else dealt


def _without(state: TahWars, quest: str) -> TahWars:
    return replace(state, line_up=tuple(each for each in state.line_up if each != quest))


def _dealt(table: Table, state: TahWars) -> TahWars:
    """The line-up is filled again, where the program deals; else people do, from a deck that is not empty."""
    if table.options["dealing"] == "table":
        return _shuffled(table, state) if len(state.line_up) < LINE_UP else state
    while len(state.line_up) < LINE_UP and may_draw(state):
        state = _shuffled(table, state)
        state = replace(state, deck=state.deck[1:], line_up=(*state.line_up, state.deck[0]))
    return state


def _shuffled(table: Table, state: TahWars) -> TahWars:
    """An empty deck is made of the discards. Rule: TAH-6"""
    if state.deck or not state.discards:
        return state
    deck = chance.shuffled(table.opened.seed, f"quests/{state.shuffles + 1}", sorted(state.discards))
    return replace(state, deck=deck, discards=(), shuffles=state.shuffles + 1)


def _in_actions(table: Table, event: Event, seat: str) -> TahWars:
    """Phase 4, and the launches of the set-up."""
    state = table.game
    player, attack = state.players[seat], state.doing.attack
    match event:
        case e.CastleMoved(how=how, castle=castle):
            after = _changed(state, seat, castle=castle)
            return _doing(after, moved=how, stood=player.castle)
        case e.MoveTakenBack():
            stood = state.doing.stood or player.castle
            return _doing(_changed(state, seat, castle=stood), moved="", stood=None)
        case e.AttackDeclared(dice=declared):
            return _doing(state, attack=Attack(dice=declared))
        case e.DieLaunched():
            return _launched(table, event)
        case e.HitNoted(kind=kind, tower=tower, is_hit=is_hit) if attack is not None:
            others = tuple(each for each in attack.touched.get(kind, ()) if each != tower)
            touched = {**attack.touched, kind: (*others, tower) if is_hit else others}
            return _doing(state, attack=replace(attack, touched=touched))
        case e.DieKnocked():
            return _knocked(table, event)
        case e.DieLaidFlat(kind=kind, shows=shows, number=number):
            piece = player.dice.get(kind)
            return (
                state
                if piece is None
                else _piece(state, seat, kind, replace(piece, shown=shows, number=number))
            )
        case e.AttackSettled():
            return _settled(table, event)
        case e.QuestCompleted():
            return _completed(table, event)
        case e.TurnEnded():
            dice = {
                kind: Piece(kind=kind, place="population") if piece.place == "off" else piece
                for kind, piece in player.dice.items()
            }
            after = _changed(state, seat, dice=dice)
            return passed_on(_with(table, after), seat) if state.phase == "actions" else after
        case _:
            return state


def _launched(table: Table, event: e.DieLaunched) -> TahWars:
    """A die lies on the board or beside it. Rule: TAH-3 TAH-19 TAH-24 TAH-25"""
    state, seat, kind = table.game, event.seat, event.kind
    lies = Piece(
        kind=kind, place="off" if event.is_off_board else "board", shown=event.shows, number=event.number,
        terrains=event.terrains, xy_mm=event.xy_mm,
    )  # fmt: skip
    if state.phase == "launch":
        again = Piece(kind=kind, place=_home(kind))
        return gone_on(_with(table, _piece(state, seat, kind, again if event.is_off_board else lies)))
    after = _doing(state, spent=(*state.doing.spent, kind))
    attack = after.doing.attack
    if event.is_attack and attack is not None:
        touched = {**attack.touched, kind: event.touched} if event.touched else attack.touched
        launched = (*attack.launched, kind)
        after = _doing(after, attack=replace(attack, launched=launched, touched=touched))
    elif kind == "d20":
        lies = Piece(kind=kind, place="home")
    return _piece(after, seat, kind, lies)


def _knocked(table: Table, event: e.DieKnocked) -> TahWars:
    """A pushed die counts as it lies now; off the board it is its owner's again. Rule: TAH-25 TAH-33"""
    state, seat, kind = table.game, event.owner, event.kind
    lies = Piece(
        kind=kind, place="board", shown=event.shows, number=event.number, terrains=event.terrains,
        xy_mm=event.xy_mm,
    )  # fmt: skip
    if event.is_off_board:
        if state.phase == "launch":
            return gone_on(_with(table, _piece(state, seat, kind, Piece(kind=kind, place=_home(kind)))))
        lies = replace(lies, place="off", terrains=(), xy_mm=None)
        if event.by != seat:
            lies = Piece(kind=kind, place=_home(kind))
    return _piece(state, seat, kind, lies)


def _settled(table: Table, event: e.AttackSettled) -> TahWars:
    """Stats, crowns and health after an attack, then who is out. Rule: TAH-21 TAH-22 TAH-24 TAH-27 TAH-32"""
    state, seat, data = table.game, event.seat, data_of(table)
    attack = state.doing.attack
    gains = 0
    for strike in event.strikes:
        struck = state.players.get(strike.tower)
        if struck is None or struck.is_out or are_partners(table, seat, strike.tower):
            continue
        state = _changed(state, strike.tower, shield=min(data.shield_cap, struck.shield + 1))
        if strike.is_success:
            gains += 1
            state = _hurt(table, state, strike.tower)
    player = state.players[seat]
    raised = min(data.attack_cap, player.attack + (1 if event.is_raised else 0))
    pieces = dict(player.dice)
    if attack is not None:
        for kind in attack.launched:
            if kind in pieces and (attack.touched.get(kind) or kind == "d20"):
                pieces[kind] = Piece(kind=kind, place=_home(kind))
        state = _doing(state, attack=replace(attack, is_settled=True))
    state = _changed(state, seat, attack=raised, crowns=player.crowns + gains, dice=pieces)
    state = last_left(_with(table, replace(state, struck=event.strikes, struck_by=seat)))
    return after_gain(_with(table, state), seat) if gains else state


def _hurt(table: Table, state: TahWars, seat: str) -> TahWars:
    """One health less; at none the house rule. Rule: TAH-27"""
    player = state.players[seat]
    if player.health > 1:
        return _changed(state, seat, health=player.health - 1)
    if table.options["zero_health"] == "eliminated":
        return _dealt(table, out(_changed(state, seat, health=0), seat))
    return _changed(state, seat, health=1, crowns=max(0, player.crowns - 1))


def out(state: TahWars, seat: str) -> TahWars:
    """Tower and dice leave the board, quests are discarded. Rule: TAH-32"""
    player = state.players[seat]
    dice = {kind: Piece(kind=kind, place="out") for kind in player.dice}
    discards = (*state.discards, *player.quests)
    return _changed(replace(state, discards=discards), seat, is_out=True, castle=None, dice=dice, quests=())


def _completed(table: Table, event: e.QuestCompleted) -> TahWars:
    """The card is discarded, the goods are paid, then the reward is taken. Rule: TAH-10 TAH-26"""
    state, seat, data = table.game, event.seat, data_of(table)
    player = state.players[seat]
    if event.quest not in player.quests:
        return state
    reward = event.reward
    gives = tuple((name, reward.resources.get(name, 0)) for name in RESOURCES)
    resources = gained(_paid(player.resources, event.paid), gives, data.resource_cap)
    gains = min(max(0, reward.crowns), len(table.seats) * 5)
    state = _changed(
        state, seat, resources=resources, crowns=player.crowns + gains,
        health=min(data.health_cap, player.health + max(0, reward.health)),
        quests=tuple(each for each in player.quests if each != event.quest),
    )  # fmt: skip
    state = _doing(replace(state, discards=(*state.discards, event.quest)), completed=event.quest)
    return after_gain(_with(table, state), seat) if gains else state


def _left(table: Table, seat: str) -> TahWars:
    """Who leaves is out; turn and marker pass over. Rule: TAH-32"""
    state = table.game
    if seat not in state.players or state.phase == "over":
        return state
    if state.phase == "setup":
        return replace(state, players={each: p for each, p in state.players.items() if each != seat})
    was_out, was_turn = state.players[seat].is_out, state.turn == seat
    state = state if was_out else _dealt(table, out(state, seat))
    state = last_left(_with(table, state))
    if state.phase == "recruit":
        return gone_on(_with(table, bought_in_order(_with(table, state))))
    if state.phase == "launch":
        return gone_on(_with(table, state))
    if was_turn and state.phase != "over":
        return passed_on(_with(table, replace(state, doing=Doing())), seat)
    return state
