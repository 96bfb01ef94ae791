"""The games that can be played, one line a game."""

from __future__ import annotations

from typing import Any

from companion.core.game import Game
from companion.games import tacta, tada, tahwars, zingazam

GAMES: dict[str, Game[Any]] = {
    game.name: game for game in (tada.GAME, tacta.GAME, tahwars.GAME, zingazam.GAME)
}
