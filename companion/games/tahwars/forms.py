"""Parts of the forms by which people say what happened."""

from __future__ import annotations

from functools import lru_cache

from companion.core.command import Command
from companion.core.view import Action, Choice, Field
from companion.games.tahwars.maps import TERRAINS, UNPAINTED
from companion.games.tahwars.model import Table, die_of


def act(id_: str, command: Command, label: str, effect: str, **more: object) -> Action:
    """An action with what it does."""
    return Action(id=id_, command=command, label=label, effect=effect, **more)  # type: ignore[arg-type]  # keyword bundle


TERRAIN_FIELD = Field(
    name="terrains", label="Terrains (two or three on a border)", kind="many", is_required=False,
    choices=(*(Choice(value=name, label=name) for name in TERRAINS), Choice(value=UNPAINTED, label="unpainted ground")),
)  # fmt: skip
"""On which terrains something stands. Rule: TAH-34"""
OFF_FIELD = Field(
    name="is_off_board", label="Lies", kind="choice", value=False,
    choices=(Choice(value=False, label="on the board"), Choice(value=True, label="beside the board")),
)  # fmt: skip
"""On the board or not. Rule: TAH-25"""


def face_field(table: Table, kind: str, *, may_be_unseen: bool = False) -> Field:
    """What a die shows, in the order of what it counts. Rule: TAH-35"""
    die = die_of(table, kind)
    shows = tuple((shown, number + 1) for number, shown in enumerate(die.faces_shown)) if die else ()
    return _faces(shows, is_required=not may_be_unseen)


@lru_cache(maxsize=32)
def _faces(shows: tuple[tuple[int, int], ...], *, is_required: bool) -> Field:
    choices = tuple(
        Choice(value=shown, label=str(shown) if number == shown else f"{shown:02d}, counts {number}")
        for shown, number in shows
    )
    return Field(name="shows", label="Shows", kind="choice", choices=choices, is_required=is_required)


def tower_field(table: Table, seats: tuple[str, ...]) -> Field:
    """Which towers a die touched. Rule: TAH-20"""
    return Field(
        name="touched", label="Touched the tower of", kind="many", is_required=False,
        choices=tuple(Choice(value=seat, label=table.name(seat)) for seat in seats),
    )  # fmt: skip
