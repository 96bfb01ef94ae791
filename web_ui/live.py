"""The live hub: one asyncio task that tells every open page what is new. Pure ASGI, mounted at /live."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs

import msgspec
from flask import Flask, render_template
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from companion.core.seat import PUBLIC, Role, Viewer
from companion.runtime.desk import Announcement, Snapshot
from web_ui.access import may_stream, viewer_of
from web_ui.app import digest, languages
from web_ui.context import NAME, Web
from web_ui.shown import facts, health_facts

BEAT_S = 5.0
SETTLE_S = 0.04
"""Changes this close together are shown as one."""
LISTEN_S = 0.2
"""What is said without a change of the table (a lost device) is told at least this soon."""
HEALTH_S = 1.0
QUEUE = 64
MAX_STREAMS = 1000
STAFF_RESERVE = 100
MAX_PER_TOKEN = 8
MAX_PER_ADDRESS = 64

Scope = dict[str, Any]
Receive = Callable[[], Any]
Send = Callable[[dict[str, Any]], Any]


class Topic(msgspec.Struct, frozen=True):
    """What a stream carries: one page for one pair of eyes in one language."""

    page: str
    viewer: Viewer
    locale: str


class _Drawn(msgspec.Struct, frozen=True):
    """A page as it was drawn for one picture of the table; `short` is for who has this very page already."""

    snapshot: Snapshot
    html: str
    full: bytes
    short: bytes


class _Client:
    """One open stream. `who`: whose streams are counted together."""

    __slots__ = ("closing", "farewell", "holder", "queue", "shown", "topic", "who")

    def __init__(self, topic: Topic, who: str, holder: str) -> None:
        self.topic, self.who, self.holder = topic, who, holder
        self.queue: asyncio.Queue[bytes] = asyncio.Queue(QUEUE)
        self.closing = asyncio.Event()
        self.farewell = b""
        self.shown: _Drawn | None = None


def encode(event: str, data: object, id: str = "") -> bytes:
    """One server-sent event."""
    head = f"id: {id}\n" if id else ""
    return f"{head}event: {event}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


def concerns(announcement: Announcement, viewer: Viewer) -> bool:
    """Whether an announcement is for these eyes and ears."""
    target = announcement.cue.target
    if target in ("all", viewer.role.value):
        return True
    return viewer.role is Role.SEAT and target == viewer.seat


class Hub:
    """Streams of one table. All but `changed` belongs to the loop on which `start` was called."""

    def __init__(self, app: Flask) -> None:
        """A hub for the pages of this application; it does nothing before `start`."""
        self._app = app
        self._web: Web = app.extensions[NAME]
        self._clients: set[_Client] = set()
        self._drawn: dict[Topic, _Drawn] = {}
        self._said = 0
        self._renderer = ThreadPoolExecutor(1, thread_name_prefix="live-render")
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Listen to the table and begin to tell."""
        loop = asyncio.get_running_loop()

        def threadsafe(call: Callable[..., None], *arguments: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to tell
                loop.call_soon_threadsafe(call, *arguments)

        self._said = self._last_said()
        self._unsubscribe = self._web.desk.subscribe(lambda _: threadsafe(self._changed.set))
        self._web.access.passes.on_revoke(lambda holder: threadsafe(self._revoked, holder))
        self._tasks = [asyncio.create_task(job()) for job in (self._tell, self._beat, self._watch_health)]

    async def stop(self) -> None:
        """End all streams; pages come back by themselves when there is somebody to come back to."""
        self._unsubscribe()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for client in self._clients:
            client.closing.set()
        self._renderer.shutdown(wait=False)

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return len(self._clients)

    def _last_said(self) -> int:
        said = self._web.desk.announcements()
        return said[-1].id if said else 0

    # telling

    async def _tell(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LISTEN_S)
            self._say()
            if not self._changed.is_set():
                continue
            self._changed.clear()
            for client in self._clients:
                if not self._web.is_seated(client.topic.viewer):
                    self._send_away(client)
            for topic in {client.topic for client in self._clients if client.topic.page != "devices"}:
                await self._show(topic)
                self._say()
            await asyncio.sleep(SETTLE_S)

    def _say(self) -> None:
        for announcement in self._web.desk.announcements(self._said):
            self._said = announcement.id
            frame = self._announced(announcement, is_late=False)
            for client in tuple(self._clients):
                if concerns(announcement, client.topic.viewer):
                    self._put(client, frame)

    def _announced(self, announcement: Announcement, is_late: bool) -> bytes:
        told = {"n": announcement.id, "late": is_late, **msgspec.to_builtins(announcement.cue)}
        return encode("say", told, f"{self._web.boot}-{announcement.id}")

    async def _show(self, topic: Topic) -> None:
        drawn = await self._draw(topic)
        for client in tuple(self._clients):
            if client.topic == topic and client.shown is not drawn:
                self._put_drawn(client, drawn)

    def _put_drawn(self, client: _Client, drawn: _Drawn) -> None:
        has_it = client.shown is not None and client.shown.html == drawn.html
        client.shown = drawn
        self._put(client, drawn.short if has_it else drawn.full)

    async def _draw(self, topic: Topic) -> _Drawn:
        """The newest page for a topic, drawn and encoded once for all who look at it."""
        snapshot = self._web.desk.snapshot()
        known = self._drawn.get(topic)
        if known and known.snapshot is snapshot and topic.page != "devices":
            return known
        loop = asyncio.get_running_loop()
        html = await loop.run_in_executor(self._renderer, self._render, topic)
        version = snapshot.version
        full = encode("view", {"version": version, "html": html})
        drawn = _Drawn(snapshot, html, full, encode("view", {"version": version}))
        self._drawn[topic] = drawn
        return drawn

    def _render(self, topic: Topic) -> str:
        with self._app.test_request_context("/", headers={"Accept-Language": topic.locale}):
            gather = health_facts if topic.page == "devices" else facts
            shown = gather(self._web, topic.viewer)
            return render_template(f"_{topic.page}.html", **shown, is_page=False)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            frame = encode("beat", self._pulse())
            for client in tuple(self._clients):
                self._put(client, frame)

    def _pulse(self) -> dict[str, Any]:
        return {
            "version": self._web.desk.snapshot().version,
            "now_ns": self._web.desk.now_ns(),
            "build": digest(),
        }

    async def _watch_health(self) -> None:
        while True:
            await asyncio.sleep(HEALTH_S)
            for topic in {client.topic for client in self._clients if client.topic.page == "devices"}:
                await self._show(topic)

    def _put(self, client: _Client, frame: bytes) -> None:
        try:
            client.queue.put_nowait(frame)
        except asyncio.QueueFull:
            client.closing.set()

    def _revoked(self, holder: str) -> None:
        for client in self._clients:
            if client.holder == holder:
                self._send_away(client)

    def _send_away(self, client: _Client) -> None:
        client.farewell = encode("bye", {"why": "revoked"})
        client.closing.set()

    # streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request below /live."""
        headers = {name.lower(): value for name, value in scope["headers"]}
        access = self._web.access
        remote = (scope.get("client") or ("", 0))[0]
        closed = access.door(remote, headers.get(b"host", b"").decode("latin-1"))
        if closed:
            return await _plain(send, closed.status, closed.why)
        holder = self._web.holder(access.token_in(headers.get(b"cookie", b"").decode("latin-1")))
        path = scope["path"]
        if scope["method"] != "GET" or not may_stream(viewer_of(holder).role, path):
            return await _plain(send, 403, "This stream is not yours.")
        if path == "/live/time":
            return await _time(send, self._web.desk.now_ns())
        page = path.rpartition("/")[2]
        viewer = PUBLIC if page == "public" else viewer_of(holder)
        who = holder.id if holder else remote
        if self._is_full(who, is_known=holder is not None):
            return await _plain(send, 503, "Too many pages are open. Close some.")
        accept = parse_accept_header(headers.get(b"accept-language", b"").decode("latin-1"), LanguageAccept)
        locale = accept.best_match(languages(), default="en") or "en"
        topic = Topic("board" if page == "public" else page, viewer, locale)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        after = headers.get(b"last-event-id", b"").decode("latin-1") or query.get("after", [""])[0]
        await self._serve(_Client(topic, who, holder.id if holder else ""), after, receive, send)
        return None

    def _is_full(self, who: str, is_known: bool) -> bool:
        mine = sum(client.who == who for client in self._clients)
        if mine >= (MAX_PER_TOKEN if is_known else MAX_PER_ADDRESS):
            return True
        return len(self._clients) >= MAX_STREAMS - (0 if is_known else STAFF_RESERVE)

    async def _serve(self, client: _Client, after: str, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        self._say()
        self._clients.add(client)
        jobs: set[asyncio.Task[Any]] = set()
        try:
            self._greet(client, after)
            self._put_drawn(client, await self._draw(client.topic))
            feeding = asyncio.create_task(_feed(client.queue, send))
            jobs = {
                feeding,
                asyncio.create_task(_gone(receive)),
                asyncio.create_task(client.closing.wait()),
            }
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._clients.discard(client)
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": client.farewell, "more_body": False})

    def _greet(self, client: _Client, after: str) -> None:
        """What a stream begins with: when to come back, and what was said since it was here last."""
        boot, _, number = after.partition("-")
        said = self._said
        if boot == self._web.boot and number.isdecimal():
            said = min(int(number), said)
        client.queue.put_nowait(f"retry: {random.randint(1000, 3000)}\n".encode())
        client.queue.put_nowait(encode("hello", self._pulse(), f"{self._web.boot}-{said}"))
        for announcement in self._web.desk.announcements(said)[-QUEUE // 2 :]:
            if announcement.id <= self._said and concerns(announcement, client.topic.viewer):
                self._put(client, self._announced(announcement, is_late=True))


STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-accel-buffering", b"no"),
]


async def _feed(queue: asyncio.Queue[bytes], send: Send) -> None:
    while True:
        frames = [await queue.get()]
        while not queue.empty():
            frames.append(queue.get_nowait())
        await send({"type": "http.response.body", "body": b"".join(frames), "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _plain(send: Send, status: int, text: str) -> None:
    await _answer(send, status, b"text/plain; charset=utf-8", (text + "\n").encode())


async def _time(send: Send, now_ns: int) -> None:
    await _answer(send, 200, b"application/json", msgspec.json.encode({"now_ns": now_ns}))


async def _answer(send: Send, status: int, kind: bytes, body: bytes) -> None:
    headers = [(b"content-type", kind), *STREAM_HEADERS[1:4]]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
