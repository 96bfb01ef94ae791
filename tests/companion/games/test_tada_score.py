"""Scoring, effects and their victims, and players who come and go in the middle of everything."""

from __future__ import annotations

from collections import Counter

import pytest
from tada_table import TadaTable, small_deck

from companion.core import command as k
from companion.core.ruling import Verdict
from companion.core.score import standings
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.model import deck_of

rule = pytest.mark.rule
EFFECTS = ("penguin-butler", "echo-echo", "applause-trap")
PLAIN = ("jelly-knees", "snow-globe-escaped", "midnight-kazoo")


@rule("TADA-20", "ok")
def test_successes_are_scored_failures_discarded_and_unused_spells_kept() -> None:
    table = TadaTable(4).to_cast()
    cast = {seat: caster.spell for seat, caster in table.game.casters.items()}
    kept = {seat: next(s for s in hand if s != cast[seat]) for seat, hand in table.game.hands.items()}
    table.finish(1, 5000)
    table.do(c.FlagBreach(seat="s3"))
    table.do(c.GiveUp(seat="s4"))
    table.do(c.EnterOrder(order=(("s1",),)), 6000)
    table.do(c.Resolve())
    assert table.game.scored == {"s1": (cast["s1"],), "s2": (), "s3": (), "s4": ()}
    assert sorted(table.game.discard) == sorted(cast[s] for s in ("s2", "s3", "s4"))
    assert {seat: hand[0] for seat, hand in table.game.hands.items()} == kept
    said = [r.because for r in table.rulings("TADA-20")]
    assert said[0] == "Ann's spell counts: 1 of 6."
    assert said[1:] == [f"{name}'s spell goes to the discards." for name in ("Ben", "Cid", "Dot")]


@rule("TADA-20", "breach")
def test_a_round_is_scored_once() -> None:
    table = TadaTable(2, dealing="table").to_named(s1=EFFECTS[0], s2=PLAIN[0]).go()
    table.finish(1, 5000)
    table.end().do(c.Resolve())
    assert table.game.phase == "effects"
    table.no(c.Resolve(), "TADA-20")
    assert len(table.game.scored["s1"]) == 1


def test_places_of_a_score_are_shared_and_the_next_ones_skipped() -> None:
    rows = standings({"s1": 2, "s2": 4, "s3": 4, "s4": 1})
    assert [(r.seat, r.place, r.shared) for r in rows] == [
        ("s2", 1, True), ("s3", 1, True), ("s1", 3, False), ("s4", 4, False),
    ]  # fmt: skip
    rows = standings({"s1": 6, "s2": 6, "s3": 2}, ("s2",))
    assert [(r.seat, r.score, r.place) for r in rows] == [("s2", 6, 1), ("s1", 6, 2), ("s3", 2, 3)]
    assert standings({}) == ()


# Effects


def aimed(n: int = 3, **named: str) -> TadaTable:
    """A round in which everyone casts what is named, and all finish in order of their seats."""
    table = TadaTable(n, dealing="table").to_named(**named).go()
    for who in range(1, n + 1):
        table.finish(who, 5000 + 100 * who)
    table.end().do(c.Resolve())
    return table


@rule("TADA-21", "ok")
def test_the_caster_of_a_successful_effect_chooses_one_other_player() -> None:
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    assert table.game.aiming == ("s1",)
    choice = table.action("aim-s1", 1)
    assert choice is not None
    assert [x.value for x in choice.fields[0].choices] == ["s2", "s3", ""]
    table.do(c.ChooseTarget(seat="s1", target="s3"), actor=table.by(1))
    assert table.cues[-1].text.startswith(
        "Ann gives Cid an effect for the next round: Bow your head to the caster"
    )
    assert table.last("TADA-21").because == "Ann aims at Cid, who suffers it in the next round."
    assert (table.game.phase, table.game.part) == ("draw", 2)


@rule("TADA-21", "breach")
@pytest.mark.parametrize("target", ["s1", "s9"])
def test_nobody_aims_at_themselves_or_at_nobody_who_is_there(target: str) -> None:
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    table.no(c.ChooseTarget(seat="s1", target=target), "TADA-21")


@rule("TADA-21", "breach")
def test_a_failed_effect_hits_nobody() -> None:
    table = aimed(3, s1=PLAIN[0], s2=EFFECTS[0], s3=PLAIN[1])
    assert table.game.phase == "draw"
    assert table.rulings("TADA-21") == []
    table.no(c.ChooseTarget(seat="s2", target="s1"), "TADA-5")


@rule("TADA-21", "ok")
def test_several_effects_resolve_in_finishing_order_and_a_dead_heat_by_seat() -> None:
    table = TadaTable(6, dealing="table")
    table.to_named(s1=EFFECTS[0], s2=EFFECTS[1], s3=EFFECTS[2], s4=PLAIN[0], s5=PLAIN[1], s6=PLAIN[2]).go()
    table.finish(3, 5000)
    table.finish(2, 6000, 20)
    table.finish(1, 6010, 20)
    table.end().do(c.Resolve())
    assert table.game.aiming == ("s3", "s1", "s2")
    table.no(c.ChooseTarget(seat="s1", target="s2"), "TADA-21")
    for seat in ("s3", "s1", "s2"):
        table.do(c.ChooseTarget(seat=seat, target="s4"))
    assert [h.by for h in table.game.hexes] == ["s3", "s1", "s2"]


@rule("TADA-21", "ok")
def test_a_caster_may_spare_everyone() -> None:
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    table.do(c.ChooseTarget(seat="s1", target=""))
    assert table.last("TADA-21").because == "Ann spares everyone."
    assert table.game.hexes == ()


@rule("TADA-21", "ok")
def test_alone_there_is_nobody_to_aim_at() -> None:
    table = TadaTable(1, dealing="table").to_named(s1=EFFECTS[0]).go()
    table.finish(1, 5000)
    table.end().do(c.Resolve())
    assert table.game.phase == "draw"


@rule("TADA-22", "ok")
def test_effects_last_for_the_next_round_only_and_stack() -> None:
    table = (
        TadaTable(4, dealing="table").to_named(s1=EFFECTS[0], s2=EFFECTS[1], s3=PLAIN[0], s4=PLAIN[1]).go()
    )
    table.finish(1, 5000)
    table.finish(2, 6000)
    table.end().resolve("s3", "s3")
    assert table.last("TADA-22").because == "Cid is bound in round 2 only."
    table.deal_to_choice()
    bound = table.answer(3, "feat")
    assert "Effect of Ann's Penguin Butler: Bow your head" in bound
    assert "Effect of Ben's Echo, Echo" in bound
    assert "Effect" not in table.answer(4, "feat")
    for seat, spell in (("s1", PLAIN[2]), ("s2", "ink-that-giggles"), ("s3", PLAIN[0]), ("s4", PLAIN[1])):
        table.do(c.ChooseSpell(seat=seat, spell=spell))
    table.do(c.Reveal())
    table.go().do(c.EnterOrder(order=(("s4",),)), 10)
    table.resolve()
    table.deal_to_choice()
    assert "Effect" not in table.answer(3, "feat")


@rule("TADA-26", "ok")
@rule("TADA-22", "ok")
def test_an_effect_that_somebody_cannot_do_is_waived_once() -> None:
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    table.do(c.ChooseTarget(seat="s1", target="s2"))
    table.deal_to_choice()
    waive = table.action(f"waive-s2-{EFFECTS[0]}")
    assert waive is not None
    table.do(waive.command)
    assert "Effect" not in table.answer(2, "feat")
    table.no(waive.command, "TADA-22")
    assert table.action(f"waive-s2-{EFFECTS[0]}") is None


# Coming and going


def cards(table: TadaTable) -> Counter[str]:
    game = table.game
    held = [card for hand in (*game.hands.values(), *game.scored.values()) for card in hand]
    return Counter([*game.deck, *game.discard, *held])


@rule("TADA-24", "ok")
@pytest.mark.parametrize(
    "phase", ["draw", "feat", "choose", "ready", "countdown", "cast", "resolve", "effects"]
)
def test_who_leaves_in_whatever_step_takes_no_card_along_and_the_game_goes_on(phase: str) -> None:
    table = TadaTable(4, seed=3)
    table.round_won_by(2)
    steps = iter(("draw", "feat", "choose", "ready", "countdown", "cast", "resolve", "effects"))
    while next(steps) != phase:
        match table.game.phase:
            case "draw":
                table.do(c.Deal())
            case "feat":
                table.do(c.RevealFeat())
            case "choose":
                table.to_ready()
            case "ready":
                table.do(c.ReadyAll())
                table.do(c.CallGo(), table.now_ms + 100)
            case "countdown":
                table.pass_time(table.now_ms + 3100)
            case "cast":
                table.finish(2, table.now_ms + 5000)
                table.do(c.EnterOrder(order=(("s2",), ("s1",))))
            case "resolve":
                table.do(c.Resolve())
    table.do(k.Leave(seat="s2"))
    assert table.last("TADA-24").because == "Ben leaves; the cards go to the discards."
    for salt in range(80):
        command = GAME.policy(table.sitting, salt)
        table.order(command or k.Reject(proposal=-1), table.now_ms + 700)
        assert cards(table) == Counter(s.id for s in deck_of(table.sitting).spell)
    assert table.game.part > 2
    assert table.game.scored["s2"] == ()
    table.no(c.ChooseSpell(seat="s2", spell="jelly-knees"), "TABLE-3")


@rule("TADA-24", "ok")
def test_places_count_who_is_in_the_round_at_go() -> None:
    table = TadaTable(4).to_ready()
    table.do(k.Leave(seat="s4"))
    table.go()
    assert table.game.players == 3
    table.finish(1, 5000)
    table.finish(2, 6000)
    assert table.places() == {"s1": 1, "s2": 0}


@rule("TADA-24", "ok")
def test_places_count_also_who_leaves_or_fails_after_go() -> None:
    table = TadaTable(4).to_cast()
    table.do(k.Leave(seat="s4"))
    table.do(c.FlagBreach(seat="s3"))
    table.finish(1, 5000)
    table.finish(2, 6000)
    assert table.places() == {"s1": 1, "s2": 2}
    table.do(c.EndCast())
    table.resolve()
    assert "4 players cast for 2 places" in table.last("TADA-18").because


@rule("TADA-24", "ok")
def test_who_leaves_with_a_place_makes_room() -> None:
    table = TadaTable(3, dead_heat="referee").to_cast()
    table.finish(1, 5000, 20)
    table.finish(2, 5010, 20)
    table.end()
    table.do(c.SettleHeat(of="place", winners=("s1",)))
    table.do(k.Leave(seat="s1"))
    assert table.won() == ("s2",)


@rule("TADA-24", "ok")
def test_who_sits_down_in_mid_round_starts_with_nothing_at_the_next_draw() -> None:
    table = TadaTable(3).deal_to_choice()
    table.do(k.Join(name="Gus"))
    assert table.last("TADA-24").because == "Gus sits down and draws at the next draw."
    assert "must" not in table.view(4).headline
    table.no(c.ChooseSpell(seat="s4", spell=table.game.deck[0]), "TADA-24")
    table.to_ready().go()
    table.no(c.Slam(seat="s4"), "TADA-24")
    table.finish(1, 5000)
    table.end().resolve()
    table.do(c.Deal())
    assert len(table.game.hands["s4"]) == 2
    assert table.game.scored["s4"] == ()


@rule("TADA-24", "ok")
def test_when_all_who_hold_cards_leave_the_newcomer_is_not_stuck() -> None:
    table = TadaTable(2).deal_to_choice()
    feat = table.game.feat
    table.do(k.Join(name="Gus"))
    table.do(k.Leave(seat="s1"))
    table.do(k.Leave(seat="s2"))
    assert table.game.phase == "draw"
    assert feat in table.game.feat_discard
    table.round_won_by(3)
    assert len(table.game.scored["s3"]) == 1


@rule("TADA-24", "ok")
@pytest.mark.parametrize("when", ["ready", "countdown", "cast"])
def test_when_all_casters_leave_the_newcomer_is_not_stuck(when: str) -> None:
    table = TadaTable(2).to_ready()
    table.do(k.Join(name="Gus"))
    if when != "ready":
        table.do(c.ReadyAll())
        table.do(c.CallGo(), 1000)
    if when == "cast":
        table.pass_time(5000)
    table.do(k.Leave(seat="s1"))
    table.do(k.Leave(seat="s2"))
    for salt in range(30):
        table.order(GAME.policy(table.sitting, salt) or k.Reject(proposal=-1), table.now_ms + 900)
    assert table.game.scored["s3"]


@rule("TADA-24", "ok")
def test_when_the_last_one_leaves_the_game_is_over() -> None:
    table = TadaTable(2, round_clock_s=60).to_cast()
    table.do(k.Leave(seat="s1"))
    table.do(k.Leave(seat="s2"))
    assert table.game.phase == "over"
    assert GAME.deadlines(table.sitting) == ()


@rule("TADA-24", "ok")
def test_who_goes_home_after_the_win_has_still_won() -> None:
    table = TadaTable(2).score(s1=6)
    table.do(k.Leave(seat="s1"))
    [first, _] = GAME.standings(table.sitting)
    assert (first.seat, first.score, first.place) == ("s1", 6, 1)


@rule("TADA-24", "ok")
def test_who_aims_and_leaves_hits_nobody_and_who_is_aimed_at_and_leaves_is_free() -> None:
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    table.do(k.Leave(seat="s1"))
    assert (table.game.phase, table.game.hexes) == ("draw", ())
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    table.do(c.ChooseTarget(seat="s1", target="s2"))
    table.do(k.Leave(seat="s2"))
    assert table.game.hexes == ()


@rule("TADA-24", "ok")
def test_casters_stand_in_the_order_of_their_seats_also_beyond_the_ninth() -> None:
    table = TadaTable(2)
    for number in range(9):
        table.do(k.Join(name=f"P{number}"))
        if number < 8:
            table.do(k.Leave(seat=f"s{3 + number}"))
    table.to_ready()
    assert list(table.game.casters) == ["s1", "s2", "s11"]


def test_a_change_from_the_deck_file_to_cards_on_the_table_and_back_doubles_no_card() -> None:
    table = TadaTable(2, deck=small_deck(9, 2))
    table.round_won_by(1)
    table.do(k.ChangeOption(option="dealing", value="table"))
    named = [s.id for s in deck_of(table.sitting).spell if s.id not in table.game.scored["s1"]][-2:]
    table.to_named(s1=named[0], s2=named[1]).go()
    table.finish(1, 5000)
    table.end().resolve()
    table.do(k.ChangeOption(option="dealing", value="companion"))
    table.do(c.Deal())
    held = [card for hand in (*table.game.hands.values(), *table.game.scored.values()) for card in hand]
    assert Counter([*held, *table.game.deck]).most_common(1)[0][1] == 1


def test_verdicts_of_a_whole_round_cite_known_rules_and_are_sentences() -> None:
    table = aimed(3, s1=EFFECTS[0], s2=PLAIN[0], s3=PLAIN[1])
    table.do(c.ChooseTarget(seat="s1", target="s2"))
    for ruling in table.rulings():
        assert ruling.rule.startswith("TADA-")
        assert ruling.because[0].isupper()
        assert ruling.because.endswith((".", "!"))
        assert ruling.verdict in set(Verdict)


def test_rulings_of_the_score_belong_to_the_round_that_was_scored() -> None:
    table = TadaTable(2).round_won_by(1)
    assert {shown.part for shown in table.sitting.rulings if shown.event == "RoundResolved"} == {1}


@rule("TADA-24", "ok")
def test_who_sits_down_wears_no_mark_that_another_wears() -> None:
    table = TadaTable(6)
    table.do(k.Leave(seat="s4"))
    table.do(k.Join(name="Gus"))
    marks = [(seat.colour, seat.shape) for seat in table.sitting.playing()]
    assert len(set(marks)) == 6
