"""Pads and a host in virtual time (see `benchmarks.virtual_table`), and a table of them that is ready."""

from __future__ import annotations

from benchmarks.virtual_table import (
    MS,
    Delay,
    VirtualPad,
    VirtualTable,
    busy_wifi,
    ftdi,
    modem_sleep,
    usb,
    wifi,
)

__all__ = [
    "MS", "Delay", "VirtualPad", "VirtualTable", "busy_wifi", "ftdi", "modem_sleep", "ready_table", "usb", "wifi",
]  # fmt: skip


def ready_table(*pads: str, **more: object) -> tuple[VirtualTable, list[VirtualPad]]:
    """A table a second after these pads were plugged in; all are ready."""
    table = VirtualTable()
    made = [table.plug(VirtualPad(table, name, **more)) for name in pads]  # type: ignore[arg-type]  # handed on
    table.run(1_000 * MS)
    assert all(device.state == "ready" for device in table.hub.devices(table.now_ns))
    return table, made
