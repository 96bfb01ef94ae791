"""The journal: an append-only, hash-chained file that loses nothing it has acknowledged.

SQLite in WAL mode with ``synchronous=FULL``; one row an entry: its number, its JSON bytes, and
sha256(hash before + bytes). It knows no game. One process writes, any number read beside it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from companion.runtime.lock import Lock, LockTakenError, read_lock

APPLICATION_ID = 0x7461_6461
FORMAT = 1
NO_JOURNAL = "this is no journal, or it is damaged"
ROOT = hashlib.sha256(b"companion journal 1").digest()
"""Stands where the hash before the first entry would."""


class JournalError(Exception):
    """A journal cannot be opened, read or written; the text is one line that says what to do."""


class Verified(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a check of the whole chain found.

    `events`: sound entries from the start; `head`: hash of the last of them; `first_bad`: number of the first
    that is damaged or missing, None when all is well; `why`: in words.
    """

    ok: bool
    events: int
    head: str
    first_bad: int | None
    why: str = ""


def chained(before: bytes, payload: bytes) -> bytes:
    """The hash of an entry (32 bytes)."""
    return hashlib.sha256(before + payload).digest()


def lock_path(path: Path) -> Path:
    """The lock file that belongs to a journal."""
    return path.with_name(path.name + ".lock")


class _Numbered(msgspec.Struct):
    n: int


_number = msgspec.json.Decoder(_Numbered)


def _why_bad(n: int, expected_n: int, payload: object, digest: object, before: bytes) -> str:
    if n != expected_n:
        return f"entry {expected_n} is missing"
    if not isinstance(payload, bytes) or digest != chained(before, payload):
        return f"entry {n} does not match its hash"
    try:
        told = _number.decode(payload).n
    except msgspec.MsgspecError:
        return f"entry {n} is no entry"
    return "" if told == n else f"entry {n} calls itself {told}"


class Reader:
    """A journal opened for reading only, also beside a live writer. Use from one thread, and close it."""

    def __init__(self, path: Path) -> None:
        """Raises JournalError when there is no journal of this format."""
        self.path = path
        if not path.is_file():
            raise JournalError(f"{path}: there is no such journal")
        self._db = _connect_readonly(path)
        try:
            _check_format(self._db, path)
        except JournalError:
            self._db.close()
            raise

    def __enter__(self) -> Reader:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes."""
        self.close()

    def close(self) -> None:
        """Let the file go."""
        self._db.close()

    def rows(self, after: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """(number, JSON bytes, hash) of the entries above `after`, in order, unchecked, as of one instant.

        Raises JournalError when the file is damaged.
        """
        try:
            yield from self._db.execute("SELECT n, payload, hash FROM entry WHERE n > ? ORDER BY n", (after,))
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: the file is damaged ({error})") from None

    def checked(self) -> Iterator[bytes]:
        """The JSON bytes of all entries, each checked against the chain.

        Raises JournalError at the first that is not sound.
        """
        before, expected = ROOT, 1
        for n, payload, digest in self.rows():
            why = _why_bad(n, expected, payload, digest, before)
            if why:
                raise JournalError(f"{self.path}: {why}; {mend(self.path)}")
            yield payload
            before, expected = digest, n + 1

    def verify(self, head: str | None = None) -> Verified:
        """Check every entry; with `head` also that the chain holds that hash: a cut-off tail lacks it.

        What the last writer noted as acknowledged is looked for as well.
        """
        # Read before the rows: a live writer goes on meanwhile, and its note may then be ahead of them.
        held = read_lock(lock_path(self.path))
        before, events, why = ROOT, 0, ""
        hashes = {ROOT.hex()}
        try:
            for n, payload, digest in self.rows():
                why = _why_bad(n, events + 1, payload, digest, before)
                if why:
                    break
                before, events = digest, n
                hashes.add(digest.hex())
            if not why:
                self._check_pages()
        except JournalError as error:
            why = str(error)
        if not why and head is not None and head.lower() not in hashes:
            why = f"the chain does not hold {head}: its tail is cut off, or it is another journal's"
        if not why and held is not None and held.head and held.head not in hashes:
            why = _lost(events, held.events)
        return Verified(
            ok=not why, events=events, head=before.hex(), first_bad=events + 1 if why else None, why=why
        )

    def _check_pages(self) -> None:
        try:
            found = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            found = str(error)
        if found != "ok":
            raise JournalError(f"{self.path}: the file is damaged ({' '.join(str(found).split())})")


def _lost(events: int, acknowledged: int) -> str:
    return f"{acknowledged} entries were acknowledged, the file holds {events} of them"


def mend(path: Path) -> str:
    """How to go on with what is sound."""
    return f"save the sound part with 'companion export --sound {path}' and import that"


def verify(path: Path, head: str | None = None) -> Verified:
    """Check a whole journal, live or not; never raises for a damaged file. See `Reader.verify`."""
    try:
        with Reader(path) as reader:
            return reader.verify(head)
    except JournalError as error:
        return Verified(ok=False, events=0, head=ROOT.hex(), first_bad=1, why=str(error))


def _connect_readonly(path: Path) -> sqlite3.Connection:
    uri = path.resolve().as_uri()
    if path.stat().st_size == 0:  # killed before its first write was through
        blank = sqlite3.connect(":memory:", isolation_level=None)
        _lay_out(blank)
        return blank
    try:
        db = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None, timeout=5)
        try:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError:
            # A folder that may not be written holds no index of the WAL; without a WAL none is needed.
            db.close()
            if path.with_name(path.name + "-wal").exists():
                raise
            db = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
        return db
    except sqlite3.Error as error:
        what = "it cannot be read" if isinstance(error, sqlite3.OperationalError) else NO_JOURNAL
        raise JournalError(f"{path}: {what} ({error})") from None


def _check_format(db: sqlite3.Connection, path: Path) -> None:
    try:
        kind = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise JournalError(f"{path}: {NO_JOURNAL} ({error})") from None
    if kind != APPLICATION_ID:
        raise JournalError(f"{path}: this is no journal of a table")
    if version != FORMAT:
        raise JournalError(f"{path}: written by a newer program (format {version}); update this one")


class Journal:
    """The one writer of a journal. Holds its lock until closed. One thread at a time."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the journal and checks it whole.

        Raises JournalError when another process writes it (its pid is named), when it is damaged or has lost
        entries that were acknowledged, or when the disk does not let it be durable.
        """
        self.path = path.resolve()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(lock_path(self.path))
        except LockTakenError as taken:
            raise JournalError(
                f"{path}: {taken} writes this journal already; end it first, or open another journal"
            ) from None
        except OSError as error:
            raise JournalError(f"{path}: it cannot be written ({error.strerror})") from None
        try:
            if not self.path.exists():
                self._lock.write(0, "")
            self._db = _connect(self.path)
            self._events, self._head = self._check()
            self._lock.write(self._events, self._head.hex())
        except BaseException:
            self._lock.release()
            raise

    @property
    def events(self) -> int:
        """How many entries are durable."""
        return self._events

    @property
    def head(self) -> str:
        """Hash of the last durable entry, hex."""
        return self._head.hex()

    def payloads(self) -> tuple[bytes, ...]:
        """The JSON bytes of all entries, checked. Raises JournalError."""
        with Reader(self.path) as reader:
            return tuple(reader.checked())

    def append(self, payloads: Sequence[bytes]) -> str:
        """Write all of these in one transaction and sync it; gives the new head (hex).

        When this returns they are durable. Raises JournalError when they are not; then none of them counts.
        """
        rows, head = [], self._head
        for n, payload in enumerate(payloads, start=self._events + 1):
            head = chained(head, payload)
            rows.append((n, payload, head))
        if not rows:
            return self.head
        try:
            self._write(rows)
        except sqlite3.Error as error:
            self._recover(rows, error)
        self._events, self._head = rows[-1][0], head
        self._lock.write(self._events, head.hex())
        return head.hex()

    def _write(self, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        if _tail(self._db) != (self._events, self._head):
            self._db.execute("ROLLBACK")
            raise JournalError(f"{self.path}: something else wrote to this journal; start the program anew")
        self._db.executemany("INSERT INTO entry (n, payload, hash) VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def _recover(self, rows: Sequence[tuple[int, bytes, bytes]], error: sqlite3.Error) -> None:
        """After a failed write: look what the disk really holds; come back only if all of it is there."""
        with suppress(sqlite3.Error):
            self._db.close()
        try:
            self._db = _connect(self.path)
            tail = _tail(self._db)
            if tail == (rows[-1][0], rows[-1][2]):
                # The commit went through though its sync failed: write it to the main file and sync that.
                blocked, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not blocked:
                    return
        except (sqlite3.Error, JournalError):
            pass
        raise JournalError(
            f"{self.path}: the disk refused it ({error}); nothing was changed, make room or mend the disk"
        ) from None

    def _check(self) -> tuple[int, bytes]:
        with Reader(self.path) as reader:
            found = reader.verify()
        if not found.ok:
            self._db.close()
            raise JournalError(f"{self.path}: {found.why}; {mend(self.path)}")
        return found.events, bytes.fromhex(found.head)

    def close(self) -> None:
        """Fold the WAL into the file and let the lock go."""
        with suppress(sqlite3.Error):
            self._db.close()
        self._lock.release()


def _tail(db: sqlite3.Connection) -> tuple[int, bytes]:
    row = db.execute("SELECT n, hash FROM entry ORDER BY n DESC LIMIT 1").fetchone()
    return (0, ROOT) if row is None else (row[0], row[1])


def _lay_out(db: sqlite3.Connection) -> None:
    """Make an empty database a journal, all at once: a kill leaves either nothing or an empty journal."""
    db.execute("BEGIN IMMEDIATE")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {FORMAT}")
    db.execute("CREATE TABLE entry (n INTEGER PRIMARY KEY, payload BLOB NOT NULL, hash BLOB NOT NULL) STRICT")
    db.execute("COMMIT")


def is_unused(path: Path) -> bool:
    """Whether a new journal may be made here: there is no file, or one that a kill left without an entry.

    Raises JournalError when the file is something else.
    """
    if not path.exists():
        return True
    with Reader(path) as reader:
        return next(reader.rows(), None) is None and reader.verify().ok


def _connect(path: Path) -> sqlite3.Connection:
    """The writer's connection. Raises JournalError when it is not as durable as it must be."""
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
    except sqlite3.Error as error:
        raise JournalError(f"{path}: it cannot be written ({error})") from None
    try:
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            _lay_out(db)
        _check_format(db, path)
        (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA fullfsync = ON")
        (level,) = db.execute("PRAGMA synchronous").fetchone()
        if (mode, level) != ("wal", 2):
            raise JournalError(f"{path}: this disk does not allow a durable journal; choose a local folder")
    except sqlite3.Error as error:
        db.close()
        raise JournalError(f"{path}: {NO_JOURNAL} ({error})") from None
    except JournalError:
        db.close()
        raise
    return db
