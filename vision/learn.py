"""Learning from a referee's corrections: one more picture of a face of a die that was enrolled."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.dice.colour import Palette
from vision.dice.inkblots import FACE_PX, Blot, find_blots, scaled
from vision.dice.matching import FaceMatcher
from vision.enrol import face_sample
from vision.profile import EnrolError, Profile, Sample, load_profile

MOST_LEARNT = 8
"""Pictures learnt of one owner's face; the oldest make room."""
_AROUND = 2.2  # times the box of a face: what a crop shows
_FACES = (0.30, 0.345, 0.395, 0.455)  # of a crop's side: how wide the face may be
_LEAST = 0.4  # correlation with what is enrolled of the face below which nothing is learnt
_PLAIN = 0.93  # correlation from which a face is plainly the one it is like ...
_AHEAD = 0.2  # ... if the face that it is said to be fits so much less
_writing = threading.Lock()


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
    found = _sample(profile, face_crop, symbol)
    if found is None:
        raise EnrolError("no die is seen in that picture: nothing is learnt from it")
    whose = owner if owner is not None else _owner(profile, found)
    mine = [(s.face, s.patch) for s in profile.samples if s.owner == whose]
    scores = FaceMatcher(mine).scores(found.patch)
    if symbol not in scores:
        raise EnrolError(f"the dice of {whose!r} have no face {symbol!r}: nothing is learnt")
    likest = max(scores, key=lambda name: scores[name])
    if scores[likest] >= _PLAIN and scores[likest] - scores[symbol] >= _AHEAD:
        raise EnrolError(f"that picture plainly shows {likest}: nothing is learnt from it")
    number = 1 + max(sample.learnt for sample in profile.samples)
    kept = _with_room(profile.samples, whose, symbol)
    added = replace(found, owner=whose, face=symbol, learnt=number)
    return Profile(profile.kind, (*kept, added), profile.edition + 1)


def unlearn(profile: Profile) -> Profile:
    """The profile without the correction learnt last. Raises EnrolError when none is left."""
    last = max((sample.learnt for sample in profile.samples), default=0)
    if not last:
        raise EnrolError(f"{profile.kind} has learnt nothing that could be taken back")
    kept = tuple(sample for sample in profile.samples if sample.learnt != last)
    return Profile(profile.kind, kept, profile.edition + 1)


def learn_at(path: Path, face_crop: NDArray[np.uint8], symbol: str, owner: str | None = None) -> Profile:
    """`learn` with the profile in a file, which is whole at every moment. Safe from any thread. Raises EnrolError,
    OSError."""
    with _writing:
        profile = learn(load_profile(path), face_crop, symbol, owner)
        profile.save(path)
        return profile


def unlearn_at(path: Path) -> Profile:
    """`unlearn` with the profile in a file. Safe from any thread. Raises EnrolError, OSError."""
    with _writing:
        profile = unlearn(load_profile(path))
        profile.save(path)
        return profile


def _with_room(samples: tuple[Sample, ...], owner: str, face: str) -> tuple[Sample, ...]:
    of_face = sorted(s.learnt for s in samples if s.learnt and (s.owner, s.face) == (owner, face))
    dropped = set(of_face[: max(0, len(of_face) - MOST_LEARNT + 1)])
    return tuple(sample for sample in samples if sample.learnt not in dropped or not sample.learnt)


def _sample(profile: Profile, crop: NDArray[np.uint8], face: str) -> Sample | None:
    """The face in a crop: where its edges show by them, else where it is most like what is enrolled of it."""
    side = min(crop.shape[:2])
    found = face_sample(crop, "", face, [share * side for share in _FACES])
    if found is not None:
        return found[0]
    matcher = FaceMatcher([(face, sample.patch) for sample in profile.samples if sample.face == face])
    best: tuple[float, Blot] | None = None
    for share in _FACES:
        lab, _ = scaled(crop, share * side)
        middle = np.array(lab.shape[1::-1]) / 2
        for blot in find_blots(lab):
            if np.linalg.norm(middle - blot.xy) <= 0.3 * FACE_PX:
                score = matcher.match(blot.soft).score
                if score >= _LEAST and (best is None or score > best[0]):
                    best = (score, blot)
    return Sample("", face, best[1].soft, best[1].body, best[1].ink) if best else None


def _owner(profile: Profile, found: Sample) -> str:
    palette = Palette([(sample.owner, sample.body, sample.ink) for sample in profile.samples])
    return palette.whose(found.body, found.ink).owner
