"""One card on a table as a camera sees it: turned, tilted, under a lamp, with glare, a finger, out of focus."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame
from vision.render.cloth import PX_PER_MM, TILE_PX, cloth_tile
from vision.render.decks import CARD_MM

Floats = NDArray[np.float64]
PLAIN = ("wood", "felt", "paper", "linen")
_ROOM = 1.9  # the picture's short side in heights of the card
_SKINS = ((120, 150, 205), (85, 115, 175), (60, 85, 135), (45, 60, 95))


@dataclass(frozen=True, kw_only=True)
class Sight:
    """How a card is seen. `height_px`: its height in the picture where the camera looks straight down; `turn_deg`
    clockwise; `tilt_deg`: the camera's, towards `tilt_to_deg`. `lamp`: how much darker the far side is, 0 to 1;
    `cast`: gain of blue, green and red. `glare` and `finger`: how far they reach, in heights of the card, 0 for none.
    `blur_px`: sigma; `noise`: deviation in grey levels. `corner_mm`: radius of the card's corners.
    """

    height_px: float = 280.0
    turn_deg: float = 0.0
    tilt_deg: float = 0.0
    tilt_to_deg: float = 0.0
    cloth: str = "felt"
    lamp: float = 0.0
    cast: tuple[float, float, float] = (1.0, 1.0, 1.0)
    glare: float = 0.0
    finger: float = 0.0
    blur_px: float = 0.6
    noise: float = 2.0
    corner_mm: float = 3.0
    seed: int = 0


def any_sight(rng: np.random.Generator, height_px: float) -> Sight:
    """A sight as a table gives it: any turn, the camera tilted up to 22 degrees, a lamp to one side, a cast of up to
    22 %, glare on 40 % of the pictures and a finger on 30 %, a blur of up to 1.2 px."""
    return Sight(
        height_px=height_px,
        turn_deg=float(rng.uniform(-180, 180)),
        tilt_deg=float(rng.uniform(0, 22)),
        tilt_to_deg=float(rng.uniform(-180, 180)),
        cloth=str(rng.choice(PLAIN)),
        lamp=float(rng.uniform(0, 0.5)),
        cast=(float(rng.uniform(0.78, 1.22)), float(rng.uniform(0.9, 1.1)), float(rng.uniform(0.78, 1.22))),
        glare=float(rng.uniform(0.12, 0.3)) if rng.random() < 0.4 else 0.0,
        finger=float(rng.uniform(0.12, 0.3)) if rng.random() < 0.3 else 0.0,
        blur_px=float(rng.uniform(0.4, 1.2)),
        noise=float(rng.uniform(1, 5)),
        seed=int(rng.integers(1 << 30)),
    )


def good_sight(rng: np.random.Generator, height_px: float) -> Sight:
    """As somebody photographs a card who wants it to be known again: nearly straight, evenly lit, sharp."""
    return Sight(
        height_px=height_px,
        turn_deg=float(rng.uniform(-6, 6)),
        tilt_deg=float(rng.uniform(0, 8)),
        tilt_to_deg=float(rng.uniform(-180, 180)),
        cloth=str(rng.choice(PLAIN)),
        lamp=float(rng.uniform(0, 0.25)),
        cast=(float(rng.uniform(0.92, 1.08)), 1.0, float(rng.uniform(0.92, 1.08))),
        blur_px=float(rng.uniform(0.5, 0.9)),
        noise=float(rng.uniform(1, 3)),
        seed=int(rng.integers(1 << 30)),
    )


def seen_card(card: Frame, sight: Sight) -> tuple[Frame, Floats]:
    """(picture BGR uint8, the card's corners (4, 2) in it in px from its own top left clockwise).

    `card`: BGR print of any size, whose sides are in the proportion of the real card's.
    """
    rng = np.random.default_rng(sight.seed)
    side = round(_ROOM * sight.height_px)
    size = (side * 4 // 3, side)
    width_mm = CARD_MM[1] * card.shape[1] / card.shape[0]
    plane = _plane(sight, size, width_mm)
    canvas = _table(sight, size, rng)
    _lay(canvas, card, plane, sight.corner_mm)
    corners = np.array([(0, 0), (width_mm, 0), (width_mm, CARD_MM[1]), (0, CARD_MM[1])], np.float64)
    quad = np.asarray(cv2.perspectiveTransform(corners[None], plane)[0], np.float64)
    if sight.finger:
        _finger(canvas, quad, sight, rng)
    lit = _lit(canvas, quad, sight, rng)
    if sight.blur_px > 0.1:
        lit = np.asarray(cv2.GaussianBlur(lit, (0, 0), sight.blur_px), np.float32)
    lit += rng.standard_normal(lit.shape, np.float32) * np.float32(sight.noise / 255)
    return np.asarray(np.clip(lit * 255 + 0.5, 0, 255), np.uint8), quad


def _plane(sight: Sight, size: tuple[int, int], width_mm: float) -> Floats:
    """3x3, mm of the card -> px."""
    scale = sight.height_px / CARD_MM[1]
    turn, to = np.radians(sight.turn_deg), np.radians(sight.tilt_to_deg)
    middle = np.array([(1, 0, -width_mm / 2), (0, 1, -CARD_MM[1] / 2), (0, 0, 1)])
    cos, sin = np.cos(turn) * scale, np.sin(turn) * scale
    turned = np.array([(cos, -sin, 0), (sin, cos, 0), (0, 0, 1)])
    away = 1.15 * size[0]
    lean = np.tan(np.radians(sight.tilt_deg)) / away
    squeeze = np.cos(np.radians(sight.tilt_deg))
    axis = np.array([(np.cos(to), np.sin(to), 0), (-np.sin(to), np.cos(to), 0), (0, 0, 1)])
    tilted = axis.T @ np.array([(squeeze, 0, 0), (0, 1, 0), (lean, 0, 1)]) @ axis
    centred = np.array([(1, 0, size[0] / 2), (0, 1, size[1] / 2), (0, 0, 1)])
    return np.asarray(centred @ tilted @ turned @ middle, np.float64)


def _table(sight: Sight, size: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float32]:
    tile = cloth_tile(sight.cloth, int(rng.integers(200)))
    scale = PX_PER_MM * CARD_MM[1] / sight.height_px
    x = (np.arange(size[0]) * scale + rng.uniform(0, TILE_PX)) % TILE_PX
    y = (np.arange(size[1]) * scale + rng.uniform(0, TILE_PX)) % TILE_PX
    soft = tile if scale < 1.3 else np.asarray(cv2.GaussianBlur(tile, (0, 0), 0.4 * scale), np.float32)
    return np.ascontiguousarray(soft[y.astype(int)][:, x.astype(int)])


def _lay(canvas: NDArray[np.float32], card: Frame, plane: Floats, corner_mm: float) -> None:
    height, width = card.shape[:2]
    fine = height / CARD_MM[1]
    to_px = plane @ np.diag((1 / fine, 1 / fine, 1.0)) @ np.array([(1, 0, 0.5), (0, 1, 0.5), (0, 0, 1)])
    shrink = np.sqrt(abs(np.linalg.det(plane[:2, :2]))) / fine / plane[2, 2]
    sharp = np.asarray(card, np.float32) / np.float32(255)
    if shrink < 0.8:
        sharp = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 0.42 / shrink), np.float32)
    cover: NDArray[np.float32] = np.zeros((height, width), np.float32)
    radius = max(1, round(corner_mm * fine))
    for x in (radius, width - 1 - radius):
        for y in (radius, height - 1 - radius):
            cv2.circle(cover, (x, y), radius, 1.0, -1)
    cv2.rectangle(cover, (radius, 0), (width - 1 - radius, height - 1), 1.0, -1)
    cv2.rectangle(cover, (0, radius), (width - 1, height - 1 - radius), 1.0, -1)
    size = (canvas.shape[1], canvas.shape[0])
    soft = cv2.GaussianBlur(cover, (0, 0), max(0.5, 0.4 / shrink), borderType=cv2.BORDER_CONSTANT)
    alpha = cv2.warpPerspective(soft, to_px, size, flags=cv2.INTER_LINEAR)[..., None]
    drawn = cv2.warpPerspective(sharp, to_px, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    shadow = cv2.GaussianBlur(alpha, (0, 0), max(1.0, 0.012 * np.sqrt(canvas.size / 3)))[..., None]
    canvas *= 1 - np.float32(0.25) * shadow
    canvas[:] = canvas * (1 - alpha) + drawn * alpha


def _finger(canvas: NDArray[np.float32], quad: Floats, sight: Sight, rng: np.random.Generator) -> None:
    """A finger that holds the card down from beyond one of its sides."""
    side = int(rng.integers(4))
    edge = quad[side] + (quad[(side + 1) % 4] - quad[side]) * rng.uniform(0.15, 0.85)
    inward = quad.mean(0) - (quad[side] + quad[(side + 1) % 4]) / 2
    inward /= np.linalg.norm(inward)
    turn = rng.uniform(-0.5, 0.5)
    inward = np.array([(np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))]) @ inward
    tip = edge + inward * sight.finger * sight.height_px
    root = edge - inward * 2 * sight.height_px
    width = 0.17 * sight.height_px
    skin = np.array(_SKINS[rng.integers(len(_SKINS))], np.float32) / 255
    for thick, shade in ((width, 0.86), (0.75 * width, 1.0)):
        colour = (skin * np.float32(shade)).tolist()
        cv2.line(canvas, _px(root), _px(tip), colour, max(1, round(thick)), cv2.LINE_AA, 4)


def _px(xy: Floats) -> tuple[int, int]:
    return (round(16 * float(xy[0])), round(16 * float(xy[1])))


def _lit(
    canvas: NDArray[np.float32], quad: Floats, sight: Sight, rng: np.random.Generator
) -> NDArray[np.float32]:
    height, width = canvas.shape[:2]
    to = rng.uniform(-np.pi, np.pi)
    x = (np.arange(width, dtype=np.float32) / width - 0.5)[None, :]
    y = (np.arange(height, dtype=np.float32) / height - 0.5)[:, None]
    fall = np.clip(0.5 + 0.8 * (x * np.float32(np.cos(to)) + y * np.float32(np.sin(to))), 0, 1)
    lit = canvas * (1 - np.float32(sight.lamp) * fall)[..., None] * np.array(sight.cast, np.float32)
    if sight.glare:
        at = quad[0] + rng.uniform(0.15, 0.85, 2) @ np.stack([quad[1] - quad[0], quad[3] - quad[0]])
        reach = sight.glare * sight.height_px
        turn, flat = rng.uniform(0, np.pi), rng.uniform(0.4, 1.0)
        dx, dy = x * width + width / 2 - at[0], y * height + height / 2 - at[1]
        along, across = dx * np.cos(turn) + dy * np.sin(turn), dy * np.cos(turn) - dx * np.sin(turn)
        far = np.hypot(along, across / flat) / reach
        lit = lit + (np.float32(0.9) * np.exp(-2 * far**2))[..., None]
    return np.asarray(lit, np.float32)
