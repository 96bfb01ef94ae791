"""Chance that can be replayed: every draw follows from a seed and the words of what is drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def number(seed: int, salt: str, below: int) -> int:
    """A number in [0, below), the same for the same seed and salt; raises ValueError when below < 1."""
    if below < 1:
        raise ValueError("below must be at least 1")
    digest = hashlib.sha256(f"{seed}/{salt}".encode()).digest()
    return int.from_bytes(digest[:16], "big") % below


def shuffled(seed: int, salt: str, items: Sequence[str]) -> tuple[str, ...]:
    """The items in an order that follows from seed and salt alone, each order as likely as any other."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = number(seed, f"{salt}/{last}", last + 1)
        order[last], order[other] = order[other], order[last]
    return tuple(order)
