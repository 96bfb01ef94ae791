"""Dice with pips on real photographs, without a table profile.

A roll is *exact* when the values read are those that lie there and no die is left unread; *abstained* when a die is
said to be unread and no value read is wrong; *wrong* otherwise, also when a die is missing without a word. A read die
counts when its value is right and the centre of its box lies in the box of the truth; an unread die counts against
recall. The peer is the published blob method (find round blobs, cluster them, count), made free of scale and
polarity by us, in the same run.

Of a set that the networks learn from, only networks that never saw it are quoted: `tools/train_dice_all.py --work
FOLDER` makes them, `--left-out FOLDER` points here to them.
"""

from __future__ import annotations

import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.figures import Figure, Peer
from vision.dice.reading import PipsReader
from vision.dice.report import Reader
from vision.frame import Frame, load

PHOTOGRAPHS = Path(__file__).parents[1] / ".." / "shared" / "data" / "dice"
SETS = {
    "nell_train": ("nell_train",),
    "matteop*": ("matteop", "matteop_more"),
    "n3v*": ("n3v", "n3v_more"),
    "epanemu*": ("epanemu", "epanemu_more"),
}
_TARGETS = {
    "nell_train": {"recall": 0.96, "precision": 0.97, "exact": 70.0, "wrong": 8.0},
    "matteop*": {"exact": 80.0, "wrong": 8.0},
    "n3v*": {"recall": 0.90, "wrong": 8.0},
    "epanemu*": {"wrong": 8.0},
}
_CALIBRATION = ("expected error of the confidence", "share", "<=", 0.05)
_SPEED = ("full reading of ten dice at 1080p", "ms", "<=", 120.0)
_MEMORY = ("memory of the reader's process", "MB", "<=", 400.0)
_LEARNT_FROM = {"matteop*": "matteop", "n3v*": "n3v", "epanemu*": "epanemu"}
Said = tuple[int | None, tuple[float, float], float]
"""Value or None, centre of the box (x, y), confidence."""
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What to measure. `limit`: pictures a set at most; `models`: folder of other networks than the shipped ones;
    `left_out`: folder of networks that were trained without a group, in `without-GROUP`."""

    folder: Path = PHOTOGRAPHS
    sets: tuple[str, ...] = tuple(SETS)
    limit: int | None = None
    models: Path | None = None
    left_out: Path | None = None

    def networks(self, name: str) -> Path | None:
        """The folder of networks that may be quoted for a set, None: the shipped. Raises LookupError."""
        group = _LEARNT_FROM.get(name)
        if group is None:
            return self.models
        folder = self.left_out / f"without-{group}" if self.left_out else None
        if folder is None or not (folder / "classifier.onnx").is_file():
            raise LookupError(
                f"networks without {group} are needed: tools/train_dice_all.py --work FOLDER, --left-out FOLDER"
            )
        return folder


def figures(progress: Progress, options: Options | None = None) -> list[Figure]:
    """All figures of pips without a profile, null where there are no photographs; one line a set to `progress`."""
    options = options or Options()
    if not (options.folder / "labels.json").is_file():
        progress(f"no photographs at {options.folder}")
        return figures_of({}) + [
            Figure(name, None, unit, op, target, why="no photographs at hand")
            for name, unit, op, target in (_CALIBRATION, _SPEED, _MEMORY)
        ]
    tallies = run(options, progress)
    sure = [pair for mine, _ in tallies.values() for pair in mine.sure]
    calibration = _measured(_CALIBRATION, expected_error(sure), len(sure))
    return [*figures_of(tallies), calibration, *speed(options.folder, PipsReader(models=options.models))]


def _measured(row: tuple[str, str, str, float], value: float, n: int) -> Figure:
    name, unit, op, target = row
    return Figure(name, value, unit, op, target, n)


@dataclass
class Tally:
    """What one reader reached on one set."""

    rolls: Counter[str] = field(default_factory=Counter)
    truth: int = 0
    read: int = 0
    right: int = 0
    ms: list[float] = field(default_factory=list)
    sure: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, truth: Sequence[dict[str, Any]], said: Sequence[Said], took_ms: float) -> str:
        """Count one picture; returns exact, wrong or abstained."""
        left = [(die["value"], die["box_px"]) for die in truth]
        values = [value for value, _, _ in said if value is not None]
        for value, (x, y), confidence in said:
            hit = next((d for d in left if d[0] == value and _holds(d[1], x, y)), None)
            if value is not None:
                self.sure.append((confidence, hit is not None))
            if hit is not None:
                left.remove(hit)
        self.truth += len(truth)
        self.read += len(values)
        self.right += len(truth) - len(left)
        self.ms.append(took_ms)
        there, unread = Counter(die["value"] for die in truth), len(said) - len(values)
        if Counter(values) == there and not unread:
            verdict = "exact"
        elif unread and not Counter(values) - there:
            verdict = "abstained"
        else:
            verdict = "wrong"
        self.rolls[verdict] += 1
        return verdict

    def share(self, verdict: str) -> float:
        """Share of rolls in percent."""
        return 100.0 * self.rolls[verdict] / max(1, self.rolls.total())

    @property
    def recall(self) -> float:
        """Dice read right, of all that lie there."""
        return self.right / max(1, self.truth)

    @property
    def precision(self) -> float:
        """Dice read right, of all that were read."""
        return self.right / max(1, self.read)

    def line(self, name: str) -> str:
        """One line for people."""
        shares = " ".join(
            f"{verdict} {self.share(verdict):5.1f}" for verdict in ("exact", "wrong", "abstained")
        )
        return (
            f"{name:24} n {self.rolls.total():4}  {shares}  recall {self.recall:.3f} precision {self.precision:.3f}"
            f"  {np.median(self.ms) if self.ms else 0:5.0f} ms"
        )


def _holds(box: Sequence[float], x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def ours(reader: Reader) -> Callable[[Frame], list[Said]]:
    """What our reader says of a frame."""

    def said(frame: Frame) -> list[Said]:
        boxes = [(die, die.box_px) for die in reader.read(frame).dice]
        return [
            (
                int(d.value) if d.value is not None else None,
                ((b[0] + b[2]) / 2, (b[1] + b[3]) / 2),
                d.confidence,
            )
            for d, b in boxes
        ]

    return said


def blobs(frame: Frame) -> list[Said]:
    """The peer: round blobs of either polarity, clustered within a reach that follows their own size."""
    settings = cv2.SimpleBlobDetector.Params()
    settings.filterByInertia = True
    settings.minInertiaRatio = 0.6
    settings.filterByArea = True
    settings.minArea = 8
    settings.maxArea = frame.shape[0] * frame.shape[1] / 100
    detector = cv2.SimpleBlobDetector.create(settings)
    grey = cv2.medianBlur(frame, 3)
    found: list[Said] = []
    for picture in (grey, np.asarray(255 - grey, np.uint8)):
        points = detector.detect(picture)
        if not points:
            continue
        xy = np.array([point.pt for point in points])
        reach = 2.6 * float(np.median([point.size for point in points]))
        for group in _clusters(xy, reach):
            if len(group) <= 6:
                x, y = xy[group].mean(0)
                found.append((len(group), (float(x), float(y)), 0.5))
    return found


def _clusters(xy: np.ndarray, reach: float) -> list[list[int]]:
    """Points joined when nearer than `reach` (density clustering with no minimum)."""
    near = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1)) < reach
    left, groups = set(range(len(xy))), []
    while left:
        group, edge = [], [left.pop()]
        while edge:
            point = edge.pop()
            group.append(point)
            more = [int(i) for i in np.nonzero(near[point])[0] if int(i) in left]
            left.difference_update(more)
            edge += more
        groups.append(group)
    return groups


def expected_error(sure: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error of (confidence, was right) pairs, equal bins of 0 to 1."""
    total = 0.0
    for low in np.arange(bins) / bins:
        inside = [
            (c, ok) for c, ok in sure if low <= c < low + 1 / bins or (c == 1.0 and low + 1 / bins >= 1.0)
        ]
        if inside:
            total += abs(sum(c for c, _ in inside) - sum(ok for _, ok in inside))
    return total / max(1, len(sure))


def run(options: Options, progress: Progress) -> dict[str, tuple[Tally, Tally]]:
    """(ours, the peer's) tally for each set of `options`."""
    rows = json.loads((options.folder / "labels.json").read_text())
    tallies = {}
    for name in options.sets:
        try:
            reader = PipsReader(models=options.networks(name))
        except LookupError as why:
            progress(f"{name}: {why}")
            continue
        mine, peer = Tally(), Tally()
        for row in [row for row in rows if row["set"] in SETS[name]][: options.limit]:
            frame = load(options.folder / row["image"])
            for tally, read in ((mine, ours(reader)), (peer, blobs)):
                begun_ns = time.perf_counter_ns()
                said = read(frame)
                tally.add(row["dice"], said, (time.perf_counter_ns() - begun_ns) / 1e6)
        for who, tally in (("ours", mine), ("blobs", peer)):
            if tally.rolls:
                progress(tally.line(f"{name} {who}"))
        tallies[name] = (mine, peer)
    return tallies


def _why(name: str, mine: Tally) -> str:
    if mine.rolls:
        how = "networks that never saw the set" if name in _LEARNT_FROM else "a set never learnt from"
        return f"{how}: {mine.line('').strip()}"
    return "not measured: no photographs, or no networks that never saw it (train_dice_all, --left-out)"


def figures_of(tallies: dict[str, tuple[Tally, Tally]]) -> list[Figure]:
    """The figures of the pips sets, and nulls for what was not run."""
    figures = []
    for name, targets in _TARGETS.items():
        mine, peer = tallies.get(name, (Tally(), Tally()))
        for what, target in targets.items():
            is_roll = what in ("exact", "wrong")
            value, other = (
                ((t.share(what) if is_roll else getattr(t, what)) if t.rolls else None) for t in (mine, peer)
            )
            figures.append(
                Figure(
                    name=f"pips {name} {what}",
                    value=value,
                    unit="%" if is_roll else "share",
                    op="<=" if what == "wrong" else ">=",
                    target=target,
                    n=mine.rolls.total() if is_roll else (mine.truth if what == "recall" else mine.read),
                    is_rate=True,
                    peer=Peer("blobs, scale-free", other),
                    why=_why(name, mine),
                )
            )
    return figures


def speed(folder: Path, reader: PipsReader) -> list[Figure]:
    """Full reading of ten dice in a 1920 x 1080 picture, and the memory of this process."""
    rows = [r for r in json.loads((folder / "labels.json").read_text()) if r["set"] == "nell_train"]
    chosen = [row for row in rows if len(row["dice"]) == 10][:8]
    took = []
    for row in chosen:
        square = cv2.resize(load(folder / row["image"]), (1080, 1080), interpolation=cv2.INTER_CUBIC)
        frame = np.asarray(cv2.copyMakeBorder(square, 0, 0, 420, 420, cv2.BORDER_REPLICATE), np.uint8)
        reader.read(frame)
        begun_ns = time.perf_counter_ns()
        reader.read(frame)
        took.append((time.perf_counter_ns() - begun_ns) / 1e6)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        _measured(_SPEED, float(np.median(took)), len(took)),
        _measured(_MEMORY, memory_mb, 1),
    ]
