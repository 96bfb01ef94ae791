"""The two networks that read numerals."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from train_dice_nets import Residual, conv

from vision.dice.numerals_looks import KINDS, LOOK_PX, TEXTS, TURNS

CLASSES = len(KINDS) + 2
MOVES = 3  # right and down to the top face's middle in radii, log of the radius against the assumed one
READINGS = len(TEXTS) + 1  # the last: not upright


def _body() -> nn.Sequential:
    return nn.Sequential(
        conv(6, 16, 2, kernel=5),
        conv(16, 32, 2),
        Residual(32),
        conv(32, 64, 2),
        Residual(64),
        Residual(64),
        conv(64, 128, 2),
        conv(128, 48, kernel=1),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(48 * (LOOK_PX // 16) ** 2, 128),
        nn.ReLU(inplace=True),
    )


class Place(nn.Module):
    """(n, 3, LOOK_PX, LOOK_PX), BGR in -0.5 to 0.5, a look of WIDE_REACH -> (n, CLASSES + MOVES)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = _body()
        self.head = nn.Linear(128, CLASSES + MOVES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(torch.cat([x, _relative(x, 14)], 1)))


class Read(nn.Module):
    """(n, 3, LOOK_PX, LOOK_PX), BGR in -0.5 to 0.5, a look of a kind's NEAR_REACH -> (n, READINGS + TURNS)
    logits: what it says as it stands, and which way its top points."""

    def __init__(self) -> None:
        super().__init__()
        self.body = _body()
        self.head = nn.Linear(128, READINGS + TURNS)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(torch.cat([x, _relative(x, 8)], 1)))


def _relative(x: Tensor, rim: int) -> Tensor:
    """Light, red against green, blue against green, each in units of its own spread away from the rim, so that ink on a
    body of nearly its own colour stands out as much as black on white."""
    level = torch.log(x + 0.56)
    planes = torch.stack([level.mean(1), level[:, 2] - level[:, 1], level[:, 0] - level[:, 1]], 1)
    face = planes[:, :, rim : LOOK_PX - rim, rim : LOOK_PX - rim]
    middle = face.mean((2, 3), keepdim=True)
    spread = torch.sqrt(((face - middle) ** 2).mean((2, 3), keepdim=True))
    return torch.clamp((planes - middle) / (spread + 0.04), -4.0, 4.0) * 0.3
