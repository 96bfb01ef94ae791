"""Device clocks in host time, against a device whose true offset is known."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.clock_sync import WINDOW, ClockSync
from firmware_bridge.messages import WRAP_US

MS = 1_000_000
S = 1_000 * MS
Law = Callable[[random.Random], tuple[int, int]]


class TrueClock:
    def __init__(self, starts_at_us: int, drift_ppm: float) -> None:
        self.starts_at_us, self.rate = starts_at_us, 1 + drift_ppm * 1e-6

    def us(self, host_ns: int) -> int:
        return self.starts_at_us + int(host_ns * self.rate / 1000)


def usb(rng: random.Random) -> tuple[int, int]:
    return round(rng.uniform(0.02, 0.2) * MS), round(rng.uniform(0.02, 1.1) * MS)


def ftdi(rng: random.Random) -> tuple[int, int]:
    return round(rng.uniform(0.02, 0.2) * MS), round(rng.uniform(0.1, 16) * MS)


def wifi(rng: random.Random) -> tuple[int, int]:
    def one() -> int:
        spike = rng.uniform(10, 120) if rng.random() < 0.02 else 0
        return round((1.2 + rng.expovariate(1 / 1.5) + spike) * MS)

    return one(), one()


def modem_sleep(rng: random.Random) -> tuple[int, int]:
    return round(rng.uniform(1, 103) * MS), round(rng.uniform(1.2, 4) * MS)


def ping(clock: ClockSync, true: TrueClock, at_ns: int, down_ns: int, up_ns: int) -> bool:
    received_ns = at_ns + down_ns
    replied_ns = received_ns + 50_000
    return clock.add(at_ns, true.us(received_ns) % WRAP_US, true.us(replied_ns) % WRAP_US, replied_ns + up_ns)


@pytest.mark.parametrize(
    ("law", "median_ms"),
    [(usb, 0.6), (ftdi, 2.5), (wifi, 2.5), (modem_sleep, 30)],
    ids=["usb", "ftdi", "wifi", "modem sleep"],
)
def test_trap_15_the_shown_uncertainty_covers_the_true_error(law: Law, median_ms: float) -> None:
    rng = random.Random(11)
    shown, covered, total = [], 0, 0
    for _race in range(60):
        true = TrueClock(rng.randrange(WRAP_US), rng.uniform(-100, 100))
        clock = ClockSync(tick_us=1)
        for k in range(WINDOW):
            ping(clock, true, k * S, *law(rng))
        for _ in range(10):
            at_ns = 15 * S + rng.randrange(round(0.2 * S), round(1.2 * S))
            found = clock.edge_time(clock.unwrap(true.us(at_ns) % WRAP_US, at_ns + 5 * MS))
            assert found is not None
            shown.append(found.u_ns)
            covered += abs(found.at_ns - at_ns) <= found.u_ns
            total += 1
    assert covered == total
    assert sorted(shown)[len(shown) // 2] <= median_ms * MS


def test_the_drift_is_learned() -> None:
    rng = random.Random(5)
    clock, true = ClockSync(), TrueClock(0, 80)
    for k in range(WINDOW):
        ping(clock, true, k * S, *usb(rng))
    low, high = clock.drift_ppm
    assert low <= 80 <= high
    assert high - low < 120


def test_the_uncertainty_ages() -> None:
    clock, true = ClockSync(), TrueClock(0, 30)
    ping(clock, true, S, 300_000, 300_000)
    now, later = clock.uncertainty_ns(2 * S), clock.uncertainty_ns(12 * S)
    assert now is not None
    assert later is not None
    assert later - now == pytest.approx(10 * S * 155e-6, rel=0.01)


def test_tick_and_stamping_latency_widen_it() -> None:
    for tick_us, st_us in ((1, 0), (4, 50), (1, 10_000)):
        clock, true = ClockSync(tick_us, st_us), TrueClock(0, 0)
        ping(clock, true, 0, 100_000, 100_000)
        found = clock.edge_time(true.us(200_000))
        assert found is not None
        assert found.u_ns >= 100_000 + tick_us * 1000 + st_us * 1000
        assert found.own_u_ns == tick_us * 1000 + st_us * 1000


@given(st.integers(0, WRAP_US - 1), st.integers(0, 3_000), st.integers(-1_000, 1_000))
def test_trap_14_a_stamp_is_unwrapped_near_its_time(start_us: int, silence_s: int, early_ms: int) -> None:
    clock, true = ClockSync(), TrueClock(start_us, 20)
    clock.note(clock.unwrap(true.us(0) % WRAP_US, 0), 0)
    base = clock.unwrap(true.us(0) % WRAP_US, 0)
    now_ns = silence_s * S
    event_ns = max(now_ns + early_ms * MS, 0)
    found = clock.unwrap(true.us(event_ns) % WRAP_US, now_ns)
    assert found - base == true.us(event_ns) - true.us(0)


def test_trap_14_five_seconds_across_the_wrap_keep_their_distances() -> None:
    clock, true = ClockSync(), TrueClock(WRAP_US - 5_000_000, 0)
    for k in range(10):
        ping(clock, true, k * S, 200_000, 200_000)
    times = []
    for at_ns in range(round(9.1 * S), round(9.9 * S), 50 * MS):
        found = clock.edge_time(clock.unwrap(true.us(at_ns) % WRAP_US, at_ns))
        assert found is not None
        times.append(found.at_ns)
    assert [b - a for a, b in itertools.pairwise(times)] == [50 * MS] * (len(times) - 1)
    assert clock.jumps == 0


def test_edges_in_a_row_keep_their_distances_while_better_answers_come() -> None:
    rng = random.Random(3)
    clock, true = ClockSync(), TrueClock(0, 0)
    ping(clock, true, 0, 9 * MS, 9 * MS)
    first = clock.edge_time(true.us(30 * MS))
    ping(clock, true, 40 * MS, *usb(rng))
    second = clock.edge_time(true.us(50 * MS))
    assert first is not None
    assert second is not None
    assert second.at_ns - first.at_ns == 20 * MS
    assert second.own_u_ns + first.own_u_ns < 1 * MS


def test_a_jump_is_noticed_and_the_old_answers_are_dropped() -> None:
    clock, true = ClockSync(), TrueClock(0, 10)
    for k in range(8):
        ping(clock, true, k * S, 300_000, 300_000)
    assert clock.jumps == 0
    true.starts_at_us += 50_000
    ping(clock, true, 8 * S, 300_000, 300_000)
    assert clock.jumps == 1
    at_ns = 8 * S + 500 * MS
    found = clock.edge_time(clock.unwrap(true.us(at_ns) % WRAP_US, at_ns))
    assert found is not None
    assert abs(found.at_ns - at_ns) <= found.u_ns < 2 * MS


def test_trap_15_a_drift_beyond_the_bound_counts_as_a_jump() -> None:
    clock, true = ClockSync(), TrueClock(0, 30_000)  # 3 %, a bad oscillator
    for k in range(8):
        ping(clock, true, k * S, 300_000, 300_000)
    assert clock.jumps > 0


def test_impossible_stamps_are_dropped() -> None:
    clock = ClockSync()
    assert not clock.add(1_000_000, 0, 0, 0)
    assert not clock.add(0, 0, 5_000_000, 1_000_000)
    assert not clock.is_synced
    assert clock.edge_time(0) is None
    assert clock.uncertainty_ns(0) is None
    assert clock.device_us(0) is None


@given(*[st.integers(0, 2**32 - 1)] * 2, *[st.integers(0, 2**62)] * 2)
def test_no_stamps_raise(received_us: int, replied_us: int, sent_ns: int, heard_ns: int) -> None:
    clock = ClockSync()
    clock.add(sent_ns, received_us, replied_us, heard_ns)
    clock.add(sent_ns + S, received_us, replied_us, heard_ns + S)
    clock.uncertainty_ns(heard_ns)
    clock.device_us(heard_ns)


def test_a_command_lands_at_its_host_instant() -> None:
    rng = random.Random(9)
    clock, true = ClockSync(), TrueClock(WRAP_US - 17_000_000, 90)
    for k in range(WINDOW):
        ping(clock, true, k * S, *usb(rng))
    at_ns = 17 * S
    at_us = clock.device_us(at_ns)
    assert at_us is not None
    u_ns = clock.uncertainty_ns(at_ns)
    assert u_ns is not None
    assert abs((at_us - true.us(at_ns) + WRAP_US // 2) % WRAP_US - WRAP_US // 2) * 1000 <= u_ns + 2_000
