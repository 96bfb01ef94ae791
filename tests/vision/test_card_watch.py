"""A card that is laid is named once, also upside down and with a die on it; one that is taken away is told."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.core.geometry import Pose
from companion.core.layout import Layout, Placed
from companion.core.observation import CameraChanged, CardLaid, CardLifted, Observed
from companion.sight import tahwars
from vision.cards.beside import BesideSpec
from vision.cards.deck import Deck, card_size, write_deck
from vision.cards.looks import Floats
from vision.cards.matching import Reference, straight_card
from vision.cards.reader import CardReader, placed_on
from vision.cards.watching import CardWatch
from vision.frame import Frame
from vision.render.decks import illustrated, number
from vision.surface import Surface
from vision.watcher import Watcher

FRAME_NS = 100_000_000
TABLE_BGR = (70, 95, 60)
SIZE = (800, 450)
HOUSE = files("companion.games.tahwars") / "data" / "house.json"
GRAIN = np.round(np.random.default_rng(4).normal(0, 2, SIZE[0] * SIZE[1] * 3)).astype(np.int8)


@pytest.fixture(scope="module")
def deck() -> Deck:
    """Six cards of the same illustrated deck."""
    size = card_size(704 / 504)
    cards = [Reference(f"card-{n}", straight_card(illustrated(21, n), size)) for n in range(6)]
    return Deck(704 / 504, tuple(cards))


class Table:
    """A watched table of 800 x 450 px on which cards are laid by a hand."""

    def __init__(self, deck: Deck) -> None:
        self.watch = CardWatch("cam", CardReader(deck), Watcher("cam", None))
        self.cards: list[tuple[Frame, Floats]] = []
        self.die: tuple[int, int] | None = None
        self.tick = 0

    def picture(self, hand: int | None = None) -> Frame:
        """The table as it is; `hand`: how far one reaches in from the left, in px."""
        canvas = np.full((SIZE[1], SIZE[0], 3), TABLE_BGR, np.uint8)
        for card, quad in self.cards:
            height, width = card.shape[:2]
            square = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
            plane = cv2.getPerspectiveTransform(square, quad.astype(np.float32))
            soft = cv2.GaussianBlur(card, (0, 0), 1.2)
            drawn = cv2.warpPerspective(soft, plane, SIZE, flags=cv2.INTER_AREA)
            cover = cv2.warpPerspective(np.full((height, width), 255, np.uint8), plane, SIZE) > 127
            canvas[cover] = drawn[cover]
        if self.die is not None:
            x, y = self.die
            cv2.rectangle(canvas, (x, y), (x + 32, y + 32), (40, 40, 200), -1)
        if hand is not None:
            cv2.rectangle(canvas, (0, 190), (hand, 250), (120, 150, 205), -1)
        grain = np.roll(GRAIN, 97 * self.tick, axis=0).reshape(canvas.shape)
        return np.asarray(cv2.add(canvas, grain, dtype=cv2.CV_8U), np.uint8)

    def see(self, frame: Frame) -> list[Observed]:
        """One frame more, a tenth of a second after the last."""
        self.tick += 1
        return self.watch.step(frame, self.tick * FRAME_NS, 1, self.tick)

    def rest(self, frames: int = 12) -> list[Observed]:
        """The table as it is for a while; what was said of cards."""
        said = [told for _ in range(frames) for told in self.see(self.picture())]
        return [told for told in said if isinstance(told, CardLaid | CardLifted)]

    def by_hand(self) -> None:
        """A hand comes and goes."""
        for reach in (200, 380, 200):
            assert not [
                told for told in self.see(self.picture(reach)) if isinstance(told, CardLaid | CardLifted)
            ]

    def lay(self, n: int, at: tuple[float, float], turn_deg: float) -> list[Observed]:
        """A hand lays a card; what is said until a while after it has left."""
        turn = np.radians(turn_deg)
        axes = np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])
        corners = np.array([(-0.5, -0.7), (0.5, -0.7), (0.5, 0.7), (-0.5, 0.7)]) * 120
        self.cards.append((illustrated(21, n), corners @ axes + at))
        self.by_hand()
        return self.rest()


def test_a_card_is_named_once_with_its_angle_within_a_second_of_the_hand_leaving(deck: Deck) -> None:
    table = Table(deck)
    assert table.rest() == []
    said = table.lay(2, (420, 220), 30)
    assert [type(told) for told in said] == [CardLaid]
    (laid,) = said
    assert isinstance(laid, CardLaid)
    assert laid.card.name == "card-2"
    assert laid.card.angle_deg == pytest.approx(30, abs=2)
    left_ns = (table.tick - 12) * FRAME_NS
    assert laid.seen_ns - left_ns <= 1_000_000_000
    assert table.rest(20) == []


def test_an_upside_down_card_is_told_so_and_a_second_one_beside_it_alone(deck: Deck) -> None:
    table = Table(deck)
    table.lay(1, (240, 220), 0)
    (laid,) = table.lay(4, (560, 230), 180)
    assert isinstance(laid, CardLaid)
    assert (laid.card.name, round(abs(laid.card.angle_deg) / 10)) == ("card-4", 18)


def test_a_die_on_a_card_changes_nothing_and_taking_it_away_is_told(deck: Deck) -> None:
    table = Table(deck)
    table.lay(3, (420, 220), 0)
    table.die = (400, 205)
    table.by_hand()
    assert table.rest() == []
    table.cards.clear()
    table.die = None
    table.by_hand()
    (gone,) = table.rest(20)
    assert isinstance(gone, CardLifted)
    assert gone.card.name == "card-3"


def test_a_card_of_no_deck_is_told_as_unknown(deck: Deck) -> None:
    table = Table(deck)
    table.cards.append((number(5, 7), np.array([(345.0, 135), (465, 135), (465, 303), (345, 303)])))
    table.by_hand()
    (laid,) = table.rest(16)
    assert isinstance(laid, CardLaid)
    assert laid.card.name is None
    assert laid.card.reason == "unknown"


def test_a_place_counts_where_the_table_is_known(deck: Deck) -> None:
    table = Table(deck)
    (laid,) = table.lay(2, (420, 220), 0)
    assert isinstance(laid, CardLaid)
    assert laid.card.place == ""
    corners = {0: np.array([(0.0, 0), (400, 0), (400, 225), (0, 225)])}
    surface = Surface(np.diag((2.0, 2.0, 1.0)), corners, SIZE, seen=frozenset(), error_px=0.0)
    place = Placed(Layout("s1", (63.0, 88.0)), Pose(178.0, 66.0))
    there = placed_on(laid.card, surface, (place,))
    assert there.place == "s1"
    assert there.xy_mm == pytest.approx((210, 110), abs=1)


def test_a_card_that_something_moved_beside_at_the_first_look_is_told_when_that_rests(deck: Deck) -> None:
    table = Table(deck)
    table.rest()
    turn = np.radians(45)
    axes = np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])
    corners = np.array([(-0.5, -0.7), (0.5, -0.7), (0.5, 0.7), (-0.5, 0.7)]) * 120 @ axes + (420, 220)
    table.cards.append((illustrated(21, 5), corners))
    (left, top) = corners.min(0).astype(int)
    for k in range(12):  # a finger tip on the bare table, within the card's box
        frame = table.picture()
        cv2.rectangle(
            frame, (left + 8, top + 8), (left + 14, top + 14), (0, 0, 0) if k % 2 else (255, 255, 255), -1
        )
        assert not [told for told in table.see(frame) if isinstance(told, CardLaid)]
    (laid,) = table.rest()
    assert isinstance(laid, CardLaid)
    assert laid.card.name == "card-5"


def test_cards_are_known_beside_a_board_that_is_followed(deck: Deck, tmp_path: Path) -> None:
    write_deck(tmp_path, deck, [card.name for card in deck.cards])
    table = Table(deck)
    eye = BesideSpec(tahwars.lookout(HOUSE.read_text(encoding="utf-8")), str(tmp_path)).lookout("cam", None)
    told = []
    for n in range(30):
        if n == 14:
            table.cards.append(
                (illustrated(21, 3), np.array([(345.0, 135), (465, 135), (465, 303), (345, 303)]))
            )
        table.tick = n
        told += eye.step(table.picture(), n * FRAME_NS, 1, n)
    (blind,) = [each for each in told if isinstance(each, CameraChanged)]
    assert blind.state == "blind"  # of the board, whose tags are not there; the cards do without
    (laid,) = [each for each in told if isinstance(each, CardLaid)]
    assert laid.card.name == "card-3"
