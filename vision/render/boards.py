"""Boards as they may stand on a table: random maps, towers, dice, lamps and cameras, by a seeded source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from companion.core.geometry import Point
from vision.render.board import TERRAINS, TOWERS, Block, Colour
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, PolyLook
from vision.render.polyhedra_looks import RADIUS_MM, any_look, any_typeface, apart
from vision.render.polyhedra_solids import D4_STYLES
from vision.towers.marks import BoardMarks, CornerTags, TowerBuild

BOARD_MM = (900.0, 500.0)
OWNERS = tuple(TOWERS)
FIRST_TAG = 10
_LEGIBLE = 55.0  # Lab distance of ink and body, as sets that are meant to be read have
DICE = ("d4", "d6", "d8", "d10", "d12", "d20", "d100")
_INKS: tuple[Colour, ...] = (
    (0.95, 0.95, 0.95),
    (0.5, 0.8, 0.9),
    (0.3, 0.7, 0.85),
    (0.05, 0.05, 0.05),
    (0.4, 0.1, 0.05),
)


def usual_marks() -> BoardMarks:
    """A board of 900 x 500 mm between four tags, towers of 68 x 68 x 150 mm."""
    width, height = BOARD_MM
    return BoardMarks(
        board_mm=BOARD_MM,
        corner_tags=CornerTags(
            ids=(0, 1, 2, 3),
            centres_mm=((-22.0, -22.0), (width + 22, -22.0), (width + 22, height + 22), (-22.0, height + 22)),
            side_mm=32.0,
        ),
        tower=TowerBuild(side_mm=68.0, height_mm=150.0, tag_side_mm=44.8),
    )


def any_terrains(rng: np.random.Generator, count: int = 17) -> tuple[tuple[str, tuple[Point, ...]], ...]:
    """A painted map: cells around scattered places, neighbours mostly of different terrain."""
    width, height = BOARD_MM
    kinds = list(TERRAINS)
    points: list[Point] = []
    while len(points) < count:
        point = (float(rng.uniform(30, width - 30)), float(rng.uniform(30, height - 30)))
        if all(np.hypot(point[0] - x, point[1] - y) > 95 for x, y in points):
            points.append(point)
    plane = cv2.Subdiv2D((-1, -1, round(width) + 2, round(height) + 2))
    for point in points:
        plane.insert(point)
    cells, centres = plane.getVoronoiFacetList([])
    frame = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    found = []
    for k, (cell, _) in enumerate(zip(cells, centres, strict=True)):
        area, cut = cv2.intersectConvexConvex(np.asarray(cell, np.float32), frame)
        if area > 1 and cut is not None:
            ring = tuple((round(float(x), 1), round(float(y), 1)) for x, y in cut.reshape(-1, 2))
            found.append((kinds[(k + int(rng.integers(2))) % len(kinds)], ring))
    return tuple(found)


def any_palette(rng: np.random.Generator) -> dict[str, Colour]:
    """The terrains' colours as a printer may give them."""
    return {
        name: tuple(np.clip(np.array(colour) * rng.uniform(0.8, 1.25, 3), 0.03, 1).tolist())
        for name, colour in TERRAINS.items()
    }


@dataclass(frozen=True)
class DiceSet:
    """A player's seven dice: kind -> look, and half of what each measures."""

    owner: str
    looks: dict[str, PolyLook]
    radius_mm: dict[str, float]

    def die(self, rng: np.random.Generator, kind: str, xy_mm: Point) -> PolyDie:
        """One of them thrown, its number by chance."""
        faces = {"d4": 4, "d6": 6, "d8": 8, "d12": 12, "d20": 20}.get(kind, 10)
        n = int(rng.integers(faces))
        shown = n * 10 if kind == "d100" else n if kind == "d10" else n + 1
        return PolyDie(
            look=self.looks[kind],
            shown=shown,
            xy_mm=xy_mm,
            radius_mm=self.radius_mm[kind],
            angle_deg=float(rng.uniform(0, 360)),
        )


def any_set(rng: np.random.Generator, owner: str, fonts: tuple[str, ...] = ()) -> DiceSet:
    """A set in its owner's colour: one typeface, one ink, sizes as sets have them."""
    face = replace(any_typeface(rng, fonts), mark=str(rng.choice(["bar", "dot"])), marks_all=True)
    body: Colour = tuple(np.clip(np.array(TOWERS[owner]) * rng.uniform(0.8, 1.25, 3), 0.03, 1).tolist())
    inks = [ink for ink in _INKS if apart(body, ink) > _LEGIBLE]
    ink = inks[int(rng.integers(len(inks)))]
    style = str(rng.choice(D4_STYLES, p=(0.6, 0.25, 0.15)))
    size = float(rng.uniform(0.9, 1.15))
    gloss = float(rng.uniform(0, 0.6))
    looks = {}
    for kind in DICE:
        look = any_look(rng, kind, face)
        looks[kind] = replace(look, body=body, ink=ink, style=style, swirl=0.0, gloss=gloss, border=False)
    sizes = {kind: radius * size * (1.1 if kind == "d6" else 1.0) for kind, radius in RADIUS_MM.items()}
    return DiceSet(owner, looks, sizes)


def any_board_camera(rng: np.random.Generator, size_px: tuple[int, int] = (2304, 1296)) -> Camera:
    """A camera above the board that sees all of it with its tags at 2 px/mm and more."""
    width, height = BOARD_MM
    high = float(rng.uniform(1050, 1300))
    seen_mm = float(rng.uniform(1070, 1120))
    return Camera(
        lens_mm=(
            width / 2 + float(rng.uniform(-60, 60)),
            height / 2 + float(rng.uniform(-60, 60)),
            high,
        ),
        look_mm=(width / 2 + float(rng.uniform(-6, 6)), height / 2 + float(rng.uniform(-6, 6))),
        roll_deg=float(rng.uniform(-2, 2)),
        across_deg=float(np.degrees(2 * np.arctan(seen_mm / 2 / high))),
        size_px=size_px,
        blur_px=float(rng.uniform(0.6, 1.6)),
        soft_px=float(rng.uniform(0.3, 1.0)) if rng.random() < 0.3 else 0.0,
        soft_side_deg=float(rng.uniform(0, 360)),
        noise=float(rng.uniform(1.5, 6.0)),
    )


def any_board_lamp(rng: np.random.Generator) -> Lamp:
    """A lamp somewhere over or beside the board."""
    return Lamp(
        place_mm=(
            float(rng.uniform(-300, 1200)),
            float(rng.uniform(-500, 900)),
            float(rng.uniform(900, 1600)),
        ),
        ambient=float(rng.uniform(0.4, 0.85)),
        level=float(rng.uniform(0.75, 1.35)),
        cast=tuple(rng.uniform(0.9, 1.1, 3).tolist()),
        sheen=float(rng.uniform(0, 0.15)),
    )


def any_towers(rng: np.random.Generator, owners: Sequence[str], build: TowerBuild) -> tuple[Block, ...]:
    """A tower for each owner on the board, none within a die's way of another."""
    width, height = BOARD_MM
    apart_mm = build.side_mm * 1.42 + 30
    placed: list[Block] = []
    while len(placed) < len(owners):
        x, y = float(rng.uniform(70, width - 70)), float(rng.uniform(70, height - 70))
        if any(np.hypot(x - b.xy_mm[0], y - b.xy_mm[1]) < apart_mm for b in placed):
            continue
        owner = owners[len(placed)]
        placed.append(
            Block(
                tag=FIRST_TAG + OWNERS.index(owner),
                xy_mm=(x, y),
                heading_deg=float(rng.uniform(-180, 180)),
                height_mm=build.height_mm + float(rng.uniform(-1, 1)) * build.height_error_mm,
                colour=TOWERS[owner],
            )
        )
    return tuple(placed)


def is_free(
    xy_mm: Point, towers: Sequence[Block], dice: Sequence[PolyDie], camera: Camera, build: TowerBuild
) -> bool:
    """Whether a die may lie there and is seen: not under a tower nor in the camera's shade of one, nor on a die."""
    if any(np.hypot(xy_mm[0] - d.xy_mm[0], xy_mm[1] - d.xy_mm[1]) < 27 for d in dice):
        return False
    eye = np.array(camera.lens_mm[:2])
    for block in towers:
        foot = np.array(block.xy_mm)
        lean = (foot - eye) * block.height_mm / (camera.lens_mm[2] - block.height_mm)
        for share in np.linspace(0, 1, 7):
            reach = build.side_mm * 0.71 * (1 + 0.15 * share) + 14
            if np.hypot(*(foot + lean * share - xy_mm)) < reach:
                return False
    return True
