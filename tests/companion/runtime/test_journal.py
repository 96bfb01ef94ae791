"""The journal: durable, chained, one writer, and honest about damage."""

from __future__ import annotations

import io
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import msgspec
import pytest

from companion.runtime import journal as j
from companion.runtime.exchange import export, import_
from companion.runtime.journal import Journal, JournalError, Reader, verify


def payload(n: int, size: int = 40) -> bytes:
    return msgspec.json.encode({"n": n, "text": f"{n:x}" * size})


def made(path: Path, count: int = 30, size: int = 40) -> str:
    """A closed journal of `count` entries; gives its head."""
    journal = Journal(path)
    journal.append([payload(n, size) for n in range(1, count + 1)])
    journal.close()
    return journal.head


def run(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_writer_is_durable_by_its_own_word(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    (connection,) = [value for value in vars(journal).values() if isinstance(value, sqlite3.Connection)]
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    journal.close()


def test_the_chain_is_as_documented(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    head = j.ROOT
    for n in (1, 2):
        head = j.chained(head, payload(n))
    assert journal.append([payload(1), payload(2)]) == head.hex() == journal.head
    assert journal.append([]) == journal.head
    journal.close()
    assert verify(tmp_path / "a") == j.Verified(ok=True, events=2, head=head.hex(), first_bad=None)


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    head = made(tmp_path / "a", 5)
    journal = Journal(tmp_path / "a")
    assert (journal.events, journal.head) == (5, head)
    journal.append([payload(6)])
    assert list(journal.payloads()) == [payload(n) for n in range(1, 7)]
    journal.close()
    journal.close()


def test_readers_beside_a_live_writer_see_every_commit(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    journal.append([payload(1)])
    with Reader(tmp_path / "a") as reader:
        assert len(list(reader.rows())) == 1
        rows = reader.rows()
        next(rows)
        journal.append([payload(2)])
        assert list(rows) == [], "one reading sees one instant"
        assert [n for n, _, _ in reader.rows(after=1)] == [2]
        assert reader.verify(journal.head).ok
    journal.close()


def test_a_journal_that_is_being_written_is_sound_at_every_instant(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    is_done = threading.Event()

    def write() -> None:
        while not is_done.is_set():
            journal.append([payload(journal.events + 1)])

    writer = threading.Thread(target=write)
    writer.start()
    found = [verify(tmp_path / "a")]
    while len(found) < 60 or found[-1].events == found[0].events:  # until it was written meanwhile
        found.append(verify(tmp_path / "a"))
    is_done.set()
    writer.join()
    journal.close()
    assert [one.why for one in found if one.why] == []


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    made(tmp_path / "a", 2)
    before = (tmp_path / "a").read_bytes()
    with Reader(tmp_path / "a") as reader:
        connection = next(v for v in vars(reader).values() if isinstance(v, sqlite3.Connection))
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("DELETE FROM entry")
    assert (tmp_path / "a").read_bytes() == before


def test_a_journal_in_a_folder_that_may_not_be_written_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    head = made(folder / "a", 3)
    folder.chmod(0o555)
    try:
        assert verify(folder / "a", head).ok
    finally:
        folder.chmod(0o755)


def test_a_second_writer_is_refused_with_the_pid(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    with pytest.raises(JournalError, match=f"process {os.getpid()} writes this journal already"):
        Journal(tmp_path / "a")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    with pytest.raises(JournalError, match=str(os.getpid())):
        Journal(link)
    other = run(
        """
        import sys; from pathlib import Path; from companion.runtime.journal import Journal, JournalError
        try: Journal(Path(sys.argv[1]))
        except JournalError as error: print(error)
        """,
        tmp_path / "a",
    )
    assert f"process {os.getpid()} " in other.stdout
    assert other.stderr == ""
    journal.close()
    Journal(tmp_path / "a").close()


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    killed = run(
        """
        import os, signal, sys; from pathlib import Path; from companion.runtime.journal import Journal
        journal = Journal(Path(sys.argv[1]))
        journal.append([b'{"n": 1}'])
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path / "a",
    )
    assert killed.returncode == -9
    assert j.read_lock(j.lock_path(tmp_path / "a")).pid != os.getpid()
    journal = Journal(tmp_path / "a")
    assert journal.events == 1
    journal.close()


def test_a_cut_off_tail_is_seen_with_the_head(tmp_path: Path) -> None:
    head = made(tmp_path / "a")
    with sqlite3.connect(tmp_path / "a") as db:
        (early,) = db.execute("SELECT hex(hash) FROM entry WHERE n = 12").fetchone()
        db.execute("DELETE FROM entry WHERE n > 20")
    db.close()
    j.lock_path(tmp_path / "a").unlink()
    assert verify(tmp_path / "a").ok, "nothing in the file itself tells"
    found = verify(tmp_path / "a", head)
    assert (found.ok, found.events, found.first_bad) == (False, 20, 21)
    assert head in found.why
    assert verify(tmp_path / "a", early).ok, "a head noted earlier in the evening is in the chain"


def test_a_cut_off_tail_is_seen_by_what_was_acknowledged(tmp_path: Path) -> None:
    made(tmp_path / "a")
    with sqlite3.connect(tmp_path / "a") as db:
        db.execute("DELETE FROM entry WHERE n > 20")
    db.close()
    found = verify(tmp_path / "a")
    assert (found.ok, found.events, found.first_bad) == (False, 20, 21)
    with pytest.raises(JournalError, match="30 entries were acknowledged, the file holds 20"):
        Journal(tmp_path / "a")


@pytest.mark.parametrize(
    ("change", "first_bad"),
    [
        (
            "UPDATE entry SET payload = CAST(replace(CAST(payload AS TEXT), '\"n\":7,', '\"n\":7 ,') AS BLOB)",
            7,
        ),
        ("UPDATE entry SET hash = zeroblob(32) WHERE n = 9", 9),
        ("DELETE FROM entry WHERE n = 4", 4),
        ("DELETE FROM entry WHERE n = 1", 1),
        ("UPDATE entry SET n = n + 1 WHERE n = 30", 30),
    ],
)
def test_a_change_is_found_where_it_is(tmp_path: Path, change: str, first_bad: int) -> None:
    head = made(tmp_path / "a")
    with sqlite3.connect(tmp_path / "a") as db:
        db.execute(change)
    db.close()
    found = verify(tmp_path / "a", head)
    assert (found.ok, found.first_bad, found.events) == (False, first_bad, first_bad - 1)
    assert "\n" not in found.why
    with pytest.raises(JournalError, match="companion export --sound"):
        Journal(tmp_path / "a")


def test_a_flipped_bit_anywhere_is_found_or_harmless(tmp_path: Path) -> None:
    head = made(tmp_path / "a", 120, 60)
    whole = (tmp_path / "a").read_bytes()
    chance, found_bad = random.Random(5), 0
    for place in [*range(0, 110, 7), *(chance.randrange(len(whole)) for _ in range(120))]:
        broken = bytearray(whole)
        broken[place] ^= 1 << chance.randrange(8)
        copy = tmp_path / "copy"
        copy.write_bytes(broken)
        found = verify(copy, head)
        assert "\n" not in found.why
        if found.ok:
            with Reader(copy) as reader:
                assert list(reader.checked()) == [payload(n, 60) for n in range(1, 121)]
        found_bad += not found.ok
        for rest in ("copy-wal", "copy-shm"):
            (tmp_path / rest).unlink(missing_ok=True)
    assert found_bad > 80


@pytest.mark.parametrize("kept", [0.99, 0.7, 0.3, 0.02])
def test_a_torn_file_is_found(tmp_path: Path, kept: float) -> None:
    head = made(tmp_path / "a", 120, 60)
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole[: int(len(whole) * kept)])
    assert not verify(tmp_path / "a", head).ok
    with pytest.raises(JournalError):
        Journal(tmp_path / "a")


def killed_with_a_wal(path: Path) -> str:
    """A journal whose writer was killed, so that its last commits are in the WAL; gives its head."""
    done = run(
        """
        import os, signal, sys; from pathlib import Path; from companion.runtime.journal import Journal
        journal = Journal(Path(sys.argv[1]))
        for n in range(1, 21): journal.append([b'{"n": %d}' % n])
        print(journal.head, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        path,
    )
    return done.stdout.strip()


def test_a_torn_wal_is_found_though_sqlite_is_silent_about_it(tmp_path: Path) -> None:
    head = killed_with_a_wal(tmp_path / "a")
    assert verify(tmp_path / "a", head).events == 20
    wal = tmp_path / "a-wal"
    wal.write_bytes(wal.read_bytes()[: wal.stat().st_size // 2])
    found = verify(tmp_path / "a")
    assert not found.ok
    assert found.first_bad == found.events + 1 <= 20
    with pytest.raises(JournalError, match="20 entries were acknowledged"):
        Journal(tmp_path / "a")


def test_a_file_that_is_no_journal_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello\n" * 400)
    with sqlite3.connect(tmp_path / "other") as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    made(tmp_path / "newer", 1)
    with sqlite3.connect(tmp_path / "newer") as db:
        db.execute("PRAGMA user_version = 9")
    db.close()
    for name, why in (
        ("text", "no journal"), ("other", "no journal"), ("newer", "newer program"), ("none", "no such journal"),
    ):  # fmt: skip
        found = verify(tmp_path / name)
        assert not found.ok
        assert why in found.why
        assert "\n" not in found.why
        if name != "none":
            with pytest.raises(JournalError, match=why):
                Journal(tmp_path / name)


def test_a_deleted_journal_may_be_made_anew(tmp_path: Path) -> None:
    made(tmp_path / "a")
    (tmp_path / "a").unlink()
    assert made(tmp_path / "a", 2) != ""
    assert verify(tmp_path / "a").events == 2


def test_a_stranger_that_wrote_is_noticed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    journal.append([payload(1)])
    with sqlite3.connect(tmp_path / "a") as db:
        db.execute("INSERT INTO entry VALUES (2, x'7b7d', x'00')")
    db.close()
    with pytest.raises(JournalError, match="something else wrote"):
        journal.append([payload(2)])
    journal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX")
def test_a_full_disk_is_a_clear_error_and_nothing_is_half_written(tmp_path: Path) -> None:
    done = run(
        """
        import resource, sys; from pathlib import Path
        from companion.runtime.journal import Journal, JournalError, verify
        path = Path(sys.argv[1])
        journal = Journal(path)
        count = 0
        def add():
            global count
            journal.append([b'{"n": %d, "x": "%s"}' % (count + 1, b"x" * 3000)])
            count += 1
        for _ in range(5): add()
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        errors = []
        for _ in range(300):
            try: add()
            except JournalError as error: errors.append(str(error))
            assert journal.events == count, (journal.events, count)
            if len(errors) == 3: break
        found = verify(path, journal.head)
        print(found.ok, found.events == count, len(errors), "\\n" in errors[0], errors[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        for _ in range(5): add()
        journal.close()
        print(verify(path, journal.head).events == count)
        """,
        tmp_path / "a",
    )
    assert done.stderr == ""
    first, last = done.stdout.splitlines()
    assert first.startswith("True True 3 False")
    assert "the disk refused it" in first
    assert "make room" in first
    assert last == "True"


def test_a_journal_where_nothing_may_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot be written"):
        Journal(tmp_path / "file" / "a")


def test_export_and_import_give_the_same_head(tmp_path: Path) -> None:
    head = made(tmp_path / "a")
    out = io.BytesIO()
    assert export(tmp_path / "a", out).ok
    lines = out.getvalue().splitlines(keepends=True)
    assert len(lines) == 31
    assert msgspec.json.decode(lines[0])["head"] == head
    assert import_(lines, tmp_path / "b") == head
    again = io.BytesIO()
    export(tmp_path / "b", again)
    assert again.getvalue() == out.getvalue()
    with pytest.raises(JournalError, match="there is a file already"):
        import_(lines, tmp_path / "b")


def test_export_of_a_live_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    journal.append([payload(1), payload(2)])
    out = io.BytesIO()
    export(tmp_path / "a", out)
    journal.append([payload(3)])
    assert import_(out.getvalue().splitlines(), tmp_path / "b") == verify(tmp_path / "b").head
    journal.close()


def test_only_the_sound_part_of_a_damaged_journal_is_exported_when_asked(tmp_path: Path) -> None:
    made(tmp_path / "a")
    with sqlite3.connect(tmp_path / "a") as db:
        db.execute("UPDATE entry SET payload = x'00' WHERE n = 12")
    db.close()
    out = io.BytesIO()
    with pytest.raises(JournalError, match="entry 12"):
        export(tmp_path / "a", out)
    assert out.getvalue() == b""
    assert export(tmp_path / "a", out, sound_only=True).events == 11
    import_(out.getvalue().splitlines(), tmp_path / "b")
    assert verify(tmp_path / "b").events == 11


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]],
        lambda lines: [lines[0], lines[1].replace(b"1", b"2"), *lines[2:]],
        lambda lines: lines[1:],
        lambda lines: [],
        lambda lines: [lines[0].replace(b"journal/1", b"journal/2"), *lines[1:]],
        lambda lines: [b"\xff\xfe\n"],
    ],
)
def test_lines_that_were_spoiled_are_not_imported(tmp_path: Path, spoil: object) -> None:
    made(tmp_path / "a")
    out = io.BytesIO()
    export(tmp_path / "a", out)
    with pytest.raises(JournalError) as caught:
        import_(spoil(out.getvalue().splitlines(keepends=True)), tmp_path / "b")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "b").exists()


def test_a_copy_with_its_wal_is_the_journal(tmp_path: Path) -> None:
    head = killed_with_a_wal(tmp_path / "a")
    for name in ("a", "a-wal"):
        shutil.copy(tmp_path / name, tmp_path / f"copy{name[1:]}")
    assert verify(tmp_path / "copy", head).ok
