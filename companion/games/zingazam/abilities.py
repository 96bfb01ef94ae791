"""What an ability asks for: who may choose what, when it is skipped and why, and what follows by itself."""

from __future__ import annotations

from companion.core import chance
from companion.core.command import Command
from companion.core.event import Event
from companion.games.zingazam import commands as c
from companion.games.zingazam import events as e
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import OTHERS, Table, facing, is_full, next_seat, next_to_act_on
from companion.games.zingazam.rulebook import ABILITY_RULES

NEVER_COPIED = (1, 5)
"""Rule: ZAZ-14"""


def why_skipped(table: Table, seat: str, ability: int, *, is_copy: bool = False) -> tuple[str, str]:
    """The rule and the sentence why this seat cannot use this ability now; two empty texts when it can. Rule: ZAZ-6"""
    state, name = table.game, table.name
    rule = ABILITY_RULES.get(ability, "ZAZ-6")
    match ability:
        case 2 if not any(state.piles.get(other) for other in _others(table, seat)):
            return rule, "No other score pile has a card to take."
        case 3 if not facing(state, seat, OTHERS):
            return rule, f"No card in {name(seat)}'s hand faces the others, so none can be turned."
        case 4 if state.cats_left <= 0:
            return rule, "No Cat Companion is left to draw."
        case 5:
            return (rule, _why_no_copy(table, seat)) if not copyable(table, seat) else ("", "")
        case 6 | 7 if not next_to_act_on(state, seat):
            return _nobody_left(table, seat, rule, is_copy=is_copy)
        case 8 if not state.piles.get(seat):
            return rule, f"{name(seat)}'s score pile has no card to give."
        case 8 if not _others(table, seat):
            return rule, "There is nobody to give a card to."
        case _:
            return "", ""


def _nobody_left(table: Table, seat: str, rule: str, *, is_copy: bool) -> tuple[str, str]:
    """A 6 or 7 acts in this round or not at all. Rule: ZAZ-18 ZAZ-19"""
    target = next_seat(table.game, seat)
    frozen = target in table.game.frozen
    what = "is frozen in this round" if frozen else "has played in this round already"
    after = "the player after the copier, " if is_copy else ""
    return ("ZAZ-19" if is_copy else "ZAZ-18"), (
        f"The next player, {after}{table.name(target)}, {what}, and nothing carries over to the next round ({rule})."
    )


def _why_no_copy(table: Table, seat: str) -> str:
    others = [card for card in table.game.played if card.seat != seat]
    eligible = [card for card in others if card.number not in NEVER_COPIED]
    if not others:
        return "No other card is in play, so there is no ability to copy."
    if not eligible:
        return "Only 1s and 5s are in play beside it, and those are not copied."
    numbers = " and ".join(sorted({str(card.number) for card in eligible}))
    return f"The ability of {numbers} could be copied, and cannot take effect now."


def copyable(table: Table, seat: str) -> tuple[int, ...]:
    """The numbers whose ability a 5 of this seat may copy: of a card in play, not 1 or 5, that can take effect.

    Rule: ZAZ-14
    """
    numbers = {card.number for card in table.game.played if card.seat != seat} - set(NEVER_COPIED)
    return tuple(n for n in sorted(numbers) if why_skipped(table, seat, n, is_copy=True) == ("", ""))


def _others(table: Table, seat: str) -> tuple[str, ...]:
    return tuple(other for other in table.game.hands if other != seat)


def legal(table: Table) -> tuple[Command, ...]:
    """Every choice that the ability in use leaves; none while nothing is to be chosen."""
    state = table.game
    using = state.using
    if state.phase != "play" or using is None or state.facing_of or state.drawing:
        return ()
    seat = using.seat
    match using.ability:
        case 2:
            return tuple(
                c.Take(seat=seat, source=other, place=place)
                for other in _others(table, seat) if (pile := state.piles.get(other, ()))
                for place in _places(table, pile)
            )  # fmt: skip
        case 3:
            positions = facing(state, seat, OTHERS)
            places = positions if is_full(table) else positions[:1] and (0,)
            return tuple(c.Turn(seat=seat, position=place) for place in places)
        case 5:
            return tuple(c.Copy(seat=seat, number=number) for number in copyable(table, seat))
        case 6:
            size = len(state.hands.get(next_to_act_on(state, seat), ()))
            return tuple(c.Choose(seat=seat, position=place) for place in range(1, size + 1))
        case 8:
            return tuple(
                c.Give(seat=seat, to=other, place=place)
                for other in _others(table, seat) for place in _places(table, state.piles.get(seat, ()))
            )  # fmt: skip
        case _:
            return ()


def _places(table: Table, pile: tuple[Card, ...]) -> tuple[int, ...]:
    """The places of a pile that may be named: each one where the card is chosen, else none. Rule: ZAZ-11 ZAZ-17"""
    return tuple(range(1, len(pile) + 1)) if table.options["moved_card"] == "chosen" else (0,)


def effect(table: Table, command: Command) -> Event:
    """The fact that a legal choice makes."""
    state = table.game
    match command:
        case c.Take(seat=seat, source=source):
            place, card = _moved(table, state.piles[source], command.place)
            return e.CardTaken(seat=seat, source=source, place=place, card=card)
        case c.Give(seat=seat, to=to):
            place, card = _moved(table, state.piles[seat], command.place)
            return e.CardGiven(seat=seat, to=to, place=place, card=card)
        case c.Turn(seat=seat, position=position):
            return e.CardTurned(seat=seat, position=position)
        case c.Copy(seat=seat, number=number):
            return e.AbilityCopied(seat=seat, ability=number)
        case c.Choose(seat=seat, position=position):
            return e.CardChosen(seat=seat, target=next_to_act_on(state, seat), position=position)
        case _:
            raise AssertionError(f"{type(command).__name__} is no choice of an ability")


def _moved(table: Table, pile: tuple[Card, ...], place: int) -> tuple[int, Card]:
    """Which card of a pile goes, counted from 1 at the top, and the card. Rule: ZAZ-11 ZAZ-17"""
    if table.options["moved_card"] == "random":
        lot = f"moved/{table.game.game}/{table.game.part}/{len(table.game.played)}"
        place = 1 + chance.number(table.opened.seed, lot, len(pile))
    place = max(1, place)
    return place, pile[-place]


def due(table: Table) -> Event | None:
    """What follows by itself: a skip, an effect that asks for no choice, or the only choice there is.

    Which card the next player must play is named by a person even where there is only one. Rule: ZAZ-6
    """
    state = table.game
    using = state.using
    if state.phase != "play" or using is None or state.facing_of or state.drawing:
        return None
    seat, ability = using.seat, using.ability
    rule, because = why_skipped(table, seat, ability, is_copy=using.is_copy)
    if because:
        return e.AbilitySkipped(seat=seat, ability=ability, rule=rule, because=because)
    if ability == 1:
        return e.OneKept(seat=seat)
    if ability == 4:
        return e.CatDrawn(seat=seat)
    if ability == 7:
        return e.PlayerFrozen(seat=seat, target=next_to_act_on(state, seat))
    found = legal(table)
    return effect(table, found[0]) if len(found) == 1 and ability != 6 else None
