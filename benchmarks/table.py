"""A table at work: orders a second through a durable journal, how the disk keeps up, kills, slams, memory.

`python -m benchmarks.table [--seconds S] [--minutes M] [--speed X] [--kills N] [--slams N] [--json]`
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

import click
import psutil

from benchmarks.evening import REFEREE, Evening
from benchmarks.figures import Figure, Peer, percentile, report, say
from benchmarks.kills import figures_of, kill_often
from benchmarks.syncs import sync_times_ms
from companion.core.command import ChangeOption
from companion.core.seat import PUBLIC, Role, Viewer
from companion.core.seat import REFEREE as REFEREE_VIEWER

SEATS_AT_ONCE = 6
THINK_S = 1.5
"""How long a person takes from one click to the next."""


def lines_a_second(folder: Path, seconds: float) -> float:
    """The plain way: a JSON line appended to a file and synced, without chain, lock or transaction."""
    count, ends = 0, time.perf_counter() + seconds
    with (folder / "plain.jsonl").open("ab") as file:
        while time.perf_counter() < ends:
            file.write(json.dumps({"n": count, "text": "x" * 480}).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            count += 1
    return count / seconds


def orders_one_by_one(folder: Path, seconds: float) -> tuple[float, list[float]]:
    """A game played by its policy, each order durable before the next; orders a second, and ms each took."""
    taken: list[float] = []
    number, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        evening = Evening(folder / f"one{number}.journal", seed=number)
        while not evening.is_over and time.perf_counter() - began < seconds:
            start = time.perf_counter()
            if evening.play() is None:
                time.sleep(0.001)
            else:
                taken.append((time.perf_counter() - start) * 1e3)
        evening.close()
        number += 1
    return len(taken) / (time.perf_counter() - began), taken


def orders_at_once(folder: Path, seconds: float) -> float:
    """Six people who order at the same time, each waiting for its own answer; orders a second of all."""
    evening = Evening(folder / "six.journal")
    evening.play()
    ends, counts = time.perf_counter() + seconds, [0] * SEATS_AT_ONCE

    def order(place: int) -> None:
        while time.perf_counter() < ends:
            command = ChangeOption(option="round_clock_s", value=place * 500 + counts[place] % 500 + 1)
            evening.loop.submit(command, REFEREE, f"{place} {counts[place]}").result(30)
            counts[place] += 1

    threads = [threading.Thread(target=order, args=(place,)) for place in range(SEATS_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    evening.close()
    return sum(counts) / seconds


def memory_slope(folder: Path, minutes: float, speed: float) -> tuple[float, int, int]:
    """Play `minutes` of table time, people `speed` times as quick as people are, pages drawn after each order.

    Gives MB an hour of table time (least squares over the second half), games and orders played.
    """
    me, samples, games, orders = psutil.Process(), [], 0, 0
    began, length_s = time.perf_counter(), minutes * 60 / speed
    while (gone_s := time.perf_counter() - began) < length_s:
        evening = Evening(folder / f"long{games}.journal", seed=games)
        while not evening.is_over and (gone_s := time.perf_counter() - began) < length_s:
            orders += evening.play() is not None
            seats = evening.loop.snapshot().sitting.playing()
            for viewer in (REFEREE_VIEWER, PUBLIC, *(Viewer(Role.SEAT, seat.id) for seat in seats)):
                evening.loop.view(viewer)
            samples.append((gone_s * speed / 3600, me.memory_info().rss / 1e6))
            time.sleep(THINK_S / speed)
        evening.close()
        for path in folder.glob(f"long{games}.*"):
            path.unlink()
        games += 1
        say(f"memory: {gone_s * speed / 60:.0f} of {minutes:.0f} minutes, {samples[-1][1]:.1f} MB")
    late = samples[len(samples) // 2 :]
    slope, _ = statistics.linear_regression([hour for hour, _ in late], [rss for _, rss in late])
    return slope, games, orders


def reader_figure() -> Figure:
    """The dice reader on photographs of ten dice, 1920 x 1080."""
    name = "frames a second through the dice reader at 1080p"
    from benchmarks import dice_photographs as dice
    from vision.dice.reading import PipsReader

    say("dice reader")
    if not (dice.PHOTOGRAPHS / "labels.json").is_file():
        return Figure(name, None, "1/s", ">=", 5, why="no photographs at hand")
    reading = dice.speed(dice.PHOTOGRAPHS, PipsReader())[0]
    rate = 1000 / reading.value if reading.value else None
    return Figure(name, rate, "1/s", ">=", 5, reading.n, why=reading.why)


@click.command()
@click.option("--seconds", default=10.0, show_default=True, help="How long each rate is measured.")
@click.option("--minutes", default=60.0, show_default=True, help="Table time for the memory slope.")
@click.option("--speed", default=20.0, show_default=True, help="How much quicker than people they click.")
@click.option("--kills", default=200, show_default=True, help="How often to kill; 0 leaves it out.")
@click.option("--slams", default=300, show_default=True, help="Slams on each kind of line.")
@click.option("--json", "only_json", is_flag=True, help="Print the JSON line alone.")
def main(*, seconds: float, minutes: float, speed: float, kills: int, slams: int, only_json: bool) -> None:
    """Measure a table on this machine's disk."""
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kills and hasattr(os, "fork"):
            found += figures_of(kill_often(kills, 1, folder))
        else:
            found += [Figure("kill -9: acknowledged orders lost", None, "orders", "<=", 0, why="left out")]
        say("plain lines")
        peer = Peer("a JSON line and fsync each, 1/s", round(lines_a_second(folder, seconds / 2), 1))
        say("syncs")
        syncs = sync_times_ms(folder, seconds / 2)
        say("orders one by one")
        rate, taken = orders_one_by_one(folder, seconds)
        say("orders of six at once")
        at_once = orders_at_once(folder, seconds)
        found += [
            Figure(
                "orders a second, each durable before the next", rate, "1/s", ">=", 50, len(taken), peer=peer
            ),
            Figure(
                "orders a second, six people at once", at_once, "1/s", ">=", 100, SEATS_AT_ONCE, peer=peer
            ),
            Figure("order to durable answer, p50", percentile(taken, 0.5), "ms", "<=", 50, len(taken)),
            Figure("order to durable answer, p99", percentile(taken, 0.99), "ms", "<=", 300, len(taken)),
            Figure("journal sync, p50", percentile(syncs, 0.5), "ms", "<=", 20, len(syncs)),
            Figure("journal sync, p99", percentile(syncs, 0.99), "ms", "<=", 100, len(syncs)),
        ]
        slope, games, orders = memory_slope(folder, minutes, speed)
        why = f"{games} games, {orders} orders in {minutes:g} minutes of table time at speed {speed:g}"
        found.append(Figure("resident memory slope in play", slope, "MB/h", "<=", 5, orders, why=why))
        from benchmarks.slams import verdict_figures  # not before the memory was measured

        found += verdict_figures(folder, slams)
    report([*found, reader_figure()], only_json)


if __name__ == "__main__":
    main()
