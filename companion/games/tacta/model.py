"""The state of a game of Tacta and what can be read off it."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from companion.core.clock import Stamp
from companion.core.game import Sitting
from companion.core.geometry import Pose
from companion.core.ruling import Verdict
from companion.games.tacta.deck import SUITS, Deck, read
from companion.games.tacta.faces import Face, faces_of
from companion.games.tacta.ground import Ground, Laid
from companion.games.tacta.placement import Allowance, Judged, Play, place_apart, plays
from companion.games.tacta.placement import Table as Area

START = "start"
"""The starting card's name at the table; it has no colour."""


class Lying(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One card on the table, number `n` in the order of laying (0: the starting card).

    `card` is ``COLOUR:CARD``, `seat` who laid it, `pose` None where nobody measured it. `ruled`: what the table
    decided, ``legal`` or ``illegal``, empty while the measured verdict stands. `is_apart`: laid to join none.
    """

    n: int
    seat: str
    card: str
    flipped: bool
    pose: Pose | None
    u_mm: float
    judged: Judged
    stamp: Stamp
    is_apart: bool = False
    is_bumped: bool = False
    ruled: str = ""

    @property
    def is_illegal(self) -> bool:
        """Whether it counts as laid illegally as things stand; too close to call stands. Rule: TACTA-13"""
        return self.ruled == "illegal" or (not self.ruled and self.judged.verdict is Verdict.BREACH)

    @property
    def colour(self) -> str:
        """The colour printed on it, empty for the starting card."""
        return colour_of(self.card)


class Guided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a seat is guided to: this side of `card` at `pose`; `lies`, `lies_flipped`: how it was seen to lie last."""

    card: str
    flipped: bool
    pose: Pose
    lies: Pose | None = None
    lies_flipped: bool = False


class Tacta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game of Tacta.

    `phase`: setup ends countdown play scoring scored over. `decks`: what each seat may still hold, as ``COLOUR:CARD``,
    in no order, for nobody may look through a deck; partners hold halves of one deck, and who holds which nobody knows.
    `counts`: how many cards each seat holds. `ends`: outermost cards that were shown. `ended`: when free play ended.
    `last`: visible dots by colour of the round that was scored last, `taken_away` the cards that did not count.
    `guided`: what seats are guided to while they lay.
    """

    phase: str
    part: int
    colours: dict[str, str] = {}
    suits: dict[str, tuple[str, str]] = {}
    decks: dict[str, tuple[str, ...]] = {}
    counts: dict[str, int] = {}
    ends: dict[str, tuple[str, ...]] = {}
    lying: tuple[Lying, ...] = ()
    laid: int = 0
    boxed: tuple[str, ...] = ()
    turn: str = ""
    go_ns: int | None = None
    ended: Stamp | None = None
    entered: dict[str, int] = {}
    last: dict[str, int] = {}
    taken_away: tuple[int, ...] = ()
    totals: dict[str, int] = {}
    winners: tuple[str, ...] = ()
    guided: dict[str, Guided] = {}


Table = Sitting[Tacta]


def colour_of(card: str) -> str:
    """The colour in ``COLOUR:CARD``."""
    return card.partition(":")[0] if ":" in card else ""


def front_of(card: str) -> str:
    """The front in ``COLOUR:CARD``."""
    return card.rpartition(":")[2]


def deck_of(table: Table) -> Deck:
    """The deck in play."""
    return read(table.opened.data)


def mode(table: Table) -> str:
    """Which way of playing."""
    return str(table.options["mode"])


def area(table: Table) -> Area:
    """The playing area. Rule: TACTA-3"""
    options = table.options
    return Area(size_mm=(float(options["table_width_mm"]), float(options["table_height_mm"])))


def allowance(table: Table) -> Allowance:
    """Rule: TACTA-9"""
    return Allowance(mm=int(table.options["allowance_tenth_mm"]) / 10)


def suits_in_play(table: Table) -> tuple[str, ...]:
    """The suits of this round. Rule: TACTA-17 TACTA-18"""
    if mode(table) == "limited_space":
        return (SUITS[(table.game.part - 1) % len(SUITS)],)
    if mode(table) == "quick":
        return tuple(suit for suit in SUITS if suit != table.options["left_out"])
    return SUITS


def partner(table: Table, seat: str) -> str:
    """Who sits opposite where teams play, the seat itself where not. Rule: TACTA-19"""
    seats = [s.id for s in table.playing()]
    if mode(table) != "teams" or seat not in seats or len(seats) % 2:
        return seat
    return seats[(seats.index(seat) + len(seats) // 2) % len(seats)]


def left_of(table: Table, seat: str) -> str:
    """Who sits to the left, which is next in the order of play. Rule: TACTA-21"""
    seats = [s.id for s in table.playing()]
    return seats[(seats.index(seat) + 1) % len(seats)] if seat in seats else ""


def pieces_in_game(table: Table, colour: str) -> tuple[str, ...]:
    """The cards of a colour that this round is played with, as ``COLOUR:CARD``. Rule: TACTA-2"""
    suits = suits_in_play(table)
    if mode(table) == "sabotage":
        owner = next((seat for seat, taken in table.game.colours.items() if taken == colour), "")
        suits = table.game.suits.get(owner, ())
    return tuple(f"{colour}:{card.id}" for card in deck_of(table).of_suits(suits))


def most_dots(table: Table, colour: str) -> int:
    """More than this a colour cannot score in this round. Rule: TACTA-2"""
    fronts = {card.id: card.value for card in deck_of(table).cards}
    return sum(fronts[front_of(piece)] for piece in pieces_in_game(table, colour))


def value(table: Table, card: str) -> int:
    """The value of a card. Rule: TACTA-2"""
    front = deck_of(table).card(front_of(card))
    return front.value if front else 0


def full_name(table: Table, seat: str, card: str) -> str:
    """``COLOUR:CARD`` for a card as people name it: without a colour it is of the seat's own."""
    return card if ":" in card else f"{table.game.colours.get(seat, '')}:{card}"


def ends_of(table: Table, seat: str) -> tuple[str, ...]:
    """The outermost cards of a seat's deck as far as they are known; a single last card is both. Rule: TACTA-4"""
    deck = table.game.decks.get(seat, ())
    return deck if len(deck) <= 1 else table.game.ends.get(seat, ())


def ends_wanted(table: Table, seat: str) -> int:
    """How many outermost cards a seat has: two, or one when it holds one card only. Rule: TACTA-4"""
    return min(2, table.game.counts.get(seat, 0))


def are_ends_known(table: Table, seat: str) -> bool:
    """Whether both outermost cards of a seat are known."""
    return len(ends_of(table, seat)) >= ends_wanted(table, seat)


def is_measured(table: Table) -> bool:
    """Whether the place of every card on the table is known, so that the table can be worked out."""
    lying = table.game.lying
    return bool(lying) and all(card.pose is not None for card in lying)


def laid_of(card: Lying) -> Laid:
    """The card for the geometry; only where its place is known."""
    pose = card.pose or Pose(0.0, 0.0)
    front = front_of(card.card)
    return Laid(n=card.n, card=front, colour=card.colour, flipped=card.flipped, pose=pose, u_mm=card.u_mm)


@lru_cache(maxsize=256)
def ground_from(data: str, lying: tuple[Lying, ...]) -> Ground:
    """What these cards of the deck in `data` make; cards whose place is not known are left out."""
    return Ground(faces_of(read(data)), [laid_of(card) for card in lying if card.pose is not None])


def ground_of(table: Table) -> Ground:
    """What lies on the table; cards whose place is not known are left out."""
    return ground_from(table.opened.data, table.game.lying)


@lru_cache(maxsize=512)
def _plays(
    data: str, lying: tuple[Lying, ...], where: Area, card: str, allowed: Allowance
) -> tuple[Play, ...]:
    faces = (Face(card, False), Face(card, True))
    return tuple(plays(ground_from(data, lying), where, faces, allowed))


def legal_plays(table: Table, cards: tuple[str, ...]) -> tuple[tuple[str, Play], ...]:
    """Every legal placement of these cards (``COLOUR:CARD``) with the card; none where places are not known.

    In free play no card may join one of its own colour. Rule: TACTA-6 TACTA-20
    """
    if not is_measured(table):
        return ()
    lying = table.game.lying
    colours = {card.n: card.colour for card in lying}
    is_free = mode(table) == "free_play"
    return tuple(
        (card, play)
        for card in cards
        for play in _plays(table.opened.data, lying, area(table), front_of(card), allowance(table))
        if not (is_free and colours.get(play.target) == colour_of(card))
    )


@lru_cache(maxsize=256)
def _apart(data: str, lying: tuple[Lying, ...], where: Area) -> Pose | None:
    return place_apart(ground_from(data, lying), where)


def free_place(table: Table) -> Pose | None:
    """Where a card could be laid apart; None where there is no room, or places are not known. Rule: TACTA-11"""
    return _apart(table.opened.data, table.game.lying, area(table)) if is_measured(table) else None


def is_under_another(table: Table, n: int) -> bool:
    """Whether a later card lies on card `n`, as far as places are known; else whether a later card was laid."""
    lying = {card.n: card for card in table.game.lying}
    card = lying.get(n)
    if card is None:
        return False
    if card.pose is None or not is_measured(table):
        return n < max(lying)
    ground = ground_of(table)
    index = next(i for i, laid in enumerate(ground.laid) if laid.n == n)
    return any(
        other > index and ground.outlines[index].intersection(ground.outlines[other]).area > 1.0
        for other in ground.touching[index]
    )


def illegal_cards(table: Table) -> tuple[Lying, ...]:
    """The cards that are taken away at scoring, as things stand. Rule: TACTA-13"""
    return tuple(card for card in table.game.lying if card.n and card.is_illegal)


def dots_by_colour(table: Table) -> dict[str, int]:
    """Visible dots of each colour of which they are known: as entered by people, else as measured.

    Rule: TACTA-13 TACTA-14
    """
    colours = dict.fromkeys(table.game.colours.values(), 0)
    measured = {**colours, **_measured_dots(table)} if is_measured(table) else {}
    known = measured | table.game.entered
    return {colour: known[colour] for colour in colours if colour in known}


def _measured_dots(table: Table) -> dict[str, int]:
    ground, gone = ground_of(table), tuple(card.n for card in illegal_cards(table))
    return ground.without(gone).score() if table.options["re_exposed"] else ground.score(but=gone)


def is_countable(table: Table) -> bool:
    """Whether the round can be scored: the dots of every colour are known, and no card lies beside its place."""
    return len(dots_by_colour(table)) == len(set(table.game.colours.values())) and bumped(table) is None


def bumped(table: Table) -> Lying | None:
    """A card that was pushed out of its place and waits to go back. Rule: TACTA-10"""
    return next((card for card in table.game.lying if card.is_bumped), None)


def to_be_ruled(table: Table) -> Lying | None:
    """The newest card that lies wrong or too close to call and on which the table has not spoken."""
    return next(
        (
            card
            for card in reversed(table.game.lying)
            if card.n and not card.ruled and card.judged.verdict is not Verdict.OK
        ),
        None,
    )
