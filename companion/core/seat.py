"""Who sits where, who may say what, and what was agreed for them."""

from __future__ import annotations

from enum import Enum

import msgspec


class Role(Enum):
    """Who speaks. A sensor speaks for a device, the clock for a deadline."""

    REFEREE = "referee"
    SEAT = "seat"
    PUBLIC = "public"
    SENSOR = "sensor"
    CLOCK = "clock"


class Actor(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who gave a command: `seat` for a seat's own page, `name` for the person or device."""

    role: Role
    seat: str = ""
    name: str = ""


class Viewer(msgspec.Struct, frozen=True, omit_defaults=True):
    """For whose eyes a view is made."""

    role: Role
    seat: str = ""


REFEREE = Viewer(Role.REFEREE)
PUBLIC = Viewer(Role.PUBLIC)


class Accommodation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was agreed for one seat before play; public, journalled, shown with every result.

    `time_factor`: the seat's own time counts divided by this (1 to 10). `start_shift_ms`: its own GO comes
    this much later (negative: earlier) than the others'. `proxy`: who slams for it, empty for nobody.
    """

    time_factor: float = 1.0
    start_shift_ms: int = 0
    proxy: str = ""


class PadNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a device's fitness for a ranked race.

    `u_ns`: uncertainty of its clock when that was noted, None when it was not known. `limit_ns`: how much it
    may be. `doubt`: why it should not take part, in words, empty when it may. `race_class`: ``ranked``, or
    ``party`` for a kind of device that is never ranked by itself.
    """

    device: str
    u_ns: int | None = None
    limit_ns: int = 0
    doubt: str = ""
    race_class: str = "ranked"

    @property
    def is_fit(self) -> bool:
        """Whether it may take part in a ranked race without anybody's waiver."""
        return not self.doubt and self.race_class == "ranked"


class PadWaiver(msgspec.Struct, frozen=True, omit_defaults=True):
    """The referee lets a device take part all the same, in this round or for good."""

    device: str
    is_for_round: bool = True


MARKS = (
    ("red", "circle"),
    ("blue", "square"),
    ("green", "triangle"),
    ("yellow", "star"),
    ("purple", "diamond"),
    ("black", "cross"),
)
"""Colour and shape of the seats in order: never one without the other."""


class Seat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One player's place. `device` and `input` name its pad, empty when the referee clicks for it."""

    id: str
    name: str
    colour: str
    shape: str
    device: str = ""
    input: int = 0
    left: bool = False
    accommodation: Accommodation = Accommodation()

    @property
    def letter(self) -> str:
        """The seat's letter: A for the first. Shown with its colour and shape."""
        return chr(ord("A") + int(self.id[1:]) - 1)


def seat_at(number: int, name: str, device: str = "", input_: int = 0) -> Seat:
    """The seat with this number, counted from 1, with the colour and shape that belong to it."""
    colour, shape = MARKS[(number - 1) % len(MARKS)]
    return Seat(id=f"s{number}", name=name, colour=colour, shape=shape, device=device, input=input_)
