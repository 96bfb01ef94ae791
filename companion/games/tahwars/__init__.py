"""TAH WARS: dice towers on a map of terrains."""

from companion.games.tahwars.game import GAME

__all__ = ["GAME"]
