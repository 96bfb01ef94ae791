"""What the table does back: light, sound, words."""

from __future__ import annotations

import msgspec


class Cue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to show, sound or say.

    `target`: ``all``, ``referee``, ``public`` or a seat's id. `pattern`: a name that every output knows how
    to play (PATTERNS). `at_ns`: host instant at which it shall happen, None for at once. `text`: the words,
    in the table's language, for live regions, captions and speech; every pattern has words. `urgent`: may
    interrupt a screen reader. `pads`: seats whose pads play the pattern, where those are not the target's.
    """

    target: str
    pattern: str
    text: str
    at_ns: int | None = None
    urgent: bool = False
    pads: tuple[str, ...] = ()


PATTERNS = (
    "ready",  # a pad was proven, a seat is ready
    "countdown",
    "go",
    "stop",
    "false_start",
    "slam",  # a claim was heard
    "place_1",
    "place_2",
    "place_3",
    "dead_heat",
    "void",  # a claim or a round does not count
    "breach",
    "end",  # the cast is over
    "win",
    "notice",  # words only
)


class Shape(msgspec.Struct, frozen=True):
    """How a light and a buzzer play a pattern.

    The light gives `flashes` of `on_ms`, each followed by `off_ms` of dark, then `pause_ms` of dark; all that
    `rounds` times. `tones`: (Hz, ms) after one another, 0 Hz is a pause. No light goes on more than three
    times in a second.
    """

    flashes: int
    on_ms: int
    off_ms: int = 0
    pause_ms: int = 0
    rounds: int = 1
    tones: tuple[tuple[int, int], ...] = ()


SHAPES = {
    "off": Shape(0, 0),
    "find": Shape(10, 200, 200, tones=((988, 100), (0, 100), (988, 100))),
    "ready": Shape(1, 150, tones=((660, 80),)),
    "countdown": Shape(1, 300, tones=((440, 120),)),
    "go": Shape(1, 1500, tones=((880, 500),)),
    "stop": Shape(3, 200, 200, tones=((330, 200), (0, 80), (247, 400))),
    "false_start": Shape(2, 150, 250, tones=((247, 150), (0, 60), (247, 150))),
    "slam": Shape(1, 200, tones=((196, 100),)),
    "place_1": Shape(1, 600, 0, 900, 3, tones=((523, 120), (659, 120), (784, 300))),
    "place_2": Shape(2, 250, 250, 900, 3, tones=((523, 120), (659, 300))),
    "place_3": Shape(3, 250, 250, 900, 3, tones=((523, 300),)),
    "dead_heat": Shape(10, 250, 250, tones=((523, 100), (0, 60), (523, 100), (0, 60), (523, 100))),
    "void": Shape(4, 100, 300, tones=((392, 150), (294, 300))),
    "breach": Shape(6, 100, 300, tones=((311, 120), (277, 300))),
    "end": Shape(1, 1000, tones=((392, 200), (330, 200), (262, 400))),
    "win": Shape(1, 5000, tones=((523, 120), (659, 120), (784, 120), (1047, 500))),
}
"""What a pad can play: every pattern but words, ``off`` (dark and silent), and ``find`` (which pad is this?).

Places are told by the number of flashes, a dead heat by even blinking: never by colour.
"""


def is_lit(shape: Shape, since_ms: float) -> bool:
    """Is a light on `since_ms` after it began to play?"""
    flashes_ms = shape.flashes * (shape.on_ms + shape.off_ms)
    round_ms = flashes_ms + shape.pause_ms
    if not 0 <= since_ms < round_ms * shape.rounds:
        return False
    into_ms = since_ms % round_ms
    return into_ms < flashes_ms and into_ms % (shape.on_ms + shape.off_ms) < shape.on_ms


def tone_hz(shape: Shape, since_ms: float) -> int:
    """What a buzzer sounds `since_ms` after it began to play; 0 is silence."""
    until_ms = 0
    for hz, ms in shape.tones:
        until_ms += ms
        if 0 <= since_ms < until_ms:
            return hz
    return 0
