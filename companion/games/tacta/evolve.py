"""What each fact does to the game. Pure and total."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from companion.core import chance
from companion.core.clock import Stamp
from companion.core.event import Event, Joined, Left, Opened
from companion.core.game import Moment
from companion.core.ruling import Verdict
from companion.games.tacta import events as e
from companion.games.tacta.deck import SUITS
from companion.games.tacta.model import (
    START,
    Guided,
    Lying,
    Table,
    Tacta,
    colour_of,
    deck_of,
    left_of,
    mode,
    partner,
    pieces_in_game,
    value,
)
from companion.games.tacta.placement import Judged
from companion.games.tacta.rulebook import CLICK_U_NS, MATCH_TOTAL

replace = msgspec.structs.replace
V = TypeVar("V")


def open_game(opened: Opened) -> Tacta:
    """The game before anybody has a colour. Rule: TACTA-23"""
    return Tacta(phase="setup", part=1, totals={seat.id: 0 for seat in opened.seats})


def evolve(table: Table, event: Event, moment: Moment) -> Tacta:
    """The game after one fact; `table` has the common part evolved already."""
    state = table.game
    match event:
        case e.ColourTaken(seat=seat, colour=colour):
            taken = dict.fromkeys({seat, partner(table, seat)}, colour)
            return replace(state, colours={**state.colours, **taken})
        case e.SuitsPassed(seat=seat, keeps=keeps, passes=passes):
            return replace(state, suits={**state.suits, seat: (keeps, passes)})
        case e.RoundBegun():
            return _begun(table, state, event, moment)
        case e.EndsShown(seat=seat, cards=cards):
            return _started(table, replace(state, ends={**state.ends, seat: cards}))
        case e.StartSet(at_ns=at_ns):
            return replace(state, go_ns=table.play_ns(at_ns))
        case e.Started():
            return replace(state, phase="play", turn="")
        case e.CardLaid(seat=seat, card=card):
            return _laid(table, state, event)
        case e.Aimed(seat=seat):
            return replace(state, guided=_aimed(state, event))
        case e.LayingSeen(seat=seat, flipped=flipped, pose=pose):
            aim = state.guided.get(seat)
            seen = {} if aim is None else {seat: replace(aim, lies=pose, lies_flipped=flipped)}
            return replace(state, guided={**state.guided, **seen})
        case e.CardBoxed(seat=seat, card=card):
            after = replace(_taken(state, seat, card), boxed=(*state.boxed, card))
            return _turned(table, after, seat, Stamp(at_ns=moment.at_ns, u_ns=CLICK_U_NS))
        case e.CardRuled():
            return _ruled(table, state, event)
        case e.CardBumped(n=n):
            return _each(state, n, is_bumped=True)
        case e.CardRestored(n=n):
            return _each(state, n, is_bumped=False)
        case e.DotsEntered(colour=colour, dots=dots):
            return replace(state, entered={**state.entered, colour: dots})
        case e.RoundScored():
            return _scored(table, state, event)
        case e.RoundCleared():
            here = {seat.id for seat in table.playing()}
            colours = {seat: colour for seat, colour in state.colours.items() if seat in here}
            return Tacta(
                phase="setup", part=state.part + 1, colours=colours, totals=state.totals, last=state.last
            )
        case Joined(seat=joined):
            return replace(state, totals={**state.totals, joined.id: 0})
        case Left(seat=seat):
            return _left(table, state, seat, moment)
        case _:
            return state


def _begun(table: Table, state: Tacta, event: e.RoundBegun, moment: Moment) -> Tacta:
    """Decks are in the hands, the starting card lies. Rule: TACTA-3 TACTA-4 TACTA-19 TACTA-21"""
    right = Judged(verdict=Verdict.OK, rule="TACTA-3", because="The starting card lies in the middle.")
    start = Lying(
        n=0, seat="", card=START, flipped=event.flipped, pose=event.pose, u_mm=event.u_mm, judged=right,
        stamp=Stamp(at_ns=moment.at_ns, u_ns=0),
    )  # fmt: skip
    decks = {seat.id: _dealt(table, seat.id) for seat in table.playing()}
    halves = 2 if mode(table) == "teams" else 1
    counts = {seat: len(deck) // halves for seat, deck in decks.items()}
    phase = "countdown" if mode(table) == "free_play" else "ends"
    return replace(
        state, phase=phase, decks=decks, counts=counts, ends={}, lying=(start,), laid=0, boxed=(), turn="",
        go_ns=None, ended=None, entered={}, taken_away=(),
    )  # fmt: skip


def _dealt(table: Table, seat: str) -> tuple[str, ...]:
    """Which cards a seat may hold: partners hold halves of one deck. In which order nobody knows."""
    state = table.game
    colour = state.colours.get(seat, "")
    if mode(table) == "sabotage":
        right = next((s.id for s in table.playing() if left_of(table, s.id) == seat), seat)
        kept, passed = state.suits.get(seat, ("", ""))[0], state.suits.get(right, ("", ""))[1]
        own = {card.id for card in deck_of(table).of_suits((kept,))}
        theirs = {card.id for card in deck_of(table).of_suits((passed,))}
        mine = [f"{colour}:{card}" for card in own] + [
            f"{state.colours.get(right, '')}:{card}" for card in theirs
        ]
        return tuple(sorted(mine))
    return tuple(sorted(pieces_in_game(table, colour)))


def _started(table: Table, state: Tacta) -> Tacta:
    """Once all ends are shown, the lowest of them starts. Rule: TACTA-5"""
    shown = {seat: len(state.ends.get(seat, ())) for seat in state.counts}
    if state.phase != "ends" or any(shown[seat] < min(2, count) for seat, count in state.counts.items()):
        return state
    ranked = {
        seat: (min(value(table, card) for card in ends), sum(value(table, card) for card in ends))
        for seat, ends in state.ends.items()
        if ends and state.decks.get(seat)
    }
    if not ranked:
        return replace(state, phase="scoring")
    best = min(ranked.values())
    tied = [seat.id for seat in table.playing() if ranked.get(seat.id) == best]
    if not tied:
        return state
    lot = chance.number(table.opened.seed, f"start/{state.part}", len(tied))
    return replace(state, phase="play", turn=tied[lot])


def _aimed(state: Tacta, event: e.Aimed) -> dict[str, Guided]:
    """Whom the table guides, and where to."""
    others = _without(state.guided, event.seat)
    if not event.card or event.pose is None:
        return others
    return {**others, event.seat: Guided(card=event.card, flipped=event.flipped, pose=event.pose)}


def _taken(state: Tacta, seat: str, card: str) -> Tacta:
    """The card is out of the hand, and so in nobody else's."""
    counts = {**state.counts, seat: max(0, state.counts.get(seat, 0) - 1)}
    decks = {
        each: tuple(other for other in deck if other != card) if counts.get(each) else ()
        for each, deck in state.decks.items()
    }
    ends = {each: tuple(other for other in shown if other != card) for each, shown in state.ends.items()}
    guided = _without(state.guided, seat)
    return replace(state, decks=decks, counts=counts, ends=ends, guided=guided)


def _given_back(table: Table, state: Tacta, seat: str, card: str) -> Tacta:
    """The card is in the hand again; which cards are outermost now is to be shown."""
    held = {*state.decks.get(seat, ()), *state.decks.get(partner(table, seat), ()), card}
    counts = {**state.counts, seat: state.counts.get(seat, 0) + 1}
    pools = {each: tuple(sorted(held)) for each in (seat, partner(table, seat)) if counts.get(each)}
    return replace(state, decks={**state.decks, **pools}, counts=counts, ends={**state.ends, seat: ()})


def _laid(table: Table, state: Tacta, event: e.CardLaid) -> Tacta:
    lying = Lying(
        n=state.laid + 1, seat=event.seat, card=event.card, flipped=event.flipped, pose=event.pose,
        u_mm=event.u_mm, judged=event.judged, is_apart=event.is_apart, stamp=event.stamp,
    )  # fmt: skip
    after = _taken(replace(state, lying=(*state.lying, lying), laid=lying.n), event.seat, event.card)
    return _turned(table, after, event.seat, event.stamp)


def _turned(table: Table, state: Tacta, seat: str, stamp: Stamp) -> Tacta:
    """Whose turn is next; nobody's when all decks are played out, or one is in free play. Rule: TACTA-14 TACTA-20"""
    if mode(table) == "free_play":
        is_over = state.phase == "play" and any(not deck for deck in state.decks.values())
        return replace(state, phase="scoring", ended=stamp) if is_over else state
    order = [each.id for each in table.seats if not each.left or each.id == seat]
    first = order.index(seat) + 1 if seat in order else 0
    for each in (*order[first:], *order[:first]):
        if state.decks.get(each) and not _has_left(table, each):
            return replace(state, turn=each)
    return replace(state, phase="scoring", turn="")


def _has_left(table: Table, seat: str) -> bool:
    found = table.seat(seat)
    return found is None or found.left


def _each(state: Tacta, n: int, **changes: bool | str) -> Tacta:
    lying = tuple(replace(card, **changes) if card.n == n else card for card in state.lying)
    return replace(state, lying=lying)


def _ruled(table: Table, state: Tacta, event: e.CardRuled) -> Tacta:
    """An illegal card that is not covered leaves the table; else it stays until scoring. Rule: TACTA-12 TACTA-13"""
    card = next((each for each in state.lying if each.n == event.n and each.n), None)
    if card is None:
        return state
    if event.is_legal or event.is_covered:
        return _each(state, event.n, ruled="legal" if event.is_legal else "illegal")
    state = replace(state, lying=tuple(each for each in state.lying if each.n != card.n))
    is_last = card.n == state.laid
    goes_back = (
        card.judged.goes_back
        or (mode(table) == "sabotage" and colour_of(card.card) != state.colours.get(card.seat))
        or (bool(table.options["replay"]) and is_last)
    )
    if not goes_back:
        return replace(state, boxed=(*state.boxed, card.card))
    back = _given_back(table, state, card.seat, card.card)
    is_turn_back = mode(table) != "free_play" and is_last
    return replace(back, turn=card.seat, phase="play") if is_turn_back else back


def _scored(table: Table, state: Tacta, event: e.RoundScored) -> Tacta:
    """Dots become points of the seats that play the colour. Rule: TACTA-14 TACTA-16 TACTA-17 TACTA-19"""
    totals = {
        seat: total + event.dots.get(state.colours.get(seat, ""), 0) for seat, total in state.totals.items()
    }
    state = replace(state, phase="scored", last=event.dots, taken_away=event.taken_away, totals=totals)
    best = max(totals.values(), default=0)
    if not _is_last(table, best):
        return state
    return replace(state, phase="over", winners=tuple(s for s, total in totals.items() if total == best))


def _is_last(table: Table, best: int) -> bool:
    """Whether no round follows one after which the highest total is `best`. Rule: TACTA-16 TACTA-17"""
    if mode(table) == "limited_space":
        return table.game.part % len(SUITS) == 0
    return not table.options["match"] or best >= MATCH_TOTAL


def _left(table: Table, state: Tacta, seat: str, moment: Moment) -> Tacta:
    """Cards that lie stay and score; the deck in hand is out of the game. Before cards lie the colour is free again."""
    if state.phase == "setup":
        return replace(state, colours=_without(state.colours, seat), suits=_without(state.suits, seat))
    after = replace(
        state, decks=_without(state.decks, seat), counts=_without(state.counts, seat),
        guided=_without(state.guided, seat),
    )  # fmt: skip
    if state.phase == "ends":
        return _started(table, after)
    if state.phase in ("countdown", "play") and mode(table) == "free_play":
        ended = Stamp(at_ns=moment.at_ns, u_ns=0)
        return after if after.decks else replace(after, phase="scoring", go_ns=None, ended=ended)
    is_on_turn = state.phase == "play" and state.turn == seat
    return _turned(table, after, seat, Stamp(at_ns=moment.at_ns, u_ns=0)) if is_on_turn else after


def _without(of_seats: dict[str, V], seat: str) -> dict[str, V]:
    return {each: value for each, value in of_seats.items() if each != seat}
