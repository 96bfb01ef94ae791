"""TAH WARS as camera and tower sensors see it: castles, launched and pushed dice, hits with and without agreement."""

from __future__ import annotations

from typing import Any

import pytest
from tahwars_table import STRIPES, TahTable

from companion.core import command as k
from companion.core.observation import (
    BoardDie,
    BoardRested,
    DieDropped,
    DieNearTower,
    Pressed,
    TowerHit,
    TowerSeen,
)
from companion.games.tahwars import commands as c

rule = pytest.mark.rule
COLOURS = {"s1": "red", "s2": "blue", "s3": "green"}
PLACES = {"s1": (225.0, 100.0), "s2": (375.0, 400.0), "s3": (225.0, 400.0)}


class Watched(TahTable):
    """A table under a camera. `dice`: what lies there, by seat and kind; `towers`: where they stand."""

    def __init__(self, players: int = 2, **options: Any) -> None:
        super().__init__(players, **options)
        self.frame, self.hits = 0, 0
        self.towers = {f"s{n}": (*PLACES[f"s{n}"], 0.0) for n in range(1, players + 1)}
        self.dice: dict[tuple[str, str], tuple[int | None, float, float]] = {}

    def rest(self, confidence: float = 0.99, seen_ns: int | None = None, **more: Any) -> Watched:
        """The camera sees the board at rest; `seen_ns`: it did so then and tells it only now."""
        self.frame += 1
        towers = tuple(
            TowerSeen(tag=9 + int(seat[1:]), xy_mm=(x, y), heading_deg=turn, u_mm=1.0, u_deg=0.5)
            for seat, (x, y, turn) in self.towers.items()
        )
        dice = tuple(
            BoardDie(kind=kind, value=value, confidence=confidence, xy_mm=(x, y), box_px=(0, 0, 1, 1), u_mm=1.0,
                     owner=COLOURS[seat], on_board=0 <= x <= 900 and 0 <= y <= 500)
            for (seat, kind), (value, x, y) in self.dice.items()
        )  # fmt: skip
        self.v.now_ns += 1_000_000_000
        seen = BoardRested(
            source="camera",
            seen_ns=self.v.now_ns if seen_ns is None else seen_ns,
            uncertainty_ns=0,
            frame=self.frame,
            towers=towers,
            dice=dice,
            **more,
        )
        self.v.step(seen)
        return self

    def felt(self, seat: str) -> Watched:
        """A tower's sensor feels something."""
        self.hits += 1
        self.v.step(TowerHit(source="towers", seen_ns=self.v.now_ns, uncertainty_ns=0, input=int(seat[1:]), boot=1,
                             n=self.hits, peak=900, width_us=400))  # fmt: skip
        return self

    def near(self, seat: str, kind: str, tower: str, gap_mm: float = -1.0) -> Watched:
        """The camera sees a rolling die near a tower."""
        self.v.step(DieNearTower(source="camera", seen_ns=self.v.now_ns, uncertainty_ns=0, frame=self.frame, kind=kind,
                                 tag=9 + int(tower[1:]), gap_mm=gap_mm, u_mm=0.5, owner=COLOURS[seat]))  # fmt: skip
        return self

    def begun(self) -> Watched:
        """Phase 4 of the first round; everything was seen, not clicked."""
        self.do(c.LayMap(map=STRIPES)).rest()
        self.do(c.ChooseFirst(first="s1"))
        while self.game.phase == "launch":
            seat = self.game.turn
            for n, kind in enumerate(("d4", "d6", "d8")):
                self.dice[seat, kind] = (3, 30.0 + 30 * n, 60.0 + 60 * int(seat[1:]))
                self.rest()
        self.to("actions", gather=False)
        for (seat, kind), (value, x, y) in self.dice.items():
            piece = self.p(seat).dice[kind]
            assert piece.xy_mm == (x, y) and value is not None
            self.dice[seat, kind] = (piece.shown, x, y)
        return self

    def armed(self) -> Watched:
        """Two active dice for the first player, in phase 4."""
        self.begun().ends("s1").round_done()
        for key in [key for key in self.dice if key[0] == "s1"]:
            del self.dice[key]
        while self.game.phase != "recruit":
            if self.game.phase == "orders":
                self.order_next(gather=self.game.turn == "s1")
            else:
                self.quests_done()
        for kind in ("d6", "d8"):
            self.rich("s1").do(c.Recruit(seat="s1", kind=kind))
        self.to("actions")
        while self.game.turn != "s1":
            self.ends()
        for seat in self.game.players:
            for kind, piece in self.p(seat).dice.items():
                if piece.place == "board" and piece.xy_mm:
                    self.dice[seat, kind] = (piece.shown, *piece.xy_mm)
        return self.rest()


def test_castles_and_launched_dice_are_taken_as_seen() -> None:
    table = Watched().begun()
    castle = table.p("s2").castle
    assert castle is not None and castle.xy_mm == PLACES["s2"] and castle.terrains == ("mountains",)
    assert table.p("s1").dice["d6"].terrains == ("rivers",)
    before = table.game
    assert table.rest().game == before, "what lies as it lay is nothing new"


def test_a_move_is_measured_when_all_is_still_and_a_wrong_one_told_once() -> None:
    table = Watched().begun()
    x, y, _ = table.towers["s1"]
    table.towers["s1"] = (x + 160.0, y, 0.0)
    table.rest().rest()
    assert [ruling.verdict.value for ruling in table.rulings("TAH-15")] == ["breach"]
    table.towers["s1"] = (x + 60.0, y, 1.0)
    table.rest()
    assert table.game.doing.moved == "move" and table.rulings("TAH-15")[-1].verdict.value == "ok"


@rule("TAH-37", "ok")
def test_another_tower_that_was_shifted_goes_back() -> None:
    table = Watched().begun()
    x, y, _ = table.towers["s2"]
    table.towers["s2"] = (x - 20.0, y, 0.0)
    table.rest()
    assert table.rulings("TAH-37")[-1].seat == "s2" and table.p("s2").castle.xy_mm == (x, y)


@rule("TAH-33", "ok")
def test_a_pushed_die_is_noticed_by_its_launch_and_one_moved_by_hand_goes_back() -> None:
    table = Watched().armed()
    value, x, y = table.dice["s2", "d8"]
    table.dice["s2", "d8"] = (value, x + 100.0, y)
    table.rest()
    assert "goes back" in table.rulings("TAH-33")[-1].because, "nothing was dropped"
    table.dice["s2", "d8"] = (7, x + 120.0, y)
    table.dice["s1", "d6"] = (2, 300.0, 60.0)
    table.rest()
    assert table.p("s1").dice["d6"].place == "board"
    assert (table.p("s2").dice["d8"].number, table.p("s2").dice["d8"].terrains) == (7, ("forest",))


@rule("TAH-25", "ok")
def test_a_die_that_counts_otherwise_where_it_lay_is_asked_after_a_drop_and_else_left_alone() -> None:
    table = Watched().armed()
    value, x, y = table.dice["s2", "d8"]
    table.dice["s2", "d8"] = (8, x, y)
    before = table.game
    assert table.rest().game == before and not table.view().open_proposals
    table.v.step(DieDropped(source="towers", seen_ns=table.v.now_ns, uncertainty_ns=0, input=1, boot=1, n=9, peak=1,
                            width_us=1))  # fmt: skip
    table.dice["s2", "d8"] = (7, x, y)
    asked = table.rest().view().open_proposals
    assert [(proposal.confidence, table.p("s2").dice["d8"].number) for proposal in asked] == [(0.7, value)]


def test_dice_off_the_board_are_told_apart_by_whose_they_are() -> None:
    table = Watched().armed()
    table.dice["s2", "d8"] = (5, -40.0, 100.0)
    table.dice["s1", "d6"] = (2, 950.0, 60.0)
    table.rest()
    assert (table.p("s2").dice["d8"].place, table.p("s1").dice["d6"].place) == ("home", "off")
    del table.dice["s2", "d6"]
    table.rest()
    asked = table.view().open_proposals
    assert len(asked) == 1 and "not seen any more" in asked[0].reading
    assert len(table.rest().view().open_proposals) == 1, "asked once"


def test_a_die_that_is_read_badly_is_asked() -> None:
    table = Watched().armed()
    table.dice["s1", "d6"] = (2, 300.0, 60.0)
    table.rest(confidence=0.6)
    asked = table.view().open_proposals
    assert len(asked) == 1 and asked[0].confidence == 0.6
    assert asked[0].confirm is not None
    table.do(asked[0].confirm.command)
    assert table.p("s1").dice["d6"].number == 2


@rule("TAH-20", "ok")
@pytest.mark.parametrize(
    ("is_felt", "gap_mm", "confidence", "words"),
    [
        (True, -1.0, 0.95, "agree"),
        (False, -1.0, 0.4, "its sensor felt nothing"),
        (True, 30.0, 0.4, "the camera saw no die there"),
        (False, 30.0, None, ""),
    ],
)
def test_sensor_and_camera_are_heard_together(
    is_felt: bool, gap_mm: float, confidence: float | None, words: str
) -> None:
    table = Watched().armed()
    table.v.step(Pressed(source="towers", seen_ns=table.v.now_ns, uncertainty_ns=0, input=2, boot=1, n=1))
    table.do(c.DeclareAttack(seat="s1", dice=("d6",)))
    table.v.step(DieDropped(source="towers", seen_ns=table.v.now_ns, uncertainty_ns=0, input=1, boot=1, n=1, peak=1,
                            width_us=1))  # fmt: skip
    if is_felt:
        table.felt("s2")
    table.near("s1", "d6", "s2", gap_mm)
    table.dice["s1", "d6"] = (6, 300.0, 60.0)
    table.rest()
    assert table.p("s1").dice["d6"].number == 6
    asked = table.view().open_proposals
    assert [proposal.confidence for proposal in asked] == ([confidence] if confidence else [])
    if confidence:
        assert words in asked[0].reading and asked[0].evidence and asked[0].confirm is not None
        assert table.refused(c.SettleAttack(seat="s1")) == "TAH-20"
        table.do(asked[0].confirm.command)
        assert "D6 6 + attack 1 = 7" in str(table.view().zones[0].rows)
    table.do(c.SettleAttack(seat="s1"))


def test_a_tower_without_a_sensor_goes_by_the_camera() -> None:
    table = Watched().armed().do(k.AssignPad(seat="s2"), c.DeclareAttack(seat="s1", dice=("d6", "d8")))
    table.near("s1", "d6", "s2").near("s1", "d8", "s1")
    table.dice["s1", "d6"] = (6, 300.0, 60.0)
    table.rest()
    assert [proposal.confidence for proposal in table.view().open_proposals] == [0.7]
    table.dice["s1", "d8"] = (6, 300.0, 120.0)
    assert len(table.rest().view().open_proposals) == 1, "one's own tower is never hit"


def test_a_towers_box_may_feel_hits_on_another_input_than_its_button() -> None:
    table = Watched().armed().do(k.AssignPad(seat="s2", device="box-9", input=1))
    table.do(c.DeclareAttack(seat="s1", dice=("d6",)))
    table.v.step(TowerHit(source="box-9", seen_ns=table.v.now_ns, uncertainty_ns=0, input=2, boot=1, n=1, peak=9,
                          width_us=4))  # fmt: skip
    table.near("s1", "d6", "s2")
    table.dice["s1", "d6"] = (6, 300.0, 60.0)
    assert [proposal.confidence for proposal in table.rest().view().open_proposals] == [0.95]


def test_what_happened_more_than_ten_seconds_ago_is_forgotten() -> None:
    table = Watched().armed().do(c.DeclareAttack(seat="s1", dice=("d6",))).felt("s2")
    table.v.now_ns += 11_000_000_000
    table.dice["s1", "d6"] = (6, 300.0, 60.0)
    assert table.rest().view().open_proposals == ()
    assert table.p("s1").dice["d6"].place == "board"


def test_a_picture_from_before_the_turn_that_is_read_late_says_nothing_of_it() -> None:
    table = Watched().armed()
    x, y, _ = table.towers["s1"]
    table.towers["s1"] = (x + 60.0, y, 1.0)
    table.dice["s1", "d6"] = (2, 450.0, 250.0)
    table.rest(seen_ns=table.game.since_ns - 1)
    assert table.p("s1").dice["d6"].place == "population" and not table.game.doing.moved
    table.rest().rest()
    assert table.game.doing.moved == "move"
    (asked,) = table.v.sitting.proposals
    assert asked.command == c.DropDie(seat="s1", kind="d6", shows=2, xy_mm=(450.0, 250.0)), (
        "it lay there before"
    )
    table.dice["s1", "d8"] = (5, 500.0, 250.0)
    table.rest()
    assert table.p("s1").dice["d8"].place == "board" and table.p("s1").dice["d6"].place == "population"


def test_a_picture_that_is_too_dark_says_nothing() -> None:
    table = Watched().armed()
    before = table.game
    table.dice.clear()
    assert table.rest(flags=("too_dark",)).game == before and not table.view().open_proposals


def test_what_may_be_no_die_at_all_and_what_was_never_seen_are_nothing() -> None:
    table = Watched().armed()
    table.do(c.DropDie(seat="s1", kind="d8", shows=3, terrains=("city",)))
    before = table.game
    table.dice["s1", "d6"] = (5, 940.0, 60.0)
    assert table.rest(confidence=0.3).game == before
    del table.dice["s1", "d6"]
    assert table.rest().view().open_proposals == (), "the D8 was clicked, the camera never saw it"
