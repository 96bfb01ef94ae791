"""Decks of cards of our own drawing: with pictures, with numbers, with text alone."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.frame import Frame

SIZE_PX = (504, 704)
"""Width and height of a drawn card."""
CARD_MM = (63.0, 88.0)
_PAPERS = ((240, 245, 247), (214, 232, 240), (225, 222, 214), (48, 42, 40), (70, 52, 30))
_INKS = ((30, 28, 30), (38, 30, 90), (90, 50, 25), (235, 238, 240), (190, 220, 235))
_FIRST_WORDS = (
    "Wandering Silver Hollow Patient Crooked Laughing Second Borrowed Gentle Forgotten Midnight Paper Copper Humming "
    "Lazy Restless Polite Secret Velvet Upside-Down Narrow Sleepy Golden Rusty Invisible Frosty"
)
_SECOND_WORDS = (
    "Bell Lantern Ladder Teapot River Mirror Candle Orchard Window Compass Feather Whistle Bridge Button Kettle "
    "Umbrella Garden Thimble Staircase Acorn Violin Curtain Pebble Marble Rooster Chimney"
)
_TEXT = (
    "until the next spell ends you may not speak every player on your left must hold one hand behind their back and "
    "pass a die to whoever laughs first then roll again with eyes closed while humming a tune that nobody knows stand "
    "up turn around sit down take two from cup give three away keep your elbow on table whisper each word twice draw "
    "circle in air before you touch any card point at tallest person count backwards from nine swap seats clap"
)
_FIRST, _SECOND, _WORDS = _FIRST_WORDS.split(), _SECOND_WORDS.split(), _TEXT.split()


def illustrated(deck: int, n: int) -> Frame:
    """Card `n` of an illustrated deck, BGR (704, 504, 3): a picture in the deck's frame over its title."""
    style, rng = np.random.default_rng((deck, 1)), np.random.default_rng((deck, 2, n))
    card = _blank(style)
    width, height = SIZE_PX
    edge = int(style.integers(14, 34))
    top, bottom = edge, height - edge - int(style.integers(60, 90))
    art = card[top:bottom, edge : width - edge]
    _landscape(art, rng)
    ink = _ink(card)
    cv2.rectangle(card, (edge, top), (width - edge, bottom), ink, int(style.integers(2, 6)))
    _middle(card, title(n, deck), (height - edge + bottom) // 2, 34, ink)
    return card


def number(deck: int, n: int) -> Frame:
    """The card with the number `n` of a deck of numbers, BGR (704, 504, 3)."""
    style, rng = np.random.default_rng((deck, 3)), np.random.default_rng((deck, 4, n))
    card = _blank(style)
    width, height = SIZE_PX
    is_tinted = style.random() < 0.6
    ink = _bright(rng) if is_tinted else _ink(card)
    font, weight = cv2.FontFace("italic" if style.random() < 0.3 else "sans"), int(style.integers(400, 900))
    inset = int(style.integers(22, 44))
    if style.random() < 0.7:
        cv2.rectangle(card, (inset, inset), (width - inset, height - inset), ink, int(style.integers(3, 9)))
    if style.random() < 0.4:
        cv2.circle(card, (width // 2, height // 2), 190, ink, 6, cv2.LINE_AA)
    size = int(style.integers(260, 380))
    _centred(card, str(n), (width // 2, height // 2), ink, (font, size, weight))
    for x, y in ((inset + 40, inset + 44), (width - inset - 40, height - inset - 44)):
        _centred(card, str(n), (x, y), ink, (font, 52, weight))
    return card


def text_only(deck: int, n: int) -> Frame:
    """Card `n` of a deck that shows a title and a few lines of text in the deck's frame, BGR (704, 504, 3)."""
    style, rng = np.random.default_rng((deck, 5)), np.random.default_rng((deck, 6, n))
    card = _blank(style)
    width, height = SIZE_PX
    ink = _ink(card)
    edge, bar = int(style.integers(16, 36)), int(style.integers(80, 120))
    cv2.rectangle(card, (edge, edge), (width - edge, height - edge), ink, int(style.integers(2, 6)))
    cv2.line(card, (edge, edge + bar), (width - edge, edge + bar), ink, 3)
    _middle(card, title(n, deck), edge + bar // 2, int(style.integers(34, 44)), ink)
    size = int(style.integers(30, 38))
    font = cv2.FontFace("italic" if style.random() < 0.3 else "sans")
    words = list(rng.choice(_WORDS, int(rng.integers(14, 30))))
    y = edge + bar + int(style.integers(70, 110))
    for line in _lines(words, width - 2 * edge - 50, (font, size)):
        cv2.putText(card, line, (edge + 26, y), ink, font, size, 400)
        y += round(1.35 * size)
    return card


def title(n: int, deck: int = 0) -> str:
    """The title of card `n`; no two of the first 600 of a deck are alike."""
    return (
        f"{_FIRST[(n * 7 + deck) % len(_FIRST)]} {_SECOND[(n * 3 + n // len(_FIRST) + deck) % len(_SECOND)]}"
    )


def _blank(style: np.random.Generator) -> Frame:
    paper = np.array(_PAPERS[style.integers(len(_PAPERS))], np.float64) * style.uniform(0.9, 1.05, 3)
    return np.full((SIZE_PX[1], SIZE_PX[0], 3), np.clip(paper, 0, 255).astype(np.uint8), np.uint8)


def _ink(card: Frame) -> tuple[int, int, int]:
    """A colour that is read on this paper."""
    is_dark = int(card[2, 2].sum()) < 3 * 110
    blue, green, red = _INKS[3 if is_dark else int(card[2, 2, 0]) % 3]
    return (blue, green, red)


def _bright(rng: np.random.Generator) -> tuple[int, int, int]:
    hue = np.full((1, 1, 3), (int(rng.integers(0, 180)), 190, 200), np.uint8)
    blue, green, red = cv2.cvtColor(hue, cv2.COLOR_HSV2BGR)[0, 0].tolist()
    return (blue, green, red)


def _landscape(art: Frame, rng: np.random.Generator) -> None:
    """A sky, hills, a sun and what stands there, in place."""
    height, width = art.shape[:2]
    upper, lower = rng.uniform(60, 250, 3), rng.uniform(60, 250, 3)
    down = np.linspace(0, 1, height)[:, None, None]
    art[:] = np.broadcast_to(upper * (1 - down) + lower * down, art.shape).astype(np.uint8)
    sun = (int(rng.integers(40, width - 40)), int(rng.integers(40, height // 2)))
    cv2.circle(art, sun, int(rng.integers(22, 70)), _bright(rng), -1, cv2.LINE_AA)
    for level in np.sort(rng.uniform(0.4, 0.85, int(rng.integers(2, 5)))):
        x = np.arange(0, width + 8, 8)
        hill = height * (level + 0.08 * np.sin(x / rng.uniform(30, 90) + rng.uniform(0, 6)))
        outline = np.concatenate([np.stack([x, hill], 1), [(width, height), (0, height)]])
        cv2.fillPoly(art, [np.round(outline).astype(np.int32)], rng.uniform(20, 200, 3).tolist(), cv2.LINE_AA)
    for _ in range(int(rng.integers(3, 8))):
        _thing(art, rng)


def _thing(art: Frame, rng: np.random.Generator) -> None:
    height, width = art.shape[:2]
    x, y = int(rng.integers(30, width - 30)), int(rng.integers(height // 3, height - 20))
    size, colour, kind = int(rng.integers(24, 90)), rng.uniform(10, 250, 3).tolist(), int(rng.integers(5))
    dark = (25, 22, 28)
    if kind == 0:  # a tower
        cv2.rectangle(art, (x - size // 3, y - 2 * size), (x + size // 3, y), colour, -1)
        cv2.rectangle(art, (x - size // 3, y - 2 * size), (x + size // 3, y), dark, 3)
        roof = np.array([(x - size // 2, y - 2 * size), (x + size // 2, y - 2 * size), (x, y - 3 * size)])
        cv2.fillConvexPoly(art, roof.astype(np.int32), dark, cv2.LINE_AA)
    elif kind == 1:  # a tree
        cv2.line(art, (x, y), (x, y - size), dark, 8, cv2.LINE_AA)
        for dx, dy in rng.normal(0, size / 3, (7, 2)):
            cv2.circle(art, (int(x + dx), int(y - size + dy)), size // 3, colour, -1, cv2.LINE_AA)
    elif kind == 2:  # a star
        turn = np.arange(10) * np.pi / 5 + rng.uniform(0, 1)
        reach = np.where(np.arange(10) % 2, size * 0.4, size)
        corners = np.stack([x + reach * np.cos(turn), y - size + reach * np.sin(turn)], 1)
        cv2.fillPoly(art, [np.round(corners).astype(np.int32)], colour, cv2.LINE_AA)
        cv2.polylines(art, [np.round(corners).astype(np.int32)], True, dark, 3, cv2.LINE_AA)
    elif kind == 3:  # a beast
        cv2.ellipse(art, (x, y - size // 2), (size, size // 2), 0, 0, 360, colour, -1, cv2.LINE_AA)
        cv2.circle(art, (x + size, y - size), size // 3, colour, -1, cv2.LINE_AA)
        cv2.circle(art, (x + size, y - size), 5, dark, -1, cv2.LINE_AA)
        for leg in (-0.6, -0.2, 0.3, 0.6):
            cv2.line(art, (int(x + leg * size), y - size // 3), (int(x + leg * size), y + size // 4), dark, 5)
    else:  # a banner
        cv2.line(art, (x, y), (x, y - 2 * size), dark, 5, cv2.LINE_AA)
        cloth = np.array([(x, y - 2 * size), (x + size, y - 1.7 * size), (x, y - 1.3 * size)])
        cv2.fillConvexPoly(art, np.round(cloth).astype(np.int32), colour, cv2.LINE_AA)


def _lines(words: Sequence[str], width_px: int, face: tuple[cv2.FontFace, int]) -> list[str]:
    font, size = face
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if cv2.getTextSize((width_px, 0), longer, (0, 0), font, size, 400)[2] > width_px and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _middle(card: Frame, words: str, y: int, size: int, ink: tuple[int, int, int]) -> None:
    """Words across the middle, smaller where they would be too long."""
    font = cv2.FontFace("sans")
    long = cv2.getTextSize(card.shape[1::-1], words, (0, 0), font, size, 700)[2]
    fitting = int(size * min(1.0, (SIZE_PX[0] - 100) / long))
    _centred(card, words, (SIZE_PX[0] // 2, y), ink, (font, fitting, 700))


def _centred(
    card: Frame,
    words: str,
    at: tuple[int, int],
    ink: tuple[int, int, int],
    face: tuple[cv2.FontFace, int, int],
) -> None:
    font, size, weight = face
    x, y, width, height = cv2.getTextSize(card.shape[1::-1], words, (0, 0), font, size, weight)
    cv2.putText(card, words, (at[0] - width // 2 - x, at[1] - height // 2 - y), ink, font, size, weight)


_EARS = (((150, 150), (205, 40), (255, 140)), ((249, 140), (299, 40), (354, 150)))
_WHISKERS = (
    ((120, 560), (30, 530)),
    ((120, 575), (25, 580)),
    ((384, 560), (474, 530)),
    ((384, 575), (479, 580)),
)


def cat(seed: int, n: int) -> Frame:
    """A number with ears and whiskers, as `number` gives it."""
    card = number(seed, n).copy()
    ink = (235, 238, 240)
    for ear in _EARS:
        cv2.fillPoly(card, [np.array(ear, np.int32)], ink, cv2.LINE_AA)
    for start, end in _WHISKERS:
        cv2.line(card, start, end, ink, 6, cv2.LINE_AA)
    return card
