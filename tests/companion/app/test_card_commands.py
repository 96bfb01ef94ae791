"""The commands on cards, and the page on which a deck is photographed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient

from companion.app.card_desk import CardDesk
from companion.app.cli import main
from vision.render.decks import illustrated
from vision.render.laid_card import Sight, seen_card
from web_ui.alone import create_card_app

DECK = 41
KEY = "key-of-the-door"


def png(n: int) -> bytes:
    """A scan of a card."""
    return cv2.imencode(".png", cv2.GaussianBlur(illustrated(DECK, n), (0, 0), 0.8))[1].tobytes()


def run(*words: str | Path) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A deck of three cards that the command enrolled."""
    pictures = tmp_path_factory.mktemp("pictures")
    for n in range(3):
        (pictures / f"card {n}.png").write_bytes(png(n))
    folder = tmp_path_factory.mktemp("decks") / "mine"
    assert run("enrol", "cards", folder, "--from", pictures) == 0
    return folder


def test_a_deck_is_enrolled_from_a_folder_and_reads_photographs(
    deck: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame, quad = seen_card(illustrated(DECK, 1), Sight(height_px=220, turn_deg=25, seed=2))
    cv2.imwrite(str(tmp_path / "seen.png"), frame)
    capsys.readouterr()
    status = run("read-cards", "--deck", deck, "--json", tmp_path / "seen.png", tmp_path / "none.png")
    first, second = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 1, "one picture could not be read"
    assert set(first) == {"image", "cards", "ms"}
    (card,) = first["cards"]
    assert card["name"] == "card 1"
    assert card["angle_deg"] == pytest.approx(25, abs=2)
    assert np.abs(np.array(card["quad_px"]) - quad).max() < 7
    assert card["candidates"][0] == {"name": "card 1", "confidence": card["confidence"]}
    assert set(second) == {"image", "error"}
    assert run("read-cards", "--deck", deck, tmp_path / "seen.png", "--picture", tmp_path / "drawn.png") == 0
    assert "card 1" in capsys.readouterr().out
    assert (tmp_path / "drawn.png").stat().st_size > 10_000
    seen = (tmp_path / "seen.png", tmp_path / "seen.png")
    assert run("read-cards", "--deck", deck, *seen, "--picture", tmp_path / "all") == 0
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"seen.png", "seen-2.png"}
    assert run("read-cards", "--deck", deck, seen[0], "--picture", tmp_path / "drawn.txt") != 0
    assert "drawn.txt" in capsys.readouterr().err


def test_what_is_asked_wrongly_is_said_in_one_line(
    deck: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ("enrol", "cards", tmp_path / "new"),
        ("enrol", "cards", "no/../such name?", "--from", tmp_path / "nowhere"),
        ("enrol", "cards", tmp_path / "new", "--from", tmp_path),
        ("read-cards", "--deck", tmp_path / "nowhere", "x.png"),
        ("read-cards", "--deck", tmp_path, "x.png"),
    ):
        capsys.readouterr()
        assert run(*words) == 2, words
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.fixture
def page(deck: Path) -> Iterator[FlaskClient]:
    """The page over that deck, opened by its key."""
    app = create_card_app(CardDesk(deck), KEY)
    app.config["WTF_CSRF_ENABLED"] = False
    client = app.test_client()
    assert client.get(f"/k/{KEY}").status_code == 303
    yield client


def test_the_page_learns_shows_and_forgets_a_card(page: FlaskClient, deck: Path) -> None:
    sent = {"name": "card 3", "picture": (io.BytesIO(png(3)), "phone.png")}
    assert page.post("/cards/add", data=sent).status_code == 303
    text = page.get("/cards").text
    assert "The card is learnt." in text
    assert "card 3" in text
    assert page.get("/cards/card 3.jpg").mimetype == "image/jpeg"
    assert (deck / "card 3.png").is_file()
    twin = {"name": "twin", "picture": (io.BytesIO(png(3)), "phone.png")}
    page.post("/cards/add", data=twin)
    assert "Too much alike:" in page.get("/cards").text
    for name in ("twin", "card 3"):
        page.post("/cards/forget", data={"name": name})
    assert not (deck / "card 3.png").exists()
    assert page.get("/cards/card 3.jpg").status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("x", b"no picture", "not a JPEG"),
        ("../x", png(4), "cannot be called"),
        ("x", b"", "the file is empty"),
    ],
)
def test_what_cannot_be_learnt_is_told(page: FlaskClient, name: str, data: bytes, told: str) -> None:
    page.post("/cards/add", data={"name": name, "picture": (io.BytesIO(data), "phone.png")})
    assert told in page.get("/cards").text


def test_nobody_comes_in_without_the_key(deck: Path) -> None:
    client = create_card_app(CardDesk(deck), KEY).test_client()
    assert client.get("/cards").status_code == 403
    assert client.post("/cards/add").status_code in (400, 403)
