"""Every registered game has a golden transcript, and it replays to the same entries and the same standings."""

from __future__ import annotations

import importlib
from pathlib import Path

import msgspec
import pytest
from transcript import FOLDER, new_table, payloads, read

from companion.catalogue import GAMES
from companion.core import history
from companion.core.codec import Codec
from companion.core.event import Refused

NAMES = sorted(GAMES)


def path_of(game: str) -> Path:
    return FOLDER / f"{game}.jsonl"


@pytest.mark.parametrize("name", NAMES)
def test_a_registered_game_has_a_golden_transcript(name: str) -> None:
    assert path_of(name).is_file(), f"no golden transcript of {name}: python tests/golden/make.py {name}"


def test_no_transcript_is_of_a_game_that_nobody_knows() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_heard_gives_the_same_entries_for_ever(name: str) -> None:
    first, moments, standings = read(GAMES[name], path_of(name))
    table = new_table(GAMES[name], first)
    for line, moment in enumerate(moments, start=2):
        step = table.step(moment.heard, moment.now_ns, moment.final_ns)
        assert not step.failures
        assert step.entries == moment.writes, f"line {line} of {name}.jsonl"
    assert list(msgspec.to_builtins(GAMES[name].standings(table.sitting))) == standings
    assert GAMES[name].is_over(table.sitting)


@pytest.mark.parametrize("name", NAMES)
def test_the_entries_alone_fold_to_the_same_standings(name: str) -> None:
    game, codec = GAMES[name], Codec(GAMES[name])
    entries = [codec.entry(payload) for payload in payloads(path_of(name))]
    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
    lines, sitting = history.effective(game, entries)
    assert [line.entry.n for line in lines if line.orphan] == []
    assert list(msgspec.to_builtins(game.standings(sitting))) == read(game, path_of(name))[2]


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_written_as_they_were(name: str) -> None:
    codec = Codec(GAMES[name])
    for payload in payloads(path_of(name)):
        assert codec.encode(codec.entry(payload)) == payload


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_goes_through_most_of_its_game(name: str) -> None:
    codec = Codec(GAMES[name])
    entries = [codec.entry(payload) for payload in payloads(path_of(name))]
    commands = {type(entry.command) for entry in entries if not isinstance(entry.events[0], Refused)}
    missing = set(GAMES[name].commands) - commands
    assert len(missing) <= len(GAMES[name].commands) // 4, missing
    assert any(isinstance(entry.events[0], Refused) for entry in entries)
    assert any(entry.seen for entry in entries), "something was seen, not only clicked"


@pytest.mark.parametrize("name", NAMES)
def test_the_script_that_made_it_stands_beside_it(name: str) -> None:
    assert callable(importlib.import_module(f"play_{name}").play)
