"""The page on which a photographed map is painted: by mouse and by keyboard, and never a bad file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect
from test_accessibility import problems, too_wide, unfold

from companion.app.map_desk import MapDesk
from companion.games.tahwars.mapfile import read_map
from companion.games.tahwars.maps import CornerTags, Map, Terrain, TowerSize
from web_ui.alone import address, create_map_app
from web_ui.serve import Server

KEY = "a-key-of-the-test"
LEFT = Terrain(kind="forest", polygon_mm=((0, 0), (200, 0), (200, 300), (0, 300)))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Server, MapDesk]]:
    """A board of 400 x 300 mm whose left half is painted."""
    laid = Map(
        name="mine",
        board_mm=(400, 300),
        terrains=(LEFT,),
        corner_tags=CornerTags(
            ids=(0, 1, 2, 3), centres_mm=((-22, -22), (422, -22), (422, 322), (-22, 322)), side_mm=32
        ),
        tower=TowerSize(side_mm=68, height_mm=150, tag_side_mm=44.8, height_error_mm=3),
    )
    desk = MapDesk(laid, np.full((600, 800, 3), 200, np.uint8), tmp_path / "mine.json", None)
    server = Server(create_map_app(desk, KEY))
    server.start()
    yield server, desk
    server.stop()


@pytest.fixture
def page(served: tuple[Server, MapDesk], browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 900, "height": 900})
    found = context.new_page()
    found.set_default_timeout(8000)
    found.goto(address(f"http://127.0.0.1:{served[0].port}", KEY))
    yield found
    context.close()


def test_areas_are_added_moved_named_and_split_by_keyboard_alone(
    served: tuple[Server, MapDesk], page: Page
) -> None:
    desk = served[1]
    page.locator("#square").press("Enter")
    expect(page.locator("#list button")).to_have_count(2)
    page.locator("#kind").select_option("rivers")
    page.locator("#name").fill("Old river")
    page.locator("#name").press("Tab")
    expect(page.locator("#area-1")).to_have_text("Area 2: rivers Old river")
    corner = page.locator("#corner-1")
    corner.focus()
    corner.press("Shift+ArrowRight")
    corner.press("ArrowUp")
    expect(corner).to_have_attribute("aria-label", "Corner 2 of area 2, at 240, 119 mm")
    page.locator("#corner-0").press("Enter")
    page.locator("#corner-2").press("Enter")
    expect(page.locator("#list button")).to_have_count(3)
    expect(page.locator("#painting")).to_have_attribute("data-version", "6")
    expect(page.locator("#told")).to_have_text("Taken over. It is not kept yet.")
    assert [area.kind for area in desk.shown().areas] == ["forest", "rivers", "rivers"]
    unfold(page)
    assert problems(page) == []


def test_overlapping_areas_are_not_kept_and_the_old_file_stays(
    served: tuple[Server, MapDesk], page: Page
) -> None:
    desk = served[1]
    page.get_by_role("button", name="Keep this map").press("Enter")
    expect(page.locator("#said")).to_contain_text("kept with 1 areas")
    before = desk.path.read_bytes()
    page.locator("#square").press("Enter")
    expect(page.locator("#faults")).to_contain_text("overlap by 1800 square mm")
    page.get_by_role("button", name="Keep this map").press("Enter")
    expect(page.locator("#said")).to_contain_text("The old map is as it was.")
    assert desk.path.read_bytes() == before
    page.locator("#area-1").press("Enter")
    page.locator("#trim").press("Enter")
    expect(page.locator("#faults")).to_have_text("Nothing is wrong with it.")
    page.get_by_role("button", name="Keep this map").press("Enter")
    expect(page.locator("#said")).to_contain_text("kept with 2 areas")
    assert len(read_map(desk.path.read_text(encoding="utf-8")).terrains) == 2


def test_an_area_is_outlined_and_a_corner_dragged_by_mouse(
    served: tuple[Server, MapDesk], page: Page
) -> None:
    desk = served[1]
    page.set_viewport_size({"width": 700, "height": 1000})
    page.locator("#draw").click()

    def at(x: float, y: float) -> tuple[float, float]:
        box = page.locator("#sheet").bounding_box()
        assert box is not None
        return box["x"] + x * box["width"] / 400, box["y"] + y * box["width"] / 400

    for place in ((202, 1), (398, 1), (398, 150), (260, 150)):
        page.mouse.click(*at(*place))
    page.keyboard.press("Enter")
    expect(page.locator("#list button")).to_have_count(2)
    expect(page.locator("#painting")).to_have_attribute("data-version", "1")
    # Near the forest's corner and the board's rim a click goes exactly there.
    assert desk.shown().areas[1].polygon[0] == (200, 0)
    page.mouse.move(*at(*desk.shown().areas[1].polygon[3]))
    page.mouse.down()
    page.mouse.move(*at(230, 170), steps=3)
    page.mouse.up()
    expect(page.locator("#painting")).to_have_attribute("data-version", "2")
    assert desk.shown().areas[1].polygon[3] == pytest.approx((230, 170), abs=0.6)
    page.set_viewport_size({"width": 390, "height": 844})
    assert too_wide(page) == []
