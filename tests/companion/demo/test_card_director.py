"""The simulated people lay a whole game of Tacta, and the same seed lays the same game. The eyes are perfect here:
no test plays by a camera's process."""

from __future__ import annotations

from typing import Any

import pytest
from virtual_hands import STEP_NS, VirtualHands

from companion.core.observation import CardChanged
from companion.demo.card_director import CardDirector
from companion.games.tacta import GAME
from companion.games.tacta.deck import SUITS
from vision.render.overlaid import LaidCard


class CardEvening(VirtualHands):
    """`Hands` and stage in one: what is put there is seen at once, by eyes that are blind to every `blind`-th."""

    def __init__(self, players: int, seed: int, blind: int = 0, **options: Any) -> None:
        rules = {"mode": "quick", "table_width_mm": 780, "table_height_mm": 480, **options}
        super().__init__(GAME, players, seed, rules)
        self.lying: tuple[LaidCard, ...] = ()
        self.shown, self.blind = 0, blind
        self.director = CardDirector(self, self, seed=seed, speed=1e9)

    def show(self, laid: tuple[LaidCard, ...], hands_mm: object) -> None:
        self.shown += 1
        self.v.now_ns += STEP_NS
        new = [card for card in laid if card not in self.lying]
        self.lying = laid
        if self.blind and self.shown % self.blind == 0:
            return
        for card in new:
            seen = CardChanged(
                source="camera", seen_ns=self.v.now_ns, uncertainty_ns=STEP_NS // 20, frame=self.shown,
                change="placed", n=self.shown, card=card.layout.id, colour=card.colour, flipped=card.flipped,
                pose=card.pose, u_mm=0.3, u_deg=0.3,
            )  # fmt: skip
            self.v.step(seen)


@pytest.mark.parametrize("players", [3])
def test_they_play_to_the_end(players: int) -> None:
    """All cards are laid, boxed or ruled out; careless hands make breaches; what lies is what the stage shows."""
    evening = CardEvening(players, seed=5)
    evening.director.play()
    game = evening.v.sitting.game
    assert game.phase == "over" and evening.director.entered == 0
    assert len(game.lying) - 1 + len(game.boxed) == players * 6 * (len(SUITS) - 1)
    assert [card.pose for card in game.lying] == [laid.pose for laid in evening.lying]
    verdicts = {r.ruling.verdict.value for r in evening.v.sitting.rulings if r.event == "CardLaid"}
    assert {"ok", "breach"} <= verdicts
    assert not [r.ruling for r in evening.v.sitting.rulings if r.event == "Refused"]


def test_what_the_eyes_miss_the_referee_enters() -> None:
    evening = CardEvening(2, seed=6, blind=4)
    evening.director.play()
    assert evening.v.sitting.game.phase == "over"
    assert evening.director.entered >= 4


def test_the_same_seed_lays_the_same_game() -> None:
    games = [CardEvening(2, seed) for seed in (7, 7, 8)]
    for evening in games:
        evening.director.play()
    one, same, other = (evening.v.sitting.rulings for evening in games)
    assert one == same
    assert one != other


def test_it_ends_after_so_many_steps() -> None:
    evening = CardEvening(2, seed=7)
    evening.director.play(most=4)  # colours and the starting card, the ends, two cards
    assert evening.v.sitting.game.laid == 2
