"""The shared form of what a benchmark found, and the statistics behind it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Peer:
    """What the method measured beside ours in the same run reached."""

    name: str
    value: float | None


@dataclass(frozen=True)
class Figure:
    """One measured figure against its target; `value` None: not measured, and `why` says the reason.

    `is_rate`: a share of `n` trials, met when the Wilson interval's lower bound is within 2 points of the target.
    """

    name: str
    value: float | None
    unit: str
    op: str
    target: float
    n: int = 0
    is_rate: bool = False
    peer: Peer | None = None
    why: str = ""

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of a rate, in the unit of `value`; None for anything that is no rate."""
        if self.value is None or not self.is_rate or not self.n:
            return None
        whole = 100.0 if self.unit == "%" else 1.0
        low, high = wilson(self.value / whole, self.n)
        return (round(low * whole, 4), round(high * whole, 4))

    @property
    def is_met(self) -> bool:
        """Whether the target is reached."""
        if self.value is None:
            return False
        slack = 2.0 if self.unit == "%" else 0.02
        interval = self.ci95
        if interval is None:
            return self.value >= self.target if self.op == ">=" else self.value <= self.target
        return interval[0] >= self.target - slack if self.op == ">=" else interval[1] <= self.target + slack

    def as_json(self) -> dict[str, object]:
        """The object that a benchmark's last line lists."""
        row: dict[str, object] = {
            "name": self.name,
            "value": None if self.value is None else round(self.value, 4),
            "unit": self.unit,
            "op": self.op,
            "target": self.target,
            "met": self.is_met,
            "n": self.n,
            "ci95": self.ci95,
            "peer": None if self.peer is None else asdict(self.peer),
            "why": self.why,
        }
        return row


def say(text: str) -> None:
    """Progress, for people."""
    print(text, file=sys.stderr, flush=True)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of all lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """The interval that holds a share seen in `n` trials, 0 to 1."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (max(0.0, middle - half), min(1.0, middle + half))


def report(figures: Sequence[Figure], only_json: bool) -> None:
    """Print a table for people unless `only_json`, then the one JSON object as the last line of stdout."""
    if not only_json:
        for figure in figures:
            value = "not measured" if figure.value is None else f"{figure.value:.4g} {figure.unit}"
            peer = f"; {figure.peer.name}: {figure.peer.value}" if figure.peer else ""
            mark = "met" if figure.is_met else "NOT met"
            why = f" ({figure.why})" if figure.why else ""
            print(
                f"{figure.name}: {value}, wanted {figure.op} {figure.target:g}: {mark}, n {figure.n}{peer}{why}"
            )
    print(json.dumps({"figures": [figure.as_json() for figure in figures]}))
    sys.stdout.flush()
