"""The table's surface from four markers, in rendered pictures whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.render.visitors import Cup
from vision.surface import Marks, NoSurfaceError, calibrate, find_markers, follow

CAMERA = Camera(lens_mm=(330.0, 250.0, 760.0), look_mm=(300.0, 200.0), roll_deg=2.0)
SCENE = Scene(cloth="felt", marks_turned_deg=(3.0, -4.0, 2.0, -1.0))
MEASURED = Marks(size_mm=(600.0, 400.0), camera_height_mm=760.0)


@pytest.fixture(scope="module")
def markers() -> dict[int, np.ndarray]:
    return find_markers(SCENE.picture(CAMERA))


def test_all_four_markers_are_found(markers: dict[int, np.ndarray]) -> None:
    assert sorted(markers) == [0, 1, 2, 3]


def test_a_marker_may_lie_on_its_side(markers: dict[int, np.ndarray]) -> None:
    upright = calibrate(markers, MEASURED, CAMERA.size_px)
    on_its_side = {i: np.roll(quad, i, axis=0) for i, quad in markers.items()}
    turned = calibrate(on_its_side, MEASURED, CAMERA.size_px)
    assert np.allclose(turned.to_px, upright.to_px)
    assert follow(upright, on_its_side, MEASURED) is upright


def test_a_measured_table_gives_places_within_half_a_millimetre(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    assert surface.error_px < 1.0
    assert surface.missing() == ()
    for place in ((40.0, 60.0), (300.0, 200.0), (560.0, 350.0)):
        seen = CAMERA.project(np.array([(*place, 0.0)]))[0]
        assert np.allclose(surface.mm((seen[0], seen[1])), place, atol=0.5)
        assert np.allclose(surface.px(place), seen, atol=1.0)


def test_the_top_of_a_die_is_put_above_its_foot(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    for place in ((60.0, 340.0), (540.0, 60.0)):
        seen = CAMERA.project(np.array([(*place, 16.0)]))[0]
        as_if_flat = np.linalg.norm(np.subtract(surface.mm((seen[0], seen[1])), place))
        assert as_if_flat > 3.0
        assert np.allclose(surface.mm((seen[0], seen[1]), 16.0), place, atol=0.7)
        assert np.allclose(surface.px(place, 16.0), seen, atol=1.2)


def test_an_unmeasured_table_is_worked_out_from_the_markers_own_size(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, Marks(), CAMERA.size_px)
    assert surface.size_mm == pytest.approx((600.0, 400.0), rel=0.02)


def test_a_missing_marker_is_named(markers: dict[int, np.ndarray]) -> None:
    without = {i: quad for i, quad in markers.items() if i != 2}
    with pytest.raises(NoSurfaceError, match=r"marker 2 \(bottom right\) not seen: uncover"):
        calibrate(without, MEASURED, CAMERA.size_px)


def test_markers_that_fit_no_flat_table_are_refused(markers: dict[int, np.ndarray]) -> None:
    bent = dict(markers)
    bent[1] = markers[1] + np.array([(0, 0), (40, 0), (0, 0), (0, 30)])
    with pytest.raises(NoSurfaceError, match="lay them flat"):
        calibrate(bent, MEASURED, CAMERA.size_px)


def test_the_surface_stays_the_same_object_while_nothing_moves(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    again = find_markers(SCENE.picture(CAMERA, tick=1))
    assert follow(surface, again, MEASURED) is surface


def test_a_covered_marker_is_named_and_play_goes_on(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    covered = replace(SCENE, visitors=(Cup(xy_mm=(580.0, 380.0)),)).picture(CAMERA)
    now = follow(surface, find_markers(covered), MEASURED)
    assert now.missing() == ("bottom right",)
    assert np.allclose(now.to_px, surface.to_px)


def test_a_pushed_camera_finds_itself_by_two_markers(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    pushed = replace(CAMERA, lens_mm=(345.0, 240.0, 750.0), roll_deg=-1.0)
    seen = find_markers(SCENE.picture(pushed))
    now = follow(surface, {i: seen[i] for i in (0, 2)}, MEASURED)
    place = (420.0, 120.0)
    at = pushed.project(np.array([(*place, 0.0)]))[0]
    assert np.allclose(now.mm((at[0], at[1])), place, atol=1.5)


def test_a_single_marker_is_too_little(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    with pytest.raises(NoSurfaceError, match="only 1 of 4 markers"):
        follow(surface, {0: markers[0]}, MEASURED)


def test_a_shifted_marker_asks_for_all_four(markers: dict[int, np.ndarray]) -> None:
    surface = calibrate(markers, MEASURED, CAMERA.size_px)
    shifted = {0: markers[0] + 25.0, 1: markers[1], 2: markers[2]}
    with pytest.raises(NoSurfaceError, match="shifted"):
        follow(surface, shifted, MEASURED)
