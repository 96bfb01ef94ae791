"""Serial ports, opened, read, written, reopened. The only module that imports pyserial.

One reader and one writer thread per open port, and one thread that looks for ports. A port is opened
exclusively, with DTR and RTS low (boards restart when they rise, and some do anyway; those that wait for DTR
get it), and read in chunks. What goes wrong is told in plain words with the command that mends it; the port is
tried again until it is there.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import serial
from serial.tools import list_ports

from firmware_bridge.wire import Arrival, Closed, Heard, Kind, LinkStatus, Opened, RaceClass

_log = logging.getLogger(__name__)

AUTO = "auto"
BAUDS = (921_600, 115_200)
# Boards that are a serial port themselves say nothing before DTR rises, and do not restart when it does: Arduino
# Leonardo and Micro, whatever Raspberry Pi makes (no number: any product of that maker).
_WAITS_FOR_DTR = {(0x2341, 0x8036), (0x2341, 0x8037), (0x2E8A, None)}
_READ_S = 0.25
_WRITE_S = 0.5
_LOOK_S = 0.25
_AUTO_LOOK_S = 0.5
_BACKOFF_S = (0.1, 4.0)
_PROBE_S = 3.0
_LEAVE_ALONE_S = 30.0
_OUT_QUEUE = 256
CLOSE_S = 5.0
_CHUNK = 65_536


def usb_ports() -> list[str]:
    """Names of the serial ports of USB devices that are plugged in now, sorted."""
    return sorted(port.device for port in list_ports.comports() if port.vid is not None)


class SerialLink:
    """All serial pads. A route is a port's name.

    `targets`: ``auto`` (every USB serial port), a path, a pattern (``/dev/ttyUSB*``),
    ``socket://host:port``; each but the URL may end ``@SPEED``. Without a speed BAUDS are tried in turn
    until a pad answers. Ports found by ``auto`` that do not answer in tada/1 are closed again and left
    alone for a while. `discover` lists ports for ``auto``. Raises ValueError when a target is none.
    """

    name = "serial"
    is_trusted = True
    race_class: RaceClass = "ranked"

    def __init__(
        self, targets: Iterable[str] = (AUTO,), *, discover: Callable[[], list[str]] = usb_ports
    ) -> None:
        self._targets = tuple(_target(text) for text in targets)
        self._discover = discover
        self._ports: dict[str, _Port] = {}
        self._lock = threading.Lock()
        self._post: Callable[[Arrival], None] = lambda _arrival: None
        self._now_ns: Callable[[], int] = time.monotonic_ns
        self._is_stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        """Begin to look for ports; see `wire.Link`."""
        self._post, self._now_ns = post, now_ns
        self._thread = threading.Thread(target=self._look, name="serial-look", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close all ports; see `wire.Link`."""
        self._is_stopping.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            ports = list(self._ports.values())
        for port in ports:
            port.close()

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        """Queue for the port's writer; see `wire.Link`."""
        with self._lock:
            port = self._ports.get(route)
        return port is not None and port.send(frames)

    def tell_table(self, frame: bytes) -> bool:
        """A serial line has no listeners but its pad; see `wire.Link`."""
        return False

    def keep(self, route: str) -> None:
        """A pad answered: the port and its speed are right; see `wire.Link`."""
        with self._lock:
            port = self._ports.get(route)
        if port is not None:
            port.is_kept = True

    def status(self) -> tuple[LinkStatus, ...]:
        """One line for each port, and one for each target that no port fits; see `wire.Link`."""
        with self._lock:
            ports = list(self._ports.values())
        lines = [LinkStatus(f"serial {port.path}", port.is_up, port.problem, port.mend) for port in ports]
        for pattern, _ in self._targets:
            if pattern == AUTO and not ports:
                lines.append(LinkStatus("serial auto", False, "no USB serial device found", "plug a pad in"))
        return tuple(lines)

    def _look(self) -> None:
        pause_s = _AUTO_LOOK_S if any(pattern == AUTO for pattern, _ in self._targets) else _LOOK_S
        while True:
            try:
                wanted = self._wanted()
            except Exception:
                _log.exception("the serial ports could not be listed")
                wanted = dict(self._ports)
            with self._lock:
                gone = [port for path, port in self._ports.items() if path not in wanted and not port.is_up]
                for port in gone:
                    del self._ports[port.path]
                come = [port for path, port in wanted.items() if path not in self._ports]
                self._ports.update((port.path, port) for port in come)
            for port in gone:
                port.close()
            for port in come:
                port.start()
            if self._is_stopping.wait(pause_s):
                return

    def _wanted(self) -> dict[str, _Port]:
        found: dict[str, _Port] = {}
        for pattern, bauds in self._targets:
            if pattern == AUTO:
                paths, is_ours = self._discover(), False
            elif "*" in pattern or "?" in pattern:
                paths, is_ours = sorted(glob.glob(pattern)), True  # noqa: PTH207  # an absolute pattern
            else:
                paths, is_ours = [pattern], True
            for path in paths:
                if path not in found:
                    found[path] = _Port(path, bauds, is_ours, self._post, self._now_ns)
        return found


class _Port:
    """One port by its name, opened again whenever it can be. Its thread opens and reads, so that a port
    that hangs keeps nobody else waiting."""

    def __init__(
        self,
        path: str,
        bauds: tuple[int, ...],
        is_ours: bool,
        post: Callable[[Arrival], None],
        now_ns: Callable[[], int],
    ) -> None:
        self.path = path
        self.problem = f"{path} is being opened"
        self.mend = ""
        self.is_up = False
        self.is_kept = False
        self._bauds = bauds
        self._baud = 0
        self._is_ours = is_ours
        self._post = post
        self._now_ns = now_ns
        self._serial: serial.Serial | None = None
        self._out: queue.Queue[bytes | None] = queue.Queue(_OUT_QUEUE)
        self._wait_s = _BACKOFF_S[0]
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"serial {path}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, data: bytes) -> bool:
        if not self.is_up:
            return False
        try:
            self._out.put_nowait(data)
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        self._is_closing.set()
        port = self._serial
        if port is not None and hasattr(port, "cancel_read"):
            with contextlib.suppress(Exception):  # closed meanwhile
                port.cancel_read()
        if self._thread.ident is not None:
            self._thread.join(CLOSE_S)

    def _run(self) -> None:
        while not self._is_closing.is_set():
            try:
                if "://" not in self.path and sys.platform != "win32" and not Path(self.path).exists():
                    self.problem, self.mend = f"there is no {self.path}", "plug the pad in, or check the name"
                    self._is_closing.wait(_LOOK_S)
                    continue
                port = open_port(self.path, self._bauds[self._baud])
            except Exception as error:  # a port that vanishes meanwhile also raises termios.error and others
                self.problem, self.mend = why_not_open(self.path, error)
                self._is_closing.wait(self._wait_s)
                self._wait_s = min(self._wait_s * 2, _BACKOFF_S[1])
                continue
            self._serve(port)

    def _serve(self, port: serial.Serial) -> None:
        """Read and write until the port is gone, a stranger's, or closed by us."""
        self._serial = port
        out = self._out = queue.Queue(_OUT_QUEUE)
        is_gone = threading.Event()
        self.is_kept = False
        self.problem = self.mend = ""
        self._post(Opened(self.path))
        self.is_up = True
        out.put(b"\n")  # ends whatever someone else typed there before us
        writer = threading.Thread(
            target=_write, args=(port, out, is_gone), name=f"serial-out {self.path}", daemon=True
        )
        writer.start()
        try:
            self._read(port)
            reason, pause_s = "no pad answered there", _LEAVE_ALONE_S
        except Exception as error:  # pulled out: SerialException, OSError, TypeError, termios.error, ...
            reason, pause_s = why_gone(self.path, error), _BACKOFF_S[0]
        self.is_up = False
        self._serial = None
        is_gone.set()
        with contextlib.suppress(queue.Full):  # then the writer is awake and sees that it is over
            out.put_nowait(None)
        with contextlib.suppress(Exception):  # not every port can be told so
            port.cancel_write()
        writer.join()
        close_port(port)
        self.problem, self.mend = f"{self.path}: {reason}", "plug it in again, or name the port with --serial"
        self._post(Closed(self.path, reason))
        self._is_closing.wait(pause_s)

    def _read(self, port: serial.Serial) -> None:
        """Post what comes, until closed or found to be a stranger's. Raises what pyserial raises when it
        breaks.

        Chunks, never lines: `readline` of pyserial takes one byte at a time.
        """
        probe_until_s = time.monotonic() + _PROBE_S
        while not self._is_closing.is_set():
            data = read_chunk(port)
            if data:
                # Stamped after the last byte: too late only makes the clock's uncertainty larger, never
                # wrong.
                self._post(Heard(self.path, data, self._now_ns()))
                self._wait_s = _BACKOFF_S[0]
            if not self.is_kept and time.monotonic() > probe_until_s:
                self._baud = (self._baud + 1) % len(self._bauds)
                if self._baud == 0 and not self._is_ours:
                    return
                port.baudrate = self._bauds[self._baud]
                probe_until_s = time.monotonic() + _PROBE_S


def read_chunk(port: serial.Serial) -> bytes:
    """What has come, waiting up to _READ_S for the first byte; empty when nothing did."""
    data = port.read(1)
    if not data:
        return b""
    if port.portstr is not None and "://" in port.portstr:
        # A socket cannot say how much is waiting; without a timeout its read returns what is there.
        port.timeout = 0
        data += port.read(_CHUNK)
        port.timeout = _READ_S
    elif waiting := port.in_waiting:
        data += port.read(min(waiting, _CHUNK))
    return data


def _write(port: serial.Serial, out: queue.Queue[bytes | None], is_gone: threading.Event) -> None:
    while (data := out.get()) is not None and not is_gone.is_set():
        with contextlib.suppress(Exception):
            # A line that takes nothing loses this only; a dead one is found by the reader, which ends both.
            port.write(data)


def _target(text: str) -> tuple[str, tuple[int, ...]]:
    path, speed = port_and_speed(text)
    if "://" in path:
        return path, (BAUDS[0],)
    return path, BAUDS if speed is None else (speed,)


def port_and_speed(text: str) -> tuple[str, int | None]:
    """What ``PORT``, ``PORT@SPEED`` or ``socket://HOST:PORT`` names; None where no speed is named.

    Raises ValueError when it is none of them.
    """
    if "://" in text:
        if not text.startswith("socket://"):
            raise ValueError(f"{text} is no serial port; write a path, or socket://host:port")
        return text, None
    path, at, speed = text.rpartition("@")
    if not (path if at else text):
        raise ValueError("name a serial port, as in /dev/ttyUSB0 or /dev/ttyUSB0@115200")
    if not at:
        return text, None
    if not speed.isdecimal() or not 300 <= int(speed) <= 4_000_000:
        raise ValueError(f"the speed in {text} must be a number like 115200")
    return path, int(speed)


def open_port(path: str, baud: int) -> serial.Serial:
    """The port, opened for this program alone with DTR and RTS low (DTR high where the board waits for it), or a
    ``socket://`` stream; reads wait up to _READ_S. Raises what pyserial raises, and others (a port may vanish
    meanwhile)."""
    port = serial.serial_for_url(path, do_not_open=True)
    port.baudrate = baud
    port.timeout = _READ_S
    port.write_timeout = _WRITE_S
    port.dtr = _waits_for_dtr(path)
    port.rts = False
    if "://" not in path:
        port.exclusive = True
    try:
        port.open()
    except Exception:
        close_port(port)
        raise
    if hasattr(port, "set_low_latency_mode"):
        with contextlib.suppress(OSError, ValueError, NotImplementedError):
            port.set_low_latency_mode(True)
    return port


def close_port(port: serial.Serial) -> None:
    """Close what `open_port` opened, whatever state it is in."""
    # Where the other end hung up first, pyserial's own close forgets the socket without closing it.
    stream = getattr(port, "_socket", None)
    with contextlib.suppress(Exception):  # it is gone; nothing more can go wrong with it
        port.close()
    if stream is not None:
        stream.close()


def _waits_for_dtr(path: str) -> bool:
    if "://" in path:
        return False
    real = os.path.realpath(path)
    return any(
        known.device == real and not {(known.vid, known.pid), (known.vid, None)}.isdisjoint(_WAITS_FOR_DTR)
        for known in list_ports.comports()
    )


def why_not_open(path: str, error: Exception) -> tuple[str, str]:
    """What is wrong and how to mend it."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EACCES:
        return f"no permission to open {path}", "sudo usermod -aG dialout $USER, then log in again"
    if number in (errno.EAGAIN, errno.EBUSY):
        holder = _holder(path)
        return f"{path} is in use by {holder or 'another program'}", "close that program"
    if number in (errno.ENOENT, errno.ENXIO, errno.ENODEV):
        return f"there is no {path}", "plug the pad in, or check the name"
    return f"{path} cannot be opened: {str(error).splitlines()[0] if str(error) else type(error).__name__}", (
        "check the name and the cable"
    )


def _holder(path: str) -> str:
    """Name and process id of another program that has the port open, empty when it cannot be seen."""
    try:
        real = os.path.realpath(path)
    except OSError:  # unlinked between its look at the name and its read of the link
        return ""
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            for handle in (process / "fd").iterdir():
                if str(handle.readlink()) == real:
                    return f"{(process / 'comm').read_text().strip()} (process {process.name})"
    return ""


def why_gone(path: str, error: Exception) -> str:
    """Why a port that was open is not any more, in plain words."""
    if holder := _holder(path):
        return f"two programs read it, the other is {holder}"
    return "it was unplugged" if isinstance(error, OSError) else f"it failed ({type(error).__name__})"
