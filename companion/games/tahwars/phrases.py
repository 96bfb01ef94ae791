"""The table in words: for who listens, and for who wants to know what is often forgotten."""

from __future__ import annotations

from collections import Counter

from companion.games.tahwars.deck import RESOURCES, goods_in_words
from companion.games.tahwars.model import (
    Player,
    Table,
    data_of,
    deployable,
    in_order,
    on_board,
    open_attack,
    quest_of,
    strikes_of,
    title,
    titles,
    to_launch,
    to_order,
)
from companion.games.tahwars.verdicts import gathers, lands, quest_in_words, strike_in_words


def stats_in_words(player: Player) -> str:
    """Crowns, health and stats."""
    crowns = f"{player.crowns} crown{'' if player.crowns == 1 else 's'}"
    return f"{crowns}, health {player.health}, shield {player.shield}, attack {player.attack}"


def resources_in_words(player: Player) -> str:
    """All four resources, in the order of the lines."""
    return ", ".join(f"{player.resources.get(name, 0)} {name}" for name in RESOURCES)


PLACES = {"population": "active", "home": "on the player board", "off": "beside the board"}


def dice_counted(player: Player) -> str:
    """How many dice are where, for those who see the map."""
    counted = Counter(PLACES.get(piece.place, "on the map") for piece in player.dice.values())
    return ", ".join(f"{n} {words}" for words, n in counted.items())


def dice_in_words(player: Player) -> str:
    """Where all seven dice are."""
    told = [
        f"{titles(kinds)} {words}"
        for place, words in PLACES.items()
        if (kinds := [piece.kind for piece in player.dice.values() if piece.place == place])
    ]
    lying = [f"{title(p.kind)} {p.number} on {lands(p.terrains)}" for p in on_board(player)]
    return "; ".join(([f"on the board: {', '.join(lying)}"] if lying else []) + told) or "none"


def castle_in_words(player: Player) -> str:
    """On what a castle stands, and what that gives."""
    if player.castle is None:
        return "not placed yet"
    return f"on {lands(player.castle.terrains)}, gathers {gathers(player.castle.terrains)}"


def board_in_words(table: Table, seat: str) -> str:
    """One player's board, whole."""
    player = table.game.players.get(seat)
    if player is None or player.is_out:
        return "Out of the game."
    quests = [quest_in_words(q) for q in (quest_of(table, i) for i in player.quests) if q is not None]
    return (
        f"{stats_in_words(player)}. {resources_in_words(player)}. Castle {castle_in_words(player)}. "
        f"Dice {dice_in_words(player)}. Quests: {'; '.join(quests) or 'none'}."
    )


def lying_in_words(table: Table) -> str:
    """All dice and castles on the board, seat by seat."""
    told = []
    for seat in in_order(table):
        player = table.game.players[seat]
        dice = ", ".join(f"{title(p.kind)} {p.number} on {lands(p.terrains)}" for p in on_board(player))
        where = lands(player.castle.terrains) if player.castle else "no ground yet"
        told.append(f"{table.name(seat)}: castle on {where}; {dice or 'no dice'}.")
    return " ".join(told)


def attack_in_words(table: Table) -> str:
    """The attack as it forms; empty when none does. Rule: TAH-19 TAH-21"""
    attack = open_attack(table)
    if attack is None:
        return ""
    waits = f"Still to launch: {titles(attack.waiting)}. " if attack.waiting else ""
    sums = "; ".join(f"{table.name(s.tower)}: {strike_in_words(table, s)}" for s in strikes_of(table))
    return f"{waits}{sums or 'No tower was touched yet'}."


def open_things(table: Table) -> str:
    """What the phase waits for, in one sentence."""
    state = table.game
    match state.phase:
        case "setup":
            late = [table.name(seat) for seat in in_order(table) if state.players[seat].castle is None]
            if state.map is None and data_of(table).maps:
                return "Choose a map."
            return f"Castles to place: {', '.join(late)}." if late else "Choose the first player."
        case "launch":
            return f"{table.name(state.turn)} launches {titles(to_launch(state.players[state.turn]))}."
        case "quests":
            return f"{table.name(state.turn)} takes, draws or discards a quest."
        case "orders":
            if not state.doing.has_gathered:
                return f"{table.name(state.turn)}'s castle gathers first."
            return f"{table.name(state.turn)} orders {titles(to_order(table, state.turn))}: gather or stay."
        case "recruit":
            late = [table.name(seat) for seat in in_order(table) if seat not in state.finished]
            return f"Still trading: {', '.join(late)}."
        case "actions":
            return attack_in_words(table) or _actions_open(table)
        case _:
            return ""


def _actions_open(table: Table) -> str:
    state, seat = table.game, table.game.turn
    doing, who = state.doing, table.name(state.turn)
    if doing.completed:
        return f"{who} has completed a quest and ends the turn."
    kinds = deployable(table, seat)
    dice = f"deploys {titles(kinds)}" if kinds else "has no active dice left"
    if not doing.moved and not doing.spent and doing.attack is None:
        return f"{who} moves or turns the castle, or neither, and then {dice}."
    return f"{who} {dice}{'; the attack of this turn is over' if doing.attack else ''}."


def reminders(table: Table) -> tuple[str, ...]:
    """What is often forgotten, where it matters now."""
    state = table.game
    found = []
    if state.phase == "recruit":
        found.append("The D4 is always active and costs nothing.")
    if state.phase == "orders":
        cap = data_of(table).resource_cap
        found.append(
            f"Past {cap} of a resource you get one of the next line down, however much is left over."
        )
        found.append("A die from the city gives 1 of any, whatever it shows.")
    if state.phase == "actions":
        attack = state.doing.attack
        if attack is None:
            found.append("Declare attackers before the first of them is dropped.")
        if "d20" in state.players[state.turn].dice if state.turn in state.players else False:
            found.append("The D20 always returns to the player board, hit or not.")
        if attack is not None and attack.is_settled:
            found.append(_stats_due(table))
        if attack is not None and not attack.is_settled:
            found.append("Won or lost: attack +1 for the attacker, shield +1 for each touched tower.")
    if state.final and state.phase != "over":
        is_now = state.final <= state.part
        found.append("This is the final round." if is_now else "The next round is the final one.")
    if state.stage:
        how = (
            "one more crown wins at once"
            if state.stage == "sudden"
            else "who first stands alone highest wins"
        )
        found.append(f"Sudden death: {how}.")
    return tuple(found)


def _stats_due(table: Table) -> str:
    """What the cubes must show after the attack of this turn. Rule: TAH-22"""
    players, seat = table.game.players, table.game.struck_by
    if seat not in players:
        return ""
    told = [f"{table.name(seat)}: attack {players[seat].attack}, {players[seat].crowns} crowns"]
    told += [
        f"{table.name(strike.tower)}: shield {players[strike.tower].shield}, health {players[strike.tower].health}"
        for strike in table.game.struck
        if strike.tower in players
    ]
    return f"Move the cubes, also after a lost attack: {'; '.join(told)}."


def cost_in_words(table: Table) -> str:
    """What dice and crowns cost."""
    told = [f"{title(die.kind)} {goods_in_words(die.cost) or 'free'}" for die in data_of(table).dice]
    return f"{'; '.join(told)}; a crown 3 of each resource."
