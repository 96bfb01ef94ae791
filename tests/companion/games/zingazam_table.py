"""A table of Zing-a-Zam for tests: the sets are shuffled, cards are played by name, hands are dealt as asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from virtual import REFEREE, Virtual

from companion.core import command as k
from companion.core.command import Command
from companion.core.ruling import Ruling
from companion.core.seat import PUBLIC, Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import Action, View
from companion.games.zingazam import GAME
from companion.games.zingazam import commands as c
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import Held, Zingazam, dealing_to

NAMES = ("Ann", "Ben", "Cem", "Dora", "Emil")
SENSOR = Actor(Role.SENSOR, name="camera")
SET = (1, 2, 3, 4, 5, 6, 7, 8)


class ZazTable:
    """One table; `give` returns the ruling of a refusal, None when the order was carried out."""

    def __init__(self, players: int = 3, seed: int = 1, data: str = "", **options: Any) -> None:
        seats = tuple(seat_at(n, NAMES[n - 1]) for n in range(1, players + 1))
        self.v = Virtual(GAME, seats, seed, options)
        if data:
            opened = msgspec.structs.replace(self.v.sitting.opened, data=data)
            self.v.table.sitting = msgspec.structs.replace(self.v.sitting, opened=opened)

    def piles(self, **piles: Sequence[int]) -> ZazTable:
        """Score piles as they might have become, the last card on top."""
        cards = {seat: tuple(Card(number) for number in numbers) for seat, numbers in piles.items()}
        game = msgspec.structs.replace(self.game, piles={**self.game.piles, **cards})
        self.v.table.sitting = msgspec.structs.replace(self.v.sitting, game=game)
        return self

    def cats(self, *seats: str) -> ZazTable:
        """These seats have drawn a Cat Companion."""
        hands = dict(self.game.hands)
        for seat in seats:
            hands[seat] = (*hands[seat], Held(is_cat=True, faces_owner=True))
        game = msgspec.structs.replace(self.game, hands=hands)
        self.v.table.sitting = msgspec.structs.replace(self.v.sitting, game=game)
        return self

    @property
    def game(self) -> Zingazam:
        state: Zingazam = self.v.sitting.game
        return state

    def give(self, command: Command, actor: Actor = REFEREE) -> Ruling | None:
        return self.v.give(command, actor).ruling

    def do(self, command: Command, actor: Actor = REFEREE) -> ZazTable:
        """The order must be carried out."""
        ruling = self.give(command, actor)
        assert ruling is None, ruling
        return self

    def begun(self, oldest: str = "s1") -> ZazTable:
        """The oldest is named and the sets are shuffled."""
        return self.do(c.NameOldest(seat=oldest)).do(c.Begin())

    def dealt(self, *hands: Sequence[int]) -> ZazTable:
        """Every hand is dealt, in the order given; 1 to 8 where nothing is said."""
        self.begun()
        seats = list(self.game.hands)
        while (found := dealing_to(self.v.sitting)) is not None:
            seat, place = found
            number = seats.index(seat)
            hand = hands[number] if number < len(hands) else SET
            self.do(c.Deal(seat=seat, number=hand[place - 1]))
        return self

    def play(self, *cards: str) -> ZazTable:
        """Who is on turn plays these cards one after the other, each facing the others if it may have."""
        for card in cards:
            self.do(c.Play(seat=self.game.turn, card=card))
            if self.game.facing_of:
                self.do(c.TellFacing(seat=self.game.facing_of, faced="others"))
        return self

    def round(self, *cards: str) -> ZazTable:
        """A whole round without a choice to make, and the winner takes it."""
        return self.play(*cards).do(c.Collect())

    def by(self, seat: str) -> Actor:
        """The seat's own page."""
        return Actor(Role.SEAT, seat)

    def pile(self, seat: str) -> list[int]:
        """Numbers of a score pile, the top one last."""
        return [card.number for card in self.game.piles[seat]]

    def left(self, *hand: str, seat: str) -> ZazTable:
        """This seat has played its other numbers in earlier rounds."""
        size = len(hand)
        held = (*(Held() for _ in range(size - 1)), Held(faces_owner=True))
        spent = tuple(number for number in SET if str(number) not in hand)
        game = msgspec.structs.replace(
            self.game, hands={**self.game.hands, seat: held}, spent={**self.game.spent, seat: spent}
        )
        self.v.table.sitting = msgspec.structs.replace(self.v.sitting, game=game)
        return self

    def rulings(self, rule: str) -> list[Ruling]:
        """All rulings so far that stand on a rule."""
        return [shown.ruling for shown in self.v.sitting.rulings if shown.ruling.rule == rule]

    def last_ruling(self) -> Ruling:
        """The newest ruling."""
        ruling: Ruling = self.v.sitting.rulings[-1].ruling
        return ruling

    def view(self, seat: str = "") -> View:
        return show(GAME, self.v.sitting, Viewer(Role.SEAT, seat) if seat else Viewer(Role.REFEREE))

    def board(self) -> View:
        return show(GAME, self.v.sitting, PUBLIC)

    def offered(self, kind: type[Command], seat: str = "") -> list[Action]:
        """What a page offers of one kind."""
        view = self.view(seat)
        return [action for action in view.actions if isinstance(action.command, kind)]

    def undo(self) -> ZazTable:
        return self.do(k.Undo())
