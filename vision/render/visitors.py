"""Hands and cups that come and go over the table."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.render.lamp import Lamp
from vision.render.lens import Camera, Floats

_HAND_HIGH_MM = 35.0
_CUP_MM = (38.0, 85.0)  # radius, height


@dataclass(frozen=True, kw_only=True)
class Hand:
    """A hand with its arm. `tip_mm`: where the fingers are; `from_deg`: where the arm comes from, clockwise
    from the table's right; `skin`: BGR in [0, 1]."""

    tip_mm: tuple[float, float]
    from_deg: float = 90.0
    skin: tuple[float, float, float] = (0.45, 0.55, 0.8)
    sleeve: tuple[float, float, float] = (0.35, 0.2, 0.15)


@dataclass(frozen=True, kw_only=True)
class Cup:
    """A cup, top side down, over the place `xy_mm`."""

    xy_mm: tuple[float, float]
    colour: tuple[float, float, float] = (0.2, 0.25, 0.3)
    lift_mm: float = 0.0


Visitor = Hand | Cup


def draw_visitor(canvas: NDArray[np.uint8], visitor: Visitor, camera: Camera, lamp: Lamp) -> None:
    """Draws it into `canvas` (uint8 BGR) in place, over all that lies on the table."""
    if isinstance(visitor, Hand):
        _draw_hand(canvas, visitor, camera, lamp)
    else:
        _draw_cup(canvas, visitor, camera, lamp)


def _draw_hand(canvas: NDArray[np.uint8], hand: Hand, camera: Camera, lamp: Lamp) -> None:
    turn = np.radians(hand.from_deg)
    away, across = np.array((np.cos(turn), np.sin(turn))), np.array((-np.sin(turn), np.cos(turn)))
    tip = np.array(hand.tip_mm)
    light = lamp.level_at(hand.tip_mm)
    skin: Floats = np.array(hand.skin, np.float64) * light * 255
    sleeve: Floats = np.array(hand.sleeve, np.float64) * light * 255
    palm = tip + away * 75
    bones = [
        (palm + across * s * 14, tip + across * s * 22 + away * abs(s - 0.3) * 14)
        for s in (-1.4, -0.5, 0.4, 1.3)
    ]
    bones.append((palm + across * -30 + away * 20, palm + across * -48 - away * 25))
    for start, end in bones:
        _limb(canvas, (start, end), 17.0, skin * 0.95, camera)
    _limb(canvas, (palm - away * 8, palm + away * 22), 68.0, skin, camera)
    _limb(canvas, (palm + away * 30, palm + away * 140), 52.0, skin * 0.92, camera)
    _limb(canvas, (palm + away * 130, palm + away * 900), 84.0, sleeve, camera)


def _limb(
    canvas: NDArray[np.uint8], ends: tuple[Floats, Floats], thick_mm: float, colour: Floats, camera: Camera
) -> None:
    points = camera.project(np.array([(*end, _HAND_HIGH_MM) for end in ends]))
    rim = np.array([(*ends[0], _HAND_HIGH_MM), (ends[0][0] + thick_mm, ends[0][1], _HAND_HIGH_MM)])
    thick = float(np.linalg.norm(np.diff(camera.project(rim), axis=0)))
    a, b = (tuple(np.clip(p, -4000, 4000).round().astype(int).tolist()) for p in points)
    cv2.line(canvas, a, b, (colour * 0.8).tolist(), max(2, round(thick)), cv2.LINE_AA)
    cv2.line(canvas, a, b, np.clip(colour, 0, 255).tolist(), max(2, round(thick * 0.85)), cv2.LINE_AA)


def _draw_cup(canvas: NDArray[np.uint8], cup: Cup, camera: Camera, lamp: Lamp) -> None:
    radius, high = _CUP_MM
    turns = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(turns), np.sin(turns)])
    colour = np.array(cup.colour) * lamp.level_at(cup.xy_mm) * 255
    rims = []
    for size, height in ((radius, cup.lift_mm), (radius * 0.78, cup.lift_mm + high)):
        points = np.column_stack([ring * size + cup.xy_mm, np.full(len(ring), height)])
        rims.append(camera.project(points).astype(np.float32))
    side = cv2.convexHull(np.concatenate(rims))
    cv2.fillPoly(canvas, [np.round(side * 16).astype(np.int32)], (colour * 0.65).tolist(), cv2.LINE_AA, 4)
    top = [np.round(rims[1] * 16).astype(np.int32)]
    cv2.fillPoly(canvas, top, np.clip(colour * 1.1, 0, 255).tolist(), cv2.LINE_AA, 4)
