"""The page that counts photographs: at a table and without one, by touch, by keyboard, for whoever listens."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect
from test_accessibility import problems, too_wide
from web_house import Guest, House, Opener

from companion.app.photographs import PhotographDesk
from web_ui.alone import address, create_photograph_app
from web_ui.app import create_app
from web_ui.routes import photographs
from web_ui.serve import Server
from web_ui.uploads import KNOWN, MAX_PICTURE, UPLOADS

KEY = "a-key-of-the-test"


@pytest.fixture(scope="module")
def photo() -> bytes:
    """A dark card with three dots on blue and one with two on green."""
    table = np.full((420, 620, 3), (60, 90, 120), np.uint8)
    for x, ink, count in ((60, (200, 100, 30), 3), (340, (60, 160, 90), 2)):
        cv2.rectangle(table, (x, 60), (x + 190, 320), (22, 22, 22), -1)
        cv2.rectangle(table, (x + 15, 78), (x + 175, 120), ink, -1)
        cv2.rectangle(table, (x + 15, 78), (x + 175, 120), (235, 235, 235), 2)
        for n in range(count):
            cv2.circle(table, (x + 40 + 34 * n, 99), 7, (240, 240, 240), -1, cv2.LINE_AA)
    return cv2.imencode(".png", cv2.GaussianBlur(table, (0, 0), 0.8))[1].tobytes()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table at which photographs are counted; the rounds are kept by the desk, as without a table."""
    made = House(tmp_path)
    desk = PhotographDesk(rounds=tmp_path / "rounds.json")
    made.app = create_app(made.desk, made.access, made.health, addresses=lambda: (), photograph_desk=desk)
    yield made
    made.close()


def send(guest: Guest, data: bytes) -> Any:
    fields = {"picture": (io.BytesIO(data), "table.png")} if data else {}
    return guest.post("/photo", data=fields, content_type="multipart/form-data")


def test_players_and_referee_send_photographs_others_do_not(house: House, photo: bytes) -> None:
    house.begin()
    for token in (house.token, house.seat_token("s1")):
        answer = send(Guest(house, token), photo)
        assert answer.status_code == 303 and answer.location.startswith("/photo/")
        page = Guest(house, token).get(answer.location).text
        assert "blue" in page and "3 counted of 3" in page
        assert Guest(house, token).get(f"{answer.location}/picture.jpg").data.startswith(b"\xff\xd8")
    assert send(Guest(house), photo).status_code == 403
    assert Guest(house).get(answer.location).status_code == 403


def test_what_is_no_photograph_is_told_and_too_much_is_not_taken(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert UPLOADS["photographs.count"][1] > MAX_PICTURE
    monkeypatch.setattr(photographs, "MAX_PICTURE", 100_000)
    monkeypatch.setitem(UPLOADS, "photographs.count", (KNOWN, 200_000))  # type: ignore[arg-type]  # a dict it is
    house.begin()
    boss = Guest(house, house.token)
    for data, words in ((b"", "choose a photograph first"), (b"GIF89a", "cannot be read")):
        assert send(boss, data).location == "/photo"
        assert words in boss.get("/photo").text
    assert send(boss, b"\xff\xd8" + b"x" * 100_000).location == "/photo"
    assert "too large" in boss.get("/photo").text
    assert send(boss, b"\xff\xd8" + b"x" * 200_000).status_code == 413
    assert send(Guest(house), b"\xff\xd8" + b"x" * 200_000).status_code in (403, 413)


def test_a_table_where_nothing_is_counted_has_no_such_page(tmp_path: Path) -> None:
    made = House(tmp_path)
    made.begin()
    boss = Guest(made, made.token)
    assert boss.get("/photo").status_code == 404
    assert send(boss, b"x").status_code == 404
    assert "/photo" not in boss.get("/referee").text
    made.close()


def test_dots_are_corrected_without_scripts(house: House, photo: bytes) -> None:
    house.begin()
    boss = Guest(house, house.token)
    place = send(boss, photo).location
    assert boss.post(f"{place}/dot", {"n": "1"}).status_code == 303
    assert "not counted" in boss.get(place).text
    assert boss.post(f"{place}/dot", {"colour": "pink", "x": "30", "y": "40"}).status_code == 303
    assert "1 counted of 1" in boss.get(place).text
    assert boss.post(f"{place}/dot", {"colour": "pink", "x": "a", "y": "40"}).status_code == 303
    assert "could not be read" in boss.get(place).text
    assert boss.post(f"{place}/keep").status_code == 303
    assert "Totals after round 1" in boss.get("/photo").text
    assert boss.post("/photo/drop").status_code == 303
    assert "Totals" not in boss.get("/photo").text
    assert boss.get("/photo/none").status_code == 303


class Alone:
    """The page without a table, served."""

    def __init__(self, folder: Path) -> None:
        self.app = create_photograph_app(PhotographDesk(rounds=folder / "rounds.json"), KEY)
        self.server = Server(self.app)
        self.server.start()
        self.base = f"http://127.0.0.1:{self.server.port}"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Alone]:
    made = Alone(tmp_path)
    yield made
    made.server.stop()


def test_without_the_key_nothing_is_served(alone: Alone) -> None:
    guest = alone.app.test_client()
    where = {"base_url": "http://localhost"}
    assert guest.get("/photo", **where).status_code == 403
    assert guest.get("/k/wrong", **where).status_code == 404
    assert guest.get("/photo", base_url="http://evil.example").status_code == 400
    assert guest.get(f"/k/{KEY}", **where).location == "/photo"
    assert guest.get("/photo", **where).status_code == 200
    assert guest.get("/", **where).location == "/photo"
    assert guest.post("/photo/x/enter", **where).status_code in (400, 404), "there is no table to hand in to"
    foreign = {"Origin": "http://evil.example"}
    assert guest.post("/photo", headers=foreign, **where).status_code in (400, 403)


def counted(page: Page, colour: str) -> Any:
    return page.locator(f"#place-{colour} strong")


def test_a_phone_counts_and_corrects_by_taps_and_by_keys(
    alone: Alone, browser: Browser, photo: bytes, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.set_default_timeout(8000)
    page.goto(address(alone.base, KEY))
    assert page.get_attribute("#snap", "capture") == "environment"
    assert problems(page) == []
    file = tmp_path / "table.png"
    file.write_bytes(photo)
    page.set_input_files("#picture", str(file))
    page.get_by_role("button", name="Count the dots").click()
    expect(counted(page, "blue")).to_have_text("3", timeout=30_000)
    first = page.locator("[data-n]").first
    first.scroll_into_view_if_needed()
    box = first.locator("circle").first.bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(counted(page, "blue")).to_have_text("2")
    page.locator("#which-pink").check()
    page.locator("#sheet").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(counted(page, "pink")).to_have_text("1")
    expect(page.locator("#told")).to_contain_text("pink 1")
    expect(page.locator("#sheet")).to_be_focused()
    page.locator("#larger").click()
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert problems(page) == []
    page.get_by_role("button", name="Count it dot 1 of blue").click()
    expect(counted(page, "blue")).to_have_text("3")
    assert too_wide(page) == []
    page.get_by_role("button", name="Add to the totals").click()
    expect(page.locator("#rounds-title")).to_contain_text("round 1")
    assert problems(page) == []
    assert troubles == []
    context.close()


def test_the_page_at_a_table_is_as_good(
    house: House, open_page: Opener, photo: bytes, tmp_path: Path
) -> None:
    page = open_page("/photo", house.token)
    file = tmp_path / "table.png"
    file.write_bytes(photo)
    page.set_input_files("#picture", str(file))
    page.get_by_role("button", name="Count the dots").click()
    expect(counted(page, "green")).to_have_text("2", timeout=30_000)
    assert problems(page) == []
