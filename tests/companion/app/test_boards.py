"""The commands for boards: what is printed of photographs, and one clear line where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.app.boards import load_map
from companion.app.cli import cli
from companion.app.map_desk import MapAsked, MapDesk, photographed
from companion.app.map_sheets import HOUSE_MAPS, house_map
from companion.app.settings import SettingsError
from companion.games.tahwars.mapfile import read_map, written
from vision.frame import load
from vision.surface import NoSurfaceError
from web_ui.maps import AreaOf, MapError

TABLES = Path(__file__).parents[4] / "shared" / "data" / "towers"


@pytest.fixture(scope="module")
def tables() -> Path:
    if not TABLES.is_dir():
        pytest.skip(f"the rendered tables are not there: {TABLES}")
    return TABLES


def test_a_move_against_the_stick_is_told_with_place_and_rule(tables: Path) -> None:
    images = [str(tables / f"0001-{part}.jpg") for part in "ab"]
    done = CliRunner().invoke(cli, ["read-board", "--map", str(tables / "0001.json"), "--json", *images])
    assert done.exit_code == 0, done.output
    first, second = (json.loads(line) for line in done.output.splitlines())
    truth = json.loads((tables / "0001.json").read_text())
    assert set(first) == {"image", "towers", "dice", "moves"} and first["moves"] == []
    for row, told in ((first, truth["a"]), (second, truth["b"])):
        places = {tower["tag"]: tower for tower in row["towers"]}
        for tower in told["towers"]:
            assert places[tower["tag"]]["xy_mm"] == pytest.approx([tower["x"], tower["y"]], abs=3)
    (move,) = second["moves"]
    assert move["tag"] == 14 and move["kind"] == "move"
    assert (move["verdict"], move["rule"]) == ("breach", "TAH-15")
    assert move["moved_mm"] == pytest.approx(157.1, abs=1)
    near = [
        min(abs(d["xy_mm"][0] - x) + abs(d["xy_mm"][1] - y) for d in first["dice"])
        for x, y in (die["xy_mm"] for die in truth["a"]["dice"])
    ]
    assert max(near) < 8


def test_what_is_no_map_or_no_board_is_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"board_mm": [900, 500]}')
    with pytest.raises(SettingsError, match=r"bad\.json: this is no map"):
        load_map(bad)
    bare = tmp_path / "bare.json"
    plain = json.loads(written(house_map("ring")))
    del plain["corner_tags"]
    bare.write_text(json.dumps(plain))
    done = CliRunner().invoke(cli, ["read-board", "--map", str(bare), "nothing.jpg"])
    assert "has no 'corner_tags'" in str(done.exception)


@pytest.mark.parametrize("name", HOUSE_MAPS)
def test_house_maps_are_printed_in_true_millimetres(name: str, tmp_path: Path) -> None:
    out = tmp_path / "map.svg"
    done = CliRunner().invoke(cli, ["print", "map", name, "-o", str(out)])
    assert done.exit_code == 0, done.output
    text = out.read_text(encoding="utf-8")
    assert 'width="992mm" height="592mm" viewBox="-46 -46 992 592"' in text
    assert text.count("<polygon") == len(house_map(name).terrains)


def test_a_photograph_of_a_board_becomes_a_map_in_millimetres(tables: Path, tmp_path: Path) -> None:
    flat, laid = photographed(load(tables / "0002-a.jpg"), "mine", MapAsked())
    assert laid.board_mm == pytest.approx((900, 500), abs=2.5)
    exact = photographed(load(tables / "0002-a.jpg"), "mine", MapAsked(board_mm=(900, 500)))[1]
    assert exact.corner_tags is not None
    assert exact.corner_tags.centres_mm[2] == pytest.approx((922, 522), abs=0.5)
    desk = MapDesk(laid, flat, tmp_path / "mine.json", None)
    shown = desk.paint([AreaOf(kind="forest", polygon=((0, 0), (90, 0), (90, 90)), name="Wood")], 0)
    assert not shown.faults and not shown.is_kept
    desk.keep()
    assert read_map((tmp_path / "mine.json").read_text(encoding="utf-8")).terrains[0].name == "Wood"
    with pytest.raises(MapError, match="changed on another page"):
        desk.paint([], 0)
    with pytest.raises(MapError, match="no terrain 'lava'"):
        desk.paint([AreaOf(kind="lava", polygon=((0, 0), (9, 0), (9, 9)))], 1)


def test_a_photograph_without_markers_is_refused_and_says_which(tables: Path) -> None:
    picture = load(tables / "0002-a.jpg")[300:900, 400:1700]
    with pytest.raises(NoSurfaceError, match=r"tag 0 \(top left\), 1 .* is not seen: lay tags 0 to 3"):
        photographed(picture, "mine", MapAsked())
