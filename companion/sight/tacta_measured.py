"""A deck of Tacta from photographs of its cards: what was seen of each becomes a deck file, with what is unsure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from companion.core.geometry import Point, Polygon
from companion.games.tacta.deck import DOTS, FORMAT, SUITS, Card, Deck, Shape
from companion.sight.tacta_slots import EDGES, SLOTS, Sizes, Slot, outline, slot_of, usual_dots
from vision.printed.measuring import CardSeen, ShapeSeen

_NAME = re.compile(r"(circle|square|triangle)-([1-6])")
_SQUARE = 1.3
_SHIFTED_MM = 1.0
_OFF_MM = 0.8
_SPREAD_MM = 0.6
_SIZE_SPREAD = 0.012
MIRRORS: Mapping[str, Mapping[str, str]] = {
    "as it is": dict(zip("trbl", "trbl", strict=True)),
    "upside down": dict(zip("trbl", "bltr", strict=True)),
    "mirrored": dict(zip("trbl", "tlbr", strict=True)),
    "mirrored upside down": dict(zip("trbl", "brtl", strict=True)),
}
"""Which edge becomes which where the other end or the other side of a card was photographed."""


class Laid(msgspec.Struct, frozen=True):
    """A shape on a card: where, whether it is filled, how far beside the edge's middle, and its dots as seen."""

    slot: Slot
    is_filled: bool
    shift_mm: float = 0.0
    dots_mm: tuple[Point, ...] = ()


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """One card: its photograph's `name`, `suit` (empty while nobody knows it), its shapes and what is unsure of it.
    `turn`: how the photograph is turned to show the front, see MIRRORS."""

    name: str
    suit: str
    shapes: tuple[Laid, ...]
    doubts: tuple[str, ...] = ()
    turn: str = "as it is"

    @property
    def value(self) -> int:
        """Its dots. Rule: TACTA-2"""
        return sum(DOTS[shape.slot.kind] for shape in self.shapes if shape.is_filled)

    @property
    def id(self) -> str:
        """Its name in the deck file."""
        return f"{self.suit}-{self.value}"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A deck as measured: sizes, cards in the order of their photographs, and what is unsure of it as a whole."""

    sizes: Sizes
    sheets: tuple[Sheet, ...]
    doubts: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Fronts of which there is no photograph. Rule: TACTA-2"""
        there = {sheet.id for sheet in self.sheets}
        return tuple(
            f"{suit}-{value}" for suit in SUITS for value in range(1, 7) if f"{suit}-{value}" not in there
        )

    @property
    def twice(self) -> tuple[str, ...]:
        """Fronts that several photographs show."""
        ids = [sheet.id for sheet in self.sheets]
        return tuple(sorted({each for each in ids if ids.count(each) > 1}))


def measured(seen: Sequence[tuple[str, CardSeen]], known: Deck) -> Measured:
    """What `seen` (name of the photograph, card) says of a deck. `known`: a deck by whose fronts the cards are turned,
    because which end and which side of a card is its front says nothing. Raises ValueError when nothing was seen."""
    if not seen:
        raise ValueError("no card was found on any photograph")
    sizes, doubts = _sizes([card for _, card in seen], known)
    sheets = tuple(_sheet(name, card, sizes, known) for name, card in seen)
    return Measured(sizes=sizes, sheets=sheets, doubts=doubts)


def deck_of(found: Measured, known: Deck) -> Deck:
    """The deck file. Cards without a suit are left out, of cards seen twice the first counts. `known` gives colours and
    the starting card's places."""
    sizes = found.sizes
    cards: dict[str, Card] = {}
    for sheet in found.sheets:
        if sheet.suit and sheet.id not in cards and sheet.shapes:
            shapes = tuple(made(laid, sizes) for laid in sheet.shapes)
            cards[sheet.id] = Card(id=sheet.id, suit=sheet.suit, value=sheet.value, shapes=shapes)
    places = [Laid(slot_of(shape, known.card_mm), is_filled=False) for shape in known.start.shapes]
    start = Card(id=known.start.id, suit=None, value=0, shapes=tuple(made(laid, sizes) for laid in places))
    unsure = doubts_of(found)
    return Deck(
        format=FORMAT,
        card_mm=sizes.card,
        strip_mm=sizes.strip,
        dot_radius_mm=sizes.dot_radius,
        colours=known.colours,
        cards=tuple(cards[id] for id in sorted(cards)),
        start=start,
        source=f"measured on {len(found.sheets)} photographs of one card each",
        sure="M" if unsure else "H",
        note=" ".join(unsure),
    )


def doubts_of(found: Measured) -> tuple[str, ...]:
    """All that is unsure, in words."""
    told = [*found.doubts]
    if found.missing:
        told.append(f"Not photographed: {', '.join(found.missing)}.")
    if found.twice:
        told.append(f"On several photographs: {', '.join(found.twice)}.")
    return (*told, *(f"{sheet.name}: {doubt}" for sheet in found.sheets for doubt in sheet.doubts))


def made(laid: Laid, sizes: Sizes) -> Shape:
    """The shape as a deck file holds it; dots that were not seen where they can be lie where they usually do."""
    polygon = outline(laid.slot, sizes, laid.shift_mm)
    dots: tuple[Point, ...] = ()
    if laid.is_filled:
        shape = Polygon(polygon)
        is_usable = len(laid.dots_mm) == DOTS[laid.slot.kind] and all(map(shape.contains, laid.dots_mm))
        dots = laid.dots_mm if is_usable else usual_dots(laid.slot.kind, polygon)
    return Shape(kind=laid.slot.kind, polygon_mm=polygon, dots_mm=dots)


def _kind(shape: ShapeSeen, card_mm: tuple[float, float]) -> str:
    if len(shape.polygon_mm) == 3:
        return "triangle"
    short, long = _sides(shape)
    if long < _SQUARE * short:
        return "square"
    return "long rectangle" if abs(long - card_mm[1]) < abs(long - card_mm[0]) else "short rectangle"


def _sides(shape: ShapeSeen) -> tuple[float, float]:
    """The mean of the shorter and of the longer sides; of a triangle the legs and the longest."""
    points = shape.polygon_mm
    sides = sorted(math.dist(a, b) for a, b in zip(points, (*points[1:], points[0]), strict=True))
    return (sides[0] + sides[1]) / 2, sum(sides[2:]) / len(sides[2:])


def _sizes(cards: Sequence[CardSeen], known: Deck) -> tuple[Sizes, tuple[str, ...]]:
    doubts = []
    measured_cards = [card for card in cards if card.is_size_measured] or list(cards)
    width, height = (median(card.size_mm[i] for card in measured_cards) for i in (0, 1))
    if not any(card.is_size_measured for card in cards):
        doubts.append(
            "How large the cards are is a guess: lay a printed marker beside one, or give --card-mm W,H."
        )
    ratios = [card.size_mm[1] / card.size_mm[0] for card in cards]
    if max(ratios) - min(ratios) > 4 * _SIZE_SPREAD * median(ratios):
        doubts.append("The photographs disagree on how long the cards are: take them from straight above.")
    of_kind: dict[str, list[tuple[float, float]]] = {}
    for card in cards:
        scale = (width / card.size_mm[0] + height / card.size_mm[1]) / 2
        for shape in card.shapes:
            least, most = _sides(shape)
            of_kind.setdefault(_kind(shape, card.size_mm), []).append((least * scale, most * scale))
    middles = {
        kind: (median(least for least, _ in found), median(most for _, most in found))
        for kind, found in of_kind.items()
    }
    for kind, found in sorted(of_kind.items()):
        spread = max(abs(least - middles[kind][0]) for least, _ in found)
        if spread > 2 * _SPREAD_MM:
            doubts.append(f"One {kind} differs from the others by {spread:.1f} mm.")
    usual = _usual(known, (width, height))
    for kind in usual:
        if kind not in middles:
            doubts.append(f"No {kind} was seen: its size is a guess.")
    square, triangle = (middles.get(kind, usual[kind]) for kind in ("square", "triangle"))
    short, long = (middles.get(kind, usual[kind]) for kind in ("short rectangle", "long rectangle"))
    radii = [card.dot_radius_mm for card in cards if card.dot_radius_mm]
    sizes = Sizes(
        card=(round(width, 2), round(height, 2)),
        strip=round(median(card.strip_mm for card in cards), 2),
        dot_radius=round(median(radii) if radii else known.dot_radius_mm, 2),
        leg=round(triangle[0], 2),
        side=round((square[0] + square[1]) / 2, 2),
        short=(round(_near(short[1], width), 2), round(short[0], 2)),
        long=(round(_near(long[1], height), 2), round(long[0], 2)),
    )
    return sizes, tuple(doubts)


def _near(length: float, side: float) -> float:
    return side if abs(length - side) < 1.5 else length


def _usual(known: Deck, card_mm: tuple[float, float]) -> dict[str, tuple[float, float]]:
    """(shorter, longer) side of each kind in a known deck, at another card size."""
    scale = card_mm[0] / known.card_mm[0]
    found: dict[str, tuple[float, float]] = {}
    for shape in (shape for card in known.cards for shape in card.shapes):
        short, long = _sides(ShapeSeen(shape.polygon_mm, (), "", is_filled=False))
        found.setdefault(shape.kind, (short * scale, long * scale))
    return found


def _sheet(name: str, card: CardSeen, sizes: Sizes, known: Deck) -> Sheet:
    shapes, doubts = [], []
    scale = (sizes.card[0] / card.size_mm[0], sizes.card[1] / card.size_mm[1])
    for number, shape in enumerate(card.shapes, start=1):
        slot = Slot(_kind(shape, card.size_mm), shape.touches)
        if slot not in SLOTS:
            doubts.append(
                f"Shape {number} looks like a {slot.kind}, yet lies where none does: it is left out."
            )
            continue
        points = tuple((x * scale[0], y * scale[1]) for x, y in shape.polygon_mm)
        shift = _shift(points, slot, sizes)
        if shift:
            doubts.append(f"The {slot.words} lies {abs(shift):.1f} mm beside the middle.")
        off = _off(points, outline(slot, sizes, shift))
        if off > 2 * _OFF_MM:
            doubts.append(f"The {slot.words} is off by {off:.1f} mm.")
        if shape.is_filled and len(shape.dots_mm) != DOTS[slot.kind]:
            doubts.append(
                f"The {slot.words} shows {len(shape.dots_mm)} dots: {DOTS[slot.kind]} are put there."
            )
        dots = tuple((round(x * scale[0], 2), round(y * scale[1], 2)) for x, y in shape.dots_mm)
        shapes.append(Laid(slot, shape.is_filled, shift, dots))
    if not shapes:
        doubts.append("No shape was found.")
    said = _NAME.search(name)
    suit = said[1] if said else card.badge
    found = Sheet(name=name, suit=suit, shapes=tuple(shapes))
    if not suit:
        doubts.append(
            "The form of its badge was not seen: choose the suit, or name the file as circle-3.jpg."
        )
    elif said and card.badge and card.badge != said[1]:
        doubts.append(f"The file is called {said[0]}, the badge looks like a {card.badge}.")
    if said and found.value != int(said[2]):
        doubts.append(f"The file is called {said[0]}, {found.value} dots were seen.")
    return _turned(msgspec.structs.replace(found, doubts=tuple(doubts)), sizes, known)


def _shift(points: Sequence[Point], slot: Slot, sizes: Sizes) -> float:
    """How far a shape on one edge lies beside that edge's middle, 0 where it lies in it."""
    if len(slot.touches) != 1:
        return 0.0
    axis = 0 if slot.touches in "tb" else 1
    middle = (min(p[axis] for p in points) + max(p[axis] for p in points)) / 2 - sizes.card[axis] / 2
    return round(middle, 2) if abs(middle) > _SHIFTED_MM else 0.0


def _off(points: Sequence[Point], polygon: Sequence[Point]) -> float:
    return max(min(math.dist(point, corner) for corner in polygon) for point in points)


def _turned(sheet: Sheet, sizes: Sizes, known: Deck) -> Sheet:
    """The card as the known front lies; as it was photographed where it is none of the known front's four views."""
    front = known.card(sheet.id)
    if front is None:
        return sheet
    wanted = {(slot_of(shape, known.card_mm), bool(shape.dots_mm)) for shape in front.shapes}
    for name, turn in MIRRORS.items():
        shapes = tuple(_one_turned(laid, turn, sizes) for laid in sheet.shapes)
        if {(laid.slot, laid.is_filled) for laid in shapes} == wanted:
            return msgspec.structs.replace(sheet, shapes=shapes, turn=name)
    told = "It differs from the public front of that name: compare it."
    return msgspec.structs.replace(sheet, doubts=(*sheet.doubts, told))


def _one_turned(laid: Laid, turn: Mapping[str, str], sizes: Sizes) -> Laid:
    touches = "".join(sorted((turn[edge] for edge in laid.slot.touches), key=EDGES.index))
    width, height = sizes.card
    is_across, is_down = turn["l"] == "r", turn["t"] == "b"
    dots = tuple((width - x if is_across else x, height - y if is_down else y) for x, y in laid.dots_mm)
    is_back = is_across if laid.slot.touches in ("t", "b") else is_down
    shift = -laid.shift_mm if is_back else laid.shift_mm
    rounded = tuple((round(x, 2), round(y, 2)) for x, y in dots)
    return Laid(Slot(laid.slot.kind, touches), laid.is_filled, shift, rounded)
