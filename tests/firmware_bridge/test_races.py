"""Six pads, three places, in virtual time through the real codec, clocks and hub, judged by the table's own rule."""

from __future__ import annotations

import statistics

import pytest

from benchmarks.hands_races import measure
from benchmarks.virtual_table import LAWS

from virtual_table import MS  # isort: skip


@pytest.mark.parametrize(
    ("name", "contested_share", "final_ms"),
    [("USB", 0.15, 12), ("FTDI", 0.3, 40), ("Wi-Fi", 0.45, 40), ("busy Wi-Fi", 0.8, 260)],
)
def test_no_place_that_is_given_is_wrong(name: str, contested_share: float, final_ms: int) -> None:
    found = measure(LAWS[name], 40, seed=21)
    assert (found.slams, found.wrong) == (240, 0)
    assert found.contested <= contested_share * found.races
    assert statistics.median(found.until_final_ns) <= final_ms * MS
    assert name == "busy Wi-Fi" or found.silent == 0
