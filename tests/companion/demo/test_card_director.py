"""The simulated people lay a whole game of Tacta, and the same seed lays the same game. The eyes are perfect here;
that real ones see what is laid is tried with a camera's process in the evening's own tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from virtual import Virtual

from companion.core.command import Command
from companion.core.observation import CardChanged
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import View
from companion.demo.card_director import CardDirector
from companion.games.tacta import GAME
from companion.games.tacta.deck import SUITS
from vision.render.overlaid import LaidCard

SECOND_NS = 1_000_000_000


class CardEvening:
    """`Hands` and stage in one: what is put there is seen at once, by eyes that are blind to every `blind`-th."""

    def __init__(self, players: int, seed: int, blind: int = 0, **options: Any) -> None:
        seats = tuple(seat_at(n, f"P{n}") for n in range(1, players + 1))
        rules = {"mode": "quick", "table_width_mm": 780, "table_height_mm": 480, **options}
        self.v = Virtual(GAME, seats, seed, rules)
        self.lying: tuple[LaidCard, ...] = ()
        self.shown, self.blind = 0, blind
        self.director = CardDirector(self, self, seed=seed, speed=1e9)

    def sitting(self) -> Any:
        return self.v.sitting

    def view(self, viewer: Viewer) -> View:
        return show(GAME, self.v.sitting, viewer)

    def now_ns(self) -> int:
        return self.v.now_ns

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        self.v.now_ns += SECOND_NS
        return self.v.give(command, Actor(Role.SEAT, seat=seat) if seat else Actor(Role.REFEREE)).ruling

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        self.v.now_ns += SECOND_NS
        return is_so()

    def show(self, laid: tuple[LaidCard, ...], hands_mm: object) -> None:
        self.shown += 1
        self.v.now_ns += SECOND_NS
        new = [card for card in laid if card not in self.lying]
        self.lying = laid
        if self.blind and self.shown % self.blind == 0:
            return
        for card in new:
            seen = CardChanged(
                source="camera", seen_ns=self.v.now_ns, uncertainty_ns=SECOND_NS // 20, frame=self.shown,
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


def test_it_ends_when_enough_cards_lie() -> None:
    evening = CardEvening(2, seed=7)
    evening.director.play(most=3)
    assert evening.v.sitting.game.laid == 3
