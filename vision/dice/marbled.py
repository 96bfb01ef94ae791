"""Dice whose body is of several colours: which mixture of the colour channels shows their ink and hides the body.

Marbled bodies are often as contrasty as what is printed on them. But in all pictures of an owner's dice the ink has
one colour, and the body a few others; so there is a direction in logarithmic light along which the bodies agree and
the ink stands out. Another lamp only shifts the logarithms: the direction and the step from body to ink stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.inkblots import disc_mask

STEP = 100
"""From body to ink in an ink map, in grey levels."""

_LEAST = 0.012  # linear light that a camera's black still gives
_MIDDLE = 128
_TONES = 5  # colours that a body is described by
_FLOOR = 0.06  # log units: what noise adds to a body's spread along any direction
_INK_SHARE = 0.12  # of a face's middle: the least that is ink
_ROUNDS = 3
_INK_SHARES = np.array([[1.0], [0.8], [0.62], [0.48]])
_SHARE_COSTS = np.array([0.0, 0.03, 0.07, 0.12])  # log units
_EACH = 2  # of the rim's pixels each second one is looked at
_LEAST_STEP = 0.3  # of the enrolled one: glare takes the rest
_CORE = disc_mask(0.36)
_RIM = disc_mask(0.45) & ~disc_mask(0.38)
_LOGS = np.log((np.arange(256) / 255) ** 2.2 + _LEAST).astype(np.float32)

Pictures = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class InkAxis:
    """One owner's dice. `weights`: (3,) of the logarithms of B, G, R; `step`: from body to ink along them; `tones`:
    (K, 3) logarithms of the body's colours less those of the ink; `is_clear`: how many of the body's own deviations
    the step is."""

    weights: Floats
    step: float
    tones: Floats
    clear: float

    def map_of(self, bgr: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(H, W) how much like ink each pixel is: STEP levels from body to ink, about the middle level what is usual
        in the picture."""
        along = np.zeros(bgr.shape[:2], np.float32)
        for channel, weight in enumerate(self.weights.tolist()):
            along += np.take(_LOGS * np.float32(weight), bgr[..., channel])
        usual = float(np.median(along[::4, ::4]))
        levels = _MIDDLE + (along - usual) * (STEP / self.step)
        return np.asarray(np.clip(levels, 0, 255), np.uint8)

    def strangeness(self, patch: NDArray[np.uint8], soft: Floats) -> float:
        """How far the body around the ink of a face (PATCH_PX, PATCH_PX, 3) BGR is from the colours enrolled, in log
        units, the median over the rim; `soft`: the face's ink, 0 to 1."""
        logs = _LOGS[patch]
        inked = (soft > 0.75) & _CORE
        if inked.sum() < 8:
            return 9.0
        rim = logs[_RIM & (soft < 0.4)]
        if len(rim) < 20:
            return 9.0
        seen, body = np.exp(np.median(logs[inked], axis=0)), np.exp(np.median(rim, axis=0))
        # Thin lines out of focus show ink mixed with body: it is tried as if it were only a share of ink.
        pure = (seen - (1 - _INK_SHARES) * body) / _INK_SHARES
        inks = np.log(np.maximum(pure, _LEAST)).astype(np.float32)
        away = self.tones[None] + inks[:, None]
        apart = np.linalg.norm(rim[None, ::_EACH, None] - away[:, None], axis=3).min(axis=2)
        return float((np.median(apart, axis=1) + _SHARE_COSTS).min())


def soft_of(axis: InkAxis, picture: NDArray[np.uint8]) -> Floats | None:
    """(PATCH_PX, PATCH_PX) ink of a face, 0 to 1, from its BGR picture of that size; None where none shows."""
    level = np.asarray(axis.map_of(picture), np.float32)
    body, top = float(np.median(level[_RIM])), float(np.quantile(level[_CORE], 0.97))
    if top - body < _LEAST_STEP * STEP:
        return None
    return np.asarray(np.clip((level - body) / (top - body), -0.2, 1.2), np.float32)


def ink_axis(pictures: Pictures) -> InkAxis | None:
    """The axis of one owner's dice from enrolled faces (N, PATCH_PX, PATCH_PX, 3) BGR that lie square in their
    pictures, but for the turn; None where no direction tells ink from body."""
    logs = _LOGS[pictures]  # (N, P, P, 3)
    inner = logs[:, _CORE]
    rims = logs[:, _RIM]
    usual = np.median(rims, axis=1, keepdims=True)
    # At first what lies farthest from all the rim's colours counts as ink.
    far = np.stack([_beyond(core, rim) for core, rim in zip(inner, rims, strict=True)])
    is_ink = far >= np.quantile(far, 1 - _INK_SHARE, axis=1, keepdims=True)
    weights = np.ones(3, np.float32) / np.float32(3)
    for _ in range(_ROUNDS):
        ink = np.stack([np.median(core[of], axis=0) for core, of in zip(inner, is_ink, strict=True)])
        spread = np.cov((rims - usual).reshape(-1, 3).T) + _FLOOR**2 * np.eye(3)
        weights = np.linalg.solve(spread, np.median(ink - usual[:, 0], axis=0)).astype(np.float32)
        weights /= np.linalg.norm(weights) + 1e-9
        along, rim = inner @ weights, rims @ weights
        body, top = (
            np.median(rim, axis=1),
            np.stack([np.median(row[of]) for row, of in zip(along, is_ink, strict=True)]),
        )
        is_ink = along > ((body + 3 * top) / 4)[:, None]
        few = is_ink.sum(axis=1) < 8
        is_ink[few] = far[few] >= np.quantile(far[few], 1 - _INK_SHARE, axis=1, keepdims=True)
    step = float(np.median(top - body))
    deviation = float(np.median(np.abs(rim - body[:, None]))) * 1.48 + 1e-6
    if step < 0.25:
        return None
    tones = _tones((rims - ink[:, None]).reshape(-1, 3))
    return InkAxis(weights, step, tones, step / deviation)


def unevenness(pictures: Sequence[NDArray[np.uint8]]) -> float:
    """How far a body's colours lie apart, as a share of the way to the ink: 0 for one even colour."""
    found = []
    for picture in pictures:
        lab = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2LAB), np.float32)
        middle = np.median(lab[_RIM], axis=0)
        ink = np.percentile(np.linalg.norm(lab[_CORE] - middle, axis=1), 95)
        found.append(float(np.percentile(np.linalg.norm(lab[_RIM] - middle, axis=1), 75) / (ink + 1e-6)))
    return float(np.median(found))


def _beyond(core: Floats, rim: Floats) -> Floats:
    """(K,) how far each pixel of a face's middle is from the nearest of the rim's usual colours."""
    tones = _tones(rim)
    return np.asarray(np.linalg.norm(core[:, None] - tones[None], axis=2).min(axis=1), np.float32)


def _tones(pixels: Floats) -> Floats:
    """(_TONES, 3) the colours that pixels (N, 3) gather around; the same for the same pixels."""
    some = np.ascontiguousarray(pixels[:: max(1, len(pixels) // 3000)], np.float32)
    order = np.argsort(some @ np.array((1.0, 1.3, 0.7), np.float32))
    labels = np.zeros((len(some), 1), np.int32)
    labels[order, 0] = np.arange(len(some)) * _TONES // len(some)
    criteria = (cv2.TERM_CRITERIA_MAX_ITER, 12, 0.0)
    _, _, centres = cv2.kmeans(some, _TONES, labels, criteria, 1, cv2.KMEANS_USE_INITIAL_LABELS)
    return np.asarray(centres, np.float32)
