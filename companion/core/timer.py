"""A countdown in play time, which stands still while the table is stopped."""

from __future__ import annotations

import msgspec


class Timer(msgspec.Struct, frozen=True, kw_only=True):
    """Runs out `length_ns` after `from_play_ns`, both in play time (see `Sitting.play_ns`)."""

    from_play_ns: int
    length_ns: int

    @property
    def ends_play_ns(self) -> int:
        """The instant in play time at which it runs out."""
        return self.from_play_ns + self.length_ns

    def left_ns(self, play_ns: int) -> int:
        """Time left at an instant in play time, never below zero, never above the length."""
        return min(self.length_ns, max(0, self.ends_play_ns - play_ns))

    def extended(self, by_ns: int) -> Timer:
        """The same timer with more (or less) time."""
        return Timer(from_play_ns=self.from_play_ns, length_ns=max(0, self.length_ns + by_ns))
