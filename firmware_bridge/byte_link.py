"""Plain buzzers on a serial port that send one byte a press and know no protocol.

Each port gets a pad in this program that says in tada/1 what the buzzer cannot, so a byte takes the very way of
a pad's press. When the finger came is known as well as the line tells: the byte's own time and a USB adapter's
timer are its uncertainty.
"""

from __future__ import annotations

import queue
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable

import msgspec

from firmware_bridge.framing import LineSplitter, WireCounters, unwrap, wrap
from firmware_bridge.messages import MAX_PORTS, FromDevice, Hello, body_of, to_device
from firmware_bridge.pad_model import PadModel
from firmware_bridge.serial_link import (
    CLOSE_S,
    close_port,
    open_port,
    port_and_speed,
    read_chunk,
    why_gone,
    why_not_open,
)
from firmware_bridge.wire import Arrival, Closed, Heard, Kind, LinkStatus, Opened, RaceClass

SPEED = 9600
ADAPTER_US = 16_000
"""How long a USB adapter may keep a byte (FTDI's timer)."""
HELD_US = 150_000
"""Many buzzers repeat their byte while they are held: bytes closer together than this are one press."""
_BITS = 10
_RETRY_S = 1.0
_IGNORED = frozenset(b"\r\n\t ")


def input_of(byte: int) -> int | None:
    """Which input a byte means, from 0: 1 to 9, A to Z, a to z and the bytes 1 to 32 count from the first, 0 is the
    tenth; None for line ends, tabs and blanks (the bytes 10, 13, 9 and 32), which many buzzers add."""
    if byte in _IGNORED:
        return None
    if 0x30 <= byte <= 0x39:
        return (byte - 0x31) % 10
    return (byte - 1) % MAX_PORTS


class ByteLink:
    """All buzzers of this kind. A route is a port's name.

    `targets`: ``PATH`` or ``PATH@SPEED`` (SPEED without one), also ``socket://host:port``. A buzzer's device id is
    made of its port's name, so give it a name that stays (``/dev/serial/by-id/...``). Raises ValueError when a
    target is none.
    """

    name = "bytes"
    is_trusted = True
    race_class: RaceClass = "party"

    def __init__(self, targets: Iterable[str]) -> None:
        self._buzzers: dict[str, _Buzzer] = {}
        taken: set[str] = set()
        for path, speed in map(port_and_speed, targets):
            device = _device_id(path, taken)
            taken.add(device)
            self._buzzers[path] = _Buzzer(path, speed or SPEED, device)

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        """Begin to open the ports; see `wire.Link`."""
        for buzzer in self._buzzers.values():
            buzzer.start(post, now_ns)

    def stop(self) -> None:
        """Close all ports; one whose driver hangs is waited for CLOSE_S. See `wire.Link`."""
        for buzzer in self._buzzers.values():
            buzzer.let_go()
        ends_s = time.monotonic() + CLOSE_S
        for buzzer in self._buzzers.values():
            buzzer.join(ends_s)

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        """What the buzzer cannot answer its pad in this program does; see `wire.Link`."""
        buzzer = self._buzzers.get(route)
        return buzzer is not None and buzzer.send(frames)

    def tell_table(self, frame: bytes) -> bool:
        """A buzzer does not listen; see `wire.Link`."""
        return False

    def keep(self, route: str) -> None:
        """A port that was named is never given up; see `wire.Link`."""

    def status(self) -> tuple[LinkStatus, ...]:
        """One line for each port; see `wire.Link`."""
        return tuple(
            LinkStatus(f"bytes {buzzer.path}", buzzer.is_up, buzzer.problem, buzzer.mend)
            for buzzer in self._buzzers.values()
        )


class _Buzzer:
    """One port. One thread reads it; another one is its pad and takes bytes and questions in the order of their
    instants, so that an answer never overtakes a press that was stamped before it."""

    def __init__(self, path: str, speed: int, device: str) -> None:
        self.path = path
        self.problem, self.mend, self.is_up = f"{path} is being opened", "", False
        self._speed = speed
        self._device = device
        inputs = tuple(("button", f"byte {n + 1}") for n in range(MAX_PORTS))
        st_us = ADAPTER_US + _BITS * 1_000_000 // speed
        self._model = PadModel(device, inputs, (), boot=secrets.randbits(32), st_us=st_us)
        self._counters = WireCounters()
        self._splitter = LineSplitter(self._counters)
        self._held_until_us: dict[int, int] = {}
        self._inbox: queue.SimpleQueue[tuple[int, bytes, bool]] = queue.SimpleQueue()
        self._order = threading.Lock()
        self._is_closing = threading.Event()
        self._threads: tuple[threading.Thread, ...] = ()
        self._post: Callable[[Arrival], None] = lambda _arrival: None
        self._now_ns: Callable[[], int] = time.monotonic_ns

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        self._post, self._now_ns = post, now_ns
        self._threads = tuple(
            threading.Thread(target=work, name=f"{name} {self.path}", daemon=True)
            for name, work in (("bytes", self._read_on), ("bytes-pad", self._be_a_pad))
        )
        for thread in self._threads:
            thread.start()

    def let_go(self) -> None:
        self._is_closing.set()
        self._put(b"", is_pressed=False)

    def join(self, ends_s: float) -> None:
        for thread in self._threads:
            thread.join(max(ends_s - time.monotonic(), 0))

    def send(self, frames: bytes) -> bool:
        if self.is_up:
            self._put(frames, is_pressed=False)
        return self.is_up

    def _put(self, data: bytes, *, is_pressed: bool) -> None:
        with self._order:
            self._inbox.put((self._now_ns(), data, is_pressed))

    def _read_on(self) -> None:
        while not self._is_closing.is_set():
            try:
                port = open_port(self.path, self._speed)
            except Exception as error:  # a port that vanishes meanwhile also raises termios.error and others
                self.problem, self.mend = why_not_open(self.path, error)
                self._is_closing.wait(_RETRY_S)
                continue
            self.problem = self.mend = ""
            self._post(Opened(self.path, self._device))
            self.is_up = True
            try:
                while not self._is_closing.is_set():
                    if data := read_chunk(port):
                        self._put(data, is_pressed=True)
                reason = "the program ends"
            except Exception as error:  # pulled out: SerialException, OSError, TypeError, termios.error, ...
                reason = why_gone(self.path, error)
            self.is_up = False
            self.problem, self.mend = f"{self.path}: {reason}", "plug it in again"
            self._post(Closed(self.path, reason))
            close_port(port)
            self._is_closing.wait(_RETRY_S)

    def _be_a_pad(self) -> None:
        while not self._is_closing.is_set():
            wait_us = self._due_us() - self._now_ns() // 1000
            try:
                at_ns, data, is_pressed = self._inbox.get(timeout=max(wait_us, 1_000) / 1e6)
            except queue.Empty:
                self._say([*self._release(self._now_ns() // 1000)])
                continue
            us = at_ns // 1000
            self._say([*self._release(us), *(self._press(data, us) if is_pressed else self._hear(data, us))])

    def _due_us(self) -> int:
        return min([self._model.due_us(), *self._held_until_us.values()])

    def _press(self, data: bytes, us: int) -> list[FromDevice]:
        said: list[FromDevice] = []
        for number in map(input_of, data):
            if number is not None:
                if number not in self._held_until_us:
                    said += self._model.edge(us, number, is_down=True)
                self._held_until_us[number] = us + HELD_US
        return said

    def _release(self, us: int) -> list[FromDevice]:
        said = self._model.poll(us)
        for number, until_us in tuple(self._held_until_us.items()):
            if until_us <= us:
                del self._held_until_us[number]
                # Somewhere after the last byte; so far back that a press that comes now is no bounce of it.
                said += self._model.edge(until_us - HELD_US // 2, number, is_down=False)
        return said

    def _hear(self, frames: bytes, us: int) -> list[FromDevice]:
        said: list[FromDevice] = []
        for line in self._splitter.feed(frames):
            frame = unwrap(line, self._counters)
            message = None if frame is None else to_device(frame, self._counters)
            if message is not None:
                said += self._model.hear(us, message)
        return said

    def _say(self, messages: list[FromDevice]) -> None:
        """What is said while the port is closed is lost; the pad repeats what is not acknowledged."""
        if not self.is_up:
            return
        for message in messages:
            told = (
                msgspec.structs.replace(message, fw="this program", hw="one byte a press")
                if isinstance(message, Hello)
                else message
            )
            self._post(Heard(self.path, wrap(body_of(told)), self._now_ns()))


def _device_id(path: str, taken: set[str]) -> str:
    """An id of the end of a port's name, of which two never are alike."""
    words = re.sub(r"[^a-z0-9]+", "-", path.rpartition("/")[2].lower()).strip("-")
    stem = f"byte-{words[-16:].strip('-') or 'port'}"
    return next(name for n in range(1, 100) if (name := stem if n == 1 else f"{stem}-{n}") not in taken)
