"""What each fact does to the game. Pure and total."""

from __future__ import annotations

import msgspec

from companion.core.event import Event, Left, Opened
from companion.core.game import Moment
from companion.games.zingazam import events as e
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import (
    OTHERS,
    Held,
    Played,
    Skip,
    Table,
    Using,
    Won,
    Zingazam,
    best_piles,
    cards_of,
    dealing_to,
    facing,
    is_full,
    next_seat,
    place_in,
    visible_at_start,
    yet_to_play,
)

replace = msgspec.structs.replace


def open_game(opened: Opened) -> Zingazam:
    """The game before the oldest player is named. Rule: ZAZ-4"""
    return Zingazam(phase="setup", part=1)


def evolve(table: Table, event: Event, moment: Moment) -> Zingazam:
    """The game after one fact; `table` has the common part evolved already."""
    state = table.game
    match event:
        case e.OldestNamed(seat=seat):
            return replace(state, oldest=seat)
        case e.GameBegun(seats=seats):
            return _begun(table, state, seats, moment)
        case e.CardDealt(seat=seat, number=number, faces_owner=faces_owner):
            held = Held(number=number, faces_owner=faces_owner)
            return _all_dealt(table, _with_hand(state, seat, (*state.hands.get(seat, ()), held)))
        case e.HandSpoiled(seat=seat):
            return _with_hand(state, seat, ()) if state.phase == "deal" else state
        case e.CardPlayed():
            return _played(state, event)
        case e.FacingTold(seat=seat, faced=faced):
            if state.facing_of != seat:
                return state
            own = next((p.card for p in reversed(state.played) if p.seat == seat), Card(0))
            return _taken_out(replace(state, facing_of=""), seat, place_in(state, seat, own, faced))
        case e.AbilityCopied(seat=seat, ability=ability):
            return (
                replace(state, using=Using(seat=seat, ability=ability, is_copy=True))
                if state.using
                else state
            )
        case e.CatDrawn() | e.CatTold():
            return _drawn(table, event)
        case (
            e.OneKept() | e.AbilitySkipped() | e.CardTaken() | e.CardGiven() | e.CardTurned() | e.CardChosen()
        ):
            return _used(state, event)
        case e.PlayerFrozen():
            return _used(state, event)
        case e.RoundWon():
            return _won(state, event)
        case e.PileStacked():
            return _stacked(state, event)
        case e.GameCleared():
            return Zingazam(
                phase="setup", part=state.part, game=state.game + 1, oldest=state.oldest, totals=state.totals,
                games_won=state.games_won,
            )  # fmt: skip
        case Left(seat=seat):
            return _left(table, state, seat)
        case _:
            return state


def _begun(table: Table, state: Zingazam, seats: tuple[str, ...], moment: Moment) -> Zingazam:
    """Hands are held backwards, or wait to be dealt; the oldest leads. Rule: ZAZ-2 ZAZ-4"""
    size, seen = len(cards_of(table).numbers), visible_at_start(table)
    unknown = tuple(Held(faces_owner=place < seen) for place in range(size))
    leader = state.oldest if state.oldest in seats else next(iter(seats), "")
    full = is_full(table)
    return replace(
        state, phase="deal" if full else "play", hands=dict.fromkeys(seats, () if full else unknown),
        spent=dict.fromkeys(seats, ()), piles=dict.fromkeys(seats, ()), cats_left=cards_of(table).cat_count,
        leader=leader, turn="" if full else leader, since=moment.entry, skip=None, last=None,
    )  # fmt: skip


def _all_dealt(table: Table, state: Zingazam) -> Zingazam:
    """Play begins with the last card dealt."""
    after = msgspec.structs.replace(table, game=state)
    return (
        replace(state, phase="play", turn=state.leader)
        if state.phase == "deal" and not dealing_to(after)
        else state
    )


def _with_hand(state: Zingazam, seat: str, hand: tuple[Held, ...]) -> Zingazam:
    return replace(state, hands={**state.hands, seat: hand}) if seat in state.hands else state


def _taken_out(state: Zingazam, seat: str, position: int) -> Zingazam:
    hand = state.hands.get(seat, ())
    return _with_hand(state, seat, tuple(held for n, held in enumerate(hand, 1) if n != position))


def _played(state: Zingazam, event: e.CardPlayed) -> Zingazam:
    """The card lies in play and its ability is used at once. Rule: ZAZ-5 ZAZ-6"""
    seat, card = event.seat, event.card
    if state.phase != "play" or seat not in state.hands:
        return state
    played = (*state.played, Played(n=len(state.played) + 1, seat=seat, card=card))
    after = replace(
        state, played=played, done=(*state.done, seat), using=Using(seat=seat, ability=card.number), skip=None,
        turn=seat,
    )  # fmt: skip
    if not card.is_cat:
        after = replace(after, spent={**after.spent, seat: (*after.spent.get(seat, ()), card.number)})
    if event.position:
        after = _taken_out(after, seat, event.position)
    elif event.faced:
        after = _taken_out(after, seat, place_in(state, seat, card, event.faced))
    else:
        after = replace(after, facing_of=seat)
    return replace(after, forced={who: place for who, place in after.forced.items() if who != seat})


def _used(state: Zingazam, event: Event) -> Zingazam:
    """An ability has had its effect, or has none: the turn passes on. Rule: ZAZ-6"""
    match event:
        case e.AbilitySkipped():
            skip = Skip(seat=event.seat, ability=event.ability, rule=event.rule, because=event.because)
            state = replace(state, skip=skip)
        case e.CardTaken(seat=seat, source=source, place=place):
            state = _moved(state, source, seat, place)
        case e.CardGiven(seat=seat, to=to, place=place):
            state = _moved(state, seat, to, place)
        case e.CardTurned(seat=seat, position=position):
            state = _turned(state, seat, position)
        case e.CardChosen(target=target, position=position):
            state = replace(state, forced={**state.forced, target: position})
        case e.PlayerFrozen(target=target):
            state = replace(state, frozen=(*state.frozen, target), done=(*state.done, target))
        case _:
            pass
    return _passed_on(state)


def _passed_on(state: Zingazam) -> Zingazam:
    """Who is next to play, or the end of the round. Rule: ZAZ-7"""
    if state.phase != "play" or state.using is None:
        return state
    following = yet_to_play(state, state.using.seat)
    if following:
        return replace(state, using=None, turn=following)
    return replace(state, using=None, turn="", phase="taking")


def _moved(state: Zingazam, source: str, target: str, place: int) -> Zingazam:
    """A card of one pile goes on top of another. Rule: ZAZ-11 ZAZ-17"""
    pile = state.piles.get(source, ())
    if not 1 <= place <= len(pile) or target not in state.piles or source == target:
        return state
    at = len(pile) - place
    piles = {**state.piles, source: pile[:at] + pile[at + 1 :], target: (*state.piles[target], pile[at])}
    return replace(state, piles=piles)


def _turned(state: Zingazam, seat: str, position: int) -> Zingazam:
    at = position or next(iter(facing(state, seat, OTHERS)), 0)
    hand = state.hands.get(seat, ())
    return _with_hand(
        state, seat, tuple(replace(h, faces_owner=True) if n == at else h for n, h in enumerate(hand, 1))
    )


def _drawn(table: Table, event: Event) -> Zingazam:
    """A cat comes to the hand; where hands are known it is told which before play goes on. Rule: ZAZ-13 ZAZ-14"""
    state = table.game
    match event:
        case e.CatDrawn(seat=seat):
            cat = Held(is_cat=True, faces_owner=True)
            state = _with_hand(state, seat, (*state.hands.get(seat, ()), cat))
            state = replace(state, cats_left=max(0, state.cats_left - 1))
            return replace(state, drawing=seat) if is_full(table) and state.using else _passed_on(state)
        case e.CatTold(seat=seat, number=number) if state.drawing == seat:
            hand = state.hands.get(seat, ())
            told = Held(number=number, is_cat=True, faces_owner=True)
            return _passed_on(replace(_with_hand(state, seat, (*hand[:-1], told)), drawing=""))
        case _:
            return state


def _won(state: Zingazam, event: e.RoundWon) -> Zingazam:
    """The winner takes all cards and leads; with an empty hand the game ends. Rule: ZAZ-4 ZAZ-8 ZAZ-21"""
    if state.phase != "taking" or not state.played:
        return state
    won = Won(seat=event.seat, cards=state.played, rule=event.rule, because=event.because)
    pile = (*state.piles.get(event.seat, ()), *(played.card for played in state.played))
    piles = {**state.piles, event.seat: pile}
    leader = (
        event.seat
        if event.seat in state.hands
        else next_seat(state, event.seat) or next(iter(state.hands), "")
    )
    after = replace(
        state, phase="play", part=state.part + 1, piles=piles, last=won, leader=leader, turn=leader, played=(), done=(),
        frozen=(), forced={}, using=None, facing_of="", drawing="", skip=None,
    )  # fmt: skip
    return after if all(after.hands.values()) and len(after.hands) > 1 else _counted(after)


def _counted(state: Zingazam) -> Zingazam:
    """Cards in hands are discarded; the piles count. Rule: ZAZ-21 ZAZ-22 ZAZ-23"""
    winners = best_piles(state.piles)
    seats = dict.fromkeys((*state.totals, *state.piles))
    totals = {seat: state.totals.get(seat, 0) + len(state.piles.get(seat, ())) for seat in seats}
    won = {seat: state.games_won.get(seat, 0) + (seat in winners) for seat in seats}
    return replace(
        state, phase="counted", turn="", winners=winners, totals=totals, games_won=won,
        hands=dict.fromkeys(state.hands, ()),
    )  # fmt: skip


def _stacked(state: Zingazam, event: e.PileStacked) -> Zingazam:
    """The cards that were taken last lie in another order. Rule: ZAZ-8"""
    last = state.last
    if last is None or sorted(event.order) != list(range(1, len(last.cards) + 1)):
        return state
    pile = state.piles.get(last.seat, ())
    count = len(last.cards)
    if pile[len(pile) - count :] != tuple(played.card for played in last.cards):
        return state
    stacked = tuple(last.cards[n - 1] for n in event.order)
    cards = tuple(replace(played, n=n) for n, played in enumerate(stacked, 1))
    piles = {**state.piles, last.seat: (*pile[: len(pile) - count], *(played.card for played in stacked))}
    return replace(state, piles=piles, last=replace(last, cards=cards))


def _left(table: Table, state: Zingazam, seat: str) -> Zingazam:
    """Who goes plays no more; the cards in play and in the score pile stay. With one player left the game ends."""
    if seat not in state.hands:
        return state
    after = replace(state, hands={who: hand for who, hand in state.hands.items() if who != seat})
    after = replace(after, forced={who: place for who, place in after.forced.items() if who != seat})
    if after.phase in ("setup", "counted"):
        return after
    if len(after.hands) < 2 and not after.played:
        return _counted(after)
    if after.phase == "deal":
        leader = after.leader if after.leader in after.hands else next_seat(state, seat)
        return _all_dealt(table, replace(after, leader=leader))
    return _without_turn(state, after, seat)


def _without_turn(state: Zingazam, after: Zingazam, seat: str) -> Zingazam:
    """The round goes on behind who left while it was their turn, or while their card's ability was used."""
    is_using = state.using is not None and state.using.seat == seat
    if after.phase != "play" or not (is_using or after.turn == seat):
        return after
    after = replace(after, using=None, facing_of="", drawing="")
    order = list(state.hands)
    start = order.index(seat)
    following = next((s for s in order[start + 1 :] + order[:start] if s not in after.done), "")
    if following:
        return replace(after, turn=following)
    return replace(after, turn="", phase="taking" if after.played else "play")
