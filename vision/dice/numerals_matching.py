"""Which face of an enrolled die is on top? Its picture compared with those of the die's own faces, at every turn.

A face is compared together with what is seen of its neighbours: which faces lie around it is fixed for a die, so they
tell a 6 from a 9 that bears no mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.numerals_looks import CUT_PX, LEGAL, Pose, cut
from vision.frame import Frame

Plane = NDArray[np.float32]

SHOT_REACH = 1.1
"""Radii from the middle of an enrolled picture to its rim."""
PER_RADIUS = CUT_PX / 2 / SHOT_REACH
_TURNS = 120
_RADII = np.linspace(0.05, 0.92, 34)
_SHIFTS = (-0.16, -0.08, 0.0, 0.08, 0.16)
_SIZES = (0.9, 1.0, 1.11)
_SMOOTH = 0.22  # radii: what changes more slowly over a face is light, not ink
_SOFT_PX = 0.9
_OUTER = 0.45  # what lies farther out is seen askew, or is the cloth beside the die, and counts less
_WEIGHT = np.sqrt(_RADII * np.where(_RADII > _OUTER, np.exp(-8 * (_RADII - _OUTER)), 1.0)).astype(np.float32)
_CORE = 0.4  # radii: the top face itself
_LEAST = -0.15  # ink's side of the body counts most: the other is edges and mirrored lamps
_STRAYS, _LEAST_STRAY = 1.6, 22.0  # times what the enrolled pictures' colours differ, and at least (Lab)
_PER_LIGHTNESS = 0.4
_SHORT = 8  # names whose best picture is laid exactly over the die
_STEPS = ((0.05, 4.0, 0.04), (0.025, 2.0, 0.02), (0.012, 1.0, 0.01))  # radii, degrees, share of size


@dataclass(frozen=True)
class FaceShot:
    """One enrolled picture of a face. `piece`: (CUT_PX, CUT_PX, 3) uint8 BGR as `numerals_looks.cut` makes it with
    SHOT_REACH. `whole`: of a d4 that stands on a face, its picture as `numerals_outline.wholes` makes it."""

    kind: str
    text: str
    piece: Frame
    whole: Frame | None = None


@dataclass(frozen=True)
class FaceFit:
    """How well a face of an enrolled die fits: correlation -1 to 1, and how the die lies then."""

    kind: str
    text: str
    score: float
    pose: Pose


@dataclass(frozen=True)
class _Spot:
    """A template laid over the die: shift in radii, turn in degrees, size."""

    score: float
    shift: tuple[float, float]
    turn_deg: float
    size: float


_AS_IT_IS = _Spot(0.0, (0.0, 0.0), 0.0, 1.0)


class _Die:
    """The enrolled faces of one kind of die, as planes of ink against body on that die's own colour axis."""

    def __init__(self, kind: str, shots: Sequence[FaceShot]) -> None:
        self.kind = kind
        self.texts = [shot.text for shot in shots]
        contrasts = [_contrast(shot.piece) for shot in shots]
        disc = _disc(_CORE)
        pixels = np.concatenate([contrast[disc] for contrast in contrasts])
        _, axes = np.linalg.eigh(pixels.T @ pixels)
        axis = axes[:, -1]
        self.axis = np.asarray(
            axis * np.sign(((pixels @ axis) ** 3).mean()), np.float32
        )  # ink covers the less
        colours = np.array([_colour(shot.piece) for shot in shots])
        self._body = np.median(colours, axis=0)
        self._strays = max(_LEAST_STRAY, _STRAYS * float(np.linalg.norm(colours - self._body, axis=1).max()))
        planes = [squashed(contrast @ self.axis) for contrast in contrasts]
        whole = np.stack([_unit(_polar(plane, _AS_IT_IS)) for plane in planes])
        self.spectra = np.conj(np.fft.rfft(whole, axis=2))
        self.whole = whole.reshape(len(shots), -1)

    def may_be(self, piece: Frame) -> bool:
        """Whether what was cut out has about this die's colour."""
        return float(np.linalg.norm(_colour(piece) - self._body)) <= self._strays

    def plane(self, piece: Frame) -> Plane:
        return squashed(_contrast(piece) @ self.axis)

    def scored(self, plane: Plane, index: int, spot: _Spot) -> _Spot:
        """The spot with how well this picture fits there as a whole."""
        view = _unit(_polar(plane, spot)).ravel()
        return _Spot(float(view @ self.whole[index]), spot.shift, spot.turn_deg, spot.size)


class NumeralMatcher:
    """Compares dice with the enrolled faces of one set. Raises ValueError where there are none."""

    def __init__(self, shots: Sequence[FaceShot]) -> None:
        if not shots:
            raise ValueError("no dice are enrolled")
        kinds = sorted({shot.kind for shot in shots}, key=list(LEGAL).index)
        self._dice = [_Die(kind, [shot for shot in shots if shot.kind == kind]) for kind in kinds]
        self.kinds = tuple(kinds)

    def fits(self, frame: Frame, pose: Pose, kinds: Iterable[str]) -> list[FaceFit]:
        """The best fits of faces to the die at `pose` (known to about a tenth of its radius), best first: one for each
        name of a short list of each kind. Nothing of dice of another colour."""
        return self.fits_of(cut(frame, pose, SHOT_REACH), pose, kinds)

    def fits_of(self, piece: Frame, pose: Pose, kinds: Iterable[str]) -> list[FaceFit]:
        """`fits` of a die that was cut out at `pose` already, SHOT_REACH radii to each side."""
        wanted = set(kinds)
        found: list[FaceFit] = []
        for die in self._dice:
            if die.kind in wanted and die.may_be(piece):
                found += _fits(die, die.plane(piece), pose)
        return sorted(found, key=lambda fit: -fit.score)


def _fits(die: _Die, plane: Plane, pose: Pose) -> list[FaceFit]:
    places = [(x, y, size) for x in _SHIFTS for y in _SHIFTS for size in _SIZES]
    views = np.stack([_unit(_polar(plane, _Spot(0.0, (x, y), 0.0, size))) for x, y, size in places])
    products = np.einsum("srf,trf->tsf", np.fft.rfft(views, axis=2), die.spectra, optimize=True)
    scores = np.fft.irfft(products, n=_TURNS, axis=2)  # (pictures, places, turns)
    best: dict[str, tuple[float, int, int, int]] = {}
    for index, text in enumerate(die.texts):
        place, turn = divmod(int(scores[index].argmax()), _TURNS)
        value = float(scores[index, place, turn])
        if text not in best or value > best[text][0]:
            best[text] = (value, index, place, turn)
    found = []
    for text, (value, index, place, turn) in sorted(best.items(), key=lambda item: -item[1][0])[:_SHORT]:
        x, y, size = places[place]
        spot = _laid(die, plane, index, _Spot(value, (x, y), turn * 360.0 / _TURNS, size))
        lying = Pose(
            pose.x_px + spot.shift[0] * pose.radius_px,
            pose.y_px + spot.shift[1] * pose.radius_px,
            pose.radius_px * spot.size,
            spot.turn_deg,
        )
        found.append(FaceFit(die.kind, text, spot.score, lying))
    return found


def _laid(die: _Die, plane: Plane, index: int, start: _Spot) -> _Spot:
    """The picture moved until it fits best."""
    best = die.scored(plane, index, start)
    for step, turn, size in _STEPS:
        while True:
            x, y = best.shift
            tries = [
                _Spot(
                    0.0,
                    (x + dx * step, y + dy * step),
                    best.turn_deg + dt * turn,
                    best.size * (1 + ds * size),
                )
                for dx, dy, dt, ds in _WAYS
            ]
            better = max((die.scored(plane, index, one) for one in tries), key=lambda spot: spot.score)
            if better.score <= best.score + 1e-3:
                break
            best = better
    return best


_WAYS = (
    (1, 0, 0, 0),
    (-1, 0, 0, 0),
    (0, 1, 0, 0),
    (0, -1, 0, 0),
    (0, 0, 1, 0),
    (0, 0, -1, 0),
    (0, 0, 0, 1),
    (0, 0, 0, -1),
)


def _colour(piece: Frame) -> NDArray[np.float64]:
    """(3,) Lab of the body, lightness counting less than hue."""
    lab = cv2.cvtColor(piece, cv2.COLOR_BGR2LAB)[_disc(_CORE)].astype(np.float64)
    return np.asarray(np.median(lab, axis=0) * (_PER_LIGHTNESS, 1.0, 1.0), np.float64)


def _contrast(piece: Frame) -> Plane:
    """(rows, columns, 3) how each place differs from what lies around it, in Lab."""
    lab = cv2.cvtColor(piece.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)
    fine = cv2.GaussianBlur(lab, (0, 0), _SOFT_PX)
    return np.asarray(fine - cv2.GaussianBlur(lab, (0, 0), _SMOOTH * PER_RADIUS), np.float32)


def squashed(level: Plane) -> Plane:
    """Levels held between -1 and 1, so that a mirrored lamp weighs no more than ink."""
    ink = float(np.percentile(level[_disc(_CORE)], 98.5)) + 1e-3
    return np.asarray(np.clip(level / ink, _LEAST, 1.0), np.float32)


def _polar(plane: Plane, spot: _Spot) -> Plane:
    """(radii, turns) of the plane as the spot moves and turns it, weighted by what each place stands for."""
    angle = np.arange(_TURNS) * (2 * np.pi / _TURNS) + np.radians(spot.turn_deg)
    reach = _RADII[:, None] * (spot.size * PER_RADIUS)
    x = (reach * np.sin(angle) + (spot.shift[0] * PER_RADIUS + (CUT_PX - 1) / 2)).astype(np.float32)
    y = ((spot.shift[1] * PER_RADIUS + (CUT_PX - 1) / 2) - reach * np.cos(angle)).astype(np.float32)
    seen = cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray((seen - seen.mean()) * _WEIGHT[:, None], np.float32)


def _unit(view: Plane) -> Plane:
    view = view - view.mean()
    return np.asarray(view / (np.linalg.norm(view) + 1e-6), np.float32)


def _disc(radius: float) -> NDArray[np.bool_]:
    step = (np.arange(CUT_PX) - (CUT_PX - 1) / 2) / PER_RADIUS
    return np.asarray(np.hypot(step[:, None], step[None, :]) <= radius, np.bool_)
