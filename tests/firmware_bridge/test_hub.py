"""Devices from hello to verdict, in virtual time over rude lines."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from companion.core.observation import DeviceChanged, DieDropped, TowerHit
from firmware_bridge.framing import wrap
from firmware_bridge.messages import body_of
from firmware_bridge.wire import Closed, Heard, Opened

from virtual_table import MS, VirtualPad, VirtualTable, ready_table  # isort: skip

S = 1_000 * MS


def one_at_a_time(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


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
    table.run(1_900 * MS)
    assert table.states("pad1")[-1] == "ready", "the last was heard a second ago: that makes less than three"
    table.run(1_400 * MS)
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


def test_tower_hit_and_die_stay_two() -> None:
    table, (pad,) = ready_table("tower", kind="piezo")
    now_us = pad.us(table.now_ns)
    pad.say(pad.model.tower(now_us, 0, is_die=False, peak=700, width_us=900))
    pad.say(pad.model.tower(now_us, 0, is_die=True, peak=300, width_us=4_000))
    table.run(100 * MS)
    hit, die = [seen for _, seen in table.seen if isinstance(seen, TowerHit | DieDropped)]
    assert (type(hit), hit.peak, type(die), die.width_us) == (TowerHit, 700, DieDropped, 4_000)


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


def test_a_restart_is_told_once() -> None:
    table, (pad,) = ready_table("pad1")
    pad.power_on(boot=2)
    pad.hello()
    table.run(S)
    assert table.states("pad1") == ["syncing", "ready", "syncing", "ready"]
