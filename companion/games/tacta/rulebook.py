"""The numbers and house rules of Tacta."""

from __future__ import annotations

from collections.abc import Mapping

MATCH_TOTAL = 100
"""Rule: TACTA-16"""
MOST_U_MM = 20.0
"""A place that is less sure than this says nothing about a line."""
RACE_NS = 2_000_000_000
"""Two hands on one shape within this time came there together; later ones came to a closed place. Rule: TACTA-20"""
CLICK_U_NS = 150_000_000
"""How late or early a person clicks for what they saw."""

OPTIONS: Mapping[str, str | int | bool] = {
    "mode": "classic",
    "match": False,
    "left_out": "circle",
    "allowance_tenth_mm": 20,
    "overlooked_play": "note",
    "replay": False,
    "re_exposed": True,
    "countdown_s": 3,
    "table_width_mm": 1000,
    "table_height_mm": 700,
}
"""House rules with their defaults; they are fixed while cards lie on the table, mode and match from the first round on.

mode: `classic`, `limited_space` (three rounds of one suit each), `quick` (without the suit `left_out`), `teams`
(partners sit opposite), `free_play` (no turns), `sabotage`. match: rounds until a total of 100. The table's size is
what the camera or a tape measure says. The others are named in the rules.
Rule: TACTA-9 TACTA-11 TACTA-12 TACTA-13 TACTA-16 TACTA-17 TACTA-18 TACTA-19 TACTA-20 TACTA-21
"""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": ("classic", "limited_space", "quick", "teams", "free_play", "sabotage"),
    "left_out": ("circle", "square", "triangle"),
    "overlooked_play": ("note", "illegal"),
}

BOUNDS: Mapping[str, tuple[int, int]] = {
    "allowance_tenth_mm": (0, 100),
    "countdown_s": (0, 60),
    "table_width_mm": (200, 3600),
    "table_height_mm": (200, 3600),
}
