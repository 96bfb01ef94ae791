"""A deck as its page shows it: cards come by photographs from a browser, are looked at, forgotten, shown anew."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vision.camera import CameraChild
from vision.cards.deck import FORM, Deck, DeckError, card_name, card_size, read_deck, write_deck
from vision.cards.enrolling import CardError, EnrolledDeck, deck_of, judged, measured, take_card
from vision.cards.looks import straight
from vision.cards.matching import Reference
from vision.encoding import jpeg
from vision.frame import Frame, Unreadable, decode
from web_ui.cards import CardsError, CardShown, CardsShown


class CardDesk:
    """A `web_ui.cards.Cards` over a deck's folder. `camera`: one that looks at the table already, None for none."""

    def __init__(self, folder: Path, camera: CameraChild | None = None) -> None:
        """Raises DeckError for a folder that holds a damaged deck."""
        self._folder, self._camera, self._lock = folder, camera, threading.RLock()
        self._deck: Deck | None = read_deck(folder) if (folder / FORM).is_file() else None
        self._doubts: dict[str, str] = {}
        self._judged: EnrolledDeck | None = None

    def judged(self, wanted: Sequence[str] = ()) -> EnrolledDeck:
        """What is to be said of the deck as it is. `wanted`: the names that it should have."""
        with self._lock:
            if self._judged is None:
                self._judged = judged(self._deck, self._doubts, {}) if self._deck else EnrolledDeck(cards=())
            missing = tuple(sorted(set(wanted) - set(self._judged.cards)))
            return msgspec.structs.replace(self._judged, missing=missing)

    def shown(self) -> CardsShown:
        """The deck for its page."""
        result = self.judged()
        return CardsShown(
            title=self._folder.name,
            cards=tuple(CardShown(name=name, doubt=self._doubts.get(name, "")) for name in result.cards),
            alike=result.alike,
            closest=result.closest,
            kept=str(self._folder),
            has_camera=self._camera is not None,
        )

    def picture(self, name: str) -> bytes | None:
        """The card as it was laid straight, JPEG."""
        with self._lock:
            cards = self._deck.cards if self._deck else ()
        found = next((card for card in cards if card.name == name), None)
        return None if found is None else jpeg(found.picture)

    def add(self, name: str, data: bytes) -> str:
        """Take a card from a photograph; what should be mended of it, empty for nothing. Raises CardsError."""
        try:
            return self._take(card_name(name), decode(data))
        except (Unreadable, CardError, DeckError, OSError) as error:
            raise CardsError(str(error)) from error

    def add_seen(self, name: str) -> str:
        """Take a card from what the camera sees now. Raises CardsError."""
        still = self._camera.still(max_width=3840, timeout_s=5.0) if self._camera else None
        if still is None:
            raise CardsError("The camera gives no picture: choose a photograph.")
        return self.add(name, still[1])

    def forget(self, name: str) -> None:
        """Drop a card. Raises CardsError."""
        with self._lock:
            if self._deck is not None:
                try:
                    self._keep(self._deck.without(name), name)
                except OSError as error:
                    raise CardsError(f"The deck cannot be written: {error.strerror}.") from error

    def _take(self, name: str, frame: Frame) -> str:
        with self._lock:
            before = self._deck
            _, quad = take_card(frame, before.aspect if before and before.cards else None)
            taken = measured(name, frame, quad)
            if before is None or not before.cards:
                deck, _ = deck_of([(taken, frame, quad)])
            else:
                picture = straight(frame, quad, card_size(before.aspect))
                deck = before.with_card(Reference(name, picture))
            self._doubts[name] = taken.doubt
            self._keep(deck, name)
            return taken.doubt

    def _keep(self, deck: Deck, name: str) -> None:
        write_deck(self._folder, deck, [name])
        self._deck, self._judged = deck, None
