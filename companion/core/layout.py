"""Printed things as data: what a card, a mat or a map shows and where, in mm."""

from __future__ import annotations

import msgspec

from companion.core.geometry import Point, Polygon, Pose


class Region(msgspec.Struct, frozen=True):
    """One printed place: a spell's slot, a shape with dots, a terrain. `dots_mm`: centres of the dots printed in it."""

    id: str
    outline: Polygon
    symbol: str | None = None
    dots_mm: tuple[Point, ...] = ()


class Layout(msgspec.Struct, frozen=True):
    """A printed thing. Origin: its top-left corner; `size_mm` is (width, height).

    `strip_mm`: how far from the edge a line runs around it, 0 where none does. `dot_radius_mm` of the regions' dots.
    `badge`: form of the badge in its middle, empty where it has none.
    """

    id: str
    size_mm: tuple[float, float]
    regions: tuple[Region, ...] = ()
    mirror: bool = False
    strip_mm: float = 0.0
    dot_radius_mm: float = 0.0
    badge: str = ""


class Placed(msgspec.Struct, frozen=True):
    """A layout that lies on the table: `owner` is the name of whose it is (empty: nobody's)."""

    layout: Layout
    pose: Pose
    owner: str = ""

    def region_at(self, x_mm: float, y_mm: float) -> str | None:
        """Id of the first region over the table point, or None."""
        for region in self.layout.regions:
            if region.outline.placed(self.pose).contains((x_mm, y_mm)):
                return region.id
        return None
