"""MQTT: the client that host and fake pads share, and the host's link. The only module that imports paho.

`TCP_NODELAY` is set on every socket: with Nagle's algorithm and delayed acknowledgements the second slam of
a burst waits 40 ms. Sessions are clean and events never retained, so nothing old is played again. A publish
while offline is never repeated by us: paho keeps QoS 1 messages and sends them after the reconnect.
"""

from __future__ import annotations

import contextlib
import logging
import math
import random
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from firmware_bridge import topics
from firmware_bridge.wire import Arrival, Closed, Heard, Kind, LinkStatus, Opened, RaceClass, Refused

_paho_log = logging.getLogger(f"{__name__}.paho")
# It tells each loss of a connection as an error; the link says that in its own words. Exceptions are ours.
_paho_log.addFilter(lambda record: record.getMessage().startswith("Caught exception"))

KEEPALIVE_S = 10
_HEALTHY_S = 10.0
_KICKS = 3
_GREETING_S = 1.0
_MAX_WAIT_S = 5.0
_MAX_QUEUED = 1_000
_MAX_PAYLOAD = 32_768
_MAX_DEVICES = 64
_TAKEN_OVER = 142
_V5_UNSUPPORTED = 132
_COMMAND_EXPIRY_S = 2


class MqttAddress(msgspec.Struct, frozen=True):
    """Where a broker is and which table's topics are used there."""

    host: str
    port: int = 1883
    table: str = "table"
    user: str | None = None
    password: str | None = None

    @classmethod
    def parse(cls, url: str) -> MqttAddress:
        """From ``mqtt://[user:password@]host[:port][/table]``. Raises ValueError with a line that says what
        is wrong."""
        form = "mqtt://[user:password@]host[:port][/table]"
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            raise ValueError(
                f"the port in {_without_secret(url)} is not a number up to 65535: {form}"
            ) from None
        if parts.scheme != "mqtt" or not parts.hostname or port == 0:
            raise ValueError(f"{_without_secret(url)} is no broker's address; write {form}")
        table = parts.path.strip("/") or "table"
        if not topics.is_id(table):
            raise ValueError(f"the table in {_without_secret(url)} must be 1 to 24 of a-z, 0-9 and -: {form}")
        return cls(
            parts.hostname,
            port or 1883,
            table,
            unquote(parts.username) if parts.username else None,
            unquote(parts.password) if parts.password else None,
        )

    @property
    def shown(self) -> str:
        """The address without its secrets."""
        return f"mqtt://{self.host}:{self.port}/{self.table}"


class Subscription(msgspec.Struct, frozen=True):
    """A topic filter; `wants_retained`: also what the broker kept."""

    pattern: str
    qos: int
    wants_retained: bool = False


class _Prompt(paho.Client):
    """Sends in the thread that publishes: paho's own would have to wake up for it first."""

    def __init__(self, *args: Any, **more: Any) -> None:
        # Again by the same thread: what is told of a connection's end may publish.
        self._writing = threading.RLock()
        super().__init__(*args, **more)

    def _packet_write(self) -> MQTTErrorCode:
        with self._writing:
            return super()._packet_write()

    def disconnect(self, *args: Any, **more: Any) -> MQTTErrorCode:
        # No publisher may still be on its way to the line: whoever writes a goodbye tells of the connection's
        # end and would wait for paho's thread, which may be waiting for that publisher.
        with self._writing:
            return super().disconnect(*args, **more)

    def send_now(self) -> None:
        """Send what is queued, as far as the line takes it; never waits. Goodbyes, and what went wrong, are
        for paho's thread."""
        with self._writing:
            if self.is_connected():
                self._packet_write()


class MqttClient:
    """A connection that is kept up: MQTT 5, or 3.1.1 where the broker knows no better.

    `hear(topic, payload, is_retained)`, `came_up()` and `went_down(reason)` are called in paho's thread.
    """

    def __init__(
        self,
        address: MqttAddress,
        *,
        name: str,
        subscriptions: tuple[Subscription, ...],
        hear: Callable[[str, bytes, bool], None],
        came_up: Callable[[], None],
        went_down: Callable[[str], None],
        will: tuple[str, bytes],
        version: int = 5,
        client_id: str | None = None,
    ) -> None:
        self.address = address
        self.problem = f"{address.shown} has not answered yet"
        self.mend = "start the broker, or check host and port"
        self.is_up = False
        self.version = version
        self.client_id = client_id or self._new_id(name)
        self.renamed = 0
        self._name = name
        self._subscriptions = subscriptions
        self._hear = hear
        self._came_up = came_up
        self._went_down = went_down
        self._will = will
        self._client: _Prompt | None = None
        self._up_since_s = 0.0
        self._opened_s = math.inf
        self._short_lives = 0
        self._renew = threading.Event()
        self._is_stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to connect; returns at once, also while the broker is down."""
        self._thread = threading.Thread(target=self._supervise, name=f"mqtt-{self._name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Disconnect (the will is not sent) and end all threads; may be called twice."""
        self._is_stopping.set()
        self._renew.set()
        if self._thread is not None:
            self._thread.join()

    def publish(
        self, topic: str, payload: bytes, *, qos: int, is_retained: bool = False, expiry_s: int | None = None
    ) -> bool:
        """Send; never waits. False when it could not even be queued (QoS 0 while offline, or a full
        queue)."""
        client = self._client
        if client is None:
            return False
        properties = None
        if self.version == 5 and expiry_s is not None:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho's own gap
            properties.MessageExpiryInterval = expiry_s
        sent = client.publish(topic, payload, qos=qos, retain=is_retained, properties=properties)
        client.send_now()
        # "Not connected" for QoS 1 means: kept, and sent after the reconnect. To repeat it would double it.
        kept = qos > 0 and sent.rc == paho.MQTT_ERR_NO_CONN
        return sent.rc == paho.MQTT_ERR_SUCCESS or kept

    def _supervise(self) -> None:
        while True:
            self._renew.clear()
            if (
                self._is_stopping.is_set()
            ):  # looked at after the clearing, or a stop in between were overheard
                return
            client = self._client = self._make()
            client.loop_start()
            while not self._renew.wait(_GREETING_S / 4 if self._may_be_mute else None):
                # Asked again: it may have come up while we slept, and slept long.
                if self._may_be_mute and time.monotonic() - self._opened_s > _GREETING_S:
                    self._fall_back(client)
            if self._is_stopping.is_set() and self.is_up:
                self._say_goodbye(client)
            client.disconnect()
            client.loop_stop()
            self.is_up = False

    @property
    def _may_be_mute(self) -> bool:
        """Some brokers do not even answer a greeting in MQTT 5: then silence means no."""
        return self.version == 5 and not self._up_since_s

    def _say_goodbye(self, client: paho.Client) -> None:
        topic, _ = self._will
        info = client.publish(topic, b"disconnected", qos=1, retain=True)
        with contextlib.suppress(ValueError, RuntimeError):
            info.wait_for_publish(0.5)

    def _make(self) -> _Prompt:
        is_v5 = self.version == 5
        client = _Prompt(
            CallbackAPIVersion.VERSION2,
            client_id=self.client_id,
            clean_session=None if is_v5 else True,
            protocol=MQTTProtocolVersion.MQTTv5 if is_v5 else MQTTProtocolVersion.MQTTv311,
        )
        client.enable_logger(_paho_log)
        client.suppress_exceptions = True  # they are logged; the connection goes on
        client.reconnect_delay_set(1, int(_MAX_WAIT_S))
        client.max_queued_messages_set(_MAX_QUEUED)
        if self.address.user is not None:
            client.username_pw_set(self.address.user, self.address.password)
        client.will_set(self._will[0], self._will[1], qos=1, retain=True)
        client.on_socket_open = self._on_socket_open
        client.on_connect = self._on_connect
        client.on_connect_fail = self._on_connect_fail
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        if is_v5:
            client.connect_async(self.address.host, self.address.port, KEEPALIVE_S, clean_start=True)
        else:
            client.connect_async(self.address.host, self.address.port, KEEPALIVE_S)
        return client

    def _on_socket_open(self, _client: paho.Client, _data: Any, opened: Any) -> None:
        with contextlib.suppress(OSError):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._opened_s = time.monotonic()

    def _on_connect(
        self, client: paho.Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any
    ) -> None:
        if reason.is_failure:
            self._refused(client, reason)
            return
        self._up_since_s = time.monotonic()
        # Here and not once at the start: a broker that was restarted knows no subscription of ours.
        for wanted in self._subscriptions:
            if self.version == 5:
                options = SubscribeOptions(qos=wanted.qos, retainHandling=0 if wanted.wants_retained else 2)
                client.subscribe(wanted.pattern, options=options)
            else:
                client.subscribe(wanted.pattern, wanted.qos)
        self.is_up = True
        self.problem = self.mend = ""
        self._came_up()

    def _refused(self, client: paho.Client, reason: ReasonCode) -> None:
        if self.version == 5 and reason.value == _V5_UNSUPPORTED:
            self._fall_back(client)
            return
        self.problem = f"{self.address.shown} refuses us: {str(reason).lower()}"
        self.mend = "check user and password in the address, and the broker's list of users"

    def _fall_back(self, client: paho.Client) -> None:
        self.version = 3
        self._renew_now(client)

    def _renew_now(self, client: paho.Client) -> None:
        """Have the supervisor make a new client; this one must not sleep through its own back-off first."""
        client.disconnect()
        self._renew.set()

    def _on_connect_fail(self, _client: paho.Client, _data: Any) -> None:
        self.problem = f"nothing answers at {self.address.shown}"
        self.mend = "start the broker, or check host and port"
        self._opened_s = math.inf
        self._pause()

    def _on_disconnect(
        self, client: paho.Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any
    ) -> None:
        if self._is_stopping.is_set() or self._renew.is_set():
            return
        was_up, self.is_up = self.is_up, False
        if not was_up:
            # A broker that knows no MQTT 5 may say so by hanging up on the greeting.
            if self._may_be_mute:
                self._fall_back(client)
                return
            self._pause()
            return
        was_short = time.monotonic() - self._up_since_s < _HEALTHY_S
        self._short_lives = self._short_lives + 1 if was_short else 0
        self.problem = f"{self.address.shown} hung up: {str(reason).lower()}"
        self.mend = "check that the broker runs; we try again by ourselves"
        self._went_down(self.problem)
        if reason.value == _TAKEN_OVER or self._short_lives == _KICKS:
            # Two programs of one name throw each other out for ever; old brokers do not even say why.
            self.client_id = self._new_id(self._name)
            self.renamed += 1
            self._short_lives = 0
            self._renew_now(client)
            return
        self._pause()

    def _pause(self) -> None:
        """Wait a little in paho's thread, on top of paho's own back-off: jitter against reconnect storms,
        and more after each life that was short, which paho would take for a success."""
        extra_s = min(_MAX_WAIT_S, float(2**self._short_lives - 1))
        self._renew.wait(extra_s + random.uniform(0.0, 0.4))

    def _on_message(self, _client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            return
        if len(message.payload) <= _MAX_PAYLOAD:
            self._hear(topic, bytes(message.payload), message.retain)

    @staticmethod
    def _new_id(name: str) -> str:
        return f"tada-{name}-{secrets.token_hex(4)}"


class MqttLink:
    """The host's link to all pads of one table on one broker. A route is a device's id.

    Raises ValueError when the address is none.
    """

    is_trusted = False
    race_class: RaceClass = "ranked"

    def __init__(self, url: str, *, version: int = 5, client_id: str | None = None) -> None:
        self.address = MqttAddress.parse(url)
        self.name = self.address.shown
        self._post: Callable[[Arrival], None] = lambda _arrival: None
        self._now_ns: Callable[[], int] = time.monotonic_ns
        self._routes: set[str] = set()
        table = self.address.table
        self.client = MqttClient(
            self.address,
            name=table,
            subscriptions=tuple(
                Subscription(
                    topics.pattern(table, channel),
                    qos=0 if channel in (topics.HEARTBEAT, topics.SYNC_REPLY) else 1,
                    wants_retained=channel in topics.RETAINED,
                )
                for channel in topics.FROM_DEVICE
            ),
            hear=self._hear,
            came_up=lambda: None,
            went_down=self._lose_all,
            will=(topics.host_state(table), b"lost"),
            version=version,
            client_id=client_id,
        )

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        """Begin to connect; see `wire.Link`."""
        self._post, self._now_ns = post, now_ns
        self.client.start()

    def stop(self) -> None:
        """Disconnect; see `wire.Link`."""
        self.client.stop()

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        """Clock questions and acknowledgements go out with QoS 0, commands with QoS 1; see `wire.Link`."""
        table = self.address.table
        if kind == "sync":
            return self.client.publish(topics.topic(table, route, topics.SYNC_REQUEST), frames, qos=0)
        if not self.client.is_up:
            return False
        channel = topics.topic(table, route, topics.COMMANDS)
        if kind == "ack":
            return self.client.publish(channel, frames, qos=0)
        return self.client.publish(channel, frames, qos=1, expiry_s=_COMMAND_EXPIRY_S)

    def tell_table(self, frame: bytes) -> bool:
        """Publish on the table's verdict topic; see `wire.Link`."""
        return self.client.publish(topics.verdict(self.address.table), frame, qos=1)

    def keep(self, route: str) -> None:
        """Topics are never given up; see `wire.Link`."""

    def status(self) -> tuple[LinkStatus, ...]:
        """One line for the broker; see `wire.Link`."""
        client = self.client
        problem, mend = client.problem, client.mend
        if client.is_up and client.renamed:
            problem = f"we were thrown out of {self.name} again and again, and took a new name"
            mend = "look for a second copy of this program that uses the same name"
        return (LinkStatus(self.name, client.is_up, problem, mend),)

    def _hear(self, name: str, payload: bytes, is_retained: bool) -> None:
        at_ns = self._now_ns()
        topic = topics.parse(name)
        if topic is None or topic.table != self.address.table:
            return
        if topic.channel == topics.STATE:
            self._hear_state(topic.device, payload)
            return
        if not self._open(topic.device):
            return
        if is_retained:
            # What a broker kept is no news: a description only shows that the device exists and may be asked.
            if topic.channel not in topics.RETAINED:
                self._post(Refused(topic.device))
            return
        self._post(Heard(topic.device, payload, at_ns, is_whole=True))

    def _open(self, device: str) -> bool:
        """Is there a route to the device, or can there be one? Anyone may invent names: there is an end to
        them."""
        if device not in self._routes:
            if len(self._routes) >= _MAX_DEVICES:
                return False
            self._routes.add(device)
            self._post(Opened(device, device))
        return True

    def _hear_state(self, device: str, payload: bytes) -> None:
        if payload in (b"ready", b"init"):
            self._open(device)
        elif device in self._routes and payload in (b"lost", b"disconnected", b"sleeping"):
            self._routes.discard(device)
            self._post(Closed(device, f"the broker says it is {payload.decode()}"))

    def _lose_all(self, reason: str) -> None:
        routes, self._routes = self._routes, set()
        for device in sorted(routes):
            self._post(Closed(device, reason))


def _without_secret(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"
