"""Cards that the camera names: the feat that is turned up, the spells that are revealed, what was put away."""

from __future__ import annotations

from typing import Any

import pytest
from tada_table import TadaTable

from companion.core.command import Propose
from companion.core.observation import CARD_BACK, CardCandidate, CardLaid, CardSeen
from companion.games.tada import commands as c
from companion.games.tada.model import deck_of, spell_of

rule = pytest.mark.rule


def laid(table: TadaTable, name: str | None, place: str = "", ms: float = 10, **more: Any) -> CardLaid:
    """A card comes to lie; `maybe`: what it may be, where it is not sure."""
    maybe = tuple(CardCandidate(word, sure) for word, sure in more.get("maybe", ()))
    card = CardSeen(
        name=name,
        confidence=maybe[0].confidence if maybe else 0.99,
        quad_px=((0, 0), (63, 0), (63, 88), (0, 88)),
        candidates=maybe,
        reason="margin" if maybe else None,
        place=place,
    )
    return CardLaid(source="cam", seen_ns=table.ns(ms), uncertainty_ns=1, frame=int(ms), card=card)


def at_feat(**options: Any) -> TadaTable:
    """Two players with real cards in hand; the feat is to be turned up."""
    table = TadaTable(2, dealing="table", **options)
    table.do(c.Deal())
    return table


def at_choice() -> TadaTable:
    """The feat lies there."""
    table = at_feat()
    table.see(laid(table, deck_of(table.sitting).feat[0].id))
    return table


@rule("TADA-8", "ok")
def test_the_feat_that_is_turned_up_before_the_camera_binds_and_is_read_aloud() -> None:
    table = at_feat()
    feat = deck_of(table.sitting).feat[4]
    assert table.see(laid(table, CARD_BACK)) == []
    [(command, refused)] = table.see(laid(table, feat.name.upper(), ms=20))
    assert (command, refused) == (c.RevealFeat(feat=feat.id), None)
    assert (table.game.phase, table.game.feat) == ("choose", feat.id)
    assert any(feat.text in cue.text for cue in table.cues)


def test_a_feat_that_is_not_sure_is_asked() -> None:
    table = at_feat()
    one, other = deck_of(table.sitting).feat[:2]
    [(asked, _)] = table.see(laid(table, None, maybe=((one.id, 0.5), (other.id, 0.3), ("nonsense", 0.1))))
    assert isinstance(asked, Propose)
    assert (asked.command, asked.confidence) == (c.RevealFeat(feat=one.id), 0.5)
    assert asked.reading == f"The feat that was turned up may be {one.name} or {other.name}"
    assert table.game.phase == "feat"


@rule("TADA-10", "ok")
def test_spells_that_lie_face_up_are_chosen_and_revealed_together() -> None:
    table = at_choice()
    first, second = deck_of(table.sitting).spell[:2]
    assert table.see(laid(table, CARD_BACK, "s1")) == []
    assert table.see(laid(table, first.id, "s1", 20)) == [(c.ChooseSpell(seat="s1", spell=first.id), None)]
    assert table.game.phase == "choose", "one still lies face down"
    taken = table.see(laid(table, second.name, "s2", 30))
    assert taken == [(c.ChooseSpell(seat="s2", spell=second.id), None), (c.Reveal(), None)]
    shown = [spell_of(table.sitting, seat) for seat in ("s1", "s2")]
    assert [spell.symbols if spell else () for spell in shown] == [first.symbols, second.symbols]
    assert table.see(laid(table, first.id, "s2", 40)) == [], "a card that comes later changes nothing"


@rule("TADA-10", "breach")
def test_the_same_card_before_two_seats_is_not_revealed() -> None:
    table = at_choice()
    spell = deck_of(table.sitting).spell[0]
    table.see(laid(table, spell.id, "s1"))
    *_, (command, refused) = table.see(laid(table, spell.id, "s2", 20))
    assert command == c.Reveal()
    assert refused is not None
    assert refused.rule == "TADA-10"


def test_what_two_spells_have_in_common_is_left_to_people() -> None:
    table = at_choice()
    one, other = deck_of(table.sitting).spell[:2]
    [(asked, _)] = table.see(laid(table, None, "s1", maybe=((one.id, 0.6), (other.id, 0.2))))
    assert isinstance(asked, Propose)
    assert asked.command == c.ChooseSpell(seat="s1", spell=one.id)
    assert asked.reading == f"Ann may have revealed {one.name} or {other.name}"
    assert asked.evidence == ("rest:cam/10",)
    assert table.game.chosen == {}


def test_a_card_of_no_place_is_nobodys_where_hands_are_not_known() -> None:
    table = at_choice()
    spell = deck_of(table.sitting).spell[0]
    assert table.see(laid(table, spell.id)) == []
    assert table.see(laid(table, spell.id, "s9")) == []
    assert table.see(laid(table, "no card of this deck", "s1")) == []


@rule("TADA-20", "ok")
def test_a_spell_that_was_put_on_the_discards_is_asked_when_it_comes_again() -> None:
    table = at_choice()
    first, second = deck_of(table.sitting).spell[:2]
    table.see(laid(table, first.id, "s1"))
    table.see(laid(table, second.id, "s2", 20))
    table.go()
    table.finish(1, 5000)
    table.end()
    table.resolve()
    assert second.id in table.game.discard, "Ben was still casting: his spell is put away"
    table.do(c.Deal())
    table.see(laid(table, deck_of(table.sitting).feat[1].id, ms=table.now_ms + 10))
    [(asked, _)] = table.see(laid(table, second.id, "s2", table.now_ms + 20))
    assert isinstance(asked, Propose)
    assert asked.reading == f"Ben may have revealed {second.name}, though it was put on the discards"
    assert asked.confidence <= 0.5
    table.do(asked.command)
    table.see(laid(table, deck_of(table.sitting).spell[2].id, "s1", table.now_ms + 30))
    table.do(c.Reveal())
    table.go()
    table.finish(1, 5000)
    table.end()
    table.resolve()
    assert table.game.discard == (second.id,), (
        "the discards were shuffled back in, it alone was put away since"
    )


def test_where_the_companion_deals_only_a_card_in_hand_counts_and_the_hand_tells_whose_it_is() -> None:
    table = TadaTable(2).deal_to_choice()
    mine, foreign = table.game.hands["s2"][0], table.game.deck[0]
    assert table.see(laid(table, foreign, "s1")) == []
    assert table.see(laid(table, mine, ms=20)) == [(c.ChooseSpell(seat="s2", spell=mine), None)]
