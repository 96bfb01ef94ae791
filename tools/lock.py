"""Writes requirements.lock: the versions that a fresh install of the package and its tests takes today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAD = """\
# The versions that the tests run with. Made by `make lock` from the ranges in pyproject.toml.
"""


def main() -> None:
    """Resolve the project with its test packages as if nothing were installed; write the versions down."""
    asked = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "-qq",
        "--report",
        "-",
    ]
    ran = subprocess.run([*asked, ".[dev]"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = [item["metadata"] for item in json.loads(ran.stdout)["install"] if not item["is_direct"]]
    lines = sorted(f"{meta['name'].lower()}=={meta['version']}\n" for meta in found)
    (ROOT / "requirements.lock").write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"requirements.lock: {len(lines)} packages")


if __name__ == "__main__":
    main()
