"""The cards with which Zing-a-Zam is demonstrated: numbers and cats of our own drawing."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from companion.games.zingazam.deck import CAT_NUMBERS, NUMBERS, Card
from vision.render.decks import cat, number

SET, CATS = 0, 7
"""Which of the drawn decks of numbers each player's set is, and which the cats are."""


@lru_cache(maxsize=1)
def faces() -> dict[str, NDArray[np.uint8]]:
    """Every face by its card's name, uint8 BGR (704, 504, 3)."""
    own = {Card(n).id: number(SET, n) for n in NUMBERS}
    return own | {Card(n, is_cat=True).id: cat(CATS, n) for n in CAT_NUMBERS}
