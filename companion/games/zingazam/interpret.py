"""What was seen, understood. Pure."""

from __future__ import annotations

import msgspec

from companion.core.command import Command, Propose, ProvePad
from companion.core.observation import (
    CARD_BACK,
    CardLaid,
    CardLifted,
    CardSeen,
    Observation,
    Pressed,
    reference,
)
from companion.games.zingazam import commands as c
from companion.games.zingazam.deck import Card, card_named
from companion.games.zingazam.model import Table, dealing_to, is_full, place_in, yet_to_play

NEAR = 0.5
"""Two cards whose middles are closer than this part of a card's shorter side lie on one place."""


class Lying(msgspec.Struct, frozen=True):
    """A card that lies on the table: its middle and shorter side in picture pixels; what it is, empty where unknown."""

    x_px: float
    y_px: float
    side_px: float
    card: str = ""


class Trace(msgspec.Struct, frozen=True):
    """The cards that lie, as the camera told them."""

    lying: tuple[Lying, ...] = ()


Found = tuple[msgspec.Struct, tuple[Command, ...]]


def interpret(trace: msgspec.Struct, table: Table, seen: Observation) -> Found:
    """A card that comes to lie is played by whose turn it is, dealt, or drawn; a cleared table is taken by the winner.

    A press proves its seat's pad: nothing else depends on one. Rule: ZAZ-5 ZAZ-8
    """
    notes = trace if isinstance(trace, Trace) else Trace()
    match seen:
        case Pressed():
            seat = table.seat_of(seen.source, seen.input)
            is_new = seat is not None and seat.id not in table.proven
            return notes, (ProvePad(seat=seat.id),) if is_new and seat is not None else ()
        case CardLaid():
            return _laid(notes, table, seen)
        case CardLifted():
            return _lifted(notes, table, seen)
        case _:
            return notes, ()


def _lying(card: CardSeen) -> Lying:
    xs, ys = [x for x, _ in card.quad_px], [y for _, y in card.quad_px]
    count = max(1, len(card.quad_px))
    side = min(max(xs, default=0.0) - min(xs, default=0.0), max(ys, default=0.0) - min(ys, default=0.0))
    named = card_named(card.name) if card.name else None
    return Lying(sum(xs) / count, sum(ys) / count, side, named.id if named else "")


def _is_same(one: Lying, other: Lying) -> bool:
    reach = NEAR * max(one.side_px, other.side_px)
    return abs(one.x_px - other.x_px) < reach and abs(one.y_px - other.y_px) < reach


def _in_play(table: Table, card: str) -> int:
    return sum(played.card.id == card for played in table.game.played)


def _laid(notes: Trace, table: Table, seen: CardLaid) -> Found:
    """A card that is in play already and only moved, or was told again, is not played a second time."""
    here = _lying(seen.card)
    before = next((card for card in notes.lying if _is_same(card, here)), None)
    others = tuple(card for card in notes.lying if not _is_same(card, here))
    after = Trace((*others, here))
    if here.card and _in_play(table, here.card) > sum(other.card == here.card for other in others):
        return after, ()
    is_over_another = before is not None and _in_play(table, before.card) > 0
    return after, _meant(table, seen, is_sure=not is_over_another)


def _meant(table: Table, seen: CardLaid, *, is_sure: bool) -> tuple[Command, ...]:
    """What a card that came to lie stands for at this step; nothing where no card is awaited."""
    state, name = table.game, seen.card.name
    if name == CARD_BACK:
        return ()
    card = card_named(name) if name else None
    if (dealt := dealing_to(table)) is not None:
        return (c.Deal(seat=dealt[0], number=card.number),) if card is not None and not card.is_cat else ()
    if state.drawing:
        return (
            (c.TellCat(seat=state.drawing, number=card.number),) if card is not None and card.is_cat else ()
        )
    if state.phase not in ("play", "taking"):
        return ()
    seat = _whose(table, seen.card.place)
    if card is not None and state.using is None and is_sure:
        return (c.Play(seat=seat, card=card.id),) if seat else ()
    return _asked(table, seen, seat, card)


def _whose(table: Table, place: str) -> str:
    """Whose card it is: of the place on which it lies where that is a seat's, else of who is next to play."""
    state = table.game
    if place in state.hands:
        return place
    return yet_to_play(state, state.using.seat) if state.using is not None else state.turn


def _asked(table: Table, seen: CardLaid, seat: str, card: Card | None) -> tuple[Command, ...]:
    """A card that is not sure, lies on another, or came before an ability was used waits for a person. Rule: ZAZ-6"""
    if not seat:
        return ()
    named = [(card, seen.card.confidence)] if card is not None else []
    for candidate in seen.card.candidates if card is None else ():
        maybe = card_named(candidate.name)
        if maybe is not None and place_in(table.game, seat, maybe):
            named.append((maybe, candidate.confidence))
    if not named:
        return ()
    best, sure = named[0]
    play = c.Play(seat=seat, card=best.id)
    if is_full(table):
        position = place_in(table.game, seat, best)
        if not position:
            return ()
        if card is None and len(named) == 1 and table.game.using is None:
            return (c.Play(seat=seat, position=position),)
        play = c.Play(seat=seat, position=position)
    others = " or ".join(other.words for other, _ in named[1:])
    what = f"{best.words}{f', or {others}' if others else ''}"
    reading = f"{table.name(seat)} may have played {what}"
    return (Propose(command=play, reading=reading, confidence=sure, evidence=(reference(seen),)),)


def _lifted(notes: Trace, table: Table, seen: CardLifted) -> Found:
    """Once every card of a finished round is gone, its winner has taken them. Rule: ZAZ-8"""
    here = _lying(seen.card)
    gone = next((card for card in notes.lying if _is_same(card, here)), here)
    lying = tuple(card for card in notes.lying if not _is_same(card, here))
    is_last = _in_play(table, gone.card) > 0 and not any(_in_play(table, card.card) for card in lying)
    return Trace(lying), (c.Collect(),) if table.game.phase == "taking" and is_last else ()
