"""A card's picture laid straight, and what of it is compared: its lines under any lamp, its gradients, its colours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame

Floats = NDArray[np.float64]
Plane = NDArray[np.float32]

ROWS, COLUMNS = 12, 8
"""Blocks that a card is compared by."""
LEVELS = (48, 96, 144, 216, 288)
"""Heights in px that a card is looked at in; each block is the same part of the card in all."""
MARGIN = 1 / 8
"""Of the height: so much around the card is kept where it may have to be shifted."""
_FLAT = 5.0  # grey levels: lines fainter than this count less
_SCOPE = 1 / 14  # of the height: what is lighter or darker is said against so much around
_BINS = 12
_COLOUR_CELL = (6, 4)
_GLARE = 0.2  # log: a block that is brighter than the deck's cards by more has glare on it,
_WHITE = 0.35  # where it is at least so bright
_LEAST_CLEAR = 0.6  # of the card: where less would be clear it is no glare


def size_at(level: int, aspect: float) -> tuple[int, int]:
    """(width, height) in px of a card of this proportion (height over width) at a level, a whole number of blocks."""
    width = COLUMNS * max(2, round(level / aspect / COLUMNS))
    return (width, level)


def corners_at(size: tuple[int, int]) -> Floats:
    """The corners (4, 2) of a card that fills a picture of this size, from the top left clockwise."""
    width, height = size
    return np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64) - 0.5


def straight(frame: Frame, quad: Floats, size: tuple[int, int], margin: int = 0) -> Frame:
    """The card with its corners `quad` (4, 2), from its top left clockwise, as a picture of `size` (width, height)
    with `margin` px of what lies around it on all sides."""
    to = corners_at(size) + margin
    long = max(
        float(np.linalg.norm(quad[1] - quad[0])) / size[0], float(np.linalg.norm(quad[2] - quad[1])) / size[1]
    )
    source, scale = frame, 1.0
    if long > 1.6:  # a picture much finer than what is asked for is shrunk before, lest it flickers
        low, high = np.floor(quad.min(0)).astype(int), np.ceil(quad.max(0)).astype(int)
        edge = int(0.2 * (high - low).max()) + 4
        x0, y0 = np.maximum(low - edge, 0)
        x1, y1 = np.minimum(high + edge, np.array(frame.shape[1::-1]))
        scale = 1.25 / long
        part = frame[y0:y1, x0:x1]
        source = np.asarray(
            cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
        fit = np.array(source.shape[1::-1]) / np.array(part.shape[1::-1])
        quad = (quad - (x0, y0) + 0.5) * fit - 0.5
    plane = cv2.getPerspectiveTransform(quad.astype(np.float32), to.astype(np.float32))
    whole = (size[0] + 2 * margin, size[1] + 2 * margin)
    return np.asarray(
        cv2.warpPerspective(source, plane, whole, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        np.uint8,
    )


def lines_of(picture: Frame, height: int) -> Plane:
    """(H, W) how much lighter or darker each place of a BGR picture is than what lies around it, of deviation 1 where
    there is something; `height`: of the card in it, in px."""
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.float32)
    sigma = height * _SCOPE
    off = grey - cv2.GaussianBlur(grey, (0, 0), sigma)
    spread = cv2.GaussianBlur(off * off, (0, 0), sigma)
    return np.asarray(off / np.sqrt(spread + _FLAT**2), np.float32)


def blocks_of(plane: Plane) -> NDArray[np.float32]:
    """(ROWS * COLUMNS, P) the pixels of each block of a plane whose size `size_at` gave."""
    height, width = plane.shape[:2]
    high, wide = height // ROWS, width // COLUMNS
    cut = plane.reshape(ROWS, high, COLUMNS, wide).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(cut.reshape(ROWS * COLUMNS, high * wide))


def gradients_of(picture: Frame) -> NDArray[np.float32]:
    """A descriptor (ROWS * COLUMNS * 12,) of a card of 96 px height: directions of its slopes, block by block."""
    lines = cv2.GaussianBlur(lines_of(picture, picture.shape[0]), (0, 0), 0.8)
    dx, dy = cv2.Sobel(lines, cv2.CV_32F, 1, 0), cv2.Sobel(lines, cv2.CV_32F, 0, 1)
    strength, angle = cv2.cartToPolar(dx, dy)
    place = angle * np.float32(_BINS / (2 * np.pi))
    low = np.floor(place)
    share = place - low
    height, width = lines.shape
    found = np.zeros((_BINS, height, width), np.float32)
    rows, columns = np.indices((height, width))
    first = low.astype(int) % _BINS
    found[first, rows, columns] += strength * (1 - share)
    found[(first + 1) % _BINS, rows, columns] += strength * share
    # A block takes a little of its neighbours, so that a small shift changes little.
    soft = [cv2.GaussianBlur(plane, (0, 0), height / ROWS / 3) for plane in found]
    cells = np.stack([cv2.resize(plane, (COLUMNS, ROWS), interpolation=cv2.INTER_AREA) for plane in soft], -1)
    cells = np.sqrt(cells / (cells.sum(-1, keepdims=True) + cells.sum(-1).mean() + 1e-6))
    return np.asarray(cells.ravel(), np.float32)


def colours_of(picture: Frame) -> NDArray[np.float32]:
    """(24, 3) the mean blue, green and red, 0 to 1 and linear in light, of 6 x 4 parts of a card."""
    rows, columns = _COLOUR_CELL
    light = (np.asarray(picture, np.float32) / 255) ** 2.2
    return np.asarray(
        cv2.resize(light, (columns, rows), interpolation=cv2.INTER_AREA).reshape(-1, 3), np.float32
    )


def brightness_of(picture: Frame) -> NDArray[np.float32]:
    """(ROWS * COLUMNS,) how bright each block of a card is in its darkest channel, 0 to 1 and linear in light."""
    light = (np.asarray(picture.min(axis=2), np.float32) / 255) ** 2.2
    return np.asarray(cv2.resize(light, (COLUMNS, ROWS), interpolation=cv2.INTER_AREA).ravel(), np.float32)


def clear_of_glare(seen: NDArray[np.float32], brightest: NDArray[np.float32]) -> NDArray[np.bool_]:
    """(B,) whether no glare lies on a block. `seen`: how bright the blocks are (see `brightness_of`); `brightest`: how
    bright any card of the deck is there. What a lamp to one side makes brighter is no glare."""
    off = np.log(np.maximum(seen, 0.003)) - np.log(np.maximum(brightest, 0.003))
    rows, columns = np.indices((ROWS, COLUMNS)).reshape(2, -1)
    system = np.stack([rows / ROWS, columns / COLUMNS, np.ones(ROWS * COLUMNS)], 1)
    weight = np.ones(ROWS * COLUMNS)
    for _ in range(4):
        plane = system @ np.linalg.lstsq(system * weight[:, None], off * weight, rcond=None)[0]
        weight = 1 / (1 + np.abs(off - plane) / 0.1)
    return np.asarray((off - plane < _GLARE) | (seen < _WHITE), np.bool_)


@dataclass(frozen=True)
class Look:
    """A card in a picture laid straight, and what it is described by. `clear`:
    (ROWS * COLUMNS,) the blocks without glare; `fine`: the finest level that it is worth to look
    at; `upright`: the look that this one is turned from, None where it is not turned."""

    frame: Frame
    quad: Floats
    aspect: float
    gradients: NDArray[np.float32]
    colours: NDArray[np.float32]
    clear: NDArray[np.bool_]
    fine: int
    upright: Look | None = None
    _kept: dict[int, Plane] = field(default_factory=dict)

    def lines(self, level: int) -> Plane:
        """The card's lines at a level with `margin_at` px around it; worked out once, when they are first wanted."""
        if level not in self._kept:
            if self.upright is not None:
                self._kept[level] = np.ascontiguousarray(self.upright.lines(level)[::-1, ::-1])
            else:
                size = size_at(level, self.aspect)
                picture = straight(self.frame, self.quad, size, margin_at(level))
                self._kept[level] = lines_of(picture, level)
        return self._kept[level]

    def turned(self) -> Look:
        """The same card looked at upside down."""
        gradients = np.roll(self.gradients.reshape(ROWS, COLUMNS, _BINS)[::-1, ::-1], _BINS // 2, axis=2)
        return replace(
            self,
            gradients=np.ascontiguousarray(gradients).ravel(),
            colours=self.colours[::-1].copy(),
            clear=self.clear[::-1],
            upright=self,
            _kept={},
        )


def look_at(frame: Frame, quad: Floats, aspect: float, brightest: NDArray[np.float32]) -> Look:
    """The card whose corners are `quad`, from its top left clockwise; `brightest`: see `clear_of_glare`."""
    long = float(np.linalg.norm(quad[[3, 2]] - quad[[0, 1]], axis=1).mean())
    fine = max((level for level in LEVELS if level <= 1.15 * long), default=LEVELS[1])
    card = straight(frame, quad, size_at(96, aspect))
    clear = clear_of_glare(brightness_of(card), brightest)
    if clear.mean() < _LEAST_CLEAR:
        clear = np.ones_like(clear)
    return Look(frame, quad, aspect, gradients_of(card), colours_of(card), clear, max(fine, LEVELS[1]))


def margin_at(level: int) -> int:
    """Px around the card at a level."""
    return round(level * MARGIN)
