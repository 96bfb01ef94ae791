"""The two networks that read dice, and how they become ONNX files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

STRIDE = 4
FINDER_OUTPUTS = 4  # logit of a face's centre, log of its edge in cells, offset x and y in cells
CLASSES = 9  # no face, 1 to 6, a face of another kind, a cocked die
MOVES = 3


def conv(inside: int, outside: int, step: int = 1, kernel: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, step, kernel // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = conv(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(self.first(x)))


class Finder(nn.Module):
    """(n, 3, h, w), BGR in -0.5 to 0.5, h and w multiples of 16 -> (n, FINDER_OUTPUTS, h / 4, w / 4)."""

    def __init__(self, widths: tuple[int, int, int, int] = (16, 24, 48, 80)) -> None:
        super().__init__()
        half, fine, middle, coarse = widths
        self.fine = nn.Sequential(conv(3, half, 2), conv(half, fine, 2), Residual(fine))
        self.middle = nn.Sequential(conv(fine, middle, 2), Residual(middle), Residual(middle))
        self.coarse = nn.Sequential(conv(middle, coarse, 2), Residual(coarse), Residual(coarse))
        self.down_middle = conv(coarse, middle, kernel=1)
        self.mix_middle = conv(middle, middle)
        self.down_fine = conv(middle, fine, kernel=1)
        self.mix_fine = conv(fine, fine)
        self.head = nn.Conv2d(fine, FINDER_OUTPUTS, 1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        nn.init.constant_(self.head.bias, 0.0)
        with torch.no_grad():
            self.head.bias[0] = -4.0
            self.head.bias[1] = 2.0

    def forward(self, x: Tensor) -> Tensor:
        fine = self.fine(x)
        middle = self.middle(fine)
        coarse = self.coarse(middle)
        middle = self.mix_middle(middle + self.up(self.down_middle(coarse)))
        fine = self.mix_fine(fine + self.up(self.down_fine(middle)))
        return self.head(fine)


class Classifier(nn.Module):
    """(n, 3, 48, 48), BGR in -0.5 to 0.5 -> (n, CLASSES + MOVES): logits, then where the face really lies.

    A move is x and y to the face's middle and the log of its edge, both against the edge that was cut for. Beside BGR
    the body sees how light and which hue each pixel is against the rest of the face, so that dark red pips in a dark
    die stand out as much as black ones in a white die. The last map is not pooled: whether a pip lies in the middle
    tells a 4 from a 5, and pooling forgets where.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv(6, 24, 2, kernel=5),
            conv(24, 32),
            conv(32, 48, 2),
            Residual(48),
            conv(48, 64, 2),
            Residual(64),
            conv(64, 24, kernel=1),
        )
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(24 * 36, 64),
            nn.ReLU(inplace=True),
            nn.Linear(64, CLASSES + MOVES),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(torch.cat([x, _relative(x)], 1)))


def _relative(x: Tensor) -> Tensor:
    """(n, 3, 48, 48): light, red against green, blue against green, each in units of its own spread in the face."""
    level = torch.log(x + 0.56)
    planes = torch.stack([level.mean(1), level[:, 2] - level[:, 1], level[:, 0] - level[:, 1]], 1)
    face = planes[:, :, 10:38, 10:38]
    planes = planes - face.mean((2, 3), keepdim=True)
    face = planes[:, :, 10:38, 10:38]
    spread = torch.sqrt((face * face).mean((2, 3), keepdim=True))
    return torch.clamp(planes / (spread + 0.06), -4.0, 4.0) * 0.3


def export(net: nn.Module, shape: tuple[int, ...], file: Path, free: dict[int, str]) -> None:
    """Write `net` as ONNX with input `picture` and output `seen`; `free`: the axes whose length may vary."""
    net = net.eval().float()
    torch.onnx.export(
        net,
        (torch.zeros(shape),),
        str(file),
        input_names=["picture"],
        output_names=["seen"],
        dynamic_axes={"picture": free, "seen": free},
        opset_version=17,
        dynamo=False,
    )


def halve(file: Path) -> None:
    """Keep an ONNX file's weights in half precision; they are widened when it is loaded."""
    model = onnx.load(file)
    kept, casts = [], []
    for weight in model.graph.initializer:
        if weight.data_type == TensorProto.FLOAT and len(weight.dims) > 1:
            half = numpy_helper.to_array(weight).astype(np.float16)
            kept.append(numpy_helper.from_array(half, f"{weight.name}.half"))
            casts.append(
                helper.make_node("Cast", [f"{weight.name}.half"], [weight.name], to=TensorProto.FLOAT)
            )
        else:
            kept.append(weight)
    nodes = [*casts, *model.graph.node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))
