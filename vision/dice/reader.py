"""What a reader of dice is, and what it says of a picture."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.frame import Frame
from vision.surface import Surface


class Reading(Protocol):
    """What a reader saw in one picture."""

    @property
    def dice(self) -> tuple[DieSeen, ...]: ...

    @property
    def flags(self) -> tuple[str, ...]: ...


class Reader(Protocol):
    """Anything that reads the dice of one picture."""

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in `frame`, BGR (H, W, 3) uint8; `surface` and `layouts`: where the table is known."""


@runtime_checkable
class Rereader(Protocol):
    """A reader with an eye of its own for one more frame of the same still table."""

    def again(
        self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()
    ) -> Reading:
        """The dice in `frame`; the frame that was read last shows the same rest."""
