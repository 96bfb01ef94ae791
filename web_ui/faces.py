"""What the page on which dice are enrolled needs of whoever enrols them: plain data, and a few things to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

ENOUGH = 3
LITTLE = 0.1
"""Two faces that are no farther apart are too much alike."""


class FaceShown(msgspec.Struct, frozen=True, kw_only=True):
    """One face of an owner's dice. `shots`: how many pictures are kept of it."""

    name: str
    shots: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether the face was shown often enough."""
        return self.shots >= ENOUGH


class FacesShown(msgspec.Struct, frozen=True, kw_only=True):
    """One owner's dice. `closest`: the two faces that look most alike, and by how much they differ (0 to 1).
    `owners`: the two owners whose colours are hardest to tell apart, empty for none; `are_owners_close`: too hard.
    `is_read`: whether the table's camera reads these dice now, else `mend` says what to do about it."""

    faces: tuple[FaceShown, ...] = ()
    closest: tuple[str, str] | None = None
    apart: float | None = None
    owners: tuple[str, ...] = ()
    are_owners_close: bool = False
    is_read: bool = True
    mend: str = ""

    @property
    def is_little(self) -> bool:
        """Whether the two faces are too much alike."""
        return self.apart is not None and self.apart < LITTLE


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What became of pictures: how many were used, and the names of those in which no die was found."""

    used: int = 0
    unused: tuple[str, ...] = ()


class FacesError(Exception):
    """Nothing was enrolled; the text says what to do."""


class Faces(Protocol):
    """Whoever enrols dice. All methods are safe from any thread and may take some seconds."""

    def shown(self, owner: str) -> FacesShown:
        """What is enrolled of one owner's dice. Raises FacesError where the file cannot be read."""

    def add(self, owner: str, face: str, pictures: Sequence[tuple[str, bytes]]) -> Shown:
        """Learn a face from pictures (name, the file's bytes), one die alone in each. Raises FacesError."""

    def add_seen(self, owner: str, face: str) -> Shown:
        """Learn a face from what the table's camera sees now. Raises FacesError."""

    def forget(self, owner: str, face: str) -> None:
        """Drop all pictures of a face. Raises FacesError."""

    def picture(self, owner: str, face: str, number: int) -> bytes | None:
        """What was cut out of one of the face's pictures, as PNG; `number` counts from 0. Raises FacesError."""

    def has_camera(self) -> bool:
        """Whether a camera looks at the table."""


class NoFaces:
    """Pages without anybody who enrols dice."""

    def shown(self, owner: str) -> FacesShown:
        """Nothing."""
        return FacesShown()

    def add(self, owner: str, face: str, pictures: Sequence[tuple[str, bytes]]) -> Shown:
        """Refused."""
        raise FacesError("Dice cannot be enrolled at this table.")

    def add_seen(self, owner: str, face: str) -> Shown:
        """Refused."""
        raise FacesError("Dice cannot be enrolled at this table.")

    def forget(self, owner: str, face: str) -> None:
        """Refused."""
        raise FacesError("Dice cannot be enrolled at this table.")

    def picture(self, owner: str, face: str, number: int) -> bytes | None:
        """None."""
        return None

    def has_camera(self) -> bool:
        """No."""
        return False
