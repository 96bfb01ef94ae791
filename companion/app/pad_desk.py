"""Pads of a running table: whose they are, pages that are pads, and what is known of each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from companion.core.command import AssignPad
from companion.core.cue import Cue
from companion.core.observation import Observation, Observed, Pressed
from companion.core.seat import Actor
from companion.runtime.desk import Answer
from companion.runtime.loop import TableLoop
from companion.runtime.private_file import write_private
from firmware_bridge.link import Bridge
from firmware_bridge.page_link import PageLine, PageLink
from firmware_bridge.pairing import PadBook, PairingError, pair
from web_ui.pads import Awaited, PadPressed

AWAITED_NS = 60_000_000_000
"""So long a seat waits for the pad that is to be its own."""
LATELY_NS = 30_000_000_000
SHOWN = 4


def open_book(path: Path | None) -> PadBook:
    """What is known of pads, from a file of mode 0600, or kept in memory alone.

    Raises ValueError when the file is no such thing: it says to remove it.
    """
    if path is None:
        return PadBook(None, lambda _data: None)
    try:
        return PadBook(path.read_bytes() if path.exists() else None, lambda data: write_private(path, data))
    except ValueError as wrong:
        raise ValueError(f"{path}: {wrong}; remove it to pair the pads anew") from wrong


class PadDesk:
    """A `web_ui.pads.Pads`: gives seats their pads by the next press, and names to pads."""

    def __init__(self, loop: TableLoop, bridge: Bridge, pages: PageLink, book: PadBook) -> None:
        """`observe` is to be called with all that the bridge sees."""
        self._loop, self._bridge, self._pages, self._book = loop, bridge, pages, book
        self._lock = threading.Lock()
        self._pressed: OrderedDict[tuple[str, int], int] = OrderedDict()
        self._awaited: Awaited | None = None
        self._actor: Actor | None = None

    def observe(self, seen: Observation | Observed) -> bool:
        """Notice a press of a pad that is nobody's; True when it gave a seat its pad and means nothing else."""
        if not isinstance(seen, Pressed) or seen.suspect or seen.resent:
            return False
        sitting = self._loop.snapshot().sitting
        if sitting.seat_of(seen.source, seen.input) is not None:
            return False
        now_ns, last_ns = self._loop.now_ns(), None
        with self._lock:
            awaited, actor = self._awaited, self._actor
            is_for_seat = awaited is not None and actor is not None and now_ns <= awaited.until_ns
            if is_for_seat:
                self._awaited = None
            else:
                last_ns = self._pressed.get((seen.source, seen.input))
                self._pressed[seen.source, seen.input] = now_ns
                self._pressed.move_to_end((seen.source, seen.input))
                while len(self._pressed) > SHOWN:
                    self._pressed.popitem(last=False)
        if is_for_seat and awaited is not None and actor is not None:
            self._assign(awaited.seat, actor, seen)
            return True
        if last_ns is None or now_ns - last_ns > LATELY_NS:
            name = self._book.name(seen.source) or seen.source
            self._tell(f"Pad {name}, input {seen.input + 1}, was pressed. It is nobody's: see Devices.")
        return False

    def _assign(self, seat: str, actor: Actor, seen: Pressed) -> None:
        command = AssignPad(seat=seat, device=seen.source, input=seen.input)
        key = f"pad {seen.source}/{seen.boot}/{seen.n}"
        name = self._loop.snapshot().sitting.name(seat)

        def done(future: Future[Answer]) -> None:
            error = future.exception()  # the journal's disk, or a table that was closed
            refused = None if error is not None else future.result().ruling
            if error is not None or refused is not None:
                self._tell(f"{name} has no new pad: {error or (refused.because if refused else '')}")
                return
            self._tell(f"{name} slams with pad {seen.source}, input {seen.input + 1}, from now on.")
            self.find(seen.source)

        self._loop.submit(command, actor, key).add_done_callback(done)

    def _tell(self, text: str) -> None:
        self._loop.say(Cue(target="referee", pattern="notice", text=text))

    # what pages ask

    def join(
        self, device: str, tell: Callable[[str], None], hang_up: Callable[[str], None]
    ) -> PageLine | None:
        """See `web_ui.pads.Pads`."""
        return self._pages.join(device, tell, hang_up)

    def pressed(self) -> tuple[PadPressed, ...]:
        """See `web_ui.pads.Pads`."""
        sitting, now_ns = self._loop.snapshot().sitting, self._loop.now_ns()
        with self._lock:
            found = tuple(self._pressed.items())
        return tuple(
            PadPressed(device=device, input=input_, seen_ns=at_ns, name=self._book.name(device))
            for (device, input_), at_ns in reversed(found)
            if now_ns - at_ns <= LATELY_NS and sitting.seat_of(device, input_) is None
        )

    def awaited(self) -> Awaited | None:
        """See `web_ui.pads.Pads`."""
        with self._lock:
            found = self._awaited
        return found if found is not None and self._loop.now_ns() <= found.until_ns else None

    def expect(self, seat: str, actor: Actor) -> None:
        """See `web_ui.pads.Pads`."""
        until_ns = self._loop.now_ns() + AWAITED_NS
        with self._lock:
            self._awaited = Awaited(seat=seat, until_ns=until_ns) if seat else None
            self._actor = actor

    def find(self, device: str) -> None:
        """See `web_ui.pads.Pads`."""
        known = next((each for each in self._bridge.devices() if each.id == device), None)
        if known is not None:
            everywhere = {device: tuple((device, index) for index in range(len(known.outputs)))}
            self._bridge.play(Cue(target=device, pattern="find", text=""), everywhere)

    def pair(self, device: str) -> str:
        """See `web_ui.pads.Pads`."""
        try:
            pair(self._bridge, self._book, device)
        except PairingError as why:
            return str(why)
        return ""

    def rename(self, device: str, name: str) -> None:
        """See `web_ui.pads.Pads`."""
        self._book.note(device, name=name)
