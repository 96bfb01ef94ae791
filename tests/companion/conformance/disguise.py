"""What each game keeps secret: which states look the same to everybody but one seat, and which orders do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import counting as k
import msgspec

from companion.core import command as c
from companion.core.game import Sitting
from companion.games import tacta, tada, tahwars, zingazam
from companion.games.tada.commands import ChooseSpell
from companion.games.zingazam.commands import TellCat

replace = msgspec.structs.replace
Disguise = Callable[[Sitting[Any], str, random.Random], Sitting[Any]]


def _counting(sitting: Sitting[Any], seat: str, chance: random.Random) -> Sitting[Any]:
    hidden = tuple((s, chance.randrange(4, 1000) if s == seat else n) for s, n in sitting.game.hidden)
    return replace(sitting, game=replace(sitting.game, hidden=hidden))


def _tada(sitting: Sitting[Any], seat: str, chance: random.Random) -> Sitting[Any]:
    """Other cards in the seat's hand; before the spells are turned up, also another choice."""
    state = sitting.game
    hand, chosen = state.hands.get(seat, ()), state.chosen.get(seat, "")
    if sitting.options["dealing"] == "table":
        return sitting
    shown = (chosen,) if chosen and state.phase != "choose" else ()
    hidden = [card for card in hand if card not in shown]
    others = list(state.deck)
    chance.shuffle(others)
    drawn, rest = others[: len(hidden)], [*others[len(hidden) :], *hidden]
    if len(drawn) < len(hidden):
        return sitting
    new = dict(zip(hidden, drawn, strict=True))
    changed = replace(
        state,
        hands={**state.hands, seat: tuple(new.get(card, card) for card in hand)},
        deck=tuple(rest),
        chosen={**state.chosen, seat: chance.choice(drawn)} if chosen and not shown else state.chosen,
    )
    return replace(sitting, game=changed)


def _tahwars(sitting: Sitting[Any], _seat: str, chance: random.Random) -> Sitting[Any]:
    """Another order of the quest cards that nobody has seen yet."""
    deck = list(sitting.game.deck)
    chance.shuffle(deck)
    return replace(sitting, game=replace(sitting.game, deck=tuple(deck)))


def _zingazam(sitting: Sitting[Any], seat: str, chance: random.Random) -> Sitting[Any]:
    """Other numbers on the cards that face this seat alone."""
    hand = sitting.game.hands.get(seat, ())
    changed = tuple(
        replace(held, number=chance.choice((1, 2, 3, 6, 7, 8)))
        if held.faces_owner and held.number and sitting.options["hands"] == "full"
        else held
        for held in hand
    )
    if changed == hand:
        return sitting
    return replace(sitting, game=replace(sitting.game, hands={**sitting.game.hands, seat: changed}))


def _open(sitting: Sitting[Any], _seat: str, _chance: random.Random) -> Sitting[Any]:
    """A game in which nobody holds a secret that the program knows."""
    return sitting


DISGUISES: dict[str, Disguise] = {
    "counting": _counting,
    tada.GAME.name: _tada,
    tacta.GAME.name: _open,
    zingazam.GAME.name: _zingazam,
    tahwars.GAME.name: _tahwars,
}
"""`DISGUISES[game](sitting, seat, chance)`: the same table with other secrets of that seat."""

SECRET: dict[str, tuple[type[c.Command], ...]] = {
    "counting": (k.Hide,),
    tada.GAME.name: (ChooseSpell,),
    tacta.GAME.name: (),
    zingazam.GAME.name: (TellCat,),
    tahwars.GAME.name: (),
}
"""Orders of which others may learn no more than that they were given."""

OPEN_TO_ALL = {
    tacta.GAME.name: "What lies and what ends of decks were shown is open; the rest of a deck nobody knows."
}
"""Games in which nobody holds a secret that the program knows, and why."""
