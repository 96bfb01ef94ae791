"""The order of a running cast as it goes out to all who listen."""

from __future__ import annotations

from companion.app.verdicts import VerdictTeller, verdict
from companion.core.game import Sitting
from companion.games.tada import GAME
from companion.games.tada.model import Tada
from companion.runtime.desk import Snapshot
from firmware_bridge.verdict import Verdict

from tada_table import TadaTable  # isort: skip


def picture(sitting: Sitting[Tada], provisional: Sitting[Tada]) -> Snapshot:
    return Snapshot(version=1, head="", at_ns=0, sitting=sitting, provisional=provisional)


def test_pads_that_cannot_be_told_apart_are_one_group() -> None:
    table = TadaTable(4).to_cast()
    assert verdict(GAME, table.sitting, is_final=True) is None
    table.slam(2, 5000, 0.4)
    table.slam(1, 5000.9, 0.5)
    table.slam(3, 5100, 2.0)
    told = verdict(GAME, table.sitting, is_final=True)
    assert told == Verdict(
        round=1, rank=(("box/1", "box/2"), ("box/3",)), ties=1, window_ms=2.5, unc_ms=2.0, final=True
    )


def test_a_seat_is_told_by_its_own_device_or_by_its_id_where_it_has_none() -> None:
    table = TadaTable(1).to_cast()
    table.slam(1, 5000)
    told = verdict(GAME, table.sitting, is_final=False)
    assert told is not None
    assert (told.rank, told.final) == ((("box",),), False)
    table = TadaTable(1, pads=False).to_cast()
    table.slam(1, 5000)
    told = verdict(GAME, table.sitting, is_final=False)
    assert told is not None
    assert told.rank == (("s1",),)


def test_each_change_is_told_once_provisional_then_final() -> None:
    table = TadaTable(2).to_cast()
    before = table.sitting
    table.slam(1, 5000)
    told: list[Verdict] = []
    teller = VerdictTeller(GAME, told.append)
    teller.changed(picture(before, before))
    teller.changed(picture(before, table.sitting))
    teller.changed(picture(before, table.sitting))
    teller.changed(picture(table.sitting, table.sitting))
    teller.changed(picture(table.sitting, table.sitting))
    assert [(one.rank, one.final) for one in told] == [((("box/1",),), False), ((("box/1",),), True)]
