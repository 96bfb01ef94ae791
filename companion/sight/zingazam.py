"""What the camera looks for at a table of Zing-a-Zam: the cards of an enrolled deck, wherever they are laid."""

from __future__ import annotations

from pathlib import Path

from vision.cards.watching import DeckSpec


def lookout(deck: Path) -> DeckSpec:
    """What a camera is told to look at: the deck in this folder, whose cards are named as commands name them."""
    return DeckSpec(deck=str(deck))
