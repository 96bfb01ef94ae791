"""Where a shape may lie on a card of Tacta, by the edges that it touches, and its outline there at given sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from companion.core.geometry import Point
from companion.games.tacta.deck import DOTS, Shape

EDGES = "trbl"
_AT_THE_EDGE_MM = 0.05
_WORDS = {"t": "top", "r": "right", "b": "bottom", "l": "left"}


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """A deck's measures in mm: `leg` of the triangles, `side` of the squares, (length, thickness) of the rectangles."""

    card: tuple[float, float]
    strip: float
    dot_radius: float
    leg: float
    side: float
    short: tuple[float, float]
    long: tuple[float, float]


class Slot(msgspec.Struct, frozen=True):
    """A place on a card: `kind` of shape, `touches` the card's edges that it lies on (letters of ``trbl``)."""

    kind: str
    touches: str

    @property
    def words(self) -> str:
        """As people say it: ``triangle, top left corner``."""
        names = [_WORDS[letter] for letter in self.touches]
        if len(names) == 3:  # it fills an edge: that in the middle of the three
            middle = next(e for e in self.touches if _opposite(e) not in self.touches)
            return f"{self.kind}, whole {_WORDS[middle]} edge"
        if len(names) == 2:
            return (
                f"{self.kind}, {' '.join(sorted(names, key=('top', 'bottom', 'left', 'right').index))} corner"
            )
        return f"{self.kind}, {names[0]} edge"


def _slots() -> tuple[Slot, ...]:
    corners, edges = ("tl", "tr", "rb", "bl"), ("t", "r", "b", "l")
    found = [Slot("triangle", touches) for touches in (*corners, *edges)]
    found += [Slot("square", touches) for touches in corners]
    found += [Slot("short rectangle", touches) for touches in ("trl", "r", "rbl", "l")]
    return (*found, Slot("long rectangle", "trb"), Slot("long rectangle", "tbl"))


SLOTS = _slots()
"""All places that a shape may have."""


def _opposite(edge: str) -> str:
    return EDGES[(EDGES.index(edge) + 2) % 4]


def slot_of(shape: Shape, card_mm: tuple[float, float]) -> Slot:
    """The slot in which a deck's shape lies."""
    width, height = card_mm
    far = {
        "t": lambda p: p[1],
        "r": lambda p: width - p[0],
        "b": lambda p: height - p[1],
        "l": lambda p: p[0],
    }
    touches = "".join(
        edge
        for edge in EDGES
        if sum(abs(far[edge](point)) < _AT_THE_EDGE_MM for point in shape.polygon_mm) > 1
    )
    return Slot(shape.kind, touches)


def outline(slot: Slot, sizes: Sizes, shift_mm: float = 0.0) -> tuple[Point, ...]:
    """The shape's corners in mm. `shift_mm`: how far it lies beside the middle of the one edge that it touches."""
    width, height = sizes.card
    if slot.kind == "triangle" and len(slot.touches) == 2:
        return _in_corner(slot.touches, sizes, [(0, 0), (sizes.leg, 0), (0, sizes.leg)])
    if slot.kind == "square":
        side = sizes.side
        return _in_corner(slot.touches, sizes, [(0, 0), (side, 0), (side, side), (0, side)])
    edge = (
        slot.touches
        if len(slot.touches) == 1
        else next(e for e in slot.touches if _opposite(e) not in slot.touches)
    )
    along = width if edge in "tb" else height
    if slot.kind == "triangle":
        base, depth = sizes.leg * math.sqrt(2), sizes.leg / math.sqrt(2)
        middle = along / 2 + shift_mm
        flat = [(middle - base / 2, 0.0), (middle + base / 2, 0.0), (middle, depth)]
    else:
        length, depth = sizes.long if slot.kind == "long rectangle" else sizes.short
        first = 0.0 if len(slot.touches) == 3 else (along - length) / 2 + shift_mm
        last = along if len(slot.touches) == 3 else first + length
        flat = [(first, 0.0), (last, 0.0), (last, depth), (first, depth)]
    turns = {
        "t": lambda u, v: (u, v),
        "r": lambda u, v: (width - v, u),
        "b": lambda u, v: (u, height - v),
        "l": lambda u, v: (v, u),
    }
    return _rounded([turns[edge](u, v) for u, v in flat])


def _in_corner(touches: str, sizes: Sizes, points: Sequence[Point]) -> tuple[Point, ...]:
    width, height = sizes.card
    is_right, is_low = "r" in touches, "b" in touches
    return _rounded([(width - x if is_right else x, height - y if is_low else y) for x, y in points])


def _rounded(points: Sequence[Point]) -> tuple[Point, ...]:
    return tuple((round(x, 3), round(y, 3)) for x, y in points)


def usual_dots(kind: str, polygon: Sequence[Point]) -> tuple[Point, ...]:
    """Where a shape's dots are where nobody saw them: a triangle's in its middle, a square's on its diagonal, a
    rectangle's along its axis."""
    xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
    middle = (sum(xs) / len(xs), sum(ys) / len(ys))
    count = DOTS[kind]
    if count == 1:
        return _rounded([middle])
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    steps = [(2 * k + 1 - count) / count / 2 * 0.86 for k in range(count)]
    if kind == "square":
        return _rounded([(middle[0] + step * wide * 0.85, middle[1] + step * high * 0.85) for step in steps])
    if wide > high:
        return _rounded([(middle[0] + step * wide, middle[1]) for step in steps])
    return _rounded([(middle[0], middle[1] + step * high) for step in steps])
