"""Who may do what: every page, stream and command for every role, and the door before all of them."""

from __future__ import annotations

import json
import stat
import typing
from pathlib import Path
from typing import Any

import pytest
from web_house import Guest, House

from companion.core.command import COMMANDS, Command
from companion.core.observation import DieSeen
from companion.core.seat import REFEREE, Role, Viewer
from web_ui.access import PAGES, STREAMS, Access, is_loopback, may_command, may_see, may_stream
from web_ui.passes import ALPHABET, Passes, plain

ROLES = (Role.PUBLIC, Role.SEAT, Role.REFEREE)
ARGUMENTS = {
    "frame": 3, "n": 0, "number": 2, "entry": 2, "name": "table", "picture": "e2-0", "digest": "x", "owner": "red",
    "face": "arrow", "id": "none",
}  # fmt: skip


def guests(house: House) -> dict[Role, Guest]:
    """One browser of each role; flooding is another test's business."""
    house.begin()
    next(iter(house.app.extensions["limiter"])).enabled = False
    return {
        Role.PUBLIC: Guest(house),
        Role.SEAT: Guest(house, house.seat_token("s1")),
        Role.REFEREE: Guest(house, house.token),
    }


def test_every_endpoint_is_registered_and_no_more(house: House) -> None:
    assert {rule.endpoint for rule in house.app.url_map.iter_rules()} == set(PAGES)


def test_every_page_answers_exactly_its_roles(house: House) -> None:
    browsers = guests(house)
    checked = 0
    for rule in house.app.url_map.iter_rules():
        if rule.endpoint == "enrol.leave":
            continue  # it gives the pass back: see test_leaving
        path = rule.rule
        for name in rule.arguments:
            for kind in (f"<int:{name}>", f"<path:{name}>", f"<{name}>"):
                path = path.replace(kind, str(ARGUMENTS[name]))
        for role, browser in browsers.items():
            answer = browser.get(path) if "GET" in rule.methods else browser.post(path, {})
            refused = answer.status_code == 403
            assert refused is (role not in PAGES[rule.endpoint]), (role, rule.endpoint, answer.status_code)
            assert answer.status_code < 500, (role, rule.endpoint)
            checked += 1
    assert checked >= 3 * 20


def test_an_unregistered_page_is_refused_to_all() -> None:
    for role in Role:
        assert not may_see(role, "debug.console")
        assert not may_see(role, None)
        assert not may_stream(role, "/live/everything")


def sample(hint: Any) -> Any:
    """Plain data that fits a type of a command's field."""
    if hint is Command:
        return {"do": "Resume"}
    if hint is DieSeen:
        return {"kind": "tada", "value": "wand", "box_px": [0, 0, 9, 9], "confidence": 0.5}
    arguments = typing.get_args(hint)
    if type(None) in arguments:
        return None
    origin = typing.get_origin(hint)
    if origin in (tuple, list):
        return []
    if arguments:
        return sample(arguments[0])
    return {str: "s3", int: 2, float: 0.5, bool: True}.get(hint, {})


def body_of(kind: type[Command]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    fields = {name: sample(hints[name]) for name in getattr(kind, "__struct_fields__", ())}
    return {"do": kind.__name__, **fields}


def test_every_command_is_taken_from_exactly_its_roles(house: House) -> None:
    browsers = guests(house)
    kinds = (*COMMANDS, *house.desk.game.commands)
    for kind in kinds:
        for role, browser in browsers.items():
            answer = browser.command(body_of(kind))
            allowed = role is not Role.PUBLIC and role in kind.by
            assert (answer.status_code == 200) is allowed, (kind.__name__, role, answer.text)
            assert allowed or answer.status_code == 403
            assert may_command(role, kind) is allowed
    entries = house.desk.entries()
    assert {e.actor.role for e in entries if e.key != "opened" and e.command} <= {
        Role.REFEREE, Role.SEAT, Role.CLOCK,
    }  # fmt: skip


def test_a_seat_acts_for_itself_alone(house: House) -> None:
    seat = guests(house)[Role.SEAT]
    answer = seat.command({"do": "GiveUp", "seat": "s2"}).get_json()
    assert answer["accepted"] is False
    assert answer["ruling"]["rule"] == "TABLE-1"


def test_streams_answer_exactly_their_roles() -> None:
    for path, roles in STREAMS.items():
        for role in ROLES:
            assert may_stream(role, path) is (role in roles)
    assert not may_stream(Role.PUBLIC, "/live/referee")
    assert not may_stream(Role.SEAT, "/live/referee")
    assert not may_stream(Role.SEAT, "/live/devices")


def test_nobody_but_this_machine_is_served_before_the_first_referee(house: House) -> None:
    far = {"remote": "192.168.7.9", "host": "192.168.7.5"}
    for path in ("/", "/board", "/enter", "/static/x/page.css", "/healthz"):
        answer = Guest(house, **far).get(path)
        assert answer.status_code == 403
        assert "not open yet" in answer.text
        assert "<" not in answer.text
    code = house.access.first_code()
    assert code is not None
    host = Guest(house)
    answer = host.post("/enter", {"code": code.lower()})
    assert (answer.status_code, answer.location) == (303, "/referee")
    assert host.get("/referee").status_code == 200
    assert Guest(house, **far).get("/board").status_code == 200
    assert house.access.first_code() is None
    assert host.post("/enter", {"code": code}).status_code == 422, "a code works once"


@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "", "[::1", "a@localhost:x"])
def test_a_foreign_name_is_refused(house: House, name: str) -> None:
    house.begin()
    answer = house.app.test_client().get("/board", headers={"Host": name})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "name", ["localhost:5000", "127.0.0.1", "[::1]:8080", "192.168.7.5:5000", "table.hall"]
)
def test_our_own_names_are_taken(tmp_path: Path, name: str) -> None:
    access = Access(tmp_path / "access.json", hosts=("Table.Hall",))
    assert access.door("127.0.0.1", name) is None


def test_loopback() -> None:
    for address in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "127.8.8.8"):
        assert is_loopback(address)
    for address in ("192.168.1.1", "::ffff:10.0.0.1", "fe80::1%eth0", "", "unix"):
        assert not is_loopback(address)


def test_access_is_kept_over_a_restart_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "access.json"
    first = Passes(path)
    made = first.redeem(first.code(REFEREE) or "", ["s1"], "Firefox")
    assert made is not None
    seat_code = first.code(Viewer(Role.SEAT, "s1"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made[1] not in path.read_text()
    assert seat_code is not None
    assert seat_code not in path.read_text()
    again = Passes(path)
    assert again.holder(made[1]) == made[0]
    assert again.is_claimed
    assert again.secret("session") == first.secret("session")
    assert again.code(Viewer(Role.SEAT, "s1")) == seat_code, "a printed sheet stays good"
    assert again.code(REFEREE) is None
    assert again.revoke(made[0].id)
    assert Passes(path).holder(made[1]) is None


def test_a_damaged_access_file_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    path.write_text(json.dumps({"table": 3}))
    with pytest.raises(ValueError, match=r"access\.json is no access file.*remove it"):
        Passes(path)


def test_codes_are_renewed_and_read_as_people_write_them() -> None:
    passes = Passes(None)
    whom = Viewer(Role.SEAT, "s2")
    old = passes.code(whom)
    new = passes.renew(whom)
    assert old is not None
    assert old != new
    assert passes.whose(old, ["s2"]) is None
    assert passes.whose(f" {new[:3].lower()}-{new[3:]} ", ["s2"]) == whom
    assert passes.whose(new, ["s1"]) is None, "a seat that is not there has no code"
    assert passes.whose("", ["s2"]) is None
    assert plain("l0-1i") == "LQLL"
    assert len(set(ALPHABET)) == 32


def test_a_used_code_is_worth_nothing_and_a_fresh_one_is_another() -> None:
    passes = Passes(None)
    code = passes.code(REFEREE) or ""
    assert passes.redeem(code, [], "x") is not None
    assert passes.redeem(code, [], "x") is None
    assert passes.renew(REFEREE) != code
