"""Dice with numerals as people own them: random looks, throws and cameras above a table, by a seeded source."""

from __future__ import annotations

import cv2
import numpy as np

from vision.render.lens import Camera
from vision.render.polyhedra import Colour, PolyDie, PolyLook
from vision.render.polyhedra_numerals import STROKES, Typeface
from vision.render.polyhedra_solids import D4_STYLES, SIDES

RADIUS_MM = {"d4": 12.5, "d6": 12.5, "d8": 11.5, "d10": 12.0, "d12": 12.0, "d20": 12.5, "d100": 12.0}
"""Half of what a usual die measures across."""
_HEIGHTS = {"d20": (0.62, 1.0), "d100": (0.55, 0.85), "d6": (0.7, 1.3), "d4": (0.75, 1.25)}
_HEIGHT = (0.7, 1.15)


def any_colour(rng: np.random.Generator) -> Colour:
    """A BGR colour such as dice have: of any hue, also black, white and grey."""
    if rng.random() < 0.25:
        level = float(rng.choice([0.06, 0.12, 0.5, 0.85, 0.95]))
        blue, green, red = np.clip(level + rng.normal(0, 0.03, 3), 0.02, 1).tolist()
    else:
        hsv = np.array([[[rng.uniform(0, 180), rng.uniform(90, 255), rng.uniform(50, 255)]]], np.uint8)
        blue, green, red = (cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0] / 255).tolist()
    return (blue, green, red)


def apart(one: Colour, other: Colour) -> float:
    """Lab distance of two colours."""
    lab = cv2.cvtColor(np.array([[one, other]], np.float32), cv2.COLOR_BGR2LAB)[0]
    return float(np.linalg.norm(lab[0] - lab[1]))


def any_typeface(rng: np.random.Generator, names: tuple[str, ...] = ()) -> Typeface:
    """Our own strokes, or as often as not one of `names`."""
    is_own = not names or rng.random() < 0.4
    return Typeface(
        name=STROKES if is_own else str(rng.choice(names)),
        weight=float(rng.uniform(0.09, 0.24)) if is_own else 0.0,
        slant=float(rng.normal(0, 0.06)),
        stretch=float(rng.uniform(0.75, 1.2)),
        seed=int(rng.integers(1 << 20)),
        mark=str(rng.choice(["bar", "dot", "none"], p=[0.5, 0.42, 0.08])),
        marks_all=bool(rng.random() < 0.8),
    )


def any_look(rng: np.random.Generator, kind: str, face: Typeface) -> PolyLook:
    """How one die looks; its ink can be told from its body."""
    while True:
        body, second = any_colour(rng), any_colour(rng)
        chance = rng.random()
        ink = (0.95, 0.95, 0.95) if chance < 0.4 else (0.05, 0.05, 0.05) if chance < 0.64 else any_colour(rng)
        swirl = float(rng.uniform(0.2, 0.9)) if rng.random() < 0.35 else 0.0
        if apart(body, ink) > 40 and (swirl < 0.5 or apart(second, ink) > 30):
            break
    return PolyLook(
        kind=kind,
        body=body,
        ink=ink,
        style=str(rng.choice(D4_STYLES)),
        second=second,
        swirl=swirl,
        gloss=float(rng.uniform(0, 0.9)),
        rounding=float(rng.uniform(0.01, 0.16)),
        height=float(rng.uniform(*_HEIGHTS.get(kind, _HEIGHT))),
        tall=float(rng.choice([0.85, 0.95, 1.0, 1.08, 1.2])),
        up=int(rng.integers(4)),
        numbers=0 if rng.random() < 0.6 else int(rng.integers(1, 200)),
        border=bool(rng.random() < 0.06),
        face=face,
        seed=int(rng.integers(1 << 20)),
    )


def thrown(rng: np.random.Generator, look: PolyLook, xy_mm: tuple[float, float], radius_mm: float) -> PolyDie:
    """A die as it may fall: each number as often, turned anyhow."""
    number = int(rng.integers(SIDES[look.kind]))
    shown = number * 10 if look.kind == "d100" else number if look.kind == "d10" else number + 1
    return PolyDie(
        look=look, shown=shown, xy_mm=xy_mm, radius_mm=radius_mm, angle_deg=float(rng.uniform(0, 360))
    )


def camera_above(rng: np.random.Generator, width_px: int, width_mm: float, noise: float) -> Camera:
    """A camera about above the middle of the table that sees `width_mm` of it; pictures are 5 : 4."""
    across = float(rng.uniform(32, 62))
    high = width_mm / 2 / float(np.tan(np.radians(across / 2)))
    off = rng.normal(0, 0.09, 2) * high
    return Camera(
        lens_mm=(300 + float(off[0]), 200 + float(off[1]), high),
        look_mm=(300 + float(rng.normal(0, 8)), 200 + float(rng.normal(0, 8))),
        roll_deg=float(rng.uniform(0, 360)) if rng.random() < 0.3 else float(rng.normal(0, 4)),
        across_deg=across,
        size_px=(width_px, round(width_px * 0.8)),
        blur_px=float(rng.uniform(0.3, 1.4)) * width_px / 1200,
        soft_px=float(rng.uniform(0.5, 1.5)) if rng.random() < 0.25 else 0.0,
        soft_side_deg=float(rng.uniform(0, 360)),
        noise=noise,
    )
