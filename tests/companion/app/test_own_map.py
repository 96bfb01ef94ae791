"""companion run --map: an own or a house map is the first that a table of TAH WARS offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.app.play import data_on_map
from companion.app.settings import SettingsError, game_named, shipped_data
from companion.games.tahwars.deck import read


def test_a_map_by_name_or_file_comes_first(tmp_path: Path) -> None:
    game = game_named("tahwars")
    house = shipped_data(game)
    assert read(data_on_map(game, house, "ridge")).maps[0].name == "ridge"
    path = tmp_path / "kitchen.json"
    path.write_text(
        '{"board_mm": [300, 300], "terrains": [{"kind": "city", "polygon_mm": [[0, 0], [90, 0], [90, 90]]}]}'
    )
    assert read(data_on_map(game, house, str(path))).maps[0].name == "kitchen"
    assert data_on_map(game, house, "") == house


def test_what_is_no_map_is_said(tmp_path: Path) -> None:
    game = game_named("tahwars")
    bad = tmp_path / "bad.json"
    bad.write_text('{"board_mm": [300, 300],\n "terrains": []}')
    for of, word, said in (
        (game, str(bad), "line 2: nothing is painted"),
        (game, str(tmp_path / "none.json"), "No such file"),
        (game, "../x", "no name for a map"),
        (game_named("tada"), "ring", "without a map"),
    ):
        with pytest.raises(SettingsError, match=said):
            data_on_map(of, shipped_data(of), word)
