"""The commands for boards with towers, as `companion.app.cli` takes them in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click


@click.command(name="map")
@click.argument("name", metavar="NAME|FILE")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("map.svg"), show_default=True)
def print_map(name: str, out: Path) -> None:
    """A map of TAH WARS at its true size with its corner tags: delta, ring, ridge, islands, or a map's file."""
    from companion.app import boards, map_sheets

    is_file = Path(name).suffix == ".json"
    map_sheets.print_map(boards.load_map(Path(name)) if is_file else map_sheets.house_map(name), out)


@click.command(name="tower-tags")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("tower-tags.svg"), show_default=True
)
@click.option(
    "--side", "side_mm", default=44.8, show_default=True, metavar="MM", help="Side of a tag's black square."
)
def print_tower_tags(side_mm: float, out: Path) -> None:
    """The six tags for the tops of towers."""
    from companion.app import map_sheets

    map_sheets.print_tower_tags(side_mm, out)


@click.command(name="map")
@click.argument("name")
@click.option("--from", "photo", type=click.Path(path_type=Path), metavar="IMAGE",
              help="A photograph of the board with tags 0 to 3 around it; without it a kept map opens.")  # fmt: skip
@click.option("--marker-mm", default=32.0, show_default=True, help="Side of a tag's black square.")
@click.option("--board-mm", default="", metavar="W,H",
              help="Size of the board where it was measured: more exact than by the tags.")  # fmt: skip
@click.option("--gap-mm", default=6.0, show_default=True,
              help="From the board's corner to the black square, along each edge.")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the page.")
@click.option("--port", default=8642, show_default=True, help="Port of the page; 0 for any free one.")
def enrol_map(name: str, photo: Path | None, board_mm: str, **asked: Any) -> None:
    """Photograph a map of TAH WARS once and paint its terrains in the browser."""
    from companion.app import map_desk
    from companion.app.settings import board_size

    map_desk.enrol_map(name, photo, map_desk.MapAsked(board_mm=board_size(board_mm), **asked))


@click.command(name="read-board")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...")
@click.option("--map", "map_path", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="The board's map: terrains, corner tags and towers as JSON.")  # fmt: skip
@click.option(
    "--stick", "stick_mm", type=float, metavar="MM", help="Length of the move stick (120 by default)."
)
@click.option("--picture", type=click.Path(path_type=Path), metavar="OUT",
              help="Draw what was read: a file for one photograph, else a folder.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a photograph.")
def read_board(
    images: tuple[str, ...], map_path: Path, stick_mm: float | None, picture: Path | None, as_json: bool
) -> None:
    """Read a board with towers on photographs: towers, dice and terrains, and each move against the photograph before.
    Exit 1 when one could not be read."""
    from companion.app import boards

    sys.exit(boards.read_board(images, map_path, stick_mm, picture, as_json=as_json))
