"""Golden transcripts: what a table heard, what it wrote, and where everybody stood in the end.

JSON lines. The first holds the first entry of the journal; each following one what was handed in at `now_ns`,
up to which instant its order was final, and the entries that it must give for ever; the last the standings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from companion.core.codec import Codec
from companion.core.command import Command, Order
from companion.core.event import Entry
from companion.core.game import Game
from companion.core.observation import Observation
from companion.core.seat import Actor
from companion.runtime.table import Table

FOLDER = Path(__file__).parent
Heard = Observation | Order


class Bytes:
    """A log that keeps nothing but the bytes."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def append(self, payloads: Sequence[bytes]) -> str:
        self.payloads += payloads
        return ""


def new_table(game: Game[Any], first: Entry) -> Table[Any]:
    """A table that begins with this entry and keeps its journal in memory."""
    return Table(game, Bytes(), [first], lambda at_ns: at_ns // 1_000_000)


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One line: what was handed in, and what had to follow."""

    now_ns: int
    final_ns: int
    heard: tuple[Heard, ...]
    writes: tuple[Entry, ...]


class Recording:
    """A table that is played by a script, and remembers all of it. Times in ms since the start."""

    def __init__(self, game: Game[Any], first: Entry) -> None:
        self.game, self.first = game, first
        self.table = new_table(game, first)
        self.moments: list[Moment] = []
        self.now_ns = first.at_ns
        self.keys = 0

    def step(self, *heard: Heard, wait_ms: float = 0, lag_ms: float = 0) -> tuple[Entry, ...]:
        """Hand something in after a while; `lag_ms`: so far back the order is not final yet."""
        self.now_ns += round(wait_ms * 1e6)
        final_ns = self.now_ns - round(lag_ms * 1e6)
        step = self.table.step(heard, self.now_ns, final_ns)
        if step.failures:
            raise next(iter(step.failures.values()))
        self.moments.append(Moment(now_ns=self.now_ns, final_ns=final_ns, heard=heard, writes=step.entries))
        return step.entries

    def order(self, command: Command, actor: Actor, wait_ms: float = 0) -> tuple[Entry, ...]:
        """Order something after a while."""
        self.keys += 1
        at_ns = self.now_ns + round(wait_ms * 1e6)
        made = Order(command=command, actor=actor, at_ns=at_ns, key=f"key {self.keys}")
        return self.step(made, wait_ms=wait_ms)

    def save(self, path: Path) -> None:
        """Write the transcript."""
        codec = self.table.codec
        lines = [codec.encode(self.first)]
        for moment in self.moments:
            heard = [
                {"order": {**_plain(h), "command": _plain(h.command)}}
                if isinstance(h, Order)
                else {"seen": _plain(h)}
                for h in moment.heard
            ]
            writes = [msgspec.json.decode(codec.encode(entry)) for entry in moment.writes]
            plain = {"now_ns": moment.now_ns, "final_ns": moment.final_ns, "heard": heard, "writes": writes}
            lines.append(msgspec.json.encode(plain))
        lines.append(msgspec.json.encode({"standings": self.game.standings(self.table.sitting)}))
        path.write_bytes(b"\n".join(lines) + b"\n")


def _plain(word: msgspec.Struct | Command) -> Any:
    return msgspec.json.decode(msgspec.json.encode(word))


def read(game: Game[Any], path: Path) -> tuple[Entry, tuple[Moment, ...], list[dict[str, Any]]]:
    """First entry, moments and final standings of a transcript."""
    codec = Codec(game)
    first, *middle, last = path.read_bytes().splitlines()
    moments = tuple(
        Moment(
            now_ns=line["now_ns"],
            final_ns=line["final_ns"],
            heard=tuple(_heard(codec, plain) for plain in line["heard"]),
            writes=tuple(codec.entry(json.dumps(entry).encode()) for entry in line["writes"]),
        )
        for line in map(json.loads, middle)
    )
    return codec.entry(first), moments, json.loads(last)["standings"]


def _heard(codec: Codec[Any], plain: dict[str, Any]) -> Heard:
    if "seen" in plain:
        return msgspec.convert(plain["seen"], Observation)
    order = dict(plain["order"])
    command = codec.command(json.dumps(order.pop("command")).encode())
    actor = msgspec.convert(order.pop("actor"), Actor)
    return Order(command=command, actor=actor, **order)


def payloads(path: Path) -> Iterator[bytes]:
    """Every entry of a transcript as it was written."""
    first, *middle, _ = path.read_bytes().splitlines()
    yield first
    for line in middle:
        for entry in msgspec.json.decode(line, type=_Written).writes:
            yield bytes(entry)


class _Written(msgspec.Struct):
    writes: tuple[msgspec.Raw, ...]
