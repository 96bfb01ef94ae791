"""The desk of a running table: one writer thread, a queue, and futures answered after the disk has it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core import history
from companion.core.clock import S
from companion.core.codec import Codec
from companion.core.cue import Cue
from companion.core.game import Game, Sitting
from companion.core.observation import Observation, Pressed, Released
from companion.core.seat import Actor, Role, Viewer
from companion.core.show import show
from companion.core.view import View
from companion.runtime.announce import Announcer
from companion.runtime.desk import Announcement, Answer, Snapshot
from companion.runtime.identity import Ident, ident_of
from companion.runtime.journal import Journal, JournalError
from companion.runtime.table import Step, Table

LOOK_AGAIN_S = 0.01
"""While something waits for the watermark and nobody calls `wake`, look at it this often."""
RETRY_S = 1.0
"""After the disk refused, try again this often."""
_log = logging.getLogger(__name__)


class Clock(Protocol):
    """Host time."""

    def now_ns(self) -> int:
        """The present instant."""


class TableClosedError(Exception):
    """The table was closed before it could answer."""


class TableLoop:
    """A `Desk`: runs one table in one thread of its own, from construction to `close`.

    `watermark()`: host instant before which nothing is in flight any more. `ask(until_ns)`: please find out
    whether the devices are past that instant (called when something begins to wait). `waiting_for()`: the
    devices that are waited for. All three are called on the writer's thread and must not block. Whoever feeds
    the watermark calls `wake` when it has come past an instant that was asked for.
    """

    def __init__(
        self,
        table: Table[Any],
        journal: Journal,
        clock: Clock,
        *,
        watermark: Callable[[], int] | None = None,
        ask: Callable[[int], None] = lambda _until_ns: None,
        waiting_for: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """Starts the thread. The loop owns table and journal from here on and closes the journal."""
        self._table, self._journal, self._clock = table, journal, clock
        self._watermark = watermark or clock.now_ns
        self._ask, self._waiting_for = ask, waiting_for
        self._wake = threading.Condition()
        self._inbox: list[Observation | c.Order] = []
        self._futures: dict[Ident, list[Future[Answer]]] = {}
        self._is_woken = self._is_closing = self._is_closed = False
        self._listeners: list[Callable[[Snapshot], None]] = []
        self._fault = ""
        self._asked_ns = -1
        self.announcer = Announcer()
        self._views: tuple[Snapshot, dict[Viewer, View]] = (self._picture(), {})
        self._durable: tuple[Sitting[Any], dict[Viewer, View]] = (table.sitting, {})
        self._thread = threading.Thread(target=self._run, name=f"table {table.game.name}", daemon=True)
        self._thread.start()

    @property
    def game(self) -> Game[Any]:
        """The game that is played."""
        return self._table.game

    @property
    def codec(self) -> Codec[Any]:
        """Its words."""
        return self._table.codec

    def now_ns(self) -> int:
        """Host time."""
        return self._clock.now_ns()

    def snapshot(self) -> Snapshot:
        """The newest picture of the table."""
        return self._views[0]

    def view(self, viewer: Viewer) -> View:
        """What this viewer is shown now; `is_provisional` where it differs from what is durable."""
        snapshot, views = self._views
        found = views.get(viewer)
        if found is None:
            found = self._durable_view(snapshot.sitting, viewer)
            if snapshot.provisional is not snapshot.sitting:
                early = show(self.game, snapshot.provisional, viewer)
                found = msgspec.structs.replace(early, is_provisional=early != found)
            views[viewer] = found
        return found

    def _durable_view(self, sitting: Sitting[Any], viewer: Viewer) -> View:
        """What is durable stays the same while provisional pictures of it come and go: it is drawn once."""
        shown, views = self._durable
        if shown is not sitting:
            views = {}
            self._durable = (sitting, views)
        found = views.get(viewer)
        if found is None:
            found = views[viewer] = show(self.game, sitting, viewer)
        return found

    def submit(
        self, command: c.Command, actor: Actor, key: str, expected: int | None = None
    ) -> Future[Answer]:
        """Order something at the present instant. A key that its sender used before gets the same answer.

        The future gives the answer once it is durable. It raises JournalError when the disk refused it (then
        nothing has changed), TableClosedError when the table was closed meanwhile.
        """
        future: Future[Answer] = Future()
        future.set_running_or_notify_cancel()
        order = c.Order(command=command, actor=actor, at_ns=self.now_ns(), key=key, expected=expected)
        with self._wake:
            if self._is_closing:
                future.set_exception(TableClosedError("the table is closed"))
                return future
            self._futures.setdefault(ident_of(actor, key), []).append(future)
            self._inbox.append(order)
            self._wake.notify()
        return future

    def observe(self, observation: Observation) -> None:
        """Hand in what an eye or a sensor says. Ignored once the table is closed.

        That a finger was lifted is let go: no game asks for it, and to know its order all devices would have to be
        asked for the time, just when the next player slams.
        """
        if isinstance(observation, Released):
            return
        with self._wake:
            if not self._is_closing:
                self._inbox.append(observation)
                self._wake.notify()

    def wake(self) -> None:
        """Look at the watermark and the deadlines now."""
        with self._wake:
            self._is_woken = True
            self._wake.notify()

    def preview(self, command: c.Command) -> tuple[int, ...]:
        """Entries that a correction would leave without effect (empty for any other command)."""
        if not command.is_correction:
            return ()
        actor = Actor(Role.REFEREE)
        order = c.Order(command=command, actor=actor, at_ns=self.now_ns(), key="preview")
        return history.orphans(self.game, self.entries(), order)

    def entries(self, after: int = 0) -> Sequence[e.Entry]:
        """Journal entries with a number above `after`, as they were written."""
        return tuple(self._table.entries[max(0, after) :])

    def announcements(self, after: int = 0) -> Sequence[Announcement]:
        """The announcements with an id above `after` that are still kept (at least the last 200)."""
        return self.announcer.after(after)

    def say(self, *cues: Cue) -> None:
        """Announce something that is no fact of the game, such as a lost device."""
        self.announcer.say(cues)

    def subscribe(self, listener: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call `listener` (quickly, on the writer's thread) after each change; returns the way to stop it."""
        with self._wake:
            self._listeners.append(listener)

        def stop() -> None:
            with self._wake:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return stop

    def close(self) -> None:
        """Carry out all that was handed in, end the thread, close the journal. Harmless when done already."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        self._thread.join()

    # The writer's thread

    def _run(self) -> None:
        try:
            while not self._is_closing:
                sleep_s = self._sleep_s()
                with self._wake:
                    if not self._has_work():
                        self._wake.wait(sleep_s)
                self._turn()
            self._turn(is_last=True)
        finally:
            self._journal.close()
            with self._wake:
                left = [future for futures in self._futures.values() for future in futures]
                self._futures.clear()
            for future in left:
                future.set_exception(TableClosedError("the table was closed before it could answer"))

    def _has_work(self) -> bool:
        return bool(self._inbox) or self._is_woken or self._is_closing

    def _sleep_s(self) -> float | None:
        now_ns = self.now_ns()
        try:
            is_waiting = self._table.waits_until_ns(now_ns) is not None
            due_ns = self._table.due_ns()
        except Exception:
            _log.exception("a bug in %s: its deadlines cannot be told", self.game.name)
            return RETRY_S
        if is_waiting:
            return RETRY_S if self._fault else LOOK_AGAIN_S
        return None if due_ns is None else max(0.0, (due_ns - now_ns) / S)

    def _turn(self, is_last: bool = False) -> None:
        with self._wake:
            items, self._inbox, self._is_woken = self._inbox, [], False
        try:
            now_ns = self.now_ns()
            silent = self._silent()
            step = self._table.step(items, now_ns, now_ns if is_last else self._watermark())
        except JournalError as error:
            self._fail(str(error), error)
        except Exception as error:
            _log.exception("the table could not go on with what was handed in")
            self._fail(f"the table could not go on: {error}", error)
        else:
            if silent and any(isinstance(seen, Pressed) for entry in step.entries for seen in entry.seen):
                self._name_silent(silent)
            was_faulty, self._fault = self._fault != "", ""
            self._finish(step, is_told=step.is_changed or was_faulty or self._has_silence_changed())
            self._ask_devices()

    def _name_silent(self, silent: tuple[str, ...]) -> None:
        """An order became final without these devices: whoever pressed there is to be heard by people."""
        text = f"Final without an answer from {', '.join(silent)}: a press there may still come as a protest."
        self.announcer.say((Cue(target="all", pattern="notice", text=text),))

    def _fail(self, fault: str, error: Exception) -> None:
        if fault != self._fault:
            _log.error("%s", fault)
        self._fault = fault
        with self._wake:
            left = [future for futures in self._futures.values() for future in futures]
            self._futures.clear()
        for future in left:
            future.set_exception(error)
        self._publish()

    def _silent(self) -> tuple[str, ...]:
        is_waiting = self._table.provisional is not self._table.sitting
        return self._waiting_for() if is_waiting else ()

    def _has_silence_changed(self) -> bool:
        return self._silent() != self.snapshot().waiting_for

    def _finish(self, step: Step, is_told: bool) -> None:
        for ident, error in step.failures.items():
            _log.error("a bug in %s: %s", self.game.name, ident[2], exc_info=error)
        if is_told:
            self._views = (self._picture(), {})
        self.announcer.say(step.cues)
        with self._wake:
            done = [
                (future, ident)
                for ident in (*step.answers, *step.failures)
                for future in self._futures.pop(ident, ())
            ]
        for future, ident in done:
            if ident in step.answers:
                future.set_result(step.answers[ident])
            else:
                future.set_exception(step.failures[ident])
        if is_told:
            self._tell()

    def _publish(self) -> None:
        self._views = (self._picture(), {})
        self._tell()

    def _tell(self) -> None:
        snapshot = self.snapshot()
        with self._wake:
            listeners = tuple(self._listeners)
        for listener in listeners:
            try:
                listener(snapshot)
            except Exception:
                _log.exception("a subscriber of the table failed")

    def _picture(self) -> Snapshot:
        table = self._table
        return Snapshot(
            version=table.version,
            head=self._journal.head,
            at_ns=table.at_ns,
            sitting=table.sitting,
            provisional=table.provisional,
            waiting_for=self._silent(),
            fault=self._fault,
        )

    def _ask_devices(self) -> None:
        """Ask once for each new thing that waits."""
        latest_ns = self._table.waits_until_ns(self.now_ns())
        if latest_ns is not None and latest_ns > self._asked_ns:
            self._asked_ns = latest_ns
            self._ask(latest_ns)
