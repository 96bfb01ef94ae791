"""The command that reads dice: photographs one by one, films and cameras roll by roll."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from companion.app.dice_readers import DiceWanted, reader_of
from companion.app.drawing import Drawer, NotDrawnError
from companion.app.settings import SettingsError
from vision.camera import Film, is_live
from vision.dice.drawn import draw
from vision.dice.reader import Reader
from vision.dice.report import as_text, lifted_text, look_at, roll_json, roll_text
from vision.dice.rolls import Roll
from vision.eye import Shot, SourceLostError
from vision.folders import pictures_in
from vision.frame import PICTURE_SUFFIXES, Unreadable
from vision.frame_header import is_film
from vision.shots import film_shots, frame_shots, live_shots, rolls_in

FILMS = (
    ".mp4",
    ".m4v",
    ".mov",
    ".avi",
    ".mkv",
    ".webm",
    ".mpg",
    ".mpeg",
    ".ts",
    ".wmv",
    ".flv",
    ".3gp",
    ".ogv",
    ".mjpg",
)
MANY = 12
Row = dict[str, Any]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """Where readings go: `picture` is a file or folder for drawn ones, `fps` takes folders as frames of a film."""

    picture: Path | None = None
    as_json: bool = False
    fps: float | None = None


class _Named(msgspec.Struct, frozen=True):
    """One thing to read. `kind`: ``picture``, ``film``, ``frames`` or ``camera``; `of` is the folder that a picture
    was found in and its place there."""

    kind: str
    name: str
    of: tuple[str, int] | None = None


def read_dice(sources: tuple[str, ...], wanted: DiceWanted, output: Output) -> int:
    """One line a picture and one line a roll; the exit status: 1 when anything could not be read.

    Raises SettingsError for what cannot be done with anything at all.
    """
    if output.fps is not None and not 0 < output.fps <= 1000:
        raise SettingsError(f"--frames {output.fps:g}: give the frames a second, such as 30")
    named = [item for source in sources for item in _named(source, output)]
    drawer = Drawer(output.picture, is_alone=len(named) == 1 and named[0].kind == "picture")
    reading = _Reading(reader_of(wanted), output, drawer)
    is_shown = sys.stderr.isatty() and (
        len(named) >= MANY or any(item.kind in ("film", "frames") for item in named)
    )
    with _progress(is_shown) as progress:
        task = progress.add_task("reading", total=len(named))
        for item in named:
            reading.read(item, progress)
            progress.advance(task)
    return reading.status


def _named(source: str, output: Output) -> Iterator[_Named]:
    """What an argument stands for; folders are opened in the order of their names."""
    path = Path(source)
    if path.is_dir() and output.fps is not None:
        yield _Named("frames", source)
    elif path.is_dir():
        found = _pictures_in(path)
        yield from (_Named("picture", str(p), (source, n)) for n, p in enumerate(found, start=1))
        if not found:
            yield _Named("frames", source)
    elif is_live(source):
        yield _Named("camera", source)
    else:
        yield _Named("film" if _is_film(path) else "picture", source)


def _pictures_in(folder: Path) -> list[Path]:
    try:
        return pictures_in(folder)
    except OSError:
        return []


def _is_film(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return False
    return is_film(start) or (path.suffix.lower() in FILMS and bool(start))


def _progress(is_shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not is_shown, transient=True)


class _Reading:
    """Reads one thing after the other and prints what comes of it. `status` is 1 once anything was not readable."""

    def __init__(self, reader: Reader, output: Output, drawer: Drawer) -> None:
        self._reader, self._output, self._drawer = reader, output, drawer
        self.status = 0

    def read(self, item: _Named, progress: Progress) -> None:
        """Whatever it holds: the others are read all the same."""
        try:
            if item.kind == "picture":
                self._picture(item)
            elif item.kind == "film":
                film = Film(Path(item.name))
                self._rolls(
                    item.name, _counted(film_shots(film, Path(item.name).name), progress, film.length)
                )
            elif item.kind == "frames":
                self._rolls(item.name, self._frames(item.name, progress))
            else:
                with contextlib.suppress(KeyboardInterrupt):  # how somebody ends what has no end
                    self._rolls(item.name, live_shots(item.name))
        except (SourceLostError, NotDrawnError) as error:
            self._failed({"source": item.name, "error": str(error)}, roll_text)

    def _picture(self, item: _Named) -> None:
        looked = look_at(item.name, self._reader)
        row = looked.row
        if item.of is not None:
            row = {**row, "source": item.of[0], "t_ms": None, "roll": item.of[1]}
        if "error" in row:
            self._failed(row, as_text)
            return
        self._print(row, as_text)
        if looked.frame is not None and looked.reading is not None:
            reading = looked.reading
            self._drawer.save(Path(item.name).stem, partial(draw, looked.frame, reading.dice, reading.flags))

    def _frames(self, name: str, progress: Progress) -> Iterator[Shot]:
        paths = _pictures_in(Path(name))
        if not paths:
            raise SourceLostError(
                f"no picture is in this folder that could be read: {', '.join(PICTURE_SUFFIXES)}"
            )

        def unreadable(path: Path, error: Unreadable) -> None:
            self._failed({"image": str(path), "error": str(error)}, as_text)

        return _counted(frame_shots(paths, self._output.fps or 1.0, unreadable), progress, len(paths))

    def _rolls(self, name: str, shots: Iterator[Shot]) -> None:
        count = 0
        for told in rolls_in(shots, self._reader, name):
            if not isinstance(told.what, Roll):
                click.echo(lifted_text(name, told.what, told.begun_ns), err=True)
                continue
            roll, frame = told.what, told.frame
            count += 1
            self._print(roll_json(name, roll, told.begun_ns), roll_text)
            dice = (*roll.rolled, *roll.kept, *roll.moving)
            self._drawer.save(
                f"{Path(name).stem or 'camera'}-roll-{roll.n}", partial(draw, frame, dice, roll.flags)
            )
        if not count:
            click.echo(f"{name}: no dice came to rest in it", err=True)

    def _print(self, row: Row, words: Callable[[Mapping[str, Any]], str]) -> None:
        click.echo(json.dumps(row) if self._output.as_json else words(row))

    def _failed(self, row: Row, words: Callable[[Mapping[str, Any]], str]) -> None:
        self.status = 1
        self._print(row, words)


def _counted(shots: Iterator[Shot], progress: Progress, length: int) -> Iterator[Shot]:
    task = progress.add_task("frames", total=length or None)
    for shot in shots:
        progress.update(task, completed=shot.number)
        yield shot
    progress.remove_task(task)
