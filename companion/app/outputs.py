"""What is announced, on the pads: lights, sounds, and from when a press counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from companion.core.cue import Cue
from companion.core.seat import Seat
from firmware_bridge.link import Bridge
from firmware_bridge.status import DeviceStatus
from firmware_bridge.translate import outputs_for


def outputs(seats: Iterable[Seat], devices: Iterable[DeviceStatus]) -> dict[str, tuple[tuple[str, int], ...]]:
    """(device, output index) pairs by seat id.

    A device of one seat plays all its outputs for it. Where seats share a device, the n-th output belongs to
    the n-th input, and what is left over plays for all of them.
    """
    placed = [seat for seat in seats if seat.device and not seat.left]
    counts = {device.id: len(device.outputs) for device in devices}
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for seat in placed:
        count = counts.get(seat.device, 0)
        sharing = [other.input for other in placed if other.device == seat.device]
        if len(sharing) == 1:
            mine = range(count)
            found[seat.id] = tuple((seat.device, index) for index in mine)
        else:
            common = [index for index in range(count) if index > max(sharing)]
            own = [seat.input] if seat.input < count else []
            found[seat.id] = tuple((seat.device, index) for index in (*own, *common))
    return found


TOGETHER_NS = 100_000_000
"""What several pads show at once is asked for so long ahead, so that each has the command before its instant."""


class PadOutputs:
    """Plays announcements on the pads and arms them for each GO. Called on the table's writer thread."""

    def __init__(self, bridge: Bridge, now_ns: Callable[[], int]) -> None:
        """Nothing is played before `play` is called. `now_ns`: host time."""
        self._bridge, self._now_ns = bridge, now_ns

    def play(self, cue: Cue, seats: tuple[Seat, ...], part: int) -> None:
        """Light and sound of one cue on the pads it is meant for.

        What concerns several devices happens on all of them at one instant. A GO that is still to come arms those
        pads: they mark what is pressed before it. `part`: the round.
        """
        places = outputs(seats, self._bridge.devices())
        if cue.at_ns is None and len({device for device, _ in outputs_for(cue, places)}) > 1:
            cue = msgspec.structs.replace(cue, at_ns=self._now_ns() + TOGETHER_NS)
        self._bridge.play(cue, places)
        if cue.pattern == "go" and cue.at_ns is not None:
            masks: dict[str, int] = {}
            for seat in seats:
                if seat.device and not seat.left and cue.target in ("all", seat.id):
                    masks[seat.device] = masks.get(seat.device, 0) | 1 << seat.input
            self._bridge.arm(part, masks, cue.at_ns)
