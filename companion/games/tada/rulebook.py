"""The numbers and house rules of Ta-Da!"""

from __future__ import annotations

from collections.abc import Mapping

SPELLS_TO_WIN = 6
"""Rule: TADA-3"""
HAND = 2
"""Rule: TADA-6"""
DICE = 6
"""Rule: TADA-1"""
CALL_WINDOW_NS = 5_000_000_000
"""A call belongs to a slam that came at most this long before it or after it."""
BOUNCE_NS = 300_000_000
"""Hits of one pad that are closer than this are one slam that bounced."""
CALL_AGAIN_NS = 1_000_000_000
"""A call that is noted twice within this time is one call."""
PROTEST_NS = 60_000_000_000
"""So long a slam that became known too late waits for somebody to take it up."""
CLICK_U_NS = 150_000_000
"""How late or early a person clicks for what they saw."""

OPTIONS: Mapping[str, str | int | bool] = {
    "dealing": "companion",
    "locks": "camera",
    "call_required": False,
    "void_slam": "fails",
    "dead_heat": "both",
    "late_strike": "move_up",
    "strict_feats": False,
    "replace_feat": True,
    "in_turn": False,
    "countdown_s": 3,
    "round_clock_s": 0,
}
"""House rules with their defaults.

dealing: `companion` deals from the deck file, `table` plays with cards in hand and names what is revealed.
locks: who tells which dice are locked, the `camera`, `click`s, or nobody (`untracked`; every slam claims).
round_clock_s: 0 for none. The others are named in the rules.
"""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "dealing": ("companion", "table"),
    "locks": ("camera", "click", "untracked"),
    "void_slam": ("fails", "may_go_on"),
    "dead_heat": ("both", "roll_off", "referee"),
    "late_strike": ("move_up", "recast"),
}


def places(players: int) -> int:
    """How many casters of a round may succeed. Rule: TADA-17"""
    if players <= 3:
        return 1
    return 2 if players <= 5 else 3
