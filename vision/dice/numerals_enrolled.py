"""Reading dice with numerals that were enrolled: each against the faces of its own set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from companion.core.layout import Placed
from vision.dice.numerals import Judged, NumeralReader, best_of
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_looks import KINDS, LEGAL, TEXTS
from vision.dice.numerals_matching import FaceFit, FaceShot, NumeralMatcher
from vision.dice.numerals_outline import whole_of, wholes
from vision.dice.numerals_profile import NumeralProfile
from vision.dice.numerals_standing import StandingDie
from vision.dice.reading import Reading
from vision.frame import Frame
from vision.surface import Surface

_LEAST_DIE = 0.15  # chance by the network from which a spot is held against the enrolled faces
_LEAST_FIT = 0.6  # correlation below which a die is none of the set
_LIKELY_KIND = 0.02  # chance of a kind by the network from which its faces are tried
_PER_FIT = 4.0  # log-chances for each halving (by e) of what a fit leaves unexplained
_PER_NETWORK = 1.3  # of its log-chances
_PER_STANDING = 20.0  # as _PER_FIT, of the numbers of a standing d4, which differ by less
_PER_STANDING_READ = 0.2  # as _PER_NETWORK, of those numbers: on sides seen askew it reads little
_MOSTLY = 0.6  # of the pictures of a d4 from which one is held for a standing one
_SURELY_A_DIE = 0.5  # chance by the network from which a die that is none of the set is told
_SURE = 0.8
_SIZES = (0.55, 1.8)  # radii of other dice against those of the set
_LESS = 0.85  # how much less sure the network is of a die that is none of the set


class EnrolledNumeralReader:
    """Reads the dice of an enrolled set, and others by the network with less confidence; from one thread."""

    def __init__(
        self, profile: NumeralProfile, conventions: Conventions | None = None, empty: Frame | None = None
    ) -> None:
        """`conventions`: None for those of the profile. `empty`: as in `NumeralReader`."""
        self._conventions = conventions or profile.conventions
        self._reader = NumeralReader(self._conventions, empty)
        self._matcher = NumeralMatcher(profile.shots)
        self._standing = _standing(profile.shots)
        self._kinds = tuple(kind for kind in self._matcher.kinds if kind in self._conventions.kinds)

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in `frame` as `NumeralReader.read` tells them."""
        known, others = [], []
        for one in self._reader.found(frame, _LEAST_DIE):
            fits = self._fits(frame, one)
            if fits and fits[0].score >= _LEAST_FIT:
                known.append((one, decided(one, fits, is_standing=self._standing is not None)))
            elif one.is_die >= _SURELY_A_DIE:
                kind, text, chance = best_of(one, self._conventions.kinds)
                others.append((one, (kind, text, chance * _LESS)))
        sizes = [one.pose.radius_px for one, (_, _, chance) in known if chance > _SURE]
        if sizes:
            usual = float(np.median(sizes))
            others = [other for other in others if _SIZES[0] < other[0].pose.radius_px / usual < _SIZES[1]]
        dice = [self._reader.told(frame, one, face) for one, face in (*known, *others)]
        return Reading(
            tuple(sorted(dice, key=lambda die: (die.box_px[1], die.box_px[0]))), () if dice else ("no_dice",)
        )

    def _likely(self, one: Judged) -> list[str]:
        """The enrolled kinds that it may be; all where the network thinks of none of them."""
        likely = [kind for kind in self._kinds if float(np.exp(one.kinds[KINDS.index(kind)])) > _LIKELY_KIND]
        return likely or list(self._kinds)

    def _fits(self, frame: Frame, one: Judged) -> list[FaceFit]:
        """How the enrolled faces fit, best first."""
        kinds = self._likely(one)
        if self._standing is None or "d4" not in kinds:
            return self._matcher.fits(frame, one.pose, kinds)
        fits = self._matcher.fits(frame, one.pose, [kind for kind in kinds if kind != "d4"])
        standing = self._standing.fits(wholes(frame, one.pose))
        fits += [FaceFit("d4", fit.text, fit.score, one.pose) for fit in standing]
        return sorted(fits, key=lambda fit: -fit.score)


def decided(one: Judged, fits: Sequence[FaceFit], *, is_standing: bool = False) -> tuple[str, str, float]:
    """(kind, text, chance) by the fits and the network together. `is_standing`: whether those of a d4 are of one that
    stands on a face."""
    logs = together(one, fits)
    own = [fit for fit in fits if fit.kind == "d4"]
    if is_standing and own:
        total = np.logaddexp.reduce([logs["d4", text] for text in LEGAL["d4"]])
        logs |= {("d4", text): float(total + log) for text, log in _standing_logs(one, own).items()}
    best = max(logs, key=lambda face: logs[face])
    return *best, float(np.exp(logs[best]))


def _standing(shots: Sequence[FaceShot]) -> StandingDie | None:
    """The standing d4 among the enrolled dice, None where there is none or too little is known of it."""
    own = [shot for shot in shots if shot.kind == "d4"]
    found = [(shot.text, whole_of(shot.whole)) for shot in own if shot.whole is not None]
    told = [(text, whole) for text, whole in found if whole is not None]
    if not own or len(told) < _MOSTLY * len(own) or len({text for text, _ in told}) < len(LEGAL["d4"]) - 1:
        return None
    return StandingDie(told)


def _standing_logs(one: Judged, fits: Sequence[FaceFit]) -> dict[str, float]:
    """Log-chance of each number of a standing d4, of all together 1."""
    scores = {fit.text: fit.score for fit in fits}
    logs = {}
    for text in LEGAL["d4"]:
        left = 1.0 - min(scores.get(text, min(scores.values())), 0.995) ** 2
        read = float(one.texts[KINDS.index("d4"), TEXTS.index(text)])
        logs[text] = _PER_STANDING_READ * read - _PER_STANDING * float(np.log(left))
    total = float(np.logaddexp.reduce(list(logs.values())))
    return {text: log - total for text, log in logs.items()}


def together(
    one: Judged, fits: Sequence[FaceFit], per_network: float = _PER_NETWORK
) -> dict[tuple[str, str], float]:
    """Log-chance of each (kind, text) of the fits' kinds, of all together 1, by the fits and the network, whose
    log-chances count `per_network`; a face of these kinds that is not among the fits fits no better than the worst
    that is."""
    logs: dict[tuple[str, str], float] = {}
    for kind in dict.fromkeys(fit.kind for fit in fits):
        of_kind = {fit.text: fit.score for fit in fits if fit.kind == kind}
        worst = min(of_kind.values())
        for text in LEGAL[kind]:
            left = 1.0 - min(of_kind.get(text, worst), 0.995) ** 2
            network = float(one.kinds[KINDS.index(kind)] + one.texts[KINDS.index(kind), TEXTS.index(text)])
            logs[kind, text] = per_network * network - _PER_FIT * float(np.log(left))
    total = float(np.logaddexp.reduce(list(logs.values())))
    return {face: log - total for face, log in logs.items()}
