"""The data file of TAH WARS: what an owner's own lacks is said in words, with the line on which it stands."""

from __future__ import annotations

import json
from importlib import resources

import msgspec
import pytest

from companion.games.tahwars.deck import check, lacks, read, with_map
from companion.games.tahwars.lines import lines_of
from tools.make_tahwars_data import MAPS, made

HOUSE = (resources.files("companion.games.tahwars") / "data" / "house.json").read_text(encoding="utf-8")


def line_with(words: str) -> int:
    return next(n for n, line in enumerate(HOUSE.splitlines(), start=1) if words in line)


def test_the_shipped_file_lacks_nothing_and_says_whose_it_is() -> None:
    assert lacks(HOUSE) == () and check(HOUSE) == ""
    data = read(HOUSE)
    assert "our own" in data.source and "invented" in data.sure
    assert {die.kind for die in data.dice if die.source == "book"} == {"d4", "d8", "d20"}


@pytest.mark.parametrize(
    ("old", "new", "at", "words"),
    [
        ('"stone": 3}, "footprint', '"stone": 2}, "footprint', '"d8"', "costs 2 stone: 3 stone by the book"),
        ('"kind": "d12", "faces": 12', '"kind": "d12", "faces": 13', '"d12"', "13 faces: 12 its name says"),
        ('"cost": {"wood": 3}', '"cost": {}', '"d6"', "has no cost"),
        ('"cost": {"wood": 3}', '"cost": {"gold": 3}', '"d6"', "no resource 'gold'"),
        ('"cost": {"wood": 3}', '"cost": {"wood": 6}', '"d6"', "6 wood, but a player board holds 1 to 5"),
        ('"kind": "d10"', '"kind": "d8"', '"dice"', "the D10 is missing"),
        (
            '"terrain": "rivers", "name": "The mill',
            '"terrain": "sea", "name": "The mill',
            '"t1"',
            "is for 'sea'",
        ),
        ('"number": 10,', "", '"a1"', "lacks 'number'"),
        ('"id": "a2"', '"id": "a1"', '"a2"', "an id of its own"),
        ('"reward": {"crowns": 2}', '"reward": {}', '"a7"', "has no reward"),
        ('"stick_mm": 120.0', '"stick_mm": 0', '"stick_mm"', "1 to 2000 mm"),
        ('"stick_mm": 120.0', '"stick_mm": "long"', '"stick_mm"', "Expected `float`"),
        ('"resource_cap": 5', '"resource_cap": 2', '"resource_cap"', "3 to 99"),
        ('"format": "tahwars/1"', '"format": "tahwars/9"', '"format"', "it must be"),
        ('"footprint_mm": 21', '"footprint": 21', '"d20"', "nothing is called 'footprint' here"),
        ('"reward": {"crowns": 2}', '"reward": {"health": 1, "crown": 2}', '"a7"', "called 'crown' here"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, at: str, words: str) -> None:
    assert old in HOUSE
    found = lacks(HOUSE.replace(old, new))
    line = line_with(at)
    assert any(said.startswith(f"line {line}: ") and words in said for said in found), found
    assert check(HOUSE.replace(old, new)).startswith("line ")


def test_all_that_is_missing_is_listed_not_the_first_alone() -> None:
    plain = json.loads(HOUSE)
    for name in ("stick_mm", "dice", "source"):
        del plain[name]
    found = lacks(json.dumps(plain, indent=1))
    assert [next(name for name in ("stick_mm", "dice", "source") if repr(name) in said) for said in found] == [
        "source", "stick_mm", "dice",
    ]  # fmt: skip


def test_the_maps_of_the_house_are_those_of_their_own_files() -> None:
    assert [found.name for found in read(HOUSE).maps] == list(MAPS)
    assert made(HOUSE) == HOUSE, "python -m tools.make_tahwars_data"


def test_an_own_map_comes_first_and_takes_the_place_of_its_name() -> None:
    ring = read(HOUSE).map("ring")
    assert ring is not None
    data = read(with_map(HOUSE, msgspec.structs.replace(ring, source="mine")))
    assert [found.name for found in data.maps] == ["ring", "delta", "ridge", "islands"]
    assert data.maps[0].source == "mine"


def test_a_map_that_cannot_be_played_on_is_pointed_at() -> None:
    plain = json.loads(HOUSE)
    square = [[0, 0], [90, 0], [90, 90], [0, 90]]
    plain["maps"] = [
        {"name": "mine", "board_mm": [300, 300],
         "terrains": [{"kind": "forest", "polygon_mm": square}, {"kind": "city", "polygon_mm": square}]},
    ]  # fmt: skip
    text = json.dumps(plain, indent=1)
    found = lacks(text)
    assert len(found) == 1 and "overlap by 8100 square mm" in found[0]
    number = int(found[0].split()[1].rstrip(":"))
    assert '"kind": "city"' in text.splitlines()[number]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", "[" * 5000, '{"format": 1}', "\x00", '{"a": NaN}']
)
def test_rubbish_is_refused_in_words(text: str) -> None:
    found = lacks(text)
    assert found and all(said.startswith("line ") and "\n" not in said for said in found)


def test_lines_are_counted_for_every_value() -> None:
    text = '{\n "a": [1,\n  {"b": "x\\n}"}\n ],\n "c": {}, "d": []\n}'
    assert lines_of(text) == {
        (): 1, ("a",): 2, ("a", 0): 2, ("a", 1): 3, ("a", 1, "b"): 3, ("c",): 5, ("d",): 5,
    }  # fmt: skip
