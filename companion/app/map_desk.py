"""A map of an owner's own: photographed once, painted on a page, kept as a file in mm."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
import numpy as np
import shapely
from shapely import Polygon

from companion.app.alone import serve_alone
from companion.app.boards import load_map, map_path
from companion.app.map_sheets import INKS
from companion.app.settings import SettingsError
from companion.games.tahwars.ground import faults
from companion.games.tahwars.mapfile import written
from companion.games.tahwars.maps import TERRAINS, CornerTags, Map, Terrain, TowerSize
from companion.runtime.private_file import write_private
from vision.cards.looks import straight
from vision.encoding import jpeg
from vision.frame import Frame, Unreadable, load
from vision.surface import PLACES, Marks, NoSurfaceError, calibrate
from vision.towers.tags import find_tags
from web_ui.alone import create_map_app
from web_ui.maps import AreaOf, FaultOf, MapError, MapShown

_PX_PER_MM = 2.0
_QUALITY = 85
_TOWER = TowerSize(side_mm=68.0, height_mm=150.0, tag_side_mm=44.8, height_error_mm=3.0)


class MapAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What is told besides the photograph: `board_mm` (width, height), None: worked out from the tags' size;
    `marker_mm`: side of a tag's black square; `gap_mm`: from the board's corner to the nearest corner of the black
    square, along each edge; and where the page is served."""

    board_mm: tuple[float, float] | None = None
    marker_mm: float = 32.0
    gap_mm: float = 6.0
    tower: TowerSize = _TOWER
    host: str = "127.0.0.1"
    port: int = 8642


def enrol_map(name: str, photo: Path | None, asked: MapAsked) -> None:
    """Serve the page on which a map is painted. `photo` None: a map that was kept before, painted on.

    Raises SettingsError; a map that was kept is then as it was.
    """
    path = map_path(name)
    if not (10 <= asked.marker_mm <= 200 and 0 <= asked.gap_mm <= 200):
        raise SettingsError(
            "a tag's black square measures 10 to 200 mm and lies 0 to 200 mm off the board's corner"
        )
    before = load_map(path) if path.is_file() else None
    if photo is None:
        if before is None:
            raise SettingsError(f"there is no map {name!r} yet: give --from and a photograph of the board")
        flat, laid = _blank(before), before
    else:
        try:
            flat, laid = photographed(load(photo), name, asked)
        except (Unreadable, NoSurfaceError) as error:
            raise SettingsError(f"{photo}: {error}") from error
        if before is not None and _is_like(before, laid):
            laid = msgspec.structs.replace(laid, terrains=before.terrains)
    desk = MapDesk(laid, flat, path, before)
    serve_alone(lambda key: create_map_app(desk, key), "Map", asked.host, asked.port)


def photographed(frame: Frame, name: str, asked: MapAsked) -> tuple[Frame, Map]:
    """(the board laid flat, a map without terrains) from a photograph with the four tags around the board, each with
    its black square `gap_mm` off the board's corner. Raises NoSurfaceError."""
    seen = {tag: quad for tag, quad in find_tags(frame).items() if tag < len(PLACES)}
    if len(seen) < len(PLACES):
        missing = ", ".join(f"{i} ({place})" for i, place in enumerate(PLACES) if i not in seen)
        raise NoSurfaceError(
            f"tag {missing} is not seen: lay tags 0 to 3 around the board (companion print markers) and photograph"
            " all four from above"
        )
    inset = asked.marker_mm + asked.gap_mm
    told = asked.board_mm and (asked.board_mm[0] + 2 * inset, asked.board_mm[1] + 2 * inset)
    marks = Marks(marker_mm=asked.marker_mm, size_mm=told)
    surface = calibrate(seen, marks, (frame.shape[1], frame.shape[0]))
    width, height = (round(side - 2 * inset, 1) for side in surface.size_mm)
    if width < 50 or height < 50:
        raise NoSurfaceError("between the tags is no room for a board: check --marker-mm and --gap-mm")
    corners = [
        (inset, inset),
        (inset + width, inset),
        (inset + width, inset + height),
        (inset, inset + height),
    ]
    size = (round(width * _PX_PER_MM), round(height * _PX_PER_MM))
    flat = straight(frame, np.array([surface.px(corner) for corner in corners]), size)
    tags = CornerTags(
        ids=tuple(range(len(PLACES))),
        centres_mm=tuple(
            (round(float(x) - inset, 2), round(float(y) - inset, 2))
            for x, y in (surface.corners_mm[i].mean(0) for i in range(len(PLACES)))
        ),
        side_mm=asked.marker_mm,
    )
    made = Map(
        name=name, source="photographed and painted", board_mm=(width, height), terrains=(), corner_tags=tags,
        tower=asked.tower,
    )  # fmt: skip
    return flat, made


def _blank(found: Map) -> Frame:
    """A board of which no photograph was kept."""
    width, height = (max(8, round(side * _PX_PER_MM)) for side in found.board_mm)
    return np.full((height, width, 3), 235, np.uint8)


def _is_like(one: Map, other: Map) -> bool:
    """Whether two photographs may show the same board."""
    return all(abs(a - b) < 10 for a, b in zip(one.board_mm, other.board_mm, strict=True)) and not any(
        abs(x) > other.board_mm[0] + 5 or abs(y) > other.board_mm[1] + 5
        for area in one.terrains
        for x, y in area.polygon_mm
    )


class MapDesk:
    """A `web_ui.maps.Maps`: a map as painted so far."""

    def __init__(self, laid: Map, flat: Frame, path: Path, kept: Map | None) -> None:
        """`flat`: the board laid flat; `kept`: what stands in the file at `path` now."""
        self._map, self.path, self._kept = laid, path, kept
        self._picture = jpeg(flat, _QUALITY)
        self._version = 0
        self._lock = threading.Lock()

    def shown(self) -> MapShown:
        """The map as it is now."""
        with self._lock:
            return self._shown()

    def _shown(self) -> MapShown:
        said = []
        for fault in faults(self._map):
            is_of_area = len(fault.steps) > 1 and fault.steps[0] == "terrains"
            said.append(FaultOf(area=int(fault.steps[1]) if is_of_area else None, words=fault.words))
        return MapShown(
            title=f"Map {self._map.name}",
            size_mm=self._map.board_mm,
            kinds=tuple((kind, INKS[kind]) for kind in TERRAINS),
            areas=tuple(
                AreaOf(kind=area.kind, polygon=area.polygon_mm, name=area.name) for area in self._map.terrains
            ),
            faults=tuple(said),
            kept=str(self.path),
            is_kept=self._kept == self._map,
            version=self._version,
        )

    def picture(self) -> bytes:
        """The board laid flat, as JPEG."""
        return self._picture

    def paint(self, areas: Sequence[AreaOf], version: int) -> MapShown:
        """The areas are these now. Raises MapError."""
        with self._lock:
            self._check(version)
            for area in areas:
                if area.kind not in TERRAINS:
                    raise MapError(
                        f"there is no terrain {area.kind[:30]!r}; there are: {', '.join(TERRAINS)}"
                    )
            terrains = tuple(
                Terrain(
                    kind=a.kind, polygon_mm=a.polygon, name="".join(c for c in a.name if c.isprintable())[:40]
                )
                for a in areas
            )
            return self._changed(terrains)

    def trim(self, area: int, version: int) -> MapShown:
        """Take away from an area what others have painted already. Raises MapError."""
        with self._lock:
            self._check(version)
            terrains = list(self._map.terrains)
            if not 0 <= area < len(terrains):
                raise MapError("there is no such area: reload the page")
            shapes = [Polygon(one.polygon_mm).buffer(0) for one in terrains]
            rest = shapes[area].difference(shapely.union_all(shapes[:area] + shapes[area + 1 :]))
            pieces = [
                piece
                for piece in shapely.get_parts(shapely.set_precision(rest, 0.1))
                if isinstance(piece, Polygon) and not piece.interiors and piece.area > 1
            ]
            if not pieces:
                raise MapError("nothing is left of this area, or it lies all around another: split it first")
            kept = [
                msgspec.structs.replace(terrains[area], polygon_mm=tuple(piece.exterior.coords)[:-1])
                for piece in sorted(pieces, key=lambda piece: -piece.area)
            ]
            terrains[area : area + 1] = kept[:1]
            return self._changed((*terrains, *kept[1:]))

    def keep(self) -> str:
        """Write the file. Raises MapError: then the old file is as it was."""
        with self._lock:
            said = faults(self._map)
            if said:
                more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
                raise MapError(f"Not kept: {said[0].words}{more}. The old map is as it was.")
            try:
                write_private(self.path, written(self._map).encode())
            except OSError as error:
                raise MapError(f"Not kept: {error.strerror}. The old map is as it was.") from error
            self._kept = self._map
            click.echo(f"Kept in {self.path}: companion read-board --map {self.path} IMAGE...", err=True)
            return f"The map is kept with {len(self._map.terrains)} areas."

    def _check(self, version: int) -> None:
        if version != self._version:
            raise MapError("the map was changed on another page: reload this one")

    def _changed(self, terrains: tuple[Terrain, ...]) -> MapShown:
        self._map = msgspec.structs.replace(self._map, terrains=terrains)
        self._version += 1
        return self._shown()
