"""docs/rules is the product's own copy of the numbered rules, and every id that is cited stands in it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "rules"
ROW = re.compile(r"^\| ([A-Z]+)-(\d+) \| (.*) \| ([^|]*) \|$", re.MULTILINE)
CITED = re.compile(r"\b(?:TADA|TACTA|ZAZ|TAH|TABLE)-\d+\b")


def rows(page: Path) -> dict[str, tuple[str, str]]:
    """Text and source of each rule on a page, by id."""
    return {
        f"{word}-{number}": (text, source)
        for word, number, text, source in ROW.findall(page.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_ids_of_a_page_are_unique_and_count_up_without_gaps(page: Path) -> None:
    numbers = [int(number) for _, number, _, _ in ROW.findall(page.read_text(encoding="utf-8"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


@pytest.mark.parametrize("game", ["tada", "tacta", "tahwars", "zingazam"])
def test_the_rows_are_those_of_the_shared_rules(game: str, shared: Path) -> None:
    assert rows(PAGES / f"{game}.md") == rows(shared / "rules" / f"{game}.md")


def test_every_id_cited_in_code_and_tests_stands_in_the_pages() -> None:
    known = {rule for page in PAGES.glob("*.md") for rule in rows(page)}
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py", "*.toml", "*.html", "*.js"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    cited = {
        (rule, name)
        for name in listed.stdout.splitlines()
        if (ROOT / name).is_file()
        for rule in CITED.findall((ROOT / name).read_text(encoding="utf-8"))
    }
    assert len(cited) > 10
    assert sorted((rule, name) for rule, name in cited if rule not in known) == []
