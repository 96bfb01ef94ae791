"""The page on which dice are enrolled: who may, what is taken, what it says back, by keyboard and screen reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import pytest
from playwright.sync_api import expect
from test_accessibility import problems, too_wide
from web_house import Guest, House, Opener

from companion.app.enrolling import FaceDesk
from vision.profile import SUFFIX, load_profile
from vision.render.enrolment import enrolment_pictures
from vision.render.liveries import OWNERS
from web_ui.app import create_app
from web_ui.routes import faces

FACES = ("arrow", "spiral")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A table whose dice are kept in a file."""
    made = House(tmp_path)
    desk = FaceDesk(tmp_path / f"tada{SUFFIX}", "tada", None, FACES)
    made.app = create_app(made.desk, made.access, made.health, addresses=lambda: (), face_desk=desk)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Three pictures of two faces of a red die."""
    place = tmp_path_factory.mktemp("shots")
    found: dict[str, list[Path]] = {}
    for face in FACES:
        for n, picture in enumerate(enrolment_pictures(OWNERS["red"], face, shots=3, seed=3)):
            path = place / f"{face}-{n}.jpg"
            cv2.imwrite(str(path), picture)
            found.setdefault(face, []).append(path)
    return found


def send(guest: Guest, face: str, files: list[tuple[bytes, str]], owner: str = "red") -> int:
    import io

    data = {"owner": owner, "face": face, "pictures": [(io.BytesIO(body), name) for body, name in files]}
    return int(guest.post("/dice/faces/add", data=data, content_type="multipart/form-data").status_code)


def test_pictures_become_a_profile_and_the_page_says_what_looks_alike(
    house: House, shots: dict[str, list[Path]], tmp_path: Path
) -> None:
    house.begin()
    boss = Guest(house, house.token)
    for face in FACES:
        assert send(boss, face, [(path.read_bytes(), path.name) for path in shots[face]]) == 303
    profile = load_profile(tmp_path / f"tada{SUFFIX}")
    assert {(s.owner, s.face) for s in profile.samples} == {("red", "arrow"), ("red", "spiral")}
    text = boss.get("/dice/faces?owner=red").text
    assert "look most alike" in text and "3 pictures" in text
    assert boss.get("/dice/faces/red/arrow/0.png").data.startswith(b"\x89PNG")
    assert boss.get("/dice/faces/red/arrow/9.png").status_code == 404
    assert boss.post("/dice/faces/forget", data={"owner": "red", "face": "arrow"}).status_code == 303
    assert {s.face for s in load_profile(tmp_path / f"tada{SUFFIX}").samples} == {"spiral"}


def test_what_is_no_picture_of_a_die_is_named_and_nothing_is_kept(house: House, tmp_path: Path) -> None:
    house.begin()
    boss = Guest(house, house.token)
    empty = cv2.imencode(".png", cv2.merge([cv2.UMat(200, 200, cv2.CV_8U, 90).get()] * 3))[1].tobytes()
    for body, words in ((b"\xff\xd8\xff\xe0", "could be opened"), (empty, "no die found")):
        assert send(boss, "arrow", [(body, "a.jpg")]) == 303
        assert words in boss.get("/dice/faces?owner=red").text
    assert not (tmp_path / f"tada{SUFFIX}").exists()
    assert send(boss, "arrow", []) == 303
    assert "Choose the pictures first" in boss.get("/dice/faces?owner=red").text
    (tmp_path / f"tada{SUFFIX}").write_bytes(b"no profile")
    assert "no dice profile" in boss.get("/dice/faces?owner=red").text
    assert boss.get("/dice/faces/red/arrow/0.png").status_code == 404
    assert send(boss, "a/b", [(empty, "a.png")]) == 400
    assert send(boss, "arrow", [(empty, "a.png")], owner="pink") == 404


def test_only_the_referee_may_send_much(house: House) -> None:
    house.begin()
    big = b"\xff\xd8" + b"x" * 200_000
    assert send(Guest(house, house.token), "arrow", [(big, "a.jpg")]) == 303
    assert send(Guest(house, house.seat_token("s1")), "arrow", [(big, "a.jpg")]) in (403, 413)
    assert send(Guest(house), "arrow", [(big, "a.jpg")]) in (403, 413)
    too_many = [(b"x", f"{n}.jpg") for n in range(faces.MAX_PICTURES + 1)]
    boss = Guest(house, house.token)
    assert send(boss, "arrow", too_many) == 303
    assert "at most 8 pictures" in boss.get("/dice/faces?owner=red").text


def test_a_face_is_shown_with_the_keyboard_alone(
    house: House, open_page: Opener, shots: dict[str, list[Path]]
) -> None:
    page = open_page("/dice/faces?owner=red", house.token)
    assert problems(page) == []
    page.get_by_label("Pictures of arrow").set_input_files([str(path) for path in shots["arrow"]])
    page.get_by_role("button", name="Learn arrow from them").focus()
    page.keyboard.press("Enter")
    said = page.locator("#said")
    expect(said).to_contain_text("3 pictures of arrow are kept", timeout=30_000)
    expect(said).to_be_focused()
    expect(page.get_by_alt_text("arrow, picture 3 as it was cut out")).to_be_visible()
    assert problems(page) == []
    assert too_wide(page) == []
