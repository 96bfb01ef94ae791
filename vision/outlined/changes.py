"""From one settled picture of a table of cards to the next: what was laid, bumped and taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from vision.outlined.difference import difference, millimetres
from vision.outlined.finding import Ring, rings
from vision.outlined.fitting import centre_of, pose_about
from vision.outlined.plane import Flat
from vision.outlined.reading import CardRead, CardReader, cells_free_of, outline_of
from vision.outlined.whole import WholeTable, read_whole

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Kind = Literal["placed", "bumped", "removed", "unsure"]
_LEAST_MM2 = 60.0  # what looks otherwise on less than this is noise
_STRANGE_MM2 = 600.0  # what no card explains, from which on something else is over the table
_RING = 0.45
_SURELY_A_CARD = 0.75
_TRIES = 3
_SOLID, _SMALLEST, _LARGEST = 0.85, 0.75, 1.1  # of an oblong's own area, and of a card's
_FITS_WELL = 0.12  # a cost at which no other place is tried
_ALIKE_LOOKS = 3
_LEAST_SHOWN = 0.1
_MOST_AT_ONCE = 12
_SEARCH_PER_MM = 0.5
_STAYS_MM, _STAYS_DEG = 1.0, 1.0  # beyond what is not known
_WORSE = 0.1  # so much more of a card must not fit before it is thought to have moved
_TOUCHED_MM2 = 25.0
_BUMP_TRIES = tuple((x, y) for y in (-8.0, -4.0, 0.0, 4.0, 8.0) for x in (-8.0, -4.0, 0.0, 4.0, 8.0))


@dataclass(frozen=True)
class Lies:
    """A card that lies on the table: number `n` in the order in which it was seen."""

    n: int
    read: CardRead


@dataclass(frozen=True)
class Change:
    """One thing that changed; `moved_mm` of the card's middle, where it was bumped."""

    kind: Kind
    card: Lies
    moved_mm: float = 0.0


@dataclass(frozen=True)
class Look:
    """What one picture told. `strange_mm2`: how much looks otherwise and is no card; a picture with much of it is not
    of a settled table, and nothing of it is taken up. `held`: the cards that lie otherwise in such a picture, as far as
    a hand over them lets them be read."""

    changes: tuple[Change, ...]
    strange_mm2: float = 0.0
    flags: tuple[str, ...] = ()
    held: tuple[CardRead, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether the picture was taken up."""
        return self.strange_mm2 < _STRANGE_MM2


class Changes:
    """Remembers how a table last lay. Pictures are of one camera that keeps still, laid flat alike."""

    def __init__(self, reader: CardReader) -> None:
        self.reader = reader
        self.lying: tuple[Lies, ...] = ()
        self._before: Floats | None = None
        self._count = 0
        self._strange: Mask | None = None
        self._alike = 0

    def look(self, flat: Flat) -> Look:
        """What changed since the settled picture before; of the first one, all that lies there."""
        now = millimetres(flat)
        if self._before is None or self._before.shape != now.shape:
            return self._first(flat, now)
        kept = (self.lying, self._count)
        left = difference(self._before, now)
        found = tuple(self._explained(flat, left)) if left.sum() >= _LEAST_MM2 else ()
        strange = _solid(left)
        if strange >= _STRANGE_MM2:
            self.lying, self._count = kept
            if self._stays(left > 0.5):  # a cup, a phone: the table looks so from now on
                self._before = now
            held = (each.card.read for each in found if each.kind != "removed")
            return Look((), strange, held=tuple(read for read in held if read.candidates))
        self._before, self._strange, self._alike = now, None, 0
        return Look(found, strange)

    def _stays(self, strange: Mask) -> bool:
        """Whether the same strange thing lay there in several pictures one after the other."""
        before, self._strange = self._strange, strange
        is_alike = before is not None and 2 * (before & strange).sum() > 1.6 * (before | strange).sum()
        self._alike = self._alike + 1 if is_alike else 0
        return self._alike >= _ALIKE_LOOKS

    def _first(self, flat: Flat, now: Floats) -> Look:
        whole: WholeTable = read_whole(flat, self.reader)
        self._before = now
        self.lying = ()
        return Look(tuple(self._placed(read) for read in whole.cards), 0.0, whole.flags)

    def _placed(self, read: CardRead) -> Change:
        card = Lies(self._count, read)
        self._count += 1
        self.lying = (*self.lying, card)
        return Change("placed" if read.card is not None else "unsure", card)

    def _explained(self, flat: Flat, left: Floats) -> Iterator[Change]:
        """Changes that explain the marks in `left`, which are wiped out of it."""
        for _ in range(_MOST_AT_ONCE):
            read = self._new(flat, left)
            if read is None:
                break
            _wipe(left, outline_of(read.pose, self.reader.size_mm))
            known = next((card for card in self.lying if _is_same(card.read, read)), None)
            if known is None:
                yield self._placed(read)
                continue
            moved = self._moved(known, read)
            _wipe(left, outline_of(known.read.pose, self.reader.size_mm))
            if moved is not None:
                yield moved
            if left.sum() < _LEAST_MM2:
                return
        beside = left.copy()
        for card in self.lying:
            _wipe(beside, outline_of(card.read.pose, self.reader.size_mm))
        if _solid(beside) < _STRANGE_MM2:  # else something is over the table, whatever the cards do
            yield from self._shaken(flat, left)
        for ring in self._rings(left)[:1]:
            if ring.share > _SURELY_A_CARD:
                _wipe(left, outline_of(ring.pose, self.reader.size_mm))
                yield self._placed(self.reader.strange(ring.pose))

    def _new(self, flat: Flat, left: Floats) -> CardRead | None:
        """The card that best explains marks in `left`; nothing covers a card that was just laid."""
        best: CardRead | None = None
        for ring in self._rings(left):
            read = self.reader.read(flat, ring.pose)
            if read is not None and self._explains(read, left) and (best is None or read.cost < best.cost):
                best = read
            if best is not None and best.cost < _FITS_WELL:
                break
        return best

    def _rings(self, left: Floats) -> list[Ring]:
        """Where marks run as around a card, the likeliest first."""
        ys, xs = np.nonzero(left > 0.3)
        if len(ys) < _LEAST_MM2 / 2:
            return []
        y0, x0 = max(0, int(ys.min()) - 6) // 2 * 2, max(0, int(xs.min()) - 6) // 2 * 2
        part = left[y0 : int(ys.max()) + 7, x0 : int(xs.max()) + 7]
        size = (max(1, part.shape[1] // 2), max(1, part.shape[0] // 2))
        marked = cv2.resize(cv2.dilate(part, np.ones((3, 3))), size, interpolation=cv2.INTER_AREA)
        found = rings(
            np.asarray(marked, np.float32), _SEARCH_PER_MM, self.reader.size_mm, least=_RING, most=_TRIES
        )
        around = [Ring(moved_by(ring.pose, x0, y0), ring.share) for ring in found]
        return around or self._blob(left)

    def _blob(self, left: Floats) -> list[Ring]:
        """A solid oblong of about a card's size, where the table is as bright as the rims."""
        solid = cv2.morphologyEx((left > 0.5).astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
        outlines = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
        whole = self.reader.size_mm[0] * self.reader.size_mm[1]
        for outline in sorted(outlines, key=cv2.contourArea, reverse=True)[:1]:
            (x, y), (width, height), angle = cv2.minAreaRect(outline)
            fill = cv2.contourArea(outline) / max(width * height, 1.0)
            if fill > _SOLID and _SMALLEST < width * height / whole < _LARGEST:
                turn = (
                    angle
                    if (width < height) == (self.reader.size_mm[0] < self.reader.size_mm[1])
                    else angle + 90
                )
                return [Ring(pose_about((x + 0.5, y + 0.5), turn, self.reader.size_mm), fill)]
        return []

    def _explains(self, read: CardRead, left: Floats) -> bool:
        """Whether the marks lie where this card has its rim: what lay there before is no news."""
        mask = np.zeros(left.shape, np.uint8)
        outline = outline_of(read.pose, self.reader.size_mm)
        cv2.polylines(mask, [np.round(outline - 0.5).astype(np.int32)], True, 1, 3)
        return (
            float(cv2.dilate(left, np.ones((3, 3)))[mask > 0].mean()) > _RING * 0.8 if mask.any() else False
        )

    def _moved(self, known: Lies, read: CardRead) -> Change | None:
        """The card as it lies now; None where it lies as before."""
        far, turn = self._apart(known.read, read)
        if far <= _STAYS_MM + read.u_mm and turn <= _STAYS_DEG + read.u_deg:
            return None
        card = Lies(known.n, read)
        self.lying = tuple(card if each.n == known.n else each for each in self.lying)
        return Change("bumped", card, round(far, 2))

    def _apart(self, one: CardRead, other: CardRead) -> tuple[float, float]:
        here, there = (np.array(centre_of(read.pose, self.reader.size_mm)) for read in (one, other))
        turn = abs((one.pose.angle_deg - other.pose.angle_deg + 180) % 360 - 180)
        return float(np.hypot(*(here - there))), turn

    def _shaken(self, flat: Flat, left: Floats) -> Iterator[Change]:
        """Known cards at marks that are left: bumped a little, or gone."""
        for card in reversed(self.lying):
            outline = outline_of(card.read.pose, self.reader.size_mm)
            if _within(left, outline) < _TOUCHED_MM2:
                continue
            above = [outline_of(c.read.pose, self.reader.size_mm) for c in self.lying if c.n > card.n]
            mask = cells_free_of(card.read.pose, above, self.reader.size_mm)
            if mask.mean() < _LEAST_SHOWN or card.read.side.card not in self.reader.layouts:
                continue
            cost = self.reader.cost_at(flat, card.read.side, card.read.pose, mask)
            if cost < card.read.cost + _WORSE:
                continue
            found = self._near(flat, card, above)
            if found is not None:
                _wipe(left, outline_of(found.pose, self.reader.size_mm))
                _wipe(left, outline)
                moved = self._moved(card, found)
                if moved is not None:
                    yield moved
            elif self._is_gone(left, outline, above):
                _wipe(left, outline)
                self.lying = tuple(each for each in self.lying if each.n != card.n)
                yield Change("removed", card)

    def _near(self, flat: Flat, card: Lies, above: list[NDArray[np.float64]]) -> CardRead | None:
        """The card a little beside its place; None where it is not there."""
        best: CardRead | None = None
        pose = card.read.pose
        for x, y in _BUMP_TRIES:
            start = moved_by(pose, x, y)
            mask = cells_free_of(start, above, self.reader.size_mm)
            again = self.reader.again(flat, card.read.side, start, mask)
            if again is None:
                continue
            fit, cost = again
            if cost < card.read.cost + _WORSE and (best is None or cost < best.cost):
                u_mm, u_deg = self.reader.doubt(flat, fit)
                best = replace(card.read, pose=fit.pose, u_mm=u_mm, u_deg=u_deg, cost=cost)
                if cost < card.read.cost + _WORSE / 3:
                    break
        return best

    def _is_gone(self, left: Floats, outline: NDArray[np.float64], above: list[NDArray[np.float64]]) -> bool:
        """Whether most of its rim that was to be seen looks otherwise."""
        rim = np.zeros(left.shape, np.uint8)
        cv2.polylines(rim, [np.round(outline - 0.5).astype(np.int32)], True, 1, 3)
        for cover in above:
            cv2.fillPoly(rim, [np.round(cover - 0.5).astype(np.int32)], 0)
        marks = cv2.dilate(left, np.ones((3, 3)))[rim > 0]
        return len(marks) > 40 and float(marks.mean()) > 0.6


def moved_by(pose: Pose, x_mm: float, y_mm: float) -> Pose:
    """The same pose, so much farther to the right and down."""
    return Pose(pose.x_mm + x_mm, pose.y_mm + y_mm, pose.angle_deg)


def _is_same(one: CardRead, other: CardRead) -> bool:
    return one.card is not None and (one.card, one.colour) == (other.card, other.colour)


def _wipe(left: Floats, outline: NDArray[np.float64], margin_mm: float = 5.0) -> None:
    """Takes out what a card's shape and its shadow explain."""
    corners = np.round(outline - 0.5).astype(np.int32)
    cv2.fillPoly(left, [corners], 0.0)
    cv2.polylines(left, [corners], True, 0.0, round(2 * margin_mm))


def _within(left: Floats, outline: NDArray[np.float64]) -> float:
    mask = np.zeros(left.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(outline - 0.5).astype(np.int32)], 1)
    return float(left[mask > 0].sum())


def _solid(left: Floats) -> float:
    """How many mm2 are marked, thin lines and specks left out."""
    marked = (left > 0.5).astype(np.uint8)
    return float(cv2.morphologyEx(marked, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)).sum())
