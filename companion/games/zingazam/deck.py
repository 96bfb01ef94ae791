"""The cards by number as data. The text of the data file stands in the journal's first fact."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache

import msgspec

NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8)
CAT_NUMBERS = (1, 2, 3, 6, 7, 8)
"""Rule: ZAZ-1"""
MOST_CATS = 20


class Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """One printed card. `is_cat`: a Cat Companion, which plays like any card of its number. Rule: ZAZ-20"""

    number: int
    is_cat: bool = False

    @property
    def id(self) -> str:
        """Its name in commands: ``5``, or ``cat-6``."""
        return f"cat-{self.number}" if self.is_cat else str(self.number)

    @property
    def words(self) -> str:
        """As people say it."""
        return f"cat {self.number}" if self.is_cat else str(self.number)


class Cards(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is played with: the numbers of each set, how many cats of each number, how many cards face their owner.

    `visible_at_start` is None where the house rule says it.
    """

    numbers: tuple[int, ...] = NUMBERS
    cats: dict[str, int] = {}
    visible_at_start: int | None = None

    @property
    def cat_count(self) -> int:
        """How many cats there are."""
        return sum(self.cats.values())

    @property
    def cat_numbers(self) -> tuple[int, ...]:
        """The numbers that cats bear."""
        return tuple(sorted(int(number) for number, count in self.cats.items() if count))


class Few(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The variant for few players as an owner filled it in. Rule: ZAZ-3"""

    players: tuple[int, ...] = (2, 3)
    numbers: tuple[int, ...] | None = None
    cats: dict[str, int] | None = None
    visible_at_start: int | None = None
    text: str = ""


class Deck(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A data file."""

    name: str
    numbers: tuple[int, ...]
    cats: dict[str, int]
    few: Few | None = None

    def cards(self, *, is_few: bool) -> Cards:
        """The cards in play, by the variant or without it."""
        few = self.few if is_few else None
        if few is None:
            return Cards(numbers=self.numbers, cats=self.cats)
        return Cards(
            numbers=few.numbers if few.numbers is not None else self.numbers,
            cats=few.cats if few.cats is not None else self.cats,
            visible_at_start=few.visible_at_start,
        )


@lru_cache(maxsize=8)
def read(text: str) -> Deck:
    """The cards that a text describes. Raises ValueError with one line saying what is wrong. Rule: ZAZ-1"""
    try:
        deck = msgspec.convert(tomllib.loads(text), Deck)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"the card file cannot be read: {error}") from error
    for is_few in (False, True):
        _check(deck.cards(is_few=is_few))
    if deck.few is not None and not set(deck.few.players) <= {2, 3, 4, 5}:
        raise ValueError("few.players lists numbers of players from 2 to 5")
    return deck


def _check(cards: Cards) -> None:
    if (
        not cards.numbers
        or len(set(cards.numbers)) != len(cards.numbers)
        or set(cards.numbers) - set(NUMBERS)
    ):
        raise ValueError("numbers lists the cards of a set: 1 to 8, each at most once")
    wrong = sorted(set(cards.cats) - {str(number) for number in CAT_NUMBERS})
    if wrong:
        raise ValueError(f"there is no Cat Companion {wrong[0]!r}: they bear 1, 2, 3, 6, 7 or 8")
    if any(not 0 <= count <= MOST_CATS for count in cards.cats.values()):
        raise ValueError(f"of each Cat Companion there are 0 to {MOST_CATS}")
    if cards.visible_at_start is not None and not 0 <= cards.visible_at_start <= len(cards.numbers):
        raise ValueError("visible_at_start is at most the number of cards of a set")


def check(text: str) -> str:
    """Why a text is no card file, in one line; empty when it is one."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


def card_named(name: str) -> Card | None:
    """The card that a name means: ``5``, ``cat-6``, or a name of an owner's pictures that ends so (``red-5``).

    None where it means none.
    """
    found = re.search(r"(?:^|[^0-9])([1-8])$", name)
    if found is None:
        return None
    card = Card(int(found[1]), is_cat="cat" in name.casefold())
    return None if card.is_cat and card.number not in CAT_NUMBERS else card
