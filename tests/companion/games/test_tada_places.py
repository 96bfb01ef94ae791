"""Who succeeds: places, what the clocks can tell, dead heats, the end of the cast, and slams heard late."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tada_table import PAD, TadaTable

from companion.core import command as k
from companion.core.clock import MS, Fate, Stamp, fates, groups, is_surely_before, joint_ns
from companion.core.ruling import Verdict
from companion.core.score import Standing
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.rulebook import places

rule = pytest.mark.rule


@rule("TADA-17", "ok")
@pytest.mark.parametrize(("players", "room"), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3)])
def test_so_many_places_for_so_many_players(players: int, room: int) -> None:
    assert places(players) == room
    table = TadaTable(players).to_cast()
    for who in range(1, players + 1):
        table.finish(who, 5000 + 100 * who)
    table.end()
    assert table.won() == tuple(f"s{who}" for who in range(1, room + 1))
    assert [row.place for row in table.placings().values()] == [*range(1, room + 1)] + [0] * (players - room)


@rule("TADA-17", "breach")
def test_no_more_may_be_named_in_a_dead_heat_than_places_are_left() -> None:
    table = TadaTable(4, dead_heat="referee").to_cast()
    table.finish(1, 4000)
    for who in (2, 3, 4):
        table.finish(who, 5000)
    table.end()
    table.no(c.SettleHeat(of="place", winners=("s2", "s3")), "TADA-17")
    table.do(c.SettleHeat(of="place", winners=("s3",)))
    assert table.won() == ("s1", "s3")


@rule("TADA-17", "ok")
def test_who_finished_too_late_is_told_so() -> None:
    table = TadaTable(4).to_cast()
    for who, ms in ((1, 5000), (2, 6000), (3, 7000)):
        table.finish(who, ms)
    table.end().resolve()
    late = table.last("TADA-17")
    assert (late.verdict, late.seat) == (Verdict.OK, "s3")
    assert late.because == "Cid finished too late for a place: 4 players cast for 2 places."
    assert len(table.game.scored["s3"]) == 0


@rule("TADA-18", "ok")
def test_places_go_to_verified_slams_in_the_order_of_slams_not_of_verifying() -> None:
    table = TadaTable(4).to_cast()
    table.slam(1, 6000)
    table.slam(2, 6500)
    table.verify(2)
    table.verify(1)
    table.end()
    assert table.places() == {"s1": 1, "s2": 2}
    table.resolve()
    placed = [r for r in table.rulings("TADA-18") if r.t_ms is not None]
    assert [(r.seat, r.t_ms, r.u_ms) for r in placed] == [("s1", 6000.0, 1.0), ("s2", 6500.0, 1.0)]


@rule("TADA-18", "ok")
def test_two_slams_20_ms_apart_on_one_controller_are_ranked_however_uncertain_its_clock_is() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    table.lock_all(2)
    table.see(table.press(2, 7000, u_ms=500), table.press(1, 7020, u_ms=500))
    for who in (1, 2):
        table.verify(who)
    table.end()
    assert table.places() == {"s2": 1, "s1": 0}
    assert table.placings()["s1"].fate is Fate.OUT


@rule("TADA-18", "ok")
def test_two_slams_20_ms_apart_on_two_controllers_that_are_unsure_by_30_ms_are_a_dead_heat() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 7000, 15, clock="box/1", own_ms=0.2)
    table.finish(2, 7020, 15, clock="hat/1", own_ms=0.2)
    table.end()
    assert table.places() == {"s1": 1, "s2": 1}
    table.resolve()
    heat = [r for r in table.rulings("TADA-18") if r.verdict is Verdict.TOO_CLOSE]
    assert [r.because for r in heat] == [
        "Ann cannot be told apart from others at the last place: all of them succeed.",
        "Ben cannot be told apart from others at the last place: all of them succeed.",
    ]


@rule("TADA-18", "ok")
def test_the_same_controller_after_a_restart_is_another_clock() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 7000, 15, clock="box/1", own_ms=0.2)
    table.finish(2, 7020, 15, clock="box/2", own_ms=0.2)
    assert table.places() == {"s1": 1, "s2": 1}


def test_nothing_is_ranked_below_a_millisecond() -> None:
    one, two = (Stamp(at_ns=at, u_ns=0, clock="box/1") for at in (0, MS))
    assert joint_ns(one, two) == MS
    assert not is_surely_before(one, two)
    assert is_surely_before(one, Stamp(at_ns=MS + 1, u_ns=0, clock="box/1"))


@rule("TADA-18", "ok")
def test_who_certainly_has_a_place_is_not_touched_by_a_heat_behind() -> None:
    table = TadaTable(4, dead_heat="referee").to_cast()
    table.finish(1, 5000)
    table.finish(2, 6000, 40)
    table.finish(3, 6030, 40)
    table.end()
    assert table.won() == ("s1",)
    table.no(c.Resolve(), "TADA-18")
    table.no(c.SettleHeat(of="place", winners=("s1",)), "TADA-18")
    table.no(c.SettleHeat(of="place", winners=("s2", "s3")), "TADA-17")
    table.no(c.SettleHeat(of="place", winners=()), "TADA-18")
    table.do(c.SettleHeat(of="place", winners=("s3",)))
    assert table.won() == ("s1", "s3")
    table.resolve()
    assert [len(table.game.scored[s]) for s in ("s1", "s2", "s3", "s4")] == [1, 0, 1, 0]
    settled = [r.because for r in table.rulings("TADA-18")]
    assert "Cid won the dead heat as the table settled it." in settled
    assert "Ben lost the dead heat as the table settled it." in settled


@rule("TADA-18", "house")
@pytest.mark.parametrize("dead_heat", ["both", "roll_off", "referee"])
def test_six_players_three_places_four_in_a_dead_heat_at_the_last(dead_heat: str) -> None:
    table = TadaTable(6, dead_heat=dead_heat).to_cast()
    table.finish(1, 5000)
    table.finish(2, 5500)
    for who in (3, 4, 5, 6):
        table.finish(who, 6000 + who, 10)
    table.end()
    if dead_heat == "both":
        assert table.won() == ("s1", "s2", "s3", "s4", "s5", "s6")
        assert table.places() == {"s1": 1, "s2": 2, "s3": 3, "s4": 3, "s5": 3, "s6": 3}
        table.resolve()
        return
    assert table.won() == ("s1", "s2")
    notice = " ".join(table.view("public").notices)
    assert ("roll off" if dead_heat == "roll_off" else "let the referee decide") in notice
    main = table.view().primary
    assert main is not None
    assert {choice.value for choice in main.fields[0].choices} == {"s3", "s4", "s5", "s6"}
    table.do(c.SettleHeat(of="place", winners=("s5",)))
    assert table.places()["s5"] == 3
    assert [seat for seat, place in table.places().items() if not place] == ["s3", "s4", "s6"]
    table.resolve()


@rule("TADA-18", "house")
def test_a_heat_for_two_places_may_be_settled_one_after_the_other() -> None:
    table = TadaTable(6, dead_heat="roll_off").to_cast()
    table.finish(1, 5000)
    for who in (2, 3, 4):
        table.finish(who, 6000 + who, 10)
    table.end()
    table.do(c.SettleHeat(of="place", winners=("s4",)))
    table.no(c.Resolve(), "TADA-18")
    table.no(c.SettleHeat(of="place", winners=("s4",)), "TADA-18")
    table.do(c.SettleHeat(of="place", winners=("s2",)))
    assert set(table.won()) == {"s1", "s4", "s2"}
    table.resolve()


@rule("TADA-18", "ok")
def test_a_dead_heat_that_all_fit_in_needs_no_settling() -> None:
    table = TadaTable(4, dead_heat="roll_off").to_cast()
    table.finish(1, 5000, 40)
    table.finish(2, 5010, 40)
    table.end()
    assert table.places() == {"s1": 1, "s2": 1}
    assert table.placings()["s1"].shared
    table.resolve()
    assert [len(table.game.scored[s]) for s in ("s1", "s2")] == [1, 1]


@rule("TADA-18", "ok")
def test_a_settled_heat_is_opened_again_by_what_comes_after_it() -> None:
    table = TadaTable(4, dead_heat="referee").to_cast()
    table.finish(1, 5000)
    table.finish(2, 6000, 40)
    table.finish(3, 6030, 40)
    table.end()
    table.do(c.SettleHeat(of="place", winners=("s2",)))
    table.slam(4, 6010, 40, heard_ms=9000, call=False)
    table.verify(4)
    table.no(c.Resolve(), "TADA-18")
    table.do(c.SettleHeat(of="place", winners=("s4",)))
    assert table.won() == ("s1", "s4")


# The win


def near_the_win(dead_heat: str = "both", **slams: tuple[float, float]) -> TadaTable:
    """Six players of whom those who slam now have five spells each."""
    table = TadaTable(6, dead_heat=dead_heat)
    table.score(**{who: 5 for who in slams if who != "s6"}).to_cast()
    for who, (ms, u_ms) in slams.items():
        table.finish(int(who[1:]), ms, u_ms)
    return table.end()


@rule("TADA-3", "ok")
def test_the_first_to_cast_six_spells_wins() -> None:
    table = TadaTable(2).score(s1=5, s2=2)
    assert table.game.phase != "over"
    table.round_won_by(1)
    assert (table.game.phase, table.game.winners) == ("over", ("s1",))
    assert table.last("TADA-3").because == "Ann wins with six spells."
    assert [cue.pattern for cue in table.cues][-1] == "win"
    assert table.view("public").headline == "Ann wins the game."


@rule("TADA-3", "breach")
def test_after_the_win_nothing_is_cast_any_more() -> None:
    table = TadaTable(2).score(s1=6)
    for command in (c.Deal(), c.RevealFeat(), c.Resolve(), c.CallGo()):
        table.no(command, "TADA-3")
    assert table.view().primary is None


@rule("TADA-4", "ok")
def test_of_three_who_reach_six_the_first_slam_wins_even_if_another_was_first_in_the_round() -> None:
    table = near_the_win(s6=(4000, 1), s3=(5000, 1), s1=(6000, 1))
    table.resolve()
    assert table.game.winners == ("s3",)
    assert table.last("TADA-4").because == "Of 2 who reached six, the first verified slam wins."
    assert [(s.seat, s.place) for s in standings(table)][:2] == [("s3", 1), ("s1", 2)]


@rule("TADA-4", "house")
@pytest.mark.parametrize("dead_heat", ["both", "roll_off", "referee"])
def test_three_reach_six_and_the_first_two_are_a_dead_heat(dead_heat: str) -> None:
    table = near_the_win(dead_heat, s1=(5000, 20), s2=(5010, 20), s3=(7000, 1))
    if dead_heat == "both":
        table.resolve()
        assert table.game.winners == ("s1", "s2")
        assert table.last("TADA-3").because == "Ann and Ben share the win with six spells."
        assert "came first together" in table.last("TADA-4").because
        assert [(s.seat, s.place, s.shared) for s in standings(table)[:3]] == [
            ("s1", 1, True), ("s2", 1, True), ("s3", 3, False),
        ]  # fmt: skip
        return
    table.no(c.Resolve(), "TADA-18")
    table.no(c.SettleHeat(of="win", winners=("s3",)), "TADA-18")
    table.do(c.SettleHeat(of="win", winners=("s2",)))
    table.resolve()
    assert table.game.winners == ("s2",)
    assert [s.seat for s in standings(table)[:1]] == ["s2"]
    assert "the table settled" in table.last("TADA-4").because


@rule("TADA-4", "ok")
def test_who_certainly_came_after_the_first_does_not_share_the_win_by_a_chain_of_close_ones() -> None:
    table = near_the_win(s1=(5000, 10), s2=(5015, 10), s3=(5030, 10))
    assert table.places() == {"s1": 1, "s2": 1, "s3": 1}, "all three have a place, in a group"
    table.resolve()
    assert table.game.winners == ("s1", "s2"), "but Cid was certainly later than Ann"


@rule("TADA-4", "ok")
def test_the_game_ends_at_resolve_and_effects_lapse() -> None:
    table = TadaTable(2).score(s1=5)
    table.do(k.ChangeOption(option="dealing", value="table"))
    left = [s for s in ("penguin-butler", "echo-echo") if s not in table.game.scored["s1"]]
    table.to_named(s1=left[0], s2="jelly-knees").go()
    table.finish(1, 5000)
    table.end()
    table.do(c.Resolve())
    assert table.game.phase == "over"
    assert table.game.hexes == ()
    assert table.game.aiming == ()


def standings(table: TadaTable) -> tuple[Standing, ...]:
    return GAME.standings(table.sitting)


# The end of the cast


@rule("TADA-19", "breach")
def test_the_end_is_not_called_while_somebody_may_still_take_a_place() -> None:
    table = TadaTable(4).to_cast()
    table.finish(1, 5000)
    table.no(c.EndCast(), "TADA-19", 60_000)
    table.slam(2, 61_000)
    assert table.no(c.EndCast(), "TADA-19", 61_500).because == "A slam waits to be verified."
    table.verify(2)
    table.no(c.EndCast(), "TADA-19", 61_000)
    table.do(c.EndCast(), 61_600)
    assert table.last("TADA-19").because == "The cast is over: no earlier slam can be in flight."


@rule("TADA-19", "ok")
def test_the_end_waits_for_clicks_as_long_as_a_click_may_be_late() -> None:
    table = TadaTable(2, pads=False).to_cast()
    table.slam(1, 5000, 1)
    table.verify(1)
    table.no(c.EndCast(), "TADA-19", 5100)
    table.do(c.Slam(seat="s2"), 5120)
    table.verify(2)
    assert table.places() == {"s1": 1, "s2": 1}, "a click so close cannot be told apart"


@rule("TADA-19", "ok")
def test_the_end_waits_for_the_most_uncertain_of_those_who_fill_the_places() -> None:
    table = TadaTable(4).to_cast()
    table.finish(1, 5000, 150)
    table.finish(2, 5010, 1)
    table.no(c.EndCast(), "TADA-19", 5140)


@rule("TADA-19", "ok")
def test_when_all_fail_the_cast_is_over_and_nobody_scores() -> None:
    table = TadaTable(3).to_cast()
    table.do(c.GiveUp(seat="s1"), actor=table.by(1))
    table.do(c.FlagBreach(seat="s2"))
    table.no(c.EndCast(), "TADA-19")
    table.slam(3, 5000)
    table.verify(3, complete=False)
    table.do(c.EndCast())
    assert table.last("TADA-19").because == "The cast is over: nobody is left who may cast."
    table.resolve()
    assert not any(table.game.scored.values())
    assert len(table.rulings("TADA-20")) == 3
    assert table.cues[-1].text == "Nobody casts a spell in this round."


@rule("TADA-19", "breach")
def test_a_slam_after_the_end_is_too_late() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    table.end()
    end_ms = table.now_ms
    stamp = Stamp(at_ns=table.ns(end_ms + 1), u_ns=MS)
    table.no(c.Slam(seat="s2", stamp=stamp), "TADA-19", end_ms + 2, PAD)


@rule("TADA-19", "ok")
def test_a_slam_from_before_the_end_that_is_heard_after_it_is_a_protest() -> None:
    table = TadaTable(4, round_clock_s=60).to_cast()
    table.finish(1, 5000)
    table.pass_time(60_000)
    assert table.game.phase == "resolve"
    table.slam(3, 59_990, heard_ms=60_200, call=False)
    noted = table.last("TADA-19")
    assert noted.verdict is Verdict.TOO_CLOSE
    assert noted.t_ms == 59_990
    assert len(table.game.protests) == 1
    table.no(c.Resolve(), "TADA-15")
    table.verify(3)
    assert table.places() == {"s1": 1, "s3": 2}


@rule("TADA-19", "ok")
def test_a_protest_of_who_was_too_late_anyway_changes_nothing() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    table.do(c.EndCast(), 6000)
    table.slam(2, 5900, heard_ms=6100, call=False)
    table.verify(2)
    assert table.places() == {"s1": 1, "s2": 0}


@rule("TADA-19", "ok")
def test_who_is_certain_to_be_too_late_is_known_without_a_click() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 5000)
    assert table.action("end") is None
    table.pass_time(6000)
    assert table.game.casters["s2"].is_ruled_out
    main = table.view().primary
    assert main is not None
    assert isinstance(main.command, c.EndCast)


@rule("TADA-25", "ok")
def test_who_was_ruled_out_is_in_time_again_when_a_place_falls_free() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 5000)
    table.pass_time(6000)
    table.do(c.FlagBreach(seat="s1"), 6500)
    assert not table.game.casters["s2"].is_ruled_out
    table.no(c.EndCast(), "TADA-19")
    table.finish(2, 9000)
    table.pass_time(10_000)
    assert table.game.casters["s3"].is_ruled_out
    table.do(c.EndCast())
    assert table.places() == {"s2": 1}


@rule("TADA-19", "ok")
def test_fewer_finishers_than_places_and_nobody_else_scores() -> None:
    table = TadaTable(6).to_cast()
    table.finish(4, 5000)
    for who in (1, 2, 3, 5, 6):
        table.do(c.GiveUp(seat=f"s{who}"))
    table.do(c.EndCast())
    assert table.won() == ("s4",)


# Laws of the race


STAMPS = st.lists(
    st.builds(
        Stamp, at_ns=st.integers(0, 60 * MS), u_ns=st.integers(0, 40 * MS),
        clock=st.sampled_from(["", "a", "b"]), own_u_ns=st.integers(0, 2 * MS),
    ),
    max_size=6,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(stamps=STAMPS, room=st.integers(1, 3))
def test_no_more_are_certain_than_there_are_places_and_nobody_is_forgotten(
    stamps: list[Stamp], room: int
) -> None:
    found = fates(stamps, room)
    assert found.count(Fate.IN) <= room
    assert len(stamps) - found.count(Fate.OUT) >= min(room, len(stamps))
    grouped = groups(stamps)
    assert sorted(i for group in grouped for i in group) == list(range(len(stamps)))
    for early, late in pairwise(grouped):
        assert all(is_surely_before(stamps[i], stamps[j]) for i in early for j in late)


def test_undo_of_the_end_lets_them_cast_on() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    table.end()
    table.do(k.Undo())
    assert table.game.phase == "cast"
    table.finish(2, 9000)
    assert table.places() == {"s1": 1, "s2": 0}


@rule("TADA-18", "ok")
@settings(max_examples=60, deadline=None)
@given(
    slams=st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from([0, 1, 10, 40]), st.sampled_from(["", "a", "b"])),
        min_size=2,
        max_size=6,
    )
)
def test_success_is_as_the_rule_says_for_any_slams(slams: list[tuple[int, int, str]]) -> None:
    table = TadaTable(len(slams)).to_cast()
    for who, (ms, u_ms, clock) in enumerate(slams, start=1):
        table.finish(who, 5000 + ms, u_ms, clock=clock, own_ms=0.3, heard_ms=6000)

    def certainly_before(one: tuple[int, int, str], two: tuple[int, int, str]) -> bool:
        joint = 0.6 if one[2] and one[2] == two[2] else one[1] + two[1]
        return two[0] - one[0] > max(1, joint)

    room = {2: 1, 3: 1, 4: 2, 5: 2, 6: 3}[len(slams)]
    expected = {
        f"s{who}"
        for who, mine in enumerate(slams, start=1)
        if sum(certainly_before(other, mine) for other in slams) < room
    }
    assert set(table.won()) == expected
    found = table.places()
    for one, mine in enumerate(slams, start=1):
        for two, other in enumerate(slams, start=1):
            if found[f"s{one}"] and found[f"s{two}"] and certainly_before(mine, other):
                assert found[f"s{one}"] <= found[f"s{two}"]
