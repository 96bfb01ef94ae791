"""Wi-Fi and MQTT: topics, last will, connecting again. Runs on boards only; needs micropython-lib's umqtt.simple.

Everything is published with QoS 0: umqtt would stand still until the broker answers, and a pad that stands still says
nothing. Nothing is lost by it, since the host acknowledges each event by its number and asks for what is missing.
"""

from time import ticks_diff, ticks_ms

import network
from umqtt.simple import MQTTClient

_RETRY_MS = 3000
_PING_MS = 5000
_PATIENCE_S = 2
_CHANNELS = {
    b"hello": b"$description",
    b"in": b"$description",
    b"out": b"$description",
    b"dn": b"ev",
    b"up": b"ev",
    b"hit": b"ev",
    b"die": b"ev",
    b"sync": b"sync/res",
}  # all else goes to hb


def channel_of(line):
    """Where a line belongs; its type is the first value of its JSON."""
    return _CHANNELS.get(line[6 : line.find(b'"', 6)], b"hb")


def _close(client):
    try:
        client.sock.close()  # a board has few sockets
    except (AttributeError, OSError):  # it never had one, or it is closed
        pass


class Radio:
    """A pad on a broker, while it is read.

    `read` and `write` stand still for _PATIENCE_S at most for each thing that the broker does not take or finish: a
    connection (tried again after _RETRY_MS), a message to it. Two waits have no limit, because umqtt gives none: until
    a broker's name is looked up, and for the rest of a message that has begun.
    """

    def __init__(self, settings):
        self._settings = settings
        self._heard = []
        self._client = None
        self._tried_ms = ticks_ms() - _RETRY_MS
        self._pinged_ms = 0
        self.pad = None
        self._root = ("tada/1/%s/%s/" % (settings.TABLE, settings.ID)).encode()
        self._wlan = network.WLAN(network.STA_IF)
        self._wlan.active(True)
        # A sleeping radio adds up to a second to each message.
        try:
            self._wlan.config(pm=network.WLAN.PM_NONE)
        except (AttributeError, ValueError, OSError):
            self._wlan.config(pm=0xA11140)
        self._wlan.connect(settings.WIFI, settings.WIFI_PASSWORD)

    def read(self):
        """The bytes that came."""
        if self._client is None:
            self._connect()
        if self._client is not None:
            try:
                self._client.check_msg()
                self._client.sock.settimeout(_PATIENCE_S)  # umqtt takes it away with each message
                if ticks_diff(ticks_ms(), self._pinged_ms) > _PING_MS:
                    self._client.ping()
                    self._pinged_ms = ticks_ms()
            except Exception:  # whatever umqtt stumbled over, this connection is at its end
                self.leave()
        data = b"".join(self._heard)
        self._heard = []
        return data

    def leave(self):
        """Be at no broker, until it is read again. The broker publishes the last will, so the host knows at once."""
        if self._client is not None:
            _close(self._client)
            self._client = None

    def write(self, lines):
        """Publish lines, those of one channel in one message."""
        together = []
        for line in lines:
            channel = channel_of(line)
            if together and together[-1][0] == channel:
                together[-1][1] += line
            else:
                together.append([channel, line])
        for channel, data in together:
            self._publish(channel, data)

    def _publish(self, channel, data):
        if self._client is None:
            return  # the host asks for what it missed
        try:
            self._client.publish(self._root + channel, data, channel == b"$description")
        except Exception:  # as above
            self.leave()

    def _connect(self):
        if ticks_diff(ticks_ms(), self._tried_ms) < _RETRY_MS:
            return
        self._tried_ms = ticks_ms()
        if not self._wlan.isconnected():
            self._wlan.connect(self._settings.WIFI, self._settings.WIFI_PASSWORD)
            return
        settings = self._settings
        client = MQTTClient(
            "tada-%s-%s" % (settings.TABLE, settings.ID),
            settings.BROKER,
            port=settings.BROKER_PORT,
            user=settings.BROKER_USER or None,
            password=settings.BROKER_PASSWORD or None,
            keepalive=10,
        )
        client.set_last_will(self._root + b"$state", b"lost", True, 1)
        client.set_callback(self._hear)
        try:
            try:
                client.connect(clean_session=True, timeout=_PATIENCE_S)
            except TypeError:  # a umqtt older than 1.4, which has no limit to give
                client.connect(clean_session=True)
            client.sock.settimeout(_PATIENCE_S)
            try:
                client.sock.setsockopt(
                    6, 1, 1
                )  # TCP_NODELAY: else a slam waits for the answer to the one before
            except OSError:
                pass
            client.subscribe(self._root + b"sync/req", 0)
            client.subscribe(self._root + b"cmd", 1)
            client.publish(self._root + b"$state", b"ready", True)
        except Exception:  # no broker there yet, or one that refuses
            _close(client)
            self._tried_ms = ticks_ms()
            return
        self._client = client
        if self._wlan.isconnected() and self.pad is not None:
            try:
                self.pad.rssi = self._wlan.status("rssi")
            except (ValueError, OSError):
                self.pad.rssi = None

    def _hear(self, _topic, data):
        self._heard.append(data if data.endswith(b"\n") else data + b"\n")
