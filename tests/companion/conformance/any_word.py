"""Any command or event at all, well-formed but mostly senseless: what totality is tried on."""

from __future__ import annotations

import random
from typing import Any

import msgspec
from msgspec import inspect

from companion.core import command as c
from companion.core import event as e
from companion.core.game import Game, Sitting

INTS = (-1, 0, 1, 2, 3, 7, 30, 10**6, 10**12)
WORDS = ("", "s1", "s2", "s6", "s99", "none", "💥", "x" * 500)


class AnyWord:
    """Makes words of one game out of the strings that stand in its state."""

    def __init__(self, game: Game[Any], chance: random.Random) -> None:
        self._game, self._chance = game, chance
        self._types: dict[type, inspect.StructType] = {}
        self._strings: list[str] = list(WORDS)

    def learn(self, sitting: Sitting[Any]) -> None:
        """Take up the short strings of a state, so that some words make sense."""
        found: set[str] = set()

        def look(plain: object) -> None:
            if isinstance(plain, str) and len(plain) < 40:
                found.add(plain)
            elif isinstance(plain, dict):
                for key, value in plain.items():
                    look(key)
                    look(value)
            elif isinstance(plain, list | tuple):
                for value in plain:
                    look(value)

        look(msgspec.to_builtins(sitting))
        self._strings = [*WORDS, *sorted(found)]

    def command(self) -> c.Command:
        """Any command of the table or the game."""
        made: c.Command = self._struct(self._chance.choice((*c.COMMANDS, *self._game.commands)))
        return made

    def event(self) -> e.Event:
        """Any event of the table or the game, but for the opening."""
        kinds = [kind for kind in (*e.EVENTS, *self._game.events) if kind is not e.Opened]
        made: e.Event = self._struct(self._chance.choice(kinds))
        return made

    def _struct(self, kind: type) -> Any:
        if kind not in self._types:
            self._types[kind] = inspect.type_info(kind)
        fields = {}
        for field in self._types[kind].fields:
            if field.required or self._chance.random() < 0.6:
                fields[field.name] = self._any(field.type)
        return kind(**fields)

    def _any(self, kind: inspect.Type) -> Any:
        chance = self._chance
        match kind:
            case inspect.IntType():
                return chance.choice(INTS)
            case inspect.StrType():
                return chance.choice(self._strings)
            case inspect.BoolType():
                return chance.random() < 0.5
            case inspect.FloatType():
                return chance.choice((-1.0, 0.0, 0.5, 1.0, 2.0, 1e9))
            case inspect.NoneType():
                return None
            case inspect.VarTupleType(item_type=item):
                return tuple(self._any(item) for _ in range(chance.randrange(4)))
            case inspect.TupleType(item_types=items):
                return tuple(self._any(item) for item in items)
            case inspect.DictType(key_type=key, value_type=value):
                return {self._any(key): self._any(value) for _ in range(chance.randrange(3))}
            case inspect.UnionType(types=types):
                return self._any(chance.choice(types))
            case inspect.EnumType(cls=cls):
                return chance.choice(list(cls))
            case inspect.LiteralType(values=values):
                return chance.choice(values)
            case inspect.StructType(cls=cls):
                return self._struct(cls)
            case inspect.CustomType(cls=cls):
                return self.command() if cls is c.Command else self.event()
            case other:
                raise AssertionError(f"no word of type {other}")
