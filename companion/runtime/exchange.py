"""A journal as JSON Lines and back, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from companion.runtime.journal import ROOT, Journal, JournalError, Reader, Verified, chained, lock_path, mend

FORMAT = "companion-journal/1"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: the format, how many entries follow, and the hash of the last (hex)."""

    format: str
    events: int
    head: str


def export(path: Path, out: BinaryIO, *, sound_only: bool = False) -> Verified:
    """Write a journal, live or not, as it stands now: a header line, then one line an entry as journalled.

    A damaged journal raises JournalError before anything is written, unless `sound_only`: then the entries
    before the damage are written. Gives what the check found.
    """
    with Reader(path) as reader:
        found = reader.verify()
        if not found.ok and not sound_only:
            raise JournalError(f"{path}: {found.why}; {mend(path)}")
        header = Header(format=FORMAT, events=found.events, head=found.head)
        out.write(msgspec.json.encode(header) + b"\n")
        for n, payload, _ in reader.rows() if found.events else ():
            if n > found.events:
                break
            out.write(payload + b"\n")
            if n == found.events:
                break
    return found


def import_(lines: Iterable[bytes], path: Path) -> str:
    """Make a new journal from exported lines; gives its head (hex), the same as the header's.

    Raises JournalError, and leaves no file, when the lines are no export, are incomplete or were changed.
    """
    if path.exists():
        raise JournalError(f"{path}: there is a file already; choose another name")
    source = iter(lines)
    try:
        header = msgspec.json.decode(next(source, b""), type=Header)
    except msgspec.MsgspecError:
        raise JournalError("the first line is no header of an exported journal") from None
    if header.format != FORMAT:
        raise JournalError(f"the lines are {header.format!r}, this program reads {FORMAT}")
    payloads, head = [], ROOT
    for line in source:
        payload = line.rstrip(b"\r\n")
        if payload:
            payloads.append(payload)
            head = chained(head, payload)
    if (len(payloads), head.hex()) != (header.events, header.head):
        raise JournalError(
            f"the header names {header.events} entries and head {header.head}, the lines are {len(payloads)}"
            f" and {head.hex()}: they were cut off or changed; export them again"
        )
    journal = Journal(path)
    try:
        journal.append(payloads)
        return journal.head
    except BaseException:
        with suppress(OSError):
            path.unlink()
            lock_path(path).unlink()
        raise
    finally:
        journal.close()
