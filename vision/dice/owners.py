"""How sure the owners of enrolled dice can be told apart by colour, under the lamp of their enrolment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from vision.dice.marbled import ink_axis

if TYPE_CHECKING:
    from vision.profile import Sample

TOO_CLOSE = 0.25
"""Log units of light: two owners' dice whose colours are no farther apart are likely to be taken for each other."""


class OwnersApart(msgspec.Struct, frozen=True):
    """The two owners whose dice are most alike. `apart`: how much farther their bodies are from each other's colours
    than from their own, in log units of light."""

    one: str
    other: str
    apart: float

    @property
    def is_too_close(self) -> bool:
        """Whether these two should not play with these dice under this lamp."""
        return self.apart < TOO_CLOSE


def closest_owners(samples: Sequence[Sample]) -> OwnersApart | None:
    """The pair of owners that is hardest to tell apart; None where there are not two."""
    owners = sorted({sample.owner for sample in samples})
    mine = {owner: [sample for sample in samples if sample.owner == owner] for owner in owners}
    axes = {owner: ink_axis(np.stack([s.picture for s in of])) for owner, of in mine.items()}
    far: dict[tuple[str, str], float] = {}
    for owner in owners:
        for by in owners:
            axis = axes[by]
            if axis is not None:
                rows = [axis.strangeness(sample.picture, sample.patch) for sample in mine[owner]]
                far[owner, by] = float(np.median(rows))
    best: OwnersApart | None = None
    for i, one in enumerate(owners):
        for other in owners[i + 1 :]:
            leads = [
                far[a, b] - far[a, a]
                for a, b in ((one, other), (other, one))
                if (a, b) in far and (a, a) in far
            ]
            if leads and (best is None or min(leads) < best.apart):
                best = OwnersApart(one, other, round(min(leads), 3))
    return best
