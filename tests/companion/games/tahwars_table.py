"""A table of TAH WARS for tests: castles stand, dice are launched, phases are walked through by a word."""

from __future__ import annotations

from typing import Any

from virtual import REFEREE, Virtual

from companion.core import command as k
from companion.core.command import Command
from companion.core.ruling import Ruling, Verdict
from companion.core.seat import Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import View
from companion.games.tahwars import GAME
from companion.games.tahwars import commands as c
from companion.games.tahwars.maps import Map, Terrain
from companion.games.tahwars.model import Player, TahWars, in_order, to_launch, to_order

NAMES = ("Ann", "Ben", "Cem", "Dora", "Emil", "Fay")
SENSOR = Actor(Role.SENSOR, name="camera")
FACES = {"d4": 2, "d6": 3, "d8": 4}
STRIPES = Map(
    name="stripes",
    board_mm=(900.0, 500.0),
    terrains=(
        *(
            Terrain(kind=kind, polygon_mm=((x, 0.0), (x + 150.0, 0.0), (x + 150.0, 500.0), (x, 500.0)))
            for kind, x in (("rivers", 0.0), ("forest", 150.0), ("mountains", 300.0), ("neonite", 450.0),
                            ("city", 600.0))
        ),
        Terrain(kind="forest", polygon_mm=((750.0, 0.0), (900.0, 0.0), (900.0, 300.0), (750.0, 300.0))),
    ),
)  # fmt: skip
"""Five upright stripes of 150 mm, and a second forest on the right above bare ground."""


class TahTable:
    """One table; `give` returns the ruling of a refusal, None when the order was carried out."""

    def __init__(self, players: int = 2, seed: int = 1, **options: Any) -> None:
        seats = tuple(seat_at(n, NAMES[n - 1], "towers", n) for n in range(1, players + 1))
        self.v = Virtual(GAME, seats, seed, options)

    @property
    def game(self) -> TahWars:
        state: TahWars = self.v.sitting.game
        return state

    @property
    def table(self) -> Any:
        return self.v.sitting

    def p(self, seat: str) -> Player:
        """A player board."""
        return self.game.players[seat]

    def give(self, command: Command, actor: Actor = REFEREE) -> Ruling | None:
        return self.v.give(command, actor).ruling

    def do(self, *commands: Command, actor: Actor = REFEREE) -> TahTable:
        """The orders must be carried out."""
        for command in commands:
            ruling = self.give(command, actor)
            assert ruling is None, (command, ruling)
        return self

    def refused(self, command: Command, actor: Actor = REFEREE) -> str:
        """The rule by which an order must be refused."""
        before = self.game
        ruling = self.give(command, actor)
        assert ruling is not None, command
        assert ruling.verdict is Verdict.BREACH
        assert self.game == before
        return ruling.rule

    def rulings(self, rule: str) -> list[Ruling]:
        """All rulings so far that stand on a rule."""
        return [shown.ruling for shown in self.v.sitting.rulings if shown.ruling.rule == rule]

    def view(self, seat: str = "") -> View:
        viewer = Viewer(Role.SEAT, seat) if seat else Viewer(Role.REFEREE)
        return show(GAME, self.v.sitting, viewer)

    def offered(self, seat: str = "") -> set[str]:
        """Ids of the actions of a page."""
        return {action.id for action in self.view(seat).actions}

    def undo(self) -> TahTable:
        return self.do(k.Undo())

    # Steps of a game

    def placed(self, *terrains: str, own_map: Map | None = STRIPES) -> TahTable:
        """A map lies and castles stand, on forest where nothing is said."""
        if own_map is not None:
            self.do(c.LayMap(map=own_map))
        for number, seat in enumerate(self.v.sitting.playing()):
            land = terrains[number] if number < len(terrains) else "forest"
            self.do(c.PlaceCastle(seat=seat.id, terrains=tuple(land.split())))
        return self

    def launched(self, *terrains: str, first: str = "s1", on: str = "forest", **faces: int) -> TahTable:
        """The set-up is over: everybody's D4, D6 and D8 lie on one terrain with these faces."""
        self.placed(*terrains)
        self.do(c.ChooseFirst(first=first))
        while self.game.phase == "launch":
            seat = self.game.turn
            kind = to_launch(self.p(seat))[0]
            self.do(
                c.DropDie(seat=seat, kind=kind, shows={**FACES, **faces}[kind], terrains=tuple(on.split()))
            )
        return self

    def quests_done(self) -> TahTable:
        """Phase 1: everybody discards a card of the line-up."""
        while self.game.phase == "quests":
            self.do(c.DropQuest(seat=self.game.turn, quest=self.game.line_up[0]))
        return self

    def orders_done(self, *, gather: bool = True) -> TahTable:
        """Phase 2: all castles and dice gather (or the dice stay), the first thing where there is a choice."""
        while self.game.phase == "orders":
            self.order_next(gather=gather)
        return self

    def orders_of(self, seat: str) -> TahTable:
        """The rest of one seat's phase 2; its dice stay."""
        while self.game.phase == "orders" and self.game.turn == seat:
            self.order_next(gather=False)
        return self

    def order_next(self, *, gather: bool = True) -> TahTable:
        seat = self.game.turn
        if not self.game.doing.has_gathered:
            land = self.p(seat).castle
            return self.do(
                c.GatherCastle(seat=seat, resource="fish" if land and "city" in land.terrains else "")
            )
        kind = to_order(self.table, seat)[0]
        return self.do(c.Gather(seat=seat, kind=kind) if gather else c.Stay(seat=seat, kind=kind))

    def trade_done(self) -> TahTable:
        """Phase 3: nobody buys."""
        for seat in in_order(self.table):
            if self.game.phase == "recruit" and seat not in self.game.finished:
                self.do(c.FinishTrade(seat=seat))
        return self

    def to(self, phase: str, *, gather: bool = True) -> TahTable:
        """On to a phase of this round, the first player on turn."""
        steps = {"orders": self.quests_done, "recruit": lambda: self.orders_done(gather=gather),
                 "actions": self.trade_done}  # fmt: skip
        for step in steps.values():
            if self.game.phase != phase:
                step()
        assert self.game.phase == phase
        return self

    def cubes(self, seat: str, **items: int) -> TahTable:
        """A player board is put right."""
        return self.do(*(c.SetCubes(seat=seat, item=item, value=value) for item, value in items.items()))

    def rich(self, seat: str) -> TahTable:
        """Five of everything."""
        return self.cubes(seat, fish=5, wood=5, stone=5, neonite=5)

    def attack(self, seat: str, dice: dict[str, tuple[int, tuple[str, ...]]], on: str = "forest") -> TahTable:
        """Declare, launch each die with what it shows and touches, and count."""
        self.do(c.DeclareAttack(seat=seat, dice=tuple(dice)))
        for kind, (shows, touched) in dice.items():
            self.do(c.DropDie(seat=seat, kind=kind, shows=shows, terrains=(on,), touched=touched))
        return self.do(c.SettleAttack(seat=seat))

    def ends(self, seat: str = "") -> TahTable:
        return self.do(c.EndTurn(seat=seat or self.game.turn))

    def round_done(self) -> TahTable:
        """Phase 4 is over for all who are left to play it."""
        while self.game.phase == "actions":
            self.ends()
        return self

    def crowned(self, seat: str, crowns: int) -> TahTable:
        """A seat buys crowns until it has so many; in phase 3."""
        while self.p(seat).crowns < crowns:
            self.rich(seat).do(c.BuyCrown(seat=seat))
        return self
