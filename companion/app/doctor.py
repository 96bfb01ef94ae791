"""``companion doctor``: what is connected and heard, and the command that mends what is not well."""

from __future__ import annotations

import platform
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import msgspec

from companion.app.play import HEARD_S
from companion.app.settings import Settings, state_folder
from companion.app.slams import slams
from companion.app.wiring import links_of
from companion.core.observation import Observed
from firmware_bridge.link import Bridge, Link
from vision.camera import CameraChild, check_source
from web_ui.health import battery_grade, signal_grade

SLOW_SYNC_MS = 50.0
SLOW_FPS = 10.0
LITTLE_BYTES = 500_000_000
CAMERA_S = 6.0
SYNCS = 20
MANY = 12
"""More inputs than this are counted, not named."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. `mend`: what to do or type, empty when it is well."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


def doctor(options: dict[str, Any]) -> int:
    """Print all checks; the exit status: 1 when any is not well."""
    found = []
    for check in checks(options):
        found.append(check)
        if not options["as_json"]:
            mend = f"\n      mend: {check.mend}" if check.mend else ""
            click.echo(f"{'ok  ' if check.ok else 'NOT '}{check.name}: {check.detail}{mend}")
    if options["as_json"]:
        click.echo(msgspec.json.encode({"checks": found}))
    return 0 if all(check.ok for check in found) else 1


def checks(options: dict[str, Any]) -> Iterator[Check]:
    """Every check, as it is done."""
    yield Check(name="python", ok=True, detail=f"{platform.python_version()} on {platform.system()}")
    folder = options["journal"] or state_folder()
    yield from _disk(folder if folder.is_dir() or not folder.suffix else folder.parent)
    yield _port(options["port"])
    yield from _pads(_links(options))
    if options["camera"]:
        yield _camera(options["camera"])
    else:
        yield Check(name="camera", ok=True, detail="none asked for (--camera 0 looks at the first one)")


def _disk(folder: Path) -> Iterator[Check]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        took_ms = _sync_ms(folder)
    except (OSError, sqlite3.Error) as error:
        yield Check(name="journal disk", ok=False, detail=f"{folder}: {error}",
                    mend="name a folder that may be written: --journal FOLDER")  # fmt: skip
        return
    worst = took_ms[-1]
    detail = f"{folder}: durable write {took_ms[len(took_ms) // 2]:.1f} ms, slowest of {len(took_ms)} {worst:.1f} ms"
    is_fast = worst <= SLOW_SYNC_MS
    yield Check(name="journal disk", ok=is_fast, detail=detail,
                mend="" if is_fast else "keep the journal on another disk: --journal /path/on/an/ssd")  # fmt: skip
    free = shutil.disk_usage(folder).free
    yield Check(name="room on the disk", ok=free > LITTLE_BYTES, detail=f"{free / 1e9:.1f} GB free",
                mend="" if free > LITTLE_BYTES else f"delete something: du -sh {folder}/*")  # fmt: skip


def _sync_ms(folder: Path) -> list[float]:
    """Times of durable writes as the journal makes them, sorted."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        closing(sqlite3.connect(Path(place) / "probe")) as base,
    ):
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA synchronous=FULL")
        base.execute("CREATE TABLE probe (line BLOB)")
        base.commit()
        took = []
        for _ in range(SYNCS):
            begun = time.perf_counter()
            base.execute("INSERT INTO probe VALUES (?)", (b"x" * 400,))
            base.commit()
            took.append((time.perf_counter() - begun) * 1000)
    return sorted(took)


def _port(port: int) -> Check:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return Check(name="web port", ok=False, detail=f"port {port}: {error.strerror}{_holder(port)}",
                         mend=f"companion run --port {port + 1}")  # fmt: skip
    return Check(name="web port", ok=True, detail=f"{port} is free")


def _holder(port: int) -> str:
    """Which process listens on a port, where the system tells; else nothing."""
    try:
        lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return ""
    inodes = {f[9] for f in map(str.split, lines) if f[3] == "0A" and int(f[1].split(":")[1], 16) == port}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            held = {str(handle.readlink()) for handle in (process / "fd").iterdir()}
        except OSError:
            continue
        if any(f"socket:[{inode}]" in held for inode in inodes):
            return f", held by pid {process.name} ({(process / 'comm').read_text().strip()})"
    return ""


def slam_test(options: dict[str, Any]) -> int:
    """Have each pad slammed once; the exit status: 1 when one needs foam, was missed or answered for another."""
    links = _links(options)
    return slams(lambda see: Bridge(links, see), HEARD_S, as_json=options["as_json"])


def _links(options: dict[str, Any]) -> tuple[Link, ...]:
    asked = Settings(
        game="", seats=(), options={}, data="", journal=Path(), seed=0, serial=tuple(options["serial"]),
        buzzers=tuple(options["buzzer"]), mqtt=options["mqtt"],
    )  # fmt: skip
    return links_of(asked, None)


def _pads(links: tuple[Link, ...]) -> Iterator[Check]:
    bridge = Bridge(links, lambda _seen: None)
    bridge.start()
    time.sleep(HEARD_S)
    devices, ports = bridge.devices(), bridge.links()
    bridge.stop()
    for link in ports:
        is_quiet = link.name == "serial auto"
        yield Check(name=link.name, ok=link.is_up or is_quiet, detail=link.problem or "open", mend=link.mend)
    if not devices:
        yield Check(name="pads", ok=True, detail="none is heard; the referee can click for every seat")
    for device in devices:
        clock = "unknown" if device.clock_u_ns is None else f"± {device.clock_u_ns / 1e6:.2f} ms"
        shown = device.inputs if len(device.inputs) <= MANY else (f"{len(device.inputs)}",)
        detail = f"{device.state} on {device.link}, inputs: {', '.join(shown)}; clock {clock}"
        if device.battery is not None:
            detail += f"; battery {battery_grade(device.battery)} ({device.battery} %)"
        if device.rssi is not None:
            detail += f"; signal {signal_grade(device.rssi)} ({device.rssi} dBm)"
        if device.race_class == "party":
            detail += "; party class: ranked only by waiver"
        yield Check(
            name=f"pad {device.id}", ok=not device.problem, detail=device.problem or detail, mend=device.mend
        )


def _camera(source: str) -> Check:
    try:
        check_source(source)
    except ValueError as error:
        return Check(name="camera", ok=False, detail=str(error), mend="ls /dev/video*")
    child = CameraChild(source, None, _ignore)
    child.start()
    ends = time.monotonic() + CAMERA_S
    while time.monotonic() < ends and child.status().fps < SLOW_FPS:
        time.sleep(0.2)
    status = child.status()
    child.stop()
    width, height = status.size_px
    detail = (
        f"{status.state}, {width} x {height} px, {status.fps:.0f} frames a second {status.detail}".strip()
    )
    is_well = status.state in ("live", "over") and status.fps >= SLOW_FPS
    mend = "" if is_well else "more light, another cable or port; ls /dev/video* names the cameras"
    return Check(name="camera", ok=is_well, detail=detail, mend=mend)


def _ignore(_seen: Observed) -> None:
    """Only the camera's status is of interest here."""
