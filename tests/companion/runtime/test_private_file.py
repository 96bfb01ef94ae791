"""A file with secrets is its owner's alone and never half written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from companion.runtime.private_file import write_private


def test_it_is_for_its_owner_alone_whatever_stood_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "secrets.json"
    write_private(path, b"one")
    path.chmod(0o644)
    write_private(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["secrets.json"]


def test_what_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secrets.json"
    write_private(path, b"one")

    def full(_handle: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_private(path, b"two")
    assert path.read_bytes() == b"one"
    assert [found.name for found in tmp_path.iterdir()] == ["secrets.json"]
