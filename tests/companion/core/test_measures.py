"""Timers, standings, seats, geometry and layouts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.core.clock import S
from companion.core.geometry import Polygon, Pose, rectangle
from companion.core.layout import Layout, Placed, Region
from companion.core.score import standings
from companion.core.seat import MARKS, seat_at
from companion.core.timer import Timer

SCORES = st.dictionaries(st.sampled_from(["s1", "s2", "s3", "s4", "s5"]), st.integers(0, 4))


def test_a_timer_counts_down_in_play_time() -> None:
    timer = Timer(from_play_ns=10 * S, length_ns=60 * S)
    assert [timer.left_ns(at * S) for at in (0, 10, 30, 70, 99)] == [60 * S, 60 * S, 40 * S, 0, 0]
    assert timer.extended(30 * S).left_ns(70 * S) == 30 * S
    assert timer.extended(-90 * S).left_ns(10 * S) == 0
    assert timer.ends_play_ns == 70 * S


def test_equal_scores_share_a_place_and_the_next_is_skipped() -> None:
    found = standings({"s1": 3, "s2": 5, "s3": 3, "s4": 1})
    assert [(s.seat, s.place, s.shared) for s in found] == [
        ("s2", 1, False), ("s1", 2, True), ("s3", 2, True), ("s4", 4, False),
    ]  # fmt: skip


def test_the_winner_stands_first_whatever_the_score() -> None:
    found = standings({"s1": 6, "s2": 6, "s3": 2}, ("s2",))
    assert [(s.seat, s.place, s.shared) for s in found] == [
        ("s2", 1, False),
        ("s1", 2, False),
        ("s3", 3, False),
    ]
    shared = standings({"s1": 6, "s2": 7}, ("s1", "s2"))
    assert [(s.place, s.shared) for s in shared] == [(1, True), (1, True)]


@given(SCORES)
def test_places_are_one_more_than_those_who_stand_better(scores: dict[str, int]) -> None:
    for standing in standings(scores):
        assert standing.place == 1 + sum(score > scores[standing.seat] for score in scores.values())
        assert standing.shared == (list(scores.values()).count(scores[standing.seat]) > 1)


def test_every_seat_has_a_letter_a_colour_and_a_shape_of_its_own() -> None:
    six = [seat_at(n, f"P{n}") for n in range(1, 7)]
    assert "".join(seat.letter for seat in six) == "ABCDEF"
    assert len({seat.colour for seat in six}) == len({seat.shape for seat in six}) == len(MARKS) == 6


@pytest.mark.parametrize(
    ("angle", "expected"), [(0, (110, 205)), (90, (95, 210)), (180, (90, 195)), (-90, (105, 190))]
)
def test_a_pose_turns_clockwise_as_seen_from_above(angle: float, expected: tuple[float, float]) -> None:
    assert Pose(100, 200, angle).apply((10, 5)) == pytest.approx(expected)


@given(st.floats(-400, 400), st.floats(-400, 400), st.floats(-180, 180))
def test_a_turned_card_holds_its_own_points(x: float, y: float, angle: float) -> None:
    pose, card = Pose(x, y, angle), rectangle(0, 0, 60, 90)
    assert card.placed(pose).contains(pose.apply((30, 45)))
    assert not card.placed(pose).contains(pose.apply((61, 45)))
    assert card.placed(pose).centre() == pytest.approx(pose.apply((30, 45)), abs=1e-6)


def test_a_polygon_with_a_dent_knows_its_inside() -> None:
    dented = Polygon(((0, 0), (10, 0), (10, 10), (5, 4), (0, 10)))
    assert dented.contains((2, 6))
    assert not dented.contains((5, 8))
    assert math.isclose(dented.centre()[0], 5.0)


def test_a_placed_card_knows_which_slot_a_die_lies_on() -> None:
    slots = tuple(Region(str(n), rectangle(5 + 20 * n, 5, 16, 16)) for n in range(3))
    card = Placed(Layout("card", (70, 30), slots), Pose(100, 100, 90), owner="s1")
    assert card.region_at(*card.pose.apply((30, 12))) == "1"
    assert card.region_at(*card.pose.apply((23, 12))) is None
    assert card.region_at(0, 0) is None
