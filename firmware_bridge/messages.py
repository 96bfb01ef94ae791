"""Every message of tada/1, with its ranges. No I/O; nothing here raises on what came from a wire.

Field names are the wire's keys. Common ones: `b` input or output index, `n` event number within one boot
(1, 2, ...), `us` device microseconds modulo 2^32, `at` the same as a time to come, `boot` a random number
drawn at each start.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Literal, TypeVar

import msgspec

from firmware_bridge.framing import Frame, WireCounters

PROTOCOL = 1
MAX_PORTS = 32  # inputs or outputs of one device: their states fit one 32-bit map
RING = 32  # events a device keeps for repeating
WRAP_US = 2**32
MAX_TOKEN = 9_999_999_999  # the clock question's token has at most ten digits

U16 = Annotated[int, msgspec.Meta(ge=0, le=2**16 - 1)]
U32 = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
EventNumber = Annotated[int, msgspec.Meta(ge=1, le=2**32 - 1)]
Port = Annotated[int, msgspec.Meta(ge=0, le=MAX_PORTS - 1)]
PortCount = Annotated[int, msgspec.Meta(ge=0, le=MAX_PORTS)]
Token = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKEN)]
DeviceId = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,23}\Z")]
Word = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_-]{1,16}\Z")]
# Texts from devices reach pages and logs: no control characters, nothing that reorders or hides text.
_PLAIN = r"[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
ShortText = Annotated[str, msgspec.Meta(pattern=rf"^{_PLAIN}{{0,24}}\Z")]
Name = Annotated[str, msgspec.Meta(pattern=rf"^{_PLAIN}{{0,40}}\Z")]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", omit_defaults=True):
    """Base of all messages."""


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """I am here. `ni` `in` lines and `no` `out` lines follow.

    `p` protocol, `tick` resolution of its clock in us, `st` the longest time in us from an edge to its stamp.
    """

    p: Annotated[int, msgspec.Meta(ge=0, le=255)]
    id: DeviceId
    fw: ShortText
    hw: ShortText
    boot: U32
    ni: PortCount
    no: PortCount
    tick: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    st: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
    us: U32


class Input(Message, frozen=True, kw_only=True, tag="in"):
    """One input: `kind` is button, piezo, beam, ..."""

    b: Port
    kind: Word
    name: Name


class Output(Message, frozen=True, kw_only=True, tag="out"):
    """One output: `kind` is led or snd."""

    b: Port
    kind: Word
    name: Name


class Heartbeat(Message, frozen=True, kw_only=True, tag="hb"):
    """Once a second. `n` last event number, `v` map of closed inputs, `err` its counters of bad lines heard,
    `rssi` dBm, `bat` percent."""

    n: U32
    us: U32
    v: U32 = 0
    err: Annotated[dict[Word, U32], msgspec.Meta(max_length=8)] = {}
    rssi: Annotated[int, msgspec.Meta(ge=-150, le=30)] | None = None
    bat: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None


class Down(Message, frozen=True, kw_only=True, tag="dn"):
    """An input closed. `q` force, `early` 1: before the armed instant, `re` 1: a repeat with its old
    stamp."""

    b: Port
    n: EventNumber
    us: U32
    q: U16 | None = None
    early: Literal[0, 1] = 0
    re: Literal[0, 1] = 0


class Up(Message, frozen=True, kw_only=True, tag="up"):
    """An input opened."""

    b: Port
    n: EventNumber
    us: U32
    re: Literal[0, 1] = 0


class Hit(Message, frozen=True, kw_only=True, tag="hit"):
    """A tower was struck: `pk` peak, `w` width in us."""

    b: Port
    n: EventNumber
    us: U32
    pk: U16
    w: U32
    re: Literal[0, 1] = 0


class Die(Message, frozen=True, kw_only=True, tag="die"):
    """Something passed a beam: `pk` depth, `w` how long in us."""

    b: Port
    n: EventNumber
    us: U32
    pk: U16
    w: U32
    re: Literal[0, 1] = 0


class SyncReply(Message, frozen=True, kw_only=True, tag="sync"):
    """Answer to `SyncRequest`, whose `id` and `h` it repeats.

    `r` us when the question came in, `x` us when this went out, `n` number of the last event stamped before
    r.
    """

    id: U32
    h: Token
    r: U32
    x: U32
    n: U32


class Ack(Message, frozen=True, kw_only=True, tag="ack"):
    """Event (to the device) or command (to the host) `n` was taken."""

    n: U32


class Nak(Message, frozen=True, kw_only=True, tag="nak"):
    """To the device: event `n` is missing, send it again. To the host: a command was refused, `reason`
    why."""

    n: U32 = 0
    reason: ShortText = ""


class Who(Message, frozen=True, kw_only=True, tag="who"):
    """Say hello. `p`: the protocols that the host speaks."""

    p: Annotated[tuple[Annotated[int, msgspec.Meta(ge=0, le=255)], ...], msgspec.Meta(max_length=8)]


class SyncRequest(Message, frozen=True, kw_only=True, tag="sync"):
    """What time is it? `id` counts questions, `h` is a random token that proves that the answer is to this
    one."""

    id: U32
    h: Token


class Arm(Message, frozen=True, kw_only=True, tag="arm"):
    """From `at` on a press of the inputs in `mask` counts for round `rd`; one before it is early."""

    rd: U32
    mask: U32
    at: U32


class Led(Message, frozen=True, kw_only=True, tag="led"):
    """Show a pattern, at once or at device time `at`."""

    b: Port
    pattern: Word
    at: U32 | None = None


class Snd(Message, frozen=True, kw_only=True, tag="snd"):
    """Sound a pattern, at once or at device time `at`."""

    b: Port
    pattern: Word
    at: U32 | None = None


class Key(Message, frozen=True, kw_only=True, tag="key"):
    """Pairing: keep the MAC key `k` (16 bytes in hex) over restarts. Only sent, and only taken, over a cable; answered
    by `ack` or `nak` with the same `n`."""

    n: Annotated[int, msgspec.Meta(ge=1, le=2**32 - 1)]
    k: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]


DeviceEvent = Down | Up | Hit | Die
FromDevice = Hello | Input | Output | Heartbeat | Down | Up | Hit | Die | SyncReply | Ack | Nak
ToDevice = Who | SyncRequest | Arm | Led | Snd | Key | Ack | Nak

_M = TypeVar("_M")
_FROM_DEVICE: msgspec.json.Decoder[FromDevice] = msgspec.json.Decoder(FromDevice)
_TO_DEVICE: msgspec.json.Decoder[ToDevice] = msgspec.json.Decoder(ToDevice)
_KEY = re.compile(rb'"([^"]*)"\s*:')
_MAX_BRACKETS = 16


class _AnyType(msgspec.Struct):
    t: str


_TYPES = frozenset(
    (
        "hello",
        "in",
        "out",
        "hb",
        "dn",
        "up",
        "hit",
        "die",
        "sync",
        "ack",
        "nak",
        "who",
        "arm",
        "led",
        "snd",
        "key",
    )
)
_ANY_TYPE = msgspec.json.Decoder(_AnyType)


def from_device(frame: Frame, counters: WireCounters) -> FromDevice | None:
    """What a device says in this frame, or None (counted). Never raises."""
    return _decoded(_FROM_DEVICE, frame.body, counters)


def to_device(frame: Frame, counters: WireCounters) -> ToDevice | None:
    """What the host says in this frame, or None (counted). Never raises."""
    return _decoded(_TO_DEVICE, frame.body, counters)


def body_of(message: FromDevice | ToDevice) -> bytes:
    """The message as ASCII JSON, ready for `framing.wrap`."""
    body = msgspec.json.encode(message)
    if body.isascii():
        return body
    return json.dumps(json.loads(body), separators=(",", ":")).encode()


def _decoded(decoder: msgspec.json.Decoder[_M], body: bytes, counters: WireCounters) -> _M | None:
    if body.count(b"{") + body.count(b"[") > _MAX_BRACKETS or _has_twin_keys(body):
        counters.bad_message += 1
        return None
    try:
        message = decoder.decode(body)
    except msgspec.DecodeError:
        if _is_of_unknown_type(body):
            counters.unknown += 1
        else:
            counters.bad_message += 1
        return None
    counters.frames += 1
    return message


def _is_of_unknown_type(body: bytes) -> bool:
    try:
        return _ANY_TYPE.decode(body).t not in _TYPES
    except msgspec.DecodeError:
        return False


def _has_twin_keys(body: bytes) -> bool:
    """Does an object hold one key twice? Which of the two counts would be a guess, so the message is
    refused."""
    keys = _KEY.findall(body)
    if b"\\" not in body and len(set(keys)) == len(keys):
        return (
            False  # the usual case, and cheap: no escape can hide a key, and no key comes twice at any depth
        )
    try:
        json.loads(body, object_pairs_hook=_refuse_twins)
    except _TwinKeysError:
        return True
    except ValueError:
        return False  # malformed: the decoder says so
    return False


class _TwinKeysError(Exception):
    pass


def _refuse_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _TwinKeysError
    return made
