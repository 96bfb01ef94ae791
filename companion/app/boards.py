"""Commands for boards with towers: read photographs of one, print its maps."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import cv2
import numpy as np

from companion.app.settings import SettingsError, state_folder
from companion.games.tahwars.deck import read
from companion.games.tahwars.mapfile import read_map
from companion.games.tahwars.maps import Map
from companion.sight.tahwars import BoardRead, BoardSight
from vision.dice.drawn import save
from vision.frame import Frame, Unreadable, load
from vision.surface import NoSurfaceError

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


def read_board(images: Sequence[str], map_path: Path, stick_mm: float | None, picture: Path | None, *,
               as_json: bool) -> int:  # fmt: skip
    """One line a photograph; the exit status: 1 when one could not be read.

    Raises SettingsError where the map is none, or a picture cannot be drawn where it was asked for.
    """
    if stick_mm is not None and not 1 <= stick_mm <= 2000:
        raise SettingsError(f"--stick {stick_mm:g}: give the move stick's length, 1 to 2000 mm")
    found = load_map(map_path)
    try:
        sight = BoardSight(found, stick_mm if stick_mm is not None else _house_stick_mm())
    except ValueError as error:
        raise SettingsError(f"{map_path}: {error}") from error
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
        if picture is not None:
            _draw(
                drawn(frame, read, sight), picture / f"{Path(image).stem}.jpg" if len(images) > 1 else picture
            )
    return status


def _house_stick_mm() -> float:
    return read(
        (files("companion.games.tahwars") / "data" / "house.json").read_text(encoding="utf-8")
    ).stick_mm


def _draw(picture: Frame, path: Path) -> None:
    try:
        save(path, picture)
    except (OSError, ValueError) as error:
        raise SettingsError(f"--picture: {error}; with several photographs name a folder") from error


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
                "value": d.value,
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
        f"{d.owner} {d.kind} {'unread' if d.value is None else d.value}"
        f" {('on ' + (d.terrain or 'unpainted ground')) if d.on_board else 'off the board'}"
        for d in read.dice
    )
    moves = "".join(f"\n  tower {m.tag}: {m.judged.kind} {m.judged.verdict.value} ({m.judged.rule}). {m.judged.because}"
                    for m in read.moves)  # fmt: skip
    return f"{image}: {towers or 'no tower'}\n  dice: {dice or 'none'}{moves}"


def drawn(frame: Frame, read: BoardRead, sight: BoardSight) -> Frame:
    """A copy of `frame` with the painted outlines, each tower's foot and each die as they were read."""
    picture = np.ascontiguousarray(frame.copy())
    camera = read.seen.pose.camera
    for outline in sight.ground.outlines:
        ring = np.array(outline.exterior.coords)
        px = camera.px(np.column_stack([ring, np.zeros(len(ring))]))
        cv2.polylines(picture, [px.round().astype(np.int32)], True, (255, 255, 255), 1, cv2.LINE_AA)
    tower = sight.ground.map.tower
    side = tower.side_mm if tower else 0.0
    for t in read.towers:
        turn = np.radians(t.heading_deg)
        along = np.array((np.cos(turn), np.sin(turn))) * side / 2
        down = np.array((-along[1], along[0]))
        ring = np.array(t.xy_mm) + np.stack([-along - down, along - down, along + down, down - along])
        px = camera.px(np.column_stack([ring, np.zeros(4)])).round().astype(np.int32)
        cv2.polylines(picture, [px], True, (0, 255, 255), 2, cv2.LINE_AA)
        _label(picture, (int(px[:, 0].min()), int(px[:, 1].max()) + 18), f"{t.tag} +-{t.u_mm:.1f}")
    for d in read.dice:
        x0, y0, x1, y1 = d.box_px
        colour = (0, 255, 0) if d.value is not None else (0, 128, 255)
        cv2.rectangle(picture, (x0, y0), (x1, y1), colour, 2)
        number = "?" if d.value is None else str(d.value)
        _label(
            picture,
            (x0, y0 - 5),
            f"{d.owner} {d.kind} {number} {d.terrain or ('off' if not d.on_board else '-')}",
        )
    return picture


def _label(picture: Frame, at: tuple[int, int], words: str) -> None:
    for thick, colour in ((4, (0, 0, 0)), (1, (255, 255, 255))):
        cv2.putText(picture, words, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, thick, cv2.LINE_AA)
