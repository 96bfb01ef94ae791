"""Races on real firmware: a simulated Uno and MicroPython in WebAssembly, on ptys, at one bridge."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from bridge_rig import bridged, until
from firmware_boards import Board

from companion.core.cue import Cue
from companion.core.observation import Pressed
from firmware_bridge.serial_link import SerialLink

ROUNDS = 6
LIGHTS = 6
AHEAD_NS = 4_000_000_000
PATIENCE_S = 40  # on a machine that is busy the simulated boards are slow, though never wrong


def buttons(presses: list[Pressed]) -> list[tuple[str, int]]:
    return [(press.source, press.input) for press in presses]


def test_a_race_between_two_boards_is_seen_as_it_was() -> None:
    chance = random.Random(8)
    with Board.avr() as uno, Board.micropython() as pico:
        with bridged(SerialLink([f"{board.port}@115200" for board in (uno, pico)])) as table:
            table.wait_ready("pads", "wasm", timeout_s=PATIENCE_S)
            ready_ns = time.monotonic_ns()
            until(lambda: table.bridge.watermark_ns() > ready_ns, "both have answered since", PATIENCE_S)
            go_ns = time.monotonic_ns() + AHEAD_NS
            lights = {"all": [(name, b) for name in ("pads", "wasm") for b in range(LIGHTS)]}
            table.bridge.play(Cue(target="all", pattern="go", text="Go", at_ns=go_ns), lights)
            table.bridge.arm(1, {"pads": 0x3F, "wasm": 0x3F}, go_ns)
            armed_ns = time.monotonic_ns()
            until(
                lambda: table.bridge.watermark_ns() > armed_ns,
                "it came after the arming, as lines are in order",
                AHEAD_NS / 2e9,
            )
            uno.press(5, 20_000)  # before GO
            lead_us = (go_ns - time.monotonic_ns()) // 1_000 + 100_000
            for number in range(ROUNDS):
                for board in (uno, pico):
                    board.press(number, lead_us + 150_000 * number + chance.randrange(40_000))
            until(lambda: len(table.presses) == 1 + 2 * ROUNDS, "all presses", PATIENCE_S)
            presses = table.presses
            until(lambda: table.bridge.watermark_ns() > presses[-1].seen_ns, "all of it is final")
        time.sleep(0.1)
    truth = sorted(
        [(ns, "pads", b) for ns, b in uno.pressed_ns()] + [(ns, "wasm", b) for ns, b in pico.pressed_ns()]
    )
    assert len(truth) == 1 + 2 * ROUNDS
    seen = sorted(presses, key=lambda press: press.seen_ns)
    by_name = {(press.source, press.input, press.early): press for press in seen}
    wrong = []
    for number, (ns, device, b) in enumerate(truth):
        press = by_name[device, b, number == 0]
        off_ns = press.seen_ns - ns
        print(f"{device} {b}: {off_ns / 1e6:+.3f} ms, told within {press.uncertainty_ns / 1e6:.3f} ms")
        if abs(off_ns) > press.uncertainty_ns:
            wrong.append((device, b, off_ns, press.uncertainty_ns))
    assert wrong == []
    # Whatever the host calls surely before, was before.
    true_ns = {(device, b, number == 0): ns for number, (ns, device, b) in enumerate(truth)}
    for (one_key, one), (other_key, other) in itertools.permutations(by_name.items(), 2):
        if other.seen_ns - one.seen_ns > one.uncertainty_ns + other.uncertainty_ns:
            assert true_ns[one_key] < true_ns[other_key]
    lit = [[ns for ns in board.lit_ns() if ns > go_ns - 5_000_000] for board in (uno, pico)]
    assert [len(board) for board in lit] == [LIGHTS, LIGHTS]
    print("GO came on", [f"{(min(board) - go_ns) / 1e6:+.3f} ms" for board in lit])


def test_a_press_while_nobody_listens_is_told_later_with_its_old_stamp() -> None:
    with Board.avr() as uno:
        time.sleep(0.5)
        uno.press(3, 100_000)
        time.sleep(0.6)
        with bridged(SerialLink([f"{uno.port}@115200"])) as table:
            (press,) = table.wait_presses(1)
    ((truth_ns, button),) = uno.pressed_ns()
    assert (press.input, press.resent) == (button, True)
    assert press.seen_ns == pytest.approx(truth_ns, abs=press.uncertainty_ns)
