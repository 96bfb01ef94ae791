"""A table's profile: kept in a file that may come from anybody, learnt from rolls, and read by."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.archive import write_arrays
from vision.dice.finding import changed
from vision.dice.pips import FACE_PX
from vision.dice.poses import LearntView, SurfaceView, fit, fit_leaning, fit_stacked
from vision.dice.profile import (
    NO_FACE,
    LearntFace,
    ProfileError,
    TableProfile,
    load_table,
)
from vision.dice.profiled import ProfiledReader
from vision.dice.roll_folder import LIST, roll_pictures
from vision.dice.table_setup import RollPicture, SetUp, empty_profile, set_up
from vision.frame import Frame
from vision.learn import crop_around
from vision.render.cube import Die, Livery
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.surface import Marks

MARKS = Marks(marker_mm=20.0, size_mm=(180.0, 110.0))
CAMERA = Camera(
    lens_mm=(70.0, 95.0, 230.0), look_mm=(90.0, 55.0), across_deg=50.0, size_px=(800, 480), noise=2.0
)
TABLE = Scene(size_mm=(180.0, 110.0), marks=MARKS, cloth="felt", light=Lamp(ambient=0.6), seed=3)
RED = Livery(body=(0.12, 0.1, 0.75), ink=(0.95, 0.95, 0.95), gloss=0.2)
IVORY = Livery(body=(0.8, 0.9, 0.93), ink=(0.06, 0.06, 0.06), gloss=0.2)


def die(value: int, x: float, y: float, turn: float = 20.0, livery: Livery = RED) -> Die:
    return Die(value=value, owner="", livery=livery, kind="d6-pips", xy_mm=(x, y), angle_deg=turn)


def seen(*dice: Die, level: float = 1.0, scene: Scene = TABLE) -> Frame:
    lit = replace(scene, dice=dice, light=replace(scene.light, level=level))
    return lit.picture(CAMERA, tick=len(dice))


ROLLS = (
    (die(1, 40, 60), die(6, 95, 40, 50)),
    (die(2, 60, 30, 5), die(5, 120, 70, 35)),
    (die(3, 45, 85, 60), die(4, 100, 60, 10)),
    (die(6, 130, 40, 80), die(2, 70, 75, 15)),
)


@pytest.fixture(scope="module")
def start() -> TableProfile:
    """What the empty table tells."""
    return empty_profile("oak", seen(), MARKS)


@pytest.fixture(scope="module")
def learnt() -> SetUp:
    """A table without markers, from its rolls."""
    bare = replace(TABLE, marks=None)
    rolls = [
        RollPicture(f"{n}.jpg", seen(*dice, scene=bare), tuple(int(d.value) for d in dice), "ann")
        for n, dice in enumerate(ROLLS)
    ]
    return set_up(empty_profile("bare", seen(scene=bare), MARKS), rolls)


def test_dice_are_read_where_they_lie_in_another_light(start: TableProfile) -> None:
    dice = (die(4, 50, 40, 12), die(3, 66.5, 40, 12), die(6, 120, 60, 40, IVORY))
    reading = ProfiledReader(start).read(seen(*dice, level=0.9))
    assert sorted(str(d.value) for d in reading.dice) == ["3", "4", "6"]
    for told in reading.dice:
        assert told.reason is None
        assert told.confidence > 0.9
        assert told.xy_mm is not None
        true = next(d for d in dice if d.value == told.value)
        assert np.hypot(*np.subtract(told.xy_mm, true.xy_mm)) < 3.0


def test_a_die_on_another_one_is_said_to_be_stacked(start: TableProfile) -> None:
    below = die(2, 120, 40, 70)
    above = replace(die(5, 122, 42, 20), lift_mm=16.0)
    reading = ProfiledReader(start).read(seen(above, below))
    assert "stacked" in [d.reason for d in reading.dice]
    assert 5 not in [d.value for d in reading.dice]


def test_a_die_that_leans_is_said_to_be_cocked(start: TableProfile) -> None:
    reading = ProfiledReader(start).read(seen(replace(die(5, 120, 45), tilt_deg=35.0)))
    assert [d.value for d in reading.dice] == [None]
    assert reading.dice[0].reason == "cocked"


def test_a_die_cut_by_the_rim_is_said_to_be_cut_off(start: TableProfile) -> None:
    scene = replace(TABLE, dice=(die(5, 90, 55),))
    box = scene.truth(CAMERA)[0].box_px
    middle = (box[0] + box[2]) // 2
    cut_empty, cut_now = seen()[:, middle:], seen(*scene.dice)[:, middle:]
    profile = empty_profile("cut", np.ascontiguousarray(cut_empty), MARKS)
    profile = replace(profile, side_px=60.0, long_px=max(cut_now.shape[:2]))
    reading = ProfiledReader(profile).read(np.ascontiguousarray(cut_now))
    assert [d.value for d in reading.dice] == [None]
    assert reading.dice[0].reason == "cut_off"


def test_a_die_that_is_elsewhere_in_the_next_frame_is_moving(start: TableProfile) -> None:
    reader = ProfiledReader(start)
    still, now = die(4, 50, 60), die(3, 120, 45)
    assert [d.reason for d in reader.read(seen(still, now)).dice] == [None, None]
    reading = reader.again(seen(still, replace(now, xy_mm=(123.0, 48.0))))
    assert {(d.value, d.reason) for d in reading.dice} == {(4, None), (None, "moving")}


def test_outlines_tell_a_die_at_rest(start: TableProfile) -> None:
    assert start.surface is not None
    view = SurfaceView(start.surface, 16.0)
    flat, leaning = die(4, 60, 45), replace(die(3, 125, 50), tilt_deg=30.0)
    scene = replace(TABLE, dice=(flat, leaning))
    mask = changed(scene.picture(CAMERA), start.empty[0])
    rests, leans = (fit(mask, view, true.centre_px) for true in scene.truth(CAMERA))
    assert rests.overlap > 0.85
    assert fit_leaning(mask, view, rests) < rests.overlap
    assert fit_stacked(mask, view, rests) < rests.overlap
    assert fit_leaning(mask, view, leans) > leans.overlap


def test_a_wrong_size_of_the_markers_is_not_believed(start: TableProfile) -> None:
    wrong = empty_profile("oak", seen(), Marks(marker_mm=50.0))
    reading = ProfiledReader(wrong).read(seen(die(4, 50, 40), die(6, 120, 60, 40)))
    assert [d.value for d in reading.dice] == [4, 6]


def test_rolls_teach_how_dice_are_seen_on_a_table_without_markers(learnt: SetUp) -> None:
    profile = learnt.profile
    assert (learnt.used, learnt.unused) == (4, ())
    assert profile.surface is None
    assert profile.counts() == {1: 1, 2: 2, 3: 1, 4: 1, 5: 1, 6: 2}
    assert profile.view is not None
    true = replace(TABLE, dice=(die(4, 110, 50),)).truth(CAMERA)[0]
    view = LearntView(profile.view[0], profile.view[1:], 1.0)
    edges = [np.hypot(*np.subtract(true.quad_px[k], true.quad_px[k - 1])) for k in range(4)]
    assert view.side_px(true.centre_px) == pytest.approx(np.mean(edges), rel=0.1)


def test_what_was_learnt_is_read_by_and_tells_whose_die_it_is(learnt: SetUp, tmp_path: Path) -> None:
    path = tmp_path / "bare.table.npz"
    learnt.profile.save(path)
    reading = ProfiledReader(load_table(path)).read(
        seen(die(5, 60, 60), die(1, 120, 40, 45), scene=replace(TABLE, marks=None))
    )
    assert sorted((str(d.value), d.owner) for d in reading.dice) == [("1", "ann"), ("5", "ann")]


def test_a_roll_told_wrongly_teaches_nothing(start: TableProfile) -> None:
    dice = (die(4, 50, 40), die(6, 120, 60, 40))
    rolls = [RollPicture("right", seen(*dice), (6, 4)), RollPicture("three", seen(*dice), (6, 4, 1))]
    result = set_up(start, rolls)
    assert (result.used, result.unused) == (1, ("three",))
    assert result.profile.counts()[1] == 0
    with pytest.raises(ProfileError, match="no die was read"):
        set_up(start, [RollPicture("empty", seen(scene=replace(TABLE, marks=None)), (1,))])


def test_a_moved_camera_has_no_empty_picture(start: TableProfile) -> None:
    dice = (die(4, 50, 40), die(6, 120, 60, 40))
    elsewhere = replace(CAMERA, lens_mm=(130.0, 40.0, 260.0), roll_deg=20.0)
    rolls = [RollPicture(str(n), replace(TABLE, dice=dice).picture(elsewhere, n), (4, 6)) for n in range(2)]
    assert set_up(replace(start, surface=None), rolls).profile.empty == ()


def test_a_referee_s_word_is_kept_with_the_profile(start: TableProfile, tmp_path: Path) -> None:
    path = tmp_path / "oak.table.npz"
    frame = seen(die(5, 60, 60))
    told = ProfiledReader(start).read(frame).dice[0]
    told_five = start.learn(crop_around(frame, told.box_px), 5, "ben")
    told_five.learn(crop_around(frame, (0, 0, 60, 60)), None).save(path)
    profile = load_table(path)
    assert [(f.value, f.owner, f.is_corrected) for f in profile.faces] == [
        (5, "ben", True),
        (NO_FACE, "", True),
    ]
    assert profile.edition == start.edition + 2
    assert profile.empty[0].shape == start.empty[0].shape
    assert profile.surface is not None and start.surface is not None
    assert profile.surface.mm((400, 240), 16.0) == pytest.approx(start.surface.mm((400, 240), 16.0), abs=0.3)
    with pytest.raises(ProfileError, match="1 to 6"):
        start.learn(crop_around(frame, told.box_px), 7)


def test_corrections_turn_a_reading(start: TableProfile) -> None:
    """Were all dice of a table mislabelled, enough words of a referee would outweigh the networks."""
    frames = [seen(die(3, 50 + 9 * n, 40 + 5 * n, 21.0 * n)) for n in range(4)]
    profile = start
    for frame in frames:
        box = ProfiledReader(start).read(frame).dice[0].box_px
        for _ in range(4):
            profile = profile.learn(crop_around(frame, box), 5)
    probe = seen(die(3, 100, 60, 30))
    assert ProfiledReader(start).read(probe).dice[0].value == 3
    assert ProfiledReader(profile).read(probe).dice[0].value != 3


def test_of_too_many_faces_those_no_referee_named_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.dice.profile.MOST_FACES", 3)
    blank = np.zeros((FACE_PX, FACE_PX, 3), np.uint8)
    faces = [LearntFace(blank, 1, is_corrected=True), *(LearntFace(blank, value) for value in (2, 3, 4))]
    assert [face.value for face in TableProfile("x").with_faces(faces).faces] == [1, 3, 4]


class _Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path("bomb").touch, ())


@pytest.mark.parametrize("kind", ["text", "zip", "pickle", "numbers", "form", "faces", "picture", "surface"])
def test_a_file_that_is_no_profile_is_one_clear_error(kind: str, start: TableProfile, tmp_path: Path) -> None:
    path = tmp_path / "x.table.npz"
    start.save(path)
    arrays = dict(np.load(path))
    if kind == "text":
        path.write_text("no profile")
    elif kind == "zip":
        path.write_bytes(path.read_bytes()[:-200])
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(_Bomb()))
    else:
        arrays |= {
            "numbers": {"numbers": np.array([np.nan, 0, 16])},
            "form": {"format": np.array(99)},
            "faces": {"faces": np.zeros((1, 5, 5, 3), np.uint8), "owners": np.array(["a"])},
            "picture": {"empty": arrays["empty"][:-90], "empty_ends": arrays["empty_ends"]},
            "surface": {"to_px": np.zeros((3, 3))},
        }[kind]
        write_arrays(path, arrays)
    with pytest.raises(ProfileError, match="companion profile table"):
        load_table(path)


def test_a_folder_of_rolls_is_told_by_names_list_and_owners(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    for name in ("2-4-4.jpg", "6 again.jpg", "0001.jpg", "holiday.jpg", "ann/1-1.jpg"):
        cv2.imwrite(str(tmp_path / name), np.full((40, 60, 3), 90, np.uint8))
    (tmp_path / "torn.jpg").write_bytes(b"no picture")
    (tmp_path / LIST).write_text("image,values\n0001.jpg,3 5\n")
    found = {picture.name: (picture.values, picture.owner) for picture in roll_pictures(tmp_path)}
    assert found == {
        "2-4-4.jpg": ((2, 4, 4), ""),
        "6 again.jpg": ((6,), ""),
        "0001.jpg": ((3, 5), ""),
        "holiday.jpg": (None, ""),
        "ann/1-1.jpg": ((1, 1), "ann"),
    }


@pytest.mark.parametrize(
    ("text", "wrong"), [("a.jpg,7", "line 1"), ("image,values\na.jpg", "line 2"), ("b.jpg,1", "b.jpg")]
)
def test_a_list_of_rolls_that_makes_no_sense_is_said(text: str, wrong: str, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.jpg"), np.full((40, 60, 3), 90, np.uint8))
    (tmp_path / LIST).write_text(text)
    with pytest.raises(ProfileError, match=wrong):
        list(roll_pictures(tmp_path))
