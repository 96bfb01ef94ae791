"""Dice on a board: where they lie, of which kind, whose, and which number they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.observation import BoardDie
from vision.dice.finding import Spot
from vision.dice.networks import FaceFinder
from vision.dice.numerals import Judged, NumeralNetwork
from vision.dice.numerals_enrolled import together
from vision.dice.numerals_looks import KINDS, LEGAL, TEXTS
from vision.dice.numerals_matching import SHOT_REACH, FaceShot, NumeralMatcher
from vision.frame import Frame
from vision.towers.blobs import coloured
from vision.towers.colours import body_colour, body_middle, likeliest_owner, unlike
from vision.towers.marks import BoardMarks
from vision.towers.poses import BoardPose

Floats = NDArray[np.float64]

_FACES_PX = (20.0, 36.0)  # how large a die is in the looks of the finder
_DIE_MM = 18.0
_RADIUS_MM = (7.0, 17.0)  # of a die that is believed
_MARGIN_MM = 60.0  # around the board, where dice that fell off are still told
_APART_MM = 11.0
_LEAST_SCORE = 0.2
_LEAST_DIE = 0.35
_PER_DIE, _PER_UNLIKE, _LEAST_WORTH = 0.3, 1 / 150, 0.39
"""What the finder's score is worth with the chance of a die, and less how unlike its owner's tower it looks."""
_SURE_DIE, _LIKE = (
    0.98,
    38.0,
)  # a pyramid has no top that the finder knows, but is surely a die of its owner's colour
_UNLIKE, _SURE_FACE = 42.0, 0.57  # beside the board a cloth's pattern may look like a die, not an owner's
_LIKELY_KIND = 0.02  # chance of a kind from which a die may be of it where its owner's other one is surer
_POSSIBLE = -4.0  # log-chance of a kind from which its enrolled faces are tried
_STEP = 0.25  # logs of radii for which enrolled faces are made anew
_SOFT_PX = 0.6  # how soft a camera's picture is
_LEAST_FIT = 0.5  # correlation below which a die is none of its owner's set
_PER_NETWORK = 1.0  # of its log-chances, where enrolled faces have a say
_HALF_SURE, _SURE = 0.5, 0.8  # chance of kind and number from which they are told with a doubt; without one
_SURE_AGAINST = 0.9  # chance with enrolled faces that is sure whatever the network alone says
_SEEN_MM = {"d4": 12.0, "d6-numeral": 15.3, "d8": 12.7, "d10": 9.5, "d12": 15.0, "d20": 12.3, "d100": 9.5}
"""How high over the board what the network takes for the top's middle lies."""
_HALF_MM = 8.0
"""How high the middle of all that is seen of a die lies."""
_PLACE_MM = 1.5  # how far off a die's place may be, two deviations


@dataclass(frozen=True)
class _Claim:
    """A die as it may be, with its middle in mm of the board, whose it is, and the log-chances of each kind's texts."""

    judged: Judged
    xy_mm: tuple[float, float]
    owner: str
    logs: list[Floats]


class BoardDiceReader:
    """Reads the dice of a board; to be used from one thread."""

    def __init__(
        self, models: Path | None = None, sets: Mapping[str, Sequence[FaceShot]] | None = None
    ) -> None:
        """`models`: folder of other networks than those of the package. `sets`: owner -> the enrolled pictures of their
        dice, which are read against these faces."""
        self._finder = FaceFinder(models)
        self._network = NumeralNetwork()
        self._sets, self._matchers = dict(sets or {}), dict[tuple[str, int], NumeralMatcher]()

    def read(
        self, frame: Frame, pose: BoardPose, marks: BoardMarks, owners: Mapping[str, Floats]
    ) -> tuple[BoardDie, ...]:
        """The dice in `frame` (uint8 BGR), from the top left of the board; a number that is half sure bears
        the `reason` margin, one that is less is None.

        `owners`: name -> the colour that this picture shows of what is theirs, (3,) BGR. Terrains are not told here.
        """
        spots = self._spots(frame, pose, marks, owners)
        claims = self._claims(frame, spots, (pose, marks), owners)
        dice = [self._told(claim, kind, marks) for claim, kind in zip(claims, _kinds(claims), strict=True)]
        return tuple(sorted(dice, key=lambda die: (die.xy_mm[1], die.xy_mm[0])))

    def _spots(
        self, frame: Frame, pose: BoardPose, marks: BoardMarks, owners: Mapping[str, Floats]
    ) -> list[Spot]:
        """Places where a die may lie: on the board or a little beside it, not where towers and tags are seen."""
        width, height = marks.board_mm
        middle = np.array([(width / 2, height / 2), (width / 2 + 10, height / 2)])
        per_mm = float(
            np.linalg.norm(np.diff(pose.camera.px(np.column_stack([middle, np.zeros(2)])), axis=0)) / 10
        )
        spots = [
            spot
            for face_px in _FACES_PX
            for spot in self._finder.look(frame, min(1.0, face_px / (_DIE_MM * per_mm)))
            if spot.score >= _LEAST_SCORE
        ]
        spots += coloured(frame, per_mm, owners)
        if not spots:
            return []
        places = pose.camera.mm(np.array([(s.x_px, s.y_px) for s in spots]), _DIE_MM / 2)
        hidden = hidden_areas(pose, marks)
        kept = []
        for spot, (x, y) in zip(spots, places, strict=True):
            is_near = -_MARGIN_MM < x < width + _MARGIN_MM and -_MARGIN_MM < y < height + _MARGIN_MM
            at = (spot.x_px, spot.y_px)
            if is_near and not any(cv2.pointPolygonTest(area, at, False) > 0 for area in hidden):
                kept.append(Spot(spot.x_px, spot.y_px, _DIE_MM * per_mm / 1.34, spot.score))
        return kept

    def _claims(
        self,
        frame: Frame,
        spots: Sequence[Spot],
        at_board: tuple[BoardPose, BoardMarks],
        owners: Mapping[str, Floats],
    ) -> list[_Claim]:
        pose, marks = at_board
        kept: list[_Claim] = []
        for judged in sorted(self._network.judged(frame, spots), key=lambda j: -j.is_die * j.score):
            if judged.is_die < _LEAST_DIE:
                continue
            kind = KINDS[int(np.argmax(judged.kinds[: len(KINDS)]))]
            at = np.array([(judged.pose.x_px, judged.pose.y_px), (judged.pose.x_px + 10, judged.pose.y_px)])
            top = pose.camera.mm(at, _SEEN_MM[kind])
            mm_per_px = float(np.linalg.norm(top[1] - top[0])) / 10
            radius = judged.pose.radius_px * mm_per_px
            if not _RADIUS_MM[0] < radius < _RADIUS_MM[1]:
                continue
            if any(np.hypot(*np.subtract(top[0], other.xy_mm)) < _APART_MM for other in kept):
                continue
            colour = body_colour(frame, judged.pose)
            owner, _ = likeliest_owner(colour, owners)
            is_on = bool((top[0] >= 0).all() and (top[0] <= marks.board_mm).all())
            if not _is_die(judged, unlike(colour, owners[owner]), is_on=is_on):
                continue
            middle = body_middle(frame, judged.pose, colour)
            place = pose.camera.mm(np.array([middle]), _HALF_MM)[0] if middle else top[0]
            kept.append(
                _Claim(judged, (float(place[0]), float(place[1])), owner, self._logs(frame, judged, owner))
            )
        return kept

    def _logs(self, frame: Frame, judged: Judged, owner: str) -> list[Floats]:
        """Of each kind, the log-chances of its texts, by the network and the faces of the owner's own dice."""
        logs = _joint(judged)
        if owner not in self._sets:
            return logs
        known = self._matcher(owner, judged.pose.radius_px)
        likely = [kind for kind, of in zip(KINDS, logs, strict=True) if np.logaddexp.reduce(of) > _POSSIBLE]
        fits = known.fits(frame, judged.pose, [kind for kind in likely if kind in known.kinds])
        if not fits or fits[0].score < _LEAST_FIT:
            return logs
        found, kinds = together(judged, fits, _PER_NETWORK), {fit.kind for fit in fits}
        mass = float(
            np.logaddexp.reduce(np.concatenate([of for k, of in zip(KINDS, logs, strict=True) if k in kinds]))
        )
        return [
            np.array([found[kind, text] + mass for text in LEGAL[kind]]) if kind in kinds else of
            for kind, of in zip(KINDS, logs, strict=True)
        ]

    def _matcher(self, owner: str, radius_px: float) -> NumeralMatcher:
        """The faces of an owner's dice as they would look at about this radius."""
        step = max(1, round(np.log(max(radius_px, 4.0)) / _STEP))
        if (owner, step) not in self._matchers:
            side = round(2 * SHOT_REACH * float(np.exp(step * _STEP)))
            shots = [
                FaceShot(shot.kind, shot.text, _from_afar(shot.piece, side)) for shot in self._sets[owner]
            ]
            self._matchers[owner, step] = NumeralMatcher(shots)
        return self._matchers[owner, step]

    def _told(self, claim: _Claim, kind: str, marks: BoardMarks) -> BoardDie:
        of_kind = claim.logs[KINDS.index(kind)]
        best = int(np.argmax(of_kind))
        text, chance = LEGAL[kind][best], float(np.exp(of_kind[best]))
        at = claim.judged.pose
        width, height = marks.board_mm
        x, y = claim.xy_mm
        is_on = 0 <= x <= width and 0 <= y <= height
        # From afar enrolled faces are alike: alone they make sure from a higher chance on.
        by_network = float(np.exp(_joint(claim.judged)[KINDS.index(kind)][best]))
        is_sure = chance >= _SURE_AGAINST or min(chance, by_network) >= _SURE
        is_told = chance >= _HALF_SURE
        radius = at.radius_px
        return BoardDie(
            kind=kind.removesuffix("-numeral"),
            value=(10 if (kind, text) == ("d10", "0") else int(text)) if is_told else None,
            confidence=round(chance, 3),
            xy_mm=(round(x, 2), round(y, 2)),
            box_px=(
                round(at.x_px - radius),
                round(at.y_px - radius),
                round(at.x_px + radius),
                round(at.y_px + radius),
            ),
            u_mm=_PLACE_MM,
            owner=claim.owner,
            on_board=is_on,
            reason=None if is_sure else "margin",
        )


def _is_die(judged: Judged, unlikeness: float, *, is_on: bool) -> bool:
    """Whether a die lies there, which is so unlike its owner's tower; `is_on`: on the board."""
    if not is_on and unlikeness > _UNLIKE and judged.score < _SURE_FACE:
        return False
    worth = judged.score + _PER_DIE * judged.is_die - _PER_UNLIKE * unlikeness
    return worth >= _LEAST_WORTH or (judged.is_die >= _SURE_DIE and unlikeness <= _LIKE)


def _from_afar(piece: Frame, side: int) -> Frame:
    """A picture as it looks where it is only `side` px large, in its own size."""
    if side >= piece.shape[0]:
        return piece
    small = cv2.GaussianBlur(cv2.resize(piece, (side, side), interpolation=cv2.INTER_AREA), (0, 0), _SOFT_PX)
    return np.asarray(cv2.resize(small, piece.shape[1::-1], interpolation=cv2.INTER_CUBIC), np.uint8)


def _kinds(claims: Sequence[_Claim]) -> list[str]:
    """The kind of each die. Nobody has two of one: of two that look so the less sure one is what else it may be."""
    chances = [np.exp([of.max() for of in claim.logs]) for claim in claims]
    found = [""] * len(claims)
    taken: set[tuple[str, str]] = set()
    for n in sorted(range(len(claims)), key=lambda n: -float(chances[n].max())):
        likely = [int(k) for k in np.argsort(-chances[n]) if chances[n][k] >= _LIKELY_KIND]
        free = [k for k in likely if (claims[n].owner, KINDS[k]) not in taken]
        found[n] = KINDS[(free or [int(chances[n].argmax())])[0]]
        taken.add((claims[n].owner, found[n]))
    return found


def _joint(judged: Judged) -> list[Floats]:
    """Log-chances of each kind's texts together with the kind, of all kinds together 1."""
    logs = [
        judged.kinds[k] + judged.texts[k][[TEXTS.index(text) for text in LEGAL[kind]]].astype(np.float64)
        for k, kind in enumerate(KINDS)
    ]
    total = np.logaddexp.reduce(np.concatenate(logs))
    return [of_kind - total for of_kind in logs]


def hidden_areas(pose: BoardPose, marks: BoardMarks) -> list[NDArray[np.float32]]:
    """Outlines in px of all that towers and corner tags cover in the picture."""
    found = []
    half = marks.tower.side_mm / 2
    square = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
    for tower in pose.towers:
        turn = np.radians(tower.heading_deg)
        cos, sin = np.cos(turn), np.sin(turn)
        foot = square @ np.array([(cos, sin), (-sin, cos)]) + np.array(tower.xy_mm)
        block = np.concatenate(
            [np.column_stack([foot, np.zeros(4)]), np.column_stack([foot, np.full(4, tower.top_mm)])]
        )
        hull = cv2.convexHull(pose.camera.px(block).astype(np.float32)).reshape(-1, 2)
        found.append(np.asarray(hull, np.float32))
    reach = marks.corner_tags.side_mm * 0.62
    for x, y in marks.corner_tags.centres_mm:
        ring = np.array(
            [(x - reach, y - reach), (x + reach, y - reach), (x + reach, y + reach), (x - reach, y + reach)]
        )
        found.append(pose.camera.px(np.column_stack([ring, np.zeros(4)])).astype(np.float32))
    return found
