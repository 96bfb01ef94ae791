"""Cards that were read, drawn for people."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from companion.core.observation import CardSeen
from vision.frame import Frame


def drawn(frame: Frame, cards: Sequence[CardSeen]) -> Frame:
    """The photograph with each card's outline, its top side thick, and its name."""
    out = frame.copy()
    thick = max(2, round(max(out.shape[:2]) / 500))
    font = cv2.FontFace("sans")
    for card in cards:
        quad = np.round(np.array(card.quad_px)).astype(np.int32)
        ink = (60, 200, 60) if card.name else (40, 160, 250) if card.candidates else (60, 60, 230)
        cv2.polylines(out, [quad], True, ink, thick, cv2.LINE_AA)
        top = [(int(x), int(y)) for x, y in quad[:2]]
        cv2.line(out, top[0], top[1], ink, 3 * thick, cv2.LINE_AA)
        words = card.name or "/".join(c.name for c in card.candidates) or card.reason or ""
        at = (int(quad[:, 0].min()), max(10 * thick, int(quad[:, 1].min()) - 4 * thick))
        size = 11 * thick
        cv2.putText(out, f"{words} {card.confidence:.2f}", at, (0, 0, 0), font, size, 900)
        cv2.putText(out, f"{words} {card.confidence:.2f}", (at[0] - 1, at[1] - 1), ink, font, size, 700)
    return out
