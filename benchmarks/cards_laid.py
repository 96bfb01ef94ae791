"""How soon is a card named that a hand has laid, seen from outside the camera's process?

A film of a table at 30 frames a second goes to a camera in its own process, as `companion run --deck` has it. Each
card is laid and taken away by a hand; the time runs from the first frame without the hand until the name arrives.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.figures import Figure, percentile
from companion.core.geometry import Pose
from companion.core.observation import CardLaid, CardLifted, Observed
from companion.demo.stage import eye_over
from vision.camera import CameraChild
from vision.cards.deck import Deck, write_deck
from vision.cards.watching import DeckSpec
from vision.feed import Feed
from vision.frame import Frame
from vision.render.lens import Camera
from vision.render.pictured import PictureTable
from vision.render.scene import Scene
from vision.render.visitors import Hand, draw_visitor
from vision.surface import Marks

FPS = 30
SIZE_MM = (480.0, 320.0)
SIZE_PX = (1920, 1080)
CARD_MM = (63.0, 88.0)
_REACH = (0.3, 0.6, 0.9, 1.0, 1.0, 0.9, 0.6, 0.3)
_NOISES = 4
_PATIENCE_S = 20.0


@dataclass
class _Heard:
    """What the camera's process told, and when it arrived."""

    told: list[tuple[float, Observed]] = field(default_factory=list)

    def take(self, seen: Observed) -> None:
        """One observation more."""
        self.told.append((time.monotonic(), seen))

    def of(self, kind: type[CardLaid] | type[CardLifted]) -> list[tuple[float, CardLaid | CardLifted]]:
        """(when it arrived, what) of one kind, since `told` was last emptied."""
        return [(at_s, seen) for at_s, seen in self.told if isinstance(seen, kind)]


class _Film:
    """Pushes frames in real time. The table is painted before, so that no frame is late for it."""

    def __init__(self, feed: Feed, camera: Camera, table: PictureTable, seed: int) -> None:
        self._feed, self._camera, self._table = feed, camera, table
        self._rng = np.random.default_rng(seed)
        self._tick = 0
        self._due_s = time.monotonic()

    def show(self, frame: Frame) -> float:
        """When it was pushed."""
        self._due_s = max(self._due_s + 1 / FPS, time.monotonic() - 1 / FPS)
        time.sleep(max(0.0, self._due_s - time.monotonic()))
        self._feed.push(frame)
        return time.monotonic()

    def shots(self, canvas: Frame) -> list[Frame]:
        """A table that lies still, by a sensor whose noise is never the same."""
        self._tick += _NOISES
        return [self._table.shot(canvas, self._camera, self._tick + k) for k in range(_NOISES)]

    def under_hand(self, canvas: Frame, reach: float, at_mm: tuple[float, float]) -> Frame:
        """The table with a hand on its way to a place."""
        tip = (at_mm[0], SIZE_MM[1] + 30 + (at_mm[1] - SIZE_MM[1] - 30) * reach)
        shown = canvas.copy()
        draw_visitor(shown, Hand(tip_mm=tip, from_deg=90.0), self._camera, self._table.light)
        return self.shots(shown)[0]


def _pose(rng: np.random.Generator) -> Pose:
    """A card anywhere on the table, at any angle, its own top-left corner as the place."""
    turn = Pose(0.0, 0.0, float(rng.uniform(-180, 180)))
    x, y = turn.apply((CARD_MM[0] / 2, CARD_MM[1] / 2))
    middle = [float(rng.uniform(90, side - 90)) for side in SIZE_MM]
    return Pose(middle[0] - x, middle[1] - y, turn.angle_deg)


def _film_until(film: _Film, frames: Sequence[Frame], is_so: Callable[[], bool]) -> None:
    """Goes on showing these frames until something is so, or patience ends."""
    gives_up_s = time.monotonic() + _PATIENCE_S
    while not is_so() and time.monotonic() < gives_up_s:
        for frame in frames:
            film.show(frame)


def figures(deck: Deck, prints: Sequence[Frame], laid: int, *, seed: int) -> list[Figure]:
    """The time to a name, and how often it was the right one and the only one. `prints`: of the deck's cards, whose
    names are their numbers."""
    rng, heard, feed = np.random.default_rng(seed), _Heard(), Feed()
    camera = replace(eye_over(SIZE_MM), size_px=SIZE_PX)
    marks = Marks(size_mm=SIZE_MM)
    table = PictureTable(
        bare=Scene(size_mm=SIZE_MM, marks=marks, cloth="felt", seed=seed),
        prints={str(n): each for n, each in enumerate(prints)},
        card_mm=CARD_MM,
    )
    waits_s: list[float] = []
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        write_deck(Path(folder), deck, [card.name for card in deck.cards])
        child = CameraChild(feed.source, DeckSpec(folder), heard.take, marks=marks)
        child.start()
        try:
            film, bare = _Film(feed, camera, table, seed), np.asarray(table.drawn(camera), np.uint8)
            empty = film.shots(bare)
            _film_until(film, empty, lambda: child.status().state == "live")
            for _ in range(FPS):
                film.show(empty[0])
            for _ in range(laid):
                name, pose = str(int(rng.integers(len(prints)))), _pose(rng)
                lying = np.asarray(replace(table, laid=((name, pose),)).drawn(camera), np.uint8)
                at_mm = pose.apply((CARD_MM[0] / 2, CARD_MM[1] / 2))
                here = film.shots(lying)
                coming = [
                    film.under_hand(bare if k < len(_REACH) / 2 else lying, reach, at_mm)
                    for k, reach in enumerate(_REACH)
                ]
                heard.told.clear()
                for frame in coming:
                    film.show(frame)
                left_s = film.show(here[0])
                _film_until(film, here, lambda: bool(heard.of(CardLaid)))
                for k in range(FPS):
                    film.show(here[k % _NOISES])
                told = heard.of(CardLaid)
                if told:
                    waits_s.append(told[0][0] - left_s)
                right += [seen.card.name for _, seen in told] == [name]
                for frame in reversed(coming):
                    film.show(frame)
                _film_until(film, empty, lambda: bool(heard.of(CardLifted)))
        finally:
            child.stop()
            feed.close()
    return [
        Figure(
            "laid card named after the hand has left, p90",
            percentile(waits_s, 0.9),
            "s",
            "<=",
            1.0,
            len(waits_s),
        ),
        Figure("laid cards named right, and once", 100 * right / laid, "%", ">=", 98, laid, is_rate=True),
    ]
