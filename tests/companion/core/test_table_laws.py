"""The laws of every table (docs/rules/table.md), tried on the smallest game."""

from __future__ import annotations

import counting as k
import msgspec
import pytest
from virtual import MS, REFEREE, Virtual

from companion.core import command as c
from companion.core import event as e
from companion.core.observation import DeviceChanged
from companion.core.seat import PUBLIC, Accommodation, Actor, Role
from companion.core.show import show

ANN = Actor(Role.SEAT, "s1")
CLOCK = Actor(Role.CLOCK)
SENSOR = Actor(Role.SENSOR, name="box-7")
ALOUD = Actor(Role.PUBLIC)


def refused_by(v: Virtual, command: c.Command, actor: Actor = REFEREE) -> str:
    """The id of the rule by which the table refuses this; the game stays as it was. Empty when it accepts."""
    before = v.sitting.game
    answer = v.give(command, actor)
    if answer.ruling is None:
        return ""
    assert v.sitting.game == before
    return answer.ruling.rule


@pytest.mark.rule("TABLE-1", "ok")
def test_each_role_gives_its_own_orders() -> None:
    v = Virtual()
    assert refused_by(v, k.Add(seat="s1", number=1), ANN) == ""
    assert refused_by(v, k.Add(seat="s2", number=1), REFEREE) == ""
    assert v.sitting.game.total == 2


@pytest.mark.rule("TABLE-1", "breach")
@pytest.mark.parametrize(
    ("command", "actor"),
    [
        (k.OpenWindow(), ANN),
        (k.OpenWindow(), SENSOR),
        (k.Add(seat="s2", number=1), ANN),
        (k.Add(seat="s1", number=1), ALOUD),
        (k.CloseWindow(), REFEREE),
        (c.Resume(), ANN),
        (c.Undo(), ANN),
        (c.Void(entry=4, why="mine"), SENSOR),
        (c.Confirm(proposal=1), ANN),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, c.Command) else value.role.value,
)
def test_what_a_role_may_not_order_is_refused(command: c.Command, actor: Actor) -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=1))
    assert refused_by(v, command, actor) == "TABLE-1"


@pytest.mark.rule("TABLE-2", "ok")
def test_a_stop_holds_the_clocks_and_a_resume_lets_them_run_on() -> None:
    v = Virtual()
    v.give(k.OpenWindow())
    v.wait_ms(2000)
    assert refused_by(v, c.Stop(why="phone"), ANN) == ""
    v.wait_ms(60_000)
    assert v.sitting.play_ns(v.now_ns) == 2000 * MS
    assert v.sitting.game.window is not None
    assert refused_by(v, c.Resume()) == ""
    v.wait_ms(2999)
    assert v.sitting.game.window is not None
    v.wait_ms(1)
    assert v.sitting.game.window is None


@pytest.mark.rule("TABLE-2", "breach")
def test_nothing_is_played_at_a_stopped_table() -> None:
    v = Virtual()
    assert refused_by(v, c.Resume()) == "TABLE-2"
    v.give(c.Stop())
    assert refused_by(v, k.Add(seat="s1", number=1), ANN) == "TABLE-2"
    assert v.restarted().sitting.stopped_at_ns is not None


@pytest.mark.rule("TABLE-2", "ok")
def test_what_puts_things_right_may_be_proposed_and_confirmed_at_a_stopped_table() -> None:
    v = Virtual()
    v.give(c.Stop())
    wish = c.Propose(command=c.AssignPad(seat="s1", device="phone-1"), reading="Ann's phone", confidence=1)
    assert refused_by(v, wish, ANN) == ""
    assert refused_by(v, c.Propose(command=k.Add(seat="s1", number=1), reading="a one", confidence=1)) == "TABLE-2"
    (asked,) = v.sitting.proposals
    assert refused_by(v, c.Confirm(proposal=asked.id)) == ""
    assert v.sitting.seats[0].device == "phone-1"
    assert refused_by(v, c.Confirm(proposal=asked.id)) == "TABLE-2"


@pytest.mark.rule("TABLE-2", "ok")
def test_a_table_that_a_program_takes_up_is_stopped() -> None:
    v = Virtual(is_running=False)
    v.give(c.Start(boot="b", wall_ms=0), CLOCK)
    assert v.sitting.stopped_at_ns == v.now_ns
    assert v.sitting.stop_why


@pytest.mark.rule("TABLE-3", "breach")
def test_nobody_sits_there() -> None:
    v = Virtual()
    assert refused_by(v, k.Add(seat="s9", number=1)) == "TABLE-3"
    assert refused_by(v, c.Leave(seat="s2")) == ""
    assert refused_by(v, k.Add(seat="s2", number=1)) == "TABLE-3"
    assert refused_by(v, c.Leave(seat="s2")) == "TABLE-3"


@pytest.mark.rule("TABLE-4", "ok")
def test_the_public_sees_the_table_as_it_was_while_a_review_is_open() -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=3))
    assert refused_by(v, c.OpenReview(why="was it three?")) == ""
    v.give(k.Add(seat="s1", number=4))
    assert show(v.game, v.sitting, PUBLIC).headline == "3 of 60"
    assert "was it three?" in show(v.game, v.sitting, PUBLIC).held
    assert refused_by(v, c.CloseReview()) == ""
    assert show(v.game, v.sitting, PUBLIC).headline == "7 of 60"


@pytest.mark.rule("TABLE-4", "breach")
def test_a_review_and_a_release_happen_once() -> None:
    v = Virtual()
    assert refused_by(v, c.CloseReview()) == "TABLE-4"
    v.give(c.OpenReview())
    assert refused_by(v, c.OpenReview()) == "TABLE-4"
    assert refused_by(v, c.ReleaseEvidence(entry=2)) == ""
    assert refused_by(v, c.ReleaseEvidence(entry=2)) == "TABLE-4"


@pytest.mark.rule("TABLE-5", "ok")
def test_a_pad_is_proven_once_and_anew_when_it_is_another() -> None:
    v = Virtual()
    assert refused_by(v, c.ProvePad(seat="s1"), SENSOR) == ""
    assert v.sitting.proven == ("s1",)
    assert refused_by(v, c.AssignPad(seat="s1", device="box-9", input=4)) == ""
    assert v.sitting.proven == ()
    assert v.sitting.seat_of("box-9", 4) == v.sitting.seat("s1")
    assert refused_by(v, c.ProvePad(seat="s1"), SENSOR) == ""


@pytest.mark.rule("TABLE-5", "breach")
def test_a_pad_has_one_owner_and_is_proven_once() -> None:
    v = Virtual()
    v.give(c.ProvePad(seat="s1"), SENSOR)
    assert refused_by(v, c.ProvePad(seat="s1"), SENSOR) == "TABLE-5"
    assert refused_by(v, c.AssignPad(seat="s2", device="box-7", input=1)) == "TABLE-5"


def proposal(v: Virtual, command: c.Command) -> int:
    """The number of a fresh proposal."""
    entry = v.give(c.Propose(command=command, reading="a three, perhaps", confidence=0.6), SENSOR).entry
    assert entry is not None
    return entry


@pytest.mark.rule("TABLE-6", "ok")
def test_a_doubtful_reading_counts_when_a_person_says_so() -> None:
    v = Virtual()
    number = proposal(v, k.Add(seat="s1", number=3))
    assert v.sitting.game.total == 0
    assert [p.id for p in v.restarted().sitting.proposals] == [number]
    assert refused_by(v, c.Confirm(proposal=number)) == ""
    assert v.sitting.game.total == 3
    assert v.sitting.proposals == ()
    other = proposal(v, k.Add(seat="s1", number=3))
    assert refused_by(v, c.Reject(proposal=other)) == ""
    assert v.sitting.game.total == 3


@pytest.mark.rule("TABLE-6", "breach")
def test_a_proposal_is_answered_once() -> None:
    v = Virtual()
    number = proposal(v, k.Add(seat="s1", number=3))
    v.give(c.Reject(proposal=number))
    assert refused_by(v, c.Confirm(proposal=number)) == "TABLE-6"
    assert refused_by(v, c.Reject(proposal=number)) == "TABLE-6"


@pytest.mark.rule("TABLE-6", "breach")
def test_what_is_confirmed_is_judged_by_the_rules_of_that_moment() -> None:
    v = Virtual(options={"goal": 4})
    number = proposal(v, k.Add(seat="s1", number=3))
    v.give(k.Add(seat="s2", number=3))
    assert refused_by(v, c.Confirm(proposal=number)) == "COUNT-1"
    assert [p.id for p in v.sitting.proposals] == [number], "TABLE-6: it was not answered"


@pytest.mark.rule("TABLE-7", "ok")
def test_an_accommodation_is_agreed_before_play() -> None:
    v = Virtual()
    order = c.SetAccommodation(seat="s2", time_factor=1.5, start_shift_ms=-2000, proxy="Dora")
    assert refused_by(v, order) == ""
    agreed = Accommodation(time_factor=1.5, start_shift_ms=-2000, proxy="Dora")
    assert show(v.game, v.sitting, PUBLIC).seats[1].accommodation == agreed


@pytest.mark.rule("TABLE-7", "breach")
@pytest.mark.parametrize(
    "order",
    [
        c.SetAccommodation(seat="s1", time_factor=0.5),
        c.SetAccommodation(seat="s1", time_factor=10.5),
        c.SetAccommodation(seat="s1", time_factor=float("nan")),
        c.SetAccommodation(seat="s1", start_shift_ms=60_001),
        c.SetAccommodation(seat="s1", proxy="D" * 41),
    ],
    ids=["too fast", "too slow", "no number", "too far", "too long a name"],
)
def test_an_accommodation_out_of_bounds_is_refused(order: c.SetAccommodation) -> None:
    assert refused_by(Virtual(), order) == "TABLE-7"


@pytest.mark.rule("TABLE-7", "breach")
def test_no_accommodation_once_play_has_begun() -> None:
    v = Virtual()
    v.give(k.Add(seat="s1", number=1))
    assert refused_by(v, c.SetAccommodation(seat="s1", time_factor=2)) == "TABLE-7"


@pytest.mark.rule("TABLE-8", "ok")
def test_a_house_rule_is_changed_by_an_entry() -> None:
    v = Virtual()
    assert refused_by(v, c.ChangeOption(option="goal", value=40)) == ""
    assert v.sitting.options["goal"] == 40
    assert v.sitting.opened.options["goal"] == 60


@pytest.mark.rule("TABLE-8", "breach")
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("goal", 60),
        ("goal", "forty"),
        ("goal", True),
        ("goal", -1),
        ("goal", 3601),
        ("loud", 1),
        ("colour", "red"),
    ],
)
def test_a_house_rule_keeps_to_its_kind_and_range(option: str, value: str | int | bool) -> None:
    assert refused_by(Virtual(), c.ChangeOption(option=option, value=value)) == "TABLE-8"


@pytest.mark.rule("TABLE-9", "ok")
def test_who_joins_gets_the_next_seat() -> None:
    v = Virtual()
    assert refused_by(v, c.Join(name=" Dora ", device="box-7", input=4)) == ""
    seat = v.sitting.seats[-1]
    assert (seat.id, seat.name, seat.letter) == ("s4", "Dora", "D")
    assert v.sitting.seat_of("box-7", 4) == seat


@pytest.mark.rule("TABLE-9", "breach")
@pytest.mark.parametrize(
    "joining",
    [
        c.Join(name=" "),
        c.Join(name="D" * 41),
        c.Join(name="Do\nra"),
        c.Join(name="Do\u202era"),
        c.Join(name="ANN "),
        c.Join(name="Dora", device="box-7", input=1),
    ],
    ids=["empty", "long", "two lines", "turned", "taken", "pad taken"],
)
def test_who_may_not_join_so(joining: c.Join) -> None:
    v = Virtual()
    assert refused_by(v, joining) == "TABLE-9"
    assert len(v.sitting.seats) == 3


@pytest.mark.rule("TABLE-9", "breach")
def test_a_full_table_is_full_until_somebody_leaves() -> None:
    v = Virtual()
    for name in ("Dora", "Emil", "Fay"):
        assert refused_by(v, c.Join(name=name)) == ""
    assert refused_by(v, c.Join(name="Gus")) == "TABLE-9"
    v.give(c.Leave(seat="s1"))
    assert refused_by(v, c.Join(name="Ann")) == ""


def counted(v: Virtual, number: int) -> int:
    """Add a number; gives its entry."""
    entry = v.give(k.Add(seat="s1", number=number)).entry
    assert entry is not None
    return entry


@pytest.mark.rule("TABLE-10", "ok")
def test_every_kind_of_correction_is_an_entry_and_changes_the_table() -> None:
    v = Virtual()
    first, second = counted(v, 1), counted(v, 2)
    written = len(v.table.entries)
    assert refused_by(v, c.Replace(entry=second, command=k.Add(seat="s1", number=5), why="misread")) == ""
    assert v.sitting.game.total == 6
    assert refused_by(v, c.Insert(before=first, command=k.Add(seat="s2", number=7), why="forgotten")) == ""
    assert v.sitting.game.total == 13
    assert refused_by(v, c.Void(entry=first, why="never happened")) == ""
    assert v.sitting.game.total == 12
    assert refused_by(v, c.Undo()) == ""
    assert len(v.table.entries) == written + 4
    assert v.restarted().sitting == v.sitting
    whys = [fact.why for entry in v.table.entries[written:] for fact in entry.events if hasattr(fact, "why")]
    assert whys == ["misread", "forgotten", "never happened", "undo"]


@pytest.mark.rule("TABLE-10", "ok")
def test_undo_leaves_the_table_as_it_was_before() -> None:
    v = Virtual()
    counted(v, 4)
    before = v.sitting.game
    counted(v, 5)
    v.give(c.Undo())
    assert v.sitting.game == before
    v.give(c.Undo())
    assert v.sitting.game.total == 0


@pytest.mark.rule("TABLE-10", "breach")
def test_a_correction_names_what_it_orphans() -> None:
    v = Virtual()
    first, taken = counted(v, 3), v.give(k.Take(number=3)).entry
    assert taken is not None
    void = c.Void(entry=first, why="it was nothing")
    answer = v.give(void)
    assert answer.ruling is not None
    assert answer.ruling.rule == "TABLE-10"
    assert str(taken) in answer.ruling.because
    assert refused_by(v, c.Void(entry=first, why="it was nothing", orphans=(taken, 99))) == "TABLE-10"
    assert refused_by(v, c.Void(entry=first, why="it was nothing", orphans=(taken,))) == ""
    assert v.sitting.game.total == 0


@pytest.mark.rule("TABLE-10", "breach")
def test_what_cannot_be_corrected() -> None:
    v = Virtual()
    assert refused_by(v, c.Undo()) == "TABLE-10"
    assert refused_by(v, c.Void(entry=1, why="all of it")) == "TABLE-10"
    assert refused_by(v, c.Void(entry=77, why="what?")) == "TABLE-10"
    assert refused_by(v, c.Insert(before=77, command=k.Take(number=1), why="where?")) == "TABLE-10"
    assert refused_by(v, c.Replace(entry=counted(v, 2), command=c.Undo(), why="turtles")) == "TABLE-10"


@pytest.mark.rule("TABLE-3", "ok")
def test_who_sits_there_is_served() -> None:
    v = Virtual()
    assert all(refused_by(v, k.Add(seat=seat.id, number=1)) == "" for seat in v.sitting.playing())
    facts = [type(fact) for entry in v.table.entries for fact in entry.events]
    assert e.Refused not in facts


def told(
    doubt: str, u_ms: float | None = 4.2, race_class: str = "ranked", limit_ms: float = 0.6
) -> DeviceChanged:
    """What a bridge says about box-7."""
    u_ns = None if u_ms is None else round(u_ms * MS)
    return DeviceChanged(
        source="box-7", seen_ns=0, uncertainty_ns=0, link="serial x", state="ready", clock_u_ns=u_ns,
        limit_ns=round(limit_ms * MS), doubt=doubt, race_class=race_class,
    )  # fmt: skip


def tell(v: Virtual, *observations: DeviceChanged) -> list[str]:
    """The names of the facts that follow."""
    made = []
    for seen in observations:
        later = msgspec.structs.replace(seen, seen_ns=v.now_ns + 1)
        entries = v.step(later, now_ms=v.now_ns / MS + 1).entries
        made += [type(fact).__name__ for entry in entries for fact in entry.events]
    return made


@pytest.mark.rule("TABLE-12", "ok")
@pytest.mark.parametrize("is_for_round", [True, False])
def test_the_referee_may_waive_a_pad_that_is_not_fit(is_for_round: bool) -> None:
    v = Virtual()
    assert tell(v, told("its radio sleeps")) == ["PadNoted"]
    assert refused_by(v, c.WaivePad(device="box-7", is_for_round=is_for_round, why="it is a party")) == ""
    assert v.sitting.is_waived("box-7")
    ruling = v.sitting.rulings[-1].ruling
    assert (ruling.rule, ruling.verdict.value) == ("TABLE-12", "ok")
    assert "box-7" in ruling.because
    assert "it is a party" in ruling.because
    assert v.restarted().sitting == v.sitting


@pytest.mark.rule("TABLE-12", "breach")
def test_what_is_fit_or_unknown_or_waived_needs_no_waiver() -> None:
    v = Virtual()
    waiver = c.WaivePad(device="box-7")
    assert refused_by(v, waiver) == "TABLE-12"
    tell(v, told(""))
    assert refused_by(v, waiver) == "TABLE-12"
    tell(v, told("", race_class="party"))
    assert refused_by(v, waiver, ANN) == "TABLE-1"
    assert refused_by(v, waiver) == ""
    assert refused_by(v, waiver) == "TABLE-12"


def test_only_news_about_a_device_is_noted() -> None:
    v = Virtual()
    assert tell(v, told("", 0.3), told("", 0.4), told("", 0.3)) == ["PadNoted"]
    assert tell(v, told("slow", 0.7), told("slow", 0.75), told("slow", 1.4)) == ["PadNoted", "PadNoted"]
    assert tell(v, told("lost", 1.4), told("lost", 1.4), told("", 0.2)) == ["PadNoted", "PadNoted"]
    silent = msgspec.structs.replace(told("slow"), limit_ns=None)
    assert tell(v, silent) == []
