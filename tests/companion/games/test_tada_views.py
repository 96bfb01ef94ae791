"""What is shown: no secret of another, no button that is refused, answers that are right, a board that can be held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tada_table import RIA, TadaTable

from companion.core import command as k
from companion.core import game as core
from companion.core.command import Command, Order
from companion.core.seat import Role, Viewer
from companion.core.show import show
from companion.core.view import Action, Field, View
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada import events as e

rule = pytest.mark.rule
VARIANTS: list[dict[str, Any]] = [
    {}, {"dead_heat": "referee", "late_strike": "recast"}, {"call_required": True, "void_slam": "may_go_on"},
    {"in_turn": True, "round_clock_s": 20}, {"dealing": "table"}, {"locks": "untracked", "dead_heat": "roll_off"},
]  # fmt: skip


def evening(steps: int = 130, n: int = 4, odd: int = 9, **options: Any) -> Iterator[TadaTable]:
    """The same table after each step of a game in which now and then something unusual happens."""
    table = TadaTable(n, **options)
    unusual: list[Command] = [
        c.Slam(seat="s1"), c.FlagBreach(seat="s2"), k.Stop(), c.GiveUp(seat="s3"), k.Join(name="Gus"), c.VoidRound(),
        k.Propose(command=c.GiveUp(seat="s4"), reading="Dot may have given up", confidence=0.5),
        k.Leave(seat="s2"), c.CallTaDa(seat="s1"), k.OpenReview(), c.EnterOrder(order=(("s1", "s3"),)), k.CloseReview(),
    ]  # fmt: skip
    yield table
    for salt in range(steps):
        if salt % odd == odd - 1:
            table.order(unusual[(salt // odd) % len(unusual)])
            yield table
        if table.sitting.stopped_at_ns is not None:
            table.do(k.Resume(), table.now_ms + 5000)
        table.order(GAME.policy(table.sitting, salt) or k.Reject(proposal=-1), table.now_ms + 800)
        yield table


# Secrets


def otherwise(table: TadaTable, viewer: Viewer) -> core.Sitting[Any]:
    """The same table with other cards wherever this viewer may not look."""
    game = table.game
    public = {caster.spell for caster in game.casters.values()}
    pool = list(reversed(game.deck))
    hands, chosen = dict(game.hands), dict(game.chosen)
    for seat, hand in game.hands.items():
        if seat == viewer.seat:
            continue
        swapped = {card: pool.pop() for card in hand if card not in public and pool}
        hands[seat] = tuple(swapped.get(card, card) for card in hand)
        if not game.casters and seat in chosen:
            chosen[seat] = hands[seat][-1] if hand else pool.pop()
    other = msgspec.structs.replace(
        game, hands=hands, chosen=chosen, deck=tuple(pool), feats=game.feats[::-1]
    )
    return msgspec.structs.replace(table.sitting, game=other)


@rule("TADA-6", "ok")
@rule("TADA-10", "ok")
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_no_view_depends_on_what_its_viewer_may_not_see(options: dict[str, Any]) -> None:
    compared, phases = 0, set()
    for table in evening(**options):
        for viewer in (Viewer(Role.PUBLIC), *(Viewer(Role.SEAT, seat.id) for seat in table.sitting.seats)):
            other = otherwise(table, viewer)
            compared += other != table.sitting
            assert show(GAME, table.sitting, viewer) == show(GAME, other, viewer)
        phases.add(table.game.phase)
    assert compared > 100 or options.get("dealing") == "table"
    assert {"draw", "choose", "ready", "cast", "resolve"} <= phases


@rule("TADA-6", "ok")
def test_a_seat_sees_its_own_hand_and_the_public_none() -> None:
    table = TadaTable(2).deal_to_choice()
    words = {who: str(msgspec.to_builtins(table.view(who))) for who in (1, 2, "public", "referee")}
    for who, cards in ((1, table.game.hands["s1"]), (2, table.game.hands["s2"])):
        for card in cards:
            assert card in words[who]
            assert card not in words[3 - who]
            assert card not in words["public"]
            assert card in words["referee"]


@rule("TADA-10", "ok")
def test_a_choice_in_secret_shows_only_that_it_was_made() -> None:
    table = TadaTable(3).deal_to_choice()
    table.do(c.ChooseSpell(seat="s1", spell=table.game.hands["s1"][0]))
    rows = {z.id: z.rows for z in table.view("public").zones}
    assert [r.text for r in rows["seat-s1"]][:1] == ["has chosen"]
    assert [r.text for r in rows["seat-s2"]][:1] == ["chooses"]
    assert table.answer(1, "my_spell").startswith("You chose ")
    assert " Or " in table.answer(2, "my_spell")


# Actions


def fillings(field: Field) -> list[Any]:
    """Values that a person might enter."""
    if field.kind == "choice":
        return [choice.value for choice in field.choices]
    if field.kind in ("many", "order"):
        one = [choice.value for choice in field.choices]
        return [((one[0],),), tuple((x,) for x in one)] if field.kind == "order" else [(one[0],), (one[-1],)]
    if field.kind == "number":
        return [field.value if field.value is not None else 7]
    return ["Gus 2"]


def filled(action: Action) -> list[Command]:
    """The commands that the action may send."""
    made = [action.command]
    for field in action.fields:
        made = [msgspec.structs.replace(m, **{field.name: value}) for m in made for value in fillings(field)]
    return made


def listed(view: View) -> list[Action]:
    proposed = [a for p in view.open_proposals for a in (p.confirm, p.reject) if a]
    return [*([view.primary] if view.primary else []), *view.actions, *proposed]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_listed_action_is_accepted(options: dict[str, Any]) -> None:
    tried = set()
    for table in evening(**options):
        viewers = [Viewer(Role.REFEREE), Viewer(Role.PUBLIC)]
        viewers += [Viewer(Role.SEAT, seat.id) for seat in table.sitting.seats]
        for viewer in viewers:
            for action in listed(show(GAME, table.sitting, viewer)):
                actor = RIA if viewer.role is Role.REFEREE else table.by(viewer.seat)
                for command in filled(action):
                    order = Order(command=command, actor=actor, at_ns=table.entries[-1].at_ns, key="x")
                    refused = core.refusal(core.decide(GAME, table.sitting, order))
                    assert refused is None, f"{viewer}: {action.id} {command}: {refused}"
                    tried.add(type(command).__name__)
    assert len(tried) > 20, tried


def test_actions_have_unique_ids_words_and_at_most_one_key_each() -> None:
    for table in evening(steps=90):
        for who in ("referee", *(seat.id for seat in table.sitting.playing())):
            view = table.view(who)
            ids = [action.id for action in view.actions]
            assert len(set(ids)) == len(ids), ids
            keys = [action.key for action in view.actions if action.key]
            assert len(set(keys)) == len(keys)
            assert all(a.label and a.effect for a in listed(view) if not a.id.startswith("aim"))
            zones = [zone.id for zone in view.zones]
            assert len(set(zones)) == len(zones)
            rows = [row.id for zone in view.zones for row in zone.rows]
            assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_one_primary_action_leads_through_every_step(options: dict[str, Any]) -> None:
    for table in evening(steps=100, **options):
        view, game = table.view(), table.game
        waits_for_people = game.phase == "choose" or bool(game.aiming)
        is_running = game.phase in ("countdown", "cast", "over")
        assert view.primary is not None or waits_for_people or is_running, game.phase
        assert table.view("public").actions == ()


def test_a_seat_is_offered_no_slam_when_the_cast_is_over() -> None:
    table = TadaTable(2).to_cast()
    assert table.action("slam", 2) is not None
    table.finish(1, 5000)
    table.end()
    assert table.action("slam", 2) is None


def test_the_referee_can_take_back_a_void_only_where_it_was_for_symbols() -> None:
    table = TadaTable(2).to_cast()
    table.slam(1, 5000)
    table.verify(1, complete=False)
    again = table.action(f"verify-s1-{table.game.casters['s1'].slams[0].n}-yes")
    assert again is not None
    table.do(again.command)
    table.do(c.FlagBreach(seat="s1"))
    assert not [a for a in table.view().actions if a.id.startswith("verify-s1")]


# Answers


def test_answers_of_a_whole_cast() -> None:
    table = TadaTable(4)
    assert table.answer(1, "my_spell") == "You have no spell yet."
    assert table.answer(1, "needed") == "Nothing yet."
    table.to_cast()
    symbols = table.symbols(1)
    assert table.answer(1, "my_spell").endswith(f": {', '.join(symbols)}.")
    assert table.answer(1, "needed") == f"Still needed: {', '.join(symbols)}."
    assert table.answer(1, "my_dice") == "No die is locked."
    assert table.answer(1, "places") == "Open places: 2 of 2."
    table.lock(1, 1)
    assert table.answer(1, "needed") == f"Still needed: {', '.join(symbols[:1] + symbols[2:])}."
    assert table.answer(1, "my_dice") == f"Locked: {symbols[1]}. 5 dice in the cup."
    table.lock_all(1)
    assert table.answer(1, "needed") == "Nothing: call TA-DA and slam!"
    table.finish(1, 5000)
    assert table.answer(1, "needed") == "Nothing: you have slammed."
    assert table.answer(2, "places") == "Open places: 1 of 2."
    table.do(c.FlagBreach(seat="s2"))
    assert table.answer(2, "needed") == "Nothing: you are out of this round."
    table.do(c.EnterOrder(order=(("s1",),)))
    table.resolve()
    assert table.answer(1, "score") == "1 of 6 spells."
    assert table.answer(2, "score") == "0 of 6 spells."
    assert {a.key for a in table.view(1).answers} == set("1234567")
    assert table.view("public").answers == table.view().answers == ()


# Review


@rule("TABLE-4", "ok")
def test_while_a_ruling_is_reviewed_the_public_sees_the_table_as_it_was() -> None:
    table = TadaTable(3).to_cast()
    table.finish(1, 5000)
    table.do(k.OpenReview(why="was it a slam?"))
    before = table.view("public")
    assert before.held == "Under review: was it a slam?"
    assert before.rulings == ()
    table.verify(1, complete=False)
    table.finish(2, 6000)
    table.end().do(c.Resolve())
    held = table.view("public")
    assert (held.phase, held.zones, held.headline) == (before.phase, before.zones, before.headline)
    assert table.view().phase in ("draw", "effects"), "the referee sees it as it is"
    table.do(k.CloseReview())
    assert table.view("public").phase == table.view().phase
    table.no(k.CloseReview(), "TABLE-4")


def test_standings_follow_the_score_at_every_step() -> None:
    for table in evening(steps=120, n=3):
        rows = GAME.standings(table.sitting)
        assert sorted(row.seat for row in rows) == sorted(seat.id for seat in table.sitting.seats)
        assert all(row.score == len(table.game.scored.get(row.seat, ())) for row in rows)
        for row in rows:
            better = [x for x in rows if x.score > row.score]
            if not table.game.winners:
                assert row.place == 1 + len(better)


def test_cues_bear_words_and_go_comes_at_its_instant() -> None:
    from companion.core.cue import PATTERNS

    goes = 0
    for table in evening(steps=100):
        for cue in table.cues:
            assert cue.pattern in PATTERNS
            assert cue.text
            goes += cue.pattern == "go" and cue.at_ns is not None
    assert goes
    table = TadaTable(2).to_ready().go()
    given = next(en for en in table.entries for ev in en.events if isinstance(ev, e.GoGiven))
    assert {cue.at_ns for cue in table.cues if cue.pattern == "go"} == {given.at_ns}


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_sensible_referee_brings_every_game_to_its_end(options: dict[str, Any], n: int) -> None:
    table = TadaTable(n, seed=11 + n, **options)
    for salt in range(4000):
        if table.game.phase == "over":
            break
        command = GAME.policy(table.sitting, salt)
        if command is None:
            table.pass_time(table.now_ms + 5000)
        else:
            table.do(command, table.now_ms + 400)
    assert table.game.phase == "over"
    assert max(map(len, table.game.scored.values())) == 6
    assert set(table.game.winners) <= {seat for seat, spells in table.game.scored.items() if len(spells) == 6}
    assert table.refold() == table.sitting
