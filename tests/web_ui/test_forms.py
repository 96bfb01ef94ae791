"""From filled-in forms to commands: every kind of field, and nothing but a clear refusal for nonsense."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_house import Guest, House
from werkzeug.datastructures import MultiDict

from companion.core.command import COMMANDS, Join, SetAccommodation
from companion.core.seat import seat_at
from companion.games.tada import commands as t
from web_ui.forms import FormError, command_json, fields_of

KINDS = (*COMMANDS, *t.COMMANDS)


def made(base: dict[str, Any], *pairs: tuple[str, str]) -> Any:
    return json.loads(command_json(json.dumps(base), MultiDict(pairs), KINDS))


def test_each_kind_of_field_lands_as_its_own_type() -> None:
    assert made({"do": "Join", "name": ""}, ("text:name", "  Dora ")) == {"do": "Join", "name": "Dora"}
    assert made({"do": "ExtendClock", "by_s": 1}, ("number:by_s", "-30"))["by_s"] == -30
    assert made({"do": "VerifySlam"}, ("choice:complete", "false"))["complete"] is False
    assert made({"do": "ChooseTarget", "seat": "s1"}, ("choice:target", '""'))["target"] == ""
    assert made({"do": "RecordRoll", "seat": "s1"}, ("many:symbols", ""), ("many:symbols", '"wand"'),
                ("many:symbols", '"wand"'))["symbols"] == ["wand", "wand"]  # fmt: skip
    assert made({"do": "SettleHeat"}, ("many:winners", ""))["winners"] == [], "nobody was ticked"


def test_places_make_an_order_with_ties_where_the_command_knows_groups() -> None:
    pairs = (("order:order", ""), ('order:order:"s3"', "2"), ('order:order:"s1"', "1"), ('order:order:"s2"', "2"),
             ('order:order:"s4"', ""))  # fmt: skip
    assert made({"do": "EnterOrder", "order": []}, *pairs)["order"] == [["s1"], ["s3", "s2"]]
    flat = made({"do": "SettleHeat"}, ('order:winners:"s2"', "2"), ('order:winners:"s1"', "1"))
    assert flat["winners"] == ["s1", "s2"]
    assert made({"do": "EnterOrder"}, ("order:order", ""))["order"] == []


@pytest.mark.parametrize(
    "pairs",
    [(("number:by_s", "soon"),), (("number:by_s", "nan"),), (("number:by_s", "1e999"),), (("choice:x", "{"),),
     (('order:order:"s1"', "first"),), (("order:order:s1", "1"),)],
)  # fmt: skip
def test_nonsense_in_a_field_is_named(pairs: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(FormError):
        made({"do": "EnterOrder"}, *pairs)


@settings(max_examples=300, deadline=None)
@given(
    base=st.text(max_size=40) | st.sampled_from(["{}", "[]", "3", '{"do": 7}', '{"do": "Join"}', "[" * 9000]),
    pairs=st.lists(
        st.tuples(
            st.text(max_size=12)
            | st.sampled_from(
                ["order:order", "many:a", "number:n", "choice:x", "json:j", 'order:a:"b"', "text:"]
            ),
            st.text(max_size=12),
        ),
        max_size=6,
    ),
)
def test_any_form_makes_json_or_a_refusal(base: str, pairs: list[tuple[str, str]]) -> None:
    try:
        assert isinstance(json.loads(command_json(base, MultiDict(pairs), KINDS)), dict)
    except FormError as refused:
        assert "\n" not in str(refused)


def test_deep_nesting_is_refused_not_a_crash(house: House) -> None:
    house.begin()
    boss = Guest(house, house.token)
    deep = b'{"command": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    assert boss.post("/command", data=deep, content_type="application/json").status_code == 400
    for levels in (3, 200, 900):
        proposals = b'{"do":"Propose","reading":"","confidence":1,"command":' * levels
        nested = b'{"command": ' + proposals + b'{"do":"Stop"}' + b"}" * (levels + 1)
        answer = boss.post("/command", data=nested, content_type="application/json")
        assert answer.status_code == 400, levels
    assert boss.post("/command", {"command": "[" * 9_000}).status_code == 400


def test_a_form_for_any_command() -> None:
    seats = (seat_at(1, "Ann"), seat_at(2, "Ben"))
    for kind in KINDS:
        names = {field.name for field in fields_of(kind, {}, seats)}
        assert names == set(kind.__struct_fields__)  # type: ignore[attr-defined] # commands are structs
    seat, *rest = fields_of(SetAccommodation, {"seat": "s2"}, seats)
    assert (seat.kind, seat.value, [choice.label for choice in seat.choices]) == (
        "choice",
        "s2",
        ["A Ann", "B Ben"],
    )
    assert [field.kind for field in rest] == ["number", "number", "text"]
    assert fields_of(t.EnterOrder, {"order": [["s1"]]}, seats)[0].value == '[["s1"]]'
    assert [field.kind for field in fields_of(Join, {"name": "Cleo"}, seats)] == ["text", "text", "number"]
