"""The live hub over a real socket: who is told what, what happens to the slow, the many and the sent away."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from web_house import Guest, House

from companion.core import command as c
from companion.core.cue import Cue
from companion.core.seat import Role, Viewer
from companion.games.tada import commands as t
from web_ui import live
from web_ui.addresses import lan_addresses
from web_ui.serve import Server

PATIENCE_S = 10.0


class Stream:
    """One open event stream, read event by event."""

    def __init__(self, house: House, path: str, token: str = "", **headers: str) -> None:
        assert house.server is not None
        self._connection = http.client.HTTPConnection("127.0.0.1", house.server.port, timeout=PATIENCE_S)
        if token:
            headers["Cookie"] = f"{house.access.cookie}={token}"
        self._connection.request("GET", path, headers=headers)
        self.answer = self._connection.getresponse()
        self.status = self.answer.status
        house.cleanup.append(self.close)

    def next(self) -> dict[str, Any] | None:
        """The next event as a dict of its lines, None at the end of the stream."""
        found: dict[str, Any] = {}
        while line := self.answer.readline():
            text = line.decode().rstrip("\n")
            if not text and "data" in found:
                return found
            name, _, value = text.partition(": ")
            if name:
                found[name] = json.loads(value) if name == "data" else value
        return None

    def until(self, event: str, text: str = "") -> dict[str, Any]:
        """The next event of a kind that holds a text."""
        while (found := self.next()) is not None:
            if found.get("event") == event and text in json.dumps(found["data"]):
                return found
        raise AssertionError(f"the stream ended before {event} {text}")

    def page(self, version: int) -> str:
        """The page as it stands at a version; one that did not change since is not sent again."""
        html = ""
        while True:
            told = self.until("view")["data"]
            html = told.get("html", html)
            if told["version"] >= version:
                return html

    def close(self) -> None:
        self.answer.close()
        self._connection.close()


@pytest.fixture
def served(house: House) -> Iterator[House]:
    """A claimed table that is served."""
    house.begin()
    house.serve()
    yield house


def streams(house: House) -> int:
    assert house.server is not None
    assert house.server.hub is not None
    return house.server.hub.streams


def wait(is_so: Any, what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_a_change_is_seen_by_everybody_with_their_own_eyes(served: House) -> None:
    boss = Stream(served, "/live/referee", served.token)
    seat = Stream(served, "/live/seat", served.seat_token("s1"))
    public = Stream(served, "/live/public")
    for stream in (boss, seat, public):
        assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
        assert stream.next()["event"] == "hello"  # type: ignore[index] # an ended stream fails here as it should
        stream.until("view")
    for command in (c.Resume(), t.Deal()):
        served.order(command)
    deck, hands = served.deck.spells(), served.desk.snapshot().sitting.game.hands
    mine, other = deck[hands["s1"][0]].name, deck[hands["s2"][0]].name
    seen = {}
    for name, stream in (("boss", boss), ("seat", seat), ("public", public)):
        seen[name] = stream.page(served.desk.snapshot().version).replace("&#39;", "'")
        stream.close()
    assert mine in seen["boss"]
    assert other in seen["boss"]
    assert mine in seen["seat"]
    assert other not in seen["seat"]
    assert mine not in seen["public"]


def test_an_announcement_reaches_its_target_alone(served: House) -> None:
    boss = Stream(served, "/live/referee", served.token)
    first = Stream(served, "/live/seat", served.seat_token("s1"))
    second = Stream(served, "/live/seat", served.seat_token("s2"))
    for stream in (boss, first, second):
        stream.until("view")
    served.desk.say(
        Cue(target="s1", pattern="notice", text="for one"), Cue(target="all", pattern="go", text="for all")
    )
    assert first.until("say")["data"]["text"] == "for one"
    assert first.until("say")["data"]["text"] == "for all"
    assert second.until("say")["data"]["text"] == "for all"
    assert boss.until("say")["data"]["text"] == "for all"
    for stream in (boss, first, second):
        stream.close()


@pytest.mark.parametrize("by_header", [True, False])
def test_a_stream_goes_on_where_it_was_cut(served: House, by_header: bool) -> None:
    one = Stream(served, "/live/referee", served.token)
    one.until("hello")
    served.desk.say(Cue(target="all", pattern="notice", text="heard"))
    last = one.until("say", "heard")["id"]
    one.close()
    for n in range(3):
        served.desk.say(Cue(target="all", pattern="notice", text=f"missed {n}"))
    served.desk.say(Cue(target="s1", pattern="notice", text="secret"))
    if by_header:
        again = Stream(served, "/live/referee", served.token, **{"Last-Event-ID": last})
    else:
        again = Stream(served, f"/live/referee?after={last}", served.token)
    told = [again.until("say") for _ in range(3)]
    assert [e["data"]["text"] for e in told] == ["missed 0", "missed 1", "missed 2"]
    assert all(e["data"]["late"] for e in told)
    served.desk.say(Cue(target="all", pattern="notice", text="new"))
    fresh = again.until("say")
    assert (fresh["data"]["text"], fresh["data"]["late"]) == ("new", False)
    again.close()


def test_an_id_of_another_run_repeats_nothing(served: House) -> None:
    served.desk.say(Cue(target="all", pattern="notice", text="long ago"))
    wait(served.desk.announcements, "said")
    stream = Stream(served, "/live/public?after=beef-0")
    assert stream.next()["retry"].isdecimal()  # type: ignore[index] # as above
    served.desk.say(Cue(target="all", pattern="notice", text="now"))
    assert stream.until("say")["data"]["text"] == "now"
    stream.close()


def test_sent_away_means_gone_within_two_seconds(served: House) -> None:
    token = served.seat_token("s1")
    one, two = Stream(served, "/live/seat", token), Stream(served, "/live/seat", token)
    other = Stream(served, "/live/seat", served.seat_token("s2"))
    for stream in (one, two, other):
        stream.until("view")
    holder = served.access.passes.holder(token)
    assert holder is not None
    began = time.monotonic()
    assert served.access.passes.revoke(holder.id)
    for stream in (one, two):
        assert stream.until("bye")["data"]["why"] == "revoked"
        assert stream.next() is None
    assert time.monotonic() - began < 2
    assert Stream(served, "/live/seat", token).status == 403
    served.order(c.Resume())
    other.until("view", "Stop now")
    other.close()


def test_a_player_who_left_is_sent_away_and_comes_back_when_it_is_undone(served: House) -> None:
    token = served.seat_token("s2")
    stream = Stream(served, "/live/seat", token)
    stream.until("view")
    served.order(c.Leave(seat="s2"))
    stream.until("bye")
    assert Stream(served, "/live/seat", token).status == 403
    assert Guest(served, token).command({"do": "Stop"}).status_code == 403
    served.order(c.Undo())
    assert Stream(served, "/live/seat", token).status == 200


def test_who_is_not_let_in(served: House) -> None:
    seat = served.seat_token("s1")
    assert Stream(served, "/live/referee").status == 403
    assert Stream(served, "/live/referee", seat).status == 403
    assert Stream(served, "/live/devices", seat).status == 403
    assert Stream(served, "/live/seat", served.token).status == 403
    assert Stream(served, "/live/nothing", served.token).status == 403
    assert Stream(served, "/live/public", Host="evil.example").status == 400
    assert Stream(served, "/live/time").status == 200


def test_before_the_first_referee_strangers_get_no_stream(house: House) -> None:
    assert house.access.door("192.168.7.9", "192.168.7.5") is not None
    house.serve()
    assert Stream(house, "/live/public").status == 200, "this machine itself is served"


def test_the_network_is_served_only_after_the_first_referee(house: House) -> None:
    """A real connection over an address of this machine's network."""
    networks = lan_addresses()
    if not networks:
        pytest.skip("NO NETWORK: this machine has no address but loopback")
    house.server = Server(house.app, host="0.0.0.0")
    house.server.start()

    def status(path: str) -> int:
        connection = http.client.HTTPConnection(networks[0], house.server.port, timeout=PATIENCE_S)  # type: ignore[union-attr] # started above
        house.cleanup.append(connection.close)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status

    assert [status(path) for path in ("/board", "/live/public", "/live/time", "/enter")] == [403] * 4
    house.begin()
    assert [status(path) for path in ("/board", "/live/public", "/live/time", "/referee")] == [
        200,
        200,
        200,
        403,
    ]


def test_too_many_streams_of_one_browser_are_refused(served: House) -> None:
    token = served.seat_token("s1")
    open_ = [Stream(served, "/live/seat", token) for _ in range(live.MAX_PER_TOKEN)]
    assert {s.status for s in open_} == {200}
    assert Stream(served, "/live/seat", token).status == 503
    assert Stream(served, "/live/seat", served.seat_token("s2")).status == 200
    for stream in open_:
        stream.close()
    wait(lambda: streams(served) <= 1, "closed streams are forgotten")
    assert Stream(served, "/live/seat", token).status == 200


def test_room_is_kept_for_the_staff(served: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_STREAMS", 4)
    monkeypatch.setattr(live, "STAFF_RESERVE", 2)
    public = [Stream(served, "/live/public") for _ in range(3)]
    assert [s.status for s in public] == [200, 200, 503]
    assert Stream(served, "/live/referee", served.token).status == 200


def test_a_slow_page_is_cut_and_the_others_are_not(served: House) -> None:
    """It reads nothing while others are told a lot: its queue is bounded, then it is let go."""
    assert served.server is not None
    slow = socket.create_connection(("127.0.0.1", served.server.port))
    served.cleanup.append(slow.close)
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(b"GET /live/public HTTP/1.1\r\nHost: localhost\r\n\r\n")
    quick = Stream(served, "/live/public")
    quick.until("view")
    wait(lambda: streams(served) == 2, "both are in")
    heard = 0
    for n in range(400):
        served.desk.say(Cue(target="all", pattern="notice", text=f"{n} " + "x" * 100_000))
        served.order(c.Stop() if n % 2 else c.Resume())
        while heard <= n:
            quick.until("say", f"{heard} x")
            heard += 1
        if streams(served) == 1:
            break
    assert streams(served) == 1
    served.desk.say(Cue(target="all", pattern="notice", text="still here"))
    quick.until("say", "still here")


def test_many_viewers_are_told_what_was_drawn_once(served: House) -> None:
    assert served.server is not None
    hub = served.server.hub
    assert hub is not None
    many = [Stream(served, "/live/public") for _ in range(20)]
    for stream in many:
        stream.until("view")
    drawn: list[object] = []
    draw = hub._render

    def counted(topic: live.Topic) -> str:
        drawn.append(topic)
        return draw(topic)

    hub._render = counted  # type: ignore[method-assign] # counts the drawings
    served.order(c.Resume())
    for stream in many:
        stream.until("view")
    assert len(drawn) == 1
    for stream in many:
        stream.close()


def test_a_page_that_did_not_change_is_not_sent_again(served: House) -> None:
    stream = Stream(served, "/live/public")
    assert "html" in stream.until("view")["data"]
    served.order(c.ReleaseEvidence(entry=2))
    assert stream.page(served.desk.snapshot().version) == ""
    served.order(c.Resume())
    assert stream.page(served.desk.snapshot().version) != ""


def test_devices_are_watched(served: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEALTH_S", 0.05)
    stream = Stream(served, "/live/devices", served.token)
    html = stream.until("view")["data"]["html"]
    assert "Check its battery" in html
    assert "± 0.42 ms" in html
    stream.close()


def test_who_is_served_alone_is_told_so(house: House) -> None:
    house.begin()
    boss = Guest(house, house.token)
    assert "http://192.168.7.5" in boss.get("/people").text
    house.serve()
    alone = boss.get("/people").text
    assert "http://192.168.7.5" not in alone
    assert "served to this machine alone" in alone


def test_the_server_stops_with_streams_open(house: House) -> None:
    house.begin()
    house.serve()
    stream = Stream(house, "/live/referee", house.token)
    stream.until("view")
    assert house.server is not None
    house.server.stop()
    assert stream.next() is None
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", house.server.port), timeout=1)
    assert house.access.passes.code(Viewer(Role.SEAT, "s1")), "the table goes on without its pages"
