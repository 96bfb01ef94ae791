"""The Arduino firmware as it would be flashed: how large it is, and what it does on a simulated ATmega328P.

Edges go in at instants of the simulated clock, with bouncing contacts; how fast this computer is does not matter.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from pathlib import Path

import pytest
from firmware_boards import FIRST_PIN, contact, simulator
from firmware_tools import LEONARDO, TOWER, UNO, avr_build, need_avr, run

from firmware_bridge.framing import wrap

MIXED = ("-DPAD_BUTTONS=3", "-DPAD_BEAM=1", "-DPAD_PIEZOS=2", "-DPAD_TOWER=1")
ROUND_US = 160_000
ROUNDS = int(os.environ.get("SLAM_ROUNDS", "10"))  # docs/hardware.md tells of 60
SETTLED_US = 400_000  # after the hello of six buttons
ST_US = 40
TICK_US = 4
STACK_LEFT = 64


def question(number: int) -> str:
    return f'{{"t":"sync","id":{number},"h":{7 * 10**8 + number}}}'


class Script:
    """What happens to a simulated board; times in us of its own clock."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []

    def pin(self, us: int, pin: int, level: int) -> None:
        self._lines.append((us, f"p {us} {pin} {level}"))

    def press(self, us: int, button: int, *, hold_us: int = 80_000) -> None:
        """Close and open a contact; it bounces both times."""
        pin = FIRST_PIN + button
        for edge in contact(us, pin, is_closing=True) + contact(us + hold_us, pin, is_closing=False):
            self.pin(*edge)

    def piezo(self, us: int, channel: int, millivolt: int) -> None:
        self._lines.append((us, f"a {us} {channel} {millivolt}"))

    def say(self, us: int, *bodies: str, raw: bytes = b"") -> None:
        data = raw + b"".join(wrap(body.encode()) for body in bodies)
        self._lines.append((us, f"d {us} {data.hex()}"))

    def play(self, firmware: Path, until_us: int) -> Told:
        lines = [line for _, line in sorted(self._lines, key=lambda entry: entry[0])]
        return Told(run(simulator(), firmware, text="\n".join([*lines, f"end {until_us}", ""])))


class Told:
    """What a simulated board said (with the us at which each line was out) and did."""

    def __init__(self, text: str) -> None:
        self.lines = [
            (int(us), json.loads(body))
            for us, body in re.findall(r"^> (\d+) ({.*})\*[0-9A-F]{8}$", text, re.MULTILINE)
        ]
        self.lights = [
            (int(us), int(bit), int(level))
            for us, bit, level in re.findall(r"^~ (\d+) (\d) (\d)$", text, re.MULTILINE)
        ]
        (stack,) = re.findall(r"^stack (-?\d+)$", text, re.MULTILINE)
        self.stack = int(stack)

    def of(self, *types: str) -> list[dict[str, int]]:
        return [body for _, body in self.lines if body["t"] in types]


def sizes(firmware: Path) -> tuple[int, int]:
    """Bytes of flash and of RAM."""
    text, data, bss = map(int, run("avr-size", firmware).splitlines()[1].split()[:3])
    return text + data, data + bss


@pytest.mark.parametrize(
    ("name", "build", "flash", "ram"),
    [
        ("Uno, six buttons", UNO, 32_256, 2_048),
        ("Uno, tower", (*UNO, *TOWER), 32_256, 2_048),
        ("Uno, a bit of all", (*UNO, *MIXED), 32_256, 2_048),
        ("Leonardo, four buttons", (*LEONARDO, "-DPAD_BUTTONS=4", "-DPAD_LEDS=4"), 28_672, 2_560),
    ],
)  # fmt: skip
def test_it_fits(
    name: str, build: tuple[str, ...], flash: int, ram: int, capsys: pytest.CaptureFixture[str]
) -> None:
    used_flash, used_ram = sizes(avr_build(*build))
    with capsys.disabled():
        print(f"\n{name}: {used_flash} of {flash} bytes of flash, {used_ram} of {ram} bytes of RAM", end=" ")
    assert used_flash <= flash
    assert used_ram <= ram - 200 - STACK_LEFT


def test_six_slams_a_fifth_of_a_millisecond_apart_are_told_in_their_order_with_their_instants() -> None:
    chance, script = random.Random(4), Script()
    truth: list[tuple[int, int]] = []
    gaps_us = itertools.cycle((200, 200, 200, 350, 1_000))
    us = SETTLED_US
    for round_number in range(ROUNDS):
        pressed_us = us + round_number * ROUND_US + chance.randrange(2_000)
        for button in chance.sample(range(6), 6):
            truth.append((pressed_us, button))
            script.press(pressed_us, button)
            pressed_us += next(gaps_us)
        # The host asks and answers meanwhile and the buzzer sounds, so their interrupts are in the way too.
        script.say(pressed_us - 600 - chance.randrange(600), question(round_number))
        if round_number % 4 == 0:
            script.say(pressed_us + 5_000, '{"t":"snd","b":6,"pattern":"go"}')
        for half in (0, 6):
            acks = [f'{{"t":"ack","n":{12 * round_number + half + k}}}' for k in range(1, 7)]
            script.say(pressed_us + 40_000 + half * 14_000, *acks)
    told = script.play(avr_build(*UNO), us + ROUNDS * ROUND_US)
    downs = [body for body in told.of("dn") if "re" not in body]
    assert [body["n"] for body in told.of("dn", "up") if "re" not in body] == list(range(1, 12 * ROUNDS + 1))
    assert [(body["b"]) for body in downs] == [button for _, button in truth]
    assert [body["b"] for body in sorted(downs, key=lambda body: body["us"])] == [
        button for _, button in truth
    ]
    late = [body["us"] - edge_us for body, (edge_us, _) in zip(downs, truth, strict=True)]
    print(f"stamps are {min(late)} to {max(late)} us after the edge, in ticks of {TICK_US} us")
    print(f"{told.stack} bytes of stack were never used")
    assert min(late) > -2 * TICK_US
    assert max(late) <= ST_US
    assert len(told.of("sync")) == ROUNDS
    assert told.of("hb")[-1].get("err") is None
    assert told.stack >= STACK_LEFT


def test_a_button_that_is_held_while_the_power_comes_on_slams_only_when_it_is_pressed_anew() -> None:
    script = Script()
    script.pin(0, FIRST_PIN, 0)
    for edge in contact(SETTLED_US, FIRST_PIN, is_closing=False):
        script.pin(*edge)
    script.press(SETTLED_US + 100_000, 0)
    told = script.play(avr_build(*UNO), SETTLED_US + 300_000)
    events = [(body["t"], body["us"]) for body in told.of("dn", "up") if "re" not in body]
    assert [t for t, _ in events] == ["dn", "up"]
    assert 0 <= events[0][1] - SETTLED_US - 100_000 <= ST_US


def test_more_inputs_than_the_core_has_room_for_are_not_built() -> None:
    need_avr()
    with pytest.raises(AssertionError, match="at most 8 inputs and 8 outputs"):
        avr_build(*UNO, "-DPAD_BUTTONS=6", "-DPAD_PIEZOS=3")


def test_what_happens_at_one_instant_gets_one_stamp() -> None:
    script = Script()
    for button in range(6):
        script.press(SETTLED_US, button)
    downs = [body for body in script.play(avr_build(*UNO), SETTLED_US + 60_000).of("dn") if "re" not in body]
    assert len(downs) == 6
    # The six edges of one instant reach the one interrupt as one; the simulator sets them one after another.
    assert max(body["us"] for body in downs) - min(body["us"] for body in downs) <= 3 * TICK_US


def test_a_question_is_answered_by_the_time_it_came_and_the_time_the_answer_is_out() -> None:
    script = Script()
    asked = [SETTLED_US + k * 50_000 for k in range(10)]
    for k, us in enumerate(asked):
        script.say(us, question(k))
    told = script.play(avr_build(*UNO), SETTLED_US + 600_000)
    answers = [(out_us, body) for out_us, body in told.lines if body["t"] == "sync"]
    assert [body["id"] for _, body in answers] == list(range(10))
    for asked_us, (out_us, body) in zip(asked, answers, strict=True):
        assert (
            asked_us < body["r"] < asked_us + 1_200
        )  # a byte takes 87 us; the board sleeps a millisecond at most
        assert out_us - 3_000 < body["x"] <= out_us  # never later than the truth
    seen_us = [out_us - us - body["x"] + body["r"] for us, (out_us, body) in zip(asked, answers, strict=True)]
    print(f"round trip that a host sees, but for its own USB: {min(seen_us)} to {max(seen_us)} us")
    assert max(seen_us) <= 1_200


def test_no_press_is_lost_while_a_stranger_types_and_the_line_is_full() -> None:
    script = Script()
    for k in range(6):
        script.say(SETTLED_US + k * 60_000, '{"t":"who","p":[1]}', raw=b"AT+GCAP\r\nATZ\r\n\xff\xfe{}\n")
        script.press(SETTLED_US + 20_000 + k * 120_000, k, hold_us=60_000)
    told = script.play(avr_build(*UNO), SETTLED_US + 2_000_000)
    first = {body["n"]: body for body in told.of("dn", "up") if "re" not in body}
    assert [(first[n]["t"], first[n]["b"]) for n in sorted(first)] == [
        (t, k) for k in range(6) for t in ("dn", "up")
    ]
    assert len(told.of("hello")) >= 2
    assert told.of("hb")[-1]["err"]["noise"] > 0  # type: ignore[index]  # a table within the heartbeat
    assert told.stack >= STACK_LEFT


def test_lights_go_on_at_the_instant_that_was_asked_for() -> None:
    script = Script()
    go_us = SETTLED_US + 200_000
    bodies = [f'{{"t":"led","b":{b},"pattern":"slam","at":{go_us}}}' for b in range(6)]
    script.say(SETTLED_US, *bodies)
    told = script.play(avr_build(*UNO), go_us + 400_000)
    on = [us for us, _, level in told.lights if level and us > SETTLED_US]
    off = [us for us, _, level in told.lights if not level and us > SETTLED_US]
    assert (len(on), len(off)) == (6, 6)
    assert all(0 <= us - go_us <= 2_000 for us in on)
    assert max(on) - min(on) <= 200
    assert all(0 <= us - go_us - 200_000 <= 2_000 for us in off)


def test_a_tower_tells_a_blow_from_a_die() -> None:
    script = Script()
    script.pin(SETTLED_US, FIRST_PIN, 0)  # light falls into the beam: its pin goes low
    blow_us, die_us = SETTLED_US + 100_000, SETTLED_US + 300_000
    for k, millivolt in enumerate((120, 900, 2_400, 1_300, 200, 0)):  # 120 mV is below the threshold
        script.piezo(blow_us + k * 600, 0, millivolt)
    script.pin(die_us, FIRST_PIN, 1)
    script.pin(die_us + 9_000, FIRST_PIN, 0)
    script.pin(die_us + 9_700, FIRST_PIN, 1)  # an edge of the die, still the same one
    script.pin(die_us + 12_000, FIRST_PIN, 0)
    script.pin(die_us + 200_000, FIRST_PIN, 1)  # a spark, no die
    script.pin(die_us + 200_080, FIRST_PIN, 0)
    told = script.play(avr_build(*UNO, *TOWER), die_us + 350_000)
    events = [body for body in told.of("hit", "die") if "re" not in body]
    assert [body["t"] for body in events] == ["hit", "die"]
    hit, die = events
    assert 0 <= hit["us"] - (blow_us + 600) <= 200
    assert hit["pk"] == pytest.approx(2_400 / 5_000 * 1_023, abs=2)
    assert hit["w"] == pytest.approx(4 * 600, abs=700)
    assert 0 <= die["us"] - die_us <= ST_US
    assert die["w"] == pytest.approx(12_000, abs=ST_US)
    assert told.stack >= STACK_LEFT


def test_the_sketch_holds_no_allocation() -> None:
    need_avr()
    firmware = avr_build(*UNO)
    symbols = run("avr-nm", "-C", firmware)
    assert not re.search(r"\b(malloc|free|operator new|operator delete)\b", symbols)
