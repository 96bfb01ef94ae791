"""Hands on a table in memory: no wire, no waiting; each thing done takes an instant of virtual time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from virtual import Virtual

from companion.core.command import Command
from companion.core.game import Game
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import View

STEP_NS = 1_000_000_000


class VirtualHands:
    """`companion.demo.people.Hands` on `v`, a new table of that game."""

    def __init__(self, game: Game[Any], players: int, seed: int, options: dict[str, Any]) -> None:
        self.game = game
        self.v = Virtual(game, tuple(seat_at(n, f"P{n}") for n in range(1, players + 1)), seed, options)

    def sitting(self) -> Any:
        return self.v.sitting

    def view(self, viewer: Viewer) -> View:
        return show(self.game, self.v.sitting, viewer)

    def now_ns(self) -> int:
        return self.v.now_ns

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        self.v.now_ns += STEP_NS
        return self.v.give(command, Actor(Role.SEAT, seat=seat) if seat else Actor(Role.REFEREE)).ruling

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        self.v.now_ns += STEP_NS
        return is_so()
