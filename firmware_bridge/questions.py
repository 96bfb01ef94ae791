"""The clock questions to one device: which are open, when the next may and must be asked. No I/O, no clock."""

from __future__ import annotations

import secrets

from firmware_bridge.clock_sync import WINDOW
from firmware_bridge.messages import MAX_TOKEN, SyncReply, SyncRequest

SYNC_EVERY_NS = 1_000_000_000
HASTE_NS = 250_000_000
BURST_EVERY_NS = 30_000_000
BURST = WINDOW
ASK_AGAIN_NS = 20_000_000
ASK_SPACING_NS = 5_000_000
_LIVES_NS = 2_000_000_000


class Questions:
    """Asks each SYNC_EVERY_NS, and the first BURST ones in quick succession.

    There are ASK_SPACING_NS between two questions; while one is open that is younger than ASK_AGAIN_NS (twice
    that for the second one that is open, and so on) none is asked: a burst of slams is not to be held up by
    questions about it.
    """

    def __init__(self) -> None:
        self._number = 0
        self._open: dict[int, tuple[int, int]] = {}  # number: (token, asked at)
        self._asked_ns = 0
        self.begin(0)

    def begin(self, now_ns: int) -> None:
        """Forget what is open, and ask in quick succession from `now_ns` on."""
        self._open.clear()
        self._burst = BURST
        self.due_ns = now_ns

    def hurry(self, now_ns: int) -> None:
        """Ask in quick succession from `now_ns` on; what is open stays so."""
        self._burst = BURST
        self.due_ns = now_ns

    def hasten(self) -> None:
        """Ask HASTE_NS after the last one, not SYNC_EVERY_NS."""
        self.due_ns = min(self.due_ns, self._asked_ns + HASTE_NS)

    def clear(self) -> None:
        """Nothing that is open will be answered any more."""
        self._open.clear()

    def drop_old(self, now_ns: int) -> None:
        """Give up what has been open for too long."""
        self._open = {n: asked for n, asked in self._open.items() if now_ns - asked[1] < _LIVES_NS}

    @property
    def may_ask_at_ns(self) -> int:
        """From when on another may be asked."""
        if not self._open:
            return self._asked_ns + ASK_SPACING_NS
        return self._asked_ns + (ASK_AGAIN_NS << (len(self._open) - 1))

    @property
    def oldest_ns(self) -> int | None:
        """When the oldest open one was asked, None when none is open."""
        return min((asked_ns for _, asked_ns in self._open.values()), default=None)

    def next(self, now_ns: int) -> SyncRequest | None:
        """A new question if it may be asked now."""
        if now_ns < self.may_ask_at_ns:
            self.due_ns = max(self.due_ns, self.may_ask_at_ns)
            return None
        self._number = (self._number + 1) % 2**32
        token = secrets.randbelow(MAX_TOKEN + 1)
        self._open[self._number] = (token, now_ns)
        self._asked_ns = now_ns
        self._burst = max(self._burst - 1, 0)
        self.due_ns = now_ns + (BURST_EVERY_NS if self._burst else SYNC_EVERY_NS)
        return SyncRequest(id=self._number, h=token)

    def answered(self, reply: SyncReply) -> int | None:
        """When the question was asked that this answers; None for an answer to nobody's question: too late,
        twice, or made up.

        First in, first out: what was asked before it will not be answered any more.
        """
        token, asked_ns = self._open.get(reply.id, (None, 0))
        if token != reply.h:
            return None
        self._open = {n: asked for n, asked in self._open.items() if asked[1] > asked_ns}
        return asked_ns
