"""Six pads, three places, in virtual time through the real codec, clocks and hub, judged by the table's own rule."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from companion.core.clock import Fate, Stamp, fates
from companion.core.observation import Pressed
from firmware_bridge.verdict import watermark_ns

from virtual_table import MS, Delay, VirtualPad, VirtualTable, usb, wifi  # isort: skip

S = 1_000 * MS
PLACES = 3


def stamp_of(press: Pressed) -> Stamp:
    return Stamp(at_ns=press.seen_ns, u_ns=press.uncertainty_ns, clock=press.source, own_u_ns=press.own_u_ns)


def reaction_ms(rng: random.Random) -> float:
    return rng.gauss(190, 25) + rng.expovariate(1 / 45)


@pytest.mark.parametrize(
    ("law", "races", "contested_share", "final_ms"),
    [(usb, 50, 0.15, 12), (wifi, 40, 0.45, 40)],
    ids=["usb", "wifi"],
)
def test_no_place_that_is_given_is_wrong(
    law: Callable[[random.Random], tuple[Delay, Delay]], races: int, contested_share: float, final_ms: int
) -> None:
    rng = random.Random(21)
    table = VirtualTable()
    for k in range(6):
        down, up = law(rng)
        table.plug(
            VirtualPad(
                table,
                f"pad{k}",
                down=down,
                up=up,
                drift_ppm=rng.uniform(-100, 100),
                starts_at_us=rng.randrange(2**32),
            )
        )
    table.run(17 * S)
    wrong = contested = 0
    until_final: list[int] = []
    for _ in range(races):
        go_ns = table.now_ns + 100 * MS
        true = {name: go_ns + round(reaction_ms(rng) * MS) for name in table.pads}
        for name, at_ns in true.items():
            table.pads[name].press(at_ns)
        before = len(table.presses)
        last_ns = max(true.values())
        table.run_to(last_ns)
        while watermark_ns(table.hub.marks(), table.now_ns) <= last_ns:
            table.run(MS)
        until_final.append(table.now_ns - last_ns)
        presses = table.presses[before:]
        assert {press.source for press in presses} == set(true)
        best = sorted(true, key=lambda name: true[name])[:PLACES]
        found = fates([stamp_of(press) for press in presses], PLACES)
        for press, fate in zip(presses, found, strict=True):
            wrong += (fate is Fate.IN) and press.source not in best
            wrong += (fate is Fate.OUT) and press.source in best
        contested += Fate.CONTESTED in found
        table.run(600 * MS)
    assert wrong == 0
    assert contested <= contested_share * races
    assert sorted(until_final)[len(until_final) // 2] <= final_ms * MS
