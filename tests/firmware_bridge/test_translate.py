"""Messages to observations, cues to commands, cross-talk."""

from __future__ import annotations

import pytest

from companion.core.cue import PATTERNS, Cue
from companion.core.observation import DieDropped, Observation, Pressed, Released, TowerHit
from firmware_bridge.clock_sync import HostTime
from firmware_bridge.framing import Frame, WireCounters
from firmware_bridge.messages import Die, Down, Hit, Led, Snd, Up, body_of, to_device
from firmware_bridge.translate import HOLD_NS, CrossTalk, command, observed, outputs_for

MS = 1_000_000
TIME = HostTime(5_000, 70, 20)


def press(source: str, at_ns: int, force: int | None, n: int = 1, input_: int = 0) -> Pressed:
    return Pressed(source=source, seen_ns=at_ns, uncertainty_ns=1000, input=input_, boot=1, n=n, force=force)


def test_each_event_is_its_observation() -> None:
    common = {"source": "pad1", "seen_ns": 5_000, "uncertainty_ns": 70, "boot": 9, "n": 4, "input": 2}
    assert observed(Down(b=2, n=4, us=1, q=300, early=1, re=1), "pad1", 9, TIME) == Pressed(
        **common, own_u_ns=20, force=300, early=True, resent=True
    )
    assert observed(Up(b=2, n=4, us=1), "pad1", 9, TIME) == Released(**common)
    assert observed(Hit(b=2, n=4, us=1, pk=5, w=6), "pad1", 9, TIME) == TowerHit(**common, peak=5, width_us=6)
    assert observed(Die(b=2, n=4, us=1, pk=5, w=6), "pad1", 9, TIME) == DieDropped(
        **common, peak=5, width_us=6
    )


class Talk:
    def __init__(self) -> None:
        self.out: list[Observation] = []
        self.crosstalk = CrossTalk(self.out.append)

    @property
    def marks(self) -> list[tuple[str, str]]:
        return [(seen.source, seen.suspect) for seen in self.out if isinstance(seen, Pressed)]


def test_trap_29_the_weak_one_after_the_strong_one_is_suspect_at_once() -> None:
    talk = Talk()
    talk.crosstalk.put(press("a", 100 * MS, 1000), 0)
    talk.crosstalk.put(press("b", 103 * MS, 399), 0)
    assert talk.marks == [("a", ""), ("b", "crosstalk")]


def test_trap_29_the_weak_one_before_the_strong_one_waits_and_is_suspect() -> None:
    talk = Talk()
    talk.crosstalk.put(press("a", 0, 1000), 0)  # what a slam feels like here
    talk.crosstalk.put(press("b", 101 * MS, 300), 101 * MS)
    assert talk.marks == [("a", "")]
    assert talk.crosstalk.oldest_ns == 101 * MS
    talk.crosstalk.put(press("a", 100 * MS, 1000, n=2), 104 * MS)
    assert talk.marks == [("a", ""), ("a", ""), ("b", "crosstalk")]
    assert talk.crosstalk.oldest_ns is None


def test_trap_29_a_weak_one_alone_is_kept_and_clean() -> None:
    talk = Talk()
    talk.crosstalk.put(press("a", 0, 1000), 0)
    talk.crosstalk.put(press("b", 100 * MS, 300), 100 * MS)
    assert talk.crosstalk.due_ns == 100 * MS + HOLD_NS
    talk.crosstalk.tick(100 * MS + HOLD_NS - 1)
    assert len(talk.out) == 1
    talk.crosstalk.tick(100 * MS + HOLD_NS)
    assert talk.marks == [("a", ""), ("b", "")]


@pytest.mark.parametrize(
    ("later_ms", "force", "suspect"),
    [(5, 399, "crosstalk"), (5, 400, ""), (5.001, 399, ""), (1, 900, ""), (1, None, "")],
)
def test_trap_29_the_borders(later_ms: float, force: int | None, suspect: str) -> None:
    talk = Talk()
    talk.crosstalk.put(press("a", 100 * MS, 1000), 0)
    talk.crosstalk.put(press("b", 100 * MS + round(later_ms * MS), force), 0)
    talk.crosstalk.tick(10**18)
    assert talk.marks == [("a", ""), ("b", suspect)]


def test_trap_29_two_inputs_of_one_controller_are_two_pads() -> None:
    talk = Talk()
    talk.crosstalk.put(press("box", 100 * MS, 1000, input_=0), 0)
    talk.crosstalk.put(press("box", 101 * MS, 100, n=2, input_=1), 0)
    talk.crosstalk.put(press("box", 102 * MS, 100, n=3, input_=0), 0)
    talk.crosstalk.tick(10**18)
    assert sorted(talk.marks) == [("box", ""), ("box", ""), ("box", "crosstalk")]


def test_a_cue_finds_its_outputs() -> None:
    outputs = {"a": [("box", 0), ("box", 1)], "b": [("pad2", 0)], "c": []}

    def plays_on(target: str, pattern: str = "go") -> tuple[tuple[str, int], ...]:
        return outputs_for(Cue(target=target, pattern=pattern, text="Go"), outputs)

    assert plays_on("a") == (("box", 0), ("box", 1))
    assert plays_on("all") == (("box", 0), ("box", 1), ("pad2", 0))
    assert plays_on("c") == plays_on("public") == plays_on("all", "notice") == ()


def test_a_cue_for_some_pads_plays_on_those_whomever_it_tells() -> None:
    outputs = {"s1": [("pad1", 0)], "s2": [("pad2", 0)], "s3": [("pad3", 0)]}
    told = Cue(target="all", pattern="dead_heat", text="too close", pads=("s3", "s1", "s9"))
    assert outputs_for(told, outputs) == (("pad1", 0), ("pad3", 0))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_has_a_command_that_a_device_takes(pattern: str) -> None:
    cue = Cue(target="all", pattern=pattern, text="words")
    for kind, make in (("led", Led), ("snd", Snd), ("lamp", Led)):
        told = command(cue, 3, kind, 77)
        assert told == make(b=3, pattern=pattern, at=77)
        assert to_device(Frame(body_of(told)), WireCounters()) == told
