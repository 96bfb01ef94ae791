"""The bridge: all links and all devices in one place, for the program that runs a table.

Threads, and why they cannot deadlock. Links read in threads of their own and put what they heard into one
bounded queue; calls from the program (`play`, `arm`, `ask_all`, ...) go into the same queue. One thread,
the bridge's, takes from it; it alone touches sessions, and it calls `sink`. It waits for nothing but that
queue: links send through queues of their own and never make it wait. So a link may wait for room in the
queue (back-pressure), and `sink` may call anything here, with no lock held by anyone. Answers (`devices`,
`watermark_ns`, `silent`) come from immutable snapshots that the bridge's thread publishes after `sink` has
had all that they count on.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from companion.core.cue import Cue
from companion.core.observation import Observation, Pressed
from firmware_bridge import verdict
from firmware_bridge.framing import LineSplitter, WireCounters, is_authentic, unwrap, wrap
from firmware_bridge.messages import (
    PROTOCOL,
    Ack,
    Arm,
    FromDevice,
    Hello,
    Nak,
    SyncRequest,
    ToDevice,
    Who,
    body_of,
    from_device,
)
from firmware_bridge.session import SILENT_NS, WHO_EVERY_NS, Session
from firmware_bridge.status import DeviceStatus, device_status
from firmware_bridge.translate import CrossTalk, command, outputs_for
from firmware_bridge.wire import Arrival, Closed, Heard, Kind, Link, LinkStatus, Opened, Refused

Mode = Literal["open", "strict"]

_log = logging.getLogger(__name__)

_QUEUE = 4096
_HELD = 64
_IDLE_NS = 500_000_000
_SNAPSHOT_EVERY_NS = 200_000_000
_PATIENCE_NS = 10_000_000_000
_WHO_SLOW_NS = 5_000_000_000


class _Way:
    """One route of one link, and the session at its end once it said hello."""

    def __init__(self, link: Link, route: str, device: str, now_ns: int) -> None:
        self.link = link
        self.route = route
        self.device = device
        self.counters = WireCounters()
        self.splitter = LineSplitter(self.counters)
        self.session: Session | None = None
        self.held: list[tuple[FromDevice, int]] = []
        self.opened_ns = now_ns
        self.who_at_ns = now_ns
        self.is_open = True
        self.problem = ""
        self.mend = ""

    @property
    def name(self) -> str:
        return f"{self.link.name} {self.route}".strip()


class _Snapshot(msgspec.Struct, frozen=True):
    marks: tuple[verdict.Mark, ...] = ()
    held_ns: int | None = None
    devices: tuple[DeviceStatus, ...] = ()
    strangers: tuple[LinkStatus, ...] = ()


class Bridge:
    """Feeds `sink` with what devices of all `links` see, in host time, and plays cues on them.

    `sink` is called in the bridge's own thread, one observation at a time, not in order of time; what it
    raises is logged and the next observation comes all the same. `now_ns` is the host's clock. `keys` are
    pad keys by device id; in mode ``strict`` a frame over an untrusted link must carry the MAC of its
    device's key, in mode ``open`` one without MAC is taken too (a wrong MAC never).
    """

    def __init__(
        self,
        links: Iterable[Link],
        sink: Callable[[Observation], None],
        now_ns: Callable[[], int] = time.monotonic_ns,
        *,
        keys: Mapping[str, bytes] | None = None,
        mode: Mode = "open",
    ) -> None:
        self._links = tuple(links)
        self._sink = sink
        self._now_ns = now_ns
        self._keys = dict(keys or {})
        self._mode: Mode = mode
        self._queue: queue.Queue[tuple[Link, Arrival] | Callable[[], None]] = queue.Queue(_QUEUE)
        self._ways: dict[tuple[str, str], _Way] = {}
        self._sessions: dict[str, Session] = {}
        self._way_of: dict[str, _Way] = {}
        self._outbox: list[tuple[str, ToDevice]] = []
        self._later: list[tuple[int, Cue, str, int]] = []
        self._crosstalk = CrossTalk(self._pass_on)
        self._snapshot = _Snapshot()
        self._snapshot_at_ns = 0
        self._watermark_ns = 0
        self._is_asking = threading.Event()
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
        """All devices that ever said hello, sorted by id; at most _SNAPSHOT_EVERY_NS old."""
        return self._snapshot.devices

    def links(self) -> tuple[LinkStatus, ...]:
        """All links and their ports, and the ways where nobody answers in tada/1."""
        return tuple(status for link in self._links for status in link.status()) + self._snapshot.strangers

    def watermark_ns(self) -> int:
        """Host time up to which nothing earlier can still be in flight; never goes back.

        Every observation that `sink` has not had yet has a later `seen_ns`, but for devices that stay
        silent longer than `verdict.CAP_NS` (see `silent`), repeats from before a device was heard, and
        devices that are not ready. When no device is live: now.
        """
        snapshot = self._snapshot
        found = verdict.watermark_ns(snapshot.marks, self._now_ns())
        if snapshot.held_ns is not None:
            found = min(found, snapshot.held_ns)
        self._watermark_ns = max(self._watermark_ns, found)
        return self._watermark_ns

    def ask_all(self) -> None:
        """Ask every live device for the time at once, again and again until the watermark has passed this
        instant or `verdict.CAP_NS` are over. Cheap to call often."""
        if not self._is_asking.is_set():
            self._is_asking.set()
            self._call(self._ask_all)

    def silent(self) -> tuple[str, ...]:
        """Ids of live devices that have owed an answer or an event for CAP_NS: the watermark passes over
        them."""
        return verdict.silent_devices(self._snapshot.marks, self._now_ns())

    def play(self, cue: Cue, devices: Mapping[str, Iterable[tuple[str, int]]]) -> None:
        """Play a cue. `devices` maps a seat's id, or ``all``, to (device id, output index) pairs.

        With `cue.at_ns` all lights and sounds go off together, by the devices' own clocks; a device whose
        clock is not known gets the command at that instant.
        """
        pairs = outputs_for(cue, devices)
        self._call(lambda: self._play(cue, pairs))

    def arm(self, round_number: int, masks: Mapping[str, int], at_ns: int) -> None:
        """From host instant `at_ns` presses count; the devices mark earlier ones. `masks`: inputs by device
        id.

        A device whose clock is not known is not armed.
        """
        wanted = dict(masks)
        self._call(lambda: self._arm(round_number, wanted, at_ns))

    def tell_verdict(self, told: verdict.Verdict) -> None:
        """Publish a verdict to all who listen at the table."""
        frame = msgspec.json.encode(told)
        for link in self._links:
            link.tell_table(frame)

    def set_key(self, device: str, key: bytes | None) -> None:
        """Set or forget a pad's key."""
        self._call(lambda: self._set_key(device, key))

    def set_mode(self, mode: Mode) -> None:
        """``open`` or ``strict``: see the class."""
        self._call(lambda: setattr(self, "_mode", mode))

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
            self._is_asking.clear()

    def _run(self) -> None:
        due_ns = 0
        while not self._is_stopping.is_set():
            wait_ns = min(max(due_ns - self._now_ns(), 0), _IDLE_NS)
            try:
                item = self._queue.get(timeout=wait_ns / 1e9)
            except queue.Empty:
                item = None
            try:
                if callable(item):
                    item()
                elif item is not None:
                    self._arrived(*item)
                due_ns = self._tick(self._now_ns())
            except Exception:
                _log.exception("the bridge stumbled; it goes on")
                due_ns = self._now_ns() + _IDLE_NS
            self._flush()
            self._publish()

    def _arrived(self, link: Link, arrival: Arrival) -> None:
        now_ns = self._now_ns()
        way = self._ways.get((link.name, arrival.route))
        match arrival:
            case Opened():
                if way is None or not way.is_open:
                    self._ways[link.name, arrival.route] = _Way(link, arrival.route, arrival.device, now_ns)
            case Closed() if way is not None:
                way.is_open = False
                if way.session is not None and self._way_of.get(way.session.id) is way:
                    way.session.lose(now_ns, arrival.reason)
            case Heard() if way is not None:
                self._heard(way, arrival)
            case Refused() if way is not None:
                way.counters.retained += 1
            case _:
                pass

    def _heard(self, way: _Way, heard: Heard) -> None:
        data = heard.data
        if heard.is_whole:
            way.splitter.reset()
            data = data if data.endswith(b"\n") else data + b"\n"
        for line in way.splitter.feed(data):
            frame = unwrap(line, way.counters)
            if frame is None:
                continue
            if not way.link.is_trusted:
                key = self._keys.get(way.device)
                if key is None and self._mode == "strict":
                    way.counters.bad_mac += 1
                    way.problem = f"{way.device} has no key here and the table takes signed pads only"
                    way.mend = "pair it over USB, or run the table in mode open"
                    continue
                is_unsigned = frame.mac is None and self._mode == "open"
                if key is not None and not is_unsigned and not is_authentic(frame, key):
                    way.counters.bad_mac += 1
                    way.problem = f"{way.device} signs with another key than the one known here"
                    way.mend = "pair it again over USB"
                    continue
            message = from_device(frame, way.counters)
            if message is not None:
                self._dispatch(way, message, heard.at_ns)

    def _dispatch(self, way: _Way, message: FromDevice, at_ns: int) -> None:
        if isinstance(message, Hello) and not self._greet(way, message, at_ns):
            return
        if way.session is not None:
            way.session.hear(message, at_ns)
        elif len(way.held) < _HELD:
            way.held.append((message, at_ns))

    def _greet(self, way: _Way, hello: Hello, at_ns: int) -> bool:
        """May this hello be heard? Finds or makes the session at the end of the way."""
        if way.device not in ("", hello.id):
            way.counters.foreign += 1
            return False
        if hello.p != PROTOCOL:
            way.problem = f"{hello.id} speaks tada/{hello.p}; this program speaks tada/{PROTOCOL}"
            way.mend = "flash the firmware that came with this program"
            return False
        session = self._sessions.get(hello.id)
        current = self._way_of.get(hello.id)
        if (
            session is not None
            and current is not None
            and current is not way
            and hello.boot != session.hello.boot
            and current.is_open
            and at_ns - session.heard_ns < SILENT_NS
        ):
            way.counters.foreign += 1
            way.problem = f"two devices call themselves {hello.id}: {current.name} and {way.name}"
            way.mend = "give one of them another id and flash it again"
            return False
        way.problem = way.mend = ""
        way.link.keep(way.route)
        if session is None:
            outbox = self._outbox
            session = Session(
                hello,
                way.name,
                at_ns,
                say=lambda message: outbox.append((hello.id, message)),
                see=self._see,
            )
            self._sessions[hello.id] = session
        if current is None or not current.is_open or (way.link.is_trusted and not current.link.is_trusted):
            self._way_of[hello.id] = way
            session.link = way.name
        if way.session is not session:
            way.session = session
            held, way.held = way.held, []
            session.hear(hello, at_ns)
            for message, heard_ns in held:
                session.hear(message, heard_ns)
        return True

    def _see(self, observation: Observation) -> None:
        if isinstance(observation, Pressed):
            self._crosstalk.put(observation, self._now_ns())
        else:
            self._pass_on(observation)

    def _pass_on(self, observation: Observation) -> None:
        try:
            self._sink(observation)
        except Exception:
            _log.exception("an observation could not be taken: %r", observation)

    def _tick(self, now_ns: int) -> int:
        due = [now_ns + _IDLE_NS]
        for way in self._ways.values():
            if not way.is_open or way.session is not None:
                continue
            if now_ns >= way.who_at_ns:
                is_fresh = now_ns - way.opened_ns < _PATIENCE_NS
                way.who_at_ns = now_ns + (WHO_EVERY_NS if is_fresh else _WHO_SLOW_NS)
                self._send(way, [Who(p=(PROTOCOL,))])
            due.append(way.who_at_ns)
        for session in self._sessions.values():
            if session.state != "lost":
                session.tick(now_ns)
                due.append(session.due_ns())
        self._crosstalk.tick(now_ns)
        if self._crosstalk.due_ns is not None:
            due.append(self._crosstalk.due_ns)
        ripe = [entry for entry in self._later if entry[0] <= now_ns]
        self._later = [entry for entry in self._later if entry[0] > now_ns]
        for _, cue, device, output in ripe:
            self._play_on(cue, device, output, None)
        due.extend(at_ns for at_ns, *_ in self._later)
        return min(due)

    def _flush(self) -> None:
        if not self._outbox:
            return
        pending: dict[str, list[ToDevice]] = {}
        for device, message in self._outbox:
            pending.setdefault(device, []).append(message)
        self._outbox.clear()
        for device, messages in pending.items():
            way = self._way_of.get(device)
            if way is not None and way.is_open:
                self._send(way, messages)

    def _send(self, way: _Way, messages: list[ToDevice]) -> None:
        key = None if way.link.is_trusted else self._keys.get(way.device)
        frames: dict[Kind, bytes] = {}
        for message in messages:
            kind = _kind_of(message)
            frames[kind] = frames.get(kind, b"") + wrap(body_of(message), key)
        for kind, data in frames.items():
            way.link.send(way.route, data, kind)

    def _publish(self) -> None:
        now_ns = self._now_ns()
        marks = tuple(mark for session in self._sessions.values() if (mark := session.mark()) is not None)
        devices, strangers = self._snapshot.devices, self._snapshot.strangers
        if now_ns >= self._snapshot_at_ns or len(devices) != len(self._sessions):
            self._snapshot_at_ns = now_ns + _SNAPSHOT_EVERY_NS
            devices = tuple(self._status(self._sessions[name], now_ns) for name in sorted(self._sessions))
            strangers = tuple(self._stranger(way) for way in self._ways.values() if _is_strange(way, now_ns))
        self._snapshot = _Snapshot(marks, self._crosstalk.oldest_ns, devices, strangers)

    # actions

    def _ask_all(self) -> None:
        self._is_asking.clear()
        for session in self._sessions.values():
            if session.state == "ready":
                session.ask(self._now_ns(), is_wanted=True)

    def _play(self, cue: Cue, pairs: tuple[tuple[str, int], ...]) -> None:
        now_ns = self._now_ns()
        is_future = cue.at_ns is not None and cue.at_ns > now_ns
        for device, output in pairs:
            session = self._sessions.get(device)
            if session is None:
                continue
            at_us = session.clock.device_us(cue.at_ns) if is_future and cue.at_ns is not None else None
            if is_future and at_us is None and cue.at_ns is not None:
                self._later.append((cue.at_ns, cue, device, output))
            else:
                self._play_on(cue, device, output, at_us)

    def _play_on(self, cue: Cue, device: str, output: int, at_us: int | None) -> None:
        known = self._sessions[device].outputs.get(output)
        self._outbox.append((device, command(cue, output, known.kind if known else "led", at_us)))

    def _arm(self, round_number: int, masks: dict[str, int], at_ns: int) -> None:
        for device, mask in masks.items():
            session = self._sessions.get(device)
            at_us = session.clock.device_us(at_ns) if session is not None else None
            if at_us is not None:
                self._outbox.append((device, Arm(rd=round_number, mask=mask, at=at_us)))

    def _set_key(self, device: str, key: bytes | None) -> None:
        if key is None:
            self._keys.pop(device, None)
        else:
            self._keys[device] = key

    # what is told

    def _status(self, session: Session, now_ns: int) -> DeviceStatus:
        way = self._way_of[session.id]
        return device_status(session, way.counters, way.problem, way.mend, now_ns)

    def _stranger(self, way: _Way) -> LinkStatus:
        problem = way.problem or f"nothing at {way.name} answers in tada/1"
        mend = way.mend or "check that it is a pad, its firmware and its speed; press its reset button"
        return LinkStatus(way.name, way.is_open, problem, mend)


def _is_strange(way: _Way, now_ns: int) -> bool:
    if not way.is_open:
        return False
    return bool(way.problem) or (way.session is None and now_ns - way.opened_ns >= SILENT_NS)


def _kind_of(message: ToDevice) -> Kind:
    if isinstance(message, SyncRequest):
        return "sync"
    return "ack" if isinstance(message, (Ack, Nak)) else "cmd"
