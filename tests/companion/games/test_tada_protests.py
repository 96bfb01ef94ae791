"""A slam that becomes known when later ones stand in the order: noted, shown with what it would change, for 60 s."""

from __future__ import annotations

import pytest
from tada_table import CLOCK, TadaTable

from companion.core.ruling import Verdict
from companion.core.seat import PUBLIC, REFEREE
from companion.core.show import show
from companion.core.view import ClockShown, View
from companion.games.tada import GAME
from companion.games.tada import commands as c

rule = pytest.mark.rule


def after_the_end(players: int = 4) -> TadaTable:
    """Ann and Ben have the two places; the end is called; Cid's earlier slam comes 10 s later."""
    table = TadaTable(players).to_cast()
    table.finish(1, 5000)
    table.finish(2, 5200)
    table.end()
    table.slam(3, 4900, heard_ms=15_000, call=False)
    return table


def protest_rows(view: View) -> list[str]:
    return [row.text for zone in view.zones if zone.id == "protests" for row in zone.rows]


def window(view: View) -> ClockShown | None:
    return next((clock for clock in view.clocks if clock.id == "protest"), None)


@rule("TADA-19", "ok")
def test_the_page_shows_what_a_protest_would_change_and_for_how_long() -> None:
    table = after_the_end()
    assert table.places() == {"s1": 1, "s2": 2}, "the result is what it was"
    for viewer in (REFEREE, PUBLIC):
        view = show(GAME, table.sitting, viewer)
        (text,) = protest_rows(view)
        assert "4.900 s after GO" in text
        assert "Cid: no place becomes place 1" in text
        assert "Ann: place 1 becomes place 2" in text
        assert "Ben: place 2 becomes none" in text
        clock = window(view)
        assert clock is not None
        assert clock.ends_ns == table.ns(75_000)


@rule("TADA-19", "ok")
def test_a_protest_that_the_referee_grants_changes_the_places() -> None:
    table = after_the_end()
    table.verify(3, ms=20_000)
    assert table.places() == {"s3": 1, "s1": 2, "s2": 0}
    assert protest_rows(table.view()) == []
    assert window(table.view()) is None


@rule("TADA-19", "ok")
def test_a_protest_that_nobody_takes_up_lapses_after_sixty_seconds() -> None:
    table = after_the_end()
    table.pass_time(74_999)
    table.no(c.Resolve(), "TADA-15")
    table.pass_time(75_000)
    assert protest_rows(table.view()) == []
    assert "the result stands" in table.last("TADA-19").because
    assert table.places() == {"s1": 1, "s2": 2}
    table.verify(3, ms=80_000)
    assert table.places()["s3"] == 1, "people may look at it all the same"


@rule("TADA-19", "breach")
def test_the_window_closes_at_its_time_and_only_then() -> None:
    table = after_the_end()
    table.no(c.CloseProtests(), "TADA-19", ms=70_000, actor=CLOCK)
    table.pass_time(75_000)
    table.no(c.CloseProtests(), "TADA-19", actor=CLOCK)


@rule("TADA-19", "ok")
def test_a_slam_that_was_overtaken_during_the_cast_is_a_protest_too() -> None:
    table = TadaTable(4).to_cast()
    table.finish(1, 5000)
    table.slam(2, 4800, heard_ms=9000)
    assert [slam.n for slam in table.game.protests] == [table.entries[-1].n]
    assert table.last("TADA-19").verdict is Verdict.TOO_CLOSE
    assert "Ben: no place becomes place 1" in protest_rows(table.view())[0]
    assert window(table.view()) is None, "it is open as long as they cast"
    table.pass_time(120_000)
    assert table.game.casters["s2"].pending is not None
    table.verify(2)
    assert table.places() == {"s2": 1, "s1": 2}


def test_a_slam_that_comes_late_but_overtakes_nobody_is_a_slam() -> None:
    table = TadaTable(4).to_cast()
    table.slam(2, 4800, heard_ms=9000)
    assert table.game.protests == ()
