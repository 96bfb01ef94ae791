"""Fit the network that judges dots: `python tools/train_dots.py --cuts CUTS.npz ... --held HELD.npz --out dots.onnx`.

Learns from what `train_dots_scenes` drew alone. Needs torch and onnx; one seed gives one file on one machine.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from train_dice_nets import export, halve

from vision.dots.judging import SIDE_PX

_BATCH, _RATE = 256, 2e-3


class Dots(nn.Module):
    """(n, 3, 24, 24) cuts -> (n, 2) logits: a dot shows by more than half; a part of one shows."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after, stride in ((3, 16, 1), (16, 24, 2), (24, 32, 1), (32, 48, 2), (48, 48, 1)):
            layers += [nn.Conv2d(before, after, 3, stride, 1), nn.BatchNorm2d(after), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(48 * (SIDE_PX // 4) ** 2, 48), nn.ReLU(),
                                  nn.Linear(48, 2))  # fmt: skip

    def forward(self, cuts: Tensor) -> Tensor:
        """See the class."""
        seen: Tensor = self.head(self.body(cuts))
        return seen


def loaded(files: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """(n, 28, 28, 3) cuts and (n,) shares of all files."""
    stores = [np.load(file) for file in files]
    return np.concatenate([s["cuts"] for s in stores]), np.concatenate([s["truth"] for s in stores])


def drawn(cuts: np.ndarray, rng: np.random.Generator) -> Tensor:
    """A batch of cuts, turned, shifted by a pixel or two, and lit and tinted a little otherwise."""
    at = rng.integers(0, cuts.shape[1] - SIDE_PX + 1, 2)
    some = cuts[:, at[0] : at[0] + SIDE_PX, at[1] : at[1] + SIDE_PX].astype(np.float32) / 200
    some = np.rot90(some, int(rng.integers(4)), (1, 2))
    if rng.uniform() < 0.5:
        some = some[:, :, ::-1]
    tint = rng.uniform(0.9, 1.1, (len(some), 1, 1, 3)) * rng.uniform(0.85, 1.1, (len(some), 1, 1, 1))
    swap = [rng.permutation(3) for _ in some]  # any ink may be a deck's
    some = np.stack(
        [one[..., order] if rng.uniform() < 0.3 else one for one, order in zip(some, swap, strict=True)]
    )
    some = some * tint + rng.normal(0, 1, some.shape) * rng.uniform(0, 0.04, (len(some), 1, 1, 1))
    return torch.from_numpy(
        np.ascontiguousarray(np.clip(some, 0, 1.25).transpose(0, 3, 1, 2), np.float32) - 0.5
    )


def plain(cuts: np.ndarray) -> Tensor:
    """The middle of cuts as they are."""
    edge = (cuts.shape[1] - SIDE_PX) // 2
    some = cuts[:, edge : edge + SIDE_PX, edge : edge + SIDE_PX].astype(np.float32) / 200
    return torch.from_numpy(np.ascontiguousarray(some.transpose(0, 3, 1, 2)) - 0.5)


def wanted(shares: np.ndarray) -> tuple[Tensor, Tensor]:
    """(what is to be said, how much it counts): around half a dot neither answer is wrong."""
    is_dot, is_part = shares > 0.5, (shares > 0.1) & (shares < 0.93)
    sure = np.clip(np.abs(shares - 0.5) / 0.15, 0.1, 1.0)
    truth = np.stack([is_dot, is_part], 1).astype(np.float32)
    return torch.from_numpy(truth), torch.from_numpy(
        np.stack([sure, np.ones_like(sure)], 1).astype(np.float32)
    )


def main() -> None:
    """Train as the command line says."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cuts", type=Path, nargs="+", required=True)
    options.add_argument("--held", type=Path, nargs="+", required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--steps", type=int, default=3000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(given.seed)
    cuts, shares = loaded(given.cuts)
    held, of_held = loaded(given.held)
    weight = np.where(shares > 0.93, 1.0, np.where(shares > 0, 4.0, 0.5))
    weight /= weight.sum()
    net = Dots()
    optimiser = torch.optim.AdamW(net.parameters(), lr=_RATE, weight_decay=1e-3)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, _RATE, given.steps, pct_start=0.1)
    total = 0.0
    for step in range(1, given.steps + 1):
        rows = rng.choice(len(cuts), _BATCH, p=weight)
        truth, counts = wanted(shares[rows])
        seen = net.train()(drawn(cuts[rows], rng))
        loss = (nn.functional.binary_cross_entropy_with_logits(seen, truth, reduction="none") * counts).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        plan.step()
        total += loss.item()
        if step % 250 == 0:
            with torch.no_grad():
                said = torch.cat([net.eval()(plain(held[k : k + 2048])) for k in range(0, len(held), 2048)])
            is_dot = of_held > 0.5
            clear = np.abs(of_held - 0.5) > 0.1
            wrong = ((said[:, 0].numpy() > 0) != is_dot) & clear
            lost, taken = int((wrong & is_dot).sum()), int((wrong & ~is_dot).sum())
            print(f"step {step}: loss {total / 250:.4f}; held: {lost} of {is_dot.sum()} dots lost, {taken} of"
                  f" {(~is_dot).sum()} others taken", flush=True)  # fmt: skip
            total = 0.0
    export(net, (1, 3, SIDE_PX, SIDE_PX), given.out, {0: "n"})
    halve(given.out)
    print(given.out, hashlib.sha256(given.out.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
