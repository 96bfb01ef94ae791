"""What a table knows of its pads by their ids: names, keys, places, measured delays. No I/O of its own.

A pad's id lives in its firmware, so what stands here holds over restarts and on any port.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import Annotated, Protocol

import msgspec

from firmware_bridge.messages import DeviceId, Name

KEY_BYTES = 16
PATIENCE_S = 3.0
MAX_PADS = 256
MAX_PLACES = 32


class PairingError(Exception):
    """A pad was not paired; the text is one line that says what to do."""


class PadRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One pad. `name`: what people call it. `key`: its MAC key in hex. `stamp_us`: its worst delay from finger to
    stamp as somebody measured it, None when nobody did."""

    name: Name = ""
    key: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{2})*\Z", max_length=128)] = ""
    stamp_us: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None


class PadInput(msgspec.Struct, frozen=True):
    """One input of a device, counted from 0."""

    device: DeviceId
    input: Annotated[int, msgspec.Meta(ge=0, le=31)] = 0


class _Stored(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    pads: Annotated[dict[DeviceId, PadRecord], msgspec.Meta(max_length=MAX_PADS)] = {}
    places: Annotated[dict[str, PadInput], msgspec.Meta(max_length=MAX_PLACES)] = {}


class PadBook:
    """Pads by id and places (the seats by number, from 1) with their pads. Safe from any thread.

    `stored`: what `keep` was given last, None at first. `keep(data)` stores before a change counts; it must keep
    the data from others, since there are keys in it. Raises ValueError when `stored` is no such thing.
    """

    def __init__(self, stored: bytes | None, keep: Callable[[bytes], None]) -> None:
        self._keep = keep
        self._lock = threading.RLock()
        try:
            self._now = _Stored() if stored is None else msgspec.json.decode(stored, type=_Stored)
        except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
            raise ValueError(f"the list of pads is damaged ({wrong})") from wrong

    @property
    def pads(self) -> Mapping[str, PadRecord]:
        """All pads that something is known of."""
        return self._now.pads

    @property
    def keys(self) -> dict[str, bytes]:
        """MAC keys by device id."""
        return {device: bytes.fromhex(pad.key) for device, pad in self._now.pads.items() if pad.key}

    @property
    def places(self) -> Mapping[int, PadInput]:
        """The pad of each place that has one."""
        return {int(number): pad for number, pad in self._now.places.items() if number.isdecimal()}

    def has_room_for(self, device: str) -> bool:
        """May something be noted of this pad?"""
        return device in self._now.pads or len(self._now.pads) < MAX_PADS

    def name(self, device: str) -> str:
        """What people call a pad, empty when it has no name."""
        return self._of(device).name

    def stamp_us(self, device: str) -> int | None:
        """The delay from finger to stamp that was measured for a pad, None when none was."""
        return self._of(device).stamp_us

    def note(self, device: str, **facts: object) -> None:
        """Keep facts of a pad (fields of `PadRecord`). Raises ValueError for one that cannot be, OSError as `keep`."""
        with self._lock:
            pad = msgspec.structs.replace(self._of(device), **facts)
            self._store(pads={**self._now.pads, device: pad})

    def forget(self, device: str) -> None:
        """Name, key and places of this pad are no more. Raises OSError from `keep`."""
        with self._lock:
            self._store(
                pads={name: pad for name, pad in self._now.pads.items() if name != device},
                places={number: pad for number, pad in self._now.places.items() if pad.device != device},
            )

    def seat(self, place: int, pad: PadInput | None) -> None:
        """Give a place a pad (no other place keeps it), or none. Raises OSError from `keep`."""
        with self._lock:
            places = {
                number: other
                for number, other in self._now.places.items()
                if number != str(place) and other != pad
            }
            if pad is not None:
                places[str(place)] = pad
            self._store(places=places)

    def _of(self, device: str) -> PadRecord:
        return self._now.pads.get(device, PadRecord())

    def _store(self, **changes: object) -> None:
        data = msgspec.json.encode(msgspec.structs.replace(self._now, **changes))
        try:
            checked = msgspec.json.decode(data, type=_Stored)
        except msgspec.ValidationError as wrong:
            raise ValueError(str(wrong)) from wrong
        self._keep(data)
        self._now = checked


class KeyGiver(Protocol):
    """What pairing needs of a bridge (`link.Bridge`)."""

    def give_key(self, device: str, key: bytes) -> Future[str]:
        """Hand a key to a device over its cable; the result is empty when it took it, else why not."""

    def set_key(self, device: str, key: bytes | None) -> None:
        """From now on this is the device's key here."""


def pair(bridge: KeyGiver, book: PadBook, device: str) -> None:
    """Give a pad that hangs on a cable a fresh key; once the pad says that it has it, the book keeps it and it counts.

    Waits for the pad, at most PATIENCE_S. Raises PairingError when it did not take the key or the key could not be
    kept; then the book and the bridge both know the key that they knew before.
    """
    if not book.has_room_for(device):
        raise PairingError(f"{device} was not paired: forget a pad first: companion pads --forget PAD")
    key = secrets.token_bytes(KEY_BYTES)
    try:
        why = bridge.give_key(device, key).result(PATIENCE_S)
    except Late:
        why = "it does not answer: flash the firmware that came with this program"
    if why:
        raise PairingError(f"{device} was not paired: {why}")
    try:
        book.note(device, key=key.hex())
    except (OSError, ValueError) as wrong:
        raise PairingError(
            f"{device} has a key that could not be kept here ({wrong}): mend that and pair it again"
        ) from wrong
    bridge.set_key(device, key)
