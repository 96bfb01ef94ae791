"""What the camera looks for at a table of TAH WARS: towers and dice on a painted map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from companion.core.geometry import Polygon
from companion.core.layout import Layout, Region
from companion.core.observation import BoardDie, TowerSeen
from companion.games.tahwars.deck import read
from companion.games.tahwars.ground import Ground, Judged, Measured, judge, likeliest_kind
from companion.games.tahwars.maps import Map
from vision.frame import Frame
from vision.towers.board import BoardReader, BoardSeen
from vision.towers.marks import BoardMarks, CornerTags, TowerBuild
from vision.towers.watch import BoardSpec, dice_reader


def marks_of(found: Map) -> BoardMarks:
    """What a camera needs of a map. Raises ValueError where the map does not say it."""
    corners, tower = found.corner_tags, found.tower
    if corners is None or tower is None:
        missing = "corner_tags" if corners is None else "tower"
        raise ValueError(f"the map has no {missing!r}: say where its tags lie and how towers are made")
    return BoardMarks(
        board_mm=found.board_mm,
        corner_tags=CornerTags(ids=corners.ids, centres_mm=corners.centres_mm, side_mm=corners.side_mm),
        tower=TowerBuild(
            side_mm=tower.side_mm,
            height_mm=tower.height_mm,
            tag_side_mm=tower.tag_side_mm,
            height_error_mm=tower.height_error_mm,
        ),
    )


def ground_of(found: Map) -> Layout:
    """A map as a printed thing: a region for each painted area, its symbol the terrain."""
    regions = tuple(
        Region(f"area-{n}", Polygon(area.polygon_mm), area.kind) for n, area in enumerate(found.terrains)
    )
    return Layout(found.name or "map", found.board_mm, regions)


def lookout(data: str) -> BoardSpec:
    """What a camera over a board is told to look at, by the data file with this text: its first map that says where
    tags and towers are, else a board of the house."""
    for found in read(data).maps:
        if found.corner_tags is not None and found.tower is not None:
            return BoardSpec(marks=marks_of(found), ground=ground_of(found))
    return BoardSpec(marks=HOUSE)


HOUSE = BoardMarks(
    board_mm=(900.0, 500.0),
    corner_tags=CornerTags(
        ids=(0, 1, 2, 3),
        centres_mm=((-22.0, -22.0), (922.0, -22.0), (922.0, 522.0), (-22.0, 522.0)),
        side_mm=32.0,
    ),
    tower=TowerBuild(side_mm=68.0, height_mm=150.0, tag_side_mm=44.8),
)
"""How the boards of the house are tagged, and towers made that fit the tags of the house."""


@dataclass(frozen=True)
class Moved:
    """A tower that does not stand as it stood before, and the ruling on it."""

    tag: int
    judged: Judged


@dataclass(frozen=True)
class BoardRead:
    """One picture of a board with its map: `dice` with terrains, and `moves` against the picture before."""

    seen: BoardSeen
    dice: tuple[BoardDie, ...]
    moves: tuple[Moved, ...] = ()

    @property
    def towers(self) -> tuple[TowerSeen, ...]:
        """The towers, by the order of tags."""
        return self.seen.towers


class BoardSight:
    """Reads pictures of one map, each against the one before; to be used from one thread."""

    def __init__(self, found: Map, stick_mm: float, sets: Mapping[str, Path] | None = None) -> None:
        """`sets`: owner -> file of their enrolled dice. Raises ValueError where the map lacks what a camera needs, and
        EnrolError where such a file is none."""
        self.ground = Ground(found)
        self._stick_mm = stick_mm
        self._reader = BoardReader(marks_of(found), None, dice_reader(sets or {}))

    def read(self, frame: Frame, before: BoardRead | None = None) -> BoardRead:
        """What `frame` (uint8 BGR) shows. Raises NoSurfaceError where the board's tags are not seen."""
        seen = self._reader.read(frame)
        dice = tuple(
            msgspec.structs.replace(die, terrain=self.ground.terrain_at(die.xy_mm) if die.on_board else None)
            for die in seen.dice
        )
        return BoardRead(seen, dice, self._moves(before.seen, seen) if before else ())

    def _moves(self, before: BoardSeen, after: BoardSeen) -> tuple[Moved, ...]:
        found = []
        for shift in self._reader.shifts(before, after):
            moved = Measured(shift.moved_mm, shift.u_mm)
            turned = Measured(shift.turned_deg, shift.u_deg)
            kind = likeliest_kind(moved, turned)
            if kind is not None:
                found.append(Moved(shift.tag, judge(kind, moved, turned, self._stick_mm)))
        return tuple(found)
