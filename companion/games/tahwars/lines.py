"""On which line of a JSON text each value stands, so that what is wrong with it can be pointed at."""

from __future__ import annotations

import json
import re

Steps = tuple[str | int, ...]
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def lines_of(text: str) -> dict[Steps, int]:
    """The line, counted from 1, on which each value of a JSON text begins, by the keys and indices that lead to it.

    The text must be sound JSON: raises ValueError where it is not.
    """
    found: dict[Steps, int] = {}
    starts = [match.end() for match in re.finditer("\n", text)]

    def line(at: int) -> int:
        low, high = 0, len(starts)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if starts[middle] <= at else (low, middle)
        return low + 1

    def skip(at: int) -> int:
        match = _SPACE.match(text, at)
        return match.end() if match else at

    def value(at: int, steps: Steps) -> int:
        at = skip(at)
        found[steps] = line(at)
        if text[at] not in "{[":
            return _DECODER.raw_decode(text, at)[1]
        closing, count = "}" if text[at] == "{" else "]", 0
        at = skip(at + 1)
        while text[at] != closing:
            key: str | int = count
            if closing == "}":
                key, at = _DECODER.raw_decode(text, at)
                at = skip(at) + 1
            at = skip(value(at, (*steps, key)))
            at = skip(at + 1) if text[at] == "," else at
            count += 1
        return at + 1

    value(0, ())
    return found
