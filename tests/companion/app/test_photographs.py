"""Counting photographs: corrections, totals over rounds that outlive a restart, numbers handed in to a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.app.photographs import KEPT, PhotographDesk
from companion.app.settings import shipped_data
from companion.catalogue import GAMES
from companion.core.command import Command, Resume
from companion.core.seat import REFEREE, Actor, Role, seat_at
from companion.games.tacta import commands as c
from companion.games.tacta.policy import policy
from companion.runtime.loop import TableLoop
from companion.runtime.opening import create
from vision.frame import Frame
from web_ui.photographs import PhotographError

INKS = {"blue": (200, 100, 30), "green": (60, 160, 90)}
BOSS = Actor(Role.REFEREE, name=REFEREE.role.value)


def picture(counts: dict[str, int]) -> bytes:
    """Dark cards, one a colour, each with a filled bar that bears so many dots."""
    table: Frame = np.full((420, 900, 3), (60, 90, 120), np.uint8)
    for index, (colour, count) in enumerate(counts.items()):
        x, y = 60 + 260 * index, 60
        cv2.rectangle(table, (x, y), (x + 190, y + 260), (22, 22, 22), -1)
        cv2.rectangle(table, (x + 15, y + 18), (x + 175, y + 60), INKS[colour], -1)
        cv2.rectangle(table, (x + 15, y + 18), (x + 175, y + 60), (235, 235, 235), 2)
        for n in range(count):
            cv2.circle(table, (x + 40 + 34 * n, y + 39), 7, (240, 240, 240), -1, cv2.LINE_AA)
    return cv2.imencode(".png", cv2.GaussianBlur(table, (0, 0), 0.8))[1].tobytes()


@pytest.fixture
def desk(tmp_path: Path) -> PhotographDesk:
    return PhotographDesk(rounds=tmp_path / "rounds.json")


def test_dots_are_found_turned_and_added(desk: PhotographDesk) -> None:
    found = desk.count(picture({"blue": 3, "green": 3}))
    assert found.counts() == {"blue": 3, "green": 3}
    assert [(p.place, p.is_shared) for p in desk.ranked(found)] == [(1, True), (1, True)]
    less = desk.turn(found.id, found.dots[0].n)
    assert sum(less.counts().values()) == 5
    assert sum(desk.turn(found.id, found.dots[0].n).counts().values()) == 6
    more = desk.add(found.id, "pink", (10.0, 12.0))
    assert (more.counts()["pink"], more.version) == (1, 3)
    assert len(desk.turn(found.id, more.dots[-1].n).dots) == 6, "what a person put there goes altogether"
    assert desk.picture(found.id).startswith(b"\xff\xd8")  # type: ignore[union-attr]  # it is kept


def test_what_cannot_be_is_refused_in_one_line(desk: PhotographDesk) -> None:
    with pytest.raises(PhotographError, match="save it again as JPEG"):
        desk.count(b"no picture")
    found = desk.count(picture({"blue": 1}))
    for colour, xy, why in (
        ("ochre", (5.0, 5.0), "Choose a colour"),
        ("blue", (-1.0, 5.0), "beside the picture"),
        ("blue", (float("nan"), 5.0), "beside the picture"),
    ):
        with pytest.raises(PhotographError, match=why):
            desk.add(found.id, colour, xy)
    with pytest.raises(PhotographError, match="gone already"):
        desk.turn(found.id, 999)
    with pytest.raises(PhotographError, match="send it again"):
        desk.turn("none", 1)


def test_the_oldest_photographs_make_room(desk: PhotographDesk) -> None:
    data = picture({"blue": 2})
    ids = [desk.count(data).id for _ in range(KEPT + 1)]
    assert desk.find(ids[0]) is None and desk.picture(ids[0]) is None
    assert desk.find(ids[1]) is not None


def test_rounds_add_up_to_a_match_and_are_kept(desk: PhotographDesk, tmp_path: Path) -> None:
    """Rule: TACTA-16"""
    for _ in range(2):
        found = desk.count(picture({"blue": 4, "green": 2}))
        for n in range(46):
            found = desk.add(found.id, "green", (5.0 + n, 5.0))
        desk.keep(found.id)
        with pytest.raises(PhotographError, match="already"):
            desk.keep(found.id)
    again = PhotographDesk(rounds=tmp_path / "rounds.json").rounds()
    assert again is not None
    assert [(p.colour, p.dots, p.place) for p in again.totals] == [("green", 96, 1), ("blue", 8, 2)]
    assert again.said == "100 end the match."
    found = desk.count(picture({"green": 4}))
    desk.keep(found.id)
    now = desk.rounds()
    assert now is not None and now.said == "green wins the match."
    for _ in range(3):
        desk.drop()
    assert desk.rounds().rounds == ()  # type: ignore[union-attr]  # it has no table
    with pytest.raises(PhotographError, match="no round"):
        desk.drop()


def test_a_count_over_what_the_cards_hold_is_flagged(desk: PhotographDesk) -> None:
    """Rule: TACTA-2"""
    found = desk.count(picture({"blue": 4}))
    for n in range(60):
        found = desk.add(found.id, "blue", (5.0 + n, 5.0))
    assert desk.ranked(found)[0].doubt == "more than its cards hold (63)"


def test_a_damaged_file_of_rounds_is_named(tmp_path: Path) -> None:
    (tmp_path / "rounds.json").write_bytes(b"{")
    with pytest.raises(ValueError, match="move the file away"):
        PhotographDesk(rounds=tmp_path / "rounds.json")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TableLoop]:
    """Ann plays blue and Ben green, without measured places, up to the count."""
    game = GAMES["tacta"]
    seats = (seat_at(1, "Ann"), seat_at(2, "Ben"))
    opening = create(
        tmp_path / "t.journal", game, seats=seats, seed=3, options={"mode": "quick"}, data=shipped_data(game)
    )
    made = TableLoop(opening.table, opening.journal, opening.clock)
    first: list[Command] = [
        Resume(),
        c.TakeColour(seat="s1", colour="blue"),
        c.TakeColour(seat="s2", colour="green"),
        c.Begin(),
    ]
    for n, command in enumerate(first):
        assert made.submit(command, BOSS, f"first {n}").result(10).is_accepted
    for n in range(200):
        if made.snapshot().sitting.game.phase == "scoring":
            break
        wanted = policy(made.snapshot().sitting, n)
        assert wanted is not None
        made.submit(wanted, BOSS, f"play {n}").result(10)
    yield made
    made.close()


def test_numbers_are_handed_in_to_the_table_that_counts(table: TableLoop) -> None:
    desk = PhotographDesk(table)
    assert desk.rounds() is None
    assert [colour.name for colour in desk.colours()][:2] == ["green", "blue"]
    found = desk.count(picture({"blue": 4}))
    found = desk.add(found.id, "red", (9.0, 9.0))
    assert {p.colour: p.doubt for p in desk.ranked(found)}["red"] == "nobody plays with this colour"
    desk.hand_in(found.id, BOSS)
    assert table.snapshot().sitting.game.entered == {"blue": 4, "green": 0}
    assert table.submit(c.Score(), BOSS, "score").result(10).is_accepted
    with pytest.raises(PhotographError, match="TACTA"):
        desk.hand_in(desk.count(picture({"blue": 3})).id, BOSS)


def test_illegal_cards_are_named_before_the_count(table: TableLoop) -> None:
    """Rule: TACTA-13"""
    desk = PhotographDesk(table)
    assert desk.before() == ()
    wrong = c.RuleCard(n=table.snapshot().sitting.game.lying[3].n, is_legal=False, is_covered=True)
    assert table.submit(wrong, BOSS, "wrong").result(10).is_accepted
    (said,) = desk.before()
    assert "lies illegally" in said
