"""Where a card of the deck lies by its landmarks alone: small corners of print that look alike in the picture and on
the enrolled card. It needs neither the card's sides, which a grain of wood or a neighbour may have been taken for, nor
all of its face.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cards.looks import Floats, corners_at, size_at, straight
from vision.frame import Frame

_LEVEL = 368  # px: height that landmarks are looked for in
_COUNT = 300  # landmarks of a card
_AROUND = 1.15  # of the outline's size: so much is searched
_KIND = 20.0  # bits of 256 by which a landmark's vote falls to a third
_ASKED = 3  # cards with the most votes are laid by their landmarks
_RATIO = 0.8  # a landmark counts whose second likest on the same card is farther off by this
_OFF_PX = 5.0
_ROUNDS = 400  # of RANSAC
_LEAST = 9  # landmarks that agree; by chance fewer do
_AREA = (0.5, 1.6)  # of the outline's: what is outside is no card where one was found


class Landmarks:
    """Those of a deck's cards."""

    def __init__(self, pictures: Sequence[Frame], aspect: float) -> None:
        """`pictures`: the enrolled cards laid straight, BGR; `aspect`: height over width."""
        self._size = size_at(_LEVEL, aspect)
        self._finder, self._pairs = cv2.ORB.create(nfeatures=_COUNT), cv2.BFMatcher(cv2.NORM_HAMMING)
        found = [self._of(straight(each, corners_at(each.shape[1::-1]), self._size)) for each in pictures]
        self._places = [places for places, _ in found]
        self._words = [words for _, words in found]
        self._owner = np.repeat(np.arange(len(found)), [len(words) for words in self._words])
        self._all = np.concatenate(self._words)

    def _of(self, picture: Frame) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """(N, 2) places in px and (N, 32) words."""
        points, words = self._finder.detectAndCompute(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), None)
        places = np.array([point.pt for point in points], np.float32).reshape(-1, 2)
        return places, np.zeros((0, 32), np.uint8) if words is None else np.asarray(words, np.uint8)

    def quad(self, frame: Frame, outline: Floats) -> Floats | None:
        """The corners (4, 2) in px, from its own top left clockwise, of the card of the deck that has the most
        landmarks in common with what lies about `outline` (4, 2); None where none has enough."""
        middle = outline.mean(0)
        about = np.asarray(middle + (outline - middle) * _AROUND, np.float64)
        places, words = self._of(straight(frame, about, self._size))
        if len(words) < _LEAST or len(self._all) < _LEAST:
            return None
        nearest = self._pairs.match(words, self._all)
        kind = np.exp([-each.distance / _KIND for each in nearest])
        votes = np.bincount(self._owner[[each.trainIdx for each in nearest]], kind, len(self._words))
        laid = [self._laid(places, words, int(index)) for index in np.argsort(-votes)[:_ASKED]]
        count, plane = max(laid, key=lambda each: each[0])
        if plane is None or count < _LEAST:
            return None
        to_px = cv2.getPerspectiveTransform(
            corners_at(self._size).astype(np.float32), about.astype(np.float32)
        )
        found = np.asarray(
            cv2.perspectiveTransform(corners_at(self._size)[None], to_px @ plane)[0], np.float64
        )
        area = cv2.contourArea(found.astype(np.float32)) / max(
            cv2.contourArea(outline.astype(np.float32)), 1e-6
        )
        is_card = cv2.isContourConvex(found.astype(np.float32)) and _AREA[0] < area < _AREA[1]
        return found if is_card else None

    def _laid(
        self, places: NDArray[np.float32], words: NDArray[np.uint8], index: int
    ) -> tuple[int, Floats | None]:
        """(landmarks that agree, 3x3 from the enrolled card to where they are)"""
        pairs = [pair for pair in self._pairs.knnMatch(words, self._words[index], k=2) if len(pair) == 2]
        good = [one for one, other in pairs if one.distance < _RATIO * other.distance]
        if len(good) < _LEAST:
            return 0, None
        there = self._places[index][[each.trainIdx for each in good]]
        here = places[[each.queryIdx for each in good]]
        plane, agree = cv2.findHomography(there, here, cv2.RANSAC, _OFF_PX, maxIters=_ROUNDS)
        return (0, None) if plane is None else (int(agree.sum()), np.asarray(plane, np.float64))
