"""A board that was read, drawn for people."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.core.observation import BoardDie, TowerSeen
from vision.frame import Frame
from vision.towers.poses import BoardCamera


def drawn(
    frame: Frame,
    camera: BoardCamera,
    outlines: Sequence[NDArray[np.float64]],
    side_mm: float,
    *,
    towers: Sequence[TowerSeen],
    dice: Sequence[BoardDie],
) -> Frame:
    """A copy of `frame` (uint8 BGR) with the painted outlines ((n, 2) mm each), the foot of each tower, of `side_mm`,
    and each die as they were read."""
    picture = np.ascontiguousarray(frame.copy())
    for ring in outlines:
        px = camera.px(np.column_stack([ring, np.zeros(len(ring))]))
        cv2.polylines(picture, [px.round().astype(np.int32)], True, (255, 255, 255), 1, cv2.LINE_AA)
    for t in towers:
        turn = np.radians(t.heading_deg)
        along = np.array((np.cos(turn), np.sin(turn))) * side_mm / 2
        down = np.array((-along[1], along[0]))
        ring = np.array(t.xy_mm) + np.stack([-along - down, along - down, along + down, down - along])
        px = camera.px(np.column_stack([ring, np.zeros(4)])).round().astype(np.int32)
        cv2.polylines(picture, [px], True, (0, 255, 255), 2, cv2.LINE_AA)
        _label(picture, (int(px[:, 0].min()), int(px[:, 1].max()) + 18), f"{t.tag} +-{t.u_mm:.1f}")
    for d in dice:
        x0, y0, x1, y1 = d.box_px
        colour = (0, 255, 0) if d.reason is None else (0, 128, 255)
        cv2.rectangle(picture, (x0, y0), (x1, y1), colour, 2)
        number = "?" if d.value is None else f"{d.value}{'?' if d.reason else ''}"
        _label(
            picture,
            (x0, y0 - 5),
            f"{d.owner} {d.kind} {number} {d.terrain or ('off' if not d.on_board else '-')}",
        )
    return picture


def _label(picture: Frame, at: tuple[int, int], words: str) -> None:
    for thick, colour in ((4, (0, 0, 0)), (1, (255, 255, 255))):
        cv2.putText(picture, words, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, thick, cv2.LINE_AA)
