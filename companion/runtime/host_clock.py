"""Host time, continued across starts, and the wall time that people read."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """A name for this run of the machine: two starts with equal names share one monotonic clock.

    Where the system tells none, every start gets a name of its own.
    """
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return uuid.uuid4().hex


class HostClock:
    """Host time in ns: the machine's monotonic clock, moved forward so that it never falls behind a journal.

    Within one run of the machine host time goes on through a crash as if nothing had been. After a reboot it
    starts just behind the last journalled instant. A wall clock that jumps changes nothing.
    """

    def __init__(
        self,
        last_at_ns: int = 0,
        last_boot: str = "",
        *,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        wall_ns: Callable[[], int] = time.time_ns,
        machine: str | None = None,
    ) -> None:
        """`last_at_ns`, `last_boot`: from the journal that is continued; `boot` of the start before."""
        self._monotonic_ns, self._wall_ns = monotonic_ns, wall_ns
        self._machine = boot_id() if machine is None else machine
        name, _, ahead = last_boot.partition("+")
        kept = int(ahead) if name == self._machine and ahead.isdecimal() else 0
        behind = last_at_ns + 1 - (monotonic_ns() + kept)
        self._ahead_ns = kept + max(0, behind)

    @property
    def boot(self) -> str:
        """What a start journals: the machine's boot, ``+``, how far host time is ahead of its clock (ns)."""
        return f"{self._machine}+{self._ahead_ns}"

    def now_ns(self) -> int:
        """Host time now."""
        return self._monotonic_ns() + self._ahead_ns

    def wall_ms(self, at_ns: int) -> int:
        """Wall time (ms since 1970) of a host instant, by the wall clock as it stands now."""
        return (self._wall_ns() - (self.now_ns() - at_ns)) // 1_000_000
