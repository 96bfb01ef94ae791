"""How far a claim about a die may be believed: few weights, fitted on photographs of tables that no network saw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from vision.dice.judging import Claim
from vision.dice.networks import MODELS

_LEAST, _MOST = 0.01, 0.995
_MOST_OFF = 1.0  # log of a size against the others' that is as odd as any larger one
_COUNTS = 0.4  # chance of a die times the score of its spot, from which its size counts for the others


class Trust(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of a logistic fit, the first a constant, in the order of `features`.

    `right`: that the value is right. `die`: that a die with pips lies there, for which the first feature is left out.
    `say`: the chance from which a value is said; `tell`: the chance of a die from which an unread one is told.
    """

    right: tuple[float, float, float, float, float]
    die: tuple[float, float, float, float]
    say: float
    tell: float

    def of(self, row: Sequence[float]) -> tuple[float, float]:
        """(chance that the value is right, chance that a die lies there) of one row of `features`."""
        return (
            _share(self.right[0] + float(np.dot(self.right[1:], row))),
            _share(self.die[0] + float(np.dot(self.die[1:], row[1:]))),
        )


def load_trust(folder: Path | None = None) -> Trust:
    """The weights in trust.json of `folder`, by default of the package."""
    return msgspec.json.decode(Path(str((folder or MODELS) / "trust.json")).read_bytes(), type=Trust)


def features(claims: Sequence[Claim]) -> list[tuple[float, float, float, float]]:
    """Per claim: log odds of its value, of a die and of the spot, and how far its size is from the others'."""
    sides = [claim.spot.side_px for claim in claims if claim.is_die * claim.spot.score > _COUNTS]
    usual = float(np.median(sides)) if len(sides) > 1 else None
    return [
        (
            _odds(claim.chance),
            _odds(claim.is_die),
            _odds(claim.spot.score),
            min(abs(float(np.log(claim.spot.side_px / usual))), _MOST_OFF) if usual else 0.0,
        )
        for claim in claims
    ]


def _odds(chance: float) -> float:
    inside = min(max(chance, _LEAST), _MOST)
    return float(np.log(inside / (1 - inside)))


def _share(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))
