"""The bridge: all links and all devices, for the program that runs a table.

Threads, and why they cannot deadlock. Links read in threads of their own and put what they heard into one
bounded queue; calls from the program (`play`, `arm`, `ask_all`, ...) go into the same queue. One thread,
the bridge's, takes from it; it alone touches the hub, and it calls `sink`. It waits for nothing but that
queue: links send through queues of their own and never make it wait. So a link may wait for room in the
queue (back-pressure), and `sink` may call anything here, with no lock held by anyone. Answers (`devices`,
`watermark_ns`, `silent`) come from immutable snapshots that the bridge's thread publishes after `sink` has
had all that they count on.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future

import msgspec

from companion.core.cue import Cue
from companion.core.observation import Observation, Pressed
from firmware_bridge import verdict
from firmware_bridge.hub import IDLE_NS, Hub, Mode
from firmware_bridge.status import DeviceStatus
from firmware_bridge.wire import Arrival, Link, LinkStatus

__all__ = ["Bridge", "DeviceStatus", "Link", "LinkStatus", "Mode"]

_log = logging.getLogger(__name__)

_Item = tuple[Link, Arrival] | Callable[[], None]

_QUEUE = 4096
_AT_ONCE = 256
_SNAPSHOT_EVERY_NS = 200_000_000


class _Snapshot(msgspec.Struct, frozen=True):
    marks: tuple[verdict.Mark, ...] = ()
    held_ns: int | None = None
    devices: tuple[DeviceStatus, ...] = ()
    strangers: tuple[LinkStatus, ...] = ()

    def reach_ns(self, now_ns: int) -> int:
        """How far the watermark may be."""
        found = verdict.watermark_ns(self.marks, now_ns)
        return found if self.held_ns is None else min(found, self.held_ns)


class Bridge:
    """Feeds `sink` with what devices of all `links` see, in host time, and plays cues on them.

    `sink` is called in the bridge's own thread, one observation at a time, not in order of time; what it
    raises is logged and the next observation comes all the same. `now_ns` is the host's clock. `keys` are
    pad keys by device id; in mode ``strict`` a frame over an untrusted link must carry the MAC of its
    device's key, in mode ``open`` one without MAC is taken too (a wrong MAC never). `moved` is called in
    the bridge's thread when the watermark has come past a press that `sink` had, or past what `ask_all` asked
    for: not with each answer, or whoever waits for the last pad were woken by every one before.
    """

    def __init__(
        self,
        links: Iterable[Link],
        sink: Callable[[Observation], None],
        now_ns: Callable[[], int] = time.monotonic_ns,
        *,
        keys: Mapping[str, bytes] | None = None,
        mode: Mode = "open",
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self._links = tuple(links)
        self._sink = sink
        self._now_ns = now_ns
        self._moved = moved
        self._hub = Hub(self._pass_on, keys=keys, mode=mode)
        self._queue: queue.Queue[_Item] = queue.Queue(_QUEUE)
        self._snapshot = _Snapshot()
        self._snapshot_at_ns = 0
        self._watermark_ns = 0
        self._awaited_ns: list[int] = []  # a heap; of the bridge's thread
        self._pressed_ns = -1
        self._is_stopping = threading.Event()
        self._thread: threading.Thread | None = None

    # for the program

    def start(self) -> None:
        """Start the links and the bridge's thread; returns at once, whatever is or is not plugged in."""
        self._thread = threading.Thread(target=self._run, name="bridge", daemon=True)
        self._thread.start()
        for link in self._links:
            link.start(self._post_from(link), self._now_ns)

    def stop(self) -> None:
        """Stop links and thread. Nothing reaches `sink` afterwards. Not to be called from `sink`."""
        self._is_stopping.set()
        for link in self._links:
            link.stop()
        if self._thread is not None:
            self._thread.join()

    def devices(self) -> tuple[DeviceStatus, ...]:
        """All devices that ever said hello, sorted by id; at most half a second old."""
        return self._snapshot.devices

    def links(self) -> tuple[LinkStatus, ...]:
        """All links and their ports, and the ways where nobody answers in tada/1."""
        return tuple(status for link in self._links for status in link.status()) + self._snapshot.strangers

    def watermark_ns(self) -> int:
        """Host time up to which nothing earlier can still be in flight; never goes back.

        Every observation that `sink` has not had yet has a later `seen_ns`, but for devices that stay
        silent longer than `verdict.CAP_NS` (see `silent`), repeats from before a device was heard, and
        devices that have not been ready for that long. A press whose clock turns out to have gone wrong is
        handed in a second time, `suspect`, before this passes it. When no device is live: now.
        """
        self._watermark_ns = max(self._watermark_ns, self._snapshot.reach_ns(self._now_ns()))
        return self._watermark_ns

    def ask_all(self, until_ns: int) -> None:
        """Ask every live device for the time at once, again and again until the watermark has passed this host
        instant or `verdict.CAP_NS` are over. Each press does the same by itself, so to ask for the instant of the one
        that `sink` had last does nothing more."""
        if until_ns != self._pressed_ns:
            self._call(lambda: self._ask_all(until_ns))

    def silent(self) -> tuple[str, ...]:
        """Ids of live devices that owe an answer or an event for so long that the watermark passes over
        them (`verdict.silent_devices`)."""
        return verdict.silent_devices(self._snapshot.marks, self._now_ns())

    def play(self, cue: Cue, devices: Mapping[str, Iterable[tuple[str, int]]]) -> None:
        """Play a cue. `devices` maps a seat's id, or ``all``, to (device id, output index) pairs.

        With `cue.at_ns` all lights and sounds go off together, by the devices' own clocks; a device whose
        clock is not known gets the command at that instant.
        """
        wanted = {name: tuple(pairs) for name, pairs in devices.items()}
        self._call(lambda: self._hub.play(cue, wanted, self._now_ns()))

    def arm(self, round_number: int, masks: Mapping[str, int], at_ns: int) -> None:
        """From host instant `at_ns` presses count; the devices mark earlier ones. A device whose clock is not
        known is not armed. `masks`: bit map of inputs by device id."""
        wanted = dict(masks)
        self._call(lambda: self._hub.arm(round_number, wanted, at_ns))

    def tell_verdict(self, told: verdict.Verdict) -> None:
        """Publish a verdict to all who listen at the table."""
        frame = msgspec.json.encode(told)
        for link in self._links:
            link.tell_table(frame)

    def give_key(self, device: str, key: bytes) -> Future[str]:
        """Hand a key to a device over its cable. The result is empty once the device has it (here it counts from
        `set_key` on), else why it cannot be; there is none as long as the device does not answer."""
        told: Future[str] = Future()
        self._call(lambda: self._hub.give_key(device, key, told.set_result))
        return told

    def set_key(self, device: str, key: bytes | None) -> None:
        """Set or forget a pad's key."""
        if key is None:
            self._call(lambda: self._forget_key(device))
        else:
            self._call(lambda: self._hub.keys.update({device: key}))

    def set_mode(self, mode: Mode) -> None:
        """``open`` or ``strict``: see the class."""
        self._call(lambda: setattr(self._hub, "mode", mode))

    # the bridge's thread

    def _post_from(self, link: Link) -> Callable[[Arrival], None]:
        def post(arrival: Arrival) -> None:
            while not self._is_stopping.is_set():
                try:
                    self._queue.put((link, arrival), timeout=0.2)
                except queue.Full:
                    continue
                return

        return post

    def _call(self, action: Callable[[], None]) -> None:
        try:
            self._queue.put_nowait(action)
        except queue.Full:
            # Only a flood fills the queue; the bridge's own thread must never wait for itself.
            _log.warning("the pads send more than can be read; a command to them was dropped")

    def _run(self) -> None:
        due_ns = 0
        while not self._is_stopping.is_set():
            wait_ns = min(max(due_ns - self._now_ns(), 0), IDLE_NS)
            # All that has come goes in before time does its work, or a stall would look like silence.
            with contextlib.suppress(queue.Empty):
                self._take(self._queue.get(timeout=wait_ns / 1e9))
                for _ in range(_AT_ONCE):
                    self._take(self._queue.get_nowait())
            due_ns = self._take(None)

    def _take(self, item: _Item | None) -> int:
        """Take one item, or without any do what is due and publish; returns when the next thing is due."""
        try:
            if item is None:
                due_ns = self._hub.tick(self._now_ns())
                self._publish()
                return due_ns
            if callable(item):
                item()
            else:
                self._hub.arrived(*item, self._now_ns())
        except Exception:
            _log.exception("the bridge stumbled; it goes on")
        return self._now_ns() + IDLE_NS

    def _pass_on(self, observation: Observation) -> None:
        if isinstance(observation, Pressed):
            self._pressed_ns = observation.seen_ns
            heapq.heappush(self._awaited_ns, observation.seen_ns)
        self._call_out(lambda: self._sink(observation))

    @staticmethod
    def _call_out(there: Callable[[], None]) -> None:
        """Call the program; what it raises is its own affair."""
        try:
            there()
        except Exception:
            _log.exception("what the pads told could not be taken")

    def _publish(self) -> None:
        now_ns = self._now_ns()
        devices, strangers = self._snapshot.devices, self._snapshot.strangers
        marks = self._hub.marks()
        if now_ns >= self._snapshot_at_ns or len(marks) != len(self._snapshot.marks):
            self._snapshot_at_ns = now_ns + _SNAPSHOT_EVERY_NS
            devices, strangers = self._hub.devices(now_ns), self._hub.strangers(now_ns)
        self._snapshot = _Snapshot(marks, self._hub.held_ns(), devices, strangers)
        reach_ns, awaited = self._snapshot.reach_ns(now_ns), len(self._awaited_ns)
        while self._awaited_ns and self._awaited_ns[0] <= reach_ns:
            heapq.heappop(self._awaited_ns)
        if len(self._awaited_ns) < awaited:
            self._call_out(self._moved)

    def _ask_all(self, until_ns: int) -> None:
        heapq.heappush(self._awaited_ns, until_ns)
        self._hub.ask_all(until_ns, self._now_ns())

    def _forget_key(self, device: str) -> None:
        self._hub.keys.pop(device, None)
