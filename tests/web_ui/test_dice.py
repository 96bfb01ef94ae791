"""The dice as they were read, on the referee's page: each corrected by a click, and taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from web_house import Guest, House

from companion.core.event import DieCorrected
from companion.core.history import corrected
from companion.core.observation import DiceRested, DieSeen

PNG = b"\x89PNG\r\n\x1a\n picture"
FACES = ("arrow", "burst", "spiral", "wand")


class FakeDice:
    """One rest with a read die, an unread one, and one that nobody owns. `confidence`: of the first one's reading."""

    def __init__(self) -> None:
        self.told: dict[int, str] = {}
        self.confidence = 0.91

    def rests(self) -> Sequence[DiceRested]:
        dice = (
            DieSeen(
                kind="tada",
                value="arrow",
                box_px=(10, 10, 50, 50),
                confidence=self.confidence,
                owner="red",
                on=("s1", "1"),
            ),
            DieSeen(
                kind="tada",
                value=None,
                box_px=(90, 10, 130, 50),
                confidence=0.4,
                reason="glare",
                owner="blue",
            ),
            DieSeen(kind="tada", value="wand", box_px=(170, 10, 210, 50), confidence=0.8),
        )
        rest = DiceRested(source="camera", seen_ns=5, uncertainty_ns=0, frame=12, dice=dice)
        return (rest, replace_frame(rest, 4))

    def face(self, frame: int, box_px: tuple[int, int, int, int]) -> bytes | None:
        return PNG if frame == 12 else None

    def faces(self) -> Sequence[str]:
        return FACES

    def lessons(self) -> Mapping[int, str]:
        return self.told


def replace_frame(rest: DiceRested, frame: int) -> DiceRested:
    import msgspec

    return msgspec.structs.replace(rest, frame=frame)


@pytest.fixture
def dice(house: House) -> FakeDice:
    fake = FakeDice()
    house.app.extensions["companion"] = replace(house.app.extensions["companion"], dice=fake)
    house.begin()
    return fake


def corrections(house: House) -> list[DieCorrected]:
    return [
        e for entry in corrected(house.desk.entries()) for e in entry.events if isinstance(e, DieCorrected)
    ]


def test_every_die_of_the_newest_rest_is_shown_with_what_was_read_and_why_not(
    house: House, dice: FakeDice
) -> None:
    boss = Guest(house, house.token)
    page = boss.get("/dice").text
    assert re.search(r"arrow\s*<small>91 %", page)
    assert "Not read: glare" in page
    assert "on place 2 of a spell" in page and "Ann" in page
    assert [f"/dice/12/{n}.png" in page for n in range(3)] == [True] * 3
    assert boss.get("/dice/12/1.png").data == PNG
    assert boss.get("/dice/4/1.png").status_code == boss.get("/dice/12/9.png").status_code == 404
    assert "not kept any more" in boss.get("/dice?frame=99").text
    assert 'href="/dice"' in boss.get("/referee").text


def test_a_table_that_reads_no_dice_has_no_way_to_their_page(house: House) -> None:
    house.begin()
    assert 'href="/dice"' not in Guest(house, house.token).get("/referee").text


def test_a_click_corrects_a_die_and_the_page_says_so_until_it_is_taken_back(
    house: House, dice: FakeDice
) -> None:
    boss = Guest(house, house.token)
    found = re.search(r'name="command" value="([^"]+)"', boss.get("/dice").text)
    assert found is not None
    form = {"command": found[1].replace("&#34;", '"'), "choice:value": '"burst"', "choice:learn": "true"}
    assert boss.post("/command", form).status_code == 303
    (made,) = corrections(house)
    assert (made.source, made.frame, made.die.box_px, made.value, made.learn) == (
        "camera",
        12,
        (10, 10, 50, 50),
        "burst",
        True,
    )
    page = boss.get("/dice").text
    assert "Corrected: burst" in page and "being learnt" in page
    entry = house.desk.entries()[-1].n
    dice.told[entry] = "learnt as a picture of burst"
    assert "learnt as a picture of burst" in boss.get("/dice").text
    dice.confidence = 0.78  # the camera began anew: another die lies there in its frame 12
    assert "Corrected" not in boss.get("/dice").text
    dice.confidence = 0.91
    boss.command({"do": "Undo"})
    assert corrections(house) == []
    assert "Corrected" not in boss.get("/dice").text


def test_what_is_not_to_be_learnt_from_is_corrected_all_the_same(house: House, dice: FakeDice) -> None:
    boss = Guest(house, house.token)
    commands = re.findall(r'name="command" value="([^"]+)"', boss.get("/dice").text)
    body = {"command": commands[2].replace("&#34;", '"'), "choice:value": json.dumps("")}
    assert boss.post("/command", body).status_code == 303
    (made,) = corrections(house)
    assert (made.value, made.learn) == ("", False)
    page = boss.get("/dice").text
    assert "Corrected: no die" in page and "being learnt" not in page


def test_a_table_without_a_camera_says_so(house: House) -> None:
    house.begin()
    assert "No camera has seen dice" in Guest(house, house.token).get("/dice").text
