"""The single writer: order, deadlines, repeats, refusals, corrections, trouble."""

from __future__ import annotations

import logging
from typing import NoReturn

import counting as k
import msgspec
import pytest
from virtual import MS, REFEREE, Virtual, names, press

from companion.core import command as c
from companion.core import event as e
from companion.core import history
from companion.core.observation import CameraChanged
from companion.core.seat import Actor, Role

ANN = Actor(Role.SEAT, "s1")
BEN = Actor(Role.SEAT, "s2")


def with_window(at_ms: float = 1000) -> Virtual:
    """A table whose window opened at 1 s and closes at 6 s."""
    v = Virtual()
    v.now_ns = round(at_ms * MS)
    assert v.give(k.OpenWindow()).is_accepted
    return v


def test_an_order_is_decided_journalled_and_answered() -> None:
    v = Virtual()
    answer = v.give(k.Add(seat="s1", number=3))
    assert (answer.is_accepted, answer.entry, answer.version) == (True, 4, 4)
    assert v.sitting.game.total == 3
    assert v.codec.entry(v.log.payloads[-1]) == v.table.entries[-1]


def test_a_refusal_is_journalled_with_its_ruling() -> None:
    v = Virtual()
    answer = v.give(k.Take(number=5), REFEREE)
    assert not answer.is_accepted
    assert answer.ruling is not None and answer.ruling.rule == "COUNT-2"
    assert names(v.table.entries[-1:]) == ["Refused"]
    assert v.sitting.rulings[-1].ruling == answer.ruling


def test_all_of_one_step_goes_in_one_transaction() -> None:
    v = Virtual()
    before = v.log.transactions
    v.step(*(v.order(k.Add(seat="s1", number=1)) for _ in range(7)))
    assert v.log.transactions == before + 1
    assert v.sitting.game.total == 7


def test_presses_are_taken_in_the_order_of_their_instants() -> None:
    v = with_window()
    step = v.step(press(1, 2020, 2), press(2, 2000, 1), press(3, 2010, 3), now_ms=2100)
    assert [entry.events[0].seat for entry in step.entries] == ["s1", "s3", "s2"]
    assert [slam.stamp.at_ns for slam in v.sitting.game.slams] == [2000 * MS, 2010 * MS, 2020 * MS]


def test_nothing_behind_the_watermark_is_final() -> None:
    v = with_window()
    step = v.step(press(1, 2010, 2), now_ms=2020, watermark_ms=2005)
    assert step.entries == ()
    assert v.sitting.game.slams == ()
    assert [slam.seat for slam in v.table.provisional.game.slams] == ["s2"]
    assert step.is_changed
    later = v.step(press(2, 2008, 1), now_ms=2030, watermark_ms=2025)
    assert [entry.events[0].seat for entry in later.entries] == ["s1", "s2"]
    assert v.table.provisional is v.sitting


def test_a_press_that_is_doubted_before_it_is_final_counts_as_it_is_told_last() -> None:
    v = with_window()
    v.step(press(1, 2010, 2), press(2, 2012, 1), now_ms=2020, watermark_ms=2005)
    doubted = press(1, 1900, 2, u_ms=100, suspect="clock")
    step = v.step(doubted, now_ms=2030, watermark_ms=2025)
    assert [entry.seen for entry in step.entries] == [(doubted,), (press(2, 2012, 1),)]


def test_a_press_that_is_doubted_after_it_is_final_changes_nothing() -> None:
    v = with_window()
    v.step(press(1, 2010, 2), now_ms=2020)
    before = v.sitting
    assert v.step(press(1, 1900, 2, u_ms=100, suspect="clock"), now_ms=2030).entries == ()
    assert v.sitting == before


def test_the_provisional_table_is_never_journalled() -> None:
    v = with_window()
    count = len(v.log.payloads)
    v.step(press(1, 2010, 2), now_ms=2020, watermark_ms=2005)
    assert len(v.log.payloads) == count
    assert v.restarted().sitting == v.sitting


def test_a_click_waits_for_the_presses_before_it() -> None:
    v = with_window()
    take = v.order(k.Take(number=1), at_ms=2015)
    step = v.step(take, now_ms=2015, watermark_ms=2000)
    assert step.answers == {}
    step = v.step(press(1, 2005), now_ms=2030, watermark_ms=2030)
    assert names(step.entries) == ["Slammed", "Added", "Taken"]


def test_a_deadline_comes_at_its_own_instant() -> None:
    v = with_window()
    assert v.table.due_ns() == 6000 * MS
    assert v.step(now_ms=5999).entries == ()
    step = v.step(now_ms=7000)
    assert names(step.entries) == ["WindowClosed"]
    assert step.entries[0].at_ns == 6000 * MS
    assert step.entries[0].actor.role is Role.CLOCK
    assert v.table.due_ns() is None


def test_a_press_before_the_deadline_wins_however_late_it_came() -> None:
    v = with_window()
    step = v.step(now_ms=6050, watermark_ms=5990)
    assert step.entries == ()
    assert v.table.provisional.game.window is None
    step = v.step(press(1, 5999.9), now_ms=6200, watermark_ms=6100)
    assert names(step.entries) == ["Slammed", "Added", "WindowClosed"]


@pytest.mark.parametrize(("seen_ms", "counts"), [(6000, True), (6000.001, False)])
def test_a_press_at_the_very_deadline_still_counts(seen_ms: float, counts: bool) -> None:
    v = with_window()
    v.step(press(1, seen_ms), now_ms=6300)
    assert (v.sitting.game.total == 1) is counts


def test_a_press_behind_table_time_keeps_its_own_stamp() -> None:
    v = with_window()
    v.now_ns = 3000 * MS
    v.give(k.Add(seat="s1", number=2))
    step = v.step(press(1, 2500), now_ms=3010)
    (entry,) = step.entries
    assert entry.at_ns == 3000 * MS
    assert entry.seen[0].seen_ns == 2500 * MS
    assert v.sitting.game.slams[0].stamp.at_ns == 2500 * MS


def test_a_stamp_in_the_future_is_taken_as_now() -> None:
    v = with_window()
    step = v.step(press(1, 99_000), now_ms=2000)
    assert names(step.entries) == ["Slammed", "Added"]
    assert step.entries[0].at_ns == 2000 * MS
    assert v.table.due_ns() == 6000 * MS


def test_table_time_never_goes_back() -> None:
    v = with_window()
    v.step(*(press(n, 5000 - 100 * n, 1 + n % 3) for n in range(20)), now_ms=5500)
    v.step(press(50, 1200), v.order(k.Add(seat="s1", number=1), at_ms=1100), now_ms=5600)
    times = [entry.at_ns for entry in v.table.entries]
    assert times == sorted(times)


def test_no_deadline_while_the_table_is_stopped() -> None:
    v = with_window()
    v.now_ns = 2000 * MS
    v.give(c.Stop())
    assert v.table.due_ns() is None
    assert v.step(now_ms=20_000).entries == ()
    v.give(c.Resume())
    assert v.table.due_ns() == 24_000 * MS
    assert names(v.step(now_ms=24_000).entries) == ["WindowClosed"]


def test_a_deadline_that_was_undone_does_not_come_back_by_itself() -> None:
    v = with_window()
    v.step(now_ms=6000)
    v.give(c.Undo())
    assert v.sitting.game.window is not None
    assert v.table.due_ns() is None
    assert v.table.waits_since_ns(v.now_ns) is None
    assert v.step(now_ms=9000).entries == ()


def test_the_same_key_gets_the_same_answer_also_after_a_restart() -> None:
    v = Virtual()
    first = v.give(k.Add(seat="s1", number=3), key="once")
    assert v.give(k.Add(seat="s1", number=3), key="once") == first
    assert v.sitting.game.total == 3
    refused = v.give(k.Take(number=9), key="twice")
    again = v.restarted()
    assert again.give(k.Add(seat="s1", number=3), key="once") == first
    assert again.give(k.Take(number=9), key="twice") == refused
    assert again.table.version == v.table.version


def test_the_same_key_twice_in_one_step_is_one_order() -> None:
    v = Virtual()
    v.step(*(v.order(k.Add(seat="s1", number=1), key="double tap") for _ in range(2)))
    assert v.sitting.game.total == 1


def test_nobody_takes_anothers_key_away() -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=1), ANN, key="x")
    assert v.give(k.Add(seat="s2", number=2), BEN, key="x").is_accepted
    assert v.sitting.game.total == 3


def test_a_press_that_is_repeated_counts_once() -> None:
    v = with_window()
    v.step(press(7, 2000), now_ms=2010)
    v.step(press(7, 2000, resent=True), now_ms=2020)
    again = v.restarted()
    again.step(press(7, 2003, resent=True), now_ms=2030)
    assert again.sitting.game.total == 1


def test_two_presses_with_one_number_after_a_reboot_of_the_pad_both_count() -> None:
    v = with_window()
    v.step(press(1, 2000, boot=1), press(1, 2500, boot=2), now_ms=2600)
    assert v.sitting.game.total == 2


@pytest.mark.rule("TABLE-11", "ok")
def test_an_order_that_still_means_the_same_is_taken_though_the_table_moved() -> None:
    v = with_window()
    seen = v.table.version
    v.step(press(1, 2000), now_ms=2010)
    answer = v.give(k.Hide(seat="s2", number=4), BEN, expected=seen)
    assert answer.is_accepted


@pytest.mark.rule("TABLE-11", "breach")
def test_an_order_given_before_the_table_changed_is_refused() -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=5))
    seen = v.table.version
    v.give(k.Take(number=5), expected=seen)
    answer = v.give(k.Take(number=5), expected=seen)
    assert answer.ruling is not None and answer.ruling.rule == "TABLE-11"
    assert "So much is not there" in answer.ruling.because
    assert v.give(k.Take(number=1), expected=9999).ruling.rule == "TABLE-11"


def test_what_was_ordered_from_a_provisional_picture_counts() -> None:
    v = with_window()
    seen = v.table.version
    v.step(press(1, 2010), now_ms=2020, watermark_ms=2000)
    assert v.table.provisional.game.total == 1
    take = v.order(k.Take(number=1), at_ms=2021, expected=seen)
    step = v.step(take, now_ms=2030)
    assert names(step.entries) == ["Slammed", "Added", "Taken"]


@pytest.mark.rule("TABLE-11", "breach")
def test_undo_takes_back_what_its_sender_saw_last_or_nothing() -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=5))
    seen = v.table.version
    v.give(k.Add(seat="s2", number=1), BEN)
    refused = v.give(c.Undo(), expected=seen)
    assert refused.ruling is not None and refused.ruling.rule == "TABLE-11"
    seen = v.table.version
    v.give(k.Take(number=50))
    assert v.give(c.Undo(), expected=seen).is_accepted
    assert v.sitting.game.total == 5


def test_stop_is_taken_from_any_picture() -> None:
    v = Virtual()
    assert v.give(c.Stop(), expected=1).is_accepted


def test_a_bouncing_pad_is_refused_in_the_journal_once_a_second() -> None:
    v = Virtual()
    for n in range(100):
        v.step(press(n, 1000 + 25 * n), now_ms=1000 + 25 * n)
    refused = [entry for entry in v.table.entries if "Refused" in names([entry])]
    assert [entry.at_ns // MS for entry in refused] == [1000, 2000, 3000]
    v.give(k.OpenWindow())
    v.step(press(200, 3600), now_ms=3600)
    assert v.sitting.game.total == 1


def test_two_pads_are_refused_each_for_itself() -> None:
    v = Virtual()
    v.step(*(press(n, 1000 + n, 1 + n % 3) for n in range(9)), now_ms=1100)
    assert sorted(r.ruling.seat for r in v.sitting.rulings) == ["s1", "s2", "s3"]


def test_a_persons_refusals_are_all_journalled() -> None:
    v = Virtual()
    for _ in range(5):
        v.give(k.Take(number=9))
    assert len(v.sitting.rulings) == 5


def test_a_broken_log_changes_nothing_and_loses_no_press() -> None:
    v = with_window()
    before, version = v.sitting, v.table.version
    v.log.broken = OSError("no space")
    with pytest.raises(OSError, match="no space"):
        v.step(press(1, 2000), v.order(k.Add(seat="s2", number=5)), now_ms=2010)
    assert (v.sitting, v.table.version) == (before, version)
    v.log.broken = None
    step = v.step(now_ms=2100)
    assert names(step.entries) == ["Slammed", "Added"], "the press waited, the order was given up"
    assert v.restarted().sitting == v.sitting


def fails(*_: object) -> NoReturn:
    raise RuntimeError("a bug")


def test_a_bug_in_a_game_breaks_one_order_and_nothing_else() -> None:
    def decide(sitting: object, order: c.Order) -> tuple[e.Event, ...]:
        return fails() if isinstance(order.command, k.Hide) else k.GAME.decide(sitting, order)

    v = Virtual(msgspec.structs.replace(k.GAME, decide=decide))
    hide = v.order(k.Hide(seat="s1", number=1), key="bad")
    step = v.step(v.order(k.Add(seat="s1", number=1)), hide, v.order(k.Take(number=1)))
    assert names(step.entries) == ["Added", "Taken"]
    ((ident, error),) = step.failures.items()
    assert (ident[2], str(error)) == ("bad", "a bug")


def test_a_bug_in_interpret_loses_one_observation_and_nothing_else() -> None:
    v = Virtual(msgspec.structs.replace(k.GAME, interpret=fails))
    step = v.step(press(1, 0), v.order(k.Add(seat="s1", number=1)))
    assert (len(step.failures), names(step.entries)) == (1, ["Added"])


def test_a_bug_in_the_cues_is_logged_and_the_fact_stands(caplog: pytest.LogCaptureFixture) -> None:
    v = Virtual(msgspec.structs.replace(k.GAME, cues=fails))
    with caplog.at_level(logging.ERROR):
        assert v.give(k.Add(seat="s1", number=9)).is_accepted
    assert "a bug in counting" in caplog.text


def test_cues_come_from_durable_facts_only() -> None:
    v = with_window()
    assert v.step(press(1, 2010), now_ms=2020, watermark_ms=2000).cues == ()
    assert [cue.text for cue in v.step(now_ms=2040).cues] == ["Ann adds"]
    stop = v.step(v.order(c.Stop(why="a spill")))
    assert [(cue.pattern, cue.text, cue.urgent) for cue in stop.cues] == [("stop", "Stop: a spill", True)]


def test_an_observation_without_meaning_changes_nothing() -> None:
    v = Virtual()
    step = v.step(CameraChanged(source="cam", seen_ns=0, uncertainty_ns=0, state="live"))
    assert not step.is_changed
    assert step.entries == ()


def test_a_correction_is_folded_anew() -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=5))
    v.give(k.Take(number=4))
    answer = v.give(c.Void(entry=4, why="misread", orphans=(5,)))
    assert answer.is_accepted
    lines, sitting = history.effective(v.game, v.table.entries)
    assert v.sitting == sitting
    assert sitting.game.total == 0
    assert [line.entry.n for line in lines if line.orphan] == [5]


def test_a_waiting_undo_shows_in_the_provisional_table_only() -> None:
    v = Virtual()
    v.now_ns = 100 * MS
    v.give(k.Add(seat="s1", number=5))
    v.step(v.order(c.Undo(), at_ms=110), now_ms=110, watermark_ms=105)
    assert (v.sitting.game.total, v.table.provisional.game.total) == (5, 0)


def test_a_table_needs_a_journal_of_its_game() -> None:
    v = Virtual()
    entry = v.table.entries[1]
    with pytest.raises(ValueError, match="does not begin"):
        type(v.table)(v.game, v.log, [entry], lambda at_ns: 0)
    with pytest.raises(ValueError, match="empty"):
        type(v.table)(v.game, v.log, [], lambda at_ns: 0)


def test_entries_are_numbered_without_gaps_and_bear_wall_time() -> None:
    v = with_window()
    v.step(press(1, 2000), now_ms=2010)
    assert [entry.n for entry in v.table.entries] == list(range(1, v.table.version + 1))
    assert v.table.entries[-1].wall_ms == 2000
    assert isinstance(v.table.entries[0].events[0], e.Opened)
