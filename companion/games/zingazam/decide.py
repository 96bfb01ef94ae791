"""May it be done, and which facts does it make. Pure and total."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from companion.core.command import Command, Order
from companion.core.event import Event
from companion.core.game import Moment, refuse
from companion.core.seat import Role
from companion.games.zingazam import commands as c
from companion.games.zingazam import events as e
from companion.games.zingazam.abilities import copyable, due, effect, legal, why_skipped
from companion.games.zingazam.deck import Card, card_named
from companion.games.zingazam.evolve import evolve
from companion.games.zingazam.model import (
    OTHERS,
    OWNER,
    Table,
    cards_of,
    dealing_to,
    deck_of,
    is_full,
    is_last_game,
    lots,
    own_numbers_left,
    place_in,
    winner_of,
)
from companion.games.zingazam.rulebook import ABILITY_RULES

Facts = tuple[Event, ...]
STEPS = "A round runs play, abilities, taking the cards; this belongs to another step."
MOST_FACTS = 20


def decide(table: Table, order: Order) -> Facts:
    """The facts that an order makes at this table, with all that follows from them without a choice."""
    rule = RULES.get(type(order.command))
    if rule is None:
        return refuse(order.command, "TABLE-3", "This game has no such command.")
    phases, because_of, judge_it = rule
    if table.game.phase not in phases:
        seat = getattr(order.command, "seat", "")
        if table.game.phase == "counted":
            return refuse(order.command, "ZAZ-21", "The game is over.", seat)
        return refuse(order.command, because_of, STEPS, seat)
    return judge_it(table, order, order.command)


def followed(table: Table, first: Event) -> Facts:
    """A fact, and those that follow from it by themselves. Rule: ZAZ-6"""
    facts: list[Event] = [first]
    moment = Moment(entry=0, at_ns=table.at_ns)
    while len(facts) < MOST_FACTS:
        table = msgspec.structs.replace(table, game=evolve(table, facts[-1], moment))
        following = due(table)
        if following is None:
            break
        facts.append(following)
    return tuple(facts)


def _oldest(table: Table, _: Order, command: c.NameOldest) -> Facts:
    if table.game.oldest == command.seat:
        return refuse(command, "ZAZ-4", "That player is named as the oldest already.", command.seat)
    return (e.OldestNamed(seat=command.seat),)


def _begin(table: Table, _: Order, command: c.Begin) -> Facts:
    seats = tuple(seat.id for seat in table.playing())
    if not 2 <= len(seats) <= 5:
        return refuse(command, "ZAZ-1", f"There are five sets: two to five play, not {len(seats)}.")
    if table.game.oldest not in seats:
        return refuse(command, "ZAZ-4", "Say first who is the oldest: that player leads.")
    few = deck_of(table).few
    if table.options["variant"] and few is None:
        because = (
            "The variant's text is in the printed book only: fill in [few] in the card file, and name it."
        )
        return refuse(command, "ZAZ-3", because)
    if table.options["variant"] and few is not None and len(seats) not in few.players:
        because = (
            f"The variant is for {' or '.join(map(str, few.players))} players; else the set-up is the same."
        )
        return refuse(command, "ZAZ-3", because)
    return (e.GameBegun(seats=seats),)


def _deal(table: Table, _: Order, command: c.Deal) -> Facts:
    """Which cards face their owner is drawn by lot beforehand. Rule: ZAZ-1 ZAZ-2"""
    found = dealing_to(table)
    if found is None or found[0] != command.seat:
        named = table.name(found[0]) if found else "nobody"
        return refuse(command, "ZAZ-2", f"The next card is dealt to {named}.", command.seat)
    numbers = cards_of(table).numbers
    if command.number not in numbers:
        return refuse(command, "ZAZ-1", "No set has a card with that number.", command.seat)
    seat, place = found
    made = e.CardDealt(seat=seat, number=command.number, faces_owner=place in lots(table, seat))
    hand = sorted([held.number for held in table.game.hands[seat]] + [command.number])
    if len(hand) < len(numbers) or hand == sorted(numbers):
        return (made,)
    why = f"These were not the cards of one set, each once: {table.name(seat)}'s hand is dealt again."
    return (made, e.HandSpoiled(seat=seat, why=why))


def _deal_again(table: Table, _: Order, command: c.DealAgain) -> Facts:
    if not table.game.hands.get(command.seat):
        return refuse(command, "ZAZ-2", "No card of that hand is dealt yet.", command.seat)
    why = f"{table.name(command.seat)}'s set is shuffled and dealt again."
    return (e.HandSpoiled(seat=command.seat, why=why),)


def _play(table: Table, order: Order, command: c.Play) -> Facts:
    state, seat = table.game, command.seat
    if state.using is not None:
        because = f"{table.name(state.using.seat)}'s ability comes first."
        return refuse(command, "ZAZ-6", because, seat)
    if seat in state.frozen:
        return refuse(command, "ZAZ-16", "This player is frozen and plays no card in this round.", seat)
    if seat in state.done:
        return refuse(
            command, "ZAZ-5", "A turn is exactly one card: this player has played in this round.", seat
        )
    if state.turn != seat:
        return refuse(command, "ZAZ-4", f"It is {table.name(state.turn)}'s turn.", seat)
    return _play_known(table, order, command) if is_full(table) else _play_told(table, command)


def _play_known(table: Table, order: Order, command: c.Play) -> Facts:
    """Where hands are known people name a position; what is seen lying names the card. Rule: ZAZ-5 ZAZ-15"""
    state, seat, position = table.game, command.seat, command.position
    if not position and order.actor.role is not Role.SENSOR:
        return refuse(
            command, "ZAZ-5", "Name the card by its place in the hand, counted from its owner's left.", seat
        )
    card = None if position else card_named(command.card)
    if not position:
        position = place_in(state, seat, card) if card is not None else 0
    hand = state.hands.get(seat, ())
    if not 1 <= position <= len(hand):
        return refuse(
            command, "ZAZ-5", f"{table.name(seat)} plays one card of the own hand; that is none.", seat
        )
    forced = state.forced.get(seat, 0)
    if forced and position != forced:
        because = f"The card at place {forced} was chosen: {table.name(seat)} must play that one."
        return refuse(command, "ZAZ-15", because, seat)
    held = hand[position - 1]
    played = e.CardPlayed(
        seat=seat,
        card=Card(held.number, held.is_cat),
        position=position,
        faced=OWNER if held.faces_owner else OTHERS,
    )
    return followed(table, played)


def _play_told(table: Table, command: c.Play) -> Facts:
    """Where hands are not known: a card of the own set that was not played, or a cat that was drawn. Rule: ZAZ-5"""
    seat, card = command.seat, card_named(command.card)
    name = table.name(seat)
    if card is None or (card.is_cat and card.number not in cards_of(table).cat_numbers):
        return refuse(command, "ZAZ-1", "There is no such card: name a number of the set, or a cat.", seat)
    if not card.is_cat and card.number not in own_numbers_left(table, seat):
        because = f"{name} has played the own {card.number} in this game, or has none; is it a Cat Companion?"
        return refuse(command, "ZAZ-1", because, seat)
    if card.is_cat and not place_in(table.game, seat, card):
        return refuse(command, "ZAZ-13", f"{name} holds no Cat Companion.", seat)
    if command.faced not in ("", OWNER, OTHERS) or (
        command.faced and not place_in(table.game, seat, card, command.faced)
    ):
        return refuse(command, "ZAZ-5", f"{name} holds no such card that faces so.", seat)
    return followed(
        table, e.CardPlayed(seat=seat, card=card, faced=command.faced or _only_way(table, seat, card))
    )


def _only_way(table: Table, seat: str, card: Card) -> str:
    """Whom the card must have faced, empty where it may have been both."""
    ways = [way for way in (OWNER, OTHERS) if place_in(table.game, seat, card, way)]
    return ways[0] if len(ways) == 1 else ""


def _facing(table: Table, _: Order, command: c.TellFacing) -> Facts:
    if table.game.facing_of != command.seat:
        return refuse(command, "ZAZ-5", "Nobody asks whom a card of this seat faced.", command.seat)
    if command.faced not in (OWNER, OTHERS):
        return refuse(command, "ZAZ-5", "A card faces its owner or the others.", command.seat)
    return followed(table, e.FacingTold(seat=command.seat, faced=command.faced))


def _choice(table: Table, _: Order, command: Any) -> Facts:
    """A choice that the ability in use leaves. Rule: ZAZ-6"""
    state, seat = table.game, command.seat
    using = state.using
    ability = ABILITY_OF[type(command)]
    rule = ABILITY_RULES[ability]
    if using is None or using.seat != seat or using.ability != ability or state.facing_of:
        if state.skip is not None and (state.skip.seat, state.skip.ability) == (seat, ability):
            return refuse(command, state.skip.rule, f"It was skipped. {state.skip.because}", seat)
        return refuse(command, rule, f"{table.name(seat)} is not using a {ability} now.", seat)
    if command not in legal(table):
        return refuse(command, _rule_of(table, command) or rule, _why_not(table, command), seat)
    return followed(table, effect(table, command))


def _rule_of(table: Table, command: Command) -> str:
    """The rule on which a choice is refused where it is another than the ability's own: a cat 1 is a 1. Rule: ZAZ-20"""
    ones = [played.card for played in table.game.played if played.number == 1]
    is_cat = (
        isinstance(command, c.Copy) and command.number == 1 and ones and all(card.is_cat for card in ones)
    )
    return "ZAZ-20" if is_cat else ""


def _why_not(table: Table, command: Command) -> str:
    """Why a choice is none of the legal ones, in one sentence."""
    match command:
        case c.Take():
            return "Take one card from another player's score pile that has one, as the house rule says."
        case c.Give():
            return "Give one card of the own score pile to another player, as the house rule says."
        case c.Turn():
            return "Turn a card of the own hand that faces the others."
        case c.Copy(seat=seat, number=number):
            is_there = any(card.number == number and card.seat != seat for card in table.game.played)
            if not is_there:
                return f"No other player's {number} is in play."
            if number in (1, 5):
                return f"The ability of a {number} is not copied."
            named = " or ".join(map(str, copyable(table, seat)))
            why = why_skipped(table, seat, number, is_copy=True)[1]
            return f"That ability cannot take effect ({why.rstrip('.')}): copy {named}."
        case _:
            return "Choose a card of the next player's hand by its place, counted from its owner's left."


def _settle(table: Table, _: Order, command: c.Settle) -> Facts:
    following = due(table)
    if following is None:
        return refuse(
            command, "ZAZ-6", "Nothing follows by itself now: somebody plays, or has a choice to make."
        )
    return followed(table, following)


def _cat(table: Table, _: Order, command: c.TellCat) -> Facts:
    seat = command.seat
    if table.game.drawing != seat:
        return refuse(command, "ZAZ-13", "No Cat Companion of this seat waits to be named.", seat)
    if command.number not in cards_of(table).cat_numbers:
        numbers = ", ".join(map(str, cards_of(table).cat_numbers))
        return refuse(command, "ZAZ-1", f"Cat Companions bear {numbers}.", seat)
    return followed(table, e.CatTold(seat=seat, number=command.number))


def _collect(table: Table, order: Order, command: c.Collect) -> Facts:
    if not table.game.played:
        return refuse(command, "ZAZ-8", "No card is in play.", order.actor.seat)
    card, rule, because = winner_of(table.game.played)
    if order.actor.role is Role.SEAT and order.actor.seat != card.seat:
        name = table.name(card.seat)
        return refuse(command, rule, f"{name} takes the cards, for {because}.", order.actor.seat)
    return (e.RoundWon(seat=card.seat, rule=rule, because=because),)


def _stack(table: Table, _: Order, command: c.StackPile) -> Facts:
    last = table.game.last
    if table.game.phase == "counted":
        return refuse(
            command, "ZAZ-22", "The piles are counted: in which order their cards lie counts for nothing."
        )
    if last is None or table.game.played:
        return refuse(command, "ZAZ-8", "Cards are stacked as they are taken, before the next one is played.")
    order = tuple(n for group in command.order for n in sorted(group))
    if sorted(order) != list(range(1, len(last.cards) + 1)):
        return refuse(command, "ZAZ-8", "Name each card that was taken once, the lowest in the pile first.")
    return (e.PileStacked(seat=last.seat, order=order),)


def _next_game(table: Table, _: Order, command: c.NextGame) -> Facts:
    if is_last_game(table):
        because = f"All {table.options['games']} games are played: raise the house rule games for another."
        return refuse(command, "ZAZ-23", because)
    return (e.GameCleared(),)


ABILITY_OF: Mapping[type[Command], int] = {c.Take: 2, c.Turn: 3, c.Copy: 5, c.Choose: 6, c.Give: 8}
Judge = Callable[[Table, Order, Any], Facts]
PLAY, TAKING, COUNTED = frozenset({"play"}), frozenset({"taking"}), frozenset({"counted"})
RULES: Mapping[type[Command], tuple[frozenset[str], str, Judge]] = {
    c.NameOldest: (frozenset({"setup"}), "ZAZ-4", _oldest),
    c.Begin: (frozenset({"setup"}), "ZAZ-2", _begin),
    c.Deal: (frozenset({"deal"}), "ZAZ-2", _deal),
    c.DealAgain: (frozenset({"deal"}), "ZAZ-2", _deal_again),
    c.Play: (PLAY, "ZAZ-7", _play),
    c.TellFacing: (PLAY, "ZAZ-5", _facing),
    c.Take: (PLAY | TAKING, "ZAZ-11", _choice),
    c.Turn: (PLAY | TAKING, "ZAZ-12", _choice),
    c.TellCat: (PLAY, "ZAZ-13", _cat),
    c.Copy: (PLAY | TAKING, "ZAZ-14", _choice),
    c.Choose: (PLAY | TAKING, "ZAZ-15", _choice),
    c.Give: (PLAY | TAKING, "ZAZ-17", _choice),
    c.Settle: (PLAY, "ZAZ-6", _settle),
    c.Collect: (TAKING, "ZAZ-7", _collect),
    c.StackPile: (PLAY | COUNTED, "ZAZ-8", _stack),
    c.NextGame: (COUNTED, "ZAZ-23", _next_game),
}
"""Which steps each command belongs to, the rule that says so, and who judges it."""
