"""Enrolment of an owner's Tacta deck from photographs of one card each, and its correction on a page."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec
import numpy as np

from companion.app.alone import serve_alone
from companion.app.settings import SettingsError, game_named, shipped_data, state_folder
from companion.games.tacta.deck import SUITS, Deck, check, read
from companion.runtime.private_file import write_private
from companion.sight.tacta_measured import Laid, Measured, Sheet, deck_of, doubts_of, made, measured
from companion.sight.tacta_slots import SLOTS, Sizes
from vision.encoding import jpeg
from vision.folders import pictures_in
from vision.frame import Frame, Unreadable, load
from vision.printed.measuring import CardSeen, measure
from vision.printed.upright import NoCardError
from web_ui.alone import create_deck_app
from web_ui.decks import CardOf, DeckError, DeckShown, NumberOf, ShapeOf

_NUMBERS = {
    "width": ("Width of a card", "card", 0), "height": ("Height of a card", "card", 1),
    "strip": ("From the edge to the white line", "strip", None), "dot": ("Radius of a dot", "dot_radius", None),
    "leg": ("Triangle: short side", "leg", None), "side": ("Square: side", "side", None),
    "short_length": ("Short rectangle: length", "short", 0), "short_depth": ("Short rectangle: width", "short", 1),
    "long_length": ("Long rectangle: length", "long", 0), "long_depth": ("Long rectangle: width", "long", 1),
}  # fmt: skip
"""Label, field of the sizes, and place in that field, of each measure that may be corrected."""
_MARKERS = (10.0, 200.0)
_TURNS = {"upside down": (0, 1), "mirrored": (1,), "mirrored upside down": (0,)}
"""Axes by which a picture is turned round to show the front."""


def deck_path(name: str) -> Path:
    """Where the deck of this name (or kept in this file) is. Raises SettingsError."""
    if name.endswith(".json"):
        return Path(name)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
        raise SettingsError(f"{name!r} is no name for a deck: use letters, digits, - and _, at most 40")
    return state_folder() / "decks" / f"{name}.json"


def known_deck() -> Deck:
    """The deck that ships, by whose fronts cards are turned."""
    return read(shipped_data(game_named("tacta")))


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What an enrolment is told besides the photographs: `card_mm` (width, height) or None, `marker_mm`, and where the
    page is served, if it is."""

    card_mm: tuple[float, float] | None = None
    marker_mm: float = 40.0
    has_page: bool = False
    host: str = "127.0.0.1"
    port: int = 8642


def enrol_tacta(name: str, folder: Path, asked: Asked, *, as_json: bool) -> int:
    """Measure a deck, keep it, and say what is unsure; the exit status: 1 when a photograph could not be used.

    Raises SettingsError when nothing can be measured at all.
    """
    path = deck_path(name)
    if not _MARKERS[0] <= asked.marker_mm <= _MARKERS[1]:
        raise SettingsError(f"--marker-mm {asked.marker_mm:g}: {_MARKERS[0]:g} to {_MARKERS[1]:g} it must be")
    try:
        pictures = pictures_in(folder)
    except OSError as error:
        raise SettingsError(
            f"--from {folder}: {error.strerror}; give the folder of the photographs"
        ) from error
    if not pictures:
        raise SettingsError(f"--from {folder}: there are no photographs in it")
    known, seen, unused = known_deck(), list[tuple[str, CardSeen]](), list[str]()
    for n, picture in enumerate(pictures, start=1):
        click.echo(f"\r{n} of {len(pictures)} photographs", err=True, nl=n == len(pictures))
        try:
            seen.append(
                (picture.name, measure(load(picture), asked.card_mm, known.card_mm[0], asked.marker_mm))
            )
        except (Unreadable, NoCardError) as error:
            unused.append(f"{picture.name}: {error}")
    try:
        desk = DeckDesk(measured(seen, known), [card.picture for _, card in seen], known, path)
        desk.keep()
    except (ValueError, DeckError) as error:
        raise SettingsError(f"{folder}: {error}{'; ' + unused[0] if unused else ''}") from error
    _tell(name, desk, unused, as_json=as_json)
    if asked.has_page:
        serve_alone(lambda key: create_deck_app(desk, key), "Deck", asked.host, asked.port)
    return 1 if unused else 0


def _tell(name: str, desk: DeckDesk, unused: Sequence[str], *, as_json: bool) -> None:
    deck = desk.deck()
    if as_json:
        click.echo(_text(deck))
    else:
        width, height = deck.card_mm
        click.echo(f"{name}: {len(deck.cards)} fronts, cards of {width:g} x {height:g} mm, sure {deck.sure}")
        for doubt in desk.doubts():
            click.echo(f"  {doubt}")
    for each in unused:
        click.echo(f"Not used: {each}", err=True)
    click.echo(f"Kept in {desk.path}; play with it: companion run --game tacta --data {desk.path}", err=True)


class DeckDesk:
    """A `web_ui.decks.Decks`: a deck as measured and as people corrected it."""

    def __init__(self, found: Measured, pictures: Sequence[Frame], known: Deck, path: Path) -> None:
        """`pictures`: of each of its cards, laid flat as photographed."""
        self._found, self._pictures, self._known, self.path = found, tuple(pictures), known, path
        self._turns = tuple(sheet.turn for sheet in found.sheets)
        self._kept: Measured | None = None
        self._lock = threading.RLock()

    def deck(self) -> Deck:
        """The deck file as it would be kept now."""
        with self._lock:
            return deck_of(self._found, self._known)

    def doubts(self) -> tuple[str, ...]:
        """All that is unsure, in words."""
        return doubts_of(self._found)

    def shown(self) -> DeckShown:
        """The deck for its page."""
        with self._lock:
            found, is_kept = self._found, self._kept == self._found
        sizes = found.sizes
        whole = doubts_of(
            msgspec.structs.replace(found, sheets=tuple(_without_doubts(s) for s in found.sheets))
        )
        return DeckShown(
            title="Tacta: a deck measured",
            size_mm=sizes.card,
            dot_radius_mm=sizes.dot_radius,
            numbers=tuple(
                NumberOf(key=key, label=_NUMBERS[key][0], value=_value(sizes, key)) for key in _NUMBERS
            ),
            places=tuple(slot.words for slot in SLOTS),
            suits=SUITS,
            cards=tuple(_card(n, sheet, sizes) for n, sheet in enumerate(found.sheets)),
            doubts=whole,
            kept=str(self.path),
            is_kept=is_kept,
        )

    def picture(self, n: int) -> bytes | None:
        """The photograph of card `n`, turned as its front lies."""
        if not 0 <= n < len(self._pictures):
            return None
        turned = self._pictures[n]
        for axis in _TURNS.get(self._turns[n], ()):
            turned = np.flip(turned, axis)
        return jpeg(np.ascontiguousarray(turned))

    def change(self, n: int, suit: str, shapes: Sequence[ShapeOf]) -> None:
        """What card `n` shows, as a person says: nothing is unsure of it any more."""
        if suit not in SUITS:
            raise DeckError(f"Choose a suit: {', '.join(SUITS)}.")
        if not shapes:
            raise DeckError("A card has one shape at least.")
        places = [shape.place for shape in shapes]
        if any(not 0 <= place < len(SLOTS) for place in places) or len(set(places)) < len(places):
            raise DeckError("Each shape needs a place of its own.")
        with self._lock:
            if not 0 <= n < len(self._found.sheets):
                raise DeckError("There is no such card.")
            before = self._found.sheets[n]
            seen = {laid.slot: laid for laid in before.shapes}
            laid = tuple(
                msgspec.structs.replace(
                    seen.get(SLOTS[s.place], Laid(SLOTS[s.place], s.is_filled)), is_filled=s.is_filled
                )
                for s in shapes
            )
            now = Sheet(name=before.name, suit=suit, shapes=laid, turn=before.turn)
            sheets = (*self._found.sheets[:n], now, *self._found.sheets[n + 1 :])
            self._take(msgspec.structs.replace(self._found, sheets=sheets))

    def resize(self, numbers: Mapping[str, float]) -> None:
        """The measures that a person gives; dots that were seen stay where they are."""
        with self._lock:
            plain = msgspec.to_builtins(self._found.sizes)
            for key, value in numbers.items():
                if key not in _NUMBERS:
                    raise DeckError("There is no such measure.")
                _, field, place = _NUMBERS[key]
                if place is None:
                    plain[field] = value
                else:
                    plain[field] = [value if i == place else old for i, old in enumerate(plain[field])]
            sizes = msgspec.convert(plain, Sizes)
            doubts = () if {"width", "height"} & set(numbers) else self._found.doubts
            self._take(msgspec.structs.replace(self._found, sizes=sizes, doubts=doubts))

    def keep(self) -> str:
        """Write the deck file."""
        with self._lock:
            found = self._found
            text = _text(deck_of(found, self._known))
            if wrong := check(text):
                raise DeckError(f"{wrong[:1].upper()}{wrong[1:]}.")
            try:
                write_private(self.path, text.encode())
            except OSError as error:
                raise DeckError(f"{self.path} cannot be written: {error.strerror}.") from error
            self._kept = found
        return f"The deck is kept in {self.path}."

    def _take(self, found: Measured) -> None:
        """Only what makes a deck file is taken."""
        if wrong := check(_text(deck_of(found, self._known))):
            raise DeckError(f"{wrong[:1].upper()}{wrong[1:]}.")
        self._found = found


def _text(deck: Deck) -> str:
    """The deck file on one line, as those that ship: hollow shapes have an empty list of dots."""
    plain = msgspec.to_builtins(deck)
    for card in (*plain["cards"], plain["start"]):
        for shape in card["shapes"]:
            shape.setdefault("dots_mm", [])
    return json.dumps(plain)


def _without_doubts(sheet: Sheet) -> Sheet:
    return msgspec.structs.replace(sheet, doubts=())


def _value(sizes: Sizes, key: str) -> float:
    _, field, place = _NUMBERS[key]
    found = getattr(sizes, field)
    return float(found if place is None else found[place])


def _card(n: int, sheet: Sheet, sizes: Sizes) -> CardOf:
    shapes = []
    for laid in sheet.shapes:
        shape = made(laid, sizes)
        shapes.append(
            ShapeOf(
                place=SLOTS.index(laid.slot),
                is_filled=laid.is_filled,
                outline=shape.polygon_mm,
                dots=shape.dots_mm,
            )
        )
    return CardOf(
        n=n, name=sheet.name, suit=sheet.suit, id=sheet.id, shapes=tuple(shapes), doubts=sheet.doubts
    )
