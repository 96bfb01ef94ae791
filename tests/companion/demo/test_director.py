"""The simulated people play to the end, and the same seed plays the same game."""

from __future__ import annotations

import pytest
from virtual_evening import VirtualEvening


@pytest.mark.parametrize("players", [1, 2, 4, 6])
def test_they_play_to_the_end(players: int) -> None:
    """Somebody casts six spells; every pad was proven; nobody was refused but for false starts and late slams."""
    evening = VirtualEvening(players, seed=4)
    table = evening.play()
    assert max(len(spells) for spells in table.game.scored.values()) == 6
    assert len(table.proven) == players
    refused = [r.ruling.rule for r in table.rulings if r.event == "Refused"]
    assert set(refused) <= {"TADA-19", "TADA-18"}


def test_the_same_seed_plays_the_same_game() -> None:
    """Rulings and scores are equal; another seed's are not."""
    one, same, other = (VirtualEvening(4, seed).play() for seed in (7, 7, 8))
    assert one.rulings == same.rulings
    assert one.rulings != other.rulings
