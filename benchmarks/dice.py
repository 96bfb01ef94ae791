"""How well dice are read: `python -m benchmarks.dice [--json] [--part PART ...] [--sets SET ...] [--limit N]`.

Each part is a module `benchmarks.dice_PART` whose `figures(progress)` gives its figures; a figure that is wanted and
that no part measured is listed as null with the reason.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import dice_photographs, dice_profile
from benchmarks.figures import Figure, report

WANTED: dict[str, tuple[tuple[str, str, str, float], ...]] = {
    "photographs": (),
    "unread": (),
    "profile": (
        ("pips with a profile, exact rolls", "%", ">=", 97.0),
        ("pips with a profile, wrong rolls", "%", "<=", 1.0),
    ),
    "symbols": (
        ("symbols, same light", "%", ">=", 99.0),
        ("symbols, other light or surface or on a card", "%", ">=", 95.0),
        ("symbols, wrong or false", "%", "<=", 2.0),
        ("spells, complete recognised", "%", ">=", 97.0),
        ("spells, incomplete called complete", "%", "<=", 0.5),
    ),
    "numerals": (
        ("numerals enrolled", "%", ">=", 96.0),
        ("numerals enrolled, d20", "%", ">=", 93.0),
        ("numerals enrolled, abstained", "%", "<=", 5.0),
        ("numerals not enrolled, renders", "%", ">=", 85.0),
        ("numerals not enrolled, burks", "%", ">=", 70.0),
    ),
    "settle": (("settle gate", "fps", ">=", 30.0),),
}
"""Per part the figures (name, unit, op, target) that are always listed; a part may give more."""


def measured(parts: Sequence[str], options: dice_photographs.Options) -> list[Figure]:
    """The figures of `parts`, then a null for each wanted figure that none of them gave."""
    figures: list[Figure] = []
    for part in parts:
        progress(f"part {part}")
        if part == "photographs":
            figures += dice_photographs.figures(progress, options)
        elif part == "profile":
            figures += dice_profile.figures(progress, left_out=options.left_out)
        elif importlib.util.find_spec(f"benchmarks.dice_{part}"):
            figures += importlib.import_module(f"benchmarks.dice_{part}").figures(progress)
    there = {figure.name for figure in figures}
    for part, wanted in WANTED.items():
        why = "its part gave no such figure" if part in parts else "its part was not asked for"
        if not importlib.util.find_spec(f"benchmarks.dice_{part}"):
            why = "nothing measures it yet"
        figures += [
            Figure(name, None, unit, op, target, why=why)
            for name, unit, op, target in wanted
            if name not in there
        ]
    if "photographs" not in parts:
        figures += [
            Figure(f.name, None, f.unit, f.op, f.target, why="its part was not asked for")
            for f in dice_photographs.figures_of({})
        ]
    return figures


def progress(line: str) -> None:
    """One line to stderr at once."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure and print; exit 0 either way."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dice", description=__doc__)
    parser.add_argument("--json", action="store_true", help="only the JSON object on stdout")
    parser.add_argument("--part", nargs="*", default=list(WANTED), choices=list(WANTED))
    sets = list(dice_photographs.SETS)
    parser.add_argument("--sets", nargs="*", default=sets, choices=sets, help="of the part photographs")
    parser.add_argument("--limit", type=int, help="at most so many photographs a set")
    parser.add_argument("--photographs", type=Path, default=dice_photographs.PHOTOGRAPHS)
    parser.add_argument(
        "--models", type=Path, help="folder of other networks, as `tools/train_dice.py` writes them"
    )
    parser.add_argument(
        "--left-out",
        type=Path,
        help="folder of `tools/train_dice_all.py`, for the sets learnt from",
    )
    asked = parser.parse_args()
    options = dice_photographs.Options(
        asked.photographs, tuple(asked.sets), asked.limit, asked.models, asked.left_out
    )
    report(measured(asked.part, options), asked.json)


if __name__ == "__main__":
    main()
