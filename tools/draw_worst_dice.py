"""Reads rendered dice of every kind, and puts the ten worst readings with their pictures into docs/dice.md.

Run `PYTHONPATH=. python tools/draw_worst_dice.py [--pictures N]` from the root; the same N gives the same pictures.
The renders are those of the benchmarks' held-out halves, so nothing here was looked at when a reader was tuned.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from benchmarks.dice_numerals import named
from benchmarks.dice_numerals_scenes import mixed_tables
from benchmarks.dice_profile_scenes import HELD_OUT, tables
from benchmarks.dice_symbol_scenes import Table, loose_table, spell_table, world
from benchmarks.dice_symbols import surface_of
from companion.core.observation import DieSeen
from vision.dice.drawn import draw
from vision.dice.numerals import NumeralReader
from vision.dice.reading import PipsReader
from vision.dice.symbols import SymbolReader
from vision.enrol import enrol_folder
from vision.frame import Frame

ROOT = Path(__file__).parents[1]
PAGE, FOLDER = ROOT / "docs" / "dice.md", ROOT / "docs" / "dice"
WORST = 10
"""So many are shown, shared out among the kinds of reading."""
ACROSS_PX, SHOWN_PX = 7.0, 420
"""A picture shows so many faces across around the die, so many px wide."""
MOST_BYTES = 40_000


@dataclass(frozen=True)
class Truth:
    """What lies at `xy_px`: its value, and why it may rightly be left unread."""

    value: str | int
    xy_px: tuple[float, float]
    side_px: float


@dataclass(frozen=True)
class Bad:
    """One reading that is not right. `score`: the surer a wrong one, the worse."""

    score: float
    kind: str
    frame: Frame
    dice: tuple[DieSeen, ...]
    there: str
    said: str
    xy_px: tuple[float, float]
    side_px: float


def main() -> None:
    """Read, choose, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=24, help="rendered pictures of each kind")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    asked = parser.parse_args()
    count, found = asked.pictures, list[Bad]()
    for kind in asked.kinds:
        for n, (frame, truth, dice) in enumerate(KINDS[kind](count), start=1):
            bad = list(_bad(kind, frame, truth, dice))
            found += sorted(bad, key=lambda one: -one.score)[:1]  # one of a picture
            print(
                f"{kind} {n} of {count}: {len(truth)} dice, {len(bad)} not right", file=sys.stderr, flush=True
            )
    chosen, rest, most = list[Bad](), list[Bad](), -(-WORST // len(asked.kinds))
    for one in sorted(found, key=lambda one: -one.score):
        has_room = sum(other.kind == one.kind for other in chosen) < most and len(chosen) < WORST
        (chosen if has_room else rest).append(one)
    chosen += rest[: WORST - len(chosen)]
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("worst-*.jpg"):
        old.unlink()
    rows = []
    for n, one in enumerate(chosen, start=1):
        name = f"worst-{n:02}.jpg"
        (FOLDER / name).write_bytes(_picture(one))
        rows.append(
            f"| ![{one.kind}: {one.there}, {one.said}](dice/{name}) | {one.kind} | {one.there} | {one.said} |"
        )
    table = "\n".join(["| picture | dice | what lies there | what was said |", "|---|---|---|---|", *rows])
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- worst: written by tools/draw_worst_dice.py -->", "<!-- end of worst -->"
    page = re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")


Seen = tuple[Frame, Sequence[Truth], tuple[DieSeen, ...]]


def _pips(count: int) -> Iterator[Seen]:
    """Rolls on tables without a profile."""
    reader = PipsReader()
    for table in tables(HELD_OUT, count):
        roll = table.roll(1)
        truth = [Truth(die.value, die.centre_px, _side(die.quad_px)) for die in roll.dice]
        yield roll.frame, truth, reader.read(roll.frame).dice


def _symbols(count: int) -> Iterator[Seen]:
    """Marbled dice of six owners, enrolled elsewhere, loose and on spell cards."""
    home = world(61, "swirl", 7, ("felt", "wood"))
    with tempfile.TemporaryDirectory() as place:
        home.write_enrolment(Path(place), is_one_light=False)
        reader = SymbolReader([enrol_folder(Path(place), "tada")[0]])
    for n in range(count):
        table: Table = (
            spell_table(home, n, ("playmat", "checks"))
            if n % 2
            else loose_table(home, n, same_light=False, cloths=("paper", "marble"), count=18)
        )
        truth = [Truth(die.value, die.centre_px, _side(die.quad_px)) for die in table.truth]
        yield table.picture, truth, reader.read(table.picture, surface_of(table), table.layouts).dice


def _numerals(count: int) -> Iterator[Seen]:
    """Dice with numerals of all kinds, not enrolled."""
    reader = NumeralReader()
    for frame, truths in mixed_tables(23, count):
        truth = [
            Truth(f"{named(t.kind)} {t.value}", t.centre_px, float(t.box_px[2] - t.box_px[0]) * 0.6)
            for t in truths
        ]
        told = reader.read(frame).dice
        yield frame, truth, told


KINDS = {"pips": _pips, "symbols": _symbols, "numerals": _numerals}


def _side(quad_px: Sequence[tuple[float, float]]) -> float:
    return float(np.linalg.norm(np.subtract(quad_px[1], quad_px[0])))


def _bad(kind: str, frame: Frame, truth: Sequence[Truth], dice: tuple[DieSeen, ...]) -> Iterator[Bad]:
    """Each die that was read wrongly, each that was not seen or read, and each that is none."""
    left = list(dice)
    for die in truth:
        near = min(left, key=lambda seen: _off(seen, die.xy_px), default=None)
        if near is None or _off(near, die.xy_px) > 0.6 * die.side_px:
            yield Bad(0.9, kind, frame, dice, f"{die.value}", "not seen", die.xy_px, die.side_px)
            continue
        left.remove(near)
        value = f"{near.kind} {near.value}" if kind == "numerals" else str(near.value)
        if near.value is None:
            said = f"not read: {near.reason}"
            yield Bad(0.4, kind, frame, dice, f"{die.value}", said, die.xy_px, die.side_px)
        elif value != str(die.value):
            said = f"{value}, {near.confidence:.0%} sure"
            yield Bad(1 + near.confidence, kind, frame, dice, f"{die.value}", said, die.xy_px, die.side_px)
    for seen in left:
        if seen.value is not None:
            x0, y0, x1, y1 = seen.box_px
            said = f"{seen.value}, {seen.confidence:.0%} sure"
            middle = ((x0 + x1) / 2, (y0 + y1) / 2)
            yield Bad(1 + seen.confidence, kind, frame, dice, "no die", said, middle, float(x1 - x0))


def _off(seen: DieSeen, xy_px: tuple[float, float]) -> float:
    x0, y0, x1, y1 = seen.box_px
    return float(np.hypot((x0 + x1) / 2 - xy_px[0], (y0 + y1) / 2 - xy_px[1]))


def _picture(one: Bad) -> bytes:
    """The die and what is around it, with what was read, as a small JPEG."""
    reach = ACROSS_PX * max(one.side_px, 12.0) / 2
    x, y = one.xy_px
    height, width = one.frame.shape[:2]
    x0, y0 = max(0, round(x - reach)), max(0, round(y - 0.7 * reach))
    x1, y1 = min(width, round(x + reach)), min(height, round(y + 0.7 * reach))
    scale = SHOWN_PX / (x1 - x0)
    part = cv2.resize(one.frame[y0:y1, x0:x1], None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    dice = [_moved(die, (x0, y0), scale) for die in one.dice]
    inside = [
        d
        for d in dice
        if 0 <= sum(d.box_px[::2]) / 2 < part.shape[1] and 0 <= sum(d.box_px[1::2]) / 2 < part.shape[0]
    ]
    drawn = draw(np.asarray(part, np.uint8), inside)
    drawn = cv2.resize(
        drawn, (SHOWN_PX, round(drawn.shape[0] * SHOWN_PX / drawn.shape[1])), interpolation=cv2.INTER_AREA
    )
    for quality in range(88, 30, -8):
        data = cv2.imencode(".jpg", drawn, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
        if len(data) < MOST_BYTES:
            break
    return data


def _moved(die: DieSeen, by: tuple[int, int], scale: float) -> DieSeen:
    x0, y0, x1, y1 = die.box_px
    box = ((x0 - by[0]) * scale, (y0 - by[1]) * scale, (x1 - by[0]) * scale, (y1 - by[1]) * scale)
    return DieSeen(
        kind=die.kind, value=die.value, box_px=(round(box[0]), round(box[1]), round(box[2]), round(box[3])),
        confidence=die.confidence, reason=die.reason,
    )  # fmt: skip


if __name__ == "__main__":
    main()
