"""Zing-a-Zam: cards held backwards, each with an ability; the highest number takes the round."""

from companion.games.zingazam.game import GAME

__all__ = ["GAME"]
