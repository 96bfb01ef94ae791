"""Words to bytes and back; what comes from outside is refused by its form."""

from __future__ import annotations

import typing

import counting as k
import msgspec
import pytest
from virtual import REFEREE, Virtual, press

from companion.core import command as c
from companion.core import event as e
from companion.core import observation
from companion.core.codec import Codec
from companion.core.ruling import breach

CODEC = Codec(k.GAME)


@pytest.mark.parametrize(
    "command",
    [
        c.Undo(),
        k.Add(seat="s1", number=3),
        c.Replace(entry=4, command=k.Take(number=2), why="misread", orphans=(5, 6)),
        c.Insert(before=4, command=c.Propose(command=k.Take(number=2), reading="x", confidence=0.5), why="y"),
    ],
)
def test_commands_come_back_as_they_went(command: c.Command) -> None:
    raw = CODEC.encode(command)
    assert CODEC.command(raw) == command
    assert b"\n" not in raw


def test_events_and_entries_come_back_as_they_went() -> None:
    refused = e.Refused(command=k.Take(number=2), ruling=breach("COUNT-2", "No.", "s1"))
    replaced = e.Replaced(entry=4, command=k.Take(number=1), events=(k.Taken(number=1), refused), why="w")
    assert CODEC.event(CODEC.encode(replaced)) == replaced
    entry = e.Entry(
        n=7,
        at_ns=1,
        wall_ms=2,
        actor=REFEREE,
        key="k",
        command=c.Undo(),
        events=(replaced,),
        seen=(press(1, 5),),
    )
    assert CODEC.entry(CODEC.encode(entry)) == entry


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{}", b"[]", b"null", b'{"do":"Nonsense"}', b'{"do":"Add","seat":"s1"}', b"\xff",
        b'{"do":"Add","seat":"s1","number":"3"}', b'{"do":"Add","seat":"s1","number":3,"and":1}',
        b'{"do":"Replace","entry":1,"why":"x","command":{"do":"Nonsense"}}', b'{"do":"Undo"}}',
    ],
)  # fmt: skip
def test_what_is_no_command_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        CODEC.command(raw)


def test_equal_states_have_equal_hashes_and_others_do_not() -> None:
    one, two = Virtual(), Virtual()
    for v in (one, two):
        v.give(k.Add(seat="s1", number=3))
    assert CODEC.state_hash(one.sitting) == CODEC.state_hash(two.sitting)
    turned = msgspec.structs.replace(two.sitting, options=dict(reversed(two.sitting.options.items())))
    assert CODEC.state_hash(turned) == CODEC.state_hash(one.sitting)
    two.give(k.Add(seat="s2", number=1))
    assert CODEC.state_hash(one.sitting) != CODEC.state_hash(two.sitting)


def test_every_observation_that_there_is_can_be_read_back_from_a_journal() -> None:
    kinds = {
        kind for kind in vars(observation).values()
        if isinstance(kind, type) and issubclass(kind, observation.Observed) and kind is not observation.Observed
    }  # fmt: skip
    assert kinds == set(typing.get_args(observation.Observation))
