"""The journal put right in the middle of a round: undo, void, replace, insert, and what loses its effect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tada_table import TadaTable

from companion.core import command as k
from companion.core import game as core
from companion.core import history
from companion.core.clock import MS, Stamp
from companion.core.observation import DieSeen
from companion.games.tada import GAME
from companion.games.tada import commands as c

rule = pytest.mark.rule


def number_of(table: TadaTable, kind: type, seat: str = "") -> int:
    """The newest entry with such a command."""
    return next(
        entry.n
        for entry in reversed(table.entries)
        if isinstance(entry.command, kind) and seat in ("", getattr(entry.command, "seat", ""))
    )


@rule("TABLE-10", "ok")
def test_undo_takes_back_step_after_step_and_passes_over_what_was_never_played() -> None:
    table = TadaTable(2).deal_to_choice()
    states = [table.game]
    for seat in ("s1", "s2"):
        table.do(c.ChooseSpell(seat=seat, spell=table.game.hands[seat][0]))
        states.append(table.game)
    table.no(c.CallGo(), "TADA-5")
    table.do(k.OpenReview())
    for state in reversed(states[:-1]):
        table.do(k.Undo())
        assert table.game == state
    assert table.sitting.held is not None, "the review is no part of what was played"


@rule("TABLE-10", "ok")
def test_undo_right_after_go_goes_back_to_before_the_call_for_it() -> None:
    table = TadaTable(2).to_cast()
    table.do(k.Undo())
    assert table.game.phase == "ready"
    assert all(caster.is_ready and caster.go_ns is None for caster in table.game.casters.values())
    table.go().finish(1, 5000)
    assert table.placings()["s1"].raw_ms == 5000


@rule("TABLE-10", "ok")
def test_a_round_that_was_scored_too_soon_is_unscored_struck_and_scored_again() -> None:
    table = TadaTable(3).score(s1=5).to_cast()
    table.finish(1, 5000)
    table.finish(2, 6000)
    table.end().resolve()
    assert table.game.winners == ("s1",)
    table.do(k.Undo(why="Ann broke the feat"))
    assert (table.game.phase, table.game.winners) == ("resolve", ())
    table.do(c.FlagBreach(seat="s1"))
    table.resolve()
    assert table.game.winners == ()
    assert [len(table.game.scored[s]) for s in ("s1", "s2")] == [5, 1]


@rule("TABLE-10", "ok")
def test_a_void_undo_brings_back_what_it_took_away() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    before = table.game
    table.do(k.Undo())
    undo = table.entries[-1].n
    assert table.game != before
    assert table.correct(lambda orphans: k.Void(entry=undo, why="it was right", orphans=orphans)) == ()
    assert table.game == before


@rule("TABLE-10", "ok")
def test_a_slam_that_did_not_happen_takes_its_verification_along() -> None:
    table = TadaTable(3).to_cast()
    number = table.slam(1, 5000)
    table.verify(1)
    verified = table.entries[-1].n
    table.finish(2, 6000)
    table.end()
    assert table.places() == {"s1": 1, "s2": 0}
    lost = table.correct(lambda orphans: k.Void(entry=number, why="it was the cat", orphans=orphans))
    assert verified in lost
    assert table.places() == {"s2": 1}


@rule("TABLE-10", "breach")
def test_a_correction_that_hides_its_orphans_is_refused_with_the_right_list() -> None:
    table = TadaTable(3).to_cast()
    number = table.slam(1, 5000)
    table.verify(1)
    refused = table.no(k.Void(entry=number, why="?"), "TABLE-10")
    assert f": {table.orphans(k.Void(entry=number, why='?'))[0]}." in refused.because
    table.no(k.Void(entry=number, why="?", orphans=(number + 1, 2)), "TABLE-10")


@rule("TABLE-10", "ok")
def test_a_slam_is_replaced_by_one_at_another_instant() -> None:
    table = TadaTable(3).to_cast()
    number = table.slam(1, 5000)
    table.verify(1)
    table.finish(2, 5500)
    assert table.places() == {"s1": 1, "s2": 0}
    new = c.Slam(seat="s1", stamp=Stamp(at_ns=table.ns(5800), u_ns=MS))
    table.correct(lambda orphans: k.Replace(entry=number, command=new, why="clock drift", orphans=orphans))
    assert table.places() == {"s2": 1, "s1": 0}, "the same verification still stands"


@rule("TABLE-10", "ok")
def test_a_misclick_on_another_seat_is_replaced() -> None:
    table = TadaTable(3, pads=False).to_cast()
    table.do(c.Slam(seat="s1"), 5000)
    number = table.entries[-1].n
    new = c.Slam(seat="s2")
    table.correct(lambda orphans: k.Replace(entry=number, command=new, why="wrong button", orphans=orphans))
    assert table.game.casters["s1"].slams == ()
    table.verify(2)
    assert table.placings()["s2"].raw_ms == 5000, "at the same instant"


@rule("TABLE-10", "ok")
def test_a_slam_that_nobody_noted_is_put_in_before_the_end() -> None:
    table = TadaTable(2, round_clock_s=30).to_cast()
    table.pass_time(31_000)
    end = number_of(table, c.TimeUp)
    missed = c.Slam(seat="s2", stamp=Stamp(at_ns=table.ns(20_000), u_ns=5 * MS))
    table.correct(
        lambda orphans: k.Insert(before=end, command=c.CallTaDa(seat="s2"), why="v", orphans=orphans)
    )
    table.correct(lambda orphans: k.Insert(before=end, command=missed, why="video", orphans=orphans))
    assert table.game.phase == "resolve"
    table.verify(2)
    assert table.places() == {"s2": 1}
    assert table.placings()["s2"].raw_ms == 20_000


@rule("TABLE-10", "ok")
def test_a_slam_from_before_a_stop_is_put_in_where_it_belongs() -> None:
    table = TadaTable(2).to_cast()
    table.do(k.Stop(), 6000)
    stop = table.entries[-1].n
    slam = c.Slam(seat="s2", stamp=Stamp(at_ns=table.ns(5900), u_ns=5 * MS))
    table.no(slam, "TABLE-2")
    table.correct(lambda orphans: k.Insert(before=stop, command=slam, why="the pad had it", orphans=orphans))
    table.do(k.Resume(), 60_000)
    table.verify(2)
    assert table.placings()["s2"].raw_ms == 5900


@rule("TABLE-10", "ok")
def test_a_breach_found_wrong_in_mid_round_is_voided_and_later_slams_of_the_others_stay() -> None:
    table = TadaTable(4).to_cast()
    table.do(c.FlagBreach(seat="s1"), 1000)
    wrong = table.entries[-1].n
    table.finish(2, 5000)
    assert table.correct(lambda orphans: k.Void(entry=wrong, why="it was Dot", orphans=orphans)) == ()
    table.do(c.FlagBreach(seat="s4"))
    table.finish(1, 5500)
    table.finish(3, 6000)
    assert table.places() == {"s2": 1, "s1": 2, "s3": 0}


@rule("TABLE-10", "ok")
def test_a_correction_of_a_past_round_keeps_what_still_is_legal() -> None:
    table = TadaTable(2).round_won_by(1)
    order = number_of(table, c.EnterOrder)
    table.round_won_by(2)
    new = c.EnterOrder(order=(("s2",),), why="read the wrong name")
    table.correct(lambda orphans: k.Replace(entry=order, command=new, why="misread", orphans=orphans))
    assert [len(table.game.scored[s]) for s in ("s1", "s2")] == [0, 2]


@rule("TABLE-10", "breach")
@pytest.mark.parametrize(
    "command",
    [k.Void(entry=1, why="x"), k.Void(entry=999, why="x"), k.Replace(entry=1, command=c.Deal(), why="x"),
     k.Insert(before=999, command=c.Deal(), why="x"), k.Insert(before=3, command=k.Undo(), why="x")],
)  # fmt: skip
def test_what_cannot_be_corrected_is_refused(command: Any) -> None:
    table = TadaTable(2).deal_to_choice()
    table.no(command, "TABLE-10")


@rule("TABLE-1", "breach")
def test_only_the_referee_corrects() -> None:
    table = TadaTable(2).deal_to_choice()
    table.no(k.Undo(), "TABLE-1", actor=table.by(1))


def test_what_is_put_in_must_be_legal_there() -> None:
    table = TadaTable(2).to_cast()
    table.no(k.Insert(before=3, command=c.Slam(seat="s1"), why="x"), "TADA-5")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), steps=st.integers(3, 60), back=st.integers(1, 12))
def test_any_number_of_undos_gives_the_table_as_it_was(seed: int, steps: int, back: int) -> None:
    table = TadaTable(3, seed=seed)
    for salt in range(steps):
        command = GAME.policy(table.sitting, salt)
        table.order(command or c.Deal(), table.now_ms + 700)
    played = [
        entry.n
        for entry in table.entries[1:]
        if any(not event.is_bookkeeping for event in entry.events) and not core.is_refused(entry.events)
    ]
    back = min(back, len(played))
    for _ in range(back):
        table.do(k.Undo())
    gone = set(played[len(played) - back :])
    other = history.opening(GAME, table.entries[0])
    for entry in table.entries[1:]:
        if entry.n in gone or entry.command is None or entry.command.is_correction:
            continue
        if not core.is_refused(core.decide(GAME, other, history.order_of(entry, entry.command))):
            other = history.apply(GAME, other, entry)
    assert table.game.phase == other.game.phase
    assert table.game.hands == other.game.hands
    assert table.game.scored == other.game.scored
    assert {s: x.locks for s, x in table.game.casters.items()} == {
        s: x.locks for s, x in other.game.casters.items()
    }


# Dice that the camera read wrongly


def seen_on_card(table: TadaTable, slot: int, symbol: str | None) -> DieSeen:
    return DieSeen(
        kind="tada", value=symbol, box_px=(0, 0, 9, 9), confidence=0.9, reason=None if symbol else "margin",
        owner="red", on=("s1", str(slot)),
    )  # fmt: skip


def other_symbol(symbol: str) -> str:
    return next(s for s in ("arrow", "burst", "spiral", "wand") if s != symbol)


@rule("TABLE-13", "ok")
@pytest.mark.parametrize("was", ["unread", "wrong"])
def test_a_die_that_is_right_after_all_is_locked_by_its_correction_and_undo_takes_both_back(was: str) -> None:
    table = TadaTable(2).to_cast()
    wanted = table.symbols(1)[0]
    die = seen_on_card(table, 0, None if was == "unread" else other_symbol(wanted))
    table.do(k.CorrectDie(source="cam", frame=7, die=die, value=wanted))
    assert [type(event).__name__ for event in table.entries[-1].events] == ["DieCorrected", "DieLocked"]
    assert table.game.casters["s1"].locks[0] == wanted
    table.do(k.Undo())
    assert table.game.casters["s1"].locks[0] is None
    assert not any(
        type(e).__name__ == "DieCorrected" for entry in history.corrected(table.entries) for e in entry.events
    )


@rule("TABLE-13", "ok")
def test_a_lock_that_was_read_wrongly_goes_back_by_the_correction() -> None:
    table = TadaTable(2).to_cast()
    wanted = table.symbols(1)[1]
    table.do(c.LockDie(seat="s1", slot=1, symbol=wanted))
    table.do(
        k.CorrectDie(source="cam", frame=9, die=seen_on_card(table, 1, wanted), value=other_symbol(wanted))
    )
    assert table.game.casters["s1"].locks[1] is None


def test_a_loose_die_is_corrected_without_the_game_caring() -> None:
    table = TadaTable(2).to_cast()
    loose = DieSeen(kind="tada", value="arrow", box_px=(0, 0, 9, 9), confidence=0.9, owner="red")
    table.do(k.CorrectDie(source="cam", frame=9, die=loose, value="wand"))
    assert [type(event).__name__ for event in table.entries[-1].events] == ["DieCorrected"]


@rule("TABLE-13", "breach")
@pytest.mark.parametrize("value", ["arrow", "x" * 41, "a\nb"])
def test_what_is_no_correction_is_refused(value: str) -> None:
    table = TadaTable(2).to_cast()
    die = DieSeen(kind="tada", value="arrow", box_px=(0, 0, 9, 9), confidence=0.9, owner="red")
    table.no(k.CorrectDie(source="cam", frame=9, die=die, value=value), "TABLE-13")
