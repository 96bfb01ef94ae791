"""Lines of tada/1: checksum, signature, and the reading of what the host says. No I/O.

Runs on MicroPython and on CPython alike.
"""

import binascii
import hashlib
import json

try:
    from typing import Any
except ImportError:  # MicroPython has none, and does not look at annotations in quotes
    pass

MAX_LINE = 256  # bytes, with the newline
_MAX_BRACKETS = 16
_KEYS = ("t", "p", "id", "h", "rd", "mask", "at", "b", "pattern", "n", "reason", "k")
_U32 = 0xFFFFFFFF
_WORD = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_HEX = "0123456789abcdef"
_FROM_DEVICE = ("hello", "in", "out", "hb", "dn", "up", "hit", "die")


def crc_of(body: bytes) -> bytes:
    """The checksum of a line's JSON: eight hex digits."""
    return b"%08X" % (binascii.crc32(body) & _U32)


def mac_of(body: bytes, key: bytes) -> bytes:
    """Its signature: the first 16 hex digits of HMAC-SHA256."""
    padded = key + bytes(64 - len(key))
    inner = hashlib.sha256(bytes([b ^ 0x36 for b in padded]) + body).digest()
    outer = hashlib.sha256(bytes([b ^ 0x5C for b in padded]) + inner).digest()
    return binascii.hexlify(outer[:8]).upper()


def wrap(body: str, key: "bytes | None") -> bytes:
    """One line with its newline, signed where there is a key."""
    data = body.encode()
    mac = b"" if key is None else b"*" + mac_of(data, key)
    return data + b"*" + crc_of(data) + mac + b"\n"


class Ears:
    """Bytes of one way to messages. What is none is counted in `errors`, by the names of the heartbeat."""

    def __init__(self, errors: "dict[str, int]") -> None:
        self.errors = errors
        self.frames = 0  # lines that were whole
        self.began_us = 0
        self._line = bytearray()
        self._is_skipping = False

    def feed(self, now_us: int, data: bytes, key: "bytes | None") -> "list[tuple[int, dict[str, Any]]]":
        """The messages that `data` completes, each with the time at which its line began."""
        found = []
        at = 0
        while at < len(data):
            end = data.find(b"\n", at)
            if not self._line and not self._is_skipping:
                self.began_us = now_us
            if not self._is_skipping:
                self._line.extend(data[at : len(data) if end < 0 else end])
                if len(self._line) >= MAX_LINE:
                    self.errors["long"] += 1
                    self._line = bytearray()
                    self._is_skipping = True
            if end < 0:
                break
            at = end + 1
            line = bytes(self._line)
            self._line = bytearray()
            if self._is_skipping:
                self._is_skipping = False
                continue
            if line.endswith(b"\r"):
                line = line[:-1]
            message = self._message(line, key) if line else None
            if message is not None:
                found.append((self.began_us, message))
        return found

    def _message(self, line: bytes, key: "bytes | None") -> "dict[str, Any] | None":
        if line[0] != 0x7B or max(line) > 0x7F:
            self.errors["noise"] += 1
            return None
        star = line.find(b"*")
        tail = line[star + 1 :].split(b"*", 1)
        if star < 0 or tail[0].upper() != crc_of(line[:star]):
            self.errors["crc"] += 1
            return None
        body = line[:star]
        if key is not None and (len(tail) < 2 or not _is_same(tail[1].upper(), mac_of(body, key))):
            self.errors["mac"] += 1
            return None
        self.frames += 1
        message = _parsed(body)
        if message is None or _is_wrong(message):
            self.errors["msg"] += 1
            return None
        return message


def _is_same(a: bytes, b: bytes) -> bool:
    """Compared in a time that does not tell where they differ."""
    differs = len(a) ^ len(b)
    for x, y in zip(a, b):  # noqa: B905  # MicroPython's zip knows no strict
        differs |= x ^ y
    return not differs


def _parsed(body: bytes) -> "dict[str, Any] | None":
    if body.count(b"{") + body.count(b"[") > _MAX_BRACKETS:
        return None
    try:
        message = json.loads(body)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    for name in _KEYS:
        # Which of two would count would be a guess. The first look is cheap, the second one is sure.
        quoted = b'"' + name.encode() + b'"'
        if name in message and body.count(quoted) > 1 and _top_names(body).count(quoted) > 1:
            return None
    return message


def _top_names(body: bytes) -> "list[bytes]":
    """The quoted names of the outermost object's members, in well-formed JSON."""
    names = []
    depth = 0
    at = 0
    is_name = False
    while at < len(body):
        c = body[at : at + 1]
        if c == b'"':
            end = at + 1
            while body[end : end + 1] != b'"':
                end += 2 if body[end : end + 1] == b"\\" else 1
            if is_name and depth == 1:
                names.append(body[at : end + 1])
            is_name = False
            at = end
        elif c in b"{[":
            depth += 1
            is_name = c == b"{"
        elif c in b"}]":
            depth -= 1
        elif c == b",":
            is_name = depth == 1
        at += 1
    return names


def _is_number(message: "dict[str, Any]", name: str, most: int = _U32) -> bool:
    value = message.get(name)
    return type(value) is int and 0 <= value <= most


def _is_made_of(value: object, letters: str, least: int, most: int) -> bool:
    return isinstance(value, str) and least <= len(value) <= most and all(c in letters for c in value)


def _is_wrong(message: "dict[str, Any]") -> bool:
    """Is this a word of tada/1, but not as it should be? Words of later versions are not wrong."""
    t = message.get("t")
    if not isinstance(t, str) or t in _FROM_DEVICE:
        return True
    if t == "sync":
        return not (_is_number(message, "id") and _is_number(message, "h", 9999999999))
    if t == "ack":
        return not _is_number(message, "n")
    if t == "nak":
        has_number = "n" not in message or _is_number(message, "n")
        return not (has_number and isinstance(message.get("reason", ""), str))
    if t == "who":
        listed = message.get("p")
        if not isinstance(listed, list) or len(listed) > 8:
            return True
        return not all(type(p) is int and 0 <= p <= 255 for p in listed)
    if t == "arm":
        return not (_is_number(message, "rd") and _is_number(message, "mask") and _is_number(message, "at"))
    if t in ("led", "snd"):
        is_timed = message.get("at") is None or _is_number(message, "at")
        is_named = _is_made_of(message.get("pattern"), _WORD, 1, 16)
        return not (is_timed and is_named and _is_number(message, "b", 31))
    if t == "key":
        has_number = _is_number(message, "n") and message["n"] != 0
        return not (has_number and _is_made_of(message.get("k"), _HEX, 32, 32))
    return False
