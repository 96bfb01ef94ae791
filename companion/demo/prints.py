"""The cards with which Zing-a-Zam is demonstrated: numbers and cats of our own drawing."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.games.zingazam.deck import CAT_NUMBERS, NUMBERS, Card
from vision.render.decks import number

SET, CATS = 0, 7
"""Which of the drawn decks of numbers each player's set is, and which the cats are."""
_EARS = (((150, 150), (205, 40), (255, 140)), ((249, 140), (299, 40), (354, 150)))
_WHISKERS = (
    ((120, 560), (30, 530)),
    ((120, 575), (25, 580)),
    ((384, 560), (474, 530)),
    ((384, 575), (479, 580)),
)


@lru_cache(maxsize=1)
def faces() -> dict[str, NDArray[np.uint8]]:
    """Every face by its card's name, uint8 BGR (704, 504, 3)."""
    own = {Card(n).id: number(SET, n) for n in NUMBERS}
    return own | {Card(n, is_cat=True).id: _cat(n) for n in CAT_NUMBERS}


def _cat(n: int) -> NDArray[np.uint8]:
    """A number with ears and whiskers."""
    card = number(CATS, n).copy()
    ink = (235, 238, 240)
    for ear in _EARS:
        cv2.fillPoly(card, [np.array(ear, np.int32)], ink, cv2.LINE_AA)
    for start, end in _WHISKERS:
        cv2.line(card, start, end, ink, 6, cv2.LINE_AA)
    return card
