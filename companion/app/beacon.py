"""What a table that is served to the room tells the network about itself."""

from __future__ import annotations

from collections.abc import Sequence

from firmware_bridge.discovery import AUTO, Beacon
from firmware_bridge.mqtt_link import MqttAddress
from web_ui.access import is_loopback

EMBEDDED = "embedded"
HERE = ("localhost", "127.0.0.1", "::1")


def beacon_for(name: str, served: tuple[str, int], addresses: Sequence[str], mqtt: str) -> Beacon | None:
    """The announcement of a table whose pages are `served` at (host, port) and whose pads use the broker `mqtt`.

    None for pages that this machine keeps to itself, and without a network. A broker that only this program
    reaches (``embedded``) or that announces itself (``auto``) is not named.
    """
    host, port = served
    if is_loopback(host) or not addresses:
        return None
    if mqtt in ("", EMBEDDED, AUTO):
        return Beacon(name, port, addresses)
    broker = MqttAddress.parse(mqtt)
    reached = addresses[0] if broker.host in HERE else broker.host
    return Beacon(name, port, addresses, table=broker.table, broker=f"{reached}:{broker.port}")
