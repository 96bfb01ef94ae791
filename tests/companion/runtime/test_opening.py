"""Journals made, taken up again and replayed; host time across starts."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import counting as k
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual import MS, REFEREE

from companion.core import command as c
from companion.core import event as e
from companion.runtime import opening
from companion.runtime.host_clock import HostClock, boot_id
from companion.runtime.journal import Journal, JournalError, is_unused, verify
from companion.runtime.loop import TableLoop
from companion.runtime.replay import replay

GAMES = {"counting": k.GAME}


def played(path: Path) -> TableLoop:
    o = opening.create(path, k.GAME, seats=k.SEATS, seed=5, options={"goal": 40}, table="7", data="text")
    loop = TableLoop(o.table, o.journal, o.clock)
    for n, command in enumerate((c.Resume(), k.Add(seat="s1", number=4), k.Take(number=1), c.Undo())):
        assert loop.submit(command, REFEREE, str(n)).result(20).is_accepted
    return loop


def test_a_new_table_has_its_first_fact_and_stands(tmp_path: Path) -> None:
    o = opening.create(
        tmp_path / "a", k.GAME, seats=k.SEATS, seed=5, options={"goal": 40}, table="7", data="text"
    )
    first, started = o.table.entries
    assert first.events == (
        e.Opened(
            game="counting",
            table="7",
            seats=k.SEATS,
            options={"goal": 40, "loud": False},
            seed=5,
            data="text",
        ),
    )
    assert started.events[0].boot == o.clock.boot
    assert o.table.sitting.stopped_at_ns is not None
    o.journal.close()
    with pytest.raises(JournalError, match="there is a journal already"):
        opening.create(tmp_path / "a", k.GAME, seats=k.SEATS, seed=5)


def test_a_journal_taken_up_again_goes_on(tmp_path: Path) -> None:
    loop = played(tmp_path / "a")
    before = loop.snapshot()
    loop.close()
    o = opening.reopen(tmp_path / "a", GAMES)
    assert o.table.version == before.version + 1
    assert o.table.sitting.game == before.sitting.game
    assert o.table.sitting.stopped_at_ns == before.at_ns
    assert o.clock.now_ns() > before.at_ns
    o.journal.close()


def test_replay_beside_the_running_table(tmp_path: Path) -> None:
    loop = played(tmp_path / "a")
    live, found = loop.snapshot(), replay(tmp_path / "a", GAMES)
    assert (found.version, found.head, found.sitting) == (live.version, live.head, live.sitting)
    assert found.state_hash == loop.codec.state_hash(live.sitting)
    assert found.view.headline == "4 of 40"
    assert [line.entry.n for line in found.lines] == [1, 2, 3, 4]
    loop.close()
    assert replay(tmp_path / "a", GAMES).state_hash == found.state_hash


def rewritten(path: Path, change: str) -> None:
    """The same journal with another text in it and sound hashes, as a different version would have written."""
    journal = Journal(path)
    rows = [payload.decode().replace(*change.split(" -> ")).encode() for payload in journal.payloads()]
    journal.close()
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM entry")
    db.close()
    path.with_name(path.name + ".lock").unlink()
    journal = Journal(path)
    journal.append(rows)
    journal.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('"game":"counting" -> "game":"chess"', "a game of 'chess', which this program does not know"),
        ('"is":"Added" -> "is":"Doubled"', "entry 4 cannot be read by this version"),
        ('"is":"Opened" -> "is":"Started"', "does not begin with the opening of a game"),
    ],
)
def test_a_journal_that_we_cannot_play_is_one_line(tmp_path: Path, change: str, why: str) -> None:
    played(tmp_path / "a").close()
    rewritten(tmp_path / "a", change)
    for attempt in (replay, opening.reopen):
        with pytest.raises(JournalError, match=why) as caught:
            attempt(tmp_path / "a", GAMES)
        assert "\n" not in str(caught.value)
    Journal(tmp_path / "a").close()


def test_a_journal_that_is_not_there_or_empty_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no such journal"):
        opening.reopen(tmp_path / "none", GAMES)
    assert not (tmp_path / "none").exists()
    Journal(tmp_path / "empty").close()
    with pytest.raises(JournalError, match="the journal is empty"):
        opening.reopen(tmp_path / "empty", GAMES)


def test_rows_that_are_no_entries_are_one_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a")
    journal.append([msgspec.json.encode({"n": 1})])
    journal.close()
    with pytest.raises(JournalError, match="does not begin"):
        replay(tmp_path / "a", GAMES)


# Host time


class Machine:
    """A machine's clocks, and what a reboot does to them."""

    def __init__(self) -> None:
        self.up_ns, self.wall_ns, self.name = 5_000 * MS, 1_700_000_000_000 * MS, "boot1"

    def clock(self, last_at_ns: int = 0, last_boot: str = "") -> HostClock:
        return HostClock(
            last_at_ns,
            last_boot,
            monotonic_ns=lambda: self.up_ns,
            wall_ns=lambda: self.wall_ns,
            machine=self.name,
        )


def test_host_time_goes_on_through_a_crash() -> None:
    machine = Machine()
    first = machine.clock()
    last = first.now_ns()
    machine.up_ns += 700
    second = machine.clock(last, first.boot)
    assert second.now_ns() == last + 700


def test_host_time_goes_on_through_a_reboot_and_the_crash_after_it() -> None:
    machine = Machine()
    first = machine.clock()
    last = first.now_ns()
    machine.up_ns, machine.name = 100, "boot2"
    second = machine.clock(last, first.boot)
    assert second.now_ns() == last + 1
    machine.up_ns += 300
    third = machine.clock(last + 1, second.boot)
    assert third.now_ns() == last + 301
    assert third.boot == second.boot


@given(st.lists(st.tuples(st.integers(0, 10**12), st.booleans(), st.integers(-(10**12), 10**12)), max_size=8))
def test_host_time_never_goes_back(starts: list[tuple[int, bool, int]]) -> None:
    machine, last, boot = Machine(), 0, ""
    for n, (pause_ns, is_reboot, wall_jump_ns) in enumerate(starts):
        if is_reboot:
            machine.up_ns, machine.name = 0, f"boot {n}"
        machine.up_ns += pause_ns
        machine.wall_ns += wall_jump_ns
        clock = machine.clock(last, boot)
        assert clock.now_ns() > last
        last, boot = clock.now_ns(), clock.boot


def test_wall_time_is_apart_from_host_time() -> None:
    machine = Machine()
    clock = machine.clock()
    now_ns, wall_ms = clock.now_ns(), machine.wall_ns // MS
    assert clock.wall_ms(now_ns) == wall_ms
    assert clock.wall_ms(now_ns - 3_000 * MS) == wall_ms - 3_000
    machine.wall_ns -= 3_600_000 * MS
    assert clock.now_ns() == now_ns


def test_a_garbled_boot_is_no_boot() -> None:
    machine = Machine()
    assert machine.clock(0, "boot1+x").now_ns() == machine.up_ns


def test_the_machine_has_a_boot() -> None:
    assert boot_id()
    assert HostClock().boot.startswith(boot_id()) or not Path("/proc/sys/kernel/random/boot_id").exists()


def test_a_journal_that_was_killed_before_its_first_entry_is_begun_anew(tmp_path: Path) -> None:
    """An empty file and an empty journal hold nothing that was acknowledged: both are well, and a table opens."""
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    assert verify(empty).ok
    assert is_unused(empty)
    Journal(tmp_path / "bare.sqlite").close()
    assert is_unused(tmp_path / "bare.sqlite")
    (tmp_path / "note.txt").write_text("something else")
    with pytest.raises(JournalError):
        is_unused(tmp_path / "note.txt")
