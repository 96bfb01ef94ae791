"""Every numbered rule of a registered game is shown by tests that carry its mark.

A rule of the book has at least one test in which something is accepted and one in which something is
refused or found to be a breach, and the latter names the rule's id, so that it asserts which rule it was. Any other
rule has at least one test of any kind. A test that is skipped shows nothing.
"""

from __future__ import annotations

import ast
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import pytest

import companion.games
from companion.catalogue import GAMES

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| ([A-Z]+-\d+) \| .* \| ([^|]*) \|$", re.MULTILINE)

ASKED_OF_PEOPLE = {
    "TADA-1": "What is in the box is what the table brings; nothing at the table can be refused for it.",
}
"""Rules that no software can accept or refuse, and why."""


def marks(decorator: ast.expr) -> list[tuple[str, str]]:
    """The (id, case) of each rule mark in a decorator, also inside the parameters of a parametrised test."""
    return [
        (str(node.args[0].value), str(node.args[1].value))
        for node in ast.walk(decorator)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
        if (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) == "rule"
        if len(node.args) == 2
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[1], ast.Constant)
    ]


def shown() -> dict[str, dict[str, list[str]]]:
    """Names of the tests that show a rule, by id and case."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for test in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test_"):
                continue
            decorators = [ast.unparse(decorator) for decorator in test.decorator_list]
            if any(".skip" in text or ".xfail" in text for text in decorators):
                continue
            body = "\n".join(ast.unparse(line) for line in test.body)
            for rule, case in (mark for decorator in test.decorator_list for mark in marks(decorator)):
                named = len(re.findall(rf"\b{rule}\b", "\n".join([*decorators, body])))
                if case != "breach" or named > 1:
                    found[rule][case].append(f"{path.relative_to(ROOT).as_posix()}::{test.name}")
    return found


def rules(game: str) -> dict[str, str]:
    """Where each rule of a game comes from, by id."""
    return dict(ROW.findall((ROOT / "docs" / "rules" / f"{game}.md").read_text(encoding="utf-8")))


def test_every_game_that_has_a_room_is_registered() -> None:
    assert sorted(found.name for found in pkgutil.iter_modules(companion.games.__path__)) == sorted(GAMES)
    assert "tada" in GAMES


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_rule_is_shown(game: str) -> None:
    found = shown()
    missing = []
    for rule, source in rules(game).items():
        needed = {"ok", "breach"} if "book" in source else set()
        lacking = needed - set(found[rule])
        if rule not in ASKED_OF_PEOPLE and (lacking or not found[rule]):
            missing.append(
                f"{rule} ({source.strip()}): no test marked {' or '.join(sorted(lacking)) or 'at all'}"
            )
    assert missing == []


def test_the_laws_of_every_table_are_shown() -> None:
    found = shown()
    assert [rule for rule in rules("table") if not found[rule]] == []


def test_the_list_of_exceptions_is_not_longer_than_it_must_be() -> None:
    found = shown()
    known = {rule for game in GAMES for rule in rules(game)}
    assert set(ASKED_OF_PEOPLE) <= known
    assert [rule for rule in ASKED_OF_PEOPLE if {"ok", "breach"} <= set(found[rule])] == []
    assert [rule for rule, reason in ASKED_OF_PEOPLE.items() if len(reason.split()) < 6] == []
