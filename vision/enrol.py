"""Enrolment: a few pictures of each face of a die become a profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.inkblots import (
    FACE_PX,
    PATCH_PX,
    Blot,
    blot_at,
    cut,
    edges_around,
    face_around,
    find_blots,
    shrunk,
)
from vision.dice.marbled import InkAxis, ink_axis, soft_of, unevenness
from vision.dice.matching import FaceMatcher
from vision.dice.silhouette import silhouette
from vision.folders import folders_in, pictures_in
from vision.frame import Unreadable, load
from vision.profile import EnrolError, Enrolled, Profile, Sample

MOST_SHOTS = 8
"""Pictures kept of one owner's face; three to five are enough."""
_SIZES = tuple(np.geomspace(0.1, 0.85, 11))  # of a picture's shorter side: how wide a face may be
_FEW = 3
_SHOWN = 12.0  # Lab units: a step of colour that counts as a die's edge
_UNEVEN = (
    0.08  # how far a body's colours lie apart, as a share of the way to the ink, from which it is of several
)
_TOP_OF_OUTLINE = 0.95
_SAME_SIZE = (0.7, 1.15)
_MIDDLE = 0.3  # of the shorter side
_LEAST_INK = 12  # px of a patch
_ALIKE = 0.85  # correlation with the other pictures of a face from which a picture is believed to show it


def enrol_folder(folder: Path, kind: str) -> tuple[Profile, Enrolled]:
    """The profile from ``FOLDER/<face>/*.jpg``, or ``FOLDER/<owner>/<face>/*.jpg`` where each owner has
    dice of a colour; one die a picture. Raises EnrolError when the folder is not so, a face has no picture
    with a die, or all is more than a profile's file may hold."""
    if not folder.is_dir():
        raise EnrolError(f"{folder} is no folder: give the one that holds a folder of pictures for each face")
    inner = folders_in(folder)
    owners = [("", folder)] if any(pictures_in(f) for f in inner) else [(f.name, f) for f in inner]
    samples: list[Sample] = []
    unused: list[str] = []
    for owner, place in owners:
        shots, unread = _shots(place)
        found, missed = enrol_shots(owner, shots)
        samples += found
        unused += unread + missed
    if not samples:
        raise EnrolError(f"{folder} holds no pictures: put some into {folder.name}/<face>/, one die in each")
    profile = Profile(kind, tuple(samples))
    profile.check()
    return profile, profile.result(unused)


def face_sample(
    frame: NDArray[np.uint8], owner: str, face: str, sizes_px: Iterable[float] | None = None
) -> tuple[Sample, float] | None:
    """The one die in a BGR picture as (sample, width of its face in px), or None when none is found.

    `sizes_px`: the widths to try; None: every plausible one.
    """
    if sizes_px is None:
        sizes_px = [share * min(frame.shape[:2]) for share in _SIZES]
    best: tuple[float, float, Sample] | None = None
    for size in sizes_px:
        bgr, scale = shrunk(frame, size)
        lab = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8)
        middle = np.array(lab.shape[1::-1]) / 2
        for blot in find_blots(lab):
            square = face_around(lab, blot)
            if square is None or abs(square.side - 1) > 0.25 or square.fill < 0.8:
                continue
            off = np.hypot(*np.subtract(square.xy, blot.xy)) / FACE_PX
            aside = np.linalg.norm(np.array(square.xy) - middle) / np.linalg.norm(middle)
            value = float(square.fill - 2 * off - 0.3 * aside - 0.5 * abs(square.side - 1))
            if off < 0.2 and (best is None or value > best[0]):
                exact = blot_at(lab, square.xy, square.side)
                if exact is not None:
                    best = (value, square.side * FACE_PX / scale, sample_of(exact, bgr, owner, face))
    return None if best is None else (best[2], best[1])


def sample_of(blot: Blot, bgr: NDArray[np.uint8], owner: str, face: str) -> Sample:
    """The face of an even die that was found in a scaled BGR picture."""
    return Sample(owner, face, blot.soft, blot.body, blot.ink, cut(bgr, blot.xy, PATCH_PX, blot.side))


class Shot(NamedTuple):
    """One picture of a die alone on a cloth, BGR. `name` is told where no die is found in it."""

    face: str
    name: str
    frame: NDArray[np.uint8]


def enrol_shots(owner: str, shots: Sequence[Shot]) -> tuple[list[Sample], list[str]]:
    """(the faces of one owner's dice, names of the shots in which no die was found), a few shots of each face.

    Raises EnrolError where a face has no shot with a die.
    """
    cut_out = _cut_out(shots)
    axis = ink_axis(np.stack([picture for _, picture in cut_out])) if cut_out else None
    is_marbled = axis is not None and unevenness([picture for _, picture in cut_out]) > _UNEVEN
    samples, unused = _marbled(owner, shots, cut_out, axis) if axis and is_marbled else _even(owner, shots)
    missing = [
        shot for shot in shots if shot.name in unused and all(sample.face != shot.face for sample in samples)
    ]
    if missing:
        raise EnrolError(
            f"no die found in {missing[0].name} nor another picture of {missing[0].face}: take 3 to 5 pictures from"
            " above with one die in each, nothing else, on a cloth of one colour"
        )
    return samples, unused


def with_shots(
    profile: Profile | None, kind: str, owner: str, shots: Sequence[Shot]
) -> tuple[Profile, list[str]]:
    """(the profile with more pictures of one owner's dice, names of the shots in which no die was found).

    Of each face the newest MOST_SHOTS are kept; what other owners have and what was learnt stays. Raises EnrolError
    where a face has no shot with a die, or the profile would be more than its file may hold.
    """
    new, unused = enrol_shots(owner, shots)
    before = profile.samples if profile else ()
    mine = [*(sample for sample in before if sample.owner == owner), *new]
    kept: list[Sample] = []
    for face in dict.fromkeys(sample.face for sample in mine):
        of_face = [sample for sample in mine if sample.face == face]
        kept += [s for s in of_face if s.learnt] + [s for s in of_face if not s.learnt][-MOST_SHOTS:]
    others = tuple(sample for sample in before if sample.owner != owner)
    after = Profile(kind, (*others, *_agreed(kept)), profile.edition + 1 if profile else 1)
    after.check()
    return after, unused


def middle_of(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The middle of a table camera's picture, where one die is to lie, away from markers and cards."""
    height, width = frame.shape[:2]
    half = round(_MIDDLE * min(height, width))
    part = frame[height // 2 - half : height // 2 + half, width // 2 - half : width // 2 + half]
    return np.ascontiguousarray(part)


def without_owner(profile: Profile, owner: str) -> Profile | None:
    """The profile without one owner's dice; None where nothing is left."""
    kept = tuple(sample for sample in profile.samples if sample.owner != owner)
    return Profile(profile.kind, kept, profile.edition + 1) if kept else None


def without_face(profile: Profile, owner: str, face: str) -> Profile | None:
    """The profile without the pictures of one face; None where nothing is left."""
    kept = tuple(sample for sample in profile.samples if (sample.owner, sample.face) != (owner, face))
    return Profile(profile.kind, kept, profile.edition + 1) if kept else None


def _agreed(mine: Sequence[Sample]) -> list[Sample]:
    """One owner's faces that were enrolled at several times, all by the same way to see their ink."""
    pictures = [sample.picture for sample in mine]
    axis = ink_axis(np.stack(pictures)) if any(sample.is_marbled for sample in mine) else None
    if axis is None:
        return list(mine)
    if unevenness(pictures) <= _UNEVEN:
        return [replace(sample, is_marbled=False) for sample in mine]
    seen = [(sample, marbled_sample(axis, sample.picture, sample.owner, sample.face)) for sample in mine]
    return [replace(again, learnt=sample.learnt) for sample, again in seen if again]


def _cut_out(shots: Sequence[Shot]) -> list[tuple[Shot, NDArray[np.uint8]]]:
    """The shots that show one square thing, each with its face (PATCH_PX, PATCH_PX, 3) in BGR, by its outline alone."""
    outlines = [silhouette(shot.frame) for shot in shots]
    seen = [outline.width_px for outline in outlines if outline]
    if not seen:
        return []
    # A side face or a shadow makes an outline too large, nothing makes it too small.
    width = _TOP_OF_OUTLINE * float(np.percentile(seen, 35))
    found = []
    for shot, outline in zip(shots, outlines, strict=True):
        if outline is None or not _SAME_SIZE[0] <= width / outline.width_px <= _SAME_SIZE[1]:
            continue
        bgr, scale = shrunk(shot.frame, width)
        middle = ((outline.xy[0] + 0.5) * scale - 0.5, (outline.xy[1] + 0.5) * scale - 0.5)
        square = edges_around(np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8), middle)
        is_there = np.hypot(*np.subtract(square.xy, middle)) < 0.2 * FACE_PX
        found.append((shot, cut(bgr, square.xy if is_there else middle, PATCH_PX)))
    return found


def _even(owner: str, shots: Sequence[Shot]) -> tuple[list[Sample], list[str]]:
    """`enrol_shots` for dice with an even body."""
    found: list[tuple[Shot, Sample, float]] = []
    missed: list[Shot] = []
    for shot in shots:
        # Pictures of one sitting show the die at one size; so the first few narrow the search.
        usual = float(np.median([width for _, _, width in found])) if len(found) >= _FEW else None
        sizes = None if usual is None else [usual * k for k in (0.85, 1.0, 1.18)]
        sample = face_sample(shot.frame, owner, shot.face, sizes)
        if sample is None and sizes is not None:
            sample = face_sample(shot.frame, owner, shot.face)
        if sample is None:
            missed.append(shot)
        else:
            found.append((shot, *sample))
    samples = [sample for _, sample, _ in found]
    width = float(np.median([width for _, _, width in found])) if found else None
    known, unused = {sample.face for sample in samples}, []
    for shot in missed:
        again = None
        if width is not None and shot.face in known:
            again = _by_likeness(shot.frame, samples, shot.face, width)
        elif width is not None:
            again = _by_edges(shot.frame, owner, shot.face, width)
        if again is None:
            unused.append(shot.name)
        else:
            samples.append(again)
    return samples, unused


def _marbled(
    owner: str, shots: Sequence[Shot], cut_out: Sequence[tuple[Shot, NDArray[np.uint8]]], axis: InkAxis
) -> tuple[list[Sample], list[str]]:
    """`enrol_shots` for dice whose bodies are of several colours: the ink is what all the pictures have in common."""
    samples, used = [], set()
    for shot, picture in cut_out:
        sample = marbled_sample(axis, picture, owner, shot.face)
        if sample:
            samples.append(sample)
            used.add(shot.name)
    return samples, [shot.name for shot in shots if shot.name not in used]


def marbled_sample(axis: InkAxis, picture: NDArray[np.uint8], owner: str, face: str) -> Sample | None:
    """The face in (PATCH_PX, PATCH_PX, 3) BGR of a die whose body is of several colours; None where no ink shows."""
    soft = soft_of(axis, picture)
    if soft is None:
        return None
    lab = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2LAB), np.float32)
    inked = soft > 0.7
    if inked.sum() < _LEAST_INK:
        return None
    body, ink = np.median(lab[soft < 0.3], axis=0), np.median(lab[inked], axis=0)
    return Sample(owner, face, soft, body, ink, picture, is_marbled=True)


def _by_edges(frame: NDArray[np.uint8], owner: str, face: str, width_px: float) -> Sample | None:
    """The face in a picture of a die whose body is no even colour, by the edges around it and the known size; None
    where none show."""
    bgr, _ = shrunk(frame, width_px)
    lab = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8)
    best: tuple[float, Blot] | None = None
    for blot in find_blots(lab):
        square = edges_around(lab, blot.xy)
        off = np.hypot(*np.subtract(square.xy, blot.xy)) / FACE_PX
        strength = float(np.linalg.norm(blot.ink - blot.body))
        exact = blot_at(lab, square.xy, square.side)
        if exact is None or square.shown < _SHOWN or off > 0.15:
            continue
        value = min(square.shown / 20, 1.0) + strength / 200 - 2 * blot.evenness / strength - off
        if best is None or value > best[0]:
            best = (value, exact)
    return sample_of(best[1], bgr, owner, face) if best else None


def _by_likeness(
    frame: NDArray[np.uint8], samples: Sequence[Sample], face: str, width_px: float
) -> Sample | None:
    """The face in a picture where its edges do not show, by its likeness to the face's other pictures; None where
    nothing is like them."""
    matcher = FaceMatcher([(sample.face, sample.patch) for sample in samples if sample.face == face])
    bgr, _ = shrunk(frame, width_px)
    lab = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB), np.uint8)
    scored = [(matcher.match(blot.soft).score, blot) for blot in find_blots(lab)]
    score, blot = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    if blot is None or score < _ALIKE:
        return None
    return sample_of(blot, bgr, samples[0].owner, face)


def _shots(place: Path) -> tuple[list[Shot], list[str]]:
    """(the pictures in a folder of faces, names of those that cannot be read)."""
    shots, unread = [], []
    for face in folders_in(place):
        for path in pictures_in(face):
            try:
                shots.append(Shot(face.name, f"{face.name}/{path.name}", load(path)))
            except Unreadable:
                unread.append(f"{face.name}/{path.name}")
    return shots, unread
