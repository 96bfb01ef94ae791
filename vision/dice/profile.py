"""What is known of one table: how it looks without dice, how large a die is on it, and what its dice look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.archive import ArchiveError, read_arrays, write_arrays
from vision.dice.pips import FACE_PX, cut
from vision.encoding import jpeg, smaller
from vision.frame import Frame, Unreadable, decode
from vision.profile import NAME_LETTERS
from vision.surface import Surface

SUFFIX = ".table.npz"
FORMAT = 1
MOST_FACES = 1500
MOST_EMPTY = 4
CROP = 2.2
"""A crop that is learnt from is this many times as wide as the face in its middle."""
NO_FACE = 0
"""Value of a learnt place where no top face with pips is."""

_MOST_BYTES = 20_000_000
_EMPTY_LONG_PX = 1280
_JPEG_QUALITY = 95
_DICE_MM = (5.0, 60.0)


class ProfileError(Exception):
    """These pictures or this file make no table profile; the text says what to do."""


@dataclass(frozen=True)
class LearntFace:
    """One face as `vision.dice.pips.cut` makes them. `value`: 1 to 6, or NO_FACE for what is none. `owner`: whose
    die it is, empty when unknown. `is_corrected`: a referee said so."""

    picture: Frame
    value: int
    owner: str = ""
    is_corrected: bool = False


@dataclass(frozen=True)
class TableProfile:
    """A table under one camera. Every change gives a new one.

    `empty`: pictures without dice, uint8 BGR. `side_px`: usual edge of a top face in px of a picture whose long side
    is `long_px`; None where no roll told it. `view`: (3, 3), what `vision.dice.poses.LearntView` takes: the edge,
    then the shift of a top face against its foot in x and y, each as factors of 1, x, y in px of such a picture.
    `surface`: the table as the markers in the empty picture gave it. `up_xy`: unit vector in the picture from the
    other faces that are seen of a die to its top face. `faces`: what the dice look like, oldest first. `edition`
    counts the changes.
    """

    name: str
    empty: tuple[Frame, ...] = ()
    side_px: float | None = None
    long_px: int = 0
    view: NDArray[np.float64] | None = None
    die_mm: float = 16.0
    surface: Surface | None = None
    up_xy: tuple[float, float] | None = None
    faces: tuple[LearntFace, ...] = ()
    edition: int = 1

    def learn(self, face_crop: Frame, value: int | None, owner: str = "") -> TableProfile:
        """The profile with one more face that a referee named; the old one stays as it is.

        `face_crop`: BGR (N, N, 3), the top face in its middle and CROP times as wide as that, as
        `vision.learn.crop_around` cuts it from the box of a die that was read. `value`: 1 to 6, None: no top face
        with pips is there. Of more than MOST_FACES the oldest that no referee named make room. Raises
        ProfileError for another value, with nothing learnt.
        """
        if value is not None and value not in range(1, 7):
            raise ProfileError(f"{value!r} is no value of a die with pips: give 1 to 6")
        if len(owner) > NAME_LETTERS:
            raise ProfileError(f"an owner's name has at most {NAME_LETTERS} letters")
        side = min(face_crop.shape[:2])
        middle = (face_crop.shape[1] / 2, face_crop.shape[0] / 2)
        picture = cut(face_crop, *middle, side / CROP)
        return self.with_faces((LearntFace(picture, value or NO_FACE, owner, is_corrected=True),))

    def with_faces(self, more: Sequence[LearntFace]) -> TableProfile:
        """The profile with more faces."""
        kept = [*self.faces, *more]
        while len(kept) > MOST_FACES:
            oldest = next((i for i, face in enumerate(kept) if not face.is_corrected), 0)
            del kept[oldest]
        return replace(self, faces=tuple(kept), edition=self.edition + 1)

    def side_in(self, frame: Frame) -> float | None:
        """The usual edge of a top face in px of `frame`."""
        return self.side_px * max(frame.shape[:2]) / self.long_px if self.side_px and self.long_px else None

    def counts(self) -> dict[int, int]:
        """How many faces are known of each value, 1 to 6."""
        count = Counter(face.value for face in self.faces)
        return {value: count[value] for value in range(1, 7)}

    def save(self, path: Path) -> None:
        """Writes the file (its name should end in SUFFIX). Raises OSError."""
        surface = self.surface
        pictures = [_packed(picture) for picture in self.empty[:MOST_EMPTY]]
        arrays = {
            "format": np.array(FORMAT),
            "edition": np.array(self.edition),
            "name": np.array(self.name),
            "numbers": np.array([self.side_px or 0.0, self.long_px, self.die_mm], np.float64),
            "view": np.zeros((0, 3)) if self.view is None else self.view,
            "up": np.array(self.up_xy or (), np.float64),
            "empty": np.concatenate(pictures) if pictures else np.zeros(0, np.uint8),
            "empty_ends": np.cumsum([len(picture) for picture in pictures]).astype(np.int64),
            "faces": np.stack([face.picture for face in self.faces])
            if self.faces
            else np.zeros((0, FACE_PX, FACE_PX, 3), np.uint8),
            "values": np.array([(face.value, face.is_corrected) for face in self.faces], np.int64).reshape(
                -1, 2
            ),
            "owners": np.array([face.owner for face in self.faces], np.str_),
            "to_px": surface.to_px if surface else np.zeros((0, 3)),
            "corners_mm": np.stack([surface.corners_mm[i] for i in sorted(surface.corners_mm)])
            if surface
            else np.zeros((0, 4, 2)),
            "seen": np.array(
                [*surface.picture_size, surface.camera_mm[2], surface.error_px] if surface else [], np.float64
            ),
        }
        write_arrays(path, arrays)


def load_table(path: Path) -> TableProfile:
    """A profile from its file, which may come from anybody. Raises ProfileError when it is none."""
    again = "make it again with companion profile table"
    try:
        arrays = read_arrays(path, _MOST_BYTES)
        form = int(arrays["format"])
        if form != FORMAT:
            raise ProfileError(f"{path.name} has form {form}, this program reads form {FORMAT}: {again}")
        return _unpacked(arrays)
    except (ArchiveError, KeyError, ValueError, TypeError, OverflowError, Unreadable) as error:
        told = str(error) if isinstance(error, ArchiveError) else "damaged"
        raise ProfileError(f"{path.name} is no table profile ({told}): {again}") from error


def _packed(picture: Frame) -> NDArray[np.uint8]:
    return np.frombuffer(jpeg(smaller(picture, _EMPTY_LONG_PX), _JPEG_QUALITY), np.uint8)


def _unpacked(arrays: dict[str, NDArray[np.generic]]) -> TableProfile:
    side_px, long_px, die_mm = (float(v) for v in arrays["numbers"])
    values, owners, faces = arrays["values"], [str(o) for o in arrays["owners"]], arrays["faces"]
    view = np.asarray(arrays["view"], np.float64)
    up, ends = np.asarray(arrays["up"], np.float64), [int(e) for e in arrays["empty_ends"]]
    count = len(owners)
    is_sound = (
        count <= MOST_FACES
        and faces.shape == (count, FACE_PX, FACE_PX, 3)
        and faces.dtype == np.uint8
        and values.shape == (count, 2)
        and all(0 <= int(value) <= 6 for value in values[:, 0])
        and all(len(owner) <= NAME_LETTERS for owner in owners)
        and up.shape in ((0,), (2,))
        and len(ends) <= MOST_EMPTY
        and view.shape in ((0, 3), (3, 3))
        and bool(np.isfinite(np.concatenate([up, view.ravel(), [side_px, long_px, die_mm]])).all())
        and side_px >= 0
        and 0 <= long_px <= 100_000
        and _DICE_MM[0] <= die_mm <= _DICE_MM[1]
        and len(str(arrays["name"])) <= NAME_LETTERS
    )
    if not is_sound:
        raise ValueError("numbers that cannot be")
    packed = np.asarray(arrays["empty"], np.uint8)
    starts = [0, *ends[:-1]] if ends else []
    return TableProfile(
        name=str(arrays["name"]),
        empty=tuple(decode(packed[a:b].tobytes()) for a, b in zip(starts, ends, strict=True)),
        side_px=side_px or None,
        long_px=int(long_px),
        view=view if len(view) else None,
        die_mm=die_mm,
        surface=_surface(arrays),
        up_xy=(float(up[0]), float(up[1])) if len(up) else None,
        faces=tuple(
            LearntFace(np.asarray(picture, np.uint8), int(value), owner, bool(corrected))
            for picture, (value, corrected), owner in zip(faces, values, owners, strict=True)
        ),
        edition=int(arrays["edition"]),
    )


def _surface(arrays: dict[str, NDArray[np.generic]]) -> Surface | None:
    to_px, corners, seen = (np.asarray(arrays[name], np.float64) for name in ("to_px", "corners_mm", "seen"))
    if not len(to_px):
        return None
    if to_px.shape != (3, 3) or corners.shape != (4, 4, 2) or seen.shape != (4,):
        raise ValueError("no surface")
    if (
        not all(np.isfinite(part).all() for part in (to_px, corners, seen))
        or abs(np.linalg.det(to_px)) < 1e-9
    ):
        raise ValueError("no surface")
    return Surface(
        to_px,
        dict(enumerate(corners)),
        (int(seen[0]), int(seen[1])),
        seen=frozenset(range(4)),
        error_px=float(seen[3]),
        camera_height_mm=float(seen[2]),
    )
