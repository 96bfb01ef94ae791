"""Where in a picture something moves on, in px and in words, and which dice lie there."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import rectangle
from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.settle import Mask
from vision.surface import Surface

Box = tuple[int, int, int, int]
_GRID = 16  # cells of the settle gate are drawn so much finer, to tell what touches them


def boxes_px(still: Mask, picture_size: tuple[int, int]) -> tuple[Box, ...]:
    """A box (x0, y0, x1, y1) in px around each part of a picture (width, height) whose cells are not `still`."""
    count, _, stats, _ = cv2.connectedComponentsWithStats((~still).astype(np.uint8), connectivity=8)
    across, down = picture_size[0] / still.shape[1], picture_size[1] / still.shape[0]
    return tuple(
        (round(x * across), round(y * down), round((x + width) * across), round((y + height) * down))
        for x, y, width, height in stats[1:count, :4].tolist()
    )


def told_as_moving(
    dice: Sequence[DieSeen], still: Mask, picture_size: tuple[int, int]
) -> tuple[DieSeen, ...]:
    """The dice; those that touch a part that is not `still` without a value, for ``moving``."""
    return tuple(
        msgspec.structs.replace(die, value=None, reason="moving")
        if _touches(die.box_px, still, picture_size)
        else die
        for die in dice
    )


def covered(layouts: Sequence[Placed], still: Mask, surface: Surface | None) -> tuple[str, ...]:
    """Ids of the layouts that touch a part that is not `still`; all of them where no surface tells."""
    if surface is None or still.all():
        return () if still.all() else tuple(placed.layout.id for placed in layouts)
    restless = np.kron((~still).astype(np.uint8), np.ones((_GRID, _GRID), np.uint8))
    scale = np.array(restless.shape[::-1]) / surface.picture_size
    found = []
    for placed in layouts:
        corners = rectangle(0, 0, *placed.layout.size_mm).placed(placed.pose).corners
        drawn: NDArray[np.uint8] = np.zeros_like(restless)
        outline = np.array([surface.px(corner) for corner in corners]) * scale
        cv2.fillConvexPoly(drawn, np.round(outline).astype(np.int32), 1)
        if (drawn & restless).any():
            found.append(placed.layout.id)
    return tuple(found)


def _touches(box: Box, still: Mask, picture_size: tuple[int, int]) -> bool:
    rows, columns = still.shape
    across, down = columns / picture_size[0], rows / picture_size[1]
    first = (max(0, int(box[1] * down)), max(0, int(box[0] * across)))
    last = (min(rows, int(box[3] * down) + 1), min(columns, int(box[2] * across) + 1))
    return not bool(still[first[0] : last[0], first[1] : last[1]].all())
