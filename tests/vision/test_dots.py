"""White dots on coloured shapes of dark cards: counted by colour, numbers in badges left out."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.sight.tacta import HUES, dots
from vision.frame import Frame, load

TABLES = Path(__file__).parents[2] / ".." / "shared" / "data" / "tacta"
INKS = {
    "red": (40, 40, 200), "orange": (30, 130, 240), "green": (60, 160, 90), "blue": (200, 100, 30),
    "purple": (150, 40, 90), "pink": (150, 60, 220),
}  # fmt: skip


def card(colour: str, count: int) -> Frame:
    """A dark card with a filled bar that bears so many dots, and a badge with a number."""
    picture = np.full((260, 190, 3), 22, np.uint8)
    cv2.rectangle(picture, (20, 18), (170, 60), INKS[colour], -1)
    cv2.rectangle(picture, (20, 18), (170, 60), (235, 235, 235), 2)
    for number in range(count):
        cv2.circle(picture, (45 + 34 * number, 39), 7, (240, 240, 240), -1, cv2.LINE_AA)
    cv2.circle(picture, (95, 150), 24, INKS[colour], -1, cv2.LINE_AA)
    cv2.putText(picture, "6", (87, 159), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (240, 240, 240), 2, cv2.LINE_AA)
    return picture


def table(cast: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> tuple[Frame, dict[str, int]]:
    """Six cards on a brown table under a lamp of this cast."""
    picture = np.full((640, 760, 3), (60, 90, 120), np.uint8)
    truth = {}
    for index, colour in enumerate(INKS):
        truth[colour] = 1 + index % 4
        y, x = 30 + 300 * (index // 3), 40 + 240 * (index % 3)
        picture[y : y + 260, x : x + 190] = card(colour, truth[colour])
    lit = np.clip(cv2.GaussianBlur(picture, (0, 0), 0.8) * np.array(cast), 0, 255)
    return lit.astype(np.uint8), truth


@pytest.mark.parametrize("cast", [(1.0, 1.0, 1.0), (0.75, 0.95, 1.0), (1.0, 0.95, 0.8), (0.6, 0.6, 0.6)])
def test_dots_are_counted_by_colour_whatever_the_lamp(cast: tuple[float, float, float]) -> None:
    picture, truth = table(cast)
    found = dots(picture)
    assert found.counts() == truth
    assert set(truth) == set(HUES)


def test_a_table_without_dots_says_so() -> None:
    found = dots(np.full((400, 600, 3), (60, 90, 120), np.uint8))
    assert found.dots == () and found.flags == ("no_dots",)


def test_places_are_those_of_the_picture_whatever_its_size() -> None:
    picture, truth = table()
    large = cv2.resize(picture, None, fx=4.0, fy=4.0, interpolation=cv2.INTER_CUBIC)
    here, there = dots(picture), dots(np.asarray(large, np.uint8))
    assert there.counts() == truth
    for near, far in zip(here.dots, there.dots, strict=True):
        assert near.xy_px == pytest.approx([value / 4 for value in far.xy_px], abs=1.5)


@pytest.mark.skipif(not TABLES.is_dir(), reason=f"NOT RUN: {TABLES} is missing: no table with truth to count")
@pytest.mark.parametrize("name", ["0004", "0011", "0013", "0015", "sequence/0102"])
def test_shared_tables_are_counted_to_the_dot(name: str) -> None:
    truth = json.loads((TABLES / f"{name}.json").read_text())["visible_dots"]
    assert dots(load(TABLES / f"{name}.jpg")).counts() == truth


@pytest.mark.parametrize(("covered_px", "counted"), [(3, True), (13, False)])
def test_a_dot_counts_where_more_than_half_of_it_shows(covered_px: int, counted: bool) -> None:
    """Rule: TACTA-15"""
    picture = np.full((640, 760, 3), (60, 90, 120), np.uint8)
    picture[30:290, 240:430] = card("red", 4)
    over = np.full((200, 120, 3), 22, np.uint8)
    cv2.rectangle(over, (0, 0), (119, 199), INKS["blue"], 8)
    cv2.rectangle(over, (6, 6), (113, 193), (235, 235, 235), 2)
    left = 240 + 45 - 7 + covered_px - 120  # the leftmost dot is 14 px wide
    picture[30 + 18 : 30 + 18 + 200, left : left + 120] = over
    found = dots(np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8), np.uint8))
    assert found.counts() == {"red": 4 if counted else 3}


def test_a_strip_of_a_picture_is_no_table() -> None:
    strip = np.full((34, 1200, 3), 22, np.uint8)
    for x in range(40, 1200, 80):
        cv2.circle(strip, (x, 17), 13, (240, 240, 240), -1, cv2.LINE_AA)
    assert dots(strip).dots == ()


def test_what_keeps_dots_from_being_seen_is_said() -> None:
    picture, _ = table()
    assert not set(dots(picture).flags) & {"hand", "glare", "no_cards", "few_dots"}
    under_a_hand = picture.copy()
    under_a_hand[:, :] = np.where((picture == (60, 90, 120)).all(2, keepdims=True), (150, 120, 60), picture)
    cv2.line(under_a_hand, (380, 639), (380, 340), (140, 175, 225), 230)
    assert "hand" in dots(under_a_hand).flags
    y, x = np.mgrid[:640, :760]
    lamp = 260 * np.exp(-(((x - 135) / 55) ** 2 + ((y - 200) / 45) ** 2))
    mirrored = np.clip(picture + 1.6 * lamp[..., None], 0, 255).astype(np.uint8)
    assert "glare" in dots(mirrored).flags
    picture[320:] = picture[:, 500:] = (60, 90, 120)
    assert "few_dots" in dots(picture).flags


def test_a_card_of_another_game_is_told_and_the_dots_are_counted_all_the_same() -> None:
    picture, truth = table()
    assert "other_cards" not in dots(picture).flags
    pale = np.array([(520, 330), (680, 350), (650, 580), (490, 560)], np.int32)
    picture[320:, 470:] = (60, 90, 120)
    cv2.fillConvexPoly(picture, pale, (225, 240, 245))
    cv2.putText(picture, "7", (550, 480), cv2.FONT_HERSHEY_SIMPLEX, 2.0, (40, 40, 190), 6, cv2.LINE_AA)
    found = dots(np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8), np.uint8))
    assert "other_cards" in found.flags
    del truth["pink"]  # the last card made room
    assert found.counts() == truth


def test_dots_that_lie_on_no_cards_are_told() -> None:
    picture = np.full((640, 760, 3), (190, 205, 215), np.uint8)
    for n, colour in enumerate(INKS):
        x, y = 60 + 230 * (n % 3), 60 + 300 * (n // 3)
        cv2.rectangle(picture, (x, y), (x + 130, y + 130), INKS[colour], -1)
        for k in range(3):
            cv2.circle(picture, (x + 30 + 34 * k, y + 30 + 34 * k), 7, (240, 240, 240), -1, cv2.LINE_AA)
    assert "no_cards" in dots(np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8), np.uint8)).flags
