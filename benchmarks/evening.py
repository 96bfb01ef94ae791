"""A running table with a durable journal, and somebody who plays on it by the game's own policy."""

from __future__ import annotations

import itertools
import random
from importlib import resources
from pathlib import Path
from typing import Any

from companion.catalogue import GAMES
from companion.core import command as c
from companion.core.game import Game
from companion.core.seat import Actor, Role, Seat, seat_at
from companion.runtime import opening
from companion.runtime.desk import Answer
from companion.runtime.loop import TableLoop

NAMES = ("Ann", "Ben", "Cem", "Dora", "Emil", "Fay")
REFEREE = Actor(Role.REFEREE)
QUICK: dict[str, dict[str, str | int | bool]] = {"tada": {"countdown_s": 0}}
"""House rules that let nobody wait for a countdown."""


def seats(count: int) -> tuple[Seat, ...]:
    """The first seats; the referee clicks for them."""
    return tuple(seat_at(n, NAMES[n - 1]) for n in range(1, count + 1))


def data_of(game: Game[Any]) -> str:
    """The text of the data file that the game ships."""
    if not game.data_file:
        return ""
    folder = resources.files(f"companion.games.{game.name}") / "data"
    return (folder / game.data_file).read_text(encoding="utf-8")


class Evening:
    """One table at a time in `path`; `play` gives one order and waits until it is durable."""

    def __init__(self, path: Path, name: str = "tada", seed: int = 1, prefix: str = "") -> None:
        """Opens the journal, or takes it up again when it is there."""
        game = GAMES[name]
        if path.exists():
            open_ = opening.reopen(path, GAMES)
        else:
            open_ = opening.create(
                path, game, seats=seats(min(6, game.max_seats)), seed=seed, options=QUICK.get(name, {}),
                data=data_of(game),
            )  # fmt: skip
        self.loop = TableLoop(open_.table, open_.journal, open_.clock)
        self._chance = random.Random(f"{seed} {prefix}")
        self._keys = (f"{prefix}{n}" for n in itertools.count(1))

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.loop.game.is_over(self.loop.snapshot().sitting)

    def play(self, undo_share: float = 0.0) -> Answer | None:
        """What the policy would do now, durable; None when only time passes."""
        sitting = self.loop.snapshot().sitting
        command: c.Command | None = c.Resume()
        if sitting.stopped_at_ns is None:
            command = self.loop.game.policy(sitting, self._chance.randrange(10**6))
        if self._chance.random() < undo_share:
            command = c.Undo()
        return None if command is None else self.give(command)

    def give(self, command: c.Command, actor: Actor = REFEREE) -> Answer:
        """One order, durable."""
        return self.loop.submit(command, actor, next(self._keys)).result(30)

    def close(self) -> None:
        """End the table."""
        self.loop.close()
