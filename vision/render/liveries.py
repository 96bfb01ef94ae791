"""Dice in the colours that six owners have."""

from __future__ import annotations

from collections.abc import Mapping

from vision.render.cube import Livery

_WHITE = (0.95, 0.95, 0.95)

OWNERS: Mapping[str, Livery] = {
    "red": Livery(body=(0.12, 0.1, 0.78), ink=_WHITE, seed=1),
    "blue": Livery(body=(0.82, 0.36, 0.1), ink=(0.35, 0.85, 0.98), seed=2),
    "green": Livery(body=(0.28, 0.55, 0.1), ink=_WHITE, seed=3),
    "yellow": Livery(body=(0.12, 0.72, 0.92), ink=(0.5, 0.15, 0.12), seed=4),
    "purple": Livery(body=(0.58, 0.17, 0.42), ink=_WHITE, seed=5),
    "black": Livery(body=(0.11, 0.1, 0.1), ink=_WHITE, seed=6),
}
"""Owner's colour -> how the dice look."""
