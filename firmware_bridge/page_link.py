"""Pages as pads: a phone's screen or the keys of a keyboard, read by a page that speaks tada/1 over a socket.

A page says whole messages without checksum (its socket has one); the link puts them into frames, so that they
take the very way of a pad's. Which device a page is decides whoever let it in, never the page.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

import msgspec

from firmware_bridge.framing import Frame, WireCounters, wrap
from firmware_bridge.messages import Hello, body_of, from_device
from firmware_bridge.wire import Arrival, Closed, Heard, Kind, LinkStatus, Opened, RaceClass

STAMP_US = 16_000
"""How late a page may learn of a touch or key when nobody measured it: one frame of a screen."""
MAX_PAGES = 32
_QUEUE = 256
"""So many messages of one page may wait to be handed on."""


class PageLine:
    """One page that is a pad, from `PageLink.join` to `close`. All methods are safe from any thread."""

    def __init__(
        self, link: PageLink, device: str, tell: Callable[[str], None], hang_up: Callable[[str], None]
    ) -> None:
        self.device = device
        self.tell, self.hang_up = tell, hang_up
        self.waiting = 0
        self._link = link

    def hear(self, text: str) -> None:
        """The page said a message; never waits."""
        self._link.heard(self, text)

    def close(self) -> None:
        """The page is gone; may be called twice."""
        self._link.leave(self)


class PageLink:
    """All pages that are pads. A route is a device's id.

    `stamp_us(device)`: the worst delay between a finger and its stamp that somebody measured for that device,
    None: STAMP_US. A page that claims less is not believed.
    """

    name = "page"
    is_trusted = True
    race_class: RaceClass = "party"

    def __init__(self, stamp_us: Callable[[str], int | None] = lambda _device: None) -> None:
        self._stamp_us = stamp_us
        self._lines: dict[str, PageLine] = {}
        self._lock = threading.RLock()
        self._inbox: queue.SimpleQueue[tuple[PageLine, Arrival] | None] = queue.SimpleQueue()
        self._now_ns: Callable[[], int] = time.monotonic_ns
        self._thread: threading.Thread | None = None

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        """Begin to hand on what pages say; see `wire.Link`."""
        self._now_ns = now_ns
        self._thread = threading.Thread(target=self._hand_on, args=(post,), name="pages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Hang up on all pages; see `wire.Link`."""
        with self._lock:
            lines = tuple(self._lines.values())
        for line in lines:
            line.hang_up("end")
            self.leave(line)
        if self._thread is not None:
            self._inbox.put(None)
            self._thread.join()
            self._thread = None

    def join(
        self, device: str, tell: Callable[[str], None], hang_up: Callable[[str], None]
    ) -> PageLine | None:
        """A page comes that is to be this device; an older page of the same device is hung up on.

        `tell(message)` must not wait; `hang_up(why)` ends the page's socket: ``elsewhere``, ``flood`` (it says more
        than can be taken) or ``end`` (of the program). None when too many pages are pads.
        """
        line = PageLine(self, device, tell, hang_up)
        with self._lock:
            old = self._lines.get(device)
            if old is None and len(self._lines) >= MAX_PAGES:
                return None
            if old is not None:
                self.leave(old)
                old.hang_up("elsewhere")
            self._lines[device] = line
            self._put(line, Opened(device, device))
        return line

    def heard(self, line: PageLine, text: str) -> None:
        """What `PageLine.hear` hands on. What cannot be a message is counted as noise of that device."""
        at_ns = self._now_ns()
        try:
            frame = wrap(self._honest(line.device, text.encode()))
        except ValueError:
            frame = b"?\n"
        with self._lock:
            if self._lines.get(line.device) is not line:
                return
            is_flood = line.waiting >= _QUEUE
            if is_flood:
                self.leave(line)
            else:
                self._put(line, Heard(line.device, frame, at_ns))
        if is_flood:
            # Nobody keeps up with it, and presses are never dropped one by one behind its back.
            line.hang_up("flood")

    def leave(self, line: PageLine) -> None:
        """What `PageLine.close` hands on."""
        with self._lock:
            if self._lines.get(line.device) is line:
                del self._lines[line.device]
                self._put(line, Closed(line.device, "its page was closed"))

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        """Tell the page each message by itself, without checksum; see `wire.Link`."""
        with self._lock:
            line = self._lines.get(route)
        if line is None:
            return False
        for frame in frames.splitlines():
            line.tell(frame.partition(b"*")[0].decode())
        return True

    def tell_table(self, frame: bytes) -> bool:
        """Pages see verdicts by other ways; see `wire.Link`."""
        return False

    def keep(self, route: str) -> None:
        """A page stays as long as it is open; see `wire.Link`."""

    def status(self) -> tuple[LinkStatus, ...]:
        """Nothing to say: a page that is gone is told with its device; see `wire.Link`."""
        return ()

    def _honest(self, device: str, body: bytes) -> bytes:
        """The message, a hello with the delay that is known rather than the one claimed."""
        if b"\n" in body or b"*" in body:
            raise ValueError("a message of tada/1 holds neither")
        hello = from_device(Frame(body), WireCounters())
        if not isinstance(hello, Hello):
            return body
        measured_us = self._stamp_us(device)
        least_us = STAMP_US if measured_us is None else measured_us
        return body_of(msgspec.structs.replace(hello, st=max(hello.st, least_us)))

    def _hand_on(self, post: Callable[[Arrival], None]) -> None:
        while (item := self._inbox.get()) is not None:
            line, arrival = item
            post(arrival)
            with self._lock:
                line.waiting -= 1

    def _put(self, line: PageLine, arrival: Arrival) -> None:
        """To be called with the lock held."""
        line.waiting += 1
        self._inbox.put((line, arrival))
