"""The numbers of one device's events within one boot: which came, which came twice, which are missing. No
I/O."""

from __future__ import annotations

from enum import Enum, auto

from firmware_bridge.messages import RING

_REMEMBERED = 512
_SLACK_US = 1_000


class Taken(Enum):
    """What an event's number says about it."""

    NEW = auto()
    TWIN = auto()  # it came before, by a repeat or a broker's second delivery
    RESTARTED = auto()  # an old number with a newer stamp: the device counts from the start again


class Numbering:
    """Keeps `(n, us)` of the events that came.

    `base`: numbers up to it are not waited for (they were sent before the host listened; they are taken
    when they come). None: not known yet, the first thing heard settles it.
    """

    def __init__(self, base: int | None = None) -> None:
        self._base = base
        self.contiguous = base or 0
        self._above: set[int] = set()
        self._stamps: dict[int, int] = {}
        self._told = (self.contiguous, -1)  # highest number known to be given, and a stamp not before it
        self.lost = 0

    def take(self, n: int, us: int) -> Taken:
        """An event numbered `n` with unwrapped stamp `us` came."""
        if n in self._stamps:
            return Taken.TWIN if abs(self._stamps[n] - us) <= _SLACK_US else Taken.RESTARTED
        told_n, told_us = self._told
        if n <= told_n and told_us >= 0 and us > told_us + _SLACK_US:
            return Taken.RESTARTED
        if n <= told_n - _REMEMBERED:
            return Taken.TWIN
        if self._base is None:
            self._base = self.contiguous = n - 1
        self._stamps[n] = us
        if len(self._stamps) > _REMEMBERED:
            del self._stamps[next(iter(self._stamps))]
        if n > self.contiguous:
            self._above.add(n)
            self._close_up()
        self.tell(n, us)
        return Taken.NEW

    def tell(self, n: int, us: int) -> None:
        """The device says at unwrapped time `us` that `n` is its last number."""
        if self._base is None:
            self._base = self.contiguous = n
        if n > self._told[0] or (n == self._told[0] and us > self._told[1]):
            self._told = (n, us)
        out_of_reach = n - RING
        if out_of_reach > self.contiguous:
            skipped = range(self.contiguous + 1, out_of_reach + 1)
            self.lost += len(skipped) - sum(1 for had in self._above if had in skipped)
            self.contiguous = out_of_reach
            self._above = {had for had in self._above if had > out_of_reach}
            self._close_up()

    def missing(self) -> list[int]:
        """Numbers that are known to be given and did not come, ascending; at most RING."""
        return [n for n in range(self.contiguous + 1, self._told[0] + 1) if n not in self._above]

    def give_up(self) -> int:
        """Stop waiting for what is missing; returns how many that were. They are still taken if they come."""
        count = len(self.missing())
        self.lost += count
        self.contiguous = max(self.contiguous, self._told[0])
        self._above.clear()
        return count

    def _close_up(self) -> None:
        while self.contiguous + 1 in self._above:
            self.contiguous += 1
            self._above.remove(self.contiguous)
