"""The firmware of a pad as a pure core: times, edges, samples and bytes in, lines out.

No I/O, no clock, no interrupt: the board's `main.py` feeds it and sends what it says. Its memory is bounded. All
times are device microseconds modulo 2^32. It runs on MicroPython and on CPython; a model of the same firmware
(firmware_model.py of the host) says the same lines for the same inputs, byte by byte.
"""

from tada_patterns import SHAPES, lit, tone
from tada_wire import MAX_LINE, Ears, wrap

try:
    from typing import Any

    Ports = list[tuple[str, str]]
except ImportError:  # MicroPython has none, and does not look at annotations in quotes
    pass

RING = 32  # events kept for repeating
WAITING = 16  # led and snd commands that wait for their time
QUESTIONS = 4  # clock questions that wait for the end of the step or of a pulse that began before them
SETTLE_US = 30000
RESEND_US = 200000
HEARTBEAT_US = 1000000
LONGEST_US = 10000000  # no pattern plays longer
PIEZO_US = 2000  # a slammed piezo's force is the highest sample within this time
HIT_QUIET_US = 5000  # a tower's blow is over when it was quiet for so long ...
HIT_MAX_US = 30000  # ... or after so long
DIE_QUIET_US = 2000  # a beam that is broken again within this time still sees the same die
DIE_MAX_US = 100000  # longer in the beam than this: it is blocked
DIE_MIN_US = 200  # shorter than this: no die

_U32 = 0xFFFFFFFF
_HALF = 0x80000000
_IDLE, _OPEN, _LOCKED, _JAMMED = 0, 1, 2, 3


def since(later_us: int, earlier_us: int) -> int:
    """How much later, over the counter's wrap; negative when it is earlier."""
    return ((later_us - earlier_us + _HALF) & _U32) - _HALF


class Sensor:
    """One input: ``button``, ``piezo`` (slammed by a player), ``tower`` (a blow) or ``beam`` (a die)."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.state = _IDLE
        self.at = 0  # a button's edge that counted, a pulse's onset
        self.last = 0  # a pulse's last sample, a beam's restoring
        self.peak = 0
        self.is_raw = False  # what the contact does, whatever of it counted
        self.is_closed = False

    def due(self) -> "int | None":
        """The instant at which something becomes of it by itself."""
        if self.state == _LOCKED:
            return ((self.at if self.kind == "button" else self.last) + SETTLE_US) & _U32
        if self.state != _OPEN:
            return None
        if self.kind == "piezo":
            return (self.at + PIEZO_US) & _U32
        if self.kind == "tower":
            quiet, longest = self.last + HIT_QUIET_US, self.at + HIT_MAX_US
        else:
            quiet, longest = self.last + DIE_QUIET_US, self.at + DIE_MAX_US
            if self.is_closed:
                return longest & _U32
        return (longest if since(longest, quiet) < 0 else quiet) & _U32


class Event:
    """One that is kept until it is pushed out of the ring. `body`: its JSON but for the last bracket."""

    def __init__(self, n: int, body: str, sent_us: int) -> None:
        self.n = n
        self.body = body
        self.sent_us = sent_us
        self.is_acked = False
        self.is_resent = False


class Pad:
    """`inputs` and `outputs` are lists of (kind, name); `st` is the longest time in us from an edge to its stamp,
    `wire_us` the time that 256 bytes take to leave (0: not worth telling). `key` signs what goes over a radio."""

    def __init__(self, device_id: str, inputs: "Ports", outputs: "Ports", boot: int, **more: "Any") -> None:
        self.id = device_id
        self.boot = boot
        self.fw = more.get("fw", "micropython 1")
        self.hw = more.get("hw", "board")
        self.tick: int = more.get("tick", 1)
        self.st = more.get("st", 10000)
        self.wire_us: int = more.get("wire_us", 0)
        self.has_radio = bool(more.get("has_radio", False))
        self.is_on_radio = False  # where the lines of this step come from and go to
        self.key: "bytes | None" = None
        self.is_key_new = False
        self.rssi: "int | None" = None
        self.battery: "int | None" = None
        self.errors = {"noise": 0, "crc": 0, "long": 0, "msg": 0, "mac": 0, "ovf": 0}
        self.ears = Ears(self.errors)  # of the cable
        self.radio_ears = Ears(self.errors)
        self._inputs = inputs
        self._outputs = outputs
        self._sensors = [Sensor(kind) for kind, _ in inputs]
        self._ring: "list[Event]" = []
        self._n = 0
        self._heartbeat_at = 0
        self._armed_mask = 0
        self._armed_at: "int | None" = None
        self._waiting: "list[tuple[int, int, str]]" = []
        self._playing: "dict[int, tuple[int, str]]" = {}
        self._questions: "list[tuple[int, dict[str, Any]]]" = []
        self._out: "list[bytes]" = []

    def start(self, now_us: int) -> "list[bytes]":
        """Its first lines. To be called once, before anything else."""
        self._heartbeat_at = now_us
        self._hello(now_us)
        return self._said()

    def step(self, now_us: int, happened: "list[tuple[int, int, int]]", data: bytes = b"") -> "list[bytes]":
        """The lines to send now.

        `happened`: (us, input, value) in the order of time; the value is 1 or 0 of a contact or a beam (1: broken),
        a sample of a piezo that is over its threshold. `data`: the bytes that came; every edge that the board stamped
        before them must be in `happened`.
        """
        for us, b, value in happened:
            self._feel(us, b, value)
        if data:
            self._advance(now_us)
            ears = self.radio_ears if self.is_on_radio else self.ears
            for began_us, message in ears.feed(now_us, data, self._signing()):
                self._obey(now_us, began_us, message)
        self._advance(now_us)
        while self._questions and not self._has_open_before(self._questions[0][0]):
            self._answer(now_us, *self._questions.pop(0))
        self._play_due(now_us)
        for event in self._ring:
            if event.is_acked or event.is_resent or since(now_us, event.sent_us) < RESEND_US:
                continue
            event.is_resent = True
            self._repeat(now_us, event)
        if since(now_us, self._heartbeat_at) >= 0:
            self._heartbeat_at = (now_us + HEARTBEAT_US) & _U32
            self._heartbeat(now_us)
        return self._said()

    def level(self, now_us: int, b: int) -> int:
        """What an output does now: 1 for a light that is on, the Hz of a buzzer, 0 for dark or silent."""
        if b not in self._playing:
            return 0
        at_us, pattern = self._playing[b]
        since_us = (now_us - at_us) & _U32
        return tone(pattern, since_us) if self._outputs[b][0] == "snd" else lit(pattern, since_us)

    # what the inputs do

    def _feel(self, us: int, b: int, value: int) -> None:
        self._advance(us)
        sensor = self._sensors[b]
        if sensor.kind == "button":
            sensor.is_raw = bool(value)
            if sensor.state != _LOCKED:
                self._take(us, b)
        elif sensor.kind == "beam":
            self._feel_beam(us, sensor, bool(value))
        elif sensor.state == _IDLE:
            sensor.state, sensor.at, sensor.last, sensor.peak = _OPEN, us, us, value
        else:
            sensor.last = us
            if sensor.state == _OPEN and value > sensor.peak:
                sensor.peak = value

    def _feel_beam(self, us: int, sensor: Sensor, is_broken: bool) -> None:
        if sensor.is_closed == is_broken:
            return
        sensor.is_closed = is_broken
        if not is_broken:
            sensor.last = us
            if sensor.state == _JAMMED:
                sensor.state = _IDLE
        elif sensor.state == _IDLE:
            sensor.state, sensor.at = _OPEN, us

    def _advance(self, us: int) -> None:
        """What becomes of inputs by themselves until `us`, in the order of time."""
        while True:
            first = -1
            first_due = 0
            for b, sensor in enumerate(self._sensors):
                due = sensor.due()
                if due is None or since(us, due) < 0:
                    continue
                if first < 0 or since(due, first_due) < 0:
                    first, first_due = b, due
            if first < 0:
                return
            self._settle(first_due, first)

    def _settle(self, due: int, b: int) -> None:
        sensor = self._sensors[b]
        if sensor.state == _LOCKED:
            sensor.state = _IDLE
            # What the contact did meanwhile was taken for bouncing; if it stayed that way, it counts from here on.
            if sensor.kind == "button" and sensor.is_raw != sensor.is_closed:
                self._take(due, b)
        elif sensor.kind == "piezo":
            sensor.state = _LOCKED
            self._event(due, "dn", b, sensor.at, '"q":%d' % sensor.peak)
        elif sensor.kind == "tower":
            sensor.state = _LOCKED
            width = since(sensor.last, sensor.at)
            self._event(due, "hit", b, sensor.at, '"pk":%d,"w":%d' % (sensor.peak, width))
        else:
            width = since(due if sensor.is_closed else sensor.last, sensor.at)
            sensor.state = _JAMMED if sensor.is_closed else _IDLE
            if width >= DIE_MIN_US:
                self._event(due, "die", b, sensor.at, '"pk":0,"w":%d' % width)

    def _take(self, us: int, b: int) -> None:
        sensor = self._sensors[b]
        sensor.state = _LOCKED
        sensor.at = us
        if sensor.is_closed == sensor.is_raw:
            return  # let go for the first time, pressed since before the start: it bounces too
        sensor.is_closed = sensor.is_raw
        self._event(us, "dn" if sensor.is_closed else "up", b, us, "")

    def _has_open_before(self, us: int) -> bool:
        return any(sensor.state == _OPEN and since(sensor.at, us) < 0 for sensor in self._sensors)

    # events

    def _event(self, at: int, kind: str, b: int, us: int, more: str) -> None:
        self._n += 1
        body = '{"t":"%s","b":%d,"n":%d,"us":%d' % (kind, b, self._n, self._stamp(us))
        if more:
            body += "," + more
        if kind == "dn" and self._is_early(us, b):
            body += ',"early":1'
        if len(self._ring) == RING:
            self._ring.pop(0)
        self._ring.append(Event(self._n, body, at))
        self._say(body + "}")

    def _is_early(self, us: int, b: int) -> bool:
        if self._armed_at is None or not self._armed_mask >> b & 1:
            return False
        return since(us, self._armed_at) < 0

    def _repeat(self, now_us: int, event: Event) -> None:
        event.sent_us = now_us
        self._say(event.body + ',"re":1}')

    # what the host says

    def _obey(self, now_us: int, began_us: int, message: "dict[str, Any]") -> None:
        t = message["t"]
        if t == "sync":
            if len(self._questions) < QUESTIONS:
                self._questions.append((began_us, message))
        elif t == "ack":
            for event in self._ring:
                if event.n == message["n"]:
                    event.is_acked = True
        elif t == "nak":
            for event in self._ring:
                if event.n == message.get("n", 0):
                    self._repeat(now_us, event)
        elif t == "who":
            self._hello(now_us)
            for event in self._ring:
                if not event.is_acked:
                    self._repeat(now_us, event)
        elif t == "arm":
            self._armed_mask, self._armed_at = message["mask"], message["at"]
        elif t in ("led", "snd"):
            self._show(now_us, message)
        elif t == "key":
            self._pair(message)

    def _show(self, now_us: int, message: "dict[str, Any]") -> None:
        b = message["b"]
        if b >= len(self._outputs) or self._outputs[b][0] != message["t"]:
            self._nak(0, "no such output")
        elif message["pattern"] not in SHAPES:
            self._nak(0, "no such pattern")
        elif len(self._waiting) >= WAITING:
            self._nak(0, "too many wait")
        else:
            at = message.get("at")
            self._waiting.append((now_us if at is None else at, b, message["pattern"]))
            self._play_due(now_us)

    def _pair(self, message: "dict[str, Any]") -> None:
        if self.is_on_radio:
            self._nak(message["n"], "only over a cable")
        elif not self.has_radio:
            self._nak(message["n"], "it has no radio")
        else:
            digits = message["k"]
            self.key = bytes([int(digits[k : k + 2], 16) for k in range(0, 32, 2)])
            self.is_key_new = True
            self._say('{"t":"ack","n":%d}' % message["n"])

    # what it says

    def _hello(self, now_us: int) -> None:
        self._say(
            '{"t":"hello","p":1,"id":"%s","fw":"%s","hw":"%s","boot":%d,"ni":%d,"no":%d,"tick":%d,"st":%d,"us":%d}'
            % (
                self.id,
                self.fw,
                self.hw,
                self.boot,
                len(self._inputs),
                len(self._outputs),
                self.tick,
                self.st,
                self._stamp(now_us),
            )
        )
        for t, ports in (("in", self._inputs), ("out", self._outputs)):
            for b, (kind, name) in enumerate(ports):
                self._say('{"t":"%s","b":%d,"kind":"%s","name":"%s"}' % (t, b, kind, name))

    def _heartbeat(self, now_us: int) -> None:
        body = '{"t":"hb","n":%d,"us":%d' % (self._n, self._stamp(now_us))
        closed = 0
        for b, sensor in enumerate(self._sensors):
            if sensor.is_closed:
                closed |= 1 << b
        if closed:
            body += ',"v":%d' % closed
        counted = self.errors
        errors = ['"%s":%d' % (name, counted[name]) for name in ("noise", "crc", "long", "msg", "mac", "ovf")]
        errors = [error for error in errors if not error.endswith(":0")]
        if errors:
            body += ',"err":{' + ",".join(errors) + "}"
        if self.rssi is not None:
            body += ',"rssi":%d' % self.rssi
        if self.battery is not None:
            body += ',"bat":%d' % self.battery
        self._say(body + "}")

    def _nak(self, n: int, reason: str) -> None:
        self._say('{"t":"nak",%s"reason":"%s"}' % ('"n":%d,' % n if n else "", reason))

    def _answer(self, now_us: int, began_us: int, question: "dict[str, Any]") -> None:
        # `x` tells when the last byte leaves. Where that is not exact it is too early: the host's uncertainty becomes
        # larger then, its clock never wrong.
        body = '{"t":"sync","id":%d,"h":%d,"r":%d,"x":%%d,"n":%d}' % (
            question["id"],
            question["h"],
            self._stamp(began_us),
            self._n,
        )
        lengths = [
            len(wrap(body % self._stamp(now_us + lead_us), self._signing()))
            for lead_us in (0, MAX_LINE * self.wire_us >> 8)
        ]
        self._say(body % self._stamp(now_us + (min(lengths) * self.wire_us >> 8)))

    def _play_due(self, now_us: int) -> None:
        while True:
            first = -1
            for k, (at, _, _) in enumerate(self._waiting):
                if since(now_us, at) < 0:
                    continue
                if first < 0 or since(at, self._waiting[first][0]) < 0:
                    first = k
            if first < 0:
                break
            _, b, pattern = self._waiting.pop(first)
            self._playing[b] = (now_us, pattern)
        for b in list(self._playing):
            if (now_us - self._playing[b][0]) & _U32 > LONGEST_US:
                del self._playing[b]
        if self._armed_at is not None and since(now_us, self._armed_at) > HEARTBEAT_US:
            self._armed_at = None  # no edge can come any more that was stamped before it

    def _stamp(self, us: int) -> int:
        return us & _U32 & ~(self.tick - 1)

    def _signing(self) -> "bytes | None":
        return self.key if self.is_on_radio else None

    def _say(self, body: str) -> None:
        self._out.append(wrap(body, self._signing()))

    def _said(self) -> "list[bytes]":
        out = self._out
        self._out = []
        return out
