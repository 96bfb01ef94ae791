"""The state of a game of Zing-a-Zam and what can be read off it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from companion.core import chance
from companion.core.game import Sitting
from companion.games.zingazam.deck import Card, Cards, Deck, read

OWNER, OTHERS = "owner", "others"


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """A card in a hand: whom it faces, and its `number` where that is known (0: it is not).

    Where hands are not known, only how many cards face whom means anything, not their order.
    """

    number: int = 0
    is_cat: bool = False
    faces_owner: bool = False


class Played(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card in play. `n` counts the cards of the round in the order played, from 1."""

    n: int
    seat: str
    card: Card

    @property
    def number(self) -> int:
        """Its number, cats included. Rule: ZAZ-20"""
        return self.card.number


class Using(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An ability that is being used: by whom, of which number, and whether a 5 copies it."""

    seat: str
    ability: int
    is_copy: bool = False


class Skip(msgspec.Struct, frozen=True, kw_only=True):
    """An ability that was skipped last, and why."""

    seat: str
    ability: int
    rule: str
    because: str


class Won(msgspec.Struct, frozen=True, kw_only=True):
    """A round that was won: by whom, with which cards in the order played, why, and as `stacked` on the pile."""

    seat: str
    cards: tuple[Played, ...]
    rule: str
    because: str


class Zingazam(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game of Zing-a-Zam.

    `phase`: setup deal play taking counted. `part` counts the rounds of all games, `game` the games. `hands` in seat
    order, each from its owner's left. `spent`: numbers of the own set that a seat played. `piles`: the last on top.
    `done`: who has played in this round or is frozen. `facing_of`: whose card it was is known, not whom it faced;
    `drawing`: whose cat is not told yet. `forced`: the position that a seat must play. `since`: the entry with which
    this game began.
    """

    phase: str
    part: int
    game: int = 1
    oldest: str = ""
    hands: dict[str, tuple[Held, ...]] = {}
    spent: dict[str, tuple[int, ...]] = {}
    piles: dict[str, tuple[Card, ...]] = {}
    cats_left: int = 0
    leader: str = ""
    turn: str = ""
    played: tuple[Played, ...] = ()
    done: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    forced: dict[str, int] = {}
    using: Using | None = None
    facing_of: str = ""
    drawing: str = ""
    skip: Skip | None = None
    last: Won | None = None
    winners: tuple[str, ...] = ()
    totals: dict[str, int] = {}
    games_won: dict[str, int] = {}
    since: int = 0


Table = Sitting[Zingazam]


def deck_of(table: Table) -> Deck:
    """The data file in play."""
    return read(table.opened.data)


def cards_of(table: Table) -> Cards:
    """What is played with. Rule: ZAZ-1 ZAZ-3"""
    return deck_of(table).cards(is_few=bool(table.options["variant"]))


def is_variant_playable(table: Table) -> bool:
    """Whether the set-up that the house chose can be played: the variant only as its owner filled it in. Rule: ZAZ-3"""
    few = deck_of(table).few
    return not table.options["variant"] or (few is not None and len(table.playing()) in few.players)


def is_full(table: Table) -> bool:
    """Whether every card in the hands is known."""
    return table.options["hands"] == "full"


def is_private(table: Table) -> bool:
    """Whether a card is shown now that not everybody may see: no picture of it is kept or shown. Rule: ZAZ-24"""
    return is_full(table) and (table.game.phase == "deal" or bool(table.game.drawing))


def visible_at_start(table: Table) -> int:
    """How many cards of a hand face their owner at first. Rule: ZAZ-2"""
    cards = cards_of(table)
    asked = cards.visible_at_start
    return min(int(table.options["visible_at_start"]) if asked is None else asked, len(cards.numbers))


def next_seat(state: Zingazam, seat: str) -> str:
    """The next seat clockwise among those that play, itself when there is no other. Rule: ZAZ-4"""
    order = list(state.hands)
    return order[(order.index(seat) + 1) % len(order)] if seat in order else ""


def yet_to_play(state: Zingazam, seat: str) -> str:
    """Next to come: the first seat after this one, clockwise, that is not done; empty when all are. Rule: ZAZ-7"""
    order = list(state.hands)
    start = order.index(seat) + 1 if seat in order else 0
    return next((s for s in order[start:] + order[:start] if s not in state.done), "")


def next_to_act_on(state: Zingazam, seat: str) -> str:
    """The next player, if that player has yet to play; empty if not. Rule: ZAZ-15 ZAZ-16 ZAZ-18 ZAZ-19"""
    target = next_seat(state, seat)
    return target if target and target != seat and target not in state.done else ""


def facing(state: Zingazam, seat: str, whom: str) -> tuple[int, ...]:
    """Positions (from 1) of a seat's cards that face their owner, or the others."""
    hand = state.hands.get(seat, ())
    return tuple(n for n, held in enumerate(hand, 1) if held.faces_owner == (whom == OWNER))


def own_numbers_left(table: Table, seat: str) -> tuple[int, ...]:
    """The numbers of a seat's own set that it has not played; which of them lies where is not said. Rule: ZAZ-1"""
    return tuple(n for n in cards_of(table).numbers if n not in table.game.spent.get(seat, ()))


def place_in(state: Zingazam, seat: str, card: Card, faced: str = "") -> int:
    """Position (from 1) of the card in the hand that this is, 0 when there is none.

    Where hands are known, the card itself, and the one that must be played before others; where they are not, any of
    its kind that faced so. Rule: ZAZ-5
    """
    fits = [
        n for n, held in enumerate(state.hands.get(seat, ()), 1)
        if held.is_cat == card.is_cat and held.number in (0, card.number)
        if not faced or held.faces_owner == (faced == OWNER)
    ]  # fmt: skip
    forced = state.forced.get(seat, 0)
    return forced if forced in fits else next(iter(fits), 0)


def winner_of(played: tuple[Played, ...]) -> tuple[Played, str, str]:
    """The card that wins the round, the rule and why; there is at least one. Rule: ZAZ-8 ZAZ-9 ZAZ-10 ZAZ-20"""
    ones = [card for card in played if card.number == 1]
    if ones and any(card.number == 8 for card in played):
        last = "" if len(ones) == 1 else ", the 1 that was played last"
        return ones[-1], "ZAZ-10", f"an 8 is in play, so a 1 wins{last}"
    highest = max(card.number for card in played)
    equal = [card for card in played if card.number == highest]
    if len(equal) > 1:
        return (
            equal[-1],
            "ZAZ-9",
            f"{len(equal)} cards show the highest number, {highest}: the one played last wins",
        )
    return equal[-1], "ZAZ-8", f"{highest} is the highest number"


def tally(pile: tuple[Card, ...]) -> tuple[int, ...]:
    """How many cards a score pile has, then how many 8s, 7s, and so on down to 1s. Rule: ZAZ-22"""
    numbers = [card.number for card in pile]
    return (len(pile), *(numbers.count(number) for number in range(8, 0, -1)))


def best_piles(piles: Mapping[str, tuple[Card, ...]]) -> tuple[str, ...]:
    """The seats whose piles win; several share. Rule: ZAZ-22"""
    best = max(map(tally, piles.values()), default=())
    return tuple(seat for seat, pile in piles.items() if tally(pile) == best)


def tie_break(piles: Mapping[str, tuple[Card, ...]]) -> tuple[tuple[int, dict[str, int]], ...]:
    """The steps of the tie-break that were needed: the number that is counted, and how many each tied seat has.

    None when the most cards decide. Rule: ZAZ-22
    """
    tallies = {seat: tally(pile) for seat, pile in piles.items()}
    most = max((found[0] for found in tallies.values()), default=0)
    tied = [seat for seat, found in tallies.items() if found[0] == most]
    steps = []
    for place, number in enumerate(range(8, 0, -1), 1):
        if len(tied) < 2:
            break
        counts = {seat: tallies[seat][place] for seat in tied}
        steps.append((number, counts))
        tied = [seat for seat in tied if counts[seat] == max(counts.values())]
    return tuple(steps)


def points(table: Table) -> dict[str, int]:
    """Points of each seat: cards of all games; or games won, by the house rule. Rule: ZAZ-22 ZAZ-23"""
    state = table.game
    if table.options["series"] == "games_won" and (state.game > 1 or int(table.options["games"]) > 1):
        return {seat.id: state.games_won.get(seat.id, 0) for seat in table.seats}
    running = {} if state.phase == "counted" else state.piles
    return {s.id: state.totals.get(s.id, 0) + len(running.get(s.id, ())) for s in table.seats}


def is_last_game(table: Table) -> bool:
    """Whether no game follows this one. Rule: ZAZ-23"""
    return table.game.game >= int(table.options["games"])


def is_over(table: Table) -> bool:
    """Whether the last game is counted; more are played when the house rule `games` is raised."""
    return table.game.phase == "counted" and is_last_game(table)


def overall_winners(table: Table) -> tuple[str, ...]:
    """Who wins: the game, or of several games the most points; empty while it is not over. Rule: ZAZ-22 ZAZ-23"""
    if not is_over(table):
        return ()
    if table.game.game == 1:
        return table.game.winners
    scores = points(table)
    best = max(scores.values(), default=0)
    return tuple(seat for seat, score in scores.items() if score == best)


def lots(table: Table, seat: str) -> tuple[int, ...]:
    """The positions of a hand, from 1, whose cards face their owner, drawn by lot. Rule: ZAZ-2"""
    places = [str(place) for place in range(1, len(cards_of(table).numbers) + 1)]
    drawn = chance.shuffled(table.opened.seed, f"facing/{table.game.game}/{seat}", places)
    return tuple(sorted(int(place) for place in drawn[: visible_at_start(table)]))


def dealing_to(table: Table) -> tuple[str, int] | None:
    """Whose card is dealt next and which of the hand, from 1; None when nothing is to be dealt. Rule: ZAZ-2"""
    if table.game.phase != "deal":
        return None
    size = len(cards_of(table).numbers)
    seat = next((s for s, hand in table.game.hands.items() if len(hand) < size), None)
    return None if seat is None else (seat, len(table.game.hands[seat]) + 1)
