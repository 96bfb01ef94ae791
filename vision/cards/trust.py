"""How sure it is that a card is the one that fits best, from how it fits. Fitted on decks of our own drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vision.cards.matching import Scored

_AHEAD, _AHEAD_SOFT = 0.17, 0.035
_LIKE, _LIKE_SOFT = 0.60, 0.035


class Trust(NamedTuple):
    """`first`: probability that the best card is right; `any_of`: that one of those that fit is; `shares`: of each of
    those, in their order."""

    first: float
    any_of: float
    shares: tuple[float, ...]


def trust(found: Sequence[Scored], height_px: float) -> Trust:
    """How far to believe what the matcher found in a card that is `height_px` high in the picture."""
    best = found[0]
    is_here = _rise((best.likeness - _LIKE) / _LIKE_SOFT)
    is_it = _rise((best.ahead - _AHEAD) / _AHEAD_SOFT)
    first = is_here * is_it
    any_of = is_here * max(is_it, _rise((best.ahead - 0.04) / 0.02))
    rest = np.exp(np.array([each.ahead for each in found[1:]]) * 6)
    left = (any_of - first) * rest / rest.sum() if len(rest) else rest
    return Trust(first, any_of, (first, *(float(share) for share in left)))


def _rise(x: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(x, -40, 40))))
