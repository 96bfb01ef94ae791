"""Dice with numerals on the command line: what is asked wrongly costs one line that says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import pytest

from companion.app.cli import main
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, PolyLook, with_numerals
from vision.render.scene import Scene

CAMERA = Camera(lens_mm=(296, 198, 400), look_mm=(300, 200), across_deg=14, size_px=(300, 300), blur_px=0.5)
LOOK = PolyLook(kind="d6", body=(0.55, 0.2, 0.1), ink=(1, 1, 1), height=1.1)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """(exit status, standard output, standard error) of one command."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def picture(path: Path, number: int, shot: int) -> None:
    """A photograph of one die with this number up."""
    die = PolyDie(
        look=LOOK,
        shown=number,
        xy_mm=(300 + 3 * shot, 200),
        radius_mm=12.5,
        angle_deg=40 * shot + 11 * number,
    )
    lamp = Lamp(place_mm=(250.0 + 200 * shot, -250.0, 1100.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), with_numerals(Scene(marks=None, light=lamp), [die], CAMERA, shot))


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("enrol", "dice", "d", "--from", ".", "--die", "d7"), "no kind of die 'd7'"),
        (("enrol", "dice", "d", "--from", ".", "--die", "d20", "--zero", "5"), "counts 10 or 0"),
        (("enrol", "dice", "d", "--from", ".", "--zero", "0"), "--die KIND"),
        (("enrol", "dice", "d", "--from", "nowhere", "--die", "d20"), "no folder"),
        (("enrol", "dice", "d", "--from", ".", "--die", "d20"), "holds no pictures"),
        (("enrol", "dice", "d", "--die", "d20"), "--camera SOURCE"),
        (("enrol", "dice", "d", "--die", "d8", "--camera", "x.png", "--faces", "9"), "no face of a d8"),
        (("read-dice", "--kind", "numerals", "--dice", "d7", "x.png"), "no kind of die 'd7'"),
        (("read-dice", "--kind", "numerals", "--zero", "3", "x.png"), "counts 10 or 0"),
    ],
)
def test_what_is_asked_wrongly_costs_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], hint: str
) -> None:
    code, out, err = run(capsys, *words)
    assert code == 2 and out == ""
    assert hint in err and err.count("\n") == 1


def test_a_face_that_the_die_has_not_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture(tmp_path / "set" / "d6-numeral" / "7" / "0.png", 6, 0)
    code, _, err = run(capsys, "enrol", "dice", "d", "--from", "set")
    assert code == 2 and "7 is no face of a d6-numeral" in err


def test_dice_are_enrolled_from_a_folder_and_read_by_their_own_faces(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for number in range(1, 7):
        for shot in range(2):
            picture(tmp_path / "set" / "d6-numeral" / str(number) / f"{shot}.png", number, shot)
    code, out, _ = run(capsys, "enrol", "dice", "mine", "--from", "set", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["faces"] == {f"d6-numeral {number}": 2 for number in range(1, 7)}
    assert told["margin"] > 0 and told["unused"] == []
    for number in (2, 5):
        picture(tmp_path / f"{number}.png", number, 3)
    code, out, _ = run(capsys, "read-dice", "--kind", "mine", "--json", "2.png", "5.png")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [[(die["kind"], die["value"]) for die in row["dice"]] for row in rows] == [
        [("d6-numeral", 2)],
        [("d6-numeral", 5)],
    ]
