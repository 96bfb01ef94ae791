"""The commands that read the cards of a Tacta table: one photograph, or what happens from picture to picture."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import msgspec
import numpy as np

from companion.app.drawing import Drawer
from companion.app.reading import FILMS
from companion.app.settings import SettingsError
from companion.core.observation import CameraChanged, CardChanged
from companion.games.tacta.deck import Deck, read
from companion.games.tacta.placement import Allowance, Judged
from companion.sight.tacta import card_reader
from companion.sight.tacta_judge import TableJudge
from vision.camera import Film, is_live
from vision.eye import Shot, SourceLostError
from vision.folders import pictures_in
from vision.frame import Frame, Unreadable, load
from vision.outlined.drawn import drawn
from vision.outlined.plane import NoPlaneError, Plane, laid_flat, plane_of
from vision.outlined.reading import CardRead
from vision.outlined.scale import by_cards
from vision.outlined.watcher import CardWatcher, PlaneFinder, by_markers
from vision.outlined.whole import WholeTable, read_whole
from vision.shots import film_shots, live_shots
from vision.surface import Marks

Row = dict[str, Any]
SHIPPED = ("deck-a.json", "deck-b.json")
"""Decks that are tried where none is named: public sources differ in the size of the shapes."""


class TableWanted(msgspec.Struct, frozen=True, kw_only=True):
    """How a table is to be looked at, as asked on the command line. `corners`: ``x,y x,y x,y x,y`` in px, ``table_mm``:
    ``W,H``; without corners its markers are looked for, or else the cards' own size gives the scale."""

    deck: Path | None = None
    corners: str = ""
    table_mm: str = ""
    allowance_mm: float = 2.0

    def decks(self) -> tuple[Deck, ...]:
        """The deck that was named, or all that are shipped. Raises SettingsError."""
        try:
            if self.deck is not None:
                return (read(self.deck.read_text(encoding="utf-8")),)
            folder = files("companion.games.tacta") / "data"
            return tuple(read((folder / name).read_text(encoding="utf-8")) for name in SHIPPED)
        except OSError as error:
            raise SettingsError(f"--deck {self.deck}: {error.strerror}: name a deck file") from error
        except ValueError as error:
            raise SettingsError(f"--deck {self.deck}: {error}") from error

    def size_mm(self) -> tuple[float, float] | None:
        """Width and height of the table where they were given. Raises SettingsError."""
        if not self.table_mm:
            return None
        numbers = _numbers(self.table_mm)
        if len(numbers) != 2 or min(numbers) <= 0:
            raise SettingsError(f"--table-mm {self.table_mm!r}: give width and height, such as 1000,690")
        return numbers[0], numbers[1]

    def corners_px(self) -> np.ndarray[Any, np.dtype[np.float64]] | None:
        """(4, 2), None where none were given. Raises SettingsError."""
        if not self.corners:
            return None
        numbers = _numbers(self.corners)
        if len(numbers) != 8:
            raise SettingsError(
                f"--corners {self.corners!r}: give top left, top right, bottom right, bottom left as"
                ' "x,y x,y x,y x,y" in pixels'
            )
        if not self.table_mm:
            raise SettingsError("--corners says where the table is seen: --table-mm W,H says how large it is")
        return np.array(numbers).reshape(4, 2)

    def finder(self, deck: Deck) -> PlaneFinder:
        """Finds the table by what is known of it. Raises SettingsError."""
        corners, size_mm = self.corners_px(), self.size_mm()
        marked, cards = by_markers(Marks(size_mm=size_mm)), by_cards(card_reader(deck))

        def find(frame: Frame) -> Plane:
            if corners is not None and size_mm is not None:
                return plane_of(corners, size_mm, (frame.shape[1], frame.shape[0]))
            try:
                return marked(frame)
            except NoPlaneError:
                return cards(frame)

        return find


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(word) for word in text.replace(";", " ").replace(",", " ").split()]
    except ValueError:
        return []
    return numbers if np.isfinite(numbers).all() else []


def read_tacta(images: Sequence[str], wanted: TableWanted, picture: Path | None, *, as_json: bool) -> int:
    """One line a photograph; the exit status: 1 when one could not be read. Raises SettingsError."""
    drawer = Drawer(picture, is_alone=len(images) == 1)
    decks, status = wanted.decks(), 0
    wanted.corners_px(), wanted.size_mm()
    for image in images:
        begun_ns = time.perf_counter_ns()
        try:
            frame = load(image)
            deck, plane, whole = _best_deck(frame, decks, wanted)
        except (Unreadable, NoPlaneError) as error:
            status = 1
            click.echo(json.dumps({"image": image, "error": str(error)}) if as_json else f"{image}: {error}")
            continue
        row = {
            "image": image,
            "cards": [_card_row(card) for card in whole.cards],
            "unknown": [
                {"pose_mm_deg": [round(v, 2) for v in (p.x_mm, p.y_mm, p.angle_deg)]} for p in whole.unknown
            ],
            "flags": list(whole.flags),
            "ms": round((time.perf_counter_ns() - begun_ns) / 1e6, 1),
        }
        click.echo(json.dumps(row) if as_json else _whole_text(row))
        drawer.save(Path(image).stem, partial(drawn, frame, plane, whole, deck.card_mm))
    return status


def _best_deck(frame: Frame, decks: Sequence[Deck], wanted: TableWanted) -> tuple[Deck, Plane, WholeTable]:
    """The deck whose cards fit best what lies there, where the table is, and what was read."""
    found = []
    for deck in decks:
        plane = wanted.finder(deck)(frame)
        whole = read_whole(laid_flat(frame, plane), card_reader(deck))
        misfit = sum(card.cost - 0.5 for card in whole.cards)
        found.append((misfit, deck, plane, whole))
    _, deck, plane, whole = min(found, key=lambda each: each[0])
    return deck, plane, whole


def _card_row(card: CardRead) -> Row:
    pose = card.pose
    return {
        "card": card.card, "colour": card.colour or None, "flipped": card.flipped,
        "pose_mm_deg": [round(pose.x_mm, 2), round(pose.y_mm, 2), round(pose.angle_deg, 2)], "u_mm": card.u_mm,
        "confidence": card.confidence, "candidates": list(card.candidates),
    }  # fmt: skip


def _whole_text(row: Row) -> str:
    cards = [
        f"{_words(card['colour'], card['card'])}{' (back)' if card['flipped'] else ''}"
        for card in row["cards"]
    ]
    unknown = f"; {len(row['unknown'])} more that could not be read" if row["unknown"] else ""
    return f"{row['image']}: {', '.join(cards) or 'no cards'}{unknown}"


def _words(colour: str | None, card: str | None) -> str:
    if card is None:
        return f"{colour or 'unknown'} card"
    return f"{colour or ''} {card.replace('-', ' ')}".strip()


def watch_tacta(sources: Sequence[str], wanted: TableWanted, *, as_json: bool) -> int:
    """One line an event; the exit status: 1 when a picture could not be read. Raises SettingsError."""
    decks, size_mm = wanted.decks(), wanted.size_mm()
    wanted.corners_px()
    watch = _Watch(decks, wanted, size_mm, as_json)
    for source in sources:
        path = Path(source)
        try:
            if path.is_dir():
                watch.pictures(_in_folder(path))
            elif is_live(source):
                watch.shots(live_shots(source), source)
            elif path.suffix.lower() in FILMS:
                watch.shots(film_shots(Film(path), source), source)
            else:
                watch.pictures([path])
        except (SourceLostError, OSError) as error:
            watch.failed(source, str(error))
        except KeyboardInterrupt:
            break
    watch.end()
    return watch.status


def _in_folder(folder: Path) -> list[Path]:
    try:
        found = pictures_in(folder)
    except OSError as error:
        raise SettingsError(f"{folder}: {error.strerror}: check the name and the permission") from error
    if not found:
        raise SettingsError(f"{folder}: no picture lies in this folder")
    return found


class _Watch:
    """Follows pictures and prints what happens. `status`: 1 once something could not be read."""

    def __init__(
        self, decks: Sequence[Deck], wanted: TableWanted, size_mm: tuple[float, float] | None, as_json: bool
    ) -> None:
        self._decks, self._wanted, self._size_mm, self._as_json = decks, wanted, size_mm, as_json
        self._watcher: CardWatcher | None = None
        self._judge: TableJudge | None = None
        self._told = 0
        self._looked = 0
        self.status = 0

    def pictures(self, paths: Sequence[Path]) -> None:
        """Each picture is an instant."""
        for path in paths:
            try:
                frame = load(path)
            except Unreadable as error:
                self.failed(path.name, str(error))
                continue
            self._looked += 1
            watcher = self._of(frame)
            if watcher is not None:
                self._tell(path.name, watcher.settled(frame, self._looked, 0, self._looked))

    def shots(self, shots: Iterator[Shot], name: str) -> None:
        """Frames of a film or a camera."""
        for shot in shots:
            self._looked += 1
            watcher = self._of(shot.frame)
            if watcher is not None:
                self._tell(shot.number, watcher.step(*shot))

    def failed(self, frame: str, error: str) -> None:
        """One line about a picture or source that could not be read."""
        self.status = 1
        click.echo(json.dumps({"frame": frame, "error": error}) if self._as_json else f"{frame}: {error}")

    def end(self) -> None:
        """Says so where nothing was seen at all."""
        if not self._told and not self.status:
            self.status = 1
            why = "no card was seen laid"
            if self._watcher is None or self._watcher.plane is None:
                why = "no table was seen: give --corners and --table-mm, print the markers, or show cards alone first"
            click.echo(
                json.dumps({"frame": None, "error": why}) if self._as_json else why, err=not self._as_json
            )

    def _of(self, frame: Frame) -> CardWatcher | None:
        """The watcher, made for the deck that the first picture with cards fits best."""
        if self._watcher is not None:
            return self._watcher
        deck = self._decks[0]
        if len(self._decks) > 1:
            try:
                deck, _, whole = _best_deck(frame, self._decks, self._wanted)
            except NoPlaneError:
                return None
            if not whole.cards:
                return None
        self._judge = TableJudge(deck, self._size_mm, Allowance(mm=self._wanted.allowance_mm))
        self._watcher = CardWatcher("tacta", card_reader(deck), self._wanted.finder(deck))
        return self._watcher

    def _tell(self, frame: str | int, seen: Sequence[object]) -> None:
        for each in seen:
            if isinstance(each, CameraChanged) and each.state == "blind":
                self.failed(str(frame), each.detail)
            if not isinstance(each, CardChanged) or self._judge is None:
                continue
            self._told += 1
            row = _event_row(frame, each, self._judge.take(each))
            click.echo(json.dumps(row) if self._as_json else _event_text(row))


def _event_row(frame: str | int, seen: CardChanged, judged: Judged | None) -> Row:
    pose = seen.pose
    rule, because = _why(seen)
    return {
        "frame": frame,
        "event": seen.change,
        "card": seen.card,
        "colour": seen.colour or None,
        "flipped": seen.flipped,
        "pose_mm_deg": None
        if pose is None
        else [round(v, 2) for v in (pose.x_mm, pose.y_mm, pose.angle_deg)],
        "u_mm": seen.u_mm,
        "verdict": judged.verdict.value if judged else None,
        "rule": judged.rule if judged else rule,
        "because": judged.because if judged else because,
        "measured_mm": judged.measured_mm if judged else None,
        "candidates": list(seen.candidates),
    }


def _why(seen: CardChanged) -> tuple[str | None, str]:
    match seen.change:
        case "bumped":
            return (
                "TACTA-10",
                f"It lies {seen.moved_mm:.1f} mm from where it was released: it goes back there.",
            )
        case "removed":
            return "TACTA-12", "It was taken off the table."
        case _:
            likely = " or ".join(card.replace("-", " ") for card in seen.candidates) or "nothing of this deck"
            return None, f"A card lies there that could not be read for sure; it may be {likely}."


def _event_text(row: Row) -> str:
    side = ", back up" if row["flipped"] else ""
    verdict = f": {row['verdict']} ({row['rule']})" if row["verdict"] else ""
    return f"{row['frame']}: {row['event']} {_words(row['colour'], row['card'])}{side}{verdict}. {row['because']}"
