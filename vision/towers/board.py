"""Reading a board from above: towers by their tags, dice by their looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.core.observation import BoardDie, TowerSeen
from vision.frame import Frame
from vision.towers.colours import OWNERS, name_of, tower_colours
from vision.towers.dice import BoardDiceReader
from vision.towers.marks import BoardMarks
from vision.towers.poses import BoardPose, Shift, Solved
from vision.towers.tags import find_tags

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BoardSeen:
    """What one picture shows of a board. `owners`: tag of a tower -> the name of its colour; `tags`: every tag's
    corners (4, 2) in px; `size_px`: (width, height)."""

    towers: tuple[TowerSeen, ...]
    dice: tuple[BoardDie, ...]
    owners: Mapping[int, str]
    pose: BoardPose
    tags: Mapping[int, Floats]
    size_px: tuple[int, int]


class BoardReader:
    """Reads pictures of one board; to be used from one thread."""

    def __init__(
        self, marks: BoardMarks, names: Mapping[int, str] | None = None, dice: BoardDiceReader | None = None
    ) -> None:
        """`names`: whose tower bears which tag, where that is known; else an owner is named by the tower's colour.
        `dice` None: dice are not looked for."""
        self._marks = marks
        self._names = dict(names or {})
        self._dice = dice

    def read(self, frame: Frame) -> BoardSeen:
        """The board in `frame` (uint8 BGR). Raises NoSurfaceError where its tags are not seen."""
        size = (frame.shape[1], frame.shape[0])
        tags = find_tags(frame)
        pose = Solved(self._marks, [tags], size).pose(0)
        colours = tower_colours(frame, pose, self._marks)
        owners = {tag: self._names.get(tag) or name_of(colour) for tag, colour in colours.items()}
        dice: tuple[BoardDie, ...] = ()
        if self._dice is not None:
            of_owner = {owners[tag]: colour for tag, colour in colours.items()}
            dice = self._dice.read(frame, pose, self._marks, of_owner or OWNERS)
        return BoardSeen(_told(pose), dice, owners, pose, tags, size)

    def shifts(self, before: BoardSeen, after: BoardSeen) -> tuple[Shift, ...]:
        """How each tower that is in both came from one picture to the other, moved or not. Raises NoSurfaceError."""
        if before.size_px != after.size_px:
            return ()
        return Solved(self._marks, [before.tags, after.tags], after.size_px).shifts(0, 1)


def _told(pose: BoardPose) -> tuple[TowerSeen, ...]:
    return tuple(
        TowerSeen(
            tag=tower.tag,
            xy_mm=(round(tower.xy_mm[0], 2), round(tower.xy_mm[1], 2)),
            heading_deg=round(tower.heading_deg, 2),
            u_mm=round(tower.u_mm, 2),
            u_deg=round(tower.u_deg, 2),
        )
        for tower in pose.towers
    )
