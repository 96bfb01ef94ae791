"""How sure it is that a card is the one that fits best, from how it fits. The weights are fitted by
tools/fit_card_trust.py on decks of our own drawing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from vision.cards.matching import Scored

FILE = Path(__file__).with_name("trust.json")
_FULL_PX = 280.0
_MOST_AHEAD = 0.6
_UNIT = 0.1  # of likeness


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A constant, then a weight for each of the `features`. `first`: that the best card is right; `here`: that any card
    of the deck lies there."""

    first: tuple[float, ...]
    here: tuple[float, ...]


class Trust(NamedTuple):
    """`first`: probability that the best card is right; `any_of`: that one of those that fit is; `shares`: of each of
    those, in their order."""

    first: float
    any_of: float
    shares: tuple[float, ...]


def features(found: Sequence[Scored], height_px: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What `Weights.first` and `Weights.here` weigh, for the cards that fit a card that is `height_px` high."""
    best = found[0]
    small = float(np.log2(max(height_px, 1.0) / _FULL_PX))
    like, ahead = best.likeness / _UNIT, float(np.clip(best.ahead, -1.0, _MOST_AHEAD)) / _UNIT
    return (like, ahead, small), (like, small)


def trust(found: Sequence[Scored], height_px: float) -> Trust:
    """How far to believe what the matcher found in a card that is `height_px` high in the picture."""
    likes_first, likes_any = features(found, height_px)
    first = _chance(weights().first, likes_first)
    any_of = max(first, _chance(weights().here, likes_any))
    rest = np.exp(np.array([each.ahead for each in found[1:]]) * 6)
    left = (any_of - first) * rest / rest.sum() if len(rest) else rest
    return Trust(first, any_of, (first, *(float(share) for share in left)))


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Those of the package."""
    return msgspec.json.decode(FILE.read_bytes(), type=Weights)


def _chance(weight: Sequence[float], of: Sequence[float]) -> float:
    total = weight[0] + sum(one * other for one, other in zip(weight[1:], of, strict=True))
    return float(1 / (1 + np.exp(-np.clip(total, -40, 40))))
