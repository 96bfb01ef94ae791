"""Lines on a wire: split, check, wrap. No I/O.

A frame is ``{json}*CRC32\\n``, ASCII, at most 256 bytes with its newline. CRC32 is eight hex digits over
everything before the ``*``. Over MQTT it may end ``*CRC32*MAC``: the first 16 hex digits of HMAC-SHA256(pad
key, everything before the first ``*``). The JSON itself holds no ``*``: `wrap` writes it as an escape.
"""

from __future__ import annotations

import hashlib
import hmac
import zlib

import msgspec

MAX_LINE = 256
_MAC_DIGITS = 16
_CRC_DIGITS = 8


class WireCounters(msgspec.Struct):
    """What came in and was thrown away, since the link was opened. All counts of lines, but for `bytes_in`.

    `noise`: did not start with ``{`` or held bytes that are not printable ASCII. `bad_crc`: a frame whose
    checksum is missing or wrong. `too_long`: no newline within MAX_LINE bytes. `bad_mac`: the pad's key did
    not fit or was missing where it is asked for. `bad_message`: valid frame, contents that tada/1 does not
    allow. `unknown`: a message type of some later version. `retained`: an event that a broker had kept.
    `foreign`: it spoke in another device's name. `frames`: what was accepted.
    """

    bytes_in: int = 0
    frames: int = 0
    noise: int = 0
    bad_crc: int = 0
    too_long: int = 0
    bad_mac: int = 0
    bad_message: int = 0
    unknown: int = 0
    retained: int = 0
    foreign: int = 0


class Frame(msgspec.Struct, frozen=True):
    """A line whose checksum was right. `body` is JSON text; `mac` the hex digits that came, None when none
    did."""

    body: bytes
    mac: bytes | None = None


class LineSplitter:
    """Collects bytes in any portions and gives back whole lines, without ``\\n`` and a ``\\r`` before it.

    Memory is bounded: a line longer than MAX_LINE is skipped to its newline and counted once in
    `counters.too_long`. Empty lines are dropped.
    """

    def __init__(self, counters: WireCounters) -> None:
        self._counters = counters
        self._rest = b""
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, oldest first. Never raises."""
        self._counters.bytes_in += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        lines = []
        for line in whole:
            if self._is_skipping:
                self._is_skipping = False
            elif len(line) >= MAX_LINE:
                self._counters.too_long += 1
            elif line := line.removesuffix(b"\r"):
                lines.append(line)
        if self._is_skipping:
            self._rest = b""
        elif len(self._rest) >= MAX_LINE:
            self._counters.too_long += 1
            self._is_skipping = True
            self._rest = b""
        return lines

    def reset(self) -> None:
        """Forget a half line: the port was opened anew."""
        self._rest = b""
        self._is_skipping = False


def unwrap(line: bytes, counters: WireCounters) -> Frame | None:
    """The frame in a line, or None when it is none (counted). Never raises."""
    if not line.startswith(b"{") or not line.isascii():
        counters.noise += 1
        return None
    body, star, tail = line.partition(b"*")
    crc, _, mac = tail.partition(b"*")
    if not star or crc.upper() != _crc(body):
        counters.bad_crc += 1
        return None
    return Frame(body, mac or None)


def wrap(body: bytes, key: bytes | None = None) -> bytes:
    """One frame with its newline; with a key it carries the MAC.

    Raises ValueError when the body is not ASCII or the frame would not fit MAX_LINE.
    """
    if not body.isascii():
        raise ValueError("a tada/1 frame is ASCII; escape other characters")
    body = body.replace(b"*", b"\\u002a")
    mac = b"" if key is None else b"*" + mac_of(body, key)
    frame = body + b"*" + _crc(body) + mac + b"\n"
    if len(frame) > MAX_LINE:
        raise ValueError(f"a tada/1 frame is at most {MAX_LINE} bytes; this one has {len(frame)}")
    return frame


def mac_of(body: bytes, key: bytes) -> bytes:
    """First 16 hex digits (upper case) of HMAC-SHA256(key, body)."""
    return hmac.new(key, body, hashlib.sha256).hexdigest()[:_MAC_DIGITS].upper().encode()


def is_authentic(frame: Frame, key: bytes) -> bool:
    """Does the frame carry the MAC that the key makes? Compared in constant time."""
    return frame.mac is not None and hmac.compare_digest(frame.mac.upper(), mac_of(frame.body, key))


def _crc(body: bytes) -> bytes:
    return b"%0*X" % (_CRC_DIGITS, zlib.crc32(body))
