"""A game of TAH WARS by its rules: set-up, quest board, orders, recruiting, launches and moves, quests, house rules."""

from __future__ import annotations

import pytest
from tahwars_table import SENSOR, STRIPES, TahTable

from companion.core import command as k
from companion.core.ruling import Verdict
from companion.core.seat import Actor, Role
from companion.games.tahwars import commands as c
from companion.games.tahwars.deck import RESOURCES
from companion.games.tahwars.maps import Map
from companion.games.tahwars.model import data_of, gained, in_order

rule = pytest.mark.rule


# Set-up


@rule("TAH-1", "ok")
@rule("TAH-2", "ok")
def test_every_board_begins_as_the_set_up_says() -> None:
    table = TahTable(4).placed()
    assert len(table.game.line_up) == 4
    for seat in ("s1", "s2", "s3", "s4"):
        player = table.p(seat)
        assert (player.shield, player.attack, player.health, player.crowns) == (8, 1, 5, 0)
        assert player.resources == dict.fromkeys(RESOURCES, 2)
        assert len(player.dice) == 7
    assert "forest" in table.rulings("TAH-2")[-1].because


@rule("TAH-1", "breach")
def test_there_is_no_other_die() -> None:
    table = TahTable().launched()
    assert table.to("recruit").refused(c.Recruit(seat="s1", kind="d7")) == "TAH-1"
    table.to("actions")
    assert table.refused(c.DropDie(seat="s1", kind="d7", shows=1)) == "TAH-1"
    assert table.refused(c.DeclareAttack(seat="s1", dice=("d7",))) == "TAH-1"


@rule("TAH-2", "breach")
def test_nobody_begins_before_map_and_castles_stand() -> None:
    table = TahTable(3)
    assert table.refused(c.ChooseFirst(first="s1")) == "TAH-2"
    assert table.refused(c.LayMap(name="atlantis")) == "TAH-2"
    table.do(c.LayMap(map=STRIPES), c.PlaceCastle(seat="s1", terrains=("city",)))
    assert table.refused(c.ChooseFirst(first="s1")) == "TAH-2"
    assert not any(id_.startswith("first-") for id_ in table.offered())


def test_a_map_that_overlaps_itself_is_refused_and_the_old_one_stays() -> None:
    table = TahTable().do(c.LayMap(map=STRIPES))
    twice = Map(name="twice", board_mm=(900.0, 500.0), terrains=(*STRIPES.terrains, STRIPES.terrains[0]))
    ruling = table.give(c.LayMap(map=twice))
    assert ruling is not None and ruling.rule == "TAH-2" and "overlap" in ruling.because
    assert table.game.map == STRIPES


@rule("TAH-3", "ok")
def test_each_launches_three_dice_in_order_from_the_first_player() -> None:
    table = TahTable(3).placed().do(c.ChooseFirst(first="s2"))
    turns = []
    while table.game.phase == "launch":
        seat = table.game.turn
        turns.append(seat)
        kind = ("d8", "d4", "d6")[turns.count(seat) - 1]
        table.do(c.DropDie(seat=seat, kind=kind, shows=1, terrains=("city",)))
    assert turns == ["s2"] * 3 + ["s3"] * 3 + ["s1"] * 3
    assert (table.game.phase, table.game.turn) == ("quests", "s2")


@rule("TAH-3", "breach")
def test_other_dice_stay_at_home_and_one_that_leaves_the_board_is_launched_again() -> None:
    table = TahTable().placed().do(c.ChooseFirst(first="s1"))
    assert table.refused(c.DropDie(seat="s1", kind="d10", shows=1)) == "TAH-3"
    table.do(c.DropDie(seat="s1", kind="d6", shows=5, is_off_board=True))
    assert table.rulings("TAH-3")[-1].verdict is Verdict.BREACH
    assert table.p("s1").dice["d6"].place == "home"
    table.do(c.DropDie(seat="s1", kind="d6", shows=5, terrains=("city",)))
    assert table.refused(c.DropDie(seat="s1", kind="d6", shows=5, terrains=("city",))) == "TAH-3"
    for kind in ("d4", "d8"):
        table.do(c.DropDie(seat="s1", kind=kind, shows=1, terrains=("city",)))
    table.do(c.NoteKnock(owner="s1", kind="d6", is_off_board=True))
    assert table.game.turn == "s1", "a die that another's launch knocks off is launched again too"


@rule("TAH-4", "ok")
@rule("TAH-4", "breach")
def test_five_terrains_and_four_resources() -> None:
    table = TahTable().do(c.LayMap(map=STRIPES))
    for terrain in ("rivers", "forest", "mountains", "neonite", "city"):
        table.do(c.PlaceCastle(seat="s1", terrains=(terrain,)))
    assert table.refused(c.PlaceCastle(seat="s1", terrains=("swamp",))) == "TAH-4"
    assert RESOURCES == ("fish", "wood", "stone", "neonite")


@rule("TAH-34", "ok")
def test_a_footprint_stands_on_up_to_three_terrains() -> None:
    table = TahTable().do(
        c.LayMap(map=STRIPES), c.PlaceCastle(seat="s1", terrains=("city", "forest", "rivers"))
    )
    found = table.refused(c.PlaceCastle(seat="s1", terrains=("city", "forest", "rivers", "mountains")))
    assert found == "TAH-34"
    places = {130.0: ("rivers", "forest"), 180.0: ("forest",), 800.0: ("forest",)}
    for x, terrains in places.items():
        table.do(c.PlaceCastle(seat="s1", xy_mm=(x, 200.0), u_mm=1.0), actor=SENSOR)
        castle = table.p("s1").castle
        assert castle is not None and set(castle.terrains) == set(terrains)
    table.do(c.PlaceCastle(seat="s1", xy_mm=(820.0, 420.0), u_mm=1.0))
    assert table.p("s1").castle.terrains == (), "unpainted ground gives nothing"
    assert table.refused(c.PlaceCastle(seat="s1", xy_mm=(float("nan"), 0.0))) == "TAH-34"


# Rounds and phases


@rule("TAH-5", "ok")
def test_a_phase_goes_through_all_before_the_next_and_the_marker_passes_on() -> None:
    table = TahTable(3).launched(first="s3")
    seen = [table.game.phase]
    order = []
    while table.game.part == 1:
        if table.game.phase == "actions":
            order.append(table.game.turn)
            table.ends()
        else:
            table.to({"quests": "orders", "orders": "recruit", "recruit": "actions"}[table.game.phase])
        seen.append(table.game.phase)
    assert list(dict.fromkeys(seen)) == ["quests", "orders", "recruit", "actions"]
    assert order == ["s3", "s1", "s2"]
    assert (table.game.first, table.game.turn, table.game.part) == ("s1", "s1", 2)


@rule("TAH-5", "breach")
def test_nobody_acts_out_of_turn_or_in_another_phase() -> None:
    table = TahTable().launched()
    assert table.refused(c.DropQuest(seat="s2", quest=table.game.line_up[0])) == "TAH-5"
    assert table.refused(c.GatherCastle(seat="s1")) == "TAH-5"
    assert table.refused(c.ChooseFirst(first="s2")) == "TAH-5"
    table.to("actions")
    assert table.refused(c.EndTurn(seat="s2")) == "TAH-5"
    seat = Actor(Role.SEAT, seat="s2")
    ruling = table.give(c.EndTurn(seat="s1"), seat)
    assert ruling is not None and ruling.rule == "TABLE-1"


# Phase 1


@rule("TAH-6", "ok")
def test_a_quest_is_taken_drawn_or_discarded_and_the_line_up_filled() -> None:
    table = TahTable(3).launched()
    before, top = table.game.line_up, table.game.deck[:2]
    table.do(c.TakeQuest(seat="s1", quest=before[1]))
    assert table.game.line_up == (before[0], *before[2:], top[0])
    table.do(c.DrawQuest(seat="s2"))
    assert table.p("s2").quests == (top[1],)
    table.do(c.DropQuest(seat="s3", quest=before[0]))
    assert table.game.discards == (before[0],) and len(table.game.line_up) == 4


@rule("TAH-6", "breach")
def test_with_two_quests_only_discarding_is_left() -> None:
    table = TahTable().launched()
    for _ in range(2):
        table.do(c.DrawQuest(seat="s1")) if table.game.turn == "s1" else None
        table.to("actions").round_done()
        if table.game.turn == "s2":
            table.do(c.DropQuest(seat="s2", quest=table.game.line_up[0]), c.DrawQuest(seat="s1"))
            break
    table.to("actions").round_done()
    assert len(table.p("s1").quests) == 2 and table.game.turn == "s1"
    assert table.refused(c.TakeQuest(seat="s1", quest=table.game.line_up[0])) == "TAH-6"
    assert table.refused(c.DrawQuest(seat="s1")) == "TAH-6"
    assert table.refused(c.DropQuest(seat="s1", quest="none")) == "TAH-6"
    assert table.refused(c.PassQuest(seat="s1")) == "TAH-6"
    assert {id_ for id_ in table.offered("s1") if id_.endswith("-s1")} == {"drop-s1"}


def test_an_empty_deck_is_made_of_the_discards() -> None:
    table = TahTable().launched()
    total = len(table.game.deck) + 4
    for _ in range(total):
        table.do(c.DropQuest(seat=table.game.turn, quest=table.game.line_up[0]))
        if table.game.phase != "quests":
            table.to("actions").round_done()
    state = table.game
    assert state.shuffles >= 1 and len(state.line_up) == 4
    assert len(state.deck) + len(state.discards) + 4 == total


def test_people_may_deal_the_cards_themselves() -> None:
    table = TahTable(dealing="table")
    assert table.game.line_up == ()
    table.placed()
    assert table.refused(c.ChooseFirst(first="s1")) == "TAH-2"
    for quest in ("t3", "a1", "d2", "t1"):
        table.do(c.TurnUp(quest=quest))
    assert table.refused(c.TurnUp(quest="a2")) == "TAH-6"
    table.do(c.ChooseFirst(first="s1"))
    while table.game.phase == "launch":
        for kind in ("d4", "d6", "d8"):
            table.do(c.DropDie(seat=table.game.turn, kind=kind, shows=1, terrains=("forest",)))
    table.do(c.TakeQuest(seat="s1", quest="a1"))
    assert table.game.line_up == ("t3", "d2", "t1") and "turn-up" in table.offered()
    assert table.refused(c.TurnUp(quest="a1")) == "TAH-6"
    table.do(c.TurnUp(quest="a4"))
    assert table.refused(c.DrawQuest(seat="s2")) == "TAH-6"
    table.do(c.DrawQuest(seat="s2", quest="a5"))
    assert table.p("s2").quests == ("a5",)


# Phase 2


@rule("TAH-7", "ok")
@rule("TAH-7", "breach")
def test_a_castle_gathers_one_of_its_terrain() -> None:
    table = TahTable(4).launched("mountains", "forest neonite", "city", "unpainted").to("orders")
    assert table.refused(c.GatherCastle(seat="s1", resource="fish")) == "TAH-7"
    table.do(c.GatherCastle(seat="s1"))
    assert table.p("s1").resources["stone"] == 3
    assert table.refused(c.GatherCastle(seat="s1")) == "TAH-7"
    table.orders_of("s1")
    assert table.refused(c.GatherCastle(seat="s2", resource="stone")) == "TAH-7"
    assert table.refused(c.GatherCastle(seat="s2")) == "TAH-7"
    table.do(c.GatherCastle(seat="s2", resource="neonite")).orders_of("s2")
    assert table.p("s2").resources["neonite"] == 3
    before = table.p("s3").resources["stone"]
    table.do(c.GatherCastle(seat="s3", resource="stone"))
    assert table.p("s3").resources["stone"] == before + 1
    table.orders_of("s3").do(c.GatherCastle(seat="s4"))
    assert sum(table.p("s4").resources.values()) == 8, "unpainted ground gives nothing"


@rule("TAH-8", "ok")
@rule("TAH-8", "breach")
def test_dice_are_ordered_by_their_faces() -> None:
    table = TahTable().launched().to("orders")
    assert table.refused(c.Stay(seat="s1", kind="d4")) == "TAH-10", "the castle gathers first"
    table.do(c.GatherCastle(seat="s1"))
    assert table.refused(c.Gather(seat="s1", kind="d8")) == "TAH-8"
    table.do(c.Stay(seat="s1", kind="d4"))
    assert table.refused(c.Stay(seat="s1", kind="d4")) == "TAH-8"
    table.do(c.Gather(seat="s1", kind="d6"), c.Stay(seat="s1", kind="d8"))
    assert table.game.turn == "s2"


@rule("TAH-9", "ok")
def test_a_die_gathers_its_number_and_goes_home() -> None:
    table = TahTable().launched().cubes("s1", wood=0).to("orders").do(c.GatherCastle(seat="s1"))
    table.do(c.Gather(seat="s1", kind="d4"))
    assert table.p("s1").resources["wood"] == 3, "one of the castle, two of the die"
    assert table.p("s1").dice["d4"].place == "population"
    table.do(c.Stay(seat="s1", kind="d6"), c.Gather(seat="s1", kind="d8"))
    assert table.p("s1").dice["d8"].place == "home"


@rule("TAH-9", "ok")
@pytest.mark.parametrize(
    ("on", "split", "gives"),
    [
        ("forest rivers", "forest 1, rivers 3", {"wood": 1, "fish": 3}),
        ("forest rivers mountains", "forest 1, rivers 1, mountains 2", {"wood": 1, "fish": 1, "stone": 2}),
        ("city", "city stone", {"stone": 1}),
        ("forest city", "forest 3, city fish", {"wood": 3, "fish": 1}),
        ("forest city", "forest 4", {"wood": 4}),
    ],
)
def test_on_a_border_the_number_is_split_freely(on: str, split: str, gives: dict[str, int]) -> None:
    table = TahTable().launched("rivers", on=on, d4=4, d6=1, d8=1).to("orders").do(c.GatherCastle(seat="s1"))
    table.cubes("s1", **dict.fromkeys(RESOURCES, 0))
    assert any(split in str(field.choices) for a in table.view("s1").actions for field in a.fields)
    table.do(c.Gather(seat="s1", kind="d4", split=split))
    assert table.p("s1").resources == {**dict.fromkeys(RESOURCES, 0), **gives}


@rule("TAH-9", "breach")
@pytest.mark.parametrize(
    ("on", "split"),
    [
        ("forest rivers", ""),
        ("forest rivers", "forest 1, rivers 2"),
        ("forest rivers", "forest 1, mountains 3"),
        ("forest rivers", "forest x, rivers 3"),
        ("forest rivers", "forest 2, forest 2"),
        ("city", ""),
        ("city", "city gold"),
        ("forest city", "forest 4, city fish"),
    ],
)
def test_other_shares_are_refused(on: str, split: str) -> None:
    table = TahTable().launched("rivers", on=on, d4=4).to("orders").do(c.GatherCastle(seat="s1"))
    assert table.refused(c.Gather(seat="s1", kind="d4", split=split)) == "TAH-9"
    assert table.refused(c.Gather(seat="s1", kind="d10")) == "TAH-9", "it does not lie on the board"


@rule("TAH-10", "ok")
@pytest.mark.parametrize(
    ("held", "gain", "after"),
    [
        ((4, 0, 0, 0), ("fish", 2), (5, 1, 0, 0)),
        ((4, 5, 0, 0), ("fish", 2), (5, 5, 1, 0)),
        ((5, 5, 5, 4), ("fish", 9), (5, 5, 5, 5)),
        ((0, 0, 0, 3), ("neonite", 5), (0, 0, 0, 5)),
        ((2, 0, 0, 0), ("fish", 8), (5, 1, 0, 0)),
        ((0, 5, 0, 0), ("fish", 3), (3, 5, 0, 0)),
    ],
)
def test_a_gain_past_the_cap_gives_one_of_the_next_line(
    held: tuple[int, ...], gain: tuple[str, int], after: tuple[int, ...]
) -> None:
    named = dict(zip(RESOURCES, held, strict=True))
    assert tuple(gained(named, (gain,), 5).values()) == after


@rule("TAH-10", "ok")
@rule("TAH-10", "breach")
def test_an_overflow_cascades_at_the_table_and_no_board_holds_more() -> None:
    table = TahTable().launched("rivers", on="rivers", d4=4, d6=6, d8=8).to("orders")
    table.cubes("s1", fish=5, wood=5, stone=4, neonite=0).do(c.GatherCastle(seat="s1"))
    assert table.p("s1").resources == {"fish": 5, "wood": 5, "stone": 5, "neonite": 0}
    table.do(c.Gather(seat="s1", kind="d4"))
    assert table.p("s1").resources["neonite"] == 1
    assert "next line down" in table.rulings("TAH-10")[-1].because
    table.cubes("s1", neonite=5).do(c.Gather(seat="s1", kind="d6"))
    assert "lost" in table.rulings("TAH-10")[-1].because
    assert table.refused(c.SetCubes(seat="s1", item="fish", value=6)) == "TAH-10"


@rule("TAH-11", "ok")
@rule("TAH-11", "breach")
def test_a_die_that_stays_is_turned_up_by_one() -> None:
    table = TahTable().launched(d4=4, d6=3, d8=8).to("orders").do(c.GatherCastle(seat="s1"))
    for kind, number in (("d4", 4), ("d6", 4), ("d8", 8)):
        assert table.refused(c.Stay(seat="s1", kind="d12")) == "TAH-11"
        table.do(c.Stay(seat="s1", kind=kind))
        assert table.p("s1").dice[kind].number == number


@rule("TAH-35", "ok")
def test_ten_sided_dice_count_nought_as_ten_and_tens_as_ones() -> None:
    table = TahTable().launched().rich("s1").to("recruit")
    table.rich("s1").do(c.Recruit(seat="s1", kind="d10")).rich("s1").do(c.Recruit(seat="s1", kind="d100"))
    table.to("actions")
    for kind, shows, number in (("d10", 0, 10), ("d100", 0, 10), ("d100", 70, 7), ("d10", 10, 10)):
        table.do(c.DropDie(seat="s1", kind=kind, shows=shows, terrains=("forest",)))
        assert table.p("s1").dice[kind].number == number
        table.undo()
    assert table.refused(c.DropDie(seat="s1", kind="d100", shows=7, terrains=("forest",))) == "TAH-35"
    assert table.refused(c.DropDie(seat="s1", kind="d10", terrains=("forest",))) == "TAH-35"
    table.do(c.DropDie(seat="s1", kind="d10", shows=9, terrains=("forest",))).ends("s1").ends("s2").to(
        "orders"
    )
    while table.game.turn != "s1":
        table.order_next()
    table.do(c.GatherCastle(seat="s1"), c.Stay(seat="s1", kind="d10"))
    assert (table.p("s1").dice["d10"].shown, table.p("s1").dice["d10"].number) == (0, 10)


# Phase 3


@rule("TAH-12", "ok")
def test_dice_and_crowns_are_paid_for() -> None:
    table = TahTable().launched().to("recruit").rich("s1")
    table.do(c.Recruit(seat="s1", kind="d8"), c.Recruit(seat="s1", kind="d20"))
    player = table.p("s1")
    assert player.resources == {"fish": 4, "wood": 4, "stone": 1, "neonite": 4}
    assert [player.dice[kind].place for kind in ("d8", "d20")] == ["population"] * 2
    table.rich("s2").do(c.BuyCrown(seat="s2"), c.FinishTrade(seat="s2"))
    assert table.p("s2").crowns == 1 and set(table.p("s2").resources.values()) == {2}
    assert table.game.phase == "recruit", "at the same time, in any order"


@rule("TAH-12", "breach")
def test_what_cannot_be_paid_or_is_not_at_home_is_not_recruited() -> None:
    table = TahTable().launched().to("recruit").cubes("s1", fish=5, wood=5, stone=2, neonite=2)
    assert table.refused(c.Recruit(seat="s1", kind="d8")) == "TAH-12"
    assert table.refused(c.Recruit(seat="s1", kind="d4")) == "TAH-12"
    assert table.refused(c.BuyCrown(seat="s1")) == "TAH-12"
    table.do(c.Recruit(seat="s1", kind="d20"))
    assert table.refused(c.Recruit(seat="s1", kind="d20")) == "TAH-12"
    table.do(c.FinishTrade(seat="s1"))
    assert table.refused(c.Recruit(seat="s1", kind="d6")) == "TAH-12"
    assert "recruit-d8-s1" not in table.offered("s1")


@rule("TAH-13", "ok")
@rule("TAH-13", "breach")
def test_the_d20_only_attacks() -> None:
    table = TahTable().launched().to("recruit").rich("s1").do(c.Recruit(seat="s1", kind="d20")).to("actions")
    table.attack("s1", {"d20": (3, ()), "d4": (1, ())})
    assert table.p("s1").dice["d20"].place == "home"
    table.round_done().to("orders")
    while table.game.turn != "s1":
        table.order_next()
    assert table.refused(c.Gather(seat="s1", kind="d20")) == "TAH-13"


# Phase 4: moves


@rule("TAH-14", "ok")
@rule("TAH-14", "breach")
def test_a_castle_is_moved_or_turned_or_neither_before_any_drop() -> None:
    table = TahTable().launched().to("actions")
    table.do(c.MoveCastle(seat="s1", terrains=("city",)))
    assert table.refused(c.RotateCastle(seat="s1")) == "TAH-14"
    assert table.refused(c.MoveCastle(seat="s1", terrains=("forest",))) == "TAH-14"
    assert table.p("s1").castle.terrains == ("city",)
    table.ends().do(c.DropDie(seat="s2", kind="d4", shows=1, terrains=("city",)))
    assert table.refused(c.MoveCastle(seat="s2", terrains=("city",))) == "TAH-14"


def measured(players: int = 2) -> TahTable:
    """Castles at measured places, in phase 4."""
    table = TahTable(players).do(c.LayMap(map=STRIPES))
    for n in range(players):
        place = c.PlaceCastle(
            seat=f"s{n + 1}", xy_mm=(225.0 + 150 * n, 100.0 + 300 * (n % 2)), u_mm=1.0, u_deg=0.5
        )
        table.do(place, actor=SENSOR)
    table.do(c.ChooseFirst(first="s1"))
    while table.game.phase == "launch":
        for n, kind in enumerate(("d4", "d6", "d8")):
            x = 200.0 + 30 * n
            table.do(c.DropDie(seat=table.game.turn, kind=kind, shows=2, xy_mm=(x, 250.0)), actor=SENSOR)
    return table.to("actions")


def moved(table: TahTable, dx: float, turn: float, *, how: str = "move", dy: float = 0.0) -> str:
    """The verdict on a measured move or rotation of the first castle, with its rule."""
    x, y = table.p("s1").castle.xy_mm
    kind = c.MoveCastle if how == "move" else c.RotateCastle
    table.do(kind(seat="s1", xy_mm=(x + dx, y + dy), heading_deg=turn, u_mm=1.0, u_deg=0.5), actor=SENSOR)
    found = table.v.sitting.rulings[-1].ruling
    return f"{found.verdict.value} {found.rule}"


@rule("TAH-15", "ok")
@rule("TAH-15", "breach")
@pytest.mark.parametrize(
    ("dx", "turn", "said"),
    [
        (110.0, 2.0, "ok TAH-15"),
        (125.0, 0.0, "breach TAH-15"),
        (60.0, 14.0, "breach TAH-15"),
        (119.5, 0.0, "too close to call TAH-15"),
        (60.0, 10.3, "too close to call TAH-15"),
    ],
)
def test_a_measured_move_keeps_to_the_stick_without_turning(dx: float, turn: float, said: str) -> None:
    table = measured()
    before = table.p("s1").castle
    assert moved(table, dx, turn) == said
    is_back = said == "breach TAH-15"
    assert (table.p("s1").castle == before) is is_back
    assert bool(table.game.doing.moved) is not is_back, "a breach is taken back and done again"


@rule("TAH-16", "ok")
@rule("TAH-16", "breach")
@pytest.mark.parametrize(
    ("dx", "said"), [(2.0, "ok TAH-16"), (9.0, "breach TAH-16"), (5.2, "too close to call TAH-16")]
)
def test_a_measured_rotation_stays_on_its_spot(dx: float, said: str) -> None:
    assert moved(measured(), dx, 80.0, how="rotate") == said


@rule("TAH-17", "ok")
@rule("TAH-17", "breach")
def test_a_d20_passes_between_any_two_castles() -> None:
    table = measured()
    assert moved(table, 100.0, 0.0, dy=60.0) == "ok TAH-15"
    near = TahTable().do(c.LayMap(map=STRIPES), c.PlaceCastle(seat="s1", xy_mm=(100.0, 100.0), u_mm=1.0))
    assert near.refused(c.PlaceCastle(seat="s2", xy_mm=(190.0, 100.0), u_mm=1.0)) == "TAH-17"
    near.do(c.PlaceCastle(seat="s2", xy_mm=(205.0, 100.0), u_mm=1.0))


@rule("TAH-37", "ok")
def test_a_castle_keeps_to_the_map_and_off_the_dice_and_a_wrong_move_is_done_again() -> None:
    table = measured()
    assert moved(table, 0.0, 0.0, dy=-90.0) == "breach TAH-37"
    table.do(c.DropDie(seat="s1", kind="d4", shows=2, xy_mm=(225.0, 190.0))).round_done()
    table.to("actions", gather=False).ends("s2")
    assert moved(table, 0.0, 0.0, dy=80.0) == "breach TAH-37"
    table.do(
        c.MoveCastle(seat="s1", terrains=("forest",)),
        c.TakeBackMove(seat="s1", rule="TAH-15", why="seen by all"),
    )
    assert table.rulings("TAH-15")[-1].verdict is Verdict.BREACH and not table.game.doing.moved
    assert table.refused(c.TakeBackMove(seat="s1", rule="TAH-15")) == "TAH-37"
    table.do(c.NotePutBack(owner="s2"))
    assert "goes back" in table.rulings("TAH-37")[-1].because


# Phase 4: dice


@rule("TAH-18", "ok")
@rule("TAH-18", "breach")
def test_any_active_dice_are_deployed_in_any_order_and_some_kept_back() -> None:
    table = TahTable().launched().rich("s1").to("recruit").rich("s1")
    table.do(c.Recruit(seat="s1", kind="d8"), c.Recruit(seat="s1", kind="d6")).to("actions")
    assert table.refused(c.DropDie(seat="s1", kind="d12", shows=2, terrains=("city",))) == "TAH-18"
    table.do(c.DropDie(seat="s1", kind="d8", shows=2, terrains=("city",)))
    assert table.refused(c.DropDie(seat="s1", kind="d8", shows=2, terrains=("city",))) == "TAH-18"
    table.do(c.DropDie(seat="s1", kind="d4", shows=2, terrains=("city",))).ends()
    assert table.p("s1").dice["d6"].place == "population"


@rule("TAH-36", "house")
def test_a_stuck_die_is_dropped_again_and_a_leaning_one_laid_flat() -> None:
    table = TahTable().launched().to("actions")
    table.do(c.NoteStuck(seat="s1", kind="d4"), c.DropDie(seat="s1", kind="d4", shows=2, terrains=("city",)))
    assert "dropped again" in table.rulings("TAH-36")[0].because
    table.do(c.LayFlat(owner="s1", kind="d4", shows=3))
    assert table.p("s1").dice["d4"].number == 3
    assert table.refused(c.LayFlat(owner="s1", kind="d12", shows=3)) == "TAH-36"


@rule("TAH-33", "ok")
@rule("TAH-33", "breach")
def test_a_pushed_die_counts_as_it_lies_and_one_moved_by_hand_goes_back() -> None:
    table = TahTable().launched().to("actions", gather=False)
    table.do(c.NoteKnock(owner="s2", kind="d8", shows=7, terrains=("mountains",)))
    assert (table.p("s2").dice["d8"].number, table.p("s2").dice["d8"].terrains) == (7, ("mountains",))
    assert table.refused(c.NoteKnock(owner="s2", kind="d12", shows=7)) == "TAH-33"
    table.do(c.NotePutBack(owner="s2", kind="d8"))
    assert table.p("s2").dice["d8"].number == 7
    assert table.refused(c.NotePutBack(owner="s2", kind="d12")) == "TAH-33"


@rule("TAH-25", "ok")
@rule("TAH-25", "breach")
def test_dice_off_the_board_go_back_by_whose_launch_it_was() -> None:
    table = TahTable().launched().to("actions", gather=False)
    table.do(c.NoteKnock(owner="s1", kind="d6", is_off_board=True))
    assert table.p("s1").dice["d6"].place == "off", "the own older die too, until the turn ends"
    for kind in ("d4", "d6"):
        table.do(c.NoteKnock(owner="s2", kind=kind, is_off_board=True))
    assert (table.p("s2").dice["d6"].place, table.p("s2").dice["d4"].place) == ("home", "population")
    table.ends("s1")
    assert table.p("s1").dice["d6"].place == "population"
    table.round_done().to("actions", gather=False).ends("s2")
    table.do(c.DropDie(seat="s1", kind="d6", shows=1, is_off_board=True))
    assert table.refused(c.DropDie(seat="s1", kind="d6", shows=1)) == "TAH-25"


# Who deals with what, and house rules


@rule("TAH-32", "ok")
def test_who_leaves_is_out_and_turn_and_marker_pass_over() -> None:
    table = TahTable(3).launched().to("orders")
    table.do(k.Leave(seat="s1"))
    assert table.game.turn == "s2" and in_order(table.table) == ("s2", "s3")
    assert {piece.place for piece in table.p("s1").dice.values()} == {"out"} and table.p("s1").castle is None
    table.to("actions").round_done()
    assert (table.game.part, table.game.first) == (2, "s2")
    ruling = table.give(c.DropQuest(seat="s1", quest=table.game.line_up[0]))
    assert ruling is not None and ruling.rule == "TABLE-3"
    table.do(k.Leave(seat="s3"))
    assert (table.game.phase, table.game.winners) == ("over", ("s2",))


def test_a_quest_of_who_leaves_is_discarded_and_everybody_else_through_goes_on() -> None:
    table = TahTable(3).launched().do(c.DrawQuest(seat="s1"))
    quest = table.p("s1").quests[0]
    table.to("recruit").do(c.FinishTrade(seat="s2"), c.FinishTrade(seat="s3"), k.Leave(seat="s1"))
    assert quest in table.game.discards and table.game.phase == "actions"


def test_who_sits_down_later_watches() -> None:
    table = TahTable().launched().do(k.Join(name="Zoe"))
    assert table.p("s3").is_out and in_order(table.table) == ("s1", "s2")
    table.to("actions").round_done()
    assert table.game.part == 2


def test_house_rules_are_chosen_before_play() -> None:
    table = TahTable().do(k.ChangeOption(option="teams", value="pairs")).placed()
    assert table.refused(c.ChooseFirst(first="s1")) == "TAH-30"
    table.do(k.ChangeOption(option="teams", value="off"), c.ChooseFirst(first="s1"))
    ruling = table.give(k.ChangeOption(option="zero_health", value="eliminated"))
    assert ruling is not None and ruling.rule == "TABLE-8"


def test_the_data_says_what_it_is() -> None:
    data = data_of(TahTable().table)
    assert "our own" in data.source and data.sure
    assert {die.kind: die.source for die in data.dice}["d12"] == "ours"
