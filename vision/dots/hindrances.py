"""What keeps dots from being seen: a hand over the table, a glare, other cards, or none of the game."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cards.outlines import Form, Outline, find_cards
from vision.frame import Frame

_LONG_PX = 480
_SKIN_HUE_DEG, _SKIN_CHROMA, _SKIN_LIGHT = (32.0, 82.0), (10.0, 60.0), (22.0, 95.0)
_MUCH, _BRIGHT = 0.25, 0.03  # share of the picture from which the table itself is like skin, or clipped
_HAND, _NEAR = 800.0, 14.0  # a hand's area in squares of a dot's radius, and how far from dots it matters
_DARK, _AROUND = 0.42, 7.0  # of a dot's white: a card's ground; within so many radii of a dot it shows
_GROUND, _ON_CARDS = 0.003, 0.5  # on so much at least; around so many dots
_CLIPPED, _GLARE = 250, 30.0  # level from which light is clipped; a glare's area in squares of a radius
_HALO = (180, 0.6)  # how bright a glare's fringe is, and on how much of it
_CARD = (26.0, 62.0)  # a card's length in radii of a dot, of any usual game
_CARD_SIDES = 0.7  # share of its sides that must be seen
_NOT_DARK = 0.35  # share of another card that may be dark
_WITHIN = 0.92  # of its size, what of it is looked at
_BESIDE = (1.04, 1.16)  # of its size, between which lies what is beside it
_UNLIKE_THE_TABLE = 15.0  # levels in Lab by which it differs from that at each side


def hindrances(
    frame: Frame, places: Sequence[tuple[float, float]], radius: float, white: NDArray[np.float32]
) -> list[str]:
    """Flags of `frame`, whose dots of `radius` px lie at `places` and are seen as `white` (BGR).

    no_cards, other_cards, hand, glare; a hand on a table of skin's colour and a glare on a white one are not told, nor
    other cards that are as dark as those of the game.
    """
    scale = min(1.0, _LONG_PX / max(frame.shape[:2]))
    small = np.asarray(cv2.resize(frame, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    near, r = np.array(places, np.float32) * np.float32(scale), radius * scale
    flags = []
    if not _are_on_cards(frame, places, radius, white):
        flags.append("no_cards")
    elif any(_is_another(frame, card, places, white) for card in _cards(frame, radius)):
        flags.append("other_cards")
    reach = np.zeros(small.shape[:2], np.uint8)
    cv2.fillConvexPoly(reach, cv2.convexHull(near).astype(np.int32), 1)
    reach = _grown(reach, _NEAR * r)
    if _is_hand_there(small, reach, r, white):
        flags.append("hand")
    if _is_glare_there(small, reach, r):
        flags.append("glare")
    return flags


def _grown(mask: NDArray[np.uint8], by_px: float) -> NDArray[np.uint8]:
    side = 2 * max(1, round(by_px)) + 1
    return np.asarray(cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))), np.uint8)


def _are_on_cards(
    frame: Frame, places: Sequence[tuple[float, float]], radius: float, white: NDArray[np.float32]
) -> bool:
    """Whether around most dots some of a card's dark ground shows."""
    half = int(np.ceil(radius * _AROUND))
    side = (2 * half + 1, 2 * half + 1)
    dark = 0
    for place in places:
        around = cv2.getRectSubPix(frame, side, place)[::2, ::2] / white
        dark += bool((around.max(2) < _DARK).mean() > _GROUND)
    return dark >= _ON_CARDS * len(places)


def _cards(frame: Frame, radius: float) -> list[Outline]:
    """What has a card's form, with sides that are clearly seen."""
    form = Form(least=_CARD[0] * radius, most=_CARD[1] * radius)
    return [card for card in find_cards(frame, form) if card.borne > _CARD_SIDES]


def _is_another(
    frame: Frame, card: Outline, places: Sequence[tuple[float, float]], white: NDArray[np.float32]
) -> bool:
    """Whether it bears no dot, is not dark and is no patch of the table: a card of another game, or a sheet."""
    middle = card.quad.mean(axis=0)
    ring = np.asarray(card.quad, np.float32)
    if any(cv2.pointPolygonTest(ring, place, measureDist=False) > 0 for place in places):
        return False
    left, top = np.maximum(np.floor(ring.min(0) - 0.1 * card.long_px()), 0).astype(int)
    right, bottom = np.ceil(ring.max(0) + 0.1 * card.long_px()).astype(int)
    piece = np.clip(frame[top:bottom, left:right] / white, 0, 1).astype(np.float32)
    lab = cv2.cvtColor(piece, cv2.COLOR_BGR2LAB)
    rings = [middle + (card.quad - middle) * size - (left, top) for size in (_WITHIN, *_BESIDE)]
    inside = _filled(rings[0], piece.shape)
    if (piece.max(2)[inside] < _DARK).mean() > _NOT_DARK:
        return False
    own = np.median(lab[inside], axis=0)
    for k in range(4):  # a patch of the table goes on beyond some side
        beside = _filled(np.array([*rings[1][[k, k - 1]], *rings[2][[k - 1, k]]]), piece.shape)
        if beside.any() and np.linalg.norm(np.median(lab[beside], axis=0) - own) < _UNLIKE_THE_TABLE:
            return False
    return True


def _filled(corners: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """(rows, columns): what lies within these corners (n, 2) in px."""
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners).astype(np.int32), 1)
    return mask > 0


def _is_hand_there(small: Frame, reach: NDArray[np.uint8], radius: float, white: NDArray[np.float32]) -> bool:
    """Whether something of skin's colour, larger than any shape of a card, lies by the dots."""
    lab = cv2.cvtColor(np.clip(small / white, 0, 1).astype(np.float32), cv2.COLOR_BGR2LAB)
    hue = np.degrees(np.arctan2(lab[..., 2], lab[..., 1]))
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    skin = (hue > _SKIN_HUE_DEG[0]) & (hue < _SKIN_HUE_DEG[1])
    skin &= (chroma > _SKIN_CHROMA[0]) & (chroma < _SKIN_CHROMA[1])
    skin &= (lab[..., 0] > _SKIN_LIGHT[0]) & (lab[..., 0] < _SKIN_LIGHT[1])
    if skin.mean() > _MUCH:
        return False
    side = max(3, round(2.2 * radius) | 1)
    opened = np.asarray(
        cv2.morphologyEx(skin.astype(np.uint8), cv2.MORPH_OPEN, np.ones((side, side), np.uint8)), np.uint8
    )
    return _is_large(opened, reach, _HAND * radius**2)


def _is_glare_there(small: Frame, reach: NDArray[np.uint8], radius: float) -> bool:
    """Whether light is clipped by the dots on more than a dot, with the soft fringe of a mirrored lamp."""
    least = np.asarray(small.min(axis=2), np.uint8)
    clipped = (least >= _CLIPPED).astype(np.uint8)
    if clipped.mean() > _BRIGHT:
        return False
    side = max(3, round(1.5 * radius) | 1)
    opened = np.asarray(cv2.morphologyEx(clipped, cv2.MORPH_OPEN, np.ones((side, side), np.uint8)), np.uint8)
    fringe = (_grown(opened, 2 * radius) > 0) & (_grown(opened, 1) == 0)
    is_soft = bool(fringe.any()) and float((least[fringe] > _HALO[0]).mean()) > _HALO[1]
    return is_soft and _is_large(opened, reach, _GLARE * radius**2)


def _is_large(mask: NDArray[np.uint8], reach: NDArray[np.uint8], area: float) -> bool:
    """Whether a piece of `mask` that touches `reach` is larger than `area`."""
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    there = set(np.unique(labels[reach > 0]).tolist())
    return any(boxes[n, cv2.CC_STAT_AREA] > area for n in range(1, count) if n in there)
