"""Parts of the forms by which people say what happened."""

from __future__ import annotations

from companion.core.command import Command
from companion.core.view import Action, Choice, Field
from companion.games.tahwars.maps import TERRAINS
from companion.games.tahwars.model import Table, die_of


def act(id_: str, command: Command, label: str, effect: str, **more: object) -> Action:
    """An action with what it does."""
    return Action(id=id_, command=command, label=label, effect=effect, **more)  # type: ignore[arg-type]  # keyword bundle


def terrain_field() -> Field:
    """On which terrains something stands; none is unpainted ground. Rule: TAH-34"""
    return Field(
        name="terrains", label="Terrains (two or three on a border, none on unpainted ground)", kind="many",
        choices=tuple(Choice(value=name, label=name) for name in TERRAINS), is_required=False,
    )  # fmt: skip


def face_field(table: Table, kind: str, *, may_be_unseen: bool = False) -> Field:
    """What a die shows, in the order of what it counts. Rule: TAH-35"""
    die = die_of(table, kind)
    choices = []
    for shown in die.faces_shown if die else ():
        number = die.number(shown) if die else None
        label = str(shown) if number == shown else f"{shown:02d}, counts {number}"
        choices.append(Choice(value=shown, label=label))
    return Field(
        name="shows", label="Shows", kind="choice", choices=tuple(choices), is_required=not may_be_unseen
    )


def off_field() -> Field:
    """On the board or not. Rule: TAH-25"""
    return Field(
        name="is_off_board", label="Lies", kind="choice", value=False,
        choices=(Choice(value=False, label="on the board"), Choice(value=True, label="beside the board")),
    )  # fmt: skip


def tower_field(table: Table, seats: tuple[str, ...]) -> Field:
    """Which towers a die touched. Rule: TAH-20"""
    return Field(
        name="touched", label="Touched the tower of", kind="many", is_required=False,
        choices=tuple(Choice(value=seat, label=table.name(seat)) for seat in seats),
    )  # fmt: skip
