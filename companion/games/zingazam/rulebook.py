"""The numbers and house rules of Zing-a-Zam."""

from __future__ import annotations

from collections.abc import Mapping

OPTIONS: Mapping[str, str | int | bool] = {
    "hands": "played",
    "visible_at_start": 1,
    "moved_card": "top",
    "series": "points",
    "games": 1,
    "variant": False,
}
"""House rules with their defaults.

hands: `played` knows the cards that were played only, `full` every card as it is dealt. moved_card: which card of a
score pile a 2 or an 8 moves, the `top` one, a `random` one, or one `chosen` by who uses the ability. series: by what
several games are won; games: how many are played. variant: the set-up that the owner filled in for few players.
Rule: ZAZ-2 ZAZ-3 ZAZ-11 ZAZ-17 ZAZ-23
"""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "hands": ("played", "full"),
    "moved_card": ("top", "random", "chosen"),
    "series": ("points", "games_won"),
}

BOUNDS: Mapping[str, tuple[int, int]] = {"visible_at_start": (0, 8), "games": (1, 50)}

AT_ANY_TIME = ("series", "games")
"""House rules that may be changed while a game runs."""

ABILITY_RULES = {
    1: "ZAZ-10", 2: "ZAZ-11", 3: "ZAZ-12", 4: "ZAZ-13", 5: "ZAZ-14", 6: "ZAZ-15", 7: "ZAZ-16", 8: "ZAZ-17",
}  # fmt: skip
"""The rule of each number's ability."""
