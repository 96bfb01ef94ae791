"""The watermark, as arithmetic."""

from __future__ import annotations

import msgspec

from firmware_bridge.verdict import CAP_NS, OWING_NS, Mark, Verdict, silent_devices, watermark_ns

NOW = 10_000_000_000


def test_no_device_means_now() -> None:
    assert watermark_ns((), NOW) == NOW


def test_the_slowest_device_sets_it_up_to_the_cap() -> None:
    marks = [Mark("a", NOW - 1_000), Mark("b", NOW - 5_000)]
    assert watermark_ns(marks, NOW) == NOW - 5_000
    assert watermark_ns([*marks, Mark("c", 0)], NOW) == NOW - CAP_NS


def test_silent_is_whom_the_cap_passes_over_while_it_owes() -> None:
    old = NOW - CAP_NS - 1
    marks = [
        Mark("b", old, NOW - OWING_NS),
        Mark("a", old, old),
        Mark("asked just now", old, NOW - OWING_NS + 1),
        Mark("asked of nothing", old),
        Mark("heard since", NOW - CAP_NS, old),
    ]
    assert silent_devices(marks, NOW) == ("a", "b")


def test_the_message() -> None:
    told = Verdict(round=3, rank=(("pad1",), ("pad2", "pad3")), ties=1, window_ms=1.2, unc_ms=0.6, final=True)
    assert msgspec.json.decode(msgspec.json.encode(told), type=Verdict) == told
