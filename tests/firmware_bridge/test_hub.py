"""Devices from hello to verdict, in virtual time over rude lines."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from companion.core.cue import Cue
from companion.core.observation import DeviceChanged, DieDropped, Observation, Pressed, TowerHit
from firmware_bridge.framing import wrap
from firmware_bridge.messages import Down, Hello, SyncReply, Who, body_of
from firmware_bridge.verdict import CAP_NS, silent_devices, watermark_ns
from firmware_bridge.wire import Closed, Heard, Opened

from virtual_table import MS, Delay, VirtualPad, VirtualTable, modem_sleep, usb, wifi  # isort: skip

S = 1_000 * MS


def one_at_a_time(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


def ready_table(*pads: str, **more: object) -> tuple[VirtualTable, list[VirtualPad]]:
    table = VirtualTable()
    made = [table.plug(VirtualPad(table, name, **more)) for name in pads]  # type: ignore[arg-type]  # handed on
    table.run(S)
    assert all(device.state == "ready" for device in table.hub.devices(table.now_ns))
    return table, made


@pytest.mark.parametrize("chop", [lambda data: [data], one_at_a_time], ids=["whole", "one byte at a time"])
def test_hello_inputs_sync_press(chop: Callable[[bytes], list[bytes]]) -> None:
    table = VirtualTable(chop=chop)
    pad = table.plug(VirtualPad(table, "box-7", inputs=2, starts_at_us=2**32 - 1_200_000, drift_ppm=60))
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.id, device.state, device.inputs) == ("box-7", "ready", ("button 0", "button 1"))
    assert table.states("box-7") == ["syncing", "ready"]
    at_ns = table.now_ns + 100 * MS
    pad.press(at_ns, 0)
    pad.press(at_ns + 20 * MS, 1)
    table.run(S)
    first, second = table.presses
    assert (first.input, second.input) == (0, 1)
    assert abs(first.seen_ns - at_ns) <= first.uncertainty_ns
    assert second.seen_ns - first.seen_ns == pytest.approx(20 * MS, abs=5_000)
    assert first.uncertainty_ns + second.uncertainty_ns < 20 * MS
    assert first.own_u_ns + second.own_u_ns < 1 * MS


def test_trap_06_no_hello_is_asked_for_each_half_second() -> None:
    table = VirtualTable()
    pad = VirtualPad(table, "pad1")
    asked: list[int] = []
    pad.take = lambda frames: asked.append(table.now_ns)  # type: ignore[method-assign]  # a board that boots
    table.pads["pad1"] = pad
    table.post(Opened("pad1"))
    table.run(2_200 * MS)
    assert [b - a for a, b in itertools.pairwise(asked)] == [500 * MS] * 4
    del pad.take  # type: ignore[method-assign]  # now it is up
    table.run(S)
    assert table.hub.devices(table.now_ns)[0].state == "ready"
    assert table.kept == ["pad1"]


def test_trap_07_boot_garbage_is_counted_and_does_no_harm() -> None:
    table = VirtualTable()
    pad = VirtualPad(table, "pad1")
    table.pads["pad1"] = pad
    table.post(Opened("pad1"))
    pad.raw(b"\x00\xf8\xe0ets Jun  8 2016 00:22:57\r\nrst:0x1 (POWERON_RESET)\n\xff\xfe")
    pad.raw(b"\n")
    pad.hello()
    pad.poll()
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert device.state == "ready"
    assert device.counters.noise == 3


def test_presses_before_the_clock_is_known_are_kept() -> None:
    table = VirtualTable()
    pad = table.plug(VirtualPad(table, "pad1", up=lambda: 5 * MS, down=lambda: 5 * MS))
    at_ns = table.now_ns + 1 * MS
    pad.press(at_ns)
    table.run(S)
    (press,) = table.presses
    assert abs(press.seen_ns - at_ns) <= press.uncertainty_ns


@pytest.mark.parametrize("seed", range(4))
def test_lost_and_bent_lines_lose_no_press(seed: int) -> None:
    rng = random.Random(seed)
    table, (pad,) = ready_table("pad1", inputs=4)

    def spoil(frame: bytes) -> bytes:
        chance = rng.random()
        if chance < 0.15:
            return b""
        if chance < 0.3:
            bent = bytearray(frame)
            bent[rng.randrange(len(bent))] ^= 1 << rng.randrange(8)
            return bytes(bent)
        return frame

    pad.spoil = spoil
    at = [table.now_ns + (k + 1) * 300 * MS + rng.randrange(50) * MS for k in range(40)]
    for k, at_ns in enumerate(at):
        pad.press(at_ns, k % 4)
    table.run(15 * S)
    identities = [(press.source, press.boot, press.n) for press in table.presses]
    assert len(set(identities)) == len(identities)
    (device,) = table.hub.devices(table.now_ns)
    # The ring repeats once by itself and again for each question about it; what still is missing is counted.
    assert len(identities) + device.lost >= 40
    assert len(identities) >= 38
    seen = sorted(press.seen_ns for press in table.presses)
    for press_ns in seen:
        assert min(abs(press_ns - at_ns) for at_ns in at) < 2 * MS


def test_trap_20_every_delivery_twice_is_each_press_once() -> None:
    table, (pad,) = ready_table("pad1")
    pad.spoil = lambda frame: frame * 2
    for k in range(10):
        pad.press(table.now_ns + (k + 1) * 200 * MS)
    table.run(4 * S)
    assert [press.n for press in table.presses] == list(range(1, 20, 2))
    assert table.hub.devices(table.now_ns)[0].twins == 20


def test_an_unacknowledged_press_is_repeated_with_its_own_stamp() -> None:
    table, (pad,) = ready_table("pad1")
    at_ns = table.now_ns + 100 * MS
    pad.is_muted = True
    pad.press(at_ns, hold_ns=10 * S)
    table.run(150 * MS)
    pad.is_muted = False
    table.run(S)
    (press,) = table.presses
    assert press.resent
    assert abs(press.seen_ns - at_ns) <= press.uncertainty_ns


def test_trap_14_a_reboot_in_mid_round_starts_numbers_and_clock_anew() -> None:
    table, (pad,) = ready_table("pad1")
    pad.press(table.now_ns + 10 * MS)
    table.run(500 * MS)
    pad.power_on(boot=2)
    pad.hello()
    pad.press(table.now_ns + 300 * MS)
    at_ns = table.now_ns + 300 * MS
    table.run(2 * S)
    first, second = table.presses
    assert (first.boot, first.n, second.boot, second.n) == (1, 1, 2, 1)
    assert abs(second.seen_ns - at_ns) <= second.uncertainty_ns
    assert table.states("pad1")[-2:] == ["syncing", "ready"]


def test_a_reboot_whose_hello_is_lost_loses_no_press_either() -> None:
    table, (pad,) = ready_table("pad1")
    pad.press(table.now_ns + 10 * MS)
    pad.press(table.now_ns + 210 * MS)
    table.run(5 * S)
    pad.power_on(boot=2)
    pad.poll()
    at_ns = table.now_ns + 20 * MS
    pad.press(at_ns)
    table.run(2 * S)
    last = table.presses[-1]
    assert (last.boot, last.n) == (2, 1)
    assert abs(last.seen_ns - at_ns) <= last.uncertainty_ns
    assert len(table.presses) == 3


@pytest.mark.parametrize("by_us", [-700_000, -20_000, 20_000, 700_000, 2**31])
def test_a_clock_that_jumps_is_flagged_over_the_doubtful_time(by_us: int) -> None:
    table, (pad,) = ready_table("pad1")
    table.run(3 * S)
    before = len(table.seen)
    pad.leap(by_us)
    leapt_ns = table.now_ns
    table.run(2 * S)
    changes = [seen for _, seen in table.seen[before:] if isinstance(seen, DeviceChanged)]
    flagged = next(seen for seen in changes if seen.detail == "its clock jumped")
    assert flagged.state == "syncing"
    assert abs(flagged.seen_ns - leapt_ns) <= flagged.uncertainty_ns
    at_ns = table.now_ns + 10 * MS
    pad.press(at_ns)
    table.run(S)
    assert table.hub.devices(table.now_ns)[0].state == "ready"
    assert abs(table.presses[-1].seen_ns - at_ns) <= table.presses[-1].uncertainty_ns


def test_a_silent_device_is_named_and_comes_back() -> None:
    table, (pad,) = ready_table("pad1")
    pad.is_muted = True
    table.run(3_300 * MS)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.state, device.mend != "") == ("silent", True)
    assert table.hub.marks() == ()
    pad.is_muted = False
    table.run(1_500 * MS)
    assert table.states("pad1")[-3:] == ["silent", "syncing", "ready"]


def test_trap_01_unplug_and_replug_keep_identity_and_presses() -> None:
    table, (pad,) = ready_table("pad1")
    table.unplug(pad)
    assert table.hub.devices(table.now_ns)[0].state == "lost"
    at_ns = table.now_ns + 20 * MS
    pad.press(at_ns)
    table.run(500 * MS)
    table.plug(pad, says_hello=False)
    table.run(S)
    (press,) = table.presses
    assert press.resent
    assert abs(press.seen_ns - at_ns) <= press.uncertainty_ns
    assert [device.state for device in table.hub.devices(table.now_ns)] == ["ready"]


def test_trap_12_what_is_no_message_of_ours_is_let_be() -> None:
    table, (pad,) = ready_table("pad1")
    pad.take(b"AT\r\nAT+GCAP\r\n\x7e\x00\x78\xf0\x7e")
    pad.raw(b'{"t":"wave"}*8EE5F9E1\n')
    table.run(S)
    assert table.hub.devices(table.now_ns)[0].state == "ready"


def test_trap_05_identity_is_what_the_firmware_says() -> None:
    table = VirtualTable()
    pad = VirtualPad(table, "pad1")
    table.pads["port-x"] = pad
    table.post(Opened("port-x"))
    pad.hello()
    table.at(table.now_ns + MS, lambda: None)
    table.deliver = lambda pad, data, at_ns: table.at(  # type: ignore[method-assign]  # this line has another name
        at_ns, lambda: table.post(Heard("port-x", data, table.now_ns))
    )
    pad.hello()
    pad.poll()
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.id, device.link) == ("pad1", "virtual port-x")


def test_two_devices_of_one_name_are_refused_by_name() -> None:
    table, _ = ready_table("pad1")
    twin = VirtualPad(table, "pad1", boot=99)
    table.post(Opened("other"))
    hello = twin.model.hello(0)[0]
    assert isinstance(hello, Hello)
    table.post(Heard("other", wrap(body_of(hello)), table.now_ns))
    (stranger,) = table.hub.strangers(table.now_ns)
    assert "two devices call themselves pad1" in stranger.problem
    assert table.hub.devices(table.now_ns)[0].boot == 1


def test_another_protocol_is_told_with_its_mend() -> None:
    table = VirtualTable()
    pad = VirtualPad(table, "pad1")
    hello = pad.model.hello(0)[0]
    assert isinstance(hello, Hello)
    table.pads["pad1"] = pad
    table.post(Opened("pad1"))
    pad.say([Hello(**{name: getattr(hello, name) for name in hello.__struct_fields__} | {"p": 2})])
    pad.is_muted = True
    table.run(S)
    (stranger,) = table.hub.strangers(table.now_ns)
    assert "tada/2" in stranger.problem
    assert "flash" in stranger.mend


def test_tower_hit_and_die_stay_two() -> None:
    table, (pad,) = ready_table("tower", kind="piezo")
    now_us = pad.us(table.now_ns)
    pad.say(pad.model.tower(now_us, 0, is_die=False, peak=700, width_us=900))
    pad.say(pad.model.tower(now_us, 0, is_die=True, peak=300, width_us=4_000))
    table.run(100 * MS)
    hit, die = [seen for _, seen in table.seen if isinstance(seen, TowerHit | DieDropped)]
    assert (type(hit), hit.peak, type(die), die.width_us) == (TowerHit, 700, DieDropped, 4_000)


def test_a_stamp_from_the_future_is_not_passed_on() -> None:
    table, (pad,) = ready_table("pad1")
    pad.say([Down(b=0, n=1, us=(pad.us(table.now_ns) + 600_000_000) % 2**32)])
    table.run(S)
    assert table.presses == []


def test_trap_19_an_old_press_is_refused() -> None:
    table, (pad,) = ready_table("pad1")
    table.run(70 * S)
    pad.say([Down(b=0, n=1, us=(pad.us(table.now_ns) - 65_000_000) % 2**32, re=1)])
    table.run(S)
    assert table.presses == []


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


def test_an_input_that_the_device_does_not_have_is_not_passed_on() -> None:
    table, (pad,) = ready_table("pad1", inputs=2)
    pad.say([Down(b=2, n=1, us=pad.us(table.now_ns) % 2**32)])
    pad.say([Down(b=1, n=2, us=pad.us(table.now_ns) % 2**32)])
    table.run(S)
    assert [(press.input, press.n) for press in table.presses] == [(1, 2)]


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


def test_a_device_on_two_ways_goes_on_over_the_other_when_one_is_lost() -> None:
    table, (pad,) = ready_table("pad1")
    table.pads["other"] = pad
    table.post(Opened("other"))
    said = b"".join(wrap(body_of(message)) for message in pad.model.hello(pad.us(table.now_ns)))
    table.post(Heard("other", said, table.now_ns))
    assert table.hub.devices(table.now_ns)[0].link == "virtual pad1"
    table.post(Closed("pad1", "it was unplugged"))
    del table.pads["pad1"]
    table.deliver = lambda pad, data, at_ns: table.at(  # type: ignore[method-assign]  # the other line
        at_ns, lambda: table.post(Heard("other", data, table.now_ns))
    )
    pad.press(table.now_ns + 10 * MS)
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.state, device.link) == ("ready", "virtual other")
    assert len(table.presses) == 1
    assert "lost" not in table.states("pad1")


@pytest.mark.parametrize("law", [usb, wifi], ids=["usb", "wifi"])
def test_a_steady_clock_is_not_told_again_and_again(
    law: Callable[[random.Random], tuple[Delay, Delay]],
) -> None:
    table = VirtualTable()
    down, up = law(random.Random(12))
    table.plug(VirtualPad(table, "pad1", down=down, up=up, drift_ppm=40))
    table.run(60 * S)
    assert len(table.states("pad1")) <= 8


def test_what_anyone_sends_never_stops_the_hub() -> None:
    """Frames with right checksums and any contents, among real play."""
    rng = random.Random(13)
    table, (pad,) = ready_table("pad1", inputs=4)
    kinds = [b"hello", b"in", b"out", b"hb", b"dn", b"up", b"hit", b"die", b"sync", b"ack", b"nak", b"x"]
    keys = [
        b"b",
        b"n",
        b"us",
        b"r",
        b"x",
        b"h",
        b"id",
        b"boot",
        b"q",
        b"re",
        b"early",
        b"pk",
        b"w",
        b"v",
        b"st",
    ]
    for _ in range(5_000):
        fields = {rng.choice(keys): rng.choice((0, 1, 31, 2**16, 2**31, 2**32 - 1)) for _ in range(6)}
        listed = b",".join(b'"%s":%d' % (key, value) for key, value in fields.items())
        pad.raw(wrap(b'{"t":"%s",%s}' % (rng.choice(kinds), listed)))
        table.run(rng.randrange(3) * MS)
    table.run(5 * S)
    at_ns = table.now_ns + 510 * MS
    pad.power_on(boot=5)
    pad.hello()
    pad.press(at_ns, 3)
    table.run(2 * S)
    assert abs(table.presses[-1].seen_ns - at_ns) <= table.presses[-1].uncertainty_ns
    assert all(0 <= press.input < 4 and press.n >= 1 for press in table.presses)


def test_trap_19_a_recorded_hello_of_an_old_start_is_no_restart() -> None:
    table, (pad,) = ready_table("pad1")
    recorded = [wrap(body_of(message)) for message in pad.model.hello(pad.us(table.now_ns))]
    recorded.append(wrap(body_of(Down(b=0, n=1, us=pad.us(table.now_ns) % 2**32))))
    pad.power_on(boot=2)
    pad.hello()
    table.run(S)
    for frame in recorded:
        pad.raw(frame)
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.boot, device.state) == (2, "ready")


def test_trap_19_a_hello_that_was_recorded_before_we_came_makes_no_device_ready() -> None:
    table = VirtualTable()
    pad = VirtualPad(table, "pad1")
    table.pads["pad1"] = pad
    recorded = [wrap(body_of(message)) for message in pad.model.hello(0)]
    recorded.append(wrap(body_of(Down(b=0, n=1, us=89_900_000))))
    pad.power_on(boot=2, starts_at_us=90_000_000)
    real_hear = pad.model.hear
    pad.model.hear = lambda us, message: [] if isinstance(message, Who) else real_hear(us, message)  # type: ignore[method-assign]  # it boots
    table.post(Opened("pad1"))
    for frame in recorded:
        pad.raw(frame)
    table.run(2 * S)
    assert table.hub.devices(table.now_ns)[0].state == "syncing"
    assert table.presses == []
    pad.model.hear = real_hear  # type: ignore[method-assign]  # now the real pad is asked, and says who it is
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.boot, device.state) == (2, "ready")


def test_a_foreign_name_on_a_line_that_is_well_is_counted_and_no_more() -> None:
    table, (pad,) = ready_table("pad1")
    pad.say(VirtualPad(table, "other", boot=9).model.hello(0))
    pad.press(table.now_ns + 10 * MS)
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert (device.id, device.state, device.counters.foreign) == ("pad1", "ready", 1)
    assert len(table.presses) == 1


def test_another_device_on_the_same_open_port_takes_its_place() -> None:
    table, (pad,) = ready_table("pad1")
    pad.model = VirtualPad(table, "spare", boot=9).model
    pad.leap(-500_000)
    table.run(3 * S)
    states = {device.id: device.state for device in table.hub.devices(table.now_ns)}
    assert states == {"pad1": "lost", "spare": "ready"}
    pad.press(table.now_ns + 10 * MS)
    table.run(S)
    assert [(press.source, press.boot, press.n) for press in table.presses] == [("spare", 9, 1)]


def test_a_made_up_answer_is_no_answer() -> None:
    table, (pad,) = ready_table("pad1")
    pad.is_muted = True
    table.ask()
    asked = table.hub.marks()[0].since_ns
    pad.is_muted = False
    now_us = pad.us(table.now_ns) % 2**32
    for number in range(1, 40):
        pad.say([SyncReply(id=number, h=number, r=now_us, x=now_us, n=0)])
    pad.is_muted = True
    table.run(MS)
    assert table.hub.marks()[0].since_ns == asked


def test_a_refused_command_is_told() -> None:
    table, _ = ready_table("pad1")
    cue = Cue(target="a", pattern="go", text="Go")
    table.hub.play(cue, {"a": (("pad1", 9),)}, table.now_ns)
    table.run(S)
    (device,) = table.hub.devices(table.now_ns)
    assert device.problem == "pad1 refused a command: no such output"
    assert device.mend


def test_a_restart_is_told_once() -> None:
    table, (pad,) = ready_table("pad1")
    pad.power_on(boot=2)
    pad.hello()
    table.run(S)
    assert table.states("pad1") == ["syncing", "ready", "syncing", "ready"]
