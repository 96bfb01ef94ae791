"""One device: hello, clock, events in their order, what it owes. No I/O, no thread, no clock of its own.

Every method takes the host time; what the session wants to send goes to `say`, what it saw to `see`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec

from companion.core.observation import DeviceChanged, Observation, Pressed
from firmware_bridge.clock_sync import ClockSync, HostTime
from firmware_bridge.fitness import RADIO_LIMIT_NS, WIRE_LIMIT_NS, Fitness, doubt, should_hurry
from firmware_bridge.messages import (
    PROTOCOL,
    Ack,
    DeviceEvent,
    Die,
    Down,
    FromDevice,
    Heartbeat,
    Hello,
    Hit,
    Input,
    Nak,
    Output,
    SyncReply,
    ToDevice,
    Up,
    Who,
)
from firmware_bridge.numbering import Numbering, Taken
from firmware_bridge.questions import Questions
from firmware_bridge.translate import observed
from firmware_bridge.verdict import CAP_NS, Mark
from firmware_bridge.wire import RaceClass

WHO_EVERY_NS = 500_000_000
SILENT_NS = 3_000_000_000
REPEAT_MISSING_NS = 200_000_000
GIVE_UP_NS = 1_000_000_000
STALE_EVENT_NS = 60_000_000_000
_ANSWERS_TO_BE_READY = 4
_HELD = 64
_BOOTS = 64
_HELLO_LATE_NS = 2_000_000_000
_FUTURE_NS = 5_000_000
_SLACK_NS = 1_000_000
_LATE_NS = CAP_NS - 50_000_000
_WORTH_TELLING_NS = 300_000


class Tally(msgspec.Struct):
    """Events of a device that were not passed on: `twins` came before, `lost` never came, `stale` were
    older than STALE_EVENT_NS, `misdated` had a stamp from the future, `misplaced` named an input that
    the device does not have."""

    twins: int = 0
    lost: int = 0
    stale: int = 0
    misdated: int = 0
    misplaced: int = 0


class Session:
    """A device that said hello, over whatever routes it is heard.

    `refusal`: why it refused a command last, else empty. `state`: ``syncing`` (hello incomplete or clock
    not known well), ``ready``, ``silent`` (nothing heard for SILENT_NS), ``lost`` (its way is gone). `limit_ns`:
    how uncertain its clock may be in a ranked race.
    Presses that come while the clock is unknown are kept and passed on with their own old stamps as soon as
    it is known.
    """

    def __init__(
        self,
        hello: Hello,
        link: str,
        now_ns: int,
        say: Callable[[ToDevice], None],
        see: Callable[[Observation], None],
        *,
        is_wired: bool = True,
        race_class: RaceClass = "ranked",
    ) -> None:
        self._say = say
        self._see = see
        self.id = hello.id
        self._fitness = Fitness()
        self.use(link, is_wired=is_wired, race_class=race_class)
        self.state = ""
        self.detail = ""
        self.refusal = ""
        self.tally = Tally()
        self.heartbeat: Heartbeat | None = None
        self.heard_ns = now_ns
        self._questions = Questions()
        self._left_ns: int | None = None  # when it ceased to be ready
        self._past_boots: deque[int] = deque(maxlen=_BOOTS)
        self._begin(hello, now_ns, Numbering())
        self._become("syncing", now_ns)

    def use(self, link: str, *, is_wired: bool, race_class: RaceClass) -> None:
        """It is heard over this link from now on."""
        self.link = link
        self.race_class = race_class
        self.limit_ns = WIRE_LIMIT_NS if is_wired else RADIO_LIMIT_NS

    def _begin(self, hello: Hello, now_ns: int, numbering: Numbering) -> None:
        self.hello = hello
        self._hello_ns = now_ns
        self._is_hello_old = False
        self.inputs: dict[int, Input] = {}
        self.outputs: dict[int, Output] = {}
        self.clock = ClockSync(hello.tick, hello.st)
        self.clock.note(self.clock.unwrap(hello.us, now_ns), now_ns)
        self._numbering = numbering
        self._held: deque[tuple[DeviceEvent, int]] = deque()
        self._questions.begin(now_ns)
        self._told: deque[tuple[Pressed, int]] = (
            deque()
        )  # presses that no answer has confirmed, and when heard
        self._gap_since_ns: int | None = None
        self._repeat_at_ns = 0
        self._passed_n, self._passed_ns = 0, 0
        self._marks: deque[tuple[int, int]] = deque(maxlen=64)  # (n, passed at when all up to n came)
        self._wanted_ns = 0
        self._answers_needed = _ANSWERS_TO_BE_READY
        self._who_at_ns = now_ns + WHO_EVERY_NS
        self._is_doubted = False
        self._told_u_ns: int | None = None

    # what is heard

    def hear(self, message: FromDevice, heard_ns: int) -> None:
        """Take a message that came at host time `heard_ns`."""
        last_ns, self.heard_ns = self.heard_ns, max(heard_ns, self.heard_ns)
        if self.state in ("silent", "lost"):
            self._recover(heard_ns)
        match message:
            case Hello():
                self._hear_hello(message, heard_ns, last_ns)
            case Input():
                self.inputs[message.b] = message
                self._settle(heard_ns)
            case Output():
                self.outputs[message.b] = message
                self._settle(heard_ns)
            case Heartbeat():
                self.heartbeat = message
                stamp_us = self.clock.unwrap(message.us, heard_ns)
                self.clock.note(stamp_us, heard_ns)
                self._numbering.tell(message.n, stamp_us)
            case SyncReply():
                self._hear_sync(message, heard_ns)
            case Down() | Up() | Hit() | Die():
                self._say(Ack(n=message.n))
                self._hear_event(message, heard_ns)
            case Nak():
                self.refusal = message.reason or "no reason given"
            case Ack():
                pass
        self._look_for_gaps(heard_ns)
        self._advance()

    def _hear_hello(self, hello: Hello, now_ns: int, last_ns: int) -> None:
        if hello.boot == self.hello.boot:
            self.hello, self._hello_ns = hello, now_ns
            self._date_hello()
            if self._is_doubted:  # it did not restart, so it was its numbers or its clock that leapt
                self._is_doubted = False
                self._numbering = Numbering()
            self._replay_held(now_ns)
            self._settle(now_ns)
            return
        if hello.boot in self._past_boots:
            return  # no start comes twice: this is a recording
        self._past_boots.append(self.hello.boot)
        held = self._held if self._is_doubted else deque()
        self.tally.lost += self._numbering.lost
        self._begin(hello, now_ns, Numbering(0))
        self._held = held
        self._become("syncing", now_ns, "it restarted", doubt_from_ns=last_ns)

    def _hear_sync(self, reply: SyncReply, heard_ns: int) -> None:
        sent_ns = self._questions.answered(reply)
        jumps = self.clock.jumps
        if sent_ns is None or not self.clock.add(sent_ns, reply.r, reply.x, heard_ns):
            return
        if self.clock.jumps > jumps:
            self._leap(heard_ns)
        elif self._answers_needed:
            self._answers_needed -= 1
        self._date_hello()
        received_us = self.clock.unwrap(reply.r, heard_ns)
        self._numbering.tell(reply.n, received_us)
        passed = self.clock.host_time(received_us)
        if passed is not None and self.clock.is_confirmed:
            self._marks.append((reply.n, passed.at_ns))
        if self.clock.is_confirmed:
            self._replay_held(heard_ns)
        self._advance()
        self._settle(heard_ns)
        if self._wants_answer:
            self.ask(heard_ns)

    def _leap(self, now_ns: int) -> None:
        """The clock jumped: what was stamped since the last good answer is in doubt, and it may have
        restarted."""
        self._is_doubted = True
        self._who_at_ns = now_ns + WHO_EVERY_NS
        self._answers_needed = _ANSWERS_TO_BE_READY - 1
        self._questions.hurry(now_ns)
        self._marks.clear()
        self._doubt_told()
        self._say(Who(p=(PROTOCOL,)))
        self._become("syncing", now_ns, "its clock jumped", doubt_from_ns=self.clock.doubted_from_ns)

    def _hear_event(self, event: DeviceEvent, heard_ns: int, *, is_replay: bool = False) -> None:
        if self._is_undated:
            self._hold(event, heard_ns)
            return
        stamp_us = self.clock.unwrap(event.us, heard_ns)
        time = self.clock.edge_time(stamp_us)
        if time is None:
            self._hold(event, heard_ns)
            return
        is_early = event.n > self._passed_n and time.at_ns + time.u_ns < self._passed_ns - _SLACK_NS
        is_future = time.at_ns > heard_ns + time.u_ns + _FUTURE_NS
        is_odd = is_early or is_future or heard_ns - time.at_ns > _LATE_NS
        if not is_replay and (is_odd or self._held):
            # A stamp from the future, from before a mark that it came after, or so old that its order may be
            # final: it is looked at again when the time has been asked for, and what came after it follows it.
            self._hold(event, heard_ns)
            self.ask(heard_ns)
            return
        if is_future:
            self.tally.misdated += 1
            return
        match self._numbering.take(event.n, stamp_us):
            case Taken.TWIN:
                self.tally.twins += 1
                return
            case Taken.RESTARTED:
                self._is_doubted = True
                self._hold(event, heard_ns)
                self._who_at_ns = heard_ns + WHO_EVERY_NS
                self._say(Who(p=(PROTOCOL,)))
                return
            case Taken.NEW:
                pass
        if event.b >= self.hello.ni:
            self.tally.misplaced += 1
            return
        if heard_ns - time.at_ns > STALE_EVENT_NS:
            self.tally.stale += 1
            return
        stamped_ns = time.at_ns - time.u_ns
        if event.n > self._passed_n:
            # It was stamped after that mark, whatever a newer, better answer makes of its time.
            time = HostTime(max(time.at_ns, self._passed_ns + 1), time.u_ns, time.own_u_ns)
        seen = observed(event, self.id, self.hello.boot, time)
        if not isinstance(seen, Pressed):
            self._see(seen)
        elif is_early or self.clock.is_erratic:
            self._see(self._doubted(seen, heard_ns, stamped_ns))
        else:
            self._told.append((seen, heard_ns))
            self._see(seen)

    @property
    def _is_undated(self) -> bool:
        """Can no stamp of it be turned into host time now?"""
        return self._is_doubted or self._is_hello_old or not self.clock.is_synced

    def _doubted(self, press: Pressed, heard_ns: int, stamped_ns: int | None = None) -> Pressed:
        """The press with all the time that it may have happened in: since the last mark, until it was heard; with
        `stamped_ns` since that instant, where it is earlier and may be true all the same."""
        from_ns = self._passed_ns or press.seen_ns - press.uncertainty_ns
        from_ns = min(from_ns, heard_ns, heard_ns if stamped_ns is None else stamped_ns)
        half_ns = (heard_ns - from_ns + 1) // 2
        return msgspec.structs.replace(
            press, seen_ns=from_ns + half_ns, uncertainty_ns=half_ns, own_u_ns=half_ns, suspect="clock"
        )

    def _doubt_told(self) -> None:
        """Take back the times of the presses that no answer has confirmed: tell them again, in doubt."""
        told, self._told = self._told, deque()
        for press, heard_ns in told:
            self._see(self._doubted(press, heard_ns))

    def _hold(self, event: DeviceEvent, heard_ns: int) -> None:
        self._held.append((event, heard_ns))
        if len(self._held) <= _HELD:
            return
        oldest, oldest_ns = self._held.popleft()
        if self._is_undated:
            self.tally.lost += 1
        else:
            self._hear_event(oldest, oldest_ns, is_replay=True)

    def _replay_held(self, now_ns: int) -> None:
        if self._is_undated:
            return
        held, self._held = self._held, deque()
        for event, heard_ns in held:
            self._hear_event(event, heard_ns, is_replay=True)

    # what time brings

    def tick(self, now_ns: int) -> None:
        """Do what is due at `now_ns`."""
        if self.state == "lost":
            return
        if self.state != "silent" and now_ns - self.heard_ns >= SILENT_NS:
            self._become("silent", now_ns, "nothing heard for 3 s")
        if (self._needs_hello or self.state == "silent") and now_ns >= self._who_at_ns:
            self._who_at_ns = now_ns + WHO_EVERY_NS
            self._say(Who(p=(PROTOCOL,)))
        self._questions.drop_old(now_ns)
        if now_ns >= self._wanted_ns + CAP_NS:
            self._wanted_ns = 0  # whoever wanted it has gone on without
        u_ns = self.clock.uncertainty_ns(now_ns)
        if self.state == "ready" and should_hurry(self.clock, self.limit_ns, u_ns):
            self._questions.hasten()
        if now_ns >= self._questions.due_ns or self._wants_answer:
            self.ask(now_ns)
        if self._gap_since_ns is not None and now_ns >= self._repeat_at_ns:
            self._chase_missing(now_ns)
        if self._held and now_ns - self._held[0][1] >= CAP_NS:
            self._replay_held(now_ns)  # no answer came that would date it better
        self._tell_clock(now_ns, u_ns)

    def due_ns(self) -> int:
        """The host time by which `tick` wants to be called again."""
        due = [
            self._questions.due_ns,
            self.heard_ns + SILENT_NS if self.state != "silent" else self._who_at_ns,
        ]
        if self._needs_hello:
            due.append(self._who_at_ns)
        if self._gap_since_ns is not None:
            due.append(self._repeat_at_ns)
        if self._wants_answer:
            due.append(self._questions.may_ask_at_ns)
        if self._held and not self._is_undated:
            due.append(self._held[0][1] + CAP_NS)
        return min(due)

    def ask_until(self, until_ns: int, now_ns: int) -> None:
        """Ask what time it is until an answer shows that everything before `until_ns` has come."""
        if self._passed_ns < until_ns:
            self._wanted_ns = max(self._wanted_ns, until_ns)
            self.ask(now_ns)

    def ask(self, now_ns: int) -> None:
        """Ask what time it is, as soon as `Questions` lets it."""
        if (question := self._questions.next(now_ns)) is not None:
            self._say(question)

    @property
    def _wants_answer(self) -> bool:
        """Does somebody wait for an order to become final, or a press to be dated?"""
        return self._passed_ns < self._wanted_ns or (bool(self._held) and not self._needs_hello)

    def lose(self, now_ns: int, reason: str) -> None:
        """Its way is gone."""
        self._questions.clear()
        self._become("lost", now_ns, reason)

    def mark(self, now_ns: int) -> Mark | None:
        """How far it is heard; None when it is not `ready`. Who was ready until a moment ago is waited for as long as
        the cap: it may have pressed before it was lost or began anew."""
        owed = [self._questions.oldest_ns, self._gap_since_ns]
        if self.state != "ready":
            left_ns = self._left_ns
            if self.state == "silent" or left_ns is None or now_ns - left_ns >= CAP_NS:
                return None
            owed.append(left_ns)
        return Mark(self.id, self._passed_ns, min((at for at in owed if at is not None), default=None))

    @property
    def is_complete(self) -> bool:
        """Have all its inputs and outputs been named?"""
        return len(self.inputs) >= self.hello.ni and len(self.outputs) >= self.hello.no

    @property
    def lost_events(self) -> int:
        """Events known to be sent that never came."""
        return self.tally.lost + self._numbering.lost

    def _recover(self, now_ns: int) -> None:
        self._answers_needed = max(self._answers_needed, 1)
        self._questions.begin(now_ns)
        self._gap_since_ns = None  # it gets its time anew to repeat what is missing
        self._become("syncing", now_ns, "it is back")

    def _settle(self, now_ns: int) -> None:
        if self.state == "syncing" and not self._answers_needed and not self._needs_hello:
            self._become("ready", now_ns)

    @property
    def _needs_hello(self) -> bool:
        return self._is_doubted or self._is_hello_old or not self.is_complete

    def _date_hello(self) -> None:
        """By the clock that its answers show, the hello was said just before it came, or it is a
        recording."""
        said = self.clock.host_time(self.clock.unwrap(self.hello.us, self._hello_ns))
        self._is_hello_old = said is not None and (
            abs(said.at_ns - self._hello_ns) > _HELLO_LATE_NS + said.u_ns
        )

    def _look_for_gaps(self, now_ns: int) -> None:
        if not self._numbering.missing():
            self._gap_since_ns = None
        elif self._gap_since_ns is None:
            self._gap_since_ns = now_ns
            self._repeat_at_ns = now_ns
            self._chase_missing(now_ns)

    def _chase_missing(self, now_ns: int) -> None:
        if self._gap_since_ns is not None and now_ns - self._gap_since_ns >= GIVE_UP_NS:
            count = self._numbering.give_up()
            self._gap_since_ns = None
            self._become(self.state, now_ns, f"{count} of its events never came")
            self._advance()
            return
        self._repeat_at_ns = now_ns + REPEAT_MISSING_NS
        for n in self._numbering.missing():
            self._say(Nak(n=n, reason="missing"))

    def _advance(self) -> None:
        while self._marks and self._marks[0][0] <= self._numbering.contiguous:
            self._passed_n, passed_ns = self._marks.popleft()
            self._passed_ns = max(self._passed_ns, passed_ns)
            while self._told and self._told[0][0].n <= self._passed_n:
                self._told.popleft()

    def _tell_clock(self, now_ns: int, u_ns: int | None) -> None:
        """Report a clock that became fit or unfit for a race, twice as good or half as good since it was last
        told."""
        if self.state != "ready" or u_ns is None or self._told_u_ns is None:
            return
        if self._look_at_fitness(now_ns, u_ns) != self.doubt:
            self._become("ready", now_ns)
            return
        if abs(u_ns - self._told_u_ns) < _WORTH_TELLING_NS:
            return
        if u_ns >= 2 * self._told_u_ns or 2 * u_ns <= self._told_u_ns:
            self._become("ready", now_ns)

    @property
    def doubt(self) -> str:
        """Why it should not decide a ranked race, as it was told last."""
        return self._fitness.doubt

    def _look_at_fitness(self, now_ns: int, u_ns: int | None) -> str:
        return self._fitness.look(doubt(self.state, self.clock, self.limit_ns, u_ns), now_ns)

    def _become(self, state: str, now_ns: int, detail: str = "", doubt_from_ns: int | None = None) -> None:
        if state != self.state:
            self._left_ns = now_ns if self.state == "ready" else self._left_ns
        self.state, self.detail = state, detail
        u_ns = self.clock.uncertainty_ns(now_ns)
        self._told_u_ns = u_ns
        self._fitness.doubt = self._look_at_fitness(now_ns, u_ns)
        since_ns = now_ns if doubt_from_ns is None else min(doubt_from_ns, now_ns)
        self._see(
            DeviceChanged(
                source=self.id,
                seen_ns=(since_ns + now_ns) // 2,
                uncertainty_ns=(now_ns - since_ns + 1) // 2,
                link=self.link,
                state=state,
                inputs=self.hello.ni,
                clock_u_ns=u_ns,
                detail=detail,
                limit_ns=self.limit_ns,
                doubt=self.doubt,
                race_class=self.race_class,
            )
        )
