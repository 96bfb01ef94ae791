"""All cards of one photograph, without knowing how they came there."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose
from vision.outlined.finding import Ring, rings
from vision.outlined.fitting import centre_of
from vision.outlined.plane import Flat
from vision.outlined.reading import CardRead, CardReader, cells_free_of, outline_of

Floats = NDArray[np.float32]
_PER_MM = 0.5
_LEAST_RIM = 0.42
_MOST, _MOST_THOROUGH = 130, 16
_SURE_COST = 0.16
_LEAST_SHOWN = 0.3


@dataclass(frozen=True)
class WholeTable:
    """The cards that were read, and places where one seems to lie that could not be read. `flags`: no_cards."""

    cards: tuple[CardRead, ...]
    unknown: tuple[Pose, ...] = ()
    flags: tuple[str, ...] = ()


def read_whole(flat: Flat, reader: CardReader) -> WholeTable:
    """The cards on a table laid flat, those that cover others last, as far as they show."""
    return (
        _read_all(flat, reader, lines_of(flat), _MOST)
        or _read_all(flat, reader, edges_of(flat), _MOST_THOROUGH)
        or WholeTable((), (), ("no_cards",))
    )


def _read_all(flat: Flat, reader: CardReader, marked: Floats, most: int) -> WholeTable | None:
    """What lies where rims are marked; None where no card could be read. Few places are looked at thoroughly."""
    found: list[CardRead] = []
    unknown: list[Pose] = []
    for ring in rings(marked, _PER_MM, reader.size_mm, least=_LEAST_RIM, most=most):
        read = _read(flat, reader, ring, found, thorough=most <= _MOST_THOROUGH)
        if read is not None:
            found.append(read)
        elif ring.share > 0.75 and not any(_covers(card, ring.pose, reader.size_mm) for card in found):
            unknown.append(ring.pose)
    found.reverse()
    return WholeTable(tuple(found), tuple(unknown)) if found else None


def lines_of(flat: Flat) -> Floats:
    """(rows, columns) in [0, 1], _PER_MM cells a mm: where thin white lines run."""
    size = (round(flat.bgr.shape[1] / flat.scale), round(flat.bgr.shape[0] / flat.scale))
    white = cv2.resize(flat.bgr.max(axis=2), size, interpolation=cv2.INTER_AREA)
    thin = cv2.morphologyEx(white, cv2.MORPH_TOPHAT, np.ones((5, 5), np.uint8)).astype(np.float32)
    dark, bright = np.percentile(white, (5, 99.8))
    level = max(
        float(np.percentile(thin, 98)) + 8.0, 0.3 * float(bright - dark)
    )  # a cloth's grain is no line
    marked = np.clip(thin / level, 0, 1)
    half = cv2.resize(
        cv2.dilate(marked, np.ones((3, 3))), (size[0] // 2, size[1] // 2), interpolation=cv2.INTER_AREA
    )
    return np.asarray(half, np.float32)


def edges_of(flat: Flat) -> Floats:
    """(rows, columns) in [0, 1], _PER_MM cells a mm: where dark begins, for tables as white as the lines."""
    size = (round(flat.bgr.shape[1] / flat.scale), round(flat.bgr.shape[0] / flat.scale))
    light = cv2.GaussianBlur(
        cv2.resize(flat.bgr.max(axis=2), size, interpolation=cv2.INTER_AREA), (0, 0), 1.0
    )
    steep = cv2.morphologyEx(light, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)).astype(np.float32)
    marked = np.clip(steep / (float(np.percentile(steep, 98)) + 8.0), 0, 1)
    half = cv2.resize(
        cv2.dilate(marked, np.ones((3, 3))), (size[0] // 2, size[1] // 2), interpolation=cv2.INTER_AREA
    )
    return np.asarray(half, np.float32)


def _read(
    flat: Flat, reader: CardReader, ring: Ring, found: list[CardRead], *, thorough: bool
) -> CardRead | None:
    """The card at a ring, seen as it lies above or below those found already; None where there is none that is new."""
    outlines = [
        outline_of(card.pose, reader.size_mm) for card in found if _is_near(card, ring.pose, reader.size_mm)
    ]
    mask = cells_free_of(ring.pose, outlines, reader.size_mm) if outlines else None
    if mask is not None and mask.mean() < _LEAST_SHOWN:
        return None
    read = reader.read(flat, ring.pose, mask, thorough=thorough)
    if read is None or read.card is None or read.cost > _SURE_COST:
        return None
    if any(_covers(card, read.pose, reader.size_mm) for card in found):
        return None
    return read


def _is_near(card: CardRead, pose: Pose, size_mm: tuple[float, float]) -> bool:
    return _far(card, pose, size_mm) < float(np.hypot(*size_mm))


def _covers(card: CardRead, pose: Pose, size_mm: tuple[float, float]) -> bool:
    """Whether a card lies so near that two cannot both be read there."""
    return _far(card, pose, size_mm) < min(size_mm) * 0.25


def _far(card: CardRead, pose: Pose, size_mm: tuple[float, float]) -> float:
    here, there = centre_of(card.pose, size_mm), centre_of(pose, size_mm)
    return float(np.hypot(here[0] - there[0], here[1] - there[1]))
