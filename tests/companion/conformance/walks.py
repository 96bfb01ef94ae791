"""Evenings played at random by the rules: the states on which the laws are tried."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import counting
from filled import fills, listed
from virtual import MS, REFEREE, Virtual

from companion.catalogue import GAMES
from companion.core import command as c
from companion.core import history
from companion.core.game import Game, Sitting
from companion.core.observation import Pressed
from companion.core.seat import REFEREE as REFEREE_VIEWER
from companion.core.seat import Actor, Role, Seat, Viewer, seat_at
from companion.core.show import show

ALL: dict[str, Game[Any]] = {counting.GAME.name: counting.GAME, **GAMES}
LENGTHS: dict[str, dict[str, Any]] = {
    "counting": {"goal": 900},
    "tacta": {"mode": "limited_space"},
    "zingazam": {"hands": "full"},
}
"""House rules by which an evening is long enough to show something, and short enough to be tried often."""
NAMES = ("Ann", "Ben", "Cem", "Dora", "Emil", "Fay")


def seats(count: int) -> tuple[Seat, ...]:
    """The first seats, each with an input of one box."""
    return tuple(seat_at(n, NAMES[n - 1], "box-7", n) for n in range(1, count + 1))


def viewers(sitting: Sitting[Any]) -> tuple[tuple[Viewer, Actor], ...]:
    """Everybody who may give orders, as viewer and as actor."""
    sitting_seats = tuple(
        (Viewer(Role.SEAT, seat.id), Actor(Role.SEAT, seat.id)) for seat in sitting.playing()
    )
    return ((REFEREE_VIEWER, REFEREE), *sitting_seats)


class Walk:
    """One evening under way."""

    def __init__(
        self, game: Game[Any], seed: int, options: dict[str, Any] | None = None, players: int = 0
    ) -> None:
        self.chance = random.Random(f"{game.name}/{seed}")
        count = players or self.chance.randint(game.min_seats, game.max_seats)
        self.v = Virtual(game, seats(count), seed, LENGTHS.get(game.name, {}) | (options or {}))
        self.presses = 0

    def by_policy(self) -> bool:
        """What a sensible referee would do, or let time pass to the next deadline; False when neither is there."""
        v = self.v
        if v.sitting.stopped_at_ns is not None:
            return v.give(c.Resume()).is_accepted
        v.now_ns += self.chance.randint(50, 1500) * MS
        v.step()
        command = v.game.policy(v.sitting, self.chance.randrange(10**6))
        if command is not None:
            return v.give(command).is_accepted
        due_ns = v.table.due_ns()
        if due_ns is None:
            return False
        v.now_ns = max(v.now_ns, due_ns)
        v.step()
        return True

    def by_action(self) -> None:
        """Something that somebody's page offers."""
        v = self.v
        viewer, actor = self.chance.choice(viewers(v.sitting))
        actions = [a for a in listed(show(v.game, v.sitting, viewer)) if not isinstance(a.command, c.Leave)]
        if actions:
            commands = tuple(fills(v.codec, self.chance.choice(actions)))
            if commands:
                v.give(self.chance.choice(commands), actor)

    def by_pad(self) -> None:
        """A press, now or a little ago."""
        v = self.v
        self.presses += 1
        seen_ns = v.now_ns - self.chance.randint(0, 400) * MS
        v.step(
            Pressed(
                source="box-7", seen_ns=max(0, seen_ns), uncertainty_ns=2 * MS, input=self.chance.randint(1, 6),
                boot=1, n=self.presses, early=self.chance.random() < 0.1,
            )
        )  # fmt: skip

    def by_correction(self) -> None:
        """Take something back, or strike something out."""
        v = self.v
        command: c.Command = c.Undo()
        if self.chance.random() < 0.3:
            void = c.Void(entry=self.chance.randint(2, v.table.version), why="chance")
            orphans = history.orphans(v.game, v.table.entries, v.order(void))
            command = c.Void(entry=void.entry, why=void.why, orphans=orphans)
        v.give(command)

    def steps(self, count: int) -> Iterator[Sitting[Any]]:
        """Go on for `count` turns, mostly sensibly; gives the table after each."""
        for _ in range(count):
            if self.v.game.is_over(self.v.sitting):
                return
            dice = self.chance.random()
            if dice < 0.70:
                self.by_policy()
            elif dice < 0.88:
                self.by_action()
            elif dice < 0.97:
                self.by_pad()
            else:
                self.by_correction()
            yield self.v.sitting


@lru_cache(maxsize=16)
def visited(name: str, seed: int = 1, turns: int = 160) -> tuple[Sitting[Any], ...]:
    """The tables of one random evening, every one that came up."""
    return tuple(Walk(ALL[name], seed).steps(turns))
