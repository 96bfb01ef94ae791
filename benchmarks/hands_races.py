"""Six pads race for three places, in virtual time: our verdicts beside arrival order and one ping a device."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from benchmarks.virtual_table import MS, Law, VirtualPad, VirtualTable
from companion.core.clock import Fate, Stamp, fates
from companion.core.observation import Pressed
from firmware_bridge.messages import WRAP_US
from firmware_bridge.verdict import CAP_NS, watermark_ns

S = 1_000 * MS
PADS, PLACES = 6, 3
WARM_NS = 120 * S


@dataclass
class Races:
    """`wrong`: slams called certainly in or out that truth contradicts. `contested`: races with a slam that is neither.

    `by_arrival`, `by_one_ping`: races whose three places those orders give to the wrong slams; `silent`: slams that
    were still under way when their race became final by the cap, their devices named. `until_final_ns`: from the last
    slam of each race until its order was final.
    """

    races: int = 0
    slams: int = 0
    wrong: int = 0
    contested: int = 0
    by_arrival: int = 0
    by_one_ping: int = 0
    silent: int = 0
    until_final_ns: list[int] = field(default_factory=list)


def reaction_ms(rng: random.Random) -> float:
    """How long somebody takes from GO to a slam: an ex-Gaussian of 190, 25 and 45 ms."""
    return rng.gauss(190, 25) + rng.expovariate(1 / 45)


def measure(law: Law, races: int, seed: int) -> Races:
    """`races` races over lines of one kind, pads with clocks of their own."""
    rng, table, found = random.Random(seed), VirtualTable(), Races()
    for k in range(PADS):
        down, up = law(rng)
        pad = VirtualPad(
            table, f"pad{k}", down=down, up=up, drift_ppm=rng.uniform(-100, 100),
            starts_at_us=rng.randrange(WRAP_US),
        )  # fmt: skip
        table.plug(pad)
    table.run(WARM_NS)
    while found.races < races:
        _race(table, rng, found)
    return found


def _race(table: VirtualTable, rng: random.Random, found: Races) -> None:
    go_ns = table.now_ns + 100 * MS
    true = {name: go_ns + round(reaction_ms(rng) * MS) for name in table.pads}
    numbers = {name: table.pads[name].last_n + 1 for name in true}
    # By one ping: the offset of the last answer before GO, whatever that was.
    one_ping = {name: at_ns + table.pads[name].one_ping_ns for name, at_ns in true.items()}
    for name, at_ns in true.items():
        table.pads[name].press(at_ns)
    before, last_ns = len(table.seen), max(true.values())
    table.run_to(last_ns)
    told: dict[str, Pressed] = {}
    while table.now_ns < last_ns + CAP_NS:
        table.run(MS)
        told = {
            seen.source: seen
            for _, seen in table.seen[before:]
            if isinstance(seen, Pressed) and seen.n == numbers[seen.source]
        }
        newest_ns = max((press.seen_ns for press in told.values()), default=0)
        if len(told) == len(true) and watermark_ns(table.hub.marks(), table.now_ns) > newest_ns:
            break
    found.until_final_ns.append(table.now_ns - last_ns)
    found.silent += len(true) - len(told)
    best = set(sorted(true, key=lambda name: true[name])[:PLACES])
    # Whoever the cap passed over is named, and may have slammed at any time: nobody is surely before or after it.
    stamps = [_stamp(press) for press in told.values()]
    stamps += [Stamp(at_ns=last_ns, u_ns=10 * S)] * (len(true) - len(told))
    judged = dict(zip(told, fates(stamps, PLACES), strict=False))
    found.races += 1
    found.slams += len(true)
    found.wrong += sum(
        (fate is Fate.IN and name not in best) or (fate is Fate.OUT and name in best)
        for name, fate in judged.items()
    )
    found.contested += Fate.CONTESTED in judged.values()
    arrived = {name: table.pads[name].arrived_ns[numbers[name]] for name in true}
    found.by_arrival += set(sorted(true, key=lambda name: arrived[name])[:PLACES]) != best
    found.by_one_ping += set(sorted(true, key=lambda name: one_ping[name])[:PLACES]) != best
    table.run(rng.randrange(600 * MS, 1_600 * MS))
    table.seen.clear()


def _stamp(press: Pressed) -> Stamp:
    return Stamp(
        at_ns=press.seen_ns,
        u_ns=press.uncertainty_ns,
        clock=f"{press.source}/{press.boot}",
        own_u_ns=press.own_u_ns,
    )
