"""Fits the network that reads dice on boards: `python tools/train_board_dice.py --cache CACHE --out FILE`.

Learns from what `train_board_dice_scenes` drew, which may go on drawing meanwhile; files of seed HELD are kept for
measuring. Each epoch sees every die anew: turned, shifted, lit and blurred otherwise. Writes an ONNX file.
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

from vision.dice.numerals_looks import CUT_PX as FROM_PX
from vision.dice.numerals_looks import CUT_REACH, TEXTS
from vision.dice.numerals_looks import KINDS as NUMERAL_KINDS
from vision.towers.looks import CUT_PX, KINDS, MEASURES, NOTHING, OUTPUTS, OWNERS, PX_PER_MM, USUAL_MM

HELD = "board-9-"
STORED_PX = 96
_OFFSET_UNIT_MM = 4.0
_BATCH = 128
_GROW = (0.85, 1.15)
_ASIDE = 0.12  # share of dice cut so far aside that nothing has its middle there


def _conv(inside: int, outside: int, step: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, step, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True)
    )


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _conv(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(self.first(x)))


class BoardDice(nn.Module):
    """(n, 3, CUT_PX, CUT_PX) -> (n, OUTPUTS): logits of KINDS and nothing, of TEXTS, of OWNERS, and MEASURES."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _conv(3, 16, 2), _conv(16, 32, 2), _Residual(32), _conv(32, 72, 2), _Residual(72), _Residual(72),
            _conv(72, 112, 2), _Residual(112),
        )  # fmt: skip
        side = CUT_PX // 16
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(112 * side * side, 192),
            nn.ReLU(inplace=True),
            nn.Linear(192, OUTPUTS),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


def from_numerals(folder: Path) -> dict[str, np.ndarray]:
    """Dice that `train_numerals_scenes` drew, as those of a board; where their middle lies and whose they are is
    not said (-1)."""
    parts = []
    names = [*NUMERAL_KINDS, "nothing", "other"]
    for file in sorted(folder.glob("dice-*.npy")):
        with np.load(file.with_suffix(".npz")) as truth:
            kinds, texts = truth["kinds"], truth["texts"]
        pieces = np.load(file, mmap_mode="r").reshape(-1, FROM_PX, FROM_PX, 3)
        side = round(2 * CUT_REACH * USUAL_MM * PX_PER_MM)
        edge = (STORED_PX - side) // 2
        rest = STORED_PX - side - edge
        small = [
            cv2.copyMakeBorder(
                cv2.resize(np.asarray(piece), (side, side), interpolation=cv2.INTER_AREA),
                edge, rest, edge, rest, cv2.BORDER_REPLICATE,
            )
            for piece in pieces
        ]  # fmt: skip
        told = np.array([KINDS.index(n) if n in KINDS else NOTHING for n in (
            names[k].replace("-numeral", "") for k in kinds)], np.int8)  # fmt: skip
        parts.append({
            "pieces": np.stack(small), "kinds": told, "texts": texts.astype(np.int8),
            "owners": np.full(len(kinds), -1, np.int8), "sizes": np.full(len(kinds), np.nan, np.float32),
        })  # fmt: skip
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Cuts:
    """All cuts of a cache; `more` takes in files that came since."""

    def __init__(self, cache: Path, is_held: bool, first: dict[str, np.ndarray] | None = None) -> None:
        self._cache, self._is_held, self._seen = cache, is_held, set[Path]()
        self.rows: dict[str, np.ndarray] = first or {}
        self.more()

    def more(self) -> None:
        parts = []
        for file in sorted(self._cache.glob("board-*.npz")):
            if file.name.startswith(HELD) == self._is_held and file not in self._seen:
                try:
                    with np.load(file) as found:
                        parts.append({name: found[name] for name in found.files})
                except (OSError, ValueError, EOFError):
                    continue  # it is being written
                self._seen.add(file)
        if parts:
            parts = [self.rows, *parts] if self.rows else parts
            self.rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[-1]}

    def __len__(self) -> int:
        return len(self.rows["kinds"]) if self.rows else 0

    def chosen(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Numbers of cuts by chance, those of boards three times as often."""
        weight = np.where(np.isnan(self.rows["sizes"]), 1.0, 3.0)
        return rng.choice(len(self), count, p=weight / weight.sum())

    def batch(self, rng: np.random.Generator, chosen: np.ndarray, is_plain: bool) -> tuple[Tensor, ...]:
        """(pictures, kinds, texts, owners, measures) of some cuts as tensors, altered by chance unless `is_plain`."""
        pictures = np.empty((len(chosen), 3, CUT_PX, CUT_PX), np.float32)
        kinds, texts = (
            self.rows["kinds"][chosen].astype(np.int64),
            self.rows["texts"][chosen].astype(np.int64),
        )
        owners = self.rows["owners"][chosen].astype(np.int64)
        measures = np.zeros((len(chosen), MEASURES), np.float32)
        for k, index in enumerate(chosen):
            turn, grow = float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(*_GROW))
            shift = rng.normal(0, 1.5, 2) if is_plain else rng.normal(0, 2.5, 2)
            if kinds[k] != NOTHING and not is_plain and rng.random() < _ASIDE:
                way = rng.uniform(0, 2 * np.pi)
                shift = np.array((np.cos(way), np.sin(way))) * rng.uniform(18, 28)
                kinds[k], texts[k], owners[k] = NOTHING, -1, -1
            pictures[k] = self._altered(rng, int(index), (turn, grow, shift), is_plain)
            # From the cut's middle to the die's, in mm (two px a mm) as the cut is turned.
            measures[k, :2] = -shift / 2.0 / _OFFSET_UNIT_MM
            measures[k, 2] = self.rows["sizes"][index] + np.log(grow)
            if np.isnan(measures[k, 2]):
                measures[k] = np.nan
        return tuple(torch.from_numpy(part) for part in (pictures, kinds, texts, owners, measures))

    def _altered(
        self, rng: np.random.Generator, index: int, way: tuple[float, float, np.ndarray], is_plain: bool
    ) -> np.ndarray:
        turn, grow, shift = way
        piece = self.rows["pieces"][index]
        cos, sin = np.cos(turn) / grow, np.sin(turn) / grow
        back = np.array([[cos, -sin, 0.0], [sin, cos, 0.0]])
        back[:, 2] = (len(piece) - 1) / 2 - back[:, :2] @ (np.full(2, (CUT_PX - 1) / 2) - shift)
        out = cv2.warpAffine(
            piece, back, (CUT_PX, CUT_PX), flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        ).astype(np.float32)  # fmt: skip
        if not is_plain:
            if rng.random() < 0.3:
                out = cv2.GaussianBlur(out, (0, 0), float(rng.uniform(0.3, 0.9)))
            out = out * rng.uniform(0.75, 1.3) * rng.uniform(0.94, 1.06, 3) + rng.uniform(-12, 12)
            out += rng.normal(0, rng.uniform(0, 6), out.shape)
        return np.clip(out, 0, 255).transpose(2, 0, 1).astype(np.float32) / 255 - 0.5


_AFTER_KINDS = len(KINDS) + 1
_AFTER_TEXTS = _AFTER_KINDS + len(TEXTS)
_AFTER_OWNERS = _AFTER_TEXTS + len(OWNERS)


def loss_of(out: Tensor, truth: tuple[Tensor, ...]) -> Tensor:
    """What is to be made small."""
    kinds, texts, owners, measures = truth
    is_die = kinds != NOTHING
    loss = functional.cross_entropy(out[:, :_AFTER_KINDS], kinds, label_smoothing=0.01)
    named = functional.cross_entropy(out[:, _AFTER_KINDS:_AFTER_TEXTS], texts.clamp(min=0), reduction="none")
    owned = functional.cross_entropy(
        out[:, _AFTER_TEXTS:_AFTER_OWNERS], owners.clamp(min=0), reduction="none"
    )
    known = torch.nan_to_num(measures)
    placed = functional.smooth_l1_loss(out[:, _AFTER_OWNERS:], known, reduction="none", beta=0.1).sum(1)
    share = is_die.float() / is_die.float().sum().clamp(min=1)
    is_ours = (owners >= 0).float()
    ours = is_ours / is_ours.sum().clamp(min=1)
    return loss + 1.5 * (named * share).sum() + ((0.5 * owned + placed) * ours).sum()


@torch.no_grad()
def judged(net: BoardDice, cuts: Cuts, rng: np.random.Generator) -> str:
    """How the held dice are read at one look."""
    net.eval()
    right, count = np.zeros(4), 0
    off = []
    for first in range(0, len(cuts), 256):
        chosen = np.arange(first, min(first + 256, len(cuts)))
        pictures, kinds, texts, owners, measures = cuts.batch(rng, chosen, True)
        out = net(pictures)
        is_die = kinds != NOTHING
        kind_right = out[:, :_AFTER_KINDS].argmax(1) == kinds
        text_right = out[:, _AFTER_KINDS:_AFTER_TEXTS].argmax(1) == texts
        owner_right = out[:, _AFTER_TEXTS:_AFTER_OWNERS].argmax(1) == owners
        right += np.array([
            kind_right[is_die].sum(), text_right[is_die].sum(), owner_right[is_die].sum(), kind_right[~is_die].sum()
        ])  # fmt: skip
        count += int(is_die.sum())
        off.append((out[:, _AFTER_OWNERS : _AFTER_OWNERS + 2] - measures[:, :2])[is_die].norm(dim=1) * 4)
    net.train()
    none = len(cuts) - count
    return (
        f"kind {right[0] / count:.3f} text {right[1] / count:.3f} owner {right[2] / count:.3f}"
        f" nothing {right[3] / max(1, none):.3f} off {torch.cat(off).median():.2f} mm"
    )


def main() -> None:
    """Trains for so many minutes and writes the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--numerals", type=Path, help="a cache of train_numerals_scenes to learn from too")
    parser.add_argument("--begin", type=Path, help="weights to go on from")
    parser.add_argument("--rate", type=float, default=2e-3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    first = from_numerals(args.numerals) if args.numerals else None
    cuts, held = Cuts(args.cache, False, first), Cuts(args.cache, True)
    print(f"{len(cuts)} cuts", flush=True)
    net = BoardDice()
    if args.begin:
        net.load_state_dict(torch.load(args.begin))
    best = torch.optim.AdamW(net.parameters(), args.rate, weight_decay=0.02)
    begun, told, step = time.monotonic(), time.monotonic(), 0
    while (spent := (time.monotonic() - begun) / 60) < args.minutes:
        share = spent / args.minutes
        for group in best.param_groups:
            group["lr"] = args.rate * min(1.0, (step + 1) / 200) * 0.5 * (1 + np.cos(np.pi * share))
        pictures, *truth = cuts.batch(rng, cuts.chosen(rng, _BATCH), False)
        loss = loss_of(net(pictures), tuple(truth))
        best.zero_grad()
        loss.backward()
        best.step()
        step += 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            cuts.more()
            held.more()
            words = judged(net, held, np.random.default_rng(5)) if len(held) else ""
            print(
                f"{spent:.1f} min, step {step}, {len(cuts)} cuts, loss {loss.item():.3f} {words}", flush=True
            )
            torch.save(net.state_dict(), args.out.with_suffix(".pt"))
    net.eval()
    torch.save(net.state_dict(), args.out.with_suffix(".pt"))
    export(net, (1, 3, CUT_PX, CUT_PX), args.out, {0: "n"})


if __name__ == "__main__":
    main()
