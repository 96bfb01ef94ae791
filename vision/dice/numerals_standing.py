"""Which number does an enrolled d4 show that stands on a face? Its three sides laid over the sides of its own pictures.

A side is a plane triangle, so its corners and the tip say where each of its points is seen. All pictures of a die
show the same four sides: which three, in which order and which way round follows from the number shown and from the
way in which the numbers go round the die. So each side is learnt from all pictures that show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.numerals_looks import LEGAL
from vision.dice.numerals_outline import Base, Whole
from vision.frame import Frame

Floats = NDArray[np.float64]
Plane = NDArray[np.float32]

TEXTS = LEGAL["d4"]
_FINE = 22  # points of a side lie so many steps along each edge
_RIM = 2  # steps from the edges, where lamps are mirrored
_DEGREE = 2  # of what light does over a side, and ink does not
_SOFT_PX = 0.5
_PER_AREA = 1.4  # how much more a side counts that is seen less askew
_THIRDS = np.exp(2j * np.pi * np.arange(3) / 3)
_TIPS = tuple(
    complex(x, y)
    for x in np.arange(-0.5, 0.51, 0.125)
    for y in np.arange(-0.5, 0.51, 0.125)
    if np.hypot(x, y) < 0.56
)
_SIZES = (0.92, 1.0)  # of the outline: rounded corners make it smaller, shadows larger
_STEPS = (0.06, 0.03, 0.015)
_MOST_STEPS = 8
_SHORT = 6  # ways to lie that are laid exactly
_ROUNDS = 3
_STARTS = 60  # guesses how the pictures belong together
_TRIED = 3  # of them, that are learnt from
_LEAST_TEXTS = 3
_WELL = 0.85  # a fit with which no other outline is tried


def _points() -> Floats:
    steps = range(_RIM, _FINE + 1 - 2 * _RIM)
    return np.array(
        [(i, j, _FINE - i - j) for i in steps for j in steps if _FINE - i - j >= _RIM], np.float64
    )


_SHARES = _points() / _FINE
"""(points, 3): how near each point of a side is to its corners."""


def _rolled() -> list[NDArray[np.int64]]:
    rows = {tuple(point): row for row, point in enumerate(_points().astype(int).tolist())}
    turned = [np.roll(_points().astype(int), -shift, axis=1).tolist() for shift in range(3)]
    return [np.array([rows[tuple(point)] for point in points]) for points in turned]


_ROLLED = _rolled()
"""Shift -> the points of a side whose corners are counted from another one on."""


def _light() -> Floats:
    x, y = _SHARES[:, 0], _SHARES[:, 1]
    terms = [x**i * y**j for i in range(_DEGREE + 1) for j in range(_DEGREE + 1 - i)]
    return np.asarray(np.linalg.qr(np.stack(terms, axis=1))[0], np.float64)


_LIGHT = _light()


@dataclass(frozen=True)
class _Lying:
    """Where a die stands in its picture: middle of its base, way to the base's first corner, and way to the tip in
    units of that; one or more at once, (n,) complex."""

    middle: NDArray[np.complex128]
    corner: NDArray[np.complex128]
    tip: NDArray[np.complex128]

    def at(self, index: int) -> _Lying:
        """One of them."""
        return _Lying(*(part[index : index + 1] for part in (self.middle, self.corner, self.tip)))

    def steps(self, step: float) -> _Lying:
        """One, and moved, turned, grown and its tip moved by a step each way."""
        ways, still = step * np.array((1, -1, 1j, -1j)), np.zeros(4)
        moved = np.concatenate([ways, still, still]) * abs(self.corner[0])
        grown = np.concatenate([still + 1, (1 + step, 1 - step, *np.exp((1j * step, -1j * step))), still + 1])
        return _Lying(
            self.middle + moved, self.corner * grown, self.tip + np.concatenate([still, still, ways])
        )

    def points(self) -> tuple[NDArray[np.complex128], Floats]:
        """(n, 3, points) where the points of the three sides are seen, and (n, 3) how much each side counts: 1 where
        the tip is in the middle."""
        foot = self.middle[:, None] + self.corner[:, None] * _THIRDS
        following = np.roll(foot, -1, axis=1)
        tip = (self.middle + self.tip * np.abs(self.corner))[:, None]
        points = (
            tip[..., None] * _SHARES[:, 0]
            + foot[..., None] * _SHARES[:, 1]
            + following[..., None] * _SHARES[:, 2]
        )
        area = ((foot - tip).conj() * (following - tip)).imag
        usual = np.abs(self.corner[:, None]) ** 2 * (np.sqrt(3) / 2)
        return points, (np.maximum(area, 0.0) / usual) ** _PER_AREA


def _standing(base: Base) -> _Lying:
    return _Lying(np.array([base.middle]), np.array([base.corner]), np.zeros(1, np.complex128))


@dataclass(frozen=True)
class _Side:
    """One of the three sides seen: which of the four it is, and its first corner counted from the tip on."""

    face: int
    shift: int


def _round_the_tip(tip: int, is_odd: bool) -> tuple[int, ...]:
    """The three other corners clockwise, the lowest first."""
    lowest = min({0, 1, 2, 3} - {tip})
    for order in permutations(range(4)):
        swaps = sum(order[i] > order[j] for i in range(4) for j in range(i + 1, 4))
        if order[:2] == (tip, lowest) and swaps % 2 == is_odd:
            return order[1:]
    raise AssertionError("four corners go round a tip in two ways")


def _sides(tip: int, turn: int, is_odd: bool) -> tuple[_Side, ...]:
    """The sides seen where this corner is the tip, from the base's first corner on."""
    around, found = _round_the_tip(tip, is_odd), []
    for k in range(3):
        one, two, away = (around[(k + turn + i) % 3] for i in range(3))
        corners = (tip, one, two)
        found.append(_Side(away, -corners.index(min(corners)) % 3))
    return tuple(found)


_WAYS = [[[_sides(tip, turn, is_odd) for turn in range(3)] for tip in range(4)] for is_odd in (False, True)]


@dataclass(frozen=True)
class StandingFit:
    """How well the die would fit were it to show this number: correlation, -1 to 1."""

    text: str
    score: float


class StandingDie:
    """A d4 that was enrolled standing. Raises ValueError where the pictures are too few to tell its sides."""

    def __init__(self, shots: Sequence[tuple[str, Whole]]) -> None:
        """`shots`: number and picture."""
        if len({text for text, _ in shots}) < _LEAST_TEXTS:
            raise ValueError("a standing d4 is told by pictures of three of its numbers at least")
        soft = [_soft(whole.picture) for _, whole in shots]
        self._tips = [TEXTS.index(text) for text, _ in shots]
        bases = [whole.base for _, whole in shots]
        self._axis = _ink_axis(soft, [_standing(base) for base in bases])
        planes = [self._plane(lab) for lab in soft]
        learnt = [self._learnt(planes, bases, is_odd) for is_odd in (False, True)]
        _, sides, is_odd = max(learnt, key=lambda one: one[0])
        self._faces = np.stack(
            [_as_seen(sides, _WAYS[is_odd][tip][turn]) for tip in range(4) for turn in range(3)]
        )

    def fits(self, wholes: Sequence[Whole]) -> list[StandingFit]:
        """The numbers on the short list, best first, by the outline that fits best; `wholes`: as `wholes` tells."""
        best: list[StandingFit] = []
        for whole in wholes:
            found = self._fits(self._plane(_soft(whole.picture)), whole.base)
            if not best or found[0].score > best[0].score:
                best = found
            if best[0].score > _WELL:
                break
        return best

    def _plane(self, soft: Plane) -> Plane:
        return np.ascontiguousarray(soft @ self._axis)

    def _fits(self, plane: Plane, base: Base) -> list[StandingFit]:
        best: dict[int, float] = {}
        for way, score, _ in _laid_anyhow(plane, base, self._faces, _SHORT):
            best[way // 3] = max(score, best.get(way // 3, -1.0))
        return sorted(
            (StandingFit(TEXTS[tip], score) for tip, score in best.items()), key=lambda fit: -fit.score
        )

    def _learnt(
        self, planes: Sequence[Plane], bases: Sequence[Base], is_odd: bool
    ) -> tuple[float, Floats, bool]:
        """(how well the pictures agree, (4, points) the sides, `is_odd`) where the numbers go round this way."""
        every = np.arange(len(planes))
        first = self._views(planes, [_standing(base) for base in bases], is_odd)
        best = (-np.inf, first[0, 0], is_odd)
        for start in _alike(first):
            chosen, score = first[every, start], -np.inf
            for _ in range(_ROUNDS):
                for n, (plane, base) in enumerate(zip(planes, bases, strict=True)):
                    others = _unit(chosen.sum(0) - chosen[n])
                    ways = _WAYS[is_odd][self._tips[n]]
                    wanted = np.stack([_as_seen(others, way) for way in ways])
                    turn, _, lies = max(_laid_anyhow(plane, base, wanted, 3), key=lambda one: one[1])
                    chosen[n] = self._view(plane, lies, ways[turn])
                score = float((chosen.sum(0) ** 2).sum() - (chosen**2).sum())
            if score > best[0]:
                best = (score, _unit(chosen.sum(0)), is_odd)
        return best

    def _view(self, plane: Plane, lying: _Lying, way: Sequence[_Side]) -> Floats:
        """(4, points) what a picture shows of each side, were it turned so."""
        seen, area = _seen(plane, lying)
        view = np.zeros((4, len(_SHARES)))
        for k, side in enumerate(way):
            view[side.face] = (seen[0, k] * np.sqrt(area[0, k]))[_ROLLED[side.shift]]
        return view

    def _views(self, planes: Sequence[Plane], lying: Sequence[_Lying], is_odd: bool) -> Floats:
        """(pictures, 3 turns, 4 sides, points) the same for all pictures."""
        return np.array(
            [
                [self._view(plane, lies, way) for way in _WAYS[is_odd][tip]]
                for plane, lies, tip in zip(planes, lying, self._tips, strict=True)
            ]
        )


def _laid_anyhow(plane: Plane, base: Base, ways: Floats, short: int) -> list[tuple[int, float, _Lying]]:
    """(which, score, where the die stands) of those of `ways` (n, 3, points) that fit best, each laid exactly; of the
    tip nothing is known."""
    count = len(_TIPS) * len(_SIZES)
    tries = _Lying(
        np.full(count, base.middle),
        np.repeat(_SIZES, len(_TIPS)) * base.corner,
        np.tile(_TIPS, len(_SIZES)),
    )
    seen, area = _seen(plane, tries)
    scores = np.einsum("nkp,ckp,nk->nc", seen, ways, area, optimize=True) / area.sum(1)[:, None]
    found = []
    for way in np.argsort(-scores.max(0))[:short].tolist():
        found.append((way, *_laid(plane, tries.at(int(scores[:, way].argmax())), ways[way])))
    return found


def _alike(views: Floats) -> list[NDArray[np.int64]]:
    """(pictures,) turns at which the pictures agree well, the best first."""
    count = len(views)
    flat = views.reshape(count * 3, -1)
    alike = (flat @ flat.T).reshape(count, 3, count, 3)
    alike[np.arange(count), :, np.arange(count)] = 0.0
    every, rng = np.arange(count), np.random.default_rng(1)
    found: dict[tuple[int, ...], float] = {}
    for _ in range(_STARTS):
        turns = rng.integers(0, 3, count)
        for _ in range(_MOST_STEPS):
            before = turns.copy()
            for n in rng.permutation(count).tolist():
                turns[n] = int(alike[n][:, every, turns].sum(1).argmax())
            if (turns == before).all():
                break
        pairs = alike[every, turns][:, every, turns]
        found[tuple(turns.tolist())] = float(pairs.sum())
    return [np.array(turns) for turns in sorted(found, key=lambda turns: -found[turns])[:_TRIED]]


def _laid(plane: Plane, start: _Lying, wanted: Floats) -> tuple[float, _Lying]:
    """(score, where the die stands) when it is moved until its sides fit (3, points) best."""
    lying, best = start, float(_scores(plane, start, wanted)[0])
    for step in _STEPS:
        for _ in range(_MOST_STEPS):
            tries = lying.steps(step)
            scores = _scores(plane, tries, wanted)
            index = int(scores.argmax())
            if scores[index] <= best + 1e-4:
                break
            best, lying = float(scores[index]), tries.at(index)
    return best, lying


def _scores(plane: Plane, lying: _Lying, wanted: Floats) -> Floats:
    seen, area = _seen(plane, lying)
    return np.asarray(((seen * wanted).sum(-1) * area).sum(1) / (area.sum(1) + 1e-9), np.float64)


def _seen(plane: Plane, lying: _Lying) -> tuple[Floats, Floats]:
    """(n, 3, points) ink of the sides, each of length 1, and (n, 3) how much they count."""
    points, area = lying.points()
    level = _sampled(plane, points)
    return _unit(level - (level @ _LIGHT) @ _LIGHT.T), area


def _sampled(plane: Plane, points: NDArray[np.complex128]) -> Floats:
    """The plane (rows, columns[, channels]) at points of any shape (..., k)."""
    flat = points.reshape(-1, points.shape[-1])
    x, y = flat.real.astype(np.float32), flat.imag.astype(np.float32)
    level = cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(level, np.float64).reshape(*points.shape, *plane.shape[2:])


def _as_seen(sides: Floats, seen: Sequence[_Side]) -> Floats:
    """(3, points) of (4, points): those seen, from the tip on."""
    found = np.empty((3, len(_SHARES)))
    for k, side in enumerate(seen):
        found[k, _ROLLED[side.shift]] = sides[side.face]
    return found


def _soft(picture: Frame) -> Plane:
    lab = cv2.cvtColor(picture.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)
    return np.asarray(cv2.GaussianBlur(lab, (0, 0), _SOFT_PX), np.float32)


def _ink_axis(soft: Sequence[Plane], lying: Sequence[_Lying]) -> Plane:
    """(3,) the way in Lab from the body to the ink, which covers the less."""
    level = np.concatenate([_sampled(lab, one.points()[0])[0] for lab, one in zip(soft, lying, strict=True)])
    ink = (level - np.einsum("pq,kqc->kpc", _LIGHT @ _LIGHT.T, level)).reshape(-1, 3)
    axis = np.linalg.eigh(ink.T @ ink)[1][:, -1]
    return np.asarray(axis * np.sign(((ink @ axis) ** 3).mean()), np.float32)


def _unit(level: Floats) -> Floats:
    return np.asarray(level / (np.linalg.norm(level, axis=-1, keepdims=True) + 1e-6), np.float64)
