"""Pages that are pads, in a real browser at a running table; and the devices page on which seats get their pads."""

from __future__ import annotations

import base64
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from test_accessibility import problems, too_wide

from companion.app.settings import Settings, game_named, shipped_data
from companion.app.wiring import RunningTable
from companion.core import command as c
from companion.core.cue import Cue
from companion.core.observation import Pressed
from companion.core.seat import REFEREE, Actor, Role, Viewer, seat_at
from firmware_bridge.fake_device import FakePad
from web_ui.health import battery_grade, signal_grade

PATIENCE_S = 10.0
expect.set_options(timeout=PATIENCE_S * 1000)
BOSS = Actor(Role.REFEREE, name="test")
Opened = Callable[..., Page]


class Place:
    """A running table of three with two pads on lines, one of them nobody's."""

    def __init__(self, folder: Path) -> None:
        self.mine, self.spare = FakePad.on_pty("pad-a"), FakePad.on_pty("pad-b")
        self.mine.start()
        self.spare.start()
        game = game_named("tada")
        settings = Settings(
            game="tada",
            seats=(seat_at(1, "Ann", "pad-a"), seat_at(2, "Ben"), seat_at(3, "Cleo")),
            options={},
            data=shipped_data(game),
            journal=folder / "t.sqlite",
            seed=3,
            port=0,
            book=folder / "pads.json",
            serial=(self.mine.port, self.spare.port),
        )
        self.table = RunningTable(settings)
        self.table.start()
        code = self.table.access.first_code()
        assert code is not None
        self.boss = self.enter(code)

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.table.server.port

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.table.server.port}"

    def enter(self, code: str) -> str:
        made = self.table.access.passes.redeem(code, ["s1", "s2", "s3"], "Chrome Android")
        assert made is not None
        return made[1]

    def seat_token(self, seat: str) -> str:
        return self.enter(self.table.access.passes.renew(Viewer(Role.SEAT, seat)))

    def order(self, command: c.Command) -> None:
        answer = self.table.loop.submit(command, BOSS, os.urandom(8).hex()).result(PATIENCE_S)
        assert answer.is_accepted, answer

    def seats(self) -> dict[str, tuple[str, int]]:
        return {seat.id: (seat.device, seat.input) for seat in self.table.seats}

    def presses(self, kind: str) -> list[Pressed]:
        """Presses of pages of a kind that the table took for the proof of a seat's pad, as journalled."""
        seen = (each for entry in self.table.loop.entries() for each in entry.seen)
        return [each for each in seen if isinstance(each, Pressed) and each.source.startswith(f"{kind}-")]

    def close(self) -> None:
        self.table.stop()
        self.mine.stop()
        self.spare.stop()


def until(is_so: Callable[[], object], what: str) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends, f"waited in vain for {what}"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("place"))
    yield made
    made.close()


@pytest.fixture
def opened(browser: Browser, place: Place) -> Iterator[Opened]:
    """Opens a page as somebody; fails when a page broke or asked a stranger for anything."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_(path: str, token: str = "", **more: Any) -> Page:
        context = browser.new_context(viewport={"width": 390, "height": 844}, **more)
        contexts.append(context)
        if token:
            context.add_cookies([{"name": place.table.access.cookie, "value": token, "url": place.base}])
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{path}: {error}"))
        page.on("console", lambda said: wrong.append(said.text) if "Security Policy" in said.text else None)
        page.set_default_timeout(8000)
        page.goto(place.base + path)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


def phone_of(place: Place, opened: Opened, seat: str, **more: Any) -> Page:
    page = opened("/pad", place.seat_token(seat), has_touch=True, **more)
    expect(page.locator("body")).to_have_attribute("data-connection", "open")
    device = page.evaluate("document.body.dataset.device")
    if place.seats()[seat] != (device, 0):
        place.order(c.AssignPad(seat=seat, device=device))
    for id, words in (("pad-whose", "is the pad of"), ("pad-state", "known to ±")):
        page.wait_for_function(
            "([id, words]) => document.getElementById(id).textContent.includes(words)", arg=[id, words]
        )
    return page


def test_a_phone_comes_by_its_code_and_asks_to_be_the_pad_of_its_seat(place: Place, opened: Opened) -> None:
    sheet = opened("/people?for=pad", place.boss)
    expect(sheet.locator(".qr").first).to_be_visible()
    code = place.table.access.passes.renew(Viewer(Role.SEAT, "s2"))
    page = opened(f"/enter?code={code}&to=pad", has_touch=True)
    page.get_by_role("button", name="Yes, come in").click()
    page.wait_for_url("**/pad")
    expect(page.locator("#pad-whose")).to_contain_text("nobody’s pad")
    page.locator("#pad-ask").click()
    expect(page.locator("#pad-whose")).to_contain_text("The referee was asked")
    (asked,) = place.table.loop.snapshot().sitting.proposals
    assert "Ben wants to slam with this phone" in asked.reading
    referee = opened("/referee", place.boss)
    expect(referee.locator(f"#proposal-{asked.id}-does")).to_contain_text(
        "Assign pad: seat B Ben; device phone-"
    )
    place.order(c.Confirm(proposal=asked.id))
    expect(page.locator("#pad-whose")).to_contain_text("This phone is the pad of Ben.")
    assert place.seats()["s2"][0] == page.evaluate("document.body.dataset.device")
    page.locator("#slam").tap()
    until(lambda: "s2" in place.table.loop.snapshot().sitting.proven, "the press that proves the phone")
    (press,) = place.presses("phone")
    assert press.uncertainty_ns > 16_000_000
    note = place.table.loop.snapshot().sitting.pad(press.source)
    assert note is not None
    assert not note.is_fit


def pressed(page: Page) -> int:
    """How many presses the page says it had."""
    words = page.locator("#pad-said").inner_text()
    return int(words.strip(".").rpartition(" ")[2]) if words else 0


def test_a_quick_second_press_counts_though_the_page_was_busy(place: Place, opened: Opened) -> None:
    page = phone_of(place, opened, "s2")
    page.evaluate(
        """() => {
            const key = (type, code) => document.getElementById("slam").dispatchEvent(
                new KeyboardEvent(type, { code, key: code, bubbles: true, cancelable: true }));
            const busy = (ms) => { for (const ends = performance.now() + ms; performance.now() < ends;); };
            for (const code of ["Enter", "KeyX", "KeyY"]) {
                key("keydown", code);
                key("keyup", code);
                key("keydown", code); // a contact that bounces
                key("keyup", code);
                busy(40); // no timer fires
            }
        }"""
    )
    expect(page.locator("#pad-said")).to_have_text("Pressed, 3.")
    device = page.evaluate("document.body.dataset.device")
    until(
        lambda: any(d.id == device and d.lost == 0 and not d.closed for d in place.table.bridge.devices()),
        "all of it is let go",
    )


def test_every_way_to_press_counts_once(place: Place, opened: Opened) -> None:
    page = phone_of(place, opened, "s2")
    button = page.locator("#slam")
    button.tap()
    expect(page.locator("#pad-said")).to_have_text("Pressed, 1.")
    button.click()
    expect(page.locator("#pad-said")).to_have_text("Pressed, 2.")
    button.focus()
    for number, key in enumerate((" ", "Enter", "x"), start=3):
        page.wait_for_timeout(50)  # more than contacts bounce
        page.keyboard.press(key)
        expect(page.locator("#pad-said")).to_have_text(f"Pressed, {number}.")
    page.wait_for_timeout(1100)
    button.evaluate("button => button.click()")  # as a screen reader or a switch does
    expect(page.locator("#pad-said")).to_have_text("Pressed, 6.")
    page.wait_for_timeout(200)
    assert pressed(page) == 6
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "slam", "the keyboard is not caught in it"
    device = page.evaluate("document.body.dataset.device")
    until(
        lambda: any(d.id == device and d.lost == 0 and not d.closed for d in place.table.bridge.devices()),
        "all of it is let go",
    )


def test_a_busy_page_stamps_the_finger_and_not_its_own_delay(place: Place, opened: Opened) -> None:
    page = phone_of(place, opened, "s3")
    box = page.locator("#slam").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.evaluate(
        "setTimeout(() => { const t = performance.now(); while (performance.now() - t < 500); window.over = 1; }, 30)"
    )
    page.wait_for_timeout(60)
    page.mouse.down()  # returns when the page has dealt with it
    heard_ns = place.table.loop.now_ns()
    assert page.evaluate("window.over") == 1
    until(lambda: "s3" in place.table.loop.snapshot().sitting.proven, "the press")
    press = place.presses("phone")[-1]
    assert press.seen_ns + press.uncertainty_ns < heard_ns - 100_000_000
    page.mouse.up()


def test_what_the_table_plays_is_shown_in_light_and_words(place: Place, opened: Opened) -> None:
    page = phone_of(place, opened, "s2")
    place.table.loop.say(Cue(target="all", pattern="go", text="GO!", pads=("s2",)))
    expect(page.locator("#slam")).to_have_class("slam is-lit")
    expect(page.locator("#slam-sign")).to_have_text("GO!")
    expect(page.locator("#pad-urgent")).to_have_text("GO!")
    expect(page.locator("#slam")).to_have_class("slam")
    page.evaluate(
        "window.seen = []; new MutationObserver(() => window.seen.push(document.getElementById('slam')"
        ".classList.contains('is-lit'))).observe(document.getElementById('slam'), {attributeFilter: ['class']})"
    )
    place.table.loop.say(Cue(target="all", pattern="place_2", text="Ben is second.", pads=("s2",)))
    expect(page.locator("#slam-sign")).to_have_text("Second")
    until(lambda: page.evaluate("window.seen.filter(lit => lit).length >= 2"), "two flashes")


def test_light_is_steady_for_whoever_wants_no_motion(place: Place, opened: Opened) -> None:
    page = phone_of(place, opened, "s2", reduced_motion="reduce")
    page.evaluate(
        "window.changes = 0; new MutationObserver(() => { window.changes += 1; })"
        ".observe(document.getElementById('slam'), {attributeFilter: ['class']})"
    )
    place.table.loop.say(Cue(target="all", pattern="stop", text="Stop", pads=("s2",)))
    expect(page.locator("#slam")).to_have_class("slam is-lit")
    expect(page.locator("#slam")).to_have_class("slam")
    assert page.evaluate("window.changes") == 2


def test_a_pad_in_another_window_takes_over_and_a_browser_that_is_sent_away_ends(
    place: Place, opened: Opened
) -> None:
    page = phone_of(place, opened, "s2")
    other = page.context.new_page()
    other.goto(place.base + "/pad")
    expect(other.locator("body")).to_have_attribute("data-connection", "open")
    expect(page.locator("body")).to_have_attribute("data-connection", "elsewhere")
    holder = next(
        h
        for h in place.table.access.passes.holders()
        if page.evaluate("document.body.dataset.device").endswith(h.id)
    )
    place.table.access.passes.revoke(holder.id)
    expect(other.locator("body")).to_have_attribute("data-connection", "away")
    expect(other.locator("#pad-state")).to_contain_text("sent away")


def test_keys_are_learnt_by_pressing_them_and_read_while_the_page_has_the_focus(
    place: Place, opened: Opened
) -> None:
    page = opened("/keys", place.boss)
    said = page.locator("#keys-said")
    expect(page.locator("#now-s1")).to_have_text("pad pad-a")
    for seat, key in (("s2", "f"), ("s3", "Enter")):
        page.locator(f"[data-learn={seat}]").click()
        expect(said).to_contain_text("Escape cancels")
        page.keyboard.press(key)
        expect(said).to_contain_text("slams with the key")
    expect(page.locator("#now-s2")).to_have_text("key F")
    device = page.evaluate("document.body.dataset.device")
    assert place.seats()["s2"] == (device, 0)
    assert place.seats()["s3"] == (device, 1)
    expect(page.locator("#keys-state")).to_contain_text("known to ±")
    before = len(place.presses("keys"))
    page.keyboard.press("f")
    expect(said).to_have_text("F: Ben, press 1.")
    page.keyboard.press("Enter")
    expect(said).to_have_text("Enter: Cleo, press 2.")
    until(lambda: len(place.presses("keys")) == before + 2, "both seats proven by their keys")
    page.keyboard.press("q")
    expect(said).to_contain_text("Q is nobody’s key")
    page.locator("[data-learn=s2]").click()
    page.keyboard.press("Escape")
    expect(said).to_have_text("No key was learnt.")
    page.locator("[data-learn=s2]").click()
    page.keyboard.press("Enter")
    expect(said).to_contain_text("That pad is Cleo's.")
    page.reload()
    expect(page.locator("#now-s3")).to_have_text("key Enter")
    page.locator("[data-drop=s3]").click()
    expect(page.locator("#now-s3")).to_contain_text("the referee clicks")
    assert place.seats()["s3"] == ("", 0)
    page.evaluate("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
    expect(page.locator("#keys-state")).to_contain_text("Keys are not read")
    until(
        lambda: any(d.id == device and d.state == "lost" for d in place.table.bridge.devices()),
        "the deaf pad",
    )


def test_a_game_controller_is_a_buzzer_too(place: Place, opened: Opened) -> None:
    page = opened("/keys", place.boss)
    page.evaluate(
        """() => {
          const button = { pressed: false };
          const controller = { buttons: [{ pressed: false }, button], timestamp: 0 };
          navigator.getGamepads = () => [null, controller];
          window.squeeze = (isDown) => { button.pressed = isDown; controller.timestamp = performance.now(); };
          window.dispatchEvent(new Event("gamepadconnected"));
        }"""
    )
    page.locator("[data-learn=s3]").click()
    page.evaluate("squeeze(true)")
    expect(page.locator("#keys-said")).to_have_text(
        "Cleo slams with the key controller 2 button 2 from now on."
    )
    page.evaluate("squeeze(false)")
    expect(page.locator("#keys-state")).to_contain_text("known to ±")
    page.wait_for_timeout(50)
    page.evaluate("squeeze(true)")
    expect(page.locator("#keys-said")).to_have_text("controller 2 button 2: Cleo, press 1.")
    page.evaluate("squeeze(false)")


def test_a_pad_on_a_cable_gets_its_key_on_the_devices_page(place: Place, opened: Opened) -> None:
    page = opened("/devices", place.boss)
    page.locator("#pair-pad-a").click()
    expect(page.locator(".banner").first).to_contain_text("pad-a has its own key now")
    expect(page.locator("#device-pad-a")).to_contain_text("has a key of its own")
    assert place.mine.key is not None
    assert place.table.pads.pair("pad-z") == "pad-z was not paired: no pad-z is heard"
    expect(page.locator("#pair-pad-b")).to_have_text("Pair for the radio pad-b")
    assert place.mine.key.hex() not in page.content()


def test_a_spare_replaces_a_pad_in_two_presses(place: Place, opened: Opened) -> None:
    page = opened("/devices", place.boss)
    place.order(c.AssignPad(seat="s1", device="pad-a"))
    expect(page.locator("#seat-pad-s1")).to_contain_text("pad-a")
    page.locator("#expect-s1").click()
    expect(page.locator("#seat-pad-s1")).to_contain_text("Press the pad for Ann now.")
    place.spare.press()
    until(lambda: place.seats()["s1"] == ("pad-b", 0), "the spare")
    entry = place.table.loop.entries()[-1]
    assert entry.command == c.AssignPad(seat="s1", device="pad-b")
    assert entry.actor.role is Role.REFEREE
    expect(page.locator("#seat-pad-s1")).to_contain_text("pad-b")
    expect(page.locator("#said")).to_contain_text("Ann slams with pad pad-b")
    until(lambda: any(p.pattern == "find" for _, p in place.spare.played), "the spare shows itself")
    # the other way round: the pad first, then the seat
    place.mine.press()
    page.locator("#give-pad-a-0-s1").click()
    until(lambda: place.seats()["s1"] == ("pad-a", 0), "the old pad again")
    # waited for and called off: the press then only shows which pad it was
    before = place.seats()["s3"]
    page.locator("#expect-s3").click()
    page.locator("#cancel-s3").click()
    expect(page.locator("#expect-s3")).to_be_visible()
    place.spare.press()
    expect(page.locator("#pressed-pad-b-0")).to_contain_text("Whose is it?")
    assert place.seats()["s3"] == before


def test_pads_have_names_that_cannot_harm(place: Place, opened: Opened) -> None:
    page = opened("/devices", place.boss)
    hostile = "<img src=x onerror=alert(1)>"
    page.locator("#name-pad-b").click()
    page.locator("#title-pad-b").fill(hostile)
    page.get_by_role("button", name="Keep the name").first.click()
    expect(page.locator("#device-pad-b h3")).to_contain_text(hostile)
    assert page.locator("#device-pad-b img").count() == 0
    page.locator("#find-pad-b").click()
    expect(page.locator("#device-pad-b h3")).to_contain_text(hostile)
    page.evaluate(
        "fetch('/devices/name', {method: 'POST', body: new URLSearchParams({device: 'pad-b', name: 'a\\u202eb',"
        " csrf_token: document.querySelector('meta[name=csrf-token]').content})}).then(r => { window.got = r.status; })"
    )
    until(lambda: page.evaluate("window.got === 200"), "the refusal")
    page.reload()
    expect(page.locator("#device-pad-b h3")).to_contain_text(hostile)


def test_axe_finds_nothing_and_nothing_scrolls_sideways(place: Place, opened: Opened) -> None:
    seat = place.seat_token("s2")
    place.spare.press()
    for path, token in (
        ("/pad", seat),
        ("/keys", place.boss),
        ("/devices", place.boss),
        ("/people?for=pad", place.boss),
    ):
        for scheme in ("light", "dark") if path == "/pad" else ("light",):
            page = opened(path, token, color_scheme=scheme)
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            page.wait_for_timeout(100)
            assert problems(page) == [], path
            if scheme == "light":
                small = page.evaluate(
                    "[...document.querySelectorAll('main button')].filter(e => e.checkVisibility())"
                    ".map(e => [e.id, e.getBoundingClientRect().height]).filter(([, height]) => height < 44)"
                )
                assert small == [], path
                assert too_wide(page) == [], path
            page.context.close()


# the socket itself


def handshake(
    place: Place, cookie: str, path: str = "/live/pad?kind=phone", **headers: str
) -> socket.socket | None:
    """A web socket that was let in, None when it was refused."""
    wanted = {
        "Host": f"127.0.0.1:{place.table.server.port}", "Origin": place.base, "Upgrade": "websocket",
        "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Cookie": f"{place.table.access.cookie}={cookie}",
        **{name.capitalize(): value for name, value in headers.items()},
    }  # fmt: skip
    line = socket.create_connection(place.address, PATIENCE_S)
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in wanted.items() if value), "", ""]
    line.sendall("\r\n".join(lines).encode())
    head = b""
    while b"\r\n\r\n" not in head and (more := line.recv(1)):
        head += more
    if head.startswith(b"HTTP/1.1 101"):
        return line
    line.close()
    return None


def frame(text: bytes) -> bytes:
    """A client's text frame, masked with zeros."""
    size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + struct.pack(">H", len(text))
    return b"\x81" + size + bytes(4) + text


def closes(line: socket.socket) -> int:
    """The code with which the server ends the socket."""
    data = b""
    while more := line.recv(65536):
        data += more
        at = 0
        while at + 2 <= len(data):
            size, start = data[at + 1] & 0x7F, at + 2
            if size == 126 and len(data) >= at + 4:
                size, start = struct.unpack(">H", data[at + 2 : at + 4])[0], at + 4
            if data[at] == 0x88 and len(data) >= start + 2:
                return int(struct.unpack(">H", data[start : start + 2])[0])
            at = start + size
    return 0


def test_only_a_page_of_ours_with_a_pass_is_let_in(place: Place) -> None:
    token = place.seat_token("s2")
    line = handshake(place, token)
    assert line is not None
    line.close()
    refused = [
        handshake(place, ""),
        handshake(place, "nonsense"),
        handshake(place, token, origin="http://evil.example"),
        handshake(place, token, origin=""),
        handshake(place, token, host="evil.example"),
        handshake(place, token, path="/live/pad?kind=box"),
        handshake(place, token, path="/live/pad"),
        handshake(place, token, path="/live/seat?kind=phone"),
        handshake(place, token, path="/referee?kind=phone"),
    ]
    assert refused == [None] * len(refused)


def test_a_page_that_says_too_much_or_too_long_is_cut_off(place: Place) -> None:
    for said in (frame(b"x" * 600), frame(b"{}") * 400, b"\x82\x81\x00\x00\x00\x00\x01"):
        line = handshake(place, place.seat_token("s3"))
        assert line is not None
        line.sendall(said)
        assert closes(line) == 4008
        line.close()


def test_noise_of_a_page_is_counted_and_nothing_else(place: Place) -> None:
    token = place.seat_token("s3")
    line = handshake(place, token)
    assert line is not None
    hello = b'{"t":"hello","p":1,"id":"pad-a","fw":"","hw":"","boot":5,"ni":1,"no":0,"tick":1,"st":0,"us":0}'
    for said in (b"hello", hello, b'{"t":"dn","b":0,"n":1,"us":1}', b"[" * 300):
        line.sendall(frame(said))
    time.sleep(0.2)
    line.close()
    assert place.table.bridge.devices(), "the bridge lives"
    assert [d.link for d in place.table.bridge.devices() if d.id == "pad-a"] == [f"serial {place.mine.port}"]


def test_battery_and_signal_in_words() -> None:
    assert [battery_grade(n) for n in (None, 100, 40, 39, 15, 14, 0)] == [
        "unknown", "good", "good", "fair", "fair", "low", "low",
    ]  # fmt: skip
    assert [signal_grade(n) for n in (None, -40, -67, -68, -78, -79)] == [
        "unknown", "good", "good", "fair", "fair", "weak",
    ]  # fmt: skip


def test_a_public_page_is_no_pad(place: Place, opened: Opened) -> None:
    for path in ("/pad", "/keys", "/pad/state?kind=phone"):
        assert opened(path).locator("h1").inner_text().startswith("This page is not yours")
    assert REFEREE.role is Role.REFEREE
