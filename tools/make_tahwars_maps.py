"""Draws the four house maps of TAH WARS: `python tools/make_tahwars_maps.py`.

Each is a plan of terrains that looks the same from both long sides, cut into cells with shaky borders; cells of one
terrain that touch become one area. Writes `companion/games/tahwars/data/map-NAME.json`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import shapely
from shapely import Polygon

from companion.games.tahwars.ground import faults
from companion.games.tahwars.mapfile import written
from companion.games.tahwars.maps import CornerTags, Map, Terrain, TowerSize

WIDTH, HEIGHT = 900.0, 500.0
OUT = Path(__file__).parents[1] / "companion" / "games" / "tahwars" / "data"
STEP_MM = 34.0
_SHAKE = 0.33
_LEAST_MM2 = 2500.0


def delta(x: float, y: float) -> str:
    """A river across the middle that splits, woods on its banks, mountains in two corners."""
    arm = 60 * math.sin(x * math.pi * 2) + 55 * math.cos(x * math.pi)
    if abs(y * HEIGHT / 2 - arm * 0.6) < 48 or abs(y * HEIGHT / 2 + arm * 0.6) < 30:
        return "rivers"
    if math.hypot(x * 1.1, y) < 0.30:
        return "city"
    if x * y > 0.22:
        return "mountains"
    if x * y < -0.26:
        return "neonite"
    return "forest"


def ring(x: float, y: float) -> str:
    """A city in the middle, water around it, and four lands outside."""
    far = math.hypot(x, y)
    if far < 0.26:
        return "city"
    if far < 0.48:
        return "rivers"
    turn = (math.atan2(y, x) / (math.pi / 6) + 0.5) % 6
    return ("forest", "mountains", "neonite")[int(turn) % 3]


def ridge(x: float, y: float) -> str:
    """Mountains from corner to corner, a city in each half."""
    across = (x - y * 0.9) / 1.35
    if abs(across) < 0.14:
        return "mountains"
    if min(math.hypot(x - 0.55, y + 0.35), math.hypot(x + 0.55, y - 0.35)) < 0.22:
        return "city"
    if 0.14 <= abs(across) < 0.36:
        return "forest"
    return "rivers" if abs(y) > 0.45 or abs(x) > 0.86 else "neonite"


def islands(x: float, y: float) -> str:
    """Water everywhere, and islands in it."""
    places = (
        ("city", 0.0, 0.0, 0.2), ("forest", 0.62, 0.5, 0.34), ("forest", -0.62, -0.5, 0.34),
        ("mountains", 0.62, -0.5, 0.32), ("mountains", -0.62, 0.5, 0.32), ("neonite", 0.0, 0.74, 0.28),
        ("neonite", 0.0, -0.74, 0.28), ("city", 0.42, 0.0, 0.14), ("city", -0.42, 0.0, 0.14),
    )  # fmt: skip
    for name, at_x, at_y, far in places:
        if math.hypot((x - at_x) * 1.25, y - at_y) < far:
            return name
    return "rivers"


PLANS: dict[str, Callable[[float, float], str]] = {
    "delta": delta,
    "ring": ring,
    "ridge": ridge,
    "islands": islands,
}


def drawn(name: str) -> Map:
    """The map of a plan."""
    rng = random.Random(name)
    board = shapely.box(0, 0, WIDTH, HEIGHT)
    columns, rows = round(WIDTH / STEP_MM), round(HEIGHT / STEP_MM)
    sites = []
    for row in range(rows):
        for column in range(columns):
            x = (column + 0.5 + rng.uniform(-_SHAKE, _SHAKE)) * WIDTH / columns
            y = (row + 0.5 + rng.uniform(-_SHAKE, _SHAKE)) * HEIGHT / rows
            sites.append((x, y))
    # Half of the sites, turned about the middle for the other half: both long sides play alike.
    half = sites[: len(sites) // 2]
    sites = half + [(WIDTH - x, HEIGHT - y) for x, y in half]
    cells = shapely.get_parts(shapely.voronoi_polygons(shapely.MultiPoint(sites), extend_to=board))
    areas: dict[str, list[Polygon]] = {}
    for cell in cells:
        at = cell.centroid
        kind = PLANS[name](at.x / WIDTH * 2 - 1, at.y / HEIGHT * 2 - 1)
        areas.setdefault(kind, []).append(cell)
    terrains = []
    for kind in sorted(areas):
        whole = shapely.set_precision(shapely.union_all(areas[kind]).intersection(board), 0.1)
        for part in shapely.get_parts(whole):
            terrains += [
                Terrain(kind=kind, polygon_mm=tuple(piece.exterior.coords)[:-1])
                for piece in without_holes(part)
            ]
    return Map(
        name=name,
        source="our own",
        board_mm=(WIDTH, HEIGHT),
        terrains=tuple(terrains),
        corner_tags=CornerTags(
            ids=(0, 1, 2, 3),
            centres_mm=((-22, -22), (WIDTH + 22, -22), (WIDTH + 22, HEIGHT + 22), (-22, HEIGHT + 22)),
            side_mm=32,
        ),
        tower=TowerSize(side_mm=68, height_mm=150, tag_side_mm=44.8, height_error_mm=3),
    )


def without_holes(part: Polygon) -> list[Polygon]:
    """The same area as pieces without holes: cut through each hole."""
    if not part.interiors:
        return [part]
    x = Polygon(part.interiors[0]).centroid.x
    left, right = shapely.box(-1, -1, x, HEIGHT + 1), shapely.box(x, -1, WIDTH + 1, HEIGHT + 1)
    found = []
    for side in (left, right):
        for piece in shapely.get_parts(part.intersection(side)):
            if isinstance(piece, Polygon) and piece.area > 1:
                found += without_holes(piece)
    return found


def main() -> None:
    """Writes the four files."""
    for name in PLANS:
        found = drawn(name)
        assert not faults(found), faults(found)
        (OUT / f"map-{name}.json").write_text(written(found), encoding="utf-8")
        print(name, len(found.terrains))


if __name__ == "__main__":
    main()
