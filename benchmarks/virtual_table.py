"""Pads and a host in virtual time: the real codec, sessions and hub, over lines whose delays are made up.

True time is virtual nanoseconds, which is also the host's clock. Lines are first in, first out.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable

from companion.core.observation import DeviceChanged, Observation, Pressed
from firmware_bridge.framing import LineSplitter, WireCounters, unwrap, wrap
from firmware_bridge.hub import Hub
from firmware_bridge.messages import DeviceEvent, Down, FromDevice, SyncReply, body_of, to_device
from firmware_bridge.pad_model import PadModel
from firmware_bridge.wire import Arrival, Closed, Heard, Kind, LinkStatus, Opened, RaceClass

MS = 1_000_000
Delay = Callable[[], int]


class VirtualPad:
    """A pad whose clock starts at `starts_at_us` and runs `drift_ppm` fast, on a line with the delays `up` and `down`.

    `last_n`: of the events of this start. `arrived_ns`: when each press reached the host, by its number. `one_ping_ns`:
    by how much its clock would be off, in host time, if its last question and answer alone were taken.
    """

    def __init__(
        self,
        table: VirtualTable,
        device_id: str,
        *,
        inputs: int = 1,
        kind: str = "button",
        starts_at_us: int = 0,
        drift_ppm: float = 0.0,
        st_us: int = 0,
        up: Delay = lambda: 200_000,
        down: Delay = lambda: 200_000,
        boot: int = 1,
    ) -> None:
        self.table = table
        self.id = device_id
        self.drift_ppm = drift_ppm
        self.st_us = st_us
        self.up, self.down = up, down
        self.inputs = tuple((kind, f"{kind} {b}") for b in range(inputs))
        self.is_muted = False
        self.spoil: Callable[[bytes], bytes] = lambda frame: frame
        self._counters = WireCounters()
        self._splitter = LineSplitter(self._counters)
        self._up_free_ns = self._down_free_ns = 0
        self._heard_after_ns = 0
        self.one_ping_ns = 0
        self.arrived_ns: dict[int, int] = {}
        self._poll_at_ns = 0
        self.power_on(boot, starts_at_us)

    def power_on(self, boot: int, starts_at_us: int = 0) -> None:
        self._zero_ns, self._zero_us = self.table.now_ns, starts_at_us
        self.last_n = 0
        self.model = PadModel(self.id, self.inputs, (("led", "ring"),), boot=boot, st_us=self.st_us)
        self._poll_at_ns = 0

    def us(self, at_ns: int) -> int:
        return self._zero_us + round((at_ns - self._zero_ns) * (1 + self.drift_ppm * 1e-6) / 1000)

    def leap(self, by_us: int) -> None:
        self._zero_us += by_us

    def hello(self) -> None:
        self.say(self.model.hello(self.us(self.table.now_ns)))

    def press(self, at_ns: int, b: int = 0, *, force: int | None = None, hold_ns: int = 80 * MS) -> None:
        self.table.at(at_ns, lambda: self._edge(b, True, force))
        self.table.at(at_ns + hold_ns, lambda: self._edge(b, False, None))

    def say(self, messages: list[FromDevice]) -> None:
        if not self.is_muted:
            for message in messages:
                self.raw(self.spoil(wrap(body_of(self._stamped(message)))))
                self._note(message)

    def raw(self, data: bytes) -> None:
        if data:
            self._up_free_ns = max(self._up_free_ns, self.table.now_ns + self.up())
            self.table.deliver(self, data, self._up_free_ns)

    def _note(self, message: FromDevice) -> None:
        """Keep what simpler methods would go by: when a press arrives, and what one answer says."""
        if isinstance(message, DeviceEvent):
            self.last_n = max(self.last_n, message.n)
        if isinstance(message, Down) and not message.re:
            self.arrived_ns[message.n] = self._up_free_ns
        elif isinstance(message, SyncReply):
            self.one_ping_ns = (self._up_free_ns - self.table.now_ns - self._heard_after_ns) // 2

    def take(self, frames: bytes) -> None:
        """The host sent frames now."""
        self._down_free_ns = max(self._down_free_ns, self.table.now_ns + self.down())
        took_ns = self._down_free_ns - self.table.now_ns
        self.table.at(self._down_free_ns, lambda: self._hear(frames, took_ns))

    def poll(self) -> None:
        now_ns = self.table.now_ns
        self.say(self.model.poll(self.us(now_ns)))
        ahead_us = max(self.model.due_us() - self.us(now_ns), 100)
        due_ns = now_ns + ahead_us * 1000
        if not now_ns < self._poll_at_ns <= due_ns:
            self._poll_at_ns = due_ns
            self.table.at(due_ns, lambda: self.poll() if self._poll_at_ns == due_ns else None)

    def _stamped(self, message: FromDevice) -> FromDevice:
        if isinstance(message, SyncReply):
            return SyncReply(
                id=message.id,
                h=message.h,
                r=message.r,
                x=self.us(self.table.now_ns) % 2**32,
                n=message.n,
            )
        return message

    def _edge(self, b: int, is_down: bool, force: int | None) -> None:
        self.say(self.model.edge(self.us(self.table.now_ns), b, is_down=is_down, force=force))
        self.poll()

    def _hear(self, frames: bytes, took_ns: int) -> None:
        self._heard_after_ns = took_ns
        for line in self._splitter.feed(frames):
            frame = unwrap(line, self._counters)
            message = None if frame is None else to_device(frame, self._counters)
            if message is not None:
                self.say(self.model.hear(self.us(self.table.now_ns), message))
        self.poll()


class VirtualTable:
    """One host, any number of pads. `seen` holds (host ns of the sink's call, observation)."""

    name = "virtual"
    is_trusted = True
    race_class: RaceClass = "ranked"

    def __init__(self, *, chop: Callable[[bytes], list[bytes]] = lambda data: [data]) -> None:
        self.now_ns = 1_000 * MS
        self.seen: list[tuple[int, Observation]] = []
        self.on_seen: Callable[[Observation], None] = lambda seen: None
        self.hub = Hub(self._take)
        self.pads: dict[str, VirtualPad] = {}
        self.kept: list[str] = []
        self._chop = chop
        self._heap: list[tuple[int, int, Callable[[], object]]] = []
        self._order = 0
        self._hub_at_ns = -1
        self.ticks = 0

    def plug(self, pad: VirtualPad, *, says_hello: bool = True) -> VirtualPad:
        self.pads[pad.id] = pad
        self.post(Opened(pad.id))
        if says_hello:
            pad.hello()
        pad.poll()
        return pad

    def unplug(self, pad: VirtualPad) -> None:
        del self.pads[pad.id]
        self.post(Closed(pad.id, "it was unplugged"))

    def post(self, arrival: Arrival) -> None:
        self.hub.arrived(self, arrival, self.now_ns)
        self._tick()

    def at(self, at_ns: int, do: Callable[[], object]) -> None:
        self._order += 1
        heapq.heappush(self._heap, (at_ns, self._order, do))

    def run(self, ns: int) -> None:
        self.run_to(self.now_ns + ns)

    def run_to(self, until_ns: int) -> None:
        while self._heap and self._heap[0][0] <= until_ns:
            at_ns, _, do = heapq.heappop(self._heap)
            self.now_ns = max(self.now_ns, at_ns)
            do()
        self.now_ns = until_ns

    def deliver(self, pad: VirtualPad, data: bytes, at_ns: int) -> None:
        def arrive() -> None:
            if pad.id in self.pads:
                for part in self._chop(data):
                    self.post(Heard(pad.id, part, self.now_ns))

        self.at(at_ns, arrive)

    def _take(self, seen: Observation) -> None:
        self.seen.append((self.now_ns, seen))
        self.on_seen(seen)

    def _tick(self) -> None:
        self.ticks += 1
        due_ns = max(self.hub.tick(self.now_ns), self.now_ns + 10_000)
        if not self.now_ns < self._hub_at_ns <= due_ns:
            self._hub_at_ns = due_ns
            self.at(due_ns, lambda: self._tick() if self._hub_at_ns == due_ns else None)

    # as a link

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None: ...

    def stop(self) -> None: ...

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        pad = self.pads.get(route)
        if pad is not None:
            pad.take(frames)
        return pad is not None

    def tell_table(self, frame: bytes) -> bool:
        return False

    def keep(self, route: str) -> None:
        self.kept.append(route)

    def status(self) -> tuple[LinkStatus, ...]:
        return ()

    # what tests look at

    @property
    def presses(self) -> list[Pressed]:
        return [seen for _, seen in self.seen if isinstance(seen, Pressed)]

    def changes(self, device: str) -> list[DeviceChanged]:
        return [seen for _, seen in self.seen if isinstance(seen, DeviceChanged) and seen.source == device]

    def states(self, device: str) -> list[str]:
        """Its states, each as often as it was entered."""
        told = [seen.state for seen in self.changes(device)]
        return [state for state, _ in itertools.groupby(told)]

    def ask(self) -> None:
        self.hub.ask_all(self.now_ns, self.now_ns)
        self._tick()


Law = Callable[[random.Random], tuple[Delay, Delay]]
"""Makes (down, up): the delays of one line, each call one message."""


def usb(rng: random.Random) -> tuple[Delay, Delay]:
    """USB CDC: up to a frame of 1 ms on the way up."""
    return (lambda: round(rng.uniform(0.05, 0.2) * MS)), (lambda: round(rng.uniform(0.05, 1.1) * MS))


def ftdi(rng: random.Random) -> tuple[Delay, Delay]:
    """An FTDI chip whose latency timer of 16 ms nobody lowered."""
    return (lambda: round(rng.uniform(0.05, 0.2) * MS)), (lambda: round(rng.uniform(0.1, 16.0) * MS))


def _radio(rng: random.Random, least_ms: float, mean_ms: float, spikes: tuple[float, float, float]) -> Delay:
    """A least time, an exponential, and a share of spikes between two bounds."""
    share, low_ms, high_ms = spikes

    def one() -> int:
        spike = rng.uniform(low_ms, high_ms) if rng.random() < share else 0.0
        return round((least_ms + rng.expovariate(1 / mean_ms) + spike) * MS)

    return one


def wifi(rng: random.Random) -> tuple[Delay, Delay]:
    """Wi-Fi without power save: 1.2 ms and an exponential of 1.5, 2 % spikes of 10 to 120."""
    one = _radio(rng, 1.2, 1.5, (0.02, 10, 120))
    return one, one


def busy_wifi(rng: random.Random) -> tuple[Delay, Delay]:
    """Wi-Fi that many share: 2 ms and an exponential of 8, 8 % spikes of 20 to 300."""
    one = _radio(rng, 2.0, 8.0, (0.08, 20, 300))
    return one, one


def modem_sleep(rng: random.Random) -> tuple[Delay, Delay]:
    """A radio that sleeps: what goes down waits for the next beacon."""
    return (lambda: round(rng.uniform(1, 103) * MS)), (lambda: round(rng.uniform(1.2, 4) * MS))


LAWS: dict[str, Law] = {
    "USB": usb, "FTDI": ftdi, "Wi-Fi": wifi, "busy Wi-Fi": busy_wifi, "modem sleep": modem_sleep,
}  # fmt: skip
