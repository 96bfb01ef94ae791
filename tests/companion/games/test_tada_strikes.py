"""Feats broken, successes struck out late, orders entered by hand, and rounds that do not count."""

from __future__ import annotations

import pytest
from tada_table import PAD, TadaTable

from companion.core import command as k
from companion.core import event as core_event
from companion.core.ruling import Verdict
from companion.games.tada import commands as c

rule = pytest.mark.rule


# Breaches of a feat


@rule("TADA-9", "breach")
def test_who_breaks_the_feat_fails_at_once_and_later_locks_and_slams_are_void() -> None:
    table = TadaTable(3).to_cast()
    table.lock(1, 0)
    table.do(c.FlagBreach(seat="s1", of="feat", note="hand on the table"), 3000)
    found = table.last("TADA-9")
    assert (found.verdict, found.seat) == (Verdict.BREACH, "s1")
    assert found.because == "Ann did not keep the feat and fails the spell. hand on the table"
    table.no(c.LockDie(seat="s1", slot=1, symbol=table.symbols(1)[1]), "TADA-9", 4000)
    table.no(c.Slam(seat="s1"), "TADA-9", 5000)
    table.no(c.FlagBreach(seat="s1"), "TADA-9")
    assert table.game.casters["s1"].out == "TADA-9"


@rule("TADA-9", "ok")
def test_who_keeps_the_feat_is_in_the_round() -> None:
    table = TadaTable(2).to_cast()
    table.finish(1, 5000)
    table.end().resolve()
    assert table.rulings("TADA-9") == []
    assert len(table.game.scored["s1"]) == 1


@rule("TADA-9", "breach")
def test_a_slam_that_waits_is_void_with_the_feat() -> None:
    table = TadaTable(2).to_cast()
    number = table.slam(1, 5000)
    table.do(c.FlagBreach(seat="s1"))
    table.no(c.VerifySlam(seat="s1", slam=number, complete=True), "TADA-9")
    assert table.places() == {}


@rule("TADA-9", "breach")
def test_a_breach_counts_until_the_round_is_resolved() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 5000)
    table.end()
    table.do(c.FlagBreach(seat="s1"))
    assert table.won() == ()
    table.resolve()
    table.no(c.FlagBreach(seat="s2"), "TADA-5")
    assert table.last("TADA-9").seat == "s1"


@rule("TADA-9", "house")
def test_a_sensor_only_flags_and_a_person_confirms_or_rejects() -> None:
    table = TadaTable(2, strict_feats=False).to_cast()
    facts = table.do(c.FlagBreach(seat="s1", note="voice heard"), 1000, PAD)
    assert isinstance(facts[0], core_event.Proposed)
    assert not table.game.casters["s1"].out
    [proposal] = table.view().open_proposals
    assert proposal.reading == "Ann may have broken the feat: voice heard"
    table.do(k.Reject(proposal=proposal.id))
    assert not table.game.casters["s1"].out
    table.do(c.FlagBreach(seat="s1"), 2000, PAD)
    confirm = table.view().open_proposals[0].confirm
    assert confirm is not None
    table.do(confirm.command)
    assert table.game.casters["s1"].out == "TADA-9"
    assert table.view().open_proposals == ()


@rule("TADA-9", "house")
def test_where_feats_are_strict_a_flag_fails_at_once_but_a_lock_is_still_asked() -> None:
    table = TadaTable(3, strict_feats=True).to_cast()
    table.do(c.FlagBreach(seat="s1"), 1000, PAD)
    assert table.game.casters["s1"].out == "TADA-9"
    table.slam(2, 5000)
    table.do(c.FlagBreach(seat="s2", of="lock"), 5100, PAD)
    assert not table.game.casters["s2"].out
    assert len(table.sitting.proposals) == 1


def test_a_flag_is_of_something_that_can_be_broken() -> None:
    table = TadaTable(2).to_cast()
    table.no(c.FlagBreach(seat="s1", of="etiquette"), "TADA-9")


@rule("TADA-22", "breach")
def test_breaking_an_effect_is_like_breaking_a_feat() -> None:
    table = TadaTable(2).to_cast()
    table.do(c.FlagBreach(seat="s1", of="effect"))
    assert table.last("TADA-22").verdict is Verdict.BREACH
    assert table.game.casters["s1"].out == "TADA-22"


@rule("TADA-12", "breach")
@pytest.mark.parametrize("void_slam", ["fails", "may_go_on"])
def test_a_double_lock_that_is_seen_after_the_slam_makes_the_slam_void(void_slam: str) -> None:
    table = TadaTable(2, void_slam=void_slam).to_cast()
    table.lock_all(1)
    table.finish(1, 5000)
    table.do(c.FlagBreach(seat="s1", of="lock", note="two after the third roll"))
    found = table.last("TADA-12")
    assert found.verdict is Verdict.BREACH
    assert found.because.startswith("Ann locked a wrong or a second die: the slam is void and the seat ")
    assert table.places() == {}
    assert table.game.casters["s1"].is_casting == (void_slam == "may_go_on")


# Late strikes


@rule("TADA-25", "house")
def test_a_success_struck_out_late_moves_the_next_one_up() -> None:
    table = TadaTable(4, late_strike="move_up").to_cast()
    for who, ms in ((1, 5000), (2, 6000), (3, 7000)):
        table.finish(who, ms)
    table.end()
    table.do(c.FlagBreach(seat="s1"))
    assert table.last("TADA-25").because == "Cid moves up."
    assert table.places() == {"s2": 1, "s3": 2}


@rule("TADA-25", "ok")
def test_with_no_next_slam_the_place_stays_empty() -> None:
    table = TadaTable(4).to_cast()
    for who, ms in ((1, 5000), (2, 6000)):
        table.finish(who, ms)
    table.end()
    table.verify(1, complete=False)
    assert table.last("TADA-25").because == "No verified slam is next: the place stays empty."
    assert table.places() == {"s2": 1}


@rule("TADA-25", "ok")
def test_where_a_heat_had_overfilled_the_places_a_strike_changes_no_other_place() -> None:
    table = TadaTable(4, late_strike="recast").to_cast()
    table.finish(1, 5000)
    table.finish(2, 6000, 40)
    table.finish(3, 6010, 40)
    table.end()
    assert len(table.won()) == 3
    table.do(c.FlagBreach(seat="s3"))
    assert table.game.phase == "resolve", "two of two places are taken: nobody casts again"
    assert table.last("TADA-25").because == "The places are taken all the same."
    assert table.won() == ("s1", "s2")


def struck(how: str, **options: object) -> TadaTable:
    """Five players, places for Ann, Ben; after the end Ann's success is struck out."""
    table = TadaTable(5, late_strike="recast", **options).to_cast()
    for who, ms in ((1, 5000), (2, 6000), (3, 7000)):
        table.finish(who, ms)
    table.do(c.GiveUp(seat="s4"))
    table.end()
    if how == "feat":
        table.do(c.FlagBreach(seat="s1"))
    elif how == "lock":
        table.do(c.FlagBreach(seat="s1", of="lock"))
    else:
        table.verify(1, complete=False)
    return table


@rule("TADA-25", "house")
@pytest.mark.parametrize("how", ["feat", "lock", "symbols"])
def test_where_the_house_recasts_the_free_place_is_cast_for_again(how: str) -> None:
    table = struck(how)
    assert table.game.phase == "ready"
    assert table.last("TADA-25").because == "The place is cast for again."
    assert table.game.casters["s1"].out == {"feat": "TADA-9"}.get(how, "TADA-15")
    assert table.game.casters["s2"].kept == 1, "who was second is now first, and keeps that place"
    assert table.answer(3, "places") == "Open places: 1 of 2."
    table.no(c.Ready(seat="s2"), "TADA-11")
    table.go()
    assert "keeps place 1" in table.no(c.Slam(seat="s2"), "TADA-25", 1000).because
    table.no(c.Slam(seat="s4"), "TADA-19")
    table.finish(5, 4000)
    table.end()
    assert table.places() == {"s2": 1, "s5": 2}
    assert table.placings()["s5"].raw_ms == 4000, "from the new GO"
    table.resolve()
    assert [len(table.game.scored[s]) for s in ("s1", "s2", "s3", "s4", "s5")] == [0, 1, 0, 0, 1]


@rule("TADA-25", "house")
def test_who_may_go_on_after_a_void_slam_also_casts_again() -> None:
    table = struck("symbols", void_slam="may_go_on")
    assert table.game.phase == "ready"
    table.go().finish(1, 3000)
    table.end()
    assert table.places() == {"s2": 1, "s1": 2}


@rule("TADA-25", "house")
def test_a_kept_place_may_still_be_lost_in_the_recast() -> None:
    table = struck("feat").go()
    table.do(c.FlagBreach(seat="s2"))
    table.finish(3, 4000)
    table.finish(5, 5000)
    table.end()
    assert table.places() == {"s3": 1, "s5": 2}


@rule("TADA-25", "house")
def test_two_who_share_a_kept_place_still_share_it() -> None:
    table = TadaTable(6, late_strike="recast").to_cast()
    table.finish(1, 4000)
    table.finish(2, 5000, 20)
    table.finish(3, 5010, 20)
    table.end()
    table.do(c.FlagBreach(seat="s1"))
    rows = table.placings()
    assert [(s, rows[s].place, rows[s].shared) for s in ("s2", "s3")] == [("s2", 1, True), ("s3", 1, True)]
    table.go().finish(6, 4000)
    table.end()
    assert table.places() == {"s2": 1, "s3": 1, "s6": 3}


@rule("TADA-25", "house")
def test_nobody_left_to_recast_leaves_the_place_empty() -> None:
    table = TadaTable(2, late_strike="recast").to_cast()
    table.do(c.GiveUp(seat="s2"))
    table.finish(1, 5000)
    table.do(c.EndCast())
    table.do(c.FlagBreach(seat="s1"))
    assert table.game.phase == "resolve"
    assert table.last("TADA-25").because == "No verified slam is next: the place stays empty."
    table.resolve()


@rule("TADA-25", "house")
def test_when_all_who_would_recast_leave_the_round_is_scored_as_it_stands() -> None:
    table = struck("feat")
    table.do(k.Leave(seat="s3"))
    assert table.game.phase == "ready"
    table.do(k.Leave(seat="s5"))
    assert table.game.phase == "resolve"
    table.resolve()
    assert len(table.game.scored["s2"]) == 1


# By hand


@rule("TADA-18", "ok")
def test_the_finishing_order_may_be_entered_by_hand_with_ties() -> None:
    table = TadaTable(6).to_cast()
    table.slam(6, 4000)
    table.do(c.EnterOrder(order=(("s2",), ("s1", "s3"), ("s4",)), why="the pads failed"), 9000)
    assert table.places() == {"s2": 1, "s1": 2, "s3": 2, "s4": 0}
    because = table.last("TADA-18").because
    assert because == (
        "The finishing order was entered by hand: Ben, then Ann together with Cid, then Dot. the pads failed"
    )
    row = next(z for z in table.view("public").zones if z.id == "places").rows[0]
    assert row.text == "Place 1, order entered by hand", "no time is made up"
    main = table.view().primary
    assert main is not None
    assert isinstance(main.command, c.Resolve), "people have decided; no slam waits for more"
    table.resolve()
    assert all(r.t_ms is None for r in table.rulings("TADA-18"))
    assert [len(table.game.scored[f"s{i}"]) for i in range(1, 7)] == [1, 1, 1, 0, 0, 0]


@rule("TADA-18", "breach")
@pytest.mark.parametrize("order", [(), ((),), (("s1",), ("s1",)), (("s9",),), (("s3",),), (("s1", "s1"),)])
def test_an_order_names_casters_who_are_in_the_round_each_once(order: tuple[tuple[str, ...], ...]) -> None:
    table = TadaTable(3).to_cast()
    table.do(c.FlagBreach(seat="s3"))
    table.no(c.EnterOrder(order=order), "TADA-18")


@rule("TADA-18", "house")
def test_a_tie_entered_by_hand_is_a_dead_heat_as_any_other() -> None:
    table = TadaTable(3, dead_heat="referee").to_cast()
    table.do(c.EnterOrder(order=(("s1", "s2"),)))
    table.no(c.Resolve(), "TADA-18")
    table.do(c.SettleHeat(of="place", winners=("s2",)))
    table.do(c.EnterOrder(order=(("s2", "s3"),)))
    table.no(c.Resolve(), "TADA-18")
    table.do(c.SettleHeat(of="place", winners=("s3",)))
    table.resolve()
    assert len(table.game.scored["s3"]) == 1


@rule("TADA-25", "ok")
def test_a_success_entered_by_hand_may_be_struck_out_too() -> None:
    table = TadaTable(3, void_slam="may_go_on").to_cast()
    number = table.slam(1, 4000)
    table.do(c.EnterOrder(order=(("s1",), ("s2",))))
    table.do(c.VerifySlam(seat="s1", slam=number, complete=False))
    assert table.won() == ("s2",)
    assert table.last("TADA-25").because == "Ben moves up."


def test_an_order_by_hand_can_be_undone_and_the_clocks_count_again() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 5000)
    table.do(c.EnterOrder(order=(("s2",),)), 5100)
    assert table.won() == ("s2",)
    table.do(k.Undo())
    assert table.game.phase == "cast"
    assert table.won() == ("s1",)


# Void rounds


@pytest.mark.parametrize("phase", ["ready", "countdown", "cast", "resolve"])
def test_a_void_round_is_cast_anew_with_the_same_hands_and_feat(phase: str) -> None:
    table = TadaTable(3).to_ready()
    if phase != "ready":
        table.do(c.ReadyAll())
        table.do(c.CallGo(), 1000)
    if phase in ("cast", "resolve"):
        table.pass_time(5000)
        table.finish(1, 9000)
    if phase == "resolve":
        table.end()
    assert table.game.phase == phase
    hands, feat, part = table.game.hands, table.game.feat, table.game.part
    table.do(c.VoidRound(why="the cat"))
    assert (table.game.phase, table.game.hands, table.game.feat, table.game.part) == (
        "choose",
        hands,
        feat,
        part,
    )
    assert not table.game.casters
    assert table.last("TADA-5").because == "The round does not count and is cast anew. the cat"
    table.pass_time(60_000)  # no GO of the void round comes any more
    table.to_ready().go().finish(2, 5000)
    table.end().resolve()
    assert [len(table.game.scored[s]) for s in ("s1", "s2", "s3")] == [0, 1, 0]


def test_a_scored_round_is_not_voided_but_undone() -> None:
    table = TadaTable(2).round_won_by(1)
    table.no(c.VoidRound(), "TADA-5")
