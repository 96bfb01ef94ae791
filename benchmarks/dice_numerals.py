"""How well dice with numerals are read: the part `numerals` of `benchmarks.dice`.

A die is *right* when one is told whose box holds its middle, with its kind and its value; *abstained* when it is told
without a value or not at all; *wrong* otherwise. On a photograph of `burks`, which shows one die, nothing else may be
told either.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dice_numerals_scenes import look_held_out, mixed_tables, tables_of, write_faces
from benchmarks.dice_photographs import PHOTOGRAPHS, expected_error
from benchmarks.figures import Figure
from companion.core.observation import DieSeen
from vision.dice.numerals import NumeralReader
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_enrolled import EnrolledNumeralReader
from vision.dice.numerals_looks import KINDS
from vision.dice.numerals_profile import FaceTaker, NumeralProfile, enrol_numerals
from vision.dice.report import Reader
from vision.frame import load

POLY = PHOTOGRAPHS.parent / "renders" / "poly"
_MIXED = 40
_LOOKS, _TABLES, _PER_TABLE = 5, 10, 6  # per kind: 300 throws
Truth = tuple[str, int, tuple[float, float]]
"""Kind, value, middle (x, y) px."""


@dataclass
class Tally:
    """What was said of dice whose truth is known."""

    by_kind: dict[str, Counter[str]] = field(default_factory=dict)
    sure: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, kind: str, verdict: str) -> None:
        """Count one die."""
        self.by_kind.setdefault(kind, Counter())[verdict] += 1

    def count(self, verdict: str, kinds: Iterable[str] | None = None) -> int:
        """Dice of these kinds (all) with this verdict."""
        return sum(self.by_kind[kind][verdict] for kind in kinds or self.by_kind if kind in self.by_kind)

    def n(self, kinds: Iterable[str] | None = None) -> int:
        """Dice of these kinds (all)."""
        return sum(self.by_kind[kind].total() for kind in kinds or self.by_kind if kind in self.by_kind)

    def share(self, verdict: str, kinds: Sequence[str] | None = None) -> float | None:
        """Share in percent, None where there is no die."""
        return 100.0 * self.count(verdict, kinds) / self.n(kinds) if self.n(kinds) else None

    def line(self, name: str) -> str:
        """One line for people."""
        kinds = " ".join(
            f"{k} {c['right']}/{c.total()} ({c['abstained']} abstained)"
            for k, c in sorted(self.by_kind.items())
        )
        return f"{name}: right {self.share('right') or 0:.1f} % of {self.n()}: {kinds}"


def judge(tally: Tally, truths: Sequence[Truth], told: Sequence[DieSeen]) -> None:
    """Adds a picture's dice to the tally."""
    left = list(told)
    for kind, value, (x, y) in truths:
        here = [d for d in left if d.box_px[0] <= x <= d.box_px[2] and d.box_px[1] <= y <= d.box_px[3]]
        best = max(here, key=lambda d: d.confidence, default=None)
        if best is not None:
            left.remove(best)
        is_right = best is not None and (best.kind, best.value) == (kind, value)
        if best is not None and best.value is not None:
            tally.sure.append((best.confidence, is_right))
        is_silent = best is None or best.value is None
        tally.add(kind, "right" if is_right else "abstained" if is_silent else "wrong")


def poly(reader: Reader, folder: Path = POLY) -> Tally:
    """The shared renders with truth."""
    tally = Tally()
    for path in sorted(folder.glob("*.json")):
        dice = json.loads(path.read_text())["dice"]
        truths = [(named(d["kind"]), int(d["value"]), tuple(d["centre_px"])) for d in dice]
        judge(tally, truths, reader.read(load(path.with_suffix(".jpg"))).dice)
    return tally


def named(kind: str) -> str:
    """The reader's name of a kind of rendered die."""
    return "d6-numeral" if kind == "d6" else kind


def own(reader: Reader, count: int = _MIXED) -> Tally:
    """Our own renders in typefaces that were held out."""
    tally = Tally()
    for frame, truths in mixed_tables(11, count):
        judge(tally, [(named(t.kind), t.value, t.centre_px) for t in truths], reader.read(frame).dice)
    return tally


def burks_rows(folder: Path) -> list[dict[str, Any]]:
    """The labels of the photographs of `burks`."""
    return [row for row in json.loads((folder / "labels.json").read_text()) if row["set"] == "burks"]


def burks(reader: Reader, folder: Path = PHOTOGRAPHS) -> Tally:
    """Photographs of one die each, untouched."""
    tally = Tally()
    for row in burks_rows(folder):
        (die,) = row["dice"]
        told = reader.read(load(folder / row["image"])).dice
        read = [d for d in told if d.value is not None]
        is_right = len(read) == 1 and (read[0].kind, read[0].value) == (die["kind"], die["value"])
        tally.sure += [(d.confidence, is_right) for d in read]
        tally.add(die["kind"], "right" if is_right else "wrong" if read else "abstained")
    return tally


def burks_d4_enrolled(folder: Path = PHOTOGRAPHS) -> Tally:
    """The barrel d4 of `burks`: each throw of its four faces in turn is enrolled, the others are read."""
    rows = [row for row in burks_rows(folder) if row["dice"][0]["kind"] == "d4"]
    throws = [rows[k : k + 4] for k in range(0, len(rows), 4)]
    taker, tally = FaceTaker(), Tally()
    for enrolled in throws:
        shots = [taker.taken(load(folder / r["image"]), "d4", str(r["dice"][0]["value"])) for r in enrolled]
        profile = NumeralProfile("d4", tuple(s for s in shots if s is not None), Conventions(kinds=("d4",)))
        reader = EnrolledNumeralReader(profile)
        for row in (row for throw in throws if throw is not enrolled for row in throw):
            read = [d for d in reader.read(load(folder / row["image"])).dice if d.value is not None]
            is_right = len(read) == 1 and read[0].value == row["dice"][0]["value"]
            tally.add("d4", "right" if is_right else "wrong" if read else "abstained")
    return tally


def enrolled(kind: str, looks: int = _LOOKS, tables: int = _TABLES) -> Tally:
    """Dice of one kind of our own renders, each enrolled by a folder of three pictures a face."""
    tally = Tally()
    for index in range(looks):
        rng = np.random.default_rng((kind == "d6-numeral", index, len(kind), KINDS.index(kind)))
        look = look_held_out(rng, "d6" if kind == "d6-numeral" else kind)
        seed = 100 * KINDS.index(kind) + 10 * index
        with tempfile.TemporaryDirectory() as place:
            write_faces(Path(place), look, seed)
            profile, _ = enrol_numerals(Path(place), "own", kind, Conventions())
        reader = EnrolledNumeralReader(profile)
        for frame, truths in tables_of(look, seed, tables, _PER_TABLE):
            judge(tally, [(kind, t.value, t.centre_px) for t in truths], reader.read(frame).dice)
    return tally


def figures(progress: Callable[[str], None]) -> list[Figure]:
    """All figures of this part; photographs and shared renders that are absent give none."""
    reader, found = NumeralReader(), []
    tallies: dict[str, Tally] = {"own": own(reader)}
    if POLY.is_dir():
        tallies["poly"] = poly(reader)
    if (PHOTOGRAPHS / "labels.json").is_file():
        tallies["burks"] = burks(reader)
        tallies["burks d4"] = burks_d4_enrolled()
    for name, tally in tallies.items():
        progress(tally.line(name))
    known = Tally()
    for kind in KINDS:
        tally = enrolled(kind)
        progress(tally.line(f"enrolled {kind}"))
        known.by_kind.update(tally.by_kind)
        known.sure += tally.sure
        target = 93.0 if kind == "d20" else 96.0
        name = "numerals enrolled, d20" if kind == "d20" else f"numerals enrolled, {kind}"
        found.append(_rate(name, tally.share("right"), ">=", target, tally.n()))
    others = [kind for kind in KINDS if kind != "d20"]
    found += [
        _rate("numerals enrolled", known.share("right", others), ">=", 96.0, known.n(others)),
        _rate("numerals enrolled, abstained", known.share("abstained"), "<=", 5.0, known.n()),
    ]
    if "burks d4" in tallies:
        d4 = tallies["burks d4"]
        found.append(_rate("numerals enrolled, burks d4", d4.share("right"), ">=", 96.0, d4.n()))
        found.append(
            _rate(
                "numerals not enrolled, burks",
                tallies["burks"].share("right"),
                ">=",
                70.0,
                tallies["burks"].n(),
            )
        )
    if "poly" in tallies:
        found.append(
            _rate(
                "numerals not enrolled, renders",
                tallies["poly"].share("right"),
                ">=",
                85.0,
                tallies["poly"].n(),
            )
        )
    found.append(
        _rate(
            "numerals not enrolled, own renders",
            tallies["own"].share("right"),
            ">=",
            85.0,
            tallies["own"].n(),
        )
    )
    for name, sure in (("enrolled", known.sure), ("not enrolled", tallies["own"].sure)):
        error = expected_error(sure)
        found.append(
            Figure(
                f"expected error of the confidence, numerals {name}", error, "share", "<=", 0.05, len(sure)
            )
        )
    return found


def _rate(name: str, value: float | None, op: str, target: float, n: int) -> Figure:
    return Figure(name, value, "%", op, target, n, is_rate=True)
