"""Reading dice with pips on a table whose profile is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.finding import Mask, Spot, changed, is_same_view, spots_in
from vision.dice.flags import flags_of
from vision.dice.judging import moved
from vision.dice.networks import NOTHING, FaceClassifier, FaceFinder
from vision.dice.pips import cut
from vision.dice.poses import Fit, LearntView, SurfaceView, View, filled, fit, fit_leaning, fit_stacked
from vision.dice.profile import TableProfile
from vision.dice.reading import KIND, SMALLEST_SIDE_PX, Reading
from vision.dice.tuning import Judged, TunedJudge
from vision.frame import Frame
from vision.surface import Surface

LOOKS = ((1.0, False), (1.0, True), (0.88, False), (1.14, True))
"""How far a face is looked at beside its own size, and whether mirrored."""

_APART = 0.92  # top faces of two dice are farther apart than this share of their edge
_BESIDE = 1.2  # the same for another face of the same die, which is seen aslant and therefore smaller ...
_FORESHORTENED = 0.9  # ... than this share of its top face
_BELOW = 0.3  # cosine of the way from it to the top face against the known way up
_HIGHER = ((0.0, 0.84), (0.14, 1.0), (0.14, 0.84), (0.26, 0.84))  # edges farther up, and size, of a top face
_CLEAR = 0.9
_SURELY_NONE = 0.97  # chance, at the first look, from which a spot is no face
_VERY_SURE = 0.8
_FAIRLY_SEEN = 0.45
_ONE_SIZE = 1.8  # edges of the dice of one roll against their median, at most
_ON_THE_TABLE = 0.3  # share of a face that must differ from the empty table
_LEAST_DIE = 0.3  # chance of a die below which a spot is none
_SEEN = 0.2  # chance of a die times the score of its spot, from which an unread die is told
_LEAST_SURE = 0.65  # chance of the value below which it is not said
_REST = 0.74  # overlap of outline and mask below which a die is not at rest on the table
_WHOLE = 0.85  # share of the outline that is masked below which the mask, not the die, is at fault
_LIES_FLAT = 0.86  # overlap from which a die surely lies flat on the table
_LEANS = 0.02  # by how much better than a flat die a leaning one must fit
_LEFT = 0.4  # of a face's area: what nobody has explained and is larger is one more die
_SIZES = (0.6, 1.6)  # edges of faces against the one that is expected
_CLEARLY_SEEN = 0.55  # score of a spot that tells the size of the dice
_FAINT = 0.12
_BELIEVED = (0.55, 1.8)  # edges of such faces against the view's, where that is believed
_BRIGHT = 235  # level of all channels of what mirrors the lamp
_DAZZLED = 0.3  # share of an unreadable face that does, from which glare is the reason
_CUT_OFF = 0.3  # share of the face's edge that may lie beyond the picture's rim
_NEAR_RIM = 0.6  # of a face: so near to the rim what cannot be read is cut off
_FIT_WEIGHT = 8.0  # log odds of a die for an overlap of 1 more than usual
_USUAL_FIT = 0.7
_UP_WEIGHT = 1.5  # log weight of a face that lies by one edge farther up than another one on the same die


@dataclass(frozen=True)
class Claim:
    """A die that may lie at `spot`. `fit`: how its outline lies over what has changed, where that is known."""

    spot: Spot
    judged: Judged
    fit: Fit | None = None

    @property
    def xy_px(self) -> tuple[float, float]:
        """Middle of its top face."""
        return (self.spot.x_px, self.spot.y_px)

    def is_there(self, is_view_unknown: bool) -> bool:
        """Whether a die lies there, read or not; where no outline can tell it a face that is clearly seen does."""
        clear = is_view_unknown and self.spot.score > _CLEARLY_SEEN and self.judged.is_die > _FAINT
        return clear or self.judged.is_die >= _LEAST_DIE

    @property
    def weight(self) -> float:
        """How likely it is against another claim to the same place, as a logarithm."""
        odds = np.log(max(1e-4, self.spot.score * self.judged.is_die * float(self.judged.values.max())))
        return float(odds) + (_FIT_WEIGHT * (self.fit.overlap - _USUAL_FIT) if self.fit else 0.0)


@dataclass(frozen=True)
class Look:
    """All that one picture shows: the `claims` that hold together, what has changed against the empty table, and how
    dice are seen there, where these are known; every face that was judged."""

    claims: tuple[Claim, ...]
    mask: Mask | None
    view: View | None
    tried: tuple[Claim, ...]


class ProfiledReader:
    """Reads pips on one table; safe to keep and to use for many pictures, from one thread."""

    def __init__(self, profile: TableProfile, models: Path | None = None) -> None:
        """`models`: folder of other networks than those of the package."""
        self.profile = profile
        self._finder = FaceFinder(models)
        self._classifier = FaceClassifier(models)
        self._judge = TunedJudge(self._classifier, profile.faces)
        self._before: Frame | None = None

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in `frame` (uint8 BGR (rows, columns, 3)), from the top left; a doubtful one has no value.

        `box_px` of a die hugs its top face, `confidence` is the chance that its value is right. `surface`: the table
        as measured now; None: as the profile has it.
        """
        self._before = frame
        return self._told(frame, self.look(frame, surface), None, surface)

    def again(
        self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        """`read` for the next frame of the same roll: a die that is not where it was is said to be moving."""
        before, self._before = self._before, frame
        return self._told(frame, self.look(frame, surface), before, surface)

    def look(self, frame: Frame, surface: Surface | None = None) -> Look:
        """What `frame` shows, before it is told."""
        mask = what_lies(frame, self.profile)
        spots = list(self._finder.find(frame))
        view = _believed(self._view(frame, surface), spots)
        rows, columns = frame.shape[:2]
        side = view.side_px((columns / 2, rows / 2)) if view else self.profile.side_in(frame)
        if side:
            spots = [spot for spot in spots if _SIZES[0] < spot.side_px / side < _SIZES[1]]
        if mask is not None:
            spots = [spot for spot in spots if covered(mask, spot) > _ON_THE_TABLE]
            spots += _missed(mask, spots, side)
        if view is not None:
            spots = [replace(spot, side_px=view.side_px((spot.x_px, spot.y_px))) for spot in spots]
        claims = self.judged(frame, spots, view)
        if view is None and self.profile.up_xy is not None:
            claims = self._moved_up(frame, claims, self.profile.up_xy)
        if mask is not None and view is not None:
            claims = [
                replace(c, fit=fit(mask, view, c.xy_px)) if c.judged.is_die >= _LEAST_DIE else c
                for c in claims
            ]
        return Look(tuple(self._agreed(claims, mask, view)), mask, view, tuple(claims))

    def judged(self, frame: Frame, spots: Sequence[Spot], view: View | None = None) -> list[Claim]:
        """What the faces at `spots` may be, put where the classifier sees them; without those that are surely none."""
        logs, moves = self._classifier.look([cut(frame, s.x_px, s.y_px, s.side_px) for s in spots])
        placed = [
            moved(spot, move)
            for spot, log, move in zip(spots, logs, moves, strict=True)
            if np.exp(log[NOTHING]) < _SURELY_NONE
        ]
        if view is not None:
            placed = [replace(spot, side_px=view.side_px((spot.x_px, spot.y_px))) for spot in placed]
        return self._claims_at(frame, placed)

    def _claims_at(self, frame: Frame, spots: Sequence[Spot]) -> list[Claim]:
        """One claim a spot, where it is."""
        looks = []
        for spot in spots:
            faces = [cut(frame, spot.x_px, spot.y_px, spot.side_px * size) for size, _ in LOOKS]
            looks.append([f[:, ::-1] if flip else f for f, (_, flip) in zip(faces, LOOKS, strict=True)])
        return [Claim(spot, judged) for spot, judged in zip(spots, self._judge.judge(looks), strict=True)]

    def _moved_up(self, frame: Frame, claims: Sequence[Claim], up_xy: tuple[float, float]) -> list[Claim]:
        """The claims, doubtful ones where they read best: where side faces show, the finder may have taken the whole
        die for its top face, which then lies farther up and is smaller."""
        doubtful = [c for c in claims if c.judged.is_die >= _LEAST_DIE and c.judged.chance < _CLEAR]
        higher = [
            Spot(
                c.spot.x_px + up_xy[0] * up * c.spot.side_px,
                c.spot.y_px + up_xy[1] * up * c.spot.side_px,
                c.spot.side_px * size,
                c.spot.score,
            )
            for c in doubtful
            for up, size in _HIGHER
        ]
        again = self._claims_at(frame, higher)
        best = {id(c): c for c in doubtful}
        for index, claim in enumerate(doubtful):
            tried = again[index * len(_HIGHER) : (index + 1) * len(_HIGHER)]
            best[id(claim)] = max([claim, *tried], key=lambda one: one.judged.chance)
        return [best.get(id(claim), claim) for claim in claims]

    def _view(self, frame: Frame, surface: Surface | None) -> View | None:
        profile, size = self.profile, (frame.shape[1], frame.shape[0])
        if profile.view is not None and profile.long_px:
            return LearntView(profile.view[0], profile.view[1:], max(size) / profile.long_px)
        known = surface or profile.surface
        return (
            SurfaceView(known, profile.die_mm) if known is not None and known.picture_size == size else None
        )

    def _agreed(self, claims: Sequence[Claim], mask: Mask | None, view: View | None) -> list[Claim]:
        """The claims that can be true together, one a die, fitted anew beside each other."""
        kept: list[Claim] = []
        up = self.profile.up_xy if view is None else None
        claims = _of_one_size(claims) if view is None else claims
        for claim in sorted(claims, key=self._order(claims), reverse=True):
            if claim.is_there(view is None) and all(_are_apart(claim.spot, k.spot, up) for k in kept):
                kept.append(claim)
        if mask is None or view is None:
            return kept
        again = []
        for claim in kept:
            others = [other.fit.outline for other in kept if other is not claim and other.fit is not None]
            again.append(replace(claim, fit=fit(mask, view, claim.xy_px, others)))
        return again

    def _order(self, claims: Sequence[Claim]) -> Callable[[Claim], float]:
        """How claims are ranked: by weight, and where faces of one die are seen the upper one first."""
        up = self.profile.up_xy

        def key(claim: Claim) -> float:
            if up is None:
                return claim.weight
            near = [
                ((claim.spot.x_px - o.spot.x_px) * up[0] + (claim.spot.y_px - o.spot.y_px) * up[1])
                / o.spot.side_px
                for o in claims
                if o is not claim and o.judged.is_die > _LEAST_DIE and _is_beside(claim.spot, o.spot)
            ]
            return claim.weight + _UP_WEIGHT * float(np.clip(np.min(near, initial=0.0), -1.5, 0.0))

        return key

    def _told(self, frame: Frame, look: Look, before: Frame | None, surface: Surface | None) -> Reading:
        dice = []
        for claim in look.claims:
            sure = claim.judged.is_die * claim.spot.score
            reason = self._reason(frame, claim, look, before)
            if reason in ("margin", "glare") and sure < _SEEN and claim.spot.score <= _CLEARLY_SEEN:
                continue
            dice.append(self._die(claim, reason, surface))
        for claim in self._left(look):
            dice.append(self._die(claim, "cut_off" if _at_rim(claim.spot, frame) else "margin", surface))
        ordered = tuple(sorted(dice, key=lambda die: (die.box_px[1], die.box_px[0])))
        strange = sum(claim.judged.is_die < _LEAST_DIE for claim in look.tried)
        return Reading(ordered, flags_of(frame, ordered, strange))

    def _die(self, claim: Claim, reason: str | None, surface: Surface | None) -> DieSeen:
        known = surface or self.profile.surface
        return DieSeen(
            kind=KIND,
            value=None if reason else claim.judged.value,
            box_px=claim.spot.box_px,
            confidence=round(self._confidence(claim), 3),
            reason=reason,
            xy_mm=known.mm(claim.xy_px, self.profile.die_mm) if known else None,
            owner=claim.judged.owner,
        )

    def _confidence(self, claim: Claim) -> float:
        """The chance that the value is right; an outline that fits leaves no doubt that a die lies there."""
        judged = claim.judged
        if claim.fit is None or claim.fit.overlap < _REST:
            return judged.chance
        odds = (
            judged.is_die
            / max(1e-4, 1 - judged.is_die)
            * np.exp(_FIT_WEIGHT * (claim.fit.overlap - _USUAL_FIT))
        )
        return float(judged.values.max() * odds / (1 + odds)) * (1 - judged.is_cocked)

    def _reason(self, frame: Frame, claim: Claim, look: Look, before: Frame | None) -> str | None:
        """Why the die is not read, None where it is."""
        spot, rows, columns = claim.spot, *frame.shape[:2]
        x0, y0, x1, y1 = spot.box_px
        if max(-x0, -y0, x1 - columns, y1 - rows) > _CUT_OFF * spot.side_px:
            return "cut_off"
        if spot.side_px < SMALLEST_SIDE_PX:
            return "too_small"
        if before is not None and before.shape == frame.shape and _has_moved(frame, before, spot):
            return "moving"
        lies = self._pose(claim, look)
        if lies:
            return lies
        if self._confidence(claim) >= _LEAST_SURE:
            return None
        face = frame[max(0, y0) : y1, max(0, x0) : x1]
        return "glare" if face.size and float((face.min(axis=2) > _BRIGHT).mean()) > _DAZZLED else "margin"

    def _pose(self, claim: Claim, look: Look) -> str | None:
        """``cocked`` or ``stacked`` where the outline is that of no die at rest on the table."""
        found = claim.fit
        if found is None or look.mask is None or look.view is None:
            return "cocked" if claim.judged.is_cocked > 0.5 else None
        if found.overlap >= _LIES_FLAT or found.inside < _WHOLE:
            return None
        others = [o.fit.outline for o in look.claims if o is not claim and o.fit is not None]
        leaning = fit_leaning(look.mask, look.view, found, others) - found.overlap
        stacked = fit_stacked(look.mask, look.view, found, others) - found.overlap
        if leaning > _LEANS or stacked > 0 or found.overlap < _REST:
            return "stacked" if stacked > leaning else "cocked"
        return None

    def _left(self, look: Look) -> list[Claim]:
        """Dice that nobody has claimed: changed places as large as a die that no outline explains."""
        if look.mask is None or look.view is None:
            return []
        outlines = [claim.fit.outline for claim in look.claims if claim.fit is not None]
        rest = np.where(filled(look.mask.shape, outlines) > 0, np.uint8(0), look.mask)
        rows, columns = look.mask.shape
        side = look.view.side_px((columns / 2, rows / 2))
        grain = max(3, round(0.3 * side)) | 1
        rest = cv2.morphologyEx(
            rest, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (grain, grain))
        )
        nothing = Judged(np.full(6, 1 / 6, np.float32), 0.5, 0.0)
        spots = [s for s in spots_in(np.asarray(rest, np.uint8), side) if s.side_px**2 > _LEFT * side**2]
        return [Claim(replace(spot, side_px=side), nothing) for spot in spots]


def _believed(view: View | None, spots: Sequence[Spot]) -> View | None:
    """The view, None where the faces that are surely seen are far from the size that it says: then a marker's size or
    the dice's was told wrongly, or the camera hangs elsewhere now."""
    ratios = (
        [s.side_px / view.side_px((s.x_px, s.y_px)) for s in spots if s.score > _CLEARLY_SEEN] if view else []
    )
    if not ratios or _BELIEVED[0] < float(np.median(ratios)) < _BELIEVED[1]:
        return view
    return None


def what_lies(frame: Frame, profile: TableProfile) -> Mask | None:
    """What has changed against the empty table, by the picture of it that is most alike; None where none is of this
    view."""
    masks = [mask for empty in profile.empty if is_same_view(mask := changed(frame, empty))]
    return min(masks, key=lambda mask: float(mask.mean()), default=None)


def covered(mask: Mask, spot: Spot) -> float:
    """Share of a face, 0 to 1, where something lies."""
    x0, y0, x1, y1 = spot.box_px
    part = mask[max(0, y0) : max(1, y1), max(0, x0) : max(1, x1)]
    return float(part.mean()) / 255.0 if part.size else 0.0


def _missed(mask: Mask, spots: Sequence[Spot], side: float | None) -> list[Spot]:
    """The new things of a die's size that the finder did not see."""
    usual = side or (float(np.median([spot.side_px for spot in spots])) if spots else None)
    return [
        lying
        for lying in spots_in(mask, usual)
        if all(np.hypot(lying.x_px - s.x_px, lying.y_px - s.y_px) > _APART * s.side_px for s in spots)
    ]


def _at_rim(spot: Spot, frame: Frame) -> bool:
    """Whether a face there may go on beyond the picture."""
    rows, columns = frame.shape[:2]
    return bool(min(spot.x_px, spot.y_px, columns - spot.x_px, rows - spot.y_px) < _NEAR_RIM * spot.side_px)


def _are_apart(one: Spot, other: Spot, up_xy: tuple[float, float] | None = None) -> bool:
    """Whether both can be top faces. `up_xy`: a smaller face that lies from a larger one the other way, and close to
    it, is another face of the same die."""
    small, large = sorted((one, other), key=lambda spot: spot.side_px)
    way = np.array((large.x_px - small.x_px, large.y_px - small.y_px))
    distance = float(np.hypot(*way))
    if distance <= _APART * large.side_px:
        return False
    is_aslant = small.side_px < _FORESHORTENED * large.side_px and distance < _BESIDE * large.side_px
    return not (is_aslant and up_xy is not None and float(way @ up_xy) > _BELOW * distance)


def _is_beside(one: Spot, other: Spot) -> bool:
    reach = _BESIDE * max(one.side_px, other.side_px)
    return bool(np.hypot(one.x_px - other.x_px, one.y_px - other.y_px) < reach)


def _of_one_size(claims: Sequence[Claim]) -> list[Claim]:
    """The claims whose faces are about as large as the sure ones: a roll's dice are seen from one place, and neither
    the pip of a die nor a picture of several is one."""
    sure = [c.spot.side_px for c in claims if c.judged.chance > _VERY_SURE and c.spot.score > _FAIRLY_SEEN]
    usual = float(np.median(sure)) if sure else None
    return [c for c in claims if usual is None or 1 / _ONE_SIZE < c.spot.side_px / usual < _ONE_SIZE]


def _has_moved(frame: Frame, before: Frame, spot: Spot) -> bool:
    """Whether the face is not where it was: it changed by much more than the table around it."""
    now, then = (
        cut(picture, spot.x_px, spot.y_px, spot.side_px).astype(np.float32) for picture in (frame, before)
    )
    soft = cv2.GaussianBlur(now, (0, 0), 1.5) - cv2.GaussianBlur(then, (0, 0), 1.5)
    soft -= np.median(soft.reshape(-1, 3), axis=0)
    contrast = float(np.percentile(now, 95) - np.percentile(now, 5)) + 10.0
    moved = float(np.percentile(np.abs(soft).max(2), 90))
    return moved > 0.25 * contrast
