"""A map as data: its terrains as polygons in mm of the board, and what the camera finds it and its towers by.

Origin top left of the board, x to the right, y down. Also the keys of the file that ``read-board --map`` reads.
"""

from __future__ import annotations

import msgspec

from companion.core.geometry import Point

TERRAINS = ("rivers", "forest", "mountains", "neonite", "city")
"""Rule: TAH-4"""
UNPAINTED = "unpainted"
"""How people say that something stands where nothing is painted. Rule: TAH-34"""


class Terrain(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One painted area: a terrain and its outline, corners in order."""

    kind: str
    polygon_mm: tuple[Point, ...]
    name: str = ""


class CornerTags(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The four printed markers around the board: their middles in mm of the board."""

    ids: tuple[int, ...]
    centres_mm: tuple[Point, ...]
    side_mm: float


class TowerSize(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A castle's square foot, its height and the tag on its top."""

    side_mm: float
    height_mm: float
    tag_side_mm: float
    height_error_mm: float = 0.0


class Map(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One map. Without `corner_tags` and `tower` no camera can read it; people can play on it all the same."""

    board_mm: tuple[float, float]
    terrains: tuple[Terrain, ...]
    name: str = ""
    corner_tags: CornerTags | None = None
    tower: TowerSize | None = None
    source: str = ""
