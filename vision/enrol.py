"""Enrolment: a few pictures of each face of a die become a profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.dice.inkblots import (
    FACE_PX,
    Blot,
    blot_at,
    edges_around,
    face_around,
    find_blots,
    scaled,
)
from vision.dice.matching import FaceMatcher
from vision.frame import Unreadable, load
from vision.profile import EnrolError, Enrolled, Profile, Sample

_PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
_SIZES = tuple(np.geomspace(0.1, 0.85, 11))  # of a picture's shorter side: how wide a face may be
_FEW = 3
_SHOWN = 12.0  # Lab units: a step of colour that counts as a die's edge
_ALIKE = 0.85  # correlation with the other pictures of a face from which a picture is believed to show it


def enrol_folder(folder: Path, kind: str) -> tuple[Profile, Enrolled]:
    """The profile from ``FOLDER/<face>/*.jpg``, or ``FOLDER/<owner>/<face>/*.jpg`` where each owner has
    dice of a colour; one die a picture. Raises EnrolError when the folder is not so, or a face has no
    picture with a die."""
    if not folder.is_dir():
        raise EnrolError(f"{folder} is no folder: give the one that holds a folder of pictures for each face")
    inner = _folders(folder)
    owners = [("", folder)] if any(_pictures(f) for f in inner) else [(f.name, f) for f in inner]
    samples: list[Sample] = []
    unused: list[str] = []
    for owner, place in owners:
        found, missed = _enrol_owner(owner, place)
        samples += found
        unused += missed
    if not samples:
        raise EnrolError(f"{folder} holds no pictures: put some into {folder.name}/<face>/, one die in each")
    profile = Profile(kind, tuple(samples))
    return profile, profile.result(unused)


def face_sample(
    frame: NDArray[np.uint8], owner: str, face: str, sizes_px: Iterable[float] | None = None
) -> tuple[Sample, float] | None:
    """The one die in a BGR picture as (sample, width of its face in px), or None when none is found.

    `sizes_px`: the widths to try; None: every plausible one.
    """
    if sizes_px is None:
        sizes_px = [share * min(frame.shape[:2]) for share in _SIZES]
    best: tuple[float, float, Blot] | None = None
    for size in sizes_px:
        lab, scale = scaled(frame, size)
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
                    best = (value, square.side * FACE_PX / scale, exact)
    if best is None:
        return None
    blot = best[2]
    return Sample(owner, face, blot.soft, blot.body, blot.ink), best[1]


def _enrol_owner(owner: str, place: Path) -> tuple[list[Sample], list[str]]:
    found: list[tuple[Path, Sample, float]] = []
    missed: list[tuple[Path, NDArray[np.uint8]]] = []
    unused: list[str] = []
    for face in _folders(place):
        for path in _pictures(face):
            try:
                frame = load(path)
            except Unreadable:
                unused.append(f"{face.name}/{path.name}")
                continue
            # Pictures of one sitting show the die at one size; so the first few narrow the search.
            usual = float(np.median([width for _, _, width in found])) if len(found) >= _FEW else None
            sizes = None if usual is None else [usual * k for k in (0.85, 1.0, 1.18)]
            sample = face_sample(frame, owner, face.name, sizes) or face_sample(frame, owner, face.name)
            if sample is None:
                missed.append((path, frame))
            else:
                found.append((path, *sample))
    samples = [sample for _, sample, _ in found]
    width = float(np.median([width for _, _, width in found])) if found else None
    known = {sample.face for sample in samples}
    for path, frame in missed:
        name = path.parent.name
        again = None
        if width is not None and name in known:
            again = _by_likeness(frame, samples, name, width)
        elif width is not None:
            again = _by_edges(frame, owner, name, width)
        if again is None:
            unused.append(f"{name}/{path.name}")
        else:
            samples.append(again)
    for place_of_face in sorted({path.parent for path, _ in missed}):
        if not any(sample.face == place_of_face.name for sample in samples):
            raise EnrolError(
                f"no die found in {place_of_face}: take 3 to 5 pictures from above with one die in each, nothing else"
            )
    return samples, unused


def _by_edges(frame: NDArray[np.uint8], owner: str, face: str, width_px: float) -> Sample | None:
    """The face in a picture of a die whose body is no even colour, by the edges around it and the known size; None
    where none show."""
    lab, _ = scaled(frame, width_px)
    best: tuple[float, Blot] | None = None
    for blot in find_blots(lab):
        square = edges_around(lab, blot)
        off = np.hypot(*np.subtract(square.xy, blot.xy)) / FACE_PX
        strength = float(np.linalg.norm(blot.ink - blot.body))
        exact = blot_at(lab, square.xy, square.side)
        if exact is None or square.shown < _SHOWN or off > 0.15:
            continue
        value = min(square.shown / 20, 1.0) + strength / 200 - 2 * blot.evenness / strength - off
        if best is None or value > best[0]:
            best = (value, exact)
    return Sample(owner, face, best[1].soft, best[1].body, best[1].ink) if best else None


def _by_likeness(
    frame: NDArray[np.uint8], samples: Sequence[Sample], face: str, width_px: float
) -> Sample | None:
    """The face in a picture where its edges do not show, by its likeness to the face's other pictures; None where
    nothing is like them."""
    matcher = FaceMatcher([(sample.face, sample.patch) for sample in samples if sample.face == face])
    lab, _ = scaled(frame, width_px)
    scored = [(matcher.match(blot.soft).score, blot) for blot in find_blots(lab)]
    score, blot = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    if blot is None or score < _ALIKE:
        return None
    return Sample(samples[0].owner, face, blot.soft, blot.body, blot.ink)


def _folders(place: Path) -> list[Path]:
    return sorted(f for f in place.iterdir() if f.is_dir() and not f.name.startswith("."))


def _pictures(place: Path) -> list[Path]:
    return sorted(f for f in place.iterdir() if f.is_file() and f.suffix.lower() in _PICTURES)
