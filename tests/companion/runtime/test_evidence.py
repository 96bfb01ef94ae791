"""Pictures kept for entries, and the honest word when there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from companion.runtime.evidence import EvidenceError, EvidenceStore, folder_of

JPEG = b"\xff\xd8\xff\xe0 picture"


class Wall:
    def __init__(self, folder: Path) -> None:
        self.now_s = 1_000_000.0
        self.folder = folder

    def __call__(self) -> float:
        return self.now_s

    def stamp(self) -> None:
        """Date the files by this clock instead of the disk's."""
        for path in self.folder.iterdir():
            if path.stat().st_mtime > 2_000_000:
                os.utime(path, (self.now_s, self.now_s))


def test_pictures_come_back_in_order_by_entry(tmp_path: Path) -> None:
    store = EvidenceStore(folder_of(tmp_path / "a.journal"))
    assert store.put(12, [(2_000, JPEG + b"2"), (1_000, JPEG + b"1")]) == 2
    assert store.put(12, [(2_000, JPEG + b"3")]) == 1
    store.put(1, [(5, JPEG)])
    found = store.of(12)
    assert [picture.at_ns for picture in found.pictures] == [1_000, 2_000, 2_000]
    assert [store.read(picture.name) for picture in found.pictures] == [
        (12, JPEG + b"1"), (12, JPEG + b"2"), (12, JPEG + b"3"),
    ]  # fmt: skip
    assert found.why_none == ""
    assert (tmp_path / "a.journal.evidence").is_dir()


def test_no_evidence_is_said(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "e")
    assert "no camera saw it" in store.of(3).why_none
    store.note_none(3, "the camera was lost")
    assert store.of(3).why_none == "the camera was lost"
    assert store.of(3).pictures == ()


def test_pictures_past_their_time_are_gone_from_disk(tmp_path: Path) -> None:
    wall = Wall(tmp_path / "e")
    store = EvidenceStore(tmp_path / "e", 24 * 3600, wall)
    store.put(1, [(1, JPEG), (2, JPEG)])
    store.note_none(2, "x")
    wall.stamp()
    wall.now_s += 23 * 3600
    store.put(3, [(3, JPEG)])
    wall.stamp()
    assert store.sweep() == 0
    wall.now_s += 2 * 3600
    assert store.sweep() == 2
    assert [path.name for path in (tmp_path / "e").iterdir()] == ["e3-3-0.jpg"]
    assert "24 h" in store.of(1).why_none
    assert store.of(3).pictures != ()


@pytest.mark.parametrize(
    "name",
    [
        "../a.journal",
        "e1-1-0.jpg/../../a.journal",
        "e1-1-0.png",
        "",
        "e1-1-0.jpg\n",
        "/etc/passwd",
        "E1-1-0.jpg",
    ],
)
def test_only_names_made_here_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.journal").write_text("secret")
    store = EvidenceStore(tmp_path / "e")
    store.put(1, [(1, JPEG)])
    with pytest.raises(EvidenceError, match="no such picture"):
        store.read(name)


def test_a_picture_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="past its time"):
        EvidenceStore(tmp_path / "e").read("e1-1-0.jpg")


@pytest.mark.parametrize("content", [b"", b"GIF89a", b"\xff\xd8" + b"x" * 5_000_000])
def test_only_jpegs_of_a_sane_size_are_kept(tmp_path: Path, content: bytes) -> None:
    store = EvidenceStore(tmp_path / "e")
    with pytest.raises(EvidenceError, match="no JPEG"):
        store.put(1, [(1, content)])
    assert store.of(1).pictures == ()


def test_a_disk_that_refuses_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "e").write_text("a file where the folder should be")
    with pytest.raises(EvidenceError, match="the disk refused it"):
        EvidenceStore(tmp_path / "e").put(1, [(1, JPEG)])


def test_half_written_pictures_do_not_count(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "e")
    store.put(1, [(1, JPEG)])
    (tmp_path / "e" / "e1-2-0.jpg.part").write_bytes(JPEG)
    (tmp_path / "e" / "notes.txt").write_text("a guest")
    assert len(store.of(1).pictures) == 1
    store.sweep()
    assert (tmp_path / "e" / "notes.txt").exists()
