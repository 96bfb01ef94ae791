"""From what pads and the camera say to what is asked of the table."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tada_table import PAD, TadaTable

from companion.core import command as k
from companion.core.command import Command
from companion.core.observation import DiceRested, DieSeen
from companion.core.ruling import Ruling
from companion.games.tada import GAME
from companion.games.tada import commands as c

rule = pytest.mark.rule
Taken = list[tuple[Command, Ruling | None]]


def die(symbol: str | None, x: float = 0, y: float = 0, *, owner: str = "red", slot: int | None = None,
        who: int = 1, sure: float = 0.97) -> DieSeen:  # fmt: skip
    """A die at rest, loose at (x, y) or on a slot of a seat's spell."""
    on = None if slot is None else (f"s{who}", str(slot))
    return DieSeen(
        kind="tada", value=symbol, box_px=(0, 0, 9, 9), confidence=sure, xy_mm=(x, y), owner=owner, on=on
    )


def loose(*symbols: str, at: float = 0, **more: Any) -> list[DieSeen]:
    """Dice in a row that begins at x = `at`."""
    return [die(symbol, at + 20 * i, 50, **more) for i, symbol in enumerate(symbols)]


def on_card(table: TadaTable, *slots: int, **more: Any) -> list[DieSeen]:
    """Right dice on these slots of Ann's spell."""
    return [die(table.symbols(1)[slot], slot=slot, **more) for slot in slots]


def kinds(taken: Taken) -> list[str]:
    return [type(command).__name__ for command, _ in taken]


# Pads


@rule("TABLE-5", "ok")
def test_a_press_before_the_countdown_proves_the_pad_once() -> None:
    table = TadaTable(2)
    assert kinds(table.see(table.press(1, 10))) == ["ProvePad"]
    assert table.see(table.press(1, 900)) == []
    assert table.sitting.proven == ("s1",)
    assert any("Ben" in notice for notice in table.view().notices)
    assert table.see(table.press(7, 1000)) == [], "nobody's pad"


@rule("TADA-14", "ok")
def test_a_press_in_the_cast_is_a_slam_with_the_clock_of_its_box() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    [(slam, refused)] = table.see(table.press(1, 5000, u_ms=3, own_us=150))
    assert isinstance(slam, c.Slam)
    assert refused is None
    assert slam.stamp is not None
    assert (slam.stamp.at_ns, slam.stamp.u_ns, slam.stamp.own_u_ns) == (table.ns(5000), 3_000_000, 150_000)
    assert slam.stamp.clock == "box/1"
    assert table.game.casters["s1"].pending is not None
    assert table.entries[-1].seen[0].source == "box", "the observation is kept as evidence"


def test_a_press_that_may_be_crosstalk_is_asked() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    assert kinds(table.see(table.press(1, 5000, suspect="crosstalk"))) == ["Propose"]
    assert table.game.casters["s1"].slams == ()
    [proposal] = table.view().open_proposals
    assert proposal.reading == "Ann's pad reports a slam that may be crosstalk"
    assert proposal.evidence == (f"press:box/1/{table.presses}",)
    assert proposal.confirm is not None
    table.do(proposal.confirm.command, 9000)
    slam = table.game.casters["s1"].pending
    assert slam is not None
    assert slam.play_ns == table.ns(5000), "confirmed late, it counts from its own instant"


def test_a_press_whose_clock_went_wrong_is_asked() -> None:
    table = TadaTable(2).to_cast()
    table.lock_all(1)
    assert kinds(table.see(table.press(1, 5000, u_ms=400, suspect="clock"))) == ["Propose"]
    assert table.game.casters["s1"].slams == ()
    [proposal] = table.view().open_proposals
    assert "400 ms" in proposal.reading
    assert "its clock jumped" in proposal.reading


def test_a_crosstalk_that_is_confirmed_after_the_end_is_a_protest() -> None:
    table = TadaTable(2, round_clock_s=6).to_cast()
    table.lock_all(1)
    table.see(table.press(1, 5000, suspect="crosstalk"))
    table.pass_time(7000)
    confirm = table.view().open_proposals[0].confirm
    assert confirm is not None
    table.do(confirm.command, 8000)
    assert len(table.game.protests) == 1


# Rolls


@rule("TADA-12", "ok")
def test_loose_dice_of_a_seat_that_lie_elsewhere_are_a_roll() -> None:
    table = TadaTable(2).to_cast()
    first = loose("arrow", "arrow", "wand", "burst", "spiral", "burst")
    assert kinds(table.see(table.rest(1000, *first))) == ["RecordRoll"]
    assert table.game.casters["s1"].last_roll == ("arrow", "arrow", "burst", "burst", "spiral", "wand")
    assert table.see(table.rest(1500, *first)) == [], "the same dice, seen again"
    assert table.see(table.rest(1600, *first[:4])) == [], "some were taken up"
    nudged = [die(str(d.value), d.xy_mm[0] + 2, d.xy_mm[1]) for d in first if d.xy_mm]
    assert table.see(table.rest(1700, *nudged)) == [], "knocked a little"
    again = loose("arrow", "arrow", "wand", "burst", "spiral", "burst", at=300)
    assert kinds(table.see(table.rest(3000, *again))) == ["RecordRoll"]
    assert table.game.casters["s1"].rolls == 2
    assert table.game.casters["s2"].rolls == 0


@pytest.mark.parametrize("bad", [{"symbol": None}, {"symbol": "arrow", "sure": 0.5}, {"symbol": "7"}])
def test_a_roll_that_is_not_read_whole_is_no_roll(bad: dict[str, Any]) -> None:
    table = TadaTable(2).to_cast()
    assert table.see(table.rest(1000, *loose("arrow", "burst"), die(**bad, x=400))) == []


def test_nothing_is_read_from_dice_before_go_and_after_the_round() -> None:
    table = TadaTable(2).to_ready()
    assert table.see(table.rest(500, *loose("arrow", "burst"))) == []


@pytest.mark.parametrize(
    ("owner", "belongs"), [("s1", "s1"), ("red", "s1"), ("Ann", "s1"), ("blue", "s2"), ("x", "")]
)
def test_dice_belong_to_the_seat_of_their_name(owner: str, belongs: str) -> None:
    table = TadaTable(2).to_cast()
    taken = table.see(table.rest(1000, *loose("arrow", "burst", owner=owner)))
    assert [getattr(command, "seat", "") for command, _ in taken] == [belongs] * bool(belongs)


def test_a_player_who_is_called_like_a_colour_does_not_get_its_dice() -> None:
    table = TadaTable(2)
    table.do(k.Leave(seat="s1"))
    table.do(k.Join(name="blue"))
    table.to_cast()
    taken = table.see(table.rest(1000, *loose("arrow", "burst", owner="blue")))
    assert [getattr(command, "seat", "") for command, _ in taken] == ["s2"]


# Locks


@rule("TADA-12", "ok")
def test_a_die_on_the_spell_is_locked_in_the_rest_that_shows_it() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.rest(1000, *loose("arrow", "burst", "burst", "wand", "spiral", "wand")))
    again = loose("arrow", "burst", "burst", "wand", "spiral", at=300)
    assert kinds(table.see(table.rest(3000, *again, *on_card(table, 0)))) == ["RecordRoll", "LockDie"]
    assert table.see(table.rest(3500, *again, *on_card(table, 0))) == []
    assert table.game.casters["s1"].locked == 1


@rule("TADA-12", "breach")
def test_a_wrong_symbol_on_the_spell_is_refused_once_and_the_die_goes_back() -> None:
    table = TadaTable(2).to_cast()
    wrong = next(s for s in ("arrow", "burst", "spiral", "wand") if s != table.symbols(1)[0])
    [(lock, refused)] = table.see(table.rest(1000, die(wrong, slot=0)))
    assert isinstance(lock, c.LockDie)
    assert refused is not None
    assert refused.rule == "TADA-12"
    assert refused.because.endswith("the die goes back in the cup.")
    assert table.see(table.rest(1400, die(wrong, slot=0))) == []
    assert kinds(table.see(table.rest(2000, *on_card(table, 0)))) == ["LockDie"]
    assert table.game.casters["s1"].locked == 1


def test_an_unsure_lock_is_asked() -> None:
    table = TadaTable(2).to_cast()
    assert kinds(table.see(table.rest(1000, *on_card(table, 1, sure=0.6)))) == ["Propose"]
    assert table.game.casters["s1"].locked == 0
    [proposal] = table.view().open_proposals
    assert proposal.confidence == 0.6
    assert proposal.confirm is not None
    table.do(proposal.confirm.command)
    assert table.game.casters["s1"].locked == 1


@rule("TADA-12", "ok")
def test_two_new_dice_after_one_roll_that_was_seen_ask_whether_a_roll_was_missed() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.rest(1000, *loose("arrow", "burst", "burst", "wand", "spiral", "wand")))
    taken = table.see(table.rest(4000, *on_card(table, 0, 1)))
    assert kinds(taken) == ["LockDie", "Propose"]
    assert all(refused is None for _, refused in taken), (
        "nobody is accused of what a slow camera may have missed"
    )
    [proposal] = table.view().open_proposals
    assert "without a roll that was seen" in proposal.reading
    assert table.see(table.rest(4300, *on_card(table, 0, 1))) == [], "asked once"
    assert proposal.confirm is not None
    table.do(proposal.confirm.command)
    assert kinds(table.see(table.rest(4600, *on_card(table, 0, 1)))) == ["LockDie"]
    assert table.game.casters["s1"].locked == 2


def test_the_next_roll_that_is_seen_frees_the_lock_that_waited() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.rest(1000, *loose("arrow", "burst", "burst", "wand", "spiral", "wand")))
    table.see(table.rest(4000, *on_card(table, 0, 1)))
    seen = table.rest(6000, *on_card(table, 0, 1), *loose("arrow", "burst", "burst", "wand", at=200))
    assert kinds(table.see(seen)) == ["RecordRoll", "LockDie"]
    assert table.game.casters["s1"].locked == 2


@pytest.mark.parametrize("locks", ["click", "untracked"])
def test_where_people_tell_the_locks_the_camera_tells_none(locks: str) -> None:
    table = TadaTable(2, locks=locks).to_cast()
    seen = table.rest(1000, *loose("arrow", "burst"), *on_card(table, 0))
    assert table.see(seen) == []


def test_odd_regions_and_numbers_are_no_locks() -> None:
    table = TadaTable(2).to_cast()
    odd = [
        DieSeen(kind="tada", value="arrow", box_px=(0, 0, 9, 9), confidence=1, owner="red", on=("s1", region))
        for region in ("²", "-1", "", "9", "edge")
    ]
    assert table.see(table.rest(1000, *odd)) == []


# The slam is looked at


def slammed(**options: Any) -> TadaTable:
    table = TadaTable(2, **options).to_cast()
    table.lock_all(1)
    table.see(table.press(1, 5000))
    return table


@rule("TADA-15", "ok")
def test_dice_that_lie_complete_after_the_slam_are_proposed_and_confirmed_by_a_person() -> None:
    table = slammed()
    count = len(table.symbols(1))
    assert table.see(table.rest(4900, *on_card(table, *range(count)))) == [], "a picture from before the slam"
    assert kinds(table.see(table.rest(5200, *on_card(table, *range(count))))) == ["Propose"]
    assert table.places() == {}, "the machine proposes"
    [proposal] = table.view().open_proposals
    assert proposal.reading == f"Ann's spell is complete: {', '.join(table.symbols(1))}"
    assert proposal.evidence == (f"rest:cam/{table.frame}",)
    assert proposal.confirm is not None
    table.do(proposal.confirm.command)
    assert table.places() == {"s1": 1}


@rule("TADA-15", "ok")
def test_hidden_dice_are_a_weak_reading_and_do_not_keep_the_better_one_away() -> None:
    table = slammed()
    count = len(table.symbols(1))
    table.see(table.rest(5200, *on_card(table, *range(count - 1))))
    [hidden] = table.view().open_proposals
    assert "is not complete, or dice are hidden" in hidden.reading
    assert hidden.confidence <= 0.5
    table.see(table.rest(5600, *on_card(table, *range(count))))
    assert len(table.view().open_proposals) == 2
    assert table.view().open_proposals[1].confidence > 0.9


def test_a_reading_that_was_rejected_is_not_proposed_again_and_again() -> None:
    table = slammed()
    count = len(table.symbols(1))
    table.see(table.rest(5200, *on_card(table, *range(count))))
    table.do(k.Reject(proposal=table.view().open_proposals[0].id))
    for ms in (5600, 6000, 7000):
        assert table.see(table.rest(ms, *on_card(table, *range(count)))) == []


@rule("TABLE-6", "ok")
def test_a_reading_whose_time_is_over_can_only_be_rejected() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.rest(1000, *on_card(table, 1, sure=0.6)))
    assert table.view().open_proposals[0].confirm is not None
    table.do(k.Stop())
    assert table.view().open_proposals[0].confirm is None
    table.do(k.Resume())
    table.finish(1, 5000)
    [late] = table.view().open_proposals
    assert late.confirm is None
    table.no(k.Confirm(proposal=late.id), "TADA-18")
    assert late.reject is not None
    table.do(late.reject.command)
    assert table.view().open_proposals == ()


def test_unreadable_dice_say_nothing() -> None:
    table = slammed()
    assert table.see(table.rest(5200, *on_card(table, 0, 1, 2), die(None, slot=3))) == []


@rule("TADA-15", "ok")
def test_a_bump_over_a_complete_spell_is_proposed_as_a_slam() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.press(1, 5000))
    assert table.game.casters["s1"].pending is None, "locks were seen too late for a claim"
    count = len(table.symbols(1))
    taken = table.see(table.rest(5300, *on_card(table, *range(count))))
    assert "Propose" in kinds(taken)
    verify = next(p for p in table.view().open_proposals if "is complete" in p.reading)
    assert verify.confirm is not None
    table.do(verify.confirm.command)
    assert table.placings()["s1"].raw_ms == 5000


@rule("TADA-15", "ok")
@pytest.mark.parametrize("evidence", ["a rest that shows it incomplete", "a roll after it"])
def test_a_bump_in_mid_cast_is_not_taken_for_the_finish_when_the_spell_is_complete_later(
    evidence: str,
) -> None:
    table = TadaTable(2).to_cast()
    count = len(table.symbols(1))
    table.see(table.rest(1000, *loose("arrow", "burst", "burst", "wand", "spiral", "wand")))
    table.see(table.press(1, 2900))
    if evidence == "a roll after it":
        table.see(table.rest(3500, *loose("arrow", "burst", "burst", "wand", "spiral", at=300)))
    else:
        table.see(table.rest(3500, *on_card(table, 0)))
    table.see(table.rest(30_000, *on_card(table, *range(count))))
    table.see(table.rest(30_500, *on_card(table, *range(count))))
    assert not [p for p in table.view().open_proposals if "is complete" in p.reading]


def test_a_bump_over_an_incomplete_spell_is_not_talked_about() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.press(1, 5000))
    assert kinds(table.see(table.rest(5300, *on_card(table, 0)))) == ["LockDie"]


@rule("TADA-15", "ok")
def test_dice_are_still_looked_at_after_the_end() -> None:
    table = slammed(round_clock_s=6)
    table.pass_time(6000)
    assert table.game.phase == "resolve"
    count = len(table.symbols(1))
    assert kinds(table.see(table.rest(7000, *on_card(table, *range(count))))) == ["Propose"]


def test_what_was_seen_in_one_cast_is_forgotten_in_the_next() -> None:
    table = TadaTable(2).to_cast()
    table.see(table.rest(1000, *loose("arrow", "burst")))
    table.finish(1, 5000)
    table.end().resolve()
    table.to_cast()
    assert kinds(table.see(table.rest(1000, *loose("arrow", "burst")))) == ["RecordRoll"]


def test_anything_else_that_is_seen_means_nothing() -> None:
    from companion.core import observation as o

    table = TadaTable(2).to_cast()
    for seen in (
        o.Released(source="box", seen_ns=table.ns(10), uncertainty_ns=1, input=1, boot=1, n=1),
        o.TowerHit(
            source="box", seen_ns=table.ns(11), uncertainty_ns=1, input=1, boot=1, n=2, peak=1, width_us=1
        ),
        o.TableStirred(source="cam", seen_ns=table.ns(12), uncertainty_ns=1, frame=1),
        o.CameraChanged(source="cam", seen_ns=table.ns(13), uncertainty_ns=1, state="lost"),
        o.DeviceChanged(source="box", seen_ns=table.ns(14), uncertainty_ns=1, link="a", state="lost"),
    ):
        assert table.see(seen) == []
    assert GAME.interpret(GAME.trace(), table.sitting, table.rest(20)) is not None


@rule("TABLE-6", "ok")
def test_what_was_asked_in_one_round_is_not_answered_in_the_next() -> None:
    table = TadaTable(2).to_cast()
    table.do(c.FlagBreach(seat="s2", note="a voice"), 1000, PAD)
    table.finish(1, 5000)
    table.end().resolve()
    assert table.sitting.proposals == ()


# While something moves on at the table


def moving(rest: DiceRested, *covered: str) -> DiceRested:
    """The same rest while a hand moves over these seats' spells."""
    return msgspec.structs.replace(rest, restless_px=((0, 0, 90, 90),), covered=covered)


@rule("TADA-12", "ok")
def test_a_roll_is_taken_beside_a_moving_hand_when_no_die_is_missing() -> None:
    table = TadaTable(2).to_cast()
    some = loose("arrow", "burst", "burst", "wand", "spiral")
    assert table.see(moving(table.rest(1000, *some), "s2")) == [], "the sixth may lie under the hand"
    everything = [*some, die("wand", x=200)]
    assert kinds(table.see(moving(table.rest(1400, *everything), "s2"))) == ["RecordRoll"]
    assert table.see(table.rest(1800, *everything)) == [], "told once"
    assert table.game.casters["s1"].rolls == 1


def test_a_spell_under_a_moving_hand_is_not_judged() -> None:
    table = slammed()
    count = len(table.symbols(1))
    assert table.see(moving(table.rest(5200, *on_card(table, *range(count - 1))), "s1")) == []
    assert kinds(table.see(moving(table.rest(5600, *on_card(table, *range(count))), "s2"))) == ["Propose"]
