"""A table's profile from a picture of the empty table and, where there are some, pictures of rolls on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.finding import Mask
from vision.dice.pips import cut
from vision.dice.poses import LearntView, SurfaceView, View, fit
from vision.dice.profile import NO_FACE, LearntFace, ProfileError, TableProfile
from vision.dice.profiled import Claim, Look, ProfiledReader, covered, what_lies
from vision.frame import Frame
from vision.surface import Marks, NoSurfaceError, Surface, calibrate, find_markers

_SURE = 0.95  # chance of a value that is learnt from without anybody's word
_POSSIBLE = 0.04  # chance of a value below which not even somebody's word makes a face show it
_NEAR_DIE = 0.03  # chance of a die from which a place that is none is worth learning
_ELSEWHERE = 0.45  # of a face's edge: nearer to a face than this a place is that face
_FEW = 5  # dice alone in their area from which the view is learnt
_SLOPE_PULL = 0.05  # how strongly the view is held to be the same all over the picture
_SIZES = (0.94, 0.97, 1.0, 1.03, 1.06)
_HEIGHTS = (0.7, 0.8, 0.9, 1.0, 1.12, 1.26, 1.45)
_MOST_FITS = 24
_BESIDE = 1.1  # of a face's edge: so near to a top face are the other faces of its die ...
_ASLANT = (0.5, 0.95)  # ... and so large against it
_LIKELY = 0.05
_FEW_WAYS = 3
_ONE_WAY = 0.5  # length of the mean of unit vectors that go one way
_MOST_AREA = 4.0  # of a face: what a die, its sides and what a shadow leaves may cover
_MOST_NONE = 400
_LIES = 0.5  # share of a face that has changed where a die lies
_ONE_HEIGHT = 0.4  # logarithm of the largest against the smallest face of a camera that is not moved
_MOSTLY = 0.8  # share of the dice for which that must hold


@dataclass(frozen=True)
class RollPicture:
    """One picture of dice on the table. `values`: what lies there, in any order; None where nobody said. `owner`: whose
    dice they all are, empty when unknown."""

    name: str
    frame: Frame
    values: tuple[int, ...] | None = None
    owner: str = ""


@dataclass(frozen=True)
class SetUp:
    """A profile and what became of the pictures: `unused` names those that nothing was learnt from."""

    profile: TableProfile
    used: int
    unused: tuple[str, ...]


def empty_profile(name: str, empty: Frame, marks: Marks, die_mm: float = 16.0) -> TableProfile:
    """The profile that an empty table's picture alone gives; with its surface where the markers are seen on it."""
    surface: Surface | None = None
    size = (empty.shape[1], empty.shape[0])
    try:
        surface = calibrate(find_markers(empty, marks.family), marks, size)
    except NoSurfaceError:
        surface = None  # a table without markers is played on as well
    return TableProfile(name, empty=(empty,), surface=surface, die_mm=die_mm, long_px=max(size))


def set_up(start: TableProfile, rolls: Iterable[RollPicture], models: Path | None = None) -> SetUp:
    """What `rolls` add to a profile: the size of a die, how top faces lie over feet, what the faces look like.

    They are gone through three times. Raises ProfileError where no die is read on any of them.
    """
    pictures = tuple(rolls)
    bare = ProfiledReader(replace(start, empty=()), models)
    sized = _with_sizes(start, [(picture, bare.look(picture.frame)) for picture in pictures])
    by_size = ProfiledReader(sized, models)
    seen = [(picture, by_size.look(picture.frame)) for picture in pictures]
    viewed = _with_view(sized, seen)
    reader = ProfiledReader(viewed, models)
    faces: list[LearntFace] = []
    unused: list[str] = []
    for picture in pictures:
        look = reader.look(picture.frame)
        found = _faces(picture, look, viewed)
        faces += found
        if not any(face.value != NO_FACE for face in found):
            unused.append(picture.name)
    none = [face for face in faces if face.value == NO_FACE][:_MOST_NONE]
    shown = [face for face in faces if face.value != NO_FACE]
    if not shown:
        raise ProfileError(
            "no die was read on the pictures of rolls: take them from the camera's place, dice with pips, sharp"
        )
    return SetUp(viewed.with_faces((*none, *shown)), len(pictures) - len(unused), tuple(unused))


def named(look: Look, values: Sequence[int] | None) -> list[tuple[Claim, int]]:
    """Which faces show which of `values`; none where that cannot be. Without `values` those that are sure."""
    if values is None:
        return [(claim, claim.judged.value) for claim in look.claims if claim.judged.chance >= _SURE]
    whole = (1 << len(values)) - 1
    best: dict[int, tuple[float, tuple[tuple[Claim, int], ...]]] = {0: (0.0, ())}
    for claim in look.claims:
        for done, (worth, pairs) in list(best.items()):
            for index, value in enumerate(values):
                chance = float(claim.judged.values[value - 1])
                if done >> index & 1 or chance < _POSSIBLE:
                    continue
                after = worth + float(np.log(chance)) + claim.weight + 8.0
                if after > best.get(done | 1 << index, (-np.inf, ()))[0]:
                    best[done | 1 << index] = (after, (*pairs, (claim, value)))
    return list(best[whole][1]) if whole in best else []


def _with_sizes(start: TableProfile, seen: Sequence[tuple[RollPicture, Look]]) -> TableProfile:
    sides = [
        claim.spot.side_px / max(picture.frame.shape[:2])
        for picture, look in seen
        for claim, _ in named(look, picture.values)
    ]
    if not sides:
        return start
    long_px = start.long_px or max(seen[0][0].frame.shape[:2])
    is_still = _keeps_still(start, seen) if start.empty else np.ptp(np.log(sides)) < _ONE_HEIGHT
    return replace(
        start,
        empty=start.empty if is_still else (),
        side_px=float(np.median(sides)) * long_px if is_still else None,
        long_px=long_px,
        up_xy=_up(start, seen),
        view=None,
    )


def _keeps_still(start: TableProfile, seen: Sequence[tuple[RollPicture, Look]]) -> bool:
    """Whether the rolls differ from the empty table where dice are and hardly elsewhere; not so where the camera was
    moved."""
    shares, areas = [], []
    for picture, look in seen:
        spots = [claim.spot for claim, _ in named(look, picture.values)]
        if not spots:
            continue
        mask = what_lies(picture.frame, start)
        shares += [0.0 if mask is None else covered(mask, spot) for spot in spots]
        dice = sum(spot.side_px**2 for spot in spots)
        areas.append(np.inf if mask is None else float((mask > 0).sum()) / dice)
    is_there = bool(np.mean(np.array(shares) > _LIES) > _MOSTLY)
    return is_there and float(np.median(areas)) < _MOST_AREA


def _up(start: TableProfile, seen: Sequence[tuple[RollPicture, Look]]) -> tuple[float, float] | None:
    """From the other faces that are seen of dice to their top faces; None where that is no one way."""
    ways = []
    for picture, look in seen:
        if picture.values is None:
            continue
        for claim, _ in named(look, picture.values):
            for other in look.tried:
                way = np.subtract(claim.xy_px, other.xy_px) / claim.spot.side_px
                is_smaller = _ASLANT[0] < other.spot.side_px / claim.spot.side_px < _ASLANT[1]
                if is_smaller and _ELSEWHERE < np.hypot(*way) < _BESIDE and other.judged.is_die > _LIKELY:
                    ways.append(way)
    if len(ways) < _FEW_WAYS:
        return start.up_xy
    mean = np.mean(np.array(ways) / np.linalg.norm(ways, axis=1, keepdims=True), axis=0)
    length = float(np.hypot(*mean))
    return (float(mean[0] / length), float(mean[1] / length)) if length > _ONE_WAY else start.up_xy


def _with_view(profile: TableProfile, seen: Sequence[tuple[RollPicture, Look]]) -> TableProfile:
    """The profile with its view, learnt from dice that lie alone against the empty table."""
    alone: list[_Alone] = []
    for picture, look in seen:
        mask, scale = look.mask, max(picture.frame.shape[:2]) / max(1, profile.long_px)
        for claim, _ in named(look, picture.values) if mask is not None else []:
            middle = _middle_alone(mask, claim) if mask is not None else None
            if mask is not None and middle is not None:
                alone.append(_Alone(mask, claim, middle, scale))
    if len(alone) < _FEW:
        return profile
    by_surface = 0.0
    if profile.surface is not None:
        surfaces = [_from_height(profile.surface, share) for share in _HEIGHTS]
        worths = [_overlap(alone, [SurfaceView(s, profile.die_mm)] * len(alone)) for s in surfaces]
        by_surface = max(worths)
        profile = replace(profile, surface=surfaces[worths.index(by_surface)])
    places = np.array([one.claim.xy_px for one in alone])
    scales = np.array([[one.scale] for one in alone])
    shifts = 2 * (places - [one.middle for one in alone])
    sides = [[one.claim.spot.side_px] for one in alone]
    factors = _linear(places / scales, np.hstack([sides, shifts]) / scales, profile.long_px)
    sized = [factors * np.array([[size], [1.0], [1.0]]) for size in _SIZES]
    worths = [_overlap(alone, [LearntView(f[0], f[1:], one.scale) for one in alone]) for f in sized]
    is_better = max(worths) > by_surface
    return replace(profile, view=sized[int(np.argmax(worths))]) if is_better else profile


@dataclass(frozen=True)
class _Alone:
    """A die that touches nothing: its claim, the middle of its area in px, the picture's scale."""

    mask: Mask
    claim: Claim
    middle: NDArray[np.float64]
    scale: float


def _overlap(alone: Sequence[_Alone], views: Sequence[View]) -> float:
    """How well the dice fit when seen so."""
    pairs = list(zip(alone, views, strict=True))[:_MOST_FITS]
    return float(np.mean([fit(one.mask, view, one.claim.xy_px).overlap for one, view in pairs]))


def _from_height(surface: Surface, share: float) -> Surface:
    """The same table under a lens at another height: markers seen from above hardly tell it."""
    return Surface(
        surface.to_px,
        surface.corners_mm,
        surface.picture_size,
        seen=surface.seen,
        error_px=surface.error_px,
        camera_height_mm=surface.camera_mm[2] * share,
    )


def _linear(at: NDArray[np.float64], what: NDArray[np.float64], long_px: int) -> NDArray[np.float64]:
    """(k, 3) factors of 1, x, y for each of the k columns of `what`, robust against a few that are off."""
    places = (at - at.mean(0)) / long_px
    signs = np.column_stack([np.ones(len(at)), places])
    held = np.diag([0.0, _SLOPE_PULL, _SLOPE_PULL])
    weights = np.ones(len(at))
    for _ in range(5):
        heavy = signs * weights[:, None]
        solved = np.linalg.solve(signs.T @ heavy + held, heavy.T @ what)
        off = np.linalg.norm(what - signs @ solved, axis=1)
        weights = 1 / (1 + (off / (1.5 * np.median(off) + 1e-6)) ** 2)
    slopes = solved[1:] / long_px
    first = solved[0] - at.mean(0) @ slopes
    return np.asarray(np.vstack([first, slopes]).T, np.float64)


def _middle_alone(mask: Mask, claim: Claim) -> NDArray[np.float64] | None:
    """Middle (x, y) of the area of a die that touches nothing; None for one that does."""
    side = claim.spot.side_px
    x, y = (round(v) for v in claim.xy_px)
    reach = round(2.2 * side)
    top, left = max(0, y - reach), max(0, x - reach)
    part = mask[top : y + reach, left : x + reach]
    found, areas, middles = cv2.connectedComponentsWithStats(part, connectivity=4)[1:4]
    if not (0 <= y - top < part.shape[0] and 0 <= x - left < part.shape[1]):
        return None
    label = int(found[y - top, x - left])
    left_px, top_px, width, height, area = areas[label]
    is_cut = (
        left_px == 0 or top_px == 0 or left_px + width == part.shape[1] or top_px + height == part.shape[0]
    )
    if not label or is_cut or not 0.8 * side**2 < area < 2.1 * side**2:
        return None
    return np.asarray(middles[label] + np.array((left, top)), np.float64)


def _faces(picture: RollPicture, look: Look, profile: TableProfile) -> list[LearntFace]:
    pairs = named(look, picture.values)
    faces = [
        LearntFace(_cut(picture.frame, claim), value, picture.owner, is_corrected=False)
        for claim, value in pairs
    ]
    if picture.values is None or not pairs:
        return faces
    for claim in look.tried:
        far = [np.hypot(*np.subtract(claim.xy_px, c.xy_px)) / c.spot.side_px for c, _ in pairs]
        if min(far) > _ELSEWHERE and claim.judged.is_die > _NEAR_DIE:
            faces.append(LearntFace(_cut(picture.frame, claim), NO_FACE))
    return faces


def _cut(frame: Frame, claim: Claim) -> Frame:
    return cut(frame, *claim.xy_px, claim.spot.side_px)
