"""The golden transcript of Zing-a-Zam goes through each ability, each skip and each tie-break."""

from __future__ import annotations

import pytest
from transcript import FOLDER, payloads

from companion.core import history
from companion.core.codec import Codec
from companion.core.event import Entry
from companion.games.zingazam import GAME
from companion.games.zingazam import events as e


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    codec = Codec(GAME)
    return [codec.entry(payload) for payload in payloads(FOLDER / "zingazam.jsonl")]


def test_each_ability_is_used_and_each_that_can_be_is_copied(entries: list[Entry]) -> None:
    facts = [event for entry in entries for event in entry.events]
    used = {type(event) for event in facts}
    assert used >= {
        e.OneKept, e.CardTaken, e.CardTurned, e.CatDrawn, e.CatTold, e.AbilityCopied, e.CardChosen, e.PlayerFrozen,
        e.CardGiven,
    }  # fmt: skip
    copied = {event.ability for event in facts if isinstance(event, e.AbilityCopied)}
    assert copied == {2, 3, 4, 6, 7, 8}


SKIPS = (
    (2, "ZAZ-11", "No other score pile"),
    (3, "ZAZ-12", "faces the others"),
    (4, "ZAZ-13", "No Cat Companion is left"),
    (5, "ZAZ-14", "No other card is in play"),
    (5, "ZAZ-14", "Only 1s and 5s"),
    (5, "ZAZ-14", "cannot take effect now"),
    (6, "ZAZ-18", "has played in this round"),
    (7, "ZAZ-18", "has played in this round"),
    (8, "ZAZ-17", "no card to give"),
)


@pytest.mark.parametrize(("ability", "rule", "words"), SKIPS)
def test_each_skip_happens_with_its_rule_and_reason(
    entries: list[Entry], ability: int, rule: str, words: str
) -> None:
    skips = [event for entry in entries for event in entry.events if isinstance(event, e.AbilitySkipped)]
    assert [s for s in skips if (s.ability, s.rule) == (ability, rule) and words in s.because]


@pytest.mark.parametrize("number", range(8, 1, -1))
def test_each_tie_break_happens_and_one_is_shared(entries: list[Entry], number: int) -> None:
    _, sitting = history.effective(GAME, entries)
    said = [shown.ruling.because for shown in sitting.rulings if shown.ruling.rule == "ZAZ-22"]
    assert any(f"most {number}s in the score pile" in because for because in said)
    assert "share the win" in said[-1]
