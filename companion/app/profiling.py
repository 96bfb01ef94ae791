"""The command that learns a table once, so that dice with pips are read there better."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from companion.app.settings import SettingsError, table_path, table_size
from vision.dice.profile import LearntFace, ProfileError, TableProfile, load_table
from vision.dice.roll_folder import roll_pictures
from vision.dice.table_setup import RollPicture, SetUp, empty_profile, set_up
from vision.frame import Frame, Unreadable, load
from vision.surface import Marks


@dataclass(frozen=True, kw_only=True)
class TableShown:
    """What a table is learnt from. `table_mm`: ``W,H`` over the markers, empty to measure it by them."""

    empty: Path
    rolls: Path | None = None
    die_mm: float = 16.0
    marker_mm: float = 40.0
    table_mm: str = ""


def profile_table(name: str, shown: TableShown, as_json: bool) -> None:
    """Learn a table and keep it under a name. Raises SettingsError, one line that says what to do."""
    path = table_path(name, must_exist=False)
    if not 5.0 <= shown.die_mm <= 60.0:
        raise SettingsError(f"--die-mm {shown.die_mm:g}: a die's edge is 5 to 60 mm")
    if not 5.0 <= shown.marker_mm <= 200.0:
        raise SettingsError(f"--marker-mm {shown.marker_mm:g}: a marker's black square is 5 to 200 mm wide")
    marks = Marks(marker_mm=shown.marker_mm, size_mm=table_size(shown.table_mm))
    title = path.name.partition(".")[0]
    start = empty_profile(title, _picture(shown.empty), marks, shown.die_mm)
    try:
        result = set_up(start, list(_with_progress(roll_pictures(shown.rolls)))) if shown.rolls else None
        kept = _kept(path, shown.rolls is not None)
    except ProfileError as error:
        raise SettingsError(str(error)) from error
    profile = result.profile if result else start
    if kept:
        profile = profile.with_faces(kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    profile.save(path)
    told = as_object(profile, result, path)
    click.echo(json.dumps(told) if as_json else as_text(told))


def as_object(profile: TableProfile, result: SetUp | None, path: Path) -> dict[str, Any]:
    """What was learnt, for programs."""
    return {
        "name": profile.name,
        "path": str(path),
        "has_surface": profile.surface is not None,
        "is_camera_still": bool(profile.empty),
        "die_px": None if profile.side_px is None else round(profile.side_px, 1),
        "faces": {str(value): count for value, count in profile.counts().items()},
        "owners": dict(Counter(face.owner for face in profile.faces if face.owner)),
        "corrections": sum(face.is_corrected for face in profile.faces),
        "pictures": result.used if result else 0,
        "unused": list(result.unused) if result else [],
    }


def as_text(told: dict[str, Any]) -> str:
    """What was learnt, for people."""
    lines = []
    if told["pictures"]:
        faces = ", ".join(f"{value}: {count}" for value, count in told["faces"].items())
        lines.append(f"{told['name']}: learnt from {told['pictures']} pictures of rolls; faces {faces}")
        missing = [value for value, count in told["faces"].items() if not count]
        if missing:
            lines.append(f"No die showed {', '.join(missing)}: more rolls make the reading surer.")
        if not told["is_camera_still"]:
            lines.append(
                "The rolls do not fit the empty table: the camera was moved. It is read without that picture."
            )
    else:
        lines.append(
            f"{told['name']}: the empty table is known; pictures of rolls (--rolls FOLDER) teach more"
        )
    lines.append(
        "Markers were found: places are known in mm." if told["has_surface"] else "No markers were found."
    )
    if told["owners"]:
        lines.append(
            "Owners: " + ", ".join(f"{owner} ({count} faces)" for owner, count in told["owners"].items())
        )
    lines += [f"Nothing was learnt from {name}" for name in told["unused"]]
    lines.append(f"Kept in {told['path']}")
    return "\n".join(lines)


def _kept(path: Path, has_rolls: bool) -> list[LearntFace]:
    """What stays of a profile that is made anew: what a referee taught it; without new rolls also the old ones."""
    if not path.is_file():
        return []
    return [face for face in load_table(path).faces if face.is_corrected or not has_rolls]


def _picture(path: Path) -> Frame:
    try:
        return load(path)
    except Unreadable as error:
        raise SettingsError(f"{path}: {error}") from error


def _with_progress(pictures: Iterable[RollPicture]) -> Iterator[RollPicture]:
    yield from track(pictures, "loading rolls", console=Console(stderr=True), disable=not sys.stderr.isatty())
