"""Laws that hold for every game of the catalogue; a game that is registered is tried by them at once."""

from __future__ import annotations

import random
import re
from typing import Any

import msgspec
import pytest
from any_word import AnyWord
from disguise import DISGUISES, OPEN_TO_ALL, SECRET
from filled import fills, is_free, listed
from virtual import REFEREE, Virtual
from walks import ALL, Walk, viewers, visited

from companion.core import command as c
from companion.core import event as e
from companion.core import history
from companion.core.codec import Codec
from companion.core.game import Game, Moment, Sitting, decide, evolve, is_refused, refusal
from companion.core.seat import PUBLIC, Actor, Role, Viewer
from companion.core.show import show
from companion.runtime.announce import core_cues

RULE_ID = re.compile(r"[A-Z]+-\d+")
EVENINGS = (1, 2, 3)
games = pytest.mark.parametrize("name", sorted(ALL))
evenings = pytest.mark.parametrize("seed", EVENINGS)


def bytes_of(sitting: Sitting[Any]) -> bytes:
    return msgspec.json.encode(sitting, order="deterministic")


def order(sitting: Sitting[Any], command: c.Command, actor: Actor = REFEREE) -> c.Order:
    return c.Order(command=command, actor=actor, at_ns=sitting.at_ns + 1_000_000, key="tried")


def options_of(game: Game[Any]) -> list[dict[str, Any]]:
    """The default house rules, and each other value of each of them."""
    found: list[dict[str, Any]] = [{}]
    for option, default in game.options.items():
        if isinstance(default, bool):
            found.append({option: not default})
        found += [{option: value} for value in game.choices.get(option, ()) if value != default]
    return found


ENDS = [(name, options) for name in sorted(ALL) for options in options_of(ALL[name])]


@games
@evenings
def test_whatever_is_offered_is_accepted(name: str, seed: int) -> None:
    game, tried = ALL[name], 0
    codec = Codec(game)
    for sitting in visited(name, seed):
        for viewer, actor in viewers(sitting):
            for action in listed(show(game, sitting, viewer)):
                refused, accepted = [], 0
                for command in fills(codec, action):
                    ruling = refusal(decide(game, sitting, order(sitting, command, actor)))
                    accepted += ruling is None
                    refused += [(command, ruling)] if ruling else []
                    tried += 1
                assert accepted, (viewer, action, refused)
                assert is_free(action) or not refused, (viewer, action, refused)
    assert tried > len(visited(name, seed))


@games
@evenings
def test_any_command_from_anybody_gives_facts_or_a_ruling(name: str, seed: int) -> None:
    game, chance = ALL[name], random.Random(seed)
    words, refused = AnyWord(game, chance), 0
    actors = [REFEREE, Actor(Role.SEAT, "s1"), Actor(Role.SEAT, "s99"), Actor(Role.SENSOR), Actor(Role.CLOCK)]
    for sitting in visited(name, seed):
        words.learn(sitting)
        for _ in range(12):
            given = order(sitting, words.command(), chance.choice([*actors, Actor(Role.PUBLIC)]))
            before = bytes_of(sitting)
            facts = decide(game, sitting, given)
            assert facts, given
            assert facts == decide(game, sitting, given), "decided twice, decided alike"
            assert bytes_of(sitting) == before
            ruling = refusal(facts)
            if ruling is not None:
                refused += 1
                assert len(facts) == 1
                assert RULE_ID.fullmatch(ruling.rule)
                assert ruling.because.endswith(".")
    assert refused > len(visited(name, seed))


@games
@evenings
def test_what_is_decided_can_be_evolved_ruled_and_cued(name: str, seed: int) -> None:
    game, chance = ALL[name], random.Random(seed)
    words, codec = AnyWord(game, chance), Codec(game)
    for sitting in visited(name, seed):
        words.learn(sitting)
        for _ in range(6):
            given = order(sitting, words.command())
            facts = decide(game, sitting, given)
            entry = e.Entry(
                n=999,
                at_ns=given.at_ns,
                wall_ms=0,
                actor=REFEREE,
                key="k",
                command=given.command,
                events=facts,
            )
            assert codec.entry(codec.encode(entry)) == entry, "the journal gives back what it was given"
            after = sitting
            for event in facts:
                before, after = after, evolve(game, after, event, Moment(entry=999, at_ns=given.at_ns))
                cues = (*core_cues(entry, event), *game.cues(before, event, after))
                assert all(cue.text for cue in cues), "every cue has words"
            for viewer, _ in (*viewers(after), (PUBLIC, None)):
                show(game, after, viewer)
            game.deadlines(after)
            game.standings(after)


@games
def test_facts_of_one_moment_can_be_evolved_at_any_other(name: str) -> None:
    """A correction puts later facts behind an earlier table that they were not made for."""
    game, chance = ALL[name], random.Random(7)
    walk = Walk(game, 5)
    tables = list(walk.steps(200))
    facts = [event for entry in walk.v.table.entries[1:] for event in entry.events]
    for _ in range(1500):
        sitting, event = chance.choice(tables), chance.choice(facts)
        before = bytes_of(sitting)
        after = evolve(game, sitting, event, Moment(entry=999, at_ns=sitting.at_ns))
        show(game, after, chance.choice(viewers(sitting))[0])
        assert bytes_of(sitting) == before


@games
@evenings
def test_evolve_takes_any_fact_at_all(name: str, seed: int) -> None:
    game, words = ALL[name], AnyWord(ALL[name], random.Random(seed))
    for sitting in visited(name, seed):
        words.learn(sitting)
        for _ in range(5):
            event = words.event()
            moment = Moment(entry=999, at_ns=sitting.at_ns)
            after = evolve(game, sitting, event, moment)
            assert after == evolve(game, sitting, event, moment)


@games
@evenings
def test_a_refold_equals_the_live_table(name: str, seed: int) -> None:
    walk = Walk(ALL[name], seed)
    for turn, sitting in enumerate(walk.steps(220)):
        if turn % 20 == 0:
            assert sitting == walk.v.restarted().sitting
    assert walk.v.sitting == history.effective(walk.v.game, walk.v.table.entries)[1]
    assert walk.v.codec.state_hash(walk.v.sitting) == walk.v.codec.state_hash(walk.v.restarted().sitting)


@games
@evenings
def test_undo_equals_the_prefix(name: str, seed: int) -> None:
    walk, undone = Walk(ALL[name], seed + 50), 0
    v = walk.v
    for _ in range(150):
        before, version = v.sitting, v.table.version
        walk.by_action() if walk.chance.random() < 0.3 else walk.by_policy()
        new = v.table.entries[version:]
        played = [entry for entry in new if any(not event.is_bookkeeping for event in entry.events)]
        if len(new) == len(played) == 1:
            after = v.sitting
            assert v.give(c.Undo()).is_accepted
            assert v.sitting == before
            assert v.give(c.Void(entry=v.table.version, why="it was right")).is_accepted
            assert v.sitting == after
            undone += 1
    assert undone > 15


@games
@evenings
def test_no_view_leaks_anothers_secret(name: str, seed: int) -> None:
    game, chance, differing = ALL[name], random.Random(seed), 0
    assert name in DISGUISES, f"say in disguise.py what {name} keeps secret"
    for sitting in visited(name, seed):
        for seat in sitting.playing():
            other = DISGUISES[name](sitting, seat.id, chance)
            differing += other != sitting
            for viewer in (PUBLIC, *(Viewer(Role.SEAT, s.id) for s in sitting.seats if s.id != seat.id)):
                assert show(game, other, viewer) == show(game, sitting, viewer), (seat.id, viewer)
    assert differing > 10 or name in OPEN_TO_ALL


@games
@evenings
def test_others_learn_of_a_secret_order_only_that_it_was_given(name: str, seed: int) -> None:
    game = ALL[name]
    codec = Codec(game)
    for sitting in visited(name, seed):
        for seat in sitting.playing():
            heard = set()
            for action in listed(show(game, sitting, Viewer(Role.SEAT, seat.id))):
                for command in fills(codec, action) if isinstance(action.command, SECRET[name]) else ():
                    given = order(sitting, command, Actor(Role.SEAT, seat.id))
                    facts = decide(game, sitting, given)
                    entry = e.Entry(
                        n=999, at_ns=given.at_ns, wall_ms=0, actor=given.actor, key="k", command=command,
                        events=facts,
                    )  # fmt: skip
                    after, cues = sitting, []
                    for event in facts:
                        before, after = (
                            after,
                            evolve(game, after, event, Moment(entry=999, at_ns=given.at_ns)),
                        )
                        cues += [*core_cues(entry, event), *game.cues(before, event, after)]
                    others = [PUBLIC, *(Viewer(Role.SEAT, s.id) for s in sitting.seats if s.id != seat.id)]
                    shown = [codec.encode(show(game, after, viewer)) for viewer in others]
                    said = [codec.encode(cue) for cue in cues if cue.target not in (seat.id, "referee")]
                    heard.add((*shown, *said))
            assert len(heard) <= 1


@pytest.mark.parametrize(("name", "options"), ENDS, ids=str)
def test_random_play_ends(name: str, options: dict[str, Any]) -> None:
    game = ALL[name]
    chance = random.Random(f"{name} {options}")
    walk = Walk(
        game, chance.randrange(10**6), options, players=chance.randint(game.min_seats, game.max_seats)
    )
    for _ in range(4000):
        if game.is_over(walk.v.sitting):
            break
        assert walk.by_policy(), (walk.v.sitting.game, walk.v.table.entries[-1])
    assert game.is_over(walk.v.sitting)
    assert game.standings(walk.v.sitting)[0].place == 1
    assert walk.v.restarted().sitting == walk.v.sitting


@games
def test_the_same_seed_plays_the_same_evening(name: str) -> None:
    one, two = Walk(ALL[name], 9), Walk(ALL[name], 9)
    for walk in (one, two):
        for _ in walk.steps(80):
            pass
    assert one.v.log.payloads == two.v.log.payloads


@games
def test_a_game_is_refused_the_opening_of_another(name: str) -> None:
    v = Virtual(ALL[name])
    first = v.table.entries[0]
    opened = msgspec.structs.replace(first.events[0], game="another")
    with pytest.raises(ValueError, match="does not begin"):
        history.opening(v.game, msgspec.structs.replace(first, events=(opened,)))


@games
def test_a_refused_order_changes_no_game(name: str) -> None:
    game, words = ALL[name], AnyWord(ALL[name], random.Random(3))
    for sitting in visited(name):
        words.learn(sitting)
        facts = decide(game, sitting, order(sitting, words.command()))
        if is_refused(facts):
            after = evolve(game, sitting, facts[0], Moment(entry=999, at_ns=sitting.at_ns))
            assert after.game == sitting.game
