"""What was enrolled of dice: a file that one can keep, copy and hand on, and that may come from anybody."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from vision.dice.inkblots import PATCH_PX
from vision.dice.matching import FaceMatcher

SUFFIX = ".dice.npz"
FORMAT = 2
MOST_SAMPLES = 2000
NAME_LETTERS = 40
"""The most letters that an owner's, a face's or a sort's name has."""
_MOST_BYTES = 20_000_000


class EnrolError(Exception):
    """These pictures or this file make no profile; the text says what to do."""


@dataclass(frozen=True)
class Sample:
    """One picture of a face. `patch`: (PATCH_PX, PATCH_PX) float32 from body 0 to ink 1; `body`, `ink`: 8-bit
    Lab. `learnt`: 0 for a picture of the enrolment, else the number of the correction that it comes from."""

    owner: str
    face: str
    patch: NDArray[np.float32]
    body: NDArray[np.float32]
    ink: NDArray[np.float32]
    learnt: int = 0


class Enrolled(msgspec.Struct, frozen=True):
    """What an enrolment gave. `faces`: pictures used per face; `closest`: the two faces that look most alike;
    `margin`: how much better a face fits its own pictures than the other's (below 0.1 is too little).
    `unused`: pictures in which no die was found."""

    faces: dict[str, int]
    closest: tuple[str, str] | None
    margin: float | None
    unused: tuple[str, ...] = ()


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
        return Enrolled(faces, closest, margin, tuple(unused))

    def save(self, path: Path) -> None:
        """Writes the file (its name should end in SUFFIX); whoever reads it meanwhile sees the old or the new
        one whole."""
        names = [f"{sample.owner}\n{sample.face}" for sample in self.samples]
        packed = io.BytesIO()
        np.savez_compressed(
            packed,
            format=np.array(FORMAT),
            edition=np.array(self.edition),
            kind=np.array(self.kind),
            names=np.array(names),
            learnt=np.array([sample.learnt for sample in self.samples], np.int32),
            patches=np.stack([sample.patch for sample in self.samples]).astype(np.float16),
            colours=np.stack([np.stack([s.body, s.ink]) for s in self.samples]).astype(np.float32),
        )
        _write(path, packed.getvalue())


def load_profile(path: Path) -> Profile:
    """A profile from its file, which may come from anybody. Raises EnrolError when it is none."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise EnrolError(f"{path.name} is too large for a dice profile")
        data = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(part.file_size for part in packed.infolist()) > 4 * _MOST_BYTES:
                raise EnrolError(f"{path.name} is too large for a dice profile")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            form = int(file["format"]) if "format" in file else 1
            if form != FORMAT:
                raise EnrolError(
                    f"{path.name} has form {form}, this program reads form {FORMAT}: enrol the dice again"
                )
            kind, names = str(file["kind"]), [str(name) for name in file["names"]]
            edition, learnt = int(file["edition"]), np.asarray(file["learnt"], np.int64)
            patches = np.asarray(file["patches"], np.float32)
            colours = np.asarray(file["colours"], np.float32)
    except (OSError, ValueError, TypeError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        raise EnrolError(f"{path.name} is no dice profile: enrol the dice again") from error
    count = len(names)
    is_sound = (
        0 < count <= MOST_SAMPLES
        and edition >= 0
        and learnt.shape == (count,)
        and bool((learnt >= 0).all())
        and patches.shape == (count, PATCH_PX, PATCH_PX)
        and colours.shape == (count, 2, 3)
        and bool(np.isfinite(patches).all() and np.isfinite(colours).all())
        and all(name.count("\n") == 1 and len(name) <= 2 * NAME_LETTERS + 1 for name in names)
        and len(kind) <= NAME_LETTERS
    )
    if not is_sound:
        raise EnrolError(f"{path.name} is a damaged dice profile: enrol the dice again")
    samples = [
        Sample(name.partition("\n")[0], name.partition("\n")[2], patch, colour[0], colour[1], int(number))
        for name, patch, colour, number in zip(names, patches, colours, learnt, strict=True)
    ]
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


def _write(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".dice-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
