"""Plays a whole game of Tacta at a running table, as people would: decks in hand, cards laid, a referee's clicks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from companion.core import chance
from companion.core import command as core
from companion.core.geometry import Point, Pose
from companion.demo.people import Hands, People, StuckError
from companion.games.tacta import commands as c
from companion.games.tacta.faces import chained
from companion.games.tacta.layouts import layouts_of
from companion.games.tacta.model import (
    START,
    Tacta,
    are_ends_known,
    area,
    colour_of,
    deck_of,
    free_place,
    front_of,
    legal_plays,
    to_be_ruled,
)
from vision.render.overlaid import LaidCard

SEEN_S = 200.0
"""So long the simulated people wait for the eyes on a busy machine, then the referee enters what was done."""
FIRST_S = 600.0
"""The same for the first card: before it the eyes have looked over the whole empty table."""
NUDGE_TENTH_MM, NUDGE_TENTH_DEG = 6, 4
"""How exactly a careful hand lays a card."""
CARELESS = 9
"""Every ninth card on average is laid carelessly."""
CARELESS_MM = 3.6
ENTERED_U_MM = 1.0


class Stages(Protocol):
    """Where cards are put so that the eyes see them."""

    def show(self, laid: tuple[LaidCard, ...], hands_mm: tuple[Point, ...]) -> None:
        """Have these cards lie on the table, by hands that reach there."""


class CardDirector(People[Tacta]):
    """People at a table of Tacta.

    `entered`: how many cards the referee had to enter because the eyes did not see them.
    """

    def __init__(self, hands: Hands, stage: Stages, *, seed: int, speed: float) -> None:
        """They sit down; `play` begins."""
        super().__init__(hands, seed=seed, speed=speed)
        self._stage = stage
        self._decks: dict[str, list[str]] = {}
        self._laid: list[tuple[int, LaidCard]] = []
        self._layouts: Mapping[str, Any] = {each.id: each for each in layouts_of(deck_of(self.sitting))}
        self.entered = 0

    def _is_over(self) -> bool:
        return self.sitting.game.phase == "over"

    def _step(self) -> None:
        sitting = self.sitting
        if sitting.stopped_at_ns is not None:
            self._must(core.Resume())
            return
        match sitting.game.phase:
            case "setup":
                self._sit_down()
            case "ends":
                for seat in sitting.playing():
                    self._show_ends(seat.id)
            case "play":
                self._take_turn(sitting.game.turn)
            case "scoring":
                self._pause(1.5)
                self._must(c.Score())
            case phase:
                raise StuckError(f"nobody knows what to do in step {phase}")

    # Before the first card

    def _sit_down(self) -> None:
        """Everybody takes a colour and shuffles; the starting card is laid and the referee says that it lies."""
        colours = list(deck_of(self.sitting).colours)
        for seat in self.sitting.playing():
            colour = colours.pop(self._pick(f"colour/{seat.id}", len(colours)))
            self._pause(0.6)
            self._must(c.TakeColour(seat=seat.id, colour=colour), seat.id)
        width, height = area(self.sitting).size_mm
        card_width, card_height = deck_of(self.sitting).card_mm
        turn = self._pick("start/turn", 41) - 20.0
        middle = Pose(0.0, 0.0, turn).apply((card_width / 2, card_height / 2))
        pose = Pose(width / 2 - middle[0], height / 2 - middle[1], turn)
        self._put(0, START, pose, flipped=False)
        if not self._until(lambda now: bool(now.proposals), FIRST_S):
            self.entered += 1
            self._must(c.Begin(pose=pose, u_mm=ENTERED_U_MM))
            return
        self._confirm_all()

    def _show_ends(self, seat: str) -> None:
        """Top and bottom of the deck; the others in it nobody sees."""
        if are_ends_known(self.sitting, seat):
            return
        deck = self._hand(seat)
        ends = tuple(dict.fromkeys((deck[0], deck[-1])))
        self._pause(0.4)
        self._must(c.ShowEnds(seat=seat, cards=ends), seat)

    def _hand(self, seat: str) -> list[str]:
        """The seat's cards in the order in which it shuffled them."""
        held = self.sitting.game.decks[seat]
        if seat not in self._decks:
            order = sorted(held, key=lambda card: (self._pick(f"shuffle/{seat}/{card}", 10**6), card))
            self._decks[seat] = order
        return [card for card in self._decks[seat] if card in held]

    # A turn

    def _take_turn(self, seat: str) -> None:
        self._show_ends(seat)
        sitting = self.sitting
        deck = self._hand(seat)
        ends = tuple(dict.fromkeys((deck[0], deck[-1])))
        lot = f"{seat}/{sitting.game.laid}"
        found = legal_plays(sitting, ends)
        if found:
            card, play = found[self._pick(f"play/{lot}", len(found))]
            pose, flipped = play.pose, play.flipped
        elif (free := free_place(sitting)) is not None:
            card, pose, flipped = ends[0], free, False
        else:
            self._must(c.BoxCard(seat=seat, card=ends[0]), seat)
            return
        self._pause(0.8)
        number = sitting.game.laid + 1
        self._put(number, card, self._nudged(pose, lot), flipped=flipped)
        self._wait_for(number, seat, card)
        self._rule()

    def _nudged(self, pose: Pose, lot: str) -> Pose:
        """Where a person's hand leaves the card: nearly there, now and then not near enough."""
        is_careless = self._pick(f"care/{lot}", CARELESS) == 0
        far = CARELESS_MM if is_careless else self._pick(f"far/{lot}", NUDGE_TENTH_MM + 1) / 10
        way = Pose(0.0, 0.0, float(self._pick(f"way/{lot}", 360))).apply((far, 0.0))
        turn = (self._pick(f"turn/{lot}", 2 * NUDGE_TENTH_DEG + 1) - NUDGE_TENTH_DEG) / 10
        width, height = deck_of(self.sitting).card_mm
        middle = (width / 2, height / 2)
        about = Pose(0.0, 0.0, turn).apply(middle)
        turned = chained(pose, Pose(middle[0] - about[0], middle[1] - about[1], turn))
        moved = Pose(turned.x_mm + way[0], turned.y_mm + way[1], turned.angle_deg)
        return self._kept_on_table(moved)

    def _kept_on_table(self, pose: Pose) -> Pose:
        """Nobody lays a card over the table's edge by carelessness: the pose, moved back onto it."""
        (width, height), (right, bottom) = deck_of(self.sitting).card_mm, area(self.sitting).size_mm
        corners = [pose.apply(corner) for corner in ((0, 0), (width, 0), (width, height), (0, height))]
        x = max(0.0, 0.5 - min(x for x, _ in corners)) - max(0.0, max(x for x, _ in corners) - right + 0.5)
        y = max(0.0, 0.5 - min(y for _, y in corners)) - max(0.0, max(y for _, y in corners) - bottom + 0.5)
        return Pose(pose.x_mm + x, pose.y_mm + y, pose.angle_deg)

    def _put(self, number: int, card: str, pose: Pose, *, flipped: bool) -> None:
        layout = self._layouts[front_of(card) if number else deck_of(self.sitting).start.id]
        self._laid.append((number, LaidCard(layout, colour_of(card), flipped, pose)))
        width, height = deck_of(self.sitting).card_mm
        self._show(pose.apply((width / 2, height / 2)))

    def _show(self, hand: Point) -> None:
        self._stage.show(tuple(card for _, card in self._laid), (hand,))

    def _wait_for(self, number: int, seat: str, card: str) -> None:
        """Until the eyes saw it, perhaps with a question; else the referee enters what was laid."""
        self._until(lambda now: now.game.laid >= number or bool(now.proposals), SEEN_S)
        self._confirm_all()
        if self._is_ended or self.sitting.game.laid >= number:
            return
        self.entered += 1
        laid = self._laid[-1][1]
        self._must(c.Lay(seat=seat, card=card, flipped=laid.flipped, pose=laid.pose, u_mm=ENTERED_U_MM))

    def _rule(self) -> None:
        """The referee decides on a card that lies wrong or too close to call; what is taken off leaves the stage."""
        doubtful = to_be_ruled(self.sitting)
        if doubtful is None:
            return
        self._pause(1.0)
        self._must(c.RuleCard(n=doubtful.n, is_legal=not doubtful.is_illegal))
        lying = {card.n for card in self.sitting.game.lying}
        gone = next((laid for n, laid in self._laid if n not in lying), None)
        if gone is not None:
            self._laid = [(n, laid) for n, laid in self._laid if n in lying]
            width, height = gone.layout.size_mm
            self._show(gone.pose.apply((width / 2, height / 2)))

    # Waiting and asking

    def _pick(self, salt: str, below: int) -> int:
        return chance.number(self._seed, f"tacta/{salt}", below)
