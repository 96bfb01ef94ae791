"""Fit the network that reads numerals: `python tools/train_numerals.py --cache CACHE --held HELD --out OUT`.

Learns from looks at our own renders (`train_numerals_scenes` draws them, `train_numerals_looks` looks at them): one
layer, fitted in closed form, so no chance is in it. `--held` holds looks at other dice, by which the chances are
made as sharp as they are right. Writes `numerals.onnx` to `--out`. No photograph is ever used.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from vision.dice.numerals_looks import FEATURES, GEOMETRY, KINDS, TEXTS

CLASSES = len(KINDS) + 2
OUTPUTS = CLASSES + len(TEXTS) + GEOMETRY
_STIFF = 2e-3  # of the mean square of a feature, per look
_SHARPNESS = np.geomspace(1, 30, 30)


def all_looks(cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """(n, FEATURES + 1) float32 of 0 to 1, the last always 1, and (n, truths) of all that was looked at."""
    seen, truth = [], []
    for file in sorted(cache.rglob("looks-*.npz")):
        with np.load(file) as rows:
            seen.append(rows["seen"])
            truth.append(rows["truth"])
    features = np.concatenate(seen).astype(np.float32) / np.float32(255)
    return np.hstack([features, np.ones((len(features), 1), np.float32)]), np.concatenate(truth)


def fitted(seen: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(FEATURES + 1, outputs) that gives `wanted` (n, outputs) best."""
    square = (seen.T @ seen).astype(np.float64)
    square[np.diag_indices(FEATURES)] += _STIFF * np.trace(square) / FEATURES
    return np.linalg.solve(square, (seen.T @ wanted).astype(np.float64)).astype(np.float32)


def one_hot(labels: np.ndarray, count: int) -> np.ndarray:
    """(n, count): 1 at the label."""
    return (labels[:, None] == np.arange(count)).astype(np.float32)


def sharpness(said: np.ndarray, labels: np.ndarray) -> float:
    """What to multiply answers with so that their softmax gives true chances."""
    best = (np.inf, 1.0)
    for sharp in _SHARPNESS:
        logs = said * sharp
        logs = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
        best = min(best, (float(-logs[np.arange(len(labels)), labels].mean()), float(sharp)))
    return best[1]


def learn(cache: Path, held: Path) -> np.ndarray:
    """(FEATURES + 1, OUTPUTS) weights, and what they reach on `held` is printed."""
    seen, truth = all_looks(cache)
    print(f"{len(seen)} looks", flush=True)
    is_die, may_ask, asked = truth[:, 2] > 0, truth[:, 3] > 0, truth[:, 4] >= 0
    parts = [
        fitted(seen, one_hot(truth[:, 0], CLASSES)),
        fitted(seen[may_ask], one_hot(truth[may_ask, 1], len(TEXTS))),
        fitted(seen[is_die], truth[is_die, 5:8]),
        fitted(seen[asked], truth[asked, 4:5] - 0.5),
    ]
    seen, truth = all_looks(held)
    may_ask, asked, is_die = truth[:, 3] > 0, truth[:, 4] >= 0, truth[:, 2] > 0
    kinds, texts = truth[:, 0].astype(int), truth[may_ask, 1].astype(int)
    said = [seen @ parts[0], seen[may_ask] @ parts[1], seen[asked] @ parts[3]]
    way = np.hstack([-said[2], said[2]])
    sharp = (
        sharpness(said[0], kinds),
        sharpness(said[1], texts),
        2 * sharpness(way, truth[asked, 4].astype(int)),
    )
    off = np.abs(seen[is_die] @ parts[2] - truth[is_die, 5:8]).mean(0)
    print(
        f"held out: kind {(said[0].argmax(1) == kinds).mean():.3f}, text {(said[1].argmax(1) == texts).mean():.3f}, "
        f"upright {((said[2][:, 0] > 0) == (truth[asked, 4] > 0.5)).mean():.3f}, "
        f"off by {off.round(3)} of {np.abs(truth[is_die, 5:8]).mean(0).round(3)}",
        flush=True,
    )
    return np.hstack([parts[0] * sharp[0], parts[1] * sharp[1], parts[2], parts[3] * sharp[2]])


def export(weights: np.ndarray, file: Path) -> None:
    """Write the layer as ONNX, its weights kept in half precision and widened when it is loaded."""
    half = numpy_helper.from_array(weights[:-1].astype(np.float16), "half")
    bias = numpy_helper.from_array(weights[-1].astype(np.float32), "bias")
    nodes = [
        helper.make_node("Cast", ["half"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Gemm", ["features", "weights", "bias"], ["seen"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
        for name, size in (("features", FEATURES), ("seen", OUTPUTS))
    ]
    graph = helper.make_graph(nodes, "numerals", ends[:1], ends[1:], [half, bias])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder of train_numerals_looks")
    parser.add_argument("--held", type=Path, required=True, help="folder of looks that are only measured")
    parser.add_argument("--out", type=Path, required=True, help="folder for the network")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    export(learn(options.cache, options.held), options.out / "numerals.onnx")


if __name__ == "__main__":
    main()
