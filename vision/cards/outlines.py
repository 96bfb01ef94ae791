"""Where cards lie in a picture: the four sides of each, on any plain table, with fingers on them.

What the strong edges of the picture enclose is cut along its contour into straight runs; four of them that make a
card's form are its sides, whatever else (a finger, a die) is joined to it. The sides are then laid exactly on the
edges in the whole picture.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame

Floats = NDArray[np.float64]
Quad = NDArray[np.float64]
"""(4, 2) corners (x, y) in px, clockwise as the picture shows them, the first side short."""

WORK_PX = 1100  # of the picture's long side that is searched
LEAST_SIDE_PX = 24.0  # of a card's short side in the searched picture
_LEAST_LONG_PX = 45.0
_STEPS = (7.0, 16.0, 36.0, 80.0)  # edges of at least this strength, one search each
_STRAIGHT = 0.012  # how far a run may bend, in parts of its contour's size
_LEAST_RUN = 0.13
_LEAST_BORNE = 0.5  # of all four sides must be seen
_LEAST_SIDE_BORNE = 0.2
_PERSPECTIVE = 1.3  # a form may be this much longer or shorter than a card seen from above
_SKEW_DEG = 22.0
_UNEVEN = 0.4  # log of how much longer a side may be than the one across
_CROSSING = 0.8
_THIN = 0.25  # of the square of a card's length: what has less area is none
_LARGEST = 0.45  # of the picture's long side
_MOST_PARTS = 24
_MOST_RUNS = 9
_TOUCHING = 0.1  # of the smaller one: cards that lie side by side overlap by less
_BESIDE, _MOSTLY = 0.04, 0.6  # of a side's length: how near, and how far along, another runs on the same line
_FORMS = 2
_SAMPLES = 48
_OFF_PX = 3.5  # in the searched picture: so far a contour may run beside the edge that it goes round
_APART = 0.1  # of the smaller one's area: what overlaps more is not two cards
_FRAME = 0.45  # of a card's area: what is printed inside of it and is smaller is no frame
_FULL = 0.5  # of its area lie cards in it, so it is none itself
_SMALLER = 0.3
_MUCH_BETTER = 0.2
_CARDLIKE = 0.75


@dataclass(frozen=True)
class Form:
    """What a card may measure. `aspect`: long side over short one; `least`, `most`: long side in px of the picture."""

    aspect: tuple[float, float] = (1.15, 1.85)
    least: float = 0.0
    most: float = np.inf


@dataclass(frozen=True, eq=False)
class Outline:
    """One card in a picture. `borne`: how much of its sides was seen, 0 to 1; `others`: other forms that the same place
    may have, as a frame that is printed on a card, the likeliest first."""

    quad: Quad
    borne: float
    others: tuple[Quad, ...] = ()

    def long_px(self) -> float:
        """The mean length of its long sides."""
        sides = _sides(self.quad)
        return float((sides[1] + sides[3]) / 2)


def find_cards(frame: Frame, form: Form | None = None) -> list[Outline]:
    """The cards in a BGR picture, from the top left on; without `form` of any usual proportion."""
    wanted = form or Form()
    scale = min(1.0, WORK_PX / max(frame.shape[:2]))
    small = (
        frame if scale == 1.0 else cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    )
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)
    dx, dy = _gradient(np.asarray(lab, np.uint8))
    inside = Form(wanted.aspect, max(_LEAST_LONG_PX, wanted.least * scale), wanted.most * scale)
    found: list[Outline] = []
    for step in _STEPS:
        edges = cv2.Canny(dx, dy, step / 2, step, L2gradient=True)
        free = np.asarray(cv2.dilate(edges, np.ones((3, 3), np.uint8)) == 0, np.uint8)
        contours, _ = cv2.findContours(free, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
        found += [
            outline
            for contour in contours
            if (outline := _outline(np.asarray(contour, np.int32), inside, lab.shape[:2]))
        ]
    found = [each for each in found if _is_within(each.quad, small.shape)]
    whole = [_scaled(each, scale) for each in _chosen(found)]
    exact = [_refined(frame, each, _OFF_PX / scale) for each in whole]
    return sorted(exact, key=lambda each: tuple(np.round(each.quad.mean(0)[::-1] / 40)))


def _is_within(quad: Quad, shape: tuple[int, ...]) -> bool:
    """Whether no side lies along the picture's own edge."""
    return not bool((_at_edge(quad, shape).sum(axis=0) > 1).any())


def _at_edge(places: Floats, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """(N, 4) whether places (N, 2) lie at the left, top, right and bottom edge of a picture."""
    height, width = shape[:2]
    x, y = places[:, 0], places[:, 1]
    return np.stack([x < 4, y < 4, x > width - 5, y > height - 5], axis=1)


def _gradient(lab: NDArray[np.uint8]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """At each place the slope of that Lab channel which changes most, (H, W) each."""
    soft = cv2.GaussianBlur(lab, (0, 0), 1.3)
    dx, dy = (cv2.Sobel(soft, cv2.CV_16S, *way) for way in ((1, 0), (0, 1)))
    most = (np.abs(dx) + np.abs(dy)).argmax(axis=2)[..., None]
    across, down = (np.take_along_axis(d, most, 2)[..., 0] for d in (dx, dy))
    return np.ascontiguousarray(across), np.ascontiguousarray(down)


def _outline(contour: NDArray[np.int32], form: Form, shape: tuple[int, ...]) -> Outline | None:
    """The card whose sides are runs of this contour, None where there is none."""
    if len(contour) < 2 * form.least:
        return None
    _, _, width, height = cv2.boundingRect(contour)
    reach = float(np.hypot(width, height))
    if reach < form.least or cv2.contourArea(contour) < _THIN * form.least**2:
        return None
    # What is joined to the picture's edge (the table itself, or a card under a finger) is larger than its card.
    runs = _runs(contour, reach, min(reach, form.most, _LARGEST * max(shape)), shape)
    return _best_quad(runs, form) if runs is not None else None


@dataclass(frozen=True)
class _Runs:
    """Straight runs of a contour: a point on each (N, 2), its direction (N, 2), and what is seen of it along that:
    the parts (M, 2) from and to, and whose each is (M,)."""

    at: Floats
    way: Floats
    parts: Floats
    whose: NDArray[np.int64]


def _runs(contour: NDArray[np.int32], reach: float, card: float, shape: tuple[int, ...]) -> _Runs | None:
    """The longest straight runs of a closed contour (N, 1, 2); runs on one line are one, and the picture's own edge is
    none."""
    bend = max(1.2, _STRAIGHT * card)
    corners = cv2.approxPolyDP(contour, bend, True)[:, 0].astype(np.float64)
    if len(corners) < 4:
        return None
    ways = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(ways[:, 0], ways[:, 1])
    at_edge = _at_edge(corners, shape)
    lengths[(at_edge & np.roll(at_edge, -1, axis=0)).any(axis=1)] = 0.0
    order = np.argsort(-lengths)[:_MOST_PARTS]
    order = order[lengths[order] >= min(_LEAST_RUN * card, 0.6 * reach) / 2]
    at, way, parts, whose = list[Floats](), list[Floats](), list[tuple[float, float]](), list[int]()
    for k in order:
        start, end, one = corners[k], corners[k] + ways[k], ways[k] / lengths[k]
        middle, mine = (start + end) / 2, -1
        for n, (point, other) in enumerate(zip(at, way, strict=True)):
            off = other[0] * (middle[1] - point[1]) - other[1] * (middle[0] - point[0])
            if abs(off) < 2 * bend and abs(one @ other) > 0.985:
                mine = n
                break
        if mine < 0:
            mine = len(at)
            at.append(start)
            way.append(one)
        ends = sorted((float((start - at[mine]) @ way[mine]), float((end - at[mine]) @ way[mine])))
        parts.append((ends[0], ends[1]))
        whose.append(mine)
    if len(at) < 4:
        return None
    few = [n for n in range(len(whose)) if whose[n] < _MOST_RUNS]
    return _Runs(
        np.array(at[:_MOST_RUNS]), np.array(way[:_MOST_RUNS]), np.array(parts)[few], np.array(whose)[few]
    )


@lru_cache(maxsize=16)
def _fours(count: int) -> NDArray[np.int64]:
    """(K, 4) all ways to choose two pairs of opposite sides of `count` lines, in the order of the sides."""
    found = [
        (one, third, other, fourth)
        for one, other in itertools.combinations(range(count), 2)
        for third, fourth in itertools.combinations(range(count), 2)
        if one < third and len({one, other, third, fourth}) == 4
    ]
    return np.array(found, np.int64).reshape(-1, 4)


def _best_quad(runs: _Runs, form: Form) -> Outline | None:
    """The best card that four of the lines make, None where they make none."""
    count = len(runs.at)
    along = np.abs(runs.way @ runs.way.T)
    fours = _fours(count)
    limit = np.cos(np.radians(_SKEW_DEG))
    fours = fours[(along[fours[:, 0], fours[:, 2]] > limit) & (along[fours[:, 1], fours[:, 3]] > limit)
                  & (along[fours[:, 0], fours[:, 1]] < _CROSSING)]  # fmt: skip
    if not len(fours):
        return None
    crossings = _crossings(runs.at, runs.way)
    quads = np.stack([crossings[fours[:, k - 1], fours[:, k]] for k in range(4)], axis=1)
    edges = np.roll(quads, -1, axis=1) - quads
    sides = np.hypot(edges[..., 0], edges[..., 1])
    turns = np.roll(edges, 1, axis=1)
    cross = turns[..., 0] * edges[..., 1] - turns[..., 1] * edges[..., 0]
    pairs = np.stack([sides[:, 0] + sides[:, 2], sides[:, 1] + sides[:, 3]], 1) / 2
    long, short = pairs.max(1), np.maximum(pairs.min(1), 1e-6)
    low, high = form.aspect
    uneven = np.abs(np.log(np.maximum(sides[:, :2], 1e-6) / np.maximum(sides[:, 2:], 1e-6))).max(1)
    is_card = (
        (np.abs(np.sign(cross).sum(1)) == 4)
        & (short > LEAST_SIDE_PX)
        & (long / short >= low / _PERSPECTIVE)
        & (long / short <= high * _PERSPECTIVE)
        & (long >= form.least)
        & (long <= form.most)
        & (uneven < _UNEVEN)
    )
    fours, quads, sides = fours[is_card], quads[is_card], sides[is_card]
    if not len(fours):
        return None
    borne = np.stack(
        [_borne(runs, fours[:, k], quads[:, k], quads[:, (k + 1) % 4]) for k in range(4)], axis=1
    )
    mean = (borne * sides).sum(1) / sides.sum(1)
    mean[borne.min(1) < _LEAST_SIDE_BORNE] = 0.0
    area = np.prod([(sides[:, 0] + sides[:, 2]) / 2, (sides[:, 1] + sides[:, 3]) / 2], axis=0)
    best = int((mean * area**0.1).argmax())
    if mean[best] < _LEAST_BORNE:
        return None
    return Outline(_ordered(quads[best]), float(mean[best]))


def _borne(runs: _Runs, line: NDArray[np.int64], start: Floats, end: Floats) -> Floats:
    """How much of the sides from `start` to `end` (K, 2), which lie on the lines `line` (K,), is seen, (K,)."""
    at, way = runs.at[line], runs.way[line]
    ends = np.stack([((start - at) * way).sum(1), ((end - at) * way).sum(1)])
    first, last = ends.min(0), ends.max(0)
    shared = np.minimum(last[:, None], runs.parts[:, 1]) - np.maximum(first[:, None], runs.parts[:, 0])
    mine = runs.whose[None, :] == line[:, None]
    seen = (np.maximum(shared, 0) * mine).sum(1) / np.maximum(last - first, 1e-6)
    return np.asarray(np.minimum(1.0, seen), np.float64)


def _crossings(at: Floats, way: Floats) -> Floats:
    """(N, N, 2) where the lines cross; far away where they are parallel."""
    cross = way[:, None, 0] * way[None, :, 1] - way[:, None, 1] * way[None, :, 0]
    safe = np.where(np.abs(cross) < 1e-3, 1e-3, cross)
    apart = at[None, :] - at[:, None]
    along = (apart[..., 0] * way[None, :, 1] - apart[..., 1] * way[None, :, 0]) / safe
    return np.asarray(at[:, None] + along[..., None] * way[:, None], np.float64)


def _sides(quad: Quad) -> Floats:
    return np.asarray(np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1), np.float64)


def _ordered(quad: Quad) -> Quad:
    """Clockwise in the picture, the first side one of the short ones, the one nearer to the top."""
    area = float(np.sum(quad[:, 0] * np.roll(quad[:, 1], -1) - np.roll(quad[:, 0], -1) * quad[:, 1]))
    turned = quad if area > 0 else quad[::-1]
    sides = _sides(turned)
    first = 0 if sides[0] + sides[2] <= sides[1] + sides[3] else 1
    there = [np.roll(turned, -k, axis=0) for k in (first, first + 2)]
    return min(there, key=lambda each: float(each[0, 1] + each[1, 1]))


def _chosen(found: Sequence[Outline]) -> list[Outline]:
    """One outline a card: the outermost, for frames are printed inside of cards; but not what holds several cards, nor
    what is seen much worse than another that it overlaps."""
    ranked = sorted(found, key=_area, reverse=True)
    kept: list[Outline] = []
    for n, each in enumerate(ranked):
        if any(_overlap(each.quad, other.quad) > _APART for other in kept):
            continue
        rivals = [other for other in ranked[n + 1 :] if _overlap(each.quad, other.quad) > _APART]
        if any(_reaches_over(each, other, ranked) for other in rivals):
            continue
        if any(
            other.borne > each.borne + _MUCH_BETTER and _area(other) > _FRAME * _area(each)
            for other in rivals
        ):
            continue
        within = [
            other for other in rivals if _area(other) < _FRAME * _area(each) and other.borne > _CARDLIKE
        ]
        if _shared_area(within) < _FULL * _area(each):
            kept.append(replace(each, others=_other_forms(each, ranked)))
    return _alike_in_size(kept)


def _reaches_over(outline: Outline, rival: Outline, found: Sequence[Outline]) -> bool:
    """Whether it has three of its sides in common with a smaller one, and took a neighbour's side for the fourth."""
    if rival.borne < outline.borne - _MUCH_BETTER:
        return False
    own = [k for k in range(4) if not _has_side(rival, outline, k)]
    return len(own) == 1 and any(
        _overlap(outline.quad, other.quad) < _TOUCHING and _has_side(other, outline, own[0])
        for other in found
    )


def _has_side(outline: Outline, of: Outline, k: int) -> bool:
    """Whether one of its sides lies along side `k` of the other, for most of its length."""
    start, end = of.quad[k], of.quad[(k + 1) % 4]
    length = float(np.linalg.norm(end - start))
    way = (end - start) / length
    off = (outline.quad - start) @ np.array((-way[1], way[0]))
    along = (outline.quad - start) @ way
    for one, other in ((0, 1), (1, 2), (2, 3), (3, 0)):
        if max(abs(off[one]), abs(off[other])) < _BESIDE * length:
            ends = sorted((along[one], along[other]))
            if min(ends[1], length) - max(ends[0], 0.0) > _MOSTLY * length:
                return True
    return False


def _other_forms(outline: Outline, found: Sequence[Outline]) -> tuple[Quad, ...]:
    """What else was seen about where this card lies, and is clearly another form, the best seen first."""
    forms: list[Quad] = []
    for each in sorted(found, key=lambda one: -one.borne):
        is_about = _overlap(each.quad, outline.quad) > 0.8 and _area(each) > _FRAME * _area(outline)
        if is_about and all(_off(each.quad, form) > 0.03 for form in (outline.quad, *forms)):
            forms.append(each.quad)
    return tuple(forms[:_FORMS])


def _off(one: Quad, other: Quad) -> float:
    """The most that a corner is off, in lengths of the long side."""
    apart = min(float(np.linalg.norm(np.roll(one, k, axis=0) - other, axis=1).max()) for k in range(4))
    return apart / float(_sides(other).max())


def _scaled(outline: Outline, scale: float) -> Outline:
    """An outline of the searched picture in px of the whole one."""
    quad, *others = ((quad + 0.5) / scale - 0.5 for quad in (outline.quad, *outline.others))
    return Outline(quad, outline.borne, tuple(others))


def _shared_area(outlines: Sequence[Outline]) -> float:
    """The area of as many of them as lie apart from each other."""
    apart: list[Outline] = []
    for each in outlines:
        if all(_overlap(each.quad, other.quad) < _APART for other in apart):
            apart.append(each)
    return sum(map(_area, apart)) if len(apart) > 1 else 0.0


def _alike_in_size(outlines: Sequence[Outline]) -> list[Outline]:
    """Without what is much smaller than most of what was found: cards of a table are of one size."""
    areas = sorted(map(_area, outlines))
    if not areas:
        return []
    usual = areas[int(np.searchsorted(np.cumsum(areas), sum(areas) / 2))]
    return [each for each in outlines if _area(each) > _SMALLER * usual]


def _area(outline: Outline) -> float:
    return float(cv2.contourArea(outline.quad.astype(np.float32)))


def _overlap(one: Quad, other: Quad) -> float:
    """The common area as a part of the smaller one's."""
    shared, _ = cv2.intersectConvexConvex(one.astype(np.float32), other.astype(np.float32))
    areas = [cv2.contourArea(each.astype(np.float32)) for each in (one, other)]
    return float(shared) / max(1e-6, min(areas))


def _refined(frame: Frame, outline: Outline, reach: float) -> Outline:
    """The same card with each side on the edge, at most `reach` px away, that most of it is nearest to."""
    quad = outline.quad
    for _ in range(2):
        lines = [_edge_line(frame, quad[k], quad[(k + 1) % 4], reach) for k in range(4)]
        crossings = _crossings(np.array([at for at, _ in lines]), np.array([way for _, way in lines]))
        again = np.array([crossings[k - 1, k] for k in range(4)])
        if np.abs(again - quad).max() > 3 * reach:
            return outline
        quad, reach = again, max(1.5, reach / 2)
    return replace(outline, quad=quad)


def _edge_line(frame: Frame, start: Floats, end: Floats, reach: float) -> tuple[Floats, Floats]:
    """(a point, a direction) of the edge near the line from `start` to `end`, in px of the whole picture."""
    way = (end - start) / np.linalg.norm(end - start)
    out = np.array((way[1], -way[0]))
    along = np.linspace(0.1, 0.9, _SAMPLES)
    steps = np.arange(-np.ceil(reach) - 1, np.ceil(reach) + 2, 0.5)
    places = start + (end - start) * along[:, None]
    grid = (places[:, None] + out * steps[None, :, None]).astype(np.float32)
    levels = cv2.remap(
        frame, grid[..., 0], grid[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    ).astype(np.float32)
    soft = cv2.GaussianBlur(levels, (5, 1), 1.2)
    slope = np.abs(soft[:, 2:] - soft[:, :-2]).sum(2)
    best = slope.argmax(axis=1)
    shift, weight = steps[1:-1][best], slope[np.arange(_SAMPLES), best]
    weight = weight / (weight + 6.0)
    x, line = along - 0.5, np.array((0.0, float(np.average(shift, weights=weight))))
    line[1] = float(_weighted_median(shift, weight))
    for width in (0.6 * reach, 0.35 * reach, max(0.8, 0.2 * reach)):
        off = shift - (line[0] * x + line[1])
        w = weight / (1 + (off / width) ** 2) ** 2
        system = np.stack([x, np.ones_like(x)], 1)
        line = np.linalg.lstsq(system * np.sqrt(w)[:, None], shift * np.sqrt(w), rcond=None)[0]
    ends = [start + (end - start) * (t + 0.5) + out * (line[0] * t + line[1]) for t in (-0.4, 0.4)]
    turned = ends[1] - ends[0]
    return ends[0], np.asarray(turned / np.linalg.norm(turned), np.float64)


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values)
    share = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(share, share[-1] / 2)])
