"""companion data check: what an owner's own file lacks, in words, with lines."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from companion.app.cli import main

HOUSE = (resources.files("companion.games.tahwars") / "data" / "house.json").read_text(encoding="utf-8")


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["data", "check", *words])
    return int(ended.value.code or 0)


def test_a_whole_file_lacks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(HOUSE, encoding="utf-8")
    assert run(str(path)) == 0
    assert capsys.readouterr().out == f"{path}: TAH WARS, nothing is missing\n"


def test_all_that_is_missing_is_said_with_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.json"
    text = HOUSE.replace('"stick_mm": 120.0', '"stick_mm": -1').replace('"faces": 12', '"faces": 11')
    path.write_text(text, encoding="utf-8")
    assert run(str(path)) == 1
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 3 and all(line.startswith(f"{path}: ") for line in out)
    assert "line 10: stick_mm" in out[0] and "line 19: die 'd12'" in out[1] and out[2].endswith("2 to mend")
    assert run(str(path), "--json") == 1
    assert len(json.loads(capsys.readouterr().out)["lacks"]) == 2


def test_a_file_of_another_game_is_known_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for game, name in (("tacta", "deck-a.json"), ("tada", "house.toml")):
        path = tmp_path / name
        path.write_text(
            (resources.files(f"companion.games.{game}") / "data" / name).read_text(encoding="utf-8")
        )
        assert run(str(path), "--json") == 0
        assert json.loads(capsys.readouterr().out)["game"] == game


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        ("hello", (), 2, "say for which game"),
        ("hello", ("--game", "chess"), 2, "there is no game"),
        ("hello", ("--game", "tahwars"), 1, ""),
        (None, (), 2, "cannot be read"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_line(
    text: str | None,
    words: tuple[str, ...],
    status: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "mine.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert run(str(path), *words) == status
    err = capsys.readouterr().err
    assert said in err and err.count("\n") <= 1
