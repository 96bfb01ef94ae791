"""Buttons that nobody built: pages and plain serial buzzers go the way of pads, never ranked by themselves."""

from __future__ import annotations

import json
import os
import threading
import time
import tty
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bridge_rig import Table, bridged, until

from firmware_bridge import byte_link, page_link
from firmware_bridge.byte_link import ByteLink, input_of
from firmware_bridge.page_link import MAX_PAGES, STAMP_US, PageLine, PageLink
from firmware_bridge.wire import Arrival, Closed


class PageModel:
    """A page that is a pad, as the script in the browser does it: says messages, answers questions."""

    def __init__(self, link: PageLink, device: str = "phone-1", claims_us: int = 100) -> None:
        self.told: list[dict[str, object]] = []
        self.hung_up = ""
        self.n = 0
        self.device = device
        line = link.join(device, self._hear, self._end)
        assert line is not None
        self.line: PageLine = line
        self.say(t="hello", p=1, id=device, fw="page", hw="browser", boot=int.from_bytes(os.urandom(3)), ni=1,
                 no=1, tick=100, st=claims_us, us=self.us())  # fmt: skip
        self.say(t="in", b=0, kind="touch", name="screen")
        self.say(t="out", b=0, kind="led", name="screen")

    @staticmethod
    def us() -> int:
        return time.monotonic_ns() // 1000 % 2**32

    def say(self, **message: object) -> None:
        self.line.hear(json.dumps(message))

    def press(self) -> None:
        self.n += 1
        self.say(t="dn", b=0, n=self.n, us=self.us())

    def _hear(self, text: str) -> None:
        message = json.loads(text)
        self.told.append(message)
        if message["t"] == "sync":
            self.say(t="sync", id=message["id"], h=message["h"], r=self.us(), x=self.us(), n=self.n)

    def _end(self, why: str) -> None:
        self.hung_up = why


@pytest.fixture
def pages() -> Iterator[tuple[Table, PageLink]]:
    link = PageLink()
    with bridged(link) as table:
        yield table, link


def test_a_page_is_a_party_pad_with_a_frame_of_doubt(pages: tuple[Table, PageLink]) -> None:
    table, link = pages
    page = PageModel(link)
    table.wait_ready("phone-1")
    page.press()
    (press,) = table.wait_presses(1)
    assert (press.source, press.n, press.input) == ("phone-1", 1, 0)
    assert press.uncertainty_ns >= STAMP_US * 1000
    device = table.device("phone-1")
    assert device is not None
    assert (device.race_class, device.takes_key) == ("party", False)
    assert {m["n"] for m in page.told if m["t"] == "ack"} == {1}
    page.line.close()
    until(lambda: table.states("phone-1")[-1] == "lost", "it is gone")


def test_a_page_is_believed_what_was_measured_and_no_more() -> None:
    link = PageLink({"phone-1": 4_000}.get)
    with bridged(link) as table:
        PageModel(link, claims_us=0)
        PageModel(link, "phone-2", claims_us=50_000)
        table.wait_ready("phone-1", "phone-2")
        floors = [getattr(table.device(name), "clock_u_ns", 0) for name in ("phone-1", "phone-2")]
    assert 4_000_000 <= floors[0] < 14_000_000
    assert floors[1] >= 50_000_000


def test_a_page_is_the_device_that_it_was_let_in_as(pages: tuple[Table, PageLink]) -> None:
    table, link = pages
    page = PageModel(link)
    table.wait_ready("phone-1")
    hello = {"t": "hello", "p": 1, "id": "phone-2", "fw": "", "hw": "", "boot": 1, "ni": 1, "no": 0, "tick": 1,
             "st": 1, "us": 1}  # fmt: skip
    page.say(**hello)
    page.line.hear(
        '{"t":"\\u0068ello","p":1,"id":"phone-1","fw":"","hw":"","boot":9,"ni":0,"no":0,"tick":1,"st":0,"us":5}'
    )
    until(lambda: (d := table.device("phone-1")) is not None and d.counters.foreign == 1, "the foreign name")
    assert table.device("phone-2") is None
    until(lambda: "syncing" in table.states("phone-1")[1:], "the other start is heard")
    device = table.device("phone-1")
    assert device is not None
    assert device.race_class == "party"


@pytest.mark.parametrize(
    "text",
    ["", "hello", "{", '{"t":"dn"}\n{"t":"dn"}', '{"t":"dn"}*00', "x" * 5000, "\ud800", "é", "[" * 200,
     '{"t":"dn","b":99,"n":1,"us":1}', '{"t":"dn","b":0,"n":-1,"us":1e99}', "\x00"],
)  # fmt: skip
def test_nothing_that_a_page_says_does_harm(pages: tuple[Table, PageLink], text: str) -> None:
    table, link = pages
    page = PageModel(link)
    table.wait_ready("phone-1")
    page.line.hear(text)
    page.press()
    assert len(table.wait_presses(1)) == 1
    assert table.is_ready("phone-1")


def test_a_page_that_comes_again_takes_the_place_of_the_old_one(pages: tuple[Table, PageLink]) -> None:
    table, link = pages
    old = PageModel(link)
    table.wait_ready("phone-1")
    new = PageModel(link)
    assert old.hung_up == "elsewhere"
    old.press()
    until(lambda: len(table.states("phone-1")) > 2 and table.is_ready("phone-1"), "the new one is ready")
    new.press()
    assert [press.n for press in table.wait_presses(1)] == [1]
    old.line.close()
    new.press()
    table.wait_presses(2)


def test_there_is_an_end_to_pages() -> None:
    link = PageLink()
    lines = [link.join(f"phone-{n}", lambda _text: None, lambda _why: None) for n in range(MAX_PAGES + 1)]
    assert [line is None for line in lines] == [False] * MAX_PAGES + [True]


def test_only_the_page_that_floods_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_link, "_QUEUE", 20)
    link, ends, taken = PageLink(), list[tuple[str, str]](), list[Arrival]()
    may_go_on = threading.Event()
    lines = [
        link.join(name, lambda _text: None, lambda why, name=name: ends.append((name, why)))  # type: ignore[misc]  # bound in the loop
        for name in ("phone-1", "phone-2")
    ]
    flooder, other = lines
    assert flooder is not None
    assert other is not None

    def post(arrival: Arrival) -> None:
        may_go_on.wait(10)
        taken.append(arrival)

    link.start(post, time.monotonic_ns)
    try:
        for _ in range(100):
            flooder.hear('{"t":"dn","b":0,"n":1,"us":1}')
        assert ends == [("phone-1", "flood")]
        other.hear("{}")
        may_go_on.set()
        heard = Counter[str]()

        def is_heard() -> bool:
            heard.update(arrival.route for arrival in taken[heard.total() :])
            return heard["phone-2"] == 2

        until(is_heard, "the other is heard")
        assert heard["phone-1"] == 21  # that it came, 19 messages, that it is gone
        assert Closed("phone-1", "its page was closed") in taken
        for _ in range(100):
            other.hear("{}")
            until(lambda: other.waiting == 0, "it is handed on")
        assert len(ends) == 1
    finally:
        link.stop()


class Buzzer:
    """A plain buzzer on a pseudo-terminal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open()

    def open(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.ttyname(self.slave))

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def unplug(self) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def buzzer(tmp_path: Path) -> Iterator[Buzzer]:
    made = Buzzer(tmp_path / "buzzers")
    yield made
    made.unplug()


def test_a_byte_is_a_press(buzzer: Buzzer) -> None:
    link = ByteLink([f"{buzzer.path}@9600"])
    with bridged(link) as table:
        table.wait_ready("byte-buzzers")
        buzzer.send(b"A\r\n")
        buzzer.send(b"2")
        presses = table.wait_presses(2)
        assert [(press.source, press.input, press.n) for press in presses] == [
            ("byte-buzzers", 0, 1),
            ("byte-buzzers", 1, 2),
        ]
        assert all(press.uncertainty_ns >= 17_000_000 for press in presses)
        device = table.device("byte-buzzers")
        assert device is not None
        assert (device.race_class, device.takes_key) == ("party", False)
        buzzer.unplug()
        until(lambda: table.states("byte-buzzers")[-1] == "lost", "it is gone")
        buzzer.open()
        until(lambda: table.states("byte-buzzers")[-1] == "ready", "it is back")
        buzzer.send(b"A")
        assert [(press.input, press.n) for press in table.wait_presses(3)[2:]] == [(0, 5)]


def test_a_buzzer_that_repeats_while_it_is_held_is_pressed_once(
    buzzer: Buzzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_link, "HELD_US", 1_000_000)  # a busy machine sleeps longer than a finger
    with bridged(ByteLink([str(buzzer.path)])) as table:
        table.wait_ready("byte-buzzers")
        for _ in range(5):
            buzzer.send(b"A")
            time.sleep(0.03)
        table.wait_presses(1)
        until(
            lambda: len(table.seen) > 0 and any(s.__class__.__name__ == "Released" for s in table.seen),
            "let go",
        )
        assert len(table.presses) == 1
        buzzer.send(b"A")
        table.wait_presses(2)


def test_any_bytes_are_at_most_presses(buzzer: Buzzer) -> None:
    with bridged(ByteLink([str(buzzer.path)])) as table:
        table.wait_ready("byte-buzzers")
        buzzer.send(bytes(range(256)) * 4)
        table.wait_presses(32)
        assert {press.input for press in table.presses} == set(range(32))
        assert table.is_ready("byte-buzzers")


def test_which_input_a_byte_means() -> None:
    assert [input_of(byte) for byte in b"AaB1290\x01\x02"] == [0, 0, 1, 0, 1, 8, 9, 0, 1]
    assert [input_of(byte) for byte in b"\r\n \t"] == [None] * 4
    assert all(0 <= number < 32 for byte in range(256) if (number := input_of(byte)) is not None)


@pytest.mark.parametrize("target", ["", "@9600", "/dev/ttyUSB0@fast", "/dev/ttyUSB0@1", "http://x"])
def test_what_is_no_port_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=r"serial port|speed"):
        ByteLink([target])


def test_two_buzzers_never_share_an_id(tmp_path: Path) -> None:
    made: Callable[[str], str] = lambda name: str(tmp_path / name / "ttyUSB0")  # noqa: E731  # a name for a path
    link = ByteLink([made("a"), made("b")])
    link.start(lambda _arrival: None, time.monotonic_ns)
    try:
        assert len({status.name for status in link.status()}) == 2
        until(lambda: all("there is no" in status.problem for status in link.status()), "both are missed")
    finally:
        link.stop()


def test_a_port_whose_driver_hangs_does_not_hold_the_program_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_link, "CLOSE_S", 0.2)
    is_over = threading.Event()
    monkeypatch.setattr(byte_link, "open_port", lambda _path, _baud: is_over.wait(30))
    link = ByteLink(["/dev/ttyUSB0", "/dev/ttyUSB1"])
    link.start(lambda _arrival: None, time.monotonic_ns)
    began_s = time.monotonic()
    link.stop()
    is_over.set()
    assert time.monotonic() - began_s < 10
