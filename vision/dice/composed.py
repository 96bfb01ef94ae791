"""Several readers as one: each die told once, by whoever is surest of it, with its place where the table is known."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.reader import Reader, Rereader
from vision.dice.reader import Reading as Seen
from vision.dice.reading import Reading
from vision.dice.symbols import lies_on
from vision.frame import Frame
from vision.surface import Surface

_SAME = 0.5  # of the smaller box's edge: nearer than this two claims are one die
_UNREAD = 0.5  # what a claim without a value weighs against one with a value


class ComposedReader:
    """Reads with all of `readers` and keeps, of claims to one place, the likeliest. `die_mm`: the dice's edge.

    Dice from the top left. Raises ValueError when there is no reader.
    """

    def __init__(self, readers: Sequence[Reader], die_mm: float = 16.0) -> None:
        if not readers:
            raise ValueError("no reader was named")
        self._readers = tuple(readers)
        self._die_mm = die_mm

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in a BGR frame (H, W, 3); `xy_mm` and `on` are told for every die where there is a
        `surface`; what lies on its markers is none."""
        return self._composed(
            [reader.read(frame, surface, layouts) for reader in self._readers], surface, layouts
        )

    def again(
        self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        """`read` for one more frame of the same still table, in the way of each reader that has one for it."""
        looks = [reader.again if isinstance(reader, Rereader) else reader.read for reader in self._readers]
        return self._composed([look(frame, surface, layouts) for look in looks], surface, layouts)

    def _composed(
        self, readings: Sequence[Seen], surface: Surface | None, layouts: tuple[Placed, ...]
    ) -> Reading:
        claims = sorted((die for reading in readings for die in reading.dice), key=_weight, reverse=True)
        kept: list[DieSeen] = []
        for claim in claims:
            if not any(_is_same_place(claim, other) for other in kept):
                kept.append(claim)
        if surface is not None:
            placed = (self._placed(die, surface, layouts) for die in kept)
            kept = [die for die in placed if die.xy_mm is None or not surface.has_marker_at(die.xy_mm)]
        flags = dict.fromkeys(flag for reading in readings for flag in reading.flags if flag != "no_dice")
        ordered = tuple(sorted(kept, key=lambda die: (die.box_px[1], die.box_px[0])))
        return Reading(ordered, (*flags,) if ordered else (*flags, "no_dice"))

    def _placed(self, die: DieSeen, surface: Surface, layouts: tuple[Placed, ...]) -> DieSeen:
        if die.xy_mm is not None:
            return die
        x0, y0, x1, y1 = die.box_px
        place = surface.mm(((x0 + x1) / 2, (y0 + y1) / 2), self._die_mm)
        return msgspec.structs.replace(die, xy_mm=place, on=lies_on(place, layouts))


def _weight(die: DieSeen) -> float:
    return die.confidence * (1.0 if die.value is not None else _UNREAD)


def _is_same_place(one: DieSeen, other: DieSeen) -> bool:
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = one.box_px, other.box_px
    apart = max(abs(ax0 + ax1 - bx0 - bx1), abs(ay0 + ay1 - by0 - by1)) / 2
    return apart < _SAME * min(max(ax1 - ax0, ay1 - ay0), max(bx1 - bx0, by1 - by0))
