"""Pads on pseudo-terminals and TCP, the way they misbehave on USB."""

from __future__ import annotations

import errno
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import serial

from companion.core.cue import Cue
from firmware_bridge import hub, serial_link, session
from firmware_bridge.fake_device import FakePad
from firmware_bridge.framing import wrap
from firmware_bridge.messages import Down, body_of
from firmware_bridge.pad_model import PadModel
from firmware_bridge.serial_link import SerialLink, close_port, open_port, read_chunk

from bridge_rig import bridged, until  # isort: skip

termios = pytest.importorskip("termios", reason="NOT RUN: Windows has no pseudo-terminals")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT RUN: Windows has no pseudo-terminals")

MS = 1_000_000


def test_two_presses_20_ms_apart_on_one_controller_are_two_in_order() -> None:
    with (
        FakePad.on_pty("box-7", inputs=4, starts_at_us=2**32 - 500_000, drift_ppm=70) as pad,
        bridged(SerialLink([pad.port])) as table,
    ):
        table.wait_ready("box-7")
        at_ns = time.monotonic_ns() + 50 * MS
        pad.press(2, at_ns)
        pad.press(1, at_ns + 20 * MS)
        first, second = sorted(table.wait_presses(2), key=lambda press: press.seen_ns)
        assert (first.source, first.input, second.input) == ("box-7", 2, 1)
        assert first.uncertainty_ns + second.uncertainty_ns < 20 * MS
        assert second.seen_ns - first.seen_ns == pytest.approx(20 * MS, abs=20_000)
        assert (first.boot, first.n, second.n) == (pad.boot, 1, 2)


@pytest.mark.parametrize("make", [FakePad.on_pty, FakePad.on_tcp], ids=["pty", "socket://"])
def test_slam_and_cue_both_ways(make: Callable[..., FakePad]) -> None:
    with make("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        pad.press()
        (press,) = table.wait_presses(1)
        assert press.source == "pad1"
        at_ns = time.monotonic_ns() + 60 * MS
        cue = Cue(target="all", pattern="go", text="Go", at_ns=at_ns)
        table.bridge.play(cue, {"ann": [("pad1", 0), ("pad1", 1)]})
        until(lambda: len(pad.played) == 2, "light and sound")
        assert {(played.kind, played.pattern) for _, played in pad.played} == {("led", "go"), ("snd", "go")}
        assert all(played_ns >= at_ns - 5 * MS for played_ns, _ in pad.played)


def test_the_watermark_passes_soon_and_names_a_muted_pad(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FakePad.on_pty("a") as a,
        FakePad.on_pty("b") as b,
        bridged(SerialLink([a.port, b.port])) as table,
    ):
        table.wait_ready("a", "b")
        asked_ns = time.monotonic_ns()
        table.bridge.ask_all(asked_ns)
        until(lambda: table.bridge.watermark_ns() >= asked_ns, "the watermark", 2)
        assert table.bridge.silent() == ()
        b.mute()
        a.press()
        (press,) = table.wait_presses(1)
        table.bridge.ask_all(press.seen_ns)
        until(lambda: table.bridge.watermark_ns() > press.seen_ns, "the watermark by the cap", 2)
        assert table.bridge.silent() == ("b",)
        monkeypatch.setattr(session, "SILENT_NS", 1_500 * MS)
        until(lambda: "silent" in table.states("b"), "b silent", 6)
        assert table.bridge.silent() == ()


def test_trap_01_unplug_and_replug(tmp_path: Path) -> None:
    with (
        FakePad.on_pty("pad1", tmp_path / "tty0", inputs=3) as pad,
        bridged(SerialLink([str(tmp_path / "tty0")])) as table,
    ):
        table.wait_ready("pad1")
        for b in range(3):
            pad.unplug()
            until(lambda: not table.is_ready("pad1"), "the loss is seen")
            device = table.device("pad1")
            assert device is not None
            assert "unplugged" in device.problem
            pad.press(b)
            pad.replug()
            table.wait_ready("pad1")
            assert table.wait_presses(b + 1)[-1].resent


def test_trap_01_over_tcp_too() -> None:
    with FakePad.on_tcp("pad1", inputs=2) as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        pad.unplug()
        until(lambda: not table.is_ready("pad1"), "the loss is seen")
        pad.press(1)
        pad.replug()
        table.wait_ready("pad1")
        assert table.wait_presses(1)[0].resent


def test_trap_01_a_stream_whose_other_end_is_gone_is_closed_all_the_same() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = open_port(f"socket://127.0.0.1:{server.getsockname()[1]}", 9600)
        other, _ = server.accept()
        other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other.close()
    with pytest.raises(serial.SerialException):
        while not read_chunk(port):
            pass
    stream = port._socket
    close_port(port)
    assert stream.fileno() == -1


def test_trap_04_a_pad_that_comes_back_under_another_name_is_the_same(tmp_path: Path) -> None:
    with (
        FakePad.on_pty("pad1", tmp_path / "ttyUSB0") as pad,
        bridged(SerialLink([str(tmp_path / "ttyUSB*")])) as table,
    ):
        table.wait_ready("pad1")
        pad.press()
        table.wait_presses(1)
        pad.unplug()
        until(lambda: not table.is_ready("pad1"), "the loss is seen")
        pad.replug(tmp_path / "ttyUSB1")
        table.wait_ready("pad1")
        device = table.device("pad1")
        assert device is not None
        assert device.link.endswith("ttyUSB1")
        pad.press()
        assert [press.boot for press in table.wait_presses(2)] == [pad.boot] * 2
        until(lambda: len(table.bridge.links()) == 1, "the old name is forgotten")


def test_trap_02_two_programs_on_one_port_the_second_is_told_who_holds_it() -> None:
    with FakePad.on_pty("pad1") as pad:
        code = (
            "import serial, sys, time\n"
            "port = serial.Serial(sys.argv[1], exclusive=True)\n"
            "print('open', flush=True)\n"
            "sys.stdin.read()\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code, pad.port], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout is not None
            assert other.stdin is not None
            assert other.stdout.readline() == "open\n"
            with bridged(SerialLink([pad.port])) as table:
                until(lambda: (link := table.link(pad.port)) and "in use" in link.problem, "the holder")
                link = table.link(pad.port)
                assert link is not None
                assert str(other.pid) in link.problem
                assert link.mend == "close that program"
                other.stdin.close()
                other.wait()
                table.wait_ready("pad1")


def test_trap_02_nobody_gets_a_port_that_we_hold() -> None:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        with pytest.raises(serial.SerialException, match="lock"):
            serial.Serial(pad.port, exclusive=True)


def test_trap_03_a_child_does_not_inherit_the_port() -> None:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        listing = subprocess.run(
            [sys.executable, "-c", "import os; [print(os.readlink(e)) for e in os.scandir('/proc/self/fd')]"],
            capture_output=True,
            text=True,
            check=False,
            close_fds=False,
        )
        assert os.path.realpath(pad.port) not in listing.stdout


def test_trap_06_the_port_is_built_closed_with_its_lines_low(monkeypatch: pytest.MonkeyPatch) -> None:
    at_open: list[tuple[bool, bool, Any, Any]] = []
    real_open = serial.Serial.open

    def spy(port: serial.Serial) -> None:
        at_open.append((port.dtr, port.rts, port.exclusive, port.write_timeout))
        real_open(port)

    monkeypatch.setattr(serial.Serial, "open", spy)
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
    assert at_open == [(False, False, True, 0.5)]


@pytest.mark.parametrize(
    ("vid", "pid", "rises"),
    [(0x2341, 0x8036, True), (0x2E8A, 0x0005, True), (0x2341, 0x0043, False), (None, None, False)],
)
def test_trap_06_dtr_rises_for_a_board_that_says_nothing_without_it(
    monkeypatch: pytest.MonkeyPatch, vid: int | None, pid: int | None, rises: bool
) -> None:
    with FakePad.on_pty() as pad:
        plugged = SimpleNamespace(device=os.path.realpath(pad.port), vid=vid, pid=pid)
        monkeypatch.setattr(serial_link.list_ports, "comports", lambda: [plugged])
        port = serial_link.open_port(pad.port, 115_200)
        assert (port.dtr, port.rts) == (rises, False)
        port.close()


def test_trap_07_and_08_garbage_is_counted_and_the_pad_goes_on() -> None:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        pad.garbage(b"\n" + os.urandom(3_000).replace(b"\n", b"-") + b"\n" + b"rst:0x1\n" * 5)
        pad.press()
        table.wait_presses(1)
        until(lambda: (device := table.device("pad1")) and device.counters.noise >= 5, "noise counted")
        device = table.device("pad1")
        assert device is not None
        assert device.counters.too_long == 1


def test_trap_09_an_idle_port_is_read_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0
    real_read = serial.Serial.read

    def spy(port: serial.Serial, size: int = 1) -> bytes:
        nonlocal reads
        reads += 1
        return real_read(port, size)

    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        time.sleep(0.5)  # the first questions are over
        pad.mute()
        monkeypatch.setattr(serial.Serial, "read", spy)
        time.sleep(1.0)
    assert reads <= 8


def test_trap_10_low_latency_is_tried_and_the_round_trip_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    def refuse(_port: serial.Serial, is_low: bool) -> None:
        tried.append(is_low)
        raise ValueError("not here")

    monkeypatch.setattr(serial.Serial, "set_low_latency_mode", refuse)
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        device = table.device("pad1")
    assert tried == [True]
    assert device is not None
    assert device.rtt_ns is not None
    assert device.rtt_ns > 0


@pytest.mark.parametrize(
    ("number", "problem", "mend"),
    [
        (errno.EACCES, "no permission", "dialout"),
        (errno.EBUSY, "in use by", "close that program"),
        (errno.EIO, "cannot be opened", "cable"),
    ],
)
def test_trap_11_what_is_wrong_is_said_with_its_mend(
    number: int, problem: str, mend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tty"
    path.touch()

    def fail(_path: str, _baud: int) -> None:
        raise serial.SerialException(number, os.strerror(number))

    monkeypatch.setattr(serial_link, "open_port", fail)
    with bridged(SerialLink([str(path)])) as table:
        until(lambda: (link := table.link("tty")) and link.mend, "an explanation")
        link = table.link("tty")
        assert link is not None
        assert problem in link.problem
        assert mend in link.mend


def test_trap_12_a_pad_lets_the_modem_manager_type() -> None:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        with open(pad.port, "wb", buffering=0) as other:  # noqa: PTH123  # a device
            other.write(b"\nAT\r\nAT+GCAP\r\n\x7e\x00\x78\xf0\x7e\n")
        table.wait_ready("pad1")
        assert pad.counters.noise >= 2


def test_trap_13_it_starts_without_any_hardware() -> None:
    with bridged(SerialLink(["auto", "/dev/no-such-pad"], discover=list)) as table:
        until(
            lambda: (link := table.link("no-such-pad")) and "there is no /dev/no-such-pad" in link.problem,
            "the missing port is told",
        )
        assert table.bridge.devices() == ()
        asked_ns = time.monotonic_ns()
        assert table.bridge.watermark_ns() >= asked_ns


def test_trap_13_a_port_that_takes_nothing_stops_nobody() -> None:
    """A pad that says hello and never reads again: the other pad is not kept waiting, nor is the end."""
    master, slave = os.openpty()
    name = os.ttyname(slave)
    deaf = PadModel("deaf", (("button", "one"),), (("led", "ring"),), boot=1)
    try:
        with FakePad.on_pty("pad1") as pad:
            with bridged(SerialLink([name, pad.port])) as table:
                table.wait_ready("pad1")
                os.write(master, b"".join(wrap(body_of(message)) for message in deaf.hello(0)))
                until(lambda: table.device("deaf"), "the deaf one is known")
                for _ in range(1_000):
                    table.bridge.play(Cue(target="all", pattern="go", text="Go"), {"a": [("deaf", 0)]})
                pad.press()
                table.wait_presses(1)
                assert table.is_ready("pad1")
                assert not table.is_ready("deaf")
                stopping_s = time.monotonic()
            assert time.monotonic() - stopping_s < 4
    finally:
        os.close(master)
        os.close(slave)


def test_what_answers_in_no_tada_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "SILENT_NS", 300 * MS)  # three seconds are shown in virtual time
    master, slave = os.openpty()
    try:
        with bridged(SerialLink([os.ttyname(slave)])) as table:
            until(
                lambda: any("answers in tada/1" in link.problem for link in table.bridge.links()),
                "the stranger is told",
            )
    finally:
        os.close(master)
        os.close(slave)


def test_auto_takes_usb_ports_and_gives_strangers_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serial_link, "_PROBE_S", 0.3)
    master, slave = os.openpty()
    stranger = os.ttyname(slave)
    try:
        with (
            FakePad.on_pty("pad1") as pad,
            bridged(SerialLink(discover=lambda: [stranger, pad.port])) as table,
        ):
            table.wait_ready("pad1")
            until(
                lambda: (link := table.link(stranger)) and "no pad answered" in link.problem,
                "the stranger is given back",
            )
            serial.Serial(stranger, exclusive=True).close()
            assert table.is_ready("pad1")
    finally:
        os.close(master)
        os.close(slave)


def test_speeds_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serial_link, "_PROBE_S", 0.3)
    speeds: list[int] = []
    real = serial.Serial._reconfigure_port

    def spy(port: serial.Serial, force_update: bool = False) -> None:
        speeds.append(port.baudrate)
        real(port, force_update)

    monkeypatch.setattr(serial.Serial, "_reconfigure_port", spy)
    with FakePad.on_pty("pad1") as pad:
        pad.mute()
        with bridged(SerialLink([pad.port])) as table:
            until(lambda: 115_200 in speeds, "the second speed")
            pad.mute(False)
            table.wait_ready("pad1")
    assert speeds[0] == 921_600


@pytest.mark.parametrize("error", [termios.error(5, "I/O error"), RuntimeError("odd driver"), TypeError()])
def test_trap_01_whatever_a_driver_raises_the_port_is_tried_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_chunk, real_open = serial_link.read_chunk, serial_link.open_port
    to_fail = {"open": 1, "read": 1}

    def may_fail(where: str) -> None:
        if to_fail[where]:
            to_fail[where] -= 1
            raise error

    def open_(path: str, baud: int) -> serial.Serial:
        may_fail("open")
        return real_open(path, baud)

    def chunk(port: serial.Serial) -> bytes:
        may_fail("read")
        return real_chunk(port)

    monkeypatch.setattr(serial_link, "open_port", open_)
    monkeypatch.setattr(serial_link, "read_chunk", chunk)
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
    assert to_fail == {"open": 0, "read": 0}


def test_a_list_of_ports_that_fails_is_asked_for_again() -> None:
    with FakePad.on_pty("pad1") as pad:
        answers = [OSError("no sysfs"), None]

        def discover() -> list[str]:
            if answers and (error := answers.pop(0)):
                raise error
            return [pad.port]

        with bridged(SerialLink(discover=discover)) as table:
            table.wait_ready("pad1")


@pytest.mark.parametrize(
    ("target", "reason"),
    [("", "name a serial port"), ("http://x", "no serial port"), ("/dev/ttyUSB0@fast", "must be a number")],
)
def test_a_bad_target_is_refused_in_one_line(target: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        SerialLink([target])
    assert "\n" not in str(caught.value)


def test_a_flood_loses_no_line() -> None:
    count = 20_000
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        base_us = pad.device_us(time.monotonic_ns())
        frames = [wrap(body_of(Down(b=0, n=n, us=(base_us + n) % 2**32))) for n in range(1, count + 1)]
        for at in range(0, count, 100):
            pad.garbage(b"".join(frames[at : at + 100]))
        until(lambda: len(table.presses) == count, f"all lines; {len(table.presses)}", 30)
        assert [press.n for press in table.presses] == list(range(1, count + 1))


def test_reboot_over_a_real_line() -> None:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        pad.press()
        table.wait_presses(1)
        old = pad.boot
        pad.reboot()
        until(lambda: (device := table.device("pad1")) and device.boot == pad.boot, "the new boot")
        table.wait_ready("pad1")
        pad.press()
        assert [(press.boot, press.n) for press in table.wait_presses(2)] == [(old, 1), (pad.boot, 1)]


def test_stop_and_start_again_frees_the_port() -> None:
    with FakePad.on_pty("pad1") as pad:
        for _ in range(3):
            with bridged(SerialLink([pad.port])) as table:
                table.wait_ready("pad1")
