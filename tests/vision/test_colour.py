"""Whose die it is by its colours, under lamps that were not there at enrolment."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.dice.colour import Palette
from vision.render.liveries import OWNERS


def lab(bgr: np.ndarray) -> np.ndarray:
    pixel = np.clip(np.asarray(bgr) * 255, 0, 255).astype(np.uint8).reshape(1, 1, 3)
    return cv2.cvtColor(pixel, cv2.COLOR_BGR2LAB).reshape(3).astype(np.float32)


def under(colour: tuple[float, float, float], lamp: np.ndarray) -> np.ndarray:
    """The colour as a camera gives it under a lamp: gains in linear light."""
    return lab(np.clip(np.array(colour) ** 2.2 * lamp, 0, 1) ** (1 / 2.2))


@pytest.fixture(scope="module")
def palette() -> Palette:
    samples = []
    for owner, livery in OWNERS.items():
        for level in (0.5, 0.7, 0.9):
            lamp = np.full(3, level)
            samples.append((owner, under(livery.body, lamp), under(livery.ink, lamp)))
    return Palette(samples)


@pytest.mark.parametrize("owner", list(OWNERS))
@pytest.mark.parametrize("lamp", [(0.5, 0.65, 0.9), (0.95, 0.8, 0.55), (0.3, 0.3, 0.3), (0.7, 0.9, 0.7)])
def test_every_owner_is_known_under_warm_cold_dim_and_green_light(
    owner: str, lamp: tuple[float, float, float], palette: Palette
) -> None:
    livery = OWNERS[owner]
    whose = palette.whose(under(livery.body, np.array(lamp)), under(livery.ink, np.array(lamp)))
    assert whose.owner == owner
    assert whose.is_known
    assert whose.lead > 1.0


@pytest.mark.parametrize("owner", ["red", "blue", "purple"])
def test_ink_that_is_out_of_focus_does_not_change_the_owner(owner: str, palette: Palette) -> None:
    livery = OWNERS[owner]
    lamp = np.full(3, 0.75)
    body, ink = under(livery.body, lamp), under(livery.ink, lamp)
    whose = palette.whose(body, body + 0.55 * (ink - body))
    assert (whose.owner, whose.is_known) == (owner, True)


def test_paper_and_print_are_nobodys_die(palette: Palette) -> None:
    whose = palette.whose(lab(np.array((0.9, 0.9, 0.9))), lab(np.array((0.15, 0.1, 0.1))))
    assert not whose.is_known


def test_many_at_once_are_the_same_as_one_by_one(palette: Palette) -> None:
    lamp = np.full(3, 0.8)
    bodies = np.stack([under(livery.body, lamp) for livery in OWNERS.values()])
    inks = np.stack([under(livery.ink, lamp) for livery in OWNERS.values()])
    together = palette.owners_of(bodies, inks)
    assert [one.owner for one in together] == list(OWNERS)
    assert together == [palette.whose(body, ink) for body, ink in zip(bodies, inks, strict=True)]


def test_a_single_owner_has_no_rival() -> None:
    only = Palette([("", lab(np.array((0.1, 0.1, 0.7))), lab(np.array((0.9, 0.9, 0.9))))])
    whose = only.whose(lab(np.array((0.1, 0.1, 0.6))), lab(np.array((0.8, 0.8, 0.8))))
    assert (whose.owner, whose.lead, whose.is_known) == ("", float("inf"), True)
