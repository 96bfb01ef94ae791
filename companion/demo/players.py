"""How a simulated player casts: dice that fall by the seed, and the die it locks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from companion.core import chance
from companion.core.geometry import Pose
from companion.demo.spells import spell_card
from companion.demo.stage import livery
from companion.games.tada.deck import FACES, Spell
from companion.games.tada.layouts import spell_layout
from vision.render.cube import Die
from vision.render.flat import Card

SPREAD_MM = 24.0
DICE = 6


@dataclass
class Player:
    """One seat's hand in this cast. `roll_mm`: the middle of the place where it rolls; `is_by_cards`:
    whether its spell bears its own picture, by which it is known."""

    seat: str
    colour: str
    spell: Spell
    pose: Pose
    roll_mm: tuple[float, float]
    seed: int
    is_by_cards: bool = False
    locked: dict[int, str] = field(default_factory=dict)
    held: tuple[int, str] | None = None
    rolls: int = 0
    loose: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every slot bears a die."""
        return len(self.locked) == len(self.spell.symbols)

    @property
    def is_finished(self) -> bool:
        """Whether the next lock, held in the hand already, completes the spell."""
        return len(self.locked) + (self.held is not None) == len(self.spell.symbols)

    def roll(self) -> None:
        """Put the held die on its slot, throw the others, and take up one that fits."""
        if self.held is not None:
            self.locked[self.held[0]] = self.held[1]
        self.held, self.loose = None, ()
        if self.is_complete:
            return
        self.rolls += 1
        self.loose = tuple(self._face(index) for index in range(DICE - len(self.locked)))
        for slot, symbol in enumerate(self.spell.symbols):
            if slot not in self.locked and symbol in self.loose:
                self.held = (slot, symbol)
                return

    def _face(self, index: int) -> str:
        return FACES[chance.number(self.seed, f"{self.seat}/{self.rolls}/{index}", len(FACES))]

    def card(self) -> Card:
        """The spell card before the player."""
        card = spell_card(self.seat, self.spell, self.pose, self.colour)
        return card if self.is_by_cards else replace(card, seed=self.seed % 97)

    def dice(self) -> tuple[Die, ...]:
        """The dice that lie on the table now: locked ones on the card, loose ones where they were rolled."""
        return (*(self._on_card(slot, value) for slot, value in self.locked.items()), *self._rolled())

    def _turn(self, salt: str) -> float:
        return float(chance.number(self.seed, f"{self.seat}/turn/{salt}", 360))

    def _shift(self, salt: str, most_mm: float) -> float:
        return (chance.number(self.seed, f"{self.seat}/shift/{salt}", 1001) / 500 - 1) * most_mm

    def _on_card(self, slot: int, value: str) -> Die:
        region = spell_layout(self.seat, self.spell).regions[slot]
        x, y = self.pose.apply(region.outline.centre())
        return Die(
            value=value, owner=self.colour, livery=livery(self.colour), lift_mm=0.4, slot=slot,
            xy_mm=(x + self._shift(f"x{slot}", 1.2), y + self._shift(f"y{slot}", 1.2)),
            angle_deg=self._turn(f"lock{slot}"),
        )  # fmt: skip

    def _rolled(self) -> tuple[Die, ...]:
        side = 7.0 if self.rolls % 2 else -7.0
        found = []
        for index, value in enumerate(self.loose):
            salt = f"{self.rolls}/{index}"
            x = self.roll_mm[0] + (index % 3 - 1) * SPREAD_MM + side + self._shift(f"x{salt}", 2.0)
            y = self.roll_mm[1] + (index // 3 - 0.5) * SPREAD_MM + self._shift(f"y{salt}", 2.0)
            found.append(
                Die(value=value, owner=self.colour, livery=livery(self.colour), xy_mm=(x, y),
                    angle_deg=self._turn(salt))
            )  # fmt: skip
        return tuple(found)
