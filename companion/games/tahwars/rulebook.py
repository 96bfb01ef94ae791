"""The numbers and house rules of TAH WARS that stand in the book."""

from __future__ import annotations

from collections.abc import Mapping

START_SHIELD, START_ATTACK, START_HEALTH, START_EACH = 8, 1, 5, 2
"""Rule: TAH-2"""
LAUNCHED = ("d4", "d6", "d8")
"""Rule: TAH-3"""
LINE_UP = 4
"""Rule: TAH-2"""
MOST_QUESTS = 2
"""Rule: TAH-6"""
CROWN_COST = 3
"""Of each resource. Rule: TAH-12"""
TARGET = 5
"""Crowns a head. Rule: TAH-28 TAH-30"""
MOST_TERRAINS = 3
"""On how many terrains a footprint may stand. Rule: TAH-34"""
PHASES = {
    "setup": "Set-up",
    "launch": "First launch",
    "quests": "Phase 1: the quest board",
    "orders": "Phase 2: give orders",
    "recruit": "Phase 3: recruit and trade",
    "actions": "Phase 4: navigate and take actions",
    "over": "The end",
}
"""Rule: TAH-5"""

OPTIONS: Mapping[str, str | int | bool] = {
    "zero_health": "lose_crown",
    "final_round": "this",
    "off_board_hit": "seen_face",
    "miss_raises": True,
    "first_to_five": False,
    "no_bought_win": False,
    "teams": "off",
    "dealing": "program",
}
"""House rules with their defaults, fixed once dice fly.

teams: `pairs` (partners opposite, with six three pairs), `threes` (six players, every other one). dealing: who shuffles
the quest cards: the program (`program`), or people at the table, who say which card was turned up (`table`).
Rule: TAH-20 TAH-22 TAH-27 TAH-28 TAH-30
"""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "zero_health": ("lose_crown", "eliminated"),
    "final_round": ("this", "next"),
    "off_board_hit": ("seen_face", "zero"),
    "teams": ("off", "pairs", "threes"),
    "dealing": ("program", "table"),
}
