"""Pads and their word: races and clocks in virtual time, lines and brokers in real time, bytes nobody should send.

`python -m benchmarks.hands [--races N] [--slams N] [--real N] [--fuzz BYTES] [--json]`
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks import hands_clocks, hands_fuzz, hands_races, hands_wires
from benchmarks.brokers import MOSQUITTO, mosquitto
from benchmarks.figures import Figure, Peer, percentile, report, say
from benchmarks.slams import NO_BROKER, NO_PTY, verdict_figures
from benchmarks.virtual_table import LAWS

SEED = 1
MEDIAN_MS = {"USB": 0.6, "FTDI": 2.5, "Wi-Fi": 2.5, "busy Wi-Fi": 6.0}
CONTESTED = {"USB": 6.0, "Wi-Fi": 22.0}
FLAT_KB = 256.0


def race_figures(races: int) -> Iterator[Figure]:
    """Six pads, three places, each kind of line; arrival order and one ping a device beside it."""
    for name, law in LAWS.items():
        say(f"{races} races over {name}")
        found = hands_races.measure(law, races, SEED)
        arrival = round(100 * found.by_arrival / found.races, 1)
        one_ping = round(100 * found.by_one_ping / found.races, 1)
        why = f"one ping a device: {one_ping} % of races; {found.silent} slams came after the cap, their pads named"
        yield Figure(
            f"slams surely in or out that truth contradicts, {name}", found.wrong, "slams", "<=", 0,
            found.slams, peer=Peer("races with wrong places by arrival order, %", arrival), why=why,
        )  # fmt: skip
        share = 100 * found.contested / found.races
        target = CONTESTED.get(name, 100.0)
        why = "" if name in CONTESTED else "no target is set for this kind of line"
        yield Figure(f"contested races, {name}", share, "%", "<=", target, found.races, why=why)


def clock_figures(count: int) -> Iterator[Figure]:
    """Where a slam's stamp says it was, against the truth."""
    for name, law in LAWS.items():
        say(f"{count} slams over {name}")
        found = hands_clocks.measure(law, count, SEED)
        why = (
            f"{found.troubled} slams near a jump, a reboot or with drift beyond bound; {found.flagged} flagged in time,"
            f" {found.missed} neither covered nor flagged, {found.lost} never came"
        )
        share = 100 * (1 - (found.missed / found.unflagged))
        yield Figure(
            f"unflagged slams whose uncertainty covers the truth, {name}", share, "%", ">=", 99.9, found.unflagged,
            why=why,
        )  # fmt: skip
        target = MEDIAN_MS.get(name)
        why = "" if target else "no target is set: such a pad is never ranked unless it is waived"
        yield Figure(
            f"median uncertainty, {name}",
            found.median_ms,
            "ms",
            "<=",
            target or 1_000.0,
            found.sound,
            why=why,
        )


def wire_figures(folder: Path) -> Iterator[Figure]:
    """How many, how soon again, and what an idle port costs."""
    has_pty = hasattr(os, "openpty")
    say("serial lines a second")
    lines = hands_wires.lines_per_second() if has_pty else None
    yield from _rate("serial lines a second", lines, 10_000, NO_PTY)
    say("pulling a pad out and in")
    spans = hands_wires.replug(folder) if has_pty else []
    yield _span("replug under another name to ready, p50", spans, 1_000, NO_PTY)
    say("an idle port")
    share = hands_wires.idle_share() if has_pty else None
    yield Figure(
        "processor of an idle port", share, "%", "<=", 1, int(has_pty), why="" if has_pty else NO_PTY
    )
    messages, bursts, restarts = None, list[float](), list[float]()
    if MOSQUITTO:
        with mosquitto(folder) as broker:
            say("bursts of six over a broker")
            bursts = hands_wires.burst_mqtt(broker.url)
            say("messages a second over a broker")
            messages = hands_wires.messages_per_second(broker.url)
        say("restarts of a broker")
        restarts = hands_wires.broker_restart(folder)
    yield _span("slam to program, bursts of six over mosquitto, p50", bursts, 2, NO_BROKER)
    yield _span("slam to program, bursts of six over mosquitto, p99", bursts, 40, NO_BROKER, 0.99)
    yield from _rate("MQTT messages a second, QoS 1", messages, 1_500, NO_BROKER)
    yield _span("broker's restart to ready, p50", restarts, 3_000, NO_BROKER)


def _rate(name: str, found: hands_wires.Rate | None, target: float, missing: str) -> Iterator[Figure]:
    if found is None:
        yield Figure(name, None, "1/s", ">=", target, why=missing)
        yield Figure(f"{name}: lost", None, "events", "<=", 0, why=missing)
        return
    yield Figure(name, found.per_s, "1/s", ">=", target, found.count)
    yield Figure(f"{name}: lost", found.lost, "events", "<=", 0, found.count)


def _span(name: str, spans: list[float], target: float, missing: str, share: float = 0.5) -> Figure:
    value = None if not spans else (statistics.median(spans) if share == 0.5 else percentile(spans, share))
    return Figure(name, value, "ms", "<=", target, len(spans), why="" if spans else missing)


def fuzz_figures(size: int) -> Iterator[Figure]:
    """Bytes that nobody should send."""
    for kind in hands_fuzz.MAKERS:
        say(f"{size} bytes of {kind}")
        found = hands_fuzz.fuzz(kind, size, SEED)
        why = f"the pad was {'' if found.is_alive else 'NOT '}heard afterwards"
        crashes = found.crashes + (not found.is_alive)
        yield Figure(f"{kind}: crashes", crashes, "crashes", "<=", 0, found.sent, why=why)
        yield Figure(f"{kind}: events believed", found.believed, "events", "<=", 0, found.sent)
        yield Figure(f"{kind}: observations out of range", found.bad, "events", "<=", 0, found.sent)
        yield Figure(f"{kind}: memory grown", found.grown_kb, "kB", "<=", FLAT_KB, found.sent)


@click.command()
@click.option(
    "--races",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Races over each kind of line.",
)
@click.option(
    "--slams",
    "count",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Slams over each kind of line.",
)
@click.option(
    "--real",
    type=click.IntRange(min=0),
    default=300,
    show_default=True,
    help="Slams on each real line; 0 leaves real time out.",
)
@click.option(
    "--fuzz", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Bytes of each kind."
)
@click.option("--json", "only_json", is_flag=True, help="Print the JSON line alone.")
def main(*, races: int, count: int, real: int, fuzz: int, only_json: bool) -> None:
    """Measure the pads' side of a table."""
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if real:
            found += [*verdict_figures(folder, real), *wire_figures(folder)]
        found += [*race_figures(races), *clock_figures(count), *fuzz_figures(fuzz)]
    report(found, only_json)


if __name__ == "__main__":
    main()
