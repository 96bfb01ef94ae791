"""The painted ground: what lies under a point or a foot, which areas hang together, and whether a castle moved fairly.

All in mm of the board: origin top left, x right, y down; angles in degrees, clockwise. Measured things come with how
far off they may be, and no verdict is finer than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations

import msgspec
import shapely
from shapely import Polygon, STRtree
from shapely.geometry.base import BaseGeometry

from companion.core.geometry import Point
from companion.core.ruling import Verdict
from companion.games.tahwars.maps import TERRAINS, Map

BORDER_SHARE = 0.1
"""Share of a footprint that must lie in a terrain for it to count. Rule: TAH-34"""
MOST_TURN_DEG = 10.0
"""How far a castle that is moved may turn. Rule: TAH-15"""
MOST_SHIFT_MM = 5.0
"""How far a castle that is rotated may shift. Rule: TAH-16"""
MOST_OVERLAP_MM2 = 25.0
MOST_OVERLAP_MM = 1.0
"""Two painted areas may overlap by so little, or in so thin a sliver: that is a shaky hand, or rounding."""
_TOUCH_MM = 2.0  # areas of one terrain with a gap below this hang together: borders are painted by hand
_LEAST_AREA_MM2 = 25.0
_LEAST_CORNERS = 3
_ONCE = 1e-9


class MapFault(msgspec.Struct, frozen=True):
    """Why a map cannot be played on. `steps`: where in the map's data, as ("terrains", 2); `words`: one line."""

    steps: tuple[str | int, ...]
    words: str


def faults(found: Map) -> tuple[MapFault, ...]:
    """All that keeps a map from being played on, in words; empty for a sound one."""
    said: list[MapFault] = []
    width, height = found.board_mm
    if not (50 <= width <= 3000 and 50 <= height <= 3000):
        return (
            MapFault(("board_mm",), f"the board measures {width:g} x {height:g} mm: 50 to 3000 it must be"),
        )
    if not found.terrains:
        said.append(MapFault(("terrains",), "nothing is painted: outline at least one terrain"))
    sound: list[tuple[int, Polygon]] = []
    for n, area in enumerate(found.terrains):
        at, what = ("terrains", n), f"area {n + 1} ({area.kind[:30]})"
        if area.kind not in TERRAINS:
            words = f"area {n + 1}: there is no terrain {area.kind[:30]!r}; there are: {', '.join(TERRAINS)}"
            said.append(MapFault((*at, "kind"), words))
        if not all(math.isfinite(x) and math.isfinite(y) for x, y in area.polygon_mm):
            said.append(MapFault((*at, "polygon_mm"), f"{what} has a corner that is no number"))
        elif len(set(area.polygon_mm)) < _LEAST_CORNERS:
            said.append(MapFault((*at, "polygon_mm"), f"{what} has fewer than three corners"))
        elif any(not (-5 <= x <= width + 5 and -5 <= y <= height + 5) for x, y in area.polygon_mm):
            words = f"{what} reaches beyond the board of {width:g} x {height:g} mm"
            said.append(MapFault((*at, "polygon_mm"), words))
        elif not (outline := Polygon(area.polygon_mm)).is_valid:
            words = f"{what}: its outline crosses itself: put its corners in order"
            said.append(MapFault((*at, "polygon_mm"), words))
        elif outline.area < _LEAST_AREA_MM2:
            said.append(MapFault((*at, "polygon_mm"), f"{what} is smaller than a die's face"))
        else:
            sound.append((n, outline))
    said += [
        MapFault(
            ("terrains", max(one, other)),
            f"areas {one + 1} ({found.terrains[one].kind}) and {other + 1} ({found.terrains[other].kind})"
            f" overlap by {overlap:.0f} square mm: paint each place once",
        )
        for one, other, overlap in _overlaps(sound)
    ]
    return (*said, *_tag_faults(found))


def _overlaps(sound: Sequence[tuple[int, Polygon]]) -> list[tuple[int, int, float]]:
    outlines = [outline for _, outline in sound]
    if not outlines:
        return []
    found = []
    for one, other in zip(*STRtree(outlines).query(outlines, predicate="intersects"), strict=True):
        if one < other:
            overlap = outlines[one].intersection(outlines[other])
            is_sliver = overlap.buffer(-MOST_OVERLAP_MM / 2).is_empty
            if overlap.area > MOST_OVERLAP_MM2 and not is_sliver:
                found.append((sound[one][0], sound[other][0], float(overlap.area)))
    return sorted(found)


def _tag_faults(found: Map) -> list[MapFault]:
    said = []
    corners, tower = found.corner_tags, found.tower
    if corners is not None:
        if len(corners.ids) != len(corners.centres_mm) or len(set(corners.ids)) != len(corners.ids):
            said.append(MapFault(("corner_tags",), "corner tags need an id and a place each, no id twice"))
        elif len(corners.ids) < _LEAST_CORNERS:
            said.append(MapFault(("corner_tags",), "at least three corner tags must lie around the board"))
        elif not all(math.isfinite(v) and abs(v) < 5000 for xy in corners.centres_mm for v in xy):
            said.append(MapFault(("corner_tags", "centres_mm"), "a corner tag's place is no place in mm"))
        elif shapely.MultiPoint(corners.centres_mm).convex_hull.area < 1000:
            said.append(MapFault(("corner_tags", "centres_mm"), "the corner tags lie all in one line"))
        elif not 5 <= corners.side_mm <= 300:
            words = f"corner tags measure {corners.side_mm:g} mm: 5 to 300 it must be"
            said.append(MapFault(("corner_tags", "side_mm"), words))
    if tower is not None:
        sizes = (tower.side_mm, tower.height_mm, tower.tag_side_mm)
        if not all(5 <= size <= 500 for size in sizes) or not 0 <= tower.height_error_mm <= 50:
            said.append(MapFault(("tower",), "a tower's side, height and tag are 5 to 500 mm each"))
        elif tower.tag_side_mm > tower.side_mm:
            said.append(MapFault(("tower", "tag_side_mm"), "the tag is wider than the tower"))
    return said


class Ground:
    """A map, worked out once; cheap to ask."""

    def __init__(self, found: Map) -> None:
        """`found` is sound: `faults` says nothing."""
        self.map = found
        self.board = shapely.box(0.0, 0.0, *found.board_mm)
        self.outlines = [Polygon(area.polygon_mm) for area in found.terrains]
        self.kinds = [area.kind for area in found.terrains]
        self._tree = STRtree(self.outlines)

    def has_on_it(self, xy_mm: Point) -> bool:
        """Whether a place is on the board, its rim included."""
        width, height = self.map.board_mm
        return 0 <= xy_mm[0] <= width and 0 <= xy_mm[1] <= height

    def terrain_at(self, xy_mm: Point) -> str | None:
        """The terrain painted at a place, None where nothing is; on a line that two share, the first."""
        place = shapely.Point(xy_mm)
        hits = sorted(int(k) for k in self._tree.query(place, predicate="intersects"))
        return self.kinds[hits[0]] if hits else None

    def border_mm(self, xy_mm: Point) -> float:
        """How far a place is from the nearest place where another terrain, or none, is painted."""
        place = shapely.Point(xy_mm)
        here = self.terrain_at(xy_mm)
        if here is None:
            return float(min((outline.distance(place) for outline in self.outlines), default=math.inf))
        area = next(a for a in self.areas[here] if a.distance(place) <= _ONCE)
        return float(shapely.distance(area.boundary, place))

    def shares(self, foot: Polygon) -> dict[str, float]:
        """Terrain -> share of the part of a footprint that lies on the map. Rule: TAH-34"""
        on_map = foot.intersection(self.board)
        if on_map.area <= 0:
            return {}
        found: dict[str, float] = {}
        for k in self._tree.query(foot, predicate="intersects"):
            share = float(self.outlines[int(k)].intersection(on_map).area / on_map.area)
            if share > 0:
                found[self.kinds[int(k)]] = found.get(self.kinds[int(k)], 0.0) + share
        return found

    def terrains_of(self, foot: Polygon) -> tuple[str, ...]:
        """The terrains that a footprint stands on, most first; unpainted ground gives nothing. Rule: TAH-34"""
        shares = self.shares(foot)
        return tuple(
            sorted((t for t, share in shares.items() if share >= BORDER_SHARE), key=lambda t: -shares[t])
        )

    @cached_property
    def areas(self) -> dict[str, tuple[Polygon, ...]]:
        """Terrain -> its connected areas: painted neighbours of one terrain are one area. Rule: TAH-26"""
        found = {}
        for kind in dict.fromkeys(self.kinds):
            of_kind = [o for o, k in zip(self.outlines, self.kinds, strict=True) if k == kind]
            grown = shapely.union_all([o.buffer(_TOUCH_MM / 2, join_style="mitre") for o in of_kind])
            found[kind] = tuple(_parts(grown.buffer(-_TOUCH_MM / 2, join_style="mitre")))
        return found

    def is_in_same_area(self, terrain: str, one: Polygon, other: Polygon) -> bool:
        """Whether two footprints both stand in one connected area of a terrain. Rule: TAH-26 TAH-34"""
        if terrain not in self.terrains_of(one) or terrain not in self.terrains_of(other):
            return False
        return any(
            self._stands_in(area, one) and self._stands_in(area, other) for area in self.areas[terrain]
        )

    def _stands_in(self, area: Polygon, foot: Polygon) -> bool:
        on_map = foot.intersection(self.board)
        return bool(on_map.area > 0 and area.intersection(on_map).area >= BORDER_SHARE * on_map.area - _ONCE)


def _parts(found: BaseGeometry) -> list[Polygon]:
    return [part for part in shapely.get_parts(found) if isinstance(part, Polygon)]


def castle_foot(xy_mm: Point, heading_deg: float, side_mm: float) -> Polygon:
    """The square that a castle covers."""
    turn = math.radians(heading_deg)
    cos, sin = math.cos(turn) * side_mm / 2, math.sin(turn) * side_mm / 2
    x, y = xy_mm
    return Polygon(
        [(x - cos + sin, y - sin - cos), (x + cos + sin, y + sin - cos), (x + cos - sin, y + sin + cos),
         (x - cos - sin, y - sin + cos)]
    )  # fmt: skip


def die_foot(xy_mm: Point, across_mm: float) -> Polygon:
    """The round that a die of this footprint covers."""
    return shapely.Point(xy_mm).buffer(across_mm / 2, quad_segs=16)


class Measured(msgspec.Struct, frozen=True):
    """A number and how far off it may be, same unit."""

    value: float
    u: float

    def against(self, most: float) -> Verdict:
        """Whether it surely is at most this, surely more, or neither."""
        if self.value + self.u <= most:
            return Verdict.OK
        return Verdict.BREACH if self.value - self.u > most else Verdict.TOO_CLOSE


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A castle's move or rotation beside its limits. `kind`: ``move`` or ``rotate``."""

    kind: str
    verdict: Verdict
    rule: str
    because: str
    moved_mm: Measured
    turned_deg: Measured
    most_mm: float
    most_deg: float | None


def judge(kind: str, moved: Measured, turned: Measured, stick_mm: float) -> Judged:
    """A MOVE (within the stick, without turning) or a ROTATE (without shifting), as it was measured.

    `turned` may be of either sign. Rule: TAH-15 TAH-16
    """
    turn = Measured(abs(turned.value), turned.u)
    if kind == "rotate":
        verdict, rule, most_mm, most_deg = moved.against(MOST_SHIFT_MM), "TAH-16", MOST_SHIFT_MM, None
    else:
        rule, most_mm, most_deg = "TAH-15", stick_mm, MOST_TURN_DEG
        verdict = worst((moved.against(stick_mm), turn.against(MOST_TURN_DEG)))
    shifted = f"{moved.value:.1f} mm +- {moved.u:.1f} of {most_mm:g} mm"
    turns = f"{turn.value:.1f} degrees +- {turn.u:.1f}"
    words = f"shifted {shifted}" if kind == "rotate" else f"moved {shifted}, turned {turns} of {most_deg:g}"
    return Judged(
        kind=kind,
        verdict=verdict,
        rule=rule,
        because=f"The castle {words}.",
        moved_mm=moved,
        turned_deg=turned,
        most_mm=most_mm,
        most_deg=most_deg,
    )


def likeliest_kind(moved: Measured, turned: Measured) -> str | None:
    """Whether a castle that nobody spoke for was moved or rotated; None where it stands as it stood.

    What exceeds its limit for the other kind by more tells which was meant. Rule: TAH-15 TAH-16
    """
    has_moved, has_turned = moved.value > max(1.0, moved.u), abs(turned.value) > max(1.0, turned.u)
    if not has_moved and not has_turned:
        return None
    return "rotate" if abs(turned.value) / MOST_TURN_DEG > moved.value / MOST_SHIFT_MM else "move"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """A breach where one is, else too close to call where one is, else ok."""
    found = set(verdicts)
    for verdict in (Verdict.BREACH, Verdict.TOO_CLOSE):
        if verdict in found:
            return verdict
    return Verdict.OK


class CastleAt(msgspec.Struct, frozen=True, kw_only=True):
    """Where a castle stands: `name` of its owner or tag, its foot's middle and heading, and how far off that may be."""

    name: str
    xy_mm: Point
    heading_deg: float
    u_mm: float


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """The room between two castles beside what a D20 needs. Rule: TAH-17"""

    one: str
    other: str
    gap_mm: Measured
    least_mm: float
    verdict: Verdict


def gaps(castles: Sequence[CastleAt], side_mm: float, d20_mm: float) -> tuple[Gap, ...]:
    """The room between any two castles, the narrowest first. Rule: TAH-17"""
    feet = [castle_foot(c.xy_mm, c.heading_deg, side_mm) for c in castles]
    found = []
    for a, b in combinations(range(len(castles)), 2):
        wide = Measured(float(feet[a].distance(feet[b])), math.hypot(castles[a].u_mm, castles[b].u_mm))
        if wide.value - wide.u >= d20_mm:
            verdict = Verdict.OK
        else:
            verdict = Verdict.BREACH if wide.value + wide.u < d20_mm else Verdict.TOO_CLOSE
        found.append(
            Gap(one=castles[a].name, other=castles[b].name, gap_mm=wide, least_mm=d20_mm, verdict=verdict)
        )
    return tuple(sorted(found, key=lambda gap: gap.gap_mm.value))


def is_on_map(castle: CastleAt, side_mm: float, board_mm: tuple[float, float]) -> Verdict:
    """Whether a castle's foot is wholly on the board. Rule: TAH-37"""
    width, height = board_mm
    corners = list(castle_foot(castle.xy_mm, castle.heading_deg, side_mm).exterior.coords)
    out = max(max(-x, -y, x - width, y - height) for x, y in corners)
    return Measured(out, castle.u_mm).against(0.0)
