"""What completes a quest. Rule: TAH-26"""

from __future__ import annotations

from companion.games.tahwars.deck import Quest, goods_in_words
from companion.games.tahwars.model import Table, may_pay, on_board, title
from companion.games.tahwars.placing import is_in_area, is_measured


def dice_that_may_count(table: Table, seat: str, quest: Quest) -> tuple[str, ...]:
    """Own dice on the quest's terrain, never the D20; in the castle's area, where all of them are measured."""
    player = table.game.players[seat]
    found = [p for p in on_board(player) if quest.terrain in p.terrains and p.kind != "d20"]
    if is_measured(table, player, tuple(piece.kind for piece in found)):
        found = [piece for piece in found if is_in_area(table, player, quest, piece)]
    return tuple(piece.kind for piece in found)


def dice_counted(table: Table, seat: str, quest: Quest, named: tuple[str, ...]) -> tuple[str, ...]:
    """The dice that count for a quest: those that people named, else all that may."""
    if quest.kind == "trade":
        return ()
    may = dice_that_may_count(table, seat, quest)
    return tuple(dict.fromkeys(named)) if named else may


def why_not_quest(table: Table, seat: str, quest: Quest, dice: tuple[str, ...]) -> str:
    """Why a quest is not completed with these dice, in one sentence; empty when it is. Rule: TAH-26"""
    player = table.game.players[seat]
    if player.castle is None or quest.terrain not in player.castle.terrains:
        return f"The castle does not stand on {quest.terrain}."
    if quest.kind == "trade":
        if may_pay(player.resources, quest.pays):
            return ""
        return f"It takes {goods_in_words(quest.pays)}."
    may = dice_that_may_count(table, seat, quest)
    if strange := [kind for kind in dice if kind not in may]:
        area = f"the castle's area of {quest.terrain}"
        return f"The {title(strange[0])} does not count: own dice in {area} do, never the D20."
    if not dice:
        return f"At least one own die lies in the castle's area of {quest.terrain}."
    stat = player.attack if quest.kind == "attack" else player.shield
    total = sum(player.dice[kind].number for kind in dice) + stat
    if total < quest.number:
        word = "attack" if quest.kind == "attack" else "shield"
        return f"Dice and {word} make {total}, {quest.number} are needed."
    return ""
