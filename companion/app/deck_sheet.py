"""A deck of Tacta to print, in our own drawing: both sides of every card in exact millimetres, with cut marks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import click
from shapely import Polygon as Area
from shapely import box

from companion.app.settings import SettingsError, game_named, read_data
from companion.core.geometry import Point
from companion.games.tacta.deck import Card, Deck, mirrored, read
from vision.sheet import A4_MM, Ink, Page, pdf

INKS: dict[str, Ink] = {
    "blue": (0.10, 0.48, 0.86), "green": (0.25, 0.66, 0.28), "orange": (0.96, 0.52, 0.08), "pink": (0.92, 0.22, 0.62),
    "purple": (0.50, 0.18, 0.70), "red": (0.85, 0.12, 0.12),
}  # fmt: skip
_GROUND, _WHITE = (0.05, 0.05, 0.05), (1.0, 1.0, 1.0)
_LINE_MM = 0.7
_BADGE_MM = 4.5
_SIGN_MM = 1.8
_MARK_MM = 4.0
_TOP_MM = 8.0
SHIPPED = ("a", "b")


def print_deck(out: Path, deck: str, colours: Sequence[str]) -> None:
    """Write the sheets. `deck`: one that ships, or a deck file; `colours`: which decks, none for all. Raises
    SettingsError."""
    found = _deck(deck)
    strange = [colour for colour in colours if colour not in found.colours]
    if strange:
        raise SettingsError(f"--colour {strange[0]}: the deck has {', '.join(found.colours)}")
    unknown = [colour for colour in (colours or found.colours) if colour not in INKS]
    if unknown:
        raise SettingsError(f"--colour: there is no ink for {unknown[0]}; there are: {', '.join(INKS)}")
    wanted = tuple(colours) or found.colours
    pages = sheets(found, wanted)
    try:
        out.write_bytes(pdf(pages))
    except OSError as error:
        raise SettingsError(f"{out}: cannot be written ({error.strerror})") from error
    click.echo(
        f"{out}: {len(pages)} pages, {len(found.cards) * len(wanted) + 1} cards of"
        f" {found.card_mm[0]:g} x {found.card_mm[1]:g} mm; print at 100 %, on both sides, turned over the long edge"
    )


def _deck(name: str) -> Deck:
    if name in SHIPPED:
        data = files("companion.games.tacta") / "data" / f"deck-{name}.json"
        return read(data.read_text(encoding="utf-8"))
    return read(read_data(game_named("tacta"), Path(name)))


def sheets(deck: Deck, colours: Sequence[str]) -> list[Page]:
    """The pages in the order of printing: each page of fronts before that of its backs, which lie mirrored, so that
    front and back meet when the sheet is turned over its long edge. Raises SettingsError when a card is too large."""
    width, height = deck.card_mm
    across, down = int((A4_MM[0] - 2 * _MARK_MM) / width), int((A4_MM[1] - _MARK_MM - _TOP_MM) / height)
    if not across or not down:
        raise SettingsError(f"a card of {width:g} x {height:g} mm does not fit on a page")
    cards: list[tuple[Card, str]] = [(deck.start, "")]
    cards = [(card, colour) for colour in colours for card in deck.cards] + cards
    left, top = (A4_MM[0] - across * width) / 2, (A4_MM[1] - down * height + _TOP_MM - _MARK_MM) / 2
    pages = []
    for first in range(0, len(cards), across * down):
        part = cards[first : first + across * down]
        for is_back in (False, True):
            page = Page()
            for n, (card, colour) in enumerate(part):
                column, row = n % across, n // across
                x = left + (across - 1 - column if is_back else column) * width
                face = mirrored(card, width) if is_back else card
                _draw(page, deck, face, colour, (x, top + row * height))
            _cut_marks(page, deck, (left, top), (across, down))
            side, number = "backs" if is_back else "fronts", first // (across * down) + 1
            page.text(
                left,
                _TOP_MM - 2,
                f"Tacta, own drawing, {side}, page {number}. Print at 100 %.",
                7,
            )
            page.rectangle(left + across * width - 50, _TOP_MM - 3.6, 50, 0.6)
            page.text(left + across * width - 68, _TOP_MM - 2, "50 mm:", 7)
            pages.append(page)
    return pages


def _cut_marks(page: Page, deck: Deck, at: Point, count: tuple[int, int]) -> None:
    (left, top), (width, height), (across, down) = at, deck.card_mm, count
    right, bottom = left + across * width, top + down * height
    for x in (left + k * width for k in range(across + 1)):
        page.line((x, top - _MARK_MM), (x, top - 0.6))
        page.line((x, bottom + 0.6), (x, bottom + _MARK_MM))
    for y in (top + k * height for k in range(down + 1)):
        page.line((left - _MARK_MM, y), (left - 0.6, y))
        page.line((right + 0.6, y), (right + _MARK_MM, y))


def _draw(page: Page, deck: Deck, card: Card, colour: str, at: Point) -> None:
    """One side of a card whose top-left corner is `at`."""
    (width, height), strip = deck.card_mm, deck.strip_mm
    ink = INKS[colour] if colour else _WHITE
    inner = box(strip, strip, width - strip, height - strip)

    def there(points: Sequence[Point]) -> list[Point]:
        return [(at[0] + x, at[1] + y) for x, y in points]

    page.rectangle(*at, width, height, ink)
    page.polygon(there(_ring(inner)), fill=_GROUND)
    for shape in card.shapes:
        page.polygon(
            there(_ring(Area(shape.polygon_mm).intersection(inner))), fill=ink if shape.dots_mm else None,
            line=_WHITE, line_mm=_LINE_MM,
        )  # fmt: skip
    page.polygon(there(_ring(inner)), line=_WHITE, line_mm=_LINE_MM)
    for shape in card.shapes:
        for dot in shape.dots_mm:
            page.circle(there([dot])[0], deck.dot_radius_mm, fill=_WHITE)
    middle = (at[0] + width / 2, at[1] + height / 2)
    if card.suit is None:
        for way in (1, -1):
            page.line((middle[0] - 6, middle[1] - 6 * way), (middle[0] + 6, middle[1] + 6 * way), 1.2, _WHITE)
        return
    _badge(page, card, ink, middle)
    sign = (middle[0], middle[1] + _BADGE_MM * 2.3)
    page.polygon([(sign[0] + x * _SIGN_MM, sign[1] + y * _SIGN_MM) for x, y in _SIGNS[colour]], fill=ink)


def _badge(page: Page, card: Card, ink: Ink, middle: Point) -> None:
    (x, y), size = middle, _BADGE_MM
    if card.suit == "circle":
        page.circle(middle, size, fill=ink)
    elif card.suit == "square":
        page.rectangle(x - size, y - size, 2 * size, 2 * size, ink)
    else:
        page.polygon(
            [(x, y - 1.25 * size), (x + 1.15 * size, y + 0.85 * size), (x - 1.15 * size, y + 0.85 * size)],
            fill=ink,
        )
    page.text(x - 1.25, y + 1.6, str(card.value), 13, _WHITE)


def _ring(area: Area) -> list[Point]:
    return [(float(x), float(y)) for x, y in list(area.exterior.coords)[:-1]]


def _round() -> Iterator[Point]:
    for k in range(24):
        turn = math.tau * k / 24
        yield math.cos(turn), math.sin(turn)


def _heart() -> Iterator[Point]:
    for k in range(36):
        turn = math.tau * k / 36
        x = 16 * math.sin(turn) ** 3
        y = 13 * math.cos(turn) - 5 * math.cos(2 * turn) - 2 * math.cos(3 * turn) - math.cos(4 * turn)
        yield x / 16, -y / 16


_CROSS = (
    (-1, -3),
    (1, -3),
    (1, -1),
    (3, -1),
    (3, 1),
    (1, 1),
    (1, 3),
    (-1, 3),
    (-1, 1),
    (-3, 1),
    (-3, -1),
    (-1, -1),
)
_SIGNS: dict[str, tuple[Point, ...]] = {
    "blue": tuple(_round()),
    "green": ((0.0, -1.0), (1.0, 0.9), (-1.0, 0.9)),
    "orange": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "pink": tuple(_heart()),
    "purple": ((0.0, -1.2), (0.9, 0.0), (0.0, 1.2), (-0.9, 0.0)),
    "red": tuple((x / 3, y / 3) for x, y in _CROSS),
}
"""The sign of each colour, the same as on the pages, so that none is told by hue alone."""
