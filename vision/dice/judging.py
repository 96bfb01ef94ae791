"""What the cut faces of a picture show: looks of the classifier, the legal patterns where it doubts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vision.dice.cutting import red_alone
from vision.dice.finding import Spot
from vision.dice.networks import COCKED, NOTHING, FaceClassifier, Floats
from vision.dice.pips import cut, pattern_shares
from vision.frame import Frame

_SURELY_NOTHING = 0.85  # chance, at either of two looks, from which a spot is looked at no more
_FARTHEST = (0.35, 0.45)  # the face lies at most this share of its edge (and log of its edge) from the spot
_SURE = 0.9  # chance of a value at two looks that agree, from which no more looks are taken
# How a doubtful face is looked at: the edge against the face's, quarter turns, whether mirrored.
_LOOKS = ((1.0, 2, True), (0.88, 1, False), (1.14, 3, True), (1.0, 1, False))
# How much rarer (log) each class is among what the finder shows than it was in training: above all other kinds.
RARER = np.array([0, 0, 0, 0, 0, 0, 0, 1.2, 1.0], np.float32)
PATTERN_WEIGHT = 0.8  # of the pattern's log chances beside the classifier's
_LEAST_PATTERN = 0.03


@dataclass(frozen=True)
class Claim:
    """A die that may lie at `spot`: the likeliest value, the chance of it, of any die with pips, of a leaning one, of
    nothing; what is left is the chance of a die of another kind."""

    spot: Spot
    value: int
    chance: float
    is_die: float
    is_cocked: float
    is_nothing: float

    def unlikely_other(self, rarer: float) -> Claim:
        """The claim where a die of another kind is so much rarer (log)."""
        other = max(0.0, 1.0 - self.is_die - self.is_nothing)
        rest = 1.0 - other * (1.0 - float(np.exp(-rarer)))
        return replace(
            self,
            chance=self.chance / rest,
            is_die=self.is_die / rest,
            is_cocked=self.is_cocked / rest,
            is_nothing=self.is_nothing / rest,
        )


class FaceJudge:
    """Says what lies at each spot that a finder gave."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where classifier.onnx lies, by default in the package."""
        self._classifier = FaceClassifier(folder)

    def claims(self, frame: Frame, spots: Sequence[Spot]) -> list[Claim]:
        """A claim for each spot where anything but nothing may lie, put where the face really lies."""
        logs, moves = self._classifier.look([_cut(frame, spot) for spot in spots])
        kept = _perhaps_something(logs)
        placed = [moved(spots[n], moves[n]) for n in kept]
        again, _ = self._classifier.look([_cut(frame, spot)[:, ::-1] for spot in placed])
        still = _perhaps_something(again)
        logs, again, placed = logs[kept][still], again[still], [placed[n] for n in still]
        sure = [
            bool(min(np.exp(first).max(), np.exp(second).max()) > _SURE and first.argmax() == second.argmax())
            for first, second in zip(logs, again, strict=True)
        ]
        doubtful = [n for n, is_sure in enumerate(sure) if not is_sure]
        more, _ = self._classifier.look([face for n in doubtful for face in _closer(frame, placed[n])])
        looks = more.reshape(len(doubtful), 3 * len(_LOOKS), more.shape[1])
        for n, row in zip(doubtful, looks, strict=True):
            again[n] = _together(again[n], row)
        return [
            _claim(spot, row, None if is_sure else pattern_shares(_cut(frame, spot), is_centred=True))
            for spot, row, is_sure in zip(placed, again, sure, strict=True)
        ]


def _closer(frame: Frame, spot: Spot) -> list[Frame]:
    """The faces by which a doubtful one is judged: _LOOKS at it, then the same by their red channel alone."""
    faces = [_cut(frame, spot, *how) for how in _LOOKS]
    return faces + [red_alone(face, is_negative) for face in faces for is_negative in (False, True)]


def _together(first: Floats, closer: Floats) -> Floats:
    """Log-probabilities (9,) of a first look and of those at `_closer`: which value it shows all of them say, whether
    it shows one at all those alone that saw its colours."""
    plain = (first + closer[: len(_LOOKS)].sum(0)) / (1 + len(_LOOKS))
    values = (first + closer.sum(0))[1:7] / (1 + len(closer))
    whole = plain.copy()
    whole[1:7] = values + _log_sum(plain[1:7]) - _log_sum(values)
    return np.asarray(whole, np.float32)


def _log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum()))


def _perhaps_something(logs: Floats) -> list[int]:
    """The rows of (n, 9) that are not surely nothing."""
    return [n for n, row in enumerate(logs) if np.exp(row[NOTHING]) < _SURELY_NOTHING]


def _cut(frame: Frame, spot: Spot, size: float = 1.0, turns: int = 0, is_mirrored: bool = False) -> Frame:
    face = np.rot90(cut(frame, spot.x_px, spot.y_px, spot.side_px * size), turns)
    return face[:, ::-1] if is_mirrored else face


def moved(spot: Spot, move: Floats) -> Spot:
    """`spot` where the classifier saw the face, within what may be trusted."""
    x, y = np.clip(move[:2], -_FARTHEST[0], _FARTHEST[0])
    side = spot.side_px * float(np.exp(np.clip(move[2], -_FARTHEST[1], _FARTHEST[1])))
    return Spot(spot.x_px + float(x) * spot.side_px, spot.y_px + float(y) * spot.side_px, side, spot.score)


def _claim(spot: Spot, logs: Floats, pattern: Floats | None) -> Claim:
    logs = logs - RARER
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    values = logs[1:7]
    if pattern is not None:
        seen = PATTERN_WEIGHT * np.log(np.maximum(pattern, _LEAST_PATTERN))
        values = np.asarray(values + seen, np.float32)
    chance = np.exp(values - values.max())
    chance /= chance.sum()
    best = int(chance.argmax())
    has_pips = float(shares[1:7].sum())
    return Claim(
        spot,
        best + 1,
        float(chance[best]) * has_pips,
        has_pips + float(shares[COCKED]),
        float(shares[COCKED]),
        float(shares[NOTHING]),
    )
