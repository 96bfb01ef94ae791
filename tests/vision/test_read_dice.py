"""Pips read in pictures drawn here, and in real photographs where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.core.observation import DieSeen
from vision.dice.drawn import draw
from vision.dice.profiled import ProfiledReader
from vision.dice.reading import KIND, PipsReader, Reading
from vision.dice.report import as_json, as_text, look_at, roll_json, roll_text
from vision.dice.rolls import Roll
from vision.dice.table_setup import empty_profile
from vision.surface import Marks

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data" / "dice"
WHITE, BLACK, RED, GREEN = (235, 240, 240), (25, 25, 28), (40, 40, 190), (70, 130, 40)
PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, 1), (-1, 1), (1, -1)],
    5: [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)],
    6: [(-1, -1), (1, 1), (-1, 1), (1, -1), (-1, 0), (1, 0)],
}


def table(colour: Sequence[int] = (90, 120, 100), size: tuple[int, int] = (420, 600)) -> np.ndarray:
    """A cloth with a little grain and uneven light."""
    rng = np.random.default_rng(5)
    light = np.linspace(0.9, 1.08, size[1])[None, :, None]
    cloth = np.ones((*size, 3)) * colour * light + rng.normal(0, 3, (*size, 1))
    return np.clip(cloth, 0, 255).astype(np.uint8)


def lay(
    picture: np.ndarray,
    value: int,
    xy: tuple[float, float],
    side: float,
    turn_deg: float,
    body: Sequence[int] = WHITE,
    pip: Sequence[int] = BLACK,
) -> None:
    """Draw a die from straight above, four times too large and then shrunk, with a soft shadow."""
    shade = np.zeros(picture.shape[:2], np.float32)
    square = cv2.boxPoints(((xy[0] + side * 0.07, xy[1] + side * 0.09), (side, side), turn_deg))
    cv2.fillConvexPoly(shade, square.astype(np.int32), 0.45)
    shade = cv2.GaussianBlur(shade, (0, 0), side * 0.08)[:, :, None]
    picture[:] = (picture * (1 - shade)).astype(np.uint8)
    big = 4
    rows, columns = picture.shape[:2]
    layer = np.zeros((rows * big, columns * big, 3), np.uint8)
    mask = np.zeros((rows * big, columns * big), np.uint8)
    inner = cv2.boxPoints(((xy[0] * big, xy[1] * big), (side * 0.8 * big, side * 0.8 * big), turn_deg))
    cv2.polylines(mask, [inner.astype(np.int32)], True, 255, int(side * 0.2 * big))
    cv2.fillConvexPoly(mask, inner.astype(np.int32), 255)
    layer[mask > 0] = body
    angle = np.radians(turn_deg)
    for u, v in PIPS[value]:
        x = xy[0] + 0.27 * side * (u * np.cos(angle) - v * np.sin(angle))
        y = xy[1] + 0.27 * side * (u * np.sin(angle) + v * np.cos(angle))
        cv2.circle(layer, (int(x * big), int(y * big)), int(0.095 * side * big), [int(c) for c in pip], -1)
        cv2.circle(
            layer,
            (int((x - 0.03 * side) * big), int((y - 0.03 * side) * big)),
            int(0.03 * side * big),
            WHITE,
            -1,
        )
    cover = cv2.resize(mask, (columns, rows), interpolation=cv2.INTER_AREA)[:, :, None] / 255.0
    small = cv2.resize(layer, (columns, rows), interpolation=cv2.INTER_AREA)
    picture[:] = np.clip(picture * (1 - cover) + small, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def reader() -> PipsReader:
    return PipsReader()


def values(reading: Reading) -> list[int]:
    return sorted(int(die.value) for die in reading.dice if die.value is not None)


@pytest.mark.parametrize(
    ("body", "pip"), [(WHITE, BLACK), (BLACK, WHITE), (RED, WHITE), ((60, 200, 235), BLACK)]
)
@pytest.mark.parametrize("side", [34, 56])
def test_each_value_is_read_turned_and_with_glints_in_its_pips(
    reader: PipsReader, body: Sequence[int], pip: Sequence[int], side: int
) -> None:
    picture = table()
    places = [(90, 110), (280, 100), (480, 120), (100, 300), (300, 310), (500, 290)]
    for value, (xy, turn) in enumerate(zip(places, (5, 33, 61, 80, 20, 47), strict=True), 1):
        lay(picture, value, xy, side, turn, body, pip)
    reading = reader.read(picture)
    assert values(reading) == [1, 2, 3, 4, 5, 6]
    assert reading.flags == ()
    for value, xy in enumerate(places, 1):
        die = next(die for die in reading.dice if die.value == value)
        x0, y0, x1, y1 = die.box_px
        assert abs((x0 + x1) / 2 - xy[0]) < 0.2 * side
        assert abs((y0 + y1) / 2 - xy[1]) < 0.2 * side
        assert die.kind == KIND
        assert die.reason is None
        assert 0.5 < die.confidence <= 1.0


def test_a_small_and_a_large_picture_of_the_same_roll_read_alike(reader: PipsReader) -> None:
    picture = table(size=(840, 1200))
    for value, xy in ((2, (250, 240)), (4, (800, 250)), (6, (500, 600))):
        lay(picture, value, xy, 100, 25)
    for scale in (0.25, 0.5, 1.0, 2.0):
        scaled = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        assert values(reader.read(scaled)) == [2, 4, 6], scale


def test_an_empty_table_has_no_dice_and_a_dark_one_says_so(reader: PipsReader) -> None:
    assert reader.read(table()) == Reading((), ("no_dice",))
    dark = reader.read((table() * 0.06).astype(np.uint8))
    assert set(dark.flags) == {"no_dice", "too_dark"}


def beside(empty: np.ndarray) -> ProfiledReader:
    """The reader that a picture of the bare table makes."""
    return ProfiledReader(empty_profile("", empty, Marks()))


def test_a_known_empty_table_keeps_printed_pips_from_being_read() -> None:
    empty = table()
    lay(empty, 5, (120, 120), 56, 10)  # a printed die: it was there before
    now = empty.copy()
    lay(now, 3, (400, 250), 56, 30, RED, WHITE)
    assert values(beside(empty).read(now)) == [3]
    assert values(PipsReader().read(now)) == [3, 5]


def test_lamp_and_exposure_may_change_against_the_empty_table() -> None:
    empty = table()
    now = empty.copy()
    lay(now, 6, (300, 200), 56, 30)
    brighter = np.clip(now.astype(np.float32) * 1.12 + 6, 0, 255).astype(np.uint8)
    assert values(beside(empty).read(brighter)) == [6]


def test_a_die_cut_by_the_rim_is_not_guessed(reader: PipsReader) -> None:
    picture = table()
    lay(picture, 4, (300, 200), 60, 15)
    lay(picture, 5, (8, 330), 60, 0)
    reading = reader.read(picture)
    assert values(reading) == [4]
    assert [die.reason for die in reading.dice if die.value is None] in ([], ["cut_off"])


def test_the_json_line_and_the_line_for_people(tmp_path: Path, reader: PipsReader) -> None:
    picture = table()
    lay(picture, 2, (150, 150), 56, 15)
    lay(picture, 5, (400, 250), 56, 40)
    file = tmp_path / "roll.png"
    cv2.imwrite(str(file), picture)
    row = json.loads(json.dumps(look_at(file, reader).row))
    assert set(row) == {"image", "dice", "flags", "ms"}
    assert row["image"] == str(file)
    assert [set(die) for die in row["dice"]] == [{"kind", "value", "box_px", "confidence", "reason"}] * 2
    assert as_text(row) == f"{file}: 2 5"
    bad = look_at(tmp_path / "absent.png", reader).row
    assert set(bad) == {"image", "error"}
    assert "\n" not in as_text(bad)


def test_only_dice_that_are_somebodys_have_an_owner() -> None:
    dice = tuple(
        DieSeen(kind="ours", value="arrow", box_px=(0, 0, 9, 9), confidence=0.9, owner=of)
        for of in ("Ann", "")
    )
    told = [die.get("owner") for die in as_json("roll.jpg", Reading(dice, ()), 1.0)["dice"]]
    assert told == ["Ann", None]


def test_unread_dice_are_named_with_their_reason() -> None:
    box = [0, 0, 9, 9]
    dice = [
        {"kind": KIND, "value": v, "box_px": box, "confidence": 0.9, "reason": r}
        for v, r in ((4, None), (2, None), (None, "cocked"), (4, None))
    ]
    row = {"image": "roll.jpg", "dice": dice, "flags": [], "ms": 1.0}
    assert as_text(row) == "roll.jpg: 2 4 4 (one not read: cocked)"
    assert as_text({**row, "dice": [], "flags": ["no_dice", "too_dark"]}) == "roll.jpg: no dice [too dark]"


def test_the_drawing_marks_each_die_and_leaves_the_frame_alone(reader: PipsReader) -> None:
    picture = table()
    lay(picture, 3, (300, 200), 56, 15)
    before = picture.copy()
    reading = reader.read(picture)
    drawn = draw(picture, reading.dice, reading.flags)
    assert (picture == before).all()
    scale = drawn.shape[1] / picture.shape[1]
    assert scale == 1.5, "small pictures are enlarged, so that the words can be read"
    x0, y0, x1, y1 = (round(side * scale) for side in reading.dice[0].box_px)
    frame = drawn[y0 - 1 : y1 + 2, x0 - 1 : x1 + 2].astype(int)
    assert (frame[..., 1] - frame[..., 2] > 100).any(), "a green line stands around a die that was read"


def test_as_json_keeps_what_was_seen_but_not_read(reader: PipsReader) -> None:
    row = as_json("x", Reading((), ("no_dice",)), 3.14159)
    assert row == {"image": "x", "dice": [], "flags": ["no_dice"], "ms": 3.1}


def test_a_d100_and_a_d10_are_told_as_what_they_count_together() -> None:
    tens = DieSeen(kind="d100", value=0, box_px=(0, 0, 40, 40), confidence=0.9)
    ones = DieSeen(kind="d10", value=10, box_px=(60, 0, 100, 40), confidence=0.9)
    row = as_json("x.jpg", Reading((tens, ones)), 1.0)
    assert row["percents"] == [100]
    assert as_text(row) == "x.jpg: 0 10 (percent: 100)"
    roll = roll_json("film.mp4", Roll(1, 0, (tens, ones)), 0)
    assert roll_text(roll) == "film.mp4 at 0.0 s, roll 1: 0 10 (percent: 100)"
    assert "percents" not in as_json("x.jpg", Reading((tens,)), 1.0)


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no real photographs at {SHARED}")
@pytest.mark.parametrize(("name", "least_right"), [("nell_train", 0.8), ("n3v", 0.85)])
def test_real_photographs(reader: PipsReader, name: str, least_right: float) -> None:
    rows = [row for row in json.loads((SHARED / "labels.json").read_text()) if row["set"] == name][:8]
    there = right = 0
    for row in rows:
        result = look_at(SHARED / row["image"], reader).row
        there += len(row["dice"])
        left = [die["value"] for die in row["dice"]]
        for die in result["dice"]:
            if die["value"] in left:
                left.remove(die["value"])
                right += 1
    assert right >= least_right * there
