"""Maps and tower tags as sheets to print: SVG, one unit a millimetre."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

import click
import shapely
from shapely import Polygon

from companion.app.settings import SettingsError
from companion.games.tahwars.mapfile import read_map
from companion.games.tahwars.maps import Map
from vision.markers import marker_modules

HOUSE_MAPS = ("delta", "ring", "ridge", "islands")
INKS = {
    "rivers": "#4f9ad6", "forest": "#3f8f4a", "mountains": "#9a938c", "neonite": "#b35fc4", "city": "#f0b14e",
}  # fmt: skip
TOWER_TAGS = {10: "red", 11: "blue", 12: "green", 13: "yellow", 14: "purple", 15: "black"}
_EDGE_MM = 46.0  # around the board, where the tags lie
_QUIET = 1.0  # cells of white around a tag
_A4_MM = (210.0, 297.0)


def house_map(name: str) -> Map:
    """One of the four maps of the house. Raises SettingsError for another name."""
    if name not in HOUSE_MAPS:
        raise SettingsError(f"there is no map {name!r}; there are: {', '.join(HOUSE_MAPS)}")
    return read_map(
        (files("companion.games.tahwars") / "data" / f"map-{name}.json").read_text(encoding="utf-8")
    )


def map_sheet(found: Map) -> str:
    """The map with its corner tags as SVG in exact millimetres, and a bar by which the printer is checked."""
    width, height = found.board_mm
    parts = [_head(width + 2 * _EDGE_MM, height + 2 * _EDGE_MM, (-_EDGE_MM, -_EDGE_MM))]
    for area in found.terrains:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in area.polygon_mm)
        ink = INKS[area.kind]
        parts.append(f'<polygon points="{points}" fill="{ink}" stroke="#222" stroke-width="1.2"/>')
    for area in found.terrains:
        place = shapely.maximum_inscribed_circle(Polygon(area.polygon_mm)).coords[0]
        parts.append(_text(place[0], place[1] + 2.5, area.name or area.kind, 7, "middle"))
    parts.append(
        f'<rect x="0" y="0" width="{width:g}" height="{height:g}" fill="none" stroke="#222" stroke-width="1.5"/>'
    )
    if found.corner_tags is not None:
        for tag, (x, y) in zip(found.corner_tags.ids, found.corner_tags.centres_mm, strict=True):
            parts += _tag(tag, (x, y), found.corner_tags.side_mm)
    parts.append('<rect x="400" y="-20" width="100" height="2" fill="#222"/>')
    parts.append(_text(503, -17, f"100 mm. Map {found.name or 'of our own'}. Print at 100 %.", 6, "start"))
    return "\n".join([*parts, "</svg>\n"])


def tag_sheet(side_mm: float) -> str:
    """The six tags for the tops of towers as an A4 page, each with its colour's name. `side_mm`: of a black square."""
    parts = [_head(*_A4_MM, (0.0, 0.0))]
    step = side_mm * 1.5
    for n, (tag, owner) in enumerate(TOWER_TAGS.items()):
        at = (30 + side_mm / 2 + (n % 2) * step * 1.4, 34 + side_mm / 2 + (n // 2) * (step + 10))
        parts += _tag(tag, at, side_mm)
        parts.append(_text(at[0], at[1] + side_mm * 0.75 + 4, f"{tag}  {owner}", 6, "middle"))
    parts.append(
        _text(
            20,
            20,
            "Tags for the tops of towers: cut with the white edge, glue flat in the middle.",
            5,
            "start",
        )
    )
    return "\n".join([*parts, "</svg>\n"])


def _head(width: float, height: float, origin: tuple[float, float]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:g}mm"'
        f' viewBox="{origin[0]:g} {origin[1]:g} {width:g} {height:g}">'
        f'<rect x="{origin[0]:g}" y="{origin[1]:g}" width="{width:g}" height="{height:g}" fill="#fff"/>'
    )


def _text(x: float, y: float, words: str, size: float, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size:g}" text-anchor="{anchor}"'
        f' fill="#111">{escape(words)}</text>'
    )


def _tag(tag: int, middle: tuple[float, float], side_mm: float) -> list[str]:
    modules = marker_modules(tag)
    cell = side_mm / len(modules)
    left, top = middle[0] - side_mm / 2, middle[1] - side_mm / 2
    edge = _QUIET * cell
    whole = side_mm + 2 * edge
    parts = [
        f'<rect x="{left - edge:.3f}" y="{top - edge:.3f}" width="{whole:.3f}" height="{whole:.3f}" fill="#fff"/>'
    ]
    path = "".join(
        f"M{left + column * cell:.3f} {top + row * cell:.3f}h{cell:.3f}v{cell:.3f}h-{cell:.3f}z"
        for row, line in enumerate(modules)
        for column, is_black in enumerate(line)
        if is_black
    )
    return [*parts, f'<path d="{path}" fill="#000" shape-rendering="crispEdges"/>']


def print_map(found: Map, out: Path) -> None:
    """Write a map's sheet."""
    out.write_text(map_sheet(found), encoding="utf-8")
    width, height = (side + 2 * _EDGE_MM for side in found.board_mm)
    click.echo(f"{out}: print it at 100 %, {width:.0f} x {height:.0f} mm; the bar on it must measure 100 mm")


def print_tower_tags(side_mm: float, out: Path) -> None:
    """Write the sheet of tower tags."""
    if not 20 <= side_mm <= 60:
        raise SettingsError(f"--side {side_mm:g}: a tag's black square measures 20 to 60 mm")
    out.write_text(tag_sheet(side_mm), encoding="utf-8")
    click.echo(f"{out}: print it at 100 % and glue each tag flat on the middle of its tower's top")
