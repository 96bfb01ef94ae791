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
_VIEW_PX = PATCH_PX - 6  # what is compared: room is left for shifts
_RADIUS_PX = 0.37 * FACE_PX
_BLURS_PX = (0.0, 1.0, 1.8)  # a table seen out of focus is compared with faces as much out of focus
_ALIKE = 0.8  # correlation from which on pictures of one face are averaged
_CHANGES = tuple((dx, dy, size) for size in (0.9, 0.97, 1.04) for dy in (-2, 0, 2) for dx in (-2, 0, 2))


@dataclass(frozen=True)
class Match:
    """The best fit of a patch. `score`: correlation of the best face, -1 to 1; `next_score` that of the best face of
    another name; `turn_deg`: how the face is turned clockwise against its enrolled picture; `sharpness`: how much
    steeper the patch's edges are than the face's."""

    name: str
    score: float
    next_score: float
    turn_deg: float
    sharpness: float


class FaceMatcher:
    """Compares patches with enrolled faces. `faces`: (name, soft patch (PATCH_PX, PATCH_PX)) of each picture."""

    def __init__(self, faces: Sequence[tuple[str, Soft]]) -> None:
        self.names = tuple(dict.fromkeys(name for name, _ in faces))
        step = np.arange(_VIEW_PX) - (_VIEW_PX - 1) / 2
        self._disc = np.hypot(step[:, None], step[None, :]) <= _RADIUS_PX
        averaged = [
            (name, np.asarray(cv2.GaussianBlur(face, (0, 0), blur), np.float32) if blur else face)
            for name in self.names
            for face in self._averaged(faces, name)
            for blur in _BLURS_PX
        ]
        self._sharpness = [_sharpness(face) for _, face in averaged]
        self._of_name = np.array([self.names.index(name) for name, _ in averaged])
        self._faces = np.concatenate([self._all_turns(face) for _, face in averaged])

    def match(self, patch: Soft) -> Match:
        """The face that fits best, where the patch is centred and of the right size but for a few per cent."""
        views = [self._unit(_view(patch, *change)) for change in _CHANGES]
        best = (np.stack(views) @ self._faces.T).max(axis=0).reshape(-1, _TURNS)
        by_face = best.max(axis=1)
        winner = int(by_face.argmax())
        # Out of focus all faces look like a round blot: so names are compared at the winner's sharpness only.
        as_sharp = np.arange(len(by_face)) % len(_BLURS_PX) == winner % len(_BLURS_PX)
        others = by_face[as_sharp & (self._of_name != self._of_name[winner])]
        return Match(
            name=self.names[self._of_name[winner]],
            score=float(by_face[winner]),
            next_score=float(others.max()) if others.size else 0.0,
            sharpness=_sharpness(patch) / self._sharpness[winner],
            turn_deg=float(best[winner].argmax() * 360 / _TURNS),
        )

    def _averaged(self, faces: Sequence[tuple[str, Soft]], name: str) -> list[Soft]:
        """The pictures of one name, those of the same drawing turned alike and averaged."""
        groups: list[tuple[Soft, int]] = []
        for patch in (patch for of, patch in faces if of == name):
            for i, (mean, count) in enumerate(groups):
                fits = self._unit(_view(patch, 0, 0, 1.0)) @ self._all_turns(mean).T
                if fits.max() >= _ALIKE:
                    upright = _turned(patch, -int(fits.argmax()))
                    groups[i] = (np.asarray((mean * count + upright) / (count + 1), np.float32), count + 1)
                    break
            else:
                groups.append((patch, 1))
        return [mean for mean, _ in groups]

    def _all_turns(self, face: Soft) -> Soft:
        """(_TURNS, pixels of the disc) the face at every turn, each of mean 0 and length 1."""
        return np.stack([self._unit(_view(_turned(face, k), 0, 0, 1.0)) for k in range(_TURNS)])

    def _unit(self, view: Soft) -> Soft:
        values = view[self._disc]
        values = values - values.mean()
        return np.asarray(values / (np.linalg.norm(values) + 1e-6), np.float32)


def _view(patch: Soft, dx: float, dy: float, size: float) -> Soft:
    """(_VIEW_PX, _VIEW_PX) of the patch, moved by (dx, dy) px and taken `size` times as wide."""
    first = (PATCH_PX - 1) / 2 - (_VIEW_PX - 1) / 2 * size
    plane = np.array([(size, 0, first + dx), (0, size, first + dy)])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    view = cv2.warpAffine(patch, plane, (_VIEW_PX, _VIEW_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(view, np.float32)


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
