"""A deck as it is kept: a folder with one picture a card, laid straight, and one small file that says its form.

An owner may copy the folder, hand it on, look at the pictures, rename one (that renames the card) or delete one.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from vision.cards.looks import size_at
from vision.cards.matching import Matcher, Reference
from vision.encoding import png
from vision.folders import pictures_in
from vision.frame import Frame, Unreadable, load

FORM = "deck.json"
HEIGHT_PX = 432
MOST_CARDS = 400
LONGEST_NAME = 60
_ASPECTS = (1.0, 2.5)
_PLAIN = set('/\\:*?"<>|\0')


class DeckError(Exception):
    """The deck cannot be read or kept; the text is one line that says what to do."""


@dataclass(frozen=True)
class Deck:
    """Cards with one picture each, BGR (432, W, 3), their own top up. `aspect`: a card's height over its width."""

    aspect: float
    cards: tuple[Reference, ...]

    def with_card(self, card: Reference) -> Deck:
        """The deck with this card, in the place of one that has its name."""
        kept = tuple(each for each in self.cards if each.name != card.name)
        return replace(self, cards=tuple(sorted((*kept, card), key=lambda each: each.name)))

    def without(self, name: str) -> Deck:
        """The deck without the card of this name."""
        return replace(self, cards=tuple(each for each in self.cards if each.name != name))

    def matcher(self) -> Matcher:
        """What knows its cards again. Raises DeckError for a deck without cards."""
        if not self.cards:
            raise DeckError("the deck has no cards: companion enrol cards DECK --from FOLDER makes them")
        return Matcher(self.cards, self.aspect)


def card_name(word: str) -> str:
    """A name that a card may have, trimmed. Raises DeckError."""
    name = word.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or set(name) & _PLAIN or name[0] == ".":
        raise DeckError(
            f"a card cannot be called {word[:LONGEST_NAME]!r}: 1 to {LONGEST_NAME} plain signs, no / or \\"
        )
    return name


def read_deck(folder: Path) -> Deck:
    """The deck in a folder. Raises DeckError."""
    try:
        said = json.loads((folder / FORM).read_bytes())
        aspect = float(said["aspect"])
    except FileNotFoundError as error:
        raise DeckError(
            f"{folder} holds no {FORM}: it is no deck, or was copied without that file"
        ) from error
    except OSError as error:
        raise DeckError(f"{folder}: {error.strerror}: check the name and the permission") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DeckError(f"{folder / FORM} is damaged: copy the deck again or enrol it anew") from error
    if not _ASPECTS[0] <= aspect <= _ASPECTS[1]:
        raise DeckError(f"{folder / FORM} gives a card's height as {aspect:g} widths: 1 to 2.5 it may be")
    pictures = pictures_in(folder)
    if len(pictures) > MOST_CARDS:
        raise DeckError(f"{folder} holds {len(pictures)} pictures: a deck has at most {MOST_CARDS} cards")
    cards = []
    for path in pictures:
        try:
            cards.append(Reference(path.stem, _sized(load(path), aspect)))
        except Unreadable as error:
            raise DeckError(f"{path}: {error}") from error
    return Deck(aspect, tuple(cards))


def write_deck(folder: Path, deck: Deck, changed: Sequence[str]) -> None:
    """Keeps the deck: the cards named in `changed` are written (or deleted, where the deck has them no more), and its
    form. Whoever reads a picture meanwhile finds the old or the new one whole. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {card.name: card for card in deck.cards}
    for name in changed:
        for old in pictures_in(folder):
            if old.stem == name and (name not in known or old.suffix != ".png"):
                old.unlink()
        if name in known:
            _write(folder / f"{name}.png", png(known[name].picture))
    _write(folder / FORM, json.dumps({"aspect": round(deck.aspect, 4)}).encode("ascii"))


def _write(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    Path(name).replace(path)


def _sized(picture: Frame, aspect: float) -> Frame:
    size = card_size(aspect)
    if picture.shape[1::-1] == size:
        return picture
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def card_size(aspect: float) -> tuple[int, int]:
    """(width, height) in px of a kept picture."""
    return size_at(HEIGHT_PX, aspect)
