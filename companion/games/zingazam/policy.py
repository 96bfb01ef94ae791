"""What a sensible referee, and players who follow the rules, would do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from companion.core import chance
from companion.core.command import ChangeOption, Command
from companion.games.zingazam import commands as c
from companion.games.zingazam.abilities import due, legal
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import (
    OTHERS,
    OWNER,
    Table,
    cards_of,
    dealing_to,
    is_full,
    is_last_game,
    is_variant_playable,
    own_numbers_left,
    place_in,
)

T = TypeVar("T")


def policy(table: Table, salt: int) -> Command | None:
    """One command that moves the game on; None when nobody has anything to do."""
    state = table.game

    def pick(word: str, among: Sequence[T]) -> T:
        return among[chance.number(table.opened.seed, f"policy/{salt}/{word}", len(among))]

    match state.phase:
        case "setup":
            seats = [seat.id for seat in table.playing()]
            if state.oldest not in seats:
                return c.NameOldest(seat=pick("oldest", seats)) if seats else None
            if not is_variant_playable(table):
                return ChangeOption(option="variant", value=False)
            return c.Begin() if 2 <= len(seats) <= 5 else None
        case "deal" if (found := dealing_to(table)) is not None:
            dealt = [held.number for held in state.hands[found[0]]]
            left = [number for number in cards_of(table).numbers if number not in dealt]
            return c.Deal(seat=found[0], number=pick("deal", left or [cards_of(table).numbers[0]]))
        case "play":
            if state.drawing:
                return c.TellCat(seat=state.drawing, number=pick("cat", cards_of(table).cat_numbers))
            if state.facing_of:
                return c.TellFacing(seat=state.facing_of, faced=pick("faced", (OTHERS, OWNER)))
            if due(table) is not None:
                return c.Settle()
            if choices := legal(table):
                return pick("choice", choices)
            return _play(table, salt) if state.turn else None
        case "taking":
            return c.Collect()
        case "counted":
            return None if is_last_game(table) else c.NextGame()
        case _:
            return None


def _play(table: Table, salt: int) -> Command | None:
    state, seat = table.game, table.game.turn
    hand = state.hands.get(seat, ())
    lot = chance.number(table.opened.seed, f"policy/{salt}/play", 10**9)
    if is_full(table):
        place = state.forced.get(seat, 0) or 1 + lot % max(1, len(hand))
        return c.Play(seat=seat, position=place) if hand else None
    cards = [Card(number) for number in own_numbers_left(table, seat)]
    cards += [Card(number, is_cat=True) for number in cards_of(table).cat_numbers]
    held = [card for card in cards if place_in(state, seat, card)]
    return c.Play(seat=seat, card=held[lot % len(held)].id) if held else None
