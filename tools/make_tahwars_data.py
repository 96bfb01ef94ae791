"""Puts the four maps of the house into the data file of TAH WARS: `python -m tools.make_tahwars_data` writes it anew.

Each map has a file of its own, which is printed and read by cameras; a table's journal holds one text with all of them.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "companion" / "games" / "tahwars" / "data"
MAPS = ("delta", "ring", "ridge", "islands")


def made(house: str) -> str:
    """The data file with its maps as their own files have them, a map a line."""
    head, _, _ = house.partition('  "maps": [')
    maps = [json.loads((FOLDER / f"map-{name}.json").read_text(encoding="utf-8")) for name in MAPS]
    lines = ",\n".join(f"    {json.dumps(found, separators=(',', ':'))}" for found in maps)
    return f'{head}  "maps": [\n{lines}\n  ]\n}}\n'


def main() -> None:
    """Write the file."""
    path = FOLDER / "house.json"
    path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
