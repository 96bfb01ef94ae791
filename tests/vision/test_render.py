"""The rendered table: it is the same for the same values, its truth fits its pictures, and it is no toy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.core.geometry import Pose
from vision.render.cloth import CLOTHS, cloth_tile
from vision.render.cube import BODIES, Die, Livery
from vision.render.drawings import STYLES, SYMBOLS, face_mask
from vision.render.enrolment import enrolment_pictures, write_enrolment
from vision.render.flat import Card, sample_spell
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.liveries import OWNERS
from vision.render.scene import Scene
from vision.render.visitors import Cup, Hand

CAMERA = Camera(lens_mm=(300.0, 220.0, 700.0), look_mm=(300.0, 200.0), size_px=(960, 540))
SPELL = sample_spell("spell", ("arrow", "burst", "spiral", "wand"))
RED = Die(value="burst", owner="red", livery=OWNERS["red"], xy_mm=(200.0, 150.0), angle_deg=30.0)


def test_the_same_scene_gives_the_same_picture_and_another_frame_only_other_noise() -> None:
    scene = Scene(dice=(RED,), cloth="wood", seed=3)
    one, again, later = scene.picture(CAMERA, 1), scene.picture(CAMERA, 1), scene.picture(CAMERA, 2)
    assert one.shape == (540, 960, 3) and one.dtype == np.uint8
    assert np.array_equal(one, again)
    assert not np.array_equal(one, later)
    assert np.abs(one.astype(int) - later).mean() < 3 * CAMERA.noise
    still = replace(CAMERA, noise=0.0)
    assert np.array_equal(scene.picture(still, 1), scene.picture(still, 2))


def test_the_truth_lies_where_the_die_is_drawn() -> None:
    bare = Scene(cloth="paper", seed=1)
    plain = replace(CAMERA, noise=0.0)
    drawn = (
        np.abs(replace(bare, dice=(RED,)).picture(plain).astype(int) - bare.picture(plain)).max(axis=2) > 60
    )
    rows, columns = np.nonzero(drawn)
    (truth,) = replace(bare, dice=(RED,)).truth(plain)
    x0, y0, x1, y1 = truth.box_px
    assert abs(columns.min() - x0) <= 3 and abs(rows.min() - y0) <= 4
    assert x0 < truth.centre_px[0] < x1 and y0 < truth.centre_px[1] < y1
    assert (truth.value, truth.owner, truth.kind, truth.xy_mm) == ("burst", "red", "tada", (200.0, 150.0))


def test_sides_show_away_from_the_middle_and_the_top_is_shifted_outward() -> None:
    far = replace(RED, xy_mm=(60.0, 60.0), angle_deg=0.0)
    (truth,) = Scene(dice=(far,)).truth(CAMERA)
    top = cv2.contourArea(np.array(truth.quad_px, np.float32))
    x0, y0, x1, y1 = truth.box_px
    assert (x1 - x0) * (y1 - y0) > 1.2 * top
    foot = CAMERA.project(np.array([(60.0, 60.0, 0.0)]))[0]
    assert truth.centre_px[0] < foot[0] and truth.centre_px[1] < foot[1]


def test_dice_out_of_the_picture_are_no_truth_and_cocked_ones_are_named() -> None:
    dice = (replace(RED, xy_mm=(5000.0, 0.0)), replace(RED, tilt_deg=25.0))
    truth = Scene(dice=dice).truth(CAMERA)
    assert [die.is_cocked for die in truth] == [True]


@pytest.mark.parametrize("cloth", CLOTHS)
def test_every_cloth_has_structure_and_no_seam(cloth: str) -> None:
    tile = cloth_tile(cloth, 5)
    grey = tile.mean(axis=2)
    assert grey.std() > 0.004
    steps = np.abs(np.diff(grey, axis=1)).mean(axis=0)
    assert np.abs(grey[:, 0] - grey[:, -1]).mean() < 1.2 * steps.max() + 0.02
    assert not np.array_equal(tile, cloth_tile(cloth, 6))


def test_unknown_cloths_and_drawings_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown cloth"):
        cloth_tile("moss", 0)
    with pytest.raises(ValueError, match="no drawing for dragon"):
        face_mask("dragon", 0, 64)


def test_each_symbol_has_its_own_drawing_in_every_style() -> None:
    masks = [face_mask(value, style, 64).ravel() for value in SYMBOLS for style in range(STYLES)]
    alike = np.corrcoef(np.stack(masks))
    assert alike[~np.eye(len(masks), dtype=bool)].max() < 0.97
    assert all(0.02 < mask.mean() < 0.4 for mask in masks)


@pytest.mark.parametrize("pattern", BODIES)
def test_bodies_differ(pattern: str) -> None:
    livery = replace(OWNERS["green"], pattern=pattern, second=(0.6, 0.9, 0.6))
    sharp = replace(CAMERA, noise=0.0, blur_px=0.0)
    picture = Scene(dice=(replace(RED, livery=livery),), cloth="felt").picture(sharp)
    plain = Scene(dice=(replace(RED, livery=OWNERS["green"]),), cloth="felt").picture(sharp)
    assert np.array_equal(picture, plain) == (pattern == "plain")


def test_pips_stand_on_the_top_and_opposite_faces_make_seven() -> None:
    white = Livery(body=(0.9, 0.9, 0.9), ink=(0.05, 0.05, 0.05))
    above = Camera(lens_mm=(300.0, 200.0, 500.0), look_mm=(300.0, 200.0), noise=0.0, blur_px=0.3)
    die = Die(value=5, owner="", livery=white, kind="d6-pips", xy_mm=(300.0, 200.0))
    scene = Scene(dice=(die,), marks=None, light=Lamp(ambient=0.9))
    (truth,) = scene.truth(above)
    x0, y0, x1, y1 = truth.box_px
    dark = (scene.picture(above)[y0 + 3 : y1 - 3, x0 + 3 : x1 - 3].max(axis=2) < 90).astype(np.uint8)
    count, _ = cv2.connectedComponents(dark)
    assert count - 1 == 5


def test_cards_hands_and_cups_are_seen() -> None:
    bare = Scene(seed=2)
    plain = replace(CAMERA, noise=0.0)
    empty = bare.picture(plain).astype(int)
    card = Card(layout=SPELL, pose=Pose(250.0, 150.0, 20.0), title="Abra")
    for scene in (
        replace(bare, cards=(card,)),
        replace(bare, visitors=(Hand(tip_mm=(300.0, 200.0)),)),
        replace(bare, visitors=(Cup(xy_mm=(300.0, 200.0)),)),
    ):
        changed = np.abs(scene.picture(plain).astype(int) - empty).max(axis=2) > 40
        assert 0.005 < changed.mean() < 0.5


def test_an_enrolment_series_shows_one_die_each_time_elsewhere(tmp_path: Path) -> None:
    shots = list(enrolment_pictures(OWNERS["blue"], "spiral", shots=2, seed=1))
    assert len(shots) == 2 and shots[0].shape == shots[1].shape
    assert not np.array_equal(shots[0], shots[1])
    write_enrolment(tmp_path, {"blue": OWNERS["blue"]}, ("wand",), shots=2)
    assert sorted(p.name for p in (tmp_path / "blue" / "wand").iterdir()) == ["00.jpg", "01.jpg"]
