"""Ta-Da!: race to roll symbols, slam the cup."""

from companion.games.tada.game import GAME

__all__ = ["GAME"]
