"""The printed deck: exact millimetres, front and back that meet, every card once, a file that readers open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.app.cli import main
from companion.app.deck_sheet import INKS, sheets
from companion.app.settings import game_named, shipped_data
from companion.games.tacta.deck import Deck, read
from companion.games.tacta.view import GLYPHS
from vision.sheet import A4_MM, Page, pdf

PT = 72 / 25.4
CIRCLE = re.compile(r"([\d.-]+) ([\d.-]+) m (?:[\d.-]+ ){6}c")


@pytest.fixture(scope="module")
def deck() -> Deck:
    return read(shipped_data(game_named("tacta")))


def dots_on(page: Page, radius: float) -> list[tuple[float, float]]:
    """Middles in mm of the circles of this radius, by their first point, which lies right of it."""
    found = []
    for line in page.content.decode("latin-1").splitlines():
        start = CIRCLE.search(line)
        if start and line.startswith("q 1.000 1.000 1.000 rg"):
            found.append((float(start[1]) / PT - radius, A4_MM[1] - float(start[2]) / PT))
    return found


def test_every_dot_lies_where_the_deck_says_to_a_hundredth_of_a_millimetre(deck: Deck) -> None:
    front, back = sheets(deck, ["blue"])[:2]
    width, height = deck.card_mm
    left = (A4_MM[0] - 3 * width) / 2
    seen = dots_on(front, deck.dot_radius_mm)
    wanted = [
        (left + n % 3 * width + x, n // 3 * height + y)
        for n, card in enumerate(deck.cards[:9])
        for shape in card.shapes
        for x, y in shape.dots_mm
    ]
    top = min(y for _, y in seen) - min(y for _, y in wanted)
    moved = [(x, y + top) for x, y in wanted]
    assert len(seen) == len(moved) == sum(card.value for card in deck.cards[:9])
    assert all(min(abs(a - x) + abs(b - y) for a, b in seen) < 0.01 for x, y in moved)
    behind = [(A4_MM[0] - x, y) for x, y in dots_on(back, deck.dot_radius_mm)]
    assert all(min(abs(a - x) + abs(b - y) for a, b in behind) < 0.01 for x, y in seen), (
        "turned over the long edge"
    )


def test_six_decks_and_the_starting_card_are_all_there(deck: Deck) -> None:
    pages = sheets(deck, deck.colours)
    assert len(pages) == 26
    dots = sum(len(dots_on(page, deck.dot_radius_mm)) for page in pages)
    assert dots == 2 * 6 * 63
    assert set(INKS) == set(GLYPHS) == set(deck.colours)


def test_the_file_is_one_that_readers_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "deck.pdf"
    with pytest.raises(SystemExit) as ended:
        main(["print", "tacta", "-o", str(out), "--deck", "b", "--colour", "red"])
    assert ended.value.code == 0
    assert "6 pages, 19 cards" in capsys.readouterr().out
    data = out.read_bytes()
    table = int(data.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])
    entries = re.findall(rb"(\d{10}) 00000 n", data[table:])
    for n, at in enumerate(entries, start=1):
        assert data[int(at) :].startswith(b"%d 0 obj" % n)
    assert data.count(b"/Type /Page ") == 6


def test_a_text_cannot_break_out_of_its_page() -> None:
    page = Page()
    page.text(1, 1, r"a) Tj (b\ ★", 9)
    assert rb"(a\) Tj \(b\\ ?) Tj" in pdf([page])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--colour", "ochre"], "the deck has blue"),
        (["--deck", "none.json"], "none.json"),
        (["-o", "no/folder/x.pdf"], "cannot be written"),
    ],
)
def test_what_is_asked_wrongly_costs_one_line(
    words: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["print", "tacta", *words])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert why in told and told.count("\n") == 1
