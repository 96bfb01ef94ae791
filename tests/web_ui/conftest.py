"""A table with its pages for each test, and one Chromium for all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from web_house import House, Opener

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table of three that no referee has claimed yet."""
    made = House(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium that is installed; none is ever fetched. Closed before another module may want its own."""
    if CHROMIUM is None:
        pytest.skip(
            "NO CHROMIUM IS INSTALLED: the pages were not tried in a browser (apt-get install chromium)"
        )
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser, house: House) -> Iterator[Opener]:
    """Opens a page of the claimed and served table as somebody; fails when a page asked a stranger for anything."""
    house.begin()
    base = house.serve()
    contexts: list[Any] = []
    asked: list[str] = []
    troubles: list[str] = []

    def opened(path: str, token: str = "", width: int = 1280, height: int = 900, **more: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        if token:
            context.add_cookies([{"name": house.access.cookie, "value": token, "url": base}])
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"{path}: {error}"))
        page.set_default_timeout(8000)
        page.goto(base + path)
        return page

    opened.troubles = troubles  # type: ignore[attr-defined] # a test that wants an error takes it from here
    yield opened
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith((f"{base}/", "data:"))] == []
    assert troubles == []
