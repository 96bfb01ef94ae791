"""kill -9 at random instants: is everything acknowledged still there, sound, and folded to the same state?

`python -m benchmarks.kills [--rounds N] [--seed N] [--json]`; POSIX only.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

from benchmarks.evening import Evening
from benchmarks.figures import Figure, report
from companion.catalogue import GAMES
from companion.core import history
from companion.core.codec import Codec
from companion.runtime.journal import JournalError, Reader, verify
from companion.runtime.opening import read_entries
from companion.runtime.table import Table


@dataclass
class Toll:
    """What the kills did. `acknowledged`, `lost`: orders; `unsound`, `unlike`: rounds."""

    rounds: int = 0
    acknowledged: int = 0
    lost: int = 0
    unsound: int = 0
    unlike: int = 0
    details: list[str] = field(default_factory=list)


def _play_until_killed(path: Path, out: int, seed: int, number: int) -> None:
    """The child: plays, and tells of each order once it is durable, and of the state it led to."""
    evening = Evening(path, seed=seed, prefix=f"{number}-")
    while not evening.is_over:
        answer = evening.play(undo_share=0.05)
        if answer is None:
            time.sleep(0.005)
            continue
        now = evening.loop.snapshot()
        line = f"{answer.key} {now.version} {evening.loop.codec.state_hash(now.sitting)}\n"
        os.write(out, line.encode())
    evening.close()


def _one_life(path: Path, chance: random.Random, seed: int, number: int) -> list[tuple[str, int, str]]:
    """Fork a child, kill it at a random instant; gives what it had acknowledged."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            _play_until_killed(path, write, seed, number)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    told = b""
    if chance.random() < 0.9:
        told = os.read(read, 65536)  # it is at the table by now
    time.sleep(chance.uniform(0, 0.25))
    os.kill(child, signal.SIGKILL)
    while part := os.read(read, 65536):
        told += part
    os.close(read)
    os.waitpid(child, 0)
    lines = [line.split() for line in told.decode().splitlines(keepends=True) if line.endswith("\n")]
    return [(key, int(version), state) for key, version, state in lines]


def kill_often(rounds: int, seed: int, folder: Path) -> Toll:
    """Play on one journal through `rounds` kills, a new game whenever one is over."""
    toll, chance, game_number = Toll(rounds=rounds), random.Random(seed), 0
    acknowledged: set[str] = set()
    path = folder / "game0.journal"
    for number in range(rounds):
        told = _one_life(path, chance, seed + game_number, number)
        acknowledged |= {key for key, _, _ in told}
        toll.acknowledged += len(told)
        if not path.exists():
            continue
        found = verify(path)
        if not found.ok:
            toll.unsound += 1
            toll.details.append(f"round {number}: {found.why}")
        if found.events == 0:
            continue
        try:
            with Reader(path) as reader:
                game, entries = read_entries(tuple(reader.checked()), GAMES, path)
        except JournalError as error:
            toll.unsound += 1
            toll.details.append(f"round {number}: {error}")
            continue
        missing = acknowledged - {entry.key for entry in entries}
        toll.lost += len(missing)
        toll.details += [f"round {number}: {key} was acknowledged and is gone" for key in sorted(missing)]
        codec, sitting = Codec(game), history.effective(game, entries)[1]
        is_like = Table(game, _NoLog(), entries, lambda at_ns: 0).sitting == sitting
        for _, version, state in told[-1:]:
            is_like &= codec.state_hash(history.effective(game, entries[:version])[1]) == state
        if not is_like:
            toll.unlike += 1
            toll.details.append(f"round {number}: the refolded state is another one")
        if game.is_over(sitting):
            game_number += 1
            path, acknowledged = folder / f"game{game_number}.journal", set()
        print(f"kill {number + 1} of {rounds}: {len(entries)} entries", file=sys.stderr, end="\r")
    print(file=sys.stderr)
    return toll


class _NoLog:
    def append(self, payloads: object) -> str:
        raise AssertionError("nothing is written here")


def figures_of(toll: Toll) -> list[Figure]:
    """The toll as figures."""
    why = "; ".join(toll.details[:3])
    return [
        Figure("kill -9: acknowledged orders lost", toll.lost, "orders", "<=", 0, toll.acknowledged, why=why),
        Figure("kill -9: journals found unsound", toll.unsound, "journals", "<=", 0, toll.rounds, why=why),
        Figure("kill -9: states folded differently", toll.unlike, "states", "<=", 0, toll.rounds, why=why),
    ]


@click.command()
@click.option("--rounds", default=200, show_default=True, help="How often to kill.")
@click.option("--seed", default=1, show_default=True)
@click.option("--json", "only_json", is_flag=True, help="Print the JSON line alone.")
def main(rounds: int, seed: int, only_json: bool) -> None:
    """Kill a playing table at random instants and look what is left."""
    with tempfile.TemporaryDirectory() as folder:
        toll = kill_often(rounds, seed, Path(folder))
    report(figures_of(toll), only_json)


if __name__ == "__main__":
    main()
