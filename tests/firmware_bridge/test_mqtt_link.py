"""Pads on a broker: mosquitto in MQTT 5 and 3.1.1, and the embedded broker."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from companion.core.cue import Cue
from firmware_bridge import mqtt_link, session
from firmware_bridge.broker import EmbeddedBroker
from firmware_bridge.fake_device import FakePad
from firmware_bridge.framing import wrap
from firmware_bridge.messages import Down, body_of
from firmware_bridge.mqtt_link import MqttAddress, MqttClient, MqttLink, Subscription
from firmware_bridge.verdict import Verdict

from bridge_rig import bridged, until  # isort: skip
from brokers import Mosquitto, free_port, mosquitto, needs_mosquitto  # isort: skip

MS = 1_000_000
KEY = b"0123456789abcdef"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path) as running:
        yield running


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever loses a broker, or finds none, tries again almost at once."""
    monkeypatch.setattr(mqtt_link, "_MAX_WAIT_S", 0.1)
    real = paho.Client.reconnect_delay_set

    def almost_at_once(client: paho.Client, *_: Any, **__: Any) -> None:
        real(client, 0.05, 0.1)  # type: ignore[arg-type]  # seconds as a float serve as well

    monkeypatch.setattr(paho.Client, "reconnect_delay_set", almost_at_once)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is told sooner; that it takes three seconds is shown in virtual time."""
    monkeypatch.setattr(session, "SILENT_NS", 1_500 * MS)


@pytest.fixture(
    params=[pytest.param(5, marks=needs_mosquitto), pytest.param(3, marks=needs_mosquitto), "amqtt"]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, int]]:
    """(url, version that the link is told to speak)"""
    if request.param == "amqtt":
        embedded = EmbeddedBroker()
        embedded.start()
        yield embedded.url, 5
        embedded.stop()
    else:
        with mosquitto(tmp_path) as running:
            yield running.url, request.param


class Outsider:
    """Any other client of the broker."""

    def __init__(self, port: int, *subscriptions: str, client_id: str = "") -> None:
        self.heard: list[tuple[str, bytes, bool]] = []
        self.is_up = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, client_id=client_id)
        self.client.reconnect_delay_set()
        self.client.on_message = lambda _c, _d, m: self.heard.append((m.topic, m.payload, m.retain))

        def connected(client: paho.Client, *_: Any) -> None:
            for pattern in subscriptions:
                client.subscribe(pattern, 1)
            self.is_up.set()

        self.client.on_connect = connected
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        assert self.is_up.wait(5)

    def say(self, topic: str, payload: bytes, *, is_retained: bool = False) -> None:
        self.client.publish(topic, payload, qos=1, retain=is_retained).wait_for_publish(5)

    def __enter__(self) -> Outsider:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def down_frame(pad: FakePad, n: int, age_us: int = 0, key: bytes | None = None) -> bytes:
    us = (pad.device_us(time.monotonic_ns()) - age_us) % 2**32
    return wrap(body_of(Down(b=0, n=n, us=us)), key)


def test_a_game_of_two_pads_in_every_version(place: tuple[str, int]) -> None:
    url, version = place
    with (
        FakePad.on_mqtt(f"{url}/t7", "pad1") as one,
        FakePad.on_mqtt(f"{url}/t7", "pad2") as two,
        bridged(MqttLink(f"{url}/t7", version=version)) as table,
    ):
        table.wait_ready("pad1", "pad2")
        at_ns = time.monotonic_ns() + 80 * MS
        one.press(0, at_ns + 30 * MS)
        two.press(0, at_ns)
        first, second = sorted(table.wait_presses(2), key=lambda press: press.seen_ns)
        assert (first.source, second.source) == ("pad2", "pad1")
        for press, true_ns in ((first, at_ns), (second, at_ns + 30 * MS)):
            assert abs(press.seen_ns - true_ns) <= press.uncertainty_ns
        until(lambda: table.bridge.watermark_ns() > second.seen_ns, "the watermark", 2)
        cue = Cue(target="all", pattern="place_1", text="First")
        table.bridge.play(cue, {"ann": [("pad2", 0)]})
        until(lambda: two.played, "the light")
        assert one.played == ()


@needs_mosquitto
def test_trap_18_nodelay_is_set_on_every_socket(broker: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    real = MqttClient._on_socket_open

    def spy(client: MqttClient, paho_client: Any, data: Any, sock: socket.socket) -> None:
        real(client, paho_client, data, sock)
        opened.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(MqttClient, "_on_socket_open", spy)
    with FakePad.on_mqtt(broker.url), bridged(MqttLink(broker.url)) as table:
        table.wait_ready("pad1")
    assert len(opened) == 2
    assert all(opened)


@needs_mosquitto
def test_trap_18_a_burst_of_six_does_not_wait_for_acknowledgements(broker: Mosquitto) -> None:
    pads = [FakePad.on_mqtt(broker.url, f"pad{k}") for k in range(6)]
    late_ns: list[int] = []
    with bridged(MqttLink(broker.url)) as table:
        for pad in pads:
            pad.start()
        try:
            table.wait_ready(*(pad.id for pad in pads))
            for burst in range(5):
                base_ns = time.monotonic_ns() + 100 * MS
                for place, pad in enumerate(pads):
                    pad.press(0, base_ns + place * 5 * MS, hold_ns=50 * MS)
                count = 6 * (burst + 1)
                while len(table.presses) < count:
                    time.sleep(0.0005)
                late_ns.append(time.monotonic_ns() - base_ns - 25 * MS)
                time.sleep(0.1)
        finally:
            for pad in pads:
                pad.stop()
    # With Nagle's algorithm the third slam of such a burst is 40 to 80 ms late.
    assert sorted(late_ns)[len(late_ns) // 2] < 30 * MS


@needs_mosquitto
@pytest.mark.parametrize("version", [5, 3])
def test_trap_19_a_retained_press_is_refused_and_counted(broker: Mosquitto, version: int) -> None:
    with FakePad.on_mqtt(f"{broker.url}/t") as pad, Outsider(broker.port) as outsider:
        outsider.say("tada/1/t/pad1/ev", down_frame(pad, 900), is_retained=True)
        with bridged(MqttLink(f"{broker.url}/t", version=version)) as table:
            table.wait_ready("pad1")
            pad.press()
            table.wait_presses(1)
            # In MQTT 5 it is not even asked for; in 3.1.1 the broker sends it, marked.
            if version == 3:
                until(lambda: (device := table.device("pad1")) and device.counters.retained == 1, "counted")
            assert [press.n for press in table.presses] == [1]


@needs_mosquitto
def test_trap_20_a_second_delivery_is_dropped(broker: Mosquitto) -> None:
    with (
        FakePad.on_mqtt(f"{broker.url}/t") as pad,
        Outsider(broker.port) as outsider,
        bridged(MqttLink(f"{broker.url}/t")) as table,
    ):
        table.wait_ready("pad1")
        frame = down_frame(pad, 1)
        for _ in range(3):
            outsider.say("tada/1/t/pad1/ev", frame)
        until(lambda: (device := table.device("pad1")) and device.twins == 2, "twins counted")
        assert [press.n for press in table.presses] == [1]


@needs_mosquitto
@pytest.mark.usefixtures("hasty")
def test_trap_21_another_program_with_our_name_is_told_and_we_take_a_new_one(broker: Mosquitto) -> None:
    link = MqttLink(broker.url, client_id="tada-same")
    with FakePad.on_mqtt(broker.url) as pad, bridged(link) as table:
        table.wait_ready("pad1")
        with Outsider(broker.port, client_id="tada-same"):
            until(lambda: link.client.renamed == 1, "a new name")
            until(lambda: "took a new name" in link.status()[0].problem, "it is told")
            table.wait_ready("pad1")
            assert link.client.client_id != "tada-same"
            time.sleep(0.5)
            assert link.client.renamed == 1
            pad.press()
            table.wait_presses(1)


def test_trap_21_a_broker_that_says_so_need_not_say_it_thrice() -> None:
    client = MqttLink("mqtt://127.0.0.1", client_id="tada-same").client
    client.is_up = True
    taken_over = ReasonCode(PacketTypes.DISCONNECT, "Session taken over")
    client._on_disconnect(client._make(), None, None, taken_over, None)
    assert client.renamed == 1
    assert client.client_id != "tada-same"


@needs_mosquitto
@pytest.mark.usefixtures("hasty")
def test_trap_25_a_broker_that_restarts_brings_all_back(broker: Mosquitto) -> None:
    with FakePad.on_mqtt(broker.url, inputs=2) as pad, bridged(MqttLink(broker.url)) as table:
        table.wait_ready("pad1")
        pad.press(0, hold_ns=10**10)
        table.wait_presses(1)
        broker.kill()
        until(lambda: not table.is_ready("pad1"), "the loss is seen")
        (link,) = [link for link in table.bridge.links() if link.name.startswith("mqtt")]
        assert not link.is_up
        assert link.mend
        pad.press(1, hold_ns=10**10)  # while nobody listens
        time.sleep(0.3)
        broker.start()
        table.wait_ready("pad1", timeout_s=15)
        presses = table.wait_presses(2)
        assert [press.n for press in presses] == [1, 2]


@needs_mosquitto
def test_traps_22_to_24_waits_grow_after_short_lives_and_stay_within_bounds(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    client = MqttLink(broker.url).client
    monkeypatch.setattr(client._renew, "wait", lambda timeout=None: waits.append(timeout) or False)
    for _ in range(6):
        client._pause()
        client._short_lives += 1
    assert all(a <= b + 0.4 for a, b in itertools.pairwise(waits))
    assert waits[0] <= 0.4
    assert 5.0 <= waits[-1] <= 5.4
    assert len(set(waits)) == len(waits)
    paho_client = client._make()
    assert (paho_client._reconnect_min_delay, paho_client._reconnect_max_delay) == (1, 5)
    assert 0 < paho_client._max_queued_messages <= 1_000


@pytest.mark.usefixtures("hasty")
def test_it_starts_while_the_broker_is_down_and_finds_it_later() -> None:
    port = free_port()
    with bridged(MqttLink(f"mqtt://127.0.0.1:{port}")) as table:
        until(lambda: "nothing answers" in table.bridge.links()[0].problem, "the problem is told")
        assert table.bridge.links()[0].mend
        embedded = EmbeddedBroker(port)
        embedded.start()
        try:
            with FakePad.on_mqtt(embedded.url):
                table.wait_ready("pad1", timeout_s=20)
        finally:
            embedded.stop()


@needs_mosquitto
def test_a_pad_that_dies_is_lost_by_its_will(broker: Mosquitto) -> None:
    with FakePad.on_mqtt(broker.url) as pad, bridged(MqttLink(broker.url)) as table:
        table.wait_ready("pad1")
        client = pad.wire._client  # type: ignore[attr-defined]  # the test pulls its cable
        sock = client._client.socket()
        sock.shutdown(socket.SHUT_RDWR)
        until(lambda: "lost" in table.states("pad1"), "the will")
        table.wait_ready("pad1")


@needs_mosquitto
def test_signed_pads_in_mode_strict(broker: Mosquitto) -> None:
    url = f"{broker.url}/t"
    with (
        FakePad.on_mqtt(url, "pad1", key=KEY) as pad,
        FakePad.on_mqtt(url, "pad2") as unsigned,
        Outsider(broker.port) as outsider,
        bridged(MqttLink(url), keys={"pad1": KEY, "pad2": KEY}, mode="strict") as table,
    ):
        table.wait_ready("pad1")
        outsider.say("tada/1/t/pad1/ev", down_frame(pad, 70))
        outsider.say("tada/1/t/pad1/ev", down_frame(pad, 71, key=b"wrong"))
        unsigned.press()
        pad.press()
        table.wait_presses(1)
        until(lambda: (device := table.device("pad1")) and device.counters.bad_mac == 2, "two refused")
        assert [(press.source, press.n) for press in table.presses] == [("pad1", 1)]
        until(lambda: table.link("pad2"), "the unsigned pad is told")
        link = table.link("pad2")
        assert link is not None
        assert "does not sign" in link.problem
        table.bridge.set_mode("open")
        table.wait_ready("pad1", "pad2")


@needs_mosquitto
def test_a_key_that_is_not_known_is_told(broker: Mosquitto) -> None:
    with (
        FakePad.on_mqtt(broker.url, "pad1", key=KEY),
        bridged(MqttLink(broker.url), mode="strict") as table,
    ):
        until(lambda: table.link("pad1"), "told")
        link = table.link("pad1")
        assert link is not None
        assert "has no key here" in link.problem
        table.bridge.set_key("pad1", KEY)
        table.wait_ready("pad1")


@needs_mosquitto
def test_who_speaks_in_anothers_name_is_counted(broker: Mosquitto) -> None:
    url = f"{broker.url}/t"
    with (
        FakePad.on_mqtt(url, "pad1") as pad,
        Outsider(broker.port) as outsider,
        bridged(MqttLink(url)) as table,
    ):
        table.wait_ready("pad1")
        hello = b"".join(wrap(body_of(message)) for message in pad._model.hello(0))
        outsider.say("tada/1/t/pad9/$description", hello)
        outsider.say("tada/1/t/pad9/ev", down_frame(pad, 1))
        outsider.say("tada/1/t/PAD9/ev", down_frame(pad, 1))
        outsider.say("tada/1/t/pad1/ev", b"\xff" * 40_000)
        outsider.say("tada/1/t/pad1/ev", b"")
        pad.press()
        (press,) = table.wait_presses(1)
        assert press.source == "pad1"
        assert [device.id for device in table.bridge.devices()] == ["pad1"]


@needs_mosquitto
def test_the_verdict_is_told_to_all(broker: Mosquitto) -> None:
    with (
        Outsider(broker.port, "tada/1/t/verdict") as outsider,
        bridged(MqttLink(f"{broker.url}/t")) as table,
    ):
        until(lambda: table.bridge.links()[0].is_up, "connected")
        told = Verdict(round=2, rank=(("pad1",),), ties=0, window_ms=1.0, unc_ms=0.4, final=True)
        table.bridge.tell_verdict(told)
        until(lambda: outsider.heard, "the verdict")
        topic, payload, is_retained = outsider.heard[0]
        assert (topic, is_retained) == ("tada/1/t/verdict", False)
        assert json.loads(payload)["rank"] == [["pad1"]]


@needs_mosquitto
def test_user_and_password(tmp_path: Path) -> None:
    tool = shutil.which("mosquitto_passwd")
    if tool is None:
        pytest.skip("NOT RUN: mosquitto_passwd is missing; apt-get install mosquitto")
    passwords = tmp_path / "passwords"
    subprocess.run([tool, "-b", "-c", str(passwords), "ann", "p@ss"], check=True, capture_output=True)
    passwords.chmod(0o644)
    with mosquitto(tmp_path, f"password_file {passwords}", "allow_anonymous false", "user root") as broker:
        with bridged(MqttLink(broker.url)) as table:
            until(lambda: "refuses us" in table.bridge.links()[0].problem, "refused")
            assert "password" in table.bridge.links()[0].mend
        url = f"mqtt://ann:p%40ss@127.0.0.1:{broker.port}"
        with FakePad.on_mqtt(url), bridged(MqttLink(url)) as table:
            table.wait_ready("pad1")
            assert "ss@" not in str(table.bridge.links()) + str(table.bridge.devices())


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "is no broker's address"),
        ("http://host", "is no broker's address"),
        ("mqtt://", "is no broker's address"),
        ("mqtt://host:0", "is no broker's address"),
        ("mqtt://host:99999", "port"),
        ("mqtt://user:secret@host:x", "port"),
        ("mqtt://host/Table One", "table"),
        ("mqtt://host/a/b", "table"),
    ],
)
def test_a_bad_address_is_refused_in_one_line_without_its_secret(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        MqttLink(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@needs_mosquitto
def test_what_is_published_goes_out_while_pahos_thread_is_held_up(broker: Mosquitto) -> None:
    is_held, go_on, came_up = threading.Event(), threading.Event(), threading.Event()

    def hold(_topic: str, _payload: bytes, _is_retained: bool) -> None:
        is_held.set()
        go_on.wait(10)

    client = MqttClient(
        MqttAddress.parse(broker.url), name="prompt", subscriptions=(Subscription("held", 0),), hear=hold,
        came_up=came_up.set, went_down=lambda _reason: None, will=("gone", b"lost"),
    )  # fmt: skip
    with Outsider(broker.port, "told") as outsider:
        client.start()
        assert came_up.wait(5)
        # That it is up says no more than that it has asked for its topics.
        until(lambda: outsider.say("held", b"x") or is_held.is_set(), "paho's thread is held up")
        try:
            assert client.publish("told", b"now", qos=0)
            until(lambda: outsider.heard == [("told", b"now", False)], "it came")
        finally:
            go_on.set()
            client.stop()


def test_what_goes_wrong_in_a_callback_is_logged_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    broker = EmbeddedBroker()
    broker.start()
    link = MqttLink(broker.url)
    try:
        with FakePad.on_mqtt(broker.url), bridged(link) as table:
            table.wait_ready("pad1")
            assert [record for record in caplog.records if "firmware_bridge" in record.name] == []
            link.client._hear = lambda *_: 1 / 0  # type: ignore[assignment]  # as a fault of ours would
            until(lambda: "division by zero" in caplog.text, "logged")
            assert link.client.is_up
    finally:
        broker.stop()


def test_an_address() -> None:
    assert MqttAddress.parse("mqtt://a:b%2Fc@host:1884/t-1") == MqttAddress("host", 1884, "t-1", "a", "b/c")
    assert MqttAddress.parse("mqtt://host") == MqttAddress("host")
    assert MqttAddress.parse("mqtt://[::1]:1884/x").host == "::1"


@contextmanager
def pad_process(url: str) -> Iterator[subprocess.Popen[str]]:
    """A pad in a process of its own, which can be killed and frozen."""
    code = (
        "import sys\n"
        "from firmware_bridge.fake_device import FakePad\n"
        "with FakePad.on_mqtt(sys.argv[1], 'far'):\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, url], stdin=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@needs_mosquitto
@pytest.mark.usefixtures("impatient")
def test_a_pad_that_is_killed_is_lost_and_one_that_freezes_is_silent(broker: Mosquitto) -> None:
    with bridged(MqttLink(broker.url)) as table, pad_process(broker.url) as process:
        table.wait_ready("far")
        process.send_signal(signal.SIGSTOP)
        until(lambda: table.states("far")[-1] == "silent", "silent", 8)
        process.send_signal(signal.SIGCONT)
        table.wait_ready("far")
        process.send_signal(signal.SIGKILL)
        until(lambda: table.states("far")[-1] == "lost", "lost", 3)


@needs_mosquitto
@pytest.mark.usefixtures("impatient")
def test_a_broker_that_freezes_makes_all_silent_until_it_thaws(broker: Mosquitto) -> None:
    with FakePad.on_mqtt(broker.url) as pad, bridged(MqttLink(broker.url)) as table:
        table.wait_ready("pad1")
        assert broker.process is not None
        broker.process.send_signal(signal.SIGSTOP)
        pressed_ns = time.monotonic_ns()
        pad.press()
        until(lambda: table.states("pad1")[-1] == "silent", "silent", 8)
        broker.process.send_signal(signal.SIGCONT)
        table.wait_ready("pad1")
        (press,) = table.wait_presses(1)
        assert abs(press.seen_ns - pressed_ns) < 50 * MS + press.uncertainty_ns


class _CountedWaits(threading.Event):
    """An event that says how long it was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return super().wait(timeout)


def client_of(broker: Mosquitto, *patterns: str, hear: Callable[[], None] = lambda: None) -> MqttClient:
    return MqttClient(
        MqttAddress.parse(broker.url),
        name="one",
        subscriptions=tuple(Subscription(pattern, 0) for pattern in patterns),
        hear=lambda _topic, _payload, _is_retained: hear(),
        came_up=lambda: None,
        went_down=lambda _reason: None,
        will=("tada/one", b"lost"),
    )


@needs_mosquitto
def test_who_slept_while_it_came_up_keeps_its_connection(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_link, "_GREETING_S", 4.0)
    client = client_of(broker)
    client._renew = waits = _CountedWaits()
    connected = client._on_connect

    def once_somebody_waits(*more: Any) -> None:
        until(lambda: waits.waits, "a first wait")
        connected(*more)

    monkeypatch.setattr(client, "_on_connect", once_somebody_waits)
    client.start()
    until(lambda: client.is_up, "up")
    # A process that was frozen finds the greeting long overdue although it was answered.
    client._opened_s -= 60
    until(lambda: len(waits.waits) > 1, "awake again")
    assert waits.waits == [1.0, None]
    assert client.is_up
    assert client.version == 5
    client.stop()


@needs_mosquitto
def test_who_publishes_while_the_connection_ends_waits_for_nobody(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_hearing, may_go_on, is_writing, is_leaving = (threading.Event() for _ in range(4))

    def hear() -> None:
        is_hearing.set()
        may_go_on.wait(10)

    disconnect, write = paho.Client.disconnect, paho.Client._packet_write

    def leave(client: paho.Client, *args: Any, **more: Any) -> Any:
        done = disconnect(client, *args, **more)
        is_leaving.set()
        return done

    def pause_and_write(client: paho.Client) -> Any:
        if threading.current_thread() is publisher:
            is_writing.set()
            is_leaving.wait(1)  # as soon as a goodbye could be queued before it writes, it is
        return write(client)

    client = client_of(broker, "news", hear=hear)
    client.start()
    until(lambda: client.is_up, "up")
    with Outsider(broker.port) as outsider:
        until(lambda: is_hearing.is_set() or outsider.say("news", b"x"), "in its callback")
    publisher = threading.Thread(target=client.publish, args=("tada/x", b"1"), kwargs={"qos": 0}, daemon=True)
    monkeypatch.setattr(paho.Client, "disconnect", leave)
    monkeypatch.setattr(paho.Client, "_packet_write", pause_and_write)
    publisher.start()
    assert is_writing.wait(10)
    end = threading.Thread(target=client.stop, daemon=True)
    end.start()
    publisher.join(5)
    assert not publisher.is_alive(), "it waits for a callback that may wait for it"
    may_go_on.set()
    end.join(5)
    assert not end.is_alive()
