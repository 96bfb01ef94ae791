"""What was seen, understood. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from companion.core.clock import Stamp
from companion.core.command import Command, Propose, ProvePad
from companion.core.geometry import Pose
from companion.core.observation import CardChanged, CardHeld, Observation, Pressed, reference
from companion.games.tacta import commands as c
from companion.games.tacta.deck import Deck
from companion.games.tacta.model import START, Guided, Lying, Table, allowance, deck_of, mode
from companion.games.tacta.rulebook import MOST_U_MM

SURE = 0.8
"""From this confidence on a card is taken as seen; below it is proposed."""
STAYS_MM, STAYS_DEG = 2.0, 2.0
"""A held card that moved by no more is told nothing new."""
RESTORED_MM = 1.0
"""A bumped card that lies so near its stored place, beyond what the eye may err, is back."""


class Trace(msgspec.Struct, frozen=True):
    """Nothing waits to be understood."""


def interpret(
    trace: msgspec.Struct, table: Table, seen: Observation
) -> tuple[msgspec.Struct, tuple[Command, ...]]:
    """A press proves its seat's pad; a card that is laid, bumped, put back or taken away is told to the table, or
    proposed where the eye is not sure. Rule: TACTA-10 TACTA-12"""
    if isinstance(seen, Pressed) and (seat := table.seat_of(seen.source, seen.input)) is not None:
        return trace, () if seat.id in table.proven else (ProvePad(seat=seat.id),)
    if isinstance(seen, CardChanged):
        return trace, tuple(_changed(table, seen))
    if isinstance(seen, CardHeld):
        return trace, _held(table, seen)
    return trace, ()


def _changed(table: Table, seen: CardChanged) -> Iterator[Command]:
    phase, deck = table.game.phase, deck_of(table)
    if phase == "setup":
        if seen.change == "placed" and seen.card == deck.start.id and seen.pose is not None:
            begin = c.Begin(pose=seen.pose, flipped=seen.flipped, u_mm=_known(seen.u_mm))
            yield _proposed(seen, begin, "the starting card lies here: all decks are shuffled")
        return
    if phase not in ("play", "scoring"):
        return
    if seen.change in ("placed", "unsure") or (seen.change == "bumped" and _guided(table, seen) is not None):
        yield from _laid(table, deck, seen)
    elif (card := _same(table, deck, seen)) is not None:
        yield from _moved(card, seen) if seen.change == "bumped" else _taken(card, seen)


def _held(table: Table, seen: CardHeld) -> tuple[Command, ...]:
    """A guided seat hears how to go on while its hand is still on the card. A card that may be the right one is taken
    for it; which side is up is believed of the likeliest alone. A hand that keeps still is told once. Rule: TACTA-10"""
    for seat, aim in table.game.guided.items():
        if aim.card in {f"{seen.colour}:{front}" for front in seen.candidates}:
            is_likeliest = aim.card == f"{seen.colour}:{seen.candidates[0]}"
            flipped = seen.flipped if is_likeliest else aim.flipped
            if flipped == aim.lies_flipped and aim.lies is not None and _is_as_before(aim.lies, seen.pose):
                return ()
            return (c.NoteLaying(seat=seat, flipped=flipped, pose=seen.pose),)
    return ()


def _is_as_before(before: Pose, now: Pose) -> bool:
    """Whether a card under a hand lies as it lay, as far as such a card can be measured."""
    turn = abs((now.angle_deg - before.angle_deg + 180) % 360 - 180)
    return math.dist((before.x_mm, before.y_mm), (now.x_mm, now.y_mm)) <= STAYS_MM and turn <= STAYS_DEG


def _laid(table: Table, deck: Deck, seen: CardChanged) -> Iterator[Command]:
    """The play of whoever holds that card; nothing where nobody does. Rule: TACTA-10"""
    likely = seen.card if seen.card is not None else next(iter(seen.candidates), None)
    if likely is None or likely == deck.start.id or seen.pose is None:
        return
    card = f"{seen.colour}:{likely}"
    holders = [seat for seat, cards in table.game.decks.items() if card in cards]
    turn = table.game.turn if mode(table) != "free_play" else ""
    seat = turn if turn in holders else next(iter(holders), None)
    if seat is None:
        return
    aim = _guided(table, seen)
    if aim is not None and not _is_there(table, aim, seen):
        yield c.NoteLaying(seat=seat, flipped=seen.flipped, pose=seen.pose)
        return
    lay = c.Lay(
        seat=seat, card=card, flipped=seen.flipped, pose=seen.pose, u_mm=_known(seen.u_mm),
        u_deg=min(180.0, seen.u_deg), stamp=Stamp(at_ns=seen.seen_ns, u_ns=seen.uncertainty_ns),
    )  # fmt: skip
    if seen.change != "unsure" and seen.card is not None and seen.confidence >= SURE:
        yield lay
        return
    others = [front.replace("-", " ") for front in seen.candidates if front != likely]
    doubt = f", or it is {' or '.join(others)}" if others else ""
    words = f"{table.name(seat)} lays {seen.colour} {likely.replace('-', ' ')}{doubt}"
    yield _proposed(seen, lay, words)


def _guided(table: Table, seen: CardChanged) -> Guided | None:
    """What a seat that lays just this card is guided to."""
    wanted = f"{seen.colour}:{seen.card}"
    return next((aim for aim in table.game.guided.values() if aim.card == wanted), None)


def _is_there(table: Table, aim: Guided, seen: CardChanged) -> bool:
    """Whether a guided card lies where it aims, so that it is right whatever the eye may err; then it is released."""
    if seen.pose is None or seen.flipped != aim.flipped:
        return False
    width, height = deck_of(table).card_mm
    corners = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
    off = max(math.dist(seen.pose.apply(corner), aim.pose.apply(corner)) for corner in corners)
    return off <= allowance(table).mm - seen.u_mm


def _same(table: Table, deck: Deck, seen: CardChanged) -> Lying | None:
    """The card on the table that this observation is about; of each there is one. Rule: TACTA-1"""
    piece = START if seen.card == deck.start.id else f"{seen.colour}:{seen.card}"
    return next((card for card in table.game.lying if card.card == piece), None)


def _moved(card: Lying, seen: CardChanged) -> Iterator[Command]:
    """Bumped, or back in its place. Rule: TACTA-10"""
    is_back = _apart_mm(card, seen) <= RESTORED_MM + seen.u_mm
    if card.is_bumped and is_back:
        yield c.NoteRestored(n=card.n)
    elif not card.is_bumped and not is_back:
        yield c.NoteBump(n=card.n, moved_mm=round(_apart_mm(card, seen), 1))


def _taken(card: Lying, seen: CardChanged) -> Iterator[Command]:
    """Who takes a card off the table says that it lay wrong; that is asked. Rule: TACTA-12"""
    if card.n and card.ruled != "illegal":
        rule = c.RuleCard(n=card.n, is_legal=False, is_covered=False, why="It was taken off the table.")
        words = f"card {card.n}, {card.card.replace(':', ' ').replace('-', ' ')}, was taken off the table"
        yield _proposed(seen, rule, words)


def _apart_mm(card: Lying, seen: CardChanged) -> float:
    if card.pose is None or seen.pose is None:
        return math.inf
    return math.hypot(card.pose.x_mm - seen.pose.x_mm, card.pose.y_mm - seen.pose.y_mm)


def _known(u_mm: float) -> float:
    return min(MOST_U_MM, u_mm)


def _proposed(seen: CardChanged, command: Command, words: str) -> Command:
    return Propose(command=command, reading=words, confidence=seen.confidence, evidence=(reference(seen),))
