"""What is made up, recorded, foreign or out of range does no harm, and is told."""

from __future__ import annotations

import random

import pytest

from benchmarks.hands_fuzz import MAKERS, fuzz
from companion.core.cue import Cue
from firmware_bridge.framing import wrap
from firmware_bridge.messages import Down, Hello, SyncReply, Who, body_of
from firmware_bridge.wire import Heard, Opened

from virtual_table import MS, VirtualPad, VirtualTable, ready_table  # isort: skip

S = 1_000 * MS


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


def test_trap_12_what_is_no_message_of_ours_is_let_be() -> None:
    table, (pad,) = ready_table("pad1")
    pad.take(b"AT\r\nAT+GCAP\r\n\x7e\x00\x78\xf0\x7e")
    pad.raw(b'{"t":"wave"}*8EE5F9E1\n')
    table.run(S)
    assert table.hub.devices(table.now_ns)[0].state == "ready"


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


def test_an_input_that_the_device_does_not_have_is_not_passed_on() -> None:
    table, (pad,) = ready_table("pad1", inputs=2)
    pad.say([Down(b=2, n=1, us=pad.us(table.now_ns) % 2**32)])
    pad.say([Down(b=1, n=2, us=pad.us(table.now_ns) % 2**32)])
    table.run(S)
    assert [(press.input, press.n) for press in table.presses] == [(1, 2)]


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


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_fuzz_nothing_crashes_lies_or_grows(kind: str) -> None:
    found = fuzz(kind, 40_000, seed=9)
    assert (found.crashes, found.bad, found.believed, found.is_alive) == (0, 0, 0, True)
    assert found.grown_kb < 100
