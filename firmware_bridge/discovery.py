"""Finding a broker in the local network, and being found by pads. The only module that imports zeroconf.

What a network announces is a stranger's word: names and addresses are checked before they are used, and no
password is ever sent to a broker that was found this way.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence

import msgspec
from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, ServiceStateChange, Zeroconf

from firmware_bridge import topics
from firmware_bridge.mqtt_link import MqttLink
from firmware_bridge.wire import Arrival, Kind, LinkStatus, RaceClass

MQTT = "_mqtt._tcp.local."
TADA = "_tada._tcp.local."
AUTO = "auto"
_LOOK_S = 0.2
_SETTLE_S = 1.5
_SEARCH_S = 30.0
_RETRY_S = 3.0
_ASK_MS = 1500
_MAX_FOUND = 32
_log = logging.getLogger(__name__)


class Broker(msgspec.Struct, frozen=True, order=True):
    """A broker that announces itself. `host` is a numeric address; `table` is empty when it names none."""

    host: str
    port: int
    table: str = ""

    @property
    def url(self) -> str:
        """The address as `MqttLink` takes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"mqtt://{host}:{self.port}/{self.table or 'table'}"


class Finder:
    """Listens for ``_mqtt._tcp``, and for tables (``_tada._tcp``) that say which broker they use.

    `interfaces`: addresses of this machine to listen on, None for all.
    """

    def __init__(self, interfaces: Sequence[str] | None = None) -> None:
        self._interfaces = interfaces
        self._found: dict[str, Broker] = {}
        self._lock = threading.Lock()
        self._zeroconf: Zeroconf | None = None

    def start(self) -> None:
        """Begin to listen, with nothing found; may be called again after `stop`. Raises OSError when no network can be
        listened on."""
        with self._lock:
            self._found.clear()
        self._zeroconf = _opened(self._interfaces)
        ServiceBrowser(self._zeroconf, [MQTT, TADA], handlers=[self._changed])

    def stop(self) -> None:
        """Listen no more; may be called twice."""
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf is not None:
            zeroconf.close()

    def brokers(self) -> tuple[Broker, ...]:
        """The brokers that are announced now, each address once, sorted."""
        best: dict[tuple[str, int], Broker] = {}
        with self._lock:
            for broker in self._found.values():
                if broker.table or (broker.host, broker.port) not in best:
                    best[broker.host, broker.port] = broker
        return tuple(sorted(best.values()))

    def _changed(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        broker = None
        if state_change is not ServiceStateChange.Removed:
            with contextlib.suppress(Exception):  # a stranger's record may be anything
                info = zeroconf.get_service_info(service_type, name, _ASK_MS)
                broker = None if info is None else broker_in(service_type, info)
        with self._lock:
            if broker is None:
                self._found.pop(name, None)
            elif name in self._found or len(self._found) < _MAX_FOUND:
                self._found[name] = broker


def broker_in(service_type: str, info: ServiceInfo) -> Broker | None:
    """The broker that an announcement names, None when it names none that could be."""
    facts = {
        key.decode("ascii", "replace"): (value or b"").decode("ascii", "replace")
        for key, value in info.properties.items()
    }
    table = facts.get("table", "")
    table = table if topics.is_id(table) else ""
    if service_type == TADA:
        host, _, port = facts.get("broker", "").rpartition(":")
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return None
        is_port = port.isdecimal() and 0 < int(port) < 65536
        return Broker(host, int(port), table) if is_port else None
    hosts = info.parsed_addresses(IPVersion.V4Only) or info.parsed_addresses(IPVersion.V6Only)
    return Broker(hosts[0], info.port, table) if hosts and info.port else None


class Beacon:
    """Tells the network that a table is here: where its pages are and which broker its pads go to."""

    def __init__(
        self, name: str, port: int, addresses: Sequence[str], *, table: str = "", broker: str = ""
    ) -> None:
        """`port`: of the pages. `addresses`: IPv4, of this machine. `broker`: ``ADDRESS:PORT``, empty for none.

        `info` is what will be told.
        """
        label = "".join(letter for letter in name if letter.isalnum() or letter in " -")[:40] or "table"
        facts = {"p": "1", **({"table": table} if table else {}), **({"broker": broker} if broker else {})}
        self._addresses = list(addresses)
        self.info = ServiceInfo(
            TADA,
            f"{label}.{TADA}",
            addresses=[socket.inet_aton(address) for address in addresses],
            port=port,
            properties=facts,
            server=f"{socket.gethostname().partition('.')[0]}.local.",
        )
        self._zeroconf: Zeroconf | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to announce; returns at once, since a name is asked for around the network first. What goes wrong
        is logged: a table does without."""
        self._thread = threading.Thread(target=self._announce, name="beacon", daemon=True)
        self._thread.start()

    def _announce(self) -> None:
        try:
            self._zeroconf = _opened(self._addresses)
            self._zeroconf.register_service(self.info, allow_name_change=True)
        except Exception as error:
            _log.warning("the table cannot be announced: %s", error or type(error).__name__)

    def stop(self) -> None:
        """Take it back; may be called twice."""
        if self._thread is not None:
            self._thread.join()
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf is not None:
            with contextlib.suppress(Exception):  # the network may be gone: then nobody hears it anyway
                zeroconf.unregister_service(self.info)
            zeroconf.close()


def _opened(interfaces: Sequence[str] | None) -> Zeroconf:
    if interfaces is None:
        return Zeroconf(ip_version=IPVersion.V4Only)
    return Zeroconf(interfaces=list(interfaces), ip_version=IPVersion.V4Only)


class AutoMqttLink:
    """The one broker that announces itself, found whenever it comes; then an `MqttLink`.

    With several brokers none is chosen: the status names them.
    """

    name = "mqtt auto"
    is_trusted = False
    race_class: RaceClass = "ranked"

    def __init__(self, finder: Finder | None = None) -> None:
        self._finder = finder or Finder()
        self._link: MqttLink | None = None
        self._problem = ""
        self._is_stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The broker that is used, empty while none is."""
        return "" if self._link is None else self._link.address.shown

    def start(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        """Begin to look; see `wire.Link`."""
        self._thread = threading.Thread(target=self._look, args=(post, now_ns), name="mqtt-auto", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Disconnect; see `wire.Link`."""
        self._is_stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self._link is not None:
            self._link.stop()

    def send(self, route: str, frames: bytes, kind: Kind) -> bool:
        """See `MqttLink.send`."""
        return self._link is not None and self._link.send(route, frames, kind)

    def tell_table(self, frame: bytes) -> bool:
        """See `MqttLink.tell_table`."""
        return self._link is not None and self._link.tell_table(frame)

    def keep(self, route: str) -> None:
        """Topics are never given up; see `wire.Link`."""

    def status(self) -> tuple[LinkStatus, ...]:
        """One line; see `wire.Link`."""
        if self._link is not None:
            return self._link.status()
        mend = "name one with --mqtt mqtt://HOST, or have it announce itself as _mqtt._tcp"
        return (LinkStatus(self.name, False, self._problem or "no broker announces itself yet", mend),)

    def _look(self, post: Callable[[Arrival], None], now_ns: Callable[[], int]) -> None:
        broker = None
        while broker is None and not self._is_stopping.is_set():
            # Again and again: whoever listens hears the networks that were there when it began.
            try:
                self._finder.start()
                broker = self._only_one()
            except OSError as error:
                self._problem = f"no network to look for a broker in ({error.strerror or error})"
                self._is_stopping.wait(_RETRY_S)
            finally:
                self._finder.stop()
        if broker is not None:
            _log.info("the broker %s announces itself", broker.url)
            link = MqttLink(broker.url)
            link.start(post, now_ns)
            self._link = link

    def _only_one(self) -> Broker | None:
        """Wait until exactly one broker is announced for a while; None when stopped, or not within _SEARCH_S."""
        since_s = time.monotonic()
        ends_s = since_s + _SEARCH_S
        last: tuple[Broker, ...] = ()
        while time.monotonic() < ends_s and not self._is_stopping.wait(_LOOK_S):
            found = self._finder.brokers()
            if found != last:
                since_s, last = time.monotonic(), found
            if len(found) > 1:
                self._problem = f"several brokers announce themselves: {', '.join(b.url for b in found)}"
            elif time.monotonic() - since_s >= _SETTLE_S:
                self._problem = ""
                if found:
                    return found[0]
        return None
