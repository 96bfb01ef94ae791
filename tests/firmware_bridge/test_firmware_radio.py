"""The MicroPython pad's own loop with a broker and a cable that are played: what goes where, signed by what key.

Wi-Fi, umqtt and pins are stand-ins here; no board was tried.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from firmware_tools import MICROPYTHON

from firmware_bridge import topics
from firmware_bridge.framing import WireCounters, is_authentic, unwrap, wrap

KEY = bytes(range(16))
MODULES = (
    "tada_main",
    "tada_radio",
    "tada_board",
    "tada_pad",
    "tada_wire",
    "tada_patterns",
    "pad_settings",
    "board_pico",
)


class Air:
    """The broker, the network, the cable, the pins and the clock of one board."""

    def __init__(self) -> None:
        self.us = 0
        self.published: list[tuple[bytes, bytes, bool, int]] = []
        self.subscribed: list[tuple[bytes, int]] = []
        self.will: tuple[bytes, bytes, bool, int] | None = None
        self.waiting: list[tuple[bytes, bytes]] = []
        self.is_down = False
        self.connections = 0
        self.tries = 0
        self.closed = 0
        self.pins: dict[int, Any] = {}
        self.typed = b""
        self.printed: list[bytes] = []

    def read(self) -> bytes:
        typed, self.typed = self.typed, b""
        return typed

    def write(self, lines: list[bytes]) -> None:
        self.printed += lines

    def said(self, channel: str) -> list[bytes]:
        root = f"tada/1/table/pad1/{channel}".encode()
        return [
            line
            for topic, data, _, _ in self.published
            if topic == root
            for line in data.split(b"\n")
            if line
        ]


def stand_ins(air: Air) -> dict[str, ModuleType]:
    """The modules of a board, as far as the firmware asks them."""

    class Socket:
        def settimeout(self, seconds: float) -> None: ...
        def close(self) -> None:
            air.closed += 1

        def setsockopt(self, *_option: int) -> None:
            raise OSError  # a port that cannot

    class MQTTClient:
        def __init__(self, _name: str, _server: str, **_more: object) -> None:
            self.sock = Socket()

        def set_last_will(self, *will: Any) -> None:
            air.will = will

        def set_callback(self, hear: Any) -> None:
            self._hear = hear

        def connect(self, *, clean_session: bool, timeout: float) -> None:
            air.tries += 1
            if air.is_down:
                air.us += round(timeout * 1e6)
                raise OSError
            assert clean_session
            air.connections += 1

        def subscribe(self, topic: bytes, qos: int) -> None:
            air.subscribed.append((topic, qos))

        def publish(self, topic: bytes, data: bytes, retain: bool = False, qos: int = 0) -> None:
            if air.is_down:
                raise OSError
            air.published.append((topic, data, retain, qos))

        def check_msg(self) -> None:
            if air.is_down:
                raise OSError
            if air.waiting:
                self._hear(*air.waiting.pop(0))

        def ping(self) -> None: ...

    class WLAN:
        PM_NONE = 0

        def __init__(self, _kind: int) -> None: ...
        def active(self, _is_on: bool) -> None: ...
        def config(self, **_options: int) -> None: ...
        def connect(self, *_names: str) -> None: ...
        def isconnected(self) -> bool:
            return True

        def status(self, _what: str) -> int:
            return -51

    class Pin:
        IN, OUT, PULL_UP, IRQ_FALLING, IRQ_RISING = range(5)

        def __init__(self, number: int, *_how: int, value: int = 1) -> None:
            self.level, self.handler = value, lambda _pin: None
            air.pins[number] = self

        def irq(self, handler: Any, _trigger: int, hard: bool = False) -> None:
            self.handler = handler

        def init(self, *_how: int, value: int = 0) -> None:
            self.level = value

        def value(self, level: int | None = None) -> int:
            self.level = self.level if level is None else level
            return self.level

        def move(self, level: int) -> None:
            self.level = level
            self.handler(self)

    class PWM:
        def __init__(self, _pin: Pin) -> None: ...
        def freq(self, _hz: int) -> None: ...
        def duty_u16(self, _duty: int) -> None: ...
        def deinit(self) -> None: ...

    machine, network, umqtt, simple = (ModuleType(n) for n in ("machine", "network", "umqtt", "umqtt.simple"))
    machine.Pin, machine.PWM = Pin, PWM  # type: ignore[attr-defined]  # a module that is made here
    machine.disable_irq, machine.enable_irq = lambda: 0, lambda _state: None  # type: ignore[attr-defined]  # the same
    network.WLAN, network.STA_IF = WLAN, 0  # type: ignore[attr-defined]  # the same
    simple.MQTTClient = MQTTClient  # type: ignore[attr-defined]  # the same
    return {"machine": machine, "network": network, "umqtt": umqtt, "umqtt.simple": simple}


class Pad:
    """The firmware's runner on such a board."""

    def __init__(self, air: Air, *, key: bytes | None) -> None:
        main, radio, board, core = (importlib.import_module(n) for n in MODULES[:4])
        settings, pins = importlib.import_module("pad_settings"), importlib.import_module("board_pico")
        self.air = air
        radio_way = radio.Radio(settings)
        inputs, outputs = ([port[:2] for port in ports] for ports in (pins.INPUTS, pins.OUTPUTS))
        self.core = core.Pad("pad1", inputs, outputs, 77, has_radio=True)
        self.core.key = key
        radio_way.pad = self.core
        self.runner = main.Runner(self.core, board.Board(pins), air, radio_way)

    def run(self, ms: int) -> None:
        for _ in range(ms):
            self.air.us += 1_000
            self.runner.once()


@pytest.fixture
def air(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Air]:
    made = Air()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(MICROPYTHON))
    monkeypatch.setattr(time, "ticks_us", lambda: made.us % 2**30, raising=False)
    monkeypatch.setattr(time, "ticks_ms", lambda: made.us // 1_000 % 2**30, raising=False)
    monkeypatch.setattr(
        time, "ticks_diff", lambda later, earlier: (later - earlier + 2**29) % 2**30 - 2**29, raising=False
    )
    for name, module in stand_ins(made).items():
        monkeypatch.setitem(sys.modules, name, module)
    yield made
    for name in MODULES:
        sys.modules.pop(name, None)


def test_over_wifi_each_line_goes_to_its_channel_and_is_signed(air: Air) -> None:
    pad = Pad(air, key=KEY)
    pad.run(5)
    assert air.will == (b"tada/1/table/pad1/$state", b"lost", True, 1)
    assert air.subscribed == [(b"tada/1/table/pad1/sync/req", 0), (b"tada/1/table/pad1/cmd", 1)]
    assert air.published[0] == (b"tada/1/table/pad1/$state", b"ready", True, 0)
    air.waiting = [
        (b"cmd", wrap(b'{"t":"who","p":[1]}', KEY)),
        (b"sync/req", wrap(b'{"t":"sync","id":4,"h":99}', KEY).rstrip()),
        (b"cmd", wrap(b'{"t":"led","b":0,"pattern":"go"}')),  # unsigned
        (b"cmd", wrap(b'{"t":"led","b":1,"pattern":"go"}', KEY)),
        (b"cmd", wrap(b'{"t":"key","n":5,"k":"00000000000000000000000000000000"}', KEY)),
    ]
    air.pins[3].move(0)
    pad.run(1_100)
    assert (air.pins[10].level, air.pins[11].level) == (0, 1)
    (described,) = [entry for entry in air.published if entry[0].endswith(b"$description")]
    assert described[1].count(b"\n") == 1 + 6 + 7
    assert described[2:] == (True, 0)
    counters = WireCounters()
    for channel in (topics.DESCRIPTION, topics.EVENTS, topics.HEARTBEAT, topics.SYNC_REPLY):
        lines = air.said(channel)
        assert lines
        for line in lines:
            frame = unwrap(line, counters)
            assert frame is not None
            assert is_authentic(frame, KEY)
    assert b'"t":"dn","b":1,"n":1' in air.said(topics.EVENTS)[0]
    assert b'"h":99' in air.said(topics.SYNC_REPLY)[0]
    assert any(b"only over a cable" in line for line in air.said(topics.HEARTBEAT))
    assert b'"err":{"mac":1},"rssi":-51' in air.said(topics.HEARTBEAT)[-1]
    assert pad.core.key == KEY


def test_a_broker_that_goes_is_tried_again_and_what_was_missed_comes_at_who(air: Air) -> None:
    pad = Pad(air, key=None)
    pad.run(5)
    air.is_down = True
    air.pins[2].move(0)
    pad.run(200)
    air.is_down = False
    pad.run(4_000)
    assert air.connections == 2
    air.waiting = [(b"cmd", wrap(b'{"t":"who","p":[1]}'))]
    pad.run(5)
    assert b'"t":"dn","b":0,"n":1' in air.said(topics.EVENTS)[-1]
    assert b'"re":1' in air.said(topics.EVENTS)[-1]


def test_a_host_on_the_cable_is_answered_there_and_gives_the_key(air: Air) -> None:
    pad = Pad(air, key=None)
    pad.run(5)
    air.printed.clear()
    air.typed = b"AT\r\n" + wrap(b'{"t":"key","n":5,"k":"' + KEY.hex().encode() + b'"}')
    pad.run(2)
    assert air.printed[0] == wrap(b'{"t":"ack","n":5}')
    assert importlib.import_module("tada_main").kept_key() == KEY
    before = len(air.said(topics.EVENTS))
    air.pins[2].move(0)
    pad.run(2)
    assert b'"t":"dn"' in air.printed[-1]
    assert len(air.said(topics.EVENTS)) == before
    pad.run(3_100)  # the cable is quiet: over the radio again, and signed now
    air.pins[2].move(1)
    pad.run(2)
    frame = unwrap(air.said(topics.EVENTS)[-1], WireCounters())
    assert frame is not None
    assert is_authentic(frame, KEY)


def test_a_pad_on_its_cable_never_waits_for_a_broker(air: Air) -> None:
    pad = Pad(air, key=None)
    pad.run(5)
    assert (air.connections, air.closed) == (1, 0)
    air.typed = wrap(b'{"t":"who","p":[1]}')
    pad.run(2)
    assert air.closed == 1  # the broker says that it is lost there
    air.is_down = True
    began_us = air.us
    for number in range(20):
        air.typed = wrap(b'{"t":"sync","id":%d,"h":5}' % number)
        pad.run(500)
    assert air.us - began_us == 10_000_000
    assert air.tries == 1
    pad.run(8_100)  # the cable is quiet: now it tries, and each try has an end and takes no socket with it
    assert air.tries == 3
    assert air.closed == 3
    air.is_down = False
    pad.run(3_100)
    assert air.connections == 2
