"""A broker is found by its announcement, a table by its own; strangers' records are only looked at."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from bridge_rig import bridged, until
from brokers import mosquitto, needs_mosquitto
from zeroconf import IPVersion, ServiceInfo, Zeroconf

from firmware_bridge import discovery
from firmware_bridge.discovery import MQTT, TADA, AutoMqttLink, Beacon, Broker, Finder, broker_in
from firmware_bridge.fake_device import FakePad

HERE = ["127.0.0.1"]
Announce = Callable[[str, int], None]


@pytest.fixture
def announce() -> Iterator[Announce]:
    """Announces brokers on loopback, as an operating system's own responder does."""
    with ExitStack() as stack:
        zeroconf = Zeroconf(interfaces=HERE, ip_version=IPVersion.V4Only)
        stack.callback(zeroconf.close)

        def made(name: str, port: int) -> None:
            zeroconf.register_service(mqtt_info(name, port))

        yield made


def mqtt_info(name: str, port: int) -> ServiceInfo:
    return ServiceInfo(
        MQTT, f"{name}.{MQTT}", addresses=[socket.inet_aton(HERE[0])], port=port, server="here.local."
    )


@needs_mosquitto
def test_pads_are_heard_through_the_broker_that_announces_itself(
    announce: Announce, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "_SETTLE_S", 0.3)
    with mosquitto(tmp_path) as broker, FakePad.on_mqtt(broker.url) as pad:
        link = AutoMqttLink(Finder(HERE))
        with bridged(link) as table:
            until(lambda: "no broker announces itself" in table.bridge.links()[0].problem, "the word of it")
            announce("kitchen", broker.port)
            table.wait_ready("pad1")
            assert link.url == f"mqtt://127.0.0.1:{broker.port}/table"
            pad.press()
            assert table.wait_presses(1)[0].source == "pad1"


class TwoBrokers(Finder):
    """A network with two brokers in it."""

    def start(self) -> None:
        """They are there already."""

    def brokers(self) -> tuple[Broker, ...]:
        """Both."""
        return Broker("192.168.7.2", 1883), Broker("192.168.7.3", 1883, "hall")


def test_of_two_brokers_none_is_chosen() -> None:
    link = AutoMqttLink(TwoBrokers())
    link.start(lambda _arrival: None, lambda: 0)
    try:
        until(lambda: "several brokers" in link.status()[0].problem, "both named")
        assert "mqtt://192.168.7.2:1883/table" in link.status()[0].problem
        assert "mqtt://192.168.7.3:1883/hall" in link.status()[0].problem
        assert not link.status()[0].is_up
        assert link.url == ""
    finally:
        link.stop()


class LateNetwork(Finder):
    """A network that is there from the third search on, with a broker in it from the fourth."""

    searches = 0

    def start(self) -> None:
        """Two times there is none."""
        self.searches += 1
        if self.searches < 3:
            raise OSError(101, "Network is unreachable")

    def brokers(self) -> tuple[Broker, ...]:
        """One, at last."""
        return (Broker("127.0.0.1", 9),) if self.searches > 3 else ()


def test_the_search_begins_anew_until_there_is_a_network_and_a_broker_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, seconds in (("_SETTLE_S", 0.2), ("_SEARCH_S", 1.0), ("_RETRY_S", 0.3), ("_LOOK_S", 0.05)):
        monkeypatch.setattr(discovery, name, seconds)
    link = AutoMqttLink(LateNetwork())
    link.start(lambda _arrival: None, lambda: 0)
    try:
        until(lambda: "Network is unreachable" in link.status()[0].problem, "the word of it")
        until(lambda: "no broker announces itself" in link.status()[0].problem, "a network, and nobody in it")
        until(lambda: link.url == "mqtt://127.0.0.1:9/table", "it is found")
    finally:
        link.stop()


def test_a_table_says_where_its_pads_go() -> None:
    finder = Finder(HERE)
    finder.start()
    ours = Beacon("Ta-Da! in the “hall”.", 8642, HERE, table="hall", broker="127.0.0.1:1899")
    try:
        ours.start()
        until(finder.brokers, "the table is found")
        assert finder.brokers() == (Broker("127.0.0.1", 1899, "hall"),)
        assert finder.brokers()[0].url == "mqtt://127.0.0.1:1899/hall"
        ours.stop()
        until(lambda: not finder.brokers(), "it is gone again")
    finally:
        ours.stop()
        finder.stop()


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"broker": "evil.example:1883"},
        {"broker": "192.168.7.9:0"},
        {"broker": "192.168.7.9:99999"},
        {"broker": "user:secret@192.168.7.9:1883"},
        {"broker": b"\xff\xfe:1"},
        {"broker": None},
    ],
)
def test_what_names_no_broker_by_its_address_is_none(facts: dict[str, str]) -> None:
    info = ServiceInfo(
        TADA, f"x.{TADA}", addresses=[socket.inet_aton("192.168.7.9")], port=1, properties=facts
    )
    assert broker_in(TADA, info) is None


def test_a_name_that_is_no_table_is_left_out() -> None:
    facts = {"broker": "192.168.7.9:1883", "table": "../#"}
    info = ServiceInfo(
        TADA, f"x.{TADA}", addresses=[socket.inet_aton("192.168.7.9")], port=1, properties=facts
    )
    assert broker_in(TADA, info) == Broker("192.168.7.9", 1883, "")
