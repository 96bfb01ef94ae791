"""Fit the networks that read numerals: `python tools/train_numerals.py --cache CACHE ... --held HELD --out OUT`.

Learns from our own renders (`train_numerals_scenes` draws them). `--held` holds other dice, by which the chances are
made as sharp as they are right. What is learnt is kept in OUT, and the same command goes on from it;
`numerals_place.onnx` and `numerals_read.onnx` are written at the end. No photograph of a die is ever used.
"""

from __future__ import annotations

import argparse
import copy
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from train_dice_nets import export, halve
from train_numerals_nets import CLASSES, MOVES, READINGS, Place, Read
from train_numerals_samples import NOT_UPRIGHT, Store, place_sample, read_sample

from vision.dice.numerals_looks import KINDS, LOOK_PX, TURNS

_BATCH, _RATE, _DECAY = 40, 1.2e-3, 1e-3
_KEPT = 0.998  # of the mean of weights at each step
_SHARPNESS = np.geomspace(0.4, 2.0, 40)


def place_loss(seen: Tensor, truth: Tensor) -> Tensor:
    """Of a batch of `Place`."""
    names = nn.functional.cross_entropy(seen[:, :CLASSES], truth[:, 0].long(), label_smoothing=0.02)
    off = nn.functional.smooth_l1_loss(
        seen[:, CLASSES : CLASSES + MOVES], truth[:, 2:5], reduction="none", beta=0.05
    ).sum(1)
    return names + 3 * (off * truth[:, 1]).sum() / truth[:, 1].sum().clamp(min=1)


def read_loss(seen: Tensor, truth: Tensor) -> Tensor:
    """Of a batch of `Read`."""
    texts = nn.functional.cross_entropy(seen[:, :READINGS], truth[:, 0].long(), label_smoothing=0.02)
    ways = -(nn.functional.log_softmax(seen[:, READINGS:], 1) * truth[:, 2:]).sum(1)
    return texts + 0.5 * (ways * truth[:, 1]).sum() / truth[:, 1].sum().clamp(min=1)


class Learner:
    """One network, its samples, and the mean of its weights, which is what is kept."""

    def __init__(self, name: str, net: nn.Module, store: Store, rate: float) -> None:
        self.name, self.store, self.rate = name, store, rate
        self.net = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch stubs know no memory format alone
        self.mean = copy.deepcopy(net)
        self.optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=_DECAY)
        self.sample, self.loss_of = (
            (place_sample, place_loss) if name == "place" else (read_sample, read_loss)
        )
        self.rows = np.arange(len(store)) if name == "place" else np.nonzero(store.kinds < len(KINDS))[0]
        self.total = 0.0
        self.steps = self.since = 0

    def learn(self, rng: np.random.Generator, share: float) -> None:
        """One step at `share` of the rate."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * share * min(1.0, (self.steps + 1) / 200)
        made = [self.sample(self.store, int(k), rng) for k in rng.choice(self.rows, _BATCH)]
        seen = pictures(np.stack([one for one, _ in made]))
        with torch.autocast("cpu", torch.bfloat16):
            out = self.net.train()(seen)
        loss = self.loss_of(out.float(), torch.from_numpy(np.stack([truth for _, truth in made])))
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.steps, self.since = self.steps + 1, self.since + 1
        kept = min(_KEPT, self.steps / (self.steps + 20))
        with torch.no_grad():
            for mean, now in zip(
                self.mean.state_dict().values(), self.net.state_dict().values(), strict=True
            ):
                if mean.is_floating_point():
                    mean.mul_(kept).add_(now, alpha=1 - kept)
                else:
                    mean.copy_(now)
        self.total += float(loss.detach())

    def state(self) -> dict:
        """All that is needed to go on."""
        return {
            "net": self.net.state_dict(),
            "mean": self.mean.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "steps": self.steps,
        }

    def go_on(self, state: dict) -> None:
        """From a `state`."""
        self.net.load_state_dict(state["net"])
        self.mean.load_state_dict(state["mean"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.steps = state["steps"]

    def judged(self, held: Store, count: int) -> tuple[np.ndarray, np.ndarray]:
        """What the mean says of `count` looks at dice that were held out, and what is true of them."""
        rng = np.random.default_rng(5)
        rows = np.arange(len(held)) if self.name == "place" else np.nonzero(held.kinds < len(KINDS))[0]
        made = [self.sample(held, int(k), rng) for k in rng.choice(rows, count)]
        self.mean.eval()
        with torch.no_grad():
            seen = [
                self.mean(pictures(np.stack([o for o, _ in made[k : k + 256]]))) for k in range(0, count, 256)
            ]
        return torch.cat(seen).numpy(), np.stack([truth for _, truth in made])

    def told(self, held: Store, count: int) -> str:
        """How well it does on dice that were held out."""
        said, truth = self.judged(held, count)
        if self.name == "place":
            is_die = truth[:, 1] > 0
            off = np.abs(said[is_die, CLASSES:] - truth[is_die, 2:])
            return (
                f"kind {(said[:, :CLASSES].argmax(1) == truth[:, 0]).mean():.3f}, "
                f"off by {np.median(off, 0).round(3)} (median) {np.quantile(off, 0.9, 0).round(3)}"
            )
        right = said[:, :READINGS].argmax(1) == truth[:, 0]
        upright, known = truth[:, 0] != NOT_UPRIGHT, truth[:, 1] > 0
        beside = (said[known, READINGS:].argmax(1) - truth[known, 2:].argmax(1)) % TURNS
        near = np.minimum(beside, TURNS - beside) <= 1
        return f"text {right[upright].mean():.3f}, astray {right[~upright].mean():.3f}, way {near.mean():.3f}"


def pictures(looks: np.ndarray) -> Tensor:
    """(n, rows, columns, 3) uint8 as (n, 3, rows, columns) of -0.5 to 0.5."""
    planes = torch.from_numpy(looks).permute(0, 3, 1, 2).float() / 255 - 0.5
    return planes.contiguous(memory_format=torch.channels_last)


def sharpness(said: np.ndarray, labels: np.ndarray) -> float:
    """What to multiply answers with so that their softmax gives true chances."""
    best = (np.inf, 1.0)
    for sharp in _SHARPNESS:
        logs = said * sharp
        logs = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
        best = min(best, (float(-logs[np.arange(len(labels)), labels].mean()), float(sharp)))
    return best[1]


def finish(learner: Learner, held: Store, out: Path) -> None:
    """Write the mean of a network with its chances made true."""
    said, truth = learner.judged(held, 4000)
    net = copy.deepcopy(learner.mean)
    count = CLASSES if learner.name == "place" else READINGS
    sharp = sharpness(said[:, :count], truth[:, 0].astype(int))
    with torch.no_grad():
        net.head.weight[:count] *= sharp
        net.head.bias[:count] *= sharp
    file = out / f"numerals_{learner.name}.onnx"
    export(net, (1, 3, LOOK_PX, LOOK_PX), file, {0: "n"})
    halve(file)
    print(
        f"{learner.name}: {learner.steps} steps, sharpness {sharp:.2f}, {learner.told(held, 3000)}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", type=Path, nargs="+", required=True, help="files dice-*.npz of train_numerals_scenes"
    )
    parser.add_argument("--held", type=Path, nargs="+", required=True, help="files that are only measured")
    parser.add_argument("--out", type=Path, required=True, help="folder for the networks")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--read-share", type=float, default=0.6, help="share of the steps that the reading network gets"
    )
    parser.add_argument("--rate", type=float, default=_RATE)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    store, held = Store(options.cache), Store(options.held)
    learners = [Learner("place", Place(), store, options.rate), Learner("read", Read(), store, options.rate)]
    for one in learners:
        kept = options.out / f"{one.name}.pt"
        if kept.is_file():
            one.go_on(torch.load(kept, weights_only=True))
    rng, begun, step = np.random.default_rng((options.seed, learners[0].steps)), time.monotonic(), 0
    print(f"{len(store)} dice, {len(held)} held out", flush=True)
    while (done := (time.monotonic() - begun) / 60 / options.minutes) < 1:
        learners[int(rng.random() < options.read_share)].learn(
            rng, 0.5 * (1 + float(np.cos(np.pi * done))) + 0.01
        )
        step += 1
        if step % 500 == 0:
            for one in learners:
                told = one.told(held, 1000) if step % 2000 == 0 else ""
                print(
                    f"{one.name} step {one.steps}: loss {one.total / max(1, one.since):.3f} {told}",
                    flush=True,
                )
                one.total, one.since = 0.0, 0
                torch.save(one.state(), options.out / f"{one.name}.pt")
            print(f"{time.monotonic() - begun:.0f} s", flush=True)
    for one in learners:
        torch.save(one.state(), options.out / f"{one.name}.pt")
        finish(one, held, options.out)


if __name__ == "__main__":
    main()
