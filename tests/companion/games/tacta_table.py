"""A table of Tacta for tests: everybody has a colour, the starting card lies, cards are laid by name and place."""

from __future__ import annotations

from typing import Any

from virtual import REFEREE, Virtual

from companion.core import command as k
from companion.core.clock import Stamp
from companion.core.command import Command
from companion.core.geometry import Pose
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import View
from companion.games.tacta import GAME
from companion.games.tacta import commands as c
from companion.games.tacta.model import Lying, Tacta, legal_plays
from companion.games.tacta.placement import Play

NAMES = ("Ann", "Ben", "Cem", "Dora", "Emil", "Fay")
COLOURS = ("blue", "green", "orange", "pink", "purple", "red")
MIDDLE = Pose(468.0, 305.0)
SENSOR, CLOCK = Actor(Role.SENSOR), Actor(Role.CLOCK)


class TactaTable:
    """One table; `give` returns the ruling of a refusal, None when the order was carried out."""

    def __init__(self, players: int = 2, seed: int = 1, **options: Any) -> None:
        seats = tuple(seat_at(n, NAMES[n - 1]) for n in range(1, players + 1))
        self.v = Virtual(GAME, seats, seed, options)

    @property
    def game(self) -> Tacta:
        state: Tacta = self.v.sitting.game
        return state

    @property
    def table(self) -> Any:
        return self.v.sitting

    def give(self, command: Command, actor: Actor = REFEREE) -> Ruling | None:
        answer = self.v.give(command, actor)
        return answer.ruling

    def do(self, command: Command, actor: Actor = REFEREE) -> TactaTable:
        """The order must be carried out."""
        ruling = self.give(command, actor)
        assert ruling is None, ruling
        return self

    def rulings(self, rule: str) -> list[Ruling]:
        """All rulings so far that stand on a rule."""
        return [shown.ruling for shown in self.v.sitting.rulings if shown.ruling.rule == rule]

    def view(self, seat: str = "") -> View:
        viewer = Viewer(Role.SEAT, seat) if seat else Viewer(Role.REFEREE)
        return show(GAME, self.v.sitting, viewer)

    def colours(self, *, teams: bool = False) -> TactaTable:
        """Each seat (with teams: each pair) takes a colour."""
        seats = self.v.sitting.playing()
        for number, seat in enumerate(seats[: len(seats) // 2] if teams else seats):
            self.do(c.TakeColour(seat=seat.id, colour=COLOURS[number]))
        return self

    def begun(self, *, measured: bool = True) -> TactaTable:
        """Everybody has a colour and the starting card lies."""
        if not self.game.colours:
            self.colours(teams=self.v.sitting.options["mode"] == "teams")
        return self.do(c.Begin(pose=MIDDLE if measured else None))

    def ends(self, *shown: tuple[str, str]) -> TactaTable:
        """Everybody shows two cards; s1 the lowest ones where nothing is said, so s1 starts."""
        usual = [("circle-1", "circle-2"), *[("square-5", "square-6")] * 5]
        for number, seat in enumerate(self.v.sitting.playing()):
            cards = shown[number] if number < len(shown) else usual[number]
            self.do(c.ShowEnds(seat=seat.id, cards=cards))
        return self

    def playing(self, *shown: tuple[str, str], measured: bool = True) -> TactaTable:
        return self.begun(measured=measured).ends(*shown)

    def plays(self, seat: str, card: str) -> list[Play]:
        """The legal placements of a card of the seat's own colour."""
        return [play for _, play in legal_plays(self.table, (f"{self.game.colours[seat]}:{card}",))]

    def lay(
        self, seat: str, card: str, pick: int = 0, *, off: float = 0.0, u_mm: float = 0.2, at_ms: float | None = None,
        u_ms: float = 1.0,
    ) -> Lying:  # fmt: skip
        """Lay a card on its `pick`th legal place, `off` mm beside it; the card as it lies then."""
        play = self.plays(seat, card)[pick]
        pose = Pose(play.pose.x_mm + off, play.pose.y_mm, play.pose.angle_deg)
        stamp = None if at_ms is None else Stamp(at_ns=round(at_ms * 1e6), u_ns=round(u_ms * 1e6))
        self.do(c.Lay(seat=seat, card=card, flipped=play.flipped, pose=pose, u_mm=u_mm, stamp=stamp), SENSOR)
        return self.game.lying[-1]

    def apart(self, seat: str, card: str, pose: Pose) -> Lying:
        self.do(c.Lay(seat=seat, card=card, pose=pose, u_mm=0.2), SENSOR)
        return self.game.lying[-1]

    def undo(self) -> TactaTable:
        return self.do(k.Undo())
