"""Train the network that reads numerals: `python tools/train_numerals.py look|learn --cache CACHE ...`.

`look` looks at our own renders (`train_numerals_scenes` makes them) as the reader does, other light and blur laid over;
`learn` trains on that and writes `numerals.pt` and `numerals.onnx` to `--out`. No photograph is ever used.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from vision.dice.numerals_looks import FEATURES, GEOMETRY, KINDS, TEXTS, features, looks

CLASSES = len(KINDS) + 2
SIZE = 256
_FIRST, _ANYHOW = 0.2, 0.3  # shares of looks as the finder shows a die, and of exact ones turned anyhow


class Numerals(nn.Module):
    """(n, FEATURES) of 0 to 1 -> (n, CLASSES + len(TEXTS) + GEOMETRY)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Dropout(0.1),
            nn.Linear(FEATURES, 256),
            nn.ReLU(inplace=True),
            nn.Dropout(0.25),
            nn.Linear(256, 128),
            nn.ReLU(inplace=True),
            nn.Dropout(0.1),
            nn.Linear(128, CLASSES + len(TEXTS) + GEOMETRY),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


@dataclass
class Store:
    """One file of `train_numerals_scenes`."""

    pieces: np.ndarray
    kinds: np.ndarray
    texts: np.ndarray
    ups: np.ndarray


def look_at(cache: Path, rounds: int, seed: int) -> None:
    """Looks at each die of a cache `rounds` times and keeps what the network is told of it beside the dice."""
    begun = time.monotonic()
    for file in sorted(cache.glob("dice-*.npz")):
        out = cache / f"looks-{file.stem}-{seed}.npz"
        if out.exists():
            continue
        with np.load(file) as rows:
            store = Store(
                np.load(file.with_suffix(".npy"), mmap_mode="r"), rows["kinds"], rows["texts"], rows["ups"]
            )
        rng = np.random.default_rng((seed, *file.stem.encode()))
        made = [sample(store, index, rng) for index in range(len(store.kinds)) for _ in range(rounds)]
        np.savez(out, seen=np.stack([seen for seen, _ in made]), truth=np.stack([truth for _, truth in made]))
        print(f"{out.name}: {len(made)} looks, {time.monotonic() - begun:.0f} s", flush=True)


def sample(store: Store, index: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The (FEATURES,) of one look, and what is true of it: kind, text, whether a die, whether its text may be asked
    for, whether upright (-1: nobody asks), then place and size."""
    piece, up = np.array(store.pieces[index]), float(store.ups[index])
    kind, text = int(store.kinds[index]), int(store.texts[index])
    is_die, has_up, chance = kind < len(KINDS), not np.isnan(up), rng.random()
    if chance < _FIRST:  # as the finder shows a die: about its place and size
        shift, grow = rng.normal(0, 0.13, 2), float(np.exp(rng.normal(0.0, 0.17)))
    else:  # as it is looked at again
        shift, grow = rng.normal(0, 0.045, 2), float(np.exp(rng.normal(0, 0.06)))
    off = float(rng.normal(0, 9)) if chance > _FIRST + _ANYHOW and has_up else float(rng.uniform(-180, 180))
    turn = off + (up if has_up else 0.0)
    seen = features(looks(_developed(piece, rng), (float(shift[0]), float(shift[1])), grow, turn))
    angle = np.radians(turn)
    cos, sin = np.cos(angle), np.sin(angle)
    # The die's middle as seen in the turned look, in assumed radii.
    dx, dy = -(cos * shift[0] + sin * shift[1]) / grow, -(-sin * shift[0] + cos * shift[1]) / grow
    is_upright = (1.0 if abs(off) < 14 else 0.0 if abs(off) > 28 else -1.0) if is_die and has_up else -1.0
    may_ask = is_die and (abs(off) < 25 or not has_up)
    return seen, np.array([kind, text, is_die, may_ask, is_upright, dx, dy, -np.log(grow)], np.float32)


def _developed(piece: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other exposure, colour, contrast, sharpness and noise."""
    picture = piece.astype(np.float32)
    if rng.random() < 0.3:
        grey = picture.mean(2, keepdims=True)
        picture = grey + float(rng.uniform(0.0, 2.2)) * (picture - grey)
    gain = np.exp(rng.normal(0, 0.12, 3) + rng.normal(0, 0.18)).astype(np.float32)
    middle, contrast = float(rng.uniform(60, 150)), float(np.exp(rng.normal(0.05, 0.3)))
    picture = (picture * gain - middle) * contrast + middle + float(rng.normal(0, 10))
    if rng.random() < 0.3:
        picture = cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.4, 1.8)))
    elif rng.random() < 0.2:
        picture = picture + float(rng.uniform(0.3, 1.5)) * (picture - cv2.GaussianBlur(picture, (0, 0), 1.2))
    if rng.random() < 0.5:
        picture = picture + rng.standard_normal(picture.shape, np.float32) * float(rng.uniform(0, 9))
    return np.clip(picture, 0, 255).astype(np.uint8)


def all_looks(cache: Path) -> tuple[Tensor, Tensor]:
    """(n, FEATURES) uint8 and (n, truths) of all that `look_at` made."""
    seen, truth = [], []
    for file in sorted(cache.glob("looks-*.npz")):
        with np.load(file) as rows:
            seen.append(rows["seen"])
            truth.append(rows["truth"])
    return torch.from_numpy(np.concatenate(seen)), torch.from_numpy(np.concatenate(truth))


def loss_of(seen: Tensor, truth: Tensor) -> Tensor:
    kind, text = truth[:, 0].long(), truth[:, 1].long()
    is_die, may_ask, upright = truth[:, 2], truth[:, 3], truth[:, 4]
    ends = CLASSES, CLASSES + len(TEXTS)
    of_kind = nn.functional.cross_entropy(seen[:, : ends[0]], kind, label_smoothing=0.01)
    of_text = nn.functional.cross_entropy(
        seen[:, ends[0] : ends[1]], text.clamp(min=0), reduction="none", label_smoothing=0.01
    )
    geometry = seen[:, ends[1] :]
    place = nn.functional.smooth_l1_loss(geometry[:, :3], truth[:, 5:8], reduction="none", beta=0.05).sum(1)
    asked = (upright >= 0).float()
    of_way = nn.functional.binary_cross_entropy_with_logits(
        geometry[:, 3], upright.clamp(min=0), reduction="none"
    )
    return (
        0.6 * of_kind
        + (of_text * may_ask).sum() / may_ask.sum().clamp(min=1)
        + 1.5 * (place * is_die).sum() / is_die.sum().clamp(min=1)
        + (of_way * asked).sum() / asked.sum().clamp(min=1)
    )


def train(net: nn.Module, looked: tuple[Tensor, Tensor], steps: int, rate: float) -> None:
    optimiser = torch.optim.AdamW(net.train().parameters(), lr=rate, weight_decay=1e-3)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    begun, total, right = time.monotonic(), 0.0, 0.0
    features_of, truths = looked
    for step in range(1, steps + 1):
        chosen = torch.randint(len(truths), (SIZE,))
        seen, truth = net(features_of[chosen].float() / 255), truths[chosen]
        loss = loss_of(seen, truth)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        plan.step()
        total += float(loss.detach())
        right += _hits(seen, truth)
        if step % 500 == 0:
            took = time.monotonic() - begun
            print(
                f"step {step} of {steps}: loss {total / 500:.3f}, text {right / 500:.3f}, {took:.0f} s",
                flush=True,
            )
            total = right = 0.0


def _hits(seen: Tensor, truth: Tensor) -> float:
    """Share of right texts, of those that may be asked for."""
    said = seen[:, CLASSES : CLASSES + len(TEXTS)].argmax(1)
    return float(((said == truth[:, 1]).float() * truth[:, 3]).sum() / truth[:, 3].sum().clamp(min=1))


def export(net: nn.Module, file: Path) -> None:
    """Write the network as ONNX, its weights kept in half precision and widened when it is loaded."""
    torch.onnx.export(
        net.eval().float(),
        (torch.zeros(1, FEATURES),),
        str(file),
        input_names=["features"],
        output_names=["seen"],
        dynamic_axes={"features": {0: "n"}, "seen": {0: "n"}},
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(str(file))
    graph, casts = model.graph, []
    for weight in [
        w for w in graph.initializer if w.data_type == TensorProto.FLOAT and np.prod(w.dims) > 256
    ]:
        half = numpy_helper.from_array(
            numpy_helper.to_array(weight).astype(np.float16), f"{weight.name}.half"
        )
        casts.append(helper.make_node("Cast", [half.name], [weight.name], to=TensorProto.FLOAT))
        graph.initializer.remove(weight)
        graph.initializer.append(half)
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("look", "learn"))
    parser.add_argument("--cache", type=Path, required=True, help="folder of train_numerals_scenes")
    parser.add_argument("--rounds", type=int, default=8, help="looks at each die, for look")
    parser.add_argument("--out", type=Path, help="folder for the network, for learn")
    parser.add_argument(
        "--held", type=Path, help="folder of dice looked at that are only measured, for learn"
    )
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    if options.stage == "look":
        look_at(options.cache, options.rounds, options.seed)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    looked, net = all_looks(options.cache), Numerals()
    print(f"{len(looked[1])} looks, {sum(p.numel() for p in net.parameters())} weights", flush=True)
    train(net, looked, options.steps, options.rate)
    torch.save(net.state_dict(), options.out / "numerals.pt")
    export(net, options.out / "numerals.onnx")
    if options.held:
        seen, truth = all_looks(options.held)
        with torch.no_grad():
            said = net.eval()(seen.float() / 255)
        kinds = float((said[:, :CLASSES].argmax(1) == truth[:, 0]).float().mean())
        print(f"held out: text {_hits(said, truth):.3f}, kind {kinds:.3f}", flush=True)


if __name__ == "__main__":
    main()
