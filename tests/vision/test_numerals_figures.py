"""The arithmetic of the benchmark of dice with numerals."""

from __future__ import annotations

from benchmarks.dice_numerals import Tally, judge
from companion.core.observation import DieSeen


def told(kind: str, value: int | None, x: int, confidence: float = 0.9) -> DieSeen:
    return DieSeen(kind=kind, value=value, box_px=(x, 0, x + 10, 10), confidence=confidence)


def test_a_die_is_right_only_with_its_kind_and_value_in_its_place() -> None:
    tally = Tally()
    truths = [
        ("d8", 3, (5.0, 5.0)),
        ("d20", 3, (25.0, 5.0)),
        ("d20", 7, (45.0, 5.0)),
        ("d6-numeral", 6, (65.0, 5.0)),
    ]
    judge(tally, truths, [told("d8", 3, 0), told("d8", 3, 20), told("d20", None, 40)])
    assert tally.count("right") == 1 and tally.count("wrong") == 1 and tally.count("abstained") == 2
    assert tally.share("right") == 25.0 and tally.share("wrong", ["d20"]) == 50.0
    assert tally.share("right", ["d4"]) is None
    assert tally.sure == [(0.9, True), (0.9, False)]


def test_of_two_claims_to_a_die_the_surer_one_counts() -> None:
    tally = Tally()
    judge(tally, [("d8", 3, (5.0, 5.0))], [told("d8", 4, 0, 0.6), told("d8", 3, 1, 0.8)])
    assert tally.count("right") == 1
