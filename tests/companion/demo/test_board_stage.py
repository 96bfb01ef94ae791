"""The demo's rendered board is read like any other: towers stand where they were put, and a roll is filmed whole."""

from __future__ import annotations

import queue
from importlib import resources

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.demo.board_stage import STEPS, BoardStage, Lain, Stands
from companion.games.tahwars.deck import read
from companion.sight.tahwars import BoardSight

DATA = read((resources.files("companion.games.tahwars") / "data" / "house.json").read_text(encoding="utf-8"))


class Frames:
    """A feed that keeps what is pushed into it."""

    def __init__(self) -> None:
        self.pushed: queue.SimpleQueue[NDArray[np.uint8]] = queue.SimpleQueue()

    def push(self, frame: NDArray[np.uint8]) -> None:
        self.pushed.put(frame)


def test_towers_and_a_rolling_die_are_seen_where_they_are_put() -> None:
    feed = Frames()
    stage = BoardStage(feed, DATA.maps[0], ("red", "blue"), 3)  # type: ignore[arg-type]  # all that a film asks of a feed
    towers = (
        Stands(owner="red", xy_mm=(200.0, 120.0), heading_deg=30.0),
        Stands(owner="blue", xy_mm=(700.0, 350.0), heading_deg=-120.0),
    )
    stage.start()
    try:
        feed.pushed.get(timeout=60)
        stage.stand(towers, (), ())
        die = Lain(owner="red", kind="d6", shown=5, xy_mm=(450.0, 300.0))
        assert stage.may_lie(die.xy_mm, towers, ()) and not stage.may_lie((205.0, 120.0), towers, ())
        stage.roll(towers, (die,), ((260.0, 200.0),))
        different: list[NDArray[np.uint8]] = []
        while len(different) < 2 + STEPS + 1:
            frame = feed.pushed.get(timeout=60)
            if not different or not np.array_equal(frame, different[-1]):
                different.append(frame)
    finally:
        stage.stop()
    seen = BoardSight(DATA.maps[0], DATA.stick_mm).read(different[-1])
    for tower, put in zip(seen.towers, towers, strict=True):
        assert tower.xy_mm == pytest.approx(put.xy_mm, abs=3.0)
        assert tower.heading_deg == pytest.approx(put.heading_deg, abs=1.0)
