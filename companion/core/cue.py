"""What the table does back: light, sound, words."""

from __future__ import annotations

import msgspec


class Cue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to show, sound or say.

    `target`: ``all``, ``referee``, ``public`` or a seat's id. `pattern`: a name that every output knows how
    to play (PATTERNS). `at_ns`: host instant at which it shall happen, None for at once. `text`: the words,
    in the table's language, for live regions, captions and speech; every pattern has words. `urgent`: may
    interrupt a screen reader.
    """

    target: str
    pattern: str
    text: str
    at_ns: int | None = None
    urgent: bool = False


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
