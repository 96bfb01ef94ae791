"""Cards that are laid beside something else that a camera follows: each has its own eye on the same frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Placed
from companion.core.observation import CardLaid, CardLifted, Observed
from vision.cards.deck import read_deck
from vision.cards.reader import CardReader
from vision.cards.watching import CardWatch
from vision.eye import Lookout, LookoutSpec
from vision.surface import Marks
from vision.watcher import Watcher


@dataclass(frozen=True)
class BesideSpec:
    """What `main` says is followed, and the cards of the deck in the folder `deck` are known wherever they are laid."""

    main: LookoutSpec
    deck: str

    @property
    def longest_look_s(self) -> float:
        """A look that takes longer has hung."""
        return self.main.longest_look_s

    def lookout(self, name: str, marks: Marks | None) -> Lookout:
        """Made in the camera's own process. Raises DeckError."""
        cards = CardWatch(name, CardReader(read_deck(Path(self.deck))), Watcher(name, None))
        return _Beside(self.main.lookout(name, marks), cards)


class _Beside:
    def __init__(self, main: Lookout, cards: CardWatch) -> None:
        self._main, self._cards = main, cards

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """For whatever is followed."""
        self._main.set_layouts(layouts)

    def step(
        self, frame: NDArray[np.uint8], seen_ns: int, uncertainty_ns: int, number: int
    ) -> list[Observed]:
        """What both see; of movement and rest only one tells."""
        told = self._main.step(frame, seen_ns, uncertainty_ns, number)
        cards = self._cards.step(frame, seen_ns, uncertainty_ns, number)
        return [*told, *(seen for seen in cards if isinstance(seen, CardLaid | CardLifted))]
