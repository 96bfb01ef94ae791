"""The order of a running race, told to all who listen at the table's broker."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from companion.core.clock import Stamp, groups, joint_ns
from companion.core.game import Game, Sitting
from companion.runtime.desk import Snapshot
from firmware_bridge.verdict import Verdict


def verdict(game: Game[Any], sitting: Sitting[Any], *, is_final: bool) -> Verdict | None:
    """The order of the slams that stand, best first, by the names of their pads; None while there is none.

    A seat is told by its device, or ``device/input`` where several seats share one; a seat without a pad by its id.
    """
    found = game.slams(sitting)
    if not found:
        return None
    names = [_name(sitting, seat) for seat, _ in found]
    stamps = [stamp for _, stamp in found]
    rank = tuple(tuple(sorted(names[i] for i in group)) for group in groups(stamps))
    return Verdict(
        round=game.part(sitting),
        rank=rank,
        ties=sum(len(group) > 1 for group in rank),
        window_ms=round(_window_ns(stamps) / 1e6, 3),
        unc_ms=round(max(stamp.u_ns for stamp in stamps) / 1e6, 3),
        final=is_final,
    )


def _window_ns(stamps: Sequence[Stamp]) -> int:
    return max((joint_ns(x, y) for x, y in itertools.combinations(stamps, 2)), default=0)


def _name(sitting: Sitting[Any], seat_id: str) -> str:
    seat = sitting.seat(seat_id)
    if seat is None or not seat.device:
        return seat_id
    is_shared = sum(other.device == seat.device for other in sitting.playing()) > 1
    return f"{seat.device}/{seat.input}" if is_shared else seat.device


class VerdictTeller:
    """Tells each change of the order once: provisional at once, final when nothing earlier can be in flight."""

    def __init__(self, game: Game[Any], tell: Callable[[Verdict], None]) -> None:
        """`tell` must not wait."""
        self._game, self._tell = game, tell
        self._told: Verdict | None = None

    def changed(self, snapshot: Snapshot) -> None:
        """The table has another picture."""
        now = verdict(self._game, snapshot.provisional, is_final=snapshot.provisional is snapshot.sitting)
        if now is not None and now != self._told:
            self._tell(now)
        self._told = now
