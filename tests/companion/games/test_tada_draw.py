"""Draw, feat, choice and reveal: hands, piles, secrets, and the order of the steps."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tada_table import NAMES, TadaTable, small_deck

from companion.core import command as k
from companion.core.command import Command
from companion.core.ruling import Verdict
from companion.games.tada import commands as c
from companion.games.tada import events as e

rule = pytest.mark.rule


@rule("TADA-6", "ok")
def test_every_hand_is_filled_to_two_and_a_kept_card_stays() -> None:
    table = TadaTable(3)
    table.do(c.Deal())
    first = dict(table.game.hands)
    assert [len(hand) for hand in first.values()] == [2, 2, 2]
    assert table.last("TADA-6").because == "Every hand is filled to two spells (6 drawn)."
    table.do(c.RevealFeat())
    table.to_ready().go().finish(1, 5000)
    table.end().resolve()
    table.do(c.Deal())
    for seat, hand in table.game.hands.items():
        assert hand[0] == first[seat][1], "the unused spell is kept"
        assert len(hand) == 2
    assert "3 drawn" in table.last("TADA-6").because


@rule("TADA-6", "breach")
@pytest.mark.parametrize("steps", [[c.Deal()], [c.Deal(), c.RevealFeat()]])
def test_nobody_draws_twice_in_a_round(steps: list[Command]) -> None:
    table = TadaTable(2)
    for step in steps:
        table.do(step)
    table.no(c.Deal(), "TADA-6")
    assert [len(hand) for hand in table.game.hands.values()] == [2, 2]


@rule("TADA-7", "ok")
def test_discards_are_shuffled_back_in_when_a_card_is_needed_and_none_is_left() -> None:
    table = TadaTable(2, deck=small_deck(6, 3))
    while not table.game.discard or table.game.deck:
        table.round_won_by(1)
    lying = set(table.game.discard)
    table.do(c.Deal())
    assert "shuffled back in" in table.last("TADA-7").because
    drawn = {card for hand in table.game.hands.values() for card in hand}
    assert drawn & lying
    assert not table.game.discard


@rule("TADA-7", "ok")
def test_who_finds_no_card_plays_on_with_what_is_held() -> None:
    table = TadaTable(3, deck=small_deck(5, 1))
    table.do(c.Deal())
    assert [len(table.game.hands[seat]) for seat in ("s1", "s2", "s3")] == [2, 2, 1]
    assert (
        table.last("TADA-7").because == "No card is left to fill the hand of Cid: play on with what is held."
    )
    table.do(c.RevealFeat())
    table.to_ready().go()
    assert len(table.game.casters) == 3, "a hand of one card is enough to cast"


@rule("TADA-7", "ok")
def test_who_holds_no_card_at_all_sits_the_round_out() -> None:
    table = TadaTable(3, deck=small_deck(4, 1)).to_cast()
    assert set(table.game.casters) == {"s1", "s2"}
    table.finish(1, 5000)
    table.end()
    assert table.last("TADA-19").because.startswith("The cast is over")
    assert table.resolve().game.part == 2


@rule("TADA-7", "ok")
def test_the_game_ends_when_no_card_is_left_for_anybody() -> None:
    table = TadaTable(1, deck=small_deck(2, 1))
    table.round_won_by(1).round_won_by(1)
    table.do(c.Deal())
    assert table.game.phase == "over"
    assert table.last("TADA-7").because == "No card is left for anybody: the game ends."
    assert table.view("public").headline == "The game is over; nobody cast six spells."
    table.do(k.Undo())
    assert table.game.phase == "draw"


@rule("TADA-8", "ok")
def test_one_feat_is_turned_up_and_said_to_all() -> None:
    table = TadaTable(2)
    table.do(c.Deal())
    facts = table.do(c.RevealFeat(feat="stargazer"))
    assert isinstance(facts[0], e.FeatRevealed)
    assert table.last("TADA-8").because == "Stargazer binds everyone from GO to the end of the cast."
    assert table.cues[-1].target == "all"
    assert "Look at the ceiling while your dice roll." in table.cues[-1].text
    assert "Stargazer: Look at the ceiling" in table.answer(1, "feat")


@rule("TADA-8", "breach")
def test_a_feat_that_is_not_in_the_deck_cannot_be_turned_up() -> None:
    table = TadaTable(2)
    table.do(c.Deal())
    table.no(c.RevealFeat(feat="juggle three chickens"), "TADA-8")


@rule("TADA-8", "ok")
def test_each_feat_lasts_one_round_and_all_come_before_one_comes_again() -> None:
    table = TadaTable(2, deck=small_deck(20, 3))
    seen = []
    for _ in range(6):
        table.deal_to_choice()
        seen.append(table.game.feat)
        table.to_ready().go()
        table.do(c.EnterOrder(order=(("s2",),)), 10)
        table.resolve()
        assert table.game.feat == "" or table.game.phase == "over"
        if table.game.phase == "over":
            break
    assert len(set(seen[:3])) == 3
    assert len(set(seen[3:6])) == 3


@rule("TADA-26", "house")
def test_a_feat_that_somebody_cannot_do_is_replaced_before_spells_are_chosen() -> None:
    table = TadaTable(2, replace_feat=True).deal_to_choice()
    first = table.game.feat
    assert table.action("replace-feat") is not None
    table.do(c.ReplaceFeat(why="Ben cannot see the ceiling"))
    assert table.game.feat != first
    assert first in table.game.feat_discard
    assert table.last("TADA-26").verdict is Verdict.OK
    table.do(c.ChooseSpell(seat="s1", spell=table.game.hands["s1"][0]))
    table.no(c.ReplaceFeat(), "TADA-26")


@rule("TADA-26", "house")
def test_with_the_house_rule_off_a_feat_stays() -> None:
    table = TadaTable(2, replace_feat=False).deal_to_choice()
    assert table.action("replace-feat") is None
    table.no(c.ReplaceFeat(), "TADA-26")


@rule("TADA-26", "ok")
@pytest.mark.parametrize("seed", range(6))
def test_a_feat_is_replaced_by_another_one_also_when_only_discards_are_left(seed: int) -> None:
    table = TadaTable(2, deck=small_deck(20, 2), seed=seed)
    table.round_won_by(1)
    table.deal_to_choice()
    second = table.game.feat
    assert table.game.feats == ()
    table.do(c.ReplaceFeat())
    assert table.game.feat != second
    table.do(c.ReplaceFeat())
    assert table.game.feat == second


@rule("TADA-26", "ok")
def test_with_cards_on_the_table_people_name_the_feat_that_lies_there() -> None:
    table = TadaTable(2, dealing="table")
    table.do(c.Deal())
    for command in (c.RevealFeat(feat="no-thumbs"), c.ReplaceFeat(feat="stargazer")):
        action = table.view().primary if isinstance(command, c.RevealFeat) else table.action("replace-feat")
        assert action is not None
        assert type(action.command) is type(command)
        assert command.feat in {choice.value for choice in action.fields[0].choices}
        table.do(command)
        assert table.game.feat == command.feat


@rule("TADA-26", "breach")
def test_the_only_feat_cannot_be_replaced() -> None:
    table = TadaTable(2, deck=small_deck(9, 1)).deal_to_choice()
    assert "no other feat" in table.no(c.ReplaceFeat(), "TADA-26").because
    table.no(c.ReplaceFeat(feat=table.game.feat), "TADA-26")


@rule("TADA-10", "ok")
def test_each_chooses_one_of_two_in_secret_and_all_are_revealed_and_named_with_their_effects() -> None:
    table = TadaTable(3, dealing="table")
    table.do(c.Deal())
    table.do(c.RevealFeat())
    spells = {"s1": "penguin-butler", "s2": "jelly-knees", "s3": "snow-globe-escaped"}
    for seat, spell in spells.items():
        table.do(c.ChooseSpell(seat=seat, spell=spell), actor=table.by(seat))
    assert all("chosen, in secret" in ruling.because for ruling in table.rulings("TADA-10"))
    table.cues.clear()
    table.do(c.Reveal())
    said = " ".join(cue.text for cue in table.cues)
    assert "Ann casts Penguin Butler: burst, burst, wand, wand, arrow. Its effect: Bow your head" in said
    assert "Ben casts Jelly Knees" in said
    assert {seat: caster.spell for seat, caster in table.game.casters.items()} == spells


@rule("TADA-10", "ok")
def test_a_choice_may_be_changed_until_all_are_revealed() -> None:
    table = TadaTable(2).deal_to_choice()
    first, second = table.game.hands["s1"]
    table.do(c.ChooseSpell(seat="s1", spell=first), actor=table.by(1))
    table.do(c.ChooseSpell(seat="s1", spell=second), actor=table.by(1))
    table.do(c.ChooseSpell(seat="s2", spell=table.game.hands["s2"][0]))
    table.do(c.Reveal())
    assert table.game.casters["s1"].spell == second


@rule("TADA-10", "breach")
@pytest.mark.parametrize("card", ["another hand's", "no card at all"])
def test_only_a_card_in_hand_may_be_chosen(card: str) -> None:
    table = TadaTable(2).deal_to_choice()
    spell = table.game.hands["s2"][0] if card == "another hand's" else "fireball"
    because = table.no(c.ChooseSpell(seat="s1", spell=spell), "TADA-10").because
    assert spell not in because, "a refusal tells nobody what others hold"


@rule("TADA-10", "breach")
def test_nothing_is_revealed_before_everyone_has_chosen() -> None:
    table = TadaTable(3).deal_to_choice()
    for seat in ("s1", "s3"):
        table.do(c.ChooseSpell(seat=seat, spell=table.game.hands[seat][0]))
    assert table.no(c.Reveal(), "TADA-10").because == "Not everyone has chosen: Ben."


@rule("TADA-10", "breach")
def test_no_seat_chooses_for_another() -> None:
    table = TadaTable(2).deal_to_choice()
    spell = table.game.hands["s2"][0]
    table.no(c.ChooseSpell(seat="s2", spell=spell), "TABLE-1", actor=table.by(1))
    assert "s2" not in table.game.chosen


@rule("TADA-10", "breach")
def test_with_cards_on_the_table_no_card_is_cast_by_two_or_again_after_it_was_scored() -> None:
    table = TadaTable(2, dealing="table")
    table.do(c.Deal())
    table.do(c.RevealFeat())
    table.do(c.ChooseSpell(seat="s1", spell="jelly-knees"))
    table.do(c.ChooseSpell(seat="s2", spell="jelly-knees"))  # a refusal here would tell what Ann has chosen
    assert "Ann and Ben named the same card" in table.no(c.Reveal(), "TADA-10").because
    assert "Ann and Ben named the same card" in table.view().notices[0]
    assert table.view(2).notices == table.view("public").notices == ()
    assert table.view().primary is None
    table.do(c.ChooseSpell(seat="s2", spell="penguin-butler"))
    table.do(c.Reveal())
    table.go()
    table.do(c.EnterOrder(order=(("s1",),)), 10)
    table.resolve()
    table.do(c.Deal())
    table.do(c.RevealFeat())
    table.no(c.ChooseSpell(seat="s2", spell="jelly-knees"), "TADA-10")
    table.do(c.ChooseSpell(seat="s2", spell="penguin-butler"))


LATER: list[tuple[str, Command]] = [
    ("draw", c.RevealFeat()), ("draw", c.Reveal()), ("draw", c.CallGo()), ("draw", c.Slam(seat="s1")),
    ("feat", c.Reveal()), ("feat", c.ChooseSpell(seat="s1", spell="jelly-knees")), ("choose", c.CallGo()),
    ("choose", c.LockDie(seat="s1", slot=0, symbol="arrow")), ("choose", c.EndCast()), ("ready", c.EndCast()),
    ("ready", c.LockDie(seat="s1", slot=0, symbol="arrow")), ("ready", c.Resolve()), ("cast", c.Resolve()),
    ("cast", c.Reveal()), ("cast", c.Deal()), ("cast", c.ChooseTarget(seat="s1", target="s2")),
    ("resolve", c.LockDie(seat="s1", slot=0, symbol="arrow")), ("resolve", c.CallGo()), ("resolve", c.EndCast()),
]  # fmt: skip


@rule("TADA-5", "breach")
@pytest.mark.parametrize(
    ("phase", "command"), LATER, ids=lambda x: x if isinstance(x, str) else type(x).__name__
)
def test_nothing_of_another_step_may_happen(phase: str, command: Any) -> None:
    table = at(phase)
    assert table.game.phase == phase
    assert table.no(command, "TADA-5").verdict is Verdict.BREACH


@rule("TADA-5", "ok")
def test_a_round_runs_draw_feat_choose_cast_resolve() -> None:
    table, phases = TadaTable(2), []
    for step in ("draw", "feat", "choose", "ready", "cast", "resolve"):
        table = at(step)
        phases.append(table.game.phase)
    table.do(c.Resolve())
    assert phases == ["draw", "feat", "choose", "ready", "cast", "resolve"]
    assert (table.game.phase, table.game.part) == ("draw", 2) or table.game.phase == "effects"
    assert not [r for r in table.rulings("TADA-5") if r.verdict is not Verdict.OK]


def at(phase: str) -> TadaTable:
    """A table of two at the beginning of a step of its first round."""
    table = TadaTable(2)
    if phase == "draw":
        return table
    table.do(c.Deal())
    if phase == "feat":
        return table
    table.do(c.RevealFeat())
    if phase == "choose":
        return table
    table.to_ready()
    if phase == "ready":
        return table
    table.go()
    if phase == "cast":
        return table
    table.finish(1, 5000)
    return table.end()


@pytest.mark.parametrize("n", range(1, 7))
def test_decks_last_for_a_whole_game_of_any_size(n: int) -> None:
    table = TadaTable(n)
    while table.game.phase != "over":
        table.round_won_by(1 + table.game.part % n)
    held = [s for cards in (*table.game.hands.values(), *table.game.scored.values()) for s in cards]
    assert Counter([*table.game.deck, *table.game.discard, *held]).most_common(1)[0][1] == 1
    assert table.game.winners
    assert len(NAMES) == 6
