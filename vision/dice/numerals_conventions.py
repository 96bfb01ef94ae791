"""What a set of dice with numerals means by what it prints: data, for sets differ."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from companion.core.observation import DieSeen
from vision.dice.numerals_looks import KINDS


class Conventions(msgspec.Struct, frozen=True, kw_only=True):
    """How a table reads its dice.

    `kinds`: those that lie there, all others are left out of account. `d10_zero`: what a d10's 0 counts, 10 or 0.
    Raises ValueError for anything else.
    """

    kinds: tuple[str, ...] = KINDS
    d10_zero: int = 10

    def __post_init__(self) -> None:
        """Checks the values."""
        for kind in self.kinds:
            if kind not in KINDS:
                raise ValueError(f"there is no kind of die {kind!r}: name some of {', '.join(KINDS)}")
        if not self.kinds:
            raise ValueError(f"no kind of die is left: name some of {', '.join(KINDS)}")
        if self.d10_zero not in (0, 10):
            raise ValueError("a d10's 0 counts 10 or 0")

    def value(self, kind: str, text: str) -> int:
        """What a face with this text counts alone: 00 of a d100 is 0."""
        return self.d10_zero if kind == "d10" and text == "0" else int(text)


def percents(dice: Sequence[DieSeen]) -> tuple[int, ...]:
    """What pairs of a d100 and the d10 nearest to it count together, 00 and 0 as 100; nothing where their numbers
    differ, for then nobody can tell which belong together."""
    tens = [die for die in dice if die.kind == "d100"]
    ones = [die for die in dice if die.kind == "d10"]
    if not tens or len(tens) != len(ones) or any(die.value is None for die in (*tens, *ones)):
        return ()
    found = []
    for ten in sorted(tens, key=lambda die: min(_apart(die, one) for one in ones)):
        one = min(ones, key=lambda die: _apart(ten, die))
        ones.remove(one)
        found.append((_number(ten) + _number(one) % 10) or 100)
    return tuple(found)


def _number(die: DieSeen) -> int:
    return int(die.value or 0)


def _apart(one: DieSeen, other: DieSeen) -> float:
    return float(sum(abs(a - b) for a, b in zip(_middle(one.box_px), _middle(other.box_px), strict=True)))


def _middle(box: Sequence[int]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
