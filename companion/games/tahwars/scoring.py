"""Crowns, who has enough of them, and who has won. Pure."""

from __future__ import annotations

import msgspec

from companion.core.score import Standing, standings
from companion.games.tahwars.model import Table, TahWars, in_order, player_of
from companion.games.tahwars.rulebook import TARGET

replace = msgspec.structs.replace


def team_of(table: Table, seat: str) -> str:
    """What a seat scores for: its team, or itself. Rule: TAH-30"""
    player = table.game.players.get(seat)
    return (player.team if player else "") or seat


def members(table: Table, team: str) -> tuple[str, ...]:
    """All seats of a team, those that are out included."""
    return tuple(seat for seat in table.game.players if team_of(table, seat) == team)


def teams_playing(table: Table) -> tuple[str, ...]:
    """The teams, or seats, that still play, in order."""
    return tuple(dict.fromkeys(team_of(table, seat) for seat in in_order(table)))


def target(table: Table, team: str) -> int:
    """The crowns that a team needs, five for each head that it began with. Rule: TAH-28 TAH-30"""
    return TARGET * len(members(table, team))


def crowns(table: Table, team: str) -> int:
    """The crowns of a team that count: not those of who is out. Rule: TAH-30 TAH-32"""
    players = table.game.players
    return sum(players[seat].crowns for seat in members(table, team) if player_of(table, seat))


def _over(table: Table) -> dict[str, int]:
    """By how much each team is over its target, or under it."""
    return {team: crowns(table, team) - target(table, team) for team in teams_playing(table)}


def won(table: Table, team: str) -> TahWars:
    """The game is over: this team has won."""
    return replace(table.game, phase="over", turn="", winners=members(table, team))


def last_left(table: Table) -> TahWars:
    """The game, won where one team alone is left. Rule: TAH-32"""
    state, left = table.game, teams_playing(table)
    if state.phase in ("setup", "over") or len(left) > 1:
        return state
    return won(table, left[0]) if left else replace(state, phase="over", turn="")


def after_gain(table: Table, seat: str) -> TahWars:
    """The game after this seat gained a crown: won at once, or its final round begun. Rule: TAH-28 TAH-29 TAH-30"""
    state = table.game
    if state.phase == "over" or player_of(table, seat) is None:
        return state
    if state.phase == "recruit":
        return bought_in_order(table)
    state = triggered(table)
    return won(table, team_of(table, seat)) if _wins_at_once(table, team_of(table, seat)) else state


def triggered(table: Table) -> TahWars:
    """The game with its final round set once somebody has enough crowns. Rule: TAH-28"""
    state = table.game
    if state.final or state.stage or all(over < 0 for over in _over(table).values()):
        return state
    return replace(state, final=state.part + (table.options["final_round"] == "next"))


def _wins_at_once(table: Table, team: str) -> bool:
    """Whether a team that just gained a crown has won by it. Rule: TAH-28 TAH-29 TAH-30"""
    over = _over(table)
    mine = over.get(team, -1)
    if mine < 0:
        return False
    if table.options["first_to_five"]:
        return True
    if table.game.stage == "sudden":
        return mine > 0
    is_alone = all(other < mine for each, other in over.items() if each != team)
    return table.game.stage == "alone" and is_alone


def bought_in_order(table: Table) -> TahWars:
    """Phase 3: crowns count in player order, and one wins when all earlier players are through. Rule: TAH-31"""
    state = triggered(table)
    players = dict(state.players)
    for seat, count in state.bought.items():
        if seat in players:
            players[seat] = replace(players[seat], crowns=max(0, players[seat].crowns - count))
    for seat in in_order(table):
        for _ in range(state.bought.get(seat, 0)):
            players[seat] = replace(players[seat], crowns=players[seat].crowns + 1)
            so_far = replace(table, game=replace(state, players=dict(players)))
            if _wins_at_once(so_far, team_of(table, seat)):
                return won(replace(table, game=state), team_of(table, seat))
        if seat not in state.finished:
            break
    return state


def round_over(table: Table) -> TahWars:
    """The game at the end of a round: won, in sudden death, or played on. Rule: TAH-28 TAH-29"""
    state, over = table.game, _over(table)
    enough = {team: more for team, more in over.items() if more >= 0}
    if not enough:
        return replace(state, final=0, stage="") if state.stage or _is_final(state) else state
    best = max(enough.values())
    highest = [team for team, more in enough.items() if more == best]
    if state.stage == "alone":
        return won(table, highest[0]) if len(highest) == 1 else state
    if state.stage == "sudden" or not _is_final(state):
        return state
    if len(enough) == 1 or (best > 0 and len(highest) == 1):
        return won(table, highest[0])
    return replace(state, stage="alone" if best > 0 else "sudden")


def _is_final(state: TahWars) -> bool:
    return 0 < state.final <= state.part


def may_buy_crown(table: Table, seat: str) -> bool:
    """Whether house rules let this seat buy a crown now. Rule: TAH-30"""
    team = team_of(table, seat)
    return not table.options["no_bought_win"] or crowns(table, team) < target(table, team) - 1


def score_table(table: Table) -> tuple[Standing, ...]:
    """Standings by crowns, a team's together; winners first. Rule: TAH-28 TAH-32"""
    scores = {seat.id: crowns(table, team_of(table, seat.id)) for seat in table.seats}
    return standings(scores, table.game.winners)
