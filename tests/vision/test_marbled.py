"""Dice whose bodies are of several colours: found by their outline, read by their ink; owners told by their colours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.dice.marbled import STEP, ink_axis, soft_of, unevenness
from vision.dice.owners import TOO_CLOSE, closest_owners
from vision.dice.silhouette import silhouette
from vision.dice.symbols import SymbolReader
from vision.enrol import MOST_SHOTS, Shot, enrol_shots, with_shots, without_face
from vision.profile import Profile
from vision.render.cube import Die, Livery
from vision.render.enrolment import enrolment_pictures
from vision.render.lens import Camera
from vision.render.liveries import OWNERS
from vision.render.scene import Scene

FACES = ("arrow", "burst")
MARBLED = {
    "red": Livery(
        body=(0.12, 0.1, 0.78), ink=(0.95, 0.95, 0.95), pattern="swirl", second=(0.05, 0.25, 0.3), seed=21
    ),
    "blue": Livery(
        body=(0.75, 0.3, 0.1), ink=(0.95, 0.95, 0.95), pattern="swirl", second=(0.3, 0.5, 0.1), seed=22
    ),
}
CAMERA = Camera(lens_mm=(160.0, 110.0, 420.0), look_mm=(160.0, 105.0), size_px=(1280, 720))


def shots_of(livery: Livery, faces: tuple[str, ...] = FACES, count: int = 4) -> list[Shot]:
    return [
        Shot(face, f"{face}/{n}", picture)
        for face in faces
        for n, picture in enumerate(enrolment_pictures(livery, face, shots=count, seed=12))
    ]


@pytest.fixture(scope="module")
def profile() -> Profile:
    found = [
        sample for owner, livery in MARBLED.items() for sample in enrol_shots(owner, shots_of(livery))[0]
    ]
    return Profile("tada", tuple(found))


def test_marbled_dice_are_known_as_such_and_even_ones_as_even(profile: Profile) -> None:
    assert len(profile.samples) >= 14 and all(sample.is_marbled for sample in profile.samples)
    even, unused = enrol_shots("green", shots_of(OWNERS["green"]))
    assert not unused and not any(sample.is_marbled for sample in even)


def test_marbled_dice_are_read_with_value_and_owner(profile: Profile) -> None:
    truth = [("arrow", "red"), ("burst", "red"), ("arrow", "blue"), ("burst", "blue"), ("arrow", "red")]
    dice = tuple(
        Die(value=value, owner=owner, livery=MARBLED[owner], xy_mm=(80.0 + 40 * n, 75.0 + 30 * (n % 3)),
            angle_deg=50.0 * n)
        for n, (value, owner) in enumerate(truth)
    )  # fmt: skip
    scene = Scene(size_mm=(320.0, 210.0), marks=None, dice=dice, cloth="wood", seed=8)
    seen = SymbolReader([profile]).read(scene.picture(CAMERA)).dice
    assert sorted((str(die.value), die.owner) for die in seen if die.value is not None) == sorted(truth)


def test_the_ink_stands_out_where_the_body_does_not(profile: Profile) -> None:
    pictures = np.stack([sample.picture for sample in profile.samples if sample.owner == "red"])
    axis = ink_axis(pictures)
    assert axis is not None and unevenness(list(pictures)) > 0.08
    for sample in profile.samples:
        if sample.owner == "red":
            level = axis.map_of(sample.picture).astype(float)
            soft = soft_of(axis, sample.picture)
            assert soft is not None
            step = np.median(level[soft > 0.8]) - np.median(level[soft < 0.2])
            assert 0.3 * STEP < step < 1.6 * STEP
            assert level[soft < 0.2].std() < 0.2 * step
    blue = [sample for sample in profile.samples if sample.owner == "blue"]
    own = np.median([axis.strangeness(s.picture, s.patch) for s in profile.samples if s.owner == "red"])
    assert all(axis.strangeness(s.picture, s.patch) > 2 * own for s in blue)


def test_a_die_alone_is_found_by_its_outline() -> None:
    for n, picture in enumerate(enrolment_pictures(MARBLED["blue"], "arrow", shots=3, seed=9)):
        found = silhouette(picture)
        assert found is not None and 70 < found.width_px < 110, n
    assert silhouette(np.full((200, 200, 3), 90, np.uint8)) is None


def test_owners_whose_colours_are_too_close_are_named(profile: Profile) -> None:
    apart = closest_owners(profile.samples)
    assert apart is not None and {apart.one, apart.other} == {"red", "blue"} and not apart.is_too_close
    twin = replace(OWNERS["red"], body=(0.14, 0.12, 0.74), seed=77)
    both = [
        sample
        for owner, livery in (("red", OWNERS["red"]), ("purple", twin), ("green", OWNERS["green"]))
        for sample in enrol_shots(owner, shots_of(livery, ("arrow",), 3))[0]
    ]
    close = closest_owners(both)
    assert close is not None and {close.one, close.other} == {"red", "purple"}
    assert close.is_too_close and close.apart < TOO_CLOSE
    assert closest_owners([sample for sample in both if sample.owner == "green"]) is None


def test_more_pictures_join_those_there_are_and_a_face_can_be_dropped(profile: Profile) -> None:
    more, unused = with_shots(profile, "tada", "red", shots_of(MARBLED["red"], ("arrow",), 6))
    arrows = [s for s in more.samples if (s.owner, s.face) == ("red", "arrow")]
    assert len(arrows) == MOST_SHOTS and len(unused) <= 1 and all(s.is_marbled for s in arrows)
    assert [s for s in more.samples if s.owner == "blue"] == [s for s in profile.samples if s.owner == "blue"]
    left = without_face(more, "red", "arrow")
    assert left is not None and not [s for s in left.samples if (s.owner, s.face) == ("red", "arrow")]
