"""Simulated people play Zing-a-Zam to its end by what the eyes see, and the same seed plays the same game."""

from __future__ import annotations

from typing import Any

import pytest
from virtual import MS
from virtual_hands import VirtualHands

from companion.core.geometry import Point
from companion.core.observation import CardLaid, CardLifted, CardSeen
from companion.demo.hand_director import CARD_MM, HandDirector, Lain
from companion.games.zingazam import GAME

SIZE_MM = (480.0, 300.0)


class HandEvening(VirtualHands):
    """Hands and eyes of a table in memory: the eyes tell at once what lies and what is gone."""

    def __init__(self, players: int, seed: int, *, is_blind: bool = False, **options: Any) -> None:
        super().__init__(GAME, players, seed, options)
        self.lying: tuple[Lain, ...] = ()
        self.frame, self.is_blind = 0, is_blind
        self.director = HandDirector(self, self, size_mm=SIZE_MM, seed=seed, speed=1e9)

    def lie(self, cards: tuple[Lain, ...], hands_mm: tuple[Point, ...]) -> None:
        gone = [lain for lain in self.lying if lain not in cards]
        new = [lain for lain in cards if lain not in self.lying]
        self.lying = cards
        if self.is_blind:
            return
        for kind, lains in ((CardLifted, gone), (CardLaid, new)):
            for lain in lains:
                self.frame += 1
                self.v.now_ns += 100 * MS
                corners = ((0.0, 0.0), (CARD_MM[0], 0.0), CARD_MM, (0.0, CARD_MM[1]))
                quad = tuple(lain.pose.apply(corner) for corner in corners)
                card = CardSeen(name=lain.card, confidence=0.95, quad_px=quad)
                self.v.step(
                    kind(source="cam", seen_ns=self.v.now_ns, uncertainty_ns=MS, frame=self.frame, card=card)
                )


@pytest.mark.parametrize("players", [2, 3, 5])
def test_they_play_to_the_end_and_the_referee_enters_nothing(players: int) -> None:
    evening = HandEvening(players, seed=4)
    evening.director.play()
    assert GAME.is_over(evening.v.sitting)
    assert evening.director.entered == 0
    assert [r for r in evening.v.sitting.rulings if r.event == "Refused"] == []


def test_what_the_eyes_do_not_see_the_referee_enters() -> None:
    seen, blind = HandEvening(3, 6), HandEvening(3, 6, is_blind=True)
    for evening in (seen, blind):
        evening.director.play()
    assert blind.director.entered > 20
    assert GAME.standings(blind.v.sitting) == GAME.standings(seen.v.sitting)


def test_the_same_seed_plays_the_same_game() -> None:
    played = [HandEvening(4, seed, games=2) for seed in (7, 7, 8)]
    for evening in played:
        evening.director.play()
    one, same, other = (evening.v.sitting.rulings for evening in played)
    assert one == same
    assert one != other
