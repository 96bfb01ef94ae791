"""What a game is to the table, and the laws that hold at every table.

decide: may this order be carried out, and which facts does it make. evolve: what a fact does to the table.
Both are pure and total: a refusal is a fact with a ruling, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from companion.core import command as c
from companion.core import event as e
from companion.core.clock import Stamp
from companion.core.cue import Cue
from companion.core.observation import DieSeen, Observation
from companion.core.ruling import Ruling, breach, ok
from companion.core.score import Standing
from companion.core.seat import MARKS, Accommodation, PadNote, PadWaiver, Role, Seat, Viewer, seat_at
from companion.core.view import RulingShown, View

S = TypeVar("S", bound=msgspec.Struct)
MAX_NAME = 40
MOST_NUMBER = 3600


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open proposal; `id` is the number of the entry that made it."""

    id: int
    command: c.Command
    reading: str
    confidence: float
    evidence: tuple[str, ...] = ()


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """When and where a fact stands: its entry, table time (host ns), and what it was understood from."""

    entry: int
    at_ns: int
    evidence: tuple[str, ...] = ()


class Sitting(msgspec.Struct, Generic[S], frozen=True, kw_only=True, omit_defaults=True):
    """The whole state of a table: what is common to all games, and the game's own state in `game`.

    `at_ns`: table time of the last fact. `stopped_at_ns`: host instant at which the clocks were stopped,
    None while they run. `stops`: from when to when they stood before. `held`: the game as the public sees
    it while a review is open. `pads`: how fit each device was when that was last noted; `waivers`: the
    devices that take part whatever is noted.
    """

    opened: e.Opened
    seats: tuple[Seat, ...]
    options: dict[str, str | int | bool]
    game: S
    at_ns: int = 0
    stopped_at_ns: int | None = None
    stops: tuple[tuple[int, int], ...] = ()
    stop_why: str = ""
    held: S | None = None
    review_why: str = ""
    proven: tuple[str, ...] = ()
    pads: tuple[PadNote, ...] = ()
    waivers: tuple[PadWaiver, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    rulings: tuple[RulingShown, ...] = ()
    released: tuple[int, ...] = ()

    def play_ns(self, at_ns: int) -> int:
        """Play time at a host instant: host time less all the time that the table stood."""
        running = at_ns if self.stopped_at_ns is None else min(at_ns, self.stopped_at_ns)
        return running - sum(min(max(running, begin), end) - begin for begin, end in self.stops)

    def host_ns(self, play_ns: int) -> int:
        """Host instant of a moment in play time, if the table is not stopped from now on."""
        return play_ns + sum(end - begin for begin, end in self.stops)

    def seat(self, seat_id: str) -> Seat | None:
        """The seat with this id, also one that was left; None if there is none."""
        return next((seat for seat in self.seats if seat.id == seat_id), None)

    def playing(self) -> tuple[Seat, ...]:
        """The seats that nobody has left, in order."""
        return tuple(seat for seat in self.seats if not seat.left)

    def seat_of(self, device: str, input_: int) -> Seat | None:
        """Whose pad this is."""
        return next((s for s in self.playing() if s.device == device and s.input == input_), None)

    def pad(self, device: str) -> PadNote | None:
        """What was last noted of a device; None when nothing was."""
        return next((pad for pad in self.pads if pad.device == device), None)

    def is_waived(self, device: str) -> bool:
        """Whether the referee lets this device take part however fit it is."""
        return any(waiver.device == device for waiver in self.waivers)

    def name(self, seat_id: str) -> str:
        """The name of a seat, or its id when there is none."""
        seat = self.seat(seat_id)
        return seat.name if seat else seat_id


def no_amends(_table: Sitting[S], _die: DieSeen, _value: int | str) -> c.Command | None:
    """Of a game that notes nothing that a die shows."""
    return None


def no_slams(_sitting: Sitting[Any]) -> tuple[tuple[str, Stamp], ...]:
    """The slams of a game without races."""
    return ()


def never_fixed(_sitting: Sitting[Any], _option: str) -> str:
    """Of a game whose house rules may be changed at any time."""
    return ""


class Game(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """One game as the catalogue holds it: its words and its pure functions.

    `options`: every house rule with its default. `choices`: the values a house rule may take, where it is
    not simply a number or yes/no. `data_file`: name of the data file shipped in the game's folder,
    empty when it has none; `check_data(text)` says in one line why a text is no such file, or nothing.
    `interpret(trace, sitting, observation)` gives the next trace and commands; `trace()` an empty one.
    `rule(before, event, after)` gives the rulings that a fact implies. `deadlines` are instants in play
    time with the command that is due then. `policy(sitting, salt)` is one command that a sensible
    referee would give now, None when nobody has anything to do. `amend(sitting, die, value)` is the command that
    puts right what is noted of a die that shows `value`, None where nothing has to be. `slams(sitting)`: the claims
    of the running race by seat, with the stamps by which they are ranked. `bounds`: least and most of a house rule
    that is a number, where that is not 0 to MOST_NUMBER. `why_fixed(sitting, option)` says in one sentence why a house
    rule can no longer be changed, or nothing. `is_private`: something is shown now that not all may see, so no picture
    is kept or shown. `is_secret(sitting, entry)`: who reads the journal may not know yet what this entry holds.
    `explain_data(text)`: all that a text lacks to be the game's data file, a line each; nothing where `check_data` has
    said it.
    """

    name: str
    title: str
    min_seats: int
    max_seats: int
    options: Mapping[str, str | int | bool]
    choices: Mapping[str, tuple[str, ...]]
    data_file: str
    check_data: Callable[[str], str]
    commands: tuple[type[c.Command], ...]
    events: tuple[type[e.Event], ...]
    state: type[S]
    open: Callable[[e.Opened], S]
    may_accommodate: Callable[[Sitting[S]], bool]
    decide: Callable[[Sitting[S], c.Order], tuple[e.Event, ...]]
    evolve: Callable[[Sitting[S], e.Event, Moment], S]
    rule: Callable[[Sitting[S], e.Event, Sitting[S]], tuple[Ruling, ...]]
    cues: Callable[[Sitting[S], e.Event, Sitting[S]], tuple[Cue, ...]]
    deadlines: Callable[[Sitting[S]], tuple[tuple[int, c.Command], ...]]
    trace: Callable[[], msgspec.Struct]
    interpret: Callable[
        [msgspec.Struct, Sitting[S], Observation], tuple[msgspec.Struct, tuple[c.Command, ...]]
    ]
    view: Callable[[Sitting[S], Viewer], View]
    standings: Callable[[Sitting[S]], tuple[Standing, ...]]
    part: Callable[[Sitting[S]], int]
    is_over: Callable[[Sitting[S]], bool]
    policy: Callable[[Sitting[S], int], c.Command | None]
    amend: Callable[[Sitting[S], DieSeen, int | str], c.Command | None] = no_amends
    slams: Callable[[Sitting[S]], tuple[tuple[str, Stamp], ...]] = no_slams
    bounds: Mapping[str, tuple[int, int]] = {}
    why_fixed: Callable[[Sitting[S], str], str] = never_fixed
    is_private: Callable[[Sitting[S]], bool] = lambda _sitting: False
    is_secret: Callable[[Sitting[S], e.Entry], bool] = lambda _sitting, _entry: False
    explain_data: Callable[[str], tuple[str, ...]] = lambda _text: ()


def refuse(command: c.Command, rule: str, because: str, seat: str = "") -> tuple[e.Event, ...]:
    """The facts of a refusal."""
    return (e.Refused(command=command, ruling=breach(rule, because, seat)),)


def is_refused(events: tuple[e.Event, ...]) -> bool:
    """Whether these facts are a refusal."""
    return any(isinstance(event, e.Refused) for event in events)


def refusal(events: tuple[e.Event, ...]) -> Ruling | None:
    """The ruling of a refusal, None when the facts are none."""
    return next((event.ruling for event in events if isinstance(event, e.Refused)), None)


def open_sitting(game: Game[S], opened: e.Opened) -> Sitting[S]:
    """The table as its first fact makes it."""
    return Sitting(
        opened=opened,
        seats=opened.seats,
        options={**game.options, **opened.options},
        game=game.open(opened),
    )


def decide(game: Game[S], sitting: Sitting[S], order: c.Order) -> tuple[e.Event, ...]:
    """The facts that an order makes at this table; corrections are decided in `companion.core.history`.

    Rule: TABLE-1 TABLE-2
    """
    command, actor = order.command, order.actor
    if actor.role not in command.by:
        return refuse(command, "TABLE-1", f"A {actor.role.value} may not do this.", actor.seat)
    own = getattr(command, "seat", actor.seat)
    if actor.role is Role.SEAT and own != actor.seat:
        return refuse(command, "TABLE-1", "A seat acts for itself alone.", actor.seat)
    seat = sitting.seat(own) if own else None
    if hasattr(command, "seat") and (seat is None or seat.left):
        return refuse(command, "TABLE-3", "Nobody sits there.", own)
    if sitting.stopped_at_ns is not None and not _is_for_stops(sitting, command):
        return refuse(command, "TABLE-2", "The table is stopped: resume first.", own)
    mine = _decide_common(game, sitting, order)
    return game.decide(sitting, order) if mine is None else mine


def _is_for_stops(sitting: Sitting[S], command: c.Command) -> bool:
    """Whether a command is taken while the table is stopped; a proposal and its confirmation are what they propose.

    Rule: TABLE-2
    """
    if isinstance(command, c.Propose):
        return command.command.while_stopped
    if isinstance(command, c.Confirm):
        asked = next((p for p in sitting.proposals if p.id == command.proposal), None)
        return asked is not None and asked.command.while_stopped
    return command.while_stopped


def _decide_common(game: Game[S], sitting: Sitting[S], order: c.Order) -> tuple[e.Event, ...] | None:
    match order.command:
        case c.Start(boot=boot, wall_ms=wall_ms):
            return (e.Started(boot=boot, wall_ms=wall_ms),)
        case c.Stop(why=why):
            return (e.Stopped(why=why[:200]),)
        case c.Resume() as command:
            if sitting.stopped_at_ns is None:
                return refuse(command, "TABLE-2", "The table is not stopped.")
            return (e.Resumed(),)
        case c.OpenReview(why=why) as command:
            if sitting.held is not None:
                return refuse(command, "TABLE-4", "A review is open already.")
            return (e.ReviewOpened(why=why[:200]),)
        case c.CloseReview() as command:
            if sitting.held is None:
                return refuse(command, "TABLE-4", "No review is open.")
            return (e.ReviewClosed(),)
        case c.ReleaseEvidence(entry=entry) as command:
            if entry in sitting.released:
                return refuse(command, "TABLE-4", "That evidence is released already.")
            return (e.EvidenceReleased(entry=entry),)
        case c.ProvePad(seat=seat) as command:
            if seat in sitting.proven:
                return refuse(command, "TABLE-5", "That pad is proven already.", seat)
            return (e.PadProven(seat=seat),)
        case c.Propose() as command:
            return (
                e.Proposed(
                    command=command.command,
                    reading=command.reading[:300],
                    confidence=min(1.0, max(0.0, command.confidence)),
                    evidence=command.evidence,
                ),
            )
        case c.Confirm(proposal=number) as command:
            proposal = next((p for p in sitting.proposals if p.id == number), None)
            if proposal is None:
                return refuse(command, "TABLE-6", "That proposal is not open.")
            settled = evolve_common(sitting, e.Confirmed(proposal=number), Moment(entry=0, at_ns=order.at_ns))
            facts = decide(game, settled, msgspec.structs.replace(order, command=proposal.command))
            return facts if is_refused(facts) else (e.Confirmed(proposal=number), *facts)
        case c.Reject(proposal=number, why=why) as command:
            if all(p.id != number for p in sitting.proposals):
                return refuse(command, "TABLE-6", "That proposal is not open.")
            return (e.Rejected(proposal=number, why=why[:200]),)
        case c.CorrectDie() as command:
            return _decide_die(game, sitting, order, command)
        case c.SetAccommodation() as command:
            return _decide_accommodation(game, sitting, command)
        case c.ChangeOption() as command:
            return _decide_option(game, sitting, command)
        case c.AssignPad(seat=seat, device=device, input=input_) as command:
            holder = sitting.seat_of(device, input_) if device else None
            if holder is not None and holder.id != seat:
                return refuse(command, "TABLE-5", f"That pad is {holder.name}'s.", seat)
            return (e.PadAssigned(seat=seat, device=device, input=input_),)
        case c.NotePad() as command:
            if not command.device:
                return refuse(command, "TABLE-12", "A note is about a device that has a name.")
            return (e.PadNoted(pad=_note_of(command)),)
        case c.WaivePad() as command:
            return _decide_waiver(sitting, command)
        case c.Join() as command:
            return _decide_join(game, sitting, command)
        case c.Leave(seat=seat):
            return (e.Left(seat=seat),)
        case _:
            return None


def _note_of(command: c.NotePad) -> PadNote:
    return PadNote(
        device=command.device,
        u_ns=None if command.u_ns is None else max(0, command.u_ns),
        limit_ns=max(0, command.limit_ns),
        doubt=command.doubt[:200],
        race_class="ranked" if command.race_class == "ranked" else "party",
    )


def _decide_waiver(sitting: Sitting[S], command: c.WaivePad) -> tuple[e.Event, ...]:
    pad = sitting.pad(command.device)
    if pad is None or pad.is_fit:
        return refuse(command, "TABLE-12", "That pad may take part as it is.")
    if sitting.is_waived(command.device):
        return refuse(command, "TABLE-12", "That pad is waived already.")
    made = e.PadWaived(device=pad.device, is_for_round=command.is_for_round, why=command.why[:200])
    return (made,)


def _decide_die(
    game: Game[S], sitting: Sitting[S], order: c.Order, command: c.CorrectDie
) -> tuple[e.Event, ...]:
    """A die corrected, and what the game makes of it; what it refuses now stays as it is noted."""
    if command.value == (command.die.value or ""):
        return refuse(command, "TABLE-13", "That is what was read.")
    if isinstance(command.value, str) and (len(command.value) > MAX_NAME or not command.value.isprintable()):
        return refuse(command, "TABLE-13", f"A face has a name of at most {MAX_NAME} printable letters.")
    made = e.DieCorrected(
        source=command.source, frame=command.frame, die=command.die, value=command.value, learn=command.learn
    )
    follows = game.amend(sitting, command.die, command.value)
    if follows is None:
        return (made,)
    facts = decide(game, sitting, msgspec.structs.replace(order, command=follows))
    return (made,) if is_refused(facts) else (made, *facts)


def _decide_accommodation(
    game: Game[S], sitting: Sitting[S], command: c.SetAccommodation
) -> tuple[e.Event, ...]:
    agreed = Accommodation(
        time_factor=command.time_factor, start_shift_ms=command.start_shift_ms, proxy=command.proxy
    )
    if not game.may_accommodate(sitting):
        return refuse(command, "TABLE-7", "Accommodations are set before play.", command.seat)
    if not 1 <= agreed.time_factor <= 10:
        return refuse(command, "TABLE-7", "A time factor lies between 1 and 10.", command.seat)
    is_name = len(agreed.proxy) <= MAX_NAME and agreed.proxy.isprintable()
    if abs(agreed.start_shift_ms) > 60_000 or not is_name:
        return refuse(command, "TABLE-7", "A start shift is at most 60 s, a name 40 letters.", command.seat)
    return (e.AccommodationSet(seat=command.seat, accommodation=agreed),)


def why_not_option(game: Game[S], option: str, value: object) -> str:
    """Why this house rule may not have this value, in one sentence; empty when it may."""
    if option not in game.options:
        return f"There is no house rule {option!r}; there are: {', '.join(sorted(game.options))}."
    default, allowed = game.options[option], game.choices.get(option)
    if type(value) is not type(default):
        return f"{option} takes a value like {default!r}, not {value!r}."
    if allowed is not None and value not in allowed:
        return f"{option} is one of {', '.join(allowed)}, not {value!r}."
    least, most = game.bounds.get(option, (0, MOST_NUMBER))
    if isinstance(value, int) and not isinstance(value, bool) and not least <= value <= most:
        return f"{option} lies between {least} and {most}."
    return ""


def _decide_option(game: Game[S], sitting: Sitting[S], command: c.ChangeOption) -> tuple[e.Event, ...]:
    wrong = why_not_option(game, command.option, command.value) or game.why_fixed(sitting, command.option)
    if not wrong and sitting.options[command.option] == command.value:
        wrong = "That is the rule already."
    if wrong:
        return refuse(command, "TABLE-8", wrong)
    return (e.OptionChanged(option=command.option, value=command.value),)


def why_not_name(name: str, taken: tuple[str, ...]) -> str:
    """Why a player may not bear this name, in one sentence; empty when they may."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        return f"A name has 1 to {MAX_NAME} printable letters."
    if name.strip().casefold() in (other.casefold() for other in taken):
        return f"There is a {name.strip()} at the table already."
    return ""


def _decide_join(game: Game[S], sitting: Sitting[S], command: c.Join) -> tuple[e.Event, ...]:
    playing = sitting.playing()
    wrong = why_not_name(command.name, tuple(seat.name for seat in playing))
    if len(playing) >= game.max_seats:
        wrong = f"The table is full: {game.max_seats} seats."
    if command.device and sitting.seat_of(command.device, command.input):
        wrong = "That pad has an owner."
    if wrong:
        return refuse(command, "TABLE-9", wrong)
    seat = seat_at(len(sitting.seats) + 1, command.name.strip(), command.device, command.input)
    worn = {other.colour for other in playing}
    for colour, shape in MARKS:
        if seat.colour in worn and colour not in worn:
            seat = msgspec.structs.replace(seat, colour=colour, shape=shape)
    return (e.Joined(seat=seat),)


def evolve(game: Game[S], sitting: Sitting[S], event: e.Event, moment: Moment) -> Sitting[S]:
    """The table after one fact; total, and the only way in which a table changes."""
    common = msgspec.structs.replace(evolve_common(sitting, event, moment), at_ns=moment.at_ns)
    after = msgspec.structs.replace(common, game=game.evolve(common, event, moment))
    if game.part(after) != game.part(sitting):
        # What was asked about a round, or waived for it, ends with it.
        lasting = tuple(waiver for waiver in after.waivers if not waiver.is_for_round)
        after = msgspec.structs.replace(after, proposals=(), waivers=lasting)
    if isinstance(event, e.Refused):
        found: tuple[Ruling, ...] = (event.ruling,)
    elif isinstance(event, e.PadWaived):
        how_long = "in this round" if event.is_for_round else "from now on"
        found = (
            ok("TABLE-12", f"The referee lets {event.device} take part {how_long}. {event.why}".strip()),
        )
    else:
        found = game.rule(sitting, event, after)
    if not found:
        return after
    part, name = game.part(sitting), type(event).__name__  # a fact that ends a round belongs to it
    seen = moment.evidence
    proven = (
        msgspec.structs.replace(r, evidence=tuple(dict.fromkeys((*r.evidence, *seen)))) if seen else r
        for r in found
    )
    shown = tuple(RulingShown(entry=moment.entry, event=name, part=part, ruling=r) for r in proven)
    return msgspec.structs.replace(after, rulings=sitting.rulings + shown)


def evolve_common(sitting: Sitting[S], event: e.Event, moment: Moment) -> Sitting[S]:
    """What a fact does to the part of the table that is common to all games."""
    replace = msgspec.structs.replace
    match event:
        case e.Started() | e.Stopped():
            if sitting.stopped_at_ns is not None:
                return sitting
            why = event.why if isinstance(event, e.Stopped) else "The program was started anew."
            return replace(sitting, stopped_at_ns=moment.at_ns, stop_why=why)
        case e.Resumed():
            if sitting.stopped_at_ns is None:
                return sitting
            stops = (*sitting.stops, (sitting.stopped_at_ns, moment.at_ns))
            return replace(sitting, stopped_at_ns=None, stops=stops, stop_why="")
        case e.ReviewOpened(why=why):
            return replace(sitting, held=sitting.game, review_why=why)
        case e.ReviewClosed():
            return replace(sitting, held=None, review_why="")
        case e.EvidenceReleased(entry=entry):
            return replace(sitting, released=(*sitting.released, entry))
        case e.AccommodationSet(seat=seat_id, accommodation=agreed):
            return _with_seat(sitting, seat_id, accommodation=agreed)
        case e.OptionChanged(option=option, value=value):
            return replace(sitting, options={**sitting.options, option: value})
        case e.PadProven(seat=seat_id):
            return replace(sitting, proven=(*sitting.proven, seat_id))
        case e.PadAssigned(seat=seat_id, device=device, input=input_):
            moved = replace(sitting, proven=tuple(s for s in sitting.proven if s != seat_id))
            return _with_seat(moved, seat_id, device=device, input=input_)
        case e.PadNoted(pad=pad):
            others = tuple(known for known in sitting.pads if known.device != pad.device)
            return replace(sitting, pads=(*others, pad))
        case e.PadWaived(device=device, is_for_round=is_for_round):
            return replace(sitting, waivers=(*sitting.waivers, PadWaiver(device, is_for_round)))
        case e.Joined(seat=seat):
            return replace(sitting, seats=(*sitting.seats, seat))
        case e.Left(seat=seat_id):
            return _with_seat(sitting, seat_id, left=True)
        case e.Proposed():
            made = Proposal(
                id=moment.entry,
                command=event.command,
                reading=event.reading,
                confidence=event.confidence,
                evidence=event.evidence,
            )
            return replace(sitting, proposals=(*sitting.proposals, made))
        case e.Confirmed(proposal=number) | e.Rejected(proposal=number):
            return replace(sitting, proposals=tuple(p for p in sitting.proposals if p.id != number))
        case _:
            return sitting


def _with_seat(sitting: Sitting[S], seat_id: str, **changes: object) -> Sitting[S]:
    seats = tuple(
        msgspec.structs.replace(seat, **changes) if seat.id == seat_id else seat for seat in sitting.seats
    )
    return msgspec.structs.replace(sitting, seats=seats)
