"""The command that enrols dice: sets with numerals here, dice with symbols where `looking` does."""

from __future__ import annotations

from pathlib import Path

from companion.app import looking
from companion.app.settings import SettingsError, profile_path
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_looks import LEGAL
from vision.dice.numerals_matching import FaceShot
from vision.dice.numerals_profile import (
    FaceTaker,
    NumeralProfile,
    enrol_numerals,
    holds_numerals,
    is_numeral_set,
    load_numerals,
)
from vision.frame import Frame
from vision.profile import EnrolError

SYMBOL_FACES = "arrow,burst,spiral,wand"


def enrol_dice(
    name: str, folder: Path | None, as_json: bool, *, die: str, zero: int | None, **shown: str
) -> None:
    """Learn dice from a folder or before a camera, and keep them under a name. `shown`: camera, faces, owner.

    Raises SettingsError, one line that says what to do.
    """
    if not die and not (folder is not None and is_numeral_set(folder)):
        if zero is not None:
            raise SettingsError("--zero is for dice with numerals: give --die KIND too")
        looking.enrol_dice(name, folder, as_json, **{**shown, "faces": shown["faces"] or SYMBOL_FACES})
        return
    if die and die not in LEGAL:
        raise SettingsError(f"there is no kind of die {die!r}: give one of {', '.join(LEGAL)}")
    path = profile_path(name, must_exist=False)
    try:
        conventions = Conventions() if zero is None else Conventions(d10_zero=zero)
        if folder is not None:
            profile, result = enrol_numerals(folder, name, die or None, conventions)
        else:
            profile = _shown(name, die, conventions, (path, shown["camera"], shown["faces"]))
            result = profile.result()
    except (EnrolError, ValueError) as error:
        raise SettingsError(str(error)) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    profile.save(path)
    looking.tell_enrolled(name, path, result, as_json)


def _shown(name: str, die: str, conventions: Conventions, asked: tuple[Path, str, str]) -> NumeralProfile:
    """Faces shown to the camera, all of the die unless some are named. Other kinds under the same name are kept."""
    path, source, faces = asked
    if not source:
        raise SettingsError("give --from FOLDER, or --camera SOURCE to show each face")
    named = tuple(word.strip() for word in faces.split(",") if word.strip())
    for face in named:
        if face not in LEGAL[die]:
            raise SettingsError(f"{face!r} is no face of a {die}: its faces are {', '.join(LEGAL[die])}")
    kept: tuple[FaceShot, ...] = ()
    if holds_numerals(path):
        kept = tuple(
            shot
            for shot in load_numerals(path).shots
            if shot.kind != die or (named and shot.text not in named)
        )
    taker = FaceTaker()

    def taken(frame: Frame, face: str) -> FaceShot | None:
        return taker.taken(frame, die, face)

    shots = looking.shown_faces(source, named or LEGAL[die], taken)
    return NumeralProfile(name, (*kept, *shots), conventions)
