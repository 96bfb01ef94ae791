"""Train the two networks that read dice: `python tools/train_dice.py base|tune --cache CACHE ...`.

`base` learns from made-up scenes alone (`train_dice_scenes` makes them). `tune` goes on from `--start` with little
steps, with the licensed photographs of `--data` but those of `--leave-out` and `--watch`; what the network learnt of
means and spreads stays. With `--watch` it keeps the weights that were best on that whole group, and says after how
many steps. The sets in `train_dice_data.FORBIDDEN` are never trained on. The network's file goes to `--out`.
"""

from __future__ import annotations

import argparse
import copy
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
import train_dice_data as data
from torch import Tensor, nn
from train_dice_nets import CLASSES, Classifier, Finder, export, halve

from vision.dice.networks import FaceFinder

EVERY = 100
"""Steps between two lines of what was reached."""
Batch = tuple[np.ndarray, np.ndarray]
Sample = Callable[[np.random.Generator, data.Picture], tuple[np.ndarray, np.ndarray] | None]
Loss = Callable[[Tensor, Tensor], Tensor]
Pool = tuple[float, list[data.Picture]]
"""How often a sample comes from these pictures, against the other pools."""


@dataclass(frozen=True)
class Plan:
    """How one network is trained. `watched`: samples that are not learnt, by which the best weights are kept."""

    steps: int
    rate: float
    is_tune: bool
    watched: Batch | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("base", "tune"))
    parser.add_argument("--net", choices=("finder", "classifier"), required=True)
    parser.add_argument("--cache", type=Path, nargs="+", required=True, help="folders of train_dice_scenes")
    parser.add_argument("--data", type=Path, help="folder of the photographs, for tune")
    parser.add_argument("--renders", type=Path, help="folder of our renders of other dice, for tune")
    parser.add_argument("--leave-out", nargs="*", default=[], choices=sorted(data.GROUPS))
    parser.add_argument(
        "--watch", choices=sorted(data.GROUPS), help="left out, and looked at to stop in time"
    )
    parser.add_argument(
        "--finder", type=Path, help="folder of the finder.onnx whose faces a classifier learns"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="folder of the weights to go on from")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rate", type=float, help="by default 2e-3 for base, 3e-4 for tune")
    parser.add_argument("--real", type=float, default=0.3, help="share of photographs, for tune")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    made = [picture for folder in options.cache for picture in data.scenes(folder)]
    is_finder, is_tune = options.net == "finder", options.stage == "tune"
    finder = FaceFinder(options.finder) if is_tune and not is_finder else None
    real, watched = list[list[data.Picture]](), list[data.Picture]()
    if is_tune:
        learnt = [g for g in data.GROUPS if g not in (*options.leave_out, options.watch)]
        real = [_photographs(options.data, group, finder) for group in learnt]
        real += [data.renders(options.renders)] if options.renders else []
        watched = _photographs(options.data, options.watch, finder) if options.watch else []
    print(f"{len(made)} scenes, {sum(map(len, real))} photographs", flush=True)
    net: nn.Module = Finder() if is_finder else Classifier()
    if options.start:
        net.load_state_dict(torch.load(options.start / f"{options.net}.pt", weights_only=True))
    sample = data.finder_sample if is_finder else data.face_sample
    share = options.real if real else 0.0
    pools = [(1 - share, made), *((share / len(real), pictures) for pictures in real)]
    plan = Plan(
        options.steps,
        options.rate or (3e-4 if is_tune else 2e-3),
        is_tune,
        _batch(np.random.default_rng(0), [(1.0, watched)], sample, 64 if is_finder else 1024)
        if watched
        else None,
    )
    batches = _batches(pools, sample, 16 if is_finder else 128, options.seed)
    _train(net, batches, finder_loss if is_finder else classifier_loss, plan)
    torch.save(net.state_dict(), options.out / f"{options.net}.pt")
    if is_finder:
        export(net, (1, 3, 256, 256), options.out / "finder.onnx", {2: "rows", 3: "columns"})
        halve(options.out / "finder.onnx")
    else:
        export(net, (1, 3, 48, 48), options.out / "classifier.onnx", {0: "n"})


def _photographs(folder: Path, group: str, finder: FaceFinder | None) -> list[data.Picture]:
    """Those of one group; with a finder their faces lie where it sees them."""
    pictures = data.photographs(folder, [group])
    if finder is not None:
        data.refine(pictures, finder)
    return pictures


def _batches(pools: list[Pool], sample: Sample, size: int, seed: int) -> Iterator[Batch]:
    """Batches made ahead by one thread, in an order that the seed fixes."""
    ready: queue.Queue[Batch] = queue.Queue(6)

    def fill() -> None:
        rng = np.random.default_rng(seed)
        while True:
            ready.put(_batch(rng, pools, sample, size))

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield ready.get()


def _batch(rng: np.random.Generator, pools: list[Pool], sample: Sample, size: int) -> Batch:
    """`size` samples, each from a pool that its share makes likely."""
    shares = np.array([share for share, _ in pools])
    rows = []
    while len(rows) < size:
        _, pictures = pools[rng.choice(len(pools), p=shares / shares.sum())]
        row = sample(rng, pictures[rng.integers(len(pictures))])
        if row is not None:
            rows.append(row)
    return np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])


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


def _train(net: nn.Module, batches: Iterator[Batch], loss_of: Loss, plan: Plan) -> None:
    net = net.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]  # torch stubs know no memory format alone
    optimiser = torch.optim.AdamW(net.parameters(), lr=plan.rate, weight_decay=1e-4)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=plan.steps, pct_start=0.1)
    begun, total, least, best = time.monotonic(), 0.0, float("inf"), net.state_dict()
    for step in range(1, plan.steps + 1):
        if plan.is_tune:
            _keep_norms(net)
        loss = _loss(net, next(batches), loss_of)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        rates.step()
        total += float(loss.detach())
        if step % EVERY == 0:
            line = f"step {step} of {plan.steps}: loss {total / EVERY:.4f}, {time.monotonic() - begun:.0f} s"
            total = 0.0
            if plan.watched is not None:
                net.eval()
                with torch.no_grad():
                    now = float(_loss(net, plan.watched, loss_of))
                net.train()
                line += f", watched {now:.4f}"
                if now < least:
                    least, best = now, copy.deepcopy(net.state_dict())
            print(line, flush=True)
    if plan.watched is not None:
        net.load_state_dict(best)


def _loss(net: nn.Module, batch: Batch, loss_of: Loss) -> Tensor:
    images, targets = batch
    x = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255 - 0.5
    with torch.autocast("cpu", torch.bfloat16):
        seen = net(x.contiguous(memory_format=torch.channels_last))
    return loss_of(seen.float(), torch.from_numpy(targets))


def _keep_norms(net: nn.Module) -> None:
    """What the network learnt of means and spreads from many scenes is not to follow a few photographs."""
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.eval()


if __name__ == "__main__":
    main()
