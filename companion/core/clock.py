"""Host time, stamps with an uncertainty, and who was surely before whom.

Host time is the host's monotonic clock in nanoseconds, continued across starts; wall time is for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

MS = 1_000_000
S = 1_000 * MS
FLOOR_NS = 1 * MS
"""Below this no order is claimed: travel and actuation differ by this much between two pads."""


class Stamp(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An instant in host time: the truth lies within `at_ns` +- `u_ns`.

    `clock` names the clock that stamped it (empty: unknown); two stamps of one clock share its offset, so
    between them only `own_u_ns` of each counts.
    """

    at_ns: int
    u_ns: int
    clock: str = ""
    own_u_ns: int = 0

    def scaled(self, origin_ns: int, factor: float) -> Stamp:
        """The stamp with its distance from `origin_ns`, and its uncertainty, divided by `factor`."""
        return Stamp(
            at_ns=origin_ns + round((self.at_ns - origin_ns) / factor),
            u_ns=round(self.u_ns / factor),
            clock=self.clock if factor == 1 else "",
            own_u_ns=round(self.own_u_ns / factor),
        )


def joint_ns(x: Stamp, y: Stamp) -> int:
    """The joint uncertainty of two stamps in ns, never below FLOOR_NS."""
    shared = x.clock != "" and x.clock == y.clock
    return max(FLOOR_NS, x.own_u_ns + y.own_u_ns if shared else x.u_ns + y.u_ns)


def is_surely_before(x: Stamp, y: Stamp) -> bool:
    """Whether x came before y by more than their joint uncertainty. Rule: TADA-18"""
    return y.at_ns - x.at_ns > joint_ns(x, y)


class Fate(Enum):
    """What a race of P places says of one finisher."""

    IN = "in"
    OUT = "out"
    CONTESTED = "contested"


def fates(stamps: Sequence[Stamp], places: int) -> tuple[Fate, ...]:
    """The fate of each stamp, in the order given, in a race with `places` places.

    In: fewer than `places` others are not surely after it. Out: at least `places` others are surely before
    it. Else contested. Rule: TADA-18
    """
    found = []
    for i, mine in enumerate(stamps):
        others = [other for j, other in enumerate(stamps) if j != i]
        if sum(not is_surely_before(mine, other) for other in others) < places:
            found.append(Fate.IN)
        elif sum(is_surely_before(other, mine) for other in others) >= places:
            found.append(Fate.OUT)
        else:
            found.append(Fate.CONTESTED)
    return tuple(found)


def groups(stamps: Sequence[Stamp]) -> tuple[tuple[int, ...], ...]:
    """Indices in table order, grouped so that no order is claimed inside a group.

    Every member of a group is surely before every member of the next; groups are as small as that allows.
    """
    order = sorted(range(len(stamps)), key=lambda i: stamps[i].at_ns)
    found: list[list[int]] = []
    for rank, i in enumerate(order):
        if all(is_surely_before(stamps[j], stamps[k]) for j in order[:rank] for k in order[rank:]):
            found.append([i])
        else:
            found[-1].append(i)
    return tuple(tuple(sorted(group)) for group in found)
