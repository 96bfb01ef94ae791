"""Tables without a disk and with a time that only moves when told: what the laws are tried on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import counting

from companion.core import command as c
from companion.core import event as e
from companion.core.codec import Codec
from companion.core.game import Game, Sitting
from companion.core.observation import Observation, Pressed
from companion.core.seat import Actor, Role, Seat
from companion.runtime.desk import Answer
from companion.runtime.identity import ident_of
from companion.runtime.table import Step, Table, decoded

MS = 1_000_000
REFEREE = Actor(Role.REFEREE, name="Ria")


class MemoryLog:
    """Keeps the bytes; raises `broken` while that is set."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []
        self.transactions = 0
        self.broken: Exception | None = None

    def append(self, payloads: Sequence[bytes]) -> str:
        if self.broken is not None:
            raise self.broken
        self.payloads += payloads
        self.transactions += 1
        return ""


def data_of(game: Game[Any]) -> str:
    """The text of the data file that the game ships, empty when it has none."""
    if not game.data_file:
        return ""
    folder = resources.files(f"companion.games.{game.name}") / "data"
    return (folder / game.data_file).read_text(encoding="utf-8")


def opened(
    game: Game[Any],
    seats: tuple[Seat, ...],
    seed: int = 1,
    options: dict[str, Any] | None = None,
    at_ns: int = 0,
) -> e.Entry:
    """The first entry of a journal."""
    fact = e.Opened(
        game=game.name, table="t", seats=seats, options={**game.options, **(options or {})}, seed=seed,
        data=data_of(game),
    )  # fmt: skip
    actor = Actor(Role.CLOCK)
    return e.Entry(n=1, at_ns=at_ns, wall_ms=0, actor=actor, key="opened", command=None, events=(fact,))


class Virtual:
    """A table, its log, and a clock `now_ns` that stands still between calls."""

    def __init__(
        self,
        game: Game[Any] = counting.GAME,
        seats: tuple[Seat, ...] = counting.SEATS,
        seed: int = 1,
        options: dict[str, Any] | None = None,
        *,
        is_running: bool = True,
    ) -> None:
        self.game, self.codec, self.log = game, Codec(game), MemoryLog()
        first = opened(game, seats, seed, options)
        self.log.append([self.codec.encode(first)])
        self.table: Table[Any] = Table(game, self.log, [first], lambda at_ns: at_ns // MS)
        self.now_ns, self.keys = 0, 0
        if is_running:
            self.give(c.Start(boot="b", wall_ms=0), Actor(Role.CLOCK))
            self.give(c.Resume())

    @property
    def sitting(self) -> Sitting[Any]:
        return self.table.sitting

    def restarted(self) -> Virtual:
        """The same journal taken up by another program."""
        other = Virtual.__new__(Virtual)
        other.game, other.codec, other.log = self.game, self.codec, self.log
        entries = decoded(self.codec, self.log.payloads)
        other.table = Table(self.game, self.log, entries, lambda at_ns: at_ns // MS)
        other.now_ns, other.keys = self.now_ns, self.keys
        return other

    def step(
        self, *items: Observation | c.Order, now_ms: float | None = None, watermark_ms: float | None = None
    ) -> Step:
        """One step, at `now_ms` (default: no time has passed), all final unless `watermark_ms` says otherwise."""
        if now_ms is not None:
            self.now_ns = round(now_ms * MS)
        watermark_ns = self.now_ns if watermark_ms is None else round(watermark_ms * MS)
        return self.table.step(items, self.now_ns, watermark_ns)

    def order(
        self, command: c.Command, actor: Actor = REFEREE, key: str = "", expected: int | None = None,
        at_ms: float | None = None,
    ) -> c.Order:  # fmt: skip
        self.keys += 1
        at_ns = self.now_ns if at_ms is None else round(at_ms * MS)
        return c.Order(
            command=command, actor=actor, at_ns=at_ns, key=key or f"key {self.keys}", expected=expected
        )

    def give(
        self, command: c.Command, actor: Actor = REFEREE, key: str = "", expected: int | None = None
    ) -> Answer:
        """Order something now; gives the answer."""
        order = self.order(command, actor, key, expected)
        step = self.step(order)
        ident = ident_of(actor, order.key)
        if ident in step.failures:
            raise step.failures[ident]
        return step.answers[ident]

    def wait_ms(self, ms: float) -> Step:
        """Let time pass."""
        return self.step(now_ms=self.now_ns / MS + ms)


def press(n: int, seen_ms: float, input_: int = 1, boot: int = 1, u_ms: float = 1, **more: Any) -> Pressed:
    """Press number n of a pad of box-7."""
    return Pressed(
        source="box-7", seen_ns=round(seen_ms * MS), uncertainty_ns=round(u_ms * MS), input=input_, boot=boot,
        n=n, **more,
    )  # fmt: skip


def names(entries: Iterable[e.Entry]) -> list[str]:
    """The facts of entries by name, in order."""
    return [type(event).__name__ for entry in entries for event in entry.events]
