"""Corrections: what counts afterwards, what loses its effect, and that the live table always equals the fold."""

from __future__ import annotations

import random

import counting as k
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual import REFEREE, Virtual, press

from companion.core import command as c
from companion.core import event as e
from companion.core import history
from companion.core.clock import Stamp
from companion.core.game import Sitting
from companion.core.seat import Actor, Role
from companion.runtime.table import decoded


def refold(v: Virtual) -> Sitting[k.Sum]:
    """The state by the bytes of the journal alone."""
    return history.effective(v.game, tuple(decoded(v.codec, v.log.payloads)))[1]


def with_total(*numbers: int) -> Virtual:
    """A table with one entry a number, from entry 4: positive numbers are added, negative ones taken."""
    v = Virtual()
    for number in numbers:
        command = k.Add(seat="s1", number=number) if number > 0 else k.Take(number=-number)
        assert v.give(command).is_accepted
    return v


def corrected(v: Virtual, command: c.Command) -> str:
    """Order a correction with the orphans that its preview names; gives the rule of a refusal, else empty."""
    if isinstance(command, c.Void | c.Replace | c.Insert):
        order = c.Order(command=command, actor=REFEREE, at_ns=v.now_ns, key="p")
        command = msgspec.structs.replace(command, orphans=history.orphans(v.game, v.table.entries, order))
    answer = v.give(command)
    assert v.sitting == refold(v)
    return "" if answer.ruling is None else answer.ruling.rule


@pytest.mark.rule("TABLE-10", "ok")
def test_undo_takes_back_the_last_thing_played_and_then_the_one_before() -> None:
    v = with_total(5, 3)
    v.give(c.OpenReview())
    v.give(k.Take(number=50))
    for total in (5, 0):
        assert corrected(v, c.Undo()) == ""
        assert v.sitting.game.total == total
    assert v.sitting.held is not None, "bookkeeping is passed over"
    assert corrected(v, c.Undo()) == "TABLE-10"


def test_voiding_an_undo_brings_back_what_it_took() -> None:
    v = with_total(5)
    corrected(v, c.Undo())
    undo = v.table.version
    assert corrected(v, c.Void(entry=undo, why="it was right")) == ""
    assert v.sitting.game.total == 5
    assert corrected(v, c.Void(entry=v.table.version, why="it was not")) == ""
    assert v.sitting.game.total == 0


@pytest.mark.rule("TABLE-10", "breach")
def test_orphans_must_be_named() -> None:
    v = with_total(5, -4)
    answer = v.give(c.Void(entry=4, why="misread"))
    assert answer.ruling is not None and answer.ruling.rule == "TABLE-10"
    assert "lose their effect: 5." in answer.ruling.because
    assert v.give(c.Void(entry=4, why="misread", orphans=(5, 6))).ruling is not None
    assert v.give(c.Void(entry=4, why="misread", orphans=(5,))).is_accepted
    lines, sitting = history.effective(v.game, v.table.entries)
    (orphan,) = [line for line in lines if line.orphan]
    assert (orphan.entry.n, orphan.orphan) == (5, "COUNT-2: So much is not there.")
    assert sitting.game.total == 0


def test_an_orphan_comes_to_life_again_when_it_is_legal_again() -> None:
    v = with_total(5, -4)
    corrected(v, c.Void(entry=4, why="misread"))
    assert corrected(v, c.Insert(before=5, command=k.Add(seat="s2", number=9), why="missed")) == ""
    assert v.sitting.game.total == 5


def test_undo_passes_over_orphans() -> None:
    v = with_total(2, 5, -4)
    corrected(v, c.Void(entry=5, why="misread"))
    assert corrected(v, c.Undo()) == ""
    assert v.sitting.game.total == 0


def test_replace_stands_at_the_instant_of_what_it_replaces() -> None:
    v = with_total(5, 2)
    assert corrected(v, c.Replace(entry=4, command=k.Add(seat="s2", number=1), why="misread")) == ""
    assert dict(v.sitting.game.by_seat) == {"s2": 1, "s1": 2}
    kept = history.corrected(v.table.entries)
    assert [(entry.n, entry.at_ns) for entry in kept] == [(n, 0) for n in (1, 2, 3, 4, 5)]
    assert corrected(v, c.Replace(entry=4, command=k.Add(seat="s2", number=8), why="again")) == ""
    assert v.sitting.game.total == 10
    assert corrected(v, c.Void(entry=7, why="no")) == "", "the second replacement goes, the first stands"
    assert v.sitting.game.total == 3


def test_what_is_put_in_must_be_legal_there() -> None:
    v = with_total(5, 2)
    assert corrected(v, c.Replace(entry=4, command=k.Take(number=1), why="x")) == "COUNT-2"
    assert corrected(v, c.Insert(before=4, command=k.Take(number=1), why="x")) == "COUNT-2"
    assert corrected(v, c.Insert(before=5, command=k.Take(number=5), why="x")) == ""
    assert v.sitting.game.total == 2


def test_what_is_put_in_is_judged_without_the_orphans_before_it() -> None:
    v = Virtual()
    for command in (
        k.OpenWindow(),
        k.Slam(seat="s1", stamp=Stamp(at_ns=1, u_ns=1)),
        k.Add(seat="s1", number=3),
    ):
        assert v.give(command).is_accepted
    corrected(v, c.Void(entry=4, why="no window"))
    assert v.sitting.game.total == 3
    assert corrected(v, c.Insert(before=6, command=k.Take(number=1), why="x")) == "COUNT-2"


def test_an_inserted_entry_can_be_corrected_itself() -> None:
    v = with_total(5)
    assert corrected(v, c.Insert(before=4, command=k.Add(seat="s2", number=2), why="missed")) == ""
    inserted = v.table.version
    assert corrected(v, c.Replace(entry=inserted, command=k.Add(seat="s2", number=3), why="three")) == ""
    assert v.sitting.game.total == 8
    assert corrected(v, c.Insert(before=inserted, command=k.Add(seat="s3", number=1), why="one more")) == ""
    assert [entry.events[0] for entry in history.corrected(v.table.entries)[3:]] == [
        k.Added(seat="s3", number=1), k.Added(seat="s2", number=3), k.Added(seat="s1", number=5),
    ]  # fmt: skip
    assert corrected(v, c.Void(entry=inserted, why="never was")) == ""
    assert dict(v.sitting.game.by_seat) == {"s3": 1, "s1": 5}, "what was put before it stays"


@pytest.mark.rule("TABLE-10", "breach")
@pytest.mark.parametrize(
    "command",
    [
        c.Void(entry=1, why="x"),
        c.Void(entry=0, why="x"),
        c.Void(entry=99, why="x"),
        c.Replace(entry=1, command=k.Take(number=1), why="x"),
        c.Replace(entry=99, command=k.Take(number=1), why="x"),
        c.Insert(before=1, command=k.Take(number=1), why="x"),
        c.Insert(before=-3, command=k.Take(number=1), why="x"),
        c.Replace(entry=4, command=c.Undo(), why="x"),
    ],
)
def test_what_cannot_be_corrected_is_refused(command: c.Command) -> None:
    v = with_total(5)
    before = v.sitting.game
    assert corrected(v, command) == "TABLE-10"
    assert v.sitting.game == before


@pytest.mark.rule("TABLE-1", "breach")
@pytest.mark.parametrize(
    "actor", [Actor(Role.SEAT, "s1"), Actor(Role.SENSOR), Actor(Role.CLOCK), Actor(Role.PUBLIC)]
)
def test_only_the_referee_corrects(actor: Actor) -> None:
    v = with_total(5)
    answer = v.give(c.Undo(), actor)
    assert answer.ruling is not None and answer.ruling.rule == "TABLE-1"


def test_corrections_work_while_the_table_is_stopped() -> None:
    v = with_total(5)
    v.give(c.Stop())
    assert corrected(v, c.Undo()) == ""
    assert v.sitting.stopped_at_ns is not None
    assert v.sitting.game.total == 0


SEAT = st.sampled_from(["s1", "s2", "s3", "s9"])
NUMBER = st.integers(-1, 12)
PLAIN = st.one_of(
    st.builds(k.Add, seat=SEAT, number=NUMBER),
    st.builds(k.Take, number=NUMBER),
    st.builds(k.Hide, seat=SEAT, number=NUMBER),
    st.just(k.OpenWindow()),
    st.just(c.Stop()),
    st.just(c.Resume()),
    st.just(c.OpenReview()),
    st.just(c.CloseReview()),
    st.builds(c.ProvePad, seat=SEAT),
    st.builds(c.Leave, seat=SEAT),
    st.builds(c.Join, name=st.sampled_from(["Dora", "Emil", "Ann", " "])),
    st.builds(c.ChangeOption, option=st.just("goal"), value=st.sampled_from([20, 60, 61, True])),
    st.builds(
        c.Propose, command=st.builds(k.Take, number=NUMBER), reading=st.just("x"), confidence=st.just(0.5)
    ),
    st.builds(c.Confirm, proposal=st.integers(1, 20)),
    st.builds(c.Reject, proposal=st.integers(1, 20)),
)
ENTRY = st.integers(1, 30)
CORRECTION = st.one_of(
    st.just(c.Undo()),
    st.builds(c.Void, entry=ENTRY, why=st.just("x")),
    st.builds(c.Replace, entry=ENTRY, command=PLAIN, why=st.just("x")),
    st.builds(c.Insert, before=ENTRY, command=PLAIN, why=st.just("x")),
)
ACTOR = st.sampled_from([REFEREE] * 5 + [Actor(Role.SEAT, "s1"), Actor(Role.SEAT, "s2")])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.one_of(PLAIN, PLAIN, CORRECTION), ACTOR, st.integers(0, 2500)), max_size=25))
def test_the_live_table_equals_the_fold_whatever_is_ordered(
    orders: list[tuple[c.Command, Actor, int]],
) -> None:
    v = Virtual()
    chance = random.Random(len(orders))
    for n, (command, actor, pause_ms) in enumerate(orders):
        v.wait_ms(pause_ms)
        if chance.random() < 0.3:
            v.step(press(n, v.now_ns / 1e6 - chance.random() * 900, 1 + n % 3))
        if command.is_correction and actor == REFEREE:
            corrected(v, command)
        else:
            v.give(command, actor)
        assert v.sitting == refold(v)
        assert v.restarted().sitting == v.sitting


@settings(max_examples=80, deadline=None)
@given(st.lists(PLAIN, max_size=12), PLAIN)
def test_undo_equals_the_prefix(orders: list[c.Command], last: c.Command) -> None:
    v = Virtual()
    for command in orders:
        v.give(command)
    before = v.sitting
    answer = v.give(last)
    is_played = any(not event.is_bookkeeping for event in v.table.entries[-1].events)
    if answer.is_accepted and is_played:
        assert v.give(c.Undo()).is_accepted
        assert v.sitting == before


def test_a_correction_of_what_never_was_is_no_correction() -> None:
    v = Virtual()
    assert history.correction_of(v.table.entries[1]) is None
    facts = history.correct(v.game, v.table.entries, v.order(k.Take(number=1)))
    assert isinstance(facts[0], e.Refused)
