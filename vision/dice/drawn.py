"""A reading drawn for people: what was read where, how surely, and why not."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from companion.core.observation import DieSeen
from vision.dice.report import said
from vision.frame import Frame

_LONG_PX = (900, 2400)  # between these the longer side of a drawn picture lies
_READ, _UNREAD, _FLAGGED, _DARK = (90, 255, 90), (90, 110, 255), (60, 210, 255), (20, 20, 20)


def draw(frame: Frame, dice: Sequence[DieSeen], flags: Sequence[str] = ()) -> Frame:
    """A copy of `frame` (uint8 BGR) with each die's box, value and confidence; unread ones red, with why.

    Small pictures are enlarged and large ones made smaller, so that the words can be read.
    """
    scale = min(1.0, _LONG_PX[1] / max(frame.shape[:2])) * max(1.0, _LONG_PX[0] / max(frame.shape[:2]))
    picture = np.ascontiguousarray(
        cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
    )
    sizes = [max(die.box_px[2] - die.box_px[0], die.box_px[3] - die.box_px[1]) * scale for die in dice]
    unit = float(np.clip(np.median(sizes) / 60 if sizes else 1.0, 0.7, max(picture.shape[:2]) / 900 + 0.4))
    taken: list[tuple[int, int, int, int]] = []
    for die in dice:
        x0, y0, x1, y1 = (round(side * scale) for side in die.box_px)
        ink = _READ if die.value is not None else _UNREAD
        cv2.rectangle(picture, (x0, y0), (x1, y1), _DARK, round(4 * unit))
        cv2.rectangle(picture, (x0, y0), (x1, y1), ink, max(1, round(1.8 * unit)))
    for die in dice:
        x0, y0, x1, y1 = (round(side * scale) for side in die.box_px)
        is_read = die.value is not None
        text = f"{die.value} {die.confidence:.0%}" if is_read else said(die.reason or "unread")
        _label(picture, text, (x0, y0, x1, y1), (_READ if is_read else _UNREAD, 0.55 * unit), taken)
    if told := ", ".join(said(flag) for flag in flags):
        height, width = picture.shape[:2]
        _label(picture, told, (6, height - 4, width, height), (_FLAGGED, 0.7 * unit), taken)
    return picture


def _label(
    picture: Frame,
    text: str,
    box: tuple[int, int, int, int],
    ink: tuple[tuple[int, int, int], float],
    taken: list[tuple[int, int, int, int]],
) -> None:
    """Words on a dark ground at the first place around `box` that no other words stand on; the ground is noted in
    `taken`. `ink`: colour and size."""
    colour, size = ink
    thick = max(1, round(2 * size))
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, thick)
    x0, y0, x1, y1 = box
    full, beside = height + below + 2, x1 - width
    above, below_it = y0 - full, y1 + 2
    places = (
        (x0, above), (x0, below_it), (beside, above), (beside, below_it), (x1 + 2, y0), (x0 - width - 4, y0)
    )  # fmt: skip
    rows, columns = picture.shape[:2]
    grounds = []
    for left, top in places:
        x, y = min(max(0, left), max(0, columns - width - 4)), min(max(0, top), max(0, rows - full))
        grounds.append((x, y, x + width + 4, y + full))
    ground = next((g for g in grounds if not any(_cross(g, other) for other in taken)), grounds[0])
    taken.append(ground)
    cv2.rectangle(picture, ground[:2], ground[2:], _DARK, -1)
    at = (ground[0] + 2, ground[3] - below)
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, colour, thick, cv2.LINE_AA)


def _cross(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
