"""Cards that bear whole pictures, lying face up side by side or over each other on a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Pose, rectangle
from vision.render.flat import lay_print
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.scene import Scene


@dataclass(frozen=True, kw_only=True)
class PictureTable:
    """A table of such cards at one moment, the undermost first.

    `prints`: uint8 BGR (rows, columns, 3) of each face by name, its top up; `card_mm`: width and height; `laid`: name
    of the face and pose of its own top-left corner; `bare`: the table under them.
    """

    bare: Scene
    prints: Mapping[str, NDArray[np.uint8]] = field(repr=False)
    card_mm: tuple[float, float]
    laid: tuple[tuple[str, Pose], ...] = ()

    @property
    def light(self) -> Lamp:
        """The lamp over the table."""
        return self.bare.light

    def drawn(self, camera: Camera) -> NDArray[np.uint8]:
        """The lit table with its cards, before lens and sensor, uint8 BGR (H, W, 3)."""
        canvas = np.asarray(self.bare.drawn(camera), np.float32) / np.float32(255)
        to_px, lens = camera.plane(), np.array(camera.lens_mm)
        for name, pose in self.laid:
            middle = np.array([[*pose.apply((self.card_mm[0] / 2, self.card_mm[1] / 2)), 0.0]])
            diffuse, shine = self.light.on(middle, np.array((0.0, 0.0, 1.0)), lens, self.light.sheen)
            ink = np.asarray(self.prints[name], np.float32) / np.float32(255)
            lit = (ink * np.float32(diffuse.item()) + np.float32(shine.item())) * self.light.tint()
            corners = [pose.apply(corner) for corner in rectangle(0, 0, *self.card_mm).corners]
            lay_print(canvas, np.asarray(np.clip(lit, 0, 1), np.float32), np.array(corners), to_px)
        return np.asarray(np.clip(canvas * 255, 0, 255), np.uint8)

    def shot(self, canvas: NDArray[np.uint8], camera: Camera, tick: int) -> NDArray[np.uint8]:
        """What the sensor gives of a drawn table, `canvas` (uint8 BGR). Only the noise goes by `tick`."""
        return self.bare.shot(canvas, camera, tick)
