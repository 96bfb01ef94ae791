"""Event numbers: twins, gaps, restarts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.messages import RING
from firmware_bridge.numbering import Numbering, Taken


def test_trap_20_a_second_delivery_is_a_twin_whatever_its_flag() -> None:
    numbers = Numbering(0)
    assert numbers.take(1, 1_000) is Taken.NEW
    assert numbers.take(1, 1_000) is Taken.TWIN
    assert numbers.take(2, 5_000) is Taken.NEW
    assert numbers.take(1, 1_000) is Taken.TWIN


def test_a_gap_shows_by_the_next_number_or_by_what_the_device_says() -> None:
    numbers = Numbering(0)
    numbers.take(1, 1_000)
    numbers.take(4, 9_000)
    assert (numbers.missing(), numbers.contiguous) == ([2, 3], 1)
    numbers.tell(5, 20_000)
    assert numbers.missing() == [2, 3, 5]
    numbers.take(2, 2_000)
    numbers.take(3, 3_000)
    assert numbers.contiguous == 4
    assert numbers.give_up() == 1
    assert (numbers.missing(), numbers.lost) == ([], 1)
    assert numbers.take(5, 12_000) is Taken.NEW


def test_what_was_before_us_is_not_waited_for_but_taken() -> None:
    numbers = Numbering()
    numbers.tell(57, 1_000_000)
    assert numbers.missing() == []
    assert numbers.take(56, 900_000) is Taken.NEW
    assert numbers.take(58, 1_100_000) is Taken.NEW
    assert numbers.contiguous == 58


def test_trap_14_an_old_number_with_a_newer_stamp_is_a_restart() -> None:
    numbers = Numbering(0)
    numbers.take(1, 1_000)
    numbers.take(2, 500_000)
    assert numbers.take(1, 700_000) is Taken.RESTARTED
    numbers = Numbering()
    numbers.tell(40, 1_000_000)
    assert numbers.take(3, 2_000_000) is Taken.RESTARTED


def test_a_huge_number_costs_no_memory() -> None:
    numbers = Numbering(0)
    numbers.take(1, 1_000)
    numbers.take(4_000_000_000, 2_000)
    assert len(numbers.missing()) <= RING
    assert numbers.lost >= 3_999_999_000


@given(st.permutations(list(range(1, 25))), st.lists(st.integers(1, 24), max_size=20))
def test_any_order_with_repeats_is_each_once(order: list[int], again: list[int]) -> None:
    numbers = Numbering(0)
    numbers.tell(24, 24_000)
    taken = [n for n in order + again if numbers.take(n, n * 1_000) is Taken.NEW]
    assert sorted(taken) == list(range(1, 25))
    assert (numbers.contiguous, numbers.missing(), numbers.lost) == (24, [], 0)
