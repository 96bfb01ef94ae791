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
_STRANGE = 2.8  # standard deviations: farther from every owner than this is nobody's die
_NEIGHBOURS = 3
# Thin lines out of focus show their ink mixed with the body: it is tried as if it were only this share of ink.
_INK_SHARES = (1.0, 0.8, 0.62, 0.48)
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
        self._features = {
            owner: np.stack([_features(body, ink) for of, body, ink in samples if of == owner])
            for owner in self.owners
        }
        self._spread = {owner: _spread(rows) for owner, rows in self._features.items()}

    def whose(self, body: Lab, ink: Lab) -> Ownership:
        """The owner of a die with these colours."""
        seen = np.stack([_features(body, body + (ink - body) / share) for share in _INK_SHARES])
        far = []
        for owner in self.owners:
            apart = (self._features[owner][:, None, :] - seen[None]) / self._spread[owner]
            nearest = np.sort(np.linalg.norm(apart, axis=2), axis=0)[:_NEIGHBOURS].mean(axis=0)
            far.append(float((nearest + _SHARE_COSTS).min()))
        order = np.argsort(far)
        lead = far[order[1]] - far[order[0]] if len(far) > 1 else float("inf")
        return Ownership(self.owners[order[0]], far[order[0]], lead)


def _features(body: Lab, ink: Lab) -> NDArray[np.float64]:
    """(6,): log ratio of body to ink in B, G, R; the body's own tint; how bright it is."""
    linear = [_linear(colour) for colour in (body, ink)]
    ratio = np.log(linear[0]) - np.log(linear[1])
    tint = np.log(linear[0])
    return np.concatenate([ratio, _TINT_WEIGHT * (tint - tint.mean())])


def _linear(lab: Lab) -> NDArray[np.float64]:
    pixel = np.clip(lab, 0, 255).astype(np.uint8).reshape(1, 1, 3)
    bgr = cv2.cvtColor(pixel, cv2.COLOR_LAB2BGR).reshape(3) / 255.0
    return np.asarray(np.clip(bgr, 0, 1) ** 2.2 + _LEAST, np.float64)


def _spread(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.hypot(rows.std(axis=0), _SPREAD), np.float64)
