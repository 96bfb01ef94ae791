"""The slam-each-pad test: which other pads feel a slam through the table, and which of them need foam."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import click
import msgspec

from companion.core.observation import Observation, Pressed
from firmware_bridge.link import Bridge

WINDOW_NS = 60_000_000
"""What comes this long before or after a slam may be felt of it."""
SETTLE_S = 0.4
"""So long after a slam nothing of it can be under way any more."""
PATIENCE_S = 20.0


class Felt(msgspec.Struct, frozen=True, kw_only=True):
    """A pad's input that felt another one's slam.

    `delay_ms` after the slam's own stamp, give or take `u_ms`. `share`: its force over the slam's, None where either
    measures none. `is_set_aside`: the bridge marks it as cross-talk, so it does not count by itself.
    """

    pad: str
    delay_ms: float
    u_ms: float
    share: float | None
    is_set_aside: bool


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One slam. `force`: as the slammed pad measured it, None when it does not."""

    slammed: str
    force: int | None
    felt: tuple[Felt, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole test. `foam`: pads that take another's slam for their own. `missed`: pads that nobody slammed.
    `wrong`: (asked for, slammed instead)."""

    pads: tuple[str, ...]
    matrix: tuple[Row, ...]
    foam: tuple[str, ...]
    missed: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]


def word(press: Pressed) -> str:
    """An input as people name it: ``DEVICE:INPUT``, counted from 1."""
    return f"{press.source}:{press.input + 1}"


def row_of(presses: Sequence[Pressed]) -> Row:
    """What one slam did: the strongest press is the slam itself (the first, where forces are not measured)."""
    slam = max(presses, key=lambda press: (press.force or 0, -press.seen_ns))
    others: dict[str, Pressed] = {}
    for press in sorted(presses, key=lambda press: press.seen_ns):
        if (press.source, press.input) != (slam.source, slam.input):
            others.setdefault(word(press), press)
    return Row(
        slammed=word(slam), force=slam.force, felt=tuple(_felt(slam, press) for press in others.values())
    )


def _felt(slam: Pressed, press: Pressed) -> Felt:
    share = None if not slam.force or press.force is None else press.force / slam.force
    is_same_clock = (slam.source, slam.boot) == (press.source, press.boot)
    u_ns = slam.own_u_ns + press.own_u_ns if is_same_clock else slam.uncertainty_ns + press.uncertainty_ns
    return Felt(
        pad=word(press),
        delay_ms=(press.seen_ns - slam.seen_ns) / 1e6,
        u_ms=u_ns / 1e6,
        share=share,
        is_set_aside=bool(press.suspect),
    )


def report_of(pads: Sequence[str], rows: Sequence[tuple[str, Row | None]]) -> Report:
    """The report of slams that were asked for, each with what came of it (None: nothing)."""
    found = tuple(row for _, row in rows if row is not None)
    foam = sorted({felt.pad for row in found for felt in row.felt if not felt.is_set_aside})
    return Report(
        pads=tuple(pads),
        matrix=found,
        foam=tuple(foam),
        missed=tuple(asked for asked, row in rows if row is None),
        wrong=tuple((asked, row.slammed) for asked, row in rows if row is not None and row.slammed != asked),
    )


class SlamTest:
    """Asks for one slam after another. `observe` is a bridge's sink."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        """Each pad is waited for this long."""
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._presses: list[Pressed] = []
        self._came = threading.Event()

    def observe(self, seen: Observation) -> None:
        """Note presses, those that are set aside too."""
        if isinstance(seen, Pressed) and not seen.resent:
            with self._lock:
                self._presses.append(seen)
            self._came.set()

    def run(self, bridge: Bridge, ask: Callable[[str], None]) -> Report:
        """Have every input that is heard slammed once, in order; `ask(pad)` tells people which is next.

        Party pads are left out: a screen or a key feels no table.
        """
        pads = [
            f"{device.id}:{index + 1}"
            for device in bridge.devices()
            if device.race_class == "ranked"
            for index in range(len(device.inputs))
        ]
        rows: list[tuple[str, Row | None]] = []
        for pad in pads:
            self._drain()
            ask(pad)
            rows.append((pad, self._next()))
        return report_of(pads, rows)

    def _drain(self) -> None:
        with self._lock:
            self._presses.clear()
        self._came.clear()

    def _next(self) -> Row | None:
        if not self._came.wait(self._patience_s):
            return None
        time.sleep(SETTLE_S)
        with self._lock:
            presses = list(self._presses)
        first_ns = min(press.seen_ns for press in presses)
        return row_of([press for press in presses if press.seen_ns - first_ns <= WINDOW_NS])


def matrix(report: Report) -> list[str]:
    """A line for each slam, a column for each pad: share of the force and delay in ms, ``!`` where it counted."""
    slammed = [row.slammed for row in report.matrix]
    columns = sorted({*report.pads, *slammed, *(felt.pad for row in report.matrix for felt in row.felt)})
    rows = [["slammed", *columns]]
    for row in report.matrix:
        cells = {felt.pad: _cell(felt) for felt in row.felt}
        rows.append(
            [row.slammed, *("slam" if pad == row.slammed else cells.get(pad, "-") for pad in columns)]
        )
    widths = [max(len(line[column]) for line in rows) for column in range(len(columns) + 1)]
    drawn = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in rows]
    return drawn if report.matrix else []


def _cell(felt: Felt) -> str:
    share = "?" if felt.share is None else f"{felt.share:.0%}"
    return f"{share} {felt.delay_ms:+.1f}{'' if felt.is_set_aside else ' !'}"


def text(report: Report) -> list[str]:
    """The report as lines for people: the matrix, who felt whom, then what to do."""
    lines = matrix(report)
    for row in report.matrix:
        force = "" if row.force is None else f" with force {row.force}"
        lines.append(f"{row.slammed} slammed{force}: " + ("felt by nobody else" if not row.felt else ""))
        for felt in row.felt:
            share = "a force not measured" if felt.share is None else f"{felt.share:.0%} of the force"
            verdict = "set aside as cross-talk" if felt.is_set_aside else "TAKEN FOR A SLAM OF ITS OWN"
            lines.append(
                f"    {felt.pad} felt it {felt.delay_ms:+.2f} ± {felt.u_ms:.2f} ms later, {share}: {verdict}"
            )
    lines += [f"{pad} was not slammed" for pad in report.missed]
    lines += [f"asked for {asked}, {other} was slammed" for asked, other in report.wrong]
    for pad in report.foam:
        lines.append(
            f"{pad} needs foam under it, or a place further away: it takes another's slam for its own"
        )
    if report.matrix and not report.foam:
        lines.append("No pad needs foam.")
    return lines


def told(report: Report, *, as_json: bool) -> None:
    """Print the report."""
    if as_json:
        click.echo(msgspec.json.encode(report))
        return
    for line in text(report):
        click.echo(line.rstrip())


def status_of(report: Report) -> int:
    """Exit status: 1 when a pad needs foam, was missed, or another one answered in its place."""
    return 1 if report.foam or report.missed or report.wrong or not report.pads else 0


def slams(bridge_of: Callable[[Callable[[Observation], None]], Any], heard_s: float, *, as_json: bool) -> int:
    """The guided test on the pads that are heard within `heard_s`; the exit status."""
    test = SlamTest()
    bridge = bridge_of(test.observe)
    bridge.start()
    try:
        time.sleep(heard_s)
        report = test.run(bridge, lambda pad: click.echo(f"Slam {pad} now, once …", err=True))
    finally:
        bridge.stop()
    if not report.pads:
        click.echo("companion: no pad is heard; companion doctor tells why", err=True)
    told(report, as_json=as_json)
    return status_of(report)
