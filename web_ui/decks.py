"""What the page on which a measured deck is corrected needs of whoever measured it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from companion.core.geometry import Point


class DeckError(Exception):
    """Nothing was changed; the text says what to do."""


class ShapeOf(msgspec.Struct, frozen=True, kw_only=True):
    """A shape on a card: `place` in the list of places, whether it is filled, its outline and dots in mm."""

    place: int
    is_filled: bool
    outline: tuple[Point, ...] = ()
    dots: tuple[Point, ...] = ()


class CardOf(msgspec.Struct, frozen=True, kw_only=True):
    """One card: number, photograph, name in the deck, and what is unsure of it."""

    n: int
    name: str
    suit: str
    id: str
    shapes: tuple[ShapeOf, ...]
    doubts: tuple[str, ...] = ()


class NumberOf(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of the whole deck, in mm."""

    key: str
    label: str
    value: float


class DeckShown(msgspec.Struct, frozen=True, kw_only=True):
    """A deck as measured so far. `places`, `suits`: what may be chosen; `doubts`: what is unsure of it as a whole;
    `kept`: the file it goes to; `is_kept`: whether that file says the same."""

    title: str
    size_mm: tuple[float, float]
    dot_radius_mm: float
    numbers: tuple[NumberOf, ...]
    places: tuple[str, ...]
    suits: tuple[str, ...]
    cards: tuple[CardOf, ...]
    doubts: tuple[str, ...]
    kept: str
    is_kept: bool


class Decks(Protocol):
    """Whoever measured a deck. All methods are safe from any thread."""

    def shown(self) -> DeckShown:
        """The deck as it is now."""

    def picture(self, n: int) -> bytes | None:
        """The photograph of card `n`, laid flat and turned as its front lies, as JPEG."""

    def change(self, n: int, suit: str, shapes: Sequence[ShapeOf]) -> None:
        """What card `n` shows. Raises DeckError."""

    def resize(self, numbers: Mapping[str, float]) -> None:
        """The deck's measures, by key. Raises DeckError."""

    def keep(self) -> str:
        """Write the deck file; what was written, in words. Raises DeckError."""
