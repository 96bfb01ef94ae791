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
_SHIFTS = (-0.07, 0.0, 0.07)
_SIZES = (0.93, 1.0, 1.07)
_SMOOTH = 0.22  # radii: what changes more slowly over a face is light, not ink
_SOFT_PX = 0.9
_OUTER = 0.55  # what lies farther out is seen askew and counts less
_PATCH_PX = 88
_CORE = 0.4  # radii: the top face itself
LOW = -0.15
_SHORT = 5  # names whose best picture is laid exactly over the die
_STEPS = ((0.05, 4.0, 0.04), (0.025, 2.0, 0.02), (0.012, 1.0, 0.01))  # radii, degrees, share of size


@dataclass(frozen=True)
class FaceShot:
    """One enrolled picture of a face. `piece`: (CUT_PX, CUT_PX, 3) uint8 BGR as `numerals_looks.cut` makes it with
    SHOT_REACH."""

    kind: str
    text: str
    piece: Frame


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
        levels = pixels @ axis
        self.axis = np.asarray(
            axis * np.sign((levels**3).mean()), np.float32
        )  # ink covers less than body does
        planes = [squashed(contrast @ self.axis) for contrast in contrasts]
        self.patches = np.stack(
            [_unit(_patch(plane, _Spot(0, (0, 0), 0, 1)) * _weights()) for plane in planes]
        )
        polar = np.stack([_unit(_polar(plane, (0.0, 0.0), 1.0)) for plane in planes])
        self.spectra = np.conj(np.fft.rfft(polar, axis=2))

    def plane(self, piece: Frame) -> Plane:
        return squashed(_contrast(piece) @ self.axis)


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
        name of a short list of each kind."""
        return self.fits_of(cut(frame, pose, SHOT_REACH), pose, kinds)

    def fits_of(self, piece: Frame, pose: Pose, kinds: Iterable[str]) -> list[FaceFit]:
        """`fits` of a die that was cut out at `pose` already, SHOT_REACH radii to each side."""
        wanted = set(kinds)
        found: list[FaceFit] = []
        for die in self._dice:
            if die.kind in wanted:
                found += _fits(die, die.plane(piece), pose)
        return sorted(found, key=lambda fit: -fit.score)


def _fits(die: _Die, plane: Plane, pose: Pose) -> list[FaceFit]:
    places = [(x, y, size) for x in _SHIFTS for y in _SHIFTS for size in _SIZES]
    views = np.stack([_unit(_polar(plane, (x, y), size)) for x, y, size in places])
    products = np.einsum("srf,trf->tsf", np.fft.rfft(views, axis=2), die.spectra, optimize=True)
    scores = np.fft.irfft(products, n=_TURNS, axis=2)  # (templates, places, turns)
    best: dict[str, tuple[float, int, int, int]] = {}
    for index, text in enumerate(die.texts):
        place, turn = divmod(int(scores[index].argmax()), _TURNS)
        value = float(scores[index, place, turn])
        if text not in best or value > best[text][0]:
            best[text] = (value, index, place, turn)
    found = []
    for text, (value, index, place, turn) in sorted(best.items(), key=lambda item: -item[1][0])[:_SHORT]:
        x, y, size = places[place]
        spot = _laid(plane, die.patches[index], _Spot(value, (x, y), turn * 360.0 / _TURNS, size))
        lying = Pose(
            pose.x_px + spot.shift[0] * pose.radius_px,
            pose.y_px + spot.shift[1] * pose.radius_px,
            pose.radius_px * spot.size,
            spot.turn_deg,
        )
        found.append(FaceFit(die.kind, text, spot.score, lying))
    return found


def _laid(plane: Plane, patch: Plane, start: _Spot) -> _Spot:
    """The template moved until it fits best."""
    best = _scored(plane, patch, start)
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
            better = max((_scored(plane, patch, one) for one in tries), key=lambda spot: spot.score)
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


def _scored(plane: Plane, patch: Plane, spot: _Spot) -> _Spot:
    view = _unit(_patch(plane, spot) * _weights())
    return _Spot(float((view * patch).sum()), spot.shift, spot.turn_deg, spot.size)


def _contrast(piece: Frame) -> Plane:
    """(rows, columns, 3) how each place differs from what lies around it, in Lab."""
    lab = cv2.cvtColor(piece.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)
    fine = cv2.GaussianBlur(lab, (0, 0), _SOFT_PX)
    return np.asarray(fine - cv2.GaussianBlur(lab, (0, 0), _SMOOTH * PER_RADIUS), np.float32)


def squashed(level: Plane) -> Plane:
    """Levels held between -1 and 1, so that a mirrored lamp weighs no more than ink."""
    ink = float(np.percentile(level[_disc(_CORE)], 98.5)) + 1e-3
    return np.asarray(np.clip(level / ink, LOW, 1.0), np.float32)


def _polar(plane: Plane, shift: tuple[float, float], size: float) -> Plane:
    """(radii, turns), row by radius and weighted by how much of the face it stands for."""
    angle = np.arange(_TURNS) * 2 * np.pi / _TURNS
    reach = _RADII[:, None] * size * PER_RADIUS
    x = (reach * np.sin(angle) + shift[0] * PER_RADIUS + (CUT_PX - 1) / 2).astype(np.float32)
    y = (-reach * np.cos(angle) + shift[1] * PER_RADIUS + (CUT_PX - 1) / 2).astype(np.float32)
    seen = cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    weight = np.sqrt(_RADII * np.where(_RADII > _OUTER, np.exp(-4 * (_RADII - _OUTER)), 1.0))
    return np.asarray((seen - seen.mean()) * weight[:, None], np.float32)


def _patch(plane: Plane, spot: _Spot) -> Plane:
    """(_PATCH_PX, _PATCH_PX) of the plane as the spot turns and moves it."""
    turn = np.radians(spot.turn_deg)
    scale = spot.size * PER_RADIUS * 2 * _RADII[-1] / _PATCH_PX
    cos, sin = float(np.cos(turn)) * scale, float(np.sin(turn)) * scale
    back = np.array([[cos, -sin, 0.0], [sin, cos, 0.0]])
    middle = np.array(spot.shift) * PER_RADIUS + (CUT_PX - 1) / 2
    back[:, 2] = middle - back[:, :2] @ np.full(2, (_PATCH_PX - 1) / 2)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(plane, back, (_PATCH_PX, _PATCH_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    )


def _unit(view: Plane) -> Plane:
    view = view - view.mean()
    return np.asarray(view / (np.linalg.norm(view) + 1e-6), np.float32)


def _step_radii(side: int, per_radius: float) -> Plane:
    step = (np.arange(side) - (side - 1) / 2) / per_radius
    return np.asarray(np.hypot(step[:, None], step[None, :]), np.float32)


def _disc(radius: float) -> NDArray[np.bool_]:
    return np.asarray(_step_radii(CUT_PX, PER_RADIUS) <= radius)


_FAR = _step_radii(_PATCH_PX, _PATCH_PX / 2 / _RADII[-1])
_WEIGHT = np.asarray(
    np.sqrt(np.where(_RADII[-1] < _FAR, 0.0, np.where(_FAR > _OUTER, np.exp(-4 * (_FAR - _OUTER)), 1.0))),
    np.float32,
)


def _weights() -> Plane:
    return _WEIGHT
