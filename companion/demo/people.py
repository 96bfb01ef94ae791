"""How simulated people touch a table, and what all of them do alike: ask, wait, pause, stop."""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from companion.core import command as core
from companion.core.command import Command
from companion.core.game import Sitting
from companion.core.ruling import Ruling
from companion.core.seat import REFEREE, Actor, Role, Viewer
from companion.core.view import View
from companion.demo.stage import wait_s
from companion.runtime.desk import Desk, Snapshot

PATIENCE_S = 10.0
CONFIRM_S = 0.4
State = TypeVar("State", bound=msgspec.Struct)


class StuckError(Exception):
    """The table did not do what the simulated people waited for; the text says what."""


class Hands(Protocol):
    """How the simulated people touch the table: as a referee and players would, and no other way."""

    def sitting(self) -> Sitting[Any]:
        """The table as it is now."""

    def view(self, viewer: Viewer) -> View:
        """What this viewer is shown now."""

    def now_ns(self) -> int:
        """Host time."""

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        """Give a command, for a seat or as the referee; why it was refused, None when it was accepted."""

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is so, at most this long; whether it is."""


class DeskHands:
    """Hands on a table in this program."""

    def __init__(self, desk: Desk, name: str = "demo") -> None:
        """`name`: under which the journal knows the referee."""
        self._desk, self._name = desk, name
        self._keys = itertools.count(1)
        self._changed = threading.Condition()
        desk.subscribe(self._note)

    def sitting(self) -> Sitting[Any]:
        """The durable table."""
        return self._desk.snapshot().sitting

    def view(self, viewer: Viewer) -> View:
        """What this viewer is shown now."""
        return self._desk.view(viewer)

    def now_ns(self) -> int:
        """Host time."""
        return self._desk.now_ns()

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        """Submit and wait until it is durable."""
        actor = Actor(Role.SEAT, seat=seat) if seat else Actor(Role.REFEREE, name=self._name)
        key = f"{self._name}-{self._desk.snapshot().version}-{next(self._keys)}"
        return self._desk.submit(command, actor, key).result(PATIENCE_S).ruling

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Looks again after each change."""
        with self._changed:
            self._changed.wait_for(is_so, seconds)
        return is_so()

    def _note(self, _snapshot: Snapshot) -> None:
        with self._changed:
            self._changed.notify_all()


class People(ABC, Generic[State]):
    """Simulated people at one table. All they do follows from `seed`; `speed` shortens their pauses, never a clock."""

    def __init__(self, hands: Hands, *, seed: int, speed: float) -> None:
        """They sit down."""
        self._hands, self._seed, self._speed = hands, seed, speed
        self._is_ended = False

    @property
    def sitting(self) -> Sitting[State]:
        """The table as it is now."""
        return self._hands.sitting()

    def end(self) -> None:
        """Stop playing as soon as possible."""
        self._is_ended = True

    def play(self, most: int | None = None) -> None:
        """To the end of the game, or so many steps of it: a turn, an answer, a rest. Raises StuckError."""
        steps = itertools.count() if most is None else range(most)
        for _ in steps:
            if self._is_ended or self._is_over():
                return
            self._step()

    @abstractmethod
    def _is_over(self) -> bool:
        """Nothing is left to play."""

    @abstractmethod
    def _step(self) -> None:
        """Do what is next."""

    def _confirm_all(self) -> None:
        """The referee confirms whatever can be confirmed."""
        for proposal in self._hands.view(REFEREE).open_proposals:
            if proposal.confirm is not None:
                self._pause(CONFIRM_S)
                self._must(core.Confirm(proposal=proposal.id))

    def _must(self, command: Command, seat: str = "") -> None:
        """Give a command that a table in play takes. Raises StuckError."""
        refused = self._hands.ask(command, seat)
        if refused is not None and not self._is_ended and self.sitting.stopped_at_ns is None:
            raise StuckError(f"{type(command).__name__} was refused by {refused.rule}: {refused.because}")

    def _until(self, is_so: Callable[[Sitting[State]], bool], seconds: float = PATIENCE_S) -> bool:
        """Wait until the table is so; whether it is."""
        return self._hands.until(lambda: self._is_ended or is_so(self.sitting), seconds)

    def _pause(self, seconds: float) -> None:
        wait_s(seconds, self._speed)
