"""A table that is served to the room names its pages and its broker; one that is not keeps quiet."""

from __future__ import annotations

import pytest

from companion.app.beacon import beacon_for
from firmware_bridge.discovery import TADA, Broker, broker_in

LAN = ("192.168.7.5", "10.0.0.5")
ROOM = ("0.0.0.0", 8642)


@pytest.mark.parametrize(
    ("mqtt", "broker"),
    [
        ("mqtt://127.0.0.1/hall", Broker("192.168.7.5", 1883, "hall")),
        ("mqtt://ann:secret@192.168.7.2:1999", Broker("192.168.7.2", 1999, "table")),
        ("embedded", None),
        ("auto", None),
        ("", None),
    ],
)
def test_the_broker_is_named_as_others_reach_it_and_without_its_password(
    mqtt: str, broker: Broker | None
) -> None:
    beacon = beacon_for("Ta-Da! t", ROOM, LAN, mqtt)
    assert beacon is not None
    assert broker_in(TADA, beacon.info) == broker
    assert b"secret" not in b"".join(v or b"" for v in beacon.info.properties.values())
    assert beacon.info.port == 8642


def test_what_only_this_machine_reaches_is_not_announced() -> None:
    assert beacon_for("t", ("127.0.0.1", 8642), LAN, "mqtt://127.0.0.1") is None
    assert beacon_for("t", ("::1", 8642), LAN, "") is None
    assert beacon_for("t", ROOM, (), "") is None
