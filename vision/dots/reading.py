"""Counting white dots that lie on coloured shapes of dark cards, on any table, without markers or calibration.

A dot is a bright disc in a ring of one strong colour. Its own white is the white that its ring is balanced by, so a
lamp's cast falls out; its size is that of the other dots. What is a dot and not a number in a badge, a corner of white
lines or a dot that a card covers by more than half, a network of ours says (`vision.dots.judging`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dots.hindrances import hindrances
from vision.dots.judging import cut, dot_judge
from vision.frame import Frame

LONGEST_PX = 2400
SMALLEST_RADIUS_PX = 3.0
_CONTRAST = 22.0  # levels by which a dot is brighter than what lies around it
_LIKE_A_DISC = 0.46  # correlation with a disc, from which something may be a dot
_SURELY_A_DISC = 0.94  # and from which it tells the size of all
_OFF_WHITE = 0.285  # shares of the brightest colour by which a dot's white may differ from the others'
_RING = (1.35, 1.95)  # radii between which the colour around a dot is looked at
_STRONG = (0.34, 0.16)  # saturation of a colour, from 0 to 1; of one that the sun has burnt out
_MUCH = 0.2  # share of the ring that must bear it
_ONE_HUE_DEG = 15.0
_COUNTS = 0.5  # confidence from which a dot is counted
_ODD = 0.12  # from which something is told as what may be one
_DOUBTED = 0.85
_CLIPPED = 247.0  # level from which a camera may have clipped
_USUAL_LIGHT, _USUAL_CHROMA = 52.0, 62.0  # of an ink that is seen only where it is burnt out
_PER_CHROMA, _PER_LIGHT = 0.15, 0.1  # degrees of hue that a burnt ink's chroma and lightness count like
_GAINS = np.linspace(1.0, 3.0, 21)
_FEW = 5  # fewer dots than these are hardly a table
_NEAR_HUES_DEG = 14.0
_MOST_SHIFT_DEG, _SHIFT_COST, _MANY_SEEN = 16, 0.25, 12
_ONE_INK_DEG = 7.0  # hues farther apart than this are of two inks, or of one that the sun has burnt out
_ONE_FOR_TWO_COST = 4.0

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Dot:
    """One dot: centre (x, y) and radius in px of the frame. `confidence`: how likely more than half of it shows."""

    colour: str
    xy_px: tuple[float, float]
    radius_px: float
    confidence: float


@dataclass(frozen=True)
class DotsRead:
    """What one picture shows. `flags`: no_dots, few_dots, no_cards, other_cards, hand, glare, too_small,
    partly_covered, colours_near, too_dark."""

    dots: tuple[Dot, ...]
    flags: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many dots of each colour are sure enough to count, the most first."""
        found: dict[str, int] = {}
        for dot in self.dots:
            if dot.confidence >= _COUNTS:
                found[dot.colour] = found.get(dot.colour, 0) + 1
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True)
class _Spot:
    """Something like a dot: `chance` that more than half of one shows, `part` that a part of one does; `hue` in degrees
    around it; `white`, its own BGR, 1 the brightest; `ink`, BGR around it, 255 the camera's brightest; `is_burnt`: so
    bright there that hues are not what they are."""

    x: float
    y: float
    chance: float
    part: float
    hue: float
    white: tuple[float, ...]
    ink: tuple[float, ...]
    is_burnt: bool


def read_dots(frame: Frame, hues: Mapping[str, float]) -> DotsRead:
    """The dots in `frame` (uint8 BGR (rows, columns, 3)), from the top left.

    `hues`: each colour that dots may lie on, with its hue angle in Lab in degrees where a dot is white. A dot of which
    about half shows is told either way, with the flag partly_covered. Rule: TACTA-15
    """
    rows, columns = frame.shape[:2]
    scale = min(1.0, LONGEST_PX / max(rows, columns))
    size = (round(columns * scale), round(rows * scale))
    small = (
        np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8) if scale < 1 else frame
    )
    places, radius = places_of(small)
    if radius is None:
        return DotsRead((), ("no_dots",))
    kept = _apart(_spots(small, places, radius), radius)
    kept = _as_white(kept)
    named, are_near = _named([spot.hue for spot in kept if not spot.is_burnt], hues)
    named = _with_burnt(kept, named, hues)
    dots = tuple(
        Dot(
            colour,
            (round(float(spot.x / scale), 1), round(float(spot.y / scale), 1)),
            round(radius / scale, 1),
            round(spot.chance, 3),
        )
        for spot, colour in zip(kept, named, strict=True)
    )
    flags = []
    if not dots:
        flags.append("no_dots")
    if radius < SMALLEST_RADIUS_PX:
        flags.append("too_small")
    if any(spot.chance < _DOUBTED for spot in kept):
        flags.append("partly_covered")
    if are_near:
        flags.append("colours_near")
    counted = [spot for spot in kept if spot.chance >= _COUNTS]
    if 0 < len(counted) < _FEW:
        flags.append("few_dots")
    elif counted:
        own = [_own_white(small, (spot.x, spot.y), radius) for spot in counted]
        white = np.asarray(np.median(np.array(own), axis=0), np.float32)
        flags += hindrances(small, [(spot.x, spot.y) for spot in counted], radius, white)
    if float(np.percentile(small[::8, ::8].min(axis=2), 99.5)) < 70:
        flags.append("too_dark")
    return DotsRead(tuple(sorted(dots, key=lambda dot: (dot.xy_px[1], dot.xy_px[0]))), tuple(flags))


def places_of(frame: Frame) -> tuple[list[tuple[float, float]], float | None]:
    """(the places in px of `frame` that look like dots, a dot's radius in px), as `read_dots` sees them in a picture
    that it need not shrink."""
    white = np.asarray(frame.min(axis=2), np.uint8)
    radius = _usual_radius(white)
    return ([] if radius is None else _places(white, radius)), radius


def _usual_radius(white: NDArray[np.uint8]) -> float | None:
    """The radius in px of most round bright blobs; None when there are hardly any."""
    longest = max(white.shape)
    window = round(longest / 60) | 1
    bright = white.astype(np.int16) - cv2.blur(white, (window, window)).astype(np.int16) > _CONTRAST
    boxes, centres = cv2.connectedComponentsWithStats(bright.astype(np.uint8), connectivity=4)[2:4]
    found = []
    for (_, _, width, height, area), (x, y) in zip(boxes[1:], centres[1:], strict=True):
        if area < 9 or max(width, height) > longest / 40 or not 0.7 < width / height < 1.4:
            continue
        radius = float(np.sqrt(area / np.pi))
        if _disc_likeness(white, (float(x), float(y)), radius) > _SURELY_A_DISC:
            found.append(radius)
    return float(np.median(found)) if len(found) >= 2 else None


def _patch(picture: NDArray[np.uint8], place: tuple[float, float], half: int) -> Floats:
    return np.asarray(cv2.getRectSubPix(picture, (2 * half + 1, 2 * half + 1), place), np.float32)


def _distances(half: int) -> Floats:
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    return np.asarray(np.hypot(x, y), np.float32)


def _disc(distances: Floats, radius: float) -> Floats:
    """1 inside a disc, 0 outside, with an edge as soft as a camera's."""
    return np.asarray(1.0 / (1.0 + np.exp((distances - radius) / 0.6)), np.float32)


def _disc_likeness(white: NDArray[np.uint8], place: tuple[float, float], radius: float) -> float:
    """Correlation, -1 to 1, of the place with the disc of about this radius that fits best."""
    half = int(np.ceil(radius * 2.2))
    patch, distances = _patch(white, place, half), _distances(half)
    best = -1.0
    for size in (0.9, 1.05, 1.2):
        near = distances < radius * size * 1.7
        mine, disc = patch[near], _disc(distances, radius * size)[near]
        best = max(best, _correlation(mine, disc))
    return best


def _correlation(one: Floats, other: Floats) -> float:
    a, b = one - one.mean(), other - other.mean()
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum() + 1e-6))


def _places(white: NDArray[np.uint8], radius: float) -> list[tuple[float, float]]:
    """Where the picture looks most like a disc of the usual size, also where it merges with a line."""
    half = int(np.ceil(radius * 1.6))
    if min(white.shape) <= 2 * half:
        return []
    template = _disc(_distances(half), radius * 1.05)
    likeness = cv2.matchTemplate(white.astype(np.float32), template, cv2.TM_CCOEFF_NORMED)
    around = np.ones((2 * round(radius) + 1,) * 2, np.uint8)
    window = 4 * half + 1
    stands_out = white.astype(np.int16) - cv2.blur(white, (window, window)).astype(np.int16) > _CONTRAST
    peaks = (likeness >= cv2.dilate(likeness, around)) & (likeness > _LIKE_A_DISC)
    peaks &= cv2.dilate(stands_out.astype(np.uint8), np.ones((3, 3), np.uint8))[half:-half, half:-half] > 0
    rows, columns = np.nonzero(peaks)
    return [(float(x + half), float(y + half)) for y, x in zip(rows, columns, strict=True)]


def _spots(frame: Frame, places: Sequence[tuple[float, float]], radius: float) -> list[_Spot]:
    """What may be a dot, with the strong colour around it."""
    white = np.asarray(frame.min(axis=2), np.uint8)
    said = dot_judge().judge(cut(frame, places, radius))
    found = []
    for place, (chance, part) in zip(places, said.tolist(), strict=True):
        if chance < _COUNTS and (chance < _ODD or part < _COUNTS):
            continue
        middle = _centred(white, place, radius)
        own = _own_white(frame, middle, radius)
        around = _ink_around(frame, middle, radius, own)
        if around is not None:
            hue, ink = around
            is_burnt = float(ink.max()) > _CLIPPED and float(own.min()) > _CLIPPED - 10
            white_here = tuple((own / own.max()).tolist())
            found.append(_Spot(*middle, chance, part, hue, white_here, tuple(ink.tolist()), is_burnt))
    return found


def _own_white(frame: Frame, place: tuple[float, float], radius: float) -> Floats:
    """BGR of what is bright at a place."""
    half = int(np.ceil(radius))
    inside = _patch(frame, place, half)[_distances(half) < radius]
    return np.asarray(np.percentile(inside, 80, axis=0) + 1.0, np.float32)


def _ink_around(
    frame: Frame, place: tuple[float, float], radius: float, own: Floats
) -> tuple[float, Floats] | None:
    """(hue by the place's own white, (3,) BGR) of most of the ring around a place; None where no colour is strong."""
    half = int(np.ceil(radius * _RING[1])) + 1
    distances = _distances(half)
    ring = (distances > _RING[0] * radius) & (distances < _RING[1] * radius)
    levels = _patch(frame, place, half)[ring]
    around = np.clip(levels / own, 0, 1.2)
    saturation = (around.max(1) - around.min(1)) / np.maximum(around.max(1), 1e-3)
    for least in _STRONG:
        strong = (saturation > least) & (around.max(1) > 0.18)
        if strong.sum() >= _MUCH * len(around):
            hues = _hue_deg(around[strong])
            alike = np.abs(_turn(hues[:, None] - hues[None])) < _ONE_HUE_DEG
            most = alike[alike.sum(1).argmax()]
            return _middle_hue(hues[most]), np.asarray(np.median(levels[strong][most], axis=0), np.float32)
    return None


def _as_white(spots: Sequence[_Spot]) -> list[_Spot]:
    """Those that are white as most are, give or take ink that is blurred into them; other discs belong to the table."""
    if not spots:
        return []
    usual = np.median(np.array([spot.white for spot in spots]), axis=0)
    return [spot for spot in spots if np.abs(np.array(spot.white) - usual).max() < _OFF_WHITE]


def _centred(white: NDArray[np.uint8], place: tuple[float, float], radius: float) -> tuple[float, float]:
    """The middle of what is bright within a dot's reach of a place."""
    half = int(np.ceil(radius * 1.2))
    patch, distances = _patch(white, place, half), _distances(half)
    weight = np.clip(patch - 0.5 * (patch.max() + patch.min()), 0, None) * (distances < 1.25 * radius)
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    whole = float(weight.sum()) + 1e-6
    return place[0] + float((weight * x).sum()) / whole, place[1] + float((weight * y).sum()) / whole


def _hue_deg(levels: Floats) -> Floats:
    lab = cv2.cvtColor(np.clip(levels, 0, 1)[None].astype(np.float32), cv2.COLOR_BGR2LAB)[0]
    return np.asarray(np.degrees(np.arctan2(lab[:, 2], lab[:, 1])), np.float32)


def _turn(degrees: Floats) -> Floats:
    """The same angles in [-180, 180)."""
    return np.asarray((degrees + 180.0) % 360.0 - 180.0, np.float32)


def _middle_hue(hues: Floats) -> float:
    """The median hue, taken around the mean direction."""
    mean = np.degrees(np.arctan2(np.sin(np.radians(hues)).mean(), np.cos(np.radians(hues)).mean()))
    return float((mean + np.median(_turn(hues - np.float32(mean)))) % 360.0)


def _apart(spots: Sequence[_Spot], radius: float) -> list[_Spot]:
    """The likeliest of what lies on one place."""
    kept: list[_Spot] = []
    for spot in sorted(spots, key=lambda each: -each.chance):
        if all(np.hypot(spot.x - other.x, spot.y - other.y) > 1.6 * radius for other in kept):
            kept.append(spot)
    return kept


def _clusters(seen: Floats) -> list[Floats]:
    """The hues that were seen, split where the circle shows a gap."""
    order = np.sort(seen % 360.0)
    gaps = np.diff(order, append=order[0] + 360.0)
    first = int(gaps.argmax()) + 1
    around = np.concatenate([order[first:], order[:first] + 360.0])
    return np.split(around, np.nonzero(np.diff(around) > _ONE_INK_DEG)[0] + 1)


def _common_shift(clusters: Sequence[Floats], wanted: Floats) -> np.float32:
    """By how many degrees all hues are turned, as a camera may do: the smallest turn that explains what was seen, and
    takes no two inks for one."""
    middles = np.array([np.median(cluster) for cluster in clusters], np.float32)
    counts = np.array([len(cluster) for cluster in clusters], np.float32)
    if counts.sum() < _MANY_SEEN:
        return np.float32(0.0)
    is_ink = counts > max(2.0, 0.03 * float(counts.sum()))
    best, shift = np.inf, np.float32(0.0)
    for turn in range(-_MOST_SHIFT_DEG, _MOST_SHIFT_DEG + 1, 2):
        far = np.abs(_turn(middles[:, None] - wanted[None] - np.float32(turn)))
        names = far.argmin(axis=1)[is_ink]
        taken_for_one = len(names) - len(set(names.tolist()))
        off = float((np.minimum(far.min(axis=1), 30.0) * counts).sum() / counts.sum())
        cost = off + _SHIFT_COST * abs(turn) + _ONE_FOR_TWO_COST * taken_for_one
        if cost < best:
            best, shift = cost, np.float32(turn)
    return shift


def _named(seen: Sequence[float], hues: Mapping[str, float]) -> tuple[list[str], bool]:
    """A colour name for each hue that was seen, and whether two colours in play nearly merge."""
    if not seen:
        return [], False
    names = list(hues)
    wanted = np.array([hues[name] for name in names], np.float32)
    clusters = _clusters(np.asarray(seen, np.float32))
    shift = _common_shift(clusters, wanted)
    inks = [
        (float(np.median(cluster)), names[int(np.abs(_turn(wanted + shift - np.median(cluster))).argmin())])
        for cluster in clusters
    ]
    middles = np.array([middle for middle, _ in inks], np.float32)
    found = [inks[int(np.abs(_turn(middles - np.float32(hue))).argmin())][1] for hue in seen]
    listed = sorted(
        _middle_hue(np.array([h for h, f in zip(seen, found, strict=True) if f == name], np.float32))
        for name in set(found)
    )
    gaps = [b - a for a, b in zip(listed, [*listed[1:], listed[0] + 360.0], strict=True)]
    return found, len(listed) > 1 and min(gaps) < _NEAR_HUES_DEG


def _with_burnt(spots: Sequence[_Spot], named: Sequence[str], hues: Mapping[str, float]) -> list[str]:
    """The names of all spots, where `named` are those of the ones that are not burnt out. What an ink looks like under
    more light than the camera holds is worked out from how it looks elsewhere: orange turns yellow, blue turns cyan."""
    clear = [spot for spot in spots if not spot.is_burnt]
    inks = {name: _usual_ink(hue) for name, hue in hues.items()}
    for name in set(named):
        own = [
            np.array(s.ink) / (np.array(s.white) * 255.0)
            for s, n in zip(clear, named, strict=True)
            if n == name
        ]
        inks[name] = np.median(np.array(own), axis=0) / max(float(np.median([v.max() for v in own])), 1e-3)
    names, rest = list(inks), iter(named)
    looks = np.stack([np.clip(np.outer(_GAINS, inks[name]), 0, 1) for name in names]).astype(np.float32)
    lab = cv2.cvtColor(looks, cv2.COLOR_BGR2LAB)
    found = []
    for spot in spots:
        if not spot.is_burnt:
            found.append(next(rest))
            continue
        seen = cv2.cvtColor(np.array([[spot.ink]], np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)[0, 0]
        turned = np.abs(
            _turn(np.degrees(np.arctan2(lab[..., 2], lab[..., 1]) - np.arctan2(seen[2], seen[1])))
        )
        duller = np.abs(np.hypot(lab[..., 1], lab[..., 2]) - np.hypot(seen[1], seen[2]))
        off = (turned + _PER_CHROMA * duller + _PER_LIGHT * np.abs(lab[..., 0] - seen[0])).min(axis=1)
        found.append(names[int(off.argmin())])
    return found


def _usual_ink(hue: float) -> NDArray[np.float64]:
    """(3,) BGR of a printed ink of this hue, its brightest 1."""
    turn = np.radians(hue)
    lab = np.array([[(_USUAL_LIGHT, _USUAL_CHROMA * np.cos(turn), _USUAL_CHROMA * np.sin(turn))]], np.float32)
    bgr = np.clip(cv2.cvtColor(lab, cv2.COLOR_LAB2BGR)[0, 0], 0.02, 1).astype(np.float64)
    return np.asarray(bgr / bgr.max(), np.float64)
