"""Three firmwares say the same bytes: the Python model, the C++ core, the MicroPython core (in MicroPython too)."""

from __future__ import annotations

import difflib
import importlib
import random
import re
from collections import Counter

import pytest
from firmware_tools import BOARDS, CORE, MICROPYTHON, need_micropython, replayer, run
from firmware_traces import COUNT, told_by_model, traces

from companion.core.cue import SHAPES
from firmware_bridge.framing import WireCounters, unwrap, wrap
from firmware_bridge.messages import from_device

TRACES = list(traces())
RADIO = list(traces(20, is_radio=True))
TOLD = [told_by_model(trace) for trace in TRACES]
RADIO_TOLD = [told_by_model(trace) for trace in RADIO]


def assert_same(told: list[str], model: list[str]) -> None:
    assert len(told) == len(model)
    for number, (one, other) in enumerate(zip(told, model, strict=True)):
        if one != other:
            diff = difflib.unified_diff(
                other.splitlines(), one.splitlines(), "model", "firmware", lineterm="", n=1
            )
            pytest.fail(f"trace {number}:\n" + "\n".join(list(diff)[:20]))


def apart(told: str) -> list[str]:
    return [part + "end\n" for part in told.split("end\n")[:-1]]


@pytest.fixture(scope="module")
def on_cpython() -> object:
    """The replayer of the MicroPython core, in this Python; it finds its modules as a board does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MICROPYTHON))
        patch.syspath_prepend(str(BOARDS))
        yield importlib.import_module("replay").replay


def test_the_traces_hold_what_they_are_for() -> None:
    assert len(TRACES) == COUNT == 200
    lines = [line for told in TOLD for line in told.splitlines()]
    said = Counter(line.split('"')[3] for line in lines if line.startswith("{"))
    assert set(said) == {"hello", "in", "out", "hb", "dn", "up", "hit", "die", "sync", "nak"}
    assert min(said.values()) > 200
    assert all(any(part in line for line in lines) for part in ('"early":1', '"re":1', '"q":', '"w":100000'))
    for counted in ("noise", "crc", "long", "msg"):
        assert any(f'"{counted}":' in line for line in lines if '"hb"' in line)
    assert sum(line.startswith("~") for line in lines) > 300
    assert any('"mac":' in line for told in RADIO_TOLD for line in told.splitlines())


def test_the_host_understands_every_line() -> None:
    counters = WireCounters()
    for line in {line for told in TOLD for line in told.splitlines() if line.startswith("{")}:
        frame = unwrap(line.encode(), counters)
        assert frame is not None
        assert from_device(frame, counters) is not None, line


def test_the_cpp_core_says_the_same() -> None:
    assert_same(apart(run(replayer(), text="".join(TRACES))), TOLD)


def test_the_micropython_core_says_the_same_on_cpython(on_cpython) -> None:  # type: ignore[no-untyped-def]  # a board's module
    assert_same([on_cpython(trace) for trace in TRACES], TOLD)
    assert_same([on_cpython(trace) for trace in RADIO], RADIO_TOLD)


def test_the_micropython_core_says_the_same_on_micropython() -> None:
    told = run(
        "node",
        BOARDS / "replay.mjs",
        need_micropython(),
        *CORE,
        BOARDS / "replay.py",
        text="".join(TRACES + RADIO),
    )
    assert_same(apart(told), TOLD + RADIO_TOLD)


HOSTILE_VALUES = (
    "18446744073709551616", "-1", "1e999", "NaN", "[" * 50, "{" * 9, '"\\ud800"', '"\\', "tru", "01", "{}", "[1,",
    '"' + "a" * 150,
)  # fmt: skip


def hostile_bytes(chance: random.Random) -> bytes:
    """Noise, damaged frames, and whole frames around JSON that nobody should send."""
    valid = [
        wrap(body.encode())
        for body in ('{"t":"who","p":[1]}', '{"t":"sync","id":1,"h":2}', '{"t":"ack","n":1}')
    ]
    flipped = bytearray(chance.choice(valid) * 8)
    for _ in range(12):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    value = chance.choice(HOSTILE_VALUES)
    key = chance.choice(("t", "id", "h", "b", "n", "p", "at", "pattern", "k"))
    t = chance.choice(("sync", "led", "key", "arm", "nak", "who"))
    framed = wrap(f'{{"t":"{t}","{key}":{value}{chance.choice(("}", "", ",}", "}}"))}'.encode())
    return chance.choice((chance.randbytes(200), bytes(flipped), framed, b"{" + chance.randbytes(40) + b"\n"))


def test_hostile_bytes_make_no_event_and_stop_no_pad(on_cpython) -> None:  # type: ignore[no-untyped-def]  # a board's module
    chance = random.Random(9)
    lines = ["pad p 1 1 20 0 0", "in button b", "out led l", "start 0"]
    for k in range(1_500):
        lines += [f"d {hostile_bytes(chance).hex()}", f"step {k * 1_000}"]
    question = b"\n" + wrap(b'{"t":"sync","id":77,"h":5}')
    lines += [f"d {question.hex()}", "step 2000000", "end", ""]
    trace = "\n".join(lines)
    for told in (run(replayer(), text=trace), on_cpython(trace)):
        assert '"t":"sync","id":77,"h":5' in told
        assert not re.search('"t":"(dn|up|hit|die)"', told)
        assert re.search(r'"noise":\d{3,},"crc":\d{3,}.*"msg":\d{3,}', told)


def test_the_patterns_are_those_of_the_host(on_cpython) -> None:  # type: ignore[no-untyped-def]  # a board's module
    shapes = importlib.import_module("tada_patterns").SHAPES
    assert shapes == {
        name: (shape.flashes, shape.on_ms, shape.off_ms, shape.pause_ms, shape.rounds, shape.tones)
        for name, shape in SHAPES.items()
    }


@pytest.mark.parametrize("name", SHAPES)
def test_both_firmwares_show_each_pattern_to_its_end_as_the_host_draws_it(name: str, on_cpython) -> None:  # type: ignore[no-untyped-def]  # a board's module
    lines = ["pad p 1 1 20 0 0", "in button b", "out led l", "out snd s", "start 0"]
    for t, b in (("led", 0), ("snd", 1)):
        lines.append("d " + wrap(f'{{"t":"{t}","b":{b},"pattern":"{name}"}}'.encode()).hex())
    lines += [f"step {ms * 1000}" for ms in range(0, 6_000, 10)]
    trace = "\n".join([*lines, "end", ""])
    assert_same([on_cpython(trace), run(replayer(), text=trace)], [told_by_model(trace)] * 2)
