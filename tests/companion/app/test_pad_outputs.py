"""What several pads show happens on all of them at one instant; what one pad shows happens at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.app.outputs import TOGETHER_NS, PadOutputs
from companion.core.cue import Cue
from companion.core.seat import seat_at

NOW_NS = 7_000_000_000


class Device:
    """As much of a device's status as lights need."""

    def __init__(self, name: str, outputs: int) -> None:
        self.id, self.outputs = name, ("light",) * outputs


class Listener:
    """Stands for a bridge: notes what is asked of it."""

    def __init__(self) -> None:
        self.played: list[Cue] = []
        self.armed: list[tuple[int, dict[str, int], int]] = []

    def devices(self) -> tuple[Device, ...]:
        return Device("pad-a", 1), Device("pad-b", 1), Device("box", 4)

    def play(self, cue: Cue, places: Mapping[str, Any]) -> None:
        self.played.append(cue)

    def arm(self, part: int, masks: Mapping[str, int], at_ns: int) -> None:
        self.armed.append((part, dict(masks), at_ns))


SEATS = (
    seat_at(1, "Ann", "pad-a"),
    seat_at(2, "Ben", "pad-b"),
    seat_at(3, "Cem", "box", 0),
    seat_at(4, "Dot", "box", 1),
)


def played(cue: Cue) -> tuple[Cue, Listener]:
    bridge = Listener()
    PadOutputs(bridge, lambda: NOW_NS).play(cue, SEATS, 1)  # type: ignore[arg-type]  # stands for a bridge
    return bridge.played[0], bridge


def test_a_dead_heat_blinks_on_two_pads_at_one_instant_to_come() -> None:
    cue, _ = played(Cue(target="all", pattern="dead_heat", text="x", pads=("s1", "s2")))
    assert cue.at_ns == NOW_NS + TOGETHER_NS


def test_one_pad_or_one_box_shows_it_at_once() -> None:
    assert played(Cue(target="all", pattern="place_1", text="x", pads=("s1",)))[0].at_ns is None
    assert played(Cue(target="all", pattern="dead_heat", text="x", pads=("s3", "s4")))[0].at_ns is None
    assert played(Cue(target="s2", pattern="ready", text="x"))[0].at_ns is None


def test_words_alone_wait_for_nothing() -> None:
    assert played(Cue(target="all", pattern="notice", text="x"))[0].at_ns is None


def test_go_keeps_its_own_instant_and_arms_the_pads() -> None:
    cue, bridge = played(Cue(target="all", pattern="go", text="GO", at_ns=NOW_NS + 3))
    assert cue.at_ns == NOW_NS + 3
    assert bridge.armed == [(1, {"pad-a": 1, "pad-b": 1, "box": 0b11}, NOW_NS + 3)]
