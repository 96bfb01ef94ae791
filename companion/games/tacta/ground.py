"""The cards on a table from above: what covers what, which shapes are open, which dots show.

Cards lie in the order in which they were laid: a later one covers an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
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

    `n` names it; `colour` is empty for the starting card.
    """

    n: int
    card: str
    colour: str
    flipped: bool
    pose: Pose
    u_mm: float = 0.0

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

    @cached_property
    def open_shapes(self) -> tuple[OpenShape, ...]:
        """Every shape that no other card lies on or under, grazes apart. Rule: TACTA-3 TACTA-22"""
        return tuple(
            OpenShape(index, number)
            for index, laid in enumerate(self.laid)
            for number in range(len(self.faces.card(laid.face).shapes))
            if self._is_free(index, number)
        )

    def is_open(self, index: int, number: int) -> bool:
        """Whether a shape may be played on. Rule: TACTA-3 TACTA-22"""
        return (index, number) in self.open_shapes

    def _is_free(self, index: int, number: int) -> bool:
        others = self.touching[index]
        if not others:
            return True
        shape = self.shape(index, number)
        return all(
            reach(shape.intersection(self.insides[j] if j < index else self.outlines[j])) <= GRAZE_MM
            for j in others
            if shape.intersects(self.outlines[j])
        )

    @cached_property
    def _shares(self) -> list[list[tuple[Polygon, float]]]:
        """For each card its dots as discs, and which share of each shows."""
        centres = [
            (index, shapely.Point(centre))
            for index, laid in enumerate(self.laid)
            for shape in self.faces.card(laid.face).shapes
            for centre in rigid(laid.pose, shape.dots_mm)
        ]
        radius = self.faces.deck.dot_radius_mm
        discs = list(shapely.buffer([centre for _, centre in centres], radius, quad_segs=8))
        covers: dict[int, list[Polygon]] = {}
        for disc, card in self.under(discs):
            if card > centres[disc][0]:
                covers.setdefault(disc, []).append(self.outlines[card])
        found: list[list[tuple[Polygon, float]]] = [[] for _ in self.laid]
        for number, (index, _) in enumerate(centres):
            disc = discs[number]
            share = _less(disc, covers[number]).area / disc.area if number in covers else 1.0
            found[index].append((disc, share))
        return found

    @cached_property
    def dots(self) -> tuple[Dots, ...]:
        """For each card how many of its dots show: one counts as visible when more than half of it does."""
        return tuple(
            Dots(
                laid.n,
                visible=sum(share > 0.5 for _, share in discs),
                covered=sum(share <= 0.5 for _, share in discs),
                partly=sum(0.02 < share < 0.98 for _, share in discs),
            )
            for laid, discs in zip(self.laid, self._shares, strict=True)
        )

    @property
    def discs(self) -> tuple[tuple[tuple[Polygon, bool], ...], ...]:
        """For each card its dots on the table, and whether each counts as visible. Rule: TACTA-15"""
        return tuple(tuple((disc, share > 0.5) for disc, share in discs) for discs in self._shares)

    def near(self, outlines: Sequence[Polygon], gap_mm: float) -> set[int]:
        """Numbers of the outlines that come nearer to a card than this."""
        if not self.laid or not outlines:
            return set()
        mine, _ = self._tree.query(list(outlines), predicate="dwithin", distance=gap_mm)
        return {int(number) for number in mine}

    def without(self, numbers: Sequence[int]) -> Ground:
        """The ground after these cards are taken away. Rule: TACTA-13"""
        if not numbers:
            return self
        return Ground(self.faces, [card for card in self.laid if card.n not in numbers])

    def score(self, but: Sequence[int] = ()) -> dict[str, int]:
        """Visible dots for each colour on the table, those of the cards `but` left out. Rule: TACTA-14"""
        found: dict[str, int] = {}
        for laid, dots in zip(self.laid, self.dots, strict=True):
            if laid.colour and laid.n not in but:
                found[laid.colour] = found.get(laid.colour, 0) + dots.visible
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
