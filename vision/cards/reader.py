"""The cards of one picture: where they lie, which they are, how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import msgspec
import numpy as np

from companion.core.geometry import rectangle
from companion.core.layout import Placed
from companion.core.observation import CardCandidate, CardSeen
from vision.cards.deck import Deck, read_deck
from vision.cards.landmarks import Landmarks
from vision.cards.looks import Floats
from vision.cards.matching import HOPELESS, Matcher, Scored
from vision.cards.outlines import Form, Outline, find_cards
from vision.cards.trust import Trust, trust
from vision.frame import Frame
from vision.surface import Surface

NAMED = 0.8
"""From this confidence on a card is named; below it is asked."""
ASKED = 0.3
"""Below this it is like no card of the deck."""
_CANDIDATES = 3
_ASPECT_OFF = 0.05
_LEAST_PX = 60.0
_SMALL_PX = 200.0  # a card that is as high is known without its landmarks, which cost time
_QUICK = 2  # tries: so many are a first look, which is to be cheap
_BETTER = 0.01  # so much better another form of a card must fit
_LARGER = 1.08  # times an outline that may be a frame printed on the card
_CARD_MM = (60.0, 150.0)  # the long side of any card


class CardReader:
    """Names the cards of a deck in pictures."""

    def __init__(self, deck: Deck) -> None:
        """Raises DeckError for a deck without cards."""
        self._matcher: Matcher = deck.matcher()
        self._landmarks = Landmarks([card.picture for card in deck.cards], self._matcher.aspect)

    def read(
        self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> list[CardSeen]:
        """All cards that lie in a BGR picture, from the top left on."""
        return [self.name(frame, outline, surface, layouts) for outline in self.find(frame, surface)]

    def find(self, frame: Frame, surface: Surface | None = None) -> list[Outline]:
        """Where cards of this deck's form lie."""
        aspect = self._matcher.aspect
        least, most = 0.0, np.inf
        if surface is not None:
            width, height = surface.size_mm
            scale = surface.px_per_mm((width / 2, height / 2))
            least, most = 0.8 * _CARD_MM[0] * scale, 1.25 * _CARD_MM[1] * scale
        form = Form((aspect * (1 - _ASPECT_OFF), aspect * (1 + _ASPECT_OFF)), least, most)
        return find_cards(frame, form)

    def name(
        self,
        frame: Frame,
        outline: Outline,
        surface: Surface | None = None,
        layouts: tuple[Placed, ...] = (),
        *,
        tries: int = 4,
    ) -> CardSeen:
        """The card that lies there. What is no card at first sight is looked at as what else it may be (a frame that is
        printed on a card), `tries` times in all; and then as landmarks say, whatever was taken for its sides."""
        quads = [outline.quad, *outline.others, larger(outline.quad)][:tries]
        best, above = self._none(outline.quad), HOPELESS
        for quad in quads:
            found = self._matcher.match(frame, quad, above)
            if not found.cards:
                continue  # what fits no better as another form says nothing new
            above = found.fit + _BETTER
            best = _surer(best, self._told(quad, found.cards))
            if best.name is not None:
                break
        is_worth_it = best.name is None and tries > _QUICK and _height(outline.quad) < _SMALL_PX
        marked = self._landmarks.quad(frame, outline.quad) if is_worth_it else None
        if marked is not None:
            found = self._matcher.match(frame, marked)
            best = _surer(best, self._told(marked, found.cards)) if found.cards else best
        return placed_on(best, surface, layouts)

    def _none(self, quad: Floats) -> CardSeen:
        return _seen(None, 0.0, quad, "too_small" if _height(quad) < _LEAST_PX else "unknown")

    def _told(self, quad: Floats, found: Sequence[Scored]) -> CardSeen:
        told: Trust = trust(found, _height(quad))
        best = found[0]
        own = self._corners(quad, best)
        if _height(quad) < _LEAST_PX:
            return _seen(None, told.first, own, "too_small")
        if told.first < ASKED and told.any_of < ASKED:
            return _seen(None, told.first, own, "unknown")
        names = [self._matcher.cards[each.index].name for each in found]
        candidates = tuple(
            CardCandidate(name, round(share, 3)) for name, share in zip(names, told.shares, strict=True)
        )[:_CANDIDATES]
        if told.first >= NAMED:
            return _seen(names[0], told.first, own, None, candidates)
        return _seen(None, told.first, own, "margin", candidates)

    def _corners(self, quad: Floats, scored: Scored) -> Floats:
        """The card's own corners in the picture, as it was laid over the enrolled one."""
        start = np.roll(quad, -2, axis=0) if scored.is_turned else quad
        half = self._width_at() / 2
        unit = np.array([(-half, -1), (half, -1), (half, 1), (-half, 1)], np.float64)
        there = np.column_stack([unit, np.ones(4)]) @ scored.turn.T
        to_px = cv2.getPerspectiveTransform(unit.astype(np.float32), start.astype(np.float32))
        return np.asarray(
            cv2.perspectiveTransform((there[:, :2] / there[:, 2:])[None], to_px.astype(np.float64))[0],
            np.float64,
        )

    def _width_at(self) -> float:
        """Width of a card in halves of its height."""
        return 2 / self._matcher.aspect


def card_reader(paths: Sequence[str]) -> CardReader:
    """The reader of the deck in the folder `paths[0]`. Raises DeckError."""
    return CardReader(read_deck(Path(paths[0])))


def placed_on(card: CardSeen, surface: Surface | None, layouts: Sequence[Placed]) -> CardSeen:
    """The card with its place on the table, where that is known."""
    if surface is None:
        return card
    middle = np.mean(card.quad_px, axis=0)
    x, y = surface.mm((float(middle[0]), float(middle[1])))
    place = next((placed.layout.id for placed in layouts if _holds(placed, (x, y))), "")
    return msgspec.structs.replace(card, xy_mm=(round(x, 1), round(y, 1)), place=place)


def larger(quad: Floats) -> Floats:
    """The quad about its middle as large as the card may be whose printed frame it is."""
    middle = quad.mean(0)
    return np.asarray(middle + (quad - middle) * _LARGER, np.float64)


def _surer(best: CardSeen, seen: CardSeen) -> CardSeen:
    """What is to be told where the same card has been looked at in two ways."""
    is_surer = seen.confidence > best.confidence and seen.reason != "unknown"
    return seen if is_surer or not best.confidence else best


def _height(quad: Floats) -> float:
    return float(np.linalg.norm(quad[[3, 2]] - quad[[0, 1]], axis=1).mean())


def _holds(placed: Placed, xy_mm: tuple[float, float]) -> bool:
    return rectangle(0, 0, *placed.layout.size_mm).placed(placed.pose).contains(xy_mm)


def _seen(
    name: str | None,
    confidence: float,
    quad: Floats,
    reason: str | None,
    candidates: tuple[CardCandidate, ...] = (),
) -> CardSeen:
    up = (quad[0] + quad[1] - quad[2] - quad[3]) / 2
    return CardSeen(
        name=name,
        confidence=round(confidence, 3),
        quad_px=tuple((round(float(x), 1), round(float(y), 1)) for x, y in quad),
        angle_deg=round(float(np.degrees(np.arctan2(up[0], -up[1]))), 1),
        candidates=candidates,
        reason=reason,
    )
