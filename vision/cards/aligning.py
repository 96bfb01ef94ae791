"""A card's picture laid exactly over the enrolled one: a homography, refined by what their lines have in common.

Inverse compositional: the enrolled card's slopes are worked out once. Blocks that do not fit (a finger, a glare, a die)
count less from step to step, so they do not pull.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cards.looks import COLUMNS, ROWS, Floats, Plane, blocks_of

_STEPS = 12
_STILL = 0.02  # px: smaller steps end the search
_HELD = 0.3  # per px: how much a card that shows little stays where its corners are
_SOFT = 0.05  # added to the power of a block, so that an empty one does not count


@dataclass(frozen=True)
class Blocks:
    """(B, P) the pixels of a picture's blocks, `off` from each block's mean, and `power`, the mean square of that."""

    pixels: NDArray[np.float32]
    off: NDArray[np.float32]
    power: NDArray[np.float32]

    @staticmethod
    def of(pixels: NDArray[np.float32]) -> Blocks:
        """The blocks of `pixels` (B, P)."""
        count = np.float32(pixels.shape[1])
        off = pixels - pixels.sum(1, keepdims=True) / count
        return Blocks(pixels, off, np.einsum("bp,bp->b", off, off) / count)


@dataclass(frozen=True)
class Target:
    """An enrolled card's lines at one level, with the slopes that tell which way to go: `steepest` (8, B * P), `bends`
    (B, 64)."""

    lines: Plane
    blocks: Blocks
    steepest: NDArray[np.float32]
    bends: NDArray[np.float32]

    @staticmethod
    def of(lines: Plane) -> Target:
        """`lines`: (H, W) without margin."""
        soft = np.asarray(cv2.GaussianBlur(lines, (0, 0), 0.7), np.float32)
        dx = cv2.Sobel(soft, cv2.CV_32F, 1, 0) / 8
        dy = cv2.Sobel(soft, cv2.CV_32F, 0, 1) / 8
        height, width = lines.shape
        half = height / 2
        x = np.broadcast_to(((np.arange(width) - (width - 1) / 2) / half)[None, :], lines.shape).astype(
            np.float32
        )
        y = np.broadcast_to(((np.arange(height) - (height - 1) / 2) / half)[:, None], lines.shape).astype(
            np.float32
        )
        lean = x * dx + y * dy
        planes = [x * dx, y * dx, dx, x * dy, y * dy, dy, -x * lean, -y * lean]
        steepest = np.stack([blocks_of(np.asarray(plane * half, np.float32)) for plane in planes])
        bends = np.einsum("ibp,jbp->bij", steepest, steepest)
        flat = steepest.reshape(len(planes), -1), bends.reshape(len(bends), -1)
        return Target(lines, Blocks.of(blocks_of(lines)), *map(np.ascontiguousarray, flat))


@dataclass(frozen=True)
class Aligned:
    """`turn`: 3x3, from the enrolled card's places (around its middle, in halves of its height) to those of the
    picture's card; `likeness`: (ROWS * COLUMNS,) of each block, -1 to 1; `moved`: how far a corner went, in heights,
    infinite where they could not be laid over each other; `clear`: (ROWS * COLUMNS,) the blocks that count."""

    turn: Floats
    likeness: NDArray[np.float32]
    moved: float
    clear: NDArray[np.bool_]

    @property
    def fit(self) -> float:
        """The likeness of the whole."""
        return float(self.likeness[self.clear].mean())


def align(
    target: Target, lines: Plane, margin: int, turn: Floats | None, clear: NDArray[np.bool_]
) -> Aligned:
    """The picture's `lines` (with `margin` px around) laid over the target by its `clear` blocks, from `turn` on."""
    height, width = target.lines.shape
    now = np.eye(3) if turn is None else turn
    wanted = target.blocks
    went, held = np.zeros(8), _HELD * target.lines.size
    for _ in range(_STEPS):
        seen = Blocks.of(blocks_of(_warped(lines, now, (width, height), margin)))
        weights = np.clip(likeness(wanted, seen), 0.05, 1.0) ** 2 * clear
        shared = np.einsum("bp,bp->b", wanted.pixels, seen.pixels)
        whole = np.einsum("bp,bp->b", seen.pixels, seen.pixels)
        gain = np.clip(shared / (whole + np.float32(1.0)), 0.3, 1.7)
        miss = (seen.pixels * gain[:, None] - wanted.pixels) * weights[:, None]
        force = target.steepest @ miss.ravel()
        bend = (weights @ target.bends).reshape(8, 8).astype(np.float64)
        bend[np.diag_indices(8)] += 1e-3 * np.trace(bend) / 8 + 1e-6 + held
        d = np.linalg.solve(bend, force.astype(np.float64) - held * went)
        went += d
        step = np.array([(1 + d[0], d[1], d[2]), (d[3], 1 + d[4], d[5]), (d[6], d[7], 1.0)])
        now = now @ np.linalg.inv(step)
        now = now / now[2, 2]
        if np.abs(d).max() * height / 2 < _STILL:
            break
        if not np.isfinite(now).all() or _moved(now, width / height) > 0.2:
            return Aligned(now, np.full(ROWS * COLUMNS, -1.0, np.float32), np.inf, clear)
    seen = Blocks.of(blocks_of(_warped(lines, now, (width, height), margin)))
    return Aligned(now, likeness(wanted, seen), _moved(now, width / height), clear)


def likeness(one: Blocks, other: Blocks) -> NDArray[np.float32]:
    """(B,) how much blocks have in common, -1 to 1: their correlation, less where one of them shows more."""
    return np.asarray(likeness_of(one.off[None], one.power[None], other)[0], np.float32)


def likeness_of(off: NDArray[np.float32], power: NDArray[np.float32], seen: Blocks) -> NDArray[np.float32]:
    """(N, B) the same of N pictures at once, whose blocks' `off` (N, B, P) and `power` (N, B) see `Blocks`."""
    soft = np.float32(_SOFT)
    shared = np.einsum("nbp,bp->nb", off, seen.off) / np.float32(seen.off.shape[1])
    return np.asarray((2 * shared + soft) / (power + seen.power + soft), np.float32)


def warped(lines: Plane, turn: Floats, size: tuple[int, int], margin: int) -> Plane:
    """The picture's lines as they lie over the enrolled card's, (H, W)."""
    return _warped(lines, turn, size, margin)


def _warped(lines: Plane, turn: Floats, size: tuple[int, int], margin: int) -> Plane:
    width, height = size
    half = height / 2
    unit = np.array([(half, 0, (width - 1) / 2), (0, half, (height - 1) / 2), (0, 0, 1)])
    shift = np.array([(1, 0, margin), (0, 1, margin), (0, 0, 1)])
    plane = shift @ unit @ turn @ np.linalg.inv(unit)
    return np.asarray(
        cv2.warpPerspective(lines, plane, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
                            borderMode=cv2.BORDER_REPLICATE),
        np.float32,
    )  # fmt: skip


def _moved(turn: Floats, aspect: float) -> float:
    corners = np.array([(-aspect, -1, 1), (aspect, -1, 1), (aspect, 1, 1), (-aspect, 1, 1)])
    there = corners @ turn.T
    return float(np.abs(there[:, :2] / there[:, 2:] - corners[:, :2]).max() / 2)
