"""What a pad's firmware does, as the model that others are compared with."""

from __future__ import annotations

import pytest

from firmware_bridge.messages import (
    RING,
    Ack,
    Arm,
    Down,
    FromDevice,
    Heartbeat,
    Hello,
    Key,
    Led,
    Nak,
    Snd,
    SyncReply,
    SyncRequest,
    Up,
    Who,
)
from firmware_bridge.pad_model import HEARTBEAT_US, RESEND_US, SETTLE_US, PadModel


def pad(inputs: int = 2, **more: int) -> PadModel:
    kinds = tuple(("button", f"button {b}") for b in range(inputs))
    return PadModel("pad1", kinds, (("led", "ring"), ("snd", "buzzer")), boot=7, **more)


def events(said: list[FromDevice]) -> list[FromDevice]:
    return [message for message in said if not isinstance(message, Heartbeat)]


def test_the_hello_is_whole() -> None:
    hello, *rest = pad().hello(2**32 + 5)
    assert isinstance(hello, Hello)
    assert (hello.ni, hello.no, hello.us) == (2, 2, 5)
    assert len(rest) == 4


def test_the_first_edge_counts_and_its_bounces_do_not() -> None:
    model = pad()
    said = [model.edge(1_000_000 + k * 700, 0, is_down=k % 2 == 0) for k in range(7)]
    assert said[0] == [Down(b=0, n=1, us=1_000_000)]
    assert said[1:] == [[]] * 6
    assert model.edge(1_000_000 + SETTLE_US, 0, is_down=False) == [Up(b=0, n=2, us=1_000_000 + SETTLE_US)]


def test_who_lets_go_of_what_was_held_at_the_start_slams_nothing_however_it_bounces() -> None:
    model = pad()
    assert [model.edge(1_000_000 + k * 700, 0, is_down=k % 2 == 1) for k in range(7)] == [[]] * 7
    assert model.advance(1_000_000 + SETTLE_US) == []
    assert len(model.edge(1_100_000, 0, is_down=True)) == 1


def test_stamps_are_in_steps_of_the_tick_and_wrap() -> None:
    model = pad(tick_us=4)
    (down,) = model.edge(2**32 + 4_999_999, 0, is_down=True)
    assert down == Down(b=0, n=1, us=4_999_996)


def test_an_event_is_repeated_once_after_200_ms_unless_acknowledged() -> None:
    model = pad()
    model.poll(0)
    model.edge(100_000, 0, is_down=True)
    model.edge(110_000, 1, is_down=True)
    model.hear(120_000, Ack(n=1))
    assert events(model.poll(100_000 + RESEND_US)) == []
    assert events(model.poll(110_000 + RESEND_US)) == [Down(b=1, n=2, us=110_000, re=1)]
    assert events(model.poll(900_000)) == []


def test_who_brings_the_hello_and_all_that_is_not_acknowledged() -> None:
    model = pad()
    for k in range(RING + 8):
        model.edge(k * 100_000, 0, is_down=k % 2 == 0)
    model.hear(9_000_000, Ack(n=20))
    said = model.hear(9_000_000, Who(p=(1,)))
    assert isinstance(said[0], Hello)
    numbers = [message.n for message in said if isinstance(message, Down | Up)]
    assert numbers == [n for n in range(9, RING + 9) if n != 20]
    assert all(message.re for message in said if isinstance(message, Down | Up))


def test_a_missing_one_is_sent_again_as_long_as_it_is_in_the_ring() -> None:
    model = pad()
    model.edge(1, 0, is_down=True)
    model.hear(2, Ack(n=1))
    assert model.hear(3, Nak(n=1)) == [Down(b=0, n=1, us=1, re=1)]
    assert model.hear(3, Nak(n=2)) == []


def test_a_question_is_answered_with_the_last_number_before_it() -> None:
    model = pad()
    model.edge(1_000, 0, is_down=True)
    (reply,) = model.hear(2_000, SyncRequest(id=3, h=9_999_999_999))
    assert reply == SyncReply(id=3, h=9_999_999_999, r=2_000, x=2_000, n=1)


@pytest.mark.parametrize(("at_us", "mask", "early"), [(999, 1, 1), (1_000, 1, 0), (999, 2, 0)])
def test_armed_inputs_mark_what_comes_before(at_us: int, mask: int, early: int) -> None:
    model = pad()
    model.hear(10, Arm(rd=1, mask=mask, at=1_000))
    (down,) = model.edge(at_us, 0, is_down=True)
    assert isinstance(down, Down)
    assert down.early == early


def test_armed_over_the_wrap() -> None:
    model = pad()
    model.hear(2**32 - 100, Arm(rd=1, mask=1, at=50))
    (down,) = model.edge(2**32 + 49, 0, is_down=True)
    assert isinstance(down, Down)
    assert down.early == 1


def test_commands_wait_for_their_time() -> None:
    model = pad()
    model.poll(0)
    assert model.hear(100, Led(b=0, pattern="go", at=500)) == []
    assert model.due_us() == 500
    model.hear(101, Snd(b=1, pattern="slam"))
    model.poll(499)
    model.poll(503)
    assert [(played.kind, played.pattern, played.at_us) for played in model.played] == [
        ("snd", "slam", 101),
        ("led", "go", 503),
    ]
    assert model.hear(600, Led(b=5, pattern="go")) == [Nak(reason="no such output")]


def test_a_heartbeat_each_second_tells_number_and_closed_inputs() -> None:
    model = pad()
    model.edge(10, 1, is_down=True)
    model.hear(20, Ack(n=1))
    said = [message for k in range(31) for message in model.poll(k * 100_000)]
    beats = [message for message in said if isinstance(message, Heartbeat)]
    assert len(beats) == 4
    assert (beats[0].n, beats[0].v) == (1, 2)
    assert HEARTBEAT_US == 1_000_000


def test_a_light_and_a_buzzer_play_the_pattern_from_the_instant_that_was_asked_for() -> None:
    model = pad()
    model.hear(0, Led(b=0, pattern="place_2", at=1_000_000))
    model.hear(0, Snd(b=1, pattern="go"))
    assert model.level(10_000, 1) == 880
    assert model.level(10_000, 0) == 0
    model.poll(1_000_000)
    assert [model.level(1_000_000 + ms * 1000, 0) for ms in (0, 249, 250, 500, 750, 1000, 1900)] == [
        1, 1, 0, 1, 0, 0, 1,
    ]  # fmt: skip
    model.hear(1_100_000, Led(b=0, pattern="off"))
    assert model.level(1_100_000, 0) == 0


def test_a_pattern_that_it_does_not_know_is_refused() -> None:
    assert pad().hear(0, Led(b=0, pattern="sparkle")) == [Nak(reason="no such pattern")]


def test_it_keeps_the_key_that_it_is_given() -> None:
    model = pad()
    assert model.hear(0, Key(n=9, k="0f" * 16)) == [Ack(n=9)]
    assert model.key == bytes([15] * 16)
