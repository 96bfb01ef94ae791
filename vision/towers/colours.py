"""Whose a die is, by its colour: as the tower of the same owner looks under the same lamp."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.dice.numerals_looks import Pose
from vision.frame import Frame
from vision.towers.marks import BoardMarks
from vision.towers.poses import BoardPose

Floats = NDArray[np.float64]

OWNERS: Mapping[str, Floats] = {
    "red": np.array((35.0, 30.0, 210.0)),
    "blue": np.array((185.0, 80.0, 25.0)),
    "green": np.array((60.0, 135.0, 25.0)),
    "yellow": np.array((30.0, 190.0, 235.0)),
    "purple": np.array((160.0, 40.0, 110.0)),
    "black": np.array((28.0, 26.0, 26.0)),
}
"""How the six colours look under an even lamp, BGR; where towers stand, theirs are taken."""

_CORE = 0.72  # of a die's radius, within which its body is seen
_LEAST_PX = 12
_AROUND = 1.7  # radii around a die's top in which its body is looked for
_LIKE, _PER_LIGHT = 22.0, 0.35  # Lab distance within which a place is of the body: its sides lie in the shade
_DISC = (1.2, 3.9)  # squared radii that a die's picture covers
_PER_SHADE = 0.5  # how much a difference of light counts against one of hue
_SPREAD = 22.0  # Lab distance at which an owner is less likely by e


def body_colour(frame: Frame, pose: Pose) -> Floats:
    """(3,) BGR that most of a die's top shows; ink, edges and glare left out by the median."""
    reach = max(3, round(pose.radius_px * _CORE))
    x, y = round(pose.x_px), round(pose.y_px)
    part = frame[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1]
    rows, columns = np.ogrid[: part.shape[0], : part.shape[1]]
    disc = (rows - min(y, reach)) ** 2 + (columns - min(x, reach)) ** 2 <= reach**2
    return np.asarray(np.median(part[disc].reshape(-1, 3), axis=0), np.float64)


def body_middle(frame: Frame, pose: Pose, colour: Floats) -> tuple[float, float] | None:
    """Where the middle of all that is seen of a die is, in px; None where the board around it has its colour."""
    reach = round(pose.radius_px * _AROUND)
    x, y = round(pose.x_px), round(pose.y_px)
    x0, y0 = max(0, x - reach), max(0, y - reach)
    part = frame[y0 : y + reach + 1, x0 : x + reach + 1]
    lab = cv2.cvtColor(part.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)
    off = (lab - _lab(colour[None])[0]) * np.array((_PER_LIGHT, 1.0, 1.0))
    mask = (np.linalg.norm(off, axis=2) < _LIKE).astype(np.uint8)
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)), np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    inside = labels[max(0, y - y0 - 3) : y - y0 + 4, max(0, x - x0 - 3) : x - x0 + 4]
    found = np.bincount(inside[inside > 0], minlength=1)
    if found.sum() == 0:
        return None
    n = int(found.argmax())
    left, top, wide, high, area = (int(v) for v in stats[n])
    touches = left == 0 or top == 0 or left + wide == part.shape[1] or top + high == part.shape[0]
    if touches or not _DISC[0] < area / pose.radius_px**2 < _DISC[1]:
        return None
    hull = cv2.convexHull(np.argwhere(labels == n)[:, ::-1].astype(np.int32))
    moments = cv2.moments(hull)
    return (x0 + moments["m10"] / moments["m00"], y0 + moments["m01"] / moments["m00"])


def tower_colours(frame: Frame, pose: BoardPose, marks: BoardMarks) -> dict[int, Floats]:
    """Tag -> (3,) BGR of the rim around it on the tower's top."""
    found = {}
    inner, outer = marks.tower.tag_side_mm * 1.3 / 2, marks.tower.side_mm / 2
    middle = (inner + outer) / 2
    along = np.linspace(-middle, middle, 25)
    ring = np.concatenate(
        [np.column_stack([along, np.full(25, s * middle)]) for s in (-1, 1)]
        + [np.column_stack([np.full(25, s * middle), along]) for s in (-1, 1)]
    )
    for tower in pose.towers:
        turn = np.radians(tower.heading_deg)
        cos, sin = np.cos(turn), np.sin(turn)
        placed = ring @ np.array([(cos, sin), (-sin, cos)]) + np.array(tower.xy_mm)
        px = pose.camera.px(np.column_stack([placed, np.full(len(placed), tower.top_mm)])).round().astype(int)
        inside = (px >= 0).all(1) & (px[:, 0] < frame.shape[1]) & (px[:, 1] < frame.shape[0])
        if inside.sum() >= _LEAST_PX:
            found[tower.tag] = np.median(frame[px[inside, 1], px[inside, 0]], axis=0).astype(np.float64)
    return found


def name_of(colour: Floats) -> str:
    """The one of OWNERS that a colour is nearest to."""
    return likeliest_owner(colour, OWNERS)[0]


def likeliest_owner(colour: Floats, owners: Mapping[str, Floats]) -> tuple[str, float]:
    """(name, chance) of the owner whose colour is nearest; ("", 0) where there are none."""
    if not owners:
        return "", 0.0
    names = list(owners)
    lab = _lab(np.stack([colour, *(owners[name] for name in names)]))
    off = (lab[1:] - lab[0]) * np.array((_PER_SHADE, 1.0, 1.0))
    logs = -np.linalg.norm(off, axis=1) / _SPREAD * 3.0
    chances = np.exp(logs - np.logaddexp.reduce(logs))
    best = int(np.argmax(chances))
    return names[best], float(chances[best])


def unlike(colour: Floats, other: Floats) -> float:
    """How far two colours are apart, light counting less than hue: below 25 is one thing under one lamp."""
    lab = _lab(np.stack([colour, other]))
    return float(np.linalg.norm((lab[1] - lab[0]) * np.array((_PER_SHADE, 1.0, 1.0))))


def likeness(frame: Frame, owners: Mapping[str, Floats]) -> dict[str, NDArray[np.float32]]:
    """Name -> (rows, columns) how far each place of `frame` (uint8 BGR) is from that owner's colour, as `unlike`
    tells."""
    lab = cv2.cvtColor(frame.astype(np.float32) / np.float32(255), cv2.COLOR_BGR2LAB)
    found = {}
    for name, colour in owners.items():
        off = (lab - _lab(colour[None])[0].astype(np.float32)) * np.array((_PER_SHADE, 1.0, 1.0), np.float32)
        found[name] = np.linalg.norm(off, axis=2)
    return found


def _lab(colours: Floats) -> Floats:
    row = np.clip(colours / 255.0, 0, 1).astype(np.float32)[None]
    return np.asarray(cv2.cvtColor(row, cv2.COLOR_BGR2LAB)[0], np.float64)
