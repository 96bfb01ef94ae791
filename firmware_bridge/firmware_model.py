"""The whole firmware as a pure model: edges, samples and bytes in, lines out. No I/O, no clock of its own.

What `PadModel` says in messages, with the sensors of towers and piezo pads below it and the wire above it. Both
firmwares (`firmware/arduino`, `firmware/micropython`) say the same bytes for the same inputs. Times are unwrapped
device microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from firmware_bridge.framing import MAX_LINE, LineSplitter, WireCounters, is_authentic, unwrap, wrap
from firmware_bridge.messages import (
    Die,
    FromDevice,
    Hit,
    Key,
    Nak,
    SyncReply,
    SyncRequest,
    ToDevice,
    body_of,
    to_device,
)
from firmware_bridge.pad_model import SETTLE_US, PadModel

PIEZO_US = 2_000  # a slammed piezo's force is the highest sample within this time
HIT_QUIET_US = 5_000  # a tower's blow is over when it was quiet for so long
HIT_MAX_US = 30_000  # or after so long
DIE_QUIET_US = 2_000  # a beam that is broken again within this time still sees the same die
DIE_MAX_US = 100_000  # longer in the beam than this: it is blocked
DIE_MIN_US = 200  # shorter than this: no die
QUESTIONS = 4  # clock questions that wait for the end of the step or of a pulse that began before them
_TO_LINE_END = re.compile(rb"[^\n]*\n|[^\n]+")


class _Pulse(msgspec.Struct):
    """A blow or a broken beam. It is open from its onset until it is told; `is_over` it waits for quiet."""

    onset_us: int = 0
    last_us: int = 0
    peak: int = 0
    is_open: bool = False
    is_over: bool = False
    is_broken: bool = False


class FirmwareModel(PadModel):
    """A pad whose inputs of kind ``piezo`` (slammed by a player) and ``tower`` get samples, those of kind ``beam``
    edges.

    `wire_us`: the time that 256 bytes take to leave, 0 when that is not worth telling. `is_radio`: all that is
    said goes over a network, so with a `key` it is signed, and what comes unsigned is dropped.
    """

    def __init__(
        self,
        device_id: str,
        inputs: tuple[tuple[str, str], ...],
        outputs: tuple[tuple[str, str], ...],
        *,
        wire_us: int = 0,
        is_radio: bool = False,
        **more: object,
    ) -> None:
        super().__init__(device_id, inputs, outputs, **more)  # type: ignore[arg-type]  # handed on unchanged
        self.counters = WireCounters()
        self._wire_us = wire_us
        self._is_radio = is_radio
        self._pulses = {b: _Pulse() for b, (kind, _) in enumerate(inputs) if kind != "button"}
        self._splitter = LineSplitter(self.counters)
        self._is_in_line = False
        self._began_us = 0
        self._questions: list[tuple[int, SyncRequest]] = []

    def edge(self, us: int, b: int, *, is_down: bool, force: int | None = None) -> list[FromDevice]:
        """A button's contact moved, or a beam was broken (`is_down`) or restored."""
        if self._inputs[b][0] == "button":
            return super().edge(us, b, is_down=is_down, force=force)
        out, pulse = self.advance(us), self._pulses[b]
        if self._inputs[b][0] != "beam" or pulse.is_broken == is_down:
            return out
        self._closed ^= 1 << b
        pulse.is_broken = is_down
        if not is_down:
            pulse.last_us = us
            pulse.is_over = False  # one that was blocked is free again
        elif not pulse.is_open:
            pulse.is_open, pulse.onset_us = True, us
        return out

    def sample(self, us: int, b: int, value: int) -> list[FromDevice]:
        """A piezo is over its threshold."""
        out = self.advance(us)
        if self._inputs[b][0] not in ("piezo", "tower"):
            return out
        pulse = self._pulses[b]
        pulse.last_us = us
        if pulse.is_open:
            pulse.peak = max(pulse.peak, value)
        elif not pulse.is_over:
            pulse.is_open, pulse.onset_us, pulse.peak = True, us, value
        return out

    def take_bytes(self, us: int, data: bytes) -> list[bytes]:
        """The lines that answer what came at `us`."""
        out = self.advance(us)
        for portion in _TO_LINE_END.findall(data):
            if not self._is_in_line:
                self._began_us = us
            self._is_in_line = not portion.endswith(b"\n")
            for line in self._splitter.feed(portion):
                frame = unwrap(line, self.counters)
                if frame is not None and self._signing is not None and not is_authentic(frame, self._signing):
                    self.counters.bad_mac += 1
                    continue
                message = None if frame is None else to_device(frame, self.counters)
                if message is not None:
                    out += self._obey(us, message)
        return self.framed(out)

    def finish(self, us: int) -> list[bytes]:
        """What is due at `us`; ends a step."""
        out = self.advance(us)
        while self._questions and not self._has_open_before(self._questions[0][0]):
            out.append(self._answer(us, *self._questions.pop(0)))
        counted = self.counters
        told = {
            "noise": counted.noise,
            "crc": counted.bad_crc,
            "long": counted.too_long,
            "msg": counted.bad_message,
            "mac": counted.bad_mac,
        }
        self.errors = {name: count for name, count in told.items() if count}
        return self.framed(out + self.poll(us))

    def first_lines(self, us: int) -> list[bytes]:
        """What it says at its start."""
        self._heartbeat_us = us
        return self.framed(self.hello(us))

    @property
    def _signing(self) -> bytes | None:
        return self.key if self._is_radio else None

    def framed(self, messages: list[FromDevice]) -> list[bytes]:
        return [wrap(body_of(message), self._signing) for message in messages]

    def _obey(self, us: int, message: ToDevice) -> list[FromDevice]:
        if isinstance(message, Key) and self._is_radio:
            return [Nak(n=message.n, reason="only over a cable")]
        if not isinstance(message, SyncRequest):
            return super()._obey(us, message)
        if len(self._questions) < QUESTIONS:
            self._questions.append((self._began_us, message))
        return []

    def _has_open_before(self, us: int) -> bool:
        return any(pulse.is_open and pulse.onset_us < us for pulse in self._pulses.values())

    def _answer(self, us: int, began_us: int, question: SyncRequest) -> SyncReply:
        """`x` is when the last byte leaves: where that is not exact it is too early, never too late."""

        def reply(x_us: int) -> SyncReply:
            stamps = self._stamp(began_us), self._stamp(x_us)
            return SyncReply(id=question.id, h=question.h, r=stamps[0], x=stamps[1], n=self._n)

        candidates = us, us + (MAX_LINE * self._wire_us >> 8)
        shortest = min(len(wrap(body_of(reply(x_us)), self._signing)) for x_us in candidates)
        return reply(us + (shortest * self._wire_us >> 8))

    def _dues(self) -> Iterator[tuple[int, int]]:
        yield from super()._dues()
        for b, pulse in self._pulses.items():
            kind = self._inputs[b][0]
            if not pulse.is_open:
                if pulse.is_over and kind != "beam":
                    yield pulse.last_us + SETTLE_US, b
            elif kind == "piezo":
                yield pulse.onset_us + PIEZO_US, b
            elif kind == "tower":
                yield min(pulse.last_us + HIT_QUIET_US, pulse.onset_us + HIT_MAX_US), b
            else:
                longest_us = pulse.onset_us + DIE_MAX_US
                yield longest_us if pulse.is_broken else min(pulse.last_us + DIE_QUIET_US, longest_us), b

    def _settle(self, us: int, b: int) -> list[FromDevice]:
        pulse = self._pulses.get(b)
        if pulse is None:
            return super()._settle(us, b)
        if not pulse.is_open:
            pulse.is_over = False
            return []
        kind, onset_us = self._inputs[b][0], pulse.onset_us
        pulse.is_open, pulse.is_over = False, kind != "beam" or pulse.is_broken
        if kind == "piezo":
            return self._event(us, self._down(onset_us, b, pulse.peak))
        width_us = (us if pulse.is_broken else pulse.last_us) - onset_us
        if kind == "beam" and width_us < DIE_MIN_US:
            return []
        make, peak = (Hit, pulse.peak) if kind == "tower" else (Die, 0)
        return self._event(us, make(b=b, n=self._next(), us=self._stamp(onset_us), pk=peak, w=width_us))
