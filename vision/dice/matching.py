"""Which enrolled face is it? Soft patches compared at every turn, a little shifted and scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.inkblots import FACE_PX, PATCH_PX

Soft = NDArray[np.float32]

_TURNS = 72
_NOTHING = np.empty((0, 0), np.float32)
_EDGE = 3  # px that are left for shifts
_VIEW_PX = PATCH_PX - 2 * _EDGE  # what is compared
_RADIUS_PX = 0.37 * FACE_PX
_STEP = np.arange(_VIEW_PX) - (_VIEW_PX - 1) / 2
_SHIFT = 2  # px: how far off its middle a face is looked for
_SIZES = (0.9, 0.95, 1.0, 1.05)
_WIDE_SHIFT = 3
_WIDE_SIZES = (0.88, 0.92, 0.96, 1.0, 1.04, 1.08)
# For a first look: half the shifts, at the usual size.
_FIRST_VIEWS = [2 * 25 + k for k in (6, 8, 12, 16, 18)]
_DISC = np.hypot(_STEP[:, None], _STEP[None, :]) <= _RADIUS_PX
_BLURS_PX = (0.0, 1.0, 1.8)  # a table seen out of focus is compared with faces as much out of focus
_ENOUGH = 12  # pictures that make a good mean
_ODD_SHARE = 0.15  # groups of so few pictures, held against the largest, are slips
_ALIKE = 0.85  # correlation from which on pictures of one face are averaged


@dataclass(frozen=True)
class Match:
    """The best fit of a patch. `score`: correlation of the best face, -1 to 1; `next_score` that of the
    best face of another name; `turn_deg`: how the face is turned clockwise against its enrolled picture;
    `size`: how much wider than the patch says the face is;
    `sharpness`: how much steeper the patch's edges are than the face's, which `is_blurred` where that fits
    better."""

    name: str
    score: float
    next_score: float
    turn_deg: float
    size: float
    sharpness: float
    is_blurred: bool


class FaceMatcher:
    """Compares patches with enrolled faces. `faces`: (name, soft patch (PATCH_PX, PATCH_PX)) of each picture.

    Pictures of one name that show the same drawing are averaged; a picture that is like no other of its
    name is left out, for it is likelier a slip of the enrolment than a face of its own.
    """

    def __init__(self, faces: Sequence[tuple[str, Soft]]) -> None:
        self.names = tuple(dict.fromkeys(name for name, _ in faces))
        averaged = [
            (name, np.asarray(cv2.GaussianBlur(face, (0, 0), blur), np.float32) if blur else face)
            for name in self.names
            for face in _averaged([patch for of, patch in faces if of == name])
            for blur in _BLURS_PX
        ]
        self._sharpness = [_sharpness(face) for _, face in averaged]
        self._of_name = np.array([self.names.index(name) for name, _ in averaged])
        self._faces = np.concatenate([_all_turns(face) for _, face in averaged])

    def match(self, patch: Soft) -> Match:
        """The face that fits best, where the patch is centred and of the right size but for a few per
        cent."""
        best, sizes = self._fits(patch)
        by_face = best.max(axis=1)
        winner = int(by_face.argmax())
        # Out of focus all faces look like a round blot: so names are compared at the winner's sharpness only.
        as_sharp = np.arange(len(by_face)) % len(_BLURS_PX) == winner % len(_BLURS_PX)
        others = by_face[as_sharp & (self._of_name != self._of_name[winner])]
        return Match(
            name=self.names[self._of_name[winner]],
            score=float(by_face[winner]),
            next_score=float(others.max()) if others.size else 0.0,
            size=float(sizes[winner, best[winner].argmax()]),
            turn_deg=float(best[winner].argmax() * 360 / _TURNS),
            sharpness=_sharpness(patch) / self._sharpness[winner],
            is_blurred=winner % len(_BLURS_PX) > 0,
        )

    def rough(self, patches: Soft) -> Soft:
        """(N,) about how well the best face fits each of (N, PATCH_PX, PATCH_PX), all at once and cheaply. Both are
        blurred, or thin lines that are a little beside each other would have nothing in common."""
        tall = cv2.GaussianBlur(patches.reshape(-1, PATCH_PX), (0, 0), _BLURS_PX[-1])
        soft = np.asarray(tall, np.float32).reshape(patches.shape)
        views = _units(soft[:, _EDGE:-_EDGE, _EDGE:-_EDGE])
        faces = self._faces.reshape(-1, len(_BLURS_PX), _TURNS, views.shape[1])[:, -1, ::2]
        return np.asarray(_products(views, faces.reshape(-1, views.shape[1])).max(axis=1), np.float32)

    def scores(self, patch: Soft) -> dict[str, float]:
        """Name -> how well its best face fits the patch, all at full sharpness."""
        by_face = self._fits(patch)[0].max(axis=1)[:: len(_BLURS_PX)]
        of_name = self._of_name[:: len(_BLURS_PX)]
        return {name: float(by_face[of_name == k].max()) for k, name in enumerate(self.names)}

    def _fits(self, patch: Soft) -> tuple[Soft, Soft]:
        """(faces, _TURNS) the best correlation over small shifts and sizes, near the best turn only, else -1; and the
        size at which it is.

        Every second turn of the half blurred faces finds that turn, at a fraction of the work.
        """
        views = _views(patch, _SIZES, _SHIFT)
        drawings = len(self._faces) // (_TURNS * len(_BLURS_PX))
        faces = self._faces.reshape(drawings, len(_BLURS_PX), _TURNS, -1)
        coarse = _products(views[_FIRST_VIEWS], faces[:, 1, ::2].reshape(-1, views.shape[1]))
        turns = 2 * coarse.max(axis=0).reshape(drawings, -1).argmax(axis=1)
        near = (turns[:, None] + (-2, -1, 0, 1, 2)) % _TURNS
        chosen = faces[
            np.arange(drawings)[:, None, None], np.arange(len(_BLURS_PX))[None, :, None], near[:, None, :]
        ]
        products = _products(views, chosen.reshape(-1, views.shape[1]))
        best = products.argmax(axis=0)
        shape = (drawings, len(_BLURS_PX), _TURNS)
        fits, sizes = np.full(shape, -1.0, np.float32), np.ones(shape, np.float32)
        places = np.broadcast_to(near[:, None, :], chosen.shape[:3])
        np.put_along_axis(fits, places, products.max(axis=0).reshape(chosen.shape[:3]), 2)
        size = np.array(_SIZES, np.float32)[best // (2 * _SHIFT + 1) ** 2]
        np.put_along_axis(sizes, places, size.reshape(chosen.shape[:3]), 2)
        return fits.reshape(-1, _TURNS), sizes.reshape(-1, _TURNS)


def _products(rows: Soft, others: Soft) -> Soft:
    """rows @ others.T, without the threads that numpy's library would start."""
    return np.asarray(cv2.gemm(rows, others, 1.0, _NOTHING, 0.0, flags=cv2.GEMM_2_T), np.float32)


def _averaged(patches: Sequence[Soft]) -> list[Soft]:
    """One picture of each drawing among the patches, made of all that show it, laid over each other."""
    groups: list[tuple[Soft, list[Soft]]] = []
    for patch in sorted(patches, key=_sharpness, reverse=True):
        views = _views(patch, _WIDE_SIZES, _WIDE_SHIFT)
        for turns, members in groups:
            if _products(views, turns).max() >= _ALIKE:
                members.append(patch)
                break
        else:
            groups.append((_all_turns(patch), [patch]))
    most = max(len(members) for _, members in groups)
    return [_laid_over(members) for _, members in groups if len(members) > _ODD_SHARE * most]


def _laid_over(members: Sequence[Soft]) -> Soft:
    """The mean of pictures of one drawing. The first may be a crooked one; so once all are laid over it,
    they are laid anew over the one that is most like their mean."""
    members = members[:: max(1, len(members) // _ENOUGH)]
    mean = members[0]
    for _ in range(2):
        laid = [_fitted(patch, _all_turns(mean)) for patch in members]
        middle = np.mean([patch for patch, _ in laid], axis=0)
        turns = _all_turns(np.asarray(middle, np.float32))
        mean = max(members, key=lambda patch: _fitted(patch, turns)[1])
    laid = [_fitted(patch, _all_turns(mean)) for patch in members]
    return np.asarray(np.mean([patch for patch, _ in laid], axis=0), np.float32)


def _fitted(patch: Soft, turns: Soft) -> tuple[Soft, float]:
    """(the patch laid over the face whose turns are given, how well it fits)."""
    fits = _products(_views(patch, _WIDE_SIZES, _WIDE_SHIFT), turns)
    change, turn = np.unravel_index(int(fits.argmax()), fits.shape)
    size, dy, dx = np.unravel_index(int(change), (len(_WIDE_SIZES), *[2 * _WIDE_SHIFT + 1] * 2))
    move = (_WIDE_SIZES[int(size)], float(dx) - _WIDE_SHIFT, float(dy) - _WIDE_SHIFT)
    return _turned(_moved(patch, *move), -int(turn)), float(fits.max())


def _all_turns(face: Soft) -> Soft:
    """(_TURNS, pixels of the disc) the face at every turn, each of mean 0 and length 1."""
    return _units(np.stack([_turned(face, k)[_EDGE:-_EDGE, _EDGE:-_EDGE] for k in range(_TURNS)]))


def _views(patch: Soft, sizes: Sequence[float], shift: int) -> Soft:
    """(sizes * shifts * shifts, pixels of the disc) the patch at every size and moved by up to `shift` px
    down and across, each of mean 0 and length 1."""
    side = 2 * shift + 1
    first = _EDGE - shift
    views = [
        np.lib.stride_tricks.sliding_window_view(_moved(patch, size, 0, 0), (_VIEW_PX, _VIEW_PX))[
            first : first + side, first : first + side
        ].reshape(-1, _VIEW_PX, _VIEW_PX)
        for size in sizes
    ]
    return _units(np.concatenate(views))


def _units(views: Soft) -> Soft:
    values = views[:, _DISC]
    values = values - values.mean(axis=1, keepdims=True)
    return np.asarray(values / (np.linalg.norm(values, axis=1, keepdims=True) + 1e-6), np.float32)


def _moved(patch: Soft, size: float, dx: float, dy: float) -> Soft:
    """The patch taken `size` times as wide about its middle, moved by (dx, dy) px of the result."""
    first = (PATCH_PX - 1) / 2 * (1 - size)
    plane = np.array([(size, 0, first + dx * size), (0, size, first + dy * size)])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    moved = cv2.warpAffine(patch, plane, (PATCH_PX, PATCH_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.float32)


def _sharpness(patch: Soft) -> float:
    """How steep the steepest edges in the middle of a patch are, per pixel."""
    inner = patch[6:-6, 6:-6]
    steep = np.hypot(cv2.Sobel(inner, cv2.CV_32F, 1, 0), cv2.Sobel(inner, cv2.CV_32F, 0, 1))
    return float(np.percentile(steep, 95)) / 8


def _turned(patch: Soft, step: int) -> Soft:
    """The patch turned clockwise by `step` of _TURNS."""
    middle = (PATCH_PX - 1) / 2
    plane = cv2.getRotationMatrix2D((middle, middle), -360 * step / _TURNS, 1.0)
    turned = cv2.warpAffine(patch, plane, (PATCH_PX, PATCH_PX), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(turned, np.float32)
