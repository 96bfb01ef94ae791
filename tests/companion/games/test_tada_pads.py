"""No GO while a pad is not fit for a ranked race, unless the referee waives it."""

from __future__ import annotations

import msgspec
import pytest
from tada_table import RIA, TadaTable

from companion.core.command import AssignPad, NotePad, WaivePad
from companion.core.game import refusal
from companion.core.seat import PUBLIC, REFEREE, Actor, Role
from companion.core.show import show
from companion.core.view import View
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.policy import policy

BRIDGE = Actor(Role.SENSOR, name="box")
SLOW = NotePad(device="box", u_ns=4_200_000, limit_ns=600_000, doubt="its clock is not known well enough")
FIT = NotePad(device="box", u_ns=300_000, limit_ns=600_000)
PARTY = NotePad(device="box", u_ns=16_000_000, limit_ns=2_500_000, race_class="party")


def ready(**options: object) -> TadaTable:
    table = TadaTable(3, **options).to_ready()  # type: ignore[arg-type]  # handed on
    table.do(c.ReadyAll())
    return table


def page(table: TadaTable) -> View:
    return show(GAME, table.sitting, REFEREE)


def shown(view: View) -> str:
    return msgspec.json.encode(view).decode()


@pytest.mark.rule("TABLE-12", "breach")
@pytest.mark.parametrize("note", [SLOW, PARTY], ids=["slow", "party"])
def test_no_go_while_a_pad_is_not_fit_and_the_page_says_which_how_much_and_why(note: NotePad) -> None:
    table = ready()
    table.do(note, actor=BRIDGE)
    why = table.no(c.CallGo(), "TABLE-12").because
    for part in (
        "box",
        "Ann and Ben and Cid",
        f"{(note.u_ns or 0) / 1e6:.2f} ms",
        f"{note.limit_ns / 1e6:g} ms",
    ):
        assert part in why
    view = page(table)
    assert view.primary is None
    assert any(why in notice for notice in view.notices)
    assert any(why in notice for notice in show(GAME, table.sitting, PUBLIC).notices)
    assert [zone.rows[0].label for zone in view.zones if zone.id == "pads"] == ["Not fit"]
    assert not [a for a in show(GAME, table.sitting, PUBLIC).actions if isinstance(a.command, WaivePad)]


@pytest.mark.rule("TABLE-12", "ok")
def test_a_pad_that_becomes_fit_holds_up_nothing() -> None:
    table = ready()
    table.do(SLOW, actor=BRIDGE)
    table.do(FIT, actor=BRIDGE)
    assert "pads" not in {zone.id for zone in page(table).zones}
    table.go()
    assert not table.rulings("TABLE-12")


@pytest.mark.parametrize("is_for_round", [True, False])
def test_a_waiver_lets_go_come_and_is_named_in_the_rulings_and_lasts_as_long_as_it_says(
    is_for_round: bool,
) -> None:
    table = ready()
    table.do(SLOW, actor=BRIDGE)
    (waiver,) = [
        a.command for a in page(table).actions
        if isinstance(a.command, WaivePad) and a.command.is_for_round is is_for_round
    ]  # fmt: skip
    table.do(waiver)
    assert [zone.rows[0].label for zone in page(table).zones if zone.id == "pads"] == ["Waived"]
    table.do(c.CallGo(), table.now_ms + 10)
    assert "4.20 ms" in table.last("TABLE-12").because
    table.do(c.VoidRound())
    for who, hand in table.game.hands.items():
        table.do(c.ChooseSpell(seat=who, spell=hand[0]))
    table.do(c.Reveal())
    table.do(c.ReadyAll())
    assert refusal(table.order(c.CallGo(), table.now_ms + 10)) is None, "the same round, cast anew"
    table.pass_time(table.now_ms + 10_000)
    table.do(c.EnterOrder(order=(("s1",),)))
    table.resolve()
    assert table.sitting.is_waived("box") is not is_for_round
    table.to_ready().do(c.ReadyAll())
    answer = refusal(table.order(c.CallGo(), table.now_ms + 10))
    assert (answer is None) is not is_for_round


def test_where_they_cast_in_turn_only_the_next_pad_counts() -> None:
    table = TadaTable(2, pads=False, in_turn=True)
    table = table.to_ready()
    table.do(c.ReadyAll())
    for who, device in (("s1", "good"), ("s2", "bad")):
        table.do(AssignPad(seat=who, device=device))
    table.do(msgspec.structs.replace(SLOW, device="bad"), actor=BRIDGE)
    primary = page(table).primary
    assert primary is not None
    assert isinstance(primary.command, c.CallGo)
    table.go(1)
    table.do(c.GiveUp(seat="s1"))
    table.no(c.CallGo(), "TABLE-12")
    assert policy(table.sitting, 1) == WaivePad(device="bad")


def test_a_seat_without_a_pad_and_a_pad_never_heard_hold_up_nothing() -> None:
    table = ready(pads=False)
    table.do(SLOW, actor=BRIDGE)
    table.go()
    ready().go()


def test_a_note_is_a_sensors_word_and_a_waiver_the_referees() -> None:
    table = ready()
    table.no(SLOW, "TABLE-1", actor=RIA)
    table.do(SLOW, actor=BRIDGE)
    table.no(WaivePad(device="box"), "TABLE-1", actor=BRIDGE)
