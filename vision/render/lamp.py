"""The lamp over the table: how bright, which tint, where shadows and glare fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Lamp:
    """`place_mm` (x, y, height) of the lamp. `ambient`: share of light that comes from everywhere, 0 to 1.
    `level`: exposure, 1 is usual. `cast`: gain of blue, green, red. `sheen`: how much the table itself
    mirrors the lamp, 0 to 1."""

    place_mm: tuple[float, float, float] = (150.0, -250.0, 1100.0)
    ambient: float = 0.5
    level: float = 1.0
    cast: tuple[float, float, float] = (1.0, 1.0, 1.0)
    sheen: float = 0.1

    def tint(self) -> NDArray[np.float32]:
        """(3,) float32 BGR gain of colour and exposure."""
        return np.asarray(self.cast, np.float32) * np.float32(self.level)

    def level_at(self, xy_mm: tuple[float, float]) -> NDArray[np.float32]:
        """(3,) float32 BGR light on the table at a place."""
        point = np.array([[(*xy_mm, 0.0)]])
        diffuse, _ = self.on(point, np.array((0.0, 0.0, 1.0)), np.array((0.0, 0.0, 1e4)), 0.0)
        return float(diffuse[0, 0]) * self.tint()

    def on(self, points_mm: Floats, normal: Floats, lens_mm: Floats, gloss: float) -> tuple[Floats, Floats]:
        """(diffuse, shine) at points (H, W, 3) of a plane with `normal`, each (H, W)."""
        lamp = np.array(self.place_mm)
        toward = lamp - points_mm
        far = np.linalg.norm(toward, axis=-1)
        toward = toward / far[..., None]
        fall = (lamp[2] / far) ** 2
        facing = np.clip(toward @ normal, 0, 1)
        diffuse = self.ambient * (0.75 + 0.25 * normal[2]) + (1 - self.ambient) * facing * fall * 1.1
        eye = lens_mm - points_mm
        eye = eye / np.linalg.norm(eye, axis=-1)[..., None]
        halfway = toward + eye
        halfway = halfway / np.linalg.norm(halfway, axis=-1)[..., None]
        shine = gloss * (1 - self.ambient) * 1.4 * np.clip(halfway @ normal, 0, 1) ** 90
        return diffuse, shine

    def shadow_of(self, points_mm: Floats, height_mm: float) -> Floats:
        """(N, 2) places where the shadows of points (N, 3) fall on the plane at `height_mm`."""
        lamp = np.array(self.place_mm)
        share = (points_mm[:, 2] - height_mm) / (lamp[2] - points_mm[:, 2])
        return np.asarray(points_mm[:, :2] + (points_mm[:, :2] - lamp[:2]) * share[:, None], np.float64)
