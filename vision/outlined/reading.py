"""One card read where it lies: which side of which card, in which ink, and where exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from companion.core.layout import Layout
from vision.frame import Frame
from vision.outlined.badges import badge_ink, badge_likeness
from vision.outlined.faces import CELLS_PER_MM, Side, frame_of, sides_of
from vision.outlined.fitting import Fit, Fitter, centre_of, pose_about
from vision.outlined.plane import Flat
from vision.outlined.telling import Ink, Told, ink_of, told_apart

Mask = NDArray[np.bool_]
_AROUND_MM = 15.0
_COARSE_MM = 1.2  # blur at which a start may be so far off
_SHARP_MM = (0.4, 0.6, 0.8, 1.0)  # blurs of a picture that are told apart
_ALIKE = 0.012  # costs that differ by less do not tell two sides apart: the badge does
_ALIKE_WHEN_COVERED, _GOOD, _MOST_TIED = 0.06, 0.05, 10
_BADGE_GAP = 0.1  # a back may bear its value as the front does: then nothing tells them apart
_FITS = 0.1  # cost from which a card hardly is one of these
_NO_CARD = 0.25
_DOUBTFUL = 0.12  # from which another way of finding its place is tried
_CLEAR_BADGE = 0.3  # by so much a badge must speak for one card more than for the next
_CLEAR = 0.02  # by so much a side must fit better than the next
_LEAST_CONTRAST, _LEAST_SHARE = 18.0, 0.4  # of a white line over what is dark: levels, and share of its own
_MOST_MISFIT = 0.35
_WHOLE_TRIES = 2
_NOISE_FACTOR = 3.0
_FLOOR_MM, _FLOOR_PX = 0.1, 0.25  # what a pose always may be off, in mm and in px of the picture
_SURE_INK_DEG = 6.0
_COARSE_U_MM, _COARSE_U_DEG = 3.0, 3.0  # of a place that no side of a card was fitted to
_SURE = 0.5
"""Confidence from which a card is said to be the likeliest one; below it, which it may be is told."""


@dataclass(frozen=True)
class CardRead:
    """A card as it was read. `card` None where it is one of `candidates` (the likeliest first, at most three) or none
    of the deck. `pose` of the top-left corner of the side that is up; the truth is within `u_mm` and `u_deg`. `cost`:
    share of it that does not fit; `shown`: share of the card that was there to be read."""

    card: str | None
    flipped: bool
    colour: str
    pose: Pose
    u_mm: float
    u_deg: float
    confidence: float
    candidates: tuple[str, ...]
    cost: float
    shown: float
    side: Side


class CardReader:
    """Reads cards of one deck. `layouts`: each front; `hues`: hue angle in Lab, in degrees, of each colour of ink.

    `sigma_mm`, how soft the pictures are, is learnt from the first card that is read.
    """

    def __init__(self, layouts: Sequence[Layout], hues: Mapping[str, float]) -> None:
        if not layouts:
            raise ValueError("a deck of no card: nothing could be read")
        self.layouts = {layout.id: layout for layout in layouts}
        self.hues = dict(hues)
        self.size_mm = layouts[0].size_mm
        self.strip_mm = layouts[0].strip_mm
        self.sigma_mm: float | None = None
        self._white: tuple[float, float, float] | None = None  # as the lamp tints it, on cards that fit well

    def read(
        self, flat: Flat, start: Pose, mask: Mask | None = None, *, thorough: bool = True
    ) -> CardRead | None:
        """The card that lies about at `start`, either way up; None where none is. `mask`: cells of it (rows, columns;
        CELLS_PER_MM a mm) that no other card covers. `thorough`: also where its rim cannot be made out."""
        flat = flat.around(centre_of(start, self.size_mm), float(np.hypot(*self.size_mm)) / 2 + _AROUND_MM)
        near = self._framed(flat, start, mask)
        read = None if near is None else self._named(flat, near, mask)
        if not thorough or (read is not None and read.cost < _DOUBTFUL):
            return read
        near = self._fitted(flat, start, mask)
        other = None if near is None else self._named(flat, near, mask)
        return min(
            (each for each in (read, other) if each is not None), key=lambda each: each.cost, default=None
        )

    def _named(self, flat: Flat, near: Pose, mask: Mask | None) -> CardRead | None:
        """The card whose rim, either way up, lies at `near`."""
        ranked = told_apart(flat, near, sides_of(tuple(self.layouts.values()), self.sigma_mm or 0.6), mask)
        if ranked[0].cost > _NO_CARD:
            return None
        # What is covered in part fits many sides a little: there the badge says more.
        alike = _ALIKE if ranked[0].cost < _GOOD else _ALIKE_WHEN_COVERED
        tied = [told for told in ranked if told.cost - ranked[0].cost < alike][:_MOST_TIED]
        hints = [self._hint(flat, near, told.side, told.is_turned) for told in tied]
        order = sorted(
            range(len(tied)), key=lambda i: (tied[i].cost / alike - hints[i], tied[i].side.flipped)
        )
        best = tied[order[0]]
        rivals = [hint for hint, told in zip(hints, tied, strict=True) if told.side.card != best.side.card]
        by_badge = (hints[order[0]] - max(rivals)) / _CLEAR_BADGE if rivals else 0.0
        if self.sigma_mm is None:
            self.sigma_mm = self._sharpness(
                flat, _turned(near, best.is_turned, self.size_mm), best.side, mask
            )
        return self._measured(flat, near, (best, by_badge), _ranked(ranked, best.side.card), mask)

    def strange(self, pose: Pose) -> CardRead:
        """Something of a card's size and shape that is none of this deck."""
        frame = frame_of(self.size_mm, self.strip_mm, self.sigma_mm or 0.6)
        return CardRead(None, False, "", pose, _COARSE_U_MM, _COARSE_U_DEG, 0.0, (), 1.0, 1.0, frame)

    def again(
        self, flat: Flat, side: Side, start: Pose, mask: Mask | None = None
    ) -> tuple[Fit, float] | None:
        """A card that is known, fitted anew near `start`, and the share of it that does not fit; None where no white
        line stands out."""
        sharp = self._sharp(side)
        fit = Fitter(sharp, mask).fit(flat, start)
        if not _has_contrast(fit):
            return None
        return fit, told_apart(flat, fit.pose, (sharp,), mask, turned=(False,))[0].cost

    def cost_at(self, flat: Flat, side: Side, pose: Pose, mask: Mask | None = None) -> float:
        """Which share of a known card does not fit where it lay: all of it where no white line stands out."""
        if not _has_contrast(Fitter(self._sharp(side), mask).judged(flat, pose)):
            return 1.0
        return told_apart(flat, pose, (self._sharp(side),), mask, turned=(False,))[0].cost

    def doubt(self, flat: Flat, fit: Fit) -> tuple[float, float]:
        """(u_mm, u_deg) of a fitted pose."""
        floor = _FLOOR_MM + _FLOOR_PX / flat.px_per_mm
        u_deg = float(np.degrees(floor / (max(self.size_mm) / 2)))
        return round(floor + _NOISE_FACTOR * fit.sure_mm, 3), round(u_deg + _NOISE_FACTOR * fit.sure_deg, 3)

    def _sharp(self, side: Side) -> Side:
        layout = self.layouts[side.card]
        return sides_of((layout,), self.sigma_mm or 0.6)[int(side.flipped)]

    def _fitted(self, flat: Flat, start: Pose, mask: Mask | None) -> Pose | None:
        """Where one of the sides fits as a whole, for rims that glare or the table's own white hide; None where none
        does. Either way up."""
        blurred = replace(flat, bgr=_blurred(flat))
        soft = round(float(np.hypot(_COARSE_MM, self.sigma_mm or 0.6)), 1)
        found: tuple[float, Pose] | None = None
        for told in told_apart(blurred, start, sides_of(tuple(self.layouts.values()), soft), mask)[
            :_WHOLE_TRIES
        ]:
            pose = (
                Fitter(told.side, mask)
                .fit(blurred, _turned(start, told.is_turned, self.size_mm), rounds=8)
                .pose
            )
            again = self.again(flat, told.side, pose, mask)
            if again is not None and again[1] < _NO_CARD and (found is None or again[1] < found[0]):
                found = again[1], again[0].pose
        return None if found is None else found[1]

    def _framed(self, flat: Flat, start: Pose, mask: Mask | None) -> Pose | None:
        """Where the rim fits, by itself; None where nothing like one is."""
        soft = float(np.hypot(_COARSE_MM, self.sigma_mm or 0.6))
        coarse = Fitter(frame_of(self.size_mm, self.strip_mm, round(soft, 1)), mask)
        pose = coarse.fit(replace(flat, bgr=_blurred(flat)), start, rounds=8).pose
        fit = Fitter(frame_of(self.size_mm, self.strip_mm, self.sigma_mm or 0.6), mask).fit(flat, pose)
        return fit.pose if _has_contrast(fit) and fit.misfit < _MOST_MISFIT else None

    def _hint(self, flat: Flat, pose: Pose, side: Side, is_turned: bool) -> float:
        """How well the badge speaks for a side; a back's value may be mirrored or not."""
        layout = self.layouts[side.card]
        if not layout.badge:
            return 0.0
        value = sum(len(region.dots_mm) for region in layout.regions)
        lies = _turned(pose, is_turned, self.size_mm)
        plain, back = (
            badge_likeness(flat, lies, self.size_mm, (layout.badge, value, mirrored), self.sigma_mm or 0.6)
            for mirrored in (False, True)
        )
        return max(plain, back - _BADGE_GAP) if side.flipped else plain

    def _ink(self, flat: Flat, fit: Fit, side: Side, white: tuple[float, float, float]) -> Ink:
        """The name of a card's ink by its badge where it has a coloured one, else by its shapes and strip."""
        if not _is_inked(side):
            return Ink("", 180.0)
        badge = badge_ink(flat, fit.pose, self.size_mm) if self.layouts[side.card].badge else None
        by_badge = Ink("", 0.0) if badge is None else ink_of(badge, white, self.hues)
        return by_badge if by_badge.name else ink_of(fit.ink, white, self.hues)

    def _sharpness(self, flat: Flat, pose: Pose, side: Side, mask: Mask | None) -> float:
        fits = {}
        for sigma in _SHARP_MM:
            soft = sides_of((self.layouts[side.card],), sigma)[int(side.flipped)]
            fits[sigma] = Fitter(soft, mask).fit(flat, pose).misfit
        return min(fits, key=lambda sigma: fits[sigma])

    def _measured(
        self,
        flat: Flat,
        near: Pose,
        chosen: tuple[Told, float],
        others: list[tuple[str, float]],
        mask: Mask | None,
    ) -> CardRead | None:
        best, by_badge = chosen
        side = self._sharp(best.side)
        fit = Fitter(side, mask).fit(flat, _turned(near, best.is_turned, self.size_mm))
        if not _has_contrast(fit):
            return None
        cost = told_apart(flat, fit.pose, (side,), mask, turned=(False,))[0].cost
        u_mm, u_deg = self.doubt(flat, fit)
        if cost < _GOOD or self._white is None:
            self._white = fit.white
        ink = self._ink(flat, fit, side, self._white)
        gap = max((others[1][1] - others[0][1]) / _CLEAR, by_badge) if len(others) > 1 else 1.0
        fits = float(np.clip((_NO_CARD - cost) / (_NO_CARD - _FITS), 0, 1))
        is_named = bool(ink.name) or not _is_inked(side)
        is_ink_sure = is_named and ink.margin_deg > _SURE_INK_DEG
        confidence = fits * min(1.0, 0.5 + 0.5 * gap) * (1.0 if is_ink_sure else 0.7 if is_named else 0.4)
        candidates = tuple(card for card, _ in others[:3])
        shown = 1.0 if mask is None else float(mask.mean())
        return CardRead(
            side.card if confidence >= _SURE else None,
            side.flipped,
            ink.name,
            fit.pose,
            u_mm,
            u_deg,
            round(confidence, 3),
            candidates,
            cost,
            shown,
            side,
        )


def _ranked(ranked: Sequence[Told], first: str) -> list[tuple[str, float]]:
    """Cards with the cost of their better side, the likeliest first; `first` before all others."""
    costs: dict[str, float] = {}
    for told in ranked:
        costs[told.side.card] = min(told.cost, costs.get(told.side.card, 1.0))
    return sorted(costs.items(), key=lambda pair: (pair[0] != first, pair[1]))


def _has_contrast(fit: Fit) -> bool:
    """Whether white lines stand out as they do on a dark card."""
    white, dark = float(np.mean(fit.white)), float(np.mean(fit.dark))
    return white - dark > max(_LEAST_CONTRAST, _LEAST_SHARE * white)


def _blurred(flat: Flat) -> Frame:
    return np.asarray(cv2.GaussianBlur(flat.bgr, (0, 0), _COARSE_MM * flat.scale), np.uint8)


def _is_inked(side: Side) -> bool:
    return bool(side.ink.max(initial=0.0) > 0.3)


def _turned(pose: Pose, is_turned: bool, size_mm: tuple[float, float]) -> Pose:
    if not is_turned:
        return pose
    return pose_about(centre_of(pose, size_mm), pose.angle_deg + 180.0, size_mm)


def cells_free_of(pose: Pose, outlines: Sequence[NDArray[np.float64]], size_mm: tuple[float, float]) -> Mask:
    """Cells of a card at `pose` that none of these outlines (n, 2) in table mm covers, with a margin for their rims."""
    columns, rows = (round(side * CELLS_PER_MM) for side in size_mm)
    mask = np.ones((rows, columns), np.uint8)
    turn = np.radians(pose.angle_deg)
    back = np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])
    for outline in outlines:
        own = (outline - (pose.x_mm, pose.y_mm)) @ back.T * CELLS_PER_MM - 0.5
        cv2.fillPoly(mask, [np.round(own * 16).astype(np.int32)], 0, cv2.LINE_8, 4)
        cv2.polylines(
            mask, [np.round(own * 16).astype(np.int32)], True, 0, round(1.5 * CELLS_PER_MM), cv2.LINE_8, 4
        )
    return mask > 0


def outline_of(pose: Pose, size_mm: tuple[float, float]) -> NDArray[np.float64]:
    """(4, 2): the corners of a card on the table in mm, clockwise from its top left."""
    width, height = size_mm
    return np.array([pose.apply(corner) for corner in ((0, 0), (width, 0), (width, height), (0, height))])
