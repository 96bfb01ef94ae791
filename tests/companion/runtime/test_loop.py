"""The desk: answers after the disk, one thread, and nothing that stops it silently."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import counting as k
import pytest
from virtual import MS, REFEREE, press

from companion.core import command as c
from companion.core import observation as o
from companion.core.seat import PUBLIC, Actor, Role, Viewer
from companion.core.seat import REFEREE as REFEREE_VIEWER
from companion.runtime import opening
from companion.runtime.desk import Desk, Snapshot
from companion.runtime.host_clock import HostClock
from companion.runtime.journal import Journal, JournalError, verify
from companion.runtime.loop import TableClosedError, TableLoop
from companion.runtime.replay import replay

GAMES = {"counting": k.GAME}
SOON_S = 20


class Hands:
    """A clock and a watermark moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000 * MS
        self.mark: int | None = None
        self.asked: list[int] = []

    def clock(self, last_at_ns: int = 0, last_boot: str = "") -> HostClock:
        return HostClock(last_at_ns, last_boot, monotonic_ns=lambda: self.now, machine="m")

    def watermark(self) -> int:
        return self.now if self.mark is None else self.mark

    def ask(self, until_ns: int) -> None:
        self.asked.append(until_ns)


class Evening:
    """A running table and its hands."""

    def __init__(self, path: Path) -> None:
        self.hands, self.path = Hands(), path
        o = opening.create(path, k.GAME, seats=k.SEATS, seed=1, make_clock=self.hands.clock)
        self.journal = o.journal
        self.loop = TableLoop(
            o.table, o.journal, o.clock, watermark=self.hands.watermark, ask=self.hands.ask,
            waiting_for=lambda: ("box-7",),
        )  # fmt: skip
        self.keys = 0

    def give(self, command: c.Command, actor: Actor = REFEREE) -> bool:
        self.keys += 1
        return self.loop.submit(command, actor, f"k{self.keys}").result(SOON_S).is_accepted

    def until(self, is_so: Callable[[Snapshot], bool]) -> Snapshot:
        """The first picture of which this is so."""
        come = threading.Event()
        stop = self.loop.subscribe(lambda snapshot: come.set() if is_so(snapshot) else None)
        if not is_so(self.loop.snapshot()):
            assert come.wait(SOON_S), "it did not come"
        stop()
        return self.loop.snapshot()


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    it = Evening(tmp_path / "a.journal")
    assert it.give(c.Resume())
    yield it
    it.loop.close()


def test_it_is_a_desk(evening: Evening) -> None:
    desk: Desk = evening.loop
    assert desk.game is k.GAME
    assert desk.codec.encode(c.Undo()) == b'{"do":"Undo"}'
    assert desk.now_ns() == evening.hands.now


def test_an_answer_is_durable_when_it_is_given(evening: Evening) -> None:
    answer = evening.loop.submit(k.Add(seat="s1", number=3), REFEREE, "a").result(SOON_S)
    assert (answer.is_accepted, answer.entry) == (True, 4)
    durable = replay(evening.path, GAMES)
    assert durable.version == answer.version
    assert durable.sitting.game.total == 3
    snapshot = evening.loop.snapshot()
    assert (snapshot.version, snapshot.head) == (durable.version, durable.head)
    assert snapshot.sitting == durable.sitting
    assert snapshot.provisional is snapshot.sitting


def test_many_hands_at_once(evening: Evening) -> None:
    def press_often(seat: str) -> None:
        for n in range(20):
            future = evening.loop.submit(k.Add(seat=seat, number=1), Actor(Role.SEAT, seat), f"{n}")
            assert future.result(SOON_S).is_accepted

    threads = [threading.Thread(target=press_often, args=(seat.id,)) for seat in k.SEATS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert evening.loop.snapshot().sitting.game.total == 60
    assert len(evening.loop.entries()) == 63
    assert [entry.n for entry in evening.loop.entries(after=60)] == [61, 62, 63]


def test_the_same_key_at_once_is_one_order(evening: Evening) -> None:
    futures = [evening.loop.submit(k.Add(seat="s1", number=1), REFEREE, "same") for _ in range(10)]
    assert len({future.result(SOON_S) for future in futures}) == 1
    assert evening.loop.snapshot().sitting.game.total == 1


def test_a_press_is_shown_at_once_and_final_with_the_watermark(evening: Evening) -> None:
    evening.give(k.OpenWindow())
    evening.hands.mark = 1_000 * MS
    evening.hands.now = 1_500 * MS
    evening.loop.observe(o.Released(source="box", seen_ns=1_450 * MS, uncertainty_ns=0, input=0, boot=1, n=2))
    evening.loop.observe(press(1, 1_400))
    early = evening.until(lambda s: s.provisional.game.total == 1)
    assert early.sitting.game.total == 0
    assert early.waiting_for == ("box-7",)
    view = evening.loop.view(REFEREE_VIEWER)
    assert (view.headline, view.is_provisional) == ("1 of 60", True)
    assert evening.hands.asked == [1_400 * MS], "asked once for what waits"
    evening.hands.mark = None
    evening.loop.wake()
    final = evening.until(lambda s: s.sitting.game.total == 1)
    assert final.waiting_for == ()
    said = [announcement.cue.text for announcement in evening.loop.announcements()]
    assert any("without an answer from box-7" in text for text in said)
    assert not evening.loop.view(REFEREE_VIEWER).is_provisional


def test_a_watermark_that_nobody_announces_is_found_by_looking(evening: Evening) -> None:
    evening.give(k.OpenWindow())
    evening.hands.mark = 900 * MS
    evening.loop.observe(press(1, 950))
    evening.until(lambda s: s.provisional.game.total == 1)
    evening.hands.mark = 960 * MS
    evening.until(lambda s: s.sitting.game.total == 1)


def test_a_deadline_comes_by_itself(tmp_path: Path) -> None:
    started = threading.Event()
    real = HostClock()
    # Real time, but the window of five seconds was opened almost five seconds ago.
    o = opening.create(
        tmp_path / "a", k.GAME, seats=k.SEATS, seed=1,
        make_clock=lambda at, boot: HostClock(monotonic_ns=lambda: real.now_ns() - past_ns[0], machine="m"),
    )  # fmt: skip
    loop = TableLoop(o.table, o.journal, o.clock)
    loop.submit(c.Resume(), REFEREE, "r").result(SOON_S)
    loop.submit(k.OpenWindow(), REFEREE, "w").result(SOON_S)
    stop = loop.subscribe(lambda s: started.set() if s.sitting.game.window is None else None)
    past_ns[0] -= 4_900 * MS
    loop.wake()
    assert started.wait(SOON_S)
    stop()
    loop.close()


past_ns = [10_000 * MS]


def test_a_subscriber_that_fails_stops_nobody(evening: Evening, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []

    def fail(snapshot: Snapshot) -> None:
        raise RuntimeError("a bug in a page")

    evening.loop.subscribe(fail)
    evening.loop.subscribe(lambda snapshot: heard.append(snapshot.version))
    stop = evening.loop.announcer.subscribe(lambda announcement: 1 / 0)
    with caplog.at_level(logging.ERROR):
        assert evening.give(k.Add(seat="s1", number=1))
        assert evening.give(k.Add(seat="s1", number=1))
    stop()
    evening.loop.close()
    assert heard == [4, 5]
    assert "a bug in a page" in caplog.text


def test_a_bug_in_a_game_answers_its_order_with_it(evening: Evening) -> None:
    # A word that no codec would let in stands for a bug in a game.
    with pytest.raises(TypeError):
        evening.loop.submit(k.Take(number="much"), REFEREE, "bad").result(SOON_S)
    assert evening.give(k.Add(seat="s1", number=1))


def test_a_broken_disk_is_said_and_the_table_goes_on_afterwards(
    evening: Evening, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    evening.give(k.OpenWindow())

    def refuse(self: Journal, payloads: object) -> str:
        raise JournalError("the disk refused it")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(Journal, "append", refuse)
        with pytest.raises(JournalError, match="the disk refused it"):
            evening.loop.submit(k.Add(seat="s1", number=2), REFEREE, "lost").result(SOON_S)
        evening.loop.observe(press(1, 900))
        snapshot = evening.until(lambda s: s.fault != "")
        assert (snapshot.fault, snapshot.sitting.game.total) == ("the disk refused it", 0)
    assert "the disk refused it" in caplog.text
    evening.loop.wake()
    well = evening.until(lambda s: s.sitting.game.total == 1)
    assert well.fault == ""
    assert evening.loop.submit(k.Add(seat="s1", number=2), REFEREE, "lost").result(SOON_S).is_accepted


def test_deadlines_that_cannot_be_told_do_not_kill_the_table(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    evening = Evening(tmp_path / "a")
    real = evening.loop._table._due
    bugs = [True]

    def due(*args: object) -> object:
        if bugs:
            raise RuntimeError("a bug in deadlines")
        return real(*args)

    with caplog.at_level(logging.ERROR):
        evening.loop._table._due = due
        with pytest.raises(RuntimeError, match="a bug in deadlines"):
            evening.loop.submit(c.Resume(), REFEREE, "a").result(SOON_S)
    bugs.clear()
    assert evening.give(c.Resume())
    evening.loop.close()


def test_close_carries_out_what_was_handed_in(tmp_path: Path) -> None:
    evening = Evening(tmp_path / "a")
    evening.give(c.Resume())
    evening.hands.mark = 0
    futures = [evening.loop.submit(k.Add(seat="s1", number=1), REFEREE, f"x{n}") for n in range(5)]
    evening.loop.close()
    assert all(future.result(0).is_accepted for future in futures)
    with pytest.raises(TableClosedError):
        evening.loop.submit(c.Stop(), REFEREE, "late").result(0)
    evening.loop.observe(press(1, 1))
    evening.loop.close()
    Journal(tmp_path / "a").close()


def test_a_reopened_table_stands_where_it_was_and_stopped(evening: Evening) -> None:
    evening.give(k.OpenWindow())
    evening.hands.now += 2_000 * MS
    evening.give(k.Add(seat="s2", number=4))
    before = evening.loop.snapshot().sitting
    evening.loop.close()
    evening.hands.now += 60_000 * MS
    o = opening.reopen(evening.path, GAMES, make_clock=evening.hands.clock)
    assert o.table.sitting.game == before.game
    assert o.table.sitting.stopped_at_ns is not None
    assert o.table.due_ns() is None
    loop = TableLoop(o.table, o.journal, o.clock)
    assert loop.submit(c.Resume(), REFEREE, "again").result(SOON_S).is_accepted
    window = loop.snapshot().sitting.game.window
    left_ns = window.left_ns(loop.snapshot().sitting.play_ns(loop.now_ns()))
    assert left_ns == 3_000 * MS, "the clocks stood since the last entry"
    loop.close()


def test_views_are_for_their_viewer(evening: Evening) -> None:
    evening.give(k.Hide(seat="s1", number=7), Actor(Role.SEAT, "s1"))
    own = evening.loop.view(Viewer(Role.SEAT, "s1"))
    assert own is evening.loop.view(Viewer(Role.SEAT, "s1"))
    assert [row.text for zone in own.zones for row in zone.rows] == ["7"]
    assert [row.text for zone in evening.loop.view(PUBLIC).zones for row in zone.rows] == []


def test_a_preview_names_the_orphans(evening: Evening) -> None:
    evening.give(k.Add(seat="s1", number=5))
    evening.give(k.Take(number=4))
    assert evening.loop.preview(c.Void(entry=4, why="x")) == (5,)
    assert evening.loop.preview(c.Undo()) == ()
    assert evening.loop.preview(k.Take(number=1)) == ()
    assert evening.loop.preview(c.Void(entry=77, why="x")) == ()
    assert evening.give(c.Void(entry=4, why="x", orphans=(5,)))


def test_what_is_announced_can_be_read_later(evening: Evening) -> None:
    evening.give(k.Add(seat="s1", number=1))
    evening.give(k.Add(seat="s1", number=1))
    said = evening.loop.announcements()
    assert [a.cue.text for a in said][-2:] == ["Ann adds", "again: Ann adds"]
    assert evening.loop.announcements(after=said[-2].id) == said[-1:]


def test_verify_reads_beside_the_running_table(evening: Evening) -> None:
    evening.give(k.Add(seat="s1", number=1))
    assert verify(evening.path, evening.loop.snapshot().head).ok
