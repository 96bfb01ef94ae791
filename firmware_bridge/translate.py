"""Device messages to observations, cues to device commands. No I/O, no clock of its own.

Tower hits and dice that drop stay two observations: whether they are one cast is the game's to say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

import msgspec

from companion.core.cue import Cue
from companion.core.observation import DieDropped, Observation, Pressed, Released, TowerHit
from firmware_bridge.clock_sync import HostTime
from firmware_bridge.messages import DeviceEvent, Die, Down, Hit, Led, Snd, Up

CROSSTALK_NS = 5_000_000
CROSSTALK_SHARE = 0.4
HOLD_NS = 25_000_000
_WORDS_ONLY = "notice"


def observed(event: DeviceEvent, source: str, boot: int, time: HostTime) -> Observation:
    """The observation that an event is; its host time is that of the edge."""
    seen_ns, u_ns = time.at_ns, time.u_ns
    match event:
        case Down():
            return Pressed(
                source=source,
                seen_ns=seen_ns,
                uncertainty_ns=u_ns,
                own_u_ns=time.own_u_ns,
                input=event.b,
                boot=boot,
                n=event.n,
                force=event.q,
                early=bool(event.early),
                resent=bool(event.re),
            )
        case Up():
            return Released(
                source=source, seen_ns=seen_ns, uncertainty_ns=u_ns, input=event.b, boot=boot, n=event.n
            )
        case Hit() | Die():
            kind = TowerHit if isinstance(event, Hit) else DieDropped
            return kind(
                source=source,
                seen_ns=seen_ns,
                uncertainty_ns=u_ns,
                input=event.b,
                boot=boot,
                n=event.n,
                peak=event.pk,
                width_us=event.w,
            )


class CrossTalk:
    """Marks presses that may be another pad's slam felt through the table.

    A press within CROSSTALK_NS of another pad's, with a force below CROSSTALK_SHARE of it, is `suspect:
    "crosstalk"`. The strong one may be heard after the weak one, so a press that is weak beside the
    strongest ever felt waits up to HOLD_NS before it is passed on; all others pass at once. Presses without
    force pass untouched.
    """

    def __init__(self, emit: Callable[[Observation], None]) -> None:
        self._emit = emit
        self._recent: deque[Pressed] = deque(maxlen=64)
        self._held: list[tuple[int, Pressed]] = []  # (release at host ns, press)
        self._strongest = 0

    def put(self, press: Pressed, now_ns: int) -> None:
        """Take a press; it is emitted now, or by `tick` within HOLD_NS."""
        if press.force is None:
            self._emit(press)
            return
        self._recent.append(press)
        self._strongest = max(self._strongest, press.force)
        if self._is_shaken(press):
            self._emit(msgspec.structs.replace(press, suspect="crosstalk"))
        elif press.force < CROSSTALK_SHARE * self._strongest:
            self._held.append((now_ns + HOLD_NS, press))
        else:
            self._emit(press)
        self._release(lambda _due, held: self._is_shaken(held))

    def tick(self, now_ns: int) -> None:
        """Let go what has waited long enough."""
        if self._held:
            self._release(lambda due, _held: due <= now_ns)

    @property
    def due_ns(self) -> int | None:
        """When `tick` has something to do, None when nothing waits."""
        return min((due for due, _ in self._held), default=None)

    @property
    def oldest_ns(self) -> int | None:
        """`seen_ns` of the earliest press that waits: no order may be final past it."""
        return min((press.seen_ns for _, press in self._held), default=None)

    def _release(self, may_go: Callable[[int, Pressed], bool]) -> None:
        going = [entry for entry in self._held if may_go(*entry)]
        self._held = [entry for entry in self._held if entry not in going]
        for _, press in going:
            self._emit(
                msgspec.structs.replace(press, suspect="crosstalk") if self._is_shaken(press) else press
            )

    def _is_shaken(self, press: Pressed) -> bool:
        return any(
            (other.source, other.input) != (press.source, press.input)
            and abs(other.seen_ns - press.seen_ns) <= CROSSTALK_NS
            and (press.force or 0) < CROSSTALK_SHARE * (other.force or 0)
            for other in self._recent
        )


def outputs_for(cue: Cue, outputs: Mapping[str, Iterable[tuple[str, int]]]) -> tuple[tuple[str, int], ...]:
    """The (device, output index) pairs that a cue plays on, each once, sorted.

    `outputs` maps a seat's id, or ``all``, to pairs. A cue to ``all`` plays on every pair of the mapping, one that
    names `pads` on those alone.
    """
    if cue.pattern == _WORDS_ONLY:
        return ()
    names = cue.pads or (tuple(outputs) if cue.target == "all" else (cue.target,))
    chosen = (outputs.get(name, ()) for name in names)
    return tuple(sorted({pair for pairs in chosen for pair in pairs}))


def command(cue: Cue, output: int, kind: str, at_us: int | None) -> Led | Snd:
    """The command that plays a cue on one output of the given kind (``snd``, else a light), at a device
    time."""
    make = Snd if kind == "snd" else Led
    return make(b=output, pattern=cue.pattern, at=at_us)
