"""What a link is to the bridge: where bytes come from and go to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

RaceClass = Literal["ranked", "party"]
Kind = Literal["sync", "ack", "cmd"]  # how frames are carried where it makes a difference (MQTT)


class Opened(msgspec.Struct, frozen=True):
    """A way to a device exists now: a port was opened, a device's topics were seen.

    `device`: its id where the way itself names it (MQTT), else empty.
    """

    route: str
    device: str = ""


class Heard(msgspec.Struct, frozen=True):
    """Bytes that came at host time `at_ns`, taken as soon as they were read.

    `is_whole`: they begin and end at line borders (an MQTT message); else any portion of a stream.
    """

    route: str
    data: bytes
    at_ns: int
    is_whole: bool = False


class Refused(msgspec.Struct, frozen=True):
    """An event that a broker had kept was thrown away."""

    route: str


class Closed(msgspec.Struct, frozen=True):
    """The way is gone; `reason` in plain words."""

    route: str
    reason: str


Arrival = Opened | Heard | Refused | Closed


class LinkStatus(msgspec.Struct, frozen=True):
    """A link or one of its ports. `problem` and `mend` are empty when all is well."""

    name: str
    is_up: bool
    problem: str = ""
    mend: str = ""


class Link(Protocol):
    """Any transport. `post` may be called from the link's own threads and may wait when much is queued.

    `name` has no secrets in it. `is_trusted`: a wire that needs no MAC. `race_class`: ``party`` where what
    hangs on it is too unsure by its kind to decide a ranked race unless the referee waives that.
    """

    name: str
    is_trusted: bool
    race_class: RaceClass

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        """Begin; returns at once and never raises because something is not there yet."""

    def stop(self) -> None:
        """End all threads and close all ways; may be called twice."""

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        """Hand whole frames over for sending; never waits. False when the way is closed or its queue is
        full."""

    def tell_table(self, frame: bytes) -> bool:
        """Tell all who listen at the table (verdicts). False where a link has no such thing."""

    def keep(self, route: str) -> None:
        """A device of ours answered there: the way is not given up as a stranger's."""

    def status(self) -> tuple[LinkStatus, ...]:
        """How the link and its ports fare now."""
