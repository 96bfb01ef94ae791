"""What holds in every game of TAH WARS, whoever plays it and whatever is clicked."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from virtual import Virtual

from companion.core import command as k
from companion.core import event as core
from companion.core.seat import seat_at
from companion.games.tahwars import GAME
from companion.games.tahwars import events as e
from companion.games.tahwars.deck import RESOURCES, read
from companion.games.tahwars.model import TahWars
from companion.games.tahwars.policy import policy

PLACES = {"home", "population", "board", "off", "out"}
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "zero_health": st.sampled_from(GAME.choices["zero_health"]),
        "final_round": st.sampled_from(GAME.choices["final_round"]),
        "dealing": st.sampled_from(GAME.choices["dealing"]),
        "teams": st.sampled_from(GAME.choices["teams"]),
        "miss_raises": st.booleans(),
        "no_bought_win": st.booleans(),
        "first_to_five": st.booleans(),
    },
)


def conserved(state: TahWars, data: Any) -> None:
    """Seven dice a player, each in one place; resources and stats within caps; every quest card in one place."""
    for player in state.players.values():
        assert list(player.dice) == [die.kind for die in data.dice]
        assert all(piece.kind == kind and piece.place in PLACES for kind, piece in player.dice.items())
        assert {piece.place for piece in player.dice.values()} == {"out"} or not player.is_out
        assert player.dice["d20"].place != "board" or state.phase == "actions"
        assert player.dice["d4"].place != "home"
        assert set(player.resources) == set(RESOURCES)
        assert all(0 <= held <= data.resource_cap for held in player.resources.values())
        assert 8 <= player.shield <= data.shield_cap and 1 <= player.attack <= data.attack_cap
        assert (0 if player.is_out else 1) <= player.health <= data.health_cap
        assert player.crowns >= 0 and len(player.quests) <= 2
    cards = [
        *state.deck,
        *state.line_up,
        *state.discards,
        *(q for p in state.players.values() for q in p.quests),
    ]
    assert sorted(cards) == sorted(quest.id for quest in data.quests)
    assert len(state.line_up) <= 4


def crowns_due(event: core.Event) -> dict[str, int]:
    """The crowns that a fact gives by the rules. Rule: TAH-12 TAH-21 TAH-26"""
    match event:
        case e.CrownBought(seat=seat):
            return {seat: 1}
        case e.AttackSettled(seat=seat, strikes=strikes):
            return {seat: sum(strike.is_success for strike in strikes)}
        case e.QuestCompleted(seat=seat, reward=reward):
            return {seat: reward.crowns}
    return {}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(2, 6), st.integers(0, 10**6), OPTIONS, st.integers(0, 10**6))
def test_dice_cards_and_cubes_are_conserved_and_crowns_come_by_rule_alone(
    players: int, seed: int, options: dict[str, Any], salt: int
) -> None:
    table = Virtual(GAME, tuple(seat_at(n, f"P{n}") for n in range(1, players + 1)), seed, options)
    data = read(table.sitting.opened.data)
    for turn in range(220):
        before = table.sitting.game
        command = policy(table.sitting, salt + turn)
        if command is None:
            break
        if turn == 150 and players > 2:
            command = k.Leave(seat=f"s{1 + salt % players}")
        entries = len(table.table.entries)
        table.give(command)
        after = table.sitting.game
        conserved(after, data)
        due: dict[str, int] = {}
        for entry in table.table.entries[entries:]:
            for event in entry.events:
                due |= crowns_due(event)
        for seat, player in after.players.items():
            gained = player.crowns - before.players[seat].crowns
            is_loss = gained == -1 and not due.get(seat) and player.health == 1
            assert gained == due.get(seat, 0) or is_loss, (seat, command)
