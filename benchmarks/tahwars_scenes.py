"""Tables of TAH WARS as they may be played, drawn with all that is true of them; nothing was fitted to these seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from shapely.geometry import LineString

from companion.core.geometry import Point
from companion.games.tahwars.ground import Ground, castle_foot
from companion.games.tahwars.maps import CornerTags, Map, Terrain, TowerSize
from vision.frame import Frame
from vision.render.board import Block, BoardScene
from vision.render.boards import (
    BOARD_MM,
    DICE,
    OWNERS,
    DiceSet,
    any_board_camera,
    any_board_lamp,
    any_palette,
    any_set,
    any_terrains,
    any_towers,
    is_free,
    usual_marks,
)
from vision.render.cloth import CLOTHS
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie
from vision.towers.stills import Stills

STICK_MM = 120.0
SEED = 606
ACTIONS = 4
"""What is done at each table, each time from where all stood before."""
_HALF_DIE_MM = 9.0
_FLICKER = 0.015
"""Share of the light by which pictures of a rest differ."""


@dataclass(frozen=True)
class Action:
    """What a player did with a castle. Angles in degrees clockwise."""

    tag: int
    kind: str
    moved_mm: float
    turned_deg: float

    @property
    def is_fair(self) -> bool:
        """Whether the book allows it. Rule: TAH-15 TAH-16"""
        if self.kind == "rotate":
            return self.moved_mm <= 5
        return self.moved_mm <= STICK_MM and abs(self.turned_deg) <= 10

    def margin(self, u_mm: float, u_deg: float) -> float:
        """How far beyond the uncertainty it is from being judged otherwise, in mm or degrees."""
        if self.kind == "rotate":
            return abs(self.moved_mm - 5) - u_mm
        inside = (STICK_MM - self.moved_mm - u_mm, 10 - abs(self.turned_deg) - u_deg)
        if self.is_fair:
            return min(inside)
        return max(self.moved_mm - STICK_MM - u_mm, abs(self.turned_deg) - 10 - u_deg)


@dataclass(frozen=True)
class Throw:
    """One declared die: where it ends, what it shows, and the way of its middle from frame to frame; `hits`: tags of
    towers that it touched."""

    owner: str
    die: PolyDie
    way_mm: tuple[Point, ...]
    hits: tuple[int, ...]


class Table:
    """Table number `n`: before, after each of some actions that might follow, and after a throw that follows the first
    of these."""

    def __init__(
        self, n: int, sets: Mapping[str, DiceSet] | None = None, size_px: tuple[int, int] = (2304, 1296)
    ) -> None:
        """`sets`: everybody's dice where they are known before; else each owner has some. `size_px`: the camera's."""
        self.rng = np.random.default_rng((SEED, n))
        rng = self.rng
        self.marks = usual_marks()
        self.camera: Camera = any_board_camera(rng, size_px)
        owners = [str(name) for name in rng.permutation(OWNERS)[: int(rng.integers(2, 5))]]
        self.sets: dict[str, DiceSet] = {
            owner: sets[owner] if sets else any_set(rng, owner) for owner in owners
        }
        towers = any_towers(rng, owners, self.marks.tower)
        self.before = BoardScene(
            marks=self.marks,
            terrains=any_terrains(rng),
            towers=towers,
            palette=any_palette(rng),
            grain=float(rng.uniform(0.03, 0.15)),
            cloth=str(rng.choice(CLOTHS)),
            light=any_board_lamp(rng),
            bend=float(rng.uniform(-0.01, 0.01)),
            seed=int(rng.integers(1 << 20)),
        )
        self.owners = tuple(owners)
        self.lying: dict[tuple[str, str], PolyDie] = {}
        self._scatter()
        self.before = replace(self.before, dice=tuple(self.lying.values()))
        self.acted = tuple(self._acted() for _ in range(ACTIONS))
        self.after = self.acted[0][1]
        self._ground: Frame | None = None

    def _scatter(self) -> None:
        for owner in self.owners:
            for kind in self.rng.permutation(DICE)[: int(self.rng.integers(1, 4))]:
                xy = self._free(self.before.towers)
                if xy is not None:
                    self.lying[owner, str(kind)] = self.sets[owner].die(self.rng, str(kind), xy)

    def _free(self, towers: Sequence[Block]) -> Point | None:
        for _ in range(60):
            xy = (
                float(self.rng.uniform(12, BOARD_MM[0] - 12)),
                float(self.rng.uniform(12, BOARD_MM[1] - 12)),
            )
            dice = list(self.lying.values())
            if is_free(xy, towers, dice, self.camera, self.marks.tower):
                return xy
        return None

    def _acted(self) -> tuple[Action, BoardScene]:
        rng, towers = self.rng, list(self.before.towers)
        which = int(rng.integers(len(towers)))
        old = towers[which]
        while True:
            if rng.random() < 0.5:
                kind, far, turn = "move", float(rng.uniform(20, 170)), float(rng.uniform(-18, 18))
            else:
                kind, far, turn = (
                    "rotate",
                    float(rng.uniform(0, 12)),
                    float(rng.uniform(25, 180) * rng.choice([-1, 1])),
                )
            way = rng.uniform(0, 2 * np.pi)
            xy = (old.xy_mm[0] + far * float(np.cos(way)), old.xy_mm[1] + far * float(np.sin(way)))
            foot = castle_foot(xy, old.heading_deg + turn, self.marks.tower.side_mm)
            x0, y0, x1, y1 = foot.bounds
            is_inside = x0 > 0 and y0 > 0 and x1 < BOARD_MM[0] and y1 < BOARD_MM[1]
            is_clear = all(
                foot.distance(castle_foot(t.xy_mm, t.heading_deg, self.marks.tower.side_mm)) > 5
                for k, t in enumerate(towers)
                if k != which
            )
            moved = replace(old, xy_mm=xy, heading_deg=old.heading_deg + turn)
            hides = any(
                not is_free(die.xy_mm, [moved], [], self.camera, self.marks.tower)
                for die in self.lying.values()
            )
            if is_inside and is_clear and not hides:
                break
        towers[which] = moved
        return Action(old.tag, kind, far, turn), replace(self.before, towers=tuple(towers))

    def map(self) -> Map:
        """The map as its owner painted it."""
        corners, tower = self.marks.corner_tags, self.marks.tower
        return Map(
            board_mm=self.marks.board_mm,
            terrains=tuple(Terrain(kind=kind, polygon_mm=ring) for kind, ring in self.before.terrains),
            corner_tags=CornerTags(ids=corners.ids, centres_mm=corners.centres_mm, side_mm=corners.side_mm),
            tower=TowerSize(
                side_mm=tower.side_mm,
                height_mm=tower.height_mm,
                tag_side_mm=tower.tag_side_mm,
                height_error_mm=tower.height_error_mm,
            ),
        )

    def ground(self) -> Ground:
        """What is painted where."""
        return Ground(self.map())

    def picture(self, scene: BoardScene, tick: int) -> Frame:
        """What the camera sees of a scene of this table."""
        if self._ground is None:
            self._ground = self.before.ground(self.camera)
        return scene.picture(self.camera, tick, self._ground)

    def still(self, scene: BoardScene, tick: int, count: int) -> Frame:
        """What the eye makes of `count` pictures of a rest: each with noise of its own, under light that flickers."""
        if self._ground is None:
            self._ground = self.before.ground(self.camera)
        drawn, rng, stills = (
            scene.drawn(self.camera, self._ground),
            np.random.default_rng((SEED, tick)),
            Stills(),
        )
        for n in range(count):
            lit = np.clip(drawn * rng.uniform(1 - _FLICKER, 1 + _FLICKER), 0, 255).astype(np.uint8)
            stills.add(scene.shot(lit, self.camera, 100 * tick + n), n)
        return stills.picture()

    def throws(self) -> tuple[Throw, ...]:
        """An attack: one to three of the first owner's dice, each rolling from its tower's front; some bounce off a
        foreign tower."""
        rng, owner = self.rng, self.owners[0]
        idle = [kind for kind in DICE if (owner, kind) not in self.lying]
        found = []
        for kind in rng.permutation(idle)[: int(rng.integers(1, 4))]:
            rest = self._free(self.after.towers)
            if rest is None:
                continue
            die = self.sets[owner].die(rng, str(kind), rest)
            self.lying[owner, str(kind)] = die
            found.append(self._thrown(owner, die))
        return tuple(found)

    def _thrown(self, owner: str, die: PolyDie) -> Throw:
        """The last part of a die's way: straight to its rest, or off the near side of a foreign tower."""
        rest = np.array(die.xy_mm)
        foreign = [t for t in self.after.towers if t.tag != self.after.towers[0].tag]
        eye = np.array(self.camera.lens_mm[:2])
        for block in foreign if self.rng.random() < 0.6 else ():
            foot = np.array(block.xy_mm)
            toward = eye - foot
            toward = toward / max(1.0, float(np.linalg.norm(toward)))
            touch = foot + toward * (_out_mm(block, toward, self.marks.tower.side_mm) + _HALF_DIE_MM)
            if np.linalg.norm(rest - touch) > 60 and (rest - touch) @ toward > 0:
                start = touch + toward * 150
                legs = [start + (touch - start) * s for s in (0.0, 0.35, 0.7, 1.0)]
                legs += [touch + (rest - touch) * s for s in (0.3, 0.65, 1.0)]
                return Throw(owner, die, _points(legs), (block.tag,))
        start = rest + self.rng.normal(0, 80, 2)
        while not self._is_open((start, rest), foreign):
            start = rest + self.rng.normal(0, 80, 2)
        return Throw(owner, die, _points([start + (rest - start) * s for s in (0.0, 0.5, 1.0)]), ())

    def _is_open(self, way: tuple[np.ndarray, np.ndarray], towers: list[Block]) -> bool:
        """Whether a die that rolls straight so comes through no tower."""
        line, side_mm = LineString(way), self.marks.tower.side_mm
        return all(castle_foot(t.xy_mm, t.heading_deg, side_mm).distance(line) > _HALF_DIE_MM for t in towers)


def _points(legs: list[np.ndarray]) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in legs)


def _out_mm(block: Block, toward: np.ndarray, side_mm: float) -> float:
    """From a tower's middle to its rim along a direction."""
    turn = np.radians(block.heading_deg)
    cos, sin = np.cos(turn), np.sin(turn)
    own = np.array((toward[0] * cos + toward[1] * sin, -toward[0] * sin + toward[1] * cos))
    return float(side_mm / 2 / np.abs(own).max())
