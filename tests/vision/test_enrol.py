"""Enrolling dice from pictures, and the profile file that may come from anybody."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.enrol import enrol_folder, without_face, without_owner
from vision.profile import MOST_SAMPLES, NAME_LETTERS, SUFFIX, EnrolError, Profile, load_profile
from vision.render.enrolment import write_enrolment
from vision.render.liveries import OWNERS

FACES = ("arrow", "spiral")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("enrol")
    write_enrolment(place, {name: OWNERS[name] for name in ("red", "blue")}, FACES, shots=3, seed=7)
    return place


@pytest.fixture(scope="module")
def profile(folder: Path) -> Profile:
    return enrol_folder(folder, "tada")[0]


def test_each_owner_has_an_own_folder_and_the_figures_are_told(folder: Path) -> None:
    profile, result = enrol_folder(folder, "tada")
    assert result.faces == {"arrow": 6, "spiral": 6}
    assert result.closest == ("arrow", "spiral")
    assert result.margin is not None and result.margin > 0.1
    assert result.unused == ()
    assert {sample.owner for sample in profile.samples} == {"red", "blue"}


def test_a_single_die_needs_no_owner(folder: Path) -> None:
    profile, result = enrol_folder(folder / "red", "magic")
    assert profile.kind == "magic"
    assert {sample.owner for sample in profile.samples} == {""}
    assert result.faces == {"arrow": 3, "spiral": 3}


def test_the_file_gives_back_what_was_enrolled(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / f"tada{SUFFIX}"
    profile.save(path)
    again = load_profile(path)
    assert again.kind == profile.kind
    for one, other in zip(profile.samples, again.samples, strict=True):
        assert (one.owner, one.face) == (other.owner, other.face)
        assert np.allclose(one.patch, other.patch, atol=0.002)
        assert np.allclose(one.body, other.body) and np.allclose(one.ink, other.ink)


def test_unreadable_and_empty_pictures_are_named_and_the_others_used(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "arrow"
    place.mkdir()
    for n, source in enumerate(sorted((folder / "red" / "arrow").iterdir())):
        (place / f"{n}.jpg").write_bytes(source.read_bytes())
    (place / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    cv2.imwrite(str(place / "nothing.png"), np.full((300, 300, 3), 90, np.uint8))
    _, result = enrol_folder(tmp_path, "die")
    assert result.faces == {"arrow": 3}
    assert sorted(result.unused) == ["arrow/nothing.png", "arrow/torn.jpg"]
    assert (result.closest, result.margin) == (None, None)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: None, "is no folder"),
        (lambda p: p.mkdir(), "holds no pictures"),
        (lambda p: (p / "arrow").mkdir(parents=True), "holds no pictures"),
    ],
)
def test_a_folder_that_is_none_says_what_to_do(make: object, words: str, tmp_path: Path) -> None:
    place = tmp_path / "dice"
    make(place)  # type: ignore[operator] # a parametrized function
    with pytest.raises(EnrolError, match=words):
        enrol_folder(place, "die")


def test_a_face_without_a_die_in_any_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "arrow").mkdir()
    cv2.imwrite(str(tmp_path / "arrow" / "a.png"), np.full((300, 300, 3), 90, np.uint8))
    with pytest.raises(EnrolError, match="take 3 to 5 pictures from above"):
        enrol_folder(tmp_path, "die")


def test_a_picture_of_any_format_that_is_read_is_enrolled(folder: Path, tmp_path: Path) -> None:
    for path in (folder / "red").glob("*/*"):
        place = tmp_path / path.parent.name
        place.mkdir(exist_ok=True)
        cv2.imwrite(str(place / f"{path.stem}.tif"), cv2.imread(str(path)))
    assert enrol_folder(tmp_path, "magic")[1].faces == {"arrow": 3, "spiral": 3}


def test_whatever_is_taken_out_makes_another_edition(profile: Profile) -> None:
    for after in (without_owner(profile, "red"), without_face(profile, "red", "arrow")):
        assert after is not None and after.edition == profile.edition + 1
    only_red = without_owner(profile, "blue")
    assert only_red is not None and without_owner(only_red, "red") is None


LONG = (NAME_LETTERS + 1) * "x"


@pytest.mark.parametrize(
    ("kind", "changes", "count", "told"),
    [
        ("tada", {}, MOST_SAMPLES + 1, f"more than the {MOST_SAMPLES}"),
        (LONG, {}, 1, LONG),
        ("tada", {"owner": LONG}, 1, LONG),
        ("tada", {"face": LONG}, 1, f"at most {NAME_LETTERS} letters"),
        ("tada", {"face": "two\nlines"}, 1, "in one line"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(
    profile: Profile, tmp_path: Path, kind: str, changes: dict[str, str], count: int, told: str
) -> None:
    path = tmp_path / f"tada{SUFFIX}"
    with pytest.raises(EnrolError, match=told):
        Profile(kind, (replace(profile.samples[0], **changes),) * count).save(path)
    assert not path.exists()


def test_a_folder_with_a_name_that_cannot_be_kept_says_so(folder: Path) -> None:
    with pytest.raises(EnrolError, match=f"at most {NAME_LETTERS} letters"):
        enrol_folder(folder / "red", LONG)


def _flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


@pytest.mark.parametrize("spoil", [lambda d: b"", lambda d: b"no zip", lambda d: d[: len(d) // 2], _flip])
def test_a_file_that_is_no_profile_is_one_clear_line(spoil: object, profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / f"bad{SUFFIX}"
    profile.save(path)
    path.write_bytes(spoil(path.read_bytes()))  # type: ignore[operator] # a parametrized function
    with pytest.raises(EnrolError, match="dice profile"):
        load_profile(path)


def test_a_profile_with_wrong_shapes_or_numbers_is_refused(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / f"odd{SUFFIX}"
    profile.save(path)
    parts = dict(np.load(path))
    for name, value in (
        ("patches", parts["patches"][:, :5]),
        ("colours", np.full_like(parts["colours"], np.nan)),
        ("names", parts["names"][:-1]),
        ("names", np.array(["no line"] * len(parts["names"]))),
    ):
        with path.open("wb") as file:
            np.savez(file, **{**parts, name: value})
        with pytest.raises(EnrolError, match="damaged"):
            load_profile(path)
    with pytest.raises(EnrolError, match="is no dice profile"):
        load_profile(tmp_path / "missing.npz")


@pytest.mark.parametrize(
    "header", [b"{'shape': (1,", b"(((", b"{'descr': ('<f8',), 'fortran_order': False, 'shape': (1,)}\n"]
)
def test_a_file_that_was_made_to_break_the_program_is_one_clear_line(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"crafted{SUFFIX}"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("format.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(EnrolError, match="damaged"):
        load_profile(path)
