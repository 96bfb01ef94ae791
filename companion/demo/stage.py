"""The rendered table: what the simulated people put on it, pushed frame by frame like a camera's."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.feed import Feed
from vision.render.cube import Die, Livery
from vision.render.flat import Card
from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.render.visitors import Hand, draw_visitor
from vision.surface import Marks

SIZE_MM = (480.0, 320.0)
"""The demo's table between its markers."""
FPS = 12.0
REACH = (0.35, 0.75, 1.0)
"""How far a hand has come in, frame by frame."""
BODIES = {
    "red": (0.14, 0.11, 0.74),
    "blue": (0.72, 0.34, 0.10),
    "green": (0.19, 0.48, 0.14),
    "yellow": (0.10, 0.74, 0.90),
    "purple": (0.52, 0.14, 0.40),
    "black": (0.10, 0.10, 0.10),
}
"""BGR of the dice by seat colour."""
DARK, PALE = (0.08, 0.08, 0.08), (0.95, 0.96, 0.97)


def livery(colour: str) -> Livery:
    """How the dice of a seat's colour look."""
    return Livery(body=BODIES[colour], ink=DARK if colour == "yellow" else PALE, seed=len(colour))


def eye_over(size_mm: tuple[float, float]) -> Camera:
    """A camera that sees a table of this size with its markers."""
    width, height = size_mm
    far = max(width / 0.9, height / 0.5)
    return Camera(
        lens_mm=(width / 2, height / 2 + 6, 1.06 * far), look_mm=(width / 2, height / 2), across_deg=52,
        size_px=(1600, 900),
    )  # fmt: skip


class Stage:
    """A table that is filmed all the time. `show` puts things on it; hands come in, do it and leave."""

    def __init__(self, feed: Feed, size_mm: tuple[float, float], seed: int) -> None:
        """Films an empty table from `start` on."""
        self._feed, self._size_mm = feed, size_mm
        self._camera = eye_over(size_mm)
        self._scene = Scene(size_mm=size_mm, marks=Marks(size_mm=size_mm), cloth="wood", seed=seed)
        self._wanted: tuple[Scene, tuple[tuple[float, float], ...]] | None = (self._scene, ())
        self._change = threading.Condition()
        self._is_ended = False
        self._thread = threading.Thread(target=self._film, name="stage", daemon=True)

    def start(self) -> None:
        """Begin to film."""
        self._thread.start()

    def stop(self) -> None:
        """End the film; the camera sees its plug pulled."""
        with self._change:
            self._is_ended = True
            self._change.notify()
        self._thread.join(5.0)

    def show(
        self, cards: tuple[Card, ...], dice: tuple[Die, ...], hands_mm: tuple[tuple[float, float], ...]
    ) -> None:
        """Put these cards and dice on the table, by hands that reach to `hands_mm`; returns at once."""
        with self._change:
            self._wanted = (replace(self._scene, cards=cards, dice=dice), hands_mm)
            self._change.notify()

    def _film(self) -> None:
        tick, still = 0, self._scene.drawn(self._camera)
        while True:
            with self._change:
                wanted, self._wanted = self._wanted, None
                if self._is_ended:
                    return
            frames = [still]
            if wanted is not None:
                scene, hands = wanted
                before, still = still, scene.drawn(self._camera)
                frames = [
                    *(self._reached(before, hands, share) for share in REACH),
                    *(self._reached(still, hands, share) for share in reversed(REACH)),
                    still,
                ]
            for frame in frames:
                tick += 1
                self._feed.push(self._scene.shot(frame, self._camera, tick))
                with self._change:
                    self._change.wait_for(lambda: self._is_ended, 1 / FPS)

    def _reached(
        self, table: NDArray[np.uint8], hands_mm: tuple[tuple[float, float], ...], share: float
    ) -> NDArray[np.uint8]:
        """The table with hands that are `share` of their way in."""
        if not hands_mm:
            return table
        canvas = table.copy()
        for x, y in hands_mm:
            is_below = y > self._size_mm[1] / 2
            edge = self._size_mm[1] + 30 if is_below else -30.0
            tip = (x, edge + (y - edge) * share)
            hand = Hand(tip_mm=tip, from_deg=90.0 if is_below else -90.0)
            draw_visitor(canvas, hand, self._camera, self._scene.light)
        return canvas


def wait_s(seconds: float, speed: float) -> None:
    """A person's pause, shortened by `speed`."""
    time.sleep(seconds / speed)
