"""The rendered camera: a pinhole above the table, and what lens and sensor do to a picture.

World: table mm (x right, y down) and height above the table in mm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NOISE_PX = 1536


@dataclass(frozen=True, kw_only=True)
class Camera:
    """Where the camera hangs and how well it sees.

    `lens_mm` (x, y, height); it looks at the table place `look_mm` and is rolled by `roll_deg` clockwise.
    `across_deg`: horizontal angle of view. `blur_px`: sigma of the sharpest place; `soft_px`: sigma added at
    the side `soft_side_deg` points to. `noise`: deviation in grey levels.
    """

    lens_mm: tuple[float, float, float] = (300.0, 200.0, 620.0)
    look_mm: tuple[float, float] = (300.0, 205.0)
    roll_deg: float = 0.0
    across_deg: float = 60.0
    size_px: tuple[int, int] = (1280, 720)
    blur_px: float = 0.7
    soft_px: float = 0.0
    soft_side_deg: float = 0.0
    noise: float = 3.0

    def project(self, points_mm: Floats) -> Floats:
        """(N, 3) points (x, y, height) -> (N, 2) px."""
        right, down, ahead = self._axes()
        away = (points_mm - np.array(self.lens_mm)) * (1, 1, -1)
        depth = away @ ahead
        focal = self.size_px[0] / 2 / np.tan(np.radians(self.across_deg) / 2)
        centre = (np.array(self.size_px) - 1) / 2
        return np.asarray(
            np.stack([away @ right, away @ down], axis=1) * focal / depth[:, None] + centre, np.float64
        )

    def plane(self, height_mm: float = 0.0) -> Floats:
        """3x3 homography table mm -> px of the plane at `height_mm`."""
        x, y = self.look_mm
        corners = np.array(
            [(x + dx, y + dy, height_mm) for dx, dy in ((-99, -99), (99, -99), (99, 99), (-99, 99))]
        )
        seen = self.project(corners)
        return np.asarray(
            cv2.getPerspectiveTransform(corners[:, :2].astype(np.float32), seen.astype(np.float32)),
            np.float64,
        )

    def _axes(self) -> tuple[Floats, Floats, Floats]:
        x, y, high = self.lens_mm
        ahead = np.array((self.look_mm[0] - x, self.look_mm[1] - y, high), np.float64)
        ahead /= np.linalg.norm(ahead)
        right = np.cross((0.0, 1.0, 0.0), ahead)
        right /= np.linalg.norm(right)
        down = np.cross(ahead, right)
        roll = np.radians(self.roll_deg)
        return (
            np.cos(roll) * right + np.sin(roll) * down,
            np.cos(roll) * down - np.sin(roll) * right,
            ahead,
        )


def develop(scene: NDArray[np.uint8], camera: Camera, seed: tuple[int, int]) -> NDArray[np.uint8]:
    """What the sensor gives of `scene` (uint8 BGR): softened and noisy; the noise goes by `seed`."""
    picture = cv2.GaussianBlur(scene, (0, 0), camera.blur_px) if camera.blur_px > 0.1 else scene
    if camera.soft_px > 0.1:
        soft = cv2.GaussianBlur(scene, (0, 0), camera.blur_px + camera.soft_px)
        share = _soft_share(camera.size_px, camera.soft_side_deg)
        picture = cv2.blendLinear(soft, picture, share, 1 - share)
    if camera.noise <= 0:
        return np.asarray(picture, np.uint8)
    rng = np.random.default_rng(seed)
    height, width = picture.shape[:2]
    tile = _noise(round(camera.noise * 4), height, width)
    top, left = (int(v) for v in rng.integers(0, _NOISE_PX - 1024, 2))
    grain = tile[top : top + height, left : left + width]
    return np.asarray(cv2.add(picture, grain, dtype=cv2.CV_8U), np.uint8)


@lru_cache(maxsize=4)
def _soft_share(size_px: tuple[int, int], side_deg: float) -> NDArray[np.float32]:
    width, height = size_px
    x = (np.arange(width, dtype=np.float32) / width - 0.5)[None, :]
    y = (np.arange(height, dtype=np.float32) / height - 0.5)[:, None]
    along = x * np.cos(np.radians(side_deg)) + y * np.sin(np.radians(side_deg))
    return np.asarray(np.clip(0.5 + 1.2 * along, 0, 1), np.float32)


@lru_cache(maxsize=4)
def _noise(quarter_levels: int, height: int, width: int) -> NDArray[np.int8]:
    """Sensor noise, larger than the picture so that any part of it can be laid over; colour noise is a
    little smoother than brightness noise, as from a real sensor's mosaic."""
    rng = np.random.default_rng((quarter_levels, 5))
    shape = (height + _NOISE_PX - 1024, width + _NOISE_PX - 1024)
    grey = rng.standard_normal(shape, np.float32)
    colour = cv2.GaussianBlur(rng.standard_normal((*shape, 3), np.float32), (0, 0), 1.0) * 2.2
    return np.asarray(
        np.clip((0.8 * grey[..., None] + 0.6 * colour) * quarter_levels / 4, -127, 127), np.int8
    )
