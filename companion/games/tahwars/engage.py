"""Phase 4, and the launches of the set-up: may it be done, and which facts does it make. Pure and total."""

from __future__ import annotations

import msgspec

from companion.core.command import Command, Order
from companion.core.event import Event
from companion.core.game import refuse
from companion.core.ruling import Verdict, breach
from companion.games.tahwars import commands as c
from companion.games.tahwars import events as e
from companion.games.tahwars.deck import goods_in_words
from companion.games.tahwars.model import (
    Castle,
    Piece,
    Table,
    data_of,
    deployable,
    open_attack,
    player_of,
    strikes_of,
    targets,
    title,
    titles,
    to_launch,
)
from companion.games.tahwars.placing import (
    UNKNOWN_DEG,
    WHERE,
    castle_at,
    judged_move,
    painted,
    terrains_of_die,
    why_not_castle,
    why_not_place,
    why_not_terrains,
)
from companion.games.tahwars.quests import dice_counted, why_not_quest
from companion.games.tahwars.rulebook import LAUNCHED

Facts = tuple[Event, ...]
TAKEN_BACK = ("TAH-14", "TAH-15", "TAH-16", "TAH-17", "TAH-37")
"""What a move may be against. Rule: TAH-37"""


def _why_not_move(table: Table, command: Command, seat: str) -> Facts:
    doing = table.game.doing
    if doing.moved:
        done = "moved" if doing.moved == "move" else "turned"
        because = f"The castle was {done} already: one MOVE or one ROTATE in a turn, never both."
        return refuse(command, "TAH-14", because, seat)
    if doing.spent or doing.attack is not None:
        return refuse(command, "TAH-14", "A castle is moved or turned before any die is dropped.", seat)
    return ()


def move_castle(table: Table, _: Order, command: c.MoveCastle) -> Facts:
    """Rule: TAH-14 TAH-15"""
    seat = command.seat
    if refused := _why_not_move(table, command, seat):
        return refused
    if found := why_not_castle(table, command):
        return refuse(command, *found, seat)
    return _moved(table, seat, "move", castle_at(table, command))


def rotate_castle(table: Table, _: Order, command: c.RotateCastle) -> Facts:
    """Rule: TAH-14 TAH-16"""
    seat = command.seat
    if refused := _why_not_move(table, command, seat):
        return refused
    castle = table.game.players[seat].castle
    if castle is None:
        return refuse(command, "TAH-2", "That castle does not stand on the board.", seat)
    if found := why_not_castle(table, command):
        return refuse(command, *found, seat)
    if command.xy_mm is None:
        # Where it looks now nobody measured; where it stands is as it was.
        return _moved(table, seat, "rotate", msgspec.structs.replace(castle, u_deg=UNKNOWN_DEG))
    return _moved(table, seat, "rotate", castle_at(table, command))


def _moved(table: Table, seat: str, how: str, castle: Castle) -> Facts:
    """A breach is taken back and done again; too close to call stands unless the table says otherwise. Rule: TAH-37"""
    ruling = judged_move(table, seat, how, castle)
    if ruling.verdict is Verdict.BREACH:
        back = msgspec.structs.replace(ruling, because=f"{ruling.because} It is taken back and done again.")
        return (e.MoveTakenBack(seat=seat, how=how, ruling=back),)
    return (e.CastleMoved(seat=seat, how=how, castle=castle, ruling=ruling),)


def take_back_move(table: Table, _: Order, command: c.TakeBackMove) -> Facts:
    """Rule: TAH-37"""
    seat, doing = command.seat, table.game.doing
    if not doing.moved:
        return refuse(command, "TAH-37", "No move of this turn can be taken back.", seat)
    if doing.spent or doing.attack is not None:
        return refuse(command, "TAH-37", "Dice were dropped since: undo them first.", seat)
    if command.rule not in TAKEN_BACK:
        return refuse(command, "TAH-37", f"Moves are against one of {', '.join(TAKEN_BACK)}.", seat)
    why = f" ({command.why[:200]})" if command.why else ""
    because = f"The table says that it was against {command.rule}: it is taken back and done again{why}."
    how = doing.moved
    return (e.MoveTakenBack(seat=seat, how=how, ruling=breach(command.rule, because, seat)),)


def declare_attack(table: Table, _: Order, command: c.DeclareAttack) -> Facts:
    """Rule: TAH-19"""
    seat, dice = command.seat, command.dice
    if table.game.doing.completed:
        return refuse(command, "TAH-26", "A quest was completed: the turn is at its end.", seat)
    if table.game.doing.attack is not None:
        return refuse(command, "TAH-19", "One attack was declared in this turn already.", seat)
    if not dice or len(set(dice)) != len(dice):
        return refuse(command, "TAH-19", "An attack names its dice, each once.", seat)
    for kind in dice:
        if found := _why_not_deployed(table, seat, kind):
            return refuse(command, *found, seat)
    if not targets(table, seat):
        return refuse(command, "TAH-19", "There is no tower to attack.", seat)
    return (e.AttackDeclared(seat=seat, dice=dice),)


def _why_not_deployed(table: Table, seat: str, kind: str) -> tuple[str, str] | None:
    piece = table.game.players[seat].dice.get(kind)
    if piece is None:
        return "TAH-1", "There is no such die in the set."
    if kind in deployable(table, seat):
        return None
    if kind in table.game.doing.spent and piece.place in ("population", "off"):
        return "TAH-25", f"The {title(kind)} came back in this turn: it is not launched again."
    return "TAH-18", f"The {title(kind)} is not in the population: only active dice are launched."


def drop_die(table: Table, _: Order, command: c.DropDie) -> Facts:
    """Rule: TAH-3 TAH-18 TAH-19 TAH-20 TAH-35"""
    seat, kind, state = command.seat, command.kind, table.game
    found = _why_not_dropped(table, seat, kind) or _why_not_touched(table, seat, command.touched)
    if found:
        return refuse(command, *found, seat)
    read = _read(table, command, kind)
    if isinstance(read, Piece):
        attack = open_attack(table)
        is_attack = attack is not None and kind in attack.waiting and state.phase == "actions"
        made = e.DieLaunched(
            seat=seat, kind=kind, shows=read.shown, number=read.number, terrains=read.terrains,
            is_off_board=command.is_off_board, touched=command.touched if is_attack else (),
            is_attack=is_attack, xy_mm=read.xy_mm,
        )  # fmt: skip
        return (made,)
    return refuse(command, *read, seat)


def _why_not_dropped(table: Table, seat: str, kind: str) -> tuple[str, str] | None:
    """Rule and reason why this die may not be dropped now. Rule: TAH-3 TAH-18 TAH-19 TAH-25"""
    state = table.game
    if state.phase == "launch":
        if kind in to_launch(state.players[seat]):
            return None
        if kind not in state.players[seat].dice:
            return "TAH-1", "There is no such die in the set."
        return "TAH-3", f"The set-up launches {titles(LAUNCHED)}, each once."
    if state.doing.completed:
        return "TAH-26", "A quest was completed: the turn is at its end."
    attack = open_attack(table)
    if attack is not None and kind not in attack.waiting:
        waits = f"first {titles(attack.waiting)} is launched" if attack.waiting else "it is settled first"
        return "TAH-19", f"An attack is under way: {waits}."
    return _why_not_deployed(table, seat, kind)


def _why_not_touched(table: Table, seat: str, touched: tuple[str, ...]) -> tuple[str, str] | None:
    """Rule and reason why these towers cannot have been hit. Rule: TAH-20 TAH-23 TAH-30"""
    if len(set(touched)) != len(touched):
        return "TAH-23", "Each touched tower is named once."
    for tower in touched:
        if tower == seat:
            return "TAH-20", "One's own tower is never hit."
        if player_of(table, tower) is None:
            return "TAH-20", "No such tower stands on the board."
        if tower not in targets(table, seat):
            return "TAH-30", "A partner's tower is never hit."
    return None


def _read(table: Table, command: c.DropDie | c.NoteKnock, kind: str) -> Piece | tuple[str, str]:
    """The die as it lies, or rule and reason why it cannot lie so. Rule: TAH-34 TAH-35"""
    die = data_of(table).die(kind)
    if die is None:
        return "TAH-1", "There is no such die in the set."
    place = "off" if command.is_off_board else "board"
    if command.shows is None:
        if not command.is_off_board:
            return "TAH-35", f"Say what the {title(kind)} shows."
        return Piece(kind=kind, place=place)
    number = die.number(command.shows)
    if number is None:
        faces = ", ".join(map(str, die.faces_shown))
        return "TAH-35", f"No face of the {title(kind)} shows {command.shows}; there are {faces}."
    if command.is_off_board:
        return Piece(kind=kind, place=place, shown=command.shows, number=number)
    if found := why_not_terrains(command.terrains) or why_not_place(table, command.xy_mm):
        return found
    if not command.terrains and command.xy_mm is None:
        return WHERE
    terrains = painted(command.terrains) if command.terrains else terrains_of_die(table, die, command.xy_mm)
    return Piece(
        kind=kind, place=place, shown=command.shows, number=number, terrains=terrains, xy_mm=command.xy_mm
    )


def note_hit(table: Table, _: Order, command: c.NoteHit) -> Facts:
    """Rule: TAH-20 TAH-23"""
    seat, attack = command.seat, open_attack(table)
    if attack is None or command.kind not in attack.launched:
        return refuse(command, "TAH-20", "Only a declared die that was launched hits a tower.", seat)
    if found := _why_not_touched(table, seat, (command.tower,)):
        return refuse(command, *found, seat)
    is_noted = command.tower in attack.touched.get(command.kind, ())
    if is_noted == command.is_hit:
        return refuse(command, "TAH-20", "That is noted already.", seat)
    return (e.HitNoted(seat=seat, kind=command.kind, tower=command.tower, is_hit=command.is_hit),)


def note_knock(table: Table, _: Order, command: c.NoteKnock) -> Facts:
    """Rule: TAH-24 TAH-25 TAH-33"""
    owner, kind = command.owner, command.kind
    player = player_of(table, owner)
    if player is None:
        return refuse(command, "TAH-33", "Nobody with such a die plays.")
    if kind not in player.dice:
        return refuse(command, "TAH-1", "There is no such die in the set.", owner)
    if player.dice[kind].place != "board":
        is_back = owner == table.game.turn and kind in table.game.doing.spent
        rule = "TAH-24" if is_back else "TAH-33"
        because = f"The {title(kind)} is not on the board."
        return refuse(
            command, rule, f"{because} It went back after the attack." if is_back else because, owner
        )
    read = _read(table, command, kind)
    if not isinstance(read, Piece):
        return refuse(command, *read, owner)
    made = e.DieKnocked(
        owner=owner, by=table.game.turn, kind=kind, shows=read.shown, number=read.number,
        terrains=read.terrains, is_off_board=command.is_off_board, xy_mm=read.xy_mm,
    )  # fmt: skip
    return (made,)


def note_put_back(table: Table, _: Order, command: c.NotePutBack) -> Facts:
    """Rule: TAH-33 TAH-37"""
    player = player_of(table, command.owner)
    if player is None:
        return refuse(command, "TAH-33", "Nobody with such a die plays.")
    if command.kind and (command.kind not in player.dice or player.dice[command.kind].place != "board"):
        return refuse(command, "TAH-33", "That die does not lie on the board.", command.owner)
    return (e.PutBack(owner=command.owner, kind=command.kind),)


def note_stuck(table: Table, _: Order, command: c.NoteStuck) -> Facts:
    """Rule: TAH-36"""
    if found := _why_not_dropped(table, command.seat, command.kind):
        return refuse(command, *found, command.seat)
    return (e.DieStuck(seat=command.seat, kind=command.kind),)


def lay_flat(table: Table, _: Order, command: c.LayFlat) -> Facts:
    """Rule: TAH-36"""
    player = player_of(table, command.owner)
    die = data_of(table).die(command.kind)
    if player is None or die is None or command.kind not in player.dice:
        return refuse(command, "TAH-36", "There is no such die.")
    if player.dice[command.kind].place not in ("board", "off"):
        return refuse(command, "TAH-36", "That die does not lie on the board or beside it.", command.owner)
    number = die.number(command.shows)
    if number is None:
        return refuse(command, "TAH-35", "That die has no such face.", command.owner)
    made = e.DieLaidFlat(owner=command.owner, kind=command.kind, shows=command.shows, number=number)
    return (made,)


def settle_attack(table: Table, _: Order, command: c.SettleAttack) -> Facts:
    """Rule: TAH-21 TAH-22 TAH-23"""
    seat, attack = command.seat, open_attack(table)
    if attack is None:
        return refuse(command, "TAH-21", "No attack waits to be counted.", seat)
    if attack.waiting:
        because = f"All declared dice are launched first: {titles(attack.waiting)}."
        return refuse(command, "TAH-19", because, seat)
    asked = [p for p in table.proposals if isinstance(p.command, c.NoteHit)]
    if asked:
        return refuse(command, "TAH-20", f"A hit is in question: {asked[0].reading}.", seat)
    strikes = strikes_of(table)
    is_raised = bool(strikes) or bool(table.options["miss_raises"])
    return (e.AttackSettled(seat=seat, strikes=strikes, is_raised=is_raised),)


def complete_quest(table: Table, _: Order, command: c.CompleteQuest) -> Facts:
    """Rule: TAH-26"""
    seat = command.seat
    player = table.game.players[seat]
    quest = data_of(table).quest(command.quest)
    if quest is None or command.quest not in player.quests:
        return refuse(command, "TAH-26", "That quest does not lie beside that player board.", seat)
    if table.game.doing.completed:
        return refuse(command, "TAH-26", "One quest was completed in this turn already.", seat)
    if open_attack(table) is not None:
        return refuse(command, "TAH-19", "An attack is under way: it is settled first.", seat)
    dice = dice_counted(table, seat, quest, command.dice)
    if wrong := why_not_quest(table, seat, quest, dice):
        return refuse(command, "TAH-26", wrong, seat)
    if quest.kind == "trade":
        because = f"the castle stands on {quest.terrain} and {goods_in_words(quest.pays)} are paid"
    else:
        stat = player.attack if quest.kind == "attack" else player.shield
        word = "attack" if quest.kind == "attack" else "shield"
        total = sum(player.dice[kind].number for kind in dice) + stat
        because = f"{titles(dice)} and {word} {stat} make {total}, {quest.number} are needed"
    made = e.QuestCompleted(seat=seat, quest=quest.id, paid=quest.pays, reward=quest.reward, because=because)
    return (made,)


def end_turn(table: Table, _: Order, command: c.EndTurn) -> Facts:
    """Rule: TAH-5 TAH-19"""
    attack = open_attack(table)
    if attack is not None:
        what = f"launch {titles(attack.waiting)}" if attack.waiting else "settle it"
        return refuse(command, "TAH-19", f"An attack is under way: {what} first.", command.seat)
    return (e.TurnEnded(seat=command.seat),)
