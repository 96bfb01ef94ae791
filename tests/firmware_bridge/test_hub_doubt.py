"""Presses whose clock went wrong: told again in doubt before their order is final, never believed as they were."""

from __future__ import annotations

import random

import pytest

from benchmarks.hands_clocks import measure
from benchmarks.virtual_table import LAWS, Law
from companion.core.observation import Pressed
from firmware_bridge.framing import wrap
from firmware_bridge.messages import WRAP_US, Down, body_of
from firmware_bridge.verdict import CAP_NS, watermark_ns

from virtual_table import MS, VirtualPad, VirtualTable, modem_sleep, ready_table, wifi  # isort: skip

S = 1_000 * MS


@pytest.mark.parametrize("by_us", [-900_000, -300_000, -20_000, 20_000, 700_000])
def test_a_press_after_a_jump_is_told_in_doubt_before_it_is_final(by_us: int) -> None:
    table, (pad,) = ready_table("pad1")
    table.run(10 * S)
    pad.leap(by_us)
    at_ns = table.now_ns + 200 * MS
    pad.press(at_ns)
    table.run_to(at_ns)
    while not table.presses or watermark_ns(table.hub.marks(), table.now_ns) <= table.presses[-1].seen_ns:
        table.run(MS // 2)
    last = table.presses[-1]
    assert last.suspect == "clock" or last.boot != 1 or abs(last.seen_ns - at_ns) <= last.uncertainty_ns
    assert abs(last.seen_ns - at_ns) <= last.uncertainty_ns
    assert {press.n for press in table.presses} == {1}


def test_what_was_told_before_the_jump_and_confirmed_stays() -> None:
    table, (pad,) = ready_table("pad1")
    table.run(10 * S)
    pad.press(table.now_ns + 10 * MS)
    table.run(100 * MS)
    pad.leap(50_000)
    table.run(3 * S)
    assert [(press.n, press.suspect) for press in table.presses] == [(1, "")]


def test_a_press_that_comes_late_is_dated_when_the_clock_has_been_asked() -> None:
    table, (pad,) = ready_table("pad1")
    held: list[bytes] = []
    pad.spoil = lambda frame: held.append(frame) or b"" if b'"dn"' in frame else frame  # type: ignore[func-returns-value]  # drops it
    at_ns = table.now_ns + 10 * MS
    pad.press(at_ns)
    table.run(150 * MS)
    pad.spoil = lambda frame: frame
    asked = table.now_ns
    pad.raw(held[0])
    table.run(20 * MS)
    (press,) = table.presses
    assert abs(press.seen_ns - at_ns) <= press.uncertainty_ns
    assert press.suspect == ""
    told_ns = next(at for at, seen in table.seen if isinstance(seen, Pressed))
    assert told_ns > asked


def test_a_clock_that_jumped_twice_is_not_believed_at_once() -> None:
    table, (pad,) = ready_table("pad1")
    for _ in range(2):
        table.run(5 * S)
        pad.leap(30_000)
    table.run(5 * S)
    assert "jumps" in table.hub.devices(table.now_ns)[0].doubt
    pad.press(table.now_ns + 10 * MS)
    table.run(100 * MS)
    assert table.presses[-1].suspect == "clock"


def test_a_device_that_is_lost_is_waited_for_as_long_as_the_cap() -> None:
    table, pads = ready_table("pad1", "pad2")
    table.run(200 * MS)
    pads[0].press(table.now_ns + 5 * MS)
    table.run(5 * MS)
    lost_ns = table.now_ns
    table.unplug(pads[1])
    table.run(CAP_NS - 20 * MS)
    assert watermark_ns(table.hub.marks(), table.now_ns) <= lost_ns
    table.run(S)
    assert [mark.device for mark in table.hub.marks()] == ["pad1"]


@pytest.mark.parametrize(("law", "is_fit"), [(wifi, True), (modem_sleep, False)], ids=["wifi", "modem sleep"])
def test_trap_16_and_17_a_radio_that_sleeps_is_never_fit(law: Law, is_fit: bool) -> None:
    table = VirtualTable()
    table.is_trusted = False
    down, up = law(random.Random(5))
    table.plug(VirtualPad(table, "pad1", down=down, up=up))
    table.run(30 * S)
    doubts = []
    for _ in range(100):
        table.run(S)
        doubts.append(table.hub.devices(table.now_ns)[0].doubt)
    if is_fit:
        assert doubts.count("") >= 90
    else:
        assert "" not in doubts
        assert "its radio sleeps between messages" in doubts


@pytest.mark.parametrize("name", sorted(LAWS))
def test_trap_15_what_is_not_covered_is_flagged_in_time(name: str) -> None:
    found = measure(LAWS[name], 120, seed=3)
    assert found.troubled > 2
    assert (found.missed, found.lost) == (0, 0)
    assert found.sound_covered == found.sound


def test_a_press_that_comes_late_waits_for_no_answer_longer_than_the_cap() -> None:
    table, (pad,) = ready_table("pad1")
    table.run(5 * S)
    pad.spoil = lambda frame: b"" if b'"sync"' in frame else frame
    at_ns = table.now_ns + 10 * MS
    frame = wrap(body_of(Down(b=0, n=1, us=pad.us(at_ns) % WRAP_US)))
    table.run(400 * MS)
    pad.raw(frame)
    heard_ns = table.now_ns
    table.run(CAP_NS - 20 * MS)
    assert table.presses == []
    table.run(50 * MS)
    (press,) = table.presses
    assert table.now_ns - heard_ns < CAP_NS + 50 * MS
    assert abs(press.seen_ns - at_ns) <= press.uncertainty_ns
