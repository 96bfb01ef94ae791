"""Known hands of Zing-a-Zam: no byte of a page, a stream, a download or a picture tells a card to who may not see it.

Two tables are alike but for cards that Ann may not see; whatever she, the referee and the crowd are sent by them is
compared byte for byte, but for what differs between any two tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_live import Stream
from web_house import BOSS, Guest, House

from companion.core import command as k
from companion.core.seat import Actor, Role
from companion.games.zingazam import commands as c

SET = (1, 2, 3, 4, 5, 6, 7, 8)
OTHER = (8, 7, 6, 5, 4, 3, 2, 1)
CAMERA = Actor(Role.SENSOR, name="camera")
DIFFERS = (
    (re.compile(r"[0-9a-f]{64}"), "HEAD"),
    (re.compile(r"\b[0-9a-f]{8}-(\d+)\b"), r"BOOT-\1"),
    (re.compile(r"\d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r'(csrf[-_]token"[^>]*(?:value|content)=")[^"]*'), r"\1"),
    (re.compile(r"nonce-?[=\"']*[\w+/=-]+"), "NONCE"),
    (re.compile(r'"now_ns": ?\d+'), "NOW"),
    (re.compile(r"retry: \d+"), "RETRY"),
    (re.compile(r'value="[0-9a-f]{12}"'), "PASS"),
    (re.compile(r"wall ms \d+"), "WALL"),
    (re.compile(r"(?:phone|keys)-[0-9a-f]+"), "PAD"),
)


def plain(text: str) -> str:
    for pattern, instead in DIFFERS:
        text = pattern.sub(instead, text)
    return text


def dealt(folder: Path, ann: tuple[int, ...], *, cat: int) -> House:
    """A table at which Ann holds these cards, and has drawn a cat; everybody else the same ones."""
    folder.mkdir()
    house = House(folder, game_name="zingazam", hands="full")
    house.begin()
    house.order(k.Start(boot="b", wall_ms=0), Actor(Role.CLOCK))
    house.order(k.Resume())
    house.order(c.NameOldest(seat="s2"))
    house.order(c.Begin())
    for seat, hand in (("s1", ann), ("s2", SET), ("s3", OTHER)):
        for number in hand:
            assert house.order(c.Deal(seat=seat, number=number), CAMERA).is_accepted
    assert house.order(c.Play(seat="s2", position=4)).is_accepted
    assert house.order(c.TellCat(seat="s2", number=cat), CAMERA).is_accepted
    return house


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[House, House]]:
    """The tables. In the second Ann's outward cards lie otherwise, and Ben drew another cat."""
    one = dealt(tmp_path / "one", SET, cat=6)
    state = one.desk.snapshot().sitting.game
    (inward,) = (place for place, held in enumerate(state.hands["s1"]) if held.faces_owner)
    others = [number for place, number in enumerate(SET) if place != inward]
    mixed = [*reversed(others)]
    mixed.insert(inward, SET[inward])
    other = dealt(tmp_path / "other", tuple(mixed), cat=2)
    yield one, other
    one.close()
    other.close()


PAGES = ("/", "/board", "/seat", "/referee", "/journal", "/devices", "/dice", "/keys", "/pad", "/healthz",
         "/journal/export.jsonl", *(f"/journal/{n}/correct?way={way}" for n in (6, 8, 30, 31) for way in
                                    ("void", "replace", "insert")), "/evidence/8")  # fmt: skip

"""All but /people, whose codes differ between any two tables and which shows nothing of the game."""


def guests(house: House) -> dict[str, Guest]:
    return {
        "Ann": Guest(house, house.seat_token("s1")),
        "Ria": Guest(house, house.referee_token()),
        "crowd": Guest(house, remote="192.168.7.77"),
    }


def test_no_page_tells_a_hidden_card(two: tuple[House, House]) -> None:
    seen = 0
    for who in ("Ann", "Ria", "crowd"):
        one, other = (guests(house)[who] for house in two)
        for path in PAGES:
            first, second = one.get(path), other.get(path)
            assert first.status_code == second.status_code
            assert plain(first.text) == plain(second.text), (who, path)
            seen += first.status_code == 200
    assert seen > 25
    ben = [Guest(house, house.seat_token("s2")).get("/seat").text for house in two]
    assert plain(ben[0]) != plain(ben[1]), "Ben sees both, so the comparison would notice"


def test_the_download_waits_and_a_correction_names_no_hidden_card(two: tuple[House, House]) -> None:
    one, _ = two
    ria = guests(one)["Ria"]
    assert ria.get("/journal/export.jsonl").status_code == 409
    page = ria.get("/journal").text
    assert page.count("stays covered until the game is over") == 25
    deal = next(entry.n for entry in one.desk.entries() if isinstance(entry.command, c.Deal))
    data = {"way": "void", "why": "seen by all"}
    assert "stays covered" in ria.post(f"/journal/{deal}/preview", data=data).text
    form = ria.get(f"/journal/{deal}/correct?way=replace").text
    assert 'name="number:number" value=""' in form, "what stands there is not filled in"


def test_no_stream_tells_a_hidden_card(two: tuple[House, House]) -> None:
    heard: dict[str, list[str]] = {"public": [], "seat": [], "referee": [], "ben": []}
    for house in two:
        house.serve()
        tokens = {"public": "", "seat": house.seat_token("s1"), "referee": house.referee_token()}
        tokens["ben"] = house.seat_token("s2")
        start = house.desk.snapshot().version
        for who, token in tokens.items():
            stream = Stream(house, f"/live/{'seat' if who == 'ben' else who}?after=0", token)
            heard[who].append(plain(stream.page(start)))
            stream.close()
        streams = {
            who: Stream(house, f"/live/{'seat' if who == 'ben' else who}", token)
            for who, token in tokens.items()
        }
        for stream in streams.values():
            stream.page(start)
        house.order(c.Play(seat="s3", position=2), BOSS)
        version = house.desk.snapshot().version
        for who, stream in streams.items():
            heard[who].append(plain(stream.page(version)))
    for who in ("public", "seat", "referee"):
        assert heard[who][:2] == heard[who][2:], who
    assert heard["ben"][:2] != heard["ben"][2:]


def test_every_announcement_about_a_hidden_card_goes_to_its_owner_alone(two: tuple[House, House]) -> None:
    said = [
        [(a.cue.target, a.cue.text) for a in house.desk.announcements() if a.cue.target != "s2"]
        for house in two
    ]
    assert said[0] == said[1]
    mine = [[a.cue.text for a in house.desk.announcements() if "cat" in a.cue.text.split()] for house in two]
    assert [texts[-1] for texts in mine] == [
        "Your card at place 8 is a cat 6.",
        "Your card at place 8 is a cat 2.",
    ]


def test_after_the_game_the_journal_is_open(two: tuple[House, House]) -> None:
    one, _ = two
    salt = 0
    while not one.desk.game.is_over(one.desk.snapshot().sitting):
        salt += 1
        command = one.desk.game.policy(one.desk.snapshot().sitting, salt)
        assert command is not None and one.order(command).is_accepted
    ria = guests(one)["Ria"]
    assert ria.get("/journal/export.jsonl").text.count('"do":"Deal"') == 24
    assert "stays covered" not in ria.get("/journal").text
