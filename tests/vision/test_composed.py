"""Several readers on one picture: each die once, with its place."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from companion.core.geometry import Pose, rectangle
from companion.core.layout import Layout, Placed, Region
from companion.core.observation import DieSeen
from vision.dice.composed import ComposedReader
from vision.dice.reading import Reading
from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.surface import Marks, Surface, calibrate, find_markers

CAMERA = Camera(lens_mm=(300.0, 220.0, 760.0), look_mm=(300.0, 200.0), size_px=(960, 540))
FRAME = np.zeros((540, 960, 3), np.uint8)


class _Says:
    def __init__(self, *dice: DieSeen, flags: tuple[str, ...] = ()) -> None:
        self._reading = Reading(dice, flags)

    def read(
        self, frame: np.ndarray, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        return self._reading


def die(kind: str, value: int | str | None, x: int, confidence: float) -> DieSeen:
    return DieSeen(kind=kind, value=value, box_px=(x, 100, x + 40, 140), confidence=confidence)


def test_of_claims_to_one_place_the_surest_is_kept_and_one_that_says_something_outranks_one_that_does_not() -> (
    None
):
    pips = _Says(die("d6-pips", 3, 100, 0.7), die("d6-pips", None, 300, 0.9), die("d6-pips", 6, 500, 0.9))
    symbols = _Says(
        die("tada", "wand", 104, 0.95), die("tada", "burst", 302, 0.6), die("tada", None, 504, 0.9)
    )
    dice = ComposedReader([pips, symbols]).read(FRAME).dice
    assert [(d.kind, d.value) for d in dice] == [("tada", "wand"), ("tada", "burst"), ("d6-pips", 6)]


def test_dice_that_touch_are_two() -> None:
    dice = ComposedReader([_Says(die("a", 1, 100, 0.9)), _Says(die("b", 2, 140, 0.9))]).read(FRAME).dice
    assert [d.value for d in dice] == [1, 2]


def test_no_dice_is_said_only_where_nobody_sees_any() -> None:
    nobody = _Says(flags=("no_dice", "too_dark"))
    assert ComposedReader([nobody, nobody]).read(FRAME).flags == ("too_dark", "no_dice")
    assert ComposedReader([nobody, _Says(die("a", 1, 100, 0.9))]).read(FRAME).flags == ("too_dark",)


def test_places_on_the_table_are_told_where_its_surface_is_known() -> None:
    marks = Marks(size_mm=(600.0, 400.0))
    surface = calibrate(find_markers(Scene(cloth="felt").picture(CAMERA)), marks, CAMERA.size_px)
    x, y = surface.px((300.0, 150.0), 16.0)
    box = (round(x - 12), round(y - 12), round(x + 12), round(y + 12))
    seen = DieSeen(kind="d6-pips", value=4, box_px=box, confidence=0.9)
    card = Placed(
        Layout("spell", (63.0, 88.0), (Region("2", rectangle(20, 20, 36, 36)),)), Pose(272.0, 122.0)
    )
    (there,) = ComposedReader([_Says(seen)]).read(FRAME, surface, (card,)).dice
    assert there.xy_mm == pytest.approx((300.0, 150.0), abs=1.0)
    assert there.on == ("spell", "2")
    assert ComposedReader([_Says(seen)]).read(FRAME).dice[0].xy_mm is None
    mark = surface.px((20.0, 20.0))
    square = (round(mark[0]) - 15, round(mark[1]) - 15, round(mark[0]) + 15, round(mark[1]) + 15)
    on_marker = msgspec.structs.replace(seen, box_px=square)
    assert ComposedReader([_Says(on_marker)]).read(FRAME, surface).flags == ("no_dice",), (
        "a marker looks like a six"
    )


def test_nothing_to_read_with_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no reader"):
        ComposedReader([])


class _SaysAgain(_Says):
    def __init__(self, first: DieSeen, then: DieSeen) -> None:
        super().__init__(first)
        self._then = Reading((then,))

    def again(
        self, frame: np.ndarray, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        return self._then


def test_one_more_frame_of_the_same_rest_is_read_by_each_reader_in_its_own_way() -> None:
    moving = msgspec.structs.replace(die("a", None, 100, 0.9), reason="moving")
    reader = ComposedReader([_SaysAgain(die("a", 1, 100, 0.9), moving), _Says(die("b", 2, 300, 0.9))])
    assert [d.value for d in reader.read(FRAME).dice] == [1, 2]
    assert [(d.value, d.reason) for d in reader.again(FRAME).dice] == [(None, "moving"), (2, None)]
