"""Who sits where in the demo, and the fake pads they slam."""

from __future__ import annotations

import os
from collections.abc import Callable

from companion.core.seat import Seat, seat_at
from firmware_bridge.fake_device import FakePad

NAMES = ("Ann", "Ben", "Cleo", "Dara", "Emil", "Fay")
RADIO = "pad-air"
Press = Callable[[int | None], None]
"""Slams a pad at a host instant, None for now."""


def seats_of(count: int) -> tuple[Seat, ...]:
    """Seats of the demo: about half share one box on a serial line, one has a pad on a line of its own, the
    others have pads on the broker."""
    found = []
    shared = max(1, count // 2)
    for number in range(1, count + 1):
        name = NAMES[number - 1]
        if number <= shared:
            found.append(seat_at(number, name, "box-1", number - 1))
        else:
            kind = "pad-line" if number == shared + 1 and count > 2 else RADIO
            found.append(seat_at(number, name, f"{kind}-{number}"))
    return tuple(found)


def wired_pads(seats: tuple[Seat, ...]) -> tuple[FakePad, ...]:
    """The pads on serial lines, with an input and a lamp for each seat that shares one. Not started yet."""
    make = FakePad.on_pty if os.name == "posix" else FakePad.on_tcp
    found = []
    for device in dict.fromkeys(seat.device for seat in seats if not seat.device.startswith(RADIO)):
        inputs = 1 + max(seat.input for seat in seats if seat.device == device)
        lamps = tuple(("led", f"lamp {n + 1}") for n in range(inputs))
        found.append(make(device, inputs=inputs, outputs=(*lamps, ("snd", "buzzer"))))
    return tuple(found)


def radio_pads(seats: tuple[Seat, ...], broker_url: str) -> tuple[FakePad, ...]:
    """The pads on the broker. Not started yet."""
    return tuple(FakePad.on_mqtt(broker_url, seat.device) for seat in seats if seat.device.startswith(RADIO))


def press_of(pad: FakePad, input_: int, ahead_ns: int) -> Press:
    """Slams a pad at instants of host time, which is `ahead_ns` ahead of the pad's own host."""

    def press(at_ns: int | None) -> None:
        pad.press(input_, None if at_ns is None else at_ns - ahead_ns)

    return press
