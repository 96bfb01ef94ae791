"""What a user would otherwise pick to know cards again: a perceptual hash, and local features with RANSAC."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cards.looks import straight
from vision.cards.matching import Reference, straight_card
from vision.frame import Frame

_SIZE = (264, 368)
_LEAST = 8
Quad = NDArray[np.float64]


class HashPeer:
    """64 bits: the signs of the 8 x 8 lowest cosine terms of a 32 x 32 grey card against their median."""

    def __init__(self, cards: Sequence[Reference]) -> None:
        self._names = [card.name for card in cards]
        self._bits = np.stack([_bits(straight_card(card.picture, _SIZE)) for card in cards])

    def name(self, frame: Frame, quad: Quad) -> str:
        """The card of the nearest bits, upside down or not."""
        turned = [_bits(straight(frame, np.roll(quad, -2 * k, axis=0), _SIZE)) for k in (0, 1)]
        apart = np.min([(self._bits != bits).sum(1) for bits in turned], axis=0)
        return self._names[int(apart.argmin())]


class OrbPeer:
    """500 ORB features a card, matched with Lowe's ratio, the most inliers of a homography win."""

    def __init__(self, cards: Sequence[Reference]) -> None:
        self._orb, self._pair = cv2.ORB_create(nfeatures=500), cv2.BFMatcher(cv2.NORM_HAMMING)
        self._names = [card.name for card in cards]
        self._cards = [self._features(straight_card(card.picture, _SIZE)) for card in cards]

    def _features(self, picture: Frame) -> tuple[NDArray[np.float32], NDArray[np.uint8] | None]:
        places, described = self._orb.detectAndCompute(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), None)
        return np.array([place.pt for place in places], np.float32), described

    def name(self, frame: Frame, quad: Quad) -> str:
        """The card with the most inliers, empty where none has enough."""
        places, described = self._features(straight(frame, quad, _SIZE))
        if described is None or len(described) < _LEAST:
            return ""
        best, most = "", _LEAST - 1
        for name, (known, words) in zip(self._names, self._cards, strict=True):
            if words is None or len(words) < _LEAST:
                continue
            pairs = [pair for pair in self._pair.knnMatch(described, words, k=2) if len(pair) == 2]
            good = [one for one, other in pairs if one.distance < 0.8 * other.distance]
            if len(good) <= most:
                continue
            here = np.array([places[each.queryIdx] for each in good])
            there = np.array([known[each.trainIdx] for each in good])
            _, mask = cv2.findHomography(here, there, cv2.RANSAC, 4.0)
            count = 0 if mask is None else int(mask.sum())
            if count > most:
                best, most = name, count
        return best


def _bits(picture: Frame) -> NDArray[np.bool_]:
    grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), (32, 32), interpolation=cv2.INTER_AREA)
    low = cv2.dct(grey.astype(np.float32))[:8, :8].ravel()
    return np.asarray(low > np.median(low))
