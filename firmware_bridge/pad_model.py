"""What the firmware of a pad does, as a pure model: device time and messages in, messages out.

Times are unwrapped device microseconds; stamps go out modulo 2^32. No I/O, no clock of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from companion.core.cue import SHAPES, is_lit, tone_hz
from firmware_bridge.messages import (
    PROTOCOL,
    RING,
    WRAP_US,
    Ack,
    Arm,
    DeviceEvent,
    Die,
    Down,
    FromDevice,
    Heartbeat,
    Hello,
    Hit,
    Input,
    Key,
    Led,
    Nak,
    Output,
    Snd,
    SyncReply,
    SyncRequest,
    ToDevice,
    Up,
    Who,
)

SETTLE_US = 30_000
RESEND_US = 200_000
HEARTBEAT_US = 1_000_000
WAITING = 16  # commands that wait for their time


class Played(msgspec.Struct, frozen=True):
    """A command that was carried out: on which output, what, and at which device time."""

    kind: str
    output: int
    pattern: str
    at_us: int


class _Kept(msgspec.Struct):
    event: DeviceEvent
    sent_us: int
    is_acked: bool = False
    is_resent: bool = False


class PadModel:
    """One start of one device: `boot` is new at each start and numbers begin at 1.

    `inputs` and `outputs` are (kind, name) pairs. `fw` and `hw` are what the hello says of it; `battery` and
    `errors` (counters of bad lines) are told in each heartbeat. One without a radio (`has_radio`) takes no key.
    Every method returns the messages to send, in order.
    """

    def __init__(
        self,
        device_id: str,
        inputs: tuple[tuple[str, str], ...],
        outputs: tuple[tuple[str, str], ...],
        *,
        boot: int,
        tick_us: int = 1,
        st_us: int = 20,
        fw: str = "model",
        hw: str = "none",
        battery: int | None = 100,
        has_radio: bool = True,
    ) -> None:
        self.device_id = device_id
        self.boot = boot
        self.tick_us = tick_us
        self.st_us = st_us
        self.played: list[Played] = []
        self.arms: list[Arm] = []
        self.key: bytes | None = None
        self.errors: dict[str, int] = {}
        self._fw, self._hw = fw, hw
        self._battery = battery
        self._has_radio = has_radio
        self._inputs = inputs
        self._outputs = outputs
        self._n = 0
        self._ring: deque[_Kept] = deque(maxlen=RING)
        self._closed = 0
        self._raw = 0
        self._locked_us: list[int | None] = [None] * len(inputs)
        self._armed_mask, self._armed_at_us = 0, 0
        self._waiting: list[tuple[int, Led | Snd]] = []
        self._heartbeat_us = 0

    def hello(self, us: int) -> list[FromDevice]:
        """The hello and all that belongs to it."""
        return [
            Hello(
                p=PROTOCOL,
                id=self.device_id,
                fw=self._fw,
                hw=self._hw,
                boot=self.boot,
                ni=len(self._inputs),
                no=len(self._outputs),
                tick=self.tick_us,
                st=self.st_us,
                us=self._stamp(us),
            ),
            *(Input(b=b, kind=kind, name=name) for b, (kind, name) in enumerate(self._inputs)),
            *(Output(b=b, kind=kind, name=name) for b, (kind, name) in enumerate(self._outputs)),
        ]

    def edge(self, us: int, b: int, *, is_down: bool, force: int | None = None) -> list[FromDevice]:
        """An input's contact moved at `us`. Bounces within SETTLE_US of an edge that counted are not told."""
        out = self.advance(us)
        self._raw = self._raw & ~(1 << b) | is_down << b
        return out if self._locked_us[b] is not None else out + self._take(us, b, force)

    def advance(self, us: int) -> list[FromDevice]:
        """Time has come to `us`: inputs that settled until then are looked at again, in the order of time.

        A contact that stayed otherwise than it was told counts from the end of its lock-out on.
        """
        out: list[FromDevice] = []
        while (due := min(self._dues(), default=None)) is not None and due[0] <= us:
            out += self._settle(*due)
        return out

    def _dues(self) -> Iterator[tuple[int, int]]:
        """(us, input): when something becomes of an input by itself."""
        return ((us + SETTLE_US, b) for b, us in enumerate(self._locked_us) if us is not None)

    def _settle(self, us: int, b: int) -> list[FromDevice]:
        self._locked_us[b] = None
        return self._take(us, b, None) if (self._raw ^ self._closed) >> b & 1 else []

    def _take(self, us: int, b: int, force: int | None) -> list[FromDevice]:
        self._locked_us[b] = us
        if not (self._raw ^ self._closed) >> b & 1:
            return []  # let go for the first time, pressed since before the start: it bounces too
        self._closed ^= 1 << b
        if not self._closed >> b & 1:
            return self._event(us, Up(b=b, n=self._next(), us=self._stamp(us)))
        return self._event(us, self._down(us, b, force))

    def _down(self, us: int, b: int, force: int | None) -> Down:
        is_early = self._armed_mask >> b & 1 and us < self._armed_at_us
        return Down(b=b, n=self._next(), us=self._stamp(us), q=force, early=1 if is_early else 0)

    def tower(self, us: int, b: int, *, is_die: bool, peak: int, width_us: int) -> list[FromDevice]:
        """A tower was struck, or something passed its beam."""
        make = Die if is_die else Hit
        return self._event(us, make(b=b, n=self._next(), us=self._stamp(us), pk=peak, w=width_us))

    def hear(self, us: int, message: ToDevice) -> list[FromDevice]:
        """The host said something at `us`."""
        return self.advance(us) + self._obey(us, message)

    def _obey(self, us: int, message: ToDevice) -> list[FromDevice]:
        match message:
            case Who():
                return [
                    *self.hello(us),
                    *self._repeat(us, [kept for kept in self._ring if not kept.is_acked]),
                ]
            case SyncRequest():
                stamp = self._stamp(us)
                return [SyncReply(id=message.id, h=message.h, r=stamp, x=stamp, n=self._n)]
            case Ack():
                for kept in self._ring:
                    kept.is_acked = kept.is_acked or kept.event.n == message.n
            case Nak():
                return self._repeat(us, [kept for kept in self._ring if kept.event.n == message.n])
            case Arm():
                self.arms.append(message)
                self._armed_mask, self._armed_at_us = message.mask, self._near(message.at, us)
            case Led() | Snd():
                kind = "led" if isinstance(message, Led) else "snd"
                if message.b >= len(self._outputs) or self._outputs[message.b][0] != kind:
                    return [Nak(reason="no such output")]
                if message.pattern not in SHAPES:
                    return [Nak(reason="no such pattern")]
                if len(self._waiting) >= WAITING:
                    return [Nak(reason="too many wait")]
                self._waiting.append((us if message.at is None else self._near(message.at, us), message))
                self._play_due(us)
            case Key():
                if not self._has_radio:
                    return [Nak(n=message.n, reason="it has no radio")]
                self.key = bytes.fromhex(message.k)
                return [Ack(n=message.n)]
        return []

    def level(self, us: int, output: int) -> int:
        """What an output does at `us`: 1 for a light that is on, the Hz of a buzzer, 0 for dark or silent."""
        playing = next((played for played in reversed(self.played) if played.output == output), None)
        if playing is None:
            return 0
        shape, since_ms = SHAPES[playing.pattern], (us - playing.at_us) / 1000
        return tone_hz(shape, since_ms) if playing.kind == "snd" else int(is_lit(shape, since_ms))

    def poll(self, us: int) -> list[FromDevice]:
        """Do what is due at `us`: inputs that settled, scheduled commands, repeats, the heartbeat."""
        out = self.advance(us)
        self._play_due(us)
        late = [
            kept
            for kept in self._ring
            if not kept.is_acked and not kept.is_resent and us - kept.sent_us >= RESEND_US
        ]
        for kept in late:
            kept.is_resent = True
        out += self._repeat(us, late)
        if us >= self._heartbeat_us:
            self._heartbeat_us = us + HEARTBEAT_US
            out.append(
                Heartbeat(
                    n=self._n, us=self._stamp(us), v=self._closed, err=dict(self.errors), bat=self._battery
                )
            )
        return out

    def _play_due(self, us: int) -> None:
        due = sorted((entry for entry in self._waiting if entry[0] <= us), key=lambda entry: entry[0])
        self._waiting = [entry for entry in self._waiting if entry[0] > us]
        for _, done in due:
            self.played.append(Played("led" if isinstance(done, Led) else "snd", done.b, done.pattern, us))

    def due_us(self) -> int:
        """When `poll` has something to do."""
        resends = [
            kept.sent_us + RESEND_US for kept in self._ring if not kept.is_acked and not kept.is_resent
        ]
        waiting = (at_us for at_us, _ in self._waiting)
        return min([self._heartbeat_us, *resends, *waiting, *(at_us for at_us, _ in self._dues())])

    def _next(self) -> int:
        self._n += 1
        return self._n

    def _event(self, us: int, event: DeviceEvent) -> list[FromDevice]:
        self._ring.append(_Kept(event, us))
        return [event]

    def _repeat(self, us: int, kept: list[_Kept]) -> list[FromDevice]:
        for entry in kept:
            entry.sent_us = us
        return [msgspec.structs.replace(entry.event, re=1) for entry in kept]

    def _stamp(self, us: int) -> int:
        return us // self.tick_us * self.tick_us % WRAP_US

    @staticmethod
    def _near(at: int, us: int) -> int:
        return us + (at - us + WRAP_US // 2) % WRAP_US - WRAP_US // 2
