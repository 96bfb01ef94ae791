"""What a camera or a photograph is looked at for at a table of Tacta: white dots on the printed colours, and cards."""

from __future__ import annotations

from companion.games.tacta.deck import Deck, read
from companion.games.tacta.layouts import layouts_of
from vision.dots.reading import DotsRead, read_dots
from vision.frame import Frame
from vision.outlined.live import CardsSpec
from vision.outlined.reading import CardReader

HUES = {"red": 35.0, "orange": 67.0, "green": 130.0, "blue": 280.0, "purple": 311.0, "pink": 350.0}
"""Hue angle in degrees in Lab of each printed colour, its dots being white."""


def dots(frame: Frame) -> DotsRead:
    """The dots of a table that lies in `frame` (uint8 BGR (rows, columns, 3))."""
    return read_dots(frame, HUES)


def lookout(data: str) -> CardsSpec:
    """What a camera over a table is told to look at: the cards of the deck file with this text."""
    deck = read(data)
    hues = {name: HUES[name] for name in deck.colours if name in HUES} or HUES
    return CardsSpec(layouts=layouts_of(deck), hues=tuple(hues.items()))


def card_reader(deck: Deck) -> CardReader:
    """Reads the cards of a deck in the colours that it names."""
    return CardReader(layouts_of(deck), {name: HUES[name] for name in deck.colours if name in HUES} or HUES)
