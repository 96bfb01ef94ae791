"""From rests of the table to rolls: which dice are new, which lie where they lay, which were taken away.

A roll is told once. Dice that are only knocked a little, read better, or hidden by a hand and back are no roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from companion.core.observation import DiceRested, DieSeen

HOLD_NS = 2_500_000_000
"""So long a throw waits for those of its dice that move on."""
MOVED_MM = 4.0
"""A die that was knocked less far than this was not rolled."""
_SURE = 0.8
_MOVED_FACES = 0.25  # the same where no surface tells mm: as a share of the die's box


@dataclass(frozen=True)
class Roll:
    """Dice came to rest. `n` counts rolls from 1; `t_ns` is the instant of the picture.

    `rolled`: the dice that are new or lie elsewhere than before. `kept`: those that lie where they lay. `left`: dice
    of before that are not there any more, as they were last told, whether taken away or rolled again. `moving`:
    dice that are seen and move on; they belong to a later roll.
    """

    n: int
    t_ns: int
    rolled: tuple[DieSeen, ...]
    kept: tuple[DieSeen, ...] = ()
    left: tuple[DieSeen, ...] = ()
    moving: tuple[DieSeen, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lifted:
    """Dice are not there any more and no others came. `left`: as they were last told; `lying`: what still lies."""

    t_ns: int
    left: tuple[DieSeen, ...]
    lying: tuple[DieSeen, ...]


class RollTracker:
    """Holds each rest of one camera's table against the one before.

    A throw of which one die still spins is told when that die rests too, or after HOLD_NS with that die as moving.
    """

    def __init__(self) -> None:
        self._lying: tuple[DieSeen, ...] = ()
        self._gone: tuple[DieSeen, ...] = ()  # since the last roll
        self._count = 0
        self._held: tuple[DiceRested, int] | None = None  # and since when

    def step(self, rest: DiceRested) -> Roll | Lifted | None:
        """What this rest means, None when it shows nothing new. Rests of one camera in the order of their instants.

        A die that was not read becomes no second roll when it is read later in the same place, and a die that a
        hand may hide, or that is touched where it lies, has not left.
        """
        since_ns = rest.seen_ns if self._held is None else self._held[1]
        self._held = None
        return self._told(rest, since_ns if rest.seen_ns - since_ns < HOLD_NS else None)

    def due(self, now_ns: int) -> Roll | Lifted | None:
        """The throw that waited for its last die long enough; None when there is none. Asked for each frame."""
        if self._held is None or now_ns - self._held[1] < HOLD_NS:
            return None
        rest, self._held = self._held[0], None
        return self._told(rest, None)

    def _told(self, rest: DiceRested, held_since_ns: int | None) -> Roll | Lifted | None:
        """What a rest means; with `held_since_ns` a throw of which a die moves on is held since then."""
        resting = [die for die in rest.dice if die.reason != "moving"]
        before = list(self._lying)
        kept: list[DieSeen] = []
        rolled: list[DieSeen] = []
        for die in resting:
            match = min(
                (old for old in before if _is_where(old, die)), key=lambda old: _apart(old, die), default=None
            )
            if match is None:
                rolled.append(die)
            else:
                before.remove(match)
                kept.append(_better(match, die))
        touched = [die for die in rest.dice if die.reason == "moving"]
        hidden = [
            old
            for old in before
            if _is_under(old, rest.restless_px) or any(_apart(old, die) < 1.0 for die in touched)
        ]
        moving = tuple(die for die in touched if all(_apart(old, die) >= 1.0 for old in hidden))
        if rolled and moving and held_since_ns is not None:
            self._held = (rest, held_since_ns)
            return None
        left = tuple(die for die in before if die not in hidden)
        self._lying = (*rolled, *kept, *hidden)
        if rolled:
            self._count += 1
            gone, self._gone = (*self._gone, *left), ()
            return Roll(self._count, rest.seen_ns, tuple(rolled), (*kept, *hidden), gone, moving, rest.flags)
        if left:
            self._gone += left
            return Lifted(rest.seen_ns, left, self._lying)
        return None


def _is_where(old: DieSeen, new: DieSeen) -> bool:
    """Whether `new` is the die `old` that still lies there. Another face in the very same place is another throw
    where both were read surely, else a better look at the same one."""
    is_other = None not in (old.value, new.value) and (old.kind, old.value) != (new.kind, new.value)
    if is_other and min(old.confidence, new.confidence) >= _SURE:
        return False
    return _apart(old, new) < 1.0


def _apart(old: DieSeen, new: DieSeen) -> float:
    """How far a die moved, as a share of what counts as having been moved."""
    if old.xy_mm is not None and new.xy_mm is not None:
        return float(max(abs(old.xy_mm[0] - new.xy_mm[0]), abs(old.xy_mm[1] - new.xy_mm[1])) / MOVED_MM)
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = old.box_px, new.box_px
    size = max(1.0, (ax1 - ax0 + bx1 - bx0) / 2)
    return max(abs(ax0 + ax1 - bx0 - bx1), abs(ay0 + ay1 - by0 - by1)) / 2 / (_MOVED_FACES * size)


def _better(old: DieSeen, new: DieSeen) -> DieSeen:
    """What is known of a die that still lies: the surer reading, the newer of two that say the same."""
    if old.value is None or old.value == new.value:
        return new
    return old if new.value is None or old.confidence > new.confidence else new


def _is_under(die: DieSeen, boxes: Sequence[tuple[int, int, int, int]]) -> bool:
    x0, y0, x1, y1 = die.box_px
    return any(x0 < bx1 and bx0 < x1 and y0 < by1 and by0 < y1 for bx0, by0, bx1, by1 in boxes)
