"""Cards on a watched table: each is named once, when the hand that laid it has left; and told when it is gone.

A look at a whole 1080p picture is spread over frames: one frame finds what lies there, each of the next names one card.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import rectangle
from companion.core.layout import Placed
from companion.core.observation import CardLaid, CardLifted, CardSeen, Observed
from vision.cards.deck import read_deck
from vision.cards.outlines import Outline
from vision.cards.reader import CardReader, placed_on
from vision.evidence import RestPictures
from vision.eye import ReaderSpec
from vision.frame import Frame
from vision.settle import Calm, Mask, SettleGate, small_grey
from vision.surface import Marks, Surface
from vision.watcher import Watcher

_REST_NS = 250_000_000
_AGAIN_NS = 400_000_000
_SAME_GREY = 4.0
_LEAST_CELLS = 2
_READINGS = 3  # of a card that is not named at once
_GONE = 2  # looks that do not find it
_NEAR = 0.3  # of its length: what lies nearer is on the same place
_CARD_SIDES_MM = (40.0, 150.0)


class _Stamp(TypedDict):
    """When a frame was taken, by which camera, and its number."""

    source: str
    seen_ns: int
    uncertainty_ns: int
    frame: int


class DeckSpec(msgspec.Struct, frozen=True):
    """The cards of the deck in the folder `deck` are watched, and the dice of the reader `dice`, if there are any.

    `longest_look_s`: a look that takes longer has hung, however busy the machine is.
    """

    deck: str
    dice: ReaderSpec | None = None
    longest_look_s: float = 30.0

    def lookout(self, name: str, marks: Marks | None) -> CardWatch:
        """Made in the camera's own process. Raises DeckError, and whatever the reader of dice does."""
        rests = RestPictures()
        dice = Watcher(name, self.dice.build() if self.dice else None, marks, kept=rests)
        return DiceAndCards(name, CardReader(read_deck(Path(self.deck))), dice, (self.dice, rests))


@dataclass(eq=False)
class _Lying:
    """A card on the table. `told`: as it was told, None before; `looks`: readings of it so far that named nothing;
    `missed`: looks in a row that did not find it."""

    outline: Outline
    told: CardSeen | None = None
    best: CardSeen | None = None
    looks: int = 0
    missed: int = 0
    is_read: bool = False

    def is_at(self, outline: Outline) -> bool:
        apart = np.linalg.norm(outline.quad.mean(0) - self.outline.quad.mean(0))
        return bool(apart < _NEAR * max(outline.long_px(), self.outline.long_px()))


class CardWatch:
    """One camera's eye on the cards of one table; `dice` looks at everything else and knows where the table lies."""

    def __init__(self, source: str, reader: CardReader, dice: Watcher) -> None:
        """Looks from the next frame on."""
        self._source, self._reader, self._dice = source, reader, dice
        self._gate = SettleGate(_REST_NS)
        self._layouts: tuple[Placed, ...] = ()
        self._lying: list[_Lying] = []
        self._unread: list[_Lying] = []
        self._seen_grey: NDArray[np.float32] | None = None  # of each cell when it was last looked at
        self._looked_ns: int | None = None
        self._due_ns: int | None = None  # since when a look has been due
        self._shape: tuple[int, ...] = ()

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Which printed things lie where, and where cards may be laid."""
        self._layouts = layouts
        self._dice.set_layouts(layouts)

    def step(
        self, frame: NDArray[np.uint8], seen_ns: int, uncertainty_ns: int, number: int
    ) -> list[Observed]:
        """What follows from this BGR frame, in order."""
        told = self._dice.step(frame, seen_ns, uncertainty_ns, number)
        if frame.shape != self._shape:
            self._shape, self._seen_grey, self._lying, self._unread = frame.shape, None, [], []
        calm = self._gate.step(small_grey(frame), seen_ns)
        if self._seen_grey is None:
            self._seen_grey = np.full(calm.still.shape, np.nan, np.float32)
        stamp = _Stamp(source=self._source, seen_ns=seen_ns, uncertainty_ns=uncertainty_ns, frame=number)
        if self._unread:
            card = self._unread.pop(0)
            if _is_still(card.outline, calm.still, frame.shape):
                return [*told, *self._read(frame, card, stamp)]
            card.is_read = False
            return told
        changed = ~(np.abs(calm.grey - self._seen_grey) < _SAME_GREY)
        if self._is_due(calm, changed, seen_ns):
            self._looked_ns, self._due_ns = seen_ns, None
            found = self._reader.find(frame, self._dice.surface)
            places = [*found, *(card.outline for card in self._lying)]
            unsettled = [each for each in places if not _is_still(each, calm.still, frame.shape)]
            resting = [each for each in found if each not in unsettled]
            told += self._look(frame, (resting, calm, changed), stamp)
            seen = calm.still.copy()
            for each in unsettled:  # to be looked at again, whatever of it rests by now
                _cells(each, seen, frame.shape)[:] = False
            self._seen_grey = np.where(seen, calm.grey, self._seen_grey).astype(np.float32)
        return told

    def _is_due(self, calm: Calm, changed: Mask, seen_ns: int) -> bool:
        """Whether something that changed has come to rest; what waits to be looked at a second time counts too. What
        is about to come to rest is waited for, but not for ever: a hand may fidget elsewhere."""
        is_waiting = any(card.missed or not card.is_read for card in self._lying)
        if int((changed & calm.still).sum()) < _LEAST_CELLS and not is_waiting:
            self._due_ns = None
            return False
        self._due_ns = seen_ns if self._due_ns is None else self._due_ns
        if calm.is_settling() and seen_ns - self._due_ns < _AGAIN_NS:
            return False
        return self._looked_ns is None or seen_ns - self._looked_ns >= _AGAIN_NS

    def _look(self, frame: Frame, where: tuple[list[Outline], Calm, Mask], stamp: _Stamp) -> list[Observed]:
        """Where cards lie now: new ones wait to be read, those that are gone are told. `where`: the outlines that rest,
        what rests at all, and which cells changed."""
        (found, calm, changed), surface = where, self._dice.surface
        told: list[Observed] = []
        for card in list(self._lying):
            here = next((each for each in found if card.is_at(each)), None)
            is_changed = card.missed > 0 or _touches(card.outline, changed, frame.shape)
            if not _is_still(card.outline, calm.still, frame.shape):
                continue
            if here is not None:
                found.remove(here)
                card.missed = 0
                if is_changed:
                    card.outline, card.is_read, card.looks, card.best = here, False, 0, None
            elif not is_changed or self._is_still_there(frame, card):
                card.missed = 0
            else:
                card.missed += 1
                if card.missed >= _GONE:
                    self._lying.remove(card)
                    if card.told is not None:
                        told.append(CardLifted(card=card.told, **stamp))
        new = [_Lying(each) for each in found]
        new += self._in_places(changed & calm.still, new, frame.shape, surface)
        self._lying += new
        self._unread = [card for card in self._lying if not card.is_read and card.missed == 0]
        return told

    def _is_still_there(self, frame: Frame, card: _Lying) -> bool:
        """Whether a card whose sides are not seen (dice and fingers lie on it) is the one that was told."""
        if card.told is None or card.told.name is None:
            return False
        return self._reader.name(frame, card.outline, tries=1).name == card.told.name

    def _in_places(
        self, fresh: Mask, cards: list[_Lying], shape: tuple[int, ...], surface: Surface | None
    ) -> list[_Lying]:
        """A card may lie wherever a place for one changed though no sides are seen there (dark on dark)."""
        if surface is None:
            return []
        found = []
        for placed in self._layouts:
            short, long = sorted(placed.layout.size_mm)
            if short < _CARD_SIDES_MM[0] or long > _CARD_SIDES_MM[1]:
                continue
            corners = rectangle(0, 0, *placed.layout.size_mm).placed(placed.pose).corners
            outline = Outline(np.array([surface.px(corner) for corner in corners]), 0.0)
            is_taken = any(card.is_at(outline) for card in (*cards, *self._lying))
            if not is_taken and _touches(outline, fresh, shape):
                found.append(_Lying(outline))
        return found

    def _read(self, frame: Frame, card: _Lying, stamp: _Stamp) -> list[Observed]:
        """One reading more of a card; it is told when it is named, or when it has been looked at often enough."""
        outline, is_place = card.outline, card.outline.borne == 0.0
        seen = self._reader.name(frame, outline, tries=1 if is_place else 2 + card.looks)
        card.looks += 1
        if card.best is None or seen.confidence > card.best.confidence:
            card.best = seen
        if is_place and seen.name is None:
            if card.looks >= _READINGS:
                self._lying.remove(card)
            return []
        if card.best.name is None and card.looks < _READINGS:
            return []
        card.is_read = True
        now = placed_on(card.best, self._dice.surface, self._layouts)
        if now.name is not None:
            card.outline = Outline(np.array(now.quad_px), max(outline.borne, 0.01), outline.others)
        before = card.told
        if before is not None and (now.name == before.name or now.name is None):
            return []  # what lies on a card does not make it unknown
        card.told = now
        return [CardLaid(card=now, **stamp)]


class DiceAndCards(CardWatch):
    """A `CardWatch` whose dice are read by enrolled profiles: their pictures are kept, and changed files taken up."""

    def __init__(
        self,
        source: str,
        reader: CardReader,
        dice: Watcher,
        kept: tuple[ReaderSpec | None, RestPictures],
    ) -> None:
        """`kept`: what builds the reader of dice, and where `dice` keeps the pictures of its rests."""
        super().__init__(source, reader, dice)
        self._spec, self.rests = kept

    def renew(self) -> None:
        """Read dice by their files as they are now."""
        if self._spec is not None:
            self._dice.set_reader(self._spec.build())


def _cells(outline: Outline, mask: Mask, shape: tuple[int, ...]) -> Mask:
    """The part of a mask of cells that the outline's box covers."""
    rows, columns = mask.shape
    scale = np.array((columns / shape[1], rows / shape[0]))
    low = np.floor(outline.quad.min(0) * scale).astype(int).clip(0)
    high = np.ceil(outline.quad.max(0) * scale).astype(int)
    return mask[low[1] : high[1], low[0] : high[0]]


def _is_still(outline: Outline, still: Mask, shape: tuple[int, ...]) -> bool:
    return bool(_cells(outline, still, shape).all())


def _touches(outline: Outline, changed: Mask, shape: tuple[int, ...]) -> bool:
    return int(_cells(outline, changed, shape).sum()) >= _LEAST_CELLS
