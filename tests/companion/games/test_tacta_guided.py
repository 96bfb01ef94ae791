"""A seat that is guided while it lays, and one that says it cannot play."""

from __future__ import annotations

import math

import pytest
from tacta_table import SENSOR, TactaTable

from companion.core.geometry import Pose
from companion.core.observation import CardChanged, CardHeld
from companion.core.ruling import Verdict
from companion.core.seat import Actor, Role
from companion.games.tacta import GAME
from companion.games.tacta import commands as c
from companion.games.tacta.interpret import Trace
from companion.games.tacta.model import ends_of, front_of
from companion.games.tacta.phrases import guidance, key_of, ranked_plays

rule = pytest.mark.rule
SEAT = Actor(Role.SEAT, seat="s1")
CARD_MM = (63.5, 88.9)


def turned_by(pose: Pose, degrees: float, right_mm: float, down_mm: float) -> Pose:
    """The pose turned clockwise about the card's middle, then moved on the table."""
    middle = pose.apply((CARD_MM[0] / 2, CARD_MM[1] / 2))
    angle = pose.angle_deg + degrees
    about = Pose(0.0, 0.0, angle).apply((CARD_MM[0] / 2, CARD_MM[1] / 2))
    return Pose(middle[0] - about[0] + right_mm, middle[1] - about[1] + down_mm, angle)


@pytest.fixture
def aimed() -> tuple[TactaTable, str, bool, Pose]:
    """Ann, who sits below, is guided to her best play."""
    table = TactaTable().playing(("circle-1", "circle-5"), ("square-4", "square-6"))
    card, play = ranked_plays(table.table, "s1", ends_of(table.table, "s1"))[0]
    table.do(c.Aim(seat="s1", at=key_of(card, play)), SEAT)
    return table, card, play.flipped, play.pose


def seen(card: str, flipped: bool, pose: Pose, change: str = "placed", n: int = 1) -> CardChanged:
    return CardChanged(
        source="camera", seen_ns=0, uncertainty_ns=0, frame=n, change=change, n=n, card=front_of(card),
        colour=card.split(":", maxsplit=1)[0], flipped=flipped, pose=pose, u_mm=0.3, u_deg=0.3,
    )  # fmt: skip


def understood(table: TactaTable, each: CardChanged | CardHeld) -> tuple[type, ...]:
    """The commands that follow, carried out."""
    _, commands = GAME.interpret(Trace(), table.table, each)
    for command in commands:
        table.do(command, SENSOR)
    return tuple(type(command) for command in commands)


@rule("TACTA-10", "ok")
def test_a_guided_card_counts_once_it_lies_where_it_aims(aimed: tuple[TactaTable, str, bool, Pose]) -> None:
    """The first player looks over the table from below: right is right, away is up in the picture."""
    table, card, flipped, pose = aimed
    assert "from your edge" in guidance(table.table, "s1")
    far = turned_by(pose, -10.0, 20.0, -34.0)
    assert understood(table, seen(card, flipped, far)) == (c.NoteLaying,)
    assert guidance(table.table, "s1") == "Left 2 cm, towards you 3 cm, turn 10 degrees clockwise."
    assert table.game.laid == 0 and table.game.turn == "s1"
    near = turned_by(pose, 3.0, 0.0, 4.0)
    assert understood(table, seen(card, flipped, near, "bumped")) == (c.NoteLaying,)
    assert guidance(table.table, "s1") == "Away from you 4 mm, turn 3 degrees anticlockwise."
    assert understood(table, seen(card, flipped, turned_by(pose, 0.3, 0.3, 0.0), "bumped")) == (c.Lay,)
    assert table.game.lying[-1].judged.verdict is Verdict.OK
    assert guidance(table.table, "s1") == "" and table.game.turn == "s2"


def test_a_guided_card_that_lies_on_its_face_is_turned_over(
    aimed: tuple[TactaTable, str, bool, Pose],
) -> None:
    table, card, flipped, pose = aimed
    assert understood(table, seen(card, not flipped, pose)) == (c.NoteLaying,)
    assert guidance(table.table, "s1") == "Turn it over: the other side must be up."
    assert [a.text for a in table.view("s1").answers if a.id == "guide"] == [guidance(table.table, "s1")]
    assert not [a for a in table.view("s2").answers if a.id == "guide"]


def test_who_is_guided_no_more_lays_at_once(aimed: tuple[TactaTable, str, bool, Pose]) -> None:
    table, card, flipped, pose = aimed
    table.do(c.Aim(seat="s1", at=""), SEAT)
    assert understood(table, seen(card, flipped, turned_by(pose, 0.0, 4.0, 0.0))) == (c.Lay,)
    assert table.game.lying[-1].judged.verdict is Verdict.BREACH


@rule("TACTA-10", "breach")
def test_only_a_legal_play_of_the_own_turn_is_aimed_at(aimed: tuple[TactaTable, str, bool, Pose]) -> None:
    table, card, _, pose = aimed
    for command, why in (
        (c.Aim(seat="s2", at="x"), "TACTA-5"),
        (c.Aim(seat="s1", at=f"{card}/front/9/9/9/9"), "TACTA-6"),
        (c.Aim(seat="s2", at=""), "TACTA-10"),
        (c.NoteLaying(seat="s2", flipped=False, pose=pose), "TACTA-10"),
        (c.NoteLaying(seat="s1", flipped=False, pose=Pose(math.nan, 0.0)), "TACTA-10"),
    ):
        found = table.give(command)
        assert found is not None and found.rule == why, command


def test_the_guided_seat_alone_is_told(aimed: tuple[TactaTable, str, bool, Pose]) -> None:
    table, card, flipped, pose = aimed
    before = table.table
    understood(table, seen(card, flipped, turned_by(pose, 0.0, -25.0, 0.0)))
    from companion.games.tacta.events import LayingSeen

    (cue,) = GAME.cues(before, LayingSeen(seat="s1", flipped=flipped, pose=pose), table.table)
    assert (cue.target, cue.text) == ("s1", "Right 2 cm.")


@rule("TACTA-11", "breach")
def test_no_legal_play_is_checked_where_places_are_known() -> None:
    table = TactaTable().playing(("circle-1", "circle-5"), ("square-4", "square-6"))
    found = table.give(c.SayNoPlay(seat="s1"), SEAT)
    assert found is not None and found.rule == "TACTA-11"
    assert "legal placements are at hand, such as circle" in found.because
    other = table.give(c.SayNoPlay(seat="s2"))
    assert other is not None and other.rule == "TACTA-5"
    assert any(row.id == "plays-s1" for zone in table.view("s1").zones for row in zone.rows)
    assert not [action for action in table.view("s1").actions if action.id == "none-s1"]


@rule("TACTA-11", "ok")
def test_no_legal_play_is_the_players_word_where_they_are_not() -> None:
    table = TactaTable().playing(("circle-1", "circle-5"), ("square-4", "square-6"), measured=False)
    assert [action for action in table.view("s1").actions if action.id == "none-s1"]
    table.do(c.SayNoPlay(seat="s1"), SEAT)
    assert "that is the player's word" in table.rulings("TACTA-11")[-1].because


@rule("TACTA-10", "ok")
def test_a_card_that_is_held_is_guided_and_not_laid(aimed: tuple[TactaTable, str, bool, Pose]) -> None:
    table, card, flipped, pose = aimed
    colour, front = card.split(":", maxsplit=1)[0], front_of(card)

    def held(*fronts: str, at: Pose, side: bool = flipped) -> CardHeld:
        return CardHeld(
            source="camera", seen_ns=0, uncertainty_ns=0, frame=1, candidates=fronts, colour=colour,
            flipped=side, pose=at, u_mm=0.3,
        )  # fmt: skip

    far = turned_by(pose, 0.0, 20.0, 0.0)
    assert understood(table, held("circle-6", at=far)) == (), "not the card that is waited for"
    assert understood(table, held(front, "circle-6", at=far)) == (c.NoteLaying,)
    assert guidance(table.table, "s1") == "Left 2 cm."
    stirred = turned_by(far, 0.5, 0.5, 0.0)
    assert understood(table, held(front, at=stirred)) == (), "a hand that keeps still is told once"
    assert understood(table, held("circle-6", front, at=pose, side=not flipped)) == (c.NoteLaying,)
    assert guidance(table.table, "s1") == "It lies right."
    assert table.game.laid == 0 and table.game.turn == "s1"
