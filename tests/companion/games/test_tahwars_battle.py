"""Attacks, quests, crowns and how a game of TAH WARS ends."""

from __future__ import annotations

import pytest
from tahwars_table import STRIPES, TahTable

from companion.core import command as k
from companion.games.tahwars import commands as c
from companion.games.tahwars.model import quest_of

rule = pytest.mark.rule


def armed(players: int = 2, **options: object) -> TahTable:
    """Phase 4 of the first round: the first player has every die in the population, nobody's dice lie on the board."""
    table = TahTable(players, **options).launched().to("recruit")
    for kind in ("d6", "d8", "d10", "d12", "d20", "d100"):
        table.rich("s1").do(c.Recruit(seat="s1", kind=kind))
    return table.to("actions")


# Attacks


@rule("TAH-19", "ok")
def test_an_attack_is_declared_launched_and_counted() -> None:
    table = armed().do(c.DeclareAttack(seat="s1", dice=("d8", "d6")))
    assert table.view().zones[0].id == "attack"
    table.do(c.DropDie(seat="s1", kind="d6", shows=4, terrains=("city",), touched=("s2",)))
    assert "D6 4 + attack 1 = 5 against shield 8: no success" in str(table.view("s2").zones[0].rows)
    assert "settle-s1" not in table.offered()
    table.do(c.DropDie(seat="s1", kind="d8", shows=3, terrains=("city",), touched=("s2",)))
    assert "D8 3 + D6 4 + attack 1 = 8 against shield 8: success" in str(table.view().zones[0].rows)
    table.do(c.SettleAttack(seat="s1"), c.DropDie(seat="s1", kind="d10", shows=4, terrains=("city",)))
    assert table.p("s1").crowns == 1


@rule("TAH-19", "breach")
def test_one_attack_a_turn_declared_before_its_first_die() -> None:
    table = armed().do(c.DropDie(seat="s1", kind="d4", shows=1, terrains=("city",)))
    assert table.refused(c.DeclareAttack(seat="s1", dice=("d8", "d8"))) == "TAH-19"
    table.do(c.DeclareAttack(seat="s1", dice=("d8", "d20")))
    assert table.refused(c.DropDie(seat="s1", kind="d6", shows=4, terrains=("city",))) == "TAH-19"
    assert table.refused(c.SettleAttack(seat="s1")) == "TAH-19"
    assert table.refused(c.EndTurn(seat="s1")) == "TAH-19"
    table.do(c.DropDie(seat="s1", kind="d8", shows=4, terrains=("city",)))
    table.do(c.DropDie(seat="s1", kind="d20", shows=4, terrains=("city",)))
    assert table.refused(c.DropDie(seat="s1", kind="d6", shows=4, terrains=("city",))) == "TAH-19"
    table.do(c.SettleAttack(seat="s1"))
    assert table.refused(c.DeclareAttack(seat="s1", dice=("d6",))) == "TAH-19"


def test_an_undeclared_die_that_touches_is_a_gatherer_and_an_undeclared_d20_goes_home() -> None:
    table = armed().do(c.DropDie(seat="s1", kind="d12", shows=12, terrains=("city",), touched=("s2",)))
    assert (table.p("s2").shield, table.p("s1").crowns, table.p("s1").dice["d12"].place) == (8, 0, "board")
    table.do(c.DropDie(seat="s1", kind="d20", shows=20, terrains=("city",), touched=("s2",)))
    assert table.p("s1").dice["d20"].place == "home"
    assert table.rulings("TAH-19")[-1].verdict.value == "breach"


@rule("TAH-20", "ok")
@rule("TAH-20", "breach")
def test_a_hit_is_of_a_launched_attacker_on_anothers_tower_and_counts_the_final_face() -> None:
    table = armed(3).do(c.DeclareAttack(seat="s1", dice=("d6", "d8")))
    assert table.refused(c.NoteHit(seat="s1", kind="d6", tower="s2")) == "TAH-20"
    assert table.refused(c.DropDie(seat="s1", kind="d6", shows=4, touched=("s1",))) == "TAH-20"
    assert table.refused(c.DropDie(seat="s1", kind="d6", shows=4, touched=("s9",))) == "TAH-20"
    table.do(
        c.DropDie(seat="s1", kind="d6", shows=1, terrains=("city",)),
        c.NoteHit(seat="s1", kind="d6", tower="s3"),
    )
    assert table.refused(c.NoteHit(seat="s1", kind="d6", tower="s3")) == "TAH-20"
    table.do(c.DropDie(seat="s1", kind="d8", shows=2, terrains=("city",)))
    table.do(c.NoteKnock(owner="s1", kind="d6", shows=6, terrains=("forest",)))
    table.do(
        c.NoteHit(seat="s1", kind="d8", tower="s3"), c.NoteHit(seat="s1", kind="d8", tower="s3", is_hit=False)
    )
    table.do(c.SettleAttack(seat="s1"))
    strike = table.game.struck[0]
    assert (strike.tower, strike.numbers, strike.total) == ("s3", (6,), 7)


@pytest.mark.parametrize(("option", "total"), [("seen_face", 7), ("zero", 1)])
def test_a_hit_die_beside_the_board_counts_by_the_house_rule(option: str, total: int) -> None:
    table = armed(off_board_hit=option).do(c.DeclareAttack(seat="s1", dice=("d6",)))
    table.do(
        c.DropDie(seat="s1", kind="d6", shows=6, is_off_board=True, touched=("s2",)),
        c.SettleAttack(seat="s1"),
    )
    assert table.game.struck[0].total == total
    assert table.p("s1").dice["d6"].place == "home", "it touched, so it goes to the player board"


def test_a_face_that_nobody_saw_counts_nothing() -> None:
    table = armed().do(c.DeclareAttack(seat="s1", dice=("d6",)))
    table.do(c.DropDie(seat="s1", kind="d6", is_off_board=True, touched=("s2",)), c.SettleAttack(seat="s1"))
    assert table.game.struck[0].total == 1


def test_an_open_question_about_a_hit_is_answered_before_the_count() -> None:
    table = armed().do(c.DeclareAttack(seat="s1", dice=("d12",)))
    table.do(c.DropDie(seat="s1", kind="d12", shows=9, terrains=("city",)))
    hit = c.NoteHit(seat="s1", kind="d12", tower="s2")
    table.do(k.Propose(command=hit, reading="the D12 may have touched Ben's tower", confidence=0.5))
    assert table.refused(c.SettleAttack(seat="s1")) == "TAH-20"
    asked = table.view().open_proposals[0]
    assert asked.confirm is not None and "settle-s1" not in table.offered()
    table.do(asked.confirm.command, c.SettleAttack(seat="s1"))
    assert table.p("s1").crowns == 1


@rule("TAH-21", "ok")
@rule("TAH-21", "breach")
@pytest.mark.parametrize(("shows", "crowns", "health"), [(7, 1, 4), (6, 0, 5)])
def test_dice_and_attack_reach_the_shield_as_it_was(shows: int, crowns: int, health: int) -> None:
    table = armed()
    assert table.refused(c.SettleAttack(seat="s1")) == "TAH-21"
    table.attack("s1", {"d8": (shows, ("s2",))})
    assert (table.p("s1").crowns, table.p("s2").health) == (crowns, health)
    assert table.refused(c.SetCubes(seat="s1", item="crowns", value=5)) == "TAH-21"


@rule("TAH-22", "ok")
@rule("TAH-22", "breach")
def test_stats_rise_after_any_attack_and_not_past_the_board() -> None:
    table = armed().attack("s1", {"d8": (1, ("s2",))})
    assert (table.p("s1").attack, table.p("s2").shield) == (2, 9)
    assert any("also after a lost attack" in notice for notice in table.view().notices)
    table = armed().attack("s1", {"d8": (1, ())})
    assert (table.p("s1").attack, table.p("s2").shield) == (2, 8), "a miss raises the attack"
    table = armed().cubes("s1", attack=12).cubes("s2", shield=20).attack("s1", {"d8": (8, ("s2",))})
    assert (table.p("s1").attack, table.p("s2").shield, table.p("s1").crowns) == (12, 20, 1)
    assert table.refused(c.SetCubes(seat="s1", item="attack", value=13)) == "TAH-22"


@rule("TAH-22", "house")
def test_with_miss_raises_off_touching_nobody_raises_nothing() -> None:
    table = armed(miss_raises=False).attack("s1", {"d8": (1, ())})
    assert table.p("s1").attack == 1
    table = armed(miss_raises=False).attack("s1", {"d8": (1, ("s2",))})
    assert table.p("s1").attack == 2


@rule("TAH-23", "ok")
@rule("TAH-23", "breach")
def test_a_trick_shot_is_judged_tower_by_tower_and_raises_the_attack_once() -> None:
    table = armed(4).cubes("s3", shield=12).do(c.DeclareAttack(seat="s1", dice=("d8", "d12")))
    twice = c.DropDie(seat="s1", kind="d8", shows=8, terrains=("city",), touched=("s2", "s2"))
    assert table.refused(twice) == "TAH-23"
    table.do(c.DropDie(seat="s1", kind="d8", shows=8, terrains=("city",), touched=("s2", "s3")))
    table.do(
        c.DropDie(seat="s1", kind="d12", shows=2, terrains=("city",), touched=("s4",)),
        c.SettleAttack(seat="s1"),
    )
    told = {strike.tower: (strike.total, strike.is_success) for strike in table.game.struck}
    assert told == {"s2": (9, True), "s3": (9, False), "s4": (3, False)}
    assert (table.p("s1").crowns, table.p("s1").attack) == (1, 2)
    assert [table.p(seat).shield for seat in ("s2", "s3", "s4")] == [9, 13, 9]
    assert "3 towers touched" in table.rulings("TAH-23")[-1].because


@rule("TAH-24", "ok")
@rule("TAH-24", "breach")
def test_attackers_that_touched_go_home_others_stay_and_the_d20_never_does() -> None:
    table = armed().do(c.DeclareAttack(seat="s1", dice=("d4", "d6", "d8", "d10", "d20")))
    for kind, touched, off in (("d4", ("s2",), False), ("d6", ("s2",), True), ("d8", (), False), ("d10", (), True),
                               ("d20", (), True)):  # fmt: skip
        table.do(
            c.DropDie(seat="s1", kind=kind, shows=1, terrains=("city",), touched=touched, is_off_board=off)
        )
    table.do(c.SettleAttack(seat="s1"))
    places = {kind: piece.place for kind, piece in table.p("s1").dice.items()}
    assert places["d4"] == "population" and places["d6"] == "home" and places["d8"] == "board"
    assert places["d10"] == "off" and places["d20"] == "home"
    assert table.refused(c.DropDie(seat="s1", kind="d4", shows=1, terrains=("city",))) == "TAH-25"
    assert table.refused(c.NoteKnock(owner="s1", kind="d20", shows=1, terrains=("city",))) == "TAH-24"
    table.ends()
    assert table.p("s1").dice["d10"].place == "population"


# Quests


def questing(quest: str, castle: str, **faces: int) -> TahTable:
    """The first player holds a quest in phase 4, its castle on `castle`, its D4, D6 and D8 on the same."""
    table = TahTable(dealing="table").do(c.LayMap(map=STRIPES))
    table.do(c.PlaceCastle(seat="s1", terrains=(castle,)), c.PlaceCastle(seat="s2", terrains=(castle,)))
    for card in dict.fromkeys((quest, "t1", "t2", "t3", "d8")):
        if len(table.game.line_up) < 4:
            table.do(c.TurnUp(quest=card))
    table.do(c.ChooseFirst(first="s1"))
    while table.game.phase == "launch":
        for kind, shows in {"d4": 2, "d6": 3, "d8": 4, **faces}.items():
            table.do(c.DropDie(seat=table.game.turn, kind=kind, shows=shows, terrains=(castle,)))
    table.do(c.TakeQuest(seat="s1", quest=quest)).do(c.DropQuest(seat="s2", quest=table.game.line_up[0]))
    return table.to("actions", gather=False)


@rule("TAH-26", "ok")
def test_a_trade_is_paid_at_the_end_of_the_turn() -> None:
    table = questing("t5", "city").cubes("s1", fish=2, wood=1, stone=1)
    table.do(c.CompleteQuest(seat="s1", quest="t5"))
    player = table.p("s1")
    assert player.crowns == 1 and player.quests == () and "t5" in table.game.discards
    assert (player.resources["fish"], player.resources["wood"]) == (1, 0)
    assert table.refused(c.DropDie(seat="s1", kind="d4", shows=1)) == "TAH-26"
    assert table.offered("s1") & {"end-s1", "declare-s1"} == {"end-s1"}


@rule("TAH-26", "ok")
@pytest.mark.parametrize(
    ("quest", "castle", "faces", "is_enough"),
    [
        ("a2", "forest", {"d4": 2, "d6": 2, "d8": 4}, True),
        ("a2", "forest", {"d4": 1, "d6": 1, "d8": 2}, False),
        ("d3", "mountains", {"d4": 1, "d6": 1, "d8": 1}, False),
        ("d3", "mountains", {"d4": 1, "d6": 1, "d8": 2}, True),
    ],
)
def test_an_attack_or_defence_counts_the_dice_there_and_the_castle(
    quest: str, castle: str, faces: dict[str, int], is_enough: bool
) -> None:
    table = questing(quest, castle, **faces)  # each die stays once, so it counts one more
    stats = (table.p("s1").attack, table.p("s1").shield)
    ruling = table.give(c.CompleteQuest(seat="s1", quest=quest))
    assert (ruling is None) is is_enough
    assert table.p("s1").crowns == is_enough
    assert (table.p("s1").attack, table.p("s1").shield) == stats, "no stat rises"
    assert all(table.p("s1").dice[kind].place == "board" for kind in faces), "they stay"


@rule("TAH-26", "breach")
def test_the_castle_stands_there_and_the_dice_lie_there() -> None:
    table = questing("t5", "forest")
    assert table.refused(c.CompleteQuest(seat="s1", quest="t5")) == "TAH-26"
    assert table.refused(c.CompleteQuest(seat="s1", quest="a1")) == "TAH-26"
    table = questing("a2", "forest", d4=4, d6=5, d8=7)
    assert table.refused(c.CompleteQuest(seat="s1", quest="a2", dice=("d10",))) == "TAH-26"
    assert table.refused(c.CompleteQuest(seat="s1", quest="a2", dice=("d4",))) == "TAH-26"
    table.do(c.CompleteQuest(seat="s1", quest="a2", dice=("d8", "d4")))
    assert table.refused(c.CompleteQuest(seat="s1", quest="a2")) == "TAH-26"


def test_measured_dice_count_in_the_castles_own_connected_area_alone() -> None:
    table = TahTable(dealing="table").do(c.LayMap(map=STRIPES))
    table.do(
        c.PlaceCastle(seat="s1", xy_mm=(225.0, 100.0), u_mm=1.0), c.PlaceCastle(seat="s2", terrains=("city",))
    )
    table.do(*(c.TurnUp(quest=card) for card in ("a6", "t1", "t2", "t3")), c.ChooseFirst(first="s1"))
    while table.game.phase == "launch":
        for kind, x in (("d4", 200.0), ("d6", 820.0), ("d8", 830.0)):
            table.do(c.DropDie(seat=table.game.turn, kind=kind, shows=3, xy_mm=(x, 200.0)))
    table.do(c.TakeQuest(seat="s1", quest="a6"), c.DropQuest(seat="s2", quest="t1")).to(
        "actions", gather=False
    )
    ruling = table.give(c.CompleteQuest(seat="s1", quest="a6"))
    assert ruling is not None and "make 5, 6 are needed" in ruling.because, "the other forest does not count"
    table.cubes("s1", attack=2).do(c.CompleteQuest(seat="s1", quest="a6"))
    reward = quest_of(table.table, "a6")
    assert reward is not None and "D4 and attack 2 make 6" in table.rulings("TAH-26")[-1].because


# Health


@rule("TAH-27", "ok")
@rule("TAH-27", "breach")
def test_at_no_health_a_crown_is_lost_instead() -> None:
    table = armed().cubes("s2", health=1)
    assert table.refused(c.SetCubes(seat="s2", item="health", value=0)) == "TAH-27"
    table.attack("s1", {"d8": (8, ("s2",))})
    assert (table.p("s2").health, table.p("s2").crowns, table.p("s1").crowns) == (1, 0, 1)
    table.undo().undo().undo().ends("s1")
    table.round_done().to("recruit").crowned("s2", 1).to("actions")
    while table.game.turn != "s1":
        table.ends()
    table.attack("s1", {"d8": (8, ("s2",))})
    assert (table.p("s2").health, table.p("s2").crowns) == (1, 0)


@rule("TAH-27", "house")
def test_or_the_player_is_eliminated() -> None:
    table = armed(3, zero_health="eliminated").cubes("s2", health=1).attack("s1", {"d8": (8, ("s2",))})
    assert table.p("s2").is_out and table.p("s1").crowns == 1
    assert table.rulings("TAH-27")[-1].seat == "s2"
    assert table.refused(c.PlaceCastle(seat="s2", terrains=("city",))) == "TAH-32"
    table.ends("s1").ends("s3")
    assert (table.game.part, table.game.first) == (2, "s3")
    two = armed(2, zero_health="eliminated").cubes("s2", health=1).attack("s1", {"d8": (8, ("s2",))})
    assert (two.game.phase, two.game.winners) == ("over", ("s1",)), "the last one left wins at once"


# The end


def reached(*crowns: int, players: int = 2, **options: object) -> TahTable:
    """Phase 4 of the round in which the seats bought so many crowns, and before they did."""
    table = TahTable(players, **options).launched().to("recruit")
    for number, wanted in enumerate(crowns, start=1):
        table.crowned(f"s{number}", wanted)
    return table.to("actions")


@rule("TAH-28", "ok")
@rule("TAH-28", "breach")
def test_the_round_in_which_somebody_has_five_crowns_is_the_last() -> None:
    table = reached(5, 4)
    assert table.game.final == 1 and any("final round" in notice for notice in table.view().notices)
    table.round_done()
    assert (table.game.phase, table.game.winners) == ("over", ("s1",))
    assert table.refused(c.EndTurn(seat="s1")) == "TAH-28"
    assert table.offered() & {"end-s1", "end-s2"} == set()


@rule("TAH-28", "house")
def test_or_the_next_round_is() -> None:
    table = reached(5, final_round="next").round_done()
    assert (table.game.final, table.game.part, table.game.phase) == (2, 2, "quests")
    table.to("actions").round_done()
    assert table.game.winners == ("s1",)


def test_several_with_five_and_nobody_above_play_sudden_death() -> None:
    table = reached(5, 5, 2, players=3).round_done()
    assert (table.game.stage, table.game.phase) == ("sudden", "quests")
    assert any("Sudden death" in notice for notice in table.view().notices)
    table.to("recruit").crowned("s1", 6)
    assert table.game.phase == "recruit", "the marker went on: s2 and s3 come before s1 now"
    table.crowned("s3", 6).do(c.FinishTrade(seat="s2"))
    assert table.game.winners == ("s3",)
    table = reached(5, 5, players=2).round_done().to("recruit").crowned("s2", 6)
    assert (table.game.phase, table.game.winners) == ("over", ("s2",))


@rule("TAH-29", "ok")
def test_with_more_than_five_the_single_highest_wins_or_who_first_stands_alone() -> None:
    assert reached(5, 7).round_done().game.winners == ("s2",)
    table = reached(6, 6, 5, players=3).round_done()
    assert table.game.stage == "alone" and table.rulings("TAH-29")
    table.to("recruit").crowned("s3", 6)
    assert table.game.phase == "recruit", "three stand highest"
    table.to("actions").ends().ends()
    for kind, shows, touched in (("d4", 4, ("s2",)),):
        table.cubes("s1", attack=12).attack("s1", {kind: (shows, touched)})
    assert table.game.winners == ("s1",)


@rule("TAH-29", "ok")
def test_when_nobody_has_five_any_more_play_goes_on() -> None:
    table = reached(5).cubes("s1", health=1).ends("s1")
    table.cubes("s2", attack=12).attack("s2", {"d4": (4, ("s1",))}).ends("s2")
    assert (table.p("s1").crowns, table.game.final, table.game.phase) == (4, 0, "quests")
    assert "play goes on" in table.rulings("TAH-29")[-1].because


def test_a_trick_shot_from_four_to_six_crowns() -> None:
    table = reached(4, players=3).cubes("s1", attack=12)
    table.attack("s1", {"d4": (1, ("s2", "s3"))})
    assert (table.p("s1").crowns, table.game.final) == (6, 1)
    assert table.round_done().game.winners == ("s1",)


@rule("TAH-30", "ok")
def test_first_to_five_wins_at_once() -> None:
    table = TahTable(first_to_five=True).launched().to("recruit").crowned("s1", 4)
    assert table.game.phase == "recruit"
    assert table.crowned("s1", 5).game.winners == ("s1",)


@rule("TAH-30", "breach")
@rule("TAH-30", "house")
def test_the_winning_crown_is_not_bought() -> None:
    table = TahTable(no_bought_win=True).launched().to("recruit").crowned("s1", 4).rich("s1")
    assert table.refused(c.BuyCrown(seat="s1")) == "TAH-30"
    assert "crown-s1" not in table.offered("s1")


@rule("TAH-30", "ok")
@pytest.mark.parametrize(
    ("players", "way", "team"),
    [(4, "pairs", ("s1", "s3")), (6, "pairs", ("s1", "s4")), (6, "threes", ("s1", "s3", "s5"))],
)
def test_partners_sit_opposite_and_count_together(players: int, way: str, team: tuple[str, ...]) -> None:
    table = TahTable(players, teams=way).launched().to("recruit")
    for seat in team:
        table.crowned(seat, 5)
    mates = [seat for seat in table.game.players if table.p(seat).team == table.p("s1").team]
    assert tuple(mates) == team and table.game.final == 1
    table.to("actions").do(c.DeclareAttack(seat="s1", dice=("d4",)))
    assert table.refused(c.DropDie(seat="s1", kind="d4", shows=4, touched=(team[1],))) == "TAH-30"
    table.do(
        c.DropDie(seat="s1", kind="d4", shows=4, terrains=("city",)), c.SettleAttack(seat="s1")
    ).round_done()
    assert table.game.winners == team


def test_a_team_needs_five_a_head_and_cannot_buy_its_last() -> None:
    table = TahTable(4, teams="pairs", no_bought_win=True).launched().to("recruit").crowned("s1", 5)
    assert table.game.final == 0
    table.crowned("s3", 4).rich("s3")
    assert table.refused(c.BuyCrown(seat="s3")) == "TAH-30"


@rule("TAH-31", "ok")
def test_bought_crowns_count_in_player_order() -> None:
    table = TahTable(3, first_to_five=True).launched().to("recruit").crowned("s3", 5)
    assert table.game.phase == "recruit", "s1 and s2 may still buy, and come first"
    table.do(c.FinishTrade(seat="s1"))
    table.crowned("s2", 5)
    assert (table.game.phase, table.game.winners) == ("over", ("s2",))
    table = TahTable(3, first_to_five=True).launched().to("recruit").crowned("s3", 5)
    table.do(c.FinishTrade(seat="s1"), c.FinishTrade(seat="s2"))
    assert table.game.winners == ("s3",)
