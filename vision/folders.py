"""Folders of pictures: what lies in them, in the order of the names."""

from __future__ import annotations

from pathlib import Path

from vision.frame import PICTURE_SUFFIXES


def pictures_in(place: Path) -> list[Path]:
    """The files whose names say that they are pictures. Raises OSError where the folder cannot be listed."""
    return sorted(f for f in place.iterdir() if f.suffix.lower() in PICTURE_SUFFIXES and f.is_file())


def folders_in(place: Path) -> list[Path]:
    """The folders that are not hidden. Raises OSError where the folder cannot be listed."""
    return sorted(f for f in place.iterdir() if f.is_dir() and not f.name.startswith("."))
