"""Cards as data: a deck file says what every card shows and where, in mm.

Format ``tacta-deck/1``: origin top left of the front, x to the right, y down; the back is the mirror image
x -> width - x. Nothing else in the code knows a shape.
"""

from __future__ import annotations

import math
from functools import lru_cache

import msgspec

from companion.core.geometry import Point, Polygon

FORMAT = "tacta-deck/1"
DOTS = {"triangle": 1, "square": 2, "short rectangle": 3, "long rectangle": 4}
"""What a filled shape carries, by its kind. Rule: TACTA-2"""
SUITS = ("circle", "square", "triangle")
_CONGRUENT_MM = 1.5
"""How far sides of two shapes of one kind may differ and still meet: owners measure by photograph."""


class Shape(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An edge shape: its outline, and its dots where it is filled."""

    kind: str
    polygon_mm: tuple[Point, ...]
    dots_mm: tuple[Point, ...] = ()


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One face of a card. `suit` is None on the starting card. Rule: TACTA-2"""

    id: str
    suit: str | None
    value: int
    shapes: tuple[Shape, ...]


class Deck(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A deck file. `strip_mm`: from the card's edge to its white line. `source`, `sure`: whence, and how sure.

    `cards` are the fronts of one colour; every colour has the same. Rule: TACTA-1
    """

    format: str
    card_mm: tuple[float, float]
    strip_mm: float
    dot_radius_mm: float
    colours: tuple[str, ...]
    cards: tuple[Card, ...]
    start: Card
    source: str = ""
    sure: str = ""
    note: str = ""

    def card(self, card_id: str) -> Card | None:
        """The front with this id, the starting card's among them; None when there is none."""
        return next((card for card in (*self.cards, self.start) if card.id == card_id), None)

    def of_suits(self, suits: tuple[str, ...]) -> tuple[Card, ...]:
        """The fronts of these suits, in the order of the file."""
        return tuple(card for card in self.cards if card.suit in suits)


def mirrored(card: Card, width_mm: float) -> Card:
    """The other face of a card: every x turned to `width_mm` - x. Rule: TACTA-1"""
    return msgspec.structs.replace(
        card,
        shapes=tuple(
            msgspec.structs.replace(
                shape,
                polygon_mm=tuple((width_mm - x, y) for x, y in shape.polygon_mm),
                dots_mm=tuple((width_mm - x, y) for x, y in shape.dots_mm),
            )
            for shape in card.shapes
        ),
    )


@lru_cache(maxsize=8)
def read(text: str) -> Deck:
    """The deck that a text describes. Raises ValueError with one line saying what is wrong and where."""
    try:
        deck = msgspec.json.decode(text.encode(), type=Deck)
    except msgspec.DecodeError as error:
        raise ValueError(f"the deck file cannot be read: {error}") from error
    if deck.format != FORMAT:
        raise ValueError(f"the deck file says format {deck.format[:40]!r}: {FORMAT!r} it must be")
    width, height = deck.card_mm
    if not (20 <= width <= 300 and 20 <= height <= 300 and width != height):
        raise ValueError(f"card_mm is {width:g} x {height:g}: an oblong of 20 to 300 mm it must be")
    if not 0 <= deck.strip_mm < min(width, height) / 8:
        raise ValueError(f"strip_mm is {deck.strip_mm:g}: 0 to an eighth of the card it must be")
    if not 0.3 <= deck.dot_radius_mm <= 10:
        raise ValueError(f"dot_radius_mm is {deck.dot_radius_mm:g}: 0.3 to 10 it must be")
    for name, words in (("colour", deck.colours), ("card", tuple(card.id for card in deck.cards))):
        twice = [word for word in words if words.count(word) > 1]
        if twice or not words or not all(words):
            raise ValueError(
                f"every {name} needs a name of its own{f': {twice[0]!r} is there twice' if twice else ''}"
            )
    if deck.card(deck.start.id) is not deck.start:
        raise ValueError(f"the starting card has the id of a card, {deck.start.id!r}: give it its own")
    for card in (*deck.cards, deck.start):
        _check_card(deck, card, is_start=card is deck.start)
    _check_congruent(deck)
    return deck


def check(text: str) -> str:
    """Why a text is no deck, in one line; empty when it is one."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


def _check_card(deck: Deck, card: Card, *, is_start: bool) -> None:
    if not is_start and card.suit not in SUITS:
        raise ValueError(f"card {card.id!r} is of suit {card.suit!r}: suits are {', '.join(SUITS)}")
    if not card.shapes:
        raise ValueError(f"card {card.id!r} has no shape")
    width, height = deck.card_mm
    for number, shape in enumerate(card.shapes, start=1):
        where = f"card {card.id!r}, shape {number}"
        if shape.kind not in DOTS:
            raise ValueError(f"{where} is a {shape.kind[:30]!r}: kinds are {', '.join(DOTS)}")
        corners = 3 if shape.kind == "triangle" else 4
        if len(shape.polygon_mm) != corners:
            raise ValueError(f"{where} has {len(shape.polygon_mm)} corners: a {shape.kind} has {corners}")
        for x, y in (*shape.polygon_mm, *shape.dots_mm):
            if not (-0.01 <= x <= width + 0.01 and -0.01 <= y <= height + 0.01):
                raise ValueError(f"{where} has a point ({x:g}, {y:g}) beside the card")
        if shape.dots_mm and (is_start or len(shape.dots_mm) != DOTS[shape.kind]):
            wanted = "none" if is_start else f"{DOTS[shape.kind]} or none"
            raise ValueError(f"{where} has {len(shape.dots_mm)} dots: a {shape.kind} has {wanted}")
        outline = Polygon(shape.polygon_mm)
        if any(not outline.contains(dot) for dot in shape.dots_mm):
            raise ValueError(f"{where} has a dot outside its outline")
    dots = sum(len(shape.dots_mm) for shape in card.shapes)
    if card.value != dots:
        raise ValueError(f"card {card.id!r} says {card.value}, its shapes carry {dots} dots")


def _check_congruent(deck: Deck) -> None:
    """Shapes of one kind must fit on each other, or nothing can be played."""
    usual: dict[str, tuple[float, ...]] = {}
    for card in (*deck.cards, deck.start):
        for number, shape in enumerate(card.shapes, start=1):
            sides = sides_of(shape)
            like = usual.setdefault(shape.kind, sides)
            worst = max(abs(a - b) for a, b in zip(sides, like, strict=True))
            if worst > _CONGRUENT_MM:
                raise ValueError(
                    f"card {card.id!r}, shape {number}: a {shape.kind} with sides that differ from the others'"
                    f" by {worst:.1f} mm; {_CONGRUENT_MM} at most"
                )


def sides_of(shape: Shape) -> tuple[float, ...]:
    """The lengths of a shape's sides in mm, the shortest first."""
    corners = shape.polygon_mm
    return tuple(sorted(math.dist(a, b) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True)))
