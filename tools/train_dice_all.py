"""Both networks that read pips, from nothing: `python tools/train_dice_all.py --work FOLDER [--leave-out GROUP ...]`.

Makes the scenes, trains both networks on them alone, fits with the licensed photographs how far claims are believed
(`fit_dice_trust`), and writes all three files to FOLDER/all; with --leave-out also FOLDER/without-GROUP, for which no
photograph of GROUP was looked at: only what those reach there may be quoted (`python -m benchmarks.dice --left-out
FOLDER`). What is there already is not made again.
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


SCENES = {"scenes-a": (8000, 1), "scenes-b": (5000, 4), "scenes-c": (250, 6)}  # folder: (scenes, seed)
TRUST_SCENES = "scenes-c"  # which no network learns from
STAGES = (
    Stage("finder", "finder", None, 3000, 2e-3, 1, ("scenes-a",)),
    Stage("first", "classifier", None, 5000, 2e-3, 5, ("scenes-a",)),
    Stage("classifier", "classifier", "first", 800, 1.5e-3, 11, ("scenes-a", "scenes-b", "scenes-b")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for scenes and weights, about 5 GB")
    parser.add_argument("--leave-out", nargs="*", default=[], choices=sorted(GROUPS))
    parser.add_argument("--data", type=Path, default=SHARED / "dice", help="the photographs")
    parser.add_argument("--pictures", type=Path, nargs="*", default=[SHARED / "cards"])
    options = parser.parse_args()
    work: Path = options.work
    for name, (count, seed) in SCENES.items():
        if not list((work / name).glob("*.npy")):
            _run(
                "train_dice_scenes.py",
                *("--out", work / name, "--scenes", count, "--seed", seed, "--pictures", *options.pictures),
            )
    for stage in STAGES:
        _train(work, stage)
    for left in ("", *options.leave_out):
        out = work / (f"without-{left}" if left else "all")
        out.mkdir(parents=True, exist_ok=True)
        for net in ("finder", "classifier"):
            shutil.copy(work / net / f"{net}.onnx", out)
        without = ("--leave-out", left) if left else ()
        _run(
            "fit_dice_trust.py",
            "--models",
            out,
            "--data",
            options.data,
            "--scenes",
            work / TRUST_SCENES,
            "--claims",
            work,
            *without,
        )
        for file in sorted(out.iterdir()):
            print(file, hashlib.sha256(file.read_bytes()).hexdigest(), flush=True)


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
