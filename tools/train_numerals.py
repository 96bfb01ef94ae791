"""Train the network that reads numerals: `python tools/train_numerals.py --cache CACHE --out OUT ...`.

Learns from our own renders alone (`train_numerals_scenes` makes them); `--start` goes on from earlier weights. Writes
`numerals.pt` and `numerals.onnx` to `--out`. No photograph is ever used.
"""

from __future__ import annotations

import argparse
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from train_dice_nets import _conv, _Residual

from vision.dice.numerals_looks import CUT_PX, CUT_REACH, GEOMETRY, KINDS, LOOK_PX, TEXTS, looks

CLASSES = len(KINDS) + 2
SIZE = 64
_LOOK_AGAIN = 100  # batches after which files that came meanwhile are opened too
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


class Numerals(nn.Module):
    """(n, 6, LOOK_PX, LOOK_PX) -> (n, CLASSES + len(TEXTS) + GEOMETRY)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _conv(6, 24, 2, kernel=5),
            _Residual(24),
            _conv(24, 48, 2),
            _Residual(48),
            _conv(48, 80, 2),
            _Residual(80),
            _Residual(80),
            _conv(80, 24, kernel=1),
        )
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(24 * (LOOK_PX // 8) ** 2, 104),
            nn.ReLU(inplace=True),
            nn.Linear(104, CLASSES + len(TEXTS) + GEOMETRY),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


class Store:
    """All files of a cache, opened where they lie; more may be added while training goes on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pieces: list[np.ndarray] = []
        kinds, texts, ups, places = [], [], [], []
        for index, file in enumerate(sorted(folder.glob("dice-*.npz"))):
            with np.load(file) as rows:
                kinds.append(rows["kinds"])
                texts.append(rows["texts"])
                ups.append(rows["ups"])
            self.pieces.append(np.load(file.with_suffix(".npy"), mmap_mode="r"))
            places += [(index, row) for row in range(len(kinds[-1]))]
        self.kinds, self.texts, self.ups = (np.concatenate(part) for part in (kinds, texts, ups))
        self.places = places

    def piece(self, index: int) -> np.ndarray:
        file, row = self.places[index]
        return np.array(self.pieces[file][row])


def sample(store: Store, index: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A look (LOOK_PX, LOOK_PX, 6), and kind, text, whether a die, whether it has an up, then the GEOMETRY numbers."""
    piece, up = store.piece(index), float(store.ups[index])
    kind, text = int(store.kinds[index]), int(store.texts[index])
    is_first = rng.random() < 0.45
    if is_first:  # as the finder shows a die: about its place and size, turned anyhow
        shift, grow, turn = (
            rng.normal(0, 0.13, 2),
            float(np.exp(rng.normal(0.0, 0.17))),
            float(rng.uniform(0, 360)),
        )
    else:  # as it is looked at again
        shift, grow = rng.normal(0, 0.045, 2), float(np.exp(rng.normal(0, 0.05)))
        turn = (0.0 if np.isnan(up) else up) + float(rng.normal(0, 9))
        if np.isnan(up):
            turn = float(rng.uniform(0, 360))
    seen = looks(piece, (float(shift[0]), float(shift[1])), grow, turn)
    seen = _developed(seen, rng)
    angle = np.radians(turn)
    cos, sin = np.cos(angle), np.sin(angle)
    # The die's middle as seen in the turned look, in assumed radii.
    dx, dy = -(cos * shift[0] + sin * shift[1]) / grow, -(-sin * shift[0] + cos * shift[1]) / grow
    ahead = np.radians(0.0 if np.isnan(up) else up - turn)
    truth = [
        kind,
        text,
        kind < len(KINDS),
        not np.isnan(up),
        dx,
        dy,
        -np.log(grow),
        np.sin(ahead),
        -np.cos(ahead),
    ]
    return seen, np.array(truth, np.float32)


def _developed(seen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other exposure, colour, contrast, sharpness and noise."""
    picture = seen.astype(np.float32)
    if rng.random() < 0.3:
        grey = picture.reshape(LOOK_PX, LOOK_PX, 2, 3).mean(3, keepdims=True)
        more = float(rng.uniform(0.0, 2.2))
        picture = (grey + more * (picture.reshape(LOOK_PX, LOOK_PX, 2, 3) - grey)).reshape(picture.shape)
    gain = np.tile(np.exp(rng.normal(0, 0.12, 3)), 2).astype(np.float32) * float(np.exp(rng.normal(0, 0.18)))
    middle = float(rng.uniform(60, 150))
    contrast = float(np.exp(rng.normal(0.05, 0.3)))
    picture = (picture * gain - middle) * contrast + middle + float(rng.normal(0, 10))
    if rng.random() < 0.1:
        order = rng.permutation(3)
        picture = picture[:, :, [*order, *(order + 3)]]
    if rng.random() < 0.3:
        picture = cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.3, 1.4)))
    elif rng.random() < 0.2:
        soft = cv2.GaussianBlur(picture, (0, 0), 1.0)
        picture = picture + float(rng.uniform(0.3, 1.5)) * (picture - soft)
    if rng.random() < 0.5:
        picture = picture + rng.standard_normal(picture.shape, np.float32) * float(rng.uniform(0, 9))
    return np.clip(picture, 0, 255).astype(np.uint8)


def batches(store: Store, seed: int) -> Iterator[Batch]:
    """(looks, truths) without end, made beside the training."""
    ready: queue.Queue[tuple[np.ndarray, np.ndarray]] = queue.Queue(6)

    def fill() -> None:
        rng, known, count = np.random.default_rng(seed), store, 0
        while True:
            count += 1
            if count % _LOOK_AGAIN == 0:
                known = Store(store.folder)
            rows = [sample(known, int(i), rng) for i in rng.integers(len(known.places), size=SIZE)]
            ready.put((np.stack([seen for seen, _ in rows]), np.stack([truth for _, truth in rows])))

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield ready.get()


def loss_of(seen: Tensor, truth: Tensor) -> Tensor:
    kind, text = truth[:, 0].long(), truth[:, 1].long()
    is_die, has_up = truth[:, 2], truth[:, 3]
    ends = CLASSES, CLASSES + len(TEXTS)
    of_kind = nn.functional.cross_entropy(seen[:, : ends[0]], kind, label_smoothing=0.02)
    of_text = nn.functional.cross_entropy(
        seen[:, ends[0] : ends[1]], text.clamp(min=0), reduction="none", label_smoothing=0.02
    )
    geometry = seen[:, ends[1] :]
    place = nn.functional.smooth_l1_loss(geometry[:, :3], truth[:, 4:7], reduction="none", beta=0.05).sum(1)
    way = ((geometry[:, 3:] - truth[:, 7:9]) ** 2).sum(1) * has_up
    dice = is_die.sum().clamp(min=1)
    return (
        0.7 * of_kind
        + (of_text * is_die).sum() / dice
        + 1.5 * (place * is_die).sum() / dice
        + 0.4 * way.sum() / has_up.sum().clamp(min=1)
    )


def train(net: nn.Module, made: Iterator[Batch], steps: int, rate: float, out: Path) -> None:
    net = net.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]  # torch stubs know no memory format alone
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    begun, total, right = time.monotonic(), 0.0, 0.0
    for step in range(1, steps + 1):
        images, targets = next(made)
        x = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255 - 0.5
        with torch.autocast("cpu", torch.bfloat16):
            seen = net(x.contiguous(memory_format=torch.channels_last)).float()
        truth = torch.from_numpy(targets)
        loss = loss_of(seen, truth)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        plan.step()
        total += float(loss.detach())
        said = seen[:, CLASSES : CLASSES + len(TEXTS)].argmax(1)
        hit = (said == truth[:, 1]).float() * truth[:, 2]
        right += float(hit.sum() / truth[:, 2].sum())
        if step % 50 == 0:
            took = time.monotonic() - begun
            print(
                f"step {step} of {steps}: loss {total / 50:.3f}, text {right / 50:.3f}, {took:.0f} s",
                flush=True,
            )
            total = right = 0.0
        if step % 500 == 0:
            torch.save(net.state_dict(), out / "numerals.pt")


def export(net: nn.Module, file: Path) -> None:
    """Write the network as ONNX, its weights kept in half precision and widened when it is loaded."""
    torch.onnx.export(
        net.eval().float(),
        (torch.zeros(1, 6, LOOK_PX, LOOK_PX),),
        str(file),
        input_names=["picture"],
        output_names=["seen"],
        dynamic_axes={"picture": {0: "n"}, "seen": {0: "n"}},
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
    parser.add_argument("--cache", type=Path, required=True, help="folder of train_numerals_scenes")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="folder of the weights to go on from")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    store, net = Store(options.cache), Numerals()
    if options.start:
        net.load_state_dict(torch.load(options.start / "numerals.pt", weights_only=True))
    count = sum(p.numel() for p in net.parameters())
    print(f"{len(store.places)} dice of {CUT_PX} px ({CUT_REACH} radii), {count} weights", flush=True)
    train(net, batches(store, options.seed), options.steps, options.rate, options.out)
    torch.save(net.state_dict(), options.out / "numerals.pt")
    export(net, options.out / "numerals.onnx")


if __name__ == "__main__":
    main()
