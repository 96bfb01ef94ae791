"""Dice with numerals that were enrolled: their faces and conventions in a file that may come from anybody."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from vision.archive import ArchiveError, read_arrays, write_arrays
from vision.dice.networks import FaceFinder
from vision.dice.numerals import Judged, NumeralNetwork
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_looks import CUT_PX, LEGAL, Pose, cut
from vision.dice.numerals_matching import SHOT_REACH, FaceShot, NumeralMatcher
from vision.dice.numerals_outline import WHOLE_PX, wholes
from vision.encoding import jpeg
from vision.folders import folders_in, pictures_in
from vision.frame import Frame, Unreadable, decode, load
from vision.profile import EnrolError, Enrolled, beyond_limits

FORM = "numerals-1"
_MOST_BYTES = 20_000_000
_MOST_PIECES_BYTES = _MOST_BYTES - 200_000  # the rest of the file is smaller
_QUALITY = 95
_LEAST_SCORE = 0.25  # of the finder, below which nothing was found
_ASIDE = 1.5  # how much less a find at the picture's rim counts than one in its middle


@dataclass(frozen=True)
class NumeralProfile:
    """A set of dice. `name`: its own; `shots`: pictures of the faces."""

    name: str
    shots: tuple[FaceShot, ...]
    conventions: Conventions

    def result(self, unused: Sequence[str] = ()) -> Enrolled:
        """The figures that an owner is shown; faces are told as ``d20 17``."""
        faces = Counter((shot.kind, shot.text) for shot in self.shots)
        ordered = sorted(faces, key=lambda face: (list(LEGAL).index(face[0]), LEGAL[face[0]].index(face[1])))
        closest, margin = _closest(self.shots)
        return Enrolled({" ".join(face): faces[face] for face in ordered}, closest, margin, tuple(unused))

    def check(self) -> None:
        """Raises EnrolError where it is more than a file may hold; the text says what to do."""
        told = beyond_limits(len(self.shots), (self.name,))
        if not told and sum(map(len, (*self._coded(), *self._coded_wholes()))) > _MOST_PIECES_BYTES:
            told = "the pictures of the faces are more than a file holds: 3 to 5 of each face are enough"
        if told:
            raise EnrolError(told)

    def save(self, path: Path) -> None:
        """Writes the file whole. Raises OSError, and EnrolError where it could not be read again."""
        self.check()
        coded, wholes_coded = self._coded(), self._coded_wholes()
        arrays = {
            "form": np.array(FORM),
            "name": np.array(self.name),
            "faces": np.array([f"{shot.kind} {shot.text}" for shot in self.shots]),
            "lengths": np.array([len(data) for data in coded], np.int64),
            "pieces": np.concatenate(coded),
            "whole_lengths": np.array([len(data) for data in wholes_coded], np.int64),
            "wholes": np.concatenate(wholes_coded),
            "conventions": np.frombuffer(msgspec.json.encode(self.conventions), np.uint8),
        }
        write_arrays(path, arrays)

    def _coded(self) -> list[NDArray[np.uint8]]:
        """Each picture as JPEG."""
        return [np.frombuffer(jpeg(s.piece, _QUALITY), np.uint8) for s in self.shots]

    def _coded_wholes(self) -> list[NDArray[np.uint8]]:
        """The picture of each whole die as JPEG, nothing where there is none."""
        return [
            np.frombuffer(b"" if s.whole is None else jpeg(s.whole, _QUALITY), np.uint8) for s in self.shots
        ]


def holds_numerals(path: Path) -> bool:
    """Whether a file looks like a profile of dice with numerals rather than symbols."""
    try:
        with zipfile.ZipFile(path) as packed:
            return "pieces.npy" in packed.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def load_numerals(path: Path) -> NumeralProfile:
    """A profile from its file. Raises EnrolError when it is none."""
    again = "enrol the dice again"
    try:
        arrays = read_arrays(path, _MOST_BYTES)
        if str(arrays["form"]) != FORM:
            raise EnrolError(f"{path.name} is of another form than this program reads: {again}")
        return _unpacked(arrays)
    except (ArchiveError, KeyError, ValueError, TypeError, OverflowError, Unreadable) as error:
        told = str(error) if isinstance(error, ArchiveError) else "damaged"
        raise EnrolError(f"{path.name} is no profile of dice with numerals ({told}): {again}") from error


def _unpacked(arrays: dict[str, NDArray[Any]]) -> NumeralProfile:
    name, faces = str(arrays["name"]), [str(face).partition(" ") for face in arrays["faces"]]
    is_sound = (
        len(faces) > 0
        and not beyond_limits(len(faces), (name,))
        and all(text in LEGAL.get(kind, ()) for kind, _, text in faces)
    )
    if not is_sound:
        raise ValueError("numbers that cannot be")
    conventions = msgspec.json.decode(arrays["conventions"].tobytes(), type=Conventions)
    pieces = _pictures(arrays["pieces"], arrays["lengths"], CUT_PX)
    none = np.zeros(len(faces), np.int64)  # files from before dice were kept whole hold no such pictures
    whole_dice = _pictures(
        arrays.get("wholes", np.zeros(0, np.uint8)), arrays.get("whole_lengths", none), WHOLE_PX
    )
    shots = []
    for (kind, _, text), piece, whole in zip(faces, pieces, whole_dice, strict=True):
        if piece is None:
            raise ValueError("a face without a picture")
        shots.append(FaceShot(kind, text, piece, whole))
    return NumeralProfile(name, tuple(shots), conventions)


def _pictures(packed: NDArray[Any], lengths: NDArray[Any], side_px: int) -> list[Frame | None]:
    """The square pictures that lie behind each other, None for those of no length."""
    data, sizes = packed.tobytes(), [int(length) for length in lengths]
    if packed.dtype != np.uint8 or min(sizes, default=0) < 0 or sum(sizes) != len(data):
        raise ValueError("numbers that cannot be")
    pictures, end = list[Frame | None](), 0
    for size in sizes:
        picture = decode(data[end : end + size]) if size else None
        end += size
        if picture is not None and picture.shape != (side_px, side_px, 3):
            raise ValueError("a picture of another size")
        pictures.append(picture)
    return pictures


class FaceTaker:
    """Takes enrolled pictures of faces out of frames."""

    def __init__(self) -> None:
        self._finder = FaceFinder()
        self._network = NumeralNetwork()

    def taken(self, frame: Frame, kind: str, text: str) -> FaceShot | None:
        """The face of the one die in a BGR frame, None where no die is found."""
        rows, columns = frame.shape[:2]
        spots = [spot for spot in self._finder.find(frame) if spot.score > _LEAST_SCORE]
        judged = self._network.judged(frame, spots)
        if not judged:
            return None

        def worth(one: Judged) -> float:
            aside = float(np.hypot(one.pose.x_px / columns - 0.5, one.pose.y_px / rows - 0.5))
            return one.is_die + 0.5 * one.score - _ASIDE * aside

        pose = max(judged, key=worth).pose
        standing = wholes(frame, pose) if kind == "d4" else []
        whole = standing[0].picture if standing else None
        return FaceShot(kind, text, cut(frame, pose, SHOT_REACH), whole)


def enrol_numerals(
    folder: Path, name: str, kind: str | None, conventions: Conventions
) -> tuple[NumeralProfile, Enrolled]:
    """The profile from ``FOLDER/<face>/*.jpg`` of one kind of die, or ``FOLDER/<kind>/<face>/*.jpg`` of a set where
    `kind` is None; one die a picture. Raises EnrolError when the folder is not so, a face has no picture with a die,
    or all is more than a file may hold."""
    if not folder.is_dir():
        raise EnrolError(f"{folder} is no folder: give the one that holds a folder of pictures for each face")
    places = {kind: folder} if kind else {f.name: f for f in folders_in(folder) if f.name in LEGAL}
    taker, unused = FaceTaker(), list[str]()
    shots: list[FaceShot] = []
    for of_kind, place in places.items():
        for face in folders_in(place):
            if face.name not in LEGAL[of_kind]:
                raise EnrolError(
                    f"{face} is no face of a {of_kind}: its faces are {', '.join(LEGAL[of_kind])}"
                )
            before = len(shots)
            for path in pictures_in(face):
                try:
                    shot = taker.taken(load(path), of_kind, face.name)
                except Unreadable:
                    shot = None
                if shot is None:
                    unused.append(f"{of_kind}/{face.name}/{path.name}")
                else:
                    shots.append(shot)
            if len(shots) == before:
                raise EnrolError(
                    f"no die found in {face}: take 3 to 5 pictures from above with one die in each"
                )
    if not shots:
        raise EnrolError(
            f"{folder} holds no pictures: put some into {folder.name}/<kind>/<face>/, one die in each"
        )
    profile = NumeralProfile(name, tuple(shots), conventions)
    profile.check()
    return profile, profile.result(unused)


def is_numeral_set(folder: Path) -> bool:
    """Whether a folder holds folders that are named like kinds of dice with numerals."""
    return folder.is_dir() and any(place.name in LEGAL for place in folders_in(folder))


def _closest(shots: Iterable[FaceShot]) -> tuple[tuple[str, str] | None, float | None]:
    """The two faces that are likeliest to be taken for each other: every second picture is compared with the rest."""
    by_face: dict[tuple[str, str], list[FaceShot]] = {}
    for shot in shots:
        by_face.setdefault((shot.kind, shot.text), []).append(shot)
    held = [shots[0] for shots in by_face.values() if len(shots) > 1]
    rest = [shot for shots in by_face.values() for shot in (shots[1:] or shots)]
    if not held:
        return None, None
    matcher, worst = NumeralMatcher(rest), (np.inf, ("", ""))
    for shot in held:
        fits = matcher.fits_of(shot.piece, Pose(0.0, 0.0, 1.0), [shot.kind])
        own = max((fit.score for fit in fits if fit.text == shot.text), default=-1.0)
        for fit in fits:
            if fit.text != shot.text:
                worst = min(worst, (own - fit.score, (f"{shot.kind} {shot.text}", f"{shot.kind} {fit.text}")))
    if not np.isfinite(worst[0]):
        return None, None
    return (min(worst[1]), max(worst[1])), round(float(worst[0]), 3)
