"""One writer a journal: a lock that the system itself lets go when its holder dies."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import msgspec


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What the holder wrote into the lock file: its process, and how far it had acknowledged."""

    pid: int
    events: int = 0
    head: str = ""


class LockTakenError(Exception):
    """Another process holds the lock; `pid` is None where the file does not tell."""

    def __init__(self, pid: int | None) -> None:
        """`pid`: the holder."""
        super().__init__(f"process {pid}" if pid else "another process")
        self.pid = pid


def read_lock(path: Path) -> Held | None:
    """What stands in the lock file, None when there is none or it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Held)
    except (OSError, msgspec.MsgspecError):
        return None


class Lock:
    """An exclusive lock on a file; the file stays when the lock is let go."""

    def __init__(self, path: Path) -> None:
        """Takes the lock. Raises LockTakenError, or OSError when the file cannot be made."""
        self._path = path
        self.before = read_lock(path)
        self._fd: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _take(self._fd)
        except OSError:
            os.close(self._fd)
            raise LockTakenError(self.before.pid if self.before else None) from None

    def write(self, events: int, head: str) -> None:
        """Note how far the journal is acknowledged. Not synced: it outlives a killed process, no power cut.

        So it never claims more than is durable, and often all of it. A disk that refuses it costs nothing but
        this check.
        """
        if self._fd is None:
            return
        raw = msgspec.json.encode(Held(pid=os.getpid(), events=events, head=head))
        with suppress(OSError):
            os.lseek(self._fd, 0, os.SEEK_SET)
            os.write(self._fd, raw.ljust(160))

    def release(self) -> None:
        """Let go; harmless when done already."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


if sys.platform == "win32":
    import msvcrt

    def _take(fd: int) -> None:
        # Far behind the text, so that others may read it while the byte is locked.
        os.lseek(fd, 1 << 20, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
