"""Pictures kept for an entry: files beside the journal, for a day. Who may look at them is not decided here."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

DAY_S = 24 * 3600.0
MOST_BYTES = 4_000_000
_NAME = re.compile(r"e(\d{1,9})-(\d{1,20})-(\d{1,6})\.jpg")
_NONE = re.compile(r"e(\d{1,9})\.none")


class EvidenceError(Exception):
    """A picture cannot be kept or found; one line."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One kept picture: its name for `read`, and the host instant (ns) at which it was taken."""

    name: str
    at_ns: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept for one entry, oldest first. `why_none` says why there is nothing, empty when there is."""

    entry: int
    pictures: tuple[Picture, ...]
    why_none: str = ""


def folder_of(journal: Path) -> Path:
    """The folder that belongs to a journal."""
    return journal.with_name(journal.name + ".evidence")


class EvidenceStore:
    """JPEG pictures by entry number. Names are made here and tell all there is to know; no other index exists.

    Kept for `retention_s` seconds of wall time, then `sweep` deletes them. Any thread, one process.
    """

    def __init__(
        self, folder: Path, retention_s: float = DAY_S, wall_s: Callable[[], float] = time.time
    ) -> None:
        """The folder is made when the first picture comes."""
        self._folder, self._retention_s, self._wall_s = folder, retention_s, wall_s

    def put(self, entry: int, pictures: Iterable[tuple[int, bytes]]) -> int:
        """Keep pictures (host instant in ns, JPEG bytes) for an entry, beside those it has; gives how many.

        Raises EvidenceError when one is no JPEG or too large, or the disk refuses it; those before it stay.
        """
        kept = 0
        for at_ns, jpeg in pictures:
            if not jpeg.startswith(b"\xff\xd8") or len(jpeg) > MOST_BYTES:
                raise EvidenceError(f"entry {entry}: a picture is no JPEG of at most {MOST_BYTES} bytes")
            self._write(f"e{entry}-{at_ns}", jpeg)
            kept += 1
        return kept

    def note_none(self, entry: int, why: str) -> None:
        """Say why there is no picture for an entry, such as a lost camera. Raises EvidenceError."""
        self._save(f"e{entry}.none", why[:200].encode())

    def of(self, entry: int) -> Evidence:
        """What is kept for an entry now."""
        found = sorted(
            (int(match[2]), int(match[3]), match[0])
            for match in self._matches(_NAME)
            if int(match[1]) == entry
        )
        if found:
            pictures = tuple(Picture(name=name, at_ns=at_ns) for at_ns, _, name in found)
            return Evidence(entry=entry, pictures=pictures)
        return Evidence(entry=entry, pictures=(), why_none=self._why_none(entry))

    def read(self, name: str) -> tuple[int, bytes]:
        """(entry, JPEG bytes) of a picture by its name. Raises EvidenceError for any other name."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise EvidenceError("there is no such picture")
        try:
            return int(match[1]), (self._folder / match[0]).read_bytes()
        except OSError:
            raise EvidenceError("there is no such picture; it may be past its time") from None

    def sweep(self) -> int:
        """Delete what is past its time; gives how many pictures went."""
        gone, oldest_s = 0, self._wall_s() - self._retention_s
        for match in (*self._matches(_NAME), *self._matches(_NONE)):
            path = self._folder / match[0]
            try:
                if path.stat().st_mtime < oldest_s:
                    path.unlink()
                    gone += match.re is _NAME
            except FileNotFoundError:
                continue
        return gone

    def _matches(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        return [match for match in map(pattern.fullmatch, names) if match]

    def _why_none(self, entry: int) -> str:
        try:
            return (self._folder / f"e{entry}.none").read_text(encoding="utf-8")
        except OSError:
            return f"No picture is kept: no camera saw it, or it is more than {self._retention_s / 3600:g} h ago."

    def _write(self, stem: str, jpeg: bytes) -> None:
        place = 0
        while (self._folder / f"{stem}-{place}.jpg").exists():
            place += 1
        self._save(f"{stem}-{place}.jpg", jpeg)

    def _save(self, name: str, content: bytes) -> None:
        half = self._folder / f"{name}.part"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            half.write_bytes(content)
            half.replace(self._folder / name)
        except OSError as error:
            raise EvidenceError(f"{name}: the disk refused it ({error.strerror})") from None
