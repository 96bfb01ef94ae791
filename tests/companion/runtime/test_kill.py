"""kill -9 at random instants of a real game: nothing acknowledged is lost. The benchmark does it 200 times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(sys.platform == "win32", reason="kills are POSIX signals")
def test_twenty_kills_lose_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "benchmarks.kills", "--rounds", "20", "--seed", "7", "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=110, check=True,
    )  # fmt: skip
    lost, unsound, unlike = json.loads(done.stdout.splitlines()[-1])["figures"]
    assert (lost["value"], unsound["value"], unlike["value"]) == (0, 0, 0), lost["why"]
    assert lost["n"] > 40, "the kills came before anything was played"
    assert unsound["n"] == 20
