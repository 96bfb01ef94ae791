"""Fit the network that reads numerals: `python tools/train_numerals.py --cache CACHE --held HELD --out OUT`.

Learns from looks at our own renders (`train_numerals_scenes` draws them, `train_numerals_looks` looks at them) with
nothing but NumPy. `--held` holds looks at other dice, by which the chances are made as sharp as they are right. Writes
`numerals.onnx` to `--out`. No photograph is ever used.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from vision.dice.numerals_looks import FEATURES, GEOMETRY, KINDS, TEXTS

CLASSES = len(KINDS) + 2
OUTPUTS = CLASSES + len(TEXTS) + GEOMETRY
_HIDDEN = (224, 128)
_DROPPED = (0.05, 0.15)
_BATCH, _RATE, _DECAY, _PER_OFF = 192, 2e-3, 0.02, 20.0
_SHARPNESS = np.geomspace(0.3, 2.0, 40)


def all_looks(cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """(n, FEATURES) uint8 and (n, truths) of all that was looked at."""
    seen, truth = [], []
    for file in sorted(cache.rglob("looks-*.npz")):
        with np.load(file) as rows:
            seen.append(rows["seen"])
            truth.append(rows["truth"])
    return np.concatenate(seen), np.concatenate(truth)


class Layers:
    """Two layers of rectified sums, one of plain ones, and Adam; `weights`: matrix and bias of each in turn."""

    def __init__(self, rng: np.random.Generator) -> None:
        sizes = (FEATURES, *_HIDDEN, OUTPUTS)
        self._rng = rng
        self.weights: list[np.ndarray] = []
        for inside, outside in pairwise(sizes):
            wide = np.sqrt(2 / inside)
            self.weights += [
                rng.normal(0, wide, (inside, outside)).astype(np.float32),
                np.zeros(outside, np.float32),
            ]
        self.weights[-2] *= np.float32(0.1)
        self._mean = [np.zeros_like(part) for part in self.weights]
        self._square = [np.zeros_like(part) for part in self.weights]
        self._count = 0

    def said(self, seen: np.ndarray) -> np.ndarray:
        """(n, OUTPUTS) of (n, FEATURES)."""
        for k in range(0, len(self.weights) - 2, 2):
            seen = np.maximum(seen @ self.weights[k] + self.weights[k + 1], 0)
        return seen @ self.weights[-2] + self.weights[-1]

    def learn(self, seen: np.ndarray, truth: np.ndarray, rate: float) -> float:
        """One step on a batch; its loss."""
        kept = [seen * self._dropped(seen.shape, _DROPPED[0])]
        for k in range(0, len(self.weights) - 2, 2):
            level = np.maximum(kept[-1] @ self.weights[k] + self.weights[k + 1], 0)
            kept.append(level * self._dropped(level.shape, _DROPPED[1]))
        loss, slope = loss_of(kept[-1] @ self.weights[-2] + self.weights[-1], truth)
        slopes: list[np.ndarray] = []
        for k in range(len(self.weights) - 2, -1, -2):
            slopes += [slope.sum(0), kept[k // 2].T @ slope]
            if k:
                slope = (slope @ self.weights[k].T) * (kept[k // 2] > 0) / np.float32(1 - _DROPPED[1])
        self._step(slopes[::-1], rate)
        return loss

    def _dropped(self, shape: tuple[int, ...], share: float) -> np.ndarray:
        return (self._rng.random(shape, np.float32) >= share).astype(np.float32) / np.float32(1 - share)

    def _step(self, slopes: list[np.ndarray], rate: float) -> None:
        self._count += 1
        right = rate * np.sqrt(1 - 0.999**self._count) / (1 - 0.9**self._count)
        for k, slope in enumerate(slopes):
            self._mean[k] += np.float32(0.1) * (slope - self._mean[k])
            self._square[k] += np.float32(0.001) * (slope * slope - self._square[k])
            self.weights[k] -= (
                np.float32(right) * self._mean[k] / (np.sqrt(self._square[k]) + np.float32(1e-7))
            )
            if k % 2 == 0:
                self.weights[k] *= np.float32(1 - rate * _DECAY)


def loss_of(said: np.ndarray, truth: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss of a batch and its slope (n, OUTPUTS)."""
    slope = np.zeros_like(said)
    count = np.float32(len(said))
    is_die, may_ask, asked = (truth[:, 2] > 0), (truth[:, 3] > 0), (truth[:, 4] >= 0)
    ends = (0, CLASSES, CLASSES + len(TEXTS))
    total = 0.0
    for k, (labels, mask, weight) in enumerate(
        ((truth[:, 0], np.ones(len(said), bool), 0.6), (truth[:, 1], may_ask, 1.0))
    ):
        logs = said[:, ends[k] : ends[k + 1]]
        logs = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
        right = one_hot(labels, logs.shape[1])
        scale = np.float32(weight / max(1, int(mask.sum())))
        slope[:, ends[k] : ends[k + 1]] = (np.exp(logs) - right) * mask[:, None] * scale
        total -= float((logs * right * mask[:, None]).sum() * scale)
    off = (said[:, ends[2] : ends[2] + 3] - truth[:, 5:8]) * is_die[:, None]
    slope[:, ends[2] : ends[2] + 3] = _PER_OFF * off / count
    upright = 1 / (1 + np.exp(-said[:, -1]))
    slope[:, -1] = (upright - truth[:, 4]) * asked / count
    chance = np.where(truth[:, 4] > 0.5, upright, 1 - upright)
    total += float(_PER_OFF / 2 * (off**2).sum() / count - (np.log(chance + 1e-7) * asked).sum() / count)
    return total, slope.astype(np.float32)


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


def learn(cache: Path, held: Path, steps: int, minutes: float, seed: int) -> list[np.ndarray]:
    """The layers' weights after so many steps, or what can be done in so many minutes; what they reach on `held` is
    printed."""
    (seen, truth), rng, begun = all_looks(cache), np.random.default_rng(seed), time.monotonic()
    layers, loss = Layers(rng), 0.0
    print(f"{len(seen)} looks", flush=True)
    for step in range(steps):
        done = max(step / steps, (time.monotonic() - begun) / 60 / minutes)
        if done >= 1:
            print(f"the time is over after {step} steps", flush=True)
            break
        chosen = rng.integers(len(seen), size=_BATCH)
        rate = _RATE * min(1.0, (step + 1) / 50) * 0.5 * (1 + np.cos(np.pi * done))
        loss += layers.learn(seen[chosen].astype(np.float32) / np.float32(255), truth[chosen], float(rate))
        if (step + 1) % 100 == 0:
            print(
                f"step {step + 1} of {steps}: loss {loss / 100:.3f}, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
            loss = 0.0
    seen, truth = all_looks(held)
    said = layers.said(seen.astype(np.float32) / np.float32(255))
    may_ask, asked, is_die = truth[:, 3] > 0, truth[:, 4] >= 0, truth[:, 2] > 0
    kinds, texts = truth[:, 0].astype(int), truth[may_ask, 1].astype(int)
    of_kind, of_text = said[:, :CLASSES], said[may_ask, CLASSES : CLASSES + len(TEXTS)]
    off = np.abs(said[is_die, -GEOMETRY:-1] - truth[is_die, 5:8]).mean(0)
    print(
        f"held out: kind {(of_kind.argmax(1) == kinds).mean():.3f}, text {(of_text.argmax(1) == texts).mean():.3f}, "
        f"upright {((said[asked, -1] > 0) == (truth[asked, 4] > 0.5)).mean():.3f}, "
        f"off by {off.round(3)} of {np.abs(truth[is_die, 5:8]).mean(0).round(3)}",
        flush=True,
    )
    ends = (slice(0, CLASSES), slice(CLASSES, CLASSES + len(TEXTS)))
    for end, answers, labels in ((ends[0], of_kind, kinds), (ends[1], of_text, texts)):
        sharp = np.float32(sharpness(answers, labels))
        layers.weights[-2][:, end] *= sharp
        layers.weights[-1][end] *= sharp
    return layers.weights


def export(weights: list[np.ndarray], file: Path) -> None:
    """Write the layers as ONNX, their matrices kept in half precision and widened when they are loaded."""
    nodes, kept, name = [], [], "features"
    for k in range(0, len(weights), 2):
        kept.append(numpy_helper.from_array(weights[k].astype(np.float16), f"half{k}"))
        kept.append(numpy_helper.from_array(weights[k + 1], f"bias{k}"))
        is_last = k == len(weights) - 2
        nodes.append(helper.make_node("Cast", [f"half{k}"], [f"full{k}"], to=TensorProto.FLOAT))
        nodes.append(
            helper.make_node("Gemm", [name, f"full{k}", f"bias{k}"], ["seen" if is_last else f"sum{k}"])
        )
        if not is_last:
            name = f"level{k}"
            nodes.append(helper.make_node("Relu", [f"sum{k}"], [name]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
        for name, size in (("features", FEATURES), ("seen", OUTPUTS))
    ]
    graph = helper.make_graph(nodes, "numerals", ends[:1], ends[1:], kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder of train_numerals_looks")
    parser.add_argument("--held", type=Path, required=True, help="folder of looks that are only measured")
    parser.add_argument("--out", type=Path, required=True, help="folder for the network")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--minutes", type=float, default=600.0, help="ends sooner, and then not reproducibly")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    weights = learn(options.cache, options.held, options.steps, options.minutes, options.seed)
    export(weights, options.out / "numerals.onnx")


if __name__ == "__main__":
    main()
