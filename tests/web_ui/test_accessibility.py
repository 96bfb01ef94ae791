"""What a machine can see of accessibility: axe with WCAG 2.2 AA, reflow, target sizes, colour never alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import axe_core_python
import pytest
from playwright.sync_api import Page, expect
from test_browser import play_to_cast
from test_dice import FakeDice
from web_house import House, Opener

from companion.core import command as c
from companion.games.tada import commands as t

AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
STAFF_PAGES = (
    "/referee",
    "/people",
    "/dice",
    "/devices",
    "/journal",
    "/journal/5/correct?way=replace",
    "/evidence/5",
)
LONG = "Wolfeschlegelsteinhausenbergerdorffwelch"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table of six, one with the longest name there may be, in the middle of a cast with all that a page can show."""
    made = House(tmp_path, names=("Ann", "Ben", LONG, "Dee", "Eve", "Flo"))
    play_to_cast(made)
    made.order(t.CallTaDa(seat="s1"))
    made.order(t.Slam(seat="s1"))
    made.order(c.Propose(command=t.FlagBreach(seat="s2"), reading="An elbow left the table", confidence=0.6,
                         evidence=("rest:table/88",)))  # fmt: skip
    made.app.extensions["companion"] = replace(made.app.extensions["companion"], dice=FakeDice())
    yield made
    made.close()


def problems(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})", TAGS
    )
    return [
        f"{v['id']} ({v['impact']}): {v['help']}: {node['target']} {node['failureSummary'][:200]}"
        for v in found["violations"]
        for node in v["nodes"][:3]
    ]


def pages(house: House) -> tuple[tuple[str, str], ...]:
    return (
        *((path, house.token) for path in STAFF_PAGES),
        ("/seat", house.seat_token("s1")),
        ("/board", ""),
        ("/enter", ""),
        ("/nowhere", ""),
    )


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")


def too_wide(page: Page) -> list[str]:
    """What makes a page scroll sideways at 320 px. Rule: WCAG 1.4.10 (1280 px at 400 %)"""
    page.set_viewport_size({"width": 320, "height": 256})
    if page.evaluate("document.documentElement.scrollWidth") <= 320:
        return []
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 321"
        " && e.checkVisibility() && !e.closest('.skip')).map(e => e.outerHTML.slice(0, 120))"
    )
    return found or ["something"]


def test_axe_finds_nothing_on_any_page_and_none_scrolls_sideways(house: House, open_page: Opener) -> None:
    for path, token in pages(house):
        page = open_page(path, token)
        unfold(page)
        assert problems(page) == [], path
        assert too_wide(page) == [], path
        page.close()


def test_axe_finds_nothing_in_the_dark(house: House, open_page: Opener) -> None:
    for path, token in pages(house):
        if path in ("/referee", "/seat", "/board", "/devices"):
            page = open_page(path, token, color_scheme="dark")
            unfold(page)
            assert problems(page) == [], path
            page.close()


def test_axe_finds_nothing_on_a_phone_that_is_stopped_and_under_review(
    house: House, open_page: Opener
) -> None:
    house.order(c.OpenReview(why="who was first"))
    house.order(c.Stop(why="a die fell"))
    for path, token in pages(house)[:1] + pages(house)[6:7]:
        page = open_page(path, token, width=390, height=844, contrast="more")
        assert problems(page) == [], path


def test_targets_are_large_enough_for_a_thumb(house: House, open_page: Opener) -> None:
    """Rule: WCAG 2.5.8, with our own 48 px for the referee and 72 px for what is slammed."""
    for path, token in (("/referee", house.token), ("/seat", house.seat_token("s2"))):
        page = open_page(path, token, width=390, height=844)
        small = page.evaluate(
            "[...document.querySelectorAll('button, summary.button, .chip, select')].filter(e => e.checkVisibility())"
            ".map(e => [e.textContent.trim().slice(0, 30), e.getBoundingClientRect().height])"
            ".filter(([, height]) => height < 44)"
        )
        assert small == [], path
        assert page.locator("#primary").bounding_box()["height"] >= 72  # type: ignore[index] # it is shown


def test_the_main_button_is_under_the_thumb_and_hides_nothing(house: House, open_page: Opener) -> None:
    page = open_page("/referee", house.token, width=390, height=844)
    box = page.locator("#primary").bounding_box()
    assert box is not None
    assert box["y"] > 844 / 2
    page.locator("#keys summary").focus()
    page.locator("#keys summary").scroll_into_view_if_needed()
    focused = page.locator("#keys summary").bounding_box()
    assert focused is not None
    dock = page.locator("#dock").bounding_box()
    assert dock is not None
    assert focused["y"] + focused["height"] <= dock["y"] + 1, "the dock does not cover what has the focus"


def test_a_seat_is_never_told_by_colour_alone(house: House, open_page: Opener) -> None:
    page = open_page("/board")
    badge = page.locator("#zone-seat-s1-title .badge")
    expect(badge).to_contain_text("Ann")
    expect(badge.locator("svg circle")).to_have_count(1)
    expect(badge.locator("svg text")).to_have_text("A")
    assert "red circle" in badge.text_content()
    assert page.locator("#zone-seat-s2-title svg rect").count() == 1


def test_nothing_moves_for_whoever_wants_it_so(house: House, open_page: Opener) -> None:
    page = open_page("/referee", house.token, reduced_motion="reduce")
    moving = page.evaluate(
        "[...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e);"
        " return s.animationName !== 'none' || parseFloat(s.transitionDuration) > 0; }).length"
    )
    assert moving == 0
