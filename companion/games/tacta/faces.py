"""Card faces as polygons, and how any two of them may join.

A *joint* is one way to lay a face on another so that one shape of each coincides and nothing else of the lower
face inside its white line is covered. Rule: TACTA-6 TACTA-7 TACTA-8 TACTA-24
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import shapely
from shapely import Polygon

from companion.core.geometry import Point, Pose
from companion.games.tacta.deck import Card, Deck, mirrored

_MISS_MM = 1.5
"""How far corners of two shapes that fit may lie apart at best; owners' decks are measured by photograph."""
_GRAZE_MM2 = 4.0
"""Overlap beside the joined shape below which it comes from rounding or measuring, not from the joint."""


class Face(NamedTuple):
    """Which side of which card is up."""

    card: str
    flipped: bool


class Joint(NamedTuple):
    """Own shape number `own` on the lower face's shape number `target`; `pose` in the lower face's frame."""

    own: int
    target: int
    pose: Pose


def rigid(pose: Pose, points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Points of a face on the table when the face lies at `pose`, in mm."""
    return tuple(pose.apply(point) for point in points)


def chained(outer: Pose, inner: Pose) -> Pose:
    """Where a thing lies on the table that lies at `inner` in the frame of one that lies at `outer`."""
    x, y = outer.apply((inner.x_mm, inner.y_mm))
    return Pose(x, y, turned(outer.angle_deg + inner.angle_deg))


def turned(angle_deg: float) -> float:
    """The same angle in (-180, 180]."""
    return 180.0 - (180.0 - angle_deg) % 360.0


class Faces:
    """All faces of a deck. Made once a deck by `faces_of`."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        width, height = deck.card_mm
        strip = deck.strip_mm
        self.outline: tuple[Point, ...] = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
        self.inside: tuple[Point, ...] = (
            (strip, strip), (width - strip, strip), (width - strip, height - strip), (strip, height - strip),
        )  # fmt: skip
        self._cards: dict[Face, Card] = {}
        for card in (*deck.cards, deck.start):
            self._cards[Face(card.id, False)] = card
            self._cards[Face(card.id, True)] = mirrored(card, width)
        self._joints: dict[tuple[Face, Face], tuple[Joint, ...]] = {}

    def card(self, face: Face) -> Card:
        """What a face shows, in its own frame. Raises KeyError when the deck has no such card."""
        return self._cards[face]

    def joints(self, lower: Face, upper: Face) -> tuple[Joint, ...]:
        """Every way in which `upper` may be laid on `lower`. Rule: TACTA-24"""
        found = self._joints.get((lower, upper))
        if found is None:
            found = self._joints[lower, upper] = tuple(self._fit(lower, upper))
        return found

    def _fit(self, lower: Face, upper: Face) -> Iterator[Joint]:
        inside = Polygon(self.inside)
        for target, under in enumerate(self.card(lower).shapes):
            beside = inside.difference(Polygon(under.polygon_mm))
            for own, over in enumerate(self.card(upper).shapes):
                if over.kind != under.kind:
                    continue
                for pose in _motions(over.polygon_mm, under.polygon_mm):
                    if Polygon(rigid(pose, self.outline)).intersection(beside).area < _GRAZE_MM2:
                        yield Joint(own, target, pose)


def _motions(own: tuple[Point, ...], target: tuple[Point, ...]) -> Iterator[Pose]:
    """The turns and shifts, never a mirroring, that bring the corners of `own` onto those of `target`."""
    count = len(own)
    centre = _mean(own)
    goal = _mean(target)
    for start in range(count):
        for step in (1, -1):
            pairs = [(own[i], target[(start + step * i) % count]) for i in range(count)]
            cos = sum(_dot(a, centre, b, goal) for a, b in pairs)
            sin = sum(_cross(a, centre, b, goal) for a, b in pairs)
            angle = math.degrees(math.atan2(sin, cos))
            about = Pose(0.0, 0.0, angle).apply(centre)
            pose = Pose(goal[0] - about[0], goal[1] - about[1], turned(round(angle, 6)))
            if max(math.dist(pose.apply(a), b) for a, b in pairs) <= _MISS_MM:
                yield pose


def _mean(points: tuple[Point, ...]) -> Point:
    return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


def _dot(a: Point, a0: Point, b: Point, b0: Point) -> float:
    return (a[0] - a0[0]) * (b[0] - b0[0]) + (a[1] - a0[1]) * (b[1] - b0[1])


def _cross(a: Point, a0: Point, b: Point, b0: Point) -> float:
    return (a[0] - a0[0]) * (b[1] - b0[1]) - (a[1] - a0[1]) * (b[0] - b0[0])


@lru_cache(maxsize=8)
def faces_of(deck: Deck) -> Faces:
    """The faces of a deck; joints are found when they are first asked for."""
    return Faces(deck)


def polygons(rings: list[tuple[Point, ...]]) -> list[Polygon]:
    """One polygon for each ring of corners, made together."""
    return list(shapely.polygons([shapely.linearrings(ring) for ring in rings])) if rings else []
