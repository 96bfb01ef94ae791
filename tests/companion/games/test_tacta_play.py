"""A game of Tacta by its rules: colours, ends, turns, placements, what happens to wrong cards, scoring, modes."""

from __future__ import annotations

import pytest
from tacta_table import CLOCK, COLOURS, SENSOR, TactaTable

from companion.core import command as k
from companion.core.clock import Stamp
from companion.core.geometry import Pose
from companion.core.ruling import Verdict
from companion.core.seat import Actor, Role
from companion.games.tacta import commands as c
from companion.games.tacta.model import dots_by_colour, ends_of, free_place

rule = pytest.mark.rule


# set-up


@rule("TACTA-23", "ok")
@rule("TACTA-1", "ok")
def test_each_takes_a_colour_and_holds_eighteen_cards() -> None:
    table = TactaTable(3).begun()
    assert {seat: len(deck) for seat, deck in table.game.decks.items()} == {"s1": 18, "s2": 18, "s3": 18}
    assert all(card.startswith("green:") for card in table.game.decks["s2"])


@rule("TACTA-1", "breach")
def test_there_are_no_other_decks() -> None:
    found = TactaTable().give(c.TakeColour(seat="s1", colour="mauve"))
    assert found is not None and found.rule == "TACTA-1"


@rule("TACTA-23", "breach")
def test_a_colour_is_taken_by_one_and_nobody_begins_without() -> None:
    table = TactaTable().do(c.TakeColour(seat="s1", colour="red"))
    for command in (c.TakeColour(seat="s2", colour="red"), c.TakeColour(seat="s1", colour="red"), c.Begin()):
        found = table.give(command)
        assert found is not None and found.rule == "TACTA-23"
    seat = Actor(Role.SEAT, seat="s2")
    table.do(c.TakeColour(seat="s2", colour="blue"), seat)


# the ends and who starts


@rule("TACTA-5", "ok")
@pytest.mark.parametrize(
    ("shown", "starts"),
    [
        ((("circle-3", "circle-4"), ("square-2", "square-6")), "s2"),
        ((("circle-2", "circle-3"), ("square-2", "square-6")), "s1"),
    ],
)
def test_the_lowest_outermost_card_starts_then_the_lowest_sum(
    shown: tuple[tuple[str, str], ...], starts: str
) -> None:
    table = TactaTable().playing(*shown)
    assert (table.game.phase, table.game.turn) == ("play", starts)
    assert table.rulings("TACTA-5")[0].seat == starts


def test_a_tie_in_both_is_decided_by_lot() -> None:
    turns = {
        TactaTable(seed=seed).playing(("circle-2", "circle-3"), ("square-2", "square-3")).game.turn
        for seed in range(1, 12)
    }
    assert turns == {"s1", "s2"}


@rule("TACTA-5", "breach")
def test_who_is_not_on_turn_takes_the_card_back() -> None:
    table = TactaTable().playing()
    found = table.give(c.Lay(seat="s2", card="square-5", pose=Pose(100, 100), u_mm=0.2), SENSOR)
    assert found is not None and found.rule == "TACTA-5"
    assert len(table.game.lying) == 1


@rule("TACTA-4", "ok")
@rule("TACTA-4", "breach")
def test_only_the_outermost_cards_are_shown_and_played() -> None:
    table = TactaTable().begun()
    for cards in (
        ("circle-1",),
        ("circle-1", "circle-2", "circle-3"),
        ("circle-1", "circle-1"),
        ("x", "circle-1"),
    ):
        found = table.give(c.ShowEnds(seat="s1", cards=cards))
        assert found is not None and found.rule == "TACTA-4"
    table.ends()
    found = table.give(c.Lay(seat="s1", card="circle-6"))
    assert found is not None and found.rule == "TACTA-4"
    found = table.give(c.Lay(seat="s1", card="green:circle-6"))
    assert found is not None and found.rule == "TACTA-4"
    assert table.lay("s1", "circle-1").card == "blue:circle-1"
    assert ends_of(table.table, "s1") == ("blue:circle-2",)


def test_a_single_last_card_is_both_ends() -> None:
    table = TactaTable(mode="limited_space").playing(
        ("circle-1", "circle-2"), ("circle-5", "circle-6"), measured=False
    )
    for card in range(1, 7):
        for seat in ("s1", "s2"):
            deck = table.game.decks[seat]
            if card == 6:
                assert ends_of(table.table, seat) == deck and len(deck) == 1
            ends = ends_of(table.table, seat)
            table.do(c.Lay(seat=seat, card=ends[0] if ends else deck[0]))
    assert table.game.phase == "scoring"


# placements


@rule("TACTA-6", "ok")
@rule("TACTA-7", "ok")
@rule("TACTA-8", "ok")
def test_a_right_card_lies_and_the_turn_goes_on() -> None:
    table = TactaTable(3).playing()
    card = table.lay("s1", "circle-1")
    assert card.judged.verdict is Verdict.OK and not card.is_apart
    assert table.game.turn == "s2"
    assert table.lay("s2", "square-5").judged.verdict is Verdict.OK
    assert table.game.turn == "s3"


@rule("TACTA-9", "ok")
def test_too_close_to_call_stands_until_the_table_rules() -> None:
    table = TactaTable().playing()
    card = table.lay("s1", "circle-1", off=2.1, u_mm=0.5)
    assert card.judged.verdict is Verdict.TOO_CLOSE and not card.is_illegal
    assert table.view().primary is not None
    table.do(c.RuleCard(n=card.n, is_legal=True, why="all agreed"))
    assert table.game.lying[-1].ruled == "legal"
    assert "all agreed" in table.rulings("TACTA-9")[-1].because
    found = table.give(c.RuleCard(n=card.n, is_legal=True))
    assert found is not None and found.rule == "TACTA-9"
    table.undo()
    assert table.game.lying[-1].ruled == ""


@rule("TACTA-10", "ok")
@rule("TACTA-10", "breach")
def test_a_bumped_card_goes_back_and_is_not_judged_again() -> None:
    table = TactaTable().playing()
    card = table.lay("s1", "circle-1")
    table.do(c.NoteBump(n=card.n, moved_mm=12.0), SENSOR)
    assert table.rulings("TACTA-10")[-1].verdict is Verdict.BREACH
    assert "12 mm" in table.rulings("TACTA-10")[-1].because
    assert table.game.lying[-1].pose == card.pose and table.game.lying[-1].judged == card.judged
    assert any(zone.id == "cards" for zone in table.view().zones)
    table.do(c.NoteRestored(n=card.n))
    assert table.rulings("TACTA-10")[-1].verdict is Verdict.OK
    found = table.give(c.NoteRestored(n=card.n))
    assert found is not None and found.rule == "TACTA-10"
    found = table.give(c.Lay(seat="s2", card="square-5", pose=Pose(1e9, 0.0), u_mm=0.2), SENSOR)
    assert found is not None and found.rule == "TACTA-10"


@rule("TACTA-11", "ok")
def test_laid_apart_with_a_legal_play_at_hand_is_noted_and_costs_nothing() -> None:
    table = TactaTable().playing()
    card = table.apart("s1", "circle-1", Pose(50.0, 50.0))
    assert (card.judged.verdict, card.judged.rule, card.is_apart) == (Verdict.OK, "TACTA-11", True)
    assert "legal placements were at hand" in card.judged.because
    assert table.lay("s2", "square-5", -1).judged.verdict is Verdict.OK


@rule("TACTA-11", "breach")
def test_where_the_house_says_so_an_overlooked_play_is_illegal() -> None:
    table = TactaTable(overlooked_play="illegal").playing()
    card = table.apart("s1", "circle-1", Pose(50.0, 50.0))
    assert (card.judged.verdict, card.judged.rule) == (Verdict.BREACH, "TACTA-11")
    table.do(c.RuleCard(n=card.n, is_legal=False))
    assert table.game.boxed == ("blue:circle-1",)


@rule("TACTA-11", "ok")
def test_without_known_ends_the_players_word_is_logged() -> None:
    table = TactaTable().playing()
    table.lay("s1", "circle-1")
    table.lay("s2", "square-5")
    card = table.apart("s1", "triangle-6", Pose(50.0, 50.0))
    assert card.judged.verdict is Verdict.OK and "player's word" in card.judged.because
    unmeasured = TactaTable().playing(measured=False)
    unmeasured.do(c.Lay(seat="s1", card="circle-1", no_play=True))
    assert unmeasured.game.lying[-1].is_apart and unmeasured.game.lying[-1].judged.rule == "TACTA-11"


@rule("TACTA-11", "ok")
@rule("TACTA-11", "breach")
def test_a_card_is_boxed_only_where_nothing_can_be_played_and_nothing_laid_apart() -> None:
    table = TactaTable().playing()
    found = table.give(c.BoxCard(seat="s1", card="circle-1"))
    assert found is not None and found.rule == "TACTA-11" and "legal play" in found.because
    tight = TactaTable(table_width_mm=100, table_height_mm=120).colours()
    tight.do(c.Begin(pose=Pose(18.0, 15.0))).ends()
    assert free_place(tight.table) is None
    if not tight.plays("s1", "circle-1") and not tight.plays("s1", "circle-2"):
        tight.do(c.BoxCard(seat="s1", card="circle-1"))
        assert tight.game.boxed == ("blue:circle-1",) and tight.game.turn == "s2"
    roomy = TactaTable().begun().ends()
    roomy.lay("s1", "circle-1")
    roomy.lay("s2", "square-5")
    found = roomy.give(c.BoxCard(seat="s1", card="circle-2"))
    assert found is not None and found.rule == "TACTA-11" and "room" in found.because


# wrong cards


@rule("TACTA-12", "ok")
@rule("TACTA-12", "breach")
def test_a_wrong_card_that_nothing_lies_on_leaves_the_game_and_the_turn_is_spent() -> None:
    table = TactaTable().playing()
    card = table.lay("s1", "circle-1", off=8.0)
    assert card.judged.verdict is Verdict.BREACH and card.is_illegal
    assert table.game.turn == "s2"
    table.do(c.RuleCard(n=card.n, is_legal=False))
    assert table.rulings("TACTA-12")[-1].verdict is Verdict.BREACH
    assert (len(table.game.lying), table.game.boxed, table.game.turn) == (1, ("blue:circle-1",), "s2")


@rule("TACTA-12", "house")
def test_with_replay_the_card_is_taken_back_until_the_next_one_lies() -> None:
    table = TactaTable(replay=True).playing()
    card = table.lay("s1", "circle-1", off=8.0)
    table.do(c.RuleCard(n=card.n, is_legal=False))
    assert "blue:circle-1" in table.game.decks["s1"] and table.game.turn == "s1"
    late = TactaTable(replay=True).playing()
    card = late.lay("s1", "circle-1", off=8.0)
    late.lay("s2", "square-5", -1)
    late.do(c.RuleCard(n=card.n, is_legal=False, is_covered=False))
    assert late.game.boxed == ("blue:circle-1",) and late.game.turn == "s1"


@rule("TACTA-13", "ok")
@rule("TACTA-13", "breach")
@pytest.mark.parametrize("re_exposed", [True, False])
def test_a_covered_wrong_card_stays_until_scoring_and_then_scores_nothing(re_exposed: bool) -> None:
    table = TactaTable(re_exposed=re_exposed).playing(("circle-6", "circle-2"), ("circle-1", "square-5"))
    first = table.lay("s2", "circle-1")
    table.do(c.ShowEnds(seat="s2", cards=("square-6", "square-5")))
    # laid square over the other's dot, joined to nothing
    dot = first.pose.apply((5.3, 44.45)) if first.pose else (0.0, 0.0)
    wrong = table.apart("s1", "circle-6", Pose(dot[0] - 31.0, dot[1] - 44.0, 11.0))
    assert wrong.judged.verdict is Verdict.BREACH
    before = dots_by_colour(table.table)
    table.do(c.RuleCard(n=wrong.n, is_legal=False, is_covered=True))
    assert table.rulings("TACTA-13")[-1].verdict is Verdict.BREACH
    assert len(table.game.lying) == 3
    assert before["blue"] == 0
    assert dots_by_colour(table.table)["green"] == (1 if re_exposed else 0)


# scoring


def played_out(table: TactaTable) -> TactaTable:
    """All cards laid by people's word."""
    while table.game.phase == "play":
        seat = table.game.turn
        ends = ends_of(table.table, seat)
        table.do(c.Lay(seat=seat, card=ends[0] if ends else table.game.decks[seat][0]))
    return table


@rule("TACTA-14", "ok")
@rule("TACTA-2", "ok")
def test_each_visible_dot_scores_and_a_tie_is_shared() -> None:
    table = played_out(TactaTable(3).playing(measured=False))
    found = table.give(c.EnterDots(colour="blue", dots=64))
    assert found is not None and found.rule == "TACTA-2"
    assert table.give(c.Score()) is not None
    for colour, dots in (("blue", 21), ("green", 30), ("orange", 30)):
        table.do(c.EnterDots(colour=colour, dots=dots))
    table.do(c.Score())
    assert (table.game.phase, table.game.winners) == ("over", ("s2", "s3"))
    assert [(s.seat, s.score, s.place, s.shared) for s in table.v.game.standings(table.table)] == [
        ("s2", 30, 1, True), ("s3", 30, 1, True), ("s1", 21, 3, False),
    ]  # fmt: skip


@rule("TACTA-14", "breach")
def test_nothing_is_scored_before_all_decks_are_played_out() -> None:
    table = TactaTable().playing()
    for command in (c.Score(), c.EnterDots(colour="blue", dots=3)):
        found = table.give(command)
        assert found is not None and found.rule == "TACTA-14"
    done = played_out(TactaTable().playing(measured=False))
    found = done.give(c.Score())
    assert found is not None and found.rule == "TACTA-14" and "blue, green" in found.because
    found = done.give(c.EnterDots(colour="red", dots=3))
    assert found is not None and found.rule == "TACTA-14"


def test_a_measured_table_counts_itself_and_people_may_correct_it() -> None:
    table = TactaTable(mode="limited_space").playing(("circle-1", "circle-2"), ("circle-5", "circle-6"))
    while table.game.phase == "play":
        command = table.v.game.policy(table.table, 5)
        assert command is not None
        table.do(command)
    counted = dots_by_colour(table.table)
    assert 0 < sum(counted.values()) <= 42
    table.do(c.EnterDots(colour="blue", dots=1)).do(c.Score())
    assert table.game.last == counted | {"blue": 1}


@rule("TACTA-16", "ok")
@rule("TACTA-16", "breach")
def test_a_match_goes_on_until_somebody_has_a_hundred() -> None:
    table = TactaTable(match=True)
    for part, dots in ((1, 40), (2, 40), (3, 20)):
        played_out(table.begun(measured=False).ends())
        found = table.give(c.NextRound())
        assert found is not None and found.rule == "TACTA-16"
        table.do(c.EnterDots(colour="blue", dots=dots)).do(c.EnterDots(colour="green", dots=10)).do(c.Score())
        assert table.game.part == part
        if part < 3:
            assert table.game.phase == "scored"
            table.do(c.NextRound())
    assert (table.game.phase, table.game.winners, table.game.totals) == (
        "over",
        ("s1",),
        {"s1": 100, "s2": 30},
    )


# other ways to play


@rule("TACTA-17", "ok")
@rule("TACTA-17", "breach")
def test_limited_space_is_three_rounds_of_one_suit_each() -> None:
    table = TactaTable(mode="limited_space")
    for suit in ("circle", "square", "triangle"):
        table.begun(measured=False)
        assert table.game.decks["s1"] == tuple(f"blue:{suit}-{value}" for value in range(1, 7))
        table.ends((f"{suit}-1", f"{suit}-2"), (f"{suit}-5", f"{suit}-6"))
        found = table.give(c.Lay(seat="s1", card=f"{'square' if suit == 'circle' else 'circle'}-1"))
        assert found is not None, "TACTA-17: a card of another suit is not in the deck"
        played_out(table)
        table.do(c.EnterDots(colour="blue", dots=10)).do(c.EnterDots(colour="green", dots=7)).do(c.Score())
        if suit != "triangle":
            table.do(c.NextRound())
    assert (table.game.phase, table.game.totals) == ("over", {"s1": 30, "s2": 21})


@rule("TACTA-18", "ok")
@rule("TACTA-18", "breach")
def test_quick_leaves_one_suit_out_for_everyone() -> None:
    table = TactaTable(mode="quick", left_out="square").begun()
    assert {len(deck) for deck in table.game.decks.values()} == {12}
    assert not any("square" in card for deck in table.game.decks.values() for card in deck)
    found = table.give(c.ShowEnds(seat="s1", cards=("square-1", "circle-1")))
    assert found is not None and found.rule == "TACTA-4", "TACTA-18: the suit is not in the deck"


@rule("TACTA-19", "ok")
@rule("TACTA-19", "breach")
def test_partners_sit_opposite_and_share_a_colour_in_halves() -> None:
    table = TactaTable(4, mode="teams").begun()
    colours, decks = table.game.colours, table.game.decks
    assert colours == {"s1": "blue", "s3": "blue", "s2": "green", "s4": "green"}
    assert set(table.game.counts.values()) == {9}
    assert decks["s1"] == decks["s3"] and len(decks["s1"]) == 18, "which half is whose nobody knows"
    odd = TactaTable(3, mode="teams")
    for number in (1, 2, 3):
        odd.do(c.TakeColour(seat=f"s{number}", colour=COLOURS[number]))
    found = odd.give(c.Begin())
    assert found is not None and found.rule == "TACTA-19"


def free_play() -> TactaTable:
    table = TactaTable(mode="free_play", countdown_s=3).begun()
    table.do(c.CallStart())
    table.v.step(now_ms=2_000)
    assert table.game.phase == "countdown"
    table.v.step(now_ms=3_000 + table.v.now_ns / 1e6)
    if table.game.phase == "countdown":
        table.do(c.GiveStart(), CLOCK)
    return table


@rule("TACTA-20", "ok")
def test_free_play_counts_down_and_has_no_turns() -> None:
    table = free_play()
    assert (table.game.phase, table.game.turn) == ("play", "")
    table.lay("s2", "circle-1", at_ms=4000)
    table.lay("s2", "circle-2", -1, at_ms=4500)
    assert [card.seat for card in table.game.lying[1:]] == ["s2", "s2"]


@rule("TACTA-20", "breach")
def test_in_free_play_nobody_plays_on_the_own_colour() -> None:
    table = free_play()
    first = table.lay("s1", "circle-1", at_ms=4000)
    assert not any(play.target == first.n for play in table.plays("s1", "circle-6"))
    theirs = next(play for play in table.plays("s2", "circle-6") if play.target == first.n)
    table.do(c.Lay(seat="s1", card="circle-6", flipped=theirs.flipped, pose=theirs.pose, u_mm=0.2), SENSOR)
    card = table.game.lying[-1]
    assert (card.judged.verdict, card.judged.rule) == (Verdict.BREACH, "TACTA-20")


@rule("TACTA-20", "ok")
@pytest.mark.parametrize(("later_ms", "verdict"), [(400.0, Verdict.BREACH), (1.0, Verdict.TOO_CLOSE)])
def test_of_two_hands_on_one_shape_the_first_counts(later_ms: float, verdict: Verdict) -> None:
    table = free_play()
    play = table.plays("s2", "circle-1")[0]
    table.lay("s1", "circle-1", at_ms=4000)
    stamp = Stamp(at_ns=round((4000 + later_ms) * 1e6), u_ns=1_000_000)
    table.do(
        c.Lay(seat="s2", card="circle-1", flipped=play.flipped, pose=play.pose, u_mm=0.2, stamp=stamp), SENSOR
    )
    card = table.game.lying[-1]
    assert card.judged.verdict is verdict
    table.do(c.RuleCard(n=card.n, is_legal=False))
    assert "green:circle-1" in table.game.decks["s2"] and not table.game.boxed
    assert table.rulings("TACTA-20")[-1].verdict is Verdict.BREACH


@rule("TACTA-22", "breach")
def test_a_card_that_comes_to_a_place_closed_long_ago_is_no_race() -> None:
    table = free_play()
    play = table.plays("s2", "circle-1")[0]
    table.lay("s1", "circle-1", at_ms=4000)
    stamp = Stamp(at_ns=9_000_000_000, u_ns=1_000_000)
    table.do(
        c.Lay(seat="s2", card="circle-1", flipped=play.flipped, pose=play.pose, u_mm=0.2, stamp=stamp), SENSOR
    )
    card = table.game.lying[-1]
    assert (card.judged.verdict, card.judged.rule) == (Verdict.BREACH, "TACTA-22")
    table.do(c.RuleCard(n=card.n, is_legal=False))
    assert table.game.boxed == ("green:circle-1",)
    assert "turn" not in table.rulings("TACTA-12")[-1].because


@rule("TACTA-20", "breach")
def test_free_play_ends_at_once_when_one_deck_is_empty() -> None:
    table = free_play()
    for card in tuple(table.game.decks["s1"]):
        table.do(c.Lay(seat="s1", card=card))
    assert table.game.phase == "scoring"
    late = c.Lay(seat="s2", card="circle-1")
    table.v.step(now_ms=table.v.now_ns / 1e6 + 2000)
    found = table.give(late)
    assert found is not None and found.rule == "TACTA-20"


@rule("TACTA-21", "ok")
@rule("TACTA-21", "breach")
def test_sabotage_passes_a_suit_to_the_left_and_scores_by_colour() -> None:
    table = TactaTable(3, mode="sabotage").colours()
    found = table.give(c.Begin())
    assert found is not None and found.rule == "TACTA-21"
    found = table.give(c.PassSuits(seat="s1", keeps="circle", passes="circle"))
    assert found is not None and found.rule == "TACTA-21"
    for seat in ("s1", "s2", "s3"):
        table.do(c.PassSuits(seat=seat, keeps="circle", passes="square"))
    table.begun()
    assert sorted(table.game.decks["s2"]) == sorted(
        [f"green:circle-{n}" for n in range(1, 7)] + [f"blue:square-{n}" for n in range(1, 7)]
    )
    table.ends(("circle-1", "circle-2"), ("blue:square-5", "circle-6"), ("circle-6", "orange:circle-5"))
    table.lay("s1", "circle-1")
    card = table.apart("s2", "blue:square-5", Pose(480.0, 310.0, 13.0))
    assert card.judged.verdict is Verdict.BREACH
    table.do(c.RuleCard(n=card.n, is_legal=False, is_covered=False))
    assert "blue:square-5" in table.game.decks["s2"] and table.game.turn == "s2"
    assert table.rulings("TACTA-21")[-1].verdict is Verdict.BREACH
    other = TactaTable().do(c.TakeColour(seat="s1", colour="red"))
    found = other.give(c.PassSuits(seat="s1", keeps="circle", passes="square"))
    assert found is not None and found.rule == "TACTA-21"


# who leaves, who listens


def test_who_leaves_keeps_the_cards_that_lie() -> None:
    table = TactaTable(3).playing()
    table.lay("s1", "circle-1")
    table.do(k.Leave(seat="s2"))
    assert table.game.turn == "s3" and "s2" not in table.game.decks
    table.lay("s3", "square-5")
    table.do(k.Leave(seat="s1"))
    assert len(table.game.lying) == 3 and table.game.turn == "s3"
    assert dots_by_colour(table.table)["blue"] == 1


def test_a_seat_that_listens_is_told_what_lies_and_what_it_may_play() -> None:
    table = TactaTable().playing()
    answers = {answer.id: answer.text for answer in table.view("s1").answers}
    assert "the starting card" in answers["lying"] and "cm from your edge" in answers["lying"]
    assert "legal plays. 1. " in answers["plays"] and "o'clock" in answers["plays"]
    lower = c.Lay(seat="s1", card="circle-1")
    table.do(lower)
    answers = {answer.id: answer.text for answer in table.view("s2").answers}
    assert "plays" not in answers, "where places are not known nothing is made up"


# what must not go wrong


def refused(table: TactaTable, command: k.Command, who: Actor | None = None) -> str:
    """The rule by which an order is refused, empty when it is carried out."""
    found = table.give(command, who) if who else table.give(command)
    return found.rule if found else ""


def test_either_partner_may_hold_any_card_that_is_not_laid_yet() -> None:
    table = TactaTable(4, mode="teams").begun()
    assert table.game.counts == {"s1": 9, "s2": 9, "s3": 9, "s4": 9}
    table.ends(
        ("circle-1", "triangle-6"),
        ("square-5", "square-6"),
        ("circle-2", "square-1"),
        ("square-3", "square-4"),
    )
    starter = table.game.turn
    assert starter in ("s1", "s3")
    card = ends_of(table.table, starter)[0]
    table.do(c.Lay(seat=starter, card=card))
    assert card not in table.game.decks["s1"] and card not in table.game.decks["s3"]
    assert table.game.counts[starter] == 8
    while table.game.phase == "play":
        seat = table.game.turn
        table.do(c.Lay(seat=seat, card=(ends_of(table.table, seat) or table.game.decks[seat])[0]))
    assert len(table.game.lying) == 37 and set(table.game.counts.values()) == {0}


@pytest.mark.parametrize("option", ["mode", "re_exposed", "allowance_tenth_mm", "table_width_mm"])
def test_house_rules_are_fixed_while_cards_lie(option: str) -> None:
    value = {"mode": "free_play", "re_exposed": False, "allowance_tenth_mm": 50, "table_width_mm": 800}[
        option
    ]
    change = k.ChangeOption(option=option, value=value)
    table = TactaTable().begun()
    assert refused(table, change) == "TABLE-8"
    assert not any(action.id == f"rule-{option}" for action in table.view().actions)
    assert refused(TactaTable(), change) == ""


def test_a_table_has_a_size() -> None:
    assert refused(TactaTable(), k.ChangeOption(option="table_width_mm", value=0)) == "TABLE-8"


def test_the_colour_of_who_left_before_play_is_free_again() -> None:
    table = TactaTable(6).colours()
    table.do(k.Leave(seat="s2")).do(k.Join(name="Gus"))
    table.do(c.TakeColour(seat="s7", colour="green")).begun(measured=False)
    assert set(table.game.decks) == {"s1", "s3", "s4", "s5", "s6", "s7"}


def test_who_left_has_no_dots_to_enter_in_the_next_round() -> None:
    table = played_out(TactaTable(3, mode="quick", left_out="triangle", match=True).playing(measured=False))
    for colour in ("blue", "green", "orange"):
        table.do(c.EnterDots(colour=colour, dots=3))
    table.do(c.Score()).do(k.Leave(seat="s3")).do(c.NextRound())
    assert table.game.colours == {"s1": "blue", "s2": "green"}


@rule("TACTA-12", "ok")
def test_the_last_card_of_a_round_is_noticed_before_another_lies_on_it() -> None:
    table = TactaTable(mode="limited_space", replay=True).playing(
        ("circle-1", "circle-2"), ("circle-5", "circle-6")
    )
    while table.game.phase == "play":
        seat = table.game.turn
        ends = ends_of(table.table, seat)
        if sum(table.game.counts.values()) == 1:
            table.apart(seat, ends[0], Pose(500.0, 330.0, 17.0))
            break
        command = table.v.game.policy(table.table, 5)
        assert command is not None
        table.do(command)
    last = table.game.lying[-1]
    assert table.game.phase == "scoring" and last.judged.verdict is Verdict.BREACH
    table.do(c.RuleCard(n=last.n, is_legal=False, is_covered=False))
    assert (table.game.phase, table.game.turn) == ("play", last.seat)
    assert last.card in table.game.decks[last.seat]


def test_a_seat_measures_nothing() -> None:
    table = TactaTable().playing()
    seat = Actor(Role.SEAT, seat="s1")
    table.do(c.Lay(seat="s1", card="circle-1", pose=Pose(480.0, 320.0, 17.0), u_mm=19.0), seat)
    assert table.game.lying[-1].pose is None
    assert "Nobody measured it" in table.game.lying[-1].judged.because
    other = TactaTable().playing()
    wild = c.Lay(seat="s1", card="circle-1", pose=Pose(480.0, 320.0, 17.0), u_mm=900.0)
    assert refused(other, wild, SENSOR) == "TACTA-10"


def test_where_nothing_is_measured_nothing_is_counted_and_who_rules_says_what_covers_what() -> None:
    table = TactaTable().playing(measured=False)
    table.do(c.Lay(seat="s1", card="circle-1"))
    view = table.view()
    assert not any("dots show" in row.text for zone in view.zones for row in zone.rows)
    assert view.board is None
    wrong = next(action for action in view.actions if action.id == "rule-1-wrong")
    assert [field.name for field in wrong.fields] == ["is_covered"]


@rule("TACTA-10", "breach")
def test_nobody_plays_on_and_nothing_is_counted_while_a_card_lies_beside_its_place() -> None:
    table = TactaTable().playing()
    card = table.lay("s1", "circle-1")
    table.do(c.NoteBump(n=card.n), SENSOR)
    assert refused(table, c.Lay(seat="s2", card="square-5")) == "TACTA-10"
    primary = table.view().primary
    assert primary is not None and primary.command == c.NoteRestored(n=card.n)
    table.do(c.NoteRestored(n=card.n))
    assert refused(table, c.Lay(seat="s2", card="square-5")) == ""


@rule("TACTA-4", "breach")
def test_a_seat_may_not_change_what_is_known_of_its_ends() -> None:
    table = TactaTable().playing()
    other = c.ShowEnds(seat="s1", cards=("triangle-6", "triangle-5"))
    assert refused(table, other, Actor(Role.SEAT, seat="s1")) == "TACTA-4"
    assert refused(table, other) == ""


@rule("TACTA-20", "ok")
def test_late_cards_do_not_move_the_end_of_free_play() -> None:
    table = free_play()
    for card in tuple(table.game.decks["s1"]):
        table.do(c.Lay(seat="s1", card=card, stamp=Stamp(at_ns=5_000_000_000, u_ns=100_000_000)), SENSOR)
    assert table.game.ended == Stamp(at_ns=5_000_000_000, u_ns=100_000_000)
    near = Stamp(at_ns=5_150_000_000, u_ns=100_000_000)
    assert refused(table, c.Lay(seat="s2", card="circle-1", stamp=near), SENSOR) == ""
    later = Stamp(at_ns=5_300_000_000, u_ns=10_000_000)
    assert refused(table, c.Lay(seat="s2", card="circle-2", stamp=later), SENSOR) == "TACTA-20"


def test_a_countdown_that_everybody_leaves_starts_nothing() -> None:
    table = TactaTable(mode="free_play").begun().do(c.CallStart())
    table.do(k.Leave(seat="s1")).do(k.Leave(seat="s2"))
    assert table.game.phase == "scoring"


@rule("TACTA-15", "ok")
def test_a_card_with_a_partly_covered_dot_is_shown() -> None:
    table = TactaTable(overlooked_play="note").playing(("circle-1", "circle-2"), ("square-5", "circle-2"))
    first = table.apart("s1", "circle-1", Pose(100.0, 100.0, 0.0))
    table.apart("s2", "square-5", Pose(41.3, 100.0, 0.0))
    rows = [row for zone in table.view().zones if zone.id == "cards" for row in zone.rows]
    assert any(row.id == f"partly-{first.n}" for row in rows)
