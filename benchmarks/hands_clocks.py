"""Is the truth where a slam's stamp says? Slams in virtual time, a tenth of them with a clock that went wrong."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field

from benchmarks.virtual_table import MS, Law, VirtualPad, VirtualTable
from companion.core.observation import Observation, Pressed
from firmware_bridge.messages import WRAP_US
from firmware_bridge.verdict import watermark_ns

S = 1_000 * MS
WARM_NS = 120 * S
GAP_NS = (2_000 * MS, 5_000 * MS)
"""From one slam to the next of the same pad."""
SHORTLY_NS = 1_300 * MS
"""A trouble comes at most so long before a slam."""
ROW = 25
"""So many slams of one pad before another takes its place."""
JUMP_MS = (20.0, 1_000.0)
DRIFT_PPM = (300.0, 30_000.0)
BAD_CLOCKS = 1 / 30
TROUBLED = 2 / 29
"""Shares of pads that drift beyond the bound, and of the other pads' slams near a jump or a reboot: a tenth in all."""
FINAL_WITHIN_NS = 1_500 * MS


@dataclass
class Coverage:
    """What became of the slams over one kind of line. `missed`: neither covered nor flagged before they were final."""

    slams: int = 0
    sound: int = 0
    sound_covered: int = 0
    flagged: int = 0
    missed: int = 0
    lost: int = 0
    troubled: int = 0
    u_ms: list[float] = field(default_factory=list)

    def note(self, press: Pressed | None, true_ns: int, trouble: str) -> None:
        """One slam, judged."""
        self.slams += 1
        self.troubled += bool(trouble)
        if press is None:
            self.lost += 1
            return
        is_covered = abs(press.seen_ns - true_ns) <= press.uncertainty_ns
        is_flagged = press.suspect == "clock"
        self.flagged += is_flagged
        self.missed += not is_flagged and not is_covered
        if not trouble:
            self.sound += 1
            self.sound_covered += is_covered
            self.u_ms.append(press.uncertainty_ns / MS)

    @property
    def unflagged(self) -> int:
        """Slams that were taken as they were."""
        return self.slams - self.flagged - self.lost

    @property
    def median_ms(self) -> float:
        """Of the uncertainty shown for slams of sound clocks."""
        return statistics.median(self.u_ms)


class _Watch:
    """One pad of a table, and the newest word about the press that is watched."""

    def __init__(self, table: VirtualTable, pad: VirtualPad) -> None:
        self.table, self.pad = table, pad
        self._n = 0
        self.press: Pressed | None = None
        table.on_seen = self._see

    def slam(self, at_ns: int) -> Pressed | None:
        """Slam at this instant; what is known of it when its order becomes final, None when it never comes."""
        table = self.table
        table.run_to(at_ns)
        self._n, self.press = self.pad.last_n + 1, None
        self.pad.press(at_ns)
        while table.now_ns < at_ns + FINAL_WITHIN_NS:
            table.run(MS)
            if self.press and watermark_ns(table.hub.marks(), table.now_ns) > self.press.seen_ns:
                break
        return self.press

    def _see(self, seen: Observation) -> None:
        if isinstance(seen, Pressed) and seen.n == self._n:
            self.press = seen


def measure(law: Law, slams: int, seed: int) -> Coverage:
    """`slams` slams over lines of one kind; in every tenth something happens to the clock shortly before or after."""
    rng, found = random.Random(seed), Coverage()
    while found.slams < slams:
        _row(law, rng, found)
    return found


def _row(law: Law, rng: random.Random, found: Coverage) -> None:
    table = VirtualTable()
    down, up = law(rng)
    is_bad = rng.random() < BAD_CLOCKS
    drift_ppm = rng.uniform(-100, 100)
    if is_bad:
        low, high = DRIFT_PPM
        drift_ppm = rng.choice((-1, 1)) * low * (high / low) ** rng.random()
    pad = VirtualPad(table, "pad", down=down, up=up, drift_ppm=drift_ppm, starts_at_us=rng.randrange(WRAP_US))
    table.plug(pad)
    watch = _Watch(table, pad)
    table.run(WARM_NS + rng.randrange(S))
    boot = 1
    for _ in range(ROW):
        trouble = rng.choice(("jump", "reboot")) if not is_bad and rng.random() < TROUBLED else ""
        at_ns = table.now_ns + rng.randrange(*GAP_NS)
        if trouble:
            table.run_to(at_ns - rng.randrange(SHORTLY_NS))
            boot = _spoil(pad, trouble, boot, rng)
        found.note(watch.slam(at_ns), at_ns, "drift beyond the bound" if is_bad else trouble)


def _spoil(pad: VirtualPad, trouble: str, boot: int, rng: random.Random) -> int:
    if trouble == "jump":
        pad.leap(round(rng.uniform(*JUMP_MS) * rng.choice((-1000, 1000))))
    else:
        boot += 1
        pad.power_on(boot, rng.choice((0, rng.randrange(WRAP_US))))
        if rng.random() < 0.5:  # else its hello is lost
            pad.hello()
        pad.poll()
    return boot
