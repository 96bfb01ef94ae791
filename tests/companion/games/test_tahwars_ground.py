"""The painted ground: terrains, borders, areas, and verdicts no finer than what was measured."""

from __future__ import annotations

import json
from importlib.resources import files

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.core.ruling import Verdict
from companion.games.tahwars.ground import (
    CastleAt,
    Ground,
    Measured,
    castle_foot,
    die_foot,
    faults,
    gaps,
    is_on_map,
    judge,
    likeliest_kind,
)
from companion.games.tahwars.mapfile import read_map, written
from companion.games.tahwars.maps import CornerTags, Map, Terrain

BOARD = Map(
    board_mm=(300, 200),
    terrains=(
        Terrain(kind="forest", polygon_mm=((0, 0), (100, 0), (100, 200), (0, 200))),
        Terrain(kind="rivers", polygon_mm=((100, 0), (200, 0), (200, 100), (100, 100))),
        Terrain(kind="city", polygon_mm=((100, 100), (200, 100), (200, 200), (100, 200))),
        Terrain(kind="forest", polygon_mm=((250, 0), (300, 0), (300, 200), (250, 200))),
        Terrain(kind="forest", polygon_mm=((200, 0), (240, 0), (240, 50), (200, 50))),
    ),
)
GROUND = Ground(BOARD)


def test_a_tenth_of_a_footprint_in_each_terrain_makes_a_border() -> None:
    assert GROUND.terrains_of(castle_foot((96, 50), 0, 60)) == ("forest", "rivers")
    assert GROUND.terrains_of(castle_foot((73, 50), 0, 60)) == ("forest",)  # a twentieth lies in the river
    assert GROUND.terrains_of(castle_foot((100, 100), 45, 60)) == ("forest", "rivers", "city")
    assert GROUND.terrains_of(die_foot((220, 150), 16)) == ()  # unpainted ground gives nothing
    assert GROUND.terrain_at((220, 150)) is None
    # Only the part that lies on the map counts.
    assert GROUND.shares(castle_foot((0, 100), 0, 60)) == {"forest": pytest.approx(1.0)}


def test_areas_that_touch_are_one_and_others_are_not() -> None:
    assert len(GROUND.areas["forest"]) == 3
    one, other, far = die_foot((20, 20), 16), die_foot((80, 180), 16), die_foot((280, 20), 16)
    assert GROUND.is_in_same_area("forest", one, other)
    assert not GROUND.is_in_same_area("forest", one, far)
    assert not GROUND.is_in_same_area("rivers", one, other)
    joined = Ground(
        msgspec.structs.replace(
            BOARD,
            terrains=(
                *BOARD.terrains,
                Terrain(kind="forest", polygon_mm=((240, 0), (250, 0), (250, 50), (240, 50))),
            ),
        )
    )
    assert len(joined.areas["forest"]) == 2


def test_a_place_tells_how_far_another_terrain_is() -> None:
    assert GROUND.border_mm((60, 100)) == pytest.approx(40)
    assert GROUND.border_mm((220, 150)) == pytest.approx(20)


@pytest.mark.parametrize(
    ("kind", "moved", "turned", "verdict", "rule"),
    [
        ("move", (119, 0.5), (3, 0.4), Verdict.OK, "TAH-15"),
        ("move", (119.8, 0.5), (3, 0.4), Verdict.TOO_CLOSE, "TAH-15"),
        ("move", (121, 0.5), (3, 0.4), Verdict.BREACH, "TAH-15"),
        ("move", (60, 0.5), (-10.2, 0.4), Verdict.TOO_CLOSE, "TAH-15"),
        ("move", (60, 0.5), (-11, 0.4), Verdict.BREACH, "TAH-15"),
        ("rotate", (4, 0.5), (170, 0.4), Verdict.OK, "TAH-16"),
        ("rotate", (4.8, 0.5), (170, 0.4), Verdict.TOO_CLOSE, "TAH-16"),
        ("rotate", (6, 0.5), (-90, 0.4), Verdict.BREACH, "TAH-16"),
    ],
)
def test_a_move_is_judged_no_finer_than_it_was_measured(
    kind: str, moved: tuple[float, float], turned: tuple[float, float], verdict: Verdict, rule: str
) -> None:
    found = judge(kind, Measured(*moved), Measured(*turned), 120.0)
    assert (found.verdict, found.rule) == (verdict, rule)
    assert f"{moved[0]:.1f} mm" in found.because


def test_which_of_both_was_meant_goes_by_what_was_done_more() -> None:
    assert likeliest_kind(Measured(0.3, 0.4), Measured(0.2, 0.4)) is None
    assert likeliest_kind(Measured(7.8, 0.4), Measured(55, 0.4)) == "rotate"
    assert likeliest_kind(Measured(39, 0.4), Measured(15.6, 0.4)) == "move"


@given(st.floats(-60, 60), st.floats(-60, 60), st.floats(-180, 180))
def test_room_between_castles_is_the_same_from_both_sides(x: float, y: float, turn: float) -> None:
    one = CastleAt(name="a", xy_mm=(0, 0), heading_deg=0, u_mm=0.5)
    other = CastleAt(name="b", xy_mm=(x + 100, y), heading_deg=turn, u_mm=0.5)
    (gap,), (back,) = gaps([one, other], 68, 30), gaps([other, one], 68, 30)
    assert gap.gap_mm.value == pytest.approx(back.gap_mm.value, abs=1e-6)
    if gap.verdict is Verdict.OK:
        assert gap.gap_mm.value >= 30


def test_a_d20_must_pass_and_a_castle_stays_on_the_map() -> None:
    def at(name: str, x: float) -> CastleAt:
        return CastleAt(name=name, xy_mm=(x, 100), heading_deg=0, u_mm=0.5)

    wide, close, narrow = (gaps([at("a", 0), at("b", x)], 68, 30)[0].verdict for x in (99.5, 98.2, 96))
    assert (wide, close, narrow) == (Verdict.OK, Verdict.TOO_CLOSE, Verdict.BREACH)
    assert is_on_map(at("a", 40), 68, (300, 200)) is Verdict.OK
    assert is_on_map(at("a", 30), 68, (300, 200)) is Verdict.BREACH


@pytest.mark.parametrize("name", ["delta", "ring", "ridge", "islands"])
def test_the_house_maps_are_sound_and_come_back_as_they_were_written(name: str) -> None:
    text = (files("companion.games.tahwars") / "data" / f"map-{name}.json").read_text(encoding="utf-8")
    found = read_map(text)
    assert read_map(written(found)) == found
    ground = Ground(found)
    assert {area.kind for area in found.terrains} == {"rivers", "forest", "mountains", "neonite", "city"}
    assert sum(outline.area for outline in ground.outlines) == pytest.approx(900 * 500, rel=0.002)


def test_a_bad_map_is_told_with_its_line_and_what_to_do() -> None:
    plain = json.loads(written(BOARD))
    plain["terrains"][1]["polygon_mm"] = [[90, 0], [200, 0], [200, 100], [90, 100]]
    text = json.dumps(plain, indent=1)
    with pytest.raises(
        ValueError, match=r"line \d+: areas 1 \(forest\) and 2 \(rivers\) overlap by 1000 square mm"
    ):
        read_map(text)
    plain["terrains"][1] = {"kind": "lava", "polygon_mm": [[0, 0], [9, 9], [9, 0], [0, 9]]}
    with pytest.raises(ValueError, match="there is no terrain 'lava'"):
        read_map(json.dumps(plain))
    for bad in ("[", "{}", '{"board_mm": [900], "terrains": []}', "[" * 100_000):
        with pytest.raises(ValueError, match="this is no"):
            read_map(bad)


def test_a_sliver_between_areas_painted_by_hand_is_no_fault() -> None:
    left = Terrain(kind="city", polygon_mm=((0, 0), (100.4, 0), (100.4, 200), (0, 200)))
    right = Terrain(kind="forest", polygon_mm=((100, 0), (300, 0), (300, 200), (100, 200)))
    found = msgspec.structs.replace(BOARD, terrains=(left, right))
    assert faults(found) == ()
    assert Ground(found).terrain_at((50, 50)) == "city"


def test_outlines_that_cross_themselves_and_tags_in_one_line_are_faults() -> None:
    crossed = msgspec.structs.replace(
        BOARD, terrains=(Terrain(kind="city", polygon_mm=((0, 0), (90, 90), (90, 0), (0, 90))),)
    )
    assert "crosses itself" in faults(crossed)[0].words
    tags = CornerTags(ids=(0, 1, 2), centres_mm=((0, 0), (100, 0), (200, 0)), side_mm=32)
    assert "all in one line" in faults(msgspec.structs.replace(BOARD, corner_tags=tags))[0].words
