"""The rendered table of Zing-a-Zam, and the deck by which its cards are known again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from companion.core.geometry import Point
from companion.demo.hand_director import CARD_MM, Lain
from companion.demo.prints import faces
from companion.demo.stage import HELD, Film
from vision.cards.deck import Deck, card_size, write_deck
from vision.cards.looks import corners_at, straight
from vision.cards.matching import Reference
from vision.feed import Feed
from vision.render.pictured import PictureTable
from vision.render.scene import Scene
from vision.surface import Marks


def write_demo_deck(folder: Path) -> None:
    """Enrols the demo's cards into a folder by one picture each, as a scan would."""
    aspect = CARD_MM[1] / CARD_MM[0]
    size = card_size(aspect)
    cards = [
        Reference(name, straight(picture, corners_at(picture.shape[1::-1]), size))
        for name, picture in sorted(faces().items())
    ]
    write_deck(folder, Deck(aspect, tuple(cards)), [card.name for card in cards])


class HandStage(Film):
    """A table on which cards are laid face up, filmed all the time; each change stays a while, as people wait."""

    def __init__(self, feed: Feed, size_mm: tuple[float, float], seed: int) -> None:
        """Films an empty table from `start` on."""
        bare = Scene(size_mm=size_mm, marks=Marks(size_mm=size_mm), cloth="felt", seed=seed)
        self._table = PictureTable(bare=bare, prints=faces(), card_mm=CARD_MM)
        super().__init__(feed, size_mm, self._table, held=HELD, is_same_noise=True)

    def lie(self, cards: tuple[Lain, ...], hands_mm: tuple[Point, ...]) -> None:
        """Have these cards lie on the table, by hands that reach there; returns at once."""
        laid = tuple((lain.card, lain.pose) for lain in cards)
        self.put(replace(self._table, laid=laid), hands_mm)
