"""TAH WARS in a real browser: a round played by clicks alone, readable on a phone, and read aloud to who asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_accessibility import problems, too_wide, unfold
from web_house import House, Opener, press

from companion.core import command as k
from companion.core.seat import Actor, Role, Viewer
from companion.games.tahwars import commands as c


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table of TAH WARS with two players and no device at all."""
    made = House(tmp_path, names=("Ann", "Ben"), game_name="tahwars")
    made.order(k.Start(boot="b", wall_ms=0), Actor(Role.CLOCK))
    made.order(k.Resume())
    yield made
    made.close()


def order(house: House, *commands: k.Command) -> None:
    for command in commands:
        answer = house.order(command)
        assert answer.is_accepted, (command, answer.ruling)


def placed(house: House) -> None:
    """The map lies, castles stand at measured places, and everybody's D4, D6 and D8 are launched."""
    order(house, c.LayMap(name="delta"))
    for seat, x in (("s1", 80.0), ("s2", 820.0)):
        order(house, c.PlaceCastle(seat=seat, xy_mm=(x, 80.0), heading_deg=45.0, u_mm=1.0))
    order(house, c.ChooseFirst(first="s1"))
    for seat, y in (("s1", 150.0), ("s2", 350.0)):
        for n, kind in enumerate(("d4", "d6", "d8")):
            order(house, c.DropDie(seat=seat, kind=kind, shows=2, xy_mm=(200.0 + 100 * n, y)))


def fighting(house: House) -> None:
    """Phase 4; Ann's D4 was launched as an attacker and touched Ben's tower."""
    placed(house)
    order(house, *(c.DropQuest(seat=s, quest=house.desk.snapshot().sitting.game.line_up[n])
                   for n, s in enumerate(("s1", "s2"))))  # fmt: skip
    for seat in ("s1", "s2"):
        game = house.desk.snapshot().sitting.game
        castle = game.players[seat].castle
        gives = {"mountains": "stone", "neonite": "neonite"}[castle.terrains[0]]
        order(house, c.GatherCastle(seat=seat, resource=gives))
        order(house, *(c.Stay(seat=seat, kind=kind) for kind in ("d4", "d6", "d8")))
    order(house, c.SetCubes(seat="s1", item="wood", value=5), c.Recruit(seat="s1", kind="d100"))
    order(house, c.FinishTrade(seat="s1"), c.FinishTrade(seat="s2"))
    order(house, c.DeclareAttack(seat="s1", dice=("d100",)))


def test_set_up_and_a_launch_are_clicked(house: House, open_page: Opener) -> None:
    page = open_page("/referee", house.token, width=390, height=844)
    head = page.locator("h1").first
    press(house, page, "Map delta")
    expect(page.locator("#drawing title").first).to_be_attached()
    press(house, page, "Ann's castle stands", "forest")
    press(house, page, "Ben's castle stands", "city", "rivers")
    press(house, page, "Ann is first player")
    expect(head).to_contain_text("Ann launches D4, D6 and D8.")
    press(house, page, "Ann launches D4", "3", "mountains")
    expect(head).to_contain_text("Ann launches D6 and D8.")
    expect(page.locator("#row-dice-s1")).to_contain_text("D4 3 on mountains")


def test_the_sum_of_an_attack_is_seen_by_all_as_it_forms(house: House, open_page: Opener) -> None:
    fighting(house)
    seat, crowd = open_page("/seat", house.seat_token("s1")), open_page("/board")
    order(house, c.DropDie(seat="s1", kind="d100", shows=60, terrains=("city",), touched=("s2",)))
    for page in (seat, crowd):
        expect(page.locator("#row-strike-s2")).to_contain_text(
            "D100 6 + attack 1 = 7 against shield 8: no success"
        )
    expect(crowd.locator("#drawing title", has_text="Ann's castle on")).to_be_attached()
    press(house, seat, "Count the attack")
    expect(seat.locator("#notices")).to_contain_text("also after a lost attack")
    expect(crowd.locator("#row-stats-s2")).to_contain_text("shield 9")


def test_axe_finds_nothing_on_a_phone_and_a_seat_that_listens_hears_it_all(
    house: House, open_page: Opener
) -> None:
    fighting(house)
    for path, token in (("/referee", house.token), ("/seat", house.seat_token("s1")), ("/board", "")):
        page = open_page(path, token, width=390, height=844)
        unfold(page)
        assert problems(page) == [], path
        assert too_wide(page) == [], path
    view = house.desk.view(Viewer(Role.SEAT, "s1"))
    told = {answer.id: answer.text for answer in view.answers}
    assert "Still to launch: D100" in told["open"] and "health 5, shield 8" in told["mine"]
    assert "castle on" in told["lying"] and "D20 1 fish" in told["costs"] and "D20 always" in told["remember"]
