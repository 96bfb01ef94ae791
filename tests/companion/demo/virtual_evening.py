"""The demo's director on a table in memory: no camera, no wire, no waiting. The eyes see at once what is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from companion.app.settings import shipped_data
from companion.catalogue import GAMES
from companion.core.clock import Stamp
from companion.core.command import Command, ProvePad
from companion.core.event import Entry, Opened
from companion.core.game import decide, refusal
from companion.core.history import apply, opening
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Role, Viewer
from companion.core.show import show
from companion.core.view import View
from companion.demo.director import Director
from companion.demo.pads import seats_of
from companion.games.tada import commands as c
from companion.sight.tada import card_poses
from vision.render.cube import Die
from vision.render.flat import Card

GAME = GAMES["tada"]
SIZE_MM = (480.0, 320.0)
STEP_NS = 250_000_000


class VirtualEvening:
    """`Hands`, stage and pads in one; `play` runs a whole game and `rests` counts what was shown in casts."""

    def __init__(self, players: int, seed: int) -> None:
        self.seats = seats_of(players)
        opened = Opened(
            game="tada", table="t", seats=self.seats, options={}, seed=seed, data=shipped_data(GAME)
        )
        first = Entry(
            n=1, at_ns=0, wall_ms=0, actor=Actor(Role.CLOCK), key="0", command=None, events=(opened,)
        )
        self.entries = [first]
        self.table: Any = opening(GAME, first)
        self.at_ns = 0
        self.rests = 0
        poses = dict(zip((seat.id for seat in self.seats), card_poses(players, SIZE_MM), strict=True))
        presses = {seat.id: self._press(seat.id) for seat in self.seats}
        self.director = Director(self, self, presses, poses, seed=seed, speed=1e9)  # type: ignore[arg-type]  # a stage in two words

    def play(self) -> Any:
        """The table at the end of the game."""
        self.director.play()
        return self.table

    def sitting(self) -> Any:
        """The table."""
        return self.table

    def view(self, viewer: Viewer) -> View:
        """What that viewer is shown."""
        return show(GAME, self.table, viewer)

    def now_ns(self) -> int:
        """Virtual host time."""
        return self.at_ns

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        """A quarter of a second later it is done."""
        self._wait(STEP_NS)
        actor = Actor(Role.SEAT, seat=seat) if seat else Actor(Role.REFEREE)
        return self._order(command, actor)

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Time goes by in quarters of a second."""
        ends = self.at_ns + round(seconds * 1e9)
        while not is_so() and self.at_ns < ends:
            self._wait(STEP_NS)
        return is_so()

    def show(self, cards: tuple[Card, ...], dice: tuple[Die, ...], hands_mm: object) -> None:
        """The eyes tell rolls and locks, and propose what they can verify."""
        if not dice:
            return
        self.rests += 1
        for seat in self.seats:
            mine = [die for die in dice if die.owner == seat.colour]
            loose = tuple(sorted(str(die.value) for die in mine if die.slot is None))
            if loose:
                self._order(c.RecordRoll(seat=seat.id, symbols=loose), Actor(Role.SENSOR))
            for die in mine:
                if die.slot is not None and self.table.game.casters[seat.id].locks[die.slot] is None:
                    self._order(
                        c.LockDie(seat=seat.id, slot=die.slot, symbol=str(die.value)), Actor(Role.SENSOR)
                    )

    def _press(self, seat: str) -> Callable[[int | None], None]:
        def press(at_ns: int | None) -> None:
            if seat not in self.table.proven:
                self._order(ProvePad(seat=seat), Actor(Role.SENSOR))
                return
            stamp = Stamp(at_ns=self.at_ns if at_ns is None else at_ns, u_ns=300_000)
            self._wait(max(0, stamp.at_ns - self.at_ns))
            self._order(c.Slam(seat=seat, stamp=stamp), Actor(Role.SENSOR))

        return press

    def _wait(self, ns: int) -> None:
        ends = self.at_ns + ns
        while due := [d for d in GAME.deadlines(self.table) if self.table.host_ns(d[0]) <= ends]:
            instant, command = min(due, key=lambda d: d[0])
            self.at_ns = max(self.at_ns, self.table.host_ns(instant))
            if self._order(command, Actor(Role.CLOCK)) is not None:
                break
        self.at_ns = max(self.at_ns, ends)

    def _order(self, command: Command, actor: Actor) -> Ruling | None:
        from companion.core.command import Order

        key = str(len(self.entries))
        facts = decide(GAME, self.table, Order(command=command, actor=actor, at_ns=self.at_ns, key=key))
        entry = Entry(
            n=len(self.entries) + 1,
            at_ns=self.at_ns,
            wall_ms=0,
            actor=actor,
            key=key,
            command=command,
            events=facts,
        )
        self.entries.append(entry)
        self.table = apply(GAME, self.table, entry)
        return refusal(facts)
