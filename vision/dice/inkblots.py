"""Where something that could be a symbol on a die's face is seen: ink on an even body, of about the right
size.

All works in a picture that was scaled so that a face is FACE_PX wide; colours are OpenCV's 8-bit Lab as
float32, or in an ink map (`vision.dice.marbled`) the one level of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

FACE_PX = 40
PATCH_PX = 36
"""Side of a blot's patch; its scale is FACE_PX to a face, so it holds the face's middle 90 %."""

_WINDOW = 0.72  # of a face: what is near enough to be compared with
_CONTRAST = 20.0  # least difference of ink to body, in Lab units
_LEVELS = ((11, 18, 32, 52, 80), (20,), (20,))  # of L, a, b
_REACH = 0.045  # of a face: parts of one symbol are no farther apart than twice this
_SPAN = (0.3, 0.92)  # of a face: a symbol's longer side
_BATCH = 400  # places at once; OpenCV remaps at most 32,767 rows
_MOST_INK = 0.6  # share of a face's middle

Lab = NDArray[np.float32]


def disc_mask(radius: float) -> NDArray[np.bool_]:
    """(PATCH_PX, PATCH_PX): True within `radius` faces of the middle."""
    step = np.arange(PATCH_PX) - (PATCH_PX - 1) / 2
    return np.asarray(np.hypot(step[:, None], step[None, :]) <= radius * FACE_PX)


_CORE = disc_mask(0.37)  # where a symbol's ink is
_FACE = disc_mask(0.45)
_RIM = _FACE & ~disc_mask(0.36)


@dataclass(frozen=True)
class Blot:
    """A blot of ink. `xy`: its middle in px of the scaled picture; `span` its longer side in faces. `body`
    and `ink`: Lab colours; `evenness`: how far the body's colour strays (median, Lab units); `soft`:
    (PATCH_PX, PATCH_PX) float32, 0 body to 1 ink."""

    xy: tuple[float, float]
    side: float
    body: Lab
    ink: Lab
    evenness: float
    soft: NDArray[np.float32]


def shrunk(frame: NDArray[np.uint8], face_px: float) -> tuple[NDArray[np.uint8], float]:
    """(BGR picture in which a face of `face_px` is FACE_PX wide, px of it per px of `frame`)."""
    scale = FACE_PX / face_px
    size = (max(8, round(frame.shape[1] * scale)), max(8, round(frame.shape[0] * scale)))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = frame if abs(scale - 1) < 0.02 else cv2.resize(frame, size, interpolation=way)
    return np.asarray(small, np.uint8), small.shape[1] / frame.shape[1]


def find_blots(lab: NDArray[np.uint8]) -> list[Blot]:
    """The blots in a picture from `shrunk`, in Lab, or in an ink map (H, W), in no order; false ones among them, and
    one may come more than once.

    A symbol is a patch of its own at some level of contrast, but nobody knows beforehand at which. Brighter
    and darker are kept apart, so that white ink does not run into a dark body's rim on white paper.
    """
    apart = _apart_from_usual(lab)
    places: dict[tuple[int, int], tuple[float, float]] = {}
    is_map = lab.ndim == 2
    for channel in range(apart.shape[2]):
        for level in _LEVELS[channel]:
            more, less = apart[..., channel] > level, apart[..., channel] < -level
            for above in (more,) if is_map else (more, less):
                for x, y in _middles(above.astype(np.uint8)):
                    places.setdefault((round(x / 2), round(y / 2)), (x, y))
    return [blot for blot in blots_at(lab, list(places.values())) if blot is not None]


def _middles(above: NDArray[np.uint8]) -> list[tuple[float, float]]:
    """Where patches of a symbol's size have their middles, in px of the full picture; `above` is half as large."""
    reach = round(_REACH * FACE_PX / 2)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(cv2.dilate(above, disc), connectivity=8)
    spans = (stats[:, 2:4].max(axis=1) - 2 * reach) / (FACE_PX / 2)
    middles = []
    for i in np.flatnonzero((spans >= _SPAN[0]) & (spans <= _SPAN[1])):
        x, y, width, height = (int(v) for v in stats[i, :4])
        part = np.s_[y : y + height, x : x + width]
        rows, columns = np.nonzero((labels[part] == i) & (above[part] > 0))
        if i == 0 or rows.size < 0.02 * (FACE_PX / 2) ** 2:
            continue
        points = np.stack([columns + x, rows + y], axis=1).astype(np.float32)
        middle, _ = cv2.minEnclosingCircle(points)
        middles.append((2 * float(middle[0]) + 0.5, 2 * float(middle[1]) + 0.5))
    return middles


def blot_at(lab: NDArray[np.uint8], xy: tuple[float, float], side: float = 1.0) -> Blot | None:
    """What is printed on the face around `xy` that is `side` times FACE_PX wide, or None where there is no
    ink on an even body."""
    return blots_at(lab, [xy], side)[0]


def blots_at(
    lab: NDArray[np.uint8], places: Sequence[tuple[float, float]], side: float = 1.0
) -> list[Blot | None]:
    """`blot_at` for many places at once, which is much faster than one by one."""
    found: list[Blot | None] = []
    for first in range(0, len(places), _BATCH):
        found += _blots(lab, list(places[first : first + _BATCH]), side)
    return found


def _blots(lab: NDArray[np.uint8], places: Sequence[tuple[float, float]], side: float) -> list[Blot | None]:
    patches = _cut_all(lab, places, side)
    found: list[Blot | None] = [None] * len(places)
    body = np.median(patches[:, _RIM], axis=1)
    away = np.linalg.norm(patches - body[:, None, None], axis=3)
    strength = _high(away[:, _CORE])
    plain = (away < 0.3 * strength[:, None, None]) & _FACE
    kept = np.flatnonzero((strength >= _CONTRAST) & (plain.sum(axis=(1, 2)) >= (1 - _MOST_INK) * _FACE.sum()))
    for i in kept.tolist():
        patch = patches[i]
        mid = np.median(patch[plain[i]], axis=0)
        far = np.linalg.norm(patch - mid, axis=2)
        inked = (far > 0.6 * strength[i]) & _CORE
        if inked.sum() < 12:
            continue
        ink = np.median(patch[inked], axis=0)
        axis = ink - mid
        contrast = float(axis @ axis) ** 0.5
        evenness = float(np.median(far[_RIM]))
        if contrast < _CONTRAST or evenness > 0.3 * contrast:
            continue
        soft = np.clip(((patch - mid) * axis).sum(axis=2) / contrast**2, -0.2, 1.2).astype(np.float32)
        found[i] = Blot(places[i], side, mid.astype(np.float32), ink.astype(np.float32), evenness, soft)
    return found


def _high(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N,) the value that 95 % of each row (N, K) do not exceed."""
    place = round(0.95 * (values.shape[1] - 1))
    return np.asarray(np.partition(values, place, axis=1)[:, place], np.float32)


def _cut_all(
    picture: NDArray[np.uint8], places: Sequence[tuple[float, float]], step: float
) -> NDArray[np.float32]:
    """(N, PATCH_PX, PATCH_PX, channels) float32 around each place, every `step` px; edges are repeated outwards."""
    grid = (step * (np.arange(PATCH_PX) - (PATCH_PX - 1) / 2)).astype(np.float32)
    at = np.asarray(places, np.float32).reshape(-1, 2)
    across = np.broadcast_to(at[:, 0, None, None] + grid[None, None, :], (len(at), PATCH_PX, PATCH_PX))
    down = np.broadcast_to(at[:, 1, None, None] + grid[None, :, None], (len(at), PATCH_PX, PATCH_PX))
    flat = (len(at) * PATCH_PX, PATCH_PX)
    columns, rows = np.ascontiguousarray(across).reshape(flat), np.ascontiguousarray(down).reshape(flat)
    laid = cv2.remap(picture, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(laid, np.float32).reshape(len(at), PATCH_PX, PATCH_PX, -1)


def _apart_from_usual(lab: NDArray[np.uint8]) -> NDArray[np.int16]:
    """(H / 2, W / 2, channels) how far each colour is from what is usual around it, with its sign."""
    half = cv2.resize(lab, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    window = round(_WINDOW * FACE_PX / 2) | 1
    usual = cv2.merge([cv2.medianBlur(channel, window) for channel in cv2.split(half)])
    apart = np.asarray(cv2.subtract(half, usual, dtype=cv2.CV_16S), np.int16)
    return apart.reshape(*apart.shape[:2], -1)


def cut(
    picture: NDArray[np.uint8], xy: tuple[float, float], count: int, step: float = 1.0
) -> NDArray[np.uint8]:
    """(count, count, channels) around `xy`, every `step` px; edges are repeated outwards."""
    plane = np.array([(step, 0, xy[0] - step * (count - 1) / 2), (0, step, xy[1] - step * (count - 1) / 2)])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    found = cv2.warpAffine(picture, plane, (count, count), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found, np.uint8)


@dataclass(frozen=True)
class FaceSquare:
    """A square around a blot: its middle in px of the scaled picture, side in faces, turn in degrees within
    [0, 90). `by`: ``region`` when the body's colour ends there on all sides, then `fill` tells how much of the square
    it fills; else ``edges``, then `shown` is how well its third best side shows, in Lab units."""

    xy: tuple[float, float]
    side: float
    turn_deg: float
    by: Literal["region", "edges"]
    fill: float = 1.0
    shown: float = 0.0


def face_around(lab: NDArray[np.uint8], blot: Blot) -> FaceSquare | None:
    """The top face that the blot is printed on, or None where its body cannot be told from what is around."""
    side = 2 * FACE_PX
    patch = cut(lab, blot.xy, side).astype(np.float32)
    strength = float(np.linalg.norm(blot.ink - blot.body))
    away = np.linalg.norm((patch - blot.body) * (0.7, 1.0, 1.0), axis=2)
    like_body = away < max(9.0, 4.0 * blot.evenness, 0.12 * strength)
    middle = np.s_[side // 2 - PATCH_PX // 2 : side // 2 + PATCH_PX // 2]
    like_body[middle, middle] |= (blot.soft > 0.25) & disc_mask(0.36)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    mask = cv2.morphologyEx(like_body.astype(np.uint8), cv2.MORPH_CLOSE, kernel)
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (9, 9)))
    _, labels = cv2.connectedComponents(mask, connectivity=4)
    own = labels[side // 2, side // 2]
    if own == 0:
        return None
    area = labels == own
    if area[0].any() or area[-1].any() or area[:, 0].any() or area[:, -1].any():
        return None
    rows, columns = np.nonzero(area)
    points = np.stack([columns, rows], axis=1).astype(np.float32)
    (x, y), (width, height), angle = cv2.minAreaRect(points)
    short, long = sorted((width + 1, height + 1))
    if long > 1.4 * short:
        return None
    shift = (side - 1) / 2
    return FaceSquare(
        (blot.xy[0] + x - shift, blot.xy[1] + y - shift),
        float((short * long) ** 0.5 / FACE_PX),
        float(angle % 90),
        "region",
        fill=float(rows.size / (short * long)),
    )


def edges_around(lab: NDArray[np.uint8], xy: tuple[float, float]) -> FaceSquare:
    """The square of a face's size whose sides show best as edges around a blot's middle, for where its body runs
    into that of a neighbour."""
    count = 2 * FACE_PX
    patch = cut(lab, xy, count)
    best = (-1.0, 0.0, 0.0, 0.0)
    middle = (count - 1) / 2
    inner = slice(round(middle - 0.36 * FACE_PX), round(middle + 0.36 * FACE_PX) + 1)
    for turn in range(0, 90, 4):
        plane = cv2.getRotationMatrix2D((middle, middle), turn, 1.0)
        upright = cv2.warpAffine(patch, plane, (count, count), borderMode=cv2.BORDER_REPLICATE).astype(
            np.float32
        )
        sides = []
        for along in (upright[inner].mean(axis=0), upright[:, inner].mean(axis=1)):
            step = np.linalg.norm(along[2:] - along[:-2], axis=1)  # step[i] is the edge at i + 1
            pairs = [
                (min(step[i - 1], step[j - 1]), step[i - 1], step[j - 1], (i + j) / 2)
                for i in range(round(middle - 0.62 * FACE_PX), round(middle - 0.38 * FACE_PX) + 1)
                for j in (i + FACE_PX - 2, i + FACE_PX, i + FACE_PX + 2)
            ]
            sides.append(max(pairs, key=lambda pair: pair[1] + pair[2]))
        third = sorted((*sides[0][1:3], *sides[1][1:3]))[1]
        if third > best[0]:
            best = (float(third), float(turn), sides[0][3] - middle, sides[1][3] - middle)
    shown, turn_deg, dx, dy = best
    cos, sin = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    place = (xy[0] + cos * dx - sin * dy, xy[1] + sin * dx + cos * dy)
    return FaceSquare(place, 1.0, turn_deg, "edges", shown=shown)
