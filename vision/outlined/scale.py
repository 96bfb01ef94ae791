"""Where a table lies when nothing but the cards tells: their size is known, and they lie flat."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dots.reading import read_dots
from vision.frame import Frame
from vision.outlined.faces import CELLS_PER_MM, sides_of
from vision.outlined.finding import rings
from vision.outlined.fitting import Fitter
from vision.outlined.plane import Flat, NoPlaneError, Plane, laid_flat
from vision.outlined.reading import CardRead, CardReader
from vision.outlined.whole import lines_of, read_whole

Floats = NDArray[np.float64]
_LONGEST_PX = 1600
_GUESSES = (0.82, 0.78, 0.86, 0.74, 0.91, 0.7, 0.96)  # of what dots say: blur makes them larger
_INNER = (1.06, 1.1, 1.02)  # the same of dark oblongs: their rim is light
_LEAST_RIM, _RINGS = 0.5, 2
_FINE_COST = 0.05
_ROUNDS = 3
_BEST_CARDS = 10
_GOOD_COST = 0.14
_TURNS = 150
_NOTHING = (
    "no card of this deck lies in the picture, so nothing tells its scale: give --corners and --table-mm, or print the"
    " markers"
)


def by_cards(reader: CardReader) -> Callable[[Frame], Plane]:
    """Finds the table by the cards of this deck that lie on it. The table's top left is then the picture's."""

    def find(frame: Frame) -> Plane:
        return _plane(frame, reader)

    return find


def _plane(frame: Frame, reader: CardReader) -> Plane:
    """Raises NoPlaneError where no card is found."""
    shrink = min(1.0, _LONGEST_PX / max(frame.shape[:2]))
    small = frame
    if shrink < 1:
        small = np.asarray(
            cv2.resize(frame, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8
        )
    size = (small.shape[1], small.shape[0])
    plane, card = _first(small, reader)
    cards = [card]
    for number in range(_ROUNDS):
        flat = laid_flat(small, plane)
        if number:
            cards = [card for card in read_whole(flat, reader).cards if card.cost < _GOOD_COST]
        if not cards:
            break
        corners = [
            _corners(flat, reader, card) for card in sorted(cards, key=lambda card: card.cost)[:_BEST_CARDS]
        ]
        plane = _straightened(plane, np.array(corners), reader.size_mm, size)
    larger = np.diag((1 / shrink, 1 / shrink, 1.0))
    return Plane(larger @ plane.to_px, plane.size_mm, plane.u_mm)


def _first(frame: Frame, reader: CardReader) -> tuple[Plane, CardRead]:
    """The picture as if taken straight from above, at the scale at which some card fits best, and that card. Raises
    NoPlaneError."""
    best: tuple[Plane, CardRead] | None = None
    for scale in _scales(frame, reader):
        plane = _straight(frame, scale)
        flat = laid_flat(frame, plane)
        for ring in rings(lines_of(flat), 0.5, reader.size_mm, least=_LEAST_RIM, most=_RINGS):
            read = reader.read(flat, ring.pose)
            if read is not None and (best is None or read.cost < best[1].cost):
                best = plane, read
        if best is not None and best[1].cost < _FINE_COST:
            break
    if best is None:
        raise NoPlaneError(_NOTHING)
    return best


def _scales(frame: Frame, reader: CardReader) -> Iterator[float]:
    """Pixels a mm that the picture may have, by its dots and by cards that lie alone."""
    dots = read_dots(frame, reader.hues).dots
    radius_mm = max(layout.dot_radius_mm for layout in reader.layouts.values())
    if len(dots) >= 2 and radius_mm > 0:
        radius = float(np.median([dot.radius_px for dot in dots]))
        yield from (radius / radius_mm * guess for guess in _GUESSES)
    for alone in sorted(set(_alone(frame, reader.size_mm)))[:2]:
        yield from (alone * guess for guess in _INNER)


def _alone(frame: Frame, size_mm: tuple[float, float]) -> Iterator[float]:
    """Pixels a mm by dark oblongs of a card's proportions."""
    grey = cv2.GaussianBlur(frame.max(axis=2), (0, 0), 1.5)
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    for limit in (level, 0.7 * level):
        dark = cv2.morphologyEx((grey < limit).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
        for outline in cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0]:
            (_, sides, _), area = cv2.minAreaRect(outline), cv2.contourArea(outline)
            if min(sides) < 30 or max(sides) > max(frame.shape) / 2 or area < 0.85 * sides[0] * sides[1]:
                continue
            share = (min(sides) / max(sides)) / (min(size_mm) / max(size_mm))
            if 0.88 < share < 1.14:
                yield round(float(np.sqrt(sides[0] * sides[1] / (size_mm[0] * size_mm[1]))), 2)


def _straight(frame: Frame, scale: float) -> Plane:
    """The picture as if it were taken straight from above, at so many px a mm."""
    to_px = np.array([(scale, 0, -0.5), (0, scale, -0.5), (0, 0, 1.0)])
    return Plane(to_px, (frame.shape[1] / scale, frame.shape[0] / scale), 0.5)


def _corners(flat: Flat, reader: CardReader, card: CardRead) -> Floats:
    """(4, 2) in the plane's mm: a card's corners, each as the quarter of the card beside it tells."""
    width, height = reader.size_mm
    columns, rows = (round(side * CELLS_PER_MM) for side in reader.size_mm)
    side = sides_of((reader.layouts[card.side.card],), reader.sigma_mm or 0.6)[int(card.flipped)]
    found = []
    for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)):
        mask = np.zeros((rows, columns), bool)
        mask[
            (rows // 2) * y : rows // 2 + (rows // 2) * y,
            (columns // 2) * x : columns // 2 + (columns // 2) * x,
        ] = True
        pose = Fitter(side, mask).fit(flat, card.pose).pose
        found.append(pose.apply((x * width, y * height)))
    return np.array(found)


def _straightened(
    plane: Plane, corners: Floats, size_mm: tuple[float, float], picture: tuple[int, int]
) -> Plane:
    """The plane in which all cards have their true size and right angles. `corners`: (n, 4, 2) in mm of `plane`."""
    width, height = size_mm
    true = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
    flat = corners.reshape(-1, 2)
    warp = np.eye(3)
    goal = flat
    for _ in range(_TURNS if len(corners) > 1 else 40):
        now = cv2.perspectiveTransform(flat[None], warp)[0].reshape(-1, 4, 2)
        goal = np.concatenate([_rigid(true, quad) for quad in now])
        if len(corners) > 2:
            warp = np.asarray(cv2.findHomography(flat, goal)[0], np.float64)
        else:  # one or two cards tell scale and slant, no perspective
            warp = np.vstack([cv2.estimateAffine2D(flat, goal)[0], (0, 0, 1)])
    rest = cv2.perspectiveTransform(flat[None], warp)[0] - goal
    back = plane.to_px @ np.linalg.inv(warp)
    edge = np.array([[(0, 0), (picture[0], 0), picture, (0, picture[1])]], np.float64)
    seen = cv2.perspectiveTransform(edge, np.linalg.inv(back))[0]
    low, high = seen.min(0), seen.max(0)
    if not np.isfinite(seen).all() or (high - low).max() > 4 * max(plane.size_mm):
        return plane
    shift = np.array([(1, 0, low[0]), (0, 1, low[1]), (0, 0, 1.0)])
    size = (float(high[0] - low[0]), float(high[1] - low[1]))
    return Plane(
        back @ shift, size, 0.3 + float(np.sqrt((rest**2).sum(1).mean())) + 0.8 / len(corners) ** 0.5
    )


def _rigid(true: Floats, seen: Floats) -> Floats:
    """The corners of a card of true size that lies nearest to where its corners are seen."""
    a, b = true - true.mean(0), seen - seen.mean(0)
    u, _, v = np.linalg.svd(a.T @ b)
    turn = u @ np.diag((1.0, float(np.sign(np.linalg.det(u @ v))))) @ v
    return np.asarray(a @ turn + seen.mean(0), np.float64)
