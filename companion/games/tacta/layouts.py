"""What is printed on the cards, for whoever looks for them."""

from __future__ import annotations

from functools import lru_cache

from companion.core.geometry import Polygon
from companion.core.layout import Layout, Region
from companion.games.tacta.deck import Card, Deck


@lru_cache(maxsize=8)
def layouts_of(deck: Deck) -> tuple[Layout, ...]:
    """Each front as a printed thing, in the order of the deck file, the starting card last; a region's symbol is the
    shape's kind. Backs are the mirror images. Rule: TACTA-1"""
    return tuple(_layout(deck, card) for card in (*deck.cards, deck.start))


def _layout(deck: Deck, card: Card) -> Layout:
    regions = tuple(
        Region(str(number), Polygon(shape.polygon_mm), shape.kind, shape.dots_mm)
        for number, shape in enumerate(card.shapes)
    )
    return Layout(
        card.id, deck.card_mm, regions, mirror=True, strip_mm=deck.strip_mm, dot_radius_mm=deck.dot_radius_mm,
        badge=card.suit or "",
    )  # fmt: skip
