"""Fit how far claims about dice may be believed.

    python tools/fit_dice_trust.py --models FOLDER --left-out WORK --data PHOTOGRAPHS --scenes SCENES
        [--leave-out GROUP] [--claims CACHE]

Reads the photographs of each group in `train_dice_data.GROUPS` but the one left out with the networks in
WORK/without-GROUP, which never saw that group, and with those in FOLDER made-up scenes that they did not learn from,
and writes FOLDER/trust.json. The sets in `train_dice_data.FORBIDDEN` are never looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from train_dice_data import FORBIDDEN, GROUPS, scenes

from vision.dice.judging import FaceJudge
from vision.dice.networks import FaceFinder
from vision.dice.reading import agreed, of_one_kind
from vision.dice.trust import Trust, features
from vision.frame import load

SAY, TELL = 0.5, 0.4
SCENES = 100  # so many at least, evenly from their list
_SHRINK = 0.3  # pull of each weight towards none
_EACH = 300.0  # every group weighs as much as so many claims
Rows = list[tuple[tuple[float, ...], bool, bool]]
"""Features of a claim, whether its value is right, whether a die lies there."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument(
        "--left-out", type=Path, required=True, help="holds without-GROUP, networks that never saw it"
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the photographs")
    parser.add_argument("--leave-out", choices=sorted(GROUPS))
    parser.add_argument(
        "--claims", type=Path, help="folder where these networks' claims are kept for another fit"
    )
    parser.add_argument(
        "--scenes", type=Path, required=True, help="folder of train_dice_scenes of another seed"
    )
    options = parser.parse_args()
    cv2.setNumThreads(1)
    photographs = json.loads((options.data / "labels.json").read_text())
    groups = {
        g: [r for r in photographs if r["set"] in names]
        for g, names in GROUPS.items()
        if g != options.leave_out
    }
    without = {group: options.left_out / f"without-{group}" for group in groups}
    parts = [
        _kept(
            options.claims,
            without[group],
            group,
            lambda rows=rows, models=without[group]: _of_photographs(rows, models, options.data),
        )
        for group, rows in groups.items()
    ]
    parts.append(
        _kept(options.claims, options.models, "scenes", lambda: _of_scenes(options.models, options.scenes))
    )
    x = np.array([features for rows in parts for features, _, _ in rows])
    weight = np.array([_EACH / len(rows) for rows in parts for _ in rows])
    right, is_die = (np.array([row[k] for rows in parts for row in rows], float) for k in (1, 2))
    trust = Trust(_fitted(x, right, weight), _fitted(x[:, 1:], is_die, weight), SAY, TELL)
    (options.models / "trust.json").write_bytes(msgspec.json.encode(trust) + b"\n")
    print(options.models / "trust.json", trust, flush=True)


def _kept(claims: Path | None, models: Path, name: str, found: Callable[[], Rows]) -> Rows:
    """What was `found` by the networks in `models`, taken from the folder `claims` where it lies there already."""
    file = claims / f"claims-{_of_networks(models)}" / f"{name}.json" if claims else None
    if file and file.is_file():
        return json.loads(file.read_text())
    rows = found()
    print(f"{name}: {len(rows)} claims", flush=True)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows))
    return rows


def _of_networks(folder: Path) -> str:
    """A short name for the two networks in a folder, another one for others."""
    both = b"".join((folder / f"{net}.onnx").read_bytes() for net in ("finder", "classifier"))
    return hashlib.sha256(both).hexdigest()[:12]


def _of_photographs(pictures: list[dict], models: Path, data: Path) -> Rows:
    finder, judge = FaceFinder(models), FaceJudge(models)
    rows: Rows = []
    for picture in (row for row in pictures if row["set"] not in FORBIDDEN):
        frame = load(data / picture["image"])
        claims = agreed(of_one_kind(judge.claims(frame, finder.find(frame))))
        for claim, row in zip(claims, features(claims), strict=True):
            there = [
                die["value"]
                for die in picture["dice"]
                if _holds(die["box_px"], claim.spot.x_px, claim.spot.y_px)
            ]
            rows.append((row, claim.value in there, bool(there)))
    return rows


def _of_scenes(models: Path, folder: Path) -> Rows:
    """The same of scenes; what is half hidden counts neither way."""
    finder, judge = FaceFinder(models), FaceJudge(models)
    rows: Rows = []
    made = scenes(folder)
    for scene in made[:: max(1, len(made) // SCENES)]:
        frame = np.ascontiguousarray(scene.image)
        claims = agreed(of_one_kind(judge.claims(frame, finder.find(frame))))
        for claim, row in zip(claims, features(claims), strict=True):
            x, y = claim.spot.x_px, claim.spot.y_px
            near = [face for face in scene.faces if np.hypot(face.x - x, face.y - y) < 0.4 * face.side]
            if all(face.seen > 0.8 for face in near):
                there = [face.label for face in near if 1 <= face.label <= 6]
                rows.append((row, claim.value in there, bool(there)))
    return rows


def _holds(box: list[float], x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _fitted(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, ...]:
    """A constant and the weights of a logistic fit, by Newton's method."""
    x = np.column_stack([np.ones(len(x)), x])
    pull = np.diag([1e-6] + [_SHRINK] * (x.shape[1] - 1))
    b = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ b))
        slope = x.T @ (weight * (p - y)) + pull @ b
        b -= np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + pull, slope)
    return tuple(round(float(v), 4) for v in b)


if __name__ == "__main__":
    main()
