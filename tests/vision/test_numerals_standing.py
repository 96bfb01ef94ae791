"""A d4 that stands on a face: its outline, and its number by the sides that its enrolled pictures taught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vision.archive import read_arrays, write_arrays
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_enrolled import EnrolledNumeralReader
from vision.dice.numerals_looks import Pose, cut
from vision.dice.numerals_matching import SHOT_REACH, FaceShot
from vision.dice.numerals_outline import CORNER_PX, WHOLE_PX, whole_of, wholes
from vision.dice.numerals_profile import NumeralProfile, load_numerals
from vision.dice.numerals_standing import StandingDie
from vision.frame import Frame
from vision.profile import EnrolError
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, PolyLook, PolyTruth, truth_of, with_numerals
from vision.render.polyhedra_numerals import Typeface
from vision.render.scene import Scene

STYLES = ("tip", "base")


def shown(style: str, number: int, seed: int) -> tuple[Frame, PolyTruth]:
    """A picture of one die that shows this number, its place and light by the seed."""
    rng = np.random.default_rng((seed, number))
    look = PolyLook(kind="d4", style=style, body=(0.5, 0.15, 0.1), ink=(1, 1, 1), face=Typeface(weight=0.16))
    place = 300 + rng.uniform(-12, 12, 2)
    die = PolyDie(
        look=look,
        shown=number,
        xy_mm=(float(place[0]), float(place[1])),
        angle_deg=float(rng.uniform(0, 360)),
    )
    camera = Camera(
        lens_mm=(300, 300, 400), look_mm=(300, 300), across_deg=9, size_px=(200, 200), blur_px=0.6, noise=2.0
    )
    lamp = Lamp(place_mm=(float(rng.uniform(0, 600)), -200.0, 1000.0))
    frame = with_numerals(Scene(marks=None, light=lamp, cloth="felt", seed=seed % 2), [die], camera, seed)
    return frame, truth_of(die, camera)


def about(truth: PolyTruth) -> Pose:
    """Where a reader may believe the die to lie: not quite in its place."""
    x0, y0, x1, y1 = truth.box_px
    return Pose((x0 + x1) / 2 + 3, (y0 + y1) / 2 - 4, 0.9 * truth.radius_px)


@pytest.fixture(scope="module")
def shots() -> dict[str, tuple[FaceShot, ...]]:
    """Style -> two enrolled pictures of each number."""
    found: dict[str, tuple[FaceShot, ...]] = {}
    for style in STYLES:
        for number in (1, 2, 3, 4):
            for seed in range(2):
                frame, truth = shown(style, number, seed)
                pose = about(truth)
                whole = wholes(frame, pose)[0].picture
                shot = FaceShot("d4", str(number), cut(frame, pose, SHOT_REACH), whole)
                found[style] = (*found.get(style, ()), shot)
    return found


def test_the_outline_lies_in_the_middle_and_has_one_size() -> None:
    frame, truth = shown("tip", 2, 5)
    for grown in (0.7, 1.0, 1.4):
        pose = about(truth)
        found = wholes(frame, Pose(pose.x_px, pose.y_px, grown * pose.radius_px))[0]
        assert found.picture.shape == (WHOLE_PX, WHOLE_PX, 3)
        assert abs(found.base.middle - complex(WHOLE_PX / 2, WHOLE_PX / 2)) < 4
        assert abs(found.base.corner) == pytest.approx(CORNER_PX, rel=0.05)
        again = whole_of(found.picture)
        assert again is not None and again.base.is_like(found.base)


def test_where_no_triangle_lies_there_is_no_outline() -> None:
    table = np.random.default_rng(1).integers(100, 110, (200, 200, 3)).astype(np.uint8)
    assert wholes(table, Pose(100, 100, 25)) == []
    table[60:140, 60:140] = (20, 30, 200)
    assert wholes(table, Pose(100, 100, 40)) == []


@pytest.mark.parametrize("style", STYLES)
def test_its_number_is_known_again_wherever_it_stands(
    shots: dict[str, tuple[FaceShot, ...]], style: str
) -> None:
    told = [(shot.text, whole_of(shot.whole)) for shot in shots[style] if shot.whole is not None]
    die = StandingDie([(text, whole) for text, whole in told if whole is not None])
    for number in (1, 2, 3, 4):
        frame, truth = shown(style, number, 7)
        best = die.fits(wholes(frame, about(truth)))[0]
        assert best.text == str(number)
        assert best.score > 0.7


def test_too_few_numbers_are_refused(shots: dict[str, tuple[FaceShot, ...]]) -> None:
    wholly = [(shot.text, whole_of(shot.whole)) for shot in shots["tip"][:4] if shot.whole is not None]
    with pytest.raises(ValueError, match="three of its numbers"):
        StandingDie([(text, whole) for text, whole in wholly if whole is not None])


def test_the_reader_takes_the_sides_from_the_file(
    shots: dict[str, tuple[FaceShot, ...]], tmp_path: Path
) -> None:
    path = tmp_path / "mine.dice.npz"
    NumeralProfile("mine", shots["tip"], Conventions(kinds=("d4",))).save(path)
    reader = EnrolledNumeralReader(load_numerals(path))
    frame, _ = shown("tip", 3, 9)
    assert [(die.kind, die.value) for die in reader.read(frame).dice] == [("d4", 3)]


def test_a_file_from_before_dice_were_kept_whole_is_read_and_a_damaged_one_refused(
    shots: dict[str, tuple[FaceShot, ...]], tmp_path: Path
) -> None:
    path = tmp_path / "mine.dice.npz"
    NumeralProfile("mine", shots["tip"], Conventions()).save(path)
    arrays = read_arrays(path, 1_000_000)
    before = {name: value for name, value in arrays.items() if not name.startswith("whole")}
    write_arrays(path, before)
    assert all(shot.whole is None for shot in load_numerals(path).shots)
    for name in ("wholes", "whole_lengths"):
        write_arrays(path, {**arrays, name: arrays[name][:-1]})
        with pytest.raises(EnrolError, match="enrol the dice again"):
            load_numerals(path)
