"""What pages need of whoever runs the pads: pages that are pads, and the next pad that is pressed for a seat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from companion.core.seat import Actor

KINDS = ("phone", "keys")
"""What a page can be: one large button, or all keys of a keyboard."""


def device_of(kind: str, holder_id: str) -> str:
    """The id of the device that a browser's page is. It stays the same as long as the browser's pass."""
    return f"{kind}-{holder_id}"


class PadPressed(msgspec.Struct, frozen=True, kw_only=True):
    """An input that is no seat's was pressed at host time `seen_ns`. `name`: what people call its device."""

    device: str
    input: int
    seen_ns: int
    name: str = ""


class Awaited(msgspec.Struct, frozen=True, kw_only=True):
    """The next free pad that is pressed before host time `until_ns` goes to this seat."""

    seat: str
    until_ns: int


class PadLine(Protocol):
    """A page that is a pad, as far as its socket is concerned. Both methods return at once."""

    def hear(self, text: str) -> None:
        """The page said this."""

    def close(self) -> None:
        """The page is gone."""


class Pads(Protocol):
    """All methods are safe from any thread."""

    def join(
        self, device: str, tell: Callable[[str], None], hang_up: Callable[[str], None]
    ) -> PadLine | None:
        """A page is this device from now on; None when too many are. `hang_up(why)`: ``elsewhere``, ``flood``,
        ``end``."""

    def pressed(self) -> tuple[PadPressed, ...]:
        """Free inputs that were pressed lately, the newest first."""

    def awaited(self) -> Awaited | None:
        """The seat that waits for a pad, None when none does."""

    def expect(self, seat: str, actor: Actor) -> None:
        """The next free pad that is pressed goes to this seat, by this person's order; an empty seat ends the
        waiting."""

    def find(self, device: str) -> None:
        """Let a pad show itself."""

    def pair(self, device: str) -> str:
        """Give a pad on a cable a fresh key for the radio; why that could not be, empty when it has it. Takes up to
        3 s. Raises OSError when the key could not be kept."""

    def rename(self, device: str, name: str) -> None:
        """Give a pad a name. Raises ValueError for one that cannot be, OSError when it could not be kept."""


class NoPads:
    """A table without pads."""

    def join(
        self, device: str, tell: Callable[[str], None], hang_up: Callable[[str], None]
    ) -> PadLine | None:
        """None."""
        return None

    def pressed(self) -> tuple[PadPressed, ...]:
        """None."""
        return ()

    def awaited(self) -> Awaited | None:
        """None."""
        return None

    def expect(self, seat: str, actor: Actor) -> None:
        """Nothing comes of it."""

    def find(self, device: str) -> None:
        """Nothing comes of it."""

    def pair(self, device: str) -> str:
        """It cannot be."""
        return "this table has no pads"

    def rename(self, device: str, name: str) -> None:
        """Nothing comes of it."""
