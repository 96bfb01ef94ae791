"""What the page on which a map is painted needs of whoever keeps the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from companion.core.geometry import Point


class MapError(Exception):
    """Nothing was changed; the text says what to do."""


class AreaOf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One painted area: a terrain, a name that a person gave it, and its corners in mm of the board."""

    kind: str
    polygon: tuple[Point, ...]
    name: str = ""


class FaultOf(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a map, in words; `area`: which one, None where all of it is meant."""

    area: int | None
    words: str


class MapShown(msgspec.Struct, frozen=True, kw_only=True):
    """A map as painted so far. `size_mm`: of the board; `kinds`: the terrains there are, with a colour each; `kept`:
    the file it goes to; `is_kept`: whether that file says the same; `version` grows with each change."""

    title: str
    size_mm: tuple[float, float]
    kinds: tuple[tuple[str, str], ...]
    areas: tuple[AreaOf, ...]
    faults: tuple[FaultOf, ...]
    kept: str
    is_kept: bool
    version: int


class Maps(Protocol):
    """Whoever keeps a map. All methods are safe from any thread."""

    def shown(self) -> MapShown:
        """The map as it is now."""

    def picture(self) -> bytes:
        """The photograph of the board, laid flat: exactly its rectangle, as JPEG."""

    def paint(self, areas: Sequence[AreaOf], version: int) -> MapShown:
        """The areas are these now; `version`: the one that was changed. Raises MapError."""

    def trim(self, area: int, version: int) -> MapShown:
        """Take away from an area what others have painted already. Raises MapError."""

    def keep(self) -> str:
        """Write the map's file; what was written, in words. Raises MapError: then the old file is as it was."""
