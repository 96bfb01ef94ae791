"""Cards with whole pictures lie where they are laid, the later ones on top, and only the noise goes by the frame."""

from __future__ import annotations

import numpy as np

from companion.core.geometry import Pose
from vision.render.lens import Camera
from vision.render.pictured import PictureTable
from vision.render.scene import Scene

CAMERA = Camera(lens_mm=(100, 81, 260), look_mm=(100, 80), across_deg=52, size_px=(320, 240))
RED, BLUE = (np.full((88, 63, 3), ink, np.uint8) for ink in ((30, 30, 200), (200, 30, 30)))


def table(*laid: tuple[str, Pose]) -> PictureTable:
    bare = Scene(size_mm=(200.0, 160.0), marks=None, cloth="felt", seed=3)
    return PictureTable(bare=bare, prints={"red": RED, "blue": BLUE}, card_mm=(63.0, 88.0), laid=laid)


def test_cards_lie_where_they_are_laid_and_cover_each_other() -> None:
    both = table(("red", Pose(20, 30)), ("blue", Pose(60, 110, -90)))
    drawn = both.drawn(CAMERA)
    on_red, on_blue = (
        drawn[int(y), int(x)].astype(int)
        for x, y in CAMERA.project(np.array([[30, 50, 0], [100, 80, 0]], np.float64))
    )
    assert on_red[2] > 2 * on_red[0]
    assert on_blue[0] > 2 * on_blue[2]
    under = CAMERA.project(np.array([[70, 60, 0]], np.float64))[0]
    assert drawn[int(under[1]), int(under[0])].argmax() == 0, "the later one lies on top"


def test_only_the_noise_differs_from_frame_to_frame() -> None:
    still = table(("red", Pose(20, 30)))
    drawn = still.drawn(CAMERA)
    assert np.array_equal(drawn, still.drawn(CAMERA))
    one, again, other = (still.shot(drawn, CAMERA, tick) for tick in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
