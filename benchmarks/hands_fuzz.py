"""Bytes that nobody should send, through the real hub among real play: nothing may crash, lie or grow.

Whatever is an event bit for bit has a stamp that is surely no present one, so nothing sent here should be believed.
"""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import get_args

import msgspec

from benchmarks.virtual_table import MS, VirtualPad, VirtualTable
from companion.core.observation import DeviceChanged, DieDropped, Observation, Pressed, Released, TowerHit
from firmware_bridge.framing import wrap
from firmware_bridge.messages import Down, FromDevice, ToDevice, Up, body_of
from firmware_bridge.session import STALE_EVENT_NS

INPUTS = 4
PORTION = 997
STARTS_AT_US = 3 * 2**30
"""What the pad's clock starts at: 18 minutes from 0 and from 2^31, which are the small and the large VALUES."""
OLD_US = STARTS_AT_US - 5 * STALE_EVENT_NS // 1_000
_U32 = 2**32 - 1


@dataclass
class Fuzzed:
    """`crashes`: exceptions that left the hub. `bad`: observations with a field out of range. `believed`: presses and
    the like that should not be. `grown_kb`: memory held at the end beyond the middle. `is_alive`: the pad was heard
    after all that."""

    sent: int = 0
    crashes: int = 0
    bad: int = 0
    believed: int = 0
    grown_kb: float = 0.0
    is_alive: bool = False


def noise(rng: random.Random) -> Iterator[bytes]:
    """Random bytes."""
    while True:
        yield rng.randbytes(PORTION)


def bent(rng: random.Random) -> Iterator[bytes]:
    """True frames of old events with one bit in a hundred bytes turned over."""
    n = 0
    while True:
        frames = bytearray()
        while len(frames) < PORTION:
            n += 1
            event = (Down if n % 2 else Up)(b=n % INPUTS, n=n, us=OLD_US + n)
            frames += wrap(body_of(event))
        for _ in range(len(frames) // 100):
            frames[rng.randrange(len(frames))] ^= 1 << rng.randrange(8)
        yield bytes(frames)


VALUES: tuple[str, ...] = (
    "18446744073709551616", "4294967296", "4294967295", "2147483648", "-1", "0", "1", "31", "32", "NaN", "Infinity",
    "-Infinity", "1.0", "1e400", "1e-400", "true", "null", '"1"', '"\\ud800"', '"\\udfff\\u0000"', '"a\\u202eb"', "[]",
    "[1]", "{}", '{"crc":1,"crc":2}', "[" * 50 + "]" * 50, '{"a":' * 50 + "1" + "}" * 50, "[" * 100,
    '"' + "x" * 90 + '"',
)  # fmt: skip
KINDS = (*(str(kind.__struct_config__.tag) for kind in get_args(FromDevice | ToDevice)), "x", "\\ud800")
KEYS = (
    "b", "n", "us", "r", "x", "h", "id", "boot", "q", "re", "early", "pk", "w", "v", "st", "tick", "p", "ni", "no",
    "fw", "hw", "kind", "name", "err", "rssi", "bat", "t", "reason",
)  # fmt: skip
FOREIGN = (
    '{"t":"hello","p":1,"id":"pad2","fw":"","hw":"","boot":%d,"ni":1,"no":0,"tick":1,"st":0,"us":%d}',
    '{"t":"hello","p":1,"id":"../pad","fw":"","hw":"","boot":%d,"ni":1,"no":0,"tick":1,"st":0,"us":%d}',
    '{"t":"hello","p":9,"id":"pad1","fw":"","hw":"","boot":%d,"ni":1,"no":0,"tick":1,"st":0,"us":%d}',
)


def hostile(rng: random.Random) -> Iterator[bytes]:
    """Right checksums round JSON that is none of ours: numbers out of range, keys twice, depth 50, wrong types, lone
    surrogates, other devices' ids."""
    while True:
        if rng.random() < 0.05:
            body = (rng.choice(FOREIGN) % (rng.randrange(2**32), rng.randrange(2**32))).encode()
        else:
            fields = [f'"{rng.choice(KEYS)}":{rng.choice(VALUES)}' for _ in range(rng.randrange(1, 7))]
            rng.shuffle(fields)
            body = f'{{"t":"{rng.choice(KINDS)}",{",".join(fields)}}}'.encode()
        yield body + b"*%08X\n" % zlib.crc32(body)


MAKERS: dict[str, Callable[[random.Random], Iterator[bytes]]] = {
    "random bytes": noise, "bit-flipped streams": bent, "hostile JSON": hostile,
}  # fmt: skip


def fuzz(kind: str, size: int, seed: int) -> Fuzzed:
    """Send `size` bytes of a kind up the line of a pad that is ready; afterwards it must still be heard."""
    rng, found = random.Random(seed), Fuzzed()
    table = VirtualTable()
    pad = table.plug(VirtualPad(table, "pad1", inputs=INPUTS, boot=7, starts_at_us=STARTS_AT_US))
    table.run(2_000 * MS)

    def look(seen: Observation) -> None:
        found.bad += not is_in_range(seen, table.now_ns)
        found.believed += not isinstance(seen, DeviceChanged)

    table.on_seen = look
    maker = MAKERS[kind](rng)
    gc.collect()
    tracemalloc.start()
    half_bytes = 0
    while found.sent < size:
        portion = next(maker)
        found.sent += len(portion)
        try:
            pad.raw(portion)
            table.run(MS)
        except Exception:
            found.crashes += 1
        table.seen.clear()
        if not half_bytes and found.sent >= size // 2:
            gc.collect()
            half_bytes = tracemalloc.get_traced_memory()[0]
    gc.collect()
    found.grown_kb = (tracemalloc.get_traced_memory()[0] - half_bytes) / 1024
    tracemalloc.stop()
    table.on_seen = lambda seen: None
    found.is_alive = _is_alive(table, pad)
    return found


def _is_alive(table: VirtualTable, pad: VirtualPad) -> bool:
    """Whether the pad, started anew, is heard and dated right after all that."""
    pad.raw(b"\n")
    table.run(5_000 * MS)
    pad.power_on(boot=70_001)
    pad.hello()
    at_ns = table.now_ns + 510 * MS
    pad.press(at_ns, 3)
    table.run(2_000 * MS)
    last = table.presses[-1] if table.presses else None
    return last is not None and abs(last.seen_ns - at_ns) <= last.uncertainty_ns


def is_in_range(seen: Observation, now_ns: int) -> bool:
    """Whether every field of what the hub tells may be true."""
    json.loads(msgspec.json.encode(seen))
    is_sane = 0 <= seen.uncertainty_ns <= 100_000 * MS and abs(seen.seen_ns - now_ns) <= 100_000 * MS
    match seen:
        case Pressed():
            is_event = 0 <= seen.input < 32 and 1 <= seen.n <= _U32 and 0 <= seen.boot <= _U32
            return (
                is_sane
                and is_event
                and seen.own_u_ns >= 0
                and (seen.force is None or 0 <= seen.force < 2**16)
            )
        case Released():
            return is_sane and 0 <= seen.input < 32 and 1 <= seen.n <= _U32
        case TowerHit() | DieDropped():
            is_event = 0 <= seen.input < 32 and 1 <= seen.n <= _U32
            return is_sane and is_event and 0 <= seen.peak < 2**16 and 0 <= seen.width_us <= _U32
        case DeviceChanged():
            return 0 <= seen.inputs <= 32 and (seen.clock_u_ns is None or seen.clock_u_ns >= 0)
        case _:
            return False
