"""Dice of one roll speak for each other: what is as large as they are is one of them, or is told as unread."""

from __future__ import annotations

import pytest

from vision.dice.finding import Spot
from vision.dice.judging import Claim
from vision.dice.reading import of_one_kind, passed_over


def claim(
    x: float, *, side: float = 40.0, score: float = 0.9, nothing: float = 0.0, die: float = 1.0
) -> Claim:
    """A claim to a one at x; what is neither die nor nothing is a die of another kind."""
    return Claim(Spot(x, 100.0, side, score), 1, 0.9 * die, die, 0.0, nothing)


SURE = [claim(100.0), claim(200.0, side=42.0)]


def test_among_dice_with_pips_one_more_of_their_size_is_held_for_one() -> None:
    *_, odd = of_one_kind([*SURE, claim(300.0, die=0.3)])
    assert odd.is_die == pytest.approx(0.3 / (0.3 + 0.7 * 2.718281828**-3))
    assert odd.chance == pytest.approx(0.9 * odd.is_die)


@pytest.mark.parametrize(
    "odd",
    [claim(300.0, die=0.3, side=80.0), claim(300.0, die=0.3, score=0.3)],
    ids=["of another size", "hardly seen"],
)
def test_what_is_not_like_them_stays_as_it_was_judged(odd: Claim) -> None:
    assert of_one_kind([*SURE, odd])[-1] == odd


def test_one_die_alone_says_nothing_of_others() -> None:
    odd = claim(300.0, die=0.3)
    assert of_one_kind([SURE[0], odd]) == [SURE[0], odd]


def test_what_looks_like_a_die_of_the_roll_is_not_passed_over_in_silence() -> None:
    unclear = claim(300.0, die=0.1, nothing=0.2)
    assert passed_over([*SURE, unclear], SURE) == [unclear]
    assert passed_over([*SURE, unclear], [*SURE, unclear]) == []


@pytest.mark.parametrize(
    "other",
    [
        claim(300.0, die=0.1, nothing=0.8),
        claim(300.0, die=0.1, score=0.4),
        claim(300.0, die=0.1, side=20.0),
        claim(215.0, die=0.1),
    ],
    ids=["nothing", "hardly seen", "of another size", "part of a die that is told"],
)
def test_what_is_no_die_of_the_roll_is_not_told(other: Claim) -> None:
    assert passed_over([*SURE, other], SURE) == []
