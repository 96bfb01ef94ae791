"""What was seen, understood. Pure."""

from __future__ import annotations

import msgspec

from companion.core.command import Command, ProvePad
from companion.core.observation import Observation, Pressed
from companion.games.tahwars.model import Table


class Trace(msgspec.Struct, frozen=True):
    """Nothing waits to be understood."""


def interpret(
    trace: msgspec.Struct, table: Table, seen: Observation
) -> tuple[msgspec.Struct, tuple[Command, ...]]:
    """A press proves its seat's pad."""
    if isinstance(seen, Pressed) and (seat := table.seat_of(seen.source, seen.input)) is not None:
        return trace, () if seat.id in table.proven else (ProvePad(seat=seat.id),)
    return trace, ()
