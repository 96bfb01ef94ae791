"""The bridge's thread: nothing lost in a stall, nothing locked, no sink that can break it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from companion.core.cue import Cue
from companion.core.observation import Observation, Pressed
from firmware_bridge import link as link_module
from firmware_bridge.framing import LineSplitter, WireCounters, unwrap, wrap
from firmware_bridge.hub import Hub
from firmware_bridge.link import Bridge
from firmware_bridge.messages import Down, FromDevice, body_of, to_device
from firmware_bridge.pad_model import PadModel
from firmware_bridge.wire import Arrival, Closed, Heard, Kind, LinkStatus, Opened, RaceClass

from bridge_rig import until  # isort: skip


class DirectLink:
    """A link without any wire: a pad model that answers in the bridge's own thread."""

    is_trusted = True
    race_class: RaceClass = "ranked"

    def __init__(self, device: str = "pad1") -> None:
        self.name = f"direct {device}"
        self.model = PadModel(device, (("button", "one"),), (("led", "ring"),), boot=1)
        self.answered_ns = 0
        self._splitter = LineSplitter(WireCounters())
        self.post: Callable[[Arrival], None] = lambda _arrival: None
        self._now_ns: Callable[[], int] = time.monotonic_ns

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        self.post, self._now_ns = post, now_ns
        post(Opened("x"))
        self.say(self.model.hello(self.us()))

    def stop(self) -> None: ...

    def us(self) -> int:
        return self._now_ns() // 1000

    def say(self, messages: list[FromDevice]) -> None:
        for message in messages:
            self.post(Heard("x", wrap(body_of(message)), self._now_ns()))

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        self.answered_ns = self._now_ns() if kind == "sync" else self.answered_ns
        for line in self._splitter.feed(frames):
            frame = unwrap(line, WireCounters())
            message = None if frame is None else to_device(frame, WireCounters())
            if message is not None:
                self.say(self.model.hear(self.us(), message))
        return True

    def tell_table(self, frame: bytes) -> bool:
        return False

    def keep(self, route: str) -> None: ...

    def status(self) -> tuple[LinkStatus, ...]:
        return (LinkStatus("direct", True),)

    def down(self, n: int) -> None:
        self.say([Down(b=0, n=n, us=self.us() % 2**32)])


def ready(bridge: Bridge) -> bool:
    return [device.state for device in bridge.devices()] == ["ready"]


def test_a_stall_of_the_sink_loses_nothing_and_looks_like_no_silence() -> None:
    link, seen = DirectLink(), list[int]()
    go_on = threading.Event()

    def sink(observation: Observation) -> None:
        if isinstance(observation, Pressed):
            seen.append(observation.n)
            go_on.wait(10)

    bridge = Bridge([link], sink)
    bridge.start()
    until(lambda: ready(bridge), "ready")
    for n in range(1, 2_001):
        link.down(n)
    until(lambda: seen, "the first")
    time.sleep(0.2)
    assert seen == [1]
    go_on.set()
    until(lambda: len(seen) == 2_000, "all")
    assert seen == list(range(1, 2_001))
    assert bridge.devices()[0].lost == 0
    bridge.stop()


def test_the_sink_may_call_anything(caplog: pytest.LogCaptureFixture) -> None:
    link, seen = DirectLink(), list[int]()

    def sink(observation: Observation) -> None:
        if isinstance(observation, Pressed):
            bridge.ask_all(time.monotonic_ns())
            bridge.play(Cue(target="all", pattern="slam", text="Slam"), {"a": [("pad1", 0)]})
            bridge.arm(1, {"pad1": 1}, time.monotonic_ns())
            bridge.set_key("pad1", b"k")
            bridge.set_mode("open")
            bridge.devices(), bridge.links(), bridge.silent(), bridge.watermark_ns()
            seen.append(observation.n)

    bridge = Bridge([link], sink)
    bridge.start()
    until(lambda: ready(bridge), "ready")
    for n in range(1, 51):
        link.down(n)
    until(lambda: len(link.model.played) == 50, "all lights")
    assert len(seen) == 50
    bridge.stop()
    assert caplog.records == []


def test_a_sink_that_raises_gets_the_next_one_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    link, seen = DirectLink(), list[int]()

    def sink(observation: Observation) -> None:
        if isinstance(observation, Pressed):
            seen.append(observation.n)
            raise RuntimeError("the table broke")

    bridge = Bridge([link], sink)
    bridge.start()
    until(lambda: ready(bridge), "ready")
    link.down(1)
    link.down(2)
    until(lambda: len(seen) == 2, "both")
    bridge.stop()
    assert len([record for record in caplog.records if "could not be taken" in record.message]) == 2


def test_it_stops_while_a_link_waits_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "_QUEUE", 4)
    link, go_on = DirectLink(), threading.Event()
    began = threading.Event()

    def sink(observation: Observation) -> None:
        if isinstance(observation, Pressed):
            began.set()
            go_on.wait(10)

    bridge = Bridge([link], sink)
    bridge.start()
    until(lambda: ready(bridge), "ready")
    flood = threading.Thread(target=lambda: [link.down(n) for n in range(1, 100)])
    flood.start()
    assert began.wait(5)
    stopping = threading.Thread(target=bridge.stop)
    stopping.start()
    flood.join(5)
    assert not flood.is_alive()
    go_on.set()
    stopping.join(5)
    assert not stopping.is_alive()


def test_commands_beyond_a_full_queue_are_dropped_aloud(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(link_module, "_QUEUE", 4)
    bridge = Bridge([], lambda _seen: None)
    for _ in range(6):
        bridge.arm(1, {}, 0)
    assert len(caplog.records) == 2


def test_the_watermark_never_goes_back_and_follows_the_clock_without_devices() -> None:
    now = [10_000_000_000]
    bridge = Bridge([], lambda _seen: None, lambda: now[0])
    assert bridge.watermark_ns() == now[0]
    now[0] -= 5
    assert bridge.watermark_ns() == now[0] + 5


def test_it_says_when_the_watermark_has_moved() -> None:
    link, passed = DirectLink(), list[int]()
    bridge = Bridge([link], lambda _seen: None, moved=lambda: passed.append(bridge.watermark_ns()))
    bridge.start()
    until(lambda: ready(bridge), "ready")
    before_ns = time.monotonic_ns()
    link.down(1)
    until(lambda: passed, "told", 2)
    assert passed[0] > before_ns
    bridge.stop()


def test_nobody_is_woken_before_the_last_pad_has_answered() -> None:
    quick, slow, woken = DirectLink(), DirectLink("pad2"), list[int]()
    bridge = Bridge([quick, slow], lambda _seen: None, moved=lambda: woken.append(bridge.watermark_ns()))
    bridge.start()
    until(lambda: [device.state for device in bridge.devices()] == ["ready", "ready"], "ready")
    for _ in range(5):
        asked_ns = time.monotonic_ns()
        bridge.ask_all(asked_ns)
        until(lambda: woken, "both have answered")
        assert woken[0] >= asked_ns
        assert min(quick.answered_ns, slow.answered_ns) > asked_ns
        assert len(woken) == 1
        woken.clear()
    bridge.stop()


def test_whoever_asks_for_the_press_that_came_last_causes_no_second_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, presses = list[int](), list[Pressed]()
    real = Hub.ask_all
    monkeypatch.setattr(
        Hub, "ask_all", lambda hub, until_ns, now_ns: (asked.append(until_ns), real(hub, until_ns, now_ns))
    )
    link = DirectLink()
    bridge = Bridge([link], lambda seen: presses.append(seen) if isinstance(seen, Pressed) else None)
    bridge.start()
    until(lambda: ready(bridge), "ready")
    link.down(1)
    until(lambda: presses and asked, "it is asked for by itself")
    by_itself, later_ns = len(asked), time.monotonic_ns()
    bridge.ask_all(presses[0].seen_ns)
    bridge.ask_all(later_ns)
    until(lambda: asked[-1] == later_ns, "another instant is asked for")
    assert len(asked) == by_itself + 1
    bridge.stop()


def test_a_way_that_closes_is_a_device_lost() -> None:
    link, seen = DirectLink(), list[Observation]()
    bridge = Bridge([link], seen.append)
    bridge.start()
    until(lambda: ready(bridge), "ready")
    link.post(Closed("x", "it was unplugged"))
    until(lambda: [device.state for device in bridge.devices()] == ["lost"], "lost")
    assert bridge.devices()[0].problem == "pad1: it was unplugged"
    bridge.stop()
