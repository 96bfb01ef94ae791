"""From a filled-in form to a command, and from a kind of command to a form. Knows fields, no rules."""

from __future__ import annotations

import json
import math
import typing
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Protocol

import msgspec

from companion.core.command import Command
from companion.core.seat import Seat
from companion.core.view import Choice, Field

KINDS = ("choice", "many", "order", "text", "number", "json")


class Filled(Protocol):
    """What a posted form offers (werkzeug's MultiDict)."""

    def get(self, key: str, default: str) -> str:
        """The first value."""

    def getlist(self, key: str) -> list[str]:
        """All values."""

    def __iter__(self) -> typing.Iterator[str]:
        """The names."""


class FormError(ValueError):
    """A form that makes no command; the text says what to do."""


def command_json(base: str, filled: Filled, commands: Iterable[type[Command]]) -> bytes:
    """The JSON of a command: `base` (JSON of the unfinished command) with a form's fields put in.

    Inputs are named ``KIND:FIELD`` (``order:FIELD:VALUE`` holds the place of one value); values of choice,
    many and order are JSON. A field that holds groups in order gets a list of lists, equal places together.
    Raises FormError.
    """
    try:
        body = json.loads(base)
    except (ValueError, RecursionError) as wrong:
        raise FormError("The form is damaged. Reload the page.") from wrong
    if not isinstance(body, dict):
        raise FormError("The form is damaged. Reload the page.")
    kind = next((kind for kind in commands if kind.__name__ == body.get("do")), None)
    hints = typing.get_type_hints(kind) if kind else {}
    places: dict[str, list[tuple[float, Any]]] = {}
    for name in filled:
        what, _, rest = name.partition(":")
        field, _, value = rest.partition(":")
        if what not in KINDS or not field:
            continue
        raw = filled.get(name, "").strip()
        if what == "order":
            found = places.setdefault(field, [])
            if value and raw:
                found.append((_number(raw, field), _loads(value, field)))
        elif what == "many":
            body[field] = [_loads(one, field) for one in filled.getlist(name) if one]
        elif what == "text":
            body[field] = raw
        elif raw:
            body[field] = _number(raw, field) if what == "number" else _loads(raw, field)
    for field, found in places.items():
        hint = hints.get(field)
        body[field] = _ordered(found, _is_sequence(hint) and _is_sequence(_inner(hint)))
    return json.dumps(body).encode()


def _ordered(found: list[tuple[float, Any]], has_ties: bool) -> list[Any]:
    found = sorted(found, key=lambda item: item[0])
    if not has_ties:
        return [value for _, value in found]
    groups: list[list[Any]] = []
    last: float | None = None
    for place, value in found:
        if place == last:
            groups[-1].append(value)
        else:
            groups.append([value])
        last = place
    return groups


def _loads(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise FormError(f"{field}: {text[:40]!r} is not a value that can stand there.") from wrong


def _number(text: str, field: str) -> int | float:
    try:
        found = float(text)
    except ValueError as wrong:
        raise FormError(f"{field}: {text[:40]!r} is not a number.") from wrong
    if not math.isfinite(found):
        raise FormError(f"{field}: that is not a number.")
    return int(found) if found.is_integer() else found


def _is_sequence(hint: Any) -> bool:
    return typing.get_origin(hint) in (tuple, list)


def _inner(hint: Any) -> Any:
    arguments = typing.get_args(hint)
    return arguments[0] if arguments else None


def fields_of(kind: type[Command], now: Mapping[str, Any], seats: tuple[Seat, ...]) -> tuple[Field, ...]:
    """One form field for each field of a command; `now`: what stands there at first (plain data)."""
    hints = typing.get_type_hints(kind)
    found = []
    for name in getattr(kind, "__struct_fields__", ()):
        hint, value = hints[name], now.get(name)
        label = name.replace("_", " ").capitalize()
        field = Field(name=name, label=label, kind="json", value=json.dumps(value) if name in now else None)
        if name == "seat":
            places = tuple(Choice(value=seat.id, label=f"{seat.letter} {seat.name}") for seat in seats)
            field = Field(name=name, label=label, kind="choice", choices=places, value=value)
        elif hint is bool:
            yes_no = (Choice(value=True, label="Yes"), Choice(value=False, label="No"))
            field = Field(name=name, label=label, kind="choice", choices=yes_no, value=value)
        elif isinstance(hint, type) and issubclass(hint, Enum):
            members = tuple(Choice(value=m.value, label=str(m.value)) for m in hint)
            field = Field(name=name, label=label, kind="choice", choices=members, value=value)
        elif hint is str:
            field = Field(name=name, label=label, kind="text", value=value or "")
        elif hint in (int, float):
            field = Field(name=name, label=label, kind="number", value=value)
        found.append(msgspec.structs.replace(field, is_required=False))
    return tuple(found)
