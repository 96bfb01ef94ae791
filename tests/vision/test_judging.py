"""Faces judged where a finder's spot is only roughly right, and dice that must be told, not guessed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.dice_unread import Shot, shots
from companion.core.observation import DIE_REASONS
from vision.dice.finding import Spot
from vision.dice.judging import FaceJudge
from vision.dice.reading import PipsReader
from vision.render.scene import DieTruth


@pytest.fixture(scope="module")
def cut_off() -> list[Shot]:
    return list(shots("cut_off", 4))


def side_px(die: DieTruth) -> float:
    quad = np.array(die.quad_px)
    return float(np.linalg.norm(quad - np.roll(quad, 1, axis=0), axis=1).mean())


def test_a_spot_beside_the_face_is_put_right_and_read(cut_off: list[Shot]) -> None:
    judge = FaceJudge()
    off, right = [], 0
    for shot in cut_off:
        for die in shot.dice[1:]:
            side = side_px(die)
            x, y = die.centre_px
            rough = Spot(x + 0.2 * side, y - 0.15 * side, 1.25 * side, 0.9)
            for claim in judge.claims(shot.frame, [rough]):
                off.append(np.hypot(claim.spot.x_px - x, claim.spot.y_px - y) / side)
                right += claim.value == die.value
    assert len(off) == 12
    assert np.median(off) < 0.1  # a spot as it was given is 0.25 off
    assert right >= 11


def test_what_is_surely_bare_table_makes_no_claim(cut_off: list[Shot]) -> None:
    frame = cut_off[0].frame
    bare = [
        Spot(x, y, 40.0, 0.9)
        for x in range(60, 900, 90)
        for y in range(60, 660, 90)
        if all(np.hypot(die.centre_px[0] - x, die.centre_px[1] - y) > 110 for die in cut_off[0].dice)
    ]
    assert len(bare) > 20
    claims = FaceJudge().claims(frame, bare)
    assert len(claims) < 0.2 * len(bare)
    assert all(claim.is_die < 0.5 for claim in claims)
    assert FaceJudge().claims(frame, []) == []


@pytest.mark.parametrize("reason", ["cut_off", "glare"])
def test_a_die_that_cannot_be_read_is_told_and_not_guessed(reason: str) -> None:
    reader, told = PipsReader(), 0
    for shot in shots(reason, 4):
        x0, y0, x1, y1 = shot.odd.box_px
        for die in reader.read(shot.frame).dice:
            x, y = (die.box_px[0] + die.box_px[2]) / 2, (die.box_px[1] + die.box_px[3]) / 2
            if x0 <= x <= x1 and y0 <= y <= y1:
                assert die.value in (None, shot.odd.value)
                told += die.reason in DIE_REASONS
    assert told >= 3
