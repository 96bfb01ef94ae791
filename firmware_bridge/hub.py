"""All ways and all devices of a table, without threads: arrivals in, observations and frames out.

The one who drives it (`link.Bridge`, or a simulation in virtual time) calls every method in one thread and
gives the host time. Frames go out through the links' `send`, observations to `see`, both before a method
returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from companion.core.cue import Cue
from companion.core.observation import Observation, Pressed
from firmware_bridge import verdict
from firmware_bridge.framing import Frame, LineSplitter, WireCounters, is_authentic, unwrap, wrap
from firmware_bridge.messages import (
    PROTOCOL,
    Ack,
    Arm,
    FromDevice,
    Hello,
    Key,
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

IDLE_NS = 500_000_000
_HELD = 64
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
        return f"{self.link.name} {self.route}"

    @property
    def takes_key(self) -> bool:
        """Is it a cable with a pad at its end? A page and a plain buzzer sign nothing."""
        return self.link.is_trusted and self.link.race_class == "ranked"


class Hub:
    """See the module. `keys` are pad keys by device id; `mode` as in `link.Bridge`."""

    def __init__(
        self,
        see: Callable[[Observation], None],
        *,
        keys: Mapping[str, bytes] | None = None,
        mode: Mode = "open",
    ) -> None:
        self.mode: Mode = mode
        self.keys = dict(keys or {})
        self._see_at_last = see
        self._ways: dict[tuple[str, str], _Way] = {}
        self._sessions: dict[str, Session] = {}
        self._way_of: dict[str, _Way] = {}
        self._outbox: list[tuple[str, ToDevice]] = []
        self._offers: dict[str, tuple[int, Callable[[str], None]]] = {}
        self._commands = 0
        self._later: list[tuple[int, Cue, str, int]] = []
        self._crosstalk = CrossTalk(see)
        self._has_new_press = False
        self._now_ns = 0

    # what comes in

    def arrived(self, link: Link, arrival: Arrival, now_ns: int) -> None:
        """A link posted something."""
        self._now_ns = now_ns
        way = self._ways.get((link.name, arrival.route))
        match arrival:
            case Opened():
                if way is None or not way.is_open:
                    self._ways[link.name, arrival.route] = _Way(link, arrival.route, arrival.device, now_ns)
            case Closed() if way is not None:
                self._close(way, arrival.reason)
            case Heard() if way is not None:
                self._heard(way, arrival)
            case Refused() if way is not None:
                way.counters.retained += 1
            case _:
                pass
        if self._has_new_press:
            # Whoever waits for the order of this press waits for these answers: ask before being asked to.
            self._has_new_press = False
            self.ask_all(now_ns, now_ns)
        self._flush()

    def tick(self, now_ns: int) -> int:
        """Do what is due; returns the host time by which it wants to be called again."""
        self._now_ns = now_ns
        due = [now_ns + IDLE_NS]
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
        self._flush()
        return min(due)

    # what is asked of it

    def ask_all(self, until_ns: int, now_ns: int) -> None:
        """Ask every device that is ready for the time, until all have passed `until_ns`."""
        for session in self._sessions.values():
            if session.state == "ready":
                session.ask_until(until_ns, now_ns)
        self._flush()

    def play(self, cue: Cue, devices: Mapping[str, tuple[tuple[str, int], ...]], now_ns: int) -> None:
        """Send the commands that play a cue."""
        at_ns = cue.at_ns if cue.at_ns is not None and cue.at_ns > now_ns else None
        for device, output in outputs_for(cue, devices):
            session = self._sessions.get(device)
            if session is None:
                continue
            at_us = None if at_ns is None else session.clock.device_us(at_ns)
            if at_ns is not None and at_us is None:
                self._later.append((at_ns, cue, device, output))
            else:
                self._play_on(cue, device, output, at_us)
        self._flush()

    def give_key(self, device: str, key: bytes, done: Callable[[str], None]) -> None:
        """Hand a key to a device over its cable. `done("")` once the device has it (`keys` is for the caller to
        change), `done(why)` when that cannot be; not called as long as the device does not answer."""
        way = self._way_of.get(device)
        if way is None or not way.is_open:
            done(f"no {device} is heard")
        elif not way.takes_key:
            done(f"a key is only handed over a cable; {device} is on {way.name}")
        else:
            self._drop_offer(device, "it was given another key meanwhile")
            self._commands += 1
            self._offers[device] = (self._commands, done)
            self._outbox.append((device, Key(n=self._commands, k=key.hex())))
            self._flush()

    def arm(self, round_number: int, masks: Mapping[str, int], at_ns: int) -> None:
        """Send the commands that arm inputs; a device whose clock is not known gets none."""
        for device, mask in masks.items():
            session = self._sessions.get(device)
            at_us = None if session is None else session.clock.device_us(at_ns)
            if at_us is not None:
                self._outbox.append((device, Arm(rd=round_number, mask=mask, at=at_us)))
        self._flush()

    # what it says

    def marks(self) -> tuple[verdict.Mark, ...]:
        """How far each device that is ready has been heard."""
        return tuple(
            mark for session in self._sessions.values() if (mark := session.mark(self._now_ns)) is not None
        )

    def held_ns(self) -> int | None:
        """Host time of the earliest press that is held back because it may be cross-talk."""
        return self._crosstalk.oldest_ns

    def devices(self, now_ns: int) -> tuple[DeviceStatus, ...]:
        """All devices that ever said hello, sorted by id."""
        return tuple(
            device_status(
                session, way.counters, way.problem, way.mend, takes_key=way.takes_key, now_ns=now_ns
            )
            for name, session in sorted(self._sessions.items())
            if (way := self._way_of[name])
        )

    def strangers(self, now_ns: int) -> tuple[LinkStatus, ...]:
        """Ways where nobody answers in tada/1, or where something is wrong with who does."""
        return tuple(
            LinkStatus(
                way.name,
                way.is_open,
                way.problem or f"nothing at {way.name} answers in tada/1",
                way.mend or "check that it is a pad, its firmware and its speed; press its reset button",
            )
            for way in self._ways.values()
            if way.is_open and (way.problem or (way.session is None and now_ns - way.opened_ns >= SILENT_NS))
        )

    # inside

    def _close(self, way: _Way, reason: str) -> None:
        way.is_open = False
        session = way.session
        if session is None or self._way_of[session.id] is not way:
            return
        for other in self._ways.values():
            if other.is_open and other.session is session:
                self._use(other, session)
                return
        self._drop_offer(session.id, "it was lost meanwhile")
        session.lose(self._now_ns, reason)

    def _use(self, way: _Way, session: Session) -> None:
        """From now on the session's messages go out there."""
        self._way_of[session.id] = way
        session.use(way.name, is_wired=way.link.is_trusted, race_class=way.link.race_class)

    def _heard(self, way: _Way, heard: Heard) -> None:
        data = heard.data
        if heard.is_whole:
            way.splitter.reset()
            data = data if data.endswith(b"\n") else data + b"\n"
        for line in way.splitter.feed(data):
            frame = unwrap(line, way.counters)
            if frame is None or not self._is_authentic(way, frame):
                continue
            message = from_device(frame, way.counters)
            if message is not None:
                self._dispatch(way, message, heard.at_ns)

    def _is_authentic(self, way: _Way, frame: Frame) -> bool:
        if way.link.is_trusted:
            return True
        key = self.keys.get(way.device)
        if frame.mac is None and self.mode == "open":
            return True
        if key is None and self.mode == "open":
            return True
        if key is not None and is_authentic(frame, key):
            return True
        way.counters.bad_mac += 1
        if key is None:
            way.problem = f"{way.device} has no key here, and the table takes signed pads only"
            way.mend = "pair it over USB, or run the table in mode open"
        elif frame.mac is None:
            way.problem = f"{way.device} does not sign, and the table takes signed pads only"
            way.mend = "pair it again over USB, or run the table in mode open"
        else:
            way.problem = f"{way.device} signs with another key than the one known here"
            way.mend = "pair it again over USB"
        return False

    def _dispatch(self, way: _Way, message: FromDevice, at_ns: int) -> None:
        if isinstance(message, Hello) and not self._may_greet(way, message, at_ns):
            return
        if way.session is not None:
            if isinstance(message, Ack | Nak):
                self._answer_offer(way.session.id, message)
            way.session.hear(message, at_ns)
        elif len(way.held) < _HELD:
            way.held.append((message, at_ns))

    def _answer_offer(self, device: str, answer: Ack | Nak) -> None:
        number, _ = self._offers.get(device, (None, None))
        if answer.n == number:
            self._drop_offer(device, "" if isinstance(answer, Ack) else answer.reason or "it refused the key")

    def _drop_offer(self, device: str, why: str) -> None:
        _, done = self._offers.pop(device, (0, None))
        if done is not None:
            done(why)

    def _may_greet(self, way: _Way, hello: Hello, at_ns: int) -> bool:
        """May this hello be heard? Finds or makes the session at the end of the way."""
        if way.device not in ("", hello.id):
            way.counters.foreign += 1
            return False
        if hello.p != PROTOCOL:
            way.problem = f"{hello.id} speaks tada/{hello.p}; this program speaks tada/{PROTOCOL}"
            way.mend = "flash the firmware that came with this program"
            return False
        if way.session is not None and way.session.id != hello.id:
            if way.session.state == "ready":
                way.counters.foreign += 1
                return False
            if self._way_of[way.session.id] is way:
                way.session.lose(at_ns, f"{hello.id} answers in its place")
        session, current = self._sessions.get(hello.id), self._way_of.get(hello.id)
        if session is not None and current is not None and current is not way and current.is_open:
            is_alive = at_ns - session.heard_ns < SILENT_NS
            if is_alive and hello.boot != session.hello.boot:
                way.counters.foreign += 1
                way.problem = f"two devices call themselves {hello.id}: at {current.name} and at {way.name}"
                way.mend = "give one of them another id and flash it again"
                return False
        way.problem = way.mend = ""
        way.link.keep(way.route)
        if session is None:
            session = self._sessions[hello.id] = self._new_session(hello, way, at_ns)
        if current is None or not current.is_open or way.link.is_trusted > current.link.is_trusted:
            self._use(way, session)
        if way.session is not session:
            way.session = session
            held, way.held = way.held, []
            for message, heard_ns in [(hello, at_ns), *held]:
                session.hear(message, heard_ns)
            return False  # it has been heard just now
        return True

    def _new_session(self, hello: Hello, way: _Way, at_ns: int) -> Session:
        def say(message: ToDevice) -> None:
            self._outbox.append((hello.id, message))

        return Session(
            hello,
            way.name,
            at_ns,
            say,
            self._see,
            is_wired=way.link.is_trusted,
            race_class=way.link.race_class,
        )

    def _see(self, observation: Observation) -> None:
        if isinstance(observation, Pressed) and observation.suspect:
            self._has_new_press = True
            self._see_at_last(observation)
        elif isinstance(observation, Pressed):
            self._has_new_press = True
            self._crosstalk.put(observation, self._now_ns)
        else:
            self._see_at_last(observation)

    def _play_on(self, cue: Cue, device: str, output: int, at_us: int | None) -> None:
        known = self._sessions[device].outputs.get(output)
        self._outbox.append((device, command(cue, output, known.kind if known else "led", at_us)))

    def _flush(self) -> None:
        pending: dict[str, list[ToDevice]] = {}
        for device, message in self._outbox:
            pending.setdefault(device, []).append(message)
        self._outbox.clear()
        for device, messages in pending.items():
            way = self._way_of.get(device)
            if way is not None and way.is_open:
                self._send(way, messages)

    def _send(self, way: _Way, messages: list[ToDevice]) -> None:
        key = None if way.link.is_trusted else self.keys.get(way.device)
        frames: dict[Kind, bytes] = {}
        for message in messages:
            kind = _kind_of(message)
            frames[kind] = frames.get(kind, b"") + wrap(body_of(message), key)
        for kind, data in frames.items():
            way.link.send(way.route, data, kind)


def _kind_of(message: ToDevice) -> Kind:
    if isinstance(message, SyncRequest):
        return "sync"
    return "ack" if isinstance(message, Ack | Nak) else "cmd"
