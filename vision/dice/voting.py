"""Several readings of the same still table as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from companion.core.observation import DieSeen
from vision.dice.reader import Reading


def vote(readings: Sequence[Reading]) -> tuple[tuple[DieSeen, ...], tuple[str, ...], bool]:
    """(dice, flags, whether all readings agree) of several readings of the same still table.

    A die counts when most readings see it; its value is the one that most of those give, else None for
    ``margin``. Its confidence falls with every reading that says otherwise.
    """
    groups: list[list[DieSeen]] = []
    for reading in readings:
        for die in reading.dice:
            group = next((group for group in groups if is_same_place(group[0].box_px, die.box_px)), None)
            if group is None:
                groups.append([die])
            else:
                group.append(die)
    dice, agreed = [], True
    for group in groups:
        if 2 * len(group) <= len(readings):
            agreed = False
            continue
        (value, count), *_ = Counter(die.value for die in group).most_common(1)
        agreed = agreed and count == len(readings)
        chosen = next(die for die in group if die.value == value)
        confidence = sum(die.confidence for die in group if die.value == value) / len(readings)
        if 2 * count <= len(group):
            dice.append(msgspec.structs.replace(chosen, value=None, reason="margin", confidence=confidence))
        else:
            dice.append(msgspec.structs.replace(chosen, confidence=confidence))
    flags = Counter(flag for reading in readings for flag in reading.flags)
    kept = tuple(flag for flag, count in flags.items() if 2 * count > len(readings))
    return tuple(dice), kept, agreed


def is_same_place(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    """Whether two boxes (x0, y0, x1, y1) are of the same die: their middles are nearer than half the larger one."""
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = one, other
    apart = max(abs(ax0 + ax1 - bx0 - bx1), abs(ay0 + ay1 - by0 - by1)) / 2
    return apart < max(ax1 - ax0, ay1 - ay0, bx1 - bx0, by1 - by0) / 2
