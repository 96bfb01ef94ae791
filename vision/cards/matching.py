"""Which card of a deck is this? A shortlist by gradients, each laid exactly over the picture, compared block by block.

What tells two cards apart are the blocks in which they differ; so a block counts by how much it differs between the
cards that are held against each other, and what all cards of a deck have in common (a frame, a pattern) does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vision.cards.aligning import Aligned, Blocks, Target, align, likeness_of, warped
from vision.cards.looks import (
    COLUMNS,
    ROWS,
    Floats,
    Look,
    Plane,
    blocks_of,
    brightness_of,
    colours_of,
    gradients_of,
    lines_of,
    look_at,
    margin_at,
    size_at,
    straight,
)
from vision.frame import Frame

_LISTED = 10
_FINALISTS = 4
_TRIED = 5  # of those listed are looked at more finely, those that a coarse look fits best
_STRAIGHT = 4  # of those listed, as they lie
_COARSE, _MIDDLE = 48, 96
HOPELESS = 0.35
"""A card that fits no better than this as a whole is another."""
_DIFFERENT = 6  # blocks: in so many at least two cards of a deck differ
_TINT_NOISE, _TINT_FULL, _TINT_MOST = 0.06, 0.25, 12.0
_MOST_CAST = 0.35  # log: a lamp does not change one colour against another by more
_NOTHING = 0.5  # blocks: cards that differ in less are hardly told apart


@dataclass(frozen=True)
class Reference:
    """An enrolled card: its name and its picture laid straight, BGR."""

    name: str
    picture: Frame


@dataclass(frozen=True)
class Scored:
    """One card of the deck held against a picture. `likeness`: 0 to 1 over what makes it this card; `ahead`: by how
    much more it fits than the card that fits second best, over what differs between them; `is_turned`: upside down;
    `turn`: see `Aligned`."""

    index: int
    likeness: float
    ahead: float
    is_turned: bool
    turn: Floats


@dataclass(frozen=True)
class Match:
    """What a deck says to a picture: how well the best card fits as a whole, -1 to 1, and the cards that may lie there,
    the best first."""

    fit: float
    cards: tuple[Scored, ...]


@dataclass(frozen=True)
class _Laid:
    """A card laid over the picture: the whole likeness of its lines, and how far its colours are off."""

    turned: int
    done: Aligned
    like: float
    tint: float


class Matcher:
    """Knows a deck's cards. `aspect`: height over width."""

    def __init__(self, cards: Sequence[Reference], aspect: float) -> None:
        self.cards = tuple(cards)
        self.aspect = aspect
        self._pictures = {level: self._at(level) for level in (_COARSE, _MIDDLE, 144, 216, 288)}
        self._targets = {
            level: [Target.of(lines) for lines in self._pictures[level]] for level in (_COARSE, _MIDDLE)
        }
        self._blocks = {
            level: (np.stack([t.blocks.off for t in targets]), np.stack([t.blocks.power for t in targets]))
            for level, targets in self._targets.items()
        }
        self._fine = lru_cache(maxsize=48)(lambda level, index: Target.of(self._pictures[level][index]))
        small = [straight_card(card.picture, size_at(_MIDDLE, aspect)) for card in cards]
        described = np.stack([gradients_of(each) for each in small])
        self._usual = described.mean(0) if len(cards) > 3 else np.zeros(described.shape[1], np.float32)
        self._described = _unit(described - self._usual)
        self._colours = np.stack([colours_of(each) for each in small])
        self._brightest = np.max([brightness_of(each) for each in small], axis=0)
        self.apart = self._differences(144)
        count = len(self.cards)
        self._tints = np.array(
            [[tint_off(self._colours[i], self._colours[j]) for j in range(count)] for i in range(count)]
        )

    def unlike(self) -> Floats:
        """(N, N) how far each two cards are apart by what differs most between them, 0 for the same to 1."""
        most = np.sort(self.apart, axis=2)[..., -_DIFFERENT:].mean(2).astype(np.float64)
        return np.asarray(np.maximum(most, np.minimum(1.0, self._tints / _TINT_FULL)), np.float64)

    def _at(self, level: int) -> list[Plane]:
        size = size_at(level, self.aspect)
        return [lines_of(straight_card(card.picture, size), level) for card in self.cards]

    def _differences(self, level: int) -> NDArray[np.float32]:
        """(N, N, B) how little each block of two cards has in common, 0 to 1."""
        blocks = np.stack([blocks_of(lines) for lines in self._pictures[level]])
        blocks -= blocks.mean(2, keepdims=True)
        shared = np.einsum("ibp,jbp->ijb", blocks, blocks, optimize=True) / blocks.shape[2]
        power = np.einsum("ibp,ibp->ib", blocks, blocks) / blocks.shape[2]
        soft = 0.05
        alike = (2 * shared + soft) / (power[:, None] + power[None] + soft)
        return np.asarray(np.clip(1 - alike, 0, 1), np.float32)

    def match(self, frame: Frame, quad: Floats, above: float = HOPELESS) -> Match:
        """The cards that may lie in `quad` (4, 2), from one of its short sides clockwise; none where none fits better
        than `above` as a whole."""
        look = look_at(frame, quad, self.aspect, self._brightest)
        looks = [look, look.turned()]
        listed = self._shortlist(looks)
        coarse = [(index, turned, self._lay(_COARSE, index, looks[turned], None)) for index, turned in listed]
        starts = [(index, turned, done.turn) for index, turned, done in _best(coarse)[:_TRIED]]
        # The corners may be exact, and a coarse look may slip from a printed frame to the card's edge.
        starts += [(index, turned, np.eye(3)) for index, turned in listed[:_STRAIGHT]]
        middle = _best(
            [
                (index, turned, self._lay(_MIDDLE, index, looks[turned], turn))
                for index, turned, turn in starts
            ]
        )
        middle = _once(_best(self._with_others(looks, middle)))
        fit = middle[0][2].fit if middle else -1.0
        if fit <= above:
            return Match(fit, ())
        last = []
        for index, turned, done in middle[:_FINALISTS]:
            laid = done
            for level in (144, 216, 288):
                if level <= look.fine and np.isfinite(laid.moved):
                    laid = self._lay(level, index, looks[turned], laid.turn)
            if np.isfinite(laid.moved):
                last.append((index, turned, laid))
        return Match(fit, tuple(self._ranked(last, looks)))

    def _shortlist(self, looks: Sequence[Look]) -> list[tuple[int, int]]:
        """(card, 1 where it is upside down), the likeliest first: by their gradients, which bear corners that are off,
        and by their blocks as they lie, which bear print that is faint, in turns."""
        by_gradients = [self._described @ _unit(look.gradients - self._usual) for look in looks]
        by_blocks = [self._alike(look, _COARSE, np.eye(3)) for look in looks]
        orders = [np.argsort(-np.stack(each, 1), axis=None)[:_LISTED] for each in (by_gradients, by_blocks)]
        turns = dict.fromkeys(int(k) for pair in zip(*orders, strict=True) for k in pair)
        return [(k // 2, k % 2) for k in list(turns)[:_LISTED]]

    def _alike(self, look: Look, level: int, turn: Floats) -> NDArray[np.float32]:
        """(N,) how much each card's blocks have in common with a look that lies as `turn` says."""
        there = warped(look.lines(level), turn, size_at(level, self.aspect), margin_at(level))
        seen, (off, power) = Blocks.of(blocks_of(there)), self._blocks[level]
        return np.asarray(likeness_of(off, power, seen)[:, look.clear].mean(1), np.float32)

    def _lay(self, level: int, index: int, look: Look, turn: Floats | None) -> Aligned:
        target = self._targets[level][index] if level in self._targets else self._fine(level, index)
        return align(target, look.lines(level), margin_at(level), turn, look.clear)

    def _with_others(
        self, looks: Sequence[Look], found: list[tuple[int, int, Aligned]]
    ) -> list[tuple[int, int, Aligned]]:
        """And the cards that were not on the list but fit where the two best ones, the first found, were laid."""
        known = {index for index, _, _ in found}
        more = []
        for _, turned, done in found[:2]:
            alike = self._alike(looks[turned], _MIDDLE, done.turn)
            more += [(float(alike[k]), k, turned, done.turn) for k in range(len(alike)) if k not in known]
        more.sort(key=lambda each: -each[0])
        for _, other, turned, turn in more[:3]:
            if other not in known:
                known.add(other)
                done = self._lay(_MIDDLE, other, looks[turned], turn)
                if np.isfinite(done.moved):
                    found.append((other, turned, done))
        return found

    def _ranked(self, laid: list[tuple[int, int, Aligned]], looks: Sequence[Look]) -> list[Scored]:
        best: dict[int, _Laid] = {}
        for index, turned, done in laid:
            if index not in best or best[index].like < done.fit:
                off = tint_off(self._colours[index], looks[turned].colours)
                best[index] = _Laid(turned, done, done.fit, off)
        ahead = {
            (one, other): self._ahead(one, other, best) for one in best for other in best if one != other
        }
        wins = {one: sum(ahead[one, other] > 0 for other in best if other != one) for one in best}
        order = sorted(best, key=lambda k: (-wins[k], -best[k].like))
        return [
            Scored(
                index,
                self._likeness(index, best[index].done),
                min((ahead[index, other] for other in order if other != index), default=1.0),
                bool(best[index].turned),
                best[index].done.turn,
            )
            for index in order
        ]

    def _ahead(self, one: int, other: int, laid: dict[int, _Laid]) -> float:
        """How much more the picture is `one` than `other`, over the blocks and colours in which they differ: 1 where it
        is `one` to the letter, below 0 where it is rather the other."""
        weight = self.apart[one, other] * laid[one].done.clear
        off = laid[one].done.likeness - laid[other].done.likeness
        lines, sure = float((weight * off).sum()), float((weight * weight).sum())
        tint = max(float(self._tints[one, other]), 1e-6)
        colour = float(np.clip((laid[other].tint - laid[one].tint) / tint, -1.5, 1.5))
        weighed = min((tint / _TINT_NOISE) ** 2, _TINT_MOST)
        return (lines + colour * weighed) / (sure + weighed + _NOTHING)

    def _likeness(self, index: int, done: Aligned) -> float:
        """How much it is alike over what makes it this card, without the worst quarter, which may be covered."""
        others = [k for k in range(len(self.cards)) if k != index]
        weight = self.apart[index, others].mean(0) if others else np.ones(ROWS * COLUMNS, np.float32)
        weight = weight * done.clear
        order = np.argsort(done.likeness)
        share = np.cumsum(weight[order]) / max(float(weight.sum()), 1e-6)
        kept = order[share > 0.25]
        return float(np.average(done.likeness[kept], weights=weight[kept] + 1e-6))


def _best(laid: Sequence[tuple[int, int, Aligned]]) -> list[tuple[int, int, Aligned]]:
    """Those whose laying came to an end, the one that fits best first."""
    ended = [each for each in laid if np.isfinite(each[2].moved)]
    return sorted(ended, key=lambda each: -each[2].fit)


def _once(laid: Sequence[tuple[int, int, Aligned]]) -> list[tuple[int, int, Aligned]]:
    """Each card's first, which fits best, at each turn."""
    return list({(index, turned): (index, turned, done) for index, turned, done in reversed(laid)}.values())[
        ::-1
    ]


def straight_card(picture: Frame, size: tuple[int, int]) -> Frame:
    """A card's picture, which shows nothing else, in another size."""
    height, width = picture.shape[:2]
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64) - 0.5
    return straight(picture, corners, size)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / (np.linalg.norm(rows, axis=-1, keepdims=True) + 1e-9), np.float32)


def tint_off(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """How far the colours of two cards' parts (N, 3) are apart whatever lamp they lie under, as a log of shares."""
    log = [np.log(np.maximum(each, 0.004)) for each in (one, other)]
    shift = (log[0] - log[0].mean(1, keepdims=True)) - (log[1] - log[1].mean(1, keepdims=True))
    cast = np.clip(np.median(shift, axis=0), -_MOST_CAST, _MOST_CAST)
    off = np.sort(np.linalg.norm(shift - cast, axis=1))
    return float(off[: len(off) * 3 // 4].mean())
