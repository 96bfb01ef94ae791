"""One table: takes what was seen and ordered in the order of its instants, and journals what follows.

No thread, no clock: `step` is told the time. What may still be overtaken by something in flight waits.
"""

from __future__ import annotations

import logging
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core import history
from companion.core import observation as o
from companion.core.codec import Codec
from companion.core.cue import Cue
from companion.core.fitness import noted
from companion.core.game import Game, S, Sitting, decide, evolve, is_refused, refusal, refuse
from companion.core.seat import Actor, Role
from companion.runtime.announce import core_cues
from companion.runtime.desk import Answer
from companion.runtime.identity import Ident, ident_of, key_of

_logger = logging.getLogger(__name__)
QUIET_NS = 1_000_000_000
"""A sensor that is refused in the same way again within this time leaves no second entry."""
REMEMBERED = 128
"""So many pictures of the table are kept to judge orders that were given before the last change."""


class Log(Protocol):
    """Where entries become durable."""

    def append(self, payloads: Sequence[bytes]) -> str:
        """All or none in one transaction, synced; gives the new head. Raises when not durable."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for its turn. `at_ns`: when it happened, never later than it was handed in."""

    at_ns: int
    rank: int
    what: o.Observation | c.Order


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What one step brought.

    `failures`: orders and what broke while they were decided (a bug, not a refusal). `is_changed`: the
    durable or the provisional table is another one than before.
    """

    entries: tuple[e.Entry, ...]
    answers: dict[Ident, Answer]
    cues: tuple[Cue, ...]
    failures: dict[Ident, Exception]
    is_changed: bool


class _Run(Generic[S]):
    """A candidate for the next state, under way."""

    def __init__(
        self, sitting: Sitting[S], trace: msgspec.Struct, at_ns: int, quiet: dict[tuple[str, ...], int]
    ) -> None:
        self.sitting, self.trace, self.at_ns, self.quiet = sitting, trace, at_ns, quiet
        self.entries: list[e.Entry] = []
        self.answers: dict[Ident, Answer] = {}
        self.stages: list[tuple[e.Entry, Sitting[S], e.Event, Sitting[S]]] = []
        self.failures: dict[Ident, Exception] = {}


class Table(Generic[S]):
    """The single writer of one journal. One thread at a time.

    At every instant `sitting` equals a fresh fold of `entries`. Entries bear table time: the instant of what
    caused them, but never before the entry above them.
    """

    def __init__(
        self, game: Game[S], log: Log, entries: Iterable[e.Entry], wall_ms: Callable[[int], int]
    ) -> None:
        """`entries`: what the log holds. Raises ValueError when they do not open this game."""
        self.game, self.codec = game, Codec(game)
        self._log, self._wall_ms = log, wall_ms
        self.entries: list[e.Entry] = list(entries)
        if not self.entries:
            raise ValueError("the journal is empty")
        self.sitting: Sitting[S] = history.effective(game, self.entries)[1]
        self.provisional: Sitting[S] = self.sitting
        self._trace = game.trace()
        self._waiting: list[Item] = []
        self._answered = {_ident(entry): entry.n for entry in self.entries}
        self._quiet: dict[tuple[str, ...], int] = {}
        self._seen: deque[tuple[int, Sitting[S]]] = deque([(self.version, self.sitting)], REMEMBERED)
        self.muted = 0

    @property
    def version(self) -> int:
        """How many entries are durable."""
        return len(self.entries)

    @property
    def at_ns(self) -> int:
        """Table time: the instant of the last entry (host ns)."""
        return self.entries[-1].at_ns

    def waits_since_ns(self, now_ns: int) -> int | None:
        """The oldest instant that waits for its order to become final, None when nothing waits."""
        due = self.due_ns()
        oldest = [item.at_ns for item in self._waiting[:1]]
        if due is not None and due <= now_ns:
            oldest.append(due)
        return min(oldest, default=None)

    def waits_until_ns(self, now_ns: int) -> int | None:
        """The newest instant that waits for its order to become final, None when nothing waits."""
        due = self.due_ns()
        newest = [item.at_ns for item in self._waiting[-1:]]
        if due is not None and due <= now_ns:
            newest.append(due)
        return max(newest, default=None)

    def due_ns(self) -> int | None:
        """The host instant of the next deadline, None when there is none or the clocks stand."""
        due = self._due(self.sitting, {})
        return None if due is None else due.at_ns

    def step(self, items: Iterable[o.Observation | c.Order], now_ns: int, watermark_ns: int) -> Step:
        """Take `items` in, and carry out all that happened up to the watermark, in order.

        A deadline is an item at its own instant, behind whatever has the same stamp. Observations and orders
        that arrive behind table time are decided now, with their own stamp inside. A press that is handed in again as
        suspect takes the place of the one that waits. Raises what the log raises
        when nothing could be written: then the table stands as before, the orders are forgotten and the
        observations still wait.
        """
        for what in items:
            if isinstance(what, o.Pressed) and what.suspect:
                self._take_back(what)
            insort(self._waiting, _item(what, now_ns), key=lambda item: (item.at_ns, item.rank))
        try:
            run: _Run[S] = _Run(self.sitting, self._trace, self.at_ns, self._quiet)
            rest = self._advance(run, self._waiting, watermark_ns)
            if run.entries:
                self._log.append([self.codec.encode(entry) for entry in run.entries])
        except Exception:
            self._waiting = [item for item in self._waiting if not isinstance(item.what, c.Order)]
            raise
        self.entries += run.entries
        self._answered |= {_ident(entry): entry.n for entry in run.entries}
        self.sitting, self._trace, self._waiting, self._quiet = run.sitting, run.trace, rest, run.quiet
        before, self.provisional = self.provisional, self._look_ahead(now_ns)
        is_changed = bool(run.entries) or (self.provisional is not before and self.provisional != before)
        if is_changed:
            self._seen.append((self.version, self.sitting))
        if is_changed and self.provisional is not self.sitting:
            self._seen.append((self.version, self.provisional))
        return Step(
            entries=tuple(run.entries),
            answers=run.answers,
            cues=self._cues(run),
            failures=run.failures,
            is_changed=is_changed,
        )

    def _take_back(self, seen: o.Pressed) -> None:
        """A press that waits is doubted before its order is final: what was said of it first does not count."""
        key = key_of(seen)
        self._waiting = [
            item
            for item in self._waiting
            if not (isinstance(item.what, o.Pressed) and key_of(item.what) == key)
        ]

    def _look_ahead(self, now_ns: int) -> Sitting[S]:
        """The table if all that waits were final now."""
        if self.waits_since_ns(now_ns) is None:
            return self.sitting
        run: _Run[S] = _Run(self.sitting, self._trace, self.at_ns, self._quiet)
        self._advance(run, self._waiting, now_ns)
        return run.sitting

    def _advance(self, run: _Run[S], waiting: Sequence[Item], until_ns: int) -> list[Item]:
        """Carry out what happened up to `until_ns`; gives what waits on."""
        rest = deque(waiting)
        while True:
            item = rest[0] if rest and rest[0].at_ns <= until_ns else None
            due = self._due(run.sitting, run.answers)
            if due is not None and due.at_ns <= until_ns and (item is None or due.at_ns < item.at_ns):
                item = due
            elif item is not None:
                rest.popleft()
            else:
                return list(rest)
            if isinstance(item.what, c.Order):
                self._take_order(run, item.what, item.at_ns)
            else:
                self._take_observation(run, item.what, item.at_ns)

    def _due(self, sitting: Sitting[S], answered: dict[Ident, Answer]) -> Item | None:
        """The next deadline that was not answered yet. One that was undone does not come back by itself."""
        if sitting.stopped_at_ns is not None:
            return None
        found: Item | None = None
        for play_ns, command in self.game.deadlines(sitting):
            at_ns = sitting.host_ns(play_ns)
            if found is not None and found.at_ns <= at_ns:
                continue
            key = f"{play_ns} {self.codec.encode(command).decode()}"
            order = c.Order(command=command, actor=Actor(Role.CLOCK), at_ns=at_ns, key=key)
            ident = ident_of(order.actor, key)
            if ident not in answered and ident not in self._answered:
                found = Item(at_ns=at_ns, rank=1, what=order)
        return found

    def _take_observation(self, run: _Run[S], seen: o.Observation, at_ns: int) -> None:
        actor, key = Actor(Role.SENSOR, name=seen.source), key_of(seen)
        try:
            trace, commands = self.game.interpret(run.trace, run.sitting, seen)
            commands = (*noted(run.sitting, seen), *commands)
        except Exception as error:
            run.failures[ident_of(actor, key)] = error
            return
        run.trace = trace
        for place, command in enumerate(commands):
            own = f"{key}#{place}" if place else key
            order = c.Order(command=command, actor=actor, at_ns=at_ns, key=own, seen=(seen,))
            self._take_order(run, order, at_ns)

    def _take_order(self, run: _Run[S], order: c.Order, at_ns: int) -> None:
        ident = ident_of(order.actor, order.key)
        if ident in run.answers or ident in run.failures:
            return
        if ident in self._answered:
            run.answers[ident] = answer_of(self.entries[self._answered[ident] - 1])
            return
        order = msgspec.structs.replace(order, at_ns=max(run.at_ns, at_ns))
        try:
            facts = self._facts(run, order)
            if self._is_muted(run, order, facts):
                return
            entry = e.Entry(
                n=self.version + len(run.entries) + 1,
                at_ns=order.at_ns,
                wall_ms=self._wall_ms(order.at_ns),
                actor=order.actor,
                key=order.key,
                command=order.command,
                events=facts,
                seen=order.seen,
            )
            self._apply(run, entry)
        except Exception as error:
            # A bug in a game must not take the table down: this one order is answered with it.
            run.failures[ident] = error
            run.answers.pop(ident, None)
            return
        run.entries.append(entry)
        run.at_ns = entry.at_ns
        run.answers[ident] = answer_of(entry)

    def _facts(self, run: _Run[S], order: c.Order) -> tuple[e.Event, ...]:
        entries: Sequence[e.Entry] = self.entries
        if order.command.is_correction:
            entries = [*self.entries, *run.entries] if run.entries else self.entries
            facts = history.correct(self.game, entries, order)
        else:
            facts = decide(self.game, run.sitting, order)
        version = self.version + len(run.entries)
        if order.expected is None or order.expected == version or isinstance(order.command, c.Stop):
            return facts
        if self._means_the_same(entries, order, order.expected, facts):
            return facts
        refused = refusal(facts)
        now = f" ({refused.because})" if refused else ""
        text = f"The table has changed since you looked; look again.{now}"
        return refuse(order.command, "TABLE-11", text, order.actor.seat)

    def _means_the_same(
        self, entries: Sequence[e.Entry], order: c.Order, expected: int, facts: tuple[e.Event, ...]
    ) -> bool:
        """Whether the order would have made the same facts at the table its sender saw.

        So a slam or another player's choice in between refuses nobody's click, while a second "next" does not
        skip a step. Corrections name their entry and their orphans; only Undo depends on what was last.
        Rule: TABLE-11
        """
        if order.command.is_correction and not isinstance(order.command, c.Undo):
            return True
        if isinstance(order.command, c.Undo):
            return 0 < expected < len(entries) and facts == history.correct(
                self.game, entries[:expected], order
            )
        return any(
            decide(self.game, sitting, order) == facts
            for version, sitting in reversed(self._seen)
            if version == expected
        )

    def _is_muted(self, run: _Run[S], order: c.Order, facts: tuple[e.Event, ...]) -> bool:
        """Whether this sensor was refused so a moment ago: a bouncing device leaves one entry a second."""
        ruling = refusal(facts)
        if order.actor.role is not Role.SENSOR or ruling is None:
            return False
        kind = (order.actor.name, type(order.command).__name__, ruling.rule, ruling.seat)
        last_ns = run.quiet.get(kind)
        if last_ns is not None and order.at_ns - last_ns < QUIET_NS:
            return True
        fresh = {k: at for k, at in run.quiet.items() if order.at_ns - at < QUIET_NS}
        run.quiet = {**fresh, kind: order.at_ns}
        return False

    def _apply(self, run: _Run[S], entry: e.Entry) -> None:
        after = run.sitting
        stages = []
        if history.correction_of(entry) is not None:
            after = history.effective(self.game, [*self.entries, *run.entries, entry])[1]
            stages = [(entry, run.sitting, entry.events[0], after)]
        else:
            moment = history.moment_of(after, entry)
            for event in entry.events:
                stages.append((entry, after, event, after := evolve(self.game, after, event, moment)))
        run.sitting = after
        run.stages += stages

    def _cues(self, run: _Run[S]) -> tuple[Cue, ...]:
        cues: list[Cue] = []
        for entry, before, event, after in run.stages:
            cues += core_cues(entry, event)
            try:
                cues += self.game.cues(before, event, after)
            except Exception:
                _logger.exception("a bug in %s: no cue for entry %d", self.game.name, entry.n)
        return tuple(cues)


def _ident(entry: e.Entry) -> Ident:
    return ident_of(entry.actor, entry.key)


def _item(what: o.Observation | c.Order, now_ns: int) -> Item:
    is_order = isinstance(what, c.Order)
    at_ns = what.at_ns if isinstance(what, c.Order) else what.seen_ns
    return Item(at_ns=min(at_ns, now_ns), rank=int(is_order), what=what)


def answer_of(entry: e.Entry) -> Answer:
    """The answer that an entry gives to the order it came from, now and at any later time."""
    return Answer(
        key=entry.key,
        version=entry.n,
        entry=entry.n,
        is_accepted=not is_refused(entry.events),
        ruling=refusal(entry.events),
    )


def decoded(codec: Codec[Any], payloads: Iterable[bytes]) -> Iterable[e.Entry]:
    """Journal rows as entries. Raises ValueError, one line, for a row that this game cannot read."""
    for n, payload in enumerate(payloads, start=1):
        try:
            yield codec.entry(payload)
        except msgspec.MsgspecError as error:
            raise ValueError(f"entry {n} cannot be read by this version ({error})") from None
