"""Commands for boards with towers: read photographs of one, print its maps."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import msgspec
import numpy as np

from companion.app.drawing import Drawer
from companion.app.settings import SettingsError, profile_path, state_folder
from companion.games.tahwars.deck import read
from companion.games.tahwars.mapfile import read_map
from companion.games.tahwars.maps import Map
from companion.sight import tahwars
from companion.sight.tahwars import BoardRead, BoardSight
from vision.dice.numerals_profile import holds_numerals, load_numerals
from vision.frame import Frame, Unreadable, load
from vision.profile import EnrolError
from vision.surface import NoSurfaceError
from vision.towers.colours import OWNERS
from vision.towers.drawn import drawn
from vision.towers.watch import BoardSpec

MANY = 3
Row = dict[str, Any]


def map_path(name: str) -> Path:
    """Where the map of this name is kept. Raises SettingsError."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
        raise SettingsError(f"{name!r} is no name for a map: use letters, digits, - and _, at most 40")
    return state_folder() / "maps" / f"{name}.json"


def load_map(path: Path) -> Map:
    """The map in a file. Raises SettingsError with one line."""
    try:
        return read_map(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {getattr(error, 'strerror', None) or 'this is no text'}") from error
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from error


def enrolled_sets() -> dict[str, Path]:
    """Owner -> the file of their dice: sets with numerals that were enrolled under the name of a tower's colour."""
    paths = {owner: profile_path(owner, must_exist=False) for owner in OWNERS}
    return {owner: path for owner, path in paths.items() if holds_numerals(path)}


def lookout(data: str) -> BoardSpec:
    """What a camera over a board is told to look at, with the dice that were enrolled.

    Raises SettingsError where a set's file is damaged: the camera's own process could only end.
    """
    found = enrolled_sets()
    try:
        for path in found.values():
            load_numerals(path)
    except EnrolError as error:
        raise SettingsError(str(error)) from error
    sets = tuple((owner, str(path)) for owner, path in found.items())
    return msgspec.structs.replace(tahwars.lookout(data), sets=sets)


def read_board(images: Sequence[str], map_path: Path, stick_mm: float | None, picture: Path | None, *,
               as_json: bool) -> int:  # fmt: skip
    """One line a photograph; the exit status: 1 when one could not be read.

    Raises SettingsError where the map is none, or a picture cannot be drawn where it was asked for.
    """
    if stick_mm is not None and not 1 <= stick_mm <= 2000:
        raise SettingsError(f"--stick {stick_mm:g}: give the move stick's length, 1 to 2000 mm")
    found = load_map(map_path)
    try:
        sight = BoardSight(found, stick_mm if stick_mm is not None else _house_stick_mm(), enrolled_sets())
    except EnrolError as error:
        raise SettingsError(str(error)) from error
    except ValueError as error:
        raise SettingsError(f"{map_path}: {error}") from error
    drawer = Drawer(picture, is_alone=len(images) == 1)
    before: BoardRead | None = None
    status = 0
    for n, image in enumerate(images, start=1):
        if len(images) > MANY and sys.stderr.isatty():
            click.echo(f"reading {n} of {len(images)}", err=True)
        try:
            frame = load(image)
            read = sight.read(frame, before)
        except (Unreadable, NoSurfaceError) as error:
            status = 1
            click.echo(json.dumps({"image": image, "error": str(error)}) if as_json else f"{image}: {error}")
            continue
        before = read
        click.echo(json.dumps(row_of(image, read)) if as_json else text_of(image, read))
        drawer.save(Path(image).stem, partial(_drawn, frame, read, sight))
    return status


def _house_stick_mm() -> float:
    return read(
        (files("companion.games.tahwars") / "data" / "house.json").read_text(encoding="utf-8")
    ).stick_mm


def row_of(image: str, read: BoardRead) -> Row:
    """What a program is told of one photograph."""
    return {
        "image": image,
        "towers": [
            {"tag": t.tag, "xy_mm": list(t.xy_mm), "heading_deg": t.heading_deg, "u_mm": t.u_mm}
            for t in read.towers
        ],
        "dice": [
            {
                "kind": d.kind,
                "value": None if d.reason else d.value,
                "owner": d.owner,
                "xy_mm": list(d.xy_mm),
                "terrain": d.terrain,
                "on_board": d.on_board,
            }
            for d in read.dice
        ],
        "moves": [
            {
                "tag": m.tag,
                "kind": m.judged.kind,
                "moved_mm": round(m.judged.moved_mm.value, 2),
                "turned_deg": round(m.judged.turned_deg.value, 2),
                "verdict": m.judged.verdict.value,
                "rule": m.judged.rule,
            }
            for m in read.moves
        ],
    }


def text_of(image: str, read: BoardRead) -> str:
    """The same in words."""
    towers = "; ".join(
        f"{read.seen.owners.get(t.tag, 'tower')} tower {t.tag} at {t.xy_mm[0]:.0f}, {t.xy_mm[1]:.0f} mm"
        f" +- {t.u_mm:.1f}, heading {t.heading_deg:.0f}"
        for t in read.towers
    )
    dice = "; ".join(
        f"{d.owner} {d.kind} {'unread' if d.reason else d.value}"
        f" {('on ' + (d.terrain or 'unpainted ground')) if d.on_board else 'off the board'}"
        for d in read.dice
    )
    moves = "".join(f"\n  tower {m.tag}: {m.judged.kind} {m.judged.verdict.value} ({m.judged.rule}). {m.judged.because}"
                    for m in read.moves)  # fmt: skip
    return f"{image}: {towers or 'no tower'}\n  dice: {dice or 'none'}{moves}"


def _drawn(frame: Frame, read: BoardRead, sight: BoardSight) -> Frame:
    tower = sight.ground.map.tower
    outlines = [np.array(outline.exterior.coords) for outline in sight.ground.outlines]
    side_mm = tower.side_mm if tower else 0.0
    return drawn(frame, read.seen.pose.camera, outlines, side_mm, towers=read.towers, dice=read.dice)
