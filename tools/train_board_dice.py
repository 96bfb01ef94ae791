"""Fits the network that reads numbers on small dice: `python tools/train_board_dice.py --cache CACHE --out FILE`.

Learns from the dice that `train_numerals_scenes` drew, shrunk until they are as small as on a board that one camera
sees whole. Each is seen anew each time: turned, shifted, shrunk, blurred, its colours exchanged. Writes an ONNX file.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from train_dice_nets import export

from vision.dice.numerals_looks import CUT_PX, CUT_REACH, KINDS, TEXTS, Pose
from vision.towers.looks import TOP_PX, planes, top_cut

_BATCH = 128
_RADII_PX = (15.0, 30.0)
_HELD = 10  # every tenth file is kept for measuring


def _conv(inside: int, outside: int, step: int, kernel: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, step, kernel // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class SmallNumbers(nn.Module):
    """(n, 3, TOP_PX, TOP_PX) -> (n, TEXTS) logits."""

    def __init__(self) -> None:
        super().__init__()
        side = TOP_PX // 8
        self.body = nn.Sequential(_conv(3, 24, 2, 5), _conv(24, 32, 1), _conv(32, 48, 2), _conv(48, 64, 2))
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(64 * side * side, 128), nn.ReLU(inplace=True), nn.Linear(128, len(TEXTS))
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


def dice_in(cache: Path, is_held: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pieces, kinds, texts) of all dice with numerals in a cache."""
    pieces, kinds, texts = [], [], []
    for n, file in enumerate(sorted(cache.glob("dice-*.npy"))):
        if (n % _HELD == 0) == is_held:
            with np.load(file.with_suffix(".npz")) as truth:
                is_die = (truth["kinds"] < len(KINDS)) & (truth["texts"] >= 0)
                kinds.append(truth["kinds"][is_die])
                texts.append(truth["texts"][is_die])
            pieces.append(np.load(file, mmap_mode="r").reshape(-1, CUT_PX, CUT_PX, 3)[is_die])
    return np.concatenate(pieces), np.concatenate(kinds), np.concatenate(texts)


def altered(rng: np.random.Generator, piece: np.ndarray) -> np.ndarray:
    """One cut of a die as small as on a board."""
    radius = float(rng.uniform(*_RADII_PX))
    shrink = radius / (CUT_PX / 2 / CUT_REACH)
    small = cv2.resize(piece, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
    if rng.random() < 0.7:
        small = cv2.GaussianBlur(small, (0, 0), float(rng.uniform(0.3, 1.3)))
    middle = (len(small) - 1) / 2
    x, y = middle + rng.normal(0, 0.06, 2) * radius
    pose = Pose(float(x), float(y), radius * float(rng.uniform(0.88, 1.13)))
    cut = top_cut(small, pose, float(rng.uniform(0, 360))).astype(np.float32)
    cut = cut[..., rng.permutation(3)] * rng.uniform(0.5, 1.2, 3)
    if rng.random() < 0.5:
        cut = 255 - cut
    return np.clip(cut + rng.normal(0, rng.uniform(0, 7), cut.shape), 0, 255).astype(np.uint8)


@torch.no_grad()
def judged(net: SmallNumbers, held: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
    """Share of held dice that one look reads right."""
    net.eval()
    rng, right = np.random.default_rng(4), 0
    chosen = np.arange(0, len(held[0]), 4)
    for first in range(0, len(chosen), 256):
        rows = chosen[first : first + 256]
        out = net(torch.from_numpy(planes([altered(rng, held[0][k]) for k in rows])))
        right += int((out.argmax(1).numpy() == held[2][rows]).sum())
    net.train()
    return right / len(chosen)


def main() -> None:
    """Trains for so many minutes and writes the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--begin", type=Path, help="weights to go on from")
    args = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    pieces, _, texts = dice_in(args.cache, False)
    held = dice_in(args.cache, True)
    print(f"{len(pieces)} dice, {len(held[0])} held", flush=True)
    net = SmallNumbers()
    if args.begin:
        net.load_state_dict(torch.load(args.begin))
    learner = torch.optim.AdamW(net.parameters(), args.rate, weight_decay=0.02)
    begun, told, step = time.monotonic(), time.monotonic(), 0
    while (spent := (time.monotonic() - begun) / 60) < args.minutes:
        for group in learner.param_groups:
            warm = min(1.0, (step + 1) / 100)
            group["lr"] = args.rate * warm * 0.5 * (1 + np.cos(np.pi * spent / args.minutes))
        rows = rng.integers(0, len(pieces), _BATCH)
        seen = torch.from_numpy(planes([altered(rng, pieces[k]) for k in rows]))
        loss = functional.cross_entropy(
            net(seen), torch.from_numpy(texts[rows].astype(np.int64)), label_smoothing=0.02
        )
        learner.zero_grad()
        loss.backward()
        learner.step()
        step += 1
        if time.monotonic() - told > 120:
            told = time.monotonic()
            share = judged(net, held)
            print(f"{spent:.1f} min, step {step}, loss {loss.item():.3f}, held {share:.3f}", flush=True)
            torch.save(net.state_dict(), args.out.with_suffix(".pt"))
    torch.save(net.state_dict(), args.out.with_suffix(".pt"))
    print(f"step {step}, held {judged(net, held):.3f}")
    export(net.eval(), (1, 3, TOP_PX, TOP_PX), args.out, {0: "n"})


if __name__ == "__main__":
    main()
