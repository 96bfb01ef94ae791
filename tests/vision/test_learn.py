"""Learning from corrections: one more picture of a face, bounded, taken back, kept in a file that is always whole."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.enrol import enrol_folder
from vision.learn import MOST_LEARNT, crop_around, learn, learn_at, unlearn, unlearn_at
from vision.profile import SUFFIX, EnrolError, Profile, changed_at, load_profile
from vision.render.cube import Die
from vision.render.enrolment import write_enrolment
from vision.render.lens import Camera
from vision.render.liveries import OWNERS
from vision.render.scene import Scene

CAMERA = Camera(lens_mm=(60.0, 45.0, 560.0), look_mm=(60.0, 40.0), across_deg=14.0, size_px=(480, 320))


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    place = tmp_path_factory.mktemp("dice")
    write_enrolment(
        place, {name: OWNERS[name] for name in ("red", "blue")}, ("arrow", "spiral"), shots=3, seed=4
    )
    return enrol_folder(place, "tada")[0]


def shot(value: str, owner: str) -> NDArray[np.uint8]:
    """What is cut out around a die that was seen on a table."""
    die = Die(value=value, owner=owner, livery=OWNERS[owner], xy_mm=(70.0, 38.0), angle_deg=33.0)
    scene = Scene(marks=None, dice=(die,), cloth="felt", seed=2)
    quad = np.array(scene.truth(CAMERA)[0].quad_px)
    (x0, y0), (x1, y1) = quad.min(0).round().astype(int), quad.max(0).round().astype(int)
    return crop_around(scene.picture(CAMERA), (int(x0), int(y0), int(x1), int(y1)))


def test_a_correction_adds_one_picture_of_that_face_to_that_owners_die(profile: Profile) -> None:
    more = learn(profile, shot("spiral", "blue"), "spiral")
    assert more.samples[:-1] == profile.samples
    new = more.samples[-1]
    assert (new.owner, new.face, new.learnt) == ("blue", "spiral", 1)
    assert more.edition == profile.edition + 1
    assert unlearn(more, "blue", "spiral", 1).samples == profile.samples
    assert unlearn(more, "blue", "spiral", 2) is unlearn(more, "red", "spiral", 1) is more
    assert unlearn(profile, "blue", "spiral", 0) is profile


def test_no_more_than_a_few_are_kept_of_a_face_and_the_oldest_go(profile: Profile) -> None:
    first = learn(profile, shot("arrow", "red"), "arrow", "red").samples[-1]
    full = replace(
        profile,
        samples=(*profile.samples, *(replace(first, learnt=n) for n in range(1, MOST_LEARNT + 1))),
    )
    more = learn(full, shot("arrow", "red"), "arrow", "red")
    assert sorted(sample.learnt for sample in more.samples if sample.learnt) == list(
        range(2, MOST_LEARNT + 2)
    )
    assert len([sample for sample in more.samples if not sample.learnt]) == len(profile.samples)


@pytest.mark.parametrize(
    ("picture", "symbol", "owner", "words"),
    [
        (shot("arrow", "red"), "skull", None, "has no face 'skull'"),
        (shot("arrow", "red"), "arrow", "green", "no dice of 'green'"),
        (shot("arrow", "red"), "spiral", "red", "plainly shows arrow"),
        (np.full((90, 90, 3), 80, np.uint8), "arrow", "red", "no die is seen"),
    ],
)
def test_what_would_teach_something_wrong_is_refused(
    profile: Profile, picture: NDArray[np.uint8], symbol: str, owner: str | None, words: str
) -> None:
    with pytest.raises(EnrolError, match=words):
        learn(profile, picture, symbol, owner)


def test_the_file_is_learnt_into_and_taken_back(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / f"tada{SUFFIX}"
    profile.save(path)
    learn_at(path, shot("arrow", "red"), "arrow", "red")
    again = load_profile(path)
    assert [(s.owner, s.face) for s in again.samples if s.learnt] == [("red", "arrow")]
    unlearn_at(path, "red", "arrow", 1)
    assert len(load_profile(path).samples) == len(profile.samples)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    path.unlink()
    with pytest.raises(EnrolError, match="is gone"):
        learn_at(path, shot("arrow", "red"), "arrow", "red")


def test_changes_of_one_file_at_the_same_time_are_all_kept(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / f"tada{SUFFIX}"
    profile.save(path)

    def enrol(n: int) -> None:
        def more(before: Profile | None) -> Profile:
            assert before is not None
            time.sleep(0.01)  # others want to write now
            again = replace(profile.samples[0], owner=f"guest {n}")
            return Profile(before.kind, (*before.samples, again), before.edition + 1)

        changed_at(path, more)

    with ThreadPoolExecutor(4) as people:
        taught = people.submit(learn_at, path, shot("arrow", "red"), "arrow", "red")
        assert len(list(people.map(enrol, range(6)))) == 6
        taught.result()
    samples = load_profile(path).samples
    assert {f"guest {n}" for n in range(6)} < {sample.owner for sample in samples}
    assert len(samples) == len(profile.samples) + 7 and sum(sample.learnt for sample in samples) == 1
