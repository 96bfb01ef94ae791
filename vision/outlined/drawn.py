"""Cards of a table that were read, drawn for people."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import Frame
from vision.outlined.plane import Plane
from vision.outlined.whole import WholeTable


def drawn(frame: Frame, plane: Plane, whole: WholeTable, card_mm: tuple[float, float]) -> Frame:
    """A copy of `frame` (uint8 BGR) with the outline and name of each card that was read."""
    picture = np.ascontiguousarray(frame)
    width, height = card_mm
    for card in whole.cards:
        corners = [card.pose.apply(corner) for corner in ((0, 0), (width, 0), (width, height), (0, height))]
        seen = cv2.perspectiveTransform(np.array([corners]), plane.to_px)[0]
        cv2.polylines(
            picture, [np.round(seen * 16).astype(np.int32)], True, (80, 255, 255), 2, cv2.LINE_AA, 4
        )
        x, y = np.round(seen.mean(0)).astype(int).tolist()
        cv2.putText(picture, f"{card.colour} {card.card}{'*' if card.flipped else ''}", (x - 40, y + 22),
                    cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)  # fmt: skip
    return picture
