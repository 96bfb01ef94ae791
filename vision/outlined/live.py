"""Cards that lie over each other, watched by a camera in its own process."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.layout import Layout, Placed
from companion.core.observation import Observed
from vision.outlined.reading import CardReader
from vision.outlined.watcher import CardWatcher, by_markers
from vision.surface import Marks


class CardsSpec(msgspec.Struct, frozen=True):
    """Cards of these fronts are watched, in inks of these hues (angle in Lab, degrees, by name), on a table that its
    markers bound. `longest_look_s`: to find a whole table takes seconds, on a busy machine many.
    """

    layouts: tuple[Layout, ...]
    hues: tuple[tuple[str, float], ...]
    longest_look_s: float = 60.0

    def lookout(self, name: str, marks: Marks | None) -> CardLookout:
        """Made in the camera's own process."""
        reader = CardReader(self.layouts, dict(self.hues))
        return CardLookout(CardWatcher(name, reader, by_markers(marks or Marks())))


class CardLookout:
    """A `CardWatcher` as a camera feeds it; nothing printed lies on the table but the cards."""

    def __init__(self, watcher: CardWatcher) -> None:
        """Looks from the next frame on."""
        self._watcher = watcher

    def step(
        self, frame: NDArray[np.uint8], seen_ns: int, uncertainty_ns: int, number: int
    ) -> list[Observed]:
        """What the watcher says of this frame."""
        return self._watcher.step(frame, seen_ns, uncertainty_ns, number)

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Nothing else is looked for."""
