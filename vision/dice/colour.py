"""Whose die is it? By the colours of body and ink, as enrolled.

The lamp in use is never the one of the enrolment. Ink and body of one die stand under the same lamp, so
their ratio in linear light stays, whatever its tint and brightness; it is held against the enrolled ratios
together with the body's own tint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Lab = NDArray[np.float32]

_LEAST = 0.012  # linear light that a camera's black still gives
_SPREAD = 0.16  # log units that a ratio may stray beyond what the samples show
_TINT_WEIGHT = 0.5
_STRANGE = 4.5  # standard deviations: farther from every owner than this is nobody's die
_NEIGHBOURS = 3
# Thin lines out of focus show their ink mixed with the body: it is tried as if it were only this share of ink.
_INK_SHARES = np.array([1.0, 0.8, 0.62, 0.48])
_SHARE_COSTS = np.array([0.0, 0.1, 0.25, 0.4])


@dataclass(frozen=True)
class Ownership:
    """`owner`: the nearest one's name; `distance` in standard deviations; `lead`: how much farther the next
    owner is. `is_known`: near enough to be one of the enrolled dice."""

    owner: str
    distance: float
    lead: float

    @property
    def is_known(self) -> bool:
        return self.distance <= _STRANGE


class Palette:
    """The enrolled colours: (owner, body, ink) of each sample, 8-bit Lab."""

    def __init__(self, samples: Sequence[tuple[str, Lab, Lab]]) -> None:
        self.owners = tuple(dict.fromkeys(owner for owner, _, _ in samples))
        rows = [
            _features(
                np.stack([body for of, body, _ in samples if of == owner]),
                np.stack([ink for of, _, ink in samples if of == owner]),
            )
            for owner in self.owners
        ]
        self._ends = np.cumsum([len(part) for part in rows])
        self._rows = np.concatenate(rows)
        self._spread = np.concatenate(
            [np.broadcast_to(np.hypot(part.std(axis=0), _SPREAD), part.shape) for part in rows]
        )

    def whose(self, body: Lab, ink: Lab) -> Ownership:
        """The owner of a die with these colours."""
        return self.owners_of(body[None], ink[None])[0]

    def owners_of(self, bodies: Lab, inks: Lab) -> list[Ownership]:
        """The owners of dice with these colours, (N, 3) each."""
        if not len(bodies):
            return []
        count, shares = len(bodies), len(_INK_SHARES)
        guessed = bodies[:, None] + (inks - bodies)[:, None] / _INK_SHARES[None, :, None]
        held = np.broadcast_to(bodies[:, None], guessed.shape)
        seen = _features(held.reshape(-1, 3), guessed.reshape(-1, 3))
        apart = np.sqrt((((self._rows[None] - seen[:, None]) / self._spread[None]) ** 2).sum(axis=2))
        far = np.empty((count, len(self.owners)))
        for place, (first, end) in enumerate(zip((0, *self._ends), self._ends, strict=False)):
            part = apart[:, first:end]
            few = min(_NEIGHBOURS, part.shape[1])
            nearest = np.partition(part, few - 1, axis=1)[:, :few].mean(axis=1).reshape(count, shares)
            far[:, place] = (nearest + _SHARE_COSTS).min(axis=1)
        order = np.argsort(far, axis=1)
        found = []
        for i in range(count):
            best = float(far[i, order[i, 0]])
            lead = float(far[i, order[i, 1]]) - best if len(self.owners) > 1 else float("inf")
            found.append(Ownership(self.owners[order[i, 0]], best, lead))
        return found


def _features(bodies: Lab, inks: Lab) -> NDArray[np.float64]:
    """(N, 6) of (N, 3) colours: log ratio of body to ink in B, G, R; the body's own tint."""
    body, ink = _log_light(bodies), _log_light(inks)
    return np.concatenate([body - ink, _TINT_WEIGHT * (body - body.mean(axis=1, keepdims=True))], axis=1)


def _log_light(lab: Lab) -> NDArray[np.float64]:
    """(N, 3) logarithm of the linear light in B, G, R."""
    pixels = np.clip(lab, 0, 255).astype(np.uint8).reshape(-1, 1, 3)
    bgr = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_LAB2BGR), np.float64).reshape(-1, 3) / 255
    return np.asarray(np.log(bgr**2.2 + _LEAST), np.float64)
