"""GO, rolls, locks and the slam: what counts, what is put right, what is a claim."""

from __future__ import annotations

import pytest
from tada_table import PAD, TadaTable

from companion.core import command as k
from companion.core.clock import MS, Stamp
from companion.core.ruling import Verdict
from companion.games.tada import commands as c
from companion.games.tada import events as e

rule = pytest.mark.rule


# GO


@rule("TADA-11", "ok")
def test_go_is_one_for_all_when_everyone_is_ready() -> None:
    table = TadaTable(3, countdown_s=3).to_ready()
    for who in (1, 2, 3):
        table.do(c.Ready(seat=f"s{who}"), actor=table.by(who))
    table.do(c.CallGo(), 1000)
    assert {caster.go_ns for caster in table.game.casters.values()} == {table.ns(4000)}
    assert table.game.phase == "countdown"
    table.pass_time(3999)
    assert table.game.phase == "countdown"
    table.pass_time(4000)
    assert table.game.phase == "cast"
    assert all(caster.has_started for caster in table.game.casters.values())
    go = [cue for cue in table.cues if cue.pattern == "go"]
    assert [(cue.target, cue.at_ns, cue.text) for cue in go] == [("all", table.ns(4000), "GO!")]
    assert "all dice are in the cups" in table.last("TADA-11").because


@rule("TADA-11", "breach")
def test_no_go_before_everyone_is_ready() -> None:
    table = TadaTable(3).to_ready()
    table.do(c.Ready(seat="s1"))
    table.do(c.Ready(seat="s3"))
    assert table.no(c.CallGo(), "TADA-11").because == "GO comes when everyone is ready; not yet: Ben."
    table.no(c.Ready(seat="s1"), "TADA-11")
    table.no(c.CallGo(caster="s1"), "TADA-11")


@rule("TADA-11", "breach")
def test_a_roll_or_lock_before_go_does_not_count_and_is_done_again() -> None:
    table = TadaTable(2)
    table.do(k.SetAccommodation(seat="s2", start_shift_ms=5000))  # Ben's GO comes later than Ann's
    table.to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    table.pass_time(4500)
    symbol = table.symbols(2)[0]
    table.no(c.RecordRoll(seat="s2", symbols=("arrow",)), "TADA-11")
    table.no(c.LockDie(seat="s2", slot=0, symbol=symbol), "TADA-11")
    table.lock(1, 0)
    table.pass_time(9000)
    table.do(c.LockDie(seat="s2", slot=0, symbol=symbol))


@rule("TADA-11", "breach")
def test_a_slam_before_go_is_a_false_start_and_nothing_else_follows() -> None:
    table = TadaTable(3).to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    table.slam(2, 3900)
    assert table.last("TADA-11").because == "Ben slammed before GO: it does not count."
    assert table.last("TADA-11").verdict is Verdict.BREACH
    assert [cue.pattern for cue in table.cues][-1] == "false_start"
    assert table.game.casters["s2"].slams == ()
    assert table.game.casters["s2"].is_casting
    table.pass_time(4000)
    table.finish(2, 9000)
    assert table.places() == {"s2": 1}


@rule("TADA-11", "breach")
def test_a_slam_before_go_is_a_false_start_also_when_it_is_heard_after_go() -> None:
    table = TadaTable(3).to_cast()
    table.slam(2, -20, heard_ms=30)
    assert "before GO" in table.last("TADA-11").because
    table.slam(2, 4000)
    assert table.game.casters["s2"].pending is not None


@rule("TADA-11", "breach")
def test_a_slam_before_go_that_is_heard_after_the_end_is_no_protest() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 5000)
    table.end()
    table.slam(2, -20, heard_ms=8000)
    assert "before GO" in table.last("TADA-11").because
    assert not table.game.protests


@rule("TADA-11", "breach")
def test_a_pad_that_knows_itself_that_it_was_early_is_believed() -> None:
    table = TadaTable(2).to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    table.see(table.press(1, 3999.9, early=True))
    assert "before GO" in table.last("TADA-11").because


@rule("TADA-11", "house")
def test_where_nobody_counts_down_go_comes_at_the_click() -> None:
    table = TadaTable(2, countdown_s=0).to_ready()
    table.do(c.ReadyAll())
    table.do(c.CallGo(), 1000)
    table.pass_time(1000)
    assert table.game.phase == "cast"
    assert table.game.casters["s1"].go_ns == table.ns(1000)


# Rolls and locks


@rule("TADA-12", "ok")
def test_one_die_is_locked_after_each_roll_onto_a_free_matching_symbol() -> None:
    table = TadaTable(2).to_cast()
    for slot, symbol in enumerate(table.symbols(1)):
        table.do(c.RecordRoll(seat="s1", symbols=(symbol,) * (6 - slot)), actor=PAD)
        table.do(c.LockDie(seat="s1", slot=slot, symbol=symbol), actor=PAD)
    assert table.game.casters["s1"].is_complete
    assert all(r.verdict is Verdict.OK for r in table.rulings("TADA-12"))


@rule("TADA-12", "ok")
def test_locking_is_optional_and_slots_are_free_in_order() -> None:
    table = TadaTable(2).to_cast()
    for _ in range(3):
        table.do(c.RecordRoll(seat="s1", symbols=("arrow",) * 6))
    last = len(table.symbols(1)) - 1
    table.lock(1, last)
    table.lock(1, 0)
    assert table.game.casters["s1"].locked == 2


@rule("TADA-12", "breach")
def test_a_second_die_after_one_roll_goes_back() -> None:
    table = TadaTable(2).to_cast()
    table.do(c.RecordRoll(seat="s1", symbols=("arrow",) * 6))
    table.lock(1, 0)
    second = c.LockDie(seat="s1", slot=1, symbol=table.symbols(1)[1])
    assert "goes back in the cup" in table.no(second, "TADA-12", actor=table.by(1)).because
    assert table.game.casters["s1"].locked == 1
    table.do(c.RecordRoll(seat="s1", symbols=("arrow",) * 5))
    table.do(second)


@rule("TADA-12", "ok")
def test_rolls_that_nobody_saw_do_not_make_later_locks_wrong() -> None:
    table = TadaTable(2).to_cast()
    table.lock(1, 0)
    table.lock(1, 1)
    table.do(c.RecordRoll(seat="s1", symbols=("arrow",) * 4), actor=PAD)
    table.lock(1, 2)
    assert table.game.casters["s1"].locked == 3


@rule("TADA-12", "breach")
@pytest.mark.parametrize("wrong", ["symbol", "taken", "no such slot", "negative slot"])
def test_a_wrong_lock_goes_back(wrong: str) -> None:
    table = TadaTable(2).to_cast()
    wanted = table.symbols(1)
    other = next(s for s in ("arrow", "burst", "spiral", "wand") if s != wanted[0])
    table.lock(1, 1)
    slot, symbol = {
        "symbol": (0, other), "taken": (1, wanted[1]), "no such slot": (9, wanted[0]),
        "negative slot": (-1, wanted[0]),
    }[wrong]  # fmt: skip
    table.no(c.LockDie(seat="s1", slot=slot, symbol=symbol), "TADA-12", actor=PAD)
    assert table.game.casters["s1"].locked == 1
    assert not table.game.casters["s1"].out, "it costs nothing"


@rule("TADA-12", "ok")
def test_a_die_that_should_not_lie_there_goes_back_without_penalty() -> None:
    table = TadaTable(2).to_cast()
    table.lock(1, 0)
    table.do(c.ReturnDie(seat="s1", slot=0))
    assert table.game.casters["s1"].locks[0] is None
    assert "goes back in the cup" in table.last("TADA-12").because
    table.no(c.ReturnDie(seat="s1", slot=0), "TADA-12")
    table.finish(1, 5000)
    assert table.places() == {"s1": 1}


@rule("TADA-12", "breach")
@pytest.mark.parametrize("symbols", [("arrow",) * 7, ("arrow", "crown")])
def test_a_roll_throws_the_unlocked_dice_of_the_game(symbols: tuple[str, ...]) -> None:
    table = TadaTable(2).to_cast()
    table.no(c.RecordRoll(seat="s1", symbols=symbols), "TADA-12")
    table.lock(1, 0)
    table.no(c.RecordRoll(seat="s1", symbols=("arrow",) * 6), "TADA-12")


@rule("TADA-12", "ok")
def test_a_roll_that_nobody_read_counts_as_one() -> None:
    table = TadaTable(2).to_cast()
    assert table.answer(1, "last_roll") == "No roll was seen."
    table.do(c.RecordRoll(seat="s1", symbols=("wand", "arrow")))
    assert table.answer(1, "last_roll") == "Roll 1: wand, arrow."
    table.do(c.RecordRoll(seat="s1", symbols=()))
    assert table.game.casters["s1"].rolls == 2
    assert table.last("TADA-12").because == "Ann rolls."
    assert table.answer(1, "last_roll") == "Roll 2 was not read."


@rule("TADA-12", "breach")
def test_a_wrong_lock_that_is_seen_before_the_slam_fails_nobody() -> None:
    table = TadaTable(2).to_cast()
    table.no(c.FlagBreach(seat="s1", of="lock"), "TADA-12")
    assert "lock" not in {choice.value for choice in table.action("breach-s1").fields[0].choices}


@rule("TADA-23", "ok")
def test_dice_knocked_by_accident_go_back_as_last_seen() -> None:
    table = TadaTable(2).to_cast()
    table.lock(1, 0)
    table.lock(1, 1)
    before = table.game.casters["s1"].locks
    table.see(table.rest(2000))  # the card is swept empty: nothing that was locked is unlocked by that
    assert table.game.casters["s1"].locks == before
    table.no(c.LockDie(seat="s1", slot=0, symbol=table.symbols(1)[0]), "TADA-12")


# The slam


@rule("TADA-14", "ok")
def test_all_symbols_the_call_and_the_slam_finish_a_spell() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    table.do(c.CallTaDa(seat="s1"), 7000)
    table.slam(1, 7010, call=False)
    table.verify(1)
    assert [r.because for r in table.rulings("TADA-14")] == [
        "Ann calls TA-DA!",
        "Ann slams and claims the spell.",
    ]
    assert table.places() == {"s1": 1}
    assert table.placings()["s1"].raw_ms == 7010


@rule("TADA-14", "ok")
def test_a_complete_slam_without_the_call_counts() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    table.slam(1, 7000, call=False)
    assert table.game.casters["s1"].pending is not None
    table.verify(1)
    assert table.places() == {"s1": 1}


@rule("TADA-14", "breach")
def test_a_call_without_a_slam_does_not_count() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    table.do(c.CallTaDa(seat="s1"), 7000)
    assert table.places() == {}
    table.no(c.EndCast(), "TADA-19", 9000)
    assert table.no(c.CallTaDa(seat="s1"), "TADA-14", 7500).because == "That call is noted already."


@rule("TADA-14", "ok")
def test_a_call_may_be_made_again_later_however_quiet_it_was_in_between() -> None:
    table = TadaTable(2).to_cast()
    table.do(c.CallTaDa(seat="s1"), 3000)
    table.do(c.CallTaDa(seat="s1"), 9000)
    assert len(table.rulings("TADA-14")) == 2


@rule("TADA-14", "breach")
def test_who_gave_up_cannot_call() -> None:
    table = TadaTable(2).to_cast()
    table.do(c.GiveUp(seat="s1"))
    table.no(c.CallTaDa(seat="s1"), "TADA-14")


@rule("TADA-14", "house")
@pytest.mark.parametrize("call_required", [True, False])
def test_the_house_may_ask_for_the_call(call_required: bool) -> None:
    table = TadaTable(2, call_required=call_required).to_cast()
    table.lock_all(1)
    number = table.slam(1, 7000, call=False)
    verify = c.VerifySlam(seat="s1", slam=number, complete=True)
    if not call_required:
        table.do(verify)
        return
    table.no(verify, "TADA-14")
    main = table.view().primary
    assert main is not None
    assert isinstance(main.command, c.CallTaDa), "the page never offers what is refused"
    table.do(main.command, 9000)  # the referee had heard it
    table.do(verify)
    assert table.places() == {"s1": 1}


@rule("TADA-14", "house")
def test_a_call_for_a_void_slam_is_no_call_for_the_next() -> None:
    table = TadaTable(2, call_required=True, void_slam="may_go_on").to_cast()
    table.slam(1, 3000)
    table.verify(1, complete=False)
    table.lock_all(1)
    number = table.slam(1, 20_000, call=False)
    table.no(c.VerifySlam(seat="s1", slam=number, complete=True), "TADA-14")


@rule("TADA-15", "ok")
def test_a_pad_that_is_only_bumped_costs_nothing() -> None:
    table = TadaTable(2).to_cast()
    table.lock(1, 0)
    table.slam(1, 3000, call=False)
    table.slam(1, 3500, call=False)
    assert table.game.casters["s1"].is_casting
    assert "a bump, unless the dice or the call show a claim" in table.last("TADA-15").because
    assert "slam" not in [cue.pattern for cue in table.cues]
    table.finish(1, 9000)
    assert table.placings()["s1"].raw_ms == 9000


@rule("TADA-15", "ok")
def test_a_call_right_after_a_bump_makes_a_claim_of_the_newest_one() -> None:
    table = TadaTable(2).to_cast()
    table.slam(1, 3000, call=False)
    table.slam(1, 8000, call=False)
    table.do(c.CallTaDa(seat="s1"), 8400)
    pending = table.game.casters["s1"].pending
    assert pending is not None
    assert pending.play_ns == table.ns(8000)
    table.verify(1)
    assert table.placings()["s1"].raw_ms == 8000


@rule("TADA-15", "ok")
@pytest.mark.parametrize("order", ["bump call slam", "bump slam call"])
def test_the_call_belongs_to_the_slam_that_is_nearest_to_it(order: str) -> None:
    table = TadaTable(2).to_cast()
    table.slam(1, 2900, call=False)
    if order == "bump call slam":
        table.do(c.CallTaDa(seat="s1"), 6300)
    table.slam(1, 6360, call=False)
    if order == "bump slam call":
        table.do(c.CallTaDa(seat="s1"), 6500)
    assert [slam.is_claim for slam in table.game.casters["s1"].slams] == [False, True]
    pending = table.game.casters["s1"].pending
    assert pending is not None
    assert pending.play_ns == table.ns(6360)
    table.slam(1, 6390, call=False)  # the pad bounces
    yes = [a for a in table.view().actions if a.id.startswith("verify-s1") and a.id.endswith("yes")]
    assert [a.effect[:22] for a in yes] == ["The slam 6.4 s after G", "The slam 2.9 s after G"], (
        "the claim first"
    )
    assert [a.label for a in yes] == ["Ann: complete, slam at 6.4 s", "Ann: complete, slam at 2.9 s"]
    table.do(yes[0].command)
    assert table.placings()["s1"].raw_ms == 6360


@rule("TADA-15", "ok")
def test_of_a_pad_that_bounces_the_first_hit_is_the_slam() -> None:
    table = TadaTable(2).to_cast()
    for ms in (2000, 6000, 6040, 6075):
        table.slam(1, ms, call=False)
    table.do(c.CallTaDa(seat="s1"), 6300)
    pending = table.game.casters["s1"].pending
    assert pending is not None
    assert pending.play_ns == table.ns(6000)


@rule("TADA-15", "ok")
def test_a_bump_long_before_the_call_stays_a_bump() -> None:
    table = TadaTable(2).to_cast()
    table.slam(1, 3000, call=False)
    table.do(c.CallTaDa(seat="s1"), 8100)
    assert table.game.casters["s1"].pending is None


@rule("TADA-15", "ok")
def test_the_referee_may_find_that_a_bump_was_a_complete_slam() -> None:
    table = TadaTable(2).to_cast()
    number = table.slam(1, 8000, call=False)
    assert table.action(f"verify-s1-{number}-yes") is not None
    table.verify(1)
    assert table.placings()["s1"].raw_ms == 8000


@rule("TADA-15", "house")
def test_a_void_claim_fails_the_spell() -> None:
    table = TadaTable(2, void_slam="fails").to_cast()
    number = table.slam(1, 3000)
    table.do(c.VerifySlam(seat="s1", slam=number, complete=False, symbols=("arrow", "none")))
    assert table.game.casters["s1"].out == "TADA-15"
    because = table.last("TADA-15").because
    assert "It lies: arrow, none." in because
    assert because.endswith("The slam is void and the seat is out of the round.")
    table.no(c.Slam(seat="s1"), "TADA-15", 4000)


@rule("TADA-15", "house")
def test_after_a_void_claim_a_caster_may_go_on_where_the_house_allows() -> None:
    table = TadaTable(2, void_slam="may_go_on").to_cast()
    table.slam(1, 3000)
    table.verify(1, complete=False)
    assert table.last("TADA-15").because.endswith("The slam is void and the seat may go on.")
    table.finish(1, 9000)
    assert table.placings()["s1"].raw_ms == 9000


@rule("TADA-15", "breach")
def test_a_slam_is_verified_once_and_only_if_there_is_one() -> None:
    table = TadaTable(2).to_cast()
    number = table.slam(1, 3000)
    table.no(c.VerifySlam(seat="s1", slam=number + 90, complete=True), "TADA-15")
    table.no(c.VerifySlam(seat="s2", slam=number, complete=True), "TADA-15")
    table.verify(1)
    table.no(c.VerifySlam(seat="s1", slam=number, complete=True), "TADA-15")


def test_a_misclick_at_the_verification_is_put_right() -> None:
    table = TadaTable(2).to_cast()
    number = table.slam(1, 3000)
    table.verify(1, complete=False)
    assert table.game.casters["s1"].out
    table.do(c.VerifySlam(seat="s1", slam=number, complete=True))
    assert table.places() == {"s1": 1}
    table.do(k.Undo())
    table.do(k.Undo())
    assert table.game.casters["s1"].pending is not None


@rule("TADA-16", "ok")
def test_a_slam_after_fewer_rolls_than_symbols_is_flagged_and_looked_at() -> None:
    table = TadaTable(2).to_cast()
    table.do(c.RecordRoll(seat="s1", symbols=("arrow",) * 6), actor=PAD)
    table.slam(1, 3000)
    flagged = table.last("TADA-16")
    assert flagged.verdict is Verdict.TOO_CLOSE, "a roll may have been missed: a person looks"
    assert "1 roll was seen: impossible unless one was missed" in flagged.because
    assert table.game.casters["s1"].pending is not None


@rule("TADA-16", "ok")
def test_where_rolls_are_not_seen_nothing_is_flagged() -> None:
    table = TadaTable(2).to_cast()
    table.slam(1, 3000)
    assert table.rulings("TADA-16") == []


@rule("TADA-18", "breach")
def test_a_second_slam_changes_nothing() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    stamp = Stamp(at_ns=table.ns(5020), u_ns=MS)
    assert "the first one counts" in table.no(c.Slam(seat="s1", stamp=stamp), "TADA-18", 5020, PAD).because
    assert table.placings()["s1"].raw_ms == 5000


@rule("TADA-18", "ok")
def test_an_earlier_slam_that_is_heard_later_counts_from_its_own_stamp() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    table.slam(1, 4700, heard_ms=5200, call=False)
    table.verify(1)
    assert table.placings()["s1"].raw_ms == 4700


def test_the_page_of_a_seat_cannot_choose_its_own_instant() -> None:
    table = TadaTable(2, pads=False).to_cast()
    forged = Stamp(at_ns=table.ns(1), u_ns=1)
    facts = table.do(c.Slam(seat="s1", stamp=forged), 8000, table.by(1))
    assert isinstance(facts[0], e.Slammed)
    assert facts[0].stamp == Stamp(at_ns=table.ns(8000), u_ns=150 * MS)


@pytest.mark.parametrize("locks", ["camera", "click", "untracked"])
def test_where_locks_are_not_tracked_every_slam_is_a_claim(locks: str) -> None:
    table = TadaTable(2, locks=locks).to_cast()
    table.slam(1, 5000, call=False)
    assert (table.game.casters["s1"].pending is not None) == (locks == "untracked")
