"""What lights and buzzers play: told apart without colour, and never a danger to anybody's eyes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from companion.core.cue import PATTERNS, SHAPES, Shape, is_lit, tone_hz


def starts(shape: Shape) -> list[int]:
    """Milliseconds at which the light goes on, within 20 s."""
    lit = [is_lit(shape, ms) for ms in range(20_000)]
    return [ms for ms in range(20_000) if lit[ms] and (ms == 0 or not lit[ms - 1])]


def test_every_pattern_but_words_can_be_played() -> None:
    assert set(PATTERNS) - set(SHAPES) == {"notice"}
    assert set(SHAPES) - set(PATTERNS) == {"off", "find"}


@pytest.mark.parametrize("name", SHAPES)
def test_no_light_goes_on_more_than_three_times_in_a_second(name: str) -> None:
    """Rule: WCAG 2.3.1"""
    times = starts(SHAPES[name])
    assert all(later - first >= 1000 for first, later in zip(times, times[3:], strict=False)), times
    assert bool(times) is (name != "off")
    assert not is_lit(SHAPES[name], -1)


def test_places_are_told_by_the_number_of_flashes_and_a_dead_heat_by_even_blinking() -> None:
    counts = []
    for name in ("place_1", "place_2", "place_3"):
        times = starts(SHAPES[name])
        groups = 1 + sum(later - first > 1000 for first, later in pairwise(times))
        counts.append((len(times) / groups, groups))
    assert counts == [(1, 3), (2, 3), (3, 3)]
    blinks = starts(SHAPES["dead_heat"])
    assert {later - first for first, later in pairwise(blinks)} == {500}


def test_no_two_patterns_look_alike() -> None:
    shown = {name: tuple(is_lit(shape, ms) for ms in range(0, 20_000, 10)) for name, shape in SHAPES.items()}
    assert len(set(shown.values())) == len(shown)


def test_a_buzzer_plays_its_tones_one_after_another() -> None:
    shape = SHAPES["stop"]
    assert [tone_hz(shape, ms) for ms in (-1, 0, 199, 200, 280, 679, 680)] == [0, 330, 330, 0, 247, 247, 0]
