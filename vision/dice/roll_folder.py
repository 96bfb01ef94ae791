"""A folder with pictures of rolls, and what is told of them: by their names or by a list."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from vision.dice.profile import ProfileError
from vision.dice.table_setup import RollPicture
from vision.folders import folders_in, pictures_in
from vision.frame import Frame, Unreadable, load
from vision.profile import NAME_LETTERS

LIST = "labels.csv"
"""In the folder, where it is there: lines ``picture,values`` as ``0001.jpg,2 4 4``; a first line ``image,values``."""
MOST_PICTURES = 300
_LONG_PX = 1600
_NAMED = re.compile(r"([1-6](?:-[1-6])*)(?:[ ._(].*)?")
_MOST_LIST_BYTES = 1_000_000
_MOST_VALUES = 40


def roll_pictures(folder: Path) -> Iterator[RollPicture]:
    """The pictures in ``FOLDER/*.jpg``, and in ``FOLDER/<owner>/*.jpg`` where all dice of a picture are one owner's.

    What lies there is told by LIST, else by a name that begins so: ``2-4-4.jpg``, ``2-4-4 again.jpg``; else nobody
    knows. Pictures wider or higher than 1600 px come smaller; what cannot be read is left out. Raises ProfileError when
    the folder holds no pictures, more than MOST_PICTURES, or a list that makes no sense.
    """
    if not folder.is_dir():
        raise ProfileError(f"{folder} is no folder: give the one that holds the pictures of rolls")
    places = [
        ("", folder),
        *((f.name, f) for f in folders_in(folder)),
    ]
    files = [(owner, path) for owner, place in places for path in pictures_in(place)]
    if not files:
        raise ProfileError(
            f"{folder} holds no pictures: put pictures of rolls into it, as {folder.name}/2-4-4.jpg"
        )
    if len(files) > MOST_PICTURES:
        raise ProfileError(f"{folder} holds {len(files)} pictures: {MOST_PICTURES} are enough, take some out")
    told = _listed(folder / LIST)
    unknown = sorted(set(told) - {str(path.relative_to(folder)) for _, path in files})
    if unknown:
        raise ProfileError(
            f"{LIST} names {unknown[0]}, which is not in {folder}: mend the name or take the line out"
        )
    for owner, path in files:
        if len(owner) > NAME_LETTERS:
            raise ProfileError(f"the owner's name {owner!r} is too long: at most {NAME_LETTERS} letters")
        name = str(path.relative_to(folder))
        try:
            frame = _smaller(load(path))
        except Unreadable:
            continue
        yield RollPicture(name, frame, told.get(name, _by_name(path.stem)), owner)


def _by_name(stem: str) -> tuple[int, ...] | None:
    named = _NAMED.fullmatch(stem)
    return tuple(int(value) for value in named[1].split("-")) if named else None


def _listed(path: Path) -> dict[str, tuple[int, ...]]:
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _MOST_LIST_BYTES:
            raise ProfileError(f"{path} is too large for a list of rolls")
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ProfileError(f"{path} cannot be read as a list of rolls: {error}") from error
    told = {}
    for number, line in enumerate(lines, start=1):
        if not line or (number == 1 and line[0].strip().lower() in ("image", "picture")):
            continue
        values = line[1].split() if len(line) == 2 else []
        if not values or len(values) > _MOST_VALUES or any(value not in "123456" for value in values):
            raise ProfileError(f"{path}, line {number}: write it as 0001.jpg,2 4 4 with values from 1 to 6")
        told[line[0].strip()] = tuple(int(value) for value in values)
    return told


def _smaller(frame: Frame) -> Frame:
    scale = _LONG_PX / max(frame.shape[:2])
    if scale >= 1:
        return frame
    return np.asarray(cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
