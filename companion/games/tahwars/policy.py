"""What a sensible referee, and players who mean to win, would do next where nobody measures."""

from __future__ import annotations

from companion.core import chance
from companion.core.command import ChangeOption, Command
from companion.games.tahwars import commands as c
from companion.games.tahwars.decide import team_names
from companion.games.tahwars.deck import RESOURCES
from companion.games.tahwars.maps import TERRAINS
from companion.games.tahwars.model import (
    Table,
    castle_gives,
    data_of,
    deployable,
    in_order,
    may_draw,
    may_pay,
    on_board,
    open_attack,
    owes_card,
    quest_of,
    targets,
    to_launch,
    to_order,
)
from companion.games.tahwars.quests import dice_counted, why_not_quest
from companion.games.tahwars.rulebook import CROWN_COST, MOST_QUESTS
from companion.games.tahwars.scoring import may_buy_crown
from companion.games.tahwars.splits import splits_of


class Lot:
    """Draws that follow from the table's seed and one salt."""

    def __init__(self, table: Table, salt: int) -> None:
        self._seed, self._salt, self._drawn = table.opened.seed, salt, 0

    def below(self, count: int) -> int:
        """A number in [0, count)."""
        self._drawn += 1
        return chance.number(self._seed, f"policy/{self._salt}/{self._drawn}", max(1, count))

    def one_in(self, count: int) -> bool:
        """True once in so many times."""
        return self.below(count) == 0

    def pick(self, items: tuple[str, ...]) -> str:
        """One of them."""
        return items[self.below(len(items))]


def policy(table: Table, salt: int) -> Command | None:
    """One command that moves the game on; None when nobody has anything to do."""
    state, lot = table.game, Lot(table, salt)
    if owes_card(table) and state.phase in ("setup", "quests"):
        return c.TurnUp(quest=lot.pick(state.deck))
    match state.phase:
        case "setup":
            return _setup(table, lot)
        case "launch":
            kinds = to_launch(state.players[state.turn])
            return _dropped(table, state.turn, kinds[0], lot)
        case "quests":
            return _quest(table, lot)
        case "orders":
            return _order(table, lot)
        case "recruit":
            return _trade(table, lot)
        case "actions":
            return _act(table, lot)
        case _:
            return None


def _setup(table: Table, lot: Lot) -> Command | None:
    state, seats, maps = table.game, in_order(table), data_of(table).maps
    if state.map is None and maps:
        return c.LayMap(name=maps[lot.below(len(maps))].name)
    for seat in seats:
        if state.players[seat].castle is None:
            return c.PlaceCastle(seat=seat, terrains=_ground(lot))
    if team_names(str(table.options["teams"]), seats) is None:
        return ChangeOption(option="teams", value="off")
    return c.ChooseFirst(first=lot.pick(seats)) if len(seats) > 1 else None


def _ground(lot: Lot) -> tuple[str, ...]:
    """One terrain, now and then the border of two."""
    first = lot.below(len(TERRAINS))
    second = (first + 1 + lot.below(len(TERRAINS) - 1)) % len(TERRAINS)
    return (TERRAINS[first], TERRAINS[second]) if lot.one_in(6) else (TERRAINS[first],)


def _dropped(table: Table, seat: str, kind: str, lot: Lot, touched: tuple[str, ...] = ()) -> Command:
    die = data_of(table).die(kind)
    faces = die.faces_shown if die else (1,)
    return c.DropDie(
        seat=seat, kind=kind, shows=faces[lot.below(len(faces))], terrains=_ground(lot),
        is_off_board=lot.one_in(15), touched=touched,
    )  # fmt: skip


def _quest(table: Table, lot: Lot) -> Command:
    state, seat = table.game, table.game.turn
    if len(state.players[seat].quests) < MOST_QUESTS:
        if state.line_up and not lot.one_in(4):
            return c.TakeQuest(seat=seat, quest=lot.pick(state.line_up))
        if may_draw(state):
            is_dealt = table.options["dealing"] == "table"
            return c.DrawQuest(seat=seat, quest=lot.pick(state.deck or state.discards) if is_dealt else "")
    if state.line_up:
        return c.DropQuest(seat=seat, quest=lot.pick(state.line_up))
    return c.PassQuest(seat=seat)


def _order(table: Table, lot: Lot) -> Command:
    state, seat = table.game, table.game.turn
    player = state.players[seat]
    if not state.doing.has_gathered:
        gives = castle_gives(player.castle)
        least = min(gives, key=lambda name: player.resources.get(name, 0), default="")
        return c.GatherCastle(seat=seat, resource=least)
    kind = to_order(table, seat)[0]
    if lot.one_in(4):
        return c.Stay(seat=seat, kind=kind)
    return c.Gather(seat=seat, kind=kind, split=lot.pick(splits_of(player.dice[kind])))


def _trade(table: Table, lot: Lot) -> Command:
    state = table.game
    seat = next(seat for seat in in_order(table) if seat not in state.finished)
    player = state.players[seat]
    cost = dict.fromkeys(RESOURCES, CROWN_COST)
    if may_pay(player.resources, cost) and may_buy_crown(table, seat):
        return c.BuyCrown(seat=seat)
    for die in reversed(data_of(table).dice):
        is_home = die.kind in player.dice and player.dice[die.kind].place == "home"
        if is_home and may_pay(player.resources, die.cost) and not lot.one_in(5):
            return c.Recruit(seat=seat, kind=die.kind)
    return c.FinishTrade(seat=seat)


def _act(table: Table, lot: Lot) -> Command:
    state, seat = table.game, table.game.turn
    doing, attack = state.doing, open_attack(table)
    if attack is not None:
        if attack.waiting:
            return _dropped(table, seat, attack.waiting[0], lot, _touched(table, seat, lot))
        return c.SettleAttack(seat=seat)
    if (quest := _may_complete(table, seat)) is not None:
        return quest
    kinds = () if doing.completed else deployable(table, seat)
    if not doing.moved and not doing.spent and doing.attack is None and not doing.completed:
        return _moved(table, seat, lot)
    if kinds and doing.attack is None and targets(table, seat):
        return c.DeclareAttack(seat=seat, dice=kinds)
    left = tuple(kind for kind in kinds if kind != "d20")
    if left and not lot.one_in(3):
        return _dropped(table, seat, left[0], lot)
    if doing.spent and lot.one_in(6) and (pushed := _pushed(table, lot)) is not None:
        return pushed
    return c.EndTurn(seat=seat)


def _moved(table: Table, seat: str, lot: Lot) -> Command:
    """Towards the terrain of a quest, or anywhere."""
    wanted = [
        q.terrain for q in (quest_of(table, i) for i in table.game.players[seat].quests) if q is not None
    ]
    if lot.one_in(3):
        return c.RotateCastle(seat=seat)
    return c.MoveCastle(seat=seat, terrains=(lot.pick(tuple(wanted)),) if wanted else _ground(lot))


def _touched(table: Table, seat: str, lot: Lot) -> tuple[str, ...]:
    """Mostly one tower or none, now and then two. Rule: TAH-23"""
    towers = targets(table, seat)
    if not towers or lot.one_in(2):
        return ()
    first = lot.below(len(towers))
    if len(towers) > 1 and lot.one_in(5):
        return (towers[first], towers[(first + 1) % len(towers)])
    return (towers[first],)


def _may_complete(table: Table, seat: str) -> Command | None:
    player = table.game.players[seat]
    for quest_id in player.quests if not table.game.doing.completed else ():
        quest = quest_of(table, quest_id)
        if quest is not None:
            dice = dice_counted(table, seat, quest, ())
            if not why_not_quest(table, seat, quest, dice):
                return c.CompleteQuest(seat=seat, quest=quest_id, dice=dice)
    return None


def _pushed(table: Table, lot: Lot) -> Command | None:
    """Some die that a launched one knocked on. Rule: TAH-33"""
    owner = lot.pick(in_order(table))
    lying = on_board(table.game.players[owner])
    if not lying:
        return None
    piece = lying[lot.below(len(lying))]
    made = _dropped(table, owner, piece.kind, lot)
    if not isinstance(made, c.DropDie):
        return None
    return c.NoteKnock(
        owner=owner, kind=piece.kind, shows=made.shows, terrains=made.terrains, is_off_board=made.is_off_board
    )
