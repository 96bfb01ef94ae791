"""The house deck of Ta-Da!: the counts, odds and promises that its file makes."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import companion

FILE = Path(companion.__file__).parent / "games" / "tada" / "data" / "house.toml"
ODDS = {"arrow": 2 / 6, "burst": 2 / 6, "spiral": 1 / 6, "wand": 1 / 6}
NEEDS = {"voice", "sight", "head", "face", "arms", "two_hands", "fingers", "legs"}
SENSES = {"camera", "microphone", "pad", "nobody"}


@pytest.fixture(scope="module")
def deck() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.rule("TADA-1", "ok")
def test_there_are_45_spells_and_20_feats(deck: dict[str, Any]) -> None:
    assert len(deck["spell"]) == 45
    assert len(deck["feat"]) == 20


@pytest.mark.parametrize("kind", ["spell", "feat"])
def test_ids_are_unique_slugs_and_names_are_unique(deck: dict[str, Any], kind: str) -> None:
    ids = [card["id"] for card in deck[kind]]
    names = [card["name"].casefold() for card in deck[kind]]
    assert len(set(ids)) == len(ids)
    assert len(set(names)) == len(names)
    assert [i for i in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", i)] == []


@pytest.mark.rule("TADA-2", "ok")
def test_symbols_stand_in_the_proportions_of_the_dice(deck: dict[str, Any]) -> None:
    found = Counter(symbol for spell in deck["spell"] for symbol in spell["symbols"])
    assert set(found) == set(ODDS)
    for symbol, share in ODDS.items():
        assert found[symbol] / found.total() == pytest.approx(share, rel=0.05), symbol


@pytest.mark.rule("TADA-13", "ok")
def test_a_spell_asks_for_4_or_5_symbols_and_no_two_ask_for_the_same(deck: dict[str, Any]) -> None:
    assert {len(spell["symbols"]) for spell in deck["spell"]} == {4, 5}
    asked = [tuple(sorted(spell["symbols"])) for spell in deck["spell"]]
    assert len(set(asked)) == len(asked)


def test_texts_are_short_and_never_the_same(deck: dict[str, Any]) -> None:
    texts = [card[key] for card in deck["spell"] + deck["feat"] for key in ("effect", "text") if key in card]
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if not 10 <= len(text) <= 140 or text != text.strip()] == []


def test_about_a_third_of_the_spells_have_an_effect(deck: dict[str, Any]) -> None:
    assert 12 <= sum("effect" in spell for spell in deck["spell"]) <= 18


def test_an_effect_says_what_it_needs_and_what_it_needs_has_an_effect(deck: dict[str, Any]) -> None:
    assert [s["id"] for s in deck["spell"] if ("effect" in s) != ("effect_needs" in s)] == []
    assert {need for s in deck["spell"] for need in s.get("effect_needs", [])} <= NEEDS


def test_a_feat_says_who_could_notice_a_breach_and_what_it_needs(deck: dict[str, Any]) -> None:
    for feat in deck["feat"]:
        assert feat["senses"], feat["id"]
        assert set(feat["senses"]) <= SENSES, feat["id"]
        assert "nobody" not in feat["senses"] or feat["senses"] == ["nobody"], feat["id"]
        assert set(feat["needs"]) <= NEEDS, feat["id"]


def test_the_file_says_that_it_is_not_the_printed_deck(deck: dict[str, Any]) -> None:
    assert "not the printed cards" in deck["source"]
    assert deck["sure"] == "ours"
    assert deck["name"] and deck["note"]
