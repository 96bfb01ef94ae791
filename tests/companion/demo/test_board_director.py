"""The simulated people play a whole game of TAH WARS, and the same seed plays the same game. The eyes are perfect here:
rendered pictures of the stage are read in test_board_stage, and no test plays a whole game by them."""

from __future__ import annotations

import math
from typing import Any

from virtual_hands import STEP_NS, VirtualHands

from companion.core.observation import BoardDie, BoardRested, DieNearTower, TowerSeen
from companion.core.seat import MARKS
from companion.demo.board_director import BoardDirector
from companion.demo.board_stage import Lain, Stands
from companion.games.tahwars import GAME

TAGS = {colour: 10 + n for n, (colour, _) in enumerate(MARKS)}


class BoardEvening(VirtualHands):
    """`Hands` and stage in one: what is there is seen at once, by eyes that are blind to every `blind`-th change."""

    def __init__(self, players: int, seed: int, blind: int = 0, **options: Any) -> None:
        super().__init__(GAME, players, seed, options)
        self.shown, self.blind = 0, blind
        self.director = BoardDirector(self, self, lambda: True, seed=seed, speed=1e9)

    def may_lie(self, xy_mm: tuple[float, float], towers: tuple[Stands, ...], dice: tuple[Lain, ...]) -> bool:
        return all(math.dist(xy_mm, each.xy_mm) > 65 for each in towers) and all(
            math.dist(xy_mm, each.xy_mm) > 25 for each in dice
        )

    def roll(
        self, towers: tuple[Stands, ...], dice: tuple[Lain, ...], way: tuple[tuple[float, float], ...]
    ) -> None:
        die = dice[-1]
        self.v.now_ns += STEP_NS
        for at in way[1:]:
            tower = min(towers, key=lambda each: math.dist(each.xy_mm, at))
            near = DieNearTower(
                source="camera", seen_ns=self.v.now_ns, uncertainty_ns=0, frame=self.shown, kind=die.kind,
                tag=TAGS[tower.owner], gap_mm=0.0, u_mm=0.5, owner=die.owner,
            )  # fmt: skip
            self.v.step(near)
        self.stand(towers, dice, ())

    def stand(self, towers: tuple[Stands, ...], dice: tuple[Lain, ...], hands_mm: object) -> None:
        self.shown += 1
        self.v.now_ns += STEP_NS
        if self.blind and self.shown % self.blind == 0:
            return
        seen = BoardRested(
            source="camera", seen_ns=self.v.now_ns, uncertainty_ns=0, frame=self.shown,
            towers=tuple(TowerSeen(tag=TAGS[t.owner], xy_mm=t.xy_mm, heading_deg=t.heading_deg, u_mm=0.5, u_deg=0.2)
                         for t in towers),
            dice=tuple(BoardDie(kind=d.kind, value=d.shown, confidence=0.95, xy_mm=d.xy_mm, box_px=(0, 0, 1, 1),
                                u_mm=0.5, owner=d.owner) for d in dice),
        )  # fmt: skip
        self.v.step(seen)


def test_they_play_to_the_end_by_what_the_eyes_see() -> None:
    evening = BoardEvening(3, seed=5)
    evening.director.play()
    game = evening.v.sitting.game
    assert game.phase == "over" and game.winners
    assert evening.director.entered == 0
    told = {shown.event for shown in evening.v.sitting.rulings}
    assert {"DieLaunched", "HitNoted", "AttackSettled", "CastleMoved", "DieGathered"} <= told
    assert not [r.ruling for r in evening.v.sitting.rulings if r.event == "Refused"]


def test_what_the_eyes_miss_the_referee_enters_and_the_same_seed_plays_the_same_game() -> None:
    one, two = (BoardEvening(2, seed=6, blind=5, first_to_five=True) for _ in range(2))
    for evening in (one, two):
        evening.director.play()
    assert one.v.sitting.game.phase == "over" and one.director.entered >= 3
    assert one.v.log.payloads == two.v.log.payloads
