"""Quest cards that a camera names, at a table whose people deal: turned up for the line-up, or drawn."""

from __future__ import annotations

from typing import Any

import pytest
from tahwars_table import TahTable

from companion.core import command as k
from companion.core.observation import CardCandidate, CardLaid, CardSeen
from companion.games.tahwars import commands as c
from companion.games.tahwars.model import data_of, quest_of

rule = pytest.mark.rule


def see(table: TahTable, name: str | None, *maybe: tuple[str, float]) -> list[str]:
    """A card comes to lie; what people are asked, in words."""
    card = CardSeen(
        name=name,
        confidence=maybe[0][1] if maybe else 0.99,
        quad_px=((0, 0), (63, 0), (63, 88), (0, 88)),
        candidates=tuple(CardCandidate(*each) for each in maybe),
        reason="margin" if maybe else None,
    )
    table.v.now_ns += 1_000_000_000
    seen = CardLaid(source="cam", seen_ns=table.v.now_ns, uncertainty_ns=1, frame=1, card=card)
    table.v.step(seen)
    return [proposal.reading for proposal in table.view().open_proposals]


def at_quests(**options: Any) -> TahTable:
    """Phase 1 of a game, four quests in the line-up."""
    table = TahTable(2, **options)
    if options:
        table.do(*(c.TurnUp(quest=quest) for quest in sorted(table.game.deck)[:4]))
    return table.launched()


def in_words(table: TahTable, quest_id: str) -> str:
    """What is printed on a card."""
    quest = quest_of(table.table, quest_id)
    assert quest is not None
    return quest.name or quest.id


@rule("TAH-2", "ok")
def test_quests_that_are_turned_up_before_the_camera_fill_the_line_up_and_no_more() -> None:
    table = TahTable(2, dealing="table")
    deck = [quest.id for quest in data_of(table.table).quests]
    for n, quest in enumerate(deck[:4], start=1):
        assert see(table, in_words(table, quest).upper()) == []
        assert table.game.line_up == tuple(deck[:n])
        assert see(table, quest) == []  # it lies there already
    assert see(table, deck[4]) == []
    assert see(table, "a card of another game") == []
    assert table.game.line_up == tuple(deck[:4])


def test_a_quest_that_is_not_sure_is_asked() -> None:
    table = TahTable(2, dealing="table")
    one, other = [quest.id for quest in data_of(table.table).quests][:2]
    (asked,) = see(table, None, (one, 0.6), ("nonsense", 0.2), (other, 0.1))
    assert in_words(table, one) in asked
    assert in_words(table, other) in asked
    assert table.game.line_up == ()
    table.do(k.Confirm(proposal=table.view().open_proposals[0].id))
    assert table.game.line_up == (one,)


@rule("TAH-6", "ok")
def test_a_card_that_shows_in_phase_1_beside_a_full_line_up_may_be_what_was_drawn() -> None:
    table = at_quests(dealing="table")
    seat, top = table.game.turn, next(iter(table.game.deck))
    (asked,) = see(table, top)
    assert in_words(table, top) in asked
    assert table.p(seat).quests == ()
    table.do(k.Confirm(proposal=table.view().open_proposals[0].id))
    assert table.p(seat).quests == (top,)


def test_where_the_companion_deals_no_card_is_asked_for() -> None:
    table = at_quests()
    assert see(table, next(iter(table.game.deck))) == []
