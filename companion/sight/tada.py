"""What the camera looks for at a table of Ta-Da!: symbol dice, loose and on the spells that were revealed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from companion.core.game import Sitting
from companion.core.geometry import Pose
from companion.core.layout import Layout, Placed
from companion.games.tada.deck import SYMBOLS
from companion.games.tada.layouts import CARD_MM, spell_layout
from companion.games.tada.model import Tada, spell_of
from vision.cards.watching import DeckSpec
from vision.eye import ReaderSpec

READER = "vision.dice.symbols:symbol_reader"
"""Builds the reader of enrolled symbol dice from the folder of a dice profile."""
FACES = SYMBOLS
"""What the faces of the dice are called."""
EDGE_MM = 12.0
DIE_MM = 16.0


def reader(profile: str) -> ReaderSpec:
    """The reader for dice that were enrolled under the path `profile`."""
    return ReaderSpec(factory=READER, paths=(profile,))


def lookout(deck: Path, profile: str) -> DeckSpec:
    """For the cards of the deck in this folder and, where `profile` names them, the dice that were enrolled there."""
    return DeckSpec(deck=str(deck), dice=reader(profile) if profile else None)


def card_poses(seats: int, size_mm: tuple[float, float]) -> tuple[Pose, ...]:
    """Where each seat's spell card lies on a table of this size, in order of the seats.

    Half of the seats sit at the bottom edge, the others, facing them, at the top. The pose is that of the
    card's own top-left corner.
    """
    width, height = size_mm
    below = math.ceil(seats / 2)
    found = []
    for index in range(seats):
        is_below = index < below
        count, place = (below, index) if is_below else (seats - below, index - below)
        middle = width * (2 * place + 1) / (2 * count)
        if is_below:
            found.append(Pose(middle - CARD_MM[0] / 2, height - EDGE_MM - CARD_MM[1]))
        else:
            found.append(Pose(middle + CARD_MM[0] / 2, EDGE_MM + CARD_MM[1], 180.0))
    return tuple(found)


def places(table: Sitting[Tada], poses: Mapping[str, Pose]) -> tuple[Placed, ...]:
    """Where seats whose spells are not revealed yet lay theirs, each named after its seat."""
    return tuple(
        Placed(layout=Layout(id=seat.id, size_mm=CARD_MM), pose=poses[seat.id], owner=seat.colour)
        for seat in table.seats
        if seat.id in poses and spell_of(table, seat.id) is None
    )


def layouts(table: Sitting[Tada], poses: Mapping[str, Pose]) -> tuple[Placed, ...]:
    """The revealed spells that lie on the table, each named after its seat."""
    found = []
    for seat in table.seats:
        spell, pose = spell_of(table, seat.id), poses.get(seat.id)
        if spell is not None and pose is not None:
            found.append(Placed(layout=spell_layout(seat.id, spell), pose=pose, owner=seat.colour))
    return tuple(found)
