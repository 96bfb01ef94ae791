"""The map from above, with castles and dice where their places are known."""

from __future__ import annotations

import math
from functools import lru_cache

from companion.core.geometry import Point, Pose
from companion.core.view import BoardDrawing, Shape
from companion.games.tahwars.maps import Map
from companion.games.tahwars.model import Castle, Piece, Table, data_of, in_order, on_board, title
from companion.games.tahwars.verdicts import lands

INKS = {"rivers": "blue", "forest": "green", "mountains": "black", "neonite": "purple", "city": "yellow"}
SIGNS = {"rivers": "R", "forest": "F", "mountains": "M", "neonite": "N", "city": "C"}
"""A letter for each terrain, so that none is told by colour alone."""
_CORNERS = 10
_SIGN_MM = 15.0
"""As large a disc bears a letter and a number that can be read."""


def drawing(table: Table) -> BoardDrawing | None:
    """The map that is laid, and what stands on it at a known place; nothing while no map is laid."""
    laid = table.game.map
    if laid is None:
        return None
    things: list[Shape] = []
    for seat in in_order(table):
        player, found = table.game.players[seat], table.seat(seat)
        ink = found.colour if found else "white"
        letter = found.letter if found else ""
        for piece in on_board(player):
            things += _die(table, piece, ink, f"{letter}{piece.number}", table.name(seat))
        if player.castle is not None:
            things += _castle(player.castle, data_of(table).tower_mm, (ink, letter, table.name(seat)))
    return BoardDrawing(size_mm=laid.board_mm, shapes=(*_ground(laid), *things))


@lru_cache(maxsize=16)
def _ground(laid: Map) -> tuple[Shape, ...]:
    return tuple(
        Shape(
            outline=terrain.polygon_mm, colour=INKS.get(terrain.kind, "white"), style="pale",
            text=terrain.name or terrain.kind, symbol=SIGNS.get(terrain.kind, ""),
        )
        for terrain in laid.terrains
    )  # fmt: skip


def _castle(castle: Castle, side_mm: float, of: tuple[str, str, str]) -> list[Shape]:
    """A square with a notch towards which it looks."""
    if castle.xy_mm is None:
        return []
    ink, letter, name = of
    pose = Pose(*castle.xy_mm, castle.heading_deg or 0.0)
    half = side_mm / 2
    corners = ((-half, -half), (half, -half), (half, half), (-half, half))
    nose = ((half, -half / 3), (half * 1.5, 0.0), (half, half / 3))
    text = f"{name}'s castle on {lands(castle.terrains)}"
    return [
        Shape(outline=_placed(pose, nose), colour=ink),
        Shape(outline=_placed(pose, corners), colour=ink, text=text, symbol=letter),
    ]


def _die(table: Table, piece: Piece, ink: str, sign: str, name: str) -> list[Shape]:
    die = data_of(table).die(piece.kind)
    if piece.xy_mm is None or die is None:
        return []
    radius, pose = max(die.footprint_mm / 2, _SIGN_MM), Pose(*piece.xy_mm)
    ring = tuple(
        (radius * math.cos(2 * math.pi * n / _CORNERS), radius * math.sin(2 * math.pi * n / _CORNERS))
        for n in range(_CORNERS)
    )
    text = f"{name}'s {title(piece.kind)} counts {piece.number} on {lands(piece.terrains)}"
    return [Shape(outline=_placed(pose, ring), colour=ink, text=text, symbol=sign)]


def _placed(pose: Pose, corners: tuple[Point, ...]) -> tuple[Point, ...]:
    return tuple((round(x, 1), round(y, 1)) for x, y in map(pose.apply, corners))
