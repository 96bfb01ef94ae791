"""The hardware page and its pictures say what the firmware's files say."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from firmware_tools import ROOT, SKETCH

PAGE = (ROOT / "docs" / "hardware.md").read_text(encoding="utf-8")
DRAWING = runpy.run_path(str(ROOT / "tools" / "draw_wiring.py"), run_name="drawing")
PICTURES = {board.file: board for board in DRAWING["BOARDS"]}


def pins(name: str, kind: str) -> list[int]:
    return [int(part.pin[1:]) for part in PICTURES[name].parts if part.kind == kind and part.pin[0] == "D"]


def test_the_pictures_are_as_they_would_be_drawn_now() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "draw_wiring.py", "--check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", PICTURES)
def test_each_picture_is_shown_and_says_in_words_what_it_is(name: str) -> None:
    assert re.search(rf"!\[[^]]{{20,}}\]\(wiring-{name}\.svg\)", PAGE)
    root = ET.parse(ROOT / "docs" / f"wiring-{name}.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    told = root.findtext(f"{space}desc") or ""
    assert root.get("role") == "img"
    assert root.findtext(f"{space}title")
    for part in PICTURES[name].parts:
        assert f"{part.pin} " in told


@pytest.mark.parametrize(("name", "port"), [("uno", "328P"), ("leonardo", "32U4")])
def test_the_arduino_pins_are_those_of_the_sketch(name: str, port: str) -> None:
    source = (SKETCH / "board.h").read_text(encoding="utf-8")
    part = source[source.index(port) : source.index("#el", source.index(port))]
    lights = [int(pin) for pin in re.findall(r"\d+", re.search(r"LED_PINS {(.*)}", part)[1])]  # type: ignore[index]  # it is there
    (bit,), (places,) = re.findall(r"BUTTON_BIT (\d)", part), re.findall(r"BUTTON_PLACES (\d)", part)
    first = {"PIND": 0, "PINB": 4}[re.search(r"BUTTON_PIN (\w+)", part)[1]]  # type: ignore[index]  # it is there
    assert pins(name, "led") == lights
    assert pins(name, "button") == [first + int(bit) + k for k in range(int(places))]


def test_the_sketch_repeats_the_table_of_patterns() -> None:
    from companion.core.cue import SHAPES

    source = (SKETCH / "tada_patterns.cpp").read_text(encoding="utf-8")
    assert re.findall(r'^    {"(\w+)",', source, re.MULTILINE) == list(SHAPES)
