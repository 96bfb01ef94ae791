"""Reading six-sided dice with pips in one picture, without knowledge of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.finding import Spot
from vision.dice.flags import flags_of
from vision.dice.judging import Claim, FaceJudge
from vision.dice.networks import FaceFinder
from vision.dice.trust import features, load_trust
from vision.frame import Frame
from vision.surface import Surface

KIND = "d6-pips"
SMALLEST_SIDE_PX = 9.0
_CUT_OFF = 0.3  # share of the face's edge that may lie beyond the picture's rim
_DIE_MM = 16.0  # edge of a die

_LEAST_DIE = 0.35  # chance of a die with pips, below which a spot is none
_WASHED_OUT = 0.25  # a face that is mostly white is told at so small a share of the usual chance of a die
_SURE = 0.8  # chance of a value from which its die's size counts for the others
_APART = 0.72  # top faces of two dice are farther apart than this share of their mean edge
_INSIDE = 0.55  # nearer than this share of the larger edge, one lies in the other
_LOOKS_LIKE_A_DIE = 0.5  # score of a spot by the finder
_ONE_SIZE = 0.25  # log of sizes within which dice of one roll are taken for dice of one kind
_NEARLY_ONE_SIZE = 0.35  # the same for a face that is not read, whose edge is seen less well
_HARDLY_NOTHING = 0.3  # chance of nothing below which what looks like one more die is told
_RARER = 3.0  # how much rarer (log) a die of another kind is among dice with pips of its size
_FEWEST_ALIKE = 2  # dice by which a roll's size is known
_CLEAR_OF = 0.8  # of an edge: what lies nearer to a die that is told belongs to it
_SIZES = (0.4, 2.5)  # edges of the dice of one roll against their median


@dataclass(frozen=True)
class Reading:
    """What one picture shows. `flags`: no_dice, too_dark, too_small, blurred, clutter."""

    dice: tuple[DieSeen, ...]
    flags: tuple[str, ...] = ()


class PipsReader:
    """Reads pips; safe to keep and to use for many pictures, from one thread."""

    def __init__(self, models: Path | None = None) -> None:
        """`models`: folder of other networks than those of the package."""
        self._finder = FaceFinder(models)
        self._judge = FaceJudge(models)
        self._trust = load_trust(models)

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in `frame` (uint8 BGR (rows, columns, 3)), from the top left; a doubtful one has no value.

        `box_px` of a die hugs the face that was read, `confidence` is the chance that its value is right. A
        `surface` tells the dice's size.
        """
        side_px = None
        if surface is not None:
            width, height = surface.size_mm
            side_px = _DIE_MM * surface.px_per_mm((width / 2, height / 2), _DIE_MM)
        spots = self._finder.find(frame, side_px)
        found = of_one_kind(self._judge.claims(frame, spots))
        claims = agreed(found)
        told = [self._told(frame, claim, row) for claim, row in zip(claims, features(claims), strict=True)]
        known = [claim for claim, die in zip(claims, told, strict=True) if die is not None]
        dice = (
            *(die for die in told if die is not None),
            *(_unread(claim, "margin", claim.chance) for claim in passed_over(found, known)),
        )
        return Reading(
            tuple(sorted(dice, key=lambda die: (die.box_px[1], die.box_px[0]))),
            flags_of(frame, dice, len(spots) - len(dice)),
        )

    def _told(self, frame: Frame, claim: Claim, row: Sequence[float]) -> DieSeen | None:
        """What is said of a claim whose `features` are `row`, None where too little speaks for a die."""
        right, is_die = self._trust.of(row)
        reason = _reason(frame, claim, is_sure=right >= self._trust.say)
        if reason and is_die < self._trust.tell * (_WASHED_OUT if reason == "glare" else 1.0):
            return None
        if reason:
            return _unread(claim, reason, right)
        return DieSeen(
            kind=KIND, value=claim.value, box_px=claim.spot.box_px, confidence=round(right, 3), reason=None
        )


def _unread(claim: Claim, reason: str, chance: float) -> DieSeen:
    return DieSeen(
        kind=KIND, value=None, box_px=claim.spot.box_px, confidence=round(chance, 3), reason=reason
    )


def of_one_kind(claims: Sequence[Claim]) -> list[Claim]:
    """The claims, those as large as what is surely a die with pips held for one more readily: the dice of a roll are
    seldom of two kinds and one size."""
    sure = [claim.spot.side_px for claim in claims if claim.chance > _SURE and _looks_like_a_die(claim)]
    if len(sure) < _FEWEST_ALIKE:
        return list(claims)
    usual = float(np.median(sure))
    return [
        claim.unlikely_other(_RARER) if _looks_like_a_die(claim) and _is_alike(claim, usual) else claim
        for claim in claims
    ]


def _looks_like_a_die(claim: Claim) -> bool:
    return claim.spot.score > _LOOKS_LIKE_A_DIE


def _is_alike(claim: Claim, usual_px: float, within: float = _ONE_SIZE) -> bool:
    return abs(float(np.log(claim.spot.side_px / usual_px))) < within


def passed_over(claims: Sequence[Claim], known: Sequence[Claim]) -> list[Claim]:
    """What lies apart from the known dice, is as large and looks like a die, but of which nothing else is said."""
    if len(known) < _FEWEST_ALIKE:
        return []
    usual = float(np.median([claim.spot.side_px for claim in known]))
    found: list[Claim] = []
    for claim in sorted(claims, key=lambda c: -c.spot.score):
        is_something = claim.is_nothing < _HARDLY_NOTHING and _looks_like_a_die(claim)
        is_free = all(_distance(claim, other) > _CLEAR_OF * usual for other in (*known, *found))
        if is_something and is_free and _is_alike(claim, usual, _NEARLY_ONE_SIZE):
            found.append(claim)
    return found


def _distance(one: Claim, other: Claim) -> float:
    return float(np.hypot(one.spot.x_px - other.spot.x_px, one.spot.y_px - other.spot.y_px))


def agreed(claims: Sequence[Claim]) -> list[Claim]:
    """The claims that can be true together: dice with pips, one a place, sizes of one roll."""
    kept: list[Claim] = []
    for claim in sorted(claims, key=lambda c: -c.spot.score * c.is_die * c.chance):
        if claim.is_die >= _LEAST_DIE and all(_are_apart(claim.spot, other.spot) for other in kept):
            kept.append(claim)
    sure = [claim.spot.side_px for claim in kept if claim.chance > _SURE]
    usual = float(np.median(sure)) if sure else None
    return [c for c in kept if usual is None or _SIZES[0] < c.spot.side_px / usual < _SIZES[1]]


def _are_apart(one: Spot, other: Spot) -> bool:
    distance = float(np.hypot(one.x_px - other.x_px, one.y_px - other.y_px))
    mean, larger = (one.side_px + other.side_px) / 2, max(one.side_px, other.side_px)
    return distance > max(_APART * mean, _INSIDE * larger)


def _reason(frame: Frame, claim: Claim, is_sure: bool) -> str | None:
    """Why the die is not read, None where it is."""
    spot = claim.spot
    rows, columns = frame.shape[:2]
    x0, y0, x1, y1 = spot.box_px
    if max(-x0, -y0, x1 - columns, y1 - rows) > _CUT_OFF * spot.side_px:
        return "cut_off"
    if spot.side_px < SMALLEST_SIDE_PX:
        return "too_small"
    if claim.is_cocked > 0.5:
        return "cocked"
    if is_sure:
        return None
    face = frame[max(0, y0) : y1, max(0, x0) : x1]
    return "glare" if face.size and float((face.min(axis=2) > 250).mean()) > 0.35 else "margin"
