"""The commands on cards: enrol a deck by one picture a card, and read cards on photographs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from companion.app.alone import serve_alone
from companion.app.card_desk import CardDesk
from companion.app.drawing import Drawer
from companion.app.settings import SettingsError, cards_path
from companion.core.observation import CardSeen
from vision.camera import CameraChild, check_source
from vision.cards.deck import FORM, DeckError, read_deck, write_deck
from vision.cards.drawn import drawn
from vision.cards.enrolling import EnrolledDeck, enrol_folder
from vision.cards.reader import CardReader
from vision.frame import Unreadable, load
from web_ui.alone import create_card_app
from web_ui.cards import CardsError

Row = dict[str, Any]


class CardsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Where cards come from: a folder of pictures, or a camera before which each of `names` is shown, or a page.
    `missing` is asked of `names` in all three."""

    folder: Path | None = None
    camera: str = ""
    names: tuple[str, ...] = ()
    has_page: bool = False
    host: str = "127.0.0.1"
    port: int = 8642


def enrol_cards(name: str, asked: CardsAsked, *, as_json: bool) -> int:
    """Learn a deck and keep it; the exit status: 1 when a picture was of no use, two cards are alike or one is missing.

    Raises SettingsError when nothing can be enrolled.
    """
    path = cards_path(name, must_exist=False)
    if asked.folder is None and not asked.has_page and not (asked.camera and asked.names):
        raise SettingsError("give --from FOLDER, or --camera SOURCE and --names A,B,C, or --page")
    try:
        with _camera(asked.camera) as camera:
            if asked.folder is not None:
                deck, result = enrol_folder(asked.folder, asked.names)
                before = read_deck(path).cards if (path / FORM).is_file() else ()
                gone = {card.name for card in before} - set(result.cards)
                write_deck(path, deck, (*result.cards, *sorted(gone)))
            desk = CardDesk(path, camera)
            if asked.folder is None:
                if camera is not None and asked.names:
                    _show(desk, camera, asked.names)
                result = desk.judged(asked.names)
            _tell(name, path, result, as_json)
            if asked.has_page:
                serve_alone(lambda key: create_card_app(desk, key), "Cards", asked.host, asked.port)
    except (DeckError, OSError) as error:
        raise SettingsError(str(error)) from error
    return 1 if result.unused or result.alike or result.missing else 0


@contextmanager
def _camera(source: str) -> Iterator[CameraChild | None]:
    if not source:
        yield None
        return
    check_source(source)
    camera = CameraChild(source, None, lambda _seen: None)
    camera.start()
    try:
        yield camera
    finally:
        camera.stop()


def _show(desk: CardDesk, camera: CameraChild, names: Sequence[str]) -> None:
    """Each named card laid before the camera, until one is found there."""
    for name in names:
        is_taken = False
        while not is_taken:
            click.prompt(f"Lay {name} alone under the camera, its top away from you, then press Enter",
                         default="", show_default=False, prompt_suffix=" ", err=True)  # fmt: skip
            try:
                doubt = desk.add_seen(name)
                is_taken = not doubt
                click.echo(doubt or "taken", err=True)
            except CardsError as error:
                click.echo(str(error), err=True)
                if camera.status().state in ("lost", "over"):
                    raise SettingsError(camera.status().detail) from error


def _tell(name: str, path: Path, result: EnrolledDeck, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(result))
        return
    click.echo(f"{name}: {len(result.cards)} cards")
    for one, other, apart in result.alike:
        click.echo(f"Alike: {one} and {other} (apart by {apart:.2f}) will be mixed up, the table will ask")
    if result.closest and not result.alike:
        click.echo("Most alike: {} and {}, apart by {:.2f}".format(*result.closest))
    for card, doubt in sorted(result.doubts.items()):
        click.echo(f"{card}: {doubt}")
    for card in result.missing:
        click.echo(f"Missing: there is no picture of {card}")
    for picture, why in sorted(result.unused.items()):
        click.echo(f"Not used: {picture}: {why}", err=True)
    click.echo(f"Kept in {path}", err=True)


def read_cards(images: Sequence[str], deck: str, picture: Path | None, *, as_json: bool) -> int:
    """One line a photograph; the exit status: 1 when one could not be read.

    Raises SettingsError for a deck that cannot be read, and where no picture can be drawn.
    """
    drawer = Drawer(picture, is_alone=len(images) == 1)
    try:
        reader = CardReader(read_deck(cards_path(deck)))
    except DeckError as error:
        raise SettingsError(str(error)) from error
    status = 0
    for image in images:
        begun_ns = time.process_time_ns()
        try:
            frame = load(image)
            cards = reader.read(frame)
        except Unreadable as error:
            status = 1
            click.echo(json.dumps({"image": image, "error": str(error)}) if as_json else f"{image}: {error}")
            continue
        row = row_of(image, cards, (time.process_time_ns() - begun_ns) / 1e6)
        click.echo(json.dumps(row) if as_json else _text(row))
        drawer.save(Path(image).stem, partial(drawn, frame, cards))
    return status


def row_of(image: str, cards: Sequence[CardSeen], ms: float) -> Row:
    """What is printed of one photograph, as plain data. `ms`: of this program's CPU."""
    return {
        "image": image,
        "cards": [
            {
                "name": card.name,
                "quad_px": [list(corner) for corner in card.quad_px],
                "angle_deg": card.angle_deg,
                "confidence": card.confidence,
                "candidates": [{"name": c.name, "confidence": c.confidence} for c in card.candidates],
                "reason": card.reason,
            }
            for card in cards
        ],
        "ms": round(ms, 1),
    }


def _text(row: Row) -> str:
    told = []
    for card in row["cards"]:
        if card["name"] is not None:
            told.append(f"{card['name']} {card['confidence']:.2f} at {card['angle_deg']:.0f} deg")
        elif card["candidates"]:
            told.append(" or ".join(c["name"] for c in card["candidates"]) + "?")
        else:
            told.append(card["reason"] or "unknown")
    return f"{row['image']}: {'; '.join(told) if told else 'no card'}"
