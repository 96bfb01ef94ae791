"""From what the camera says of cards to what is asked of a table of Tacta."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tacta_table import MIDDLE, TactaTable

from companion.core.command import Command, Propose
from companion.core.geometry import Pose
from companion.core.observation import CameraChanged, CardChanged
from companion.core.ruling import Verdict
from companion.games.tacta import GAME
from companion.games.tacta import commands as c
from companion.games.tacta.deck import mirrored
from companion.games.tacta.layouts import layouts_of
from companion.games.tacta.model import deck_of
from companion.runtime.identity import key_of

rule = pytest.mark.rule


def seen(change: str, card: str | None, colour: str = "blue", **more: Any) -> CardChanged:
    return CardChanged(
        source="cam", seen_ns=10, uncertainty_ns=1, frame=3, n=1, change=change, card=card, colour=colour,
        **({"pose": MIDDLE, "u_mm": 0.4, "u_deg": 0.3} | more),
    )  # fmt: skip


def asked(table: TactaTable, what: Any) -> tuple[Command, ...]:
    return GAME.interpret(GAME.trace(), table.table, what)[1]


@rule("TACTA-3", "ok")
def test_the_starting_card_is_proposed_with_its_place_while_the_table_is_set_up() -> None:
    table = TactaTable().colours()
    (proposal,) = asked(table, seen("placed", "start", ""))
    assert isinstance(proposal, Propose) and proposal.command == c.Begin(pose=MIDDLE, u_mm=0.4)
    table.do(proposal.command)
    assert table.game.lying[0].pose == MIDDLE
    assert asked(table, seen("placed", "start", "")) == ()


@rule("TACTA-10", "ok")
def test_a_card_that_is_surely_seen_is_laid_for_the_seat_that_holds_it() -> None:
    table = TactaTable().playing()
    play = table.plays("s1", "circle-1")[0]
    (lay,) = asked(table, seen("placed", "circle-1", pose=play.pose, flipped=play.flipped))
    assert isinstance(lay, c.Lay) and (lay.seat, lay.card) == ("s1", "blue:circle-1")
    table.do(lay)
    assert table.game.lying[-1].judged.verdict is Verdict.OK and table.game.lying[-1].u_mm == 0.4


def test_what_is_not_sure_is_proposed_and_says_what_else_it_may_be() -> None:
    table = TactaTable().playing()
    (doubt,) = asked(table, seen("unsure", None, candidates=("circle-1", "circle-2"), confidence=0.5))
    assert isinstance(doubt, Propose) and isinstance(doubt.command, c.Lay)
    assert doubt.command.card == "blue:circle-1" and "or it is circle 2" in doubt.reading
    assert isinstance(asked(table, seen("placed", "circle-1", confidence=0.6))[0], Propose)


@pytest.mark.parametrize(
    "what",
    [
        seen("placed", "circle-1", "pink"), seen("placed", "start", ""), seen("unsure", None, ""),
        seen("placed", "circle-1", pose=None), seen("bumped", "square-2"), seen("removed", "square-2"),
        CameraChanged(source="cam", seen_ns=1, uncertainty_ns=1, state="live"),
    ],
)  # fmt: skip
def test_what_belongs_to_nobody_means_nothing(what: Any) -> None:
    assert asked(TactaTable().playing(), what) == ()


@rule("TACTA-10", "ok")
def test_a_bumped_card_is_told_once_and_once_more_when_it_is_back() -> None:
    table = TactaTable().playing()
    card = table.lay("s1", "circle-1")
    assert card.pose is not None
    off = Pose(card.pose.x_mm + 5, card.pose.y_mm, card.pose.angle_deg)
    (bump,) = asked(table, seen("bumped", "circle-1", pose=off))
    assert bump == c.NoteBump(n=card.n, moved_mm=5.0)
    table.do(bump)
    assert asked(table, seen("bumped", "circle-1", pose=off)) == ()
    near = Pose(card.pose.x_mm + 0.8, card.pose.y_mm, card.pose.angle_deg)
    (back,) = asked(table, seen("bumped", "circle-1", pose=near))
    table.do(back)
    assert asked(table, seen("bumped", "circle-1", pose=near)) == ()


@rule("TACTA-12", "ok")
def test_a_card_that_is_taken_away_is_asked_about_unless_the_table_said_that_it_lay_wrong() -> None:
    table = TactaTable().playing()
    card = table.lay("s1", "circle-1")
    (question,) = asked(table, seen("removed", "circle-1"))
    assert isinstance(question, Propose)
    assert isinstance(question.command, c.RuleCard) and not question.command.is_legal
    table.do(c.RuleCard(n=card.n, is_legal=False))
    assert asked(table, seen("removed", "circle-1")) == ()


def test_each_change_has_a_key_of_its_own() -> None:
    one = seen("placed", "circle-1")
    assert key_of(one) == key_of(msgspec.structs.replace(one))
    assert (
        len(
            {
                key_of(one),
                key_of(msgspec.structs.replace(one, n=2)),
                key_of(msgspec.structs.replace(one, frame=4)),
            }
        )
        == 3
    )


def test_layouts_carry_what_the_deck_says() -> None:
    deck = deck_of(TactaTable().table)
    printed = layouts_of(deck)
    assert [layout.id for layout in printed] == [*[card.id for card in deck.cards], deck.start.id]
    for layout, card in zip(printed, (*deck.cards, deck.start), strict=True):
        assert sum(len(region.dots_mm) for region in layout.regions) == card.value
        assert layout.size_mm == deck.card_mm and layout.strip_mm == deck.strip_mm
        assert (
            mirrored(mirrored(card, deck.card_mm[0]), deck.card_mm[0]).shapes[0].kind
            == layout.regions[0].symbol
        )
