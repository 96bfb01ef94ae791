"""What the page that counts a photograph needs of whoever reads it: plain data, and a few things to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from companion.core.seat import Actor


class PhotographError(Exception):
    """Nothing was done; the text says what to do."""


class Colour(msgspec.Struct, frozen=True, kw_only=True):
    """A colour that dots may have. `sign`: a symbol that stands for it wherever it is shown."""

    name: str
    sign: str


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """A dot on a photograph: centre and radius in px of the kept picture, `n` names it. `is_counted`: whether it
    counts; `is_own`: a person put it there; `is_sure`: the reader was sure of it."""

    n: int
    colour: str
    x: float
    y: float
    r: float
    is_counted: bool = True
    is_own: bool = False
    is_sure: bool = True


class Photograph(msgspec.Struct, frozen=True, kw_only=True):
    """One picture with the dots on it. `version` grows with each correction; `flags`: what to look at, in words."""

    id: str
    width: int
    height: int
    dots: tuple[Dot, ...]
    flags: tuple[str, ...] = ()
    version: int = 0
    is_kept: bool = False

    def counts(self) -> dict[str, int]:
        """How many dots of each colour count."""
        found: dict[str, int] = {}
        for dot in self.dots:
            found[dot.colour] = found.get(dot.colour, 0) + dot.is_counted
        return found


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a ranking; `is_shared`: another colour has as many. `doubt`: why the number cannot be right."""

    place: int
    colour: str
    dots: int
    is_shared: bool = False
    doubt: str = ""


class Rounds(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds that were kept, oldest first, each with its dots by colour, and their totals. `goal`: what ends a
    match; `said`: where it stands, in words."""

    rounds: tuple[dict[str, int], ...] = ()
    totals: tuple[Place, ...] = ()
    goal: int = 0
    said: str = ""


class Photographs(Protocol):
    """Whoever counts photographs. All methods are safe from any thread; `count` may take some seconds."""

    @property
    def title(self) -> str:
        """What is counted, as a name; empty where no photograph is."""

    def colours(self) -> Sequence[Colour]:
        """The colours that dots may have."""

    def count(self, data: bytes) -> Photograph:
        """Read a picture (the file's bytes) and keep it. Raises PhotographError."""

    def find(self, id: str) -> Photograph | None:
        """A picture that is still kept."""

    def picture(self, id: str) -> bytes | None:
        """The kept picture itself, as JPEG."""

    def turn(self, id: str, n: int) -> Photograph:
        """Count a dot no more, or again; one that a person put there goes. Raises PhotographError."""

    def add(self, id: str, colour: str, xy: tuple[float, float]) -> Photograph:
        """Put a dot at this place of the kept picture. Raises PhotographError."""

    def ranked(self, photograph: Photograph) -> Sequence[Place]:
        """The colours by their dots, equal ones sharing a place."""

    def rounds(self) -> Rounds | None:
        """The rounds kept so far; None where a table keeps its own."""

    def keep(self, id: str) -> None:
        """Add a picture's dots to the totals as one round, once. Raises PhotographError."""

    def drop(self) -> None:
        """Take the last round out of the totals. Raises PhotographError."""

    def hand_in(self, id: str, actor: Actor) -> None:
        """Tell the running table the dots of each colour in play. Raises PhotographError."""

    def before(self) -> Sequence[str]:
        """What to do at the table before it is photographed, in words."""


class NoPhotographs:
    """A table of a game in which nothing is counted on photographs."""

    title = ""

    def colours(self) -> Sequence[Colour]:
        """None."""
        return ()

    def count(self, data: bytes) -> Photograph:
        """Refused."""
        raise PhotographError("Nothing is counted on photographs at this table.")

    def find(self, id: str) -> Photograph | None:
        """None."""
        return None

    def picture(self, id: str) -> bytes | None:
        """None."""
        return None

    def turn(self, id: str, n: int) -> Photograph:
        """Refused."""
        raise PhotographError("That photograph is not kept any more.")

    def add(self, id: str, colour: str, xy: tuple[float, float]) -> Photograph:
        """Refused."""
        raise PhotographError("That photograph is not kept any more.")

    def ranked(self, photograph: Photograph) -> Sequence[Place]:
        """None."""
        return ()

    def rounds(self) -> Rounds | None:
        """None."""
        return None

    def keep(self, id: str) -> None:
        """Refused."""
        raise PhotographError("That photograph is not kept any more.")

    def drop(self) -> None:
        """Refused."""
        raise PhotographError("There is no round.")

    def hand_in(self, id: str, actor: Actor) -> None:
        """Refused."""
        raise PhotographError("That photograph is not kept any more.")

    def before(self) -> Sequence[str]:
        """Nothing."""
        return ()
