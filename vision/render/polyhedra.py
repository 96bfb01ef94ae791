"""Polyhedral dice with numerals: drawn in perspective, lit by the lamp, with a shadow, and the truth about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.cloth import smooth_noise
from vision.render.lamp import Lamp
from vision.render.laying import FINER, lay
from vision.render.lens import Camera, Floats
from vision.render.polyhedra_numerals import Typeface, numeral_mask
from vision.render.polyhedra_solids import Solid, cross, lying, numbered_faces, numbering, solid
from vision.render.scene import Scene

_TILE_PX = 64
_SPAN = 2.4  # a face's tile reaches so many inradii across
Colour = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class PolyLook:
    """How one die looks. Colours BGR in [0, 1]. `height`: of a numeral, in inradii of its face. `rounding`: of edges
    and corners, as a share of the die's radius. `up`: which way numerals stand, in quarter turns of the face's own
    direction. `numbers`: seed of `numbering`. `border`: whether faces have a line of ink around."""

    kind: str
    body: Colour
    ink: Colour
    style: str = "tip"
    second: Colour = (0.5, 0.5, 0.5)
    swirl: float = 0.0
    gloss: float = 0.4
    rounding: float = 0.06
    height: float = 0.9
    tall: float = 1.0
    up: int = 0
    numbers: int = 0
    border: bool = False
    face: Typeface = field(default_factory=Typeface)
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class PolyDie:
    """A die lying on the table with the number `shown` on top (0 for a d10's 0, 0 for a d100's 00)."""

    look: PolyLook
    shown: int
    xy_mm: tuple[float, float]
    radius_mm: float = 11.0
    angle_deg: float = 0.0

    def body(self) -> Solid:
        """Its shape."""
        return solid(self.look.kind, self.look.style, self.look.tall)

    def top(self) -> int:
        """The face whose number counts: the one on top; of a tetrahedron the one below."""
        faces = numbering(self.look.kind, self.look.style, self.look.numbers, self.look.tall)
        return next(face for face, number in faces.items() if number == self.shown)

    def turned(self) -> Floats:
        """(3, 3) rotation from the shape's own axes to the world's (x, y down the table, height)."""
        return _turned(self)

    @property
    def is_tetrahedron(self) -> bool:
        """Whether it stands with a corner up."""
        return self.look.kind == "d4" and self.look.style != "barrel"

    def corners(self) -> Floats:
        """(N, 3) world mm."""
        placed = self.body().corners @ self.turned().T * self.radius_mm
        placed[:, 2] -= placed[:, 2].min()
        placed[:, :2] += self.xy_mm
        return np.asarray(placed, np.float64)


@dataclass(frozen=True, kw_only=True)
class PolyTruth:
    """What is true of one die in a picture. `value` as it counts where 0 of a d10 is 10; `centre_px` of the top face
    (of a tetrahedron its tip); `radius_px`: half its longest side in the picture; `up_deg`: where the top of its
    numeral points, clockwise from the picture's up."""

    kind: str
    value: int
    shown: int
    box_px: tuple[int, int, int, int]
    centre_px: tuple[float, float]
    radius_px: float
    up_deg: float


@lru_cache(maxsize=64)
def _turned(die: PolyDie) -> Floats:
    flat = lying(die.body(), die.top(), on_tip=die.is_tetrahedron)
    turn = np.radians(die.angle_deg)
    spin = np.array([(np.cos(turn), -np.sin(turn), 0), (np.sin(turn), np.cos(turn), 0), (0, 0, 1)])
    # The table's y runs down in the picture, so what is right-handed above it has one axis turned over.
    return np.asarray(spin @ np.diag([1.0, -1.0, 1.0]) @ flat, np.float64)


def truth_of(die: PolyDie, camera: Camera) -> PolyTruth:
    """The truth about one die as the camera sees it."""
    placed = die.corners()
    seen = camera.project(placed)
    (x0, y0), (x1, y1) = np.floor(seen.min(0)), np.ceil(seen.max(0))
    top = placed[int(placed[:, 2].argmax())] if die.is_tetrahedron else _face_middle(die, placed)
    ahead = top + _up_of(die, die.top()) @ die.turned().T * die.radius_mm * 0.3
    centre, tip = camera.project(np.stack([top, ahead]))
    shown = die.shown
    return PolyTruth(
        kind=die.look.kind,
        value=10 if die.look.kind == "d10" and shown == 0 else shown,
        shown=shown,
        box_px=(int(x0), int(y0), int(x1), int(y1)),
        centre_px=(float(centre[0]), float(centre[1])),
        radius_px=float(max(x1 - x0, y1 - y0) / 2),
        up_deg=float(np.degrees(np.arctan2(tip[0] - centre[0], centre[1] - tip[1]))),
    )


def with_numerals(scene: Scene, dice: Sequence[PolyDie], camera: Camera, tick: int = 0) -> NDArray[np.uint8]:
    """The camera's picture (uint8 BGR) of `scene` with these dice on it."""
    canvas = scene.drawn(camera).copy()
    for die in dice:
        draw_shadow(canvas, die, camera, scene.light)
    for die in dice:
        draw_polyhedron(canvas, die, camera, scene.light)
    return scene.shot(canvas, camera, tick)


def draw_polyhedron(canvas: NDArray[np.uint8], die: PolyDie, camera: Camera, lamp: Lamp) -> None:
    """Draws the die into `canvas` (uint8 BGR) in place; what lies outside is cut off."""
    shape, placed = die.body(), die.corners()
    seen = camera.project(placed)
    x0, y0 = np.floor(seen.min(0)).astype(int) - 3
    x1, y1 = np.ceil(seen.max(0)).astype(int) + 4
    if x1 <= 0 or y1 <= 0 or x0 >= canvas.shape[1] or y0 >= canvas.shape[0]:
        return
    size = ((int(x1) - int(x0)) * FINER, (int(y1) - int(y0)) * FINER)
    local = (seen - (x0, y0) + 0.5) * FINER - 0.5
    radius_px = 0.5 * float(np.ptp(local, axis=0).max())
    round_px = die.look.rounding * radius_px
    colour = np.zeros((size[1], size[0], 3), np.float32)
    ink = np.zeros((size[1], size[0]), np.float32)
    seams = np.zeros((size[1], size[0]), np.uint8)
    turned = die.turned()
    numbers = numbering(die.look.kind, die.look.style, die.look.numbers, die.look.tall)
    eye = np.array(camera.lens_mm)
    for k in range(len(shape.faces)):
        ring = list(shape.faces[k])
        normal = turned @ shape.normals[k]
        if normal @ (eye - placed[ring].mean(0)) <= 0:
            continue
        corners = np.round(local[ring] * 16).astype(np.int32)
        cv2.polylines(seams, [corners], True, 255, max(1, round(1.6 * round_px)), cv2.LINE_AA, 4)
        left, top = np.maximum(np.floor(local[ring].min(0)).astype(int) - 1, 0)
        right, low = np.ceil(local[ring].max(0)).astype(int) + 2
        here = (slice(int(top), int(low)), slice(int(left), int(right)))
        area = np.zeros(ink[here].shape, np.uint8)
        cv2.fillPoly(area, [corners - (16 * left, 16 * top)], 255, cv2.LINE_AA, 4)
        tile_mm, tile = _tile(die, k, numbers, placed)
        quad = (camera.project(tile_mm) - (x0, y0) + 0.5) * FINER - 0.5 - (left, top)
        plane = cv2.getPerspectiveTransform(_SQUARE, quad.astype(np.float32))
        lit = np.dstack([_lit(die, k, tile_mm, normal, (camera, lamp)), tile])
        drawn = cv2.warpPerspective(lit, plane, area.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
        inside = area.astype(np.float32)[..., None] / 255
        colour[here] = np.maximum(colour[here], drawn[..., :3] * inside)
        ink[here] = np.maximum(ink[here], drawn[..., 3] * (area > 127))
    lay(canvas, *_finished(die, (colour, ink, seams), local, round_px, lamp), (int(x0), int(y0)))


_SQUARE = np.array([(0, 0), (_TILE_PX, 0), (_TILE_PX, _TILE_PX), (0, _TILE_PX)], np.float32) - 0.5


def _finished(
    die: PolyDie,
    layers: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]],
    local: Floats,
    round_px: float,
    lamp: Lamp,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(colour, cover): edges rounded, ink laid on."""
    colour, ink, seams = layers
    outline = cv2.convexHull(local.astype(np.float32)).reshape(-1, 2)
    hull = np.zeros(ink.shape, np.uint8)
    cv2.fillPoly(hull, [np.round(outline * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    if round_px >= 1.5:
        wide = 2 * round(round_px * 1.5) + 1
        ball = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (wide, wide))
        hull = np.asarray(cv2.morphologyEx(hull, cv2.MORPH_OPEN, ball), np.uint8)
    if round_px >= 0.6:
        soft = cv2.GaussianBlur(colour, (0, 0), round_px)
        share = cv2.GaussianBlur(seams, (0, 0), round_px * 0.6).astype(np.float32)[..., None] / 255
        colour = np.asarray(colour * (1 - share) + soft * share, np.float32)
    light = lamp.level_at(die.xy_mm)
    inked = np.array(die.look.ink, np.float32) * light
    shade = colour.max(axis=2, keepdims=True) / max(0.05, float(max(die.look.body)) * float(light.max()))
    inked = np.clip(inked * np.clip(shade, 0.35, 1.6), 0, 1)
    colour = colour * (1 - ink[..., None]) + inked * ink[..., None]
    cover = hull.astype(np.float32) / np.float32(255)
    return np.asarray(colour * cover[..., None], np.float32), cover


def _face_middle(die: PolyDie, placed: Floats) -> Floats:
    return np.asarray(placed[list(die.body().faces[die.top()])].mean(0), np.float64)


def _up_of(die: PolyDie, face: int) -> Floats:
    """(3,) in the shape's own axes: where the top of the face's numeral points."""
    shape = die.body()
    normal, ring = shape.normals[face], shape.faces[face]
    if die.look.kind in ("d10", "d100"):
        # Along the kite: toward or from the pole, the corner farthest from the face's middle.
        pole = max(ring, key=lambda k: abs(float(shape.corners[k][2])))
        toward = shape.corners[pole] - shape.middle(face)
    elif die.look.style == "barrel" and die.look.kind == "d4":
        toward = np.array([1.0, 0.0, 0.0])
    else:
        toward = shape.corners[ring[0]] - shape.middle(face)
        if die.look.kind == "d6":
            toward = shape.corners[ring[0]] + shape.corners[ring[1]] - 2 * shape.middle(face)
    toward = toward - normal * (toward @ normal)
    toward = toward / np.linalg.norm(toward)
    turn = np.pi / 2 * die.look.up
    side = cross(normal, toward)
    return np.asarray(np.cos(turn) * toward + np.sin(turn) * side, np.float64)


def _tile(
    die: PolyDie, face: int, numbers: Mapping[int, int], placed: Floats
) -> tuple[Floats, NDArray[np.float32]]:
    """The tile of a face: its four corners in world mm, clockwise from the numeral's top left, and its ink."""
    shape, look = die.body(), die.look
    inradius = shape.inradius(face) * die.radius_mm
    turned = die.turned()
    up, out = turned @ _up_of(die, face), turned @ shape.normals[face]
    right = cross(out, up)  # the world is left-handed: y runs down the table
    middle = placed[list(shape.faces[face])].mean(0)
    half = _SPAN / 2 * inradius
    corners = np.stack(
        [middle + half * (s * right + t * up) for s, t in ((-1, 1), (1, 1), (1, -1), (-1, -1))]
    )
    ink = np.zeros((_TILE_PX, _TILE_PX), np.float32)
    per_mm = _TILE_PX / (2 * half)
    if die.is_tetrahedron:
        _three_numerals(ink, die, face, numbers)
    elif face in numbers and face in numbered_faces(shape, look.kind):
        mask = numeral_mask(shown_text(look.kind, numbers[face]), look.face, _is_marked(look))
        _stamp(ink, mask, (_TILE_PX / 2, _TILE_PX / 2), look.height * inradius * per_mm, 0.0)
    if look.border:
        flat = _flat_corners(die, face, placed, (middle, right, up)) * per_mm + _TILE_PX / 2
        cv2.polylines(ink, [np.round(flat * 0.86 * 16 + 0.14 * _TILE_PX / 2 * 16).astype(np.int32)], True, 1.0, 2,
                      cv2.LINE_AA, 4)  # fmt: skip
    return corners, ink


def _flat_corners(die: PolyDie, face: int, placed: Floats, axes: tuple[Floats, Floats, Floats]) -> Floats:
    """(N, 2) the face's corners in mm from its middle, x right and y down as its numeral stands."""
    middle, right, up = axes
    ring = placed[list(die.body().faces[face])] - middle
    return np.stack([ring @ right, -(ring @ up)], axis=1)


def _is_marked(look: PolyLook) -> bool:
    return look.face.marks_all or look.kind in ("d10", "d12", "d20")


def shown_text(kind: str, number: int) -> str:
    """What is printed for a number: a d100's 0 is 00."""
    return f"{number:02}" if kind == "d100" else str(number)


def _three_numerals(ink: NDArray[np.float32], die: PolyDie, face: int, numbers: Mapping[int, int]) -> None:
    """A tetrahedron's face: each of the three other faces' numbers by the corner that it does not touch (tip), or along
    the edge that it shares (base)."""
    shape, look = die.body(), die.look
    frame_up = _up_of(die, face)
    out = shape.normals[face]
    right = cross(frame_up, out)
    per_unit = _TILE_PX / (_SPAN * shape.inradius(face))
    for other, number in numbers.items():
        if other == face:
            continue
        corner = next(k for k in shape.faces[face] if k not in shape.faces[other])
        away = shape.corners[corner] - shape.middle(face)
        toward = away if look.style == "tip" else -away * 0.5
        flat = np.array([toward @ right, -(toward @ frame_up)]) * per_unit
        # At the tip a numeral's top points to the corner; at the base it stands on the edge.
        up = np.array([away @ right, -(away @ frame_up)])
        share = 0.52 if look.style == "tip" else 0.56
        place = _TILE_PX / 2 + flat * share
        size = look.height * 0.72 * shape.inradius(face) * per_unit
        turn = float(np.degrees(np.arctan2(up[0], -up[1])))
        _stamp(
            ink, numeral_mask(str(number), look.face, False), (float(place[0]), float(place[1])), size, turn
        )


def _stamp(
    ink: NDArray[np.float32], mask: NDArray[np.float32], at: tuple[float, float], size: float, turn_deg: float
) -> None:
    """Lays a numeral of height `size` px at a place, its top turned clockwise."""
    side = len(mask)
    scale = 2 * size / side
    to = cv2.getRotationMatrix2D((side / 2, side / 2), -turn_deg, scale)
    to[:, 2] += np.subtract(at, side / 2)
    if scale < 0.7:
        mask = np.asarray(cv2.GaussianBlur(mask, (0, 0), 0.35 / scale), np.float32)
    laid = cv2.warpAffine(mask, to, ink.shape[::-1], flags=cv2.INTER_LINEAR)
    np.maximum(ink, laid, out=ink)


@lru_cache(maxsize=512)
def _skin(look: PolyLook, face: int) -> NDArray[np.float32]:
    """(_TILE_PX, _TILE_PX, 3) the unlit body of one face."""
    body = np.broadcast_to(np.array(look.body, np.float32), (_TILE_PX, _TILE_PX, 3)).copy()
    if look.swirl <= 0:
        return body
    rng = np.random.default_rng((look.seed, face, 3))
    field_of = _veins()
    top, left = (int(v) for v in rng.integers(0, len(field_of) - _TILE_PX, 2))
    part = field_of[top : top + _TILE_PX, left : left + _TILE_PX]
    share = look.swirl * np.clip(0.5 + 0.9 * np.sin(2.2 * part + look.seed), 0, 1)[..., None]
    return np.asarray(body * (1 - share) + np.array(look.second, np.float32) * share, np.float32)


@lru_cache(maxsize=1)
def _veins() -> NDArray[np.float32]:
    return smooth_noise(np.random.default_rng(8), (9.0, 9.0), 512)


def _lit(
    die: PolyDie, face: int, tile_mm: Floats, normal: Floats, sight: tuple[Camera, Lamp]
) -> NDArray[np.float32]:
    camera, lamp = sight
    steps = (np.arange(6) + 0.5) / 6
    across = tile_mm[0] + steps[:, None, None] * (tile_mm[3] - tile_mm[0])
    points = across + steps[None, :, None] * (tile_mm[1] - tile_mm[0])
    diffuse, shine = lamp.on(points, normal, np.array(camera.lens_mm), die.look.gloss)
    both = cv2.resize(np.dstack([diffuse, shine]).astype(np.float32), (_TILE_PX, _TILE_PX))
    return np.asarray(
        np.clip((_skin(die.look, face) * both[..., :1] + both[..., 1:]) * lamp.tint(), 0, 1), np.float32
    )


def draw_shadow(canvas: NDArray[np.uint8], die: PolyDie, camera: Camera, lamp: Lamp) -> None:
    """Darkens `canvas` (uint8 BGR) where the die keeps the lamp off the table."""
    placed = die.corners()
    ground = np.column_stack([lamp.shadow_of(placed, 0.0), np.zeros(len(placed))])
    outline = cv2.convexHull(camera.project(ground).astype(np.float32)).reshape(-1, 2)
    soft = max(1.0, 0.05 * float(np.ptp(outline, axis=0).max()))
    reach = int(3 * soft) + 2
    x0, y0 = np.maximum(np.floor(outline.min(0)).astype(int) - reach, 0)
    x1, y1 = np.minimum(np.ceil(outline.max(0)).astype(int) + reach, canvas.shape[1::-1])
    if x1 <= x0 or y1 <= y0:
        return
    dark = np.zeros((y1 - y0, x1 - x0), np.uint8)
    cv2.fillPoly(dark, [np.round((outline - (x0, y0)) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    shade = cv2.GaussianBlur(dark, (0, 0), soft).astype(np.float32)[..., None] / 255
    part = canvas[y0:y1, x0:x1]
    part[:] = (part * (1 - (1 - lamp.ambient) * 0.75 * shade)).astype(np.uint8)
