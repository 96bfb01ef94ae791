"""From a cup on a pad to a verdict on the page: fake pads in a process of their own, real lines, the real bridge, a
durable table.

The clock starts when the pad's input closes. *Provisional*: the public view that shows the slam is drawn. *Final*: the
slam is durable, in an order that nothing in flight can change.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.brokers import MOSQUITTO, mosquitto
from benchmarks.evening import NAMES, REFEREE, data_of
from benchmarks.figures import Figure, Peer, percentile, say
from benchmarks.pads_apart import PadsApart, Press, Wanted
from benchmarks.syncs import sync_times_ms
from companion.catalogue import GAMES
from companion.core import command as c
from companion.core.game import Sitting
from companion.core.seat import PUBLIC, seat_at
from companion.games.tada.commands import VoidRound
from companion.runtime import opening
from companion.runtime.desk import Snapshot
from companion.runtime.loop import TableLoop
from firmware_bridge.link import Bridge
from firmware_bridge.mqtt_link import MqttLink
from firmware_bridge.serial_link import SerialLink
from firmware_bridge.wire import Link

PATIENCE_S = 20.0
SYNCING_S = 1.0
NO_PTY = "no pseudo-terminals on this machine"
NO_BROKER = "mosquitto is missing: apt-get install mosquitto"


@dataclass
class Taken:
    """Milliseconds from the slam to what was shown, one for each slam; `beyond_ms`: by how much the final one was later
    than the slowest pad's round trip (the least of its last answers)."""

    provisional_ms: list[float] = field(default_factory=list)
    final_ms: list[float] = field(default_factory=list)
    beyond_ms: list[float] = field(default_factory=list)


def slams(sitting: Sitting[Any]) -> int:
    """How many slams the table knows in this round."""
    return sum(len(caster.slams) for caster in sitting.game.casters.values())


class Stopwatch:
    """Listens at a table; `wait` tells when as many slams as are expected were shown."""

    def __init__(self, loop: TableLoop) -> None:
        self._loop = loop
        self._changed = threading.Condition()
        self._stop = loop.subscribe(self._look)
        self.expect(0)

    def expect(self, count: int) -> None:
        """From now on, wait for this many slams."""
        with self._changed:
            self._count, self._shown_ns, self._final_ns = count, 0, 0

    def _look(self, snapshot: Snapshot) -> None:
        with self._changed:
            if not self._shown_ns and slams(snapshot.provisional) >= self._count:
                self._loop.view(PUBLIC)
                self._shown_ns = time.monotonic_ns()
            if not self._final_ns and slams(snapshot.sitting) >= self._count:
                self._final_ns = time.monotonic_ns()
                self._loop.view(PUBLIC)  # as the page does
                self._changed.notify_all()

    def wait(self, began_ns: int) -> tuple[float, float]:
        """(provisional, final) in ms since then. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._final_ns, PATIENCE_S):
                raise TimeoutError(f"slam {self._count} never came")
            return (self._shown_ns - began_ns) / 1e6, (self._final_ns - began_ns) / 1e6


def measure(folder: Path, link: Link, pads: PadsApart, count: int) -> Taken:
    """Slam `count` times, one seat after the other, round after round."""
    game, taken = GAMES["tada"], Taken()
    places = [(n, place) for n, pad in enumerate(pads.wanted) for place in range(pad.inputs)]
    devices = [pad.device for pad in pads.wanted]
    seats = tuple(
        seat_at(n, NAMES[n - 1], devices[pad], place) for n, (pad, place) in enumerate(places, start=1)
    )
    with ExitStack() as stack:
        open_ = opening.create(
            folder / "slams.journal", game, seats=seats, seed=1, data=data_of(game),
            options={"countdown_s": 0, "locks": "untracked"},
        )  # fmt: skip
        bridge = Bridge(
            [link], lambda seen: loop.observe(seen), open_.clock.now_ns, moved=lambda: loop.wake()  # noqa: PLW0108 # made below
        )  # fmt: skip
        loop = TableLoop(
            open_.table, open_.journal, open_.clock, watermark=bridge.watermark_ns, ask=bridge.ask_all,
            waiting_for=bridge.silent,
        )  # fmt: skip
        stack.callback(loop.close)
        stack.enter_context(pads)
        stack.callback(bridge.stop)
        bridge.start()
        _wait_ready(bridge, len(devices))
        watch, keys = Stopwatch(loop), iter(range(10**9))
        while len(taken.final_ms) < count:
            _play_to_cast(loop, keys)
            for done, (pad, place) in enumerate(places, start=1):
                time.sleep(0.03)
                watch.expect(done)
                provisional_ms, final_ms = watch.wait(pads.press(Press(pad, place)))
                taken.provisional_ms.append(provisional_ms)
                taken.final_ms.append(final_ms)
                rtts_ns = [device.rtt_ns or 0 for device in bridge.devices()]
                taken.beyond_ms.append(final_ms - max(rtts_ns) / 1e6)
            loop.submit(VoidRound(), REFEREE, f"{next(keys)}").result(PATIENCE_S)
    return taken


def _wait_ready(bridge: Bridge, count: int) -> None:
    ends = time.monotonic() + PATIENCE_S
    while sum(device.state == "ready" for device in bridge.devices()) < count:
        if time.monotonic() > ends:
            raise TimeoutError("the pads are not ready")
        time.sleep(0.02)


def _play_to_cast(loop: TableLoop, keys: Iterator[int]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while (sitting := loop.snapshot().sitting).game.phase != "cast":
        if time.monotonic() > ends:
            raise TimeoutError(f"the table stays in {sitting.game.phase}")
        stands = sitting.stopped_at_ns is not None
        command = c.Resume() if stands else loop.game.policy(sitting, 1)
        if command is None:
            time.sleep(0.005)
        else:
            loop.submit(command, REFEREE, f"{next(keys)}").result(PATIENCE_S)


def on_pty(folder: Path, count: int) -> Taken:
    """Six seats on one controller with six inputs, on a pseudo-terminal."""
    line = str(folder / "line")
    return measure(folder, SerialLink([line]), PadsApart([Wanted("box", path=line, inputs=6)]), count)


def on_mosquitto(folder: Path, count: int) -> Taken:
    """Six seats on six devices on a broker."""
    with mosquitto(folder) as broker:
        pads = PadsApart([Wanted(f"pad{n}", broker.url) for n in range(1, 7)])
        return measure(folder, MqttLink(broker.url), pads, count)


def verdict_figures(folder: Path, count: int) -> Iterator[Figure]:
    """From a slam on a pad to the verdict on the public page, through a durable table."""
    lines: list[tuple[str, float, Callable[[Path, int], Taken] | None, str]] = [
        ("a pty", 15, on_pty if hasattr(os, "openpty") else None, NO_PTY),
        ("mosquitto", 40, on_mosquitto if MOSQUITTO else None, NO_BROKER),
    ]
    for line, slowest_ms, measured, missing in lines:
        say(f"{count} slams to a verdict on {line}")
        taken, why, disk = Taken(), "" if measured else missing, None
        if measured:
            own = folder / line.replace(" ", "-")
            own.mkdir()
            taken = measured(own, count)
            sync_ms = percentile(sync_times_ms(own, SYNCING_S), 0.5)
            disk = Peer("of which the journal's sync takes, right afterwards, p50 ms", round(sync_ms, 2))
        for what, values, share, target in (
            ("slam to provisional verdict", taken.provisional_ms, 0.5, 2.0),
            ("slam to provisional verdict", taken.provisional_ms, 0.99, slowest_ms),
            ("slam to final verdict", taken.final_ms, 0.5, 250.0),
            ("slam to final verdict", taken.final_ms, 0.99, 250.0),
            ("final verdict, beyond the slowest pad's round trip", taken.beyond_ms, 0.5, 5.0),
        ):
            name = f"{what} on {line}, p{share * 100:.0f}"
            value = percentile(values, share) if values else None
            peer = disk if values is taken.beyond_ms else None
            yield Figure(name, value, "ms", "<=", target, len(values), peer=peer, why=why)
