"""Plays a whole game of TAH WARS at a running table: towers moved, dice rolled into towers, a referee's clicks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from companion.core import chance
from companion.core import command as core
from companion.core.command import Command
from companion.core.geometry import Point, Pose
from companion.core.seat import REFEREE
from companion.demo.board_stage import Lain, Stands
from companion.demo.people import Hands, People, StuckError
from companion.games.tahwars import commands as c
from companion.games.tahwars.model import (
    TahWars,
    data_of,
    deployable,
    on_board,
    open_attack,
    targets,
    to_launch,
)
from companion.games.tahwars.policy import policy

SEEN_S, GLANCE_S, TOLD_S = 60.0, 0.1, 2.0
"""So long the simulated people wait for the eyes on a busy machine to have looked, from one glance to the next, and
then for what they say to be taken in; what they do not say the referee enters."""
EDGE_MM, ENTERED_U_MM = 75.0, 1.0
MOVE_MM = 60.0
CONTACT_MM = 7.0
"""From a tower's side to the middle of a die that touches it."""
TRIES = 400


class Stages(Protocol):
    """Where towers stand and dice lie so that the eyes see them."""

    def stand(self, towers: tuple[Stands, ...], dice: tuple[Lain, ...], hands_mm: tuple[Point, ...]) -> None:
        """Have them stand and lie so, by hands that reach there."""

    def roll(self, towers: tuple[Stands, ...], dice: tuple[Lain, ...], way: tuple[Point, ...]) -> None:
        """The last of the dice rolls along `way` before it lies where it lies."""

    def may_lie(self, xy_mm: Point, towers: tuple[Stands, ...], dice: tuple[Lain, ...]) -> bool:
        """Whether a die can lie there in sight."""


class BoardDirector(People[TahWars]):
    """People at a table of TAH WARS.

    Whatever they do on the board, they wait for the eyes to have looked at it, so nothing is told of a board that is no
    more. `entered`: what the referee had to enter or put right because the eyes did not see it so.
    """

    def __init__(
        self, hands: Hands, stage: Stages, has_looked: Callable[[], bool], *, seed: int, speed: float
    ) -> None:
        """They sit down; `play` begins. `has_looked()`: the eyes have told of the board as it was last wanted."""
        super().__init__(hands, seed=seed, speed=speed)
        self._stage = stage
        self._has_looked = has_looked
        self._towers: dict[str, Stands] = {}
        self._dice: dict[tuple[str, str], Lain] = {}
        self._hits: set[tuple[str, str]] = set()
        self._done = 0
        self.entered = 0

    def _is_over(self) -> bool:
        return self.sitting.game.phase == "over"

    def _step(self) -> None:
        sitting = self.sitting
        if sitting.stopped_at_ns is not None:
            self._must(core.Resume())
            return
        self._done += 1
        match sitting.game.phase:
            case "setup":
                self._set_up()
            case "launch":
                seat = sitting.game.turn
                self._drop(seat, to_launch(sitting.game.players[seat])[0])
            case "actions":
                self._take_turn(sitting.game.turn)
            case _:
                command = policy(sitting, self._pick("policy", 10**9))
                if command is None:
                    raise StuckError(f"nobody knows what to do in phase {sitting.game.phase}")
                self._pause(0.3)
                self._must(command)
                if self.sitting.game.phase != "orders":  # all orders are given before hands reach in
                    self._tidy()

    # Set-up

    def _set_up(self) -> None:
        """The first map is laid, castles stand around it, each looking to its middle; the first player begins."""
        laid = data_of(self.sitting).maps[0]
        self._must(c.LayMap(name=laid.name))
        width, height = laid.board_mm
        seats = self.sitting.playing()
        for n, seat in enumerate(seats):
            around = 2 * math.pi * (n + 0.5) / len(seats)
            x = width / 2 - (width / 2 - EDGE_MM) * math.sin(around)
            y = height / 2 + (height / 2 - EDGE_MM) * math.cos(around)
            heading = math.degrees(math.atan2(height / 2 - y, width / 2 - x))
            self._towers[seat.id] = Stands(
                owner=seat.colour, xy_mm=(round(x, 1), round(y, 1)), heading_deg=round(heading, 1)
            )
        self._stand(tuple(tower.xy_mm for tower in self._towers.values()))
        self._until(lambda now: all(p.castle is not None for p in now.game.players.values()), TOLD_S)
        for seat in seats:
            if self.sitting.game.players[seat.id].castle is None:
                self._enter(self._placed(seat.id))
        self._must(c.ChooseFirst(first=seats[self._pick("first", len(seats))].id))

    def _placed(self, seat: str) -> c.PlaceCastle:
        tower = self._towers[seat]
        return c.PlaceCastle(
            seat=seat, xy_mm=tower.xy_mm, heading_deg=tower.heading_deg, u_mm=ENTERED_U_MM, u_deg=1.0
        )

    # A turn

    def _take_turn(self, seat: str) -> None:
        """A move, an attack with all dice, the count, a quest where one is complete, and the end."""
        sitting = self.sitting
        doing = sitting.game.doing
        kinds = deployable(sitting, seat)
        if not doing.moved and not doing.spent and doing.attack is None and self._pick("moves", 2) == 0:
            self._move(seat)
        self._hits.clear()
        if kinds and targets(sitting, seat):
            self._must(c.DeclareAttack(seat=seat, dice=kinds), seat)
            for kind in kinds:
                if open_attack(self.sitting) is not None:
                    self._drop(seat, kind)
            self._settle(seat)
        self._finish(seat)

    def _move(self, seat: str) -> None:
        """The castle is slid a little towards the middle, where nothing stands or lies."""
        laid = self.sitting.game.map
        if laid is None:
            return
        old, (width, height) = self._towers[seat], laid.board_mm
        ahead = math.atan2(height / 2 - old.xy_mm[1], width / 2 - old.xy_mm[0])
        x, y = old.xy_mm[0] + MOVE_MM * math.cos(ahead), old.xy_mm[1] + MOVE_MM * math.sin(ahead)
        others = [each.xy_mm for who, each in self._towers.items() if who != seat]
        lying = [die.xy_mm for die in self._dice.values()]
        if any(math.dist((x, y), at) < 150 for at in others) or any(
            math.dist((x, y), at) < 75 for at in lying
        ):
            return
        self._towers[seat] = replace(old, xy_mm=(round(x, 1), round(y, 1)))
        self._stand((old.xy_mm,))
        if not self._until(lambda now: bool(now.game.doing.moved), TOLD_S):
            tower = self._towers[seat]
            pose = {
                "xy_mm": tower.xy_mm,
                "heading_deg": tower.heading_deg,
                "u_mm": ENTERED_U_MM,
                "u_deg": 1.0,
            }
            self._enter(c.MoveCastle(seat=seat, **pose))  # type: ignore[arg-type]  # the fields of a pose

    def _settle(self, seat: str) -> None:
        """Hits are confirmed in their order, and entered where nobody asked about them; then the attack is counted."""
        attack = open_attack(self.sitting)
        if attack is None:
            return
        for kind, tower in sorted(self._hits):
            if kind in attack.launched and tower not in attack.touched.get(kind, ()):
                hit = c.NoteHit(seat=seat, kind=kind, tower=tower)
                asked = next((p.id for p in self.sitting.proposals if p.command == hit), None)
                if asked is None:
                    self._enter(hit)
                else:
                    self._must(core.Confirm(proposal=asked))
        self._answer()
        self._pause(1.0)
        self._must(c.SettleAttack(seat=seat), seat)
        self._tidy()

    def _finish(self, seat: str) -> None:
        """What policy would do at the end of a turn, but for dice: a quest, then the next player."""
        if self.sitting.game.phase != "actions" or self.sitting.game.turn != seat:
            return
        command = policy(self.sitting, self._pick("quest", 10**9))
        if isinstance(command, c.CompleteQuest):
            self._must(command)
        if self.sitting.game.phase == "actions":
            self._must(c.EndTurn(seat=seat), seat)
        self._tidy()

    # Dice

    def _drop(self, seat: str, kind: str) -> None:
        """A die slides out of its tower, bumps another perhaps, and comes to rest; then the eyes, or the referee."""
        die = data_of(self.sitting).die(kind)
        shows = die.faces_shown if die else (1,)
        attack = open_attack(self.sitting)
        is_attack = attack is not None and kind in attack.waiting
        aims = targets(self.sitting, seat) if is_attack and self._pick(f"aims/{kind}", 4) else ()
        tower = aims[self._pick(f"at/{kind}", len(aims))] if aims else ""
        xy, way = self._landing(seat, tower)
        colour = self._towers[seat].owner
        lain = Lain(owner=colour, kind=kind, shown=shows[self._pick(f"face/{kind}", len(shows))], xy_mm=xy,
                    angle_deg=float(self._pick(f"turn/{kind}", 360)))  # fmt: skip
        if tower:
            self._hits.add((kind, tower))
        before, since, asked = self.sitting.game.players[seat].dice[kind], self._last_entry(), self._asked()
        others = tuple(each for key, each in self._dice.items() if key != (seat, kind))
        self._pause(0.5)
        self._stage.roll(tuple(self._towers.values()), (*others, lain), way)
        self._dice[seat, kind] = lain
        self._look()
        self._until(lambda now: now.game.players[seat].dice[kind] != before or self._asked() > asked, TOLD_S)
        self._answer(c.DropDie, c.NoteKnock)
        self._put_right(seat, kind, since)

    def _last_entry(self) -> int:
        return max((shown.entry for shown in self.sitting.rulings), default=0)

    def _asked(self) -> int:
        """The newest open question."""
        return max((proposal.id for proposal in self.sitting.proposals), default=0)

    def _put_right(self, seat: str, kind: str, since: int) -> None:
        """The referee enters a die that was not seen, and instead of what was read wrongly since an entry."""
        lain, piece = self._dice[seat, kind], self.sitting.game.players[seat].dice[kind]
        told = [s.entry for s in self.sitting.rulings if s.event == "DieLaunched" and s.entry > since]
        is_right = len(told) == 1 and piece.place == "board" and self._shows(kind, piece.shown, lain.shown)
        if self._is_ended or is_right:
            return
        dropped = c.DropDie(seat=seat, kind=kind, shows=lain.shown, xy_mm=lain.xy_mm)
        for entry in reversed(told[1:]):
            self._must(core.Void(entry=entry, why="no such die was dropped"))
        if told:
            self._enter(core.Replace(entry=told[0], command=dropped, why="it was read wrongly"))
        else:
            self._enter(dropped)

    def _landing(self, seat: str, tower: str) -> tuple[Point, tuple[Point, ...]]:
        """Where a die comes to rest and by which corners: out of its own tower, by the side of another."""
        laid, towers, lying = self.sitting.game.map, tuple(self._towers.values()), tuple(self._dice.values())
        width, height = laid.board_mm if laid is not None else (900.0, 500.0)
        start = self._towers[seat].xy_mm
        side = data_of(self.sitting).tower_mm / 2 + CONTACT_MM
        way: tuple[Point, ...] = (start,)
        near, reach = (width / 2, height / 2), 400
        if tower:
            other = self._towers[tower]
            around = [Pose(*other.xy_mm, other.heading_deg).apply(at) for at in
                      ((side, 0.0), (-side, 0.0), (0.0, side), (0.0, -side))]  # fmt: skip
            bump = min(around, key=lambda at: math.dist(at, start))
            way, near, reach = (start, bump), bump, 140
        for n in range(TRIES):
            x = near[0] + self._pick(f"x/{n}", 2 * reach) - reach
            y = near[1] + self._pick(f"y/{n}", 2 * reach) - reach
            is_on = 20 <= x <= width - 20 and 20 <= y <= height - 20
            if is_on and self._stage.may_lie((x, y), towers, lying):
                return (x, y), way
        raise StuckError("there is no room for a die on the board")

    def _tidy(self) -> None:
        """Dice that went back leave the board, and those that were turned up show it."""
        gone, turned = [], {}
        players = self.sitting.game.players
        for (seat, kind), lain in self._dice.items():
            piece = players[seat].dice[kind]
            if piece not in on_board(players[seat]):
                gone.append((seat, kind))
            elif piece.number and not self._shows(kind, piece.shown, lain.shown):
                die = data_of(self.sitting).die(kind)
                turned[seat, kind] = replace(lain, shown=die.faces_shown[piece.number - 1] if die else 1)
        if not gone and not turned:
            return
        hands = tuple(self._dice[key].xy_mm for key in (*gone, *turned))[:2]
        self._dice = {key: die for key, die in (self._dice | turned).items() if key not in gone}
        self._towers = {seat: t for seat, t in self._towers.items() if not players[seat].is_out}
        self._stand(hands)

    # Waiting and asking

    def _stand(self, hands: tuple[Point, ...]) -> None:
        self._stage.stand(tuple(self._towers.values()), tuple(self._dice.values()), hands)
        self._look()

    def _look(self) -> None:
        """Wait until the eyes have looked at the board as it is now."""
        for _ in range(round(SEEN_S / GLANCE_S)):
            if self._is_ended or self._hands.until(self._has_looked, GLANCE_S):
                return

    def _answer(self, *kinds: type[Command]) -> None:
        """Questions about commands of these `kinds` are answered by what happened; of all kinds when none is named."""
        for proposal in self._hands.view(REFEREE).open_proposals:
            asked = next((p for p in self.sitting.proposals if p.id == proposal.id), None)
            if asked is None or self._is_ended or (kinds and not isinstance(asked.command, kinds)):
                continue
            self._pause(0.4)
            is_so = self._is_so(asked.command) and proposal.confirm is not None
            self._must(core.Confirm(proposal=asked.id) if is_so else core.Reject(proposal=asked.id))

    def _is_so(self, command: Command) -> bool:
        match command:
            case c.NoteHit(kind=kind, tower=tower):
                return (kind, tower) in self._hits
            case c.DropDie(seat=seat, kind=kind, shows=shows, is_off_board=False) if (
                seat,
                kind,
            ) in self._dice:
                return self._shows(kind, shows, self._dice[seat, kind].shown)
            case c.NoteKnock(owner=owner, kind=kind, shows=shows, is_off_board=False) if (
                owner,
                kind,
            ) in self._dice:
                return self._shows(kind, shows, self._dice[owner, kind].shown)
            case _:
                return False

    def _shows(self, kind: str, told: int | None, shown: int) -> bool:
        """Whether a die shows what is told of it: the 0 of a D10 is a 10."""
        die = data_of(self.sitting).die(kind)
        return die is not None and told is not None and die.number(told) == die.number(shown)

    def _enter(self, command: Command) -> None:
        """The referee enters what the eyes did not see."""
        self.entered += 1
        self._must(command)

    def _pick(self, salt: str, below: int) -> int:
        return chance.number(self._seed, f"tahwars/{self._done}/{salt}", below)
