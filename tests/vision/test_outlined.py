"""Overlapping cards on rendered tables: found, named, measured; hands, bumps and what is no card told from them."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import cv2
import numpy as np
import pytest

from companion.core.geometry import Pose
from companion.core.observation import CameraChanged, CardChanged, CardHeld, Observed, TableStirred
from companion.games.tacta.deck import Deck, read
from companion.games.tacta.layouts import layouts_of
from companion.sight.tacta import card_reader
from vision.frame import Frame
from vision.outlined.plane import NoPlaneError, Plane, laid_flat, plane_of
from vision.outlined.scale import by_cards
from vision.outlined.watcher import CardWatcher, by_markers
from vision.outlined.whole import read_whole
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard
from vision.render.visitors import Cup, Hand
from vision.surface import Marks

SIZE_MM = (330.0, 250.0)
CAMERA = Camera(
    lens_mm=(190.0, 150.0, 620.0), look_mm=(165.0, 125.0), across_deg=33.0, size_px=(760, 590), noise=2.0
)


@pytest.fixture(scope="module")
def deck() -> Deck:
    return read((files("companion.games.tacta") / "data" / "deck-b.json").read_text(encoding="utf-8"))


def card(deck: Deck, name: str, colour: str, pose: Pose, *, flipped: bool = False) -> LaidCard:
    layout = next(layout for layout in layouts_of(deck) if layout.id == name)
    return LaidCard(layout, colour, flipped, pose)


def laid(deck: Deck) -> tuple[LaidCard, ...]:
    """The starting card, one card on it and one apart, at poses of no lattice."""
    return (
        card(deck, "start", "", Pose(120.3, 75.7, 11.3)),
        card(deck, "circle-3", "green", Pose(190.4, 168.1, -84.2), flipped=True),
        card(deck, "square-5", "red", Pose(60.2, 30.9, 47.0)),
    )


def table(*cards: LaidCard) -> CardTable:
    return CardTable(size_mm=SIZE_MM, laid=cards, cloth="felt", seed=4)


def plane() -> Plane:
    return plane_of(table().corners_px(CAMERA), SIZE_MM, CAMERA.size_px)


def watcher(deck: Deck) -> CardWatcher:
    return CardWatcher("cam", card_reader(deck), lambda _: plane())


class Watched:
    """A watcher that is shown one picture after the other."""

    def __init__(self, deck: Deck) -> None:
        self.watcher, self.count = watcher(deck), 0

    def sees(self, shown: CardTable) -> list[CardChanged]:
        self.count += 1
        told = self.watcher.settled(shown.picture(CAMERA, self.count), self.count, 0, self.count)
        return [each for each in told if isinstance(each, CardChanged)]


def off(seen: CardChanged, truth: LaidCard) -> tuple[float, float]:
    assert seen.pose is not None
    far = np.hypot(seen.pose.x_mm - truth.pose.x_mm, seen.pose.y_mm - truth.pose.y_mm)
    return float(far), abs((seen.pose.angle_deg - truth.pose.angle_deg + 180) % 360 - 180)


def test_cards_are_told_as_they_are_laid_and_measured_where_they_lie(deck: Deck) -> None:
    watched, cards = Watched(deck), laid(deck)
    for count, truth in enumerate(cards, start=1):
        (seen,) = watched.sees(table(*cards[:count]))
        assert (seen.change, seen.card, seen.colour) == ("placed", truth.layout.id, truth.colour)
        assert seen.n == count - 1 and seen.frame == count
        if truth.colour:
            assert seen.flipped == truth.flipped
            far, turn = off(seen, truth)
            assert far < 0.3 and far <= seen.u_mm and turn < 0.3, "never drawn to where other cards lie"
    assert watched.sees(table(*cards)) == [], "the same table again"


def test_a_hand_over_the_table_tells_nothing_and_what_it_did_is_told_after(deck: Deck) -> None:
    watched, cards = Watched(deck), laid(deck)
    watched.sees(table(*cards[:2]))
    hand = Hand(tip_mm=(90.0, 70.0), from_deg=120.0)
    for shown in (table(*cards[:2]), table(*cards), table(cards[0])):
        assert watched.sees(replace(shown, visitors=(hand,))) == []
        assert watched.watcher.last is not None and not watched.watcher.last.is_settled
    (seen,) = watched.sees(table(*cards))
    assert (seen.change, seen.card) == ("placed", "square-5")


def test_a_card_that_is_bumped_and_one_that_is_taken_away_are_told(deck: Deck) -> None:
    watched, cards = Watched(deck), laid(deck)
    watched.sees(table(*cards))
    pushed = replace(cards[2], pose=Pose(66.2, 33.9, 50.0))
    (bumped,) = watched.sees(table(*cards[:2], pushed))
    assert (bumped.change, bumped.card) == ("bumped", "square-5")
    assert bumped.moved_mm > 3 and off(bumped, pushed)[0] < 0.4
    (back,) = watched.sees(table(*cards))
    assert back.change == "bumped" and off(back, cards[2])[0] < 0.4
    (gone,) = watched.sees(table(*cards[:2]))
    assert (gone.change, gone.card) == ("removed", "square-5")
    assert [lies.read.card for lies in watched.watcher.lying if lies.read.card == "square-5"] == []


def test_something_that_is_no_card_tells_nothing_and_is_part_of_the_table_when_it_stays(deck: Deck) -> None:
    watched, cards = Watched(deck), laid(deck)
    watched.sees(table(*cards[:2]))
    cup = (Cup(xy_mm=(275.0, 70.0)),)
    for _ in range(4):
        assert watched.sees(replace(table(*cards[:2]), visitors=cup)) == []
    (seen,) = watched.sees(replace(table(*cards), visitors=cup))
    assert (seen.change, seen.card) == ("placed", "square-5")


def test_a_card_of_another_game_is_told_as_one_that_is_not_known(deck: Deck) -> None:
    watched, cards = Watched(deck), laid(deck)
    before = table(*cards[:2])
    watched.sees(before)
    picture = before.picture(CAMERA, 2)
    corners = [
        Pose(40.0, 40.0, 20.0).apply(corner) for corner in ((0, 0), (63.5, 0), (63.5, 88.9), (0, 88.9))
    ]
    seen_px = cv2.perspectiveTransform(np.array([corners]), CAMERA.plane())[0]
    cv2.fillPoly(picture, [np.round(seen_px).astype(np.int32)], (190, 220, 230), cv2.LINE_AA)
    told = watched.watcher.settled(picture, 2, 0, 2)
    assert [(each.change, each.card, each.candidates) for each in told if isinstance(each, CardChanged)] == [
        ("unsure", None, ())
    ]


def filmed(eye: CardWatcher, moments: list[tuple[CardTable, int]]) -> list[Observed]:
    """What is told of a film in which each moment stays for some frames."""
    told: list[Observed] = []
    number = 0
    for shown, times in moments:
        picture = shown.picture(CAMERA)
        for _ in range(times):
            number += 1
            told += eye.step(picture, number * 150_000_000, 0, number)
    return told


def test_a_camera_tells_cards_once_the_table_rests(deck: Deck) -> None:
    cards, eye = laid(deck), watcher(deck)
    moments = [
        (table(*cards[:2]), 6),
        (replace(table(*cards[:2]), visitors=(Hand(tip_mm=(90.0, 90.0)),)), 3),
        (table(*cards), 6),
    ]
    told = filmed(eye, moments)
    words = [each.card if isinstance(each, CardChanged) else type(each) for each in told]
    assert words[0] is CameraChanged
    assert sorted(str(word) for word in words[1:3]) == ["circle-3", "start"]
    assert words[3:] == [TableStirred, "square-5"]


def test_what_a_hand_holds_that_pauses_is_told_and_is_not_laid(deck: Deck) -> None:
    cards, eye = laid(deck), watcher(deck)
    held = replace(cards[2], pose=Pose(66.2, 36.9, 50.0))
    tip = held.pose.apply((6.0, 80.0))
    moments = [
        (table(*cards[:2]), 6),
        (replace(table(*cards[:2], held), visitors=(Hand(tip_mm=tip, from_deg=120.0),)), 6),
        (table(*cards), 6),
    ]
    told = filmed(eye, moments)
    first = next(each for each in told if isinstance(each, CardHeld))
    assert (first.candidates[0], first.colour, first.flipped) == ("square-5", "red", False)
    assert np.hypot(first.pose.x_mm - held.pose.x_mm, first.pose.y_mm - held.pose.y_mm) < 1.0
    (placed,) = [each for each in told[told.index(first) :] if isinstance(each, CardChanged)]
    assert (placed.change, placed.card, placed.n) == ("placed", "square-5", 2)
    assert off(placed, cards[2])[0] < 0.4


def test_a_whole_table_is_read_from_one_picture(deck: Deck) -> None:
    whole = read_whole(laid_flat(table(*laid(deck)).picture(CAMERA), plane()), card_reader(deck))
    assert {"circle-3", "square-5"} <= {found.card for found in whole.cards}


def test_cards_alone_give_the_scale(deck: Deck) -> None:
    found = by_cards(card_reader(deck))(table(*laid(deck)).picture(CAMERA))
    assert found.px_per_mm == pytest.approx(plane().px_per_mm, rel=0.03)


def test_markers_give_the_table(deck: Deck) -> None:
    marked = replace(table(*laid(deck)), marks=Marks())
    found = by_markers(Marks(size_mm=SIZE_MM))(marked.picture(CAMERA))
    assert found.size_mm == pytest.approx(SIZE_MM, rel=0.01)


@pytest.mark.parametrize("kind", ["nothing", "photograph"])
def test_a_picture_without_cards_is_said_to_have_none(deck: Deck, kind: str) -> None:
    rng = np.random.default_rng(3)
    picture: Frame = np.full((590, 760, 3), 120, np.uint8)
    if kind == "photograph":
        picture = np.asarray(
            cv2.GaussianBlur(rng.integers(0, 255, picture.shape).astype(np.uint8), (0, 0), 9), np.uint8
        )
    with pytest.raises(NoPlaneError, match="corners"):
        by_cards(card_reader(deck))(picture)
    whole = read_whole(laid_flat(picture, plane()), card_reader(deck))
    assert whole.cards == () and whole.flags == ("no_cards",)


def test_a_table_without_markers_is_said_to_be_blind_once(deck: Deck) -> None:
    eye = CardWatcher("cam", card_reader(deck), by_markers(Marks()))
    picture = table(*laid(deck)).picture(CAMERA)
    (blind,) = eye.settled(picture, 1, 0, 1)
    assert isinstance(blind, CameraChanged) and blind.state == "blind" and "marker" in blind.detail
    assert eye.settled(picture, 2, 0, 2) == []


@pytest.mark.parametrize(
    ("corners", "size", "why"),
    [
        ([(0, 0), (1, 0), (1, 1), (0, 1)], (900, 600), "too little"),
        ([(0, 0), (0, 500), (700, 500), (700, 0)], (900, 600), "clockwise"),
        ([(0, 0), (700, 0), (700, 500), (0, 500)], (2, 600), "width and height"),
        ([(0, 0), (700, 0), (float("nan"), 500), (0, 500)], (900, 600), "four corners"),
    ],
)
def test_corners_that_span_no_table_are_refused(
    corners: list[tuple[float, float]], size: tuple[float, float], why: str
) -> None:
    with pytest.raises(NoPlaneError, match=why):
        plane_of(np.array(corners, float), size, (760, 590))
