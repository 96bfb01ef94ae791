"""The commands that read the cards of a Tacta table: what they print, and one clear line where something is wrong."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from companion.app.cli import cli
from companion.core.geometry import Pose
from companion.games.tacta.deck import read
from companion.games.tacta.faces import Face, chained, faces_of
from companion.games.tacta.layouts import layouts_of
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard
from vision.render.visitors import Hand

DECK = files("companion.games.tacta") / "data" / "deck-b.json"
SIZE_MM = (330.0, 250.0)
CAMERA = Camera(
    lens_mm=(190.0, 150.0, 620.0), look_mm=(165.0, 125.0), across_deg=33.0, size_px=(760, 590), noise=2.0
)
KEYS = {
    "frame", "event", "card", "colour", "flipped", "pose_mm_deg", "u_mm", "verdict", "rule", "because", "measured_mm",
    "candidates",
}  # fmt: skip
SEQUENCE = Path(__file__).parents[4] / "shared" / "data" / "tacta" / "sequence"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starting card; then, with a hand before it, a card that misses it by 5 mm; and a torn file."""
    made = tmp_path_factory.mktemp("table")
    deck = read(DECK.read_text(encoding="utf-8"))
    layouts = {layout.id: layout for layout in layouts_of(deck)}
    start = LaidCard(layouts["start"], "", False, Pose(130.3, 75.7, 11.3))
    joint = faces_of(deck).joints(Face("start", False), Face("circle-3", False))[0]
    right = chained(start.pose, joint.pose)
    wrong = LaidCard(
        layouts["circle-3"], "green", False, Pose(right.x_mm + 3, right.y_mm + 4, right.angle_deg)
    )
    table = CardTable(size_mm=SIZE_MM, laid=(start,), seed=4)
    both = CardTable(size_mm=SIZE_MM, laid=(start, wrong), seed=4)
    hand = CardTable(size_mm=SIZE_MM, laid=(start,), visitors=(Hand(tip_mm=(150.0, 120.0)),), seed=4)
    for name, shown in (("a", table), ("b-hand", hand), ("c", both)):
        assert cv2.imwrite(str(made / f"{name}.png"), shown.picture(CAMERA, ord(name[0])))
    (made / "d.png").write_bytes(b"no picture")
    return made


def asked(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def corners() -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in CardTable(size_mm=SIZE_MM).corners_px(CAMERA))


def test_each_event_is_a_line_with_the_verdict_and_a_hand_is_none(folder: Path) -> None:
    done = asked(
        "watch-tacta", str(folder), "--deck", str(DECK), "--corners", corners(), "--table-mm", "330,250", "--json"
    )  # fmt: skip
    start, card, torn = (json.loads(line) for line in done.output.splitlines())
    assert done.exit_code == 1, "one file was no picture"
    assert set(start) == KEYS and (start["frame"], start["card"], start["verdict"]) == (
        "a.png",
        "start",
        "ok",
    )
    assert (card["frame"], card["event"], card["card"], card["colour"]) == (
        "c.png",
        "placed",
        "circle-3",
        "green",
    )
    assert (card["verdict"], card["rule"]) == ("breach", "TACTA-7")
    assert card["measured_mm"] == pytest.approx(5.0, abs=card["u_mm"] + start["u_mm"])
    assert set(torn) == {"frame", "error"} and torn["frame"] == "d.png"


def test_a_photograph_is_read_as_far_as_it_goes(folder: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.png"
    where = ("--corners", corners(), "--table-mm", "330,250")
    done = asked(
        "read-tacta", str(folder / "c.png"), "--deck", str(DECK), *where, "--picture", str(drawn), "--json"
    )
    (row,) = (json.loads(line) for line in done.output.splitlines())
    assert done.exit_code == 0 and {"cards", "unknown"} <= set(row)
    (green,) = (card for card in row["cards"] if card["colour"] == "green")
    assert (green["card"], green["flipped"]) == ("circle-3", False)
    assert cv2.imread(str(drawn)) is not None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--corners", "1,2 3,4", "--table-mm", "330,250"), "top left"),
        (("--corners", "1,2 3,4 5,6 7,8"), "--table-mm"),
        (("--table-mm", "wide"), "width and height"),
        (("--deck", "nowhere.json"), "--deck nowhere.json"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(folder: Path, words: tuple[str, ...], why: str) -> None:
    for command in ("watch-tacta", "read-tacta"):
        done = asked(command, str(folder / "a.png"), *words)
        assert done.exit_code != 0
        assert why in f"{done.output}{done.exception}" and "Traceback" not in done.output


def test_corners_that_span_no_table_are_said_of_the_photograph(folder: Path) -> None:
    where = ("--corners", "0,0 0,500 700,500 700,0", "--table-mm", "330,250", "--deck", str(DECK))
    done = asked("read-tacta", str(folder / "a.png"), *where)
    assert done.exit_code == 1 and "clockwise" in done.output and len(done.output.splitlines()) == 1
    done = asked("watch-tacta", str(folder / "a.png"), *where)
    assert done.exit_code == 1 and "clockwise" in done.output


def test_a_photograph_of_something_else_is_said_to_hold_no_table(tmp_path: Path) -> None:
    path = tmp_path / "wall.png"
    assert cv2.imwrite(str(path), np.full((300, 400, 3), 140, np.uint8))
    done = asked("read-tacta", str(path), "--deck", str(DECK))
    assert done.exit_code == 1 and "no card of this deck" in done.output
    done = asked("watch-tacta", str(tmp_path), "--deck", str(DECK))
    assert done.exit_code == 1 and "no card of this deck" in done.output


@pytest.mark.skipif(
    not SEQUENCE.is_dir(), reason=f"NOT RUN: {SEQUENCE} is missing: no sequence with truth to watch"
)
def test_the_first_cards_of_a_shared_sequence_are_judged_as_they_were_laid() -> None:
    truth = json.loads((SEQUENCE / "0101.json").read_text())
    where = " ".join(f"{x},{y}" for x, y in truth["table_corners_px"])
    pictures = [str(SEQUENCE / f"0101-f{name}.jpg") for name in ("00", "01", "01h", "02")]
    done = asked(
        "watch-tacta", *pictures, "--deck", str(DECK), "--corners", where, "--table-mm", "1000,690", "--json"
    )  # fmt: skip
    rows = [json.loads(line) for line in done.output.splitlines()][1:]
    assert len(rows) == 2 and done.exit_code == 0
    for row, laid in zip(rows, truth["placements"], strict=False):
        assert (row["card"], row["colour"], row["flipped"]) == (laid["card"], laid["colour"], laid["flipped"])
        assert row["verdict"] == "breach" and row["measured_mm"] == pytest.approx(laid["miss_mm"], abs=0.5)
        assert np.hypot(*np.subtract(row["pose_mm_deg"][:2], laid["pose_mm_rad"][:2])) < 0.5
