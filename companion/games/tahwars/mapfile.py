"""A map's own file: read whole, or one line that says why not; and written."""

from __future__ import annotations

import msgspec

from companion.games.tahwars.ground import faults
from companion.games.tahwars.lines import lines_of
from companion.games.tahwars.maps import Map

MOST_BYTES = 2_000_000


def read_map(text: str) -> Map:
    """The map that a JSON text describes; other keys than a map's are left alone.

    Raises ValueError with one line: what is wrong, in which line, and what to do.
    """
    if len(text) > MOST_BYTES:
        raise ValueError("this is no map: it is larger than 2 MB")
    try:
        found = msgspec.json.decode(text, type=Map)
    except msgspec.ValidationError as error:
        raise ValueError(f"this is no map: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from error
    said = faults(found)
    if said:
        steps, lines = said[0].steps, lines_of(text)
        while steps and steps not in lines:
            steps = steps[:-1]
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        raise ValueError(f"line {lines.get(steps, 1)}: {said[0].words}{more}")
    return found


def written(found: Map) -> str:
    """The file's text, an area a line, numbers to a tenth of a mm."""
    plain = msgspec.to_builtins(found)
    for area in plain["terrains"]:
        area["polygon_mm"] = [[round(x, 1), round(y, 1)] for x, y in area["polygon_mm"]]
    areas = ",\n    ".join(msgspec.json.encode(area).decode() for area in plain.pop("terrains"))
    rest = [
        f"  {msgspec.json.encode(key).decode()}: {msgspec.json.encode(value).decode()}"
        for key, value in plain.items()
    ]
    return "{\n" + ",\n".join([*rest, f'  "terrains": [\n    {areas}\n  ]']) + "\n}\n"
