"""The pattern score alone: legal patterns on whatever colour axis shows them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.dice.finding import changed, spots_in
from vision.dice.pips import FACE_PX, SPREAD, cut, pattern_scores, pattern_shares

SITES = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, 1), (-1, 1), (1, -1)],
    5: [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)],
    6: [(-1, -1), (1, 1), (-1, 1), (1, -1), (-1, 0), (1, 0)],
}


def face(
    value: int, turn_deg: float, body: tuple[int, int, int], pip: tuple[int, int, int], glint: bool
) -> np.ndarray:
    """A cut face, drawn eight times too large and shrunk."""
    big, edge = 8, FACE_PX / SPREAD
    size = FACE_PX * big
    picture = np.full((size, size, 3), (110, 120, 115), np.uint8)
    square = cv2.boxPoints(((size / 2, size / 2), (edge * big, edge * big), turn_deg))
    cv2.fillConvexPoly(picture, square.astype(np.int32), body)
    turn = np.radians(turn_deg)
    for u, v in SITES[value]:
        x = size / 2 + 0.27 * edge * big * (u * np.cos(turn) - v * np.sin(turn))
        y = size / 2 + 0.27 * edge * big * (u * np.sin(turn) + v * np.cos(turn))
        cv2.circle(picture, (int(x), int(y)), int(0.1 * edge * big), pip, -1)
        if glint:
            cv2.circle(picture, (int(x), int(y)), int(0.035 * edge * big), (255, 255, 255), -1)
    return cv2.resize(picture, (FACE_PX, FACE_PX), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize("value", SITES)
@pytest.mark.parametrize("turn_deg", [0, 17, 38, 52, 75])
@pytest.mark.parametrize(
    ("body", "pip"),
    [
        ((240, 240, 240), (20, 20, 20)),
        ((25, 25, 25), (235, 235, 235)),
        ((150, 60, 90), (60, 150, 30)),  # alike in brightness: only the hue tells them apart
    ],
)
def test_the_right_pattern_wins(
    value: int, turn_deg: float, body: tuple[int, int, int], pip: tuple[int, int, int]
) -> None:
    scores = pattern_scores(face(value, turn_deg, body, pip, glint=False))
    assert scores.shape == (6,)
    assert int(scores.argmax()) + 1 == value
    assert scores.max() <= 1.0


@pytest.mark.parametrize("value", SITES)
def test_a_lamp_mirrored_in_dark_pips_changes_nothing(value: int) -> None:
    shares = pattern_shares(face(value, 30, (230, 230, 235), (25, 25, 25), glint=True))
    assert int(shares.argmax()) + 1 == value
    assert shares.sum() == pytest.approx(1.0, abs=1e-5)


def test_a_cut_beyond_the_rim_keeps_its_size_and_place() -> None:
    frame = np.zeros((60, 80, 3), np.uint8)
    frame[0:10, 0:10] = 200
    piece = cut(frame, 5, 5, 30)
    assert piece.shape == (FACE_PX, FACE_PX, 3)
    assert piece[FACE_PX // 2 - 2, FACE_PX // 2 - 2].min() > 150
    assert piece[-1, -1].max() == 0
    assert cut(frame, -500, 900, 30).shape == (FACE_PX, FACE_PX, 3)


def test_a_shadow_is_no_change_and_touching_dice_are_split() -> None:
    empty = np.full((300, 400, 3), (80, 140, 110), np.uint8)
    now = empty.copy()
    shade = np.zeros((300, 400), np.float32)
    cv2.circle(shade, (300, 220), 40, 0.25, -1)
    now = (now * (1 - cv2.GaussianBlur(shade, (0, 0), 9)[:, :, None])).astype(np.uint8)
    now[60:100, 60:100] = (40, 40, 200)
    now[60:100, 101:141] = (230, 230, 230)
    mask = changed(now, empty)
    assert mask.shape == (300, 400)
    assert mask[80, 80] == mask[80, 120] == 255
    assert mask[180:, 240:].mean() < 3
    spots = sorted(spots_in(mask, side_px=40), key=lambda spot: spot.x_px)
    assert [round(spot.x_px / 20) for spot in spots] == [4, 6]
