"""A pad without hardware: the real protocol over a real line, with a clock of its own.

It ships with the product: the demo plays on it, and so does whoever has not soldered yet.
"""

from __future__ import annotations

import heapq
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from firmware_bridge import topics
from firmware_bridge.framing import LineSplitter, WireCounters, is_authentic, unwrap, wrap
from firmware_bridge.messages import (
    DeviceEvent,
    FromDevice,
    Hello,
    Input,
    Key,
    Nak,
    Output,
    SyncReply,
    body_of,
    to_device,
)
from firmware_bridge.pad_model import PadModel, Played
from firmware_bridge.pad_wires import MqttWire, PadWire, PtyWire, TcpWire

PRESS_NS = 80_000_000
DEFAULT_OUTPUTS = (("led", "ring"), ("snd", "buzzer"))


class FakePad:
    """One device with buttons (and, where asked, a tower), a light and a buzzer.

    Its clock starts at `starts_at_us` and runs `drift_ppm` fast against the host's `now_ns`. With a `key`
    (given here, or at a pairing) it signs what it says over MQTT and takes only what is signed there. Use it as a
    context manager, or `start` and `stop` it.
    """

    def __init__(
        self,
        wire: PadWire,
        device_id: str = "pad1",
        *,
        inputs: int = 1,
        kind: str = "button",
        outputs: tuple[tuple[str, str], ...] = DEFAULT_OUTPUTS,
        starts_at_us: int = 0,
        drift_ppm: float = 0.0,
        st_us: int = 20,
        key: bytes | None = None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.id = device_id
        self.wire = wire
        self.counters = WireCounters()
        self._inputs = tuple((kind, f"{kind} {b + 1}") for b in range(inputs))
        self._outputs = outputs
        self._drift_ppm = drift_ppm
        self._st_us = st_us
        self._now_ns = now_ns
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._sleeps_until_ns = 0
        self._is_stopping = False
        self._is_muted = False
        self._is_plugged = False
        self._due: list[tuple[int, int, PadModel, Callable[[int], list[FromDevice]]]] = []
        self._order = 0
        self._splitter = LineSplitter(self.counters)
        self._thread: threading.Thread | None = None
        self._power_on(starts_at_us, key)

    @classmethod
    def on_pty(cls, device_id: str = "pad1", path: Path | None = None, **more: object) -> FakePad:
        """A pad on a pseudo-terminal; the host opens `pad.port`. Takes the keywords of the class."""
        return cls(PtyWire(path), device_id, **more)  # type: ignore[arg-type]  # handed on unchanged

    @classmethod
    def on_tcp(cls, device_id: str = "pad1", **more: object) -> FakePad:
        """A pad on a TCP port; the host opens `pad.port`, a ``socket://`` URL."""
        return cls(TcpWire(), device_id, **more)  # type: ignore[arg-type]  # handed on unchanged

    @classmethod
    def on_mqtt(cls, url: str, device_id: str = "pad1", **more: object) -> FakePad:
        """A pad on a broker: ``mqtt://[user:password@]host[:port][/table]``."""
        return cls(MqttWire(url, device_id), device_id, **more)  # type: ignore[arg-type]  # handed on unchanged

    @property
    def port(self) -> str:
        """What the host's serial link opens; empty on MQTT."""
        if isinstance(self.wire, TcpWire):
            return self.wire.url
        return str(self.wire.path) if isinstance(self.wire, PtyWire) else ""

    @property
    def key(self) -> bytes | None:
        """The key that it keeps over its restarts."""
        return self._model.key

    @property
    def _is_signing(self) -> bool:
        return isinstance(self.wire, MqttWire)

    @property
    def boot(self) -> int:
        """The number of its present start."""
        return self._model.boot

    @property
    def played(self) -> tuple[tuple[int, Played], ...]:
        """What its outputs did since the start: (host ns, what)."""
        with self._lock:
            return tuple((self._host_ns(played.at_us), played) for played in self._model.played)

    def start(self) -> None:
        """Plug it in and switch it on."""
        self.replug()
        self._thread = threading.Thread(target=self._run, name=f"pad-{self.id}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Switch it off."""
        self._is_stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self.unplug()

    def __enter__(self) -> FakePad:
        self.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stop()

    def press(
        self,
        input: int = 0,
        at_ns: int | None = None,
        *,
        force: int | None = None,
        hold_ns: int = PRESS_NS,
    ) -> None:
        """Close an input at host instant `at_ns` (None: now) and open it `hold_ns` later.

        The stamp is that of `at_ns` exactly. An instant in the past makes a press that was held up on its
        way.
        """
        with self._lock:
            # Stamped under the lock: an answer in between would deny an edge that was before it.
            down_ns = self._now_ns() if at_ns is None else at_ns
            model = self._model
            self._at(down_ns, model, lambda us: model.edge(us, input, is_down=True, force=force))
            self._at(down_ns + hold_ns, model, lambda us: model.edge(us, input, is_down=False))
            self._run_due(self._now_ns())
            self._wake_in_time()

    def strike(self, input: int = 0, *, is_die: bool = False, peak: int = 500, width_us: int = 2_000) -> None:
        """A tower hit, or a die that passes its beam, now."""
        with self._lock:
            us = self.device_us(self._now_ns())
            self._say(self._model.tower(us, input, is_die=is_die, peak=peak, width_us=width_us))
            self._wake_in_time()

    def mute(self, is_muted: bool = True) -> None:
        """Say nothing any more, but stay plugged in."""
        with self._lock:
            self._is_muted = is_muted

    def reboot(self, starts_at_us: int = 0) -> None:
        """Start anew: another boot number, the clock and all numbers from the start."""
        with self._lock:
            self._power_on(starts_at_us, self._model.key)
            self._say(self._model.hello(self.device_us(self._now_ns())))
        self._wake.set()

    def leap(self, by_us: int) -> None:
        """The clock jumps, without a restart."""
        with self._lock:
            self._zero_us += by_us

    def unplug(self) -> None:
        """Pull the plug of the line; the pad itself goes on."""
        with self._lock:
            self._is_plugged = False
        self.wire.close()

    def replug(self, path: Path | None = None) -> None:
        """Plug it in again, on a pseudo-terminal under another name where `path` says so."""
        if path is not None:
            self.wire = PtyWire(path)
        self.wire.open(self._hear)
        with self._lock:
            self._is_plugged = True
            self._say(self._model.hello(self.device_us(self._now_ns())))
        self._wake.set()

    def garbage(self, data: bytes) -> None:
        """Put raw bytes on the line."""
        with self._lock:
            self.wire.write(topics.EVENTS, data)

    def say(self, messages: list[FromDevice]) -> None:
        """Send messages as they are, whatever they claim."""
        with self._lock:
            self._say(messages)

    def device_us(self, host_ns: int) -> int:
        """Its clock at a host instant, unwrapped."""
        return self._zero_us + round((host_ns - self._zero_ns) * (1 + self._drift_ppm * 1e-6) / 1000)

    def _host_ns(self, device_us: int) -> int:
        return self._zero_ns + round((device_us - self._zero_us) * 1000 / (1 + self._drift_ppm * 1e-6))

    def _power_on(self, starts_at_us: int, key: bytes | None) -> None:
        self._zero_ns = self._now_ns()
        self._zero_us = starts_at_us
        self._model = PadModel(
            self.id, self._inputs, self._outputs, boot=secrets.randbits(32), st_us=self._st_us
        )
        self._model.key = key

    def _at(self, host_ns: int, model: PadModel, do: Callable[[int], list[FromDevice]]) -> None:
        self._order += 1
        heapq.heappush(self._due, (host_ns, self._order, model, do))

    def _run_due(self, now_ns: int) -> None:
        while self._due and self._due[0][0] <= now_ns:
            host_ns, _, model, do = heapq.heappop(self._due)
            if model is self._model:  # a restart forgets what was about to happen
                self._say(do(self.device_us(host_ns)))
        self._say(self._model.poll(self.device_us(now_ns)))

    def _run(self) -> None:
        while not self._is_stopping:
            with self._lock:
                self._run_due(self._now_ns())
                self._sleeps_until_ns = self._due_ns()
            self._wake.wait(max(self._sleeps_until_ns - self._now_ns(), 100_000) / 1e9)
            self._wake.clear()

    def _due_ns(self) -> int:
        model_ns = self._host_ns(self._model.due_us())
        return min(model_ns, self._due[0][0]) if self._due else model_ns

    def _wake_in_time(self) -> None:
        """Its thread sleeps on where nothing is due sooner than it knew."""
        if self._due_ns() < self._sleeps_until_ns:
            self._wake.set()

    def _hear(self, data: bytes) -> None:
        heard_ns = self._now_ns()
        with self._lock:
            # An edge before this instant comes before the answer that says "that was all".
            self._run_due(heard_ns)
            for line in self._splitter.feed(data):
                frame = unwrap(line, self.counters)
                if frame is None:
                    continue
                if self._is_signing and self.key is not None and not is_authentic(frame, self.key):
                    self.counters.bad_mac += 1
                    continue
                message = to_device(frame, self.counters)
                if isinstance(message, Key) and self._is_signing:
                    self._say([Nak(n=message.n, reason="only over a cable")])
                elif message is not None:
                    self._say(self._model.hear(self.device_us(heard_ns), message))
            self._wake_in_time()

    def _say(self, messages: list[FromDevice]) -> None:
        if self._is_muted or not self._is_plugged:
            return
        frames: dict[str, bytes] = {}
        for message in messages:
            channel = _channel_of(message)
            sent = self._answered(message) if isinstance(message, SyncReply) else message
            frames[channel] = frames.get(channel, b"") + wrap(
                body_of(sent), self.key if self._is_signing else None
            )
        for channel, data in frames.items():
            self.wire.write(channel, data)

    def _answered(self, reply: SyncReply) -> SyncReply:
        now_us = self.device_us(self._now_ns()) % 2**32
        return SyncReply(id=reply.id, h=reply.h, r=reply.r, x=now_us, n=reply.n)


def _channel_of(message: FromDevice) -> str:
    if isinstance(message, (Hello, Input, Output)):
        return topics.DESCRIPTION
    if isinstance(message, DeviceEvent):
        return topics.EVENTS
    return topics.SYNC_REPLY if isinstance(message, SyncReply) else topics.HEARTBEAT
