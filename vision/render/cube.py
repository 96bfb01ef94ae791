"""Dice as cubes: faces in perspective, lit by the lamp, with a shadow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.drawings import TADA_FACES, face_mask
from vision.render.lamp import Lamp
from vision.render.laying import FINER, lay
from vision.render.lens import Camera, Floats

_FACE_PX = 112
BODIES = ("plain", "swirl", "speckle", "pearl")
PIP_OPPOSITE = 7


@dataclass(frozen=True, kw_only=True)
class Livery:
    """How an owner's dice look. Colours are BGR in [0, 1]. `style`: which drawings; `ink_scale`: their size
    as a share of the face; `gloss` 0 to 1; `seed` goes into the pattern of the body."""

    body: tuple[float, float, float]
    ink: tuple[float, float, float]
    pattern: str = "plain"
    second: tuple[float, float, float] = (0.5, 0.5, 0.5)
    style: int = 0
    ink_scale: float = 0.72
    gloss: float = 0.5
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Die:
    """One die on the table. `kind`: ``tada``, ``d6-pips`` or any name for a die with the symbols of
    TADA_FACES; `value`: the face on top. `xy_mm`: the middle of its foot; `lift_mm`: how high it stands above
    the table (on a card 0.4, on another die its height). `tilt_deg`: leaning, for cocked dice."""

    value: str | int
    owner: str
    livery: Livery
    xy_mm: tuple[float, float]
    angle_deg: float = 0.0
    kind: str = "tada"
    side_mm: float = 16.0
    lift_mm: float = 0.0
    tilt_deg: float = 0.0
    card: int | None = None
    slot: int | None = None
    smear_mm: tuple[float, float] = (0.0, 0.0)

    def corners(self) -> Floats:
        """(8, 3) corners in world mm: 0-3 the top face clockwise from its own top left, 4-7 below them."""
        half = self.side_mm / 2
        square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
        body = np.concatenate([np.column_stack([square, np.full(4, h)]) for h in (half, -half)])
        tilt, turn = np.radians(self.tilt_deg), np.radians(self.angle_deg)
        lean = np.array([(np.cos(tilt), 0, np.sin(tilt)), (0, 1, 0), (-np.sin(tilt), 0, np.cos(tilt))])
        spin = np.array([(np.cos(turn), -np.sin(turn), 0), (np.sin(turn), np.cos(turn), 0), (0, 0, 1)])
        body = body @ lean.T @ spin.T
        body[:, 2] += self.lift_mm - body[:, 2].min()
        body[:, :2] += self.xy_mm
        return np.asarray(body, np.float64)


# The corners of each face clockwise from its own top left, seen from outside; the first is the top.
_FACES = ((0, 1, 2, 3), (3, 2, 6, 7), (2, 1, 5, 6), (1, 0, 4, 5), (0, 3, 7, 4))


def draw_die(canvas: NDArray[np.uint8], die: Die, camera: Camera, lamp: Lamp) -> None:
    """Draws the die into `canvas` (uint8 BGR) in place; what lies outside is cut off."""
    corners = die.corners()
    seen = camera.project(corners)
    x0, y0 = np.floor(seen.min(0)).astype(int) - 3
    x1, y1 = np.ceil(seen.max(0)).astype(int) + 4
    if x1 <= 0 or y1 <= 0 or x0 >= canvas.shape[1] or y0 >= canvas.shape[0]:
        return
    size = ((x1 - x0) * FINER, (y1 - y0) * FINER)
    local = (seen - (x0, y0) + 0.5) * FINER - 0.5
    colour = np.zeros((size[1], size[0], 3), np.float32)
    cover = np.zeros((size[1], size[0]), np.float32)
    sides = _side_values(die)
    order = sorted(range(5), key=lambda k: corners[list(_FACES[k]), 2].mean())
    for k in order:
        quad = local[list(_FACES[k])]
        if _signed_area(quad) <= 1.0:
            continue
        face = _lit_face(die, sides[k], corners[list(_FACES[k])], camera, lamp)
        square = np.array([(0, 0), (_FACE_PX, 0), (_FACE_PX, _FACE_PX), (0, _FACE_PX)], np.float32) - 0.5
        plane = cv2.getPerspectiveTransform(square, quad.astype(np.float32))
        drawn = cv2.warpPerspective(face, plane, size, flags=cv2.INTER_AREA)
        alpha = drawn[..., 3]
        colour = colour * (1 - alpha[..., None]) + drawn[..., :3]
        cover = np.maximum(cover, alpha)
    # Rounded corners let a seam open between faces; what lies behind them is the body itself.
    hull_ink = np.zeros(cover.shape, np.uint8)
    outline = cv2.convexHull(local.astype(np.float32)).reshape(-1, 2)
    shrunk = outline + (outline.mean(0) - outline) * 0.05
    cv2.fillPoly(hull_ink, [np.round(shrunk * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    hull = hull_ink.astype(np.float32) / 255
    dark = np.array(die.livery.body, np.float32) * 0.45 * lamp.level_at(die.xy_mm)
    gap = np.clip(hull - cover, 0, 1)[..., None]
    colour = colour + gap * dark
    cover = np.maximum(cover, hull)
    if any(die.smear_mm):
        colour, cover = _smeared(colour, cover, die, camera)
    lay(canvas, colour, cover, (x0, y0))


def shadow(die: Die, camera: Camera, lamp: Lamp, canvas_size: tuple[int, int]) -> NDArray[np.uint8]:
    """(H/2, W/2) uint8: 255 in the die's shadow."""
    ground = np.column_stack([lamp.shadow_of(die.corners(), die.lift_mm), np.full(8, die.lift_mm)])
    outline = cv2.convexHull(camera.project(ground).astype(np.float32)).reshape(-1, 2) / 2
    width, height = canvas_size
    mask = np.zeros((height // 2, width // 2), np.uint8)
    cv2.fillPoly(mask, [np.round(outline * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return mask


@lru_cache(maxsize=256)
def _face(livery: Livery, value: str | int, kind: str) -> NDArray[np.float32]:
    body = _body(livery, str(value))
    mask = face_mask(value, livery.style, _FACE_PX, livery.ink_scale)[..., None]
    colour = body * (1 - mask) + np.array(livery.ink, np.float32) * mask
    cover = np.zeros((_FACE_PX, _FACE_PX), np.uint8)
    edge = round(_FACE_PX * (0.12 if kind == "d6-pips" else 0.07))
    cv2.rectangle(cover, (edge, edge), (_FACE_PX - 1 - edge, _FACE_PX - 1 - edge), 255, -1)
    corner = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * edge + 1, 2 * edge + 1))
    rounded = np.asarray(cv2.dilate(cover, corner), np.float32) / 255
    inner = np.asarray(cv2.GaussianBlur(rounded, (0, 0), 2.0), np.float32)
    colour *= (0.75 + 0.25 * np.clip(2 * inner - 1, 0, 1))[..., None]  # the rim bends away from the light
    alpha = rounded[..., None]
    return np.concatenate([colour * alpha, alpha], axis=2)


def _body(livery: Livery, salt: str) -> NDArray[np.float32]:
    colour = np.broadcast_to(np.array(livery.body, np.float32), (_FACE_PX, _FACE_PX, 3)).copy()
    if livery.pattern == "plain":
        return colour
    rng = np.random.default_rng((livery.seed, *salt.encode()))
    rough = rng.standard_normal((_FACE_PX, _FACE_PX)).astype(np.float32)
    sigma = {"swirl": 11.0, "speckle": 1.2, "pearl": 16.0}[livery.pattern]
    field = np.asarray(cv2.GaussianBlur(rough, (0, 0), sigma, borderType=cv2.BORDER_REFLECT), np.float32)
    field = field / field.std()
    if livery.pattern == "swirl":
        share = np.clip(0.5 + 1.5 * np.sin(2.0 * field), 0, 1)
    elif livery.pattern == "speckle":
        share = np.clip(3 * (field - 1.6), 0, 1)
    else:
        share = 0.35 * np.clip(0.5 + 0.5 * field, 0, 1)
    mixed = colour * (1 - share[..., None]) + np.array(livery.second, np.float32) * share[..., None]
    return np.asarray(mixed, np.float32)


def _side_values(die: Die) -> tuple[str | int, ...]:
    """The values on the five faces of _FACES, the top first, as on a real die of its kind."""
    turn = die.livery.seed % 4
    if die.kind == "d6-pips":
        top = int(die.value)
        ring = [v for v in range(1, 7) if v not in (top, PIP_OPPOSITE - top)]
        ring = [ring[0], ring[1], PIP_OPPOSITE - ring[0], PIP_OPPOSITE - ring[1]]
        return (die.value, *ring[turn:], *ring[:turn])
    place = TADA_FACES.index(str(die.value)) if die.value in TADA_FACES else 0
    pairs = [("arrow", "arrow"), ("burst", "burst"), ("spiral", "wand")]
    mine = next(i for i, pair in enumerate(pairs) if TADA_FACES[place] in pair)
    (a, b), (c, d) = (pairs[i] for i in range(3) if i != mine)
    around = [a, c, b, d]
    return (die.value, *around[turn:], *around[:turn])


def _lit_face(die: Die, value: str | int, quad_mm: Floats, camera: Camera, lamp: Lamp) -> NDArray[np.float32]:
    face = _face(die.livery, value, die.kind)
    normal = np.cross(quad_mm[1] - quad_mm[0], quad_mm[3] - quad_mm[0])
    normal /= np.linalg.norm(normal)
    if normal @ (quad_mm.mean(0) - die.corners().mean(0)) < 0:
        normal = -normal
    steps = (np.arange(14) + 0.5) / 14
    across = quad_mm[0] + steps[:, None, None] * (quad_mm[3] - quad_mm[0])
    points = across + steps[None, :, None] * (quad_mm[1] - quad_mm[0])
    diffuse, shine = lamp.on(points, normal, np.array(camera.lens_mm), die.livery.gloss)
    both = cv2.resize(np.dstack([diffuse, shine]).astype(np.float32), (_FACE_PX, _FACE_PX))
    lit = face.copy()
    lit[..., :3] = (face[..., :3] * both[..., :1] + both[..., 1:] * face[..., 3:]) * lamp.tint()
    return np.clip(lit, 0, 1)


def _smeared(
    colour: NDArray[np.float32], cover: NDArray[np.float32], die: Die, camera: Camera
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    ends = np.array(
        [(*die.xy_mm, 8.0), (die.xy_mm[0] + die.smear_mm[0], die.xy_mm[1] + die.smear_mm[1], 8.0)]
    )
    way = np.diff(camera.project(ends), axis=0)[0] * FINER
    length = max(3, int(np.linalg.norm(way))) | 1
    kernel = np.zeros((length, length), np.float32)
    middle = length // 2
    unit = way / (np.linalg.norm(way) + 1e-9) * middle
    start, end = np.round(middle - unit).astype(int), np.round(middle + unit).astype(int)
    cv2.line(kernel, tuple(start.tolist()), tuple(end.tolist()), 1.0, 1)
    kernel /= kernel.sum()
    return (
        np.asarray(cv2.filter2D(colour, -1, kernel), np.float32),
        np.asarray(cv2.filter2D(cover, -1, kernel), np.float32),
    )


def _signed_area(quad: Floats) -> float:
    x, y = quad[:, 0], quad[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)
