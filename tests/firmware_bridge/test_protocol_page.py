"""The protocol page says what the code does."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from companion.core.cue import SHAPES
from firmware_bridge import messages, topics
from firmware_bridge.framing import WireCounters, unwrap

PAGE = (Path(messages.__file__).parent / "PROTOCOL.md").read_text(encoding="utf-8")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.splitlines()
    if line.startswith("| ")
]
MESSAGES = {(row[0], row[1]): row[2].split() for row in ROWS if len(row) == 4 and row[1].startswith("to ")}
WAYS = {"to host": messages.FromDevice, "to device": messages.ToDevice}


@pytest.mark.parametrize("way", WAYS)
def test_every_message_is_there_with_its_keys(way: str) -> None:
    real = {
        (kind.__struct_config__.tag, way): [field.encode_name for field in msgspec.structs.fields(kind)]
        for kind in WAYS[way].__args__
    }
    told = {which: keys for which, keys in MESSAGES.items() if which[1] == way}
    if way == "to host":
        real["ack", way] = ["n"]
    assert told == real


def test_every_pattern_is_there_with_its_numbers() -> None:
    told = {row[0]: row[1:7] for row in ROWS if len(row) == 8 and row[0] != "pattern"}
    assert told == {
        name: (
            *(str(n) for n in (shape.flashes, shape.on_ms, shape.off_ms, shape.pause_ms, shape.rounds)),
            ", ".join(f"{hz} {ms}" for hz, ms in shape.tones),
        )
        for name, shape in SHAPES.items()
    }


def test_every_channel_is_there() -> None:
    told = {row[0]: row[2] for row in ROWS if len(row) == 4 and not row[1].startswith("to ")}
    for channel in topics.FROM_DEVICE + topics.TO_DEVICE:
        assert told[channel] == ("yes" if channel in topics.RETAINED else "no")


def test_the_example_is_a_frame() -> None:
    line = next(line.strip() for line in PAGE.splitlines() if line.startswith("    {"))
    body = line.partition("*")[0]
    assert messages.from_device(messages.Frame(body.encode()), WireCounters()) is not None
    assert unwrap(line.encode(), WireCounters()) is not None
