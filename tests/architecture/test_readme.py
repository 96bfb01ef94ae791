"""What README.md tells people to do can be done: its commands, options, make targets and links exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from companion.app.cli import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
LINES = [line.strip() for block in BLOCKS for line in block.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("companion ")]
TOLD = [*LINES, *re.findall(r"`([^`\n]+)`", README)]
TARGETS = sorted({told.split()[1] for told in TOLD if told.startswith("make ")})


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and the words after its name."""
    found: click.Command = cli
    while isinstance(found, click.Group):
        name, words = words[0], words[1:]
        below = found.commands.get(name)
        assert below is not None, f"companion has no command {name!r}"
        found = below
    return found, words


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 5
    assert {"demo", "test"} <= set(TARGETS)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_has_these_options(line: str) -> None:
    command, words = command_of(shlex.split(line, comments=True)[1:])
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert [word for word in words if word.startswith("-") and word not in known] == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.name}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_rooms_in_the_table_exist() -> None:
    rooms = re.findall(r"`((?:companion/|firmware_bridge|vision|web_ui)[a-z/]*)", README)
    assert len(rooms) > 6
    assert [room for room in rooms if not (ROOT / room.rstrip("/")).exists()] == []
