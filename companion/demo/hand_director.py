"""Plays Zing-a-Zam at a running table, as people would: hands held backwards, cards laid, moved and taken."""

from __future__ import annotations

from typing import Protocol

import msgspec

from companion.core import chance
from companion.core import command as core
from companion.core.geometry import Point, Pose
from companion.demo.people import Hands, People, StuckError
from companion.games.zingazam import commands as c
from companion.games.zingazam.abilities import legal
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import OTHERS, OWNER, Zingazam, cards_of, facing, is_over

SEEN_S = 40.0
"""So long the simulated people wait for the eyes on a busy machine, then the referee enters what was done."""
CARD_MM = (63.0, 88.0)
MOVED = 5
"""Every fifth card on average is pushed aside after it was laid."""
PUSH_MM = 9.0


class Lain(msgspec.Struct, frozen=True):
    """A card that lies face up: its name in the deck, and the pose of its own top-left corner."""

    card: str
    pose: Pose


class Shown(Protocol):
    """Where cards are put so that the eyes see them."""

    def lie(self, cards: tuple[Lain, ...], hands_mm: tuple[Point, ...]) -> None:
        """Have these cards lie on the table, by hands that reach there; returns at once."""


class Own(msgspec.Struct, frozen=True):
    """A card in somebody's hand, as only that hand knows it."""

    card: Card
    faces_owner: bool


class HandDirector(People[Zingazam]):
    """People at a table of Zing-a-Zam.

    `size_mm`: of the table. `entered`: how often the referee had to enter what the eyes did not see.
    """

    def __init__(
        self, hands: Hands, stage: Shown, *, size_mm: tuple[float, float], seed: int, speed: float
    ) -> None:
        """They sit down; `play` begins."""
        super().__init__(hands, seed=seed, speed=speed)
        self._stage, self._size_mm = stage, size_mm
        self._own: dict[str, list[Own]] = {}
        self._cats: list[Card] = []
        self._lying: list[Lain] = []
        self._faced = OTHERS
        self.entered = 0

    def _is_over(self) -> bool:
        return is_over(self.sitting)

    def _step(self) -> None:
        self._go_on()
        self._follow()

    def _go_on(self) -> None:
        sitting = self.sitting
        state = sitting.game
        if sitting.stopped_at_ns is not None:
            self._must(core.Resume())
        elif state.phase == "setup":
            self._sit_down()
        elif state.phase == "play" and state.facing_of:
            self._pause(0.5)
            self._must(c.TellFacing(seat=state.facing_of, faced=self._faced), state.facing_of)
        elif choices := legal(sitting):
            self._pause(1.0)
            choice = choices[self._pick("choice", len(choices))]
            self._must(choice, str(getattr(choice, "seat", "")))
        elif state.phase == "play" and state.turn:
            self._lay(state.turn)
        elif state.phase == "taking":
            self._take()
        elif state.phase == "counted":
            self._must(c.NextGame())
        else:
            raise StuckError(f"nobody knows what to do in step {state.phase}")

    def _sit_down(self) -> None:
        """The oldest is named, everybody shuffles, and one card of each hand faces its owner."""
        seats = [seat.id for seat in self.sitting.playing()]
        if self.sitting.game.oldest not in seats:
            self._must(c.NameOldest(seat=seats[self._pick("oldest", len(seats))]))
        self._pause(1.5)
        self._must(c.Begin())
        cards, state = cards_of(self.sitting), self.sitting.game
        for seat in seats:
            numbers = self._shuffled(f"hand/{seat}", [str(number) for number in cards.numbers])
            seen = len(facing(state, seat, OWNER))
            self._own[seat] = [Own(Card(int(number)), place < seen) for place, number in enumerate(numbers)]
        deck = [number for number, count in cards.cats.items() for _ in range(count)]
        self._cats = [Card(int(number), is_cat=True) for number in self._shuffled("cats", deck)]

    # A turn

    def _lay(self, seat: str) -> None:
        """One card of the hand, the one that a 6 chose where it did; now and then it is pushed aside afterwards."""
        state = self.sitting.game
        hand, before = self._own[seat], len(state.played)
        place = state.forced.get(seat, 0) or 1 + self._pick("card", len(hand))
        own = hand[min(place, len(hand)) - 1]
        self._own[seat] = [each for each in hand if each is not own]
        self._faced = OWNER if own.faces_owner else OTHERS
        self._pause(1.0)
        self._put(Lain(own.card.id, self._spot(before)))
        self._until(lambda now: len(now.game.played) > before or bool(now.proposals), SEEN_S)
        self._confirm_all()
        if not self._is_ended and len(self.sitting.game.played) == before:
            self.entered += 1
            self._must(c.Play(seat=seat, card=own.card.id, faced=self._faced))
        if self._pick("moved", MOVED) == 0:
            lain = self._lying.pop()
            x, y = self._pick("push", 2) * 2 - 1, self._pick("push too", 2) * 2 - 1
            pose = Pose(lain.pose.x_mm + x * PUSH_MM, lain.pose.y_mm + y * PUSH_MM, lain.pose.angle_deg)
            self._put(Lain(lain.card, pose))

    def _spot(self, number: int) -> Pose:
        """Where the card of that number lies: side by side, each a little turned."""
        width, height = self._size_mm
        count = max(2, len(self._own))
        turn = (self._pick("turn", 13) - 6.0) + (180.0 if self._pick("upside down", 4) == 0 else 0.0)
        middle = Pose(0.0, 0.0, turn).apply((CARD_MM[0] / 2, CARD_MM[1] / 2))
        return Pose(width * (number + 0.5) / count - middle[0], height / 2 - middle[1], turn)

    def _put(self, lain: Lain) -> None:
        self._lying.append(lain)
        self._stage.lie(tuple(self._lying), (lain.pose.apply((CARD_MM[0] / 2, CARD_MM[1] / 2)),))

    def _take(self) -> None:
        """The winner takes all cards; the eyes see that they are gone."""
        part = self.sitting.game.part
        self._pause(1.5)
        reached = tuple(lain.pose.apply((CARD_MM[0] / 2, CARD_MM[1] / 2)) for lain in self._lying)
        self._lying = []
        self._stage.lie((), reached)
        self._until(lambda now: now.game.part != part, SEEN_S)
        if not self._is_ended and self.sitting.game.part == part:
            self.entered += 1
            self._must(c.Collect())

    def _follow(self) -> None:
        """Hands do what abilities ask for: a cat is drawn, a card is turned."""
        state = self.sitting.game
        for seat, hand in state.hands.items() if state.phase != "counted" else ():
            own = self._own.get(seat, [])
            while len(own) < len(hand) - (state.facing_of == seat) and self._cats:
                own.append(Own(self._cats.pop(), faces_owner=True))
            seen = sum(held.faces_owner for held in hand)
            while state.facing_of != seat and sum(each.faces_owner for each in own) < seen:
                at = next(place for place, each in enumerate(own) if not each.faces_owner)
                own[at] = Own(own[at].card, faces_owner=True)

    # Waiting and asking

    def _lot(self, word: str) -> str:
        state = self.sitting.game
        return f"zingazam/{word}/{state.part}/{len(state.played)}/{state.using}"

    def _pick(self, word: str, below: int) -> int:
        return chance.number(self._seed, self._lot(word), below)

    def _shuffled(self, word: str, items: list[str]) -> tuple[str, ...]:
        return chance.shuffled(self._seed, self._lot(word), items)
