"""Frames handed over by another process, as if they came from a camera.

One side holds a `Feed` and pushes; the other opens `Feed.source` like any camera and gets the newest frame.
The line is a loopback socket with a one-time key, so that nobody else on the machine can feed in.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import struct
import threading
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener

import numpy as np
from numpy.typing import NDArray

PREFIX = "feed:"
_HEADER = struct.Struct("<II")
_PATIENCE_S = 1.0


class Feed:
    """The pushing side. `source` is what the camera is told to open."""

    def __init__(self) -> None:
        key = secrets.token_bytes(16)
        self._listener = Listener(("127.0.0.1", 0), authkey=key)
        self._address = ("127.0.0.1", int(self._listener.address[1]))
        self.source = f"{PREFIX}{self._address[1]}:{key.hex()}"
        self._newest: NDArray[np.uint8] | None = None
        self._pushed = 0
        self._closed = threading.Event()
        self._change = threading.Condition()
        self._threads = [threading.Thread(target=self._accept, name="feed", daemon=True)]
        self._threads[0].start()

    def push(self, frame: NDArray[np.uint8]) -> None:
        """Offers a BGR frame (H, W, 3) uint8; it must not be written to afterwards. Never waits: a reader
        that is too slow misses frames."""
        with self._change:
            self._newest = frame
            self._pushed += 1
            self._change.notify_all()

    def close(self) -> None:
        """Ends the feed; whoever reads it sees a camera that was unplugged."""
        with self._change:
            if self._closed.is_set():
                return
            self._closed.set()
            self._change.notify_all()
        self._wake()
        self._listener.close()
        for thread in self._threads:
            thread.join(_PATIENCE_S)

    def _wake(self) -> None:
        """Closing a listener does not end a waiting accept; a last visitor does."""
        with contextlib.suppress(OSError):
            socket.create_connection(self._address, _PATIENCE_S).close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                reader = self._listener.accept()
            except (OSError, EOFError, AuthenticationError):
                continue  # a stranger without the key, or one who hung up
            if self._closed.is_set():
                reader.close()
                return
            thread = threading.Thread(target=self._send, args=(reader,), name="feed-line", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _next(self, sent: int) -> tuple[NDArray[np.uint8] | None, int]:
        """Waits for a frame newer than number `sent`; (None, ...) when the feed is closed."""
        with self._change:
            self._change.wait_for(lambda: self._closed.is_set() or self._pushed > sent)
            return (None if self._closed.is_set() else self._newest), self._pushed

    def _send(self, reader: Connection) -> None:
        sent = 0
        with reader:
            while True:
                frame, sent = self._next(sent)
                if frame is None:
                    return
                try:
                    reader.send_bytes(_HEADER.pack(*frame.shape[:2]) + frame.tobytes())
                except OSError:
                    return


class FeedLine:
    """The reading side. Raises OSError when there is no feed."""

    def __init__(self, source: str) -> None:
        port, key = source.removeprefix(PREFIX).split(":")
        self._line = Client(("127.0.0.1", int(port)), authkey=bytes.fromhex(key))

    def take(self, timeout_s: float) -> NDArray[np.uint8] | None:
        """The next frame, None when none came within `timeout_s`. Raises EOFError or OSError when the feed
        ended."""
        if not self._line.poll(timeout_s):
            return None
        data = self._line.recv_bytes()
        height, width = _HEADER.unpack_from(data)
        return np.frombuffer(data, np.uint8, height * width * 3, _HEADER.size).reshape(height, width, 3)

    def close(self) -> None:
        """Hangs up."""
        self._line.close()
