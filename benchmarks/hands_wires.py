"""The bridge on real lines of this machine: how soon, how many, how soon again, and what an idle port costs.

Fake pads are in a process of their own where time is measured to the millisecond, else in one with the host. No network
but loopback.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from benchmarks.bridge_rig import Table, bridged, until
from benchmarks.brokers import mosquitto
from benchmarks.pads_apart import PadsApart, Press, Wanted
from companion.core.observation import Observation, Pressed
from firmware_bridge.fake_device import FakePad
from firmware_bridge.framing import wrap
from firmware_bridge.messages import Down, body_of
from firmware_bridge.mqtt_link import MqttLink
from firmware_bridge.serial_link import SerialLink

MS = 1_000_000
PORTION = 50
UNDER_WAY = 500
"""No more than a broker keeps for one client, and than is fresh when it comes."""
QUIET_S = 2.0
"""When nothing new came for so long, the rest is lost."""


@dataclass(frozen=True)
class Rate:
    """How many were sent, how many a second came, how many were lost."""

    count: int
    per_s: float
    lost: int


class Late:
    """When each press reached the sink of a table's bridge."""

    def __init__(self, table: Table) -> None:
        self.at: dict[tuple[str, int], int] = {}
        self._newest_n = 0
        self._last_s = time.monotonic()
        table.bridge._sink = self.take

    def take(self, seen: Observation) -> None:
        if isinstance(seen, Pressed):
            self.at[seen.source, seen.n] = time.monotonic_ns()
            self._newest_n = max(self._newest_n, seen.n)
            self._last_s = time.monotonic()

    def has(self, wanted: int) -> bool:
        """Wait until so many presses came (True), or nothing new for QUIET_S."""
        return self._wait(lambda: len(self.at) >= wanted)

    def _wait(self, has_come: Callable[[], bool]) -> bool:
        since_s = time.monotonic()
        while not has_come():
            if time.monotonic() - max(since_s, self._last_s) > QUIET_S:
                return False
            time.sleep(0.0005)
        return True

    def rate(self, sent: int, began_s: float) -> Rate:
        """What became of all `sent` events of one device since then. Its line is first in, first out: when the last
        one has come, what is missing is lost."""
        self._wait(lambda: self._newest_n >= sent)
        return Rate(sent, len(self.at) / (self._last_s - began_s), sent - len(self.at))


def burst_mqtt(url: str, bursts: int = 100) -> list[float]:
    """Bursts of six slams 5 ms apart, QoS 1; ms from each slam to the program."""
    wanted = [Wanted(f"pad{k}", url, inputs=4) for k in range(6)]
    with PadsApart(wanted) as pads, bridged(MqttLink(url)) as table:
        table.wait_ready(*(pad.device for pad in wanted))
        late = Late(table)
        spans = []
        for burst in range(bursts):
            before = len(late.at)
            base_ns = time.monotonic_ns() + 30 * MS
            for place in range(6):
                pads.press(Press(place, burst % 4, base_ns + place * 5 * MS, 40 * MS))
            until(lambda before=before: len(late.at) == before + 6, "six slams")  # type: ignore[misc]  # bound in the loop
            newest = sorted(late.at.values())[-6:]
            spans += [(at - base_ns) / MS - place * 5 for place, at in enumerate(newest)]
            time.sleep(0.08)
        return spans


def lines_per_second(count: int = 50_000) -> Rate:
    """Events up one serial line as fast as they are taken."""
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        late, sent, began_s = Late(table), 0, time.monotonic()
        while sent < count and late.has(sent - UNDER_WAY):
            base_us = pad.device_us(time.monotonic_ns())
            downs = (Down(b=0, n=sent + k, us=(base_us + k) % 2**32) for k in range(1, PORTION + 1))
            pad.garbage(b"".join(wrap(body_of(down)) for down in downs))
            sent += PORTION
        return late.rate(sent, began_s)


def messages_per_second(url: str, count: int = 10_000) -> Rate:
    """Events through a broker at QoS 1 as fast as they are taken."""
    with FakePad.on_mqtt(f"{url}/t") as pad, bridged(MqttLink(f"{url}/t")) as table:
        table.wait_ready("pad1")
        client = paho.Client(CallbackAPIVersion.VERSION2)
        client.max_inflight_messages_set(500)
        client.connect("127.0.0.1", int(url.rpartition(":")[2]))
        client.loop_start()
        late, sent, began_s = Late(table), 0, time.monotonic()
        while sent < count and late.has(sent - UNDER_WAY):
            sent += 1
            now_us = pad.device_us(time.monotonic_ns())
            client.publish("tada/1/t/pad1/ev", wrap(body_of(Down(b=0, n=sent, us=now_us % 2**32))), qos=1)
        rate = late.rate(sent, began_s)
        client.disconnect()
        client.loop_stop()
        return rate


def replug(folder: Path, count: int = 20) -> list[float]:
    """A pad is pulled out and comes back under another name; ms from then until it is ready."""
    spans = []
    with (
        FakePad.on_pty("pad1", folder / "tty0") as pad,
        bridged(SerialLink([str(folder / "tty*")])) as table,
    ):
        table.wait_ready("pad1")
        for k in range(count):
            pad.unplug()
            until(lambda: not table.is_ready("pad1"), "lost")
            began_s = time.monotonic()
            pad.replug(folder / f"tty{k % 2 + 1}")
            table.wait_ready("pad1")
            spans.append((time.monotonic() - began_s) * 1000)
    return spans


def broker_restart(folder: Path, count: int = 3) -> list[float]:
    """A broker is killed and started again after a healthy life; ms from then until a pad is ready."""
    spans = []
    with mosquitto(folder) as broker, FakePad.on_mqtt(broker.url), bridged(MqttLink(broker.url)) as table:
        table.wait_ready("pad1")
        for _ in range(count):
            time.sleep(10.5)  # a healthy life
            broker.kill()
            until(lambda: not table.is_ready("pad1"), "lost")
            broker.start()
            began_s = time.monotonic()
            table.wait_ready("pad1", timeout_s=20)
            spans.append((time.monotonic() - began_s) * 1000)
    return spans


def idle_share(seconds: float = 10.0) -> float:
    """Percent of a processor that one idle port and its bridge take; the pad runs in a process of its own."""
    with PadsApart([Wanted("pad1")]) as pads, bridged(SerialLink(pads.ports)) as table:
        table.wait_ready("pad1")
        time.sleep(1)
        before = resource.getrusage(resource.RUSAGE_SELF)
        time.sleep(seconds)
        after = resource.getrusage(resource.RUSAGE_SELF)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 100 * used_s / seconds
