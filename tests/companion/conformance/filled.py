"""Listed actions as commands: the fields filled in as a page would, by way of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec

from companion.core import command as c
from companion.core.codec import Codec
from companion.core.view import Action, Field, View

MOST = 12


def listed(view: View) -> tuple[Action, ...]:
    """Every action of a view, each id once."""
    answers = [action for p in view.open_proposals for action in (p.confirm, p.reject) if action is not None]
    found = ([view.primary] if view.primary else []) + list(view.actions) + answers
    return tuple({action.id: action for action in found}.values())


def _values(field: Field, now: object) -> list[object]:
    """Sensible values for a field; `now` is what stands in the command."""
    values: list[object] = [choice.value for choice in field.choices]
    match field.kind:
        case "choice":
            return values
        case "many":
            return [values[:count] for count in range(1, len(values) + 1)]
        case "order":
            return [[[value] for value in values], [values]] if values else []
        case "text":
            return [field.value] if field.value else ["Zoe", "Yan", "Xi", "Wim", "Vera", "Ute", "Tim"]
        case "number":
            start = field.value if field.value is not None else now
            return [start, int(start) + 1] if isinstance(start, int | float) else [1, 2]
        case kind:
            raise AssertionError(f"a field of unknown kind {kind!r}")


def fills(codec: Codec[Any], action: Action) -> Iterator[c.Command]:
    """The commands that this action may become, some of them when there are many."""
    plain = msgspec.json.decode(codec.encode(action.command))
    options = [_values(field, getattr(action.command, field.name)) for field in action.fields]
    for _, values in zip(range(MOST), product(*options), strict=False):
        filled = plain | {field.name: value for field, value in zip(action.fields, values, strict=True)}
        yield codec.command(msgspec.json.encode(filled))


def is_free(action: Action) -> bool:
    """Whether a person decides how much to fill in, so that not every filling need be accepted."""
    return any(field.kind in ("many", "order", "number", "text") for field in action.fields)
