"""What the page on which a deck of cards is photographed needs of whoever learns it."""

from __future__ import annotations

from typing import Protocol

import msgspec


class CardsError(Exception):
    """Nothing was learnt; the text says what to do."""


class CardShown(msgspec.Struct, frozen=True, kw_only=True):
    """One card. `doubt`: what should be mended of its picture, empty for nothing."""

    name: str
    doubt: str = ""


class CardsShown(msgspec.Struct, frozen=True, kw_only=True):
    """A deck so far. `alike`: pairs that will be mixed up, with how far they are apart (0 to 1); `closest`: the pair
    that is least apart; `kept`: the folder it is kept in."""

    title: str
    cards: tuple[CardShown, ...]
    alike: tuple[tuple[str, str, float], ...] = ()
    closest: tuple[str, str, float] | None = None
    kept: str = ""
    has_camera: bool = False


class Cards(Protocol):
    """Whoever learns cards. All methods are safe from any thread and may take some seconds."""

    def shown(self) -> CardsShown:
        """The deck as it is."""

    def picture(self, name: str) -> bytes | None:
        """The card laid straight, as JPEG; None where there is none."""

    def add(self, name: str, data: bytes) -> str:
        """Learn a card from the bytes of one picture; what should be mended, empty for nothing. Raises CardsError."""

    def add_seen(self, name: str) -> str:
        """Learn a card from what the camera sees now. Raises CardsError."""

    def forget(self, name: str) -> None:
        """Drop a card. Raises CardsError."""
