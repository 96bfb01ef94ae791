"""Commands that look at pictures: read dice, enrol dice, print markers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import track

from companion.app.settings import SettingsError, profile_path
from vision.dice.reading import PipsReader
from vision.dice.report import Reader, as_text, draw, read_file, save
from vision.dice.symbols import SymbolReader
from vision.enrol import EnrolError, enrol_folder, load_profile
from vision.frame import load
from vision.markers import marker_sheet

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")
MANY = 12


def print_markers(out: Path) -> None:
    """Write the sheet as a PDF."""
    out.write_bytes(marker_sheet())
    click.echo(f"{out}: print it at 100 %, cut, and lay the markers at the corners as the sheet says")


def reader_of(kind: str) -> Reader:
    """The reader that ``--kind`` names. Raises SettingsError."""
    if kind == "pips":
        return PipsReader()
    if kind == "numerals":
        raise SettingsError("numerals are not read without enrolment: enrol the dice, then give --kind NAME")
    try:
        return SymbolReader([load_profile(profile_path(kind))])
    except EnrolError as error:
        raise SettingsError(str(error)) from error


def read_dice(images: tuple[str, ...], kind: str, picture: Path | None, as_json: bool) -> int:
    """One line a picture; the exit status: 1 when any could not be read."""
    reader, status = reader_of(kind), 0
    named = list(_files(images))
    if picture is not None and len(named) > 1:
        picture.mkdir(parents=True, exist_ok=True)
    is_long = len(named) >= MANY and sys.stderr.isatty()
    for image in track(named, "reading", console=Console(stderr=True), disable=not is_long):
        row = read_file(image, reader)
        status = 1 if "error" in row else status
        click.echo(json.dumps(row) if as_json else as_text(row))
        if picture is not None and "error" not in row:
            frame = load(image)
            out = picture / f"{Path(image).stem}.png" if len(named) > 1 else picture
            save(out, draw(frame, reader.read(frame)))
    return status


def _files(images: tuple[str, ...]) -> Iterator[str]:
    """The pictures named, folders opened in the order of their names."""
    for image in images:
        path = Path(image)
        if path.is_dir():
            yield from (str(p) for p in sorted(path.iterdir()) if p.suffix.lower() in PICTURES)
        else:
            yield image


def enrol_dice(name: str, folder: Path, as_json: bool) -> None:
    """Learn dice from a folder and keep them under a name."""
    try:
        profile, result = enrol_folder(folder, name)
    except EnrolError as error:
        raise SettingsError(str(error)) from error
    path = profile_path(name, must_exist=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    profile.save(path)
    if as_json:
        click.echo(msgspec.json.encode(result))
        return
    counts = ", ".join(f"{face} {count}" for face, count in result.faces.items())
    click.echo(f"{name}: {counts}")
    if result.closest and result.margin is not None:
        doubt = (
            " That is little: show these faces again, closer and under even light."
            if result.margin < 0.1
            else ""
        )
        click.echo(
            f"Most alike: {result.closest[0]} and {result.closest[1]}, apart by {result.margin:.2f}.{doubt}"
        )
    for unused in result.unused:
        click.echo(f"No die was found in {unused}", err=True)
    click.echo(f"Kept in {path}", err=True)
