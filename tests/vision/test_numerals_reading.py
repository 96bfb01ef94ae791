"""Dice with numerals that nobody enrolled: what the networks are shown, and what is read of rendered dice."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.dice.numerals import Judged, NumeralReader
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_enrolled import decided
from vision.dice.numerals_looks import CUT_PX, CUT_REACH, KINDS, LOOK_PX, TEXTS, Pose, look
from vision.dice.numerals_matching import FaceFit
from vision.frame import Frame
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, PolyLook, PolyTruth, truth_of, with_numerals
from vision.render.polyhedra_numerals import Typeface
from vision.render.scene import Scene

CAMERA = Camera(
    lens_mm=(300, 200, 420), look_mm=(300, 200), across_deg=30, size_px=(960, 640), blur_px=0.6, noise=2.0
)
NUMBERS = {"d6": (3, 5), "d8": (2, 7), "d10": (4, 8), "d12": (3, 11), "d20": (14, 18)}
NAMES = {"d6": "d6-numeral"}


@pytest.mark.parametrize("turn_deg", [0.0, 40.0, 200.0])
def test_a_look_turns_what_points_there_up(turn_deg: float) -> None:
    piece = np.zeros((CUT_PX, CUT_PX, 3), np.uint8)
    turn, middle = np.radians(turn_deg), (CUT_PX - 1) / 2
    per_radius = CUT_PX / 2 / CUT_REACH
    x, y = middle + 0.5 * per_radius * np.sin(turn), middle - 0.5 * per_radius * np.cos(turn)
    cv2.circle(piece, (round(x), round(y)), 3, (255, 255, 255), -1)
    seen = look(piece, 1.0, (0.0, 0.0), 1.0, turn_deg)[:, :, 0].astype(float)
    rows, columns = np.mgrid[0:LOOK_PX, 0:LOOK_PX]
    assert (columns * seen).sum() / seen.sum() == pytest.approx((LOOK_PX - 1) / 2, abs=1.0)
    assert (rows * seen).sum() / seen.sum() == pytest.approx(LOOK_PX / 4, abs=1.5)


@pytest.fixture(scope="module")
def tables() -> list[tuple[Frame, list[PolyTruth]]]:
    """Two tables with a die of each kind in plain, strongly inked colours."""
    found = []
    for table in range(2):
        dice = [
            PolyDie(
                look=PolyLook(
                    kind=kind, body=(0.5, 0.16, 0.1), ink=(1, 1, 1), gloss=0.2, face=Typeface(weight=0.17)
                ),
                shown=numbers[table],
                xy_mm=(215.0 + 42 * k, 180.0 + 40 * (k % 2)),
                angle_deg=50.0 * k + 25 * table,
                radius_mm=12.5,
            )
            for k, (kind, numbers) in enumerate(NUMBERS.items())
        ]
        lamp = Lamp(place_mm=(100.0 + 400 * table, -200.0, 1000.0))
        scene = Scene(marks=None, light=lamp, cloth="felt", seed=table)
        found.append((with_numerals(scene, dice, CAMERA, table), [truth_of(die, CAMERA) for die in dice]))
    return found


def test_plain_dice_are_read_and_none_wrongly(tables: list[tuple[Frame, list[PolyTruth]]]) -> None:
    reader, right = NumeralReader(), 0
    for frame, truths in tables:
        for die in reader.read(frame).dice:
            x, y = (die.box_px[0] + die.box_px[2]) / 2, (die.box_px[1] + die.box_px[3]) / 2
            truth = min(truths, key=lambda t: np.hypot(t.centre_px[0] - x, t.centre_px[1] - y))
            if die.value is not None:
                assert (die.kind, die.value) == (NAMES.get(truth.kind, truth.kind), truth.value)
                right += 1
    assert right >= 7


def test_only_kinds_that_lie_there_are_told(tables: list[tuple[Frame, list[PolyTruth]]]) -> None:
    reader = NumeralReader(Conventions(kinds=("d8", "d20")))
    told = [die.kind for frame, _ in tables for die in reader.read(frame).dice]
    assert {"d8", "d20"} <= set(told) and set(told) <= {"d8", "d20"}


def judged(**chances: float) -> Judged:
    """What the networks say of a d8 with these chances of texts, as ``t3=0.9``; all others are hardly possible."""
    texts = np.full((len(KINDS), len(TEXTS)), -9.0, np.float32)
    for name, chance in chances.items():
        texts[KINDS.index("d8"), TEXTS.index(name[1:])] = np.log(chance)
    kinds = np.full(len(KINDS) + 2, -9.0, np.float32)
    kinds[KINDS.index("d8")] = 0.0
    return Judged(Pose(0, 0, 1), kinds, texts, 1.0)


def fits(**scores: float) -> list[FaceFit]:
    """Fits of faces of a d8, best first."""
    found = [FaceFit("d8", name[1:], score, Pose(0, 0, 1)) for name, score in scores.items()]
    return sorted(found, key=lambda fit: -fit.score)


def test_an_enrolled_face_is_decided_by_its_fit_and_by_what_is_read_there() -> None:
    assert decided(judged(t3=0.5, t5=0.5), fits(t3=0.9, t5=0.7))[:2] == ("d8", "3")
    assert decided(judged(t3=0.1, t5=0.9), fits(t3=0.8, t5=0.79))[:2] == ("d8", "5")
    agreed = decided(judged(t3=0.9, t5=0.1), fits(t3=0.9, t5=0.7))[2]
    against = decided(judged(t3=0.1, t5=0.9), fits(t3=0.9, t5=0.7))[2]
    assert agreed > 0.9 > against


def test_a_face_that_is_not_among_the_best_fits_may_be_the_one_that_is_read() -> None:
    assert decided(judged(t7=0.97, t3=0.01), fits(t3=0.75, t5=0.74))[:2] == ("d8", "7")
