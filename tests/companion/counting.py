"""A game of counting, small enough to be seen through: the laws of the table are tried on it first.

All add to one sum, which must not pass the goal; a seat may hide a number that only it sees. The referee opens a
window of five seconds of play time in which a press adds one; the clock closes it.
"""

from __future__ import annotations

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core.clock import S as SECOND
from companion.core.clock import Stamp, is_surely_before
from companion.core.cue import Cue
from companion.core.game import Game, Moment, Sitting, refuse
from companion.core.observation import Observation, Pressed
from companion.core.ruling import Ruling, ok
from companion.core.score import Standing, standings
from companion.core.seat import Role, Viewer, seat_at
from companion.core.timer import Timer
from companion.core.view import Action, Choice, ClockShown, Field, Row, View, Zone

WINDOW_NS = 5 * SECOND


class Add(c.CommandBody, frozen=True, kw_only=True):
    by = c.SEATS
    seat: str
    number: int


class Take(c.CommandBody, frozen=True, kw_only=True):
    number: int


class Hide(c.CommandBody, frozen=True, kw_only=True):
    by = c.SEATS
    seat: str
    number: int


class OpenWindow(c.CommandBody, frozen=True, kw_only=True):
    pass


class CloseWindow(c.CommandBody, frozen=True, kw_only=True):
    by = c.CLOCK


class Slam(c.CommandBody, frozen=True, kw_only=True):
    by = c.SENSORS
    seat: str
    stamp: Stamp


class Added(e.EventBody, frozen=True, kw_only=True):
    seat: str
    number: int


class Taken(e.EventBody, frozen=True, kw_only=True):
    number: int


class Hidden(e.EventBody, frozen=True, kw_only=True):
    seat: str
    number: int


class WindowOpened(e.EventBody, frozen=True, kw_only=True):
    at_play_ns: int


class WindowClosed(e.EventBody, frozen=True, kw_only=True):
    pass


class Slammed(e.EventBody, frozen=True, kw_only=True):
    seat: str
    stamp: Stamp


class Sum(msgspec.Struct, frozen=True, kw_only=True):
    total: int = 0
    by_seat: tuple[tuple[str, int], ...] = ()
    hidden: tuple[tuple[str, int], ...] = ()
    window: Timer | None = None
    slams: tuple[Slammed, ...] = ()


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    presses: int = 0


Table = Sitting[Sum]


def _set(pairs: tuple[tuple[str, int], ...], seat: str, number: int) -> tuple[tuple[str, int], ...]:
    return (*((s, n) for s, n in pairs if s != seat), (seat, number))


def _decide(sitting: Table, order: c.Order) -> tuple[e.Event, ...]:
    game = sitting.game
    goal = int(sitting.options["goal"])
    match order.command:
        case Add(seat=seat, number=number) as command:
            if not 1 <= number <= 9 or game.total + number > goal:
                return refuse(command, "COUNT-1", "That is too much.", seat)
            return (Added(seat=seat, number=number),)
        case Take(number=number) as command:
            if not 1 <= number <= game.total:
                return refuse(command, "COUNT-2", "So much is not there.")
            return (Taken(number=number),)
        case Hide(seat=seat, number=number):
            return (Hidden(seat=seat, number=number),)
        case OpenWindow() as command:
            if game.window is not None or game.total >= goal:
                return refuse(command, "COUNT-3", "No window may be opened now.")
            return (WindowOpened(at_play_ns=sitting.play_ns(order.at_ns)),)
        case CloseWindow() as command:
            if game.window is None:
                return refuse(command, "COUNT-3", "No window is open.")
            return (WindowClosed(),)
        case Slam(seat=seat, stamp=stamp) as command:
            if game.window is None or game.total >= goal:
                return refuse(command, "COUNT-4", "No window is open.", seat)
            return (Slammed(seat=seat, stamp=stamp), Added(seat=seat, number=1))
        case command:
            return refuse(command, "COUNT-9", "That is not played here.")


def _evolve(sitting: Table, event: e.Event, moment: Moment) -> Sum:
    game, replace = sitting.game, msgspec.structs.replace
    match event:
        case Added(seat=seat, number=number):
            had = dict(game.by_seat).get(seat, 0)
            return replace(game, total=game.total + number, by_seat=_set(game.by_seat, seat, had + number))
        case Taken(number=number):
            return replace(game, total=game.total - number)
        case Hidden(seat=seat, number=number):
            return replace(game, hidden=_set(game.hidden, seat, number))
        case WindowOpened(at_play_ns=at):
            return replace(game, window=Timer(from_play_ns=at, length_ns=WINDOW_NS), slams=())
        case WindowClosed():
            return replace(game, window=None)
        case Slammed():
            return replace(game, slams=(*game.slams, event))
        case _:
            return game


def _rule(before: Table, event: e.Event, after: Table) -> tuple[Ruling, ...]:
    if isinstance(event, Slammed):
        first = before.game.slams[0].stamp if before.game.slams else None
        is_late = first is not None and is_surely_before(first, event.stamp)
        return (ok("COUNT-4", "A later slam." if is_late else "The first slam.", event.seat),)
    return ()


def _cues(before: Table, event: e.Event, after: Table) -> tuple[Cue, ...]:
    match event:
        case Added(seat=seat):
            return (Cue(target="all", pattern="notice", text=f"{before.name(seat)} adds"),)
        case WindowClosed():
            return (Cue(target="all", pattern="end", text="The window is closed"),)
        case _:
            return ()


def _deadlines(sitting: Table) -> tuple[tuple[int, c.Command], ...]:
    window = sitting.game.window
    return () if window is None else ((window.ends_play_ns, CloseWindow()),)


def _interpret(trace: Heard, sitting: Table, seen: Observation) -> tuple[Heard, tuple[c.Command, ...]]:
    if not isinstance(seen, Pressed):
        return trace, ()
    seat = sitting.seat_of(seen.source, seen.input)
    if seat is None:
        return trace, ()
    stamp = Stamp(at_ns=seen.seen_ns, u_ns=seen.uncertainty_ns, clock=seen.source, own_u_ns=seen.own_u_ns)
    return Heard(presses=trace.presses + 1), (Slam(seat=seat.id, stamp=stamp),)


def _view(sitting: Table, viewer: Viewer) -> View:
    game, goal = sitting.game, int(sitting.options["goal"])
    rows = tuple(Row(id=s, label=sitting.name(s), text=str(n), seat=s) for s, n in game.by_seat)
    own = tuple(Row(id="own", label="Hidden", text=str(n)) for s, n in game.hidden if s == viewer.seat)
    may_add = [s for s in sitting.playing() if viewer.role is Role.REFEREE or s.id == viewer.seat]
    most = min(9, goal - game.total)
    numbers = tuple(Choice(n, str(n)) for n in range(1, most + 1))
    actions = tuple(
        Action(
            id=f"add-{seat.id}", command=Add(seat=seat.id, number=1), label=f"Add for {seat.name}",
            effect="The sum grows.",
            fields=(Field(name="number", label="How much", kind="choice", choices=numbers, value=1),),
        )
        for seat in may_add if most >= 1
    )  # fmt: skip
    small = tuple(Choice(n, str(n)) for n in (1, 2, 3))
    if viewer.role is Role.SEAT:
        actions += (
            Action(
                id="hide", command=Hide(seat=viewer.seat, number=1), label="Hide a number",
                effect="Nobody else sees it.",
                fields=(Field(name="number", label="Which", kind="choice", choices=small),),
            ),
        )  # fmt: skip
    primary = None
    if viewer.role is Role.REFEREE and game.window is None and game.total < goal:
        primary = Action(id="open", command=OpenWindow(), label="Open", effect="Presses count.")
    clocks = ()
    if game.window is not None:
        stopped = sitting.stopped_at_ns
        left = game.window.left_ns(sitting.play_ns(sitting.at_ns))
        ends = sitting.host_ns(game.window.ends_play_ns) if stopped is None else None
        clocks = (ClockShown(id="window", label="Window", left_ns=left, ends_ns=ends),)
    return View(
        game="counting", viewer=viewer, phase="window" if game.window else "count", part=1,
        headline=f"{game.total} of {goal}", seats=sitting.seats, primary=primary, actions=actions,
        zones=(Zone(id="sum", title="Sum", rows=rows), Zone(id="own", title="Own", rows=own)),
        clocks=clocks, is_over=game.total >= goal,
    )  # fmt: skip


def _policy(sitting: Table, salt: int) -> c.Command | None:
    game, goal = sitting.game, int(sitting.options["goal"])
    if sitting.stopped_at_ns is not None:
        return c.Resume()
    seats = sitting.playing()
    if game.total >= goal or not seats:
        return None
    return Add(seat=seats[salt % len(seats)].id, number=1 + salt % min(9, goal - game.total))


def _standings(sitting: Table) -> tuple[Standing, ...]:
    return standings({seat.id: dict(sitting.game.by_seat).get(seat.id, 0) for seat in sitting.seats})


GAME: Game[Sum] = Game(
    name="counting",
    title="Counting",
    min_seats=1,
    max_seats=6,
    options={"goal": 60, "loud": False},
    choices={},
    data_file="",
    check_data=lambda text: "",
    commands=(Add, Take, Hide, OpenWindow, CloseWindow, Slam),
    events=(Added, Taken, Hidden, WindowOpened, WindowClosed, Slammed),
    state=Sum,
    open=lambda opened: Sum(),
    may_accommodate=lambda sitting: sitting.game.total == 0,
    decide=_decide,
    evolve=_evolve,
    rule=_rule,
    cues=_cues,
    deadlines=_deadlines,
    trace=Heard,
    interpret=_interpret,
    view=_view,
    standings=_standings,
    part=lambda sitting: 1,
    is_over=lambda sitting: sitting.game.total >= int(sitting.options["goal"]),
    policy=_policy,
)
SEATS = tuple(seat_at(n, name, "box-7", n) for n, name in enumerate(("Ann", "Ben", "Cem"), start=1))
