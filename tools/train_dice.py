"""Train the two networks that read dice: `python tools/train_dice.py base|tune --cache CACHE ...`.

`base` learns from made-up scenes alone (`train_dice_scenes` makes them). `tune` goes on from there with the licensed
photographs of `--data`, without those of `--leave-out`, and writes `finder.onnx` and `classifier.onnx` to `--out`.
The sets in `train_dice_data.FORBIDDEN` are never trained on.
"""

from __future__ import annotations

import argparse
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import torch
import train_dice_data as data
from torch import Tensor, nn
from train_dice_nets import CLASSES, Classifier, Finder, export, halve

from vision.dice.networks import FaceFinder

Batch = tuple[np.ndarray, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("base", "tune"))
    parser.add_argument("--net", choices=("finder", "classifier"), required=True)
    parser.add_argument("--cache", type=Path, nargs="+", required=True, help="folders of train_dice_scenes")
    parser.add_argument("--data", type=Path, help="folder of the photographs, for tune")
    parser.add_argument("--renders", type=Path, help="folder of our renders of other dice, for tune")
    parser.add_argument("--leave-out", nargs="*", default=[], choices=sorted(data.GROUPS))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="folder of the weights to go on from")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--real", type=float, default=0.4, help="share of photographs, for tune")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    made = [picture for folder in options.cache for picture in data.scenes(folder)]
    real: list[data.Picture] = []
    if options.stage == "tune":
        real = data.photographs(options.data, [g for g in data.GROUPS if g not in options.leave_out])
        real += data.renders(options.renders) if options.renders else []
        if options.net == "classifier":
            data.refine(real, FaceFinder(options.out))
    print(f"{len(made)} scenes, {len(real)} photographs", flush=True)
    is_finder = options.net == "finder"
    net: nn.Module = Finder() if is_finder else Classifier()
    if options.start:
        net.load_state_dict(torch.load(options.start / f"{options.net}.pt", weights_only=True))
    batches = _batches(
        made,
        real,
        options.real if real else 0.0,
        sample=data.finder_sample if is_finder else data.face_sample,
        size=16 if is_finder else 128,
        seed=options.seed,
    )
    _train(net, batches, finder_loss if is_finder else classifier_loss, options.steps, options.rate)
    torch.save(net.state_dict(), options.out / f"{options.net}.pt")
    if is_finder:
        export(net, (1, 3, 256, 256), options.out / "finder.onnx", {2: "rows", 3: "columns"})
        halve(options.out / "finder.onnx")
    else:
        export(net, (1, 3, 48, 48), options.out / "classifier.onnx", {0: "n"})


def _batches(
    made: list[data.Picture],
    real: list[data.Picture],
    share: float,
    *,
    sample: Callable[[np.random.Generator, data.Picture], tuple[np.ndarray, np.ndarray] | None],
    size: int,
    seed: int,
) -> Iterator[Batch]:
    """Batches made ahead by one thread, in an order that the seed fixes."""
    ready: queue.Queue[Batch] = queue.Queue(6)

    def fill() -> None:
        rng = np.random.default_rng(seed)
        while True:
            rows = []
            while len(rows) < size:
                pictures = real if rng.random() < share else made
                row = sample(rng, pictures[rng.integers(len(pictures))])
                if row is not None:
                    rows.append(row)
            ready.put((np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])))

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield ready.get()


def finder_loss(seen: Tensor, target: Tensor) -> Tensor:
    heat, weight = target[:, 0], target[:, 1]
    chance = torch.sigmoid(seen[:, 0]).clamp(1e-4, 1 - 1e-4)
    is_centre = (heat >= 1).float()
    hit = -((1 - chance) ** 2) * chance.log() * is_centre
    miss = -(chance**2) * (1 - chance).log() * (1 - heat) ** 4 * (1 - is_centre) * weight
    count = is_centre.sum().clamp(min=1)
    slack = target[:, 3]
    side = ((seen[:, 1] - target[:, 2]).abs() - slack.clamp(min=0)).clamp(min=0) * (slack >= 0)
    offset = (seen[:, 2:4] - target[:, 4:6]).abs().sum(1) * target[:, 6]
    return (hit.sum() + miss.sum()) / count + side.sum() / count / 6 + offset.sum() / count / 10


def classifier_loss(seen: Tensor, target: Tensor) -> Tensor:
    names = nn.functional.cross_entropy(seen[:, :CLASSES], target[:, 0].long(), label_smoothing=0.03)
    off = nn.functional.smooth_l1_loss(seen[:, CLASSES:], target[:, 1:4], reduction="none", beta=0.05).sum(1)
    return names + (off * target[:, 4]).sum() / target[:, 4].sum().clamp(min=1)


def _train(
    net: nn.Module,
    batches: Iterator[Batch],
    loss_of: Callable[[Tensor, Tensor], Tensor],
    steps: int,
    rate: float,
) -> None:
    net = net.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]  # torch stubs know no memory format alone
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.1)
    begun, total = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        images, targets = next(batches)
        x = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255 - 0.5
        with torch.autocast("cpu", torch.bfloat16):
            seen = net(x.contiguous(memory_format=torch.channels_last))
        loss = loss_of(seen.float(), torch.from_numpy(targets))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        plan.step()
        total += float(loss.detach())
        if step % 100 == 0:
            print(
                f"step {step} of {steps}: loss {total / 100:.4f}, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
            total = 0.0


if __name__ == "__main__":
    main()
