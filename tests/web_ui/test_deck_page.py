"""The page on which a measured deck is corrected: all on one page, by keyboard, for whoever listens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from test_accessibility import problems, too_wide, unfold

from companion.app.deck_desk import DeckDesk, known_deck
from companion.sight.tacta_measured import measured
from companion.sight.tacta_slots import slot_of
from vision.printed.measuring import CardSeen, ShapeSeen
from web_ui.alone import address, create_deck_app
from web_ui.serve import Server

KEY = "a-key-of-the-test"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Server, DeckDesk]]:
    """Four cards of a deck, one without a badge."""
    deck = known_deck()
    seen = []
    for n, card in enumerate(deck.cards[:4]):
        shapes = tuple(
            ShapeSeen(s.polygon_mm, s.dots_mm, slot_of(s, deck.card_mm).touches, bool(s.dots_mm))
            for s in card.shapes
        )
        badge = (card.suit or "") if n else ""
        picture = np.full((889, 635, 3), 40, np.uint8)
        seen.append((f"{n}.jpg", CardSeen(deck.card_mm, 1.2, 0.7, 2.2, badge, shapes, True, picture)))
    desk = DeckDesk(measured(seen, deck), [card.picture for _, card in seen], deck, tmp_path / "mine.json")
    server = Server(create_deck_app(desk, KEY))
    server.start()
    yield server, desk
    server.stop()


def test_a_card_is_corrected_and_the_deck_kept(served: tuple[Server, DeckDesk], browser: Browser) -> None:
    server, desk = served
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.set_default_timeout(8000)
    page.goto(address(f"http://127.0.0.1:{server.port}", KEY))
    expect(page.locator("#card-0 h2")).to_contain_text("unknown suit")
    assert page.evaluate("document.querySelector('#card-1 img').naturalWidth") == 635
    unfold(page)
    assert problems(page) == []
    card = page.locator("#card-0")
    card.get_by_role("radio", name="circle").check()
    card.locator("select").last.select_option(label="triangle, top left corner")
    card.get_by_role("checkbox").last.check()
    card.get_by_role("button", name="Correct this card").press("Enter")
    expect(page.locator("#said")).to_contain_text("The card is corrected.")
    expect(page.locator("#card-0 h2")).to_contain_text("circle-2")
    page.get_by_label("Triangle: short side").fill("21.5")
    page.get_by_role("button", name="Take these sizes").click()
    expect(page.locator("#said")).to_contain_text("taken")
    assert not desk.path.exists()
    page.get_by_role("button", name="Keep this deck").click()
    expect(page.locator("#said")).to_contain_text("kept")
    assert desk.path.is_file()
    assert problems(page) == []
    assert too_wide(page) == []
    context.close()
