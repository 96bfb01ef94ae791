"""The demo's other tables, played a little by a camera's own process: what is laid there stands in the journal."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from companion.app.evening import STAGED, staged, wait_for_eyes
from companion.catalogue import GAMES

STEPS = {"tada": 4, "tacta": 5, "zingazam": 9, "tahwars": 2}
"""Up to: a feat and two spells by their cards; three cards over each other; cards in play and what they ask; two
castles at the map's edge."""
TOLD = {"tada": "SpellChosen", "tacta": "CardLaid", "zingazam": "CardPlayed", "tahwars": "CastlePlaced"}


def test_every_game_has_people_who_play_it() -> None:
    assert STAGED.keys() == GAMES.keys()
    assert STEPS.keys() == GAMES.keys()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("game", STEPS)
def test_a_camera_tells_what_people_lay_on_the_stage(game: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "game": game, "speed": 100.0, "seed": 5, "mqtt": "", "host": "127.0.0.1", "port": 0,
        "cards": game == "tada",
    }  # fmt: skip
    with contextlib.ExitStack() as stack:
        table, people = staged(stack, options, 2, tmp_path / "staged.sqlite")
        wait_for_eyes(table)
        people.play(STEPS[game])
        entries = table.loop.entries()
        told = [
            entry for entry in entries if any(type(event).__name__ == TOLD[game] for event in entry.events)
        ]
        assert len(told) >= 2
        assert all(entry.seen for entry in told), "by the eyes, not by the referee"
        assert people.entered == 0
