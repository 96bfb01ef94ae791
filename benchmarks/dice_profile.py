"""Dice with pips on tables whose profile is known: renders with truth, and photographs of one webcam's table.

    python -m benchmarks.dice_profile [--tables N] [--models FOLDER] [--left-out FOLDER] [--json]

Renders: tables whose dice, cloths and seeds no tuning saw. Each is learnt as an owner would, from its empty picture
and LEARNT rolls with the values that lie there, then ROLLS others are read: one to six dice with faces of 62 to 92 px,
a third of them touching, under a lamp that has drifted. For every reason one more die is laid that gives it.

Photographs: `matteop*` holds no empty table and the camera was held in the hand. The profile is made of all 86
photographs of `matteop`, with their values but not their boxes, and their median as the empty picture; the 310 of
`matteop_more` are read, but for those that are nearly the same picture as a learnt one. A roll is exact, abstained or
wrong as in `benchmarks.dice_photographs`; networks that never saw the group read, from `--left-out`. The peers read the
same pictures without a profile.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.dice_photographs import PHOTOGRAPHS, Options, Said, Tally, blobs, expected_error, ours
from benchmarks.dice_profile_scenes import HELD_OUT, Roll, Table, tables
from benchmarks.figures import Figure, Peer, report
from vision.dice.profile import TableProfile
from vision.dice.profiled import ProfiledReader
from vision.dice.reading import PipsReader, Reading
from vision.dice.table_setup import RollPicture, empty_profile, set_up
from vision.frame import Frame, load
from vision.render.scene import DieTruth
from vision.surface import Marks

Progress = Callable[[str], None]
TABLES, LEARNT, ROLLS = 40, 6, 10
REASONS = ("cocked", "stacked", "cut_off", "moving", "too_small", "glare")
_LEARN_FIRST = 1000
_SAME_PICTURE = 0.985  # correlation of small grey pictures
_MARKER_MM = 18.0


def figures(
    progress: Progress, count: int = TABLES, models: Path | None = None, left_out: Path | None = None
) -> list[Figure]:
    """All figures of readings with a profile."""
    return [*renders(progress, count, models), *photographs(progress, left_out)]


def renders(progress: Progress, count: int, models: Path | None) -> list[Figure]:
    """Rolls and reasons on rendered tables that are held out."""
    mine, bare, blob = Tally(), Tally(), Tally()
    said: dict[str, Counter[str]] = {reason: Counter() for reason in REASONS}
    reader = PipsReader(models=models)
    for number, table in enumerate(tables(HELD_OUT, count), start=1):
        profiled = ProfiledReader(_learnt(table, models), models)
        for n in range(ROLLS):
            roll = table.roll(n)
            for tally, read in ((mine, ours(profiled)), (bare, ours(reader)), (blob, blobs)):
                _count(tally, read, roll)
        for reason in REASONS:
            roll = table.roll(number, reason)
            said[reason][_told_of(roll, _read(profiled, roll), roll.dice[0])] += 1
        progress(mine.line(f"with a profile, table {number} of {count}"))
    for name, tally in (("without one", bare), ("blobs", blob)):
        progress(tally.line(name))
    for reason, told in said.items():
        progress(f"{reason}: {dict(told.most_common())}")
    why = "renders whose dice, cloths and seeds no tuning saw"
    return [
        *_rolls("pips with a profile", mine, bare, why),
        Figure(
            "profile, expected error of the confidence",
            expected_error(mine.sure),
            "share",
            "<=",
            0.05,
            len(mine.sure),
        ),
        *[
            Figure(
                f"profile, {reason} said of a die that is so",
                100.0 * told[reason] / max(1, told.total()),
                "%",
                ">=",
                0.0,
                told.total(),
                is_rate=True,
                why=f"what was said: {dict(told.most_common())}; no target is set",
            )
            for reason, told in said.items()
        ],
    ]


def photographs(progress: Progress, left_out: Path | None) -> list[Figure]:
    """Rolls of `matteop_more` by a profile of `matteop` and networks that never saw either."""
    name = "pips with a profile, matteop*"
    if not (PHOTOGRAPHS / "labels.json").is_file():
        progress(f"no photographs at {PHOTOGRAPHS}")
        return _rolls(name, Tally(), Tally(), "no photographs at hand")
    try:
        models = Options(left_out=left_out).networks("matteop*")
    except LookupError as why_not:
        progress(f"{name}: {why_not}")
        return _rolls(name, Tally(), Tally(), str(why_not))
    rows = json.loads((PHOTOGRAPHS / "labels.json").read_text())
    shown, asked = ([row for row in rows if row["set"] == which] for which in ("matteop", "matteop_more"))
    frames = [load(PHOTOGRAPHS / row["image"]) for row in shown]
    rolls = [
        RollPicture(row["image"], frame, tuple(int(die["value"]) for die in row["dice"]))
        for row, frame in zip(shown, frames, strict=True)
    ]
    empty = np.median(np.stack(frames), axis=0).astype(np.uint8)
    result = set_up(empty_profile("matteop", empty, Marks()), rolls, models)
    progress(f"learnt from {result.used} of {len(rolls)} photographs: {result.profile.counts()}")
    profiled, bare_reader = ProfiledReader(result.profile, models), PipsReader(models=models)
    mine, bare = Tally(), Tally()
    seen = np.stack([_small(frame) for frame in frames])
    alike = 0
    for row in asked:
        frame = load(PHOTOGRAPHS / row["image"])
        if float((seen @ _small(frame)).max()) > _SAME_PICTURE:
            alike += 1
            continue
        for tally, read in ((mine, ours(profiled)), (bare, ours(bare_reader))):
            begun_ns = time.perf_counter_ns()
            told = read(frame)
            verdict = tally.add(row["dice"], told, (time.perf_counter_ns() - begun_ns) / 1e6)
            if tally is mine and verdict != "exact":
                there = sorted(die["value"] for die in row["dice"])
                progress(f"{verdict}: {row['image']} {there} read as {[value for value, _, _ in told]}")
    for title, tally in (("with a profile", mine), ("without one", bare)):
        progress(tally.line(title))
    why = (
        f"86 photographs learnt from, {alike} nearly the same not asked; "
        "networks that never saw the group, rules tried on this set"
    )
    return _rolls(name, mine, bare, why)


def _learnt(table: Table, models: Path | None) -> TableProfile:
    size = table.scene.size_mm if table.scene.marks else None
    start = empty_profile("table", table.empty(), Marks(marker_mm=_MARKER_MM, size_mm=size))
    shown = [(n, table.roll(_LEARN_FIRST + n)) for n in range(LEARNT)]
    rolls = [RollPicture(str(n), roll.frame, tuple(int(die.value) for die in roll.dice)) for n, roll in shown]
    return set_up(start, rolls, models).profile


def _count(tally: Tally, read: Callable[[Frame], list[Said]], roll: Roll) -> None:
    truth = [{"value": die.value, "box_px": die.box_px} for die in roll.dice]
    begun_ns = time.perf_counter_ns()
    said = read(roll.frame)
    tally.add(truth, said, (time.perf_counter_ns() - begun_ns) / 1e6)


def _read(reader: ProfiledReader, roll: Roll) -> Reading:
    if roll.before is None:
        return reader.read(roll.frame)
    reader.read(roll.before)
    return reader.again(roll.frame)


def _told_of(roll: Roll, reading: Reading, die: DieTruth) -> str:
    """What was said of a die: a reason, ``right``, ``wrong``, or ``nothing``."""
    side = float(np.hypot(*np.subtract(die.quad_px[0], die.quad_px[1])))
    height, width = roll.frame.shape[:2]
    x, y = np.clip(die.centre_px, 0.3 * side, np.array((width, height)) - 0.3 * side)
    near: list[tuple[float, Any]] = []
    for seen in reading.dice:
        x0, y0, x1, y1 = seen.box_px
        near.append((float(np.hypot((x0 + x1) / 2 - x, (y0 + y1) / 2 - y)) / side, seen))
    far, seen = min(near, key=lambda pair: pair[0], default=(9.0, None))
    if seen is None or far > 0.6:
        return "nothing"
    if seen.value is None:
        return str(seen.reason)
    return "right" if seen.value == die.value else "wrong"


def _rolls(name: str, mine: Tally, bare: Tally, why: str) -> list[Figure]:
    found = []
    for verdict, op, target in (("exact", ">=", 97.0), ("wrong", "<=", 1.0)):
        value, other = ((t.share(verdict) if t.rolls else None) for t in (mine, bare))
        peer = Peer("the same networks without a profile", other)
        n = mine.rolls.total()
        found.append(Figure(f"{name}, {verdict} rolls", value, "%", op, target, n, True, peer, why))
    return found


def _small(frame: Frame) -> np.ndarray:
    """A small grey picture as a vector of length 1 without its mean: the product of two is their correlation."""
    grey = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), (48, 36), interpolation=cv2.INTER_AREA)
    flat = grey.astype(np.float32).ravel() - grey.mean()
    return np.asarray(flat / (np.linalg.norm(flat) + 1e-6), np.float32)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; exit 0 either way."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dice_profile", description=__doc__)
    parser.add_argument("--json", action="store_true", help="only the JSON object on stdout")
    parser.add_argument("--tables", type=int, default=TABLES, help="how many rendered tables")
    parser.add_argument(
        "--models", type=Path, help="folder of other networks, as `tools/train_dice.py` writes them"
    )
    parser.add_argument("--left-out", type=Path, help="folder of `tools/train_dice_all.py`, for photographs")
    asked = parser.parse_args(arguments)

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    report(figures(progress, asked.tables, asked.models, asked.left_out), asked.json)


if __name__ == "__main__":
    main()
