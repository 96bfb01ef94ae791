"""Both networks that read pips, from nothing: `python tools/train_dice_all.py --work FOLDER`.

Makes the scenes, trains both networks on them alone, lets the classifier learn a little more from the licensed
photographs beside scenes that are hard to read, fits how far claims are believed (`fit_dice_trust`), and writes all
three files to FOLDER/all and, for each group, to FOLDER/without-GROUP, whose network learnt from no photograph of
GROUP: only what those reach there may be quoted (`python -m benchmarks.dice --left-out FOLDER`). The fit takes each
group's claims from the network that never saw it. What is there already is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from train_dice_data import GROUPS

TOOLS = Path(__file__).parent
SHARED = TOOLS / ".." / ".." / "shared" / "data"


@dataclass(frozen=True)
class Stage:
    """One run of `train_dice.py base`: it goes on from the weights in `start` and writes to `name`."""

    name: str
    net: str
    start: str | None
    steps: int
    rate: float
    seed: int
    scenes: tuple[str, ...]


SCENES = {
    "scenes-a": (8000, 1, ()),
    "scenes-b": (5000, 4, ()),
    "scenes-c": (250, 6, ()),
    "scenes-d": (500, 23, ("--hard",)),
}
"""Folder: how many, seed, and which other words make them."""
TRUST_SCENES, TUNE_SCENES = "scenes-c", "scenes-d"  # no network learns from the first
TUNE_STEPS = 400
STAGES = (
    Stage("finder", "finder", None, 3000, 2e-3, 1, ("scenes-a",)),
    Stage("first", "classifier", None, 5000, 2e-3, 5, ("scenes-a",)),
    Stage("classifier", "classifier", "first", 800, 1.5e-3, 11, ("scenes-a", "scenes-b", "scenes-b")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for scenes and weights, about 5 GB")
    parser.add_argument("--data", type=Path, default=SHARED / "dice", help="the photographs")
    parser.add_argument("--pictures", type=Path, nargs="*", default=[SHARED / "cards"])
    options = parser.parse_args()
    work: Path = options.work
    for name, (count, seed, words) in SCENES.items():
        if not list((work / name).glob("*.npy")):
            _run(
                "train_dice_scenes.py",
                *("--out", work / name, "--scenes", count, "--seed", seed, *words),
                *("--pictures", *options.pictures),
            )
    for stage in STAGES:
        _train(work, stage)
    left_out = {work / f"without-{group}": ("--leave-out", group) for group in sorted(GROUPS)}
    folders = {**left_out, work / "all": ()}
    for out, without in folders.items():
        _tune(work, options.data, out, without)
    for out, without in folders.items():
        _run(
            "fit_dice_trust.py",
            *("--models", out, "--left-out", work, "--data", options.data, "--scenes", work / TRUST_SCENES),
            *("--claims", work, *without),
        )
        for file in [*sorted(out.glob("*.onnx")), out / "trust.json"]:
            print(file, hashlib.sha256(file.read_bytes()).hexdigest(), flush=True)


def _tune(work: Path, data: Path, out: Path, without: tuple[str, ...]) -> None:
    """The classifier of `out`, which learns from all groups but the one that is left out, and the finder beside it."""
    if (out / "classifier.onnx").is_file():
        return
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(work / "finder" / "finder.onnx", out)
    _run(
        "train_dice.py",
        *("tune", "--net", "classifier", "--start", work / "classifier", "--finder", work / "finder"),
        *("--cache", work / TUNE_SCENES, "--data", data, "--steps", TUNE_STEPS, "--seed", 7, "--out", out),
        *without,
    )


def _train(work: Path, stage: Stage) -> None:
    out = work / stage.name
    if (out / f"{stage.net}.onnx").is_file():
        return
    start = ("--start", work / stage.start) if stage.start else ()
    _run(
        "train_dice.py",
        *("base", "--net", stage.net, "--out", out, "--steps", stage.steps, "--rate", stage.rate),
        *("--seed", stage.seed, "--cache", *(work / name for name in stage.scenes)),
        *start,
    )


def _run(tool: str, *words: object) -> None:
    subprocess.run([sys.executable, str(TOOLS / tool), *map(str, words)], check=True)


if __name__ == "__main__":
    main()
