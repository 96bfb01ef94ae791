"""Zing-a-Zam in a real browser: played by clicks alone, readable on a phone, and read aloud to who asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_accessibility import problems, too_wide, unfold
from web_house import House, Opener, press

from companion.core import command as k
from companion.core.seat import Actor, Role
from companion.games.zingazam import commands as c

SET = (1, 2, 3, 4, 5, 6, 7, 8)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table of Zing-a-Zam with two players whose hands are known."""
    made = House(tmp_path, names=("Ann", "Ben"), game_name="zingazam", hands="full")
    made.order(k.Start(boot="b", wall_ms=0), Actor(Role.CLOCK))
    made.order(k.Resume())
    yield made
    made.close()


def deal(house: House) -> None:
    house.order(c.NameOldest(seat="s1"))
    house.order(c.Begin())
    for seat in ("s1", "s2"):
        for number in SET:
            house.order(c.Deal(seat=seat, number=number))


def test_a_round_is_played_by_the_referees_clicks(house: House, open_page: Opener) -> None:
    house.order(k.ChangeOption(option="hands", value="played"))
    page = open_page("/referee", house.token, width=390, height=844)
    head = page.locator("h1").first
    press(house, page, "Name the oldest player", "Ben")
    press(house, page, "Begin")
    expect(head).to_have_text("Ben plays a card.")
    press(house, page, "Ben plays a card", "6")
    expect(head).to_contain_text("Ben uses the 6")
    expect(page.locator("#row-played-1")).to_contain_text("Choose which card the next player must play.")
    press(house, page, "Ben chooses Ann's card", "3")
    expect(head).to_have_text("Ann plays the card at place 3.")
    press(house, page, "Ann plays a card", "8")
    expect(page.locator("#row-asked-skipped")).to_contain_text("Ann's score pile has no card to give.")
    press(house, page, "Ann takes the cards")
    expect(page.locator("#row-pile-s1")).to_contain_text("2 cards")


def test_axe_finds_nothing_while_cards_are_dealt_and_played(house: House, open_page: Opener) -> None:
    who = (("/referee", house.token), ("/seat", house.seat_token("s1")), ("/board", ""))

    def look(scheme: str, *paths: str) -> None:
        for path, token in ((path, token) for path, token in who if path in paths):
            page = open_page(path, token, width=390, height=844, color_scheme=scheme)
            unfold(page)
            assert problems(page) == [], path
            assert too_wide(page) == [], path
            page.close()

    house.order(c.NameOldest(seat="s1"))
    house.order(c.Begin())
    house.order(c.Deal(seat="s1", number=1))
    look("light", "/referee")
    house.order(c.DealAgain(seat="s1"))
    for seat in ("s1", "s2"):
        for number in SET:
            house.order(c.Deal(seat=seat, number=number))
    house.order(c.Play(seat="s1", position=6))
    look("dark", "/seat", "/board")


def test_what_a_seat_may_see_is_read_aloud_to_it(house: House, open_page: Opener) -> None:
    deal(house)
    state = house.desk.snapshot().sitting.game
    own = next(n for n, held in enumerate(state.hands["s2"], 1) if held.faces_owner)
    page = open_page("/seat", house.seat_token("s2"), width=390, height=844)
    page.keyboard.press("1")
    said = page.locator("#said")
    expect(said).to_contain_text(f"{own}: {own}, faces you")
    page.keyboard.press("2")
    expect(said).to_contain_text("Ann's hand, from its owner's left.")
    expect(said).to_contain_text("faces the others")
    house.order(c.Play(seat="s1", position=8))
    expect(page.locator("#answer-skipped")).to_have_text("6Why was this skipped?")
    page.locator("#answer-skipped").click()
    expect(said).to_contain_text("score pile has no card to give")
