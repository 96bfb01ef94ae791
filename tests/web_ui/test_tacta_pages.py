"""The pages of a table of Tacta in each way of playing: played through, drawn from above, told in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_accessibility import problems, too_wide, unfold
from web_house import Guest, House, Opener

from companion.core import command as core
from companion.core.geometry import Pose
from companion.core.seat import Actor, Role
from companion.games.tacta import commands as c
from companion.games.tacta.model import ends_of
from companion.games.tacta.policy import policy
from companion.games.tacta.rulebook import CHOICES

NAMES = ("Ann", "Ben", "Cleo", "Dara")
SENSOR = Actor(Role.SENSOR, name="camera")


def step(house: House, n: int, *, is_seen: bool = True) -> None:
    """One thing that sensible people do; places come from a camera, or nobody measures any."""
    wanted = policy(house.desk.snapshot().sitting, n)
    if wanted is None:
        return
    if isinstance(wanted, c.Begin) and not is_seen:
        wanted = c.Begin()
    actor = SENSOR if isinstance(wanted, c.Lay | c.Begin) else None
    house.order(wanted, actor) if actor else house.order(wanted)


def played(house: House, until: str, most: int, *, is_seen: bool = True) -> None:
    """Play until this phase, or so many cards lie."""
    house.order(core.Resume())
    for n in range(400):
        game = house.desk.snapshot().sitting.game
        if game.phase == until or game.laid >= most:
            return
        step(house, n, is_seen=is_seen)
    raise AssertionError(f"{until} did not come")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Four in the middle of a classic game; the last card lies wrong."""
    made = House(tmp_path, names=NAMES, game_name="tacta", table_width_mm=700, table_height_mm=500)
    played(made, "over", 14)
    sitting = made.desk.snapshot().sitting
    while not ends_of(sitting, sitting.game.turn) or len(sitting.game.ends.get(sitting.game.turn, ())) < 2:
        step(made, 1)
        sitting = made.desk.snapshot().sitting
    last = sitting.game.lying[-1]
    assert last.pose is not None
    card = ends_of(sitting, sitting.game.turn)[0]
    wrong = Pose(last.pose.x_mm + 9.0, last.pose.y_mm + 5.0, last.pose.angle_deg + 7.0)
    made.order(c.Lay(seat=sitting.game.turn, card=card, pose=wrong, u_mm=0.3, u_deg=0.3), SENSOR)
    yield made
    made.close()


def test_all_eyes_see_the_table_and_nothing_fails_for_anyone(house: House, open_page: Opener) -> None:
    turn = house.desk.snapshot().sitting.game.turn
    for path, token in (("/referee", house.token), ("/seat", house.seat_token(turn)), ("/board", "")):
        page = open_page(path, token)
        expect(page.locator("#zone-last")).to_contain_text("breach")
        size = page.evaluate(
            "parseFloat(getComputedStyle(document.querySelector('#zone-last .row-text')).fontSize)"
        )
        assert size >= 20, "the last verdict is read from afar"
        assert page.locator("#drawing .wrong").count() == 1
        expect(page.locator("#drawing")).to_contain_text("✕")
        assert page.locator("#drawing .dim").count() >= 1, "covered dots are dimmed"
        assert page.locator("#drawing polygon").count() > 60
        expect(page.locator("#zone-score")).to_contain_text("dots show")
        for sign, colour in (("●", "blue"), ("▲", "green")):
            expect(page.locator("#zone-score")).to_contain_text(f"{sign} {colour}")
        unfold(page)
        assert problems(page) == [], path
        assert too_wide(page) == [], path
        page.close()


def test_a_seat_asks_what_it_may_play_and_is_guided(house: House, open_page: Opener) -> None:
    sitting = house.desk.snapshot().sitting
    house.order(c.RuleCard(n=sitting.game.laid, is_legal=False))
    for n in range(20):
        sitting = house.desk.snapshot().sitting
        if len(ends_of(sitting, sitting.game.turn)) == 2:
            break
        step(house, n)
    turn = sitting.game.turn
    page = open_page("/seat", house.seat_token(turn), width=390, height=844)
    expect(page.locator(f"#row-plays-{turn}")).to_contain_text("legal placements")
    page.locator("#answer-plays").press("Enter")
    expect(page.locator("#said")).to_contain_text("o'clock")
    expect(page.locator("#said")).to_contain_text("cm from your edge")
    page.get_by_text("Guide me to a play", exact=True).first.click()
    page.locator(f"#do-guide-{turn} select, details:has(#do-guide-{turn}) select").first.select_option(
        index=1
    )
    page.get_by_role("button", name="Guide me to a play").last.click()
    expect(page.locator("#answer-guide")).to_be_visible()
    aim = house.desk.snapshot().sitting.game.guided[turn]
    lies = Pose(aim.pose.x_mm - 30.0, aim.pose.y_mm, aim.pose.angle_deg)
    house.order(c.NoteLaying(seat=turn, flipped=aim.flipped, pose=lies), SENSOR)
    expect(page.locator("#urgent")).to_contain_text("3 cm")
    assert problems(page) == []


@pytest.mark.parametrize("mode", CHOICES["mode"])
def test_every_way_of_playing_is_played_on_the_pages(mode: str, tmp_path: Path) -> None:
    """To the end of a round, each step by the referee's page where it offers one; a match goes on to the next."""
    names = NAMES if mode == "teams" else NAMES[:2]
    made = House(tmp_path, names=names, game_name="tacta", mode=mode, match=mode == "quick", countdown_s=0)
    made.begin()
    boss = Guest(made, made.token)
    played(made, "scoring", 10_000, is_seen=False)
    text = boss.get("/referee").text
    assert "Enter the dots of" in text
    for n, colour in enumerate(dict.fromkeys(made.desk.snapshot().sitting.game.colours.values())):
        made.order(c.EnterDots(colour=colour, dots=7 + n))
    assert "Count the round" in boss.get("/referee").text
    made.order(c.Score())
    game = made.desk.snapshot().sitting.game
    text = boss.get("/referee").text
    if mode in ("limited_space", "quick"):
        assert game.phase == "scored" and "Next round" in text
        made.order(c.NextRound())
        assert "Round 2" in boss.get("/board").text
    else:
        assert game.phase == "over"
        assert "the game" in boss.get("/board").text
    assert sum(game.last.values()) > 0
    made.close()


def test_scoring_names_what_is_taken_away_and_counts_again(tmp_path: Path) -> None:
    """Rule: TACTA-13"""
    made = House(
        tmp_path, names=NAMES[:2], game_name="tacta", mode="quick", table_width_mm=900, table_height_mm=700
    )
    made.begin()
    played(made, "scoring", 10_000)
    before = {card.n: card for card in made.desk.snapshot().sitting.game.lying}
    made.order(c.RuleCard(n=min(n for n in before if n), is_legal=False, is_covered=True))
    text = Guest(made, made.token).get("/referee").text
    assert "Taken away before the count" in text
    assert "lies illegally: it scores nothing" in text
    assert " dots, then " in text
    made.close()
