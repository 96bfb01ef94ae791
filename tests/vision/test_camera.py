"""Cameras in their own process: every kind of source, the newest frame only, evidence, loss and return."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

import vision.eye
from companion.core.observation import CameraChanged, DiceRested, Observed, TableStirred
from vision.camera import CameraChild, check_source, open_source
from vision.dice.reading import Reading
from vision.evidence import EvidenceRing
from vision.eye import Grabber, Mailbox, ReaderSpec, Shot, SourceLostError
from vision.feed import Feed
from vision.frame import decode
from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.render.visitors import Cup

CAMERA = Camera(lens_mm=(300.0, 220.0, 760.0), look_mm=(300.0, 200.0), size_px=(640, 360))
PATIENCE_S = 40.0  # a loaded machine starts a process slowly


def broken_reader(paths: tuple[str, ...]) -> object:
    raise ValueError(f"{paths[0]} is no profile")


class _Hanging:
    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def read(self, frame: np.ndarray, surface: object = None, layouts: object = ()) -> Reading:
        if not self._marker.exists():
            self._marker.touch()
            time.sleep(60)
        return Reading(())


def hanging_reader(paths: tuple[str, ...]) -> _Hanging:
    """Hangs the first time it reads, in a process that takes a look of two seconds for one that never ends."""
    vision.eye._LOOK_NS = 2_000_000_000
    return _Hanging(Path(paths[0]))


def wait_for(is_so: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


class _Showing:
    """Pushes a scene into a feed, over and over, until told to show another."""

    def __init__(self) -> None:
        self.feed = Feed()
        self.scene = Scene(marks=None)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        tick = 0
        while not self._stop.wait(0.04):
            tick += 1
            self.feed.push(self.scene.picture(CAMERA, tick % 5))

    def pause(self) -> None:
        self._stop.set()
        self._thread.join()

    def close(self) -> None:
        self.pause()
        self.feed.close()


@pytest.fixture
def showing() -> Iterator[_Showing]:
    shown = _Showing()
    yield shown
    shown.close()


def test_a_fed_camera_tells_rests_keeps_evidence_and_says_when_it_is_unplugged(showing: _Showing) -> None:
    said: list[Observed] = []
    child = CameraChild(showing.feed.source, None, said.append, name="eye")
    child.start()
    try:
        wait_for(lambda: any(isinstance(o, DiceRested) for o in said), "the first rest")
        assert isinstance(said[0], CameraChanged) and said[0].state == "live"
        cup = replace(showing.scene, visitors=(Cup(xy_mm=(300.0, 200.0)),))
        showing.scene = cup
        wait_for(lambda: any(isinstance(o, TableStirred) for o in said), "the cup to be noticed")
        wait_for(lambda: sum(isinstance(o, DiceRested) for o in said) == 2, "the second rest")
        rested = [o for o in said if isinstance(o, DiceRested)][1]
        assert 0 < rested.uncertainty_ns < 1_000_000_000
        assert abs(time.monotonic_ns() - rested.seen_ns) < PATIENCE_S * 1e9

        clip = child.clip(rested.seen_ns - 500_000_000, rested.seen_ns + 300_000_000)
        stamps = [t for t, _ in clip]
        assert stamps == sorted(stamps) and len(stamps) > 1
        assert decode(clip[0][1]).shape == (360, 640, 3)
        still = child.still(max_width=320)
        assert still is not None and decode(still[1]).shape == (180, 320, 3)

        wait_for(lambda: child.status().frames > 0, "a status")
        assert (child.status().state, child.status().size_px) == ("live", (640, 360))
        showing.close()
        wait_for(lambda: isinstance(said[-1], CameraChanged) and said[-1].state == "lost", "the loss")
        assert child.status().restarts == 0
    finally:
        child.stop()
    count = len(said)
    time.sleep(0.2)
    assert len(said) == count
    assert child.still() is None


def test_a_child_that_hangs_is_started_anew_and_the_camera_comes_back(
    showing: _Showing, tmp_path: Path
) -> None:
    said: list[Observed] = []
    spec = ReaderSpec(f"{__name__}:hanging_reader", (str(tmp_path / "hung"),))
    child = CameraChild(showing.feed.source, spec, said.append)
    child.start()
    try:
        wait_for(lambda: any(isinstance(o, DiceRested) for o in said), "a rest after the restart")
    finally:
        child.stop()
    assert child.status().restarts >= 1
    states = [(o.state, o.detail) for o in said if isinstance(o, CameraChanged)]
    assert ("lost", "the camera's process fell silent") in states
    assert states[-1][0] == "live"


def test_a_reader_that_does_not_start_is_one_clear_line(showing: _Showing) -> None:
    said: list[Observed] = []
    child = CameraChild(showing.feed.source, ReaderSpec(f"{__name__}:broken_reader", ("x.npz",)), said.append)
    child.start()
    try:
        wait_for(lambda: said, "the failure")
    finally:
        child.stop()
    assert isinstance(said[0], CameraChanged)
    assert (said[0].state, said[0].detail) == ("lost", "the reader does not start: x.npz is no profile")


def test_a_feed_without_the_key_is_refused() -> None:
    feed = Feed()
    try:
        port = feed.source.split(":")[1]
        with pytest.raises(SourceLostError, match="nobody feeds"):
            open_source(f"feed:{port}:{'00' * 16}")
    finally:
        feed.close()


def test_a_folder_shows_its_pictures_in_order_and_then_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vision.camera._SHOW_NS", 1)
    monkeypatch.setattr("vision.camera._FOLDER_FPS", 1000.0)
    for name, level in (("b", 200), ("a", 50)):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.full((40, 60, 3), level, np.uint8))
    torn = tmp_path / "aa.jpg"
    torn.write_bytes(b"\xff\xd8\xff")
    os.utime(torn, (0, 0))
    (tmp_path / "notes.txt").write_text("no picture")
    source = open_source(str(tmp_path))
    levels = [grabbed[0][0, 0, 0] for grabbed in (source.grab() for _ in range(4)) if grabbed]
    assert levels == [50, 200, 200, 200]
    cv2.imwrite(str(tmp_path / "c.png"), np.full((40, 60, 3), 120, np.uint8))
    grabbed = source.grab()
    assert grabbed is not None and grabbed[0][0, 0, 0] == 120
    source.close()


def test_a_film_ends_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "film.avi"
    film = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 120.0, (64, 48))
    for level in (10, 60, 110):
        film.write(np.full((48, 64, 3), level, np.uint8))
    film.release()
    source = open_source(str(path))
    stamps = []
    with pytest.raises(SourceLostError, match="the film is over") as lost:
        while grabbed := source.grab():
            stamps.append(grabbed[1])
    source.close()
    assert lost.value.is_over
    assert np.diff(stamps).tolist() == [8_333_333, 8_333_333]


def test_what_can_be_no_camera_is_said_before_anything_starts(tmp_path: Path) -> None:
    for good in ("0", "rtsp://camera/stream", "http://camera/mjpeg", str(tmp_path), "feed:1:ab"):
        check_source(good)
    with pytest.raises(ValueError, match="no such device, film or folder; give a number"):
        check_source(str(tmp_path / "nothing.mp4"))
    (tmp_path / "text.mp4").write_text("no film")
    with pytest.raises(SourceLostError, match="no film that can be played"):
        open_source(str(tmp_path / "text.mp4"))


def test_a_device_that_is_not_there_is_lost_not_over() -> None:
    with pytest.raises(SourceLostError, match="does not open") as lost:
        open_source("/dev/video-not-there")
    assert not lost.value.is_over


def test_the_mailbox_holds_the_newest_frame_and_counts_what_nobody_took() -> None:
    box = Mailbox()
    assert box.take(0.0) is None
    frame = np.zeros((2, 2, 3), np.uint8)
    for n in range(5):
        box.put(Shot(frame, n, 0, n))
    taken = box.take(0.0)
    assert taken is not None and taken.number == 4
    assert box.dropped == 4
    assert box.take(0.0) is None


class _Flaky:
    """A camera that gives two frames and is then unplugged."""

    def __init__(self) -> None:
        self._left = 2

    def grab(self) -> tuple[np.ndarray, int, int]:
        if not self._left:
            raise SourceLostError("unplugged")
        self._left -= 1
        time.sleep(0.01)
        return np.zeros((48, 64, 3), np.uint8), time.monotonic_ns(), 0

    def close(self) -> None:
        return


class _Uneven:
    """A film whose frames are 10 and 90 ms apart, as telephones make them."""

    def __init__(self, path: Path) -> None:
        self._black = np.zeros((48, 64, 3), np.uint8)

    def frames(self) -> Iterator[tuple[np.ndarray, int]]:
        yield from ((self._black, ms * 1_000_000) for ms in (0, 10, 100))

    def close(self) -> None:
        return


def test_a_film_is_shown_by_the_stamps_of_its_own_frames(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("vision.camera.Film", _Uneven)
    path = tmp_path / "film.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42")
    source = open_source(str(path))
    begun_ns = time.monotonic_ns()
    seen_ns = [grabbed[1] for grabbed in (source.grab() for _ in range(3)) if grabbed]
    assert [at - seen_ns[0] for at in seen_ns] == [0, 10_000_000, 100_000_000]
    assert time.monotonic_ns() - begun_ns > 50_000_000, "not before their time"


def test_a_lost_camera_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.eye._REOPEN_S", (0.01,))
    opened: list[_Flaky] = []

    def open_flaky() -> _Flaky:
        opened.append(_Flaky())
        return opened[-1]

    grabber = Grabber(open_flaky, Mailbox())
    grabber.start()
    wait_for(lambda: grabber.frames >= 6, "frames after two losses")
    grabber.stop()
    assert len(opened) >= 3


def test_the_ring_is_thinned_shrunk_and_bounded() -> None:
    rng = np.random.default_rng(0)
    frame = rng.integers(0, 255, (90, 160, 3)).astype(np.uint8)
    ring = EvidenceRing(fps=15.0, max_width=80, keep_ns=2_000_000_000)
    for n in range(120):  # 4 s at 30 fps
        ring.offer(frame, n * 33_333_333)
    kept = ring.between(0, 10**12)
    assert 29 <= len(kept) <= 32
    assert kept[0][0] >= kept[-1][0] - 2_000_000_000
    assert decode(kept[0][1]).shape == (45, 80, 3)
    inner = ring.between(kept[3][0], kept[5][0])
    assert inner == kept[3:6]

    small = EvidenceRing(max_bytes=3 * len(kept[0][1]), max_width=80)
    for n in range(30):
        small.offer(frame, n * 100_000_000)
    assert small.size_bytes() <= 3 * len(kept[0][1])
    assert [t for t, _ in small.between(0, 10**12)][-1] == 29 * 100_000_000
