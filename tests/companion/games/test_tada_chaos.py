"""Whatever arrives in whatever state: no exception, no card lost, no secret shown, and the journal refolds."""

from __future__ import annotations

import typing
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tada_table import CLOCK, HOUSE, PAD, RIA, TadaTable, small_deck

from companion.core import command as k
from companion.core import game as core
from companion.core.clock import Stamp
from companion.core.codec import Codec
from companion.core.command import Command
from companion.core.event import Refused
from companion.core.observation import DieSeen
from companion.core.seat import Actor, Role
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.model import deck_of

SEATS = ("s1", "s1", "s2", "s2", "s3", "s3", "s4", "s5", "s9", "")
WORDS = {
    "seat": SEATS, "caster": SEATS, "target": SEATS, "of": ("place", "win", "feat", "effect", "lock", "x"),
    "symbol": ("arrow", "burst", "spiral", "wand", "?"), "name": ("Gus", "Ann", ""), "option": tuple(GAME.options),
    "feat": ("", "no-thumbs", "stargazer", "none such"), "spell": ("jelly-knees", "penguin-butler", "none such"),
}  # fmt: skip


def field_values(name: str, type_: Any) -> st.SearchStrategy[Any]:
    """Random values of a command's field: of its type, near what the table knows."""
    if name in WORDS:
        return st.sampled_from(WORDS[name])
    if name in ("symbols", "winners"):
        return st.lists(st.sampled_from(WORDS["symbol" if name == "symbols" else "seat"]), max_size=7).map(
            tuple
        )
    if name == "order":
        return st.lists(st.lists(st.sampled_from(SEATS), max_size=3).map(tuple), max_size=4).map(tuple)
    if name == "stamp":
        return st.none() | st.builds(
            Stamp, at_ns=st.integers(0, 2_000_000_000_000), u_ns=st.integers(0, 10**9),
            clock=st.sampled_from(["", "box/1"]), own_u_ns=st.integers(0, 10**6),
        )  # fmt: skip
    if name == "value":
        return st.sampled_from(
            [*(v for choices in GAME.choices.values() for v in choices), True, False, 0, 5]
        )
    if name == "command":
        return st.deferred(lambda: plain_commands)
    if name in ("orphans", "evidence"):
        return st.just(())
    if name in ("entry", "before", "proposal", "slam"):
        return st.integers(-1, 400)
    if type_ is bool:
        return st.booleans()
    if type_ is int:
        return st.sampled_from([*range(-1, 7)] * 3 + [2**63 - 1, -(2**63)])
    if type_ == int | None:
        return st.none() | st.integers(-1, 10**10)
    if type_ is float:
        return st.floats(-2, 12)
    return st.text(max_size=5)


def built(kind: type[Command]) -> st.SearchStrategy[Command]:
    if kind is k.ChangeOption:
        values = {name: (*GAME.choices.get(name, (True, False, 2)), "x") for name in GAME.options}
        pairs = [(name, value) for name, of in values.items() for value in of if name != "dealing"]
        return st.sampled_from([*pairs, ("dealing", "table")]).map(
            lambda p: k.ChangeOption(option=p[0], value=p[1])
        )
    if kind is k.CorrectDie:
        faces = st.sampled_from([*WORDS["symbol"], 1, 6, ""])
        places = st.none() | st.tuples(
            st.sampled_from(SEATS), st.sampled_from(["0", "1", "5", "²", "", "77"])
        )
        dice = st.builds(
            DieSeen, kind=st.just("tada"), value=st.none() | faces, box_px=st.just((0, 0, 9, 9)),
            confidence=st.floats(0, 1), on=places,
        )  # fmt: skip
        frames = st.integers(-1, 9)
        return st.builds(
            k.CorrectDie, source=st.just("cam"), frame=frames, die=dice, value=faces, learn=st.booleans()
        )
    hints = typing.get_type_hints(kind)
    names = [field.name for field in msgspec.structs.fields(kind)]
    return st.builds(kind, **{name: field_values(name, hints[name]) for name in names})


PLAIN = [kind for kind in (*k.COMMANDS, *c.COMMANDS) if not kind.is_correction]
plain_commands = st.one_of([built(kind) for kind in PLAIN])
all_commands = st.one_of([built(kind) for kind in (*k.COMMANDS, *c.COMMANDS)])
anybody = st.sampled_from([RIA, PAD, CLOCK, Actor(Role.PUBLIC), *(Actor(Role.SEAT, seat=x) for x in SEATS)])
RIGHTFUL = {Role.REFEREE: RIA, Role.CLOCK: CLOCK, Role.SENSOR: PAD}
STEPS = st.lists(
    st.tuples(st.integers(0, 18), all_commands, st.none() | st.none() | anybody, st.integers(0, 900)),
    min_size=8,
    max_size=30,
)
"""So many usual steps, then one of anything by who may give it or by anybody, after so many milliseconds."""
DECKS = {"house": HOUSE, "small": small_deck(13, 2), "tiny": small_deck(6, 1)}
REACHED: Counter[str] = Counter()
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "dead_heat": st.sampled_from(["both", "roll_off", "referee"]),
        "late_strike": st.sampled_from(["move_up", "recast"]),
        "void_slam": st.sampled_from(["fails", "may_go_on"]),
        "locks": st.sampled_from(["camera", "click", "untracked"]),
        "in_turn": st.booleans(),
        "call_required": st.booleans(),
        "round_clock_s": st.sampled_from([0, 12]),
    },
)


def cards(table: TadaTable) -> Counter[str]:
    """Every spell card and where it is: each must be in exactly one place."""
    game = table.game
    held = [card for hand in (*game.hands.values(), *game.scored.values()) for card in hand]
    return Counter([*game.deck, *game.discard, *held])


def feats(table: TadaTable) -> Counter[str]:
    """Every feat card."""
    return Counter(
        [*table.game.feats, *table.game.feat_discard, *([table.game.feat] if table.game.feat else [])]
    )


def look(table: TadaTable) -> None:
    """Everything that may be asked of a table, for everybody."""
    for who in ("referee", "public", *(seat.id for seat in table.sitting.seats)):
        table.view(who)
    assert len(GAME.standings(table.sitting)) == len(table.sitting.seats)
    GAME.deadlines(table.sitting)
    GAME.policy(table.sitting, 3)


def aimed(table: TadaTable, command: Command) -> Command:
    """The command with its numbers turned to something that exists where that is possible."""
    size = len(table.entries)
    if isinstance(command, c.VerifySlam):
        slams = [(who, s.n) for who, caster in sorted(table.game.casters.items()) for s in caster.slams]
        who, slam = slams[command.slam % len(slams)] if slams else (command.seat, command.slam)
        return msgspec.structs.replace(command, seat=who, slam=slam)
    if isinstance(command, k.Confirm | k.Reject) and table.sitting.proposals:
        open_ = table.sitting.proposals
        return msgspec.structs.replace(command, proposal=open_[command.proposal % len(open_)].id)
    if isinstance(command, c.EnterOrder):
        seats = [seat for group in command.order for seat in group if seat in table.game.casters]
        return msgspec.structs.replace(command, order=tuple((seat,) for seat in dict.fromkeys(seats)))
    if isinstance(command, k.Void):
        command = msgspec.structs.replace(command, entry=max(1, size - command.entry % 30))
        return msgspec.structs.replace(command, orphans=table.orphans(command))
    if isinstance(command, k.Replace):
        command = msgspec.structs.replace(command, entry=max(1, size - command.entry % 30))
        return msgspec.structs.replace(command, orphans=table.orphans(command))
    if isinstance(command, k.Insert):
        command = msgspec.structs.replace(command, before=max(1, size - command.before % 30))
        return msgspec.structs.replace(command, orphans=table.orphans(command))
    return command


def usual_command(table: TadaTable, salt: int) -> Command:
    """What a sensible referee does next; a stopped table is resumed."""
    nothing = k.Resume()
    return nothing if table.sitting.stopped_at_ns is not None else GAME.policy(table.sitting, salt) or nothing


def check(table: TadaTable, command: Command, who: Actor, wait_ms: int) -> None:
    """One order after a while, and what must hold behind it."""
    ms = table.now_ms + wait_ms
    table.pass_time(ms)
    before = table.game
    facts = table.order(command, ms, who)
    if core.is_refused(facts):
        assert [type(fact) for fact in facts] == [Refused]
        assert table.game == before
    REACHED[table.game.phase] += 1


@pytest.mark.timeout(300)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(players=st.integers(1, 6), options=OPTIONS, deck=st.sampled_from(sorted(DECKS)), steps=STEPS)
@example(players=3, options={}, deck="house", steps=[(18, k.Reject(proposal=-1), None, 0)] * 20)
def test_no_order_in_any_state_breaks_the_table(
    players: int, options: dict[str, Any], deck: str, steps: list[Any]
) -> None:
    table = TadaTable(players, deck=DECKS[deck], **options)
    is_whole = True
    for number, (usual, anything, actor, wait_ms) in enumerate(steps):
        for step in range(usual):
            check(table, usual_command(table, 100 * number + step), RIA, 700)
        rightful = next((actor for role, actor in RIGHTFUL.items() if role in anything.by), RIA)
        check(table, aimed(table, anything), actor or rightful, wait_ms)
        is_whole = is_whole and not anything.is_correction and table.sitting.options["dealing"] == "companion"
        if is_whole:
            assert cards(table) == Counter(card.id for card in deck_of(table.sitting).spell)
            assert feats(table) == Counter(feat.id for feat in deck_of(table.sitting).feat)
        look(table)
    assert table.refold() == table.sitting
    codec = Codec(GAME)
    assert [codec.entry(codec.encode(entry)) for entry in table.entries] == table.entries


def test_the_random_evenings_reached_every_step_of_a_round() -> None:
    assert set(REACHED) == {
        "draw",
        "feat",
        "choose",
        "ready",
        "countdown",
        "cast",
        "resolve",
        "effects",
        "over",
    }
