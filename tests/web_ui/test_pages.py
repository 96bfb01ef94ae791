"""Pages and forms without a browser: what they refuse, what they hide, and that a press counts once."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from web_house import Guest, House

from companion.core import command as c
from companion.core.seat import Role, Viewer
from companion.games.tada import commands as t
from companion.runtime.journal import JournalError

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "</p><svg/onload=alert(1)>",
    "{{7*7}}${7*7}",
    "javascript:alert(1)",
    "&lt;b&gt;",
    "=cmd|'/c calc'!A0",
)
PAGES = ("/referee", "/people", "/devices", "/journal", "/journal/3/correct", "/evidence/3", "/board")


def test_a_command_counts_once_however_often_it_is_sent(house: House) -> None:
    house.begin()
    boss = Guest(house, house.token)
    first = boss.command({"do": "Resume"}, key="k1").get_json()
    assert first["accepted"] is True
    assert first["entry"] == first["version"]
    again = boss.command({"do": "Resume"}, key="k1").get_json()
    assert again == first
    other = boss.command({"do": "Resume"}, key="k2").get_json()
    assert other["accepted"] is False
    assert other["ruling"]["rule"] == "TABLE-2"


def test_two_referees_do_not_share_keys(house: House) -> None:
    house.begin()
    one, two = Guest(house, house.token), Guest(house, house.referee_token())
    assert one.command({"do": "Resume"}, key="same").get_json()["accepted"] is True
    assert two.command({"do": "Resume"}, key="same").get_json()["accepted"] is False


def test_a_press_on_an_old_page_does_not_skip_a_step(house: House) -> None:
    house.begin()
    house.order(c.Resume())
    seen = house.desk.snapshot().version
    house.order(t.Deal())
    house.order(t.RevealFeat())
    house.order(c.Undo())
    late = Guest(house, house.token).command({"do": "Undo"}, expected=seen).get_json()
    assert late["accepted"] is False
    assert late["ruling"]["rule"] == "TABLE-11"


@pytest.mark.parametrize(
    "path", ["/command", "/enter", "/leave", "/people/code", "/people/revoke", "/journal/2/preview"]
)
def test_without_its_token_nothing_is_changed(house: House, path: str) -> None:
    house.begin()
    before = house.desk.snapshot().version, house.access.passes.holders()
    client = house.app.test_client()
    client.set_cookie(house.access.cookie, house.token)
    answer = client.post(path, data={"command": '{"do":"Resume"}'}, headers={"Accept": "application/json"})
    assert answer.status_code == 400
    assert answer.get_json()["reload"] is True
    assert (house.desk.snapshot().version, house.access.passes.holders()) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://localhost"},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://localhost:81"},
    ],
)  # fmt: skip
def test_a_foreign_page_changes_nothing_even_with_a_token(house: House, headers: dict[str, str]) -> None:
    house.begin()
    before = house.desk.snapshot().version
    boss = Guest(house, house.token)
    assert boss.command({"do": "Resume"}, **headers).status_code == 403
    assert house.desk.snapshot().version == before
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert boss.command({"do": "Resume"}, **own).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"command": 3}',
        b'{"command": {"do": "Fly"}}',
        b'{"command": {"do": "Deal", "x": 1}}',
        b"\xff",
    ],
)
def test_nonsense_is_told_in_one_line(house: House, body: bytes) -> None:
    house.begin()
    answer = Guest(house, house.token).post("/command", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert "\n" not in answer.get_json()["error"].strip()


def test_too_much_is_refused(house: House) -> None:
    house.begin()
    answer = Guest(house, house.token).post("/command", data=b"x" * 100_000, content_type="application/json")
    assert answer.status_code == 413


def test_wrong_codes_are_slowed_down_and_right_ones_are_not(house: House) -> None:
    house.begin()
    passes = house.access.passes
    stranger = Guest(house)
    for n in range(10):
        assert stranger.post("/enter", {"code": f"AAAAA{n + 2}"}).status_code == 422
    assert stranger.post("/enter", {"code": "AAAAAA"}).status_code == 429
    assert stranger.get("/enter?code=BBBBBB").status_code == 429
    code = passes.code(Viewer(Role.SEAT, "s1"))
    assert Guest(house).post("/enter", {"code": code}).status_code == 429, "the address is what counts"
    elsewhere = Guest(house, remote="192.168.7.9", host="192.168.7.5")
    assert elsewhere.post("/enter", {"code": code}).status_code == 303


def test_another_cookie_does_not_buy_more_tries(house: House) -> None:
    house.begin()
    found = [
        Guest(house, token=f"made-up-{n}").post("/enter", {"code": "AAAAAA"}).status_code for n in range(12)
    ]
    assert found[-1] == 429


def test_a_qr_code_only_asks(house: House) -> None:
    house.begin()
    code = house.access.passes.code(Viewer(Role.SEAT, "s2"))
    phone = Guest(house)
    asked = phone.get(f"/enter?code={code}")
    assert "Ben" in asked.text
    assert phone.get("/seat").status_code == 403
    assert phone.post("/enter", {"code": code}).location == "/seat"
    assert phone.get("/seat").status_code == 200
    assert phone.get("/referee").status_code == 403


def test_the_sheet_shows_codes_and_sends_browsers_away(house: House) -> None:
    house.begin()
    boss = Guest(house, house.token)
    sheet = boss.get("/people").text
    assert sheet.count("<svg") >= 4
    assert "http://192.168.7.5" in sheet
    token = house.seat_token("s1")
    seat = Guest(house, token)
    assert seat.get("/seat").status_code == 200
    holder = house.access.passes.holder(token)
    assert holder is not None
    assert boss.post("/people/revoke", {"holder": holder.id}).status_code == 303
    assert seat.get("/seat").status_code == 403
    mine = house.access.passes.holder(house.token)
    assert mine is not None
    assert boss.post("/people/revoke", {"holder": mine.id}).status_code == 400
    assert boss.post("/people/code", {"seat": "s9"}).status_code == 404


def test_leaving(house: House) -> None:
    house.begin()
    seat = Guest(house, house.seat_token("s1"))
    assert seat.post("/leave").status_code == 303
    assert seat.get("/seat").status_code == 403


def test_cookies_and_headers(house: House) -> None:
    house.begin()
    guest = Guest(house)
    answer = guest.post("/enter", {"code": house.access.passes.renew(Viewer(Role.SEAT, "s1"))})
    cookie = next(v for k, v in answer.headers if k == "Set-Cookie" and v.startswith(house.access.cookie))
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    for path in ("/seat", "/board", "/enter", "/nowhere"):
        headers = guest.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert "Permissions-Policy" in headers
        assert headers["Cache-Control"] == "no-store"
    assert guest.get("/nowhere").status_code == 404


def test_there_is_nothing_inline_on_any_page(house: House) -> None:
    house.begin()
    boss = Guest(house, house.token)
    for path in (*PAGES[:-3], "/board", "/enter"):
        text = boss.get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), path
        assert not re.search(r"\son\w+=|\sstyle=|javascript:", text), path
        assert not re.search(r"(src|href)=[\"'](https?:)?//", text.replace("http://192.168.7.5", "")), path


def test_static_files_are_kept_for_ever_under_their_own_address(house: House) -> None:
    house.begin()
    guest = Guest(house)
    address = re.search(r'href="(/static/[^"]+page\.css)"', guest.get("/enter").text)
    assert address is not None
    assert "immutable" in guest.get(address[1]).headers["Cache-Control"]
    assert guest.get("/static/other/page.css").headers["Cache-Control"] == "no-store"
    assert guest.get("/static/other/../app.py").status_code in (400, 404)
    assert guest.get("/static/other/%2e%2e/app.py").status_code in (400, 404)


def test_hostile_names_are_only_words(tmp_path: Any) -> None:
    names = HOSTILE[:6]
    house = House(tmp_path, names=names)
    try:
        house.begin()
        house.order(c.Resume())
        house.order(c.Stop(why=HOSTILE[1]))
        house.order(
            c.Propose(command=c.Leave(seat="s1"), reading=HOSTILE[0], confidence=0.5, evidence=(HOSTILE[1],))
        )
        boss = Guest(house, house.token)
        seat = Guest(house, house.seat_token("s1"))
        answers = [boss.get(path) for path in PAGES] + [seat.get("/seat")]
        answers.append(boss.post("/journal/3/preview", {"way": "void", "why": HOSTILE[1]}))
        assert all(a.status_code == 200 for a in answers), [a.status_code for a in answers]
        for answer in answers:
            text = re.sub(r"<script type=\"module\"[^>]*></script>", "", answer.text)
            assert "<script" not in text
            assert "<img src=x" not in text
            assert "<svg/onload" not in text
            assert ">49" not in text
        assert "&lt;script&gt;alert(1)" in boss.get("/board").text
    finally:
        house.close()


def test_a_page_works_as_plain_html(house: House) -> None:
    """No script: the form on the page is posted as it stands, and its answer is the page again."""
    house.begin()
    boss = Guest(house, house.token)
    page = boss.get("/referee").text
    form = re.search(r'<form method="post" action="/command"[^>]*id="primary-form".*?</form>', page, re.S)
    assert form is not None
    inputs = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0]))
    filled = {name: value.replace("&#34;", '"') for name, value in inputs.items()}
    assert json.loads(filled["command"]) == {"do": "Resume"}
    client = boss._client
    answer = client.post("/command", data=filled, base_url="http://localhost")
    assert (answer.status_code, answer.location) == (303, "/referee")
    assert house.desk.snapshot().sitting.stopped_at_ns is None
    answer = client.post("/command", data=filled, base_url="http://localhost", follow_redirects=True)
    assert "The table is not stopped." in answer.text


def test_evidence_is_the_referees_until_it_is_released(house: House) -> None:
    house.begin()
    boss, seat, all_ = Guest(house, house.token), Guest(house, house.seat_token("s1")), Guest(house)
    for path in ("/evidence/2", "/evidence/2/e2-0.jpg"):
        assert boss.get(path).status_code == 200
        assert seat.get(path).status_code == 404
        assert all_.get(path).status_code == 404
    house.order(c.ReleaseEvidence(entry=2))
    assert seat.get("/evidence/2/e2-0.jpg").mimetype == "image/jpeg"
    assert all_.get("/evidence/2").status_code == 200
    assert all_.get("/evidence/3/e3-0.jpg").status_code == 404
    assert boss.get("/evidence/2/other.jpg").status_code == 404
    assert seat.get("/devices/camera/table.jpg").status_code == 403


def test_a_correction_is_previewed_then_done(house: House) -> None:
    house.begin()
    house.order(c.Resume())
    deal = house.order(t.Deal()).entry
    feat = house.order(t.RevealFeat()).entry
    boss = Guest(house, house.token)
    assert boss.post(f"/journal/{deal}/preview", {"way": "void", "why": ""}).status_code == 400
    before = house.desk.snapshot().version
    preview = boss.post(f"/journal/{deal}/preview", {"way": "void", "why": "not dealt yet"})
    assert "These later entries lose their effect" in preview.text
    assert house.desk.snapshot().version == before, "a preview changes nothing"
    command = re.search(r'name="command" value="([^"]+)"', preview.text)
    assert command is not None
    body = json.loads(command[1].replace("&#34;", '"'))
    assert body == {"do": "Void", "entry": deal, "why": "not dealt yet", "orphans": [feat]}
    assert boss.command(body).get_json()["accepted"] is True
    assert house.desk.snapshot().sitting.game.phase == "draw"
    journal = boss.get("/journal").text
    assert "not dealt yet" in journal
    assert journal.count("Taken back: it does not count.") == 1


def test_something_else_happened(house: House) -> None:
    house.begin()
    house.order(c.Resume())
    house.order(t.Deal())
    house.order(t.RevealFeat())
    hand = house.desk.snapshot().sitting.game.hands["s1"]
    chosen = house.order(t.ChooseSpell(seat="s1", spell=hand[0])).entry
    boss = Guest(house, house.token)
    page = boss.get(f"/journal/{chosen}/correct?way=replace").text
    assert 'name="choice:seat"' in page
    assert hand[0] in page
    preview = boss.post(
        f"/journal/{chosen}/preview",
        {
            "way": "replace",
            "why": "the other card",
            "do": "ChooseSpell",
            "choice:seat": '"s1"',
            "text:spell": hand[1],
        },
    )
    command = re.search(r'name="command" value="([^"]+)"', preview.text)
    assert command is not None
    body = json.loads(command[1].replace("&#34;", '"'))
    assert boss.command(body).get_json()["accepted"] is True
    assert house.desk.snapshot().sitting.game.chosen["s1"] == hand[1]


def test_the_journal_is_downloaded_whole(house: House) -> None:
    house.begin()
    house.order(c.Resume())
    answer = Guest(house, house.token).get("/journal/export.jsonl")
    lines = answer.data.splitlines()
    assert answer.headers["X-Journal-Head"] == house.desk.snapshot().head
    assert [house.desk.codec.entry(line) for line in lines] == list(house.desk.entries())


def test_a_seat_page_holds_no_secret_of_another(house: House) -> None:
    house.begin()
    for command in (c.Resume(), t.Deal(), t.RevealFeat()):
        house.order(command)
    sitting = house.desk.snapshot().sitting
    deck = house.deck.spells()
    own = {deck[card].name for card in sitting.game.hands["s1"]}
    others = {deck[card].name for s in ("s2", "s3") for card in sitting.game.hands[s]} - own
    text = Guest(house, house.seat_token("s1")).get("/seat").text.replace("&#39;", "'")
    assert all(name in text for name in own)
    assert not any(name in text for name in others)
    board = Guest(house).get("/board").text.replace("&#39;", "'")
    assert not any(name in board for name in own | others)


def test_the_public_sees_that_a_ruling_is_under_review(house: House) -> None:
    house.begin()
    for command in (c.Resume(), t.Deal(), c.OpenReview(why="who was first"), t.RevealFeat()):
        house.order(command)
    board, referee = Guest(house).get("/board").text, Guest(house, house.token).get("/referee").text
    assert 'id="is-held"' in board
    assert "who was first" in board
    feat = house.deck.feats()[house.desk.snapshot().sitting.game.feat].name
    assert feat in referee.replace("&#39;", "'")
    assert feat not in board.replace("&#39;", "'"), "what was decided meanwhile is not shown yet"
    house.order(c.CloseReview())
    assert feat in Guest(house).get("/board").text.replace("&#39;", "'")


def test_a_disk_that_refuses_is_told_and_nothing_is_changed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.begin()
    boss = Guest(house, house.token)

    def full(payloads: object) -> str:
        raise JournalError("the disk is full; free some room")

    with monkeypatch.context() as broken:
        broken.setattr(house.opening.journal, "append", full)
        answer = boss.command({"do": "Resume"}, key="k")
        assert answer.status_code == 503
        assert "the disk is full" in answer.get_json()["error"]
        page = boss.get("/referee").text
        assert 'id="is-faulty"' in page
        assert "the disk is full" in page
    assert boss.command({"do": "Resume"}, key="k").get_json()["accepted"] is True
    assert 'id="is-faulty"' not in boss.get("/referee").text
