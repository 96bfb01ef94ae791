"""When is an order final: the watermark. And the message that tells it. No I/O, no clock of its own.

The links are first in, first out, and every answer to a clock question carries the number of the last event
stamped before it. So a device is *passed* at instant T when it has answered a question stamped after T and
every event up to that number has come: nothing it stamped before T can still be on its way. Whoever waits
for all devices waits at most CAP_NS; then the order is final without the ones that stay silent, and they
are named.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

CAP_NS = 250_000_000
OWING_NS = 200_000_000  # shorter than the cap by what may pass between a slam and the question that it caused


class Mark(msgspec.Struct, frozen=True):
    """How far one live device is heard: no event of it that is still to come has a host time before
    `passed_ns`.

    `since_ns`: host time of the oldest question that it has not answered, or of the oldest event that is
    known to be missing; None when it owes nothing.
    """

    device: str
    passed_ns: int
    since_ns: int | None = None


def watermark_ns(marks: Iterable[Mark], now_ns: int) -> int:
    """Host time before which nothing can still be in flight: the least of all marks, but never more than
    CAP_NS ago.

    Without any live device it is now.
    """
    return max(min((mark.passed_ns for mark in marks), default=now_ns), now_ns - CAP_NS)


def silent_devices(marks: Iterable[Mark], now_ns: int) -> tuple[str, ...]:
    """The devices that the cap passes over, sorted: not heard up to CAP_NS ago, and in debt for OWING_NS."""
    return tuple(
        sorted(
            mark.device
            for mark in marks
            if mark.passed_ns < now_ns - CAP_NS
            and mark.since_ns is not None
            and now_ns - mark.since_ns >= OWING_NS
        )
    )


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The MQTT message on ``tada/1/<table>/verdict``.

    `rank`: groups of device ids, best first; no order inside a group. `ties`: how many groups hold more
    than one. `window_ms`: the widest joint uncertainty between two ranked slams, `unc_ms` the worst single
    one.
    """

    round: int
    rank: tuple[tuple[str, ...], ...]
    ties: int
    window_ms: float
    unc_ms: float
    final: bool
