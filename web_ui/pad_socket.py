"""The socket of a page that is a pad. Pure ASGI, at /live/pad."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from flask import Flask

from web_ui.access import PAD_SOCKET, may_stream, viewer_of
from web_ui.context import NAME, Web
from web_ui.pads import KINDS, PadLine, device_of

RATE = 60.0
"""Messages a second that a page may send for long: two presses a second for each of 30 keys."""
BURST = 180.0
MAX_BYTES = 512
QUEUE = 256
LOOK_S = 1.0
"""A pass that was taken away ends the socket this soon."""
GRACE_S = 1.0
CODES = {"elsewhere": 4001, "away": 4003, "flood": 4008, "end": 1001}

Scope = dict[str, Any]
Receive = Callable[[], Any]
Send = Callable[[dict[str, Any]], Any]


class PadSockets:
    """Answers every web socket of the server: pads are let in, all else is refused."""

    def __init__(self, app: Flask) -> None:
        """For the pages of this application."""
        self._web: Web = app.extensions[NAME]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One socket from its handshake to its end."""
        await receive()  # websocket.connect
        device, token = self._admitted(scope)
        if not device:
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept"})
        loop = asyncio.get_running_loop()
        out: asyncio.Queue[str] = asyncio.Queue(QUEUE)
        ended: asyncio.Future[str] = loop.create_future()

        def end(why: str) -> None:
            if not ended.done():
                ended.set_result(why)

        def put(text: str) -> None:
            try:
                out.put_nowait(text)
            except asyncio.QueueFull:
                end("flood")

        def threadsafe(call: Callable[[str], None]) -> Callable[[str], None]:
            def do(word: str) -> None:
                with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to tell
                    loop.call_soon_threadsafe(call, word)

            return do

        line = self._web.pads.join(device, threadsafe(put), threadsafe(end))
        if line is None:
            await send({"type": "websocket.close", "code": 1013, "reason": "too many pads"})
            return
        jobs = {
            asyncio.create_task(_listen(receive, line, end)),
            asyncio.create_task(_tell(out, send)),
            asyncio.create_task(self._watch(token, device, end)),
        }
        try:
            watched: set[asyncio.Future[Any]] = {*jobs, ended}
            done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        finally:
            line.close()
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
        if ended in done:
            with contextlib.suppress(Exception):  # it may have hung up by itself meanwhile
                await _say_goodbye(ended.result(), receive, send)

    def _admitted(self, scope: Scope) -> tuple[str, str]:
        """Which device the page is and its pass; an empty id for nobody of ours."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        access, host = self._web.access, headers.get(b"host", "")
        scheme = "https" if scope.get("scheme") == "wss" else "http"
        if access.door((scope.get("client") or ("", 0))[0], host) or scope["path"] != PAD_SOCKET:
            return "", ""
        origin = headers.get(b"origin")
        if origin is None or not access.is_same_origin(origin, None, scheme, host):
            return "", ""  # a foreign page would bring our cookie along
        token = access.token_in(headers.get(b"cookie", ""))
        kind = parse_qs(scope["query_string"].decode("latin-1")).get("kind", [""])[0]
        return self._device(token, kind), token

    def _device(self, token: str, kind: str) -> str:
        holder = self._web.holder(token)
        if holder is None or kind not in KINDS or not may_stream(viewer_of(holder).role, PAD_SOCKET):
            return ""
        return device_of(kind, holder.id)

    async def _watch(self, token: str, device: str, end: Callable[[str], None]) -> None:
        kind = device.partition("-")[0]
        while self._device(token, kind) == device:
            await asyncio.sleep(LOOK_S)
        end("away")
        await asyncio.Event().wait()


async def _listen(receive: Receive, line: PadLine, end: Callable[[str], None]) -> None:
    left, at_s = BURST, time.monotonic()
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        now_s = time.monotonic()
        left, at_s = min(BURST, left + (now_s - at_s) * RATE) - 1, now_s
        if text is None or len(text) > MAX_BYTES or left < 0:
            end("flood")
            await asyncio.Event().wait()
        line.hear(text)


async def _say_goodbye(why: str, receive: Receive, send: Send) -> None:
    """Let the page hang up by itself, so that it surely knows why; a line that is cut may lose the last word."""
    await send({"type": "websocket.send", "text": f'{{"t":"bye","why":"{why}"}}'})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while (await receive())["type"] != "websocket.disconnect":
                pass
            return
    await send({"type": "websocket.close", "code": CODES[why]})


async def _tell(out: asyncio.Queue[str], send: Send) -> None:
    while True:
        await send({"type": "websocket.send", "text": await out.get()})
