"""The state of everything that is plugged in, as the devices page shows it."""

from __future__ import annotations

import shutil
from pathlib import Path

from companion.app.evidence import CAMERA
from companion.core.seat import Seat
from firmware_bridge.link import Bridge
from firmware_bridge.pairing import PadBook
from firmware_bridge.status import DeviceStatus
from vision.camera import CameraChild
from web_ui.health import CameraShown, DeviceShown, JournalShown


def devices_shown(bridge: Bridge, seats: tuple[Seat, ...], book: PadBook) -> tuple[DeviceShown, ...]:
    """All pads by the names that people call them, and all links and ports that are not well or carry nobody."""
    keys = book.keys
    pads = tuple(
        DeviceShown(
            name=device.id,
            kind=f"pad on {device.link}",
            is_up=device.state in ("ready", "syncing"),
            detail=device.problem or device.state,
            heard_ns=device.heard_ns,
            clock_u_ns=device.clock_u_ns,
            clock_limit_ns=device.clock_limit_ns,
            doubt=device.doubt,
            race_class=device.race_class,
            seats=tuple(seat.id for seat in seats if seat.device == device.id and not seat.left),
            mend=device.mend,
            title=book.name(device.id),
            is_pad=True,
            has_key=device.id in keys,
            may_pair=device.takes_key and device.state == "ready",
            battery=device.battery,
            rssi=device.rssi,
        )
        for device in bridge.devices()
        if not _is_forgotten(device, seats)
    )
    links = tuple(
        DeviceShown(name=link.name, kind="link", is_up=link.is_up, detail=link.problem, mend=link.mend)
        for link in bridge.links()
    )
    return pads + links


def _is_forgotten(device: DeviceStatus, seats: tuple[Seat, ...]) -> bool:
    """A page that was closed and is nobody's pad: nobody misses it."""
    is_gone = device.race_class == "party" and device.state == "lost"
    return is_gone and all(seat.device != device.id for seat in seats)


def camera_shown(camera: CameraChild, ahead_ns: int) -> CameraShown:
    """How the camera is doing."""
    status = camera.status()
    mend = ""
    if status.state == "blind":
        mend = "uncover the four corner markers, or print them anew: companion print markers"
    elif status.state in ("lost", "over"):
        mend = "check its cable; the game goes on by clicks meanwhile"
    return CameraShown(
        name=CAMERA,
        is_up=status.state in ("live", "blind"),
        detail=status.detail or status.state,
        fps=status.fps,
        dropped=status.dropped,
        frame_ns=status.seen_ns + ahead_ns if status.seen_ns else None,
        has_surface=status.state == "live",
        mend=mend,
    )


def journal_shown(path: Path, synced_ns: int) -> JournalShown:
    """The journal's file: its last durable write (host ns) and the room on its disk."""
    return JournalShown(path=str(path), synced_ns=synced_ns, free_bytes=shutil.disk_usage(path.parent).free)
