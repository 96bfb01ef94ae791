"""What was enrolled of dice: a file that one can keep, copy and hand on, and that may come from anybody."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from vision.archive import ArchiveError, read_arrays, write_arrays
from vision.dice.inkblots import PATCH_PX
from vision.dice.matching import FaceMatcher
from vision.dice.owners import OwnersApart, closest_owners

SUFFIX = ".dice.npz"
FORMAT = 2
MOST_SAMPLES = 2000
NAME_LETTERS = 40
"""The most letters that an owner's, a face's or a sort's name has."""
_MOST_BYTES = 20_000_000
_writing = threading.Lock()


class EnrolError(Exception):
    """These pictures or this file make no profile; the text says what to do."""


@dataclass(frozen=True)
class Sample:
    """One picture of a face. `patch`: (PATCH_PX, PATCH_PX) float32 from body 0 to ink 1; `body`, `ink`: 8-bit
    Lab. `learnt`: 0 for a picture of the enrolment, else the number of the correction that it comes from.
    `picture`: the same place, (PATCH_PX, PATCH_PX, 3) uint8 BGR. `is_marbled`: the body is of several colours."""

    owner: str
    face: str
    patch: NDArray[np.float32]
    body: NDArray[np.float32]
    ink: NDArray[np.float32]
    picture: NDArray[np.uint8]
    is_marbled: bool = False
    learnt: int = 0


class Enrolled(msgspec.Struct, frozen=True):
    """What an enrolment gave. `faces`: pictures used per face; `closest`: the two faces that look most alike;
    `margin`: how much better a face fits its own pictures than the other's (below 0.1 is too little).
    `unused`: pictures in which no die was found. `owners`: the two whose colours are hardest to tell apart."""

    faces: dict[str, int]
    closest: tuple[str, str] | None
    margin: float | None
    unused: tuple[str, ...] = ()
    owners: OwnersApart | None = None


@dataclass(frozen=True)
class Profile:
    """Dice that were enrolled. `kind`: the enrolled name of this sort of dice; `edition` counts its changes."""

    kind: str
    samples: tuple[Sample, ...]
    edition: int = 1

    def result(self, unused: Sequence[str] = ()) -> Enrolled:
        """The figures that an owner is shown."""
        faces = dict(sorted(Counter(sample.face for sample in self.samples).items()))
        closest, margin = closest_faces(self.samples)
        return Enrolled(faces, closest, margin, tuple(unused), closest_owners(self.samples))

    def save(self, path: Path) -> None:
        """Writes the file (its name should end in SUFFIX); whoever reads it meanwhile sees the old or the new
        one whole. Raises OSError, and EnrolError where the file could not be read again."""
        self.check()
        arrays = {
            "format": np.array(FORMAT),
            "edition": np.array(self.edition),
            "kind": np.array(self.kind),
            "names": np.array([f"{sample.owner}\n{sample.face}" for sample in self.samples]),
            "learnt": np.array([sample.learnt for sample in self.samples], np.int32),
            "patches": np.stack([sample.patch for sample in self.samples]).astype(np.float16),
            "colours": np.stack([np.stack([s.body, s.ink]) for s in self.samples]).astype(np.float32),
            "pictures": np.stack([sample.picture for sample in self.samples]),
            "marbled": np.array([sample.is_marbled for sample in self.samples]),
        }
        write_arrays(path, arrays)

    def check(self) -> None:
        """Raises EnrolError where it is more than a file may hold; the text says what to do."""
        owners, faces = {sample.owner for sample in self.samples}, {sample.face for sample in self.samples}
        told = beyond_limits(len(self.samples), (self.kind, *sorted(owners), *sorted(faces)))
        if told:
            raise EnrolError(told)


def beyond_limits(pictures: int, names: Iterable[str]) -> str:
    """Why a file of dice with so many pictures and these names could not be read again, and what to do; empty where
    it could."""
    if pictures > MOST_SAMPLES:
        return f"{pictures} pictures are more than the {MOST_SAMPLES} that are kept: 3 to 5 of each face are enough"
    for name in names:
        if len(name) > NAME_LETTERS or "\n" in name:
            return f"the name {name!r} cannot be kept: give one of at most {NAME_LETTERS} letters in one line"
    return ""


def load_profile(path: Path) -> Profile:
    """A profile from its file, which may come from anybody. Raises EnrolError when it is none."""
    again = "enrol the dice again"
    try:
        arrays = read_arrays(path, _MOST_BYTES)
        form = int(arrays["format"]) if "format" in arrays else 1
        if form != FORMAT:
            raise EnrolError(f"{path.name} has form {form}, this program reads form {FORMAT}: {again}")
        return _unpacked(arrays)
    except (ArchiveError, KeyError, ValueError, TypeError, OverflowError) as error:
        told = str(error) if isinstance(error, ArchiveError) else "damaged"
        raise EnrolError(f"{path.name} is no dice profile ({told}): {again}") from error


def changed_at(path: Path, change: Callable[[Profile | None], Profile]) -> Profile:
    """The profile in a file, None where there is no file yet, replaced by what `change` makes of it, which is returned.

    No other change of this program comes in between; what is handed back as it was is not written. Safe from any
    thread. Raises EnrolError when the file is no profile, OSError, and whatever `change` raises; then the file is as
    it was.
    """
    with _writing:
        before = load_profile(path) if path.is_file() else None
        after = change(before)
        if after is not before:
            path.parent.mkdir(parents=True, exist_ok=True)
            after.save(path)
        return after


def _unpacked(arrays: dict[str, NDArray[Any]]) -> Profile:
    names, kind = [str(name) for name in arrays["names"]], str(arrays["kind"])
    edition, learnt = int(arrays["edition"]), np.asarray(arrays["learnt"], np.int64)
    patches, colours = (np.asarray(arrays[name], np.float32) for name in ("patches", "colours"))
    marbled, pictures = np.asarray(arrays["marbled"], np.bool_), arrays["pictures"]
    count = len(names)
    is_sound = (
        0 < count <= MOST_SAMPLES
        and edition >= 0
        and learnt.shape == marbled.shape == (count,)
        and bool((learnt >= 0).all())
        and patches.shape == (count, PATCH_PX, PATCH_PX)
        and colours.shape == (count, 2, 3)
        and pictures.dtype == np.uint8
        and pictures.shape == (count, PATCH_PX, PATCH_PX, 3)
        and bool(np.isfinite(patches).all() and np.isfinite(colours).all())
        and bool((np.abs(patches) < 100).all())
        and all(name.count("\n") == 1 for name in names)
    )
    if not is_sound:
        raise ValueError("numbers that cannot be")
    samples = [
        Sample(
            owner=name.partition("\n")[0],
            face=name.partition("\n")[2],
            patch=patches[i],
            body=colours[i, 0],
            ink=colours[i, 1],
            picture=pictures[i],
            is_marbled=bool(marbled[i]),
            learnt=int(learnt[i]),
        )
        for i, name in enumerate(names)
    ]
    if beyond_limits(
        count, (kind, *(sample.owner for sample in samples), *(sample.face for sample in samples))
    ):
        raise ValueError("more than a file may hold")
    return Profile(kind, tuple(samples), edition)


def closest_faces(samples: Sequence[Sample]) -> tuple[tuple[str, str] | None, float | None]:
    """The two faces that are likeliest to be taken for each other, and by how much less than themselves; None
    where there are not two."""
    matcher = FaceMatcher([(sample.face, sample.patch) for sample in samples])
    leads: dict[tuple[str, str], list[float]] = {}
    for sample in samples:
        scores = matcher.scores(sample.patch)
        for other in matcher.names:
            if other != sample.face:
                leads.setdefault((sample.face, other), []).append(scores[sample.face] - scores[other])
    if not leads:
        return None, None
    pair, margin = min(
        ((pair, float(np.mean(rows))) for pair, rows in leads.items()), key=lambda item: item[1]
    )
    return (min(pair), max(pair)), round(margin, 3)
