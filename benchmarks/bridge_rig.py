"""A bridge on real links, and patience with a limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from companion.core.observation import DeviceChanged, Observation, Pressed
from firmware_bridge.link import Bridge, DeviceStatus, Link, LinkStatus


def until(is_so: Callable[[], object], what: str, timeout_s: float = 10.0) -> None:
    """Wait until something is so; fail with `what` when it never is."""
    give_up_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < give_up_s, f"waited {timeout_s} s in vain: {what}"
        time.sleep(0.005)


class Table:
    """What a program at the table holds: the bridge and what its sink was given."""

    bridge: Bridge

    def __init__(self) -> None:
        self.seen: list[Observation] = []
        self._lock = threading.Lock()

    def take(self, seen: Observation) -> None:
        with self._lock:
            self.seen.append(seen)

    @property
    def presses(self) -> list[Pressed]:
        with self._lock:
            return [seen for seen in self.seen if isinstance(seen, Pressed)]

    def states(self, device: str) -> list[str]:
        with self._lock:
            return [
                seen.state for seen in self.seen if isinstance(seen, DeviceChanged) and seen.source == device
            ]

    def device(self, name: str) -> DeviceStatus | None:
        return next((device for device in self.bridge.devices() if device.id == name), None)

    def link(self, part: str) -> LinkStatus | None:
        return next((link for link in self.bridge.links() if part in link.name), None)

    def is_ready(self, *names: str) -> bool:
        states = {device.id: device.state for device in self.bridge.devices()}
        return all(states.get(name) == "ready" for name in names)

    def wait_ready(self, *names: str, timeout_s: float = 10.0) -> None:
        until(lambda: self.is_ready(*names), f"{names} ready; {self.bridge.devices()}", timeout_s)

    def wait_presses(self, count: int) -> list[Pressed]:
        until(lambda: len(self.presses) >= count, f"{count} presses; there are {len(self.presses)}")
        return self.presses


@contextmanager
def bridged(*links: Link, **more: object) -> Iterator[Table]:
    """A running bridge; stopped at the end, whatever happens."""
    table = Table()
    table.bridge = Bridge(links, table.take, **more)  # type: ignore[arg-type]  # handed on
    table.bridge.start()
    try:
        yield table
    finally:
        table.bridge.stop()
