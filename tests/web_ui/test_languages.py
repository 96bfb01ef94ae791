"""Every sentence of the pages themselves can be translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from web_house import Guest, House

import web_ui.app
from companion.core import command as c
from companion.core.seat import PUBLIC

MAPPING = [("**.py", "python"), ("**/templates/**.html", "jinja2")]


def marked(words: str) -> str:
    """A made-up translation that keeps what is filled in."""
    return f"«{words}»"


@pytest.fixture
def catalogue() -> Catalog:
    """All sentences of the pages, each with a made-up translation."""
    found = Catalog(locale="de")
    here = Path(web_ui.app.__file__).parent
    for _, _, message, _, _ in extract_from_dir(here, MAPPING, keywords={"_": None, "gettext": None}):
        assert isinstance(message, str)
        found.add(message, marked(message))
    return found


@pytest.fixture
def german(catalogue: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A table whose pages have a second language."""
    folder = tmp_path / "translations" / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "messages.mo").open("wb") as out:
        write_mo(out, catalogue)
    monkeypatch.setattr(web_ui.app, "TRANSLATIONS", tmp_path / "translations")
    made = House(tmp_path)
    made.begin()
    yield made
    made.close()


def test_the_pages_speak_the_language_that_a_browser_prefers(german: House) -> None:
    german.order(c.Resume())
    view = german.desk.view(PUBLIC)
    of_the_game = {view.headline, *(zone.title for zone in view.zones)}
    boss, seat = Guest(german, german.token), Guest(german, german.seat_token("s1"))
    for guest, path in ((boss, "/referee"), (boss, "/people"), (boss, "/devices"), (boss, "/journal"),
                        (boss, "/journal/3/correct"), (boss, "/evidence/3"), (seat, "/seat"), (boss, "/board"),
                        (boss, "/enter")):  # fmt: skip
        text = guest.get(path, headers={"Accept-Language": "de"}).text
        assert '<html lang="de">' in text
        assert text.count("«") > 5, path
        for title in re.findall(r"<h[12][^>]*>([^<]+)</h[12]>", text):
            is_ours = "«" in title or title.strip() == ""
            is_of_the_game = title.strip() in of_the_game
            assert is_ours or is_of_the_game, (path, title)
    english = boss.get("/referee", headers={"Accept-Language": "fi"}).text
    assert '<html lang="en">' in english
    assert "«" not in english


def test_there_is_enough_to_translate(catalogue: Catalog) -> None:
    assert len(catalogue) > 120
    assert "Space stops the table at once" in " ".join(str(message.id) for message in catalogue)
