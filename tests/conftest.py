"""What all tests share: the data beside the repository, the rule marks, and the ledger that CI prints."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
RULE_ID = re.compile(r"^\| ([A-Z]+-\d+) \|", re.MULTILINE)
RULE_CASES = {"ok", "breach", "house"}
STARTED = time.monotonic()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data beside the repository; tests that ask for it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip(f"NOT RUN: this test needs the shared data folder {SHARED.name}/ beside the repository")
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stop at a rule mark that says nothing: an unknown id, an unknown case, a missing word."""
    known = {
        found
        for page in (ROOT / "docs" / "rules").glob("*.md")
        for found in RULE_ID.findall(page.read_text(encoding="utf-8"))
    }
    wrong = [
        f"{item.nodeid}: rule{mark.args} is not (id in docs/rules, one of {', '.join(sorted(RULE_CASES))})"
        for item in items
        for mark in item.iter_markers("rule")
        if len(mark.args) != 2 or mark.args[0] not in known or mark.args[1] not in RULE_CASES
    ]
    if wrong:
        raise pytest.UsageError(*wrong)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the ledger of docs/ci.md above the closing line, when `make test` has left its seconds."""
    left = os.environ.get("LEDGER", "")
    if not left:
        return
    rows = [*json.loads(left), ["tests", round(time.monotonic() - STARTED), 480]]
    terminalreporter.section("ledger (docs/ci.md)")
    for name, seconds, budget in rows:
        verdict = "ok" if seconds <= budget else "OVER BUDGET"
        terminalreporter.write_line(f"{name:<16} {seconds:>5} s of {budget:>4} s  {verdict}")
