"""companion profile table, and read-dice by what it learnt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import pytest

from companion.app import cli
from vision.dice.profile import load_table
from vision.render.cube import Die, Livery
from vision.render.lens import Camera
from vision.render.scene import Scene

CAMERA = Camera(lens_mm=(80.0, 60.0, 220.0), look_mm=(90.0, 55.0), across_deg=50.0, size_px=(720, 440))
TABLE = Scene(size_mm=(180.0, 110.0), marks=None, cloth="felt", seed=5)
IVORY = Livery(body=(0.8, 0.9, 0.93), ink=(0.06, 0.06, 0.06), gloss=0.2)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """(status, standard output, standard error) of ``companion WORDS``."""
    with pytest.raises(SystemExit) as ended:
        cli.main(list(words))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def picture(path: Path, *values: int) -> str:
    dice = tuple(
        Die(
            value=v,
            owner="",
            livery=IVORY,
            kind="d6-pips",
            xy_mm=(50.0 + 40 * n, 50.0),
            angle_deg=15.0 + 20 * n,
        )
        for n, v in enumerate(values)
    )
    cv2.imwrite(str(path), replace(TABLE, dice=dice).picture(CAMERA, len(values)))
    return str(path)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where profiles are kept, apart from those of whoever runs this."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def test_a_table_is_learnt_kept_and_read_by(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "rolls" / "ann").mkdir(parents=True)
    empty = picture(home / "empty.png")
    for values in ((1, 6), (4, 3)):
        name = "-".join(str(value) for value in values)
        picture(home / "rolls" / "ann" / f"{name}.png", *values)
    learning = ("profile", "table", "oak", "--empty", empty, "--rolls", str(home / "rolls"), "--json")
    status, out, _ = run(capsys, *learning)
    told: dict[str, Any] = json.loads(out)
    assert status == 0
    assert told["faces"] == {"1": 1, "2": 0, "3": 1, "4": 1, "5": 0, "6": 1}
    assert (told["is_camera_still"], told["has_surface"], told["owners"]) == (True, False, {"ann": 4})
    assert load_table(Path(told["path"])).name == "oak"
    status, out, _ = run(capsys, "read-dice", "--profile", "oak", "--json", picture(home / "now.png", 5, 2))
    assert status == 0
    assert sorted(die["value"] for die in json.loads(out)["dice"]) == [2, 5]
    status, out, _ = run(capsys, "profile", "table", "oak", "--empty", empty)
    assert "more rolls" not in out
    assert len(load_table(Path(told["path"])).faces) >= 4, "without new rolls the old faces stay"


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("profile", "table", "a/b", "--empty", "{empty}"), "no name for a table"),
        (("profile", "table", "oak", "--empty", "{home}/none.png"), "No such file"),
        (("profile", "table", "oak", "--empty", "{empty}", "--rolls", "{home}/none"), "is no folder"),
        (("profile", "table", "oak", "--empty", "{empty}", "--rolls", "{home}/bare"), "holds no pictures"),
        (("profile", "table", "oak", "--empty", "{empty}", "--die-mm", "2"), "5 to 60 mm"),
        (("profile", "table", "oak", "--empty", "{empty}", "--marker-mm", "1"), "5 to 200 mm"),
        (("profile", "table", "oak", "--empty", "{empty}", "--table-mm", "big"), "--table-mm"),
        (("read-dice", "--profile", "oak", "{empty}"), "companion profile table oak"),
        (("read-dice", "--profile", "{home}/x.table.npz", "{empty}"), "no table profile"),
    ],
)
def test_what_cannot_be_is_one_line(
    words: tuple[str, ...], wrong: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "bare").mkdir()
    (home / "x.table.npz").write_bytes(b"no profile")
    empty = picture(home / "empty.png")
    status, out, err = run(capsys, *(word.format(home=home, empty=empty) for word in words))
    assert (status, out) == (2, "")
    assert wrong in err
    assert err.count("\n") == 1
    assert not (home / "data" / "companion" / "dice").exists(), "nothing is kept of what failed"
