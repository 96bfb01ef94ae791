"""A board with towers, watched by a camera: what stands and lies at each rest, and what rolled by a tower before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import msgspec
import numpy as np

from companion.core.layout import Layout, Placed
from companion.core.observation import BoardRested, CameraChanged, DieNearTower, Observed, TableStirred
from vision.dice.numerals_profile import load_numerals
from vision.frame import Frame
from vision.settle import Mask, SettleGate, small_grey
from vision.surface import Marks, NoSurfaceError
from vision.towers.board import BoardReader, BoardSeen
from vision.towers.colours import OWNERS, tower_colours
from vision.towers.dice import BoardDiceReader
from vision.towers.marks import BoardMarks
from vision.towers.rolling import RollWatch
from vision.towers.stills import Stills

_MARGIN_MM = 30.0
_HAND_NS = 5_000_000_000
_NEAR_MM = 8.0
"""A die that came within this of a tower is told."""


class BoardSpec(msgspec.Struct, frozen=True):
    """A board between tags, and its map, whose regions' symbols are terrains; None: terrains are not told.

    `sets`: (owner, file of their enrolled dice) for each owner whose dice are known. `longest_look_s`: a look at the
    whole board that takes longer has hung, however busy the machine is.
    """

    marks: BoardMarks
    ground: Layout | None = None
    sets: tuple[tuple[str, str], ...] = ()
    longest_look_s: float = 30.0

    def lookout(self, name: str, marks: Marks | None) -> BoardWatcher:
        """Made in the camera's own process."""
        return BoardWatcher(name, BoardReader(self.marks, None, dice_reader(dict(self.sets))), self)


def dice_reader(sets: Mapping[str, str | Path]) -> BoardDiceReader:
    """The reader of a board's dice, those of the owners in `sets` against the faces in the file that is theirs. Raises
    EnrolError where a file is none."""
    return BoardDiceReader(sets={owner: load_numerals(Path(path)).shots for owner, path in sets.items()})


class BoardWatcher:
    """One camera's eye on one board: feed it every frame in order.

    The board is read when all of it has lain still for a moment, so no hand is over it, by the mean of some pictures,
    and told once a rest. While something moves, what rolls near a tower is followed, and told with the rest that ends
    it.
    """

    def __init__(
        self, source: str, reader: BoardReader, spec: BoardSpec, gate: SettleGate | None = None
    ) -> None:
        self._source, self._reader, self._spec = source, reader, spec
        self._gate = gate or SettleGate()
        self._where: Mask | None = None
        self._is_told = False
        self._stills = Stills()
        self._roll: RollWatch | None = None
        self._rested_ns: int | None = None
        self._blind: str | None = None
        self._shape: tuple[int, ...] | None = None
        self.seen: BoardSeen | None = None

    def set_layouts(self, layouts: tuple[Placed, ...]) -> None:
        """Nothing printed lies on the table but the board."""

    def step(self, frame: Frame, seen_ns: int, uncertainty_ns: int, number: int) -> list[Observed]:
        """What follows from this BGR frame, in order. `seen_ns` is host time. A picture of another size begins anew."""
        if frame.shape != self._shape:
            self._shape, self._where, self._roll, self._is_told = frame.shape, None, None, False
            self._stills = Stills()
        calm = self._gate.step(small_grey(frame), seen_ns, self._where)
        times = {"source": self._source, "seen_ns": seen_ns, "uncertainty_ns": uncertainty_ns}
        told: list[Observed] = []
        if calm.stirred.any() and self._is_told:
            self._is_told = False
            told.append(TableStirred(frame=number, **times))  # type: ignore[arg-type]  # source and times
        if self._roll is not None and not self._is_told:
            self._roll.step(frame, seen_ns, number)
        if calm.state != "rested" or self._is_told:
            self._rested_ns, self._stills = None, Stills()
            return told
        if self._rested_ns is None:
            self._rested_ns = seen_ns
        # A hand that rests on the board hides what lies there; a bag that was put down is not waited for for ever.
        waits = seen_ns - self._rested_ns < _HAND_NS
        if waits and self._roll is not None and self._roll.has_hand(frame):
            self._stills = Stills()
            return told
        self._stills.add(frame, seen_ns)
        if not self._stills.is_enough(seen_ns):
            return told
        still = self._stills.picture()
        try:
            seen, blind = self._reader.read(still), ""
        except NoSurfaceError as error:
            seen, blind = None, str(error)
        if blind != self._blind:
            self._blind = blind
            state = "blind" if blind else "live"
            told.append(CameraChanged(state=state, detail=blind, **times))  # type: ignore[arg-type]  # the same
        self._is_told = True
        if seen is None:
            self._roll = None
            return told
        return [*told, *self._rest(still, seen, number, times)]

    def _rest(self, frame: Frame, seen: BoardSeen, number: int, times: dict[str, object]) -> list[Observed]:
        told: list[Observed] = []
        if self._roll is not None:
            for near in self._roll.near(_NEAR_MM):
                kinds = self._landed(seen, near.owner)
                if len(kinds) == 1 and seen.owners.get(near.tag) != near.owner:
                    told.append(
                        DieNearTower(
                            source=self._source, seen_ns=near.at_ns, uncertainty_ns=int(times["uncertainty_ns"]),  # type: ignore[call-overload]  # an int
                            frame=near.frame, kind=kinds[0], tag=near.tag, owner=near.owner,
                            gap_mm=round(near.gap_mm, 1), u_mm=round(near.u_mm, 1),
                        )
                    )  # fmt: skip
        dice = tuple(
            msgspec.structs.replace(d, terrain=self._terrain(d.xy_mm)) if d.on_board else d for d in seen.dice
        )
        told.append(
            BoardRested(frame=number, towers=seen.towers, dice=dice, **times)  # type: ignore[arg-type]  # the same
        )
        colours = tower_colours(frame, seen.pose, self._spec.marks)
        owners = {seen.owners[tag]: colour for tag, colour in colours.items()} or dict(OWNERS)
        self._roll = RollWatch(frame, seen.pose, self._spec.marks, owners)
        self._where = self._mask(seen, small_grey(frame).shape)
        self.seen = seen
        return told

    def _landed(self, seen: BoardSeen, owner: str) -> list[str]:
        """Kinds of an owner's dice that lie where none of that kind lay at the rest before."""
        before = self.seen.dice if self.seen is not None else ()
        return [
            die.kind
            for die in seen.dice
            if die.owner == owner
            and not any(
                old.owner == owner
                and old.kind == die.kind
                and np.hypot(*np.subtract(old.xy_mm, die.xy_mm)) < 4.0
                for old in before
            )
        ]

    def _terrain(self, xy_mm: tuple[float, float]) -> str | None:
        if self._spec.ground is None:
            return None
        return next((r.symbol for r in self._spec.ground.regions if r.outline.contains(xy_mm)), None)

    def _mask(self, seen: BoardSeen, small_shape: tuple[int, ...]) -> Mask:
        """(H, W) of the small picture, True on the board and a little around it: what moves elsewhere is no matter."""
        (width, height), edge = self._spec.marks.board_mm, _MARGIN_MM
        ring = np.array(
            [(-edge, -edge), (width + edge, -edge), (width + edge, height + edge), (-edge, height + edge)]
        )
        scale = small_shape[1] / seen.size_px[0]
        outline = seen.pose.camera.px(np.column_stack([ring, np.zeros(4)])) * scale
        mask = np.zeros(small_shape, np.uint8)
        cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 1)
        return mask.astype(np.bool_)
