"""Figures of the bridge on this machine: `python tests/firmware_bridge/measure.py [--json]`.

Slam to sink on a pseudo-terminal (200 a second) and on mosquitto (bursts of six, 5 ms apart), slam to a watermark
that has passed, lines per second on a serial line, messages per second over MQTT, the time from replug and from a
broker's restart until a pad is ready, and the processor time of an idle port. No network but loopback.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

from bridge_rig import bridged, until  # noqa: E402  # found by the line above
from brokers import MOSQUITTO, mosquitto  # noqa: E402  # the same

from companion.core.observation import Observation, Pressed  # noqa: E402  # the same
from firmware_bridge.fake_device import FakePad  # noqa: E402  # the same
from firmware_bridge.framing import wrap  # noqa: E402  # the same
from firmware_bridge.link import Bridge  # noqa: E402  # the same
from firmware_bridge.messages import Down, body_of  # noqa: E402  # the same
from firmware_bridge.mqtt_link import MqttLink  # noqa: E402  # the same
from firmware_bridge.serial_link import SerialLink  # noqa: E402  # the same

MS = 1_000_000


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def summary(values: list[float]) -> dict[str, float]:
    return {"n": len(values), "p50_ms": quantile(values, 0.5), "p99_ms": quantile(values, 0.99)}


class Late:
    """When each press reached the sink."""

    def __init__(self) -> None:
        self.at: dict[tuple[str, int], int] = {}

    def take(self, seen: Observation) -> None:
        if isinstance(seen, Pressed):
            self.at[seen.source, seen.n] = time.monotonic_ns()


def slam_pty(count: int = 1_000) -> dict[str, float]:
    with FakePad.on_pty("box", inputs=32) as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("box")
        late = Late()
        table.bridge._sink = late.take
        spans = []
        for k in range(count):
            before = len(late.at)
            began_ns = time.monotonic_ns()
            pad.press(k % 32, hold_ns=100 * MS)
            while len(late.at) == before:
                time.sleep(0.0001)
            spans.append((max(late.at.values()) - began_ns) / MS)
            time.sleep(0.005)
        return summary(spans)


def watermark_pty(count: int = 300) -> dict[str, float]:
    pads = [FakePad.on_pty(f"pad{k}", inputs=32) for k in range(6)]
    for pad in pads:
        pad.start()
    pressed_ns, final_ns, is_final = 0, 0, threading.Event()

    def sink(seen: Observation) -> None:
        nonlocal pressed_ns
        if isinstance(seen, Pressed):
            pressed_ns = seen.seen_ns

    def moved() -> None:
        nonlocal final_ns
        if pressed_ns and bridge.watermark_ns() > pressed_ns and not is_final.is_set():
            final_ns = time.monotonic_ns()
            is_final.set()

    bridge = Bridge([SerialLink([pad.port for pad in pads])], sink, moved=moved)
    bridge.start()
    try:
        until(lambda: sum(device.state == "ready" for device in bridge.devices()) == 6, "six pads")
        spans = []
        for k in range(count):
            pressed_ns = 0
            is_final.clear()
            began_ns = time.monotonic_ns()
            pads[k % 6].press(k // 6 % 32, hold_ns=300 * MS)
            is_final.wait(1)
            spans.append((final_ns - began_ns) / MS)
            time.sleep(0.02)
        return summary(spans)
    finally:
        bridge.stop()
        for pad in pads:
            pad.stop()


def burst_mqtt(url: str, bursts: int = 100) -> dict[str, float]:
    pads = [FakePad.on_mqtt(url, f"pad{k}", inputs=4) for k in range(6)]
    for pad in pads:
        pad.start()
    try:
        with bridged(MqttLink(url)) as table:
            table.wait_ready(*(pad.id for pad in pads))
            late = Late()
            table.bridge._sink = late.take
            spans = []
            for burst in range(bursts):
                before = len(late.at)
                base_ns = time.monotonic_ns() + 30 * MS
                for place, pad in enumerate(pads):
                    pad.press(burst % 4, base_ns + place * 5 * MS, hold_ns=40 * MS)
                until(lambda before=before: len(late.at) == before + 6, "six slams")  # type: ignore[misc]  # bound in the loop
                newest = sorted(late.at.values())[-6:]
                spans += [(at - base_ns) / MS - place * 5 for place, at in enumerate(newest)]
                time.sleep(0.08)
            return summary(spans)
    finally:
        for pad in pads:
            pad.stop()


def lines_per_second(count: int = 50_000) -> dict[str, float]:
    with FakePad.on_pty("pad1") as pad, bridged(SerialLink([pad.port])) as table:
        table.wait_ready("pad1")
        base_us = pad.device_us(time.monotonic_ns())
        frames = [wrap(body_of(Down(b=0, n=n, us=(base_us + n) % 2**32))) for n in range(1, count + 1)]
        began_s = time.monotonic()
        for at in range(0, count, 100):
            pad.garbage(b"".join(frames[at : at + 100]))
        until(lambda: len(table.seen) >= count, "all lines", 60)
        took_s = time.monotonic() - began_s
        until(lambda: len(table.presses) == count, "all presses")
        return {"n": count, "per_s": round(count / took_s), "lost": count - len(table.presses)}


def messages_per_second(url: str, count: int = 10_000) -> dict[str, float]:
    with FakePad.on_mqtt(f"{url}/t") as pad, bridged(MqttLink(f"{url}/t")) as table:
        table.wait_ready("pad1")
        base_us = pad.device_us(time.monotonic_ns())
        client = paho.Client(CallbackAPIVersion.VERSION2)
        client.max_inflight_messages_set(500)
        client.connect("127.0.0.1", int(url.rpartition(":")[2]))
        client.loop_start()
        began_s = time.monotonic()
        for n in range(1, count + 1):
            frame = wrap(body_of(Down(b=0, n=n, us=(base_us + n) % 2**32)))
            client.publish("tada/1/t/pad1/ev", frame, qos=1)
            while n - len(table.seen) > 500:  # a broker drops what is queued beyond 1,000 for one client
                time.sleep(0.001)
        until(lambda: len(table.presses) == count, "all messages", 60)
        took_s = time.monotonic() - began_s
        client.disconnect()
        client.loop_stop()
        return {"n": count, "per_s": round(count / took_s), "lost": count - len(table.presses)}


def replug(folder: Path, count: int = 20) -> dict[str, float]:
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
    return summary(spans)


def broker_restart(folder: Path, count: int = 3) -> dict[str, float]:
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
    return summary(spans)


def idle_share(seconds: float = 10.0) -> dict[str, float]:
    """Processor time of one idle port and its bridge; the pad runs in a process of its own."""
    import subprocess

    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from firmware_bridge.fake_device import FakePad\n"
        "with FakePad.on_pty('pad1') as pad:\n"
        "    print(pad.port, flush=True); sys.stdin.read()\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", code, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        port = other.stdout.readline().strip()
        with bridged(SerialLink([port])) as table:
            table.wait_ready("pad1")
            time.sleep(1)
            before = resource.getrusage(resource.RUSAGE_SELF)
            time.sleep(seconds)
            after = resource.getrusage(resource.RUSAGE_SELF)
        other.stdin.close()
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"percent": round(100 * used_s / seconds, 2)}


def main() -> None:
    figures: dict[str, Any] = {}

    def note(name: str, found: dict[str, float]) -> None:
        figures[name] = found
        print(f"{name:34} {found}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        note("slam to sink, pty", slam_pty())
        note("slam to watermark, 6 pads on ptys", watermark_pty())
        note("serial lines", lines_per_second())
        note("replug to ready, other name", replug(folder))
        note("idle port, processor", idle_share())
        if MOSQUITTO is None:
            print("mosquitto is missing: no figures over MQTT", file=sys.stderr)
        else:
            with mosquitto(folder) as broker:
                note("slam to sink, mosquitto, 6-burst", burst_mqtt(broker.url))
                note("MQTT messages, QoS 1", messages_per_second(broker.url))
            note("broker restart to ready", broker_restart(folder))
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
