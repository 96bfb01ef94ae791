"""Dice on a board whose owners enrolled them: read against their own faces."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from companion.app import boards
from companion.app.cli import cli
from companion.app.map_sheets import house_map
from companion.app.settings import SettingsError
from companion.core.observation import BoardDie
from companion.games.tahwars.mapfile import written
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_matching import FaceShot
from vision.dice.numerals_profile import FaceTaker, NumeralProfile
from vision.encoding import save
from vision.render.board import TOWERS, Block, BoardScene
from vision.render.boards import DiceSet, any_set, any_terrains, usual_marks
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, with_numerals
from vision.render.polyhedra_solids import SIDES
from vision.render.scene import Scene
from vision.towers.board import BoardReader
from vision.towers.dice import BoardDiceReader

MARKS = usual_marks()
CAMERA = Camera(
    lens_mm=(470.0, 235.0, 1180.0), look_mm=(452.0, 249.0), roll_deg=1.0, across_deg=49.0, size_px=(2304, 1296),
    blur_px=1.0, noise=3.0,
)  # fmt: skip
NEAR = Camera(
    lens_mm=(300.0, 200.0, 380.0),
    look_mm=(300.0, 200.0),
    across_deg=16.5,
    size_px=(420, 420),
    blur_px=0.6,
    noise=2.0,
)
KINDS = ("d8", "d12")
SHOWN = {"d8": (2, 5, 7), "d12": (4, 8, 11)}


def shots_of(of: DiceSet) -> tuple[FaceShot, ...]:
    """A picture of each face of two of the dice, as an owner takes them."""
    rng, taker, found = np.random.default_rng(5), FaceTaker(), []
    for kind in KINDS:
        for shown in range(1, SIDES[kind] + 1):
            x, y = (rng.uniform(-12, 12, 2) + np.array((300, 200))).tolist()
            die = PolyDie(
                look=of.looks[kind], shown=shown, xy_mm=(x, y), radius_mm=of.radius_mm[kind],
                angle_deg=float(rng.uniform(0, 360)),
            )  # fmt: skip
            scene = Scene(marks=None, cloth="felt", light=Lamp(), seed=shown)
            taken = taker.taken(with_numerals(scene, [die], NEAR, shown), kind, str(shown))
            assert taken is not None
            found.append(taken)
    return tuple(found)


@pytest.fixture(scope="module")
def own() -> DiceSet:
    return any_set(np.random.default_rng((4242, 1)), "red")


@pytest.fixture(scope="module")
def shots(own: DiceSet) -> tuple[FaceShot, ...]:
    return shots_of(own)


@pytest.fixture(scope="module")
def thrown(own: DiceSet) -> tuple[np.ndarray, dict[tuple[float, float], tuple[str, int]]]:
    """A picture of a board with six dice, and what each shows."""
    dice, truth = [], {}
    places = [(x, y) for y in (170.0, 330.0) for x in (300.0, 450.0, 600.0)]
    wanted = [(kind, shown) for kind in KINDS for shown in SHOWN[kind]]
    for (kind, shown), place in zip(wanted, places, strict=True):
        look = own.looks[kind]
        dice.append(
            PolyDie(look=look, shown=shown, xy_mm=place, radius_mm=own.radius_mm[kind], angle_deg=place[0])
        )
        truth[place] = (kind, shown)
    scene = BoardScene(
        marks=MARKS, terrains=any_terrains(np.random.default_rng(2), 10), light=Lamp(), seed=3,
        towers=(Block(tag=10, xy_mm=(120.0, 110.0), heading_deg=33.0, height_mm=150.0, colour=TOWERS["red"]),),
    )  # fmt: skip
    ground = scene.ground(CAMERA)
    return replace(scene, dice=tuple(dice)).picture(CAMERA, 1, ground), truth


def right(dice: tuple[BoardDie, ...], truth: dict[tuple[float, float], tuple[str, int]]) -> tuple[int, int]:
    """(how many numbers are told, how many of them are right)."""
    told = [die for die in dice if die.value is not None]
    near = [min(truth, key=lambda at: float(np.hypot(*np.subtract(at, die.xy_mm)))) for die in told]
    return len(told), sum(truth[at][1] == die.value for at, die in zip(near, told, strict=True))


def test_enrolled_dice_are_told_by_their_own_faces(
    shots: tuple[FaceShot, ...], thrown: tuple[np.ndarray, dict[tuple[float, float], tuple[str, int]]]
) -> None:
    frame, truth = thrown
    alone = right(BoardReader(MARKS, None, BoardDiceReader()).read(frame).dice, truth)
    known = BoardReader(MARKS, None, BoardDiceReader(sets={"red": shots})).read(frame).dice
    told = right(known, truth)
    assert told[0] == told[1] >= max(alone[1], 5)
    assert {die.owner for die in known} == {"red"}


def test_dice_enrolled_under_a_towers_colour_are_that_owners(
    shots: tuple[FaceShot, ...],
    thrown: tuple[np.ndarray, dict[tuple[float, float], tuple[str, int]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = boards.profile_path("red", must_exist=False)
    path.parent.mkdir(parents=True)
    NumeralProfile("red", shots, Conventions()).save(path)
    assert boards.enrolled_sets() == {"red": path}
    board, picture = tmp_path / "map.json", tmp_path / "board.png"
    save(picture, thrown[0])
    board.write_text(written(house_map("ring")))
    done = CliRunner().invoke(cli, ["read-board", "--map", str(board), "--json", str(picture)])
    assert done.exit_code == 0, done.output
    assert sum(die["value"] is not None for die in json.loads(done.output)["dice"]) >= 5
    with path.open("wb") as file:
        np.savez(file, pieces=np.zeros(1))
    done = CliRunner().invoke(cli, ["read-board", "--map", str(board), str(picture)])
    assert "enrol the dice again" in str(done.exception)
    with pytest.raises(SettingsError, match="enrol the dice again"):
        boards.lookout((files("companion.games.tahwars") / "data" / "house.json").read_text(encoding="utf-8"))
