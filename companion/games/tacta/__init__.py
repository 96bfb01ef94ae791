"""Tacta: overlapping cards, visible dots score."""

from companion.games.tacta.game import GAME

__all__ = ["GAME"]
