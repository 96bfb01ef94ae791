"""Simulated people play Zing-a-Zam to its end by what the eyes see, and the same seed plays the same game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from virtual import MS, Virtual

from companion.core.command import Command
from companion.core.geometry import Point
from companion.core.observation import CardLaid, CardLifted, CardSeen
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import View
from companion.demo.hand_director import CARD_MM, HandDirector, Lain
from companion.games.zingazam import GAME

NAMES = ("Ann", "Ben", "Cleo", "Dara", "Emil")
SIZE_MM = (480.0, 300.0)


class VirtualHands:
    """Hands and eyes of a table in memory: the eyes tell at once what lies and what is gone."""

    def __init__(self, players: int, seed: int, *, is_blind: bool = False, **options: Any) -> None:
        seats = tuple(seat_at(n, NAMES[n - 1]) for n in range(1, players + 1))
        self.v = Virtual(GAME, seats, seed, options)
        self.lying: tuple[Lain, ...] = ()
        self.frame, self.is_blind = 0, is_blind
        self.director = HandDirector(self, self, size_mm=SIZE_MM, seed=seed, speed=1e9)

    def sitting(self) -> Any:
        return self.v.sitting

    def view(self, viewer: Viewer) -> View:
        return show(GAME, self.v.sitting, viewer)

    def now_ns(self) -> int:
        return self.v.now_ns

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        actor = Actor(Role.SEAT, seat=seat) if seat else Actor(Role.REFEREE)
        self.v.now_ns += 300 * MS
        return self.v.give(command, actor).ruling

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        return is_so()

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
    evening = VirtualHands(players, seed=4)
    evening.director.play()
    assert GAME.is_over(evening.v.sitting)
    assert evening.director.entered == 0
    assert [r for r in evening.v.sitting.rulings if r.event == "Refused"] == []


def test_what_the_eyes_do_not_see_the_referee_enters() -> None:
    seen, blind = VirtualHands(3, 6), VirtualHands(3, 6, is_blind=True)
    for evening in (seen, blind):
        evening.director.play()
    assert blind.director.entered > 20
    assert GAME.standings(blind.v.sitting) == GAME.standings(seen.v.sitting)


def test_the_same_seed_plays_the_same_game() -> None:
    played = [VirtualHands(4, seed, games=2) for seed in (7, 7, 8)]
    for evening in played:
        evening.director.play()
    one, same, other = (evening.v.sitting.rulings for evening in played)
    assert one == same
    assert one != other
