"""Each rest is read by several frames and told once; no camera and no real clock is needed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np

from companion.core.geometry import Pose, rectangle
from companion.core.layout import Layout, Placed, Region
from companion.core.observation import CameraChanged, DiceRested, DieSeen, Observed, TableStirred
from vision.dice.reading import Reading
from vision.dice.voting import vote
from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.render.visitors import Cup, Hand
from vision.surface import Marks, Surface
from vision.watcher import PARTLY_NS, Watcher

FRAME_NS = 33_000_000
CAMERA = Camera(lens_mm=(300.0, 220.0, 760.0), look_mm=(300.0, 200.0), size_px=(960, 540))
SCENE = Scene(cloth="felt")
LAYOUT = Placed(Layout("spell", (63.0, 88.0), (Region("a", rectangle(5, 5, 15, 15)),)), Pose(10.0, 10.0))


def die(value: int | str | None, x: int = 100, confidence: float = 0.9) -> DieSeen:
    return DieSeen(kind="tada", value=value, box_px=(x, 100, x + 40, 140), confidence=confidence)


class _Says:
    """A reader that says what it is told to, one reading after the other, and notes how it was asked."""

    def __init__(self, *readings: Reading) -> None:
        self._readings = readings
        self.asked: list[tuple[Surface | None, tuple[Placed, ...]]] = []

    def read(
        self, frame: np.ndarray, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        self.asked.append((surface, layouts))
        return self._readings[min(len(self.asked), len(self._readings)) - 1]


class _Run:
    """Feeds a watcher with pictures of a scene and collects what it says."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._n = 0
        self.said: list[Observed] = []

    def show(self, scene: Scene, frames: int = 18, camera: Camera = CAMERA) -> list[Observed]:
        before = len(self.said)
        still = [scene.picture(camera, tick) for tick in range(3)]
        for _ in range(frames):
            self._n += 1
            self.said += self._watcher.step(still[self._n % 3], self._n * FRAME_NS, 17_000_000, self._n)
        return self.said[before:]

    def wave(self) -> list[Observed]:
        before = len(self.said)
        for i in range(4):
            self.show(replace(SCENE, visitors=(Hand(tip_mm=(200.0 + 40 * i, 300.0)),)), 1)
        return self.said[before:]


def test_a_rest_is_told_once_and_again_after_it_was_stirred() -> None:
    run = _Run(Watcher("cam", _Says(Reading((die(3),)))))
    first = run.show(SCENE, 40)
    assert [type(o) for o in first] == [DiceRested]
    assert isinstance(first[0], DiceRested) and [d.value for d in first[0].dice] == [3]
    assert [type(o) for o in run.wave()] == [TableStirred]
    assert [type(o) for o in run.show(SCENE, 40)] == [DiceRested]


def test_the_stamp_is_that_of_the_first_still_frame() -> None:
    run = _Run(Watcher("cam", _Says(Reading(()))))
    (rested,) = run.show(SCENE, 30)
    assert isinstance(rested, DiceRested)
    assert rested.seen_ns == rested.frame * FRAME_NS
    assert rested.uncertainty_ns == 17_000_000
    assert rested.frame < 15


def test_readings_that_disagree_ask_for_two_more() -> None:
    agreeing, doubtful = (
        _Says(Reading((die(3),))),
        _Says(Reading((die(3),)), Reading((die(5),)), Reading((die(3),))),
    )
    _Run(Watcher("cam", agreeing)).show(SCENE, 40)
    run = _Run(Watcher("cam", doubtful))
    (rested,) = run.show(SCENE, 40)
    assert (len(agreeing.asked), len(doubtful.asked)) == (3, 5)
    assert isinstance(rested, DiceRested) and rested.dice[0].value == 3
    assert rested.dice[0].confidence < 0.9


def test_no_reader_still_tells_rest_and_stirring() -> None:
    run = _Run(Watcher("cam", None))
    assert [type(o) for o in run.show(SCENE, 30)] == [DiceRested]
    assert [type(o) for o in run.wave()] == [TableStirred]


def test_new_layouts_have_a_resting_table_read_again() -> None:
    reader = _Says(Reading((die("arrow"),)))
    watcher = Watcher("cam", reader)
    run = _Run(watcher)
    run.show(SCENE, 30)
    watcher.set_layouts((LAYOUT,))
    assert [type(o) for o in run.show(SCENE, 10)] == [DiceRested]
    assert reader.asked[-1][1] == (LAYOUT,)
    watcher.set_layouts((LAYOUT,))
    assert run.show(SCENE, 10) == []


def test_the_surface_is_given_to_the_reader_and_a_covered_table_is_told() -> None:
    reader = _Says(Reading(()))
    watcher = Watcher("cam", reader, Marks(size_mm=(600.0, 400.0)))
    run = _Run(watcher)
    covered = replace(SCENE, visitors=(Cup(xy_mm=(25.0, 25.0)),))
    blind = run.show(covered, 30)[0]
    assert isinstance(blind, CameraChanged)
    assert blind.state == "blind" and "0 (top left)" in blind.detail
    assert reader.asked[0][0] is None
    live = run.show(SCENE, 30)
    assert [o.state for o in live if isinstance(o, CameraChanged)] == ["live"]
    assert reader.asked[-1][0] is watcher.surface and watcher.surface is not None


def test_what_happens_beside_the_table_does_not_stir_it() -> None:
    watcher = Watcher("cam", None, Marks(size_mm=(600.0, 400.0)))
    run = _Run(watcher)
    run.show(SCENE, 30)
    for i in range(5):
        beside = replace(SCENE, visitors=(Cup(xy_mm=(700.0, 150.0 + 20 * i)),))
        assert run.show(beside, 1) == []


def test_a_vote_keeps_what_most_readings_see() -> None:
    readings = [
        Reading((die(3), die(6, x=300)), ("blurred",)),
        Reading((die(3),)),
        Reading((die(4), die(1, x=500)), ("blurred",)),
    ]
    dice, flags, agreed = vote(readings)
    assert [(d.value, d.box_px[0]) for d in dice] == [(3, 100)]
    assert flags == ("blurred",)
    assert not agreed


def test_a_vote_without_a_majority_gives_no_value() -> None:
    dice, _, agreed = vote([Reading((die(value),)) for value in (1, 2, 1, 2)])
    assert (dice[0].value, dice[0].reason, agreed) == (None, "margin", False)


def test_an_unread_die_that_is_unread_in_all_readings_agrees() -> None:
    dice, _, agreed = vote([Reading((die(None),))] * 3)
    assert (dice[0].value, agreed) == (None, True)


def _fidget(run: _Run, frames: int) -> list[Observed]:
    """A hand at the table's left edge that is never still."""
    before = len(run.said)
    for i in range(frames):
        run.show(replace(SCENE, visitors=(Hand(tip_mm=(90.0 + 14 * (i % 3), 330.0)),)), 1)
    return run.said[before:]


def test_a_hand_that_fidgets_at_one_edge_keeps_no_dice_from_being_read() -> None:
    far, near = die(3, x=700), die(5, x=150)
    near = msgspec.structs.replace(near, box_px=(150, 400, 190, 440))
    watcher = Watcher("cam", _Says(Reading((far, near))), Marks(size_mm=(600.0, 400.0)))
    run = _Run(watcher)
    watcher.set_layouts((LAYOUT, Placed(Layout("under the hand", (63.0, 88.0)), Pose(60.0, 260.0))))
    rests = [o for o in _fidget(run, 60) if isinstance(o, DiceRested)]
    assert rests
    for rest in rests:
        assert [(d.value, d.reason) for d in rest.dice] == [(3, None), (None, "moving")]
        assert rest.restless_px and all(box[2] < 600 for box in rest.restless_px)
        assert rest.covered == ("under the hand",)
    times = [rest.seen_ns for rest in rests]
    assert all(later - sooner >= PARTLY_NS for sooner, later in pairwise(times))
    (whole,) = [o for o in run.show(SCENE, 30) if isinstance(o, DiceRested)]
    assert [d.value for d in whole.dice] == [3, 5]
    assert (whole.restless_px, whole.covered) == ((), ())


def test_another_reader_reads_a_resting_table_again() -> None:
    watcher = Watcher("cam", _Says(Reading((die(3),))))
    run = _Run(watcher)
    run.show(SCENE, 30)
    watcher.set_reader(_Says(Reading((die(4),))))
    (rested,) = run.show(SCENE, 10)
    assert isinstance(rested, DiceRested) and rested.dice[0].value == 4


def test_a_hand_that_goes_over_dice_does_not_have_them_read_again_while_it_moves() -> None:
    says = _Says(Reading((die(3, x=700),)))
    run = _Run(Watcher("cam", says, Marks(size_mm=(600.0, 400.0))))
    run.show(SCENE, 30)
    asked = len(says.asked)
    for i in range(60):
        over = 90.0 + 25 * min(i % 20, 20 - i % 20)
        run.show(replace(SCENE, visitors=(Hand(tip_mm=(over, 330.0)),)), 1)
    assert len(says.asked) == asked
    (rested,) = [o for o in run.show(SCENE, 30) if isinstance(o, DiceRested)]
    assert rested.restless_px == ()


def test_pictures_of_another_size_in_the_middle_of_a_vote_begin_it_anew() -> None:
    for size in ((960, 720), (480, 270)):  # with other cells, and with the same ones
        says = _Says(Reading((die(3),)))
        watcher = Watcher("cam", says, Marks(size_mm=(600.0, 400.0)))
        run = _Run(watcher)
        while len(says.asked) < 2:
            run.show(SCENE, 1)
        other = replace(CAMERA, size_px=size)
        (rested,) = [o for o in run.show(SCENE, 40, other) if isinstance(o, DiceRested)]
        assert isinstance(rested, DiceRested)
        assert len(says.asked) == 5, "no reading of the other size counts"
        assert watcher.surface is not None and watcher.surface.picture_size == size
