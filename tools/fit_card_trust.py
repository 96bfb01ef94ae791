"""Fit how far the naming of cards may be believed: `python tools/fit_card_trust.py [--each N]`.

Draws decks of their own seeds (the benchmark's are others), sees their cards and cards that they lack as a table
gives them, at two sizes, and writes vision/cards/trust.json: by how much the best card fits and how far it is ahead,
whether it is the one; and by how much it fits alone, whether any card of the deck lies there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import cv2
import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.cards import KINDS, Kind, enrolled
from vision.cards import trust as of_cards
from vision.cards.outlines import find_cards
from vision.render.laid_card import any_sight, seen_card

DECK = 8600
HEIGHTS = (120, 280)
_NEAR = 0.2  # of the height: an outline farther off is another thing
_SHRINK = 0.02  # pull of each weight towards none


class Row(NamedTuple):
    """What was found where a card lay. `place`: of the card among those found, -1 where it is not among them."""

    first: tuple[float, ...]
    here: tuple[float, ...]
    place: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=36, help="cards seen of a kind and size")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    rows: list[Row] = []
    for k, kind in enumerate(KINDS):
        rows += _of(kind, DECK + k, options.each)
        print(f"{kind.name}: {len(rows)} looks so far", flush=True)
    fitted = of_cards.Weights(
        first=_fitted([row.first for row in rows], [row.place == 0 for row in rows]),
        here=_fitted([row.here for row in rows], [row.place >= 0 for row in rows]),
    )
    of_cards.FILE.write_bytes(msgspec.json.encode(fitted) + b"\n")
    right = sum(row.place == 0 for row in rows)
    print(of_cards.FILE.name, fitted, f"{len(rows)} looks, {right} whose best card is right")


def _of(kind: Kind, deck: int, each: int) -> list[Row]:
    """Cards of a kind of deck, a third of them such as it lacks: numbers that are another deck's."""
    matcher = enrolled(kind, deck, is_quick=True).matcher()
    rows: list[Row] = []
    for height in HEIGHTS:
        rng = np.random.default_rng((deck, height))
        for turn in range(each):
            n, is_known = int(rng.integers(kind.count)), turn % 3 != 2
            other = kind.drawn(deck + 50, n) if kind.name == "numbers" else kind.drawn(deck, n + kind.count)
            frame, quad = seen_card(kind.drawn(deck, n) if is_known else other, any_sight(rng, height))
            for outline in find_cards(frame):
                if np.linalg.norm(outline.quad.mean(0) - quad.mean(0)) > _NEAR * height:
                    continue
                found = matcher.match(frame, outline.quad).cards
                if found:
                    there = [matcher.cards[one.index].name for one in found]
                    place = there.index(str(n)) if is_known and str(n) in there else -1
                    rows.append(Row(*of_cards.features(found, height), place))
    return rows


def _fitted(features: list[tuple[float, ...]], is_so: list[bool]) -> tuple[float, ...]:
    """A constant and the weights of a logistic fit, by Newton's method."""
    x = np.column_stack([np.ones(len(features)), np.array(features)])
    y, pull = np.array(is_so, float), np.diag([1e-6] + [_SHRINK] * (len(features[0])))
    b = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ b))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + pull, x.T @ (p - y) + pull @ b)
        while _loss(x, y, pull, b - step) > _loss(x, y, pull, b) + 1e-9:
            step = step / 2
        b = b - step
    return tuple(round(float(v), 4) for v in b)


def _loss(x: np.ndarray, y: np.ndarray, pull: np.ndarray, b: np.ndarray) -> float:
    z = x @ b
    return float(np.logaddexp(0, z).sum() - y @ z + b @ pull @ b / 2)


if __name__ == "__main__":
    main()
