"""Who was surely before whom, and what a race of so many places says of each finisher."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.core.clock import FLOOR_NS, MS, Fate, Stamp, fates, groups, is_surely_before, joint_ns

STAMPS = st.lists(
    st.builds(
        Stamp,
        at_ns=st.integers(0, 60 * MS),
        u_ns=st.integers(0, 12 * MS),
        clock=st.sampled_from(["", "a", "b"]),
        own_u_ns=st.integers(0, 2 * MS),
    ),
    max_size=6,
)


def at(ms: float, u_ms: float = 0, clock: str = "", own_ms: float = 0) -> Stamp:
    return Stamp(at_ns=round(ms * MS), u_ns=round(u_ms * MS), clock=clock, own_u_ns=round(own_ms * MS))


def test_two_stamps_of_one_clock_share_its_offset() -> None:
    assert joint_ns(at(0, 5, "a", 0.6), at(9, 5, "a", 0.7)) == 1_300_000
    assert joint_ns(at(0, 5, "a", 0.6), at(9, 5, "b", 0.7)) == 10 * MS
    assert joint_ns(at(0, 5), at(9, 5)) == 10 * MS, "an unknown clock is nobody's"
    assert joint_ns(at(0), at(0)) == FLOOR_NS


@pytest.mark.rule("TADA-18", "ok")
def test_two_slams_20_ms_apart_on_one_controller_are_ranked() -> None:
    slams = [at(100, 8, "box-7/1", 0.1), at(120, 8, "box-7/1", 0.1)]
    assert fates(slams, 1) == (Fate.IN, Fate.OUT)
    assert groups(slams) == ((0,), (1,))


@pytest.mark.rule("TADA-18", "house")
def test_two_slams_within_their_joint_uncertainty_are_contested_and_unordered() -> None:
    slams = [at(100, 8), at(116, 8)]
    assert fates(slams, 1) == (Fate.CONTESTED, Fate.CONTESTED)
    assert groups(slams) == ((0, 1),)
    assert fates([at(100, 8), at(116.001, 8)], 1) == (Fate.IN, Fate.OUT)


def test_a_chain_that_nobody_can_cut_is_one_group() -> None:
    chain = [at(0, 5), at(8, 5), at(16, 5)]
    assert groups(chain) == ((0, 1, 2),)
    assert fates(chain, 2) == (Fate.IN, Fate.CONTESTED, Fate.CONTESTED)
    assert fates(chain, 1) == (Fate.CONTESTED, Fate.CONTESTED, Fate.OUT)


@given(STAMPS, st.integers(0, 4))
def test_fates_by_their_definition(stamps: list[Stamp], places: int) -> None:
    for i, fate in enumerate(fates(stamps, places)):
        others = [stamp for j, stamp in enumerate(stamps) if j != i]
        perhaps_before = sum(not is_surely_before(stamps[i], other) for other in others)
        surely_before = sum(is_surely_before(other, stamps[i]) for other in others)
        assert surely_before <= perhaps_before
        assert fate is (
            Fate.IN if perhaps_before < places else Fate.OUT if surely_before >= places else Fate.CONTESTED
        )
    assert sum(fate is Fate.IN for fate in fates(stamps, places)) <= places


@given(STAMPS)
def test_groups_hold_everybody_once_and_only_sure_orders_between_them(stamps: list[Stamp]) -> None:
    found = groups(stamps)
    assert sorted(i for group in found for i in group) == list(range(len(stamps)))
    for earlier, later in pairwise(found):
        assert all(is_surely_before(stamps[i], stamps[j]) for i in earlier for j in later)


def test_time_since_go_is_scaled_with_its_uncertainty() -> None:
    slam = at(4_000, 10, "a", 2)
    half = slam.scaled(2_000 * MS, 2.0)
    assert (half.at_ns, half.u_ns, half.own_u_ns, half.clock) == (3_000 * MS, 5 * MS, MS, "")
    assert slam.scaled(2_000 * MS, 1.0) == slam
