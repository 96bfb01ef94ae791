"""A small MQTT broker inside this program, for demos and tables that have none. The only module that
imports amqtt.

It speaks MQTT 3.1.1 only and costs far more per message than mosquitto: good for a table, not for a hall.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading

from amqtt.broker import Broker

_STOP_S = 5.0


class _TidyBroker(Broker):  # type: ignore[misc]  # its library has no types
    """Closes what a client leaves behind that hangs up without a word."""

    async def stream_connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        try:
            await super().stream_connected(reader, writer, listener_name)
        finally:
            writer.close()


class EmbeddedBroker:
    """A broker on loopback in a thread of its own. `url` is its address."""

    def __init__(self, port: int = 0) -> None:
        """`port` 0: any free one."""
        self.port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_up = threading.Event()
        self._error: Exception | None = None
        self._done: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """``mqtt://127.0.0.1:PORT``."""
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when the broker takes connections. Raises OSError when it cannot listen on its port."""
        # Its library tells every packet and every client that goes away; only what breaks is of use here.
        for name in ("amqtt", "transitions"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if self.port == 0:
            with socket.create_server(("127.0.0.1", 0)) as probe:
                self.port = probe.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name="broker", daemon=True)
        self._thread.start()
        self._is_up.wait()
        if self._error is not None:
            self._thread.join()
            raise OSError(f"no broker on port {self.port}: {self._error}")

    def stop(self) -> None:
        """Hang up on all and end the thread; may be called twice."""
        loop, done = self._loop, self._done
        if loop is not None and done is not None and not loop.is_closed():
            loop.call_soon_threadsafe(done.set)
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        try:
            broker = _TidyBroker(
                {
                    "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{self.port}"}},
                    "plugins": {
                        "amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}
                    },
                }
            )
            await broker.start()
        except Exception as error:  # whatever its library raises is told by `start`
            self._error = error
            self._is_up.set()
            return
        self._is_up.set()
        await self._done.wait()
        await broker.shutdown()
