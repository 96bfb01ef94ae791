"""Rendered dice with numerals: their numbers lie as on real ones, and the truth about them holds."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.render.lens import Camera
from vision.render.polyhedra import PolyDie, PolyLook, truth_of, with_numerals
from vision.render.polyhedra_numerals import Typeface, numeral_mask
from vision.render.polyhedra_solids import KINDS, SIDES, numbered_faces, numbering, solid
from vision.render.scene import Scene

CAMERA = Camera(
    lens_mm=(300, 200, 500), look_mm=(300, 201), across_deg=8, size_px=(400, 320), blur_px=0.3, noise=0.0
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_number_stands_on_one_face(kind: str) -> None:
    shape, numbers = solid(kind), numbering(kind)
    assert len(numbers) == SIDES[kind] == len(numbered_faces(shape, kind))
    assert len(set(numbers.values())) == SIDES[kind]


@pytest.mark.parametrize(
    ("kind", "total"), [("d6", 7), ("d8", 9), ("d10", 9), ("d12", 13), ("d20", 21), ("d100", 90)]
)
@pytest.mark.parametrize("seed", [0, 3])
def test_opposite_faces_make_the_usual_sum(kind: str, total: int, seed: int) -> None:
    shape, numbers = solid(kind), numbering(kind, seed=seed)
    for face, number in numbers.items():
        assert number + numbers[shape.opposite(face)] == total


def test_a_barrel_has_numbers_on_its_four_long_faces_alone() -> None:
    shape, numbers = solid("d4", "barrel"), numbering("d4", "barrel")
    assert sorted(numbers.values()) == [1, 2, 3, 4]
    assert len(shape.faces) > 4
    assert all(abs(float(shape.normals[face][0])) < 0.1 for face in numbers)


def test_a_d20_has_the_usual_neighbours_the_usual_way_round() -> None:
    shape, numbers = solid("d20"), numbering("d20")
    faces = {number: face for face, number in numbers.items()}
    assert {numbers[k] for k in shape.neighbours(faces[20])} == {2, 8, 14}
    assert {numbers[k] for k in shape.neighbours(faces[6])} == {9, 14, 16}
    around = [shape.middle(faces[number]) for number in (2, 14, 8)]
    out = shape.normals[faces[20]]
    assert float(np.cross(around[0], around[1]) @ out) < 0  # clockwise, seen from outside


@pytest.mark.parametrize("kind", ["d6", "d8", "d10", "d12", "d20"])
def test_the_numeral_on_top_reads_as_the_truth_says(kind: str) -> None:
    look = PolyLook(kind=kind, body=(0.6, 0.2, 0.1), ink=(1, 1, 1), gloss=0.0, height=0.9, up=1)
    die = PolyDie(look=look, shown=7 if kind != "d6" else 4, xy_mm=(300, 200), angle_deg=37, radius_mm=14)
    picture = with_numerals(Scene(marks=None), [die], CAMERA)
    truth = truth_of(die, CAMERA)
    assert truth.box_px[0] < truth.centre_px[0] < truth.box_px[2]
    around = cv2.getRotationMatrix2D(truth.centre_px, truth.up_deg, 1.0)
    side = 2 * look.height * solid(kind).inradius(die.top()) * truth.radius_px
    around[:, 2] += side / 2 - np.array(truth.centre_px)
    upright = cv2.warpAffine(picture, around, (round(side), round(side)))
    ink = cv2.resize(upright.min(axis=2), (96, 96)).astype(np.float32)
    fits = {
        text: _likeness(ink, numeral_mask(text, look.face, True))
        for text in ("1", "2", "3", "4", "5", "6", "7", "8")
    }
    assert max(fits, key=lambda text: fits[text]) == str(die.shown)
    assert _likeness(ink[:, ::-1], numeral_mask(str(die.shown), look.face, True)) < max(fits.values())


def _likeness(one: np.ndarray, other: np.ndarray) -> float:
    a, b = one - one.mean(), other - other.mean()
    return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def test_6_and_9_are_told_apart_by_their_mark() -> None:
    plain, barred, dotted = (numeral_mask("6", Typeface(mark=mark), True) for mark in ("none", "bar", "dot"))
    assert barred.sum() > plain.sum() and dotted.sum() > plain.sum()
    assert barred[76:].sum() > 0 and plain[76:].sum() == 0
    assert np.array_equal(
        numeral_mask("8", Typeface(mark="bar"), True), numeral_mask("8", Typeface(mark="none"), True)
    )


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="d7"):
        solid("d7")
