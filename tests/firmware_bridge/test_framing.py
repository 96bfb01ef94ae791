"""Lines: split, checked, bounded."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.framing import MAX_LINE, LineSplitter, WireCounters, is_authentic, mac_of, unwrap, wrap

BODY = b'{"t":"dn","b":3,"n":12345,"us":1234567890}'


def lines_of(data: bytes, portions: list[int]) -> tuple[list[bytes], WireCounters]:
    counters = WireCounters()
    splitter = LineSplitter(counters)
    found, at = [], 0
    for portion in portions:
        found += splitter.feed(data[at : at + portion])
        at += portion
    return found + splitter.feed(data[at:]), counters


def test_the_frame_is_the_one_of_the_protocol() -> None:
    assert wrap(BODY) == BODY + b"*%08X\n" % zlib.crc32(BODY)


@given(st.lists(st.binary(max_size=300).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_portions_do_not_matter(lines: list[bytes], data: st.DataObject) -> None:
    text = b"".join(line + b"\n" for line in lines)
    portions = data.draw(st.lists(st.integers(0, 40), max_size=40))
    assert lines_of(text, portions) == lines_of(text, [])
    assert lines_of(text, [1] * len(text)) == lines_of(text, [])


def test_trap_08_a_half_line_waits_for_its_rest() -> None:
    counters = WireCounters()
    splitter = LineSplitter(counters)
    assert splitter.feed(BODY[:10]) == []
    assert splitter.feed(BODY[10:] + b"\r\n") == [BODY]
    splitter.feed(b"half")
    splitter.reset()
    assert splitter.feed(b"whole\n") == [b"whole"]


@pytest.mark.parametrize("portion", [1, 7, 255, 256, 10_000])
def test_trap_08_a_line_without_end_is_skipped_and_counted_once(portion: int) -> None:
    data = b"x" * 5_000 + b"\n" + BODY + b"\n"
    lines, counters = lines_of(data, [portion] * (len(data) // portion))
    assert lines == [BODY]
    assert counters.too_long == 1


def test_the_longest_line_fits_and_one_more_does_not() -> None:
    fits = b"x" * (MAX_LINE - 1)
    assert lines_of(fits + b"\n", [])[0] == [fits]
    assert lines_of(fits + b"x\n", [])[0] == []


def test_memory_stays_small_under_a_flood() -> None:
    splitter = LineSplitter(WireCounters())
    for _ in range(1_000):
        splitter.feed(b"x" * 1_000)
    assert len(splitter._rest) < MAX_LINE


@pytest.mark.parametrize(
    ("line", "counter"),
    [
        (b"ets Jun  8 2016 00:22:57", "noise"),
        (b"AT+CGMI\r", "noise"),
        (b"\xff\xfe{", "noise"),
        (b'{"t":"\xe4"}*00000000', "noise"),
        (BODY, "bad_crc"),
        (BODY + b"*", "bad_crc"),
        (BODY + b"*00000000", "bad_crc"),
        (BODY + b"*%08X " % zlib.crc32(BODY), "bad_crc"),
        (BODY + b"*+%07X" % zlib.crc32(BODY), "bad_crc"),
    ],
)
def test_what_is_no_frame_is_counted(line: bytes, counter: str) -> None:
    counters = WireCounters()
    assert unwrap(line, counters) is None
    assert getattr(counters, counter) == 1


@given(st.binary(max_size=240).filter(bytes.isascii), st.none() | st.binary(min_size=1, max_size=32))
def test_what_is_wrapped_comes_back(inside: bytes, key: bytes | None) -> None:
    body = b"{" + inside.replace(b"\n", b"")[:180].replace(b"*", b"")
    counters = WireCounters()
    frame = unwrap(wrap(body, key).removesuffix(b"\n"), counters)
    assert frame is not None
    assert frame.body == body
    assert (frame.mac is None) == (key is None)
    assert key is None or is_authentic(frame, key)
    assert counters == WireCounters()


def test_a_star_inside_is_escaped() -> None:
    frame = unwrap(wrap(b'{"name":"a*b"}').rstrip(), WireCounters())
    assert frame is not None
    assert frame.body == b'{"name":"a\\u002ab"}'


def test_too_long_or_not_ascii_is_not_sent() -> None:
    with pytest.raises(ValueError, match="at most 256"):
        wrap(b"{" + b"x" * 250)
    with pytest.raises(ValueError, match="ASCII"):
        wrap("{ä".encode())


def test_the_mac_needs_the_right_key_and_the_same_body() -> None:
    frame = unwrap(wrap(BODY, b"secret").rstrip(), WireCounters())
    assert frame is not None
    assert len(mac_of(BODY, b"secret")) == 16
    assert is_authentic(frame, b"secret")
    assert not is_authentic(frame, b"Secret")
    other = unwrap(wrap(BODY.replace(b"3", b"4")).rstrip() + b"*" + mac_of(BODY, b"secret"), WireCounters())
    assert other is not None
    assert not is_authentic(other, b"secret")
    unsigned = unwrap(wrap(BODY).rstrip(), WireCounters())
    assert unsigned is not None
    assert not is_authentic(unsigned, b"secret")


def test_one_flipped_bit_is_never_taken() -> None:
    rng = random.Random(7)
    frame = wrap(BODY).rstrip()
    for _ in range(5_000):
        at = rng.randrange(len(frame))
        bent = bytearray(frame)
        bent[at] ^= 1 << rng.randrange(8)
        found = unwrap(bytes(bent), WireCounters())
        # The digits of the checksum may change case; the body may not change.
        assert found is None or found.body == BODY
