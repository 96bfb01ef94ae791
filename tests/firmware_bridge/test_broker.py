"""The embedded broker: there when it says so, gone when stopped."""

from __future__ import annotations

import socket
import threading

import pytest

from firmware_bridge.broker import EmbeddedBroker
from firmware_bridge.mqtt_link import MqttLink

from bridge_rig import bridged, until  # isort: skip


def test_it_listens_on_loopback_only_and_ends_with_its_thread() -> None:
    before = threading.active_count()
    broker = EmbeddedBroker()
    broker.start()
    assert broker.url == f"mqtt://127.0.0.1:{broker.port}"
    socket.create_connection(("127.0.0.1", broker.port), 2).close()
    with pytest.raises(OSError):  # any reason will do
        socket.create_connection(("127.0.0.2", broker.port), 0.5)
    broker.stop()
    broker.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", broker.port), 2)
    assert threading.active_count() == before


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=f"no broker on port {port}") as caught:
            EmbeddedBroker(port).start()
    assert "\n" not in str(caught.value)


def test_a_link_goes_over_it_in_3_1_1() -> None:
    broker = EmbeddedBroker()
    broker.start()
    link = MqttLink(broker.url)
    try:
        with bridged(link):
            until(lambda: link.client.is_up, "connected")
            assert link.client.version == 3
    finally:
        broker.stop()
