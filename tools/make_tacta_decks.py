"""The two deck files of Tacta that ship: `python -m tools.make_tacta_decks` writes them.

The fronts are public facts, known from two transcriptions that agree on 16 of 18; card size and the exact size of the
shapes are not known, and the transcriptions differ in them. So there are two files, and an owner measures their own.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "companion" / "games" / "tacta" / "data"
WIDTH, HEIGHT = 63.5, 88.9
COLOURS = ("blue", "green", "orange", "pink", "purple", "red")
KINDS = {
    **dict.fromkeys("abcdijkl", "triangle"),
    **dict.fromkeys("efgh", "square"),
    **dict.fromkeys("mnop", "short rectangle"),
    **dict.fromkeys("qr", "long rectangle"),
}
FRONTS = {
    "circle": ("l1 f0 o0", "d1 j1 e0", "b0 l0 o3", "a0 d0 q4", "c1 i1 p3", "i1 j1 l1 o3"),
    "square": ("b1 c0 p0", "f2 l0 o0", "c1 f2 l0", "d0 i1 n3", "e2 j0 o3", "d0 e2 q4"),
    "triangle": ("d1 e0 n0", "d1 i1 j0", "b0 k0 p3", "b1 l0 o3", "j1 r4", "a1 d1 q4"),
}
"""By value from 1. A letter is a place: a-d corner triangle and e-h corner square from the top left clockwise, i-l edge
triangle and m-p short rectangle from the top clockwise, q and r long rectangle right and left; a digit is its dots."""
GEOMETRIES = {
    "deck-a": (0.5, 0.25, 0.354, "as in one public transcription"),
    "deck-b": (0.46, 0.2, 0.42, "between the public transcriptions"),
}
"""Side of the square, thickness of the rectangles and leg of the triangle, in card widths."""

Point = tuple[float, float]


def corners(place: str, side: float, thick: float, leg: float) -> list[Point]:
    """Outline of the shape at a place, in mm."""
    base = leg * 2**0.5
    if place in "abcd":
        return _in_corner("abcd".index(place), [(0, 0), (leg, 0), (0, leg)])
    if place in "efgh":
        return _in_corner("efgh".index(place), [(0, 0), (side, 0), (side, side), (0, side)])
    if place in "ijkl":
        return _on_edge("ijkl".index(place), base, base / 2, is_triangle=True)
    if place in "mnop":
        return _on_edge("mnop".index(place), WIDTH, thick, is_triangle=False)
    return _on_edge(1 if place == "q" else 3, HEIGHT, thick, is_triangle=False)


def _in_corner(corner: int, points: list[Point]) -> list[Point]:
    is_right, is_low = corner in {1, 2}, corner in {2, 3}
    return [(WIDTH - x if is_right else x, HEIGHT - y if is_low else y) for x, y in points]


def _on_edge(edge: int, length: float, depth: float, *, is_triangle: bool) -> list[Point]:
    """A shape centred on the top, right, bottom or left edge, reaching `depth` inward."""
    along = WIDTH if edge in {0, 2} else HEIGHT
    first, last = (along - length) / 2, (along + length) / 2
    flat = [(first, 0.0), (last, 0.0)]
    flat += [((first + last) / 2, depth)] if is_triangle else [(last, depth), (first, depth)]
    turns = {
        0: lambda u, v: (u, v),
        1: lambda u, v: (WIDTH - v, u),
        2: lambda u, v: (u, HEIGHT - v),
        3: lambda u, v: (v, u),
    }
    return [turns[edge](u, v) for u, v in flat]


def dots(kind: str, outline: list[Point], count: int) -> list[Point]:
    """Centres of the dots of a filled shape."""
    if not count:
        return []
    x0, x1 = min(x for x, _ in outline), max(x for x, _ in outline)
    y0, y1 = min(y for _, y in outline), max(y for _, y in outline)
    cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
    if kind == "triangle":
        return [(sum(x for x, _ in outline) / 3, sum(y for _, y in outline) / 3)]
    if kind == "square":
        off = 0.24 * (x1 - x0)
        return [(cx - off, cy - off), (cx + off, cy + off)]
    pitch = WIDTH / 3.6 if count == 3 else HEIGHT / 4.8
    steps = [(i - (count - 1) / 2) * pitch for i in range(count)]
    return [(cx + s, cy) if x1 - x0 > y1 - y0 else (cx, cy + s) for s in steps]


def deck(side: float, thick: float, leg: float, whence: str) -> dict[str, object]:
    """A deck file as plain data."""
    sizes = (side * WIDTH, thick * WIDTH, leg * WIDTH)

    def shape(place: str, count: int) -> dict[str, object]:
        outline = corners(place, *sizes)
        kind = KINDS[place]
        return {
            "kind": kind,
            "polygon_mm": [[round(x, 3), round(y, 3)] for x, y in outline],
            "dots_mm": [[round(x, 3), round(y, 3)] for x, y in dots(kind, outline, count)],
        }

    cards = [
        {
            "id": f"{suit}-{value}",
            "suit": suit,
            "value": value,
            "shapes": [shape(code[0], int(code[1])) for code in codes.split()],
        }
        for suit, fronts in FRONTS.items()
        for value, codes in enumerate(fronts, start=1)
    ]
    every = "abcdefghijklmnopqr"
    start = {"id": "start", "suit": None, "value": 0, "shapes": [shape(place, 0) for place in every]}
    return {
        "format": "tacta-deck/1",
        "source": f"fronts: two public transcriptions, which differ in square-1 and triangle-6; sizes: {whence}",
        "sure": "M",
        "note": "Card size and the sizes of the shapes are guesses: measure an own deck.",
        "card_mm": [WIDTH, HEIGHT],
        "strip_mm": 1.2,
        "dot_radius_mm": 2.2,
        "colours": list(COLOURS),
        "cards": cards,
        "start": start,
    }


def main() -> None:
    """Write both files."""
    FOLDER.mkdir(exist_ok=True)
    for name, (side, thick, leg, whence) in GEOMETRIES.items():
        text = json.dumps(deck(side, thick, leg, whence), separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
