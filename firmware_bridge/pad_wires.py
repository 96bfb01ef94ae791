"""Ways by which a fake pad reaches the host: a pseudo-terminal, a TCP port for ``socket://``, MQTT."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from firmware_bridge import topics
from firmware_bridge.mqtt_link import MqttAddress, MqttClient, Subscription

_CHUNK = 65536
_STALL_S = 2.0


class PadWire(Protocol):
    """`hear` gets what the host sends, in the wire's own thread."""

    def open(self, hear: Callable[[bytes], None]) -> None:
        """Plug in."""

    def write(self, channel: str, data: bytes) -> None:
        """Send whole frames; `channel` is a topic of the device (`topics`), which streams do not need."""

    def close(self) -> None:
        """Pull the plug; may be called twice."""


class PtyWire:
    """A serial line over a pseudo-terminal (POSIX). `path` is a link to it, made anew at each `open`; None:
    the terminal's own name, found in `path` afterwards."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._link = path
        self._master = -1
        self._slave = -1
        self._is_stuck = False
        self._wake: tuple[int, int] = (-1, -1)
        self._thread: threading.Thread | None = None

    def open(self, hear: Callable[[bytes], None]) -> None:
        import pty  # noqa: PLC0415  # not there on Windows
        import tty  # noqa: PLC0415  # not there on Windows

        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        name = Path(os.ttyname(self._slave))
        if self._link is not None:
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(name)
        self.path = self._link or name
        self._wake = os.pipe()
        self._is_stuck = False
        self._thread = threading.Thread(
            target=self._read, args=(self._master, self._wake[0], hear), name="pad-pty", daemon=True
        )
        self._thread.start()

    def write(self, channel: str, data: bytes) -> None:
        if self._master < 0:
            return
        rest = memoryview(data)
        while rest:
            # Without a reader the line's buffer fills; what does not fit is lost, as on a real line.
            _, is_ready, _ = select.select([], [self._master], [], 0 if self._is_stuck else _STALL_S)
            if not is_ready:
                self._is_stuck = True
                return
            try:
                rest = rest[os.write(self._master, rest) :]
            except BlockingIOError:
                continue
            except OSError:
                return
            self._is_stuck = False

    def close(self) -> None:
        if self._master < 0:
            return
        master, slave, self._master, self._slave = self._master, self._slave, -1, -1
        os.write(self._wake[1], b"x")
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        for number in (slave, master, *self._wake):
            os.close(number)
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    @staticmethod
    def _read(master: int, wake: int, hear: Callable[[bytes], None]) -> None:
        while True:
            ready, _, _ = select.select([master, wake], [], [])
            if wake in ready:
                return
            try:
                data = os.read(master, _CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                return
            hear(data)


class TcpWire:
    """A serial line over TCP: the host opens `url`. One host at a time; the newest wins."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: socket.socket | None = None
        self._host: socket.socket | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """``socket://127.0.0.1:PORT``; known after `open`."""
        return f"socket://127.0.0.1:{self._port}"

    def open(self, hear: Callable[[bytes], None]) -> None:
        self._server = socket.create_server(("127.0.0.1", self._port))
        self._port = self._server.getsockname()[1]
        self._thread = threading.Thread(
            target=self._serve, args=(self._server, hear), name="pad-tcp", daemon=True
        )
        self._thread.start()

    def write(self, channel: str, data: bytes) -> None:
        host = self._host
        if host is not None:
            with contextlib.suppress(OSError):
                host.sendall(data)

    def close(self) -> None:
        server, host, self._server, self._host = self._server, self._host, None, None
        for open_socket in (server, host):
            if open_socket is not None:
                with contextlib.suppress(OSError):
                    open_socket.shutdown(socket.SHUT_RDWR)
                open_socket.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _serve(self, server: socket.socket, hear: Callable[[bytes], None]) -> None:
        while True:
            try:
                host, _ = server.accept()
            except OSError:
                return
            host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            host.settimeout(None)
            self._host = host
            with contextlib.suppress(OSError), host:
                while data := host.recv(_CHUNK):
                    hear(data)
            self._host = None


class MqttWire:
    """A pad on a broker. `said_hello` is asked for the description whenever the broker is reached."""

    def __init__(self, url: str, device_id: str) -> None:
        self._address = MqttAddress.parse(url)
        self._device_id = device_id
        self._client: MqttClient | None = None
        self.connected = threading.Event()

    def open(self, hear: Callable[[bytes], None]) -> None:
        state = self._topic(topics.STATE)
        self._client = MqttClient(
            self._address,
            name=self._device_id,
            subscriptions=tuple(
                Subscription(self._topic(channel), qos)
                for channel, qos in ((topics.SYNC_REQUEST, 0), (topics.COMMANDS, 1))
            ),
            hear=lambda _topic, payload, _is_retained: hear(
                payload if payload.endswith(b"\n") else payload + b"\n"
            ),
            came_up=self._came_up,
            went_down=lambda _reason: self.connected.clear(),
            will=(state, b"lost"),
        )
        self._client.start()

    def write(self, channel: str, data: bytes) -> None:
        if self._client is None:
            return
        if channel == topics.DESCRIPTION:
            self._client.publish(self._topic(channel), data, qos=1, is_retained=True)
        elif channel == topics.EVENTS:
            self._client.publish(self._topic(channel), data, qos=1, expiry_s=5)
        else:
            self._client.publish(self._topic(channel), data, qos=0)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.stop()
        self.connected.clear()

    def _came_up(self) -> None:
        if self._client is not None:
            self._client.publish(self._topic(topics.STATE), b"ready", qos=1, is_retained=True)
        self.connected.set()

    def _topic(self, channel: str) -> str:
        return topics.topic(self._address.table, self._device_id, channel)
