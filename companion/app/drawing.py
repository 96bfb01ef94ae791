"""Drawn readings of any command: where `--picture` asks for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from companion.app.settings import SettingsError
from vision.encoding import SUFFIXES, save
from vision.frame import Frame


class NotDrawnError(SettingsError):
    """A drawn picture could not be written; the text says what to do."""


class Drawer:
    """Writes drawn readings where they were asked for: one picture to a file, several into a folder. Raises
    SettingsError at once when that cannot be."""

    def __init__(self, out: Path | None, *, is_alone: bool) -> None:
        """`out`: a file, where the one picture that is read `is_alone`, else a folder; None: nothing is drawn."""
        self._out, self._taken = out, set[str]()
        self._is_file = is_alone and out is not None and not out.is_dir()
        if out is None:
            return
        if self._is_file and out.suffix.lower() not in SUFFIXES:
            raise SettingsError(
                f"--picture {out}: give a name that ends in {', '.join(SUFFIXES)}, or a folder"
            )
        folder = out.parent if self._is_file else out
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                f"--picture {out}: {error.strerror}: give a folder that can be written"
            ) from error

    def save(self, name: str, drawn: Callable[[], Frame]) -> None:
        """What `drawn` gives (uint8 BGR), under this name, or, where it was given already, with a number behind it;
        nothing where nobody asked. Raises NotDrawnError when it cannot be written."""
        if self._out is None:
            return
        out = self._out if self._is_file else self._out / f"{self._free(name)}.png"
        try:
            save(out, drawn())
        except OSError as error:
            told = (
                f"the drawn picture {out} is not written: {error.strerror or error}: give another --picture"
            )
            raise NotDrawnError(told) from error

    def _free(self, name: str) -> str:
        free, number = name, 1
        while free in self._taken:
            number += 1
            free = f"{name}-{number}"
        self._taken.add(free)
        return free
