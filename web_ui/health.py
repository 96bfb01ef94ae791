"""What the devices page shows: the state of everything plugged in, as plain data from whoever knows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec


class DeviceShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A buzzer box, bridge or broker. `kind`: in words ("serial pad", "MQTT pad", "broker"). `title`: what people
    call it, empty when they do not. `is_pad`: it has buttons. `has_key`: it signs what it says by radio; `may_pair`:
    it hangs on a cable over which it can be given a key.

    `heard_ns`: host time of its last sign of life, None for never. `clock_u_ns`: uncertainty of its clock,
    None when it has none or is not known yet; `clock_limit_ns`: how much it may be in a ranked race, None where
    that is not asked. `doubt`: why it should not take part in one, empty when it may. `race_class`: ``ranked``,
    or ``party`` for a kind that needs the referee's waiver. `seats`: whose pads it carries. `mend`: what to do.
    `battery` percent and `rssi` dBm, None when it does not say.
    """

    name: str
    kind: str
    is_up: bool
    detail: str = ""
    heard_ns: int | None = None
    clock_u_ns: int | None = None
    clock_limit_ns: int | None = None
    doubt: str = ""
    race_class: str = "ranked"
    seats: tuple[str, ...] = ()
    mend: str = ""
    title: str = ""
    is_pad: bool = False
    has_key: bool = False
    may_pair: bool = False
    battery: int | None = None
    rssi: int | None = None


class CameraShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A camera. `frame_ns`: host time of its newest frame. `has_surface`: the table is found in it."""

    name: str
    is_up: bool
    detail: str = ""
    fps: float = 0.0
    dropped: int = 0
    frame_ns: int | None = None
    has_surface: bool = False
    mend: str = ""


class JournalShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The journal's file. `synced_ns`: host time of its last durable write. `free_bytes`: left on its disk."""

    path: str = ""
    synced_ns: int | None = None
    sync_ms: float | None = None
    free_bytes: int | None = None
    mend: str = ""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at once."""

    devices: tuple[DeviceShown, ...] = ()
    cameras: tuple[CameraShown, ...] = ()
    journal: JournalShown = JournalShown()


class Picture(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kept picture. `id`: made by its keeper, safe in an address; `offset_ms`: from the event."""

    id: str
    camera: str
    offset_ms: int
    text: str = ""


class Evidence(Protocol):
    """Whoever keeps pictures. All methods are safe from any thread."""

    def pictures(self, entry: int) -> Sequence[Picture]:
        """The pictures kept for one journal entry, in order of time; empty when there are none (any more)."""

    def picture(self, entry: int, id: str) -> bytes | None:
        """One of them as JPEG, None when it is not kept."""

    def camera(self, name: str) -> bytes | None:
        """The newest frame of a camera as JPEG, None when there is none."""


class NoEvidence:
    """A table without a camera."""

    def pictures(self, entry: int) -> Sequence[Picture]:
        """None."""
        return ()

    def picture(self, entry: int, id: str) -> bytes | None:
        """None."""
        return None

    def camera(self, name: str) -> bytes | None:
        """None."""
        return None


HealthSource = Callable[[], Health]

GOOD_CLOCK_NS = 2_000_000
POOR_CLOCK_NS = 10_000_000


def clock_grade(u_ns: int | None) -> str:
    """How good a device's clock is: ``good``, ``fair``, ``poor`` or ``unknown``; never by colour alone."""
    if u_ns is None:
        return "unknown"
    if u_ns <= GOOD_CLOCK_NS:
        return "good"
    return "fair" if u_ns <= POOR_CLOCK_NS else "poor"


LOW_BATTERY, FAIR_BATTERY = 15, 40
"""Percent: below the first it may not last a game, below the second it is worth charging."""
WEAK_DBM, FAIR_DBM = -78, -67
"""Below the first messages get lost, below the second they are late at times."""


def battery_grade(percent: int | None) -> str:
    """``good``, ``fair``, ``low``, or ``unknown`` for a device that does not say."""
    if percent is None:
        return "unknown"
    if percent < LOW_BATTERY:
        return "low"
    return "fair" if percent < FAIR_BATTERY else "good"


def signal_grade(dbm: int | None) -> str:
    """``good``, ``fair``, ``weak``, or ``unknown`` for a device that does not say (or has a cable)."""
    if dbm is None:
        return "unknown"
    if dbm < WEAK_DBM:
        return "weak"
    return "fair" if dbm < FAIR_DBM else "good"
