"""Points, poses and polygons on the table, in millimetres.

Axes: x to the right, y down (away from the top edge of the table as the camera shows it); angles in degrees,
clockwise as seen from above, in (-180, 180].
"""

from __future__ import annotations

import math

import msgspec

Point = tuple[float, float]


class Pose(msgspec.Struct, frozen=True):
    """Where a flat thing lies: the place of its own origin and how far it is turned clockwise."""

    x_mm: float
    y_mm: float
    angle_deg: float = 0.0

    def apply(self, point: Point) -> Point:
        """Table coordinates in mm of `point`, given in the thing's own mm."""
        turn = math.radians(self.angle_deg)
        cos, sin = math.cos(turn), math.sin(turn)
        x, y = point
        return (self.x_mm + cos * x - sin * y, self.y_mm + sin * x + cos * y)


class Polygon(msgspec.Struct, frozen=True):
    """A simple polygon, corners in order; the closing edge is implied."""

    corners: tuple[Point, ...]

    def placed(self, pose: Pose) -> Polygon:
        """The same polygon on the table when its thing lies at `pose`."""
        return Polygon(tuple(pose.apply(corner) for corner in self.corners))

    def contains(self, point: Point) -> bool:
        """Whether `point` lies inside (even-odd rule; a point exactly on an edge may fall either way)."""
        x, y = point
        inside = False
        previous = self.corners[-1]
        for corner in self.corners:
            (x1, y1), (x2, y2) = previous, corner
            if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
                inside = not inside
            previous = corner
        return inside

    def centre(self) -> Point:
        """The mean of the corners in mm."""
        count = len(self.corners)
        return (sum(x for x, _ in self.corners) / count, sum(y for _, y in self.corners) / count)


def rectangle(x_mm: float, y_mm: float, width_mm: float, height_mm: float) -> Polygon:
    """An upright rectangle from its top-left corner, corners clockwise from there."""
    return Polygon(
        (
            (x_mm, y_mm),
            (x_mm + width_mm, y_mm),
            (x_mm + width_mm, y_mm + height_mm),
            (x_mm, y_mm + height_mm),
        )
    )
