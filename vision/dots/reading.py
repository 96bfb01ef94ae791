"""Counting white dots that lie on coloured shapes of dark cards, on any table, without markers or calibration.

A dot is a bright disc in a ring of one strong colour. Its own white is the white that its ring is balanced by, so a
lamp's cast falls out; its size is that of the other dots. White numbers in coloured badges are told from dots by their
form and by the dark card around the badge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame

LONGEST_PX = 2400
SMALLEST_RADIUS_PX = 3.0
_CONTRAST = 22.0  # levels by which a dot is brighter than what lies around it
_LIKE_A_DISC = 0.56  # correlation with a disc, from which something may be a dot
_SURELY_A_DISC = 0.94  # and from which it is none of the numbers in a badge
_A_DISC_BY_LINES = 0.87  # the same where white lines of a shape are near, which blur into it
_RING = (1.35, 1.95)  # radii between which the colour around a dot is looked at
_LINES = (1.9, 4.3)  # and the white lines of a shape, which a badge has not
_BEYOND = (2.5, 3.2)  # radii between which shapes bear their colour and badges have ended
_DARK = 0.3  # of a dot's white: a card's ground is darker
_DARK_AFAR = 0.45  # as _DARK, also where a lamp shines on the card
_WHOLLY_A_DISC, _A_PATTERN = 0.9965, 5  # so many discs without a card's ground near are a cloth's pattern
_GROUND, _SOME_GROUND = 7.0, 0.003  # within so many radii the card's own ground shows, on so much at least
_NEARLY_A_DISC, _SOME_DARK = 0.95, 0.03
_BADGE_ENDS, _BADGE_IN_THE_DARK = 0.33, 0.7
"""A number in a badge: so little of the wider ring bears its colour, and so much around it is the card's ground."""
_SOME_LINES = 0.05  # share of that which a line covers at least
_SAME_HUE_DEG = 26.0
_STRONG = 0.34  # saturation of a colour, from 0 to 1
_MOSTLY = 0.6  # share of the ring that must bear the colour
_PARTLY = (0.5, 0.62)  # the same where another card lies over a part of the dot
_COUNTS = 0.5  # confidence from which a dot is counted
_NEAR_HUES_DEG = 14.0
_MOST_SHIFT_DEG, _SHIFT_COST, _MANY_SEEN = 16, 0.25, 12

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Dot:
    """One dot: centre (x, y) and radius in px of the frame. `shown`: which share of it shows, 0 to 1."""

    colour: str
    xy_px: tuple[float, float]
    radius_px: float
    confidence: float
    shown: float = 1.0


@dataclass(frozen=True)
class DotsRead:
    """What one picture shows. `flags`: no_dots, too_small, partly_covered, colours_near, too_dark."""

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
    """Something like a dot: `like`, correlation with a disc; `hue` in degrees; `ring`, share of the ring that
    bears it; `lines`, share around it that is white; `beyond`, share of a wider ring that bears the same hue; `dark`,
    share around it that is the card's own ground; `ground`, the same farther around."""

    x: float
    y: float
    like: float
    hue: float
    ring: float
    lines: float
    shown: float
    beyond: float
    dark: float
    ground: float


def read_dots(frame: Frame, hues: Mapping[str, float]) -> DotsRead:
    """The dots in `frame` (uint8 BGR (rows, columns, 3)), from the top left.

    `hues`: each colour that dots may lie on, with its hue angle in Lab in degrees where a dot is white.
    """
    rows, columns = frame.shape[:2]
    scale = min(1.0, LONGEST_PX / max(rows, columns))
    size = (round(columns * scale), round(rows * scale))
    small = (
        np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8) if scale < 1 else frame
    )
    white = np.asarray(small.min(axis=2), np.uint8)
    radius = _usual_radius(white)
    if radius is None:
        return DotsRead((), ("no_dots",))
    spots = [_look(small, white, place, radius) for place in _places(white, radius)]
    kept = _apart(
        [spot for spot in spots if spot is not None and (_is_whole(spot) or _is_part(spot))], radius
    )
    afield = [spot for spot in kept if spot.ground < _SOME_GROUND and spot.like < _WHOLLY_A_DISC]
    if len(afield) >= _A_PATTERN:
        kept = [spot for spot in kept if spot not in afield]
    named, are_near = _named([spot.hue for spot in kept], hues)
    dots = tuple(
        Dot(
            colour,
            (round(float(spot.x / scale), 1), round(float(spot.y / scale), 1)),
            round(radius / scale, 1),
            round(_confidence(spot), 3),
            round(spot.shown, 2) if _is_part(spot) else 1.0,
        )
        for spot, colour in zip(kept, named, strict=True)
    )
    flags = []
    if not dots:
        flags.append("no_dots")
    if radius < SMALLEST_RADIUS_PX:
        flags.append("too_small")
    if any(dot.confidence < _COUNTS for dot in dots):
        flags.append("partly_covered")
    if are_near:
        flags.append("colours_near")
    if float(np.percentile(white[::8, ::8], 99.5)) < 70:
        flags.append("too_dark")
    return DotsRead(tuple(sorted(dots, key=lambda dot: (dot.xy_px[1], dot.xy_px[0]))), tuple(flags))


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


def _look(frame: Frame, white: NDArray[np.uint8], place: tuple[float, float], radius: float) -> _Spot | None:
    """What lies at and around a place; None where no strong colour is around something bright."""
    place = _centred(white, place, radius)
    half = int(np.ceil(radius * _LINES[1])) + 1
    patch, distances = _patch(frame, place, half), _distances(half)
    own = np.median(patch[distances < 0.6 * radius], axis=0) + 1.0
    levels = patch / own
    ring = (distances > _RING[0] * radius) & (distances < _RING[1] * radius)
    around = np.clip(levels[ring], 0, 1.2)
    strong = (around.max(1) - around.min(1)) / np.maximum(around.max(1), 1e-3) > _STRONG
    strong &= around.max(1) > 0.18
    if strong.sum() < 0.2 * len(around):
        return None
    hues = _hue_deg(around)
    hue = _middle_hue(hues[strong])
    bears = strong & (np.abs(_turn(hues - hue)) < _SAME_HUE_DEG)
    if float(own.min()) < _CONTRAST + float(
        np.median(around[bears].min(1) * own.min() if bears.any() else [0.0])
    ):
        return None
    far = (distances > _LINES[0] * radius) & (distances < _LINES[1] * radius)
    inner = levels.min(2)[distances < 0.85 * radius]
    wide = (distances > _BEYOND[0] * radius) & (distances < _BEYOND[1] * radius)
    outside = np.clip(levels[wide], 0, 1.2)
    is_ink = (outside.max(1) - outside.min(1) > _STRONG * np.maximum(outside.max(1), 1e-3)) & (
        np.abs(_turn(_hue_deg(outside) - np.float32(hue))) < _SAME_HUE_DEG
    )
    return _Spot(
        *place,
        like=_disc_likeness(white, place, radius),
        hue=hue,
        ring=float(bears.mean()),
        lines=float((levels[far].min(1) > 0.55).mean()),
        shown=float((inner > 0.72).mean()),
        beyond=float(is_ink.mean()),
        dark=float((levels[far].max(1) < _DARK).mean()),
        ground=_ground(frame, place, radius, own),
    )


def _ground(frame: Frame, place: tuple[float, float], radius: float, own: Floats) -> float:
    """Which share of a wider square around a place is as dark as a card's ground."""
    wide = _patch(frame, place, int(np.ceil(radius * _GROUND)))[::2, ::2] / own
    return float((wide.max(2) < _DARK_AFAR).mean())


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


def _is_whole(spot: _Spot) -> bool:
    if spot.ring < _MOSTLY or (spot.beyond < _BADGE_ENDS and spot.dark > _BADGE_IN_THE_DARK):
        return False
    if spot.like < _NEARLY_A_DISC and spot.dark < _SOME_DARK:
        return False  # a cloth's own pattern: no card is near
    return spot.like > _SURELY_A_DISC or (spot.like > _A_DISC_BY_LINES and spot.lines > _SOME_LINES)


def _is_part(spot: _Spot) -> bool:
    """Whether it may be a dot that a card covers in part: half a ring, and that card's white line beside it."""
    is_half = _PARTLY[0] < spot.ring < _PARTLY[1] and 0.5 < spot.shown < 0.9
    return 0.7 < spot.like <= _A_DISC_BY_LINES and is_half and spot.lines > _SOME_LINES


def _confidence(spot: _Spot) -> float:
    """The chance that a dot is one that counts, by its form and its ring; below _COUNTS what may be part of one."""
    if not _is_whole(spot):
        return 0.4
    form = np.clip((spot.like - _A_DISC_BY_LINES) / (0.97 - _A_DISC_BY_LINES), 0.0, 1.0)
    ring = np.clip((spot.ring - 0.4) / 0.4, 0.0, 1.0)
    return float(0.6 + 0.39 * min(form, ring))


def _apart(spots: Sequence[_Spot], radius: float) -> list[_Spot]:
    """The likeliest of what lies on one place."""
    kept: list[_Spot] = []
    for spot in sorted(spots, key=lambda each: -each.like):
        if all(np.hypot(spot.x - other.x, spot.y - other.y) > 1.6 * radius for other in kept):
            kept.append(spot)
    return kept


def _common_shift(seen: Floats, wanted: Floats) -> np.float32:
    """By how many degrees all hues are turned, as a camera may do: the smallest turn that explains what was seen."""
    if len(seen) < _MANY_SEEN:
        return np.float32(0.0)
    best, shift = np.inf, np.float32(0.0)
    for turn in range(-_MOST_SHIFT_DEG, _MOST_SHIFT_DEG + 1, 2):
        far = np.abs(_turn(seen[:, None] - wanted[None] - np.float32(turn))).min(axis=1)
        cost = float(np.minimum(far, 30.0).mean()) + _SHIFT_COST * abs(turn)
        if cost < best:
            best, shift = cost, np.float32(turn)
    return shift


def _named(seen: Sequence[float], hues: Mapping[str, float]) -> tuple[list[str], bool]:
    """A colour name for each hue that was seen, and whether two colours in play nearly merge."""
    names = list(hues)
    wanted = np.array([hues[name] for name in names], np.float32)
    shift = _common_shift(np.asarray(seen, np.float32), wanted)
    found = [names[int(np.abs(_turn(wanted + shift - np.float32(hue))).argmin())] for hue in seen]
    middles = {
        name: _middle_hue(np.array([h for h, f in zip(seen, found, strict=True) if f == name], np.float32))
        for name in set(found)
    }
    listed = sorted(middles.values())
    gaps = [b - a for a, b in zip(listed, [*listed[1:], listed[0] + 360.0], strict=True)] if listed else []
    return found, len(listed) > 1 and min(gaps) < _NEAR_HUES_DEG
