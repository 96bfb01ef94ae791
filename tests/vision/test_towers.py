"""Towers on a board: exact places from tags on their tops, told no finer than they are; rolling dice beside them."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.core.observation import BoardDie, BoardRested, DieNearTower, TableStirred
from vision.frame import Frame
from vision.render.board import TOWERS, Block, BoardScene
from vision.render.boards import any_set, any_terrains, usual_marks
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.visitors import Hand
from vision.settle import SettleGate
from vision.surface import NoSurfaceError
from vision.towers.blobs import coloured
from vision.towers.board import BoardReader
from vision.towers.colours import likeliest_owner
from vision.towers.poses import Solved
from vision.towers.stills import Stills
from vision.towers.tags import find_tags
from vision.towers.watch import BoardSpec, BoardWatcher

MARKS = usual_marks()
CAMERA = Camera(
    lens_mm=(470.0, 235.0, 1180.0), look_mm=(452.0, 249.0), roll_deg=1.0, across_deg=49.0,
    size_px=(2304, 1296), blur_px=1.0, noise=3.0,
)  # fmt: skip
RED = Block(tag=10, xy_mm=(120.0, 110.0), heading_deg=33.0, height_mm=152.4, colour=TOWERS["red"])
BLUE = Block(tag=11, xy_mm=(760.0, 380.0), heading_deg=-140.0, height_mm=148.1, colour=TOWERS["blue"])


@pytest.fixture(scope="module")
def scene() -> BoardScene:
    return BoardScene(
        marks=MARKS, terrains=any_terrains(np.random.default_rng(2), 10), towers=(RED, BLUE), bend=0.006, seed=3,
        light=Lamp(place_mm=(200.0, -200.0, 1200.0), ambient=0.6),
    )  # fmt: skip


@pytest.fixture(scope="module")
def ground(scene: BoardScene) -> Frame:
    return scene.ground(CAMERA)


@pytest.fixture(scope="module")
def frame(scene: BoardScene, ground: Frame) -> Frame:
    return scene.picture(CAMERA, 0, ground)


def test_towers_of_unknown_height_under_an_unknown_lens_are_placed_to_the_millimetre(frame: Frame) -> None:
    pose = Solved(MARKS, [find_tags(frame)], CAMERA.size_px).pose(0)
    assert [tower.tag for tower in pose.towers] == [10, 11]
    for tower, block in zip(pose.towers, (RED, BLUE), strict=True):
        off = float(np.hypot(*np.subtract(tower.xy_mm, block.xy_mm)))
        assert off < 2.0
        assert off < 1.5 * tower.u_mm
        assert tower.heading_deg == pytest.approx(block.heading_deg, abs=0.2)
    assert pose.camera.eye_mm[2] == pytest.approx(1180, rel=0.03)
    places = np.array([(10.0, 480.0, 0.0), (800.0, 30.0, 20.0)])
    back = pose.camera.mm(pose.camera.px(places[:1]), 0.0)
    assert back[0] == pytest.approx(places[0, :2], abs=0.01)


def test_a_move_is_measured_finer_than_a_place_because_errors_are_shared(
    scene: BoardScene, ground: Frame, frame: Frame
) -> None:
    moved = replace(RED, xy_mm=(160.0, 140.0), heading_deg=41.0)
    after = replace(scene, towers=(moved, BLUE)).picture(CAMERA, 1, ground)
    reader = BoardReader(MARKS)
    shifts = {shift.tag: shift for shift in reader.shifts(reader.read(frame), reader.read(after))}
    assert shifts[10].moved_mm == pytest.approx(50.0, abs=0.5)
    assert shifts[10].turned_deg == pytest.approx(8.0, abs=0.15)
    assert shifts[11].moved_mm < shifts[11].u_mm + 0.2
    assert all(shift.u_mm < 0.8 for shift in shifts.values())


def test_a_covered_corner_tag_does_no_harm_and_three_are_too_many_to_miss(frame: Frame) -> None:
    tags = dict(find_tags(frame))
    del tags[2]
    pose = Solved(MARKS, [tags], CAMERA.size_px).pose(0)
    assert pose.towers[1].xy_mm == pytest.approx(BLUE.xy_mm, abs=2.5)
    for gone in (0, 1):
        del tags[gone]
    with pytest.raises(NoSurfaceError, match="only 3 seen: uncover them"):
        Solved(MARKS, [tags], CAMERA.size_px)


def test_a_tag_that_is_partly_hidden_is_not_believed(frame: Frame) -> None:
    spoilt = frame.copy()
    corners = find_tags(frame)[11]
    x, y = (int(v) for v in corners.mean(0))
    cv2.rectangle(spoilt, (x, y), (x + 60, y + 60), (128, 128, 128), -1)
    assert 11 not in find_tags(spoilt)


def test_owners_are_named_by_the_colours_of_their_towers(frame: Frame) -> None:
    seen = BoardReader(MARKS).read(frame)
    assert dict(seen.owners) == {10: "red", 11: "blue"}
    assert BoardReader(MARKS, {10: "Ann"}).read(frame).owners[10] == "Ann"
    assert likeliest_owner(np.zeros(3), {}) == ("", 0.0)


def test_a_board_is_told_once_a_rest_and_a_die_that_rolled_by_a_tower_is_noticed(
    scene: BoardScene, ground: Frame
) -> None:
    die = any_set(np.random.default_rng(4), "blue").die(np.random.default_rng(5), "d20", (300.0, 130.0))

    class Finder:
        """Tells the die that the scene holds; what is read of dice has tests of its own."""

        def read(self, *_: object) -> tuple[object, ...]:
            return tuple(lying)

    lying: list[BoardDie] = []
    watcher = BoardWatcher(
        "cam",
        BoardReader(MARKS, None, Finder()),
        BoardSpec(marks=MARKS),
        SettleGate(),  # type: ignore[arg-type]  # it reads
    )
    still = scene.picture(CAMERA, 0, ground)
    told = [seen for n in range(14) for seen in watcher.step(still, n * 50_000_000, 1_000_000, n)]
    assert [type(seen).__name__ for seen in told] == ["CameraChanged", "BoardRested"]
    rolled = [
        replace(scene, dice=(replace(die, xy_mm=(x, 130.0)),)).picture(CAMERA, 0, ground)
        for x in (330.0, 250.0, 190.0, 160.0, 230.0, 300.0)
    ]
    lying.append(
        BoardDie(kind="d20", value=7, confidence=0.9, xy_mm=(300.0, 130.0), box_px=(0, 0, 9, 9), owner="blue")
    )
    told = []
    for n in range(20):
        told += watcher.step(rolled[min(n, 5)], (20 + n) * 50_000_000, 1_000_000, 20 + n)
    assert isinstance(told[0], TableStirred)
    near = [seen for seen in told if isinstance(seen, DieNearTower)]
    assert [(seen.tag, seen.owner, seen.kind) for seen in near] == [(10, "blue", "d20")]
    assert near[0].gap_mm - near[0].u_mm < 3.0
    rests = [seen for seen in told if isinstance(seen, BoardRested)]
    assert len(rests) == 1 and len(rests[0].towers) == 2
    # A hand that rests over the board is waited for, and the board told when it has left.
    hand = replace(scene, visitors=(Hand(tip_mm=(450.0, 300.0), from_deg=90.0),)).picture(CAMERA, 0, ground)
    told = []
    for n in range(24):
        told += watcher.step(hand if n < 12 else still, (50 + n) * 50_000_000, 1_000_000, 50 + n)
    assert [type(seen) for seen in told] == [TableStirred, BoardRested]
    assert told[1].seen_ns >= 62 * 50_000_000


def test_patches_of_an_owners_colour_as_large_as_a_die_are_looked_at() -> None:
    frame = np.full((500, 900, 3), (60, 140, 70), np.uint8)
    red = (35, 30, 210)
    cv2.fillPoly(frame, [np.array([(200, 200), (250, 200), (225, 240)])], red)
    cv2.fillPoly(frame, [np.array([(400, 100), (430, 100), (415, 130)])], (200, 60, 30))
    cv2.rectangle(frame, (500, 300), (700, 450), red, -1)
    cv2.rectangle(frame, (100, 400), (300, 408), red, -1)
    (spot,) = coloured(frame, 2.0, {"red": np.array(red, np.float64)})
    assert np.hypot(spot.x_px - 225, spot.y_px - 213) < 3 and 24 < spot.side_px < 40


def test_pictures_of_a_rest_are_taken_as_one() -> None:
    rng, stills = np.random.default_rng(1), Stills()
    with pytest.raises(ValueError, match="no picture"):
        stills.picture()
    noisy = [np.clip(100 + rng.normal(0, 8, (40, 40, 3)), 0, 255).astype(np.uint8) for _ in range(5)]
    for n, frame in enumerate(noisy):
        assert not stills.is_enough(n * 33_000_000)
        stills.add(frame, n * 33_000_000)
    assert stills.is_enough(0)
    assert stills.picture().std() < 0.6 * noisy[0].std() and abs(stills.picture().mean() - 100) < 1
    slow = Stills()
    slow.add(noisy[0], 0)
    assert not slow.is_enough(300_000_000) and slow.is_enough(500_000_000)
