"""The import contracts of pyproject.toml hold, and each of them sees the wrong that it is there for."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("companion", "firmware_bridge", "vision", "web_ui")
FOUR_WORDS = {"observation", "layout", "geometry", "cue"}
BELOW_THE_SENSES = {"event", "catalogue", "runtime", "games"}

VIOLATIONS = [
    ("floors", "companion/core/upward.py", "import companion.runtime"),
    ("floors", "companion/runtime/upward.py", "import companion.games.tada"),
    ("floors", "firmware_bridge/sideways.py", "import vision.frame"),
    ("floors", "vision/upward.py", "import web_ui"),
    ("senses", "vision/knowing.py", "from companion.core.game import Game"),
    ("senses", "vision/refereeing.py", "import companion.games.tada"),
    ("senses", "firmware_bridge/keeping.py", "from companion.runtime import desk"),
    ("words", "companion/core/cue.py", "from companion.core.seat import Seat"),
    ("pages", "web_ui/ruling.py", "from companion.games.tada import rulebook"),
    ("pages", "web_ui/looking.py", "from vision.frame import decode"),
    ("games", "companion/games/other/__init__.py", "from companion.games.tada import rulebook"),
    ("pure", "companion/games/tada/late.py", "import time"),
    ("pure", "companion/games/tada/lucky.py", "from random import choice"),
    ("pure", "companion/core/reading.py", "from pathlib import Path"),
    ("pixels", "companion/app/painting.py", "import cv2"),
    ("one-serial", "firmware_bridge/second.py", "import serial"),
    ("one-serial", "companion/runtime/second.py", "from serial.tools import list_ports"),
    ("one-mqtt", "firmware_bridge/second.py", "from paho.mqtt import client"),
    ("one-zeroconf", "companion/runtime/second.py", "from zeroconf import Zeroconf"),
]


def contracts(tree: Path, *only: str) -> subprocess.CompletedProcess[str]:
    """Run import-linter over a tree, on all contracts or on those named."""
    limits = [word for contract in only for word in ("--contract", contract)]
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", script, "--no-cache", "--no-logo", *limits],
        cwd=tree, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the product that a test may spoil, if it mends it again."""
    copy = tmp_path_factory.mktemp("tree")
    shutil.copy(ROOT / "pyproject.toml", copy)
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", "models")
        )
    return copy


def test_all_contracts_hold() -> None:
    ran = contracts(ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " 0 broken" in ran.stdout


@pytest.mark.parametrize(("contract", "file", "line"), VIOLATIONS, ids=[f"{v[0]}-{v[1]}" for v in VIOLATIONS])
def test_a_violation_is_seen(tree: Path, contract: str, file: str, line: str) -> None:
    spoilt = tree / file
    before = spoilt.read_text(encoding="utf-8") if spoilt.exists() else None
    is_new_folder = not spoilt.parent.exists()
    spoilt.parent.mkdir(exist_ok=True)
    spoilt.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        ran = contracts(tree, contract)
    finally:
        if before is None:
            spoilt.unlink()
        else:
            spoilt.write_text(before, encoding="utf-8")
        if is_new_folder:
            spoilt.parent.rmdir()
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert " 1 broken" in ran.stdout, ran.stdout + ran.stderr


def test_each_contract_has_a_violation_that_shows_it() -> None:
    assert {v[0] for v in VIOLATIONS} == {contract["id"] for contract in settings()["contracts"]}


def test_everything_that_eyes_and_hands_may_not_know_is_named() -> None:
    named = {contract["id"]: contract for contract in settings()["contracts"]}
    core = {f"companion.core.{m.stem}" for m in (ROOT / "companion" / "core").glob("[a-z]*.py")}
    four = {f"companion.core.{word}" for word in FOUR_WORDS}
    rooms = {f"companion.{m.stem}" for m in (ROOT / "companion").iterdir() if is_module(m)}
    below = rooms & {f"companion.{room}" for room in BELOW_THE_SENSES}
    assert set(named["senses"]["forbidden_modules"]) == core - four | below
    assert set(named["words"]["source_modules"]) == four
    assert set(named["words"]["forbidden_modules"]) == core - four


def settings() -> dict[str, Any]:
    """The part of pyproject.toml that import-linter reads."""
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    linter: dict[str, Any] = read["tool"]["importlinter"]
    return linter


def is_module(path: Path) -> bool:
    """Whether this is a Python module or package with something in it."""
    return path.suffix == ".py" or (path / "__init__.py").exists()
