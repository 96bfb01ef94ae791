"""What the dice page shows and asks for, from whoever watches the camera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from companion.core.observation import DiceRested


class Dice(Protocol):
    """Whoever knows the dice as they were read. All methods are safe from any thread."""

    def rests(self) -> Sequence[DiceRested]:
        """The last rests that showed dice, the newest first."""

    def face(self, frame: int, box_px: tuple[int, int, int, int]) -> bytes | None:
        """The die in this box of a rest's frame as PNG, None when it is not kept any more."""

    def faces(self) -> Sequence[str]:
        """What a die may show."""

    def lessons(self) -> Mapping[int, str]:
        """What came of each correction that was to be learnt from, by number of its entry, in words."""


class NoDice:
    """A table without a camera that reads dice."""

    def rests(self) -> Sequence[DiceRested]:
        """None."""
        return ()

    def face(self, frame: int, box_px: tuple[int, int, int, int]) -> bytes | None:
        """None."""
        return None

    def faces(self) -> Sequence[str]:
        """None."""
        return ()

    def lessons(self) -> Mapping[int, str]:
        """None."""
        return {}
