"""The cards on a table from above: what covers what, which shapes are open, which dots show.

Cards lie in the order in which they were laid: a later one covers an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import shapely
from shapely import Polygon, STRtree
from shapely.geometry.base import BaseGeometry

from companion.core.geometry import Pose
from companion.games.tacta.faces import Face, Faces, polygons, rigid

GRAZE_MM = 2.0
"""A card may reach so far over another's white line and nothing counts as covered. Rule: TACTA-9"""


class Laid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One card on the table: `pose` of the top-left corner of the face that is up, with its uncertainty in mm.

    `n` names it; `colour` is empty for the starting card. `by`: the seat that laid it, empty for the starting
    card.
    """

    n: int
    card: str
    colour: str
    flipped: bool
    pose: Pose
    u_mm: float = 0.0
    by: str = ""

    @property
    def face(self) -> Face:
        """The side that is up."""
        return Face(self.card, self.flipped)


class Dots(NamedTuple):
    """Visible and covered dots of one card; `partly`: how many of them show in part. Rule: TACTA-15"""

    n: int
    visible: int
    covered: int
    partly: int


class OpenShape(NamedTuple):
    """A shape that may be played on: the place of a card on this ground, and the number of its shape."""

    at: int
    shape: int


class Ground:
    """What lies on a table, worked out once; cheap to ask. Polygons are in table mm."""

    def __init__(self, faces: Faces, laid: Sequence[Laid]) -> None:
        self.faces = faces
        self.laid = tuple(laid)
        self.outlines = polygons([rigid(card.pose, faces.outline) for card in self.laid])
        self.insides = polygons([rigid(card.pose, faces.inside) for card in self.laid])
        self._tree = STRtree(self.outlines)
        self.touching = self._neighbours()
        self.visible: list[BaseGeometry] = [
            _less(self.insides[i], [self.outlines[j] for j in self.touching[i] if j > i])
            for i in range(len(self.laid))
        ]

    def _neighbours(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.laid]
        if self.outlines:
            for one, other in zip(*self._tree.query(self.outlines, predicate="intersects"), strict=True):
                if one != other:
                    found[int(one)].append(int(other))
        return found

    def under(self, outlines: Sequence[Polygon]) -> list[tuple[int, int]]:
        """Pairs (number in `outlines`, index of a card) that touch or overlap."""
        if not self.laid or not outlines:
            return []
        mine, theirs = self._tree.query(list(outlines), predicate="intersects")
        return [(int(a), int(b)) for a, b in zip(mine, theirs, strict=True)]

    def shape(self, index: int, number: int) -> Polygon:
        """Outline of a card's shape on the table."""
        laid = self.laid[index]
        return Polygon(rigid(laid.pose, self.faces.card(laid.face).shapes[number].polygon_mm))

    def open_shapes(self) -> list[OpenShape]:
        """Every shape that no other card lies on or under, grazes apart. Rule: TACTA-3 TACTA-22"""
        found = []
        for index, laid in enumerate(self.laid):
            for number in range(len(self.faces.card(laid.face).shapes)):
                if self.is_open(index, number):
                    found.append(OpenShape(index, number))
        return found

    def is_open(self, index: int, number: int) -> bool:
        """Whether a shape may be played on: no other card lies on it or under it. Rule: TACTA-3 TACTA-22"""
        others = self.touching[index]
        if not others:
            return True
        shape = self.shape(index, number)
        return all(
            reach(shape.intersection(self.insides[j] if j < index else self.outlines[j])) <= GRAZE_MM
            for j in others
            if shape.intersects(self.outlines[j])
        )

    def dots(self, index: int) -> Dots:
        """How many dots of a card show: a dot counts as visible when more than half of it does."""
        laid = self.laid[index]
        above = [self.outlines[j] for j in self.touching[index] if j > index]
        visible = covered = partly = 0
        for shape in self.faces.card(laid.face).shapes:
            for centre in rigid(laid.pose, shape.dots_mm):
                dot = shapely.Point(centre).buffer(self.faces.deck.dot_radius_mm, quad_segs=8)
                shown = _less(dot, [card for card in above if card.intersects(dot)]).area / dot.area
                visible += shown > 0.5
                covered += shown <= 0.5
                partly += 0.02 < shown < 0.98
        return Dots(laid.n, visible, covered, partly)

    def without(self, numbers: Sequence[int]) -> Ground:
        """The ground after these cards are taken away. Rule: TACTA-13"""
        return Ground(self.faces, [card for card in self.laid if card.n not in numbers])

    def score(self) -> dict[str, int]:
        """Visible dots for each colour on the table. Rule: TACTA-14"""
        found: dict[str, int] = {}
        for index, laid in enumerate(self.laid):
            if laid.colour:
                found[laid.colour] = found.get(laid.colour, 0) + self.dots(index).visible
        return found


def reach(overlap: BaseGeometry) -> float:
    """How far one thing reaches over another: the width in mm of their overlap where it is widest, measured
    across its narrow side."""
    if overlap.is_empty or overlap.area < 1e-6:
        return 0.0
    return max((_width(part) for part in shapely.get_parts(overlap) if part.area > 1e-6), default=0.0)


def _width(part: BaseGeometry) -> float:
    box = shapely.oriented_envelope(part)
    if not isinstance(box, Polygon):
        return 0.0
    a, b, c = list(box.exterior.coords)[:3]
    return float(
        min(shapely.Point(a).distance(shapely.Point(b)), shapely.Point(b).distance(shapely.Point(c)))
    )


def _less(area: BaseGeometry, covers: list[Polygon]) -> BaseGeometry:
    return area.difference(shapely.union_all(covers)) if covers else area
