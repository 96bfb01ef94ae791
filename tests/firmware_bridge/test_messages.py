"""Messages: ranges, hostile JSON, both directions."""

from __future__ import annotations

import random
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import messages as m
from firmware_bridge.framing import Frame, LineSplitter, WireCounters, unwrap, wrap

u32 = st.integers(0, 2**32 - 1)
port = st.integers(0, m.MAX_PORTS - 1)
number = st.integers(1, 2**32 - 1)
word = st.from_regex(r"\A[a-z0-9_-]{1,16}\Z")
plain = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f"), max_size=24
).filter(lambda text: not any(0x7F <= ord(c) <= 0x9F for c in text))
flag = st.sampled_from((0, 1))
FROM_DEVICE = st.one_of(
    st.builds(
        m.Hello,
        p=st.integers(0, 255),
        id=st.from_regex(r"\A[a-z0-9][a-z0-9-]{0,23}\Z"),
        fw=st.just("1.0"),
        hw=st.just("pico"),
        boot=u32,
        ni=st.integers(0, 32),
        no=st.integers(0, 32),
        tick=st.integers(1, 10**6),
        st=st.integers(0, 10**7),
        us=u32,
    ),
    st.builds(m.Input, b=port, kind=word, name=plain),
    st.builds(m.Output, b=port, kind=word, name=plain),
    st.builds(m.Heartbeat, n=u32, us=u32, v=u32, bat=st.none() | st.integers(0, 100)),
    st.builds(m.Down, b=port, n=number, us=u32, q=st.none() | st.integers(0, 65535), early=flag, re=flag),
    st.builds(m.Up, b=port, n=number, us=u32, re=flag),
    st.builds(m.Hit, b=port, n=number, us=u32, pk=st.integers(0, 65535), w=u32, re=flag),
    st.builds(m.Die, b=port, n=number, us=u32, pk=st.integers(0, 65535), w=u32, re=flag),
    st.builds(m.SyncReply, id=u32, h=st.integers(0, m.MAX_TOKEN), r=u32, x=u32, n=u32),
    st.builds(m.Ack, n=u32),
    st.builds(m.Nak, n=u32, reason=plain),
)
TO_DEVICE = st.one_of(
    st.builds(m.Who, p=st.just((1,))),
    st.builds(m.SyncRequest, id=u32, h=st.integers(0, m.MAX_TOKEN)),
    st.builds(m.Arm, rd=u32, mask=u32, at=u32),
    st.builds(m.Led, b=port, pattern=word, at=st.none() | u32),
    st.builds(m.Snd, b=port, pattern=word, at=st.none() | u32),
    st.builds(m.Ack, n=u32),
    st.builds(m.Nak, n=u32, reason=plain),
)


def heard(body: bytes) -> tuple[Any, WireCounters]:
    counters = WireCounters()
    return m.from_device(Frame(body), counters), counters


@given(FROM_DEVICE)
def test_what_a_device_says_comes_back(message: Any) -> None:
    counters = WireCounters()
    frame = unwrap(wrap(m.body_of(message)).rstrip(b"\n"), counters)
    assert frame is not None
    assert m.from_device(frame, counters) == message
    assert counters == WireCounters(frames=1)


@given(TO_DEVICE)
def test_what_the_host_says_comes_back(message: Any) -> None:
    counters = WireCounters()
    frame = unwrap(wrap(m.body_of(message)).rstrip(b"\n"), counters)
    assert frame is not None
    assert m.to_device(frame, counters) == message


def test_every_message_fits_a_line_at_its_longest() -> None:
    big = 2**32 - 1
    longest = [
        m.Hello(
            p=255, id="x" * 24, fw="f" * 24, hw="h" * 24, boot=big, ni=32, no=32, tick=10**6, st=10**7, us=big
        ),
        m.Input(b=31, kind="k" * 16, name="n" * 40),
        m.Heartbeat(n=big, us=big, v=big, err={"crc": big, "noise": big, "long": big}, rssi=-100, bat=100),
        m.Down(b=31, n=big, us=big, q=65535, early=1, re=1),
        m.Hit(b=31, n=big, us=big, pk=65535, w=big, re=1),
        m.SyncReply(id=big, h=m.MAX_TOKEN, r=big, x=big, n=big),
    ]
    for message in longest:
        assert len(wrap(m.body_of(message), b"key")) <= 256


GOOD = b'{"t":"dn","b":3,"n":12345,"us":1234567890}'
HELLO = b'{"t":"hello","p":1,"id":"pad1","fw":"","hw":"","boot":1,"ni":1,"no":0,"tick":1,"st":0,"us":0}'
HOSTILE = {
    "2^64": GOOD.replace(b"12345,", b"18446744073709551616,"),
    "2^32": GOOD.replace(b"1234567890", b"4294967296"),
    "negative": GOOD.replace(b"12345,", b"-1,"),
    "event number 0": GOOD.replace(b"12345,", b"0,"),
    "NaN": GOOD.replace(b"12345,", b"NaN,"),
    "Infinity": GOOD.replace(b"12345,", b"Infinity,"),
    "float": GOOD.replace(b"12345,", b"1.0,"),
    "1e400": GOOD.replace(b"12345,", b"1e400,"),
    "string": GOOD.replace(b"12345,", b'"12345",'),
    "bool": GOOD.replace(b"12345,", b"true,"),
    "null": GOOD.replace(b"12345,", b"null,"),
    "list": GOOD.replace(b"12345,", b"[1],"),
    "port 32": GOOD.replace(b'"b":3', b'"b":32'),
    "missing key": GOOD.replace(b'"b":3,', b""),
    "twin key": GOOD.replace(b'"b":3', b'"b":3,"b":4'),
    "twin key, escaped": GOOD.replace(b'"b":3', b'"b":3,"\\u0062":4'),
    "twin type": GOOD.replace(b'"t":"dn"', b'"t":"dn","t":"up"'),
    "twin key inside": b'{"t":"hb","n":1,"us":1,"err":{"crc":1,"crc":2}}',
    "lone surrogate": b'{"t":"in","b":0,"kind":"button","name":"\\ud800"}',
    "lone surrogate in an unknown key": GOOD[:-1] + b',"x":"\\udfff"}',
    "control character": b'{"t":"in","b":0,"kind":"button","name":"a\\u0000b"}',
    "right to left": b'{"t":"in","b":0,"kind":"button","name":"a\\u202eb"}',
    "newline in an id": HELLO.replace(b"pad1", b"pad\\n"),
    "id with a slash": HELLO.replace(b"pad1", b"a/b"),
    "depth 50": GOOD[:-1] + b',"x":' + b"[" * 50 + b"]" * 50 + b"}",
    "depth 50 of objects": GOOD[:-1] + b',"x":' + b'{"a":' * 30 + b"1" + b"}" * 30 + b"}",
    "open brackets": GOOD[:-1] + b',"x":' + b"[" * 150,
    "list instead of an object": b'[{"t":"dn"}]',
    "trailing": GOOD + b"x",
    "no type": b'{"b":3,"n":1,"us":1}',
    "type is a number": b'{"t":7,"b":3,"n":1,"us":1}',
    "a host's message": b'{"t":"led","b":0,"pattern":"go"}',
    "early 2": GOOD[:-1] + b',"early":2}',
    "force too great": GOOD[:-1] + b',"q":65536}',
    "token of 11 digits": b'{"t":"sync","id":1,"h":10000000000,"r":1,"x":1,"n":1}',
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_json_is_counted_and_dropped(body: bytes) -> None:
    message, counters = heard(body)
    assert message is None
    assert counters == WireCounters(bad_message=1)


def test_later_versions_are_let_be() -> None:
    message, counters = heard(b'{"t":"wave","height":3}')
    assert (message, counters) == (None, WireCounters(unknown=1))
    message, counters = heard(GOOD[:-1] + b',"colour":"red","more":[1,{"b":2}]}')
    assert message == m.Down(b=3, n=12345, us=1234567890)
    assert counters == WireCounters(frames=1)


@given(st.binary(max_size=250))
def test_any_bytes_with_a_right_checksum_raise_nothing(body: bytes) -> None:
    counters = WireCounters()
    m.from_device(Frame(body), counters)
    m.to_device(Frame(body), counters)


def in_range(message: Any) -> bool:
    return (
        isinstance(message, m.Message) and m.from_device(Frame(m.body_of(message)), WireCounters()) == message
    )


def test_fuzz_random_bytes_give_no_event() -> None:
    rng = random.Random(1)
    counters = WireCounters()
    splitter = LineSplitter(counters)
    for _ in range(300):
        for line in splitter.feed(rng.randbytes(1_000)):
            frame = unwrap(line, counters)
            assert frame is None
    assert counters.frames == 0
    assert counters.noise > 0
    assert counters.too_long > 0


def test_fuzz_bent_streams_give_only_what_was_said() -> None:
    rng = random.Random(2)
    said = {n: m.Down(b=n % 4, n=n, us=n * 1000) for n in range(1, 3_001)}
    stream = bytearray(b"".join(wrap(m.body_of(message)) for message in said.values()))
    for _ in range(len(stream) // 100):
        stream[rng.randrange(len(stream))] ^= 1 << rng.randrange(8)
    counters = WireCounters()
    splitter = LineSplitter(counters)
    taken = 0
    for line in splitter.feed(bytes(stream)):
        frame = unwrap(line, counters)
        message = None if frame is None else m.from_device(frame, counters)
        if message is not None:
            assert isinstance(message, m.Down)
            assert said[message.n] == message
            taken += 1
    assert 0 < taken < len(said)
    assert counters.noise + counters.bad_crc + counters.too_long > 0


def test_fuzz_valid_checksums_round_hostile_contents() -> None:
    rng = random.Random(3)
    parts = [b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\\ud800", b"1e999", b"-", b"null", b"true"]
    parts += [b'"t"', b'"dn"', b'"n"', b'"us"', b'"b"', b"18446744073709551616", b"NaN", b"0", b"1"]
    counters = WireCounters()
    for _ in range(20_000):
        body = b'{"t":"dn"' + b"".join(rng.choices(parts, k=rng.randrange(12))) + b"}"
        line = body + b"*%08X" % zlib.crc32(body)
        frame = unwrap(line, counters)
        message = None if frame is None else m.from_device(frame, counters)
        assert message is None or in_range(message)
