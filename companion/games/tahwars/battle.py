"""What may be done in phase 4 and in the launches of the set-up."""

from __future__ import annotations

from collections.abc import Iterator

from companion.core.view import Action, Choice, Field
from companion.games.tahwars import commands as c
from companion.games.tahwars.deck import goods_in_words
from companion.games.tahwars.engage import TAKEN_BACK
from companion.games.tahwars.forms import OFF_FIELD, TERRAIN_FIELD, act, face_field, tower_field
from companion.games.tahwars.model import (
    Table,
    deployable,
    in_order,
    open_attack,
    quest_of,
    strikes_of,
    targets,
    title,
    titles,
    to_launch,
)
from companion.games.tahwars.quests import dice_counted, why_not_quest
from companion.games.tahwars.verdicts import quest_in_words, strike_in_words


def of_launch(table: Table) -> Iterator[Action]:
    """The set-up's launches. Rule: TAH-3"""
    seat = table.game.turn
    for kind in to_launch(table.game.players[seat]):
        yield _drop(table, seat, kind, f"{table.name(seat)} launches {title(kind)}")
    yield from _happenings(table, seat)


def of_actions(table: Table) -> Iterator[Action]:
    """Phase 4 of the seat on turn. Rule: TAH-14 TAH-18 TAH-19 TAH-26"""
    state, seat = table.game, table.game.turn
    doing, attack, who = state.doing, open_attack(table), table.name(state.turn)
    zone = f"seat-{seat}"
    if attack is not None:
        for kind in attack.waiting:
            yield _drop(table, seat, kind, f"{who} launches the attacker {title(kind)}")
        if not attack.waiting and not any(isinstance(p.command, c.NoteHit) for p in table.proposals):
            told = "; ".join(f"{table.name(s.tower)}: {strike_in_words(table, s)}" for s in strikes_of(table))
            yield act(f"settle-{seat}", c.SettleAttack(seat=seat), "Count the attack",
                      f"{told or 'No tower was touched'}. Then stats rise.", zone=zone)  # fmt: skip
        yield from _hits(table, seat)
    elif not doing.completed:
        if not doing.moved and not doing.spent and doing.attack is None:
            yield act(f"move-{seat}", c.MoveCastle(seat=seat), f"{who} moves the castle",
                      "Up to the stick's length, not turned. Name its terrains if they are others now.",
                      fields=(TERRAIN_FIELD,), zone=zone)  # fmt: skip
            yield act(f"rotate-{seat}", c.RotateCastle(seat=seat), f"{who} turns the castle",
                      "Any direction, without leaving the spot.", zone=zone)  # fmt: skip
        kinds = deployable(table, seat)
        if kinds and doing.attack is None and targets(table, seat):
            field = Field(name="dice", label="Attacking dice", kind="many",
                          choices=tuple(Choice(value=kind, label=title(kind)) for kind in kinds))  # fmt: skip
            yield act(f"declare-{seat}", c.DeclareAttack(seat=seat, dice=()), f"{who} declares an attack",
                      "Before the first of them is dropped; one attack in a turn.", fields=(field,),
                      zone=zone)  # fmt: skip
        for kind in kinds:
            what = "launches D20 without an attack" if kind == "d20" else f"deploys {title(kind)}"
            yield _drop(table, seat, kind, f"{who} {what}")
    if attack is None:
        if not doing.completed:
            yield from _quests(table, seat)
        yield act(f"end-{seat}", c.EndTurn(seat=seat), f"{who} ends the turn",
                  "Dice beside the board go to the population; the next player is on turn.", zone=zone)  # fmt: skip
    if doing.moved and not doing.spent and doing.attack is None:
        field = Field(name="rule", label="Against which rule", kind="choice",
                      choices=tuple(Choice(value=rule, label=WRONG_MOVES[rule]) for rule in TAKEN_BACK))  # fmt: skip
        yield act(f"take-back-{seat}", c.TakeBackMove(seat=seat, rule=""), "That move was against the rules",
                  "It is taken back and done again.", fields=(field,), zone=zone)  # fmt: skip
    yield from _happenings(table, seat)


WRONG_MOVES = {
    "TAH-14": "TAH-14: moved and turned, or after a drop",
    "TAH-15": "TAH-15: farther than the stick, or turned",
    "TAH-16": "TAH-16: left its spot",
    "TAH-17": "TAH-17: no room for a D20",
    "TAH-37": "TAH-37: into dice or towers, or off the map",
}


def _drop(table: Table, seat: str, kind: str, label: str) -> Action:
    attack = open_attack(table)
    is_attack = attack is not None and kind in attack.waiting
    fields = [face_field(table, kind, may_be_unseen=is_attack), TERRAIN_FIELD]
    if is_attack:
        fields.append(tower_field(table, targets(table, seat)))
    fields.append(OFF_FIELD)
    effect = "How it lies once everything is still."
    return act(f"drop-{kind}-{seat}", c.DropDie(seat=seat, kind=kind), label, effect, fields=tuple(fields),
               zone=f"seat-{seat}")  # fmt: skip


def _hits(table: Table, seat: str) -> Iterator[Action]:
    """Hits that are noted late, or taken back. Rule: TAH-20"""
    attack = open_attack(table)
    for kind in attack.launched if attack else ():
        for tower in targets(table, seat):
            is_hit = attack is not None and tower in attack.touched.get(kind, ())
            how = "did not touch" if is_hit else "touched"
            yield act(f"hit-{kind}-{tower}", c.NoteHit(seat=seat, kind=kind, tower=tower, is_hit=not is_hit),
                      f"{title(kind)} {how} {table.name(tower)}'s tower", "The sum is counted anew.",
                      zone="attack")  # fmt: skip


def _quests(table: Table, seat: str) -> Iterator[Action]:
    """Quests that may be completed as things lie. Rule: TAH-26"""
    for quest_id in table.game.players[seat].quests:
        quest = quest_of(table, quest_id)
        if quest is None:
            continue
        dice = dice_counted(table, seat, quest, ())
        if why_not_quest(table, seat, quest, dice):
            continue
        fields: tuple[Field, ...] = ()
        effect = f"Pays {goods_in_words(quest.pays)}."
        if quest.kind != "trade":
            effect = f"{titles(dice)} lie on {quest.terrain}; name those in the castle's own area."
            fields = (Field(name="dice", label="Dice in the castle's area", kind="many",
                            choices=tuple(Choice(value=kind, label=title(kind)) for kind in dice)),)  # fmt: skip
        yield act(f"quest-{quest_id}-{seat}", c.CompleteQuest(seat=seat, quest=quest_id),
                  f"{table.name(seat)} completes {quest_in_words(quest)}", effect, fields=fields,
                  zone=f"seat-{seat}")  # fmt: skip


def _happenings(table: Table, seat: str) -> Iterator[Action]:
    """What dice and towers do by themselves. Rule: TAH-25 TAH-33 TAH-36 TAH-37"""
    attack = open_attack(table)
    if table.game.phase == "launch":
        kinds = to_launch(table.game.players[seat])
    else:
        kinds = attack.waiting if attack else () if table.game.doing.completed else deployable(table, seat)
    for kind in kinds:
        yield act(f"stuck-{kind}-{seat}", c.NoteStuck(seat=seat, kind=kind), f"{title(kind)} is stuck in the tower",
                  "It is dropped again.", zone="accidents")  # fmt: skip
    for owner in in_order(table):
        who = table.name(owner)
        yield act(f"tower-back-{owner}", c.NotePutBack(owner=owner), f"{who}'s tower was shifted",
                  "It goes back to its place.", zone="accidents")  # fmt: skip
        for piece in table.game.players[owner].dice.values():
            if piece.place not in ("board", "off"):
                continue
            kind, die = piece.kind, f"{who}'s {title(piece.kind)}"
            flat = c.LayFlat(owner=owner, kind=kind, shows=0)
            yield act(f"flat-{kind}-{owner}", flat, f"{die} leaned or was stacked",
                      "It is laid flat; the most upward face counts.", fields=(face_field(table, kind),),
                      zone="accidents")  # fmt: skip
            if piece.place == "board":
                fields = (face_field(table, kind, may_be_unseen=True), TERRAIN_FIELD, OFF_FIELD)
                yield act(f"knock-{kind}-{owner}", c.NoteKnock(owner=owner, kind=kind),
                          f"{die} was pushed by a die", "It counts as it lies now.", fields=fields,
                          zone="accidents")  # fmt: skip
                yield act(f"back-{kind}-{owner}", c.NotePutBack(owner=owner, kind=kind),
                          f"{die} was moved by a hand", "It goes back as last seen.", zone="accidents")  # fmt: skip
