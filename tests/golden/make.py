"""Plays the scripts and writes their transcripts: python tests/golden/make.py GAME...

A transcript that exists is kept, for it must replay for ever; delete it by hand if a rule of the game has changed.
"""

from __future__ import annotations

import importlib
import sys

from transcript import FOLDER


def main(games: list[str]) -> int:
    """Write what is missing; 0 when all went well."""
    for game in games:
        path = FOLDER / f"{game}.jsonl"
        if path.exists():
            print(f"{path.name} exists and is kept")
            continue
        importlib.import_module(f"play_{game}").play().save(path)
        print(f"{path.name} written: {path.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
