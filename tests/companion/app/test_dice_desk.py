"""What corrections teach: a picture of the face in the profile as long as the correction counts."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
import pytest

from companion.app.dice_desk import DiceDesk, shots_of
from companion.core import event as e
from companion.core.observation import DiceRested, DieSeen, Observed
from companion.core.seat import REFEREE, Actor, Role
from vision.camera import CameraChild
from vision.enrol import enrol_folder
from vision.eye import ReaderSpec
from vision.feed import Feed
from vision.learn import crop_around
from vision.profile import Profile, load_profile
from vision.render.cube import Die
from vision.render.enrolment import write_enrolment
from vision.render.lens import Camera
from vision.render.liveries import OWNERS
from vision.render.scene import Scene

CAMERA = Camera(lens_mm=(60.0, 45.0, 560.0), look_mm=(60.0, 40.0), across_deg=14.0, size_px=(480, 320))
BOSS = Actor(Role.REFEREE, name=REFEREE.role.value)


@pytest.fixture(scope="module")
def enrolled(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    place = tmp_path_factory.mktemp("dice")
    write_enrolment(place, {"red": OWNERS["red"]}, ("arrow", "spiral", "wand"), shots=3, seed=4)
    return enrol_folder(place, "tada")[0]


@pytest.fixture
def file(tmp_path: Path, enrolled: Profile) -> Path:
    path = tmp_path / "mine.dice.npz"
    enrolled.save(path)
    return path


def scene(value: str) -> tuple[np.ndarray, tuple[int, int, int, int]]:
    """A red die on felt, and the box of its top face."""
    die = Die(value=value, owner="red", livery=OWNERS["red"], xy_mm=(70.0, 38.0), angle_deg=33.0)
    laid = Scene(marks=None, dice=(die,), cloth="felt", seed=2)
    quad = np.array(laid.truth(CAMERA)[0].quad_px)
    low, high = quad.min(0).round().astype(int), quad.max(0).round().astype(int)
    return laid.picture(CAMERA), (int(low[0]), int(low[1]), int(high[0]), int(high[1]))


class _Camera:
    """Knows the faces of frame 12 alone, and counts how often its reader was renewed."""

    def __init__(self, value: str) -> None:
        picture, self.box = scene(value)
        self._png = cv2.imencode(".png", crop_around(picture, self.box))[1].tobytes()
        self.renewed = 0

    def face(self, frame: int, box_px: tuple[int, int, int, int]) -> bytes | None:
        return self._png if frame == 12 else None

    def renew_reader(self) -> None:
        self.renewed += 1


def spiral_at(camera: _Camera, confidence: float = 0.9) -> DieSeen:
    return DieSeen(kind="tada", value="spiral", box_px=camera.box, confidence=confidence, owner="red")


def rest_of(frame: int, *dice: DieSeen) -> DiceRested:
    return DiceRested(source="camera", seen_ns=frame, uncertainty_ns=0, frame=frame, dice=dice)


class _Journal:
    """Entries that a test writes, told to the desk as the table would."""

    def __init__(self) -> None:
        self._entries: list[e.Entry] = []
        self.desk: DiceDesk | None = None

    def entries(self, after: int = 0) -> Sequence[e.Entry]:
        return tuple(self._entries[after:])

    def add(self, *events: e.Event) -> int:
        n = len(self._entries) + 1
        entry = e.Entry(n=n, at_ns=n, wall_ms=0, actor=BOSS, key=str(n), command=None, events=events)
        self._entries.append(entry)
        if self.desk is not None:
            self.desk.note(entry)
        return n

    def correct(self, camera: _Camera, value: str, *, frame: int = 12, learn: bool = True) -> int:
        """Of a die that the camera told in this frame."""
        die = spiral_at(camera)
        if self.desk is not None:
            self.desk.saw(rest_of(frame, die))
        return self.add(e.DieCorrected(source="camera", frame=frame, die=die, value=value, learn=learn))


def wait(holds: Callable[[], object]) -> None:
    ends = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < ends, "it did not come about in time"
        time.sleep(0.02)


@pytest.fixture
def desks(file: Path, tmp_path: Path) -> Iterator[Callable[[Any, _Journal], DiceDesk]]:
    started: list[DiceDesk] = []

    def begin(camera: Any, journal: _Journal) -> DiceDesk:
        desk = DiceDesk(cast(CameraChild, camera), file, tmp_path / "table.lessons", journal)
        journal.desk = desk
        desk.start()
        started.append(desk)
        return desk

    yield begin
    for desk in started:
        desk.stop()


def test_a_correction_is_learnt_and_forgotten_when_it_is_undone(
    file: Path, desks: Any, enrolled: Profile
) -> None:
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    desk = desks(camera, journal)
    assert desk.faces() == ("arrow", "spiral", "wand")
    entry = journal.correct(camera, "wand")
    wait(lambda: camera.renewed == 1)
    assert desk.lessons() == {entry: "learnt as a picture of wand"}
    profile = load_profile(file)
    assert len(profile.samples) == len(enrolled.samples) + 1
    assert [(s.owner, s.face) for s in profile.samples if s.learnt] == [("red", "wand")]
    assert [path.name for path in shots_of(file).iterdir()] == [f"table-{entry}-red-wand.png"]
    journal.add(e.Voided(entry=entry, why="undo"))
    wait(lambda: camera.renewed == 2)
    assert not any(sample.learnt for sample in load_profile(file).samples)
    assert list(shots_of(file).iterdir()) == []
    assert desk.lessons() == {}


def test_a_correction_is_taken_back_after_a_restart_too(file: Path, desks: Any) -> None:
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    first = desks(camera, journal)
    entry = journal.correct(camera, "wand")
    wait(first.lessons)
    first.stop()
    again = _Camera("wand")
    second = desks(again, journal)
    journal.add(e.Voided(entry=entry, why="undo"))
    wait(lambda: again.renewed == 1)
    assert second.lessons() == {}
    assert not any(sample.learnt for sample in load_profile(file).samples)


def test_a_lesson_that_cannot_be_taken_back_yet_is_taken_back_later(file: Path, desks: Any) -> None:
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    desk = desks(camera, journal)
    entry = journal.correct(camera, "wand")
    wait(desk.lessons)
    learnt = file.read_bytes()
    file.write_bytes(b"no profile")
    journal.add(e.Voided(entry=entry, why="undo"))
    desk.stop()
    assert set(desk.lessons()) == {entry}
    file.write_bytes(learnt)
    again = desks(camera, journal)
    wait(lambda: not again.lessons())
    assert not any(sample.learnt for sample in load_profile(file).samples)


def test_a_picture_of_another_count_of_frames_teaches_nothing(
    file: Path, desks: Any, enrolled: Profile
) -> None:
    """A camera that begins anew numbers its frames from 1: frame 12 is another picture then."""
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    desk = desks(camera, journal)
    corrected = spiral_at(camera)
    desk.saw(rest_of(12, corrected))
    desk.saw(rest_of(40, corrected))
    assert [rest.frame for rest in desk.rests()] == [40, 12]
    desk.saw(rest_of(12, spiral_at(camera, confidence=0.7)))
    assert [rest.frame for rest in desk.rests()] == [12]
    entry = journal.add(e.DieCorrected(source="camera", frame=12, die=corrected, value="wand"))
    wait(desk.lessons)
    assert "not kept any more" in desk.lessons()[entry]
    assert load_profile(file).edition == enrolled.edition


def test_the_file_of_lessons_stays_whole_when_writing_fails(
    desks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    desk = desks(camera, journal)
    journal.correct(camera, "wand")
    wait(lambda: camera.renewed == 1)
    written = (tmp_path / "table.lessons").read_bytes()

    def full(handle: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    journal.correct(camera, "skull")
    wait(lambda: len(desk.lessons()) == 2)
    desk.stop()
    assert (tmp_path / "table.lessons").read_bytes() == written
    assert sorted(path.name for path in tmp_path.iterdir() if "lessons" in path.name) == ["table.lessons"]


@pytest.mark.parametrize(
    ("more", "why"),
    [({"value": "wand", "frame": 3}, "not kept any more"), ({"value": "skull"}, "no face 'skull'")],
)
def test_what_cannot_be_learnt_is_said_and_the_profile_stays(
    file: Path, desks: Any, enrolled: Profile, more: dict[str, Any], why: str
) -> None:
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    desk = desks(camera, journal)
    entry = journal.correct(camera, more.pop("value"), **more)
    wait(desk.lessons)
    assert why in desk.lessons()[entry]
    assert len(load_profile(file).samples) == len(enrolled.samples)


def test_what_is_not_to_be_learnt_from_changes_nothing(file: Path, desks: Any, enrolled: Profile) -> None:
    camera, journal = _Camera("wand"), _Journal()
    journal.add(e.Started(boot="x", wall_ms=0))
    desk = desks(camera, journal)
    journal.correct(camera, "wand", learn=False)
    journal.correct(camera, "", learn=True)
    wanted = journal.correct(camera, "wand")
    wait(desk.lessons)
    assert set(desk.lessons()) == {wanted}
    assert len(load_profile(file).samples) == len(enrolled.samples) + 1


def test_the_camera_reads_by_the_new_profile_without_a_restart(file: Path, enrolled: Profile) -> None:
    """A die whose face the profile does not know yet is read once it does; the camera's process goes on."""
    poor = Profile("tada", tuple(s for s in enrolled.samples if s.face != "wand"))
    poor.save(file)
    picture, box = scene("wand")
    seen: queue.SimpleQueue[Observed] = queue.SimpleQueue()
    feed, ended = Feed(), threading.Event()
    pusher = threading.Thread(
        target=lambda: [feed.push(picture) for _ in iter(lambda: ended.wait(0.04), True)]
    )
    spec = ReaderSpec(factory="vision.dice.symbols:symbol_reader", paths=(str(file),))
    camera = CameraChild(feed.source, spec, seen.put)
    pusher.start()
    camera.start()

    def next_rest() -> DiceRested:
        while True:
            found = seen.get(timeout=30)
            if isinstance(found, DiceRested):
                return found

    try:
        first = next_rest()
        assert "wand" not in [die.value for die in first.dice]
        enrolled.save(file)
        camera.renew_reader()
        second = next_rest()
        assert [die.value for die in second.dice] == ["wand"]
        face = camera.face(second.frame, second.dice[0].box_px)
        assert face is not None and face.startswith(b"\x89PNG")
        assert camera.face(-1, box) is None
        assert camera.status().restarts == 0
    finally:
        ended.set()
        pusher.join()
        camera.stop()
        feed.close()
