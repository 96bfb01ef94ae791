"""What each viewer may do now: one primary action, and all others."""

from __future__ import annotations

from collections.abc import Iterator

from companion.core.command import Command
from companion.core.seat import Role, Viewer
from companion.core.view import Action, Choice, Field
from companion.games.tahwars import commands as c
from companion.games.tahwars.battle import of_actions, of_launch
from companion.games.tahwars.decide import team_names
from companion.games.tahwars.deck import RESOURCES, goods_in_words
from companion.games.tahwars.forms import TERRAIN_FIELD, act
from companion.games.tahwars.model import (
    Table,
    castle_gives,
    data_of,
    in_order,
    may_draw,
    may_pay,
    owes_card,
    player_of,
    quest_of,
    title,
    to_order,
)
from companion.games.tahwars.rulebook import CROWN_COST, MOST_QUESTS
from companion.games.tahwars.scoring import may_buy_crown
from companion.games.tahwars.splits import read_split, splits_of
from companion.games.tahwars.verdicts import quest_in_words


def actions(table: Table, viewer: Viewer) -> tuple[Action, ...]:
    """Everything that this viewer may do now, the thing to do next first; each id once."""
    if viewer.role is Role.SEAT:
        return tuple(_of_seat(table, viewer.seat)) if player_of(table, viewer.seat) else ()
    found = (*_of_game(table), *_corrections(table))
    return tuple({action.id: action for action in found}.values())


def _of_seat(table: Table, seat: str) -> Iterator[Action]:
    """What a seat may do for itself."""
    for action in _of_game(table, seat):
        if getattr(action.command, "seat", "") == seat and Role.SEAT in action.command.by:
            yield action


def _of_game(table: Table, seat: str = "") -> Iterator[Action]:
    """What the phase asks for, the most usual first; of one seat alone, where one is named."""
    state = table.game
    if seat and state.turn not in ("", seat):
        return
    match state.phase:
        case "setup":
            yield from _setup(table)
        case "launch":
            yield from of_launch(table)
            yield from _turned_up(table)
        case "quests":
            yield from _turned_up(table)
            yield from _quests(table, state.turn)
        case "orders":
            yield from _orders(table, state.turn)
        case "recruit":
            for each in in_order(table):
                yield from _recruit(table, each)
        case "actions":
            yield from of_actions(table)


def _setup(table: Table) -> Iterator[Action]:
    state, maps, seats = table.game, data_of(table).maps, in_order(table)
    if state.map is None:
        yield from (_lay_map(found.name) for found in maps)
    yield from _turned_up(table)
    late = [seat for seat in seats if state.players[seat].castle is None]
    for seat in late:
        yield _castle(table, seat)
    is_set = not late and (state.map is not None or not maps) and not owes_card(table)
    if is_set and len(seats) > 1 and team_names(str(table.options["teams"]), seats) is not None:
        for seat in seats:
            label = f"{table.name(seat)} is first player"
            yield act(f"first-{seat}", c.ChooseFirst(first=seat), label,
                      "The marker goes there; in order each launches D4, D6 and D8.")  # fmt: skip
    if state.map is not None:
        yield from (_lay_map(found.name) for found in maps if found.name != state.map.name)
    for seat in seats:
        if seat not in late:
            yield _castle(table, seat)


def _lay_map(name: str) -> Action:
    return act(f"map-{name}", c.LayMap(name=name), f"Map {name}", "It lies in the middle of the table.")


def _castle(table: Table, seat: str) -> Action:
    label = f"{table.name(seat)}'s castle stands"
    return act(f"castle-{seat}", c.PlaceCastle(seat=seat), label,
               "At its player's edge, about equally far from the others, facing the centre.",
               fields=(TERRAIN_FIELD,), zone=f"seat-{seat}")  # fmt: skip


def _turned_up(table: Table) -> Iterator[Action]:
    """Where people deal: which card was turned up. Rule: TAH-6"""
    if owes_card(table):
        field = _cards(table, table.game.deck, "Card")
        yield act("turn-up", c.TurnUp(quest=""), "Quest card turned up", "It lies in the line-up.",
                  fields=(field,), zone="quests")  # fmt: skip


def _cards(table: Table, quests: tuple[str, ...], label: str) -> Field:
    choices = []
    for quest_id in sorted(quests):
        quest = quest_of(table, quest_id)
        if quest is not None:
            choices.append(Choice(value=quest_id, label=quest_in_words(quest)))
    return Field(name="quest", label=label, kind="choice", choices=tuple(choices))


def _quests(table: Table, seat: str) -> Iterator[Action]:
    """Phase 1. Rule: TAH-6"""
    state, who = table.game, table.name(seat)
    zone = f"seat-{seat}"
    line_up = _cards(table, state.line_up, "Card")
    may_take = len(state.players[seat].quests) < MOST_QUESTS
    if may_take and state.line_up:
        yield act(f"take-{seat}", c.TakeQuest(seat=seat, quest=""), f"{who} takes a quest",
                  "It goes beside the player board.", fields=(line_up,), zone=zone)  # fmt: skip
    if may_take and may_draw(state):
        is_dealt = table.options["dealing"] == "table"
        fields = (_cards(table, state.deck or state.discards, "Card"),) if is_dealt else ()
        yield act(f"draw-{seat}", c.DrawQuest(seat=seat), f"{who} draws the top quest",
                  "It lies face up beside the player board.", fields=fields, zone=zone)  # fmt: skip
    if state.line_up:
        yield act(f"drop-{seat}", c.DropQuest(seat=seat, quest=""), f"{who} discards a quest of the line-up",
                  "It goes to the discards; the line-up is filled again.", fields=(line_up,), zone=zone)  # fmt: skip
    if not state.line_up and not (may_take and may_draw(state)):
        yield act(
            f"pass-{seat}", c.PassQuest(seat=seat), f"{who} passes", "No card is left to choose.", zone=zone
        )


def _orders(table: Table, seat: str) -> Iterator[Action]:
    """Phase 2. Rule: TAH-7 TAH-8"""
    state, who, zone = table.game, table.name(seat), f"seat-{seat}"
    player = state.players[seat]
    if not state.doing.has_gathered:
        gives = castle_gives(player.castle)
        if len(gives) > 1:
            field = Field(name="resource", label="Resource", kind="choice",
                          choices=tuple(Choice(value=name, label=name) for name in gives))  # fmt: skip
            yield act(f"castle-gathers-{seat}", c.GatherCastle(seat=seat), f"{who}'s castle gathers",
                      "1 resource of a terrain that it stands on.", fields=(field,), zone=zone)  # fmt: skip
        else:
            what = f"1 {gives[0]}" if gives else "nothing"
            yield act(f"castle-gathers-{seat}", c.GatherCastle(seat=seat), f"{who}'s castle gathers {what}",
                      "1 resource of the terrain that it stands on.", zone=zone)  # fmt: skip
        return
    for kind in to_order(table, seat):
        piece = player.dice[kind]
        home = "population" if kind == "d4" else "player board"
        splits = splits_of(piece)
        if splits == ("",):
            gives_ = read_split(piece, "")
            told = "nothing" if isinstance(gives_, str) or not gives_ else goods_in_words(dict(gives_))
            yield act(f"gather-{kind}-{seat}", c.Gather(seat=seat, kind=kind), f"{title(kind)} gathers {told}",
                      f"It goes back to the {home}.", zone=zone)  # fmt: skip
        else:
            field = Field(name="split", label="Gathers", kind="choice",
                          choices=tuple(Choice(value=split, label=split) for split in splits))  # fmt: skip
            yield act(f"gather-{kind}-{seat}", c.Gather(seat=seat, kind=kind), f"{title(kind)} gathers",
                      f"It goes back to the {home}.", fields=(field,), zone=zone)  # fmt: skip
        yield act(f"stay-{kind}-{seat}", c.Stay(seat=seat, kind=kind), f"{title(kind)} stays",
                  "It is turned up by one, where it does not show its highest face.", zone=zone)  # fmt: skip


def _recruit(table: Table, seat: str) -> Iterator[Action]:
    """Phase 3, for all at the same time. Rule: TAH-12"""
    state, who, zone = table.game, table.name(seat), f"seat-{seat}"
    if seat in state.finished:
        return
    player = state.players[seat]
    yield act(f"finish-{seat}", c.FinishTrade(seat=seat), f"{who} buys no more", "Phase 3 is over for this seat.",
              zone=zone)  # fmt: skip
    for die in data_of(table).dice:
        piece = player.dice.get(die.kind)
        if (
            piece is not None
            and piece.place == "home"
            and die.kind != "d4"
            and may_pay(player.resources, die.cost)
        ):
            yield act(f"recruit-{die.kind}-{seat}", c.Recruit(seat=seat, kind=die.kind),
                      f"{who} recruits {title(die.kind)} for {goods_in_words(die.cost) or 'nothing'}",
                      "It goes into the population.", zone=zone)  # fmt: skip
    cost = dict.fromkeys(RESOURCES, CROWN_COST)
    if may_pay(player.resources, cost) and may_buy_crown(table, seat):
        yield act(f"crown-{seat}", c.BuyCrown(seat=seat), f"{who} buys a crown", f"For {CROWN_COST} of each resource.",
                  zone=zone)  # fmt: skip


def _corrections(table: Table) -> Iterator[Action]:
    """What the referee puts right while play goes on."""
    state = table.game
    if state.phase in ("setup", "over"):
        return
    data = data_of(table)
    for seat in in_order(table):
        player, who, zone = state.players[seat], table.name(seat), f"seat-{seat}"
        yield _put_right(f"castle-{seat}", c.PlaceCastle(seat=seat), f"{who}'s castle stands elsewhere", zone,
                         (TERRAIN_FIELD,))  # fmt: skip
        stats = {"shield": data.shield_cap, "attack": data.attack_cap, "health": data.health_cap}
        for item, most in {**dict.fromkeys(RESOURCES, data.resource_cap), **stats}.items():
            now = player.resources.get(item, 0) if item in RESOURCES else getattr(player, item)
            field = Field(name="value", label=f"{item} (now {now}, at most {most})", kind="number", value=now)
            yield _put_right(f"set-{item}-{seat}", c.SetCubes(seat=seat, item=item, value=now),
                             f"Put {who}'s {item} right", zone, (field,))  # fmt: skip


def _put_right(id_: str, command: Command, label: str, zone: str, fields: tuple[Field, ...]) -> Action:
    return act(id_, command, label, "What lies on the table counts, and the journal says so.", fields=fields,
               zone=zone, is_grave=True)  # fmt: skip
