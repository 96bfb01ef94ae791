"""A spell card as a printed thing: where its symbols are, in mm."""

from __future__ import annotations

from companion.core.geometry import rectangle
from companion.core.layout import Layout, Region
from companion.games.tada.deck import Spell

CARD_MM = (63.0, 88.0)
SLOT_MM = 16.0
_ROWS = {
    4: ((12.0, 22.0), (35.0, 22.0), (12.0, 44.0), (35.0, 44.0)),
    5: ((4.0, 22.0), (23.5, 22.0), (43.0, 22.0), (12.0, 44.0), (35.0, 44.0)),
}
"""Top-left corners of the slots by how many there are. House layout; an owner's cards are measured."""


def spell_layout(place: str, spell: Spell) -> Layout:
    """The card of `spell`, named `place` (the seat it lies before); region ids are slot numbers from 0."""
    corners = _ROWS[len(spell.symbols)]
    return Layout(
        id=place,
        size_mm=CARD_MM,
        regions=tuple(
            Region(id=str(slot), outline=rectangle(x, y, SLOT_MM, SLOT_MM), symbol=symbol)
            for slot, ((x, y), symbol) in enumerate(zip(corners, spell.symbols, strict=True))
        ),
    )
