"""How well cards are known by one picture each: `python -m benchmarks.cards [--json] [--each N] [--scans]`.

Decks of our own drawing that nothing was tuned on, 65 cards (8 of numbers), are enrolled by one photograph each
(`--scans`: by the softened print, which is quicker), then seen N times a cell: any turn, tilted, under a lamp with a
cast, with glare, a finger, a blur, on plain tables, dark on dark and light on light too. A card that is not found is
counted as wrong. The peers see what was found: a 64-bit perceptual hash (the signs of the 8 x 8 lowest cosine terms
against their median) and 500 ORB features with RANSAC. Finding is judged on the photographs in
`../shared/data/cards`. At last cards are laid by a hand before a camera in its own process, in real time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.cards_laid import figures as laid_by_hand
from benchmarks.cards_peers import HashPeer, OrbPeer
from benchmarks.figures import Figure, Peer, percentile, report, say
from companion.core.observation import CardSeen
from vision.cards.deck import Deck
from vision.cards.enrolling import deck_of, judged, measured, take_card
from vision.cards.outlines import find_cards
from vision.cards.reader import CardReader
from vision.frame import Frame, load
from vision.render.decks import illustrated, number, text_only
from vision.render.laid_card import any_sight, good_sight, seen_card

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "shared" / "data" / "cards"
CARDS, NUMBERS, UNKNOWN = 65, 8, 5
LAID = 40
DECK = 7001
"""The first of the decks; none of them was ever looked at."""
_ENROLLED_PX = 420.0
_SAME = 0.8


@dataclass
class Cell:
    """What became of the cards of one kind at one size. `first`: the best guess was right; `three`: it was one of the
    three best; `asked`: known, not named; `lost`: known, said to be unknown, or not found; `refused`: unknown, not
    named."""

    known: int = 0
    first: int = 0
    three: int = 0
    named_wrong: int = 0
    asked: int = 0
    lost: int = 0
    unknown: int = 0
    refused: int = 0
    hash: int = 0
    orb: int = 0
    ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """A kind of deck: how its card `n` of deck `d` is drawn, and how many there are."""

    name: str
    drawn: Callable[[int, int], Frame]
    count: int


KINDS = (
    Kind("illustrated", illustrated, CARDS),
    Kind("numbers", lambda deck, n: number(deck, n + 1), NUMBERS),
    Kind("text-only", text_only, CARDS),
)


def enrolled(kind: Kind, deck: int, *, is_quick: bool) -> Deck:
    """The deck by one picture a card."""
    rng, found = np.random.default_rng(deck), []
    for n in range(kind.count):
        card = kind.drawn(deck, n)
        if is_quick:
            soft = cv2.GaussianBlur(card, (0, 0), 0.9) * rng.uniform(0.92, 1.06, 3)
            frame = np.asarray(np.clip(soft + rng.normal(0, 2, card.shape), 0, 255), np.uint8)
            height, width = frame.shape[:2]
            quad = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64) - 0.5
        else:
            frame, _ = seen_card(card, good_sight(rng, _ENROLLED_PX))
            frame, quad = take_card(frame)
        found.append((measured(str(n), frame, quad), frame, quad))
    return deck_of(found)[0]


def cell(kind: Kind, deck: int, height_px: float, each: int, *, is_quick: bool) -> Cell:
    """One kind of deck seen `each` times, and cards of the same drawing that it lacks a third as often."""
    known = enrolled(kind, deck, is_quick=is_quick)
    reader, peers = CardReader(known), (HashPeer(known.cards), OrbPeer(known.cards))
    rng, counted = np.random.default_rng((deck, int(height_px))), Cell()
    for turn in range(each):
        n = int(rng.integers(kind.count))
        _see(reader, kind.drawn(deck, n), (str(n), height_px), rng, (counted, peers))
        if kind.name != "numbers" and turn % 3 == 2:
            stranger = kind.drawn(deck, CARDS + int(rng.integers(UNKNOWN)))
            _see(reader, stranger, (None, height_px), rng, (counted, peers))
    say(f"{kind.name} deck {deck} at {height_px:.0f} px: {counted.first} of {counted.known} first, "
        f"{counted.three} in three, {counted.lost} lost, {counted.asked} asked, {counted.named_wrong} named wrong, "
        f"{counted.refused} of {counted.unknown} unknown refused, hash {counted.hash}, ORB {counted.orb}")  # fmt: skip
    return counted


def _see(
    reader: CardReader,
    card: Frame,
    asked: tuple[str | None, float],
    rng: np.random.Generator,
    into: tuple[Cell, tuple[HashPeer, OrbPeer]],
) -> None:
    truth, height_px = asked
    counted, (hashed, orb) = into
    frame, quad = seen_card(card, any_sight(rng, height_px))
    begun = time.process_time()
    seen = [each for each in reader.read(frame) if _is_there(each, quad)]
    counted.ms.append((time.process_time() - begun) * 1e3)
    best = max(seen, key=lambda each: each.confidence, default=None)
    if truth is None:
        counted.unknown += 1
        counted.refused += best is None or best.name is None
        return
    counted.known += 1
    names = [] if best is None else [each.name for each in best.candidates]
    counted.first += names[:1] == [truth]
    counted.three += truth in names[:3]
    counted.named_wrong += best is not None and best.name not in (None, truth)
    counted.asked += best is not None and best.name is None and bool(names)
    counted.lost += not names
    if best is not None:
        laid = np.array(best.quad_px)
        counted.hash += hashed.name(frame, laid) == truth
        counted.orb += orb.name(frame, laid) == truth


def _is_there(card: CardSeen, quad: NDArray[np.float64]) -> bool:
    apart = np.linalg.norm(np.mean(card.quad_px, axis=0) - quad.mean(0))
    return bool(apart < 0.2 * np.linalg.norm(quad[2] - quad[0]))


def photographs() -> Figure:
    """The share of real cards whose outline is found, IoU above 0.8, on the photographs with known corners."""
    name = "real photographs, cards found"
    if not (PHOTOGRAPHS / "labels.json").is_file():
        return Figure(name, None, "%", ">=", 95, why=f"{PHOTOGRAPHS} is not there")
    found = total = extra = 0
    for path, row in json.loads((PHOTOGRAPHS / "labels.json").read_text()).items():
        outlines = [each.quad for each in find_cards(load(PHOTOGRAPHS / path))]
        truths = [np.array(card["quad_px"]) for card in row.get("cards", [])]
        hits = sum(max((_iou(each, truth) for each in outlines), default=0.0) > _SAME for truth in truths)
        found, total, extra = found + hits, total + len(truths), extra + len(outlines) - hits
    return Figure(
        name, 100 * found / total, "%", ">=", 95, n=total, is_rate=True, why=f"{extra} false outlines"
    )


def _iou(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    a, b = one.astype(np.float32), other.astype(np.float32)
    shared = float(cv2.intersectConvexConvex(a, b)[0])
    return shared / (cv2.contourArea(a) + cv2.contourArea(b) - shared)


def said_at_enrolment() -> Figure:
    """Whether two like cards, a blurred picture and a missing card are told, and nothing of a good deck."""
    pictures = {str(n): illustrated(DECK + 50, n) for n in range(4)}
    size = pictures["0"].shape[1::-1]
    corners = np.array([(0, 0), (size[0], 0), size, (0, size[1])], np.float64) - 0.5

    def told(names: Sequence[str], **changed: Frame) -> tuple[int, int, int]:
        faces = {**pictures, **changed}
        found = [(measured(name, frame, corners), frame, corners) for name, frame in faces.items()]
        doubts = {taken.name: taken.doubt for taken, _, _ in found if taken.doubt}
        result = judged(deck_of(found)[0], doubts, {}, names)
        return len(result.alike), len(result.doubts), len(result.missing)

    like = np.asarray(cv2.GaussianBlur(pictures["1"], (0, 0), 0.8), np.uint8)
    blurred = np.asarray(cv2.GaussianBlur(pictures["2"], (0, 0), 7), np.uint8)
    right = [
        told(list("0123")) == (0, 0, 0),
        told(list("0123"), also=like)[0] == 1,
        told(list("0123"), **{"2": blurred})[1] == 1,
        told(list("01234"))[2] == 1,
    ]
    return Figure("enrolment says what is amiss", 100.0 * sum(right) / 4, "%", ">=", 100, n=4)


def figures(each: int, *, is_quick: bool) -> list[Figure]:
    """All figures."""
    found = [photographs(), said_at_enrolment()]
    say(f"photographs {found[0].value} ({found[0].why}), enrolment {found[1].value}")
    art, numbers, text = KINDS
    large = {
        kind.name: cell(kind, DECK + k, 280, each, is_quick=is_quick)
        for k, kind in enumerate((numbers, art, text))
    }
    small = cell(text, DECK + 2, 140, each, is_quick=is_quick)
    found += _of("illustrated", large["illustrated"], 99)
    found += _of("numbers 1-8", large["numbers"], 98)
    found += _of("text-only at 280 px", large["text-only"], 90)
    found += _of("text-only at 140 px", small, 80)
    both = (large["text-only"], small)
    known = sum(one.known for one in both)
    three, asked = sum(one.three for one in both), sum(one.asked + one.lost for one in both)
    found.append(Figure("text-only, top three", 100 * three / known, "%", ">=", 97, known, is_rate=True))
    found.append(
        Figure("text-only, asked instead of named", 100 * asked / known, "%", "<=", 25, known, is_rate=True)
    )
    every = (large["illustrated"], *both)
    unknown, refused = sum(one.unknown for one in every), sum(one.refused for one in every)
    found.append(
        Figure("unknown cards refused", 100 * refused / unknown, "%", ">=", 95, unknown, is_rate=True)
        if unknown
        else Figure("unknown cards refused", None, "%", ">=", 95, why="too few were shown")
    )
    plain = (large["illustrated"], large["numbers"])
    known, lost = sum(one.known for one in plain), sum(one.lost for one in plain)
    found.append(
        Figure(
            "illustrated and numbers, known but lost", 100 * lost / known, "%", "<=", 2, known, is_rate=True
        )
    )
    say("cards laid by a hand before a camera")
    deck = DECK + 1
    prints = [art.drawn(deck, n) for n in range(CARDS)]
    found += laid_by_hand(enrolled(art, deck, is_quick=is_quick), prints, LAID, seed=DECK)
    ms = [one for each_cell in (*large.values(), small) for one in each_cell.ms]
    found.append(Figure("CPU a frame, p90", percentile(ms, 0.9), "ms", "<=", 300, n=len(ms)))
    return found


def _of(name: str, counted: Cell, target: float) -> list[Figure]:
    share = 100 / counted.known
    why = f"{counted.named_wrong} named wrong"
    return [
        Figure(name, share * counted.first, "%", ">=", target, counted.known, is_rate=True,
               peer=Peer("ORB and RANSAC", round(share * counted.orb, 1)), why=why),
        Figure(f"{name}, against a hash", share * counted.first, "%", ">=", target, counted.known, is_rate=True,
               peer=Peer("perceptual hash, 64 bits", round(share * counted.hash, 1))),
    ]  # fmt: skip


def main() -> None:
    """Measure and print; exit 0 either way."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cards", description=__doc__)
    parser.add_argument("--json", action="store_true", help="only the JSON object on stdout")
    parser.add_argument("--each", type=int, default=100, help="how often each kind of deck is seen a size")
    parser.add_argument("--scans", action="store_true", help="enrol by prints, not by photographs")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    report(figures(max(3, asked.each), is_quick=asked.scans), asked.json)


if __name__ == "__main__":
    main()
