"""The pads' benchmark: its rates tell what was lost, and nothing is measured of no races."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner

from benchmarks import hands, hands_wires
from firmware_bridge.fake_device import FakePad


@pytest.mark.parametrize(("is_swallowed", "lost"), [(False, 0), (True, hands_wires.PORTION)])
def test_what_a_line_swallowed_is_lost(
    is_swallowed: bool, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Callable[[FakePad, bytes], None] = FakePad.garbage
    portions = 0

    def garbage(pad: FakePad, data: bytes) -> None:
        nonlocal portions
        portions += 1
        if not (is_swallowed and portions == 3):
            send(pad, data)

    monkeypatch.setattr(FakePad, "garbage", garbage)
    found = hands_wires.lines_per_second(10 * hands_wires.PORTION)
    assert (found.count, found.lost) == (10 * hands_wires.PORTION, lost)
    assert found.per_s > 0


@pytest.mark.parametrize(
    ("option", "count"), [("--races", "0"), ("--slams", "0"), ("--fuzz", "0"), ("--real", "-1")]
)
def test_too_few_are_refused_in_one_line(option: str, count: str) -> None:
    ended = CliRunner().invoke(hands.main, [option, count])
    assert ended.exit_code == 2
    assert f"Invalid value for '{option}'" in ended.output
