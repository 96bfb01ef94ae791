"""Reading enrolled symbol dice: where they lie, what is on top, whose they are and which printed place they
lie on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import rectangle
from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.colour import Ownership, Palette
from vision.dice.inkblots import (
    FACE_PX,
    PATCH_PX,
    Blot,
    FaceSquare,
    blot_at,
    cut,
    edges_around,
    face_around,
    find_blots,
    shrunk,
)
from vision.dice.marbled import STEP, InkAxis, ink_axis
from vision.dice.matching import FaceMatcher, Match
from vision.dice.reading import Reading
from vision.profile import Profile, Sample, load_profile
from vision.surface import Surface

DIE_MM = 16.0
_SMALLEST_FACE_PX = 18.0
_SIZES_PX = (60.0, 46.0, 78.0, 36.0, 100.0, 28.0, 130.0, 22.0, 170.0)  # the usual first
_CRISP = 1.5  # times as steep edges as a blurred face has: then the likeness is doubtful
_SIZE_TRIES = 4
_MANY = 4  # clear finds that make a size sure
_SIZE_OFF = 0.045  # a size that is off by more is corrected and the picture read once more
_REGION_SCORE = 0.76  # correlation at which a face in a square of one colour is as likely a die as not
_CLEAR = 0.85  # correlation of a face that tells the dice's size
_NARROW = 0.905  # of a face: a region less wide is likelier a printed slot
_FITS = 0.96  # correlation from which a square is believed to be the face
_LIKE_PAPER = 1.75  # a marbled die's body that is stranger may be a slot's paper
_MARBLED_CRISP, _CRISP_COST = 2.2, 6.0  # of marbled dice: a pattern of cloth is crisp
_MARBLED_SCORE = 0.9  # correlation at which a find on an ink map is as likely a die as not
_WORTH_MARBLED = 0.6  # the same for marbled dice
_WORTH_EDGES = 0.78  # correlation below which no edges are looked for
_READ = 0.72  # correlation from which a value is told
_LEAD = 0.35  # how far the next name must be behind, as a share of what the best one lacks
_LIKELY = 0.35  # chance of being a die from which a find is told at all
_SURE = 0.55  # chance of being a die at all from which a value is told
_ROUGH = 0.35  # correlation without any search below which a blot is no face
_MOST_BLOTS = 250
_SAME = 0.7  # of a face: nearer than this two finds are one die
_BESIDE = 0.92  # the same for one that is not quite sure
_VERY_SURE = 0.95
_GLARED = 0.3  # of the enrolled step from body to ink: less is no ink
_DEEP = 1.5
_STRAY = 0.25  # log units that a body's colour strays from the nearest one enrolled
_AROUND_MM = 80.0  # what lies farther outside the marks is none of the table's
_PRINT_MM = 2.2
_PRINT_DEG = 5.0
_NEAR_MM = 5.0  # a die this far off a printed place is still meant to lie there


@dataclass(frozen=True)
class _Find:
    """One die found in the scaled picture."""

    blot: Blot
    square: FaceSquare
    owner: Ownership
    match: Match
    chance: float
    is_marbled: bool = False
    has_dark_ink: bool = False


@dataclass(frozen=True)
class _Sized:
    """What was found at one size of the dice. `clear`: how many finds there are no doubts about."""

    shape: tuple[int, ...]
    face_px: float
    clear: int
    finds: list[_Find]
    scale: float


class SymbolReader:
    """Reads the dice of these profiles; to be used from one thread. `die_mm`: the dice's edge.

    Without a surface the dice's size is worked out from the first picture that shows some and kept until it
    no longer fits. Raises ValueError when there is no profile.
    """

    def __init__(self, profiles: Sequence[Profile], die_mm: float = DIE_MM) -> None:
        samples = [(profile.kind, sample) for profile in profiles for sample in profile.samples]
        if not samples:
            raise ValueError("no dice are enrolled: run `companion enrol dice` first")
        self._die_mm = die_mm
        even = [(s.owner, s.body, s.ink) for _, s in samples if not s.is_marbled]
        self._palette = Palette(even) if even else None
        self._marbled = tuple(dict.fromkeys(sample.owner for _, sample in samples if sample.is_marbled))
        self._axes = _axes([sample for _, sample in samples]) if self._marbled else {}
        self._kinds = {sample.owner: kind for kind, sample in samples}
        self._matchers = {
            kind: FaceMatcher([(s.face, s.patch) for of, s in samples if of == kind])
            for kind in dict.fromkeys(self._kinds.values())
        }
        self._last: tuple[list[_Find], float] = ([], 1.0)
        self._known: _Sized | None = None

    def read(
        self, frame: NDArray[np.uint8], surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        """The dice in a BGR frame (H, W, 3), from the top left. `box_px` hugs the top face."""
        flags = []
        if float(np.median(frame)) < 12 and float(np.percentile(frame, 99)) < 60:
            flags.append("too_dark")
        if surface is not None:
            width, height = surface.size_mm
            face_px = self._die_mm * surface.px_per_mm((width / 2, height / 2), self._die_mm)
            if face_px < _SMALLEST_FACE_PX:
                flags.append("too_small")
            finds, scale = self._find(frame, face_px)
        else:
            finds, scale = self._find_unmeasured(frame)
        self._last = (finds, scale)
        dice = self._seen_all(self._last, frame.shape, surface, layouts)
        return Reading(dice, (*flags,) if dice else (*flags, "no_dice"))

    def again(
        self, frame: NDArray[np.uint8], surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        """The dice of the picture read last, each looked at anew where it lay: for one more frame of a
        table that keeps still. Much cheaper than `read`; a die that cannot be seen any more is left out."""
        finds, scale = self._last
        bgr, scale = shrunk(frame, FACE_PX / scale)
        lab = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8)
        maps = {
            owner: self._axes[owner].map_of(bgr) for owner in {f.owner.owner for f in finds if f.is_marbled}
        }
        found = []
        for find in finds:
            of = find.owner.owner
            blot = blot_at(maps[of] if find.is_marbled else lab, find.blot.xy, find.blot.side)
            owner = self._whose(blot, bgr, of if find.is_marbled else None) if blot else None
            if blot and owner and owner.is_known:
                found.append(replace(find, blot=blot, owner=owner, match=self._match(blot, owner)))
        dice = self._seen_all((found, scale), frame.shape, surface, layouts)
        return Reading(dice, () if dice else ("no_dice",))

    def _seen_all(
        self,
        found: tuple[list[_Find], float],
        shape: tuple[int, ...],
        surface: Surface | None,
        layouts: tuple[Placed, ...],
    ) -> tuple[DieSeen, ...]:
        finds, scale = found
        if surface is not None:
            finds = [find for find in finds if self._is_of_table(find, scale, surface, layouts)]
        dice = [self._seen(find, scale, shape, surface, layouts) for find in finds]
        return tuple(sorted(dice, key=lambda d: (d.box_px[1], d.box_px[0])))

    def _is_of_table(self, find: _Find, scale: float, surface: Surface, layouts: tuple[Placed, ...]) -> bool:
        """Whether a find lies on or near the table and is nothing that is printed there."""
        centre = _in_frame(find.blot, scale)
        place = surface.mm(centre, self._die_mm)
        return (
            surface.has_on_it(place, _AROUND_MM)
            and not surface.has_marker_at(place)
            and not _is_print(find, surface.mm(centre), layouts)
        )

    def _find_unmeasured(self, frame: NDArray[np.uint8]) -> tuple[list[_Find], float]:
        """The finds at the size that shows the most dice; it is kept until fewer show at it."""
        known = self._known if self._known is not None and self._known.shape == frame.shape else None
        best: _Sized | None = None
        for size in (known.face_px, *_SIZES_PX) if known else _SIZES_PX:
            if size > 0.6 * min(frame.shape[:2]):
                continue
            found = self._sized(frame, size)
            if found and (best is None or found.clear > best.clear):
                best = found
            if best and best.clear >= (min(_MANY, known.clear) if known and size == known.face_px else _MANY):
                break
        if best is None:
            return [], 1.0
        self._known = best
        return best.finds, best.scale

    def _sized(self, frame: NDArray[np.uint8], size_px: float) -> _Sized | None:
        """What is found if a face is about `size_px` wide, the size corrected by what is found; None for nothing."""
        finds, scale = self._find(frame, size_px)
        for _ in range(_SIZE_TRIES):
            face_px = _face_px(finds, scale)
            if face_px is None or abs(face_px / size_px - 1) < _SIZE_OFF:
                break
            size_px = face_px
            finds, scale = self._find(frame, size_px)
        else:
            return None
        clear = sum(
            find.match.score >= _CLEAR and (find.is_marbled or find.square.by == "region") for find in finds
        )
        return _Sized(frame.shape, size_px, clear, finds, scale) if clear else None

    def _find(self, frame: NDArray[np.uint8], face_px: float) -> tuple[list[_Find], float]:
        """The dice, the surest first, if a face is `face_px` wide; and px of the scaled picture per px of
        `frame`."""
        bgr, scale = shrunk(frame, face_px)
        lab = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8)
        found = self._find_even(bgr, lab) if self._palette else []
        for owner in self._marbled:
            found += self._find_marbled(bgr, lab, owner)
        kept: list[_Find] = []
        for find in sorted(found, key=lambda find: -find.match.score):
            # Between two dice that touch there may be something like a third: that has to be very sure.
            is_sure = find.square.by == "region" or find.chance >= _VERY_SURE
            if not _is_near(find.blot, kept, _SAME if is_sure else _BESIDE):
                kept.append(find)
        return kept, scale

    def _find_even(self, bgr: NDArray[np.uint8], lab: NDArray[np.uint8]) -> list[_Find]:
        """What may be dice with an even body in a scaled picture."""
        found: list[_Find] = []
        loose: list[tuple[Blot, Ownership]] = []
        for blot, owner in self._owned(find_blots(lab)):
            if _is_near(blot, found, 0.3) or any(_apart(blot.xy, other.xy) < 2 for other, _ in loose):
                continue
            square = face_around(lab, blot)
            if square and _is_sound(square, blot):
                found += self._finds(lab, blot, owner, square)
            else:
                loose.append((blot, owner))
        regions = tuple(found)
        for blot, owner in loose:
            if _is_near(blot, regions, 0.5) or self._match(blot, owner).score < _WORTH_EDGES:
                continue
            square = edges_around(lab, blot.xy)
            if _apart(square.xy, blot.xy) <= 0.3 * FACE_PX:
                found += self._finds(lab, blot, owner, square)
        if not self._marbled:
            return found
        return [find for find in found if self._whose(find.blot, bgr, find.owner.owner).is_known]

    def _find_marbled(self, bgr: NDArray[np.uint8], lab: NDArray[np.uint8], of: str) -> list[_Find]:
        """What may be dice of an owner whose dice have bodies of several colours, in a scaled picture."""
        ink_map = self._axes[of].map_of(bgr)
        matcher = self._matchers[self._kinds[of]]
        blots = [
            blot
            for blot in find_blots(ink_map)
            if _GLARED * STEP <= float(blot.ink[0] - blot.body[0]) <= _DEEP * STEP
        ]
        if not blots:
            return []
        rough = matcher.rough(np.stack([blot.soft for blot in blots]))
        found: list[_Find] = []
        for i in np.argsort(-rough)[:_MOST_BLOTS].tolist():
            if rough[i] < _ROUGH:
                break
            blot = blots[i]
            owner = self._whose(blot, bgr, of)
            if not owner.is_known or _is_near(blot, found, 0.2):
                continue
            view, match, square = blot, self._match(blot, owner), FaceSquare(blot.xy, 1.0, 0.0, "edges")
            if match.score < _WORTH_MARBLED:
                continue
            if match.score < _FITS:
                square = edges_around(lab, blot.xy)
                exact = blot_at(ink_map, square.xy, square.side)
                other = self._match(exact, owner) if exact else match
                if exact and other.score > match.score:
                    view, match = exact, other
            chance = _marbled_chance(owner, match)
            if chance >= _LIKELY:
                is_dark = bool(self._axes[of].weights.sum() < 0)
                found.append(_Find(view, square, owner, match, chance, is_marbled=True, has_dark_ink=is_dark))
        return found

    def _whose(self, blot: Blot, bgr: NDArray[np.uint8], of: str | None) -> Ownership:
        """The owner of an even die, or where the blot was seen by the ink of `of` how much the body is that owner's."""
        if of is None:
            return self._palette.whose(blot.body, blot.ink) if self._palette else Ownership("", np.inf, 0.0)
        patch = cut(bgr, blot.xy, PATCH_PX, blot.side)  # all owners by the same measure, even or not
        far = self._axes[of].strangeness(patch, blot.soft) / _STRAY
        if not Ownership(of, far, 0.0).is_known:
            return Ownership(of, far, 0.0)
        others = [
            axis.strangeness(patch, blot.soft) / _STRAY for owner, axis in self._axes.items() if owner != of
        ]
        lead = min(others, default=np.inf) - far
        return Ownership(of, far if lead >= 0 else np.inf, lead)

    def _owned(self, blots: list[Blot]) -> list[tuple[Blot, Ownership]]:
        """The blots in the colours of somebody's dice that look at all like a face, the likeliest first. On a
        cloth with a pattern there are thousands of others."""
        if not blots or self._palette is None:
            return []
        bodies = np.array([blot.body for blot in blots], np.float32).reshape(-1, 3)
        inks = np.array([blot.ink for blot in blots], np.float32).reshape(-1, 3)
        owners = self._palette.owners_of(bodies, inks)
        rough = np.zeros(len(blots), np.float32)
        for kind, matcher in self._matchers.items():
            mine = [i for i, of in enumerate(owners) if of.is_known and self._kinds[of.owner] == kind]
            if mine:
                rough[mine] = matcher.rough(np.stack([blots[i].soft for i in mine]))
        best = np.argsort(-rough)[:_MOST_BLOTS]
        return [(blots[i], owners[i]) for i in best.tolist() if rough[i] >= _ROUGH]

    def _finds(
        self, lab: NDArray[np.uint8], blot: Blot, owner: Ownership, square: FaceSquare
    ) -> tuple[_Find, ...]:
        """The die in this square, or none. A dark die's sides are taken for its top, so a region may be
        too large and askew, and edges may belong to something else; then the blot's own middle is tried
        too."""
        exact = blot_at(lab, square.xy, square.side)
        matches = [(exact, self._match(exact, owner))] if exact else []
        if not matches or matches[0][1].score < _FITS:
            matches.append((blot, self._match(blot, owner)))
        view, match = max(matches, key=lambda pair: pair[1].score, default=(None, None))
        if view is None or match is None:
            return ()
        chance = _die_chance(view, square, owner, match)
        found = _Find(view, square, owner, match, chance, has_dark_ink=bool(view.ink[0] <= view.body[0]))
        return (found,) if chance >= _LIKELY else ()

    def _match(self, blot: Blot, owner: Ownership) -> Match:
        return self._matchers[self._kinds[owner.owner]].match(blot.soft)

    def _seen(
        self,
        find: _Find,
        scale: float,
        shape: tuple[int, ...],
        surface: Surface | None,
        layouts: tuple[Placed, ...],
    ) -> DieSeen:
        square, match = find.square, find.match
        centre = _in_frame(find.blot, scale)
        turn = np.radians(square.turn_deg)
        half = find.blot.side * FACE_PX / scale / 2 * float(abs(np.cos(turn)) + abs(np.sin(turn)))
        x0, y0, x1, y1 = centre[0] - half, centre[1] - half, centre[0] + half, centre[1] + half
        lead = _lead(match)
        out = half / 3
        is_cut = x0 < -out or y0 < -out or x1 > shape[1] + out or y1 > shape[0] + out
        is_clear = match.score >= _READ and lead >= _LEAD and find.chance >= _SURE
        is_read = is_clear and not is_cut
        reason = "cut_off" if is_cut else None if is_clear else "margin"
        place = surface.mm(centre, self._die_mm) if surface else None
        return DieSeen(
            kind=self._kinds[find.owner.owner],
            value=match.name if is_read else None,
            box_px=(
                max(0, round(x0)),
                max(0, round(y0)),
                min(shape[1], round(x1)),
                min(shape[0], round(y1)),
            ),
            confidence=round(find.chance * (1 - 0.5 * float(np.exp(-max(lead, 0.0) / 0.25))), 3),
            reason=reason,
            xy_mm=place,
            owner=find.owner.owner,
            on=lies_on(place, layouts) if place else None,
        )


def symbol_reader(paths: Sequence[str]) -> SymbolReader:
    """The reader of these profile files, for a camera's own process. Raises EnrolError for a bad file."""
    return SymbolReader([load_profile(Path(path)) for path in paths])


def lies_on(xy_mm: tuple[float, float], layouts: Sequence[Placed]) -> tuple[str, str] | None:
    """(layout id, region id) of the printed place that a die at `xy_mm` is meant to lie on; the region is
    empty for a die on a card's free part, the answer None for one beside all cards."""
    nearest: tuple[float, tuple[str, str]] | None = None
    for placed in layouts:
        for region in placed.layout.regions:
            corners = np.array(region.outline.placed(placed.pose).corners)
            reach = float(np.ptp(np.array(region.outline.corners), axis=0).min()) / 2 + _NEAR_MM
            far = _apart(tuple(corners.mean(axis=0)), xy_mm)
            if far <= reach and (nearest is None or far < nearest[0]):
                nearest = (far, (placed.layout.id, region.id))
    if nearest:
        return nearest[1]
    for placed in layouts:
        if rectangle(0, 0, *placed.layout.size_mm).placed(placed.pose).contains(xy_mm):
            return (placed.layout.id, "")
    return None


def _face_px(finds: Sequence[_Find], scale: float) -> float | None:
    """How wide a face is in px of the frame by the clear ones among the finds, None where there are none. Dark dice
    look too wide by their sides, and nothing looks too narrow: so it is not the median."""
    sides = [f.square.side for f in finds if f.square.by == "region" and f.match.score >= _CLEAR]
    if sides:
        return float(np.percentile(sides, 30)) * FACE_PX / scale
    sides = [f.blot.side * f.match.size for f in finds if f.is_marbled and f.match.score >= _CLEAR]
    return float(np.median(sides)) * FACE_PX / scale if sides else None


def _in_frame(blot: Blot, scale: float) -> tuple[float, float]:
    """The blot's middle in px of the frame that was scaled by `scale`."""
    return ((blot.xy[0] + 0.5) / scale - 0.5, (blot.xy[1] + 0.5) / scale - 0.5)


def _is_print(find: _Find, flat_mm: tuple[float, float], layouts: Sequence[Placed]) -> bool:
    """Whether a find is the symbol printed in a slot, which looks like a white die: it lies, taken as flat, just
    there and just as turned, and shows just that symbol, darker than its paper. A die's top never does all that,
    as it stands higher than the card."""
    if not find.has_dark_ink or (find.is_marbled and find.owner.distance < _LIKE_PAPER):
        return False
    for placed in layouts:
        for region in placed.layout.regions:
            if region.symbol != find.match.name:
                continue
            skew = (find.square.turn_deg - placed.pose.angle_deg + 45) % 90 - 45
            off_mm = _apart(region.outline.placed(placed.pose).centre(), flat_mm)
            if off_mm <= _PRINT_MM and (find.is_marbled or abs(skew) <= _PRINT_DEG):
                return True
    return False


def _is_near(blot: Blot, finds: Sequence[_Find], faces: float) -> bool:
    return any(_apart(blot.xy, find.blot.xy) < faces * FACE_PX for find in finds)


def _axes(samples: Sequence[Sample]) -> dict[str, InkAxis]:
    """Owner -> how the ink of that owner's dice shows."""
    pictures: dict[str, list[NDArray[np.uint8]]] = {}
    for sample in samples:
        pictures.setdefault(sample.owner, []).append(sample.picture)
    axes = {owner: ink_axis(np.stack(of)) for owner, of in pictures.items()}
    return {owner: axis for owner, axis in axes.items() if axis is not None}


def _marbled_chance(owner: Ownership, match: Match) -> float:
    """How likely a find on an ink map is a die at all."""
    logit = 35 * (match.score - _MARBLED_SCORE) - 1.2 * max(0.0, owner.distance - 2.0)
    logit -= _CRISP_COST * max(0.0, match.sharpness - _MARBLED_CRISP) if match.is_blurred else 0.0
    return float(1 / (1 + np.exp(-np.clip(logit, -30, 30))))


def _die_chance(blot: Blot, square: FaceSquare, owner: Ownership, match: Match) -> float:
    """How likely a find is a die at all. Where a region of one colour ends in a square, the face's fit
    tells; else the weights say what each hint is worth (fitted on rendered tables of many cloths and
    colours)."""
    if square.by == "region":
        crisp = max(0.0, match.sharpness - _CRISP) if match.is_blurred else 0.0
        small = max(0.0, _NARROW - square.side)
        logit = (
            25 * (match.score - _REGION_SCORE) - 1.5 * max(0.0, owner.distance - 2.5) - 4 * crisp - 90 * small
        )
    else:
        strength = float(np.linalg.norm(blot.ink - blot.body))
        logit = (
            -49.0
            + 48.0 * match.score
            + 0.9 * min(owner.lead, 6.0)
            - 1.85 * (match.sharpness if match.is_blurred else 0.0)
            + 15.0 * min(square.shown / strength, 0.4)
            - 15.8 * blot.evenness / strength
            + 2.4 * (match.score - match.next_score)
        )
    return float(1 / (1 + np.exp(-np.clip(logit, -30, 30))))


def _is_sound(square: FaceSquare, blot: Blot) -> bool:
    """Whether the square can be the face that the blot is printed on."""
    is_face = abs(square.side - 1) < 0.25 and square.fill > 0.8
    return is_face and _apart(blot.xy, square.xy) < 0.3 * FACE_PX


def _lead(match: Match) -> float:
    """How far the next name is behind, held against what the best one lacks of a perfect fit."""
    return (match.score - match.next_score) / (1.01 - match.score)


def _apart(one: tuple[float, float], other: tuple[float, float]) -> float:
    return float(np.hypot(one[0] - other[0], one[1] - other[1]))
