"""A camera in its own process follows cards that lie over each other, from film frames to what was laid."""

from __future__ import annotations

import time
from importlib.resources import files

from companion.core.geometry import Pose
from companion.core.observation import CardChanged, Observed
from companion.games.tacta.deck import read
from companion.games.tacta.layouts import layouts_of
from companion.sight.tacta import lookout
from vision.camera import CameraChild
from vision.feed import Feed
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard
from vision.surface import Marks

SIZE_MM = (300.0, 220.0)
EYE = Camera(lens_mm=(150.0, 112.0, 420.0), look_mm=(150.0, 110.0), across_deg=52, size_px=(800, 600))
PATIENCE_S = 100.0  # a loaded machine starts a process slowly and looks slowly


def test_a_card_that_is_laid_before_a_camera_is_told_by_its_name_and_place() -> None:
    data = (files("companion.games.tacta") / "data" / "deck-a.json").read_text(encoding="utf-8")
    layouts = {layout.id: layout for layout in layouts_of(read(data))}
    marks = Marks(size_mm=SIZE_MM)
    lies = LaidCard(layouts["circle-5"], "red", False, Pose(110.0, 70.0, 9.0))
    picture = CardTable(size_mm=SIZE_MM, marks=marks, cloth="felt", seed=2, laid=(lies,)).picture(EYE)
    seen: list[Observed] = []
    feed = Feed()
    camera = CameraChild(feed.source, lookout(data), seen.append, marks=marks)
    camera.start()
    try:
        ends = time.monotonic() + PATIENCE_S
        while not any(isinstance(each, CardChanged) for each in seen):
            assert time.monotonic() < ends, f"waited in vain for a card: {camera.status()}"
            feed.push(picture)
            time.sleep(0.08)
    finally:
        camera.stop()
        feed.close()
    (told,) = (each for each in seen if isinstance(each, CardChanged))
    assert (told.change, told.card, told.colour, told.flipped) == ("placed", "circle-5", "red", False)
    assert told.pose is not None
    assert abs(told.pose.x_mm - 110.0) < 0.7 and abs(told.pose.y_mm - 70.0) < 0.7
    assert abs(told.pose.angle_deg - 9.0) < 1.0
