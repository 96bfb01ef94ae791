"""Draws docs/wiring-*.svg: what hangs on which pin of each board. ``draw_wiring.py --check`` only compares.

The pins of the MicroPython boards come from their own files, those of the Arduino boards from `BOARDS`.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MICROPYTHON = ROOT / "firmware_bridge" / "firmware" / "micropython"
TOP, WIDTH = 96, 900
HEIGHTS = {"button": 62, "led": 62, "snd": 62, "piezo": 150, "beam": 170}
MIDDLE = {"button": 31, "led": 31, "snd": 31, "piezo": 40, "beam": 70}
BOARD_X, BOARD_RIGHT, GROUND_X = 40, 260, 820


class Part(NamedTuple):
    """One thing on one pin. `kind`: button, led, snd, piezo or beam."""

    pin: str
    kind: str
    name: str


class Board(NamedTuple):
    """One picture. `supply`: the board's own voltage, as its pin is named."""

    file: str
    title: str
    supply: str
    parts: tuple[Part, ...]


def _buttons(pins: list[int]) -> list[Part]:
    return [Part(f"D{pin}", "button", f"button {k + 1}") for k, pin in enumerate(pins)]


def _lights(pins: list[int]) -> list[Part]:
    return [Part(f"D{pin}", "led", f"light {k + 1}") for k, pin in enumerate(pins)]


def _micropython(name: str) -> tuple[Part, ...]:
    board = runpy.run_path(str(MICROPYTHON / f"board_{name}.py"))
    return tuple(Part(f"GP{pin}", kind, label) for kind, label, pin in board["INPUTS"] + board["OUTPUTS"])


BOARDS = (
    Board("uno", "Arduino Uno or Nano: six pads", "5V", (
        *_buttons([2, 3, 4, 5, 6, 7]), *_lights([8, 9, 10, 11, 12, 13]), Part("A5", "snd", "buzzer"),
    )),
    Board("leonardo", "Arduino Leonardo: four pads", "5V", (
        *_buttons([8, 9, 10, 11]), *_lights([4, 5, 6, 12]), Part("A5", "snd", "buzzer"),
    )),
    Board("tower", "Arduino Uno or Nano: a tower", "5V", (
        Part("D2", "beam", "beam under the exit"), Part("A0", "piezo", "piezo on the tower"),
    )),
    Board("pico", "Raspberry Pi Pico or Pico W: six pads", "3V3", _micropython("pico")),
    Board("esp32", "ESP32: one pad on Wi-Fi", "3V3", _micropython("esp32")),
)  # fmt: skip


def drawn(board: Board) -> str:
    """The picture as SVG text."""
    bottom = TOP + sum(HEIGHTS[part.kind] for part in board.parts)
    height = bottom + 70
    told = "; ".join(f"{part.pin} {_told(part, board.supply)}" for part in board.parts)
    body = [
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        _text(BOARD_X, 40, board.title, size=22, weight="bold"),
        f'<rect x="{BOARD_X}" y="{TOP - 40}" width="{BOARD_RIGHT - BOARD_X}" height="{bottom - TOP + 80}" rx="10" '
        'fill="#e8eef2" stroke="#111" stroke-width="2"/>',
        _text(BOARD_X + 14, TOP - 14, "board"),
        _text(BOARD_RIGHT - 14, bottom + 24, "GND", anchor="end", weight="bold"),
        _line((BOARD_RIGHT, bottom + 20), (GROUND_X, bottom + 20), (GROUND_X, TOP - 20)),
        _text(GROUND_X + 12, TOP - 10, "GND"),
    ]
    if any(part.kind == "beam" for part in board.parts):
        body.append(_text(BOARD_RIGHT - 14, TOP - 14, board.supply, anchor="end", weight="bold"))
    y = TOP
    for part in board.parts:
        body += _part(part, y + MIDDLE[part.kind], board.supply)
        y += HEIGHTS[part.kind]
    lines = "\n".join(f"  {line}" for line in body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-labelledby="title desc" font-family="sans-serif" font-size="15" fill="none">\n'
        f'  <title id="title">Wiring: {board.title}</title>\n  <desc id="desc">{told}.</desc>\n{lines}\n</svg>\n'
    )


def _told(part: Part, supply: str) -> str:
    zener = "5.1 V" if supply == "5V" else "3.3 V"
    return {
        "button": f"to {part.name}, whose other side is on GND",
        "led": f"over 330 ohm to {part.name}, its cathode on GND",
        "snd": f"to the passive {part.name} over 100 ohm, its other side on GND",
        "piezo": f"over 10 kilohm to the {part.name}, across which lie 1 megohm and a {zener} zener to GND",
        "beam": f"to the {part.name}: a phototransistor to GND with 10 kilohm to {supply}, opposite it an infrared "
        f"light that is fed from {supply} over 150 ohm",
    }[part.kind]


def _part(part: Part, y: int, supply: str) -> Iterator[str]:
    yield f'<circle cx="{BOARD_RIGHT}" cy="{y}" r="5" fill="#111"/>'
    yield _text(BOARD_RIGHT - 14, y + 5, part.pin, anchor="end", weight="bold")
    yield _text(290, y - 18, part.name)
    yield _line((BOARD_RIGHT, y), (430, y))
    ground_y = y + 80 if part.kind == "piezo" else y
    yield f'<circle cx="{GROUND_X}" cy="{ground_y}" r="4" fill="#111"/>'
    if part.kind == "button":
        yield from (_line((430, y), (520, y)), _line((520, y), (566, y - 20)), _line((570, y), (GROUND_X, y)))
        yield f'<circle cx="520" cy="{y}" r="4" fill="#111"/><circle cx="570" cy="{y}" r="4" fill="#111"/>'
    elif part.kind == "led":
        yield from _resistor(430, y, "330 Ω")
        yield from _diode(580, y)
        yield from (_line((500, y), (568, y)), _line((594, y), (GROUND_X, y)))
    elif part.kind == "snd":
        yield from _resistor(430, y, "100 Ω")
        yield _line((500, y), (560, y))
        yield f'<circle cx="582" cy="{y}" r="22" fill="#fff" stroke="#111" stroke-width="2"/>'
        yield _text(582, y + 5, "♪", anchor="middle")
        yield _line((604, y), (GROUND_X, y))
    elif part.kind == "piezo":
        yield from _resistor(430, y, "10 kΩ")
        yield _line((500, y), (740, y))
        zener = "5.1 V zener" if supply == "5V" else "3.3 V zener"
        for x, label in ((560, "1 MΩ"), (650, zener), (740, "piezo")):
            yield f'<circle cx="{x}" cy="{y}" r="4" fill="#111"/><circle cx="{x}" cy="{y + 80}" r="4" fill="#111"/>'
            yield from (_line((x, y), (x, y + 26)), _line((x, y + 54), (x, y + 80)))
            yield from _box(x - 41, y + 26, 82, 28, label)
        yield _text(644, y + 20, "cathode", size=11, anchor="end")
        yield _line((560, y + 80), (GROUND_X, y + 80))
    else:
        yield from (_line((430, y), (580, y)), _line((700, y), (GROUND_X, y)))
        yield from _box(580, y - 15, 120, 30, "phototransistor")
        yield f'<circle cx="500" cy="{y}" r="4" fill="#111"/>'
        yield from (_line((500, y), (500, y - 20)), _line((500, y - 46), (500, y - 58)))
        yield from _box(465, y - 46, 70, 26, "10 kΩ")
        yield _text(508, y - 52, supply, weight="bold")
        yield _text(586, y - 22, "collector on the left", size=12)
        yield _text(420, y + 65, supply, anchor="end", weight="bold")
        yield _line((428, y + 60), (450, y + 60))
        yield from _resistor(450, y + 60, "150 Ω")
        yield _line((520, y + 60), (628, y + 60))
        yield from _diode(640, y + 60)
        yield _line((654, y + 60), (GROUND_X, y + 60))
        yield f'<circle cx="{GROUND_X}" cy="{y + 60}" r="4" fill="#111"/>'
        yield _text(672, y + 48, "infrared LED, shining at it", size=12)


def _box(x: int, y: int, width: int, height: int, label: str) -> Iterator[str]:
    size = f'width="{width}" height="{height}"'
    yield f'<rect x="{x}" y="{y}" {size} fill="#fff" stroke="#111" stroke-width="2"/>'
    yield _text(x + width // 2, y + height // 2 + 5, label, anchor="middle", size=12)


def _resistor(x: int, y: int, label: str) -> Iterator[str]:
    yield from _box(x, y - 9, 70, 18, label)


def _diode(x: int, y: int) -> Iterator[str]:
    corners = f"M{x - 12} {y - 12} L{x + 12} {y} L{x - 12} {y + 12} Z"
    yield f'<path d="{corners}" fill="#fff" stroke="#111" stroke-width="2"/>'
    yield _line((x + 13, y - 12), (x + 13, y + 12))
    for k in (0, 9):
        yield _line((x + k - 2, y - 16), (x + k + 6, y - 26))
    yield _text(x + 22, y + 20, "cathode, short leg", size=12)


def _line(*points: tuple[int, int]) -> str:
    path = " L".join(f"{x} {y}" for x, y in points)
    return f'<path d="M{path}" stroke="#111" stroke-width="2"/>'


def _text(
    x: int, y: int, words: str, *, anchor: str = "start", size: int = 15, weight: str = "normal"
) -> str:
    style = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" fill="#111" {style}>{words}</text>'


def main() -> int:
    """Draw all, or say which are not as they would be drawn."""
    stale = []
    for board in BOARDS:
        path, text = DOCS / f"wiring-{board.file}.svg", drawn(board)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    if stale:
        print(f"draw them again with tools/draw_wiring.py: {', '.join(stale)}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
