"""The web server: Flask pages and live streams in one process and under one origin."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import logging
import socket
import threading
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from flask import Flask
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config

from web_ui.access import is_loopback
from web_ui.context import NAME
from web_ui.live import Hub, Receive, Scope, Send
from web_ui.pad_socket import PadSockets

WORKERS = 12
GRACE_S = 3.0
BACKLOG = 100
FILES = 4096


class Server:
    """Serves one application in a thread of its own between `start` and `stop`; a table's has live streams too."""

    def __init__(self, app: Flask, host: str = "127.0.0.1", port: int = 0) -> None:
        """Binds at once, so that `port` is known; 0 takes a free one. Raises OSError when it is held."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._app = app
        self._is_table = NAME in app.extensions
        if self._is_table and is_loopback(
            self._socket.getsockname()[0]
        ):  # then no address of this machine's networks leads here
            app.extensions[NAME] = dataclasses.replace(app.extensions[NAME], addresses=tuple)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self.hub: Hub | None = None

    def start(self) -> None:
        """Begin to serve; returns when the live hub listens. Raises what kept it from starting."""
        _allow_sockets()
        self._socket.listen(BACKLOG)  # from here on nobody is turned away, they wait for the thread
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)
        self._thread.start()
        self._ready.wait(10)
        if self._failed is not None:
            raise self._failed

    def stop(self) -> None:
        """End all streams and answers under way, then the thread."""
        if self._thread is None:
            self._socket.close()
        elif self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(GRACE_S * 3)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as failed:
            self._failed = failed
            logging.getLogger(__name__).exception("the web server ended")
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        config = Config()
        config.bind = [f"fd://{self._socket.detach()}"]
        config.graceful_timeout = GRACE_S
        config.accesslog = None
        config.errorlog = logging.getLogger("web_ui.hypercorn")
        config.include_server_header = False
        pages = WSGIMiddleware(cast(Any, self._app.wsgi_app), workers=WORKERS)
        served: Any = pages
        if self._is_table:
            self.hub = Hub(self._app)
            await self.hub.start()
            served = _joined(self.hub, PadSockets(self._app), pages)
        self._ready.set()
        try:
            await hypercorn_serve(served, config, shutdown_trigger=self._shutdown)
        finally:
            pages.executor.shutdown(wait=False)

    async def _shutdown(self) -> None:
        await self._end.wait()
        if self.hub is not None:
            await self.hub.stop()


def _allow_sockets() -> None:
    """Many systems allow a process 1024 open files at first; a hall full of phones needs more."""
    try:
        resource = importlib.import_module("resource")
    except ImportError:
        return  # Windows has no such limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _joined(hub: Hub, sockets: PadSockets, pages: WSGIMiddleware) -> Any:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await sockets(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith("/live/"):
            await hub(scope, receive, send)
        else:
            await pages(cast(Any, scope), receive, cast(Any, send))

    return app
