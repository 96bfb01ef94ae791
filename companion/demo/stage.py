"""The rendered table: what the simulated people put on it, pushed frame by frame like a camera's."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vision.feed import Feed
from vision.render.cube import Die, Livery
from vision.render.flat import Card
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard
from vision.render.scene import Scene
from vision.render.visitors import Hand, draw_visitor
from vision.surface import Marks

SIZE_MM = (480.0, 320.0)
"""The demo's table between its markers."""
FPS = 12.0
HELD = round(1.2 * FPS)
"""Frames for which a change of a card table stays at least: the eyes look at a table that has come to rest."""
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
Places = tuple[tuple[float, float], ...]
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


class Filmed(Protocol):
    """A table at one moment, as the renderer draws it."""

    @property
    def light(self) -> Lamp:
        """The lamp over it."""

    def drawn(self, camera: Camera) -> NDArray[np.uint8]:
        """The lit table without visitors, uint8 BGR (H, W, 3)."""

    def shot(self, canvas: NDArray[np.uint8], camera: Camera, tick: int) -> NDArray[np.uint8]:
        """What the sensor gives of a drawn table; the noise goes by `tick`."""


class Film:
    """A table that is filmed all the time. `put` changes it; hands come in, do it and leave.

    One thread paints, another films: however long painting takes, the camera never stands still. Each change stays to
    be seen for `held` frames at least. `is_same_noise`: whether a table that lies still looks the same to the pixel,
    so that what is measured on it is the same whenever it is looked at.
    """

    def __init__(
        self,
        feed: Feed,
        size_mm: tuple[float, float],
        first: Filmed,
        *,
        held: int = 1,
        is_same_noise: bool = False,
    ) -> None:
        """Films `first` from `start` on."""
        self._feed, self._size_mm, self._first = feed, size_mm, first
        self._held, self._is_same_noise = held, is_same_noise
        self._camera = eye_over(size_mm)
        self._wanted: queue.SimpleQueue[tuple[Filmed, Places] | None] = queue.SimpleQueue()
        self._painted: queue.SimpleQueue[tuple[Filmed, list[NDArray[np.uint8]]]] = queue.SimpleQueue()
        self._puts = 0
        self._lies: tuple[int, int] | None = None
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._paint, self._film)]

    def start(self) -> None:
        """Begin to film."""
        self._wanted.put((self._first, ()))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the film; the camera sees its plug pulled."""
        self._ended.set()
        self._wanted.put(None)
        for thread in self._threads:
            thread.join(10.0)

    def put(self, table: Filmed, hands_mm: Places) -> None:
        """Have the table look so, by hands that reach to `hands_mm`; returns at once."""
        self._puts += 1
        self._wanted.put((table, hands_mm))

    @property
    def lies_since_ns(self) -> int | None:
        """Since when (``time.monotonic_ns``) the film shows what was put last, hands gone; None before."""
        lies, puts = self._lies, self._puts
        return lies[1] if lies is not None and lies[0] == puts else None

    def _paint(self) -> None:
        """What is wanted becomes frames: hands over the table before, hands over the table after, the still table."""
        before: NDArray[np.uint8] | None = None
        while (wanted := self._wanted.get()) is not None:
            table, hands = wanted
            still = table.drawn(self._camera)
            coming = [] if before is None else [self._reached(table, before, hands, share) for share in REACH]
            leaving = [self._reached(table, still, hands, share) for share in reversed(REACH)]
            between = self._between(table, self._camera)
            self._painted.put((table, [*coming, *between, *leaving, *[still] * self._held]))
            before = still

    def _between(self, _table: Filmed, _camera: Camera) -> list[NDArray[np.uint8]]:
        """What is seen before the table looks as it was wanted, besides hands."""
        return []

    def _film(self) -> None:
        table, frames = self._painted.get()
        tick, shown = 0, 0
        while not self._ended.is_set():
            if len(frames) == 1 and not self._painted.empty():
                table, frames = self._painted.get()
                shown += 1
            tick += 0 if self._is_same_noise else 1
            self._feed.push(table.shot(frames[0], self._camera, tick))
            if len(frames) <= self._held and (self._lies is None or self._lies[0] < shown):
                self._lies = (shown, time.monotonic_ns())
            frames = frames[1:] or frames
            self._ended.wait(1 / FPS)

    def _reached(
        self, table: Filmed, canvas: NDArray[np.uint8], hands_mm: Places, share: float
    ) -> NDArray[np.uint8]:
        """The table with hands that are `share` of their way in."""
        if not hands_mm:
            return canvas
        canvas = canvas.copy()
        for x, y in hands_mm:
            is_below = y > self._size_mm[1] / 2
            edge = self._size_mm[1] + 30 if is_below else -30.0
            tip = (x, edge + (y - edge) * share)
            hand = Hand(tip_mm=tip, from_deg=90.0 if is_below else -90.0)
            draw_visitor(canvas, hand, self._camera, table.light)
        return canvas


class Stage(Film):
    """A table of dice and spell cards that is filmed all the time."""

    def __init__(self, feed: Feed, size_mm: tuple[float, float], seed: int) -> None:
        """Films an empty table from `start` on."""
        self._scene = Scene(size_mm=size_mm, marks=Marks(size_mm=size_mm), cloth="wood", seed=seed)
        super().__init__(feed, size_mm, self._scene)

    def show(self, cards: tuple[Card, ...], dice: tuple[Die, ...], hands_mm: Places) -> None:
        """Put these cards and dice on the table, by hands that reach to `hands_mm`; returns at once."""
        self.put(replace(self._scene, cards=cards, dice=dice), hands_mm)


class CardStage(Film):
    """A table of cards that lie over each other, filmed all the time; each change stays a while, as people wait."""

    def __init__(self, feed: Feed, size_mm: tuple[float, float], seed: int) -> None:
        """Films an empty table from `start` on."""
        self._table = CardTable(size_mm=size_mm, marks=Marks(size_mm=size_mm), cloth="felt", seed=seed)
        super().__init__(feed, size_mm, self._table, held=HELD, is_same_noise=True)

    def show(self, laid: tuple[LaidCard, ...], hands_mm: Places) -> None:
        """Have these cards lie on the table, the undermost first; returns at once."""
        self.put(replace(self._table, laid=laid), hands_mm)


def wait_s(seconds: float, speed: float) -> None:
    """A person's pause, shortened by `speed`."""
    time.sleep(seconds / speed)
