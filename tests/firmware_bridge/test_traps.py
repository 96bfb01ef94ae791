"""The traps of the hardware notes, 1 to 29: each is the name of a test; those that fit nowhere else are here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from companion.app.settings import Settings
from companion.app.wiring import links_of
from firmware_bridge import mqtt_link, topics
from firmware_bridge.broker import EmbeddedBroker
from firmware_bridge.mqtt_link import MqttClient, MqttLink, Subscription
from firmware_bridge.wire import Kind

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TRAPS = range(1, 30)


def numbers_in(name: str) -> set[int]:
    """The traps that a test's name speaks of: `trap_07`, `trap_07_and_08`, `traps_22_to_24`."""
    found = re.match(r"test_traps?_(\d\d)(?:_(and|to)_(\d\d))?", name)
    if found is None:
        return set()
    first, joint, last = int(found[1]), found[2], int(found[3] or found[1])
    return set(range(first, last + 1)) if joint == "to" else {first, last}


def test_every_trap_has_a_test_of_its_number() -> None:
    names = [
        name for path in HERE.glob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
    ]
    assert set(TRAPS) - {number for name in names for number in numbers_in(name)} == set()


def test_trap_26_paho_is_pinned_and_asked_for_its_second_callback_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (pin,) = [line for line in project["dependencies"] if line.startswith("paho-mqtt")]
    assert pin == "paho-mqtt>=2.1,<3"
    asked: list[object] = []
    real = mqtt_link._Prompt

    def make(version: object, **more: object) -> object:
        asked.append(version)
        return real(version, **more)

    monkeypatch.setattr(mqtt_link, "_Prompt", make)
    MqttLink("mqtt://127.0.0.1:1/t").client._make()
    assert asked == [mqtt_link.CallbackAPIVersion.VERSION2]


def test_trap_27_the_embedded_broker_runs_only_when_it_is_asked_for_and_on_loopback() -> None:
    nothing_asked = Settings(game="tada", seats=(), options={}, data="", journal=Path("t"), seed=1)
    assert links_of(nothing_asked, None) == ()
    assert EmbeddedBroker().url.startswith("mqtt://127.0.0.1:")


def test_trap_28_nothing_is_sent_or_asked_for_with_qos_2_and_queues_have_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used: list[int] = []

    def publish(self: MqttClient, topic: str, payload: bytes, *, qos: int, **more: object) -> bool:
        used.append(qos)
        if more.get("is_retained"):
            assert topic == topics.host_state("t")
        return True

    monkeypatch.setattr(MqttClient, "publish", publish)
    link = MqttLink("mqtt://127.0.0.1:1/t")
    link.client.is_up = True
    kinds: tuple[Kind, ...] = ("sync", "ack", "cmd")
    for kind in kinds:
        assert link.send("pad1", b"{}", kind)
    link.tell_table(b"{}")
    asked: tuple[Subscription, ...] = link.client._subscriptions
    assert set(used) == {0, 1}
    assert {wanted.qos for wanted in asked} == {0, 1}
    assert link.client._make()._max_queued_messages == mqtt_link._MAX_QUEUED
