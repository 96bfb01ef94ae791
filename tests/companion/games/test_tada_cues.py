"""Lights and sounds go to the pads that they concern: places to their seats, a dead heat to all who are in it."""

from __future__ import annotations

from tada_table import TadaTable

from companion.core.cue import Cue
from companion.games.tada import commands as c


def last(table: TadaTable, pattern: str) -> Cue:
    return next(cue for cue in reversed(table.cues) if cue.pattern == pattern)


def test_a_slam_and_its_place_light_the_pad_that_was_slammed() -> None:
    table = TadaTable(4).to_cast()
    table.finish(1, 5000)
    table.finish(2, 6000)
    assert last(table, "slam").pads == ("s2",)
    assert last(table, "place_1").pads == ("s1",)
    assert last(table, "place_2").pads == ("s2",)
    assert last(table, "place_1").target == "all", "everybody hears it"


def test_a_dead_heat_blinks_on_all_who_share_the_place() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 7000, 15, clock="box/1", own_ms=0.2)
    table.finish(2, 7020, 15, clock="hat/1", own_ms=0.2)
    assert last(table, "dead_heat").pads == ("s1", "s2")
    assert "Ben is number 1 in a dead heat." in last(table, "dead_heat").text


def test_a_dead_heat_for_the_last_place_blinks_until_it_is_settled() -> None:
    table = TadaTable(4, dead_heat="referee").to_cast()
    table.finish(1, 5000)
    table.finish(2, 6000, 40)
    table.finish(3, 6030, 40)
    heat = last(table, "dead_heat")
    assert (heat.pads, heat.text) == (
        ("s2", "s3"),
        "Cid's spell is complete, in a dead heat for the last place.",
    )
    table.end()
    table.do(c.SettleHeat(of="place", winners=("s3",)))
    assert (table.cues[-1].pattern, table.cues[-1].pads) == ("place_2", ("s3",))


def test_what_is_wrong_lights_the_pad_of_whom_it_concerns() -> None:
    table = TadaTable(3).to_cast()
    table.slam(2, 3000)
    table.verify(2, complete=False)
    assert last(table, "void").pads == ("s2",)
    assert last(table, "go").pads == (), "GO is everybody's"
