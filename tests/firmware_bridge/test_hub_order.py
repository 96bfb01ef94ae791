"""Order and time: the watermark, clocks as they are told, lights that change together."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from companion.core.cue import Cue
from companion.core.observation import DeviceChanged, Observation, Pressed
from firmware_bridge.messages import Down
from firmware_bridge.verdict import CAP_NS, silent_devices, watermark_ns
from firmware_bridge.wire import Opened

from virtual_table import MS, Delay, VirtualPad, VirtualTable, modem_sleep, ready_table, usb, wifi  # isort: skip

S = 1_000 * MS


def test_armed_presses_before_the_instant_are_early() -> None:
    table, pads = ready_table("pad1", "pad2")
    go_ns = table.now_ns + 500 * MS
    table.hub.arm(7, {"pad1": 1, "pad2": 1}, go_ns)
    pads[0].press(go_ns - 30 * MS)
    pads[1].press(go_ns + 200 * MS)
    table.run(S)
    assert [(press.source, press.early) for press in table.presses] == [("pad1", True), ("pad2", False)]
    assert [arm.rd for pad in pads for arm in pad.model.arms] == [7, 7]


def test_all_lights_go_off_together() -> None:
    rng = random.Random(4)
    table = VirtualTable()
    for k in range(4):
        down, up = wifi(rng)
        pad = VirtualPad(
            table,
            f"pad{k}",
            down=down,
            up=up,
            drift_ppm=rng.uniform(-90, 90),
            starts_at_us=rng.randrange(2**32),
        )
        table.plug(pad)
    table.run(20 * S)
    at_ns = table.now_ns + 400 * MS
    outputs = {name: ((name, 0),) for name in table.pads}
    table.hub.play(Cue(target="all", pattern="go", text="Go", at_ns=at_ns), outputs, table.now_ns)
    table.run(S)
    for pad in table.pads.values():
        (played,) = pad.model.played
        u_ns = table.hub.devices(table.now_ns)[0].clock_u_ns
        assert u_ns is not None
        assert abs(played.at_us - pad.us(at_ns)) <= 5_000


def test_a_cue_to_a_device_without_a_clock_goes_out_at_its_instant() -> None:
    table = VirtualTable()
    pad = table.plug(VirtualPad(table, "pad1"))
    table.run(1 * MS)
    at_ns = table.now_ns + 700 * MS
    pad.spoil = lambda frame: b"" if b'"sync"' in frame else frame
    table.hub.play(Cue(target="a", pattern="go", text="Go", at_ns=at_ns), {"a": (("pad1", 0),)}, table.now_ns)
    table.run(2 * S)
    (played,) = pad.model.played
    assert 0 <= played.at_us - pad.us(at_ns) < 2_000


def test_the_watermark_passes_when_all_have_answered_and_nothing_is_missing() -> None:
    table, pads = ready_table("pad1", "pad2", "pad3")
    at_ns = table.now_ns + 10 * MS
    assert watermark_ns(table.hub.marks(), table.now_ns) < at_ns
    pads[0].press(at_ns)
    table.run(15 * MS)  # the press itself makes the hub ask
    assert watermark_ns(table.hub.marks(), table.now_ns) > at_ns
    asked_ns = table.now_ns
    table.run(100 * MS)
    assert watermark_ns(table.hub.marks(), table.now_ns) < asked_ns
    table.ask()
    asked_ns = table.now_ns
    table.run(5 * MS)
    assert watermark_ns(table.hub.marks(), table.now_ns) >= asked_ns


def test_the_watermark_never_passes_a_press_that_is_still_to_come() -> None:
    """240 presses over lines with loss, spikes and repeats: what the sink had not had lay above it."""
    rng = random.Random(8)
    table = VirtualTable()
    for k in range(4):
        down, up = (usb if k % 2 else wifi)(rng)
        pad = VirtualPad(table, f"pad{k}", down=down, up=up, drift_ppm=rng.uniform(-90, 90))
        pad.spoil = lambda frame: b"" if b'"dn"' in frame and rng.random() < 0.1 else frame
        table.plug(pad)
    table.run(3 * S)
    passed_ns = 0
    late: list[Pressed] = []

    def look() -> None:
        nonlocal passed_ns
        passed_ns = max(passed_ns, min((mark.passed_ns for mark in table.hub.marks()), default=0))
        table.ask()
        table.at(table.now_ns + 5 * MS, look)

    def check(seen: Observation) -> None:
        if isinstance(seen, Pressed) and seen.seen_ns < passed_ns:
            late.append(seen)

    table.on_seen = check
    look()
    for _ in range(60):
        base_ns = table.now_ns + 20 * MS
        for pad in table.pads.values():
            pad.press(base_ns + rng.randrange(40 * MS), hold_ns=40 * MS)
        table.run(160 * MS)
    assert len(table.presses) >= 235
    assert sum(press.resent for press in table.presses) > 10
    assert late == []


def test_a_muted_device_is_named_after_the_cap_and_no_sooner() -> None:
    table, pads = ready_table("pad1", "pad2")
    table.run(200 * MS)
    pads[1].is_muted = True
    at_ns = table.now_ns + MS
    pads[0].press(at_ns)
    table.run_to(at_ns + CAP_NS - MS)
    assert watermark_ns(table.hub.marks(), table.now_ns) < at_ns
    table.run_to(at_ns + CAP_NS)
    assert watermark_ns(table.hub.marks(), table.now_ns) >= at_ns
    assert silent_devices(table.hub.marks(), table.now_ns) == ("pad2",)


def test_a_gap_holds_the_watermark_until_it_is_filled() -> None:
    table, (pad,) = ready_table("pad1")
    dropped = []
    pad.spoil = lambda frame: (dropped.append(frame) or b"") if b'"dn"' in frame and not dropped else frame
    at_ns = table.now_ns + 5 * MS
    pad.press(at_ns, hold_ns=10 * S)
    table.run(6 * MS)
    asked = table.now_ns
    table.ask()
    table.run(40 * MS)
    (press,) = table.presses
    assert (press.resent, len(dropped)) == (True, 1)
    assert watermark_ns(table.hub.marks(), table.now_ns) >= asked


def test_trap_16_a_radio_that_sleeps_is_told_with_its_mend() -> None:
    rng = random.Random(2)
    table = VirtualTable()
    down, up = modem_sleep(rng)
    table.plug(VirtualPad(table, "pad1", down=lambda: 60 * MS + down(), up=up))
    table.run(5 * S)
    (device,) = table.hub.devices(table.now_ns)
    assert device.clock_u_ns is not None
    assert device.clock_u_ns > 10 * MS
    assert "power save" in device.mend


def test_one_controller_orders_gaps_of_a_fifth_of_a_millisecond() -> None:
    rng = random.Random(6)
    down, up = usb(rng)
    table, (pad,) = ready_table("box", inputs=6, up=up, down=down)
    for _ in range(48):
        order = rng.sample(range(6), 6)
        base_ns = table.now_ns + 50 * MS
        before = len(table.presses)
        for place, b in enumerate(order):
            pad.press(base_ns + place * 200_000, b)
        table.run(400 * MS)
        presses = sorted(table.presses[before:], key=lambda press: press.seen_ns)
        assert [press.input for press in presses] == order


@pytest.mark.parametrize("state", ["ready", "muted", "muted and asked", "no hello", "gap"])
def test_trap_09_there_is_no_hurry_when_nothing_happens(state: str) -> None:
    table, (pad,) = ready_table("pad1")
    table.run(2 * S)
    if state.startswith("muted"):
        pad.is_muted = True
    if state == "muted and asked":
        table.ask()
    if state == "no hello":
        table.post(Opened("other"))
    if state == "gap":
        pad.say([Down(b=0, n=20, us=pad.us(table.now_ns) % 2**32)])
    before = table.ticks
    table.run(10 * S)
    assert table.ticks - before < 200


@pytest.mark.parametrize("law", [usb, wifi], ids=["usb", "wifi"])
def test_a_steady_clock_is_not_told_again_and_again(
    law: Callable[[random.Random], tuple[Delay, Delay]],
) -> None:
    table = VirtualTable()
    down, up = law(random.Random(12))
    table.plug(VirtualPad(table, "pad1", down=down, up=up, drift_ppm=40))
    table.run(60 * S)
    assert len(table.changes("pad1")) <= 8


@pytest.mark.parametrize("law", [usb, wifi, modem_sleep], ids=["usb", "wifi", "modem sleep"])
@pytest.mark.parametrize("by_us", [-40_000, 40_000])
def test_a_jump_that_is_found_late_is_flagged_back_to_when_it_was(
    law: Callable[[random.Random], tuple[Delay, Delay]], by_us: int
) -> None:
    rng = random.Random(by_us)
    table = VirtualTable()
    down, up = law(rng)
    pad = table.plug(VirtualPad(table, "pad1", down=down, up=up, drift_ppm=rng.uniform(-90, 90)))
    for _ in range(6):
        table.run(20 * S)
        before = len(table.seen)
        pad.leap(by_us)
        leapt_ns = table.now_ns
        table.run(20 * S)
        flags = [
            seen
            for _, seen in table.seen[before:]
            if isinstance(seen, DeviceChanged) and seen.detail == "its clock jumped"
        ]
        assert flags, "the jump was not found"
        assert any(abs(flag.seen_ns - leapt_ns) <= flag.uncertainty_ns for flag in flags)
