"""Dice enrolled at a running table: by its own camera, into the file that it reads by."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from companion.app.enrolling import FaceDesk
from vision.camera import CameraChild
from vision.evidence import encode
from vision.profile import SUFFIX, load_profile
from vision.render.cube import Die
from vision.render.lens import Camera
from vision.render.liveries import OWNERS
from vision.render.scene import Scene
from web_ui.faces import FacesError

EYE = Camera(lens_mm=(200.0, 130.0, 420.0), look_mm=(200.0, 130.0), size_px=(1280, 720))


class OneDie:
    """A camera over a table on which one die lies; `renewed` counts how often its reader was built anew."""

    def __init__(self, *values: str) -> None:
        self.values = list(values)
        self.renewed = 0

    def still(self, max_width: int = 1280, timeout_s: float = 1.0) -> tuple[int, bytes] | None:
        if not self.values:
            return None
        die = Die(
            value=self.values.pop(0),
            owner="blue",
            livery=OWNERS["blue"],
            xy_mm=(203.0, 128.0),
            angle_deg=25.0,
        )
        scene = Scene(size_mm=(400.0, 260.0), marks=None, dice=(die,), cloth="felt", seed=4)
        return 1, encode(scene.picture(EYE), max_width)

    def renew_reader(self) -> None:
        self.renewed += 1


def test_the_tables_camera_shows_a_face_and_reads_by_it_at_once(tmp_path: Path) -> None:
    path, camera = tmp_path / f"tada{SUFFIX}", OneDie("arrow", "spiral")
    desk = FaceDesk(path, "tada", cast(CameraChild, camera), ("arrow", "spiral"))
    assert desk.has_camera() and desk.shown("blue").closest is None
    assert desk.add_seen("blue", "arrow").used == 1
    assert desk.add_seen("blue", "spiral").used == 1
    assert camera.renewed == 2
    assert [(s.owner, s.face) for s in load_profile(path).samples] == [("blue", "arrow"), ("blue", "spiral")]
    shown = desk.shown("blue")
    assert shown.closest == ("arrow", "spiral") and shown.apart is not None and shown.is_read
    assert [face.shots for face in shown.faces] == [1, 1]
    with pytest.raises(FacesError, match="gives no picture"):
        desk.add_seen("blue", "arrow")
    desk.forget("blue", "arrow")
    with pytest.raises(FacesError, match="show another face first"):
        desk.forget("blue", "spiral")
    assert [s.face for s in load_profile(path).samples] == ["spiral"]
    assert camera.renewed == 3


def test_a_picture_that_does_not_open_is_said_and_nothing_is_changed(tmp_path: Path) -> None:
    path, camera = tmp_path / f"tada{SUFFIX}", OneDie()
    camera.still = lambda max_width=1280, timeout_s=1.0: (1, b"half of a")  # type: ignore[method-assign]  # torn on the line
    with pytest.raises(FacesError, match="picture cannot be read"):
        FaceDesk(path, "tada", cast(CameraChild, camera), ()).add_seen("blue", "arrow")
    assert not path.exists() and camera.renewed == 0


def test_a_profile_that_is_none_is_said(tmp_path: Path) -> None:
    path = tmp_path / f"tada{SUFFIX}"
    path.write_bytes(b"no profile")
    with pytest.raises(FacesError, match="no dice profile"):
        FaceDesk(path, "tada", None, ()).shown("blue")
