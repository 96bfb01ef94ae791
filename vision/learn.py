"""Learning from a referee's corrections: one more picture of a face of a die that was enrolled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.inkblots import FACE_PX, PATCH_PX, cut, find_blots, shrunk
from vision.dice.marbled import ink_axis
from vision.dice.matching import FaceMatcher
from vision.enrol import face_sample, marbled_sample, sample_of
from vision.profile import EnrolError, Profile, Sample, changed_at

MOST_LEARNT = 8
"""Pictures learnt of one owner's face; the oldest make room."""
_AROUND = 2.2  # times the box of a face: what a crop shows
_FACES = (0.30, 0.345, 0.395, 0.455)  # of a crop's side: how wide the face may be
_LEAST = 0.4  # correlation with what is enrolled of the face below which nothing is learnt
_PLAIN = 0.93  # correlation from which a face is plainly the one it is like ...
_AHEAD = 0.2  # ... if the face that it is said to be fits so much less


def crop_around(frame: NDArray[np.uint8], box_px: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    """What `learn` wants of a die that was seen in a BGR frame with its top face in this box: (N, N, 3), edges
    repeated outwards."""
    x0, y0, x1, y1 = box_px
    side = max(8, round(_AROUND * max(x1 - x0, y1 - y0)))
    first = (round((x0 + x1) / 2 - side / 2), round((y0 + y1) / 2 - side / 2))
    columns = np.clip(np.arange(first[0], first[0] + side), 0, frame.shape[1] - 1)
    rows = np.clip(np.arange(first[1], first[1] + side), 0, frame.shape[0] - 1)
    return np.ascontiguousarray(frame[np.ix_(rows, columns)])


def learn(profile: Profile, face_crop: NDArray[np.uint8], symbol: str, owner: str | None = None) -> Profile:
    """The profile with one more picture of a face that somebody corrected to `symbol`; the old one stays as it is.

    `face_crop`: BGR, the die's top face in its middle, as `crop_around` cuts it. `owner`: whose die it is, None to go
    by its colours. At most MOST_LEARNT corrections of a face are kept, the newest. Raises EnrolError, with nothing
    learnt: no such face is enrolled, no die is in the crop, or it plainly shows another face.
    """
    owners = {sample.owner for sample in profile.samples}
    if owner is not None and owner not in owners:
        raise EnrolError(f"no dice of {owner!r} are enrolled as {profile.kind}")
    if not any(sample.face == symbol and owner in (None, sample.owner) for sample in profile.samples):
        faces = ", ".join(sorted({sample.face for sample in profile.samples}))
        raise EnrolError(f"{profile.kind} has no face {symbol!r}: there are {faces}")
    whose = owner if owner is not None else _owner(profile, face_crop, symbol)
    found = _sample(profile, face_crop, symbol, whose)
    if found is None:
        raise EnrolError("no die is seen in that picture: nothing is learnt from it")
    mine = [(s.face, s.patch) for s in profile.samples if s.owner == whose]
    scores = FaceMatcher(mine).scores(found.patch)
    likest = max(scores, key=lambda name: scores[name])
    if scores[likest] >= _PLAIN and scores[likest] - scores[symbol] >= _AHEAD:
        raise EnrolError(f"that picture plainly shows {likest}: nothing is learnt from it")
    number = 1 + max(sample.learnt for sample in profile.samples)
    kept = _with_room(profile.samples, whose, symbol)
    added = replace(found, learnt=number)
    return Profile(profile.kind, (*kept, added), profile.edition + 1)


def unlearn(profile: Profile, owner: str, face: str, number: int) -> Profile:
    """The profile without the picture of this owner's face that a correction with this number taught; the same one
    where it has none."""
    taught = [s for s in profile.samples if number and (s.owner, s.face, s.learnt) == (owner, face, number)]
    if not taught:
        return profile
    kept = tuple(sample for sample in profile.samples if sample is not taught[0])
    return Profile(profile.kind, kept, profile.edition + 1)


def learn_at(path: Path, face_crop: NDArray[np.uint8], symbol: str, owner: str | None = None) -> Profile:
    """`learn` with the profile in a file, as `changed_at` changes it. Raises EnrolError, OSError."""
    return changed_at(path, lambda profile: learn(_there(profile, path), face_crop, symbol, owner))


def unlearn_at(path: Path, owner: str, face: str, number: int) -> Profile:
    """`unlearn` with the profile in a file, as `changed_at` changes it. Raises EnrolError, OSError."""
    return changed_at(path, lambda profile: unlearn(_there(profile, path), owner, face, number))


def _there(profile: Profile | None, path: Path) -> Profile:
    if profile is None:
        raise EnrolError(f"{path.name} is gone: enrol the dice again")
    return profile


def _with_room(samples: tuple[Sample, ...], owner: str, face: str) -> tuple[Sample, ...]:
    of_face = sorted(s.learnt for s in samples if s.learnt and (s.owner, s.face) == (owner, face))
    dropped = set(of_face[: max(0, len(of_face) - MOST_LEARNT + 1)])
    return tuple(sample for sample in samples if sample.learnt not in dropped or not sample.learnt)


def _sample(profile: Profile, crop: NDArray[np.uint8], face: str, owner: str) -> Sample | None:
    """The face in a crop: where its edges show by them, else where it is most like what is enrolled of it."""
    side = min(crop.shape[:2])
    mine = [sample for sample in profile.samples if sample.owner == owner]
    axis = ink_axis(np.stack([s.picture for s in mine])) if mine[0].is_marbled else None
    found = face_sample(crop, owner, face, [share * side for share in _FACES]) if axis is None else None
    if found is not None:
        return found[0]
    matcher = FaceMatcher([(face, sample.patch) for sample in mine if sample.face == face])
    best: tuple[float, Sample] | None = None
    for share in _FACES:
        bgr, _ = shrunk(crop, share * side)
        seen = axis.map_of(bgr) if axis else np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8)
        middle = np.array(bgr.shape[1::-1]) / 2
        for blot in find_blots(seen):
            score = (
                matcher.match(blot.soft).score if np.linalg.norm(middle - blot.xy) <= 0.3 * FACE_PX else 0.0
            )
            if score < _LEAST or (best is not None and score <= best[0]):
                continue
            picture = cut(bgr, blot.xy, PATCH_PX)
            sample = marbled_sample(axis, picture, owner, face) if axis else sample_of(blot, bgr, owner, face)
            best = (score, sample) if sample else best
    return best[1] if best else None


def _owner(profile: Profile, crop: NDArray[np.uint8], face: str) -> str:
    """Whose die a crop shows: of all owners the one whose face it is most like, by ink and body."""
    best: tuple[float, str] | None = None
    for owner in sorted({sample.owner for sample in profile.samples if sample.face == face}):
        mine = np.stack([sample.picture for sample in profile.samples if sample.owner == owner])
        axis, found = ink_axis(mine), _sample(profile, crop, face, owner)
        far = axis.strangeness(found.picture, found.patch) if axis and found else np.inf
        if best is None or far < best[0]:
            best = (far, owner)
    return best[1] if best else ""
