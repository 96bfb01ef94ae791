"""The rendered board of TAH WARS: towers, dice that roll and bump, filmed all the time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Point
from companion.demo.stage import HELD, Film, Filmed, Places
from companion.games.tahwars.maps import Map
from companion.sight.tahwars import marks_of
from vision.feed import Feed
from vision.render.board import TOWERS, Block, BoardScene
from vision.render.boards import FIRST_TAG, OWNERS, DiceSet, any_set, is_free
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie

SEEN_MM, HIGH_MM = 1090.0, 1180.0
"""How much of the table the camera sees across, and from how high."""
SIZE_PX = (2304, 1296)
STEPS = 4
"""Pictures of a rolling die on its way to what it bumps, and from there to its rest."""


@dataclass(frozen=True, kw_only=True)
class Lain:
    """One die on the board: whose (the colour), which, what it shows, where its middle is."""

    owner: str
    kind: str
    shown: int
    xy_mm: Point
    angle_deg: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Stands:
    """A tower: the colour of its owner, its foot's middle and heading."""

    owner: str
    xy_mm: Point
    heading_deg: float


@dataclass(frozen=True)
class _Filmed:
    """A board at one moment, its ground painted once; `rolls`: what it looked like while a die rolled."""

    scene: BoardScene
    ground: NDArray[np.uint8]
    rolls: tuple[BoardScene, ...] = ()

    @property
    def light(self) -> Lamp:
        """The lamp over it."""
        return self.scene.light

    def drawn(self, camera: Camera) -> NDArray[np.uint8]:
        """The lit board, uint8 BGR (H, W, 3)."""
        return self.scene.drawn(camera, self.ground)

    def shot(self, canvas: NDArray[np.uint8], camera: Camera, tick: int) -> NDArray[np.uint8]:
        """What the sensor gives of it."""
        return self.scene.shot(canvas, camera, tick)


def _seen_from_afar(of: DiceSet) -> DiceSet:
    """The set with a barrel for a D4: the numerals of a pyramid are too small for a camera over a whole board."""
    return replace(of, looks={**of.looks, "d4": replace(of.looks["d4"], style="barrel")})


class BoardStage(Film):
    """A board between its tags. Each change stays a while, as people wait; all looks follow from `seed`."""

    def __init__(self, feed: Feed, laid: Map, owners: Sequence[str], seed: int) -> None:
        """Films the bare board from `start` on. Raises ValueError where the map says nothing of tags and towers."""
        marks = marks_of(laid)
        width, height = laid.board_mm
        eye = Camera(
            lens_mm=(width / 2, height / 2 + 6, HIGH_MM), look_mm=(width / 2, height / 2),
            across_deg=math.degrees(2 * math.atan(SEEN_MM / 2 / HIGH_MM)), size_px=SIZE_PX, noise=2.0, blur_px=0.7,
        )  # fmt: skip
        painted = tuple((area.kind, area.polygon_mm) for area in laid.terrains)
        self._scene = BoardScene(marks=marks, terrains=painted, seed=seed)
        self._sets: Mapping[str, DiceSet] = {
            owner: _seen_from_afar(any_set(np.random.default_rng((seed, n)), owner))
            for n, owner in enumerate(owners)
        }
        self._ground = self._scene.ground(eye)
        super().__init__(
            feed, laid.board_mm, _Filmed(self._scene, self._ground), held=HELD, is_same_noise=True
        )
        self._camera = eye

    def stand(self, towers: tuple[Stands, ...], dice: tuple[Lain, ...], hands_mm: Places) -> None:
        """Have towers and dice stand and lie so, by hands that reach there; returns at once."""
        self.put(_Filmed(self._with(towers, dice), self._ground), hands_mm)

    def roll(self, towers: tuple[Stands, ...], dice: tuple[Lain, ...], way: tuple[Point, ...]) -> None:
        """The last of the dice rolls along `way`, corner by corner, before it lies where it lies; returns at once."""
        rolling, corners = dice[-1], (*way, dice[-1].xy_mm)
        places = [
            (a[0] + (b[0] - a[0]) * n / STEPS, a[1] + (b[1] - a[1]) * n / STEPS)
            for a, b in itertools.pairwise(corners)
            for n in range(STEPS)
        ]
        rolls = tuple(
            self._with(towers, (*dice[:-1], replace(rolling, xy_mm=xy, angle_deg=47.0 * n)))
            for n, xy in enumerate(places)
        )
        self.put(_Filmed(self._with(towers, dice), self._ground, rolls), ())

    def may_lie(self, xy_mm: Point, towers: tuple[Stands, ...], dice: tuple[Lain, ...]) -> bool:
        """Whether a die lies there in the camera's sight, not under a tower nor on another die."""
        scene = self._with(towers, dice)
        return is_free(xy_mm, scene.towers, scene.dice, self._camera, scene.marks.tower)

    def _with(self, towers: tuple[Stands, ...], dice: tuple[Lain, ...]) -> BoardScene:
        build = self._scene.marks.tower
        blocks = tuple(
            Block(
                tag=FIRST_TAG + OWNERS.index(tower.owner), xy_mm=tower.xy_mm, heading_deg=tower.heading_deg,
                height_mm=build.height_mm, colour=TOWERS[tower.owner],
            )
            for tower in towers
        )  # fmt: skip
        return replace(self._scene, towers=blocks, dice=tuple(self._die(die) for die in dice))

    def _die(self, lain: Lain) -> PolyDie:
        looks = self._sets[lain.owner]
        return PolyDie(
            look=looks.looks[lain.kind], shown=lain.shown, xy_mm=lain.xy_mm,
            radius_mm=looks.radius_mm[lain.kind], angle_deg=lain.angle_deg,
        )  # fmt: skip

    def _between(self, table: Filmed, camera: Camera) -> list[NDArray[np.uint8]]:
        """The pictures of a roll."""
        rolls = table.rolls if isinstance(table, _Filmed) else ()
        return [scene.drawn(camera, self._ground) for scene in rolls]
