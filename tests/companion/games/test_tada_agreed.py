"""What is agreed before play, casting in turn, the round clock, and a table that is stopped."""

from __future__ import annotations

import pytest
from tada_table import CLOCK, TadaTable

from companion.core import command as k
from companion.core.clock import MS, Stamp
from companion.core.timer import Timer
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.model import adjusted

rule = pytest.mark.rule


# Accommodations


@rule("TABLE-7", "ok")
def test_a_time_factor_ranks_the_adjusted_time_and_shows_both() -> None:
    table = TadaTable(3)
    table.do(k.SetAccommodation(seat="s2", time_factor=2.0))
    table.to_cast()
    table.finish(1, 6000)
    table.finish(2, 11_000)
    row = table.placings()["s2"]
    assert (row.place, row.raw_ms, row.adjusted_ms, row.u_ms) == (1, 11_000, 5500, 0.5)
    assert table.places() == {"s2": 1, "s1": 0}
    shown = next(z for z in table.view("public").zones if z.id == "places").rows
    assert shown[0].text == "Place 1, 11.000 s raw, 5.500 s adjusted ± 0.5 ms"
    assert shown[1].text == "No place, 6.000 s ± 1.0 ms"
    seat_zone = next(z for z in table.view("public").zones if z.id == "seat-s2")
    assert any(r.label == "Agreed" and r.text == "time ÷ 2, start +0 ms" for r in seat_zone.rows)
    table.end().resolve()
    placed = next(r for r in table.rulings("TADA-18") if r.seat == "s2" and r.t_ms is not None)
    assert (placed.t_ms, placed.u_ms) == (5500.0, 0.5)


@rule("TABLE-7", "ok")
def test_nobody_is_too_late_while_their_own_time_still_runs() -> None:
    table = TadaTable(3)
    table.do(k.SetAccommodation(seat="s3", time_factor=3.0))
    table.to_cast()
    table.finish(1, 5000)
    table.pass_time(14_000)
    late = {seat for seat, caster in table.game.casters.items() if caster.is_ruled_out}
    assert late == {"s2"}
    table.no(c.EndCast(), "TADA-19")
    table.finish(3, 14_500)
    assert table.places() == {"s3": 1, "s1": 0}


def test_a_shared_clock_does_not_help_to_compare_times_that_were_divided() -> None:
    table = TadaTable(2)
    table.do(k.SetAccommodation(seat="s2", time_factor=2.0))
    table.to_cast()
    table.slam(2, 8000, 10, clock="box/1", own_ms=0.1)
    caster = table.game.casters["s2"]
    found = adjusted(table.sitting, caster, caster.slams[0])
    assert found == Stamp(at_ns=4000 * MS, u_ns=5 * MS, clock="", own_u_ns=50_000)


@rule("TABLE-7", "ok")
@pytest.mark.parametrize("shift_ms", [-2000, 1500])
def test_a_start_shift_gives_a_seat_its_own_go(shift_ms: int) -> None:
    table = TadaTable(2, countdown_s=3)
    table.do(k.SetAccommodation(seat="s2", start_shift_ms=shift_ms))
    table.to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    go = table.game.casters["s1"].go_ns
    assert go is not None
    assert table.game.casters["s2"].go_ns == go + shift_ms * MS
    assert min(go, go + shift_ms * MS) >= table.ns(4000), "the countdown lies before the first GO"
    cues = {cue.target: (cue.text, cue.at_ns) for cue in table.cues if cue.pattern == "go"}
    assert cues == {"s1": ("GO, Ann!", go), "s2": ("GO, Ben!", go + shift_ms * MS)}
    table.pass_time((go - table.zero_ns) / MS + 1500)
    table.zero_ns = go
    table.finish(1, 5000)
    table.finish(2, 5000 + shift_ms - 500)
    assert table.places() == {"s2": 1, "s1": 0}
    assert table.placings()["s2"].raw_ms == 4500


@rule("TABLE-7", "ok")
def test_a_proxy_is_named_to_all() -> None:
    table = TadaTable(2)
    table.do(k.SetAccommodation(seat="s1", proxy="Nora"))
    zone = next(z for z in table.view("public").zones if z.id == "seat-s1")
    assert zone.rows[-1].text == "time ÷ 1, start +0 ms, Nora slams"


@rule("TABLE-7", "breach")
@pytest.mark.parametrize(
    "agreed",
    [{"time_factor": 0.5}, {"time_factor": 11.0}, {"time_factor": float("nan")}, {"start_shift_ms": 60_001},
     {"proxy": "N" * 41}],
)  # fmt: skip
def test_accommodations_have_bounds(agreed: dict[str, float]) -> None:
    table = TadaTable(2)
    table.no(k.SetAccommodation(seat="s1", **agreed), "TABLE-7")
    assert table.sitting.seats[0].accommodation.time_factor == 1


@rule("TABLE-7", "breach")
def test_accommodations_are_agreed_before_the_first_draw() -> None:
    table = TadaTable(2)
    assert table.action("agree-s1") is not None
    table.do(c.Deal())
    assert table.action("agree-s1") is None
    table.no(k.SetAccommodation(seat="s1", time_factor=2.0), "TABLE-7")


# In turn


@rule("TADA-11", "house")
def test_where_they_cast_in_turn_each_has_a_go_and_the_best_time_wins() -> None:
    table = TadaTable(3, in_turn=True).to_ready()
    table.do(c.ReadyAll())
    for who, ms in ((2, 7000), (1, 6000), (3, 6500)):
        table.go(who)
        assert [k_.seat for k_ in table.game.casters.values() if k_.is_casting and k_.has_started] == [
            f"s{who}"
        ]
        later = [f"s{i}" for i in (1, 2, 3) if table.game.casters[f"s{i}"].go_ns is None]
        if later:
            table.no(c.CallGo(caster=later[0]), "TADA-11")
            table.no(c.EndCast(), "TADA-19")
        table.finish(who, ms)
    table.do(c.EndCast())
    assert table.places() == {"s1": 1, "s3": 0, "s2": 0}
    assert table.game.players == 3


@rule("TADA-11", "house")
def test_in_turn_a_turn_is_over_when_it_cannot_take_a_place_any_more() -> None:
    table = TadaTable(2, in_turn=True).to_ready()
    table.go(1)
    table.finish(1, 5000)
    table.go(2)
    table.pass_time(6000)
    assert table.game.casters["s2"].is_ruled_out
    table.do(c.EndCast())
    assert table.places() == {"s1": 1}


@rule("TADA-11", "house")
def test_in_turn_the_round_clock_ends_one_turn_and_not_the_cast() -> None:
    table = TadaTable(3, in_turn=True, round_clock_s=30).to_ready()
    table.go(1)
    table.pass_time(30_000)
    assert table.game.phase == "cast"
    assert table.game.casters["s1"].out == "TADA-19"
    assert table.last("TADA-19").because == "The round clock ran out for Ann: the next one casts."
    table.go(2)
    assert table.game.clock is not None
    table.finish(2, 5000)
    table.pass_time(45_000)
    assert table.game.phase == "cast", "Ben is done, and Cid's time has not begun"
    table.go(3)
    table.pass_time(30_000)
    assert table.game.phase == "resolve"
    assert table.places() == {"s2": 1}


@rule("TADA-11", "breach")
def test_in_turn_only_one_who_waits_gets_go() -> None:
    table = TadaTable(2, in_turn=True).to_ready()
    table.no(c.CallGo(caster="s1"), "TADA-11")
    table.go(1)
    table.finish(1, 5000)
    table.no(c.CallGo(caster="s1"), "TADA-11")
    table.no(c.Slam(seat="s1"), "TADA-18")
    table.slam(2, 6000)
    assert "before GO" in table.last("TADA-11").because


# The round clock


def test_the_round_clock_ends_the_cast_at_its_own_instant() -> None:
    table = TadaTable(2, round_clock_s=60).to_cast()
    [shown] = table.view("public").clocks
    assert (shown.left_ns, shown.ends_ns) == (60_000 * MS, table.ns(60_000))
    table.pass_time(59_999)
    assert table.game.phase == "cast"
    table.pass_time(90_000)
    assert table.game.phase == "resolve"
    assert table.game.ended_ns == table.ns(60_000)
    assert table.last("TADA-19").because == "The cast is over: the round clock ran out."
    assert table.cues[-1].pattern == "end"


def test_the_round_clock_is_extended_and_shortened() -> None:
    table = TadaTable(2, round_clock_s=60).to_cast()
    table.do(c.ExtendClock(by_s=30), 10_000)
    table.pass_time(89_000)
    assert table.game.phase == "cast"
    table.do(c.ExtendClock(by_s=-60), 89_000)
    table.pass_time(89_001)
    assert table.game.phase == "resolve"


@pytest.mark.parametrize("by_s", [0, 601, -601])
@rule("TADA-19", "breach")
def test_the_clock_is_changed_within_reason_and_only_if_it_runs(by_s: int) -> None:
    table = TadaTable(2, round_clock_s=60).to_cast()
    table.no(c.ExtendClock(by_s=by_s), "TADA-19")
    table.no(c.TimeUp(), "TADA-19", 59_000, CLOCK)
    other = TadaTable(2).to_cast()
    other.no(c.ExtendClock(by_s=30), "TADA-19")
    assert other.action("extend") is None


def test_the_longest_agreed_time_lengthens_the_round_clock() -> None:
    table = TadaTable(2, round_clock_s=60)
    table.do(k.SetAccommodation(seat="s2", time_factor=1.5))
    table.to_cast()
    table.pass_time(89_999)
    assert table.game.phase == "cast"
    table.pass_time(90_000)
    assert table.game.phase == "resolve"


def test_a_timer_never_shows_less_than_nothing_or_more_than_its_length() -> None:
    timer = Timer(from_play_ns=100, length_ns=50)
    assert [timer.left_ns(at) for at in (0, 100, 120, 150, 900)] == [50, 50, 30, 0, 0]
    assert timer.extended(-80).left_ns(100) == 0
    assert timer.extended(10).ends_play_ns == 160


# Stop and resume


@rule("TABLE-2", "ok")
def test_in_the_countdown_go_waits_as_long_as_the_table_stands() -> None:
    table = TadaTable(2, countdown_s=3).to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    table.do(k.Stop(why="glass broke"), 2000, table.by(1))
    table.pass_time(60_000)
    assert table.game.phase == "countdown"
    assert table.view().held == "The table is stopped. glass broke"
    table.cues.clear()
    table.do(k.Resume(), 62_000)
    assert [(cue.pattern, cue.at_ns) for cue in table.cues] == [("go", table.ns(64_000))]
    table.pass_time(63_999)
    assert table.game.phase == "countdown"
    table.pass_time(64_000)
    assert table.game.phase == "cast"


@rule("TABLE-2", "ok")
def test_in_the_cast_play_time_stands_still() -> None:
    table = TadaTable(2, round_clock_s=60).to_cast()
    table.do(k.Stop(), 10_000)
    [standing] = table.view().clocks
    assert (standing.left_ns, standing.ends_ns) == (50_000 * MS, None)
    table.pass_time(500_000)
    assert table.game.phase == "cast"
    table.do(k.Resume(), 510_000)
    [running] = table.view().clocks
    assert (running.left_ns, running.ends_ns) == (50_000 * MS, table.ns(560_000))
    table.finish(1, 515_000)
    assert table.placings()["s1"].raw_ms == 15_000
    table.pass_time(515_500)
    assert table.game.casters["s2"].is_ruled_out


@rule("TABLE-2", "breach")
def test_while_stopped_nothing_is_cast_and_only_what_is_offered_is_taken() -> None:
    table = TadaTable(2).to_cast()
    symbol = table.symbols(1)[0]
    table.do(k.Stop())
    for command in (
        c.LockDie(seat="s1", slot=0, symbol=symbol),
        c.Slam(seat="s1"),
        c.EndCast(),
        c.VoidRound(),
    ):
        table.no(command, "TABLE-2")
    assert table.view().primary is not None
    assert isinstance(table.view().primary.command, k.Resume)
    assert table.view(1).primary is None
    assert all(action.command.while_stopped for action in table.view().actions)


@rule("TABLE-2", "ok")
def test_after_a_restart_the_clocks_stand_until_somebody_resumes() -> None:
    table = TadaTable(2, round_clock_s=60).to_cast()
    table.do(k.Start(boot="b2", wall_ms=0), 20_000, CLOCK)
    table.pass_time(900_000)
    assert table.game.phase == "cast"
    table.do(k.Resume(), 900_000)
    table.pass_time(939_999)
    assert table.game.phase == "cast"
    table.pass_time(940_000)
    assert table.game.phase == "resolve"


def test_deadlines_are_only_those_that_would_be_taken() -> None:
    table = TadaTable(3, round_clock_s=60)
    table.do(k.SetAccommodation(seat="s3", start_shift_ms=20_000))
    table.to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    table.pass_time(4000)
    table.zero_ns = table.ns(4000)
    table.do(c.EnterOrder(order=(("s1",),)), 5000)
    assert GAME.deadlines(table.sitting) == (), "no GO comes for Cid when the cast is over"


@rule("TADA-14", "ok")
def test_a_slam_from_before_a_stop_that_is_heard_after_it_has_its_own_time() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    table.do(k.Stop(), 8000)
    table.do(k.Resume(), 60_000)
    table.slam(1, 7000, heard_ms=61_000, call=False)
    table.verify(1)
    assert table.placings()["s1"].raw_ms == 7000
