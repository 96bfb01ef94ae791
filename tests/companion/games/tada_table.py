"""A table of Ta-Da! that is driven by a few words at given milliseconds, without clock, disk or thread.

Times are milliseconds after `zero_ns`, which is the last GO once there was one. Every order makes a real
journal entry, so that corrections and codecs see what a running table would give them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import msgspec

from companion.core import event as e
from companion.core import game as core
from companion.core import history
from companion.core.clock import MS, Stamp
from companion.core.command import Command, Order
from companion.core.cue import Cue
from companion.core.observation import DiceRested, DieSeen, Observation, Pressed
from companion.core.ruling import Ruling
from companion.core.seat import PUBLIC, REFEREE, Actor, Role, Viewer, seat_at
from companion.core.show import show
from companion.core.view import Action, View
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.deck import read
from companion.games.tada.model import Placing, Tada, out_at, placings, spell_of, successes

RIA = Actor(Role.REFEREE, name="Ria")
CLOCK = Actor(Role.CLOCK)
PAD = Actor(Role.SENSOR, name="pad")
NAMES = ("Ann", "Ben", "Cid", "Dot", "Eve", "Fay")
ZERO_NS = 1_000_000 * MS
HOUSE = (resources.files("companion.games.tada") / "data" / "house.toml").read_text(encoding="utf-8")


def small_deck(spells: int, feats: int) -> str:
    """A deck of so many of the house deck's cards."""
    deck = read(HOUSE)
    cards = [
        f'[[spell]]\nid = "{s.id}"\nname = "{s.name}"\nsymbols = {list(s.symbols)}\neffect = {s.effect!r}\n'
        for s in deck.spell[:spells]
    ]
    cards += [f'[[feat]]\nid = "{f.id}"\nname = "{f.name}"\ntext = {f.text!r}\n' for f in deck.feat[:feats]]
    return 'name = "Small"\nsource = "tests"\nsure = "ours"\n' + "\n".join(cards)


def seat(number_or_id: int | str) -> str:
    """The id of a seat given by number or id."""
    return number_or_id if isinstance(number_or_id, str) else f"s{number_or_id}"


class TadaTable:
    """One table. `n` players with a pad each on one box (input = seat number), unless `pads` is off."""

    def __init__(
        self, n: int = 3, *, seed: int = 7, deck: str = HOUSE, pads: bool = True, **options: Any
    ) -> None:
        seats = tuple(
            seat_at(i, NAMES[i - 1], "box" if pads else "", i if pads else 0) for i in range(1, n + 1)
        )
        opened = e.Opened(game="tada", table="T1", seats=seats, options=options, seed=seed, data=deck)
        self.zero_ns = ZERO_NS
        first = e.Entry(n=1, at_ns=ZERO_NS, wall_ms=0, actor=RIA, key="open", command=None, events=(opened,))
        self.entries: list[e.Entry] = [first]
        self.sitting = history.opening(GAME, first)
        self.trace = GAME.trace()
        self.fired: set[tuple[int, bytes]] = set()
        self.cues: list[Cue] = []
        self.frame = 0
        self.presses = 0

    # Time

    @property
    def game(self) -> Tada:
        """The game's own state."""
        return self.sitting.game

    @property
    def now_ms(self) -> float:
        """Table time, in milliseconds after zero."""
        return (self.entries[-1].at_ns - self.zero_ns) / MS

    def ns(self, ms: float) -> int:
        """Host time of a moment given in milliseconds after zero."""
        return self.zero_ns + round(ms * MS)

    # Orders

    def order(self, command: Command, ms: float | None = None, actor: Actor = RIA,
              seen: tuple[Observation, ...] = ()) -> tuple[e.Event, ...]:  # fmt: skip
        """Whatever becomes of an order; deadlines that are due before it come first."""
        at_ns = self.entries[-1].at_ns if ms is None else max(self.entries[-1].at_ns, self.ns(ms))
        self._let_time_pass(at_ns)
        return self._take(command, at_ns, actor, seen)

    def do(self, command: Command, ms: float | None = None, actor: Actor = RIA) -> tuple[e.Event, ...]:
        """An order that must be accepted; the facts it made."""
        facts = self.order(command, ms, actor)
        assert core.refusal(facts) is None, f"{command}: {core.refusal(facts)}"
        return facts

    def no(self, command: Command, rule: str, ms: float | None = None, actor: Actor = RIA) -> Ruling:
        """An order that must be refused by this rule, and the game untouched by it."""
        before = None
        if ms is not None:
            self.pass_time(ms)
        before = self.game
        found = core.refusal(self.order(command, None, actor))
        assert found is not None, f"{command} was accepted"
        assert found.rule == rule, found
        assert self.game == before
        return found

    def by(self, who: int | str) -> Actor:
        """A seat's own page."""
        return Actor(Role.SEAT, seat=seat(who))

    def pass_time(self, ms: float) -> None:
        """Let the clock do what is due up to this moment."""
        self._let_time_pass(self.ns(ms))

    def _let_time_pass(self, until_ns: int) -> None:
        while self.sitting.stopped_at_ns is None:
            due = sorted(
                ((self.sitting.host_ns(play), command) for play, command in GAME.deadlines(self.sitting)),
                key=lambda pair: pair[0],
            )
            ready = [
                (at, command) for at, command in due
                if at <= until_ns and (at, msgspec.json.encode(command)) not in self.fired
            ]  # fmt: skip
            if not ready:
                return
            at_ns, command = ready[0]
            self.fired.add((at_ns, msgspec.json.encode(command)))
            facts = self._take(command, max(at_ns, self.entries[-1].at_ns), CLOCK, ())
            assert core.refusal(facts) is None, f"the clock was refused: {core.refusal(facts)}"

    def _take(
        self, command: Command, at_ns: int, actor: Actor, seen: tuple[Observation, ...]
    ) -> tuple[e.Event, ...]:
        number = len(self.entries) + 1
        order = Order(command=command, actor=actor, at_ns=at_ns, key=f"k{number}", seen=seen)
        if command.is_correction:
            facts = history.correct(GAME, self.entries, order)
        else:
            facts = core.decide(GAME, self.sitting, order)
        entry = e.Entry(n=number, at_ns=at_ns, wall_ms=0, actor=actor, key=order.key, command=command,
                        events=facts, seen=seen)  # fmt: skip
        self.entries.append(entry)
        if history.correction_of(entry) is None:
            for event in facts:
                before = self.sitting
                self.sitting = core.evolve(GAME, before, event, core.Moment(entry=number, at_ns=at_ns))
                self.cues += GAME.cues(before, event, self.sitting)
        else:
            self.sitting = history.effective(GAME, self.entries)[1]
        return facts

    # Observations

    def see(self, *observations: Observation) -> list[tuple[Command, Ruling | None]]:
        """What the table understands from observations, carried out: commands and why they were refused."""
        found: list[tuple[Command, Ruling | None]] = []
        for seen in observations:
            at_ns = max(seen.seen_ns, self.entries[-1].at_ns)
            self._let_time_pass(at_ns)
            self.trace, commands = GAME.interpret(self.trace, self.sitting, seen)
            for command in commands:
                facts = self._take(command, at_ns, Actor(Role.SENSOR, name=seen.source), (seen,))
                found.append((command, core.refusal(facts)))
        return found

    def press(self, who: int, ms: float, u_ms: float = 0.5, own_us: int = 200, **more: Any) -> Pressed:
        """The pad of a seat, all on one box of one boot."""
        self.presses += 1
        return Pressed(source="box", seen_ns=self.ns(ms), uncertainty_ns=round(u_ms * MS),
                       own_u_ns=own_us * 1000, input=who, boot=1, n=self.presses, **more)  # fmt: skip

    def rest(self, ms: float, *dice: DieSeen) -> DiceRested:
        """The camera sees these dice lie still."""
        self.frame += 1
        return DiceRested(
            source="cam", seen_ns=self.ns(ms), uncertainty_ns=50 * MS, frame=self.frame, dice=dice
        )

    # The steps of a round

    def deal_to_choice(self) -> TadaTable:
        """Draw and turn up the feat."""
        self.do(c.Deal())
        self.do(c.RevealFeat())
        return self

    def to_ready(self, **spells: str) -> TadaTable:
        """Draw, feat, each seat's first card (or the one named by its seat), reveal."""
        if self.game.phase == "draw":
            self.deal_to_choice()
        for who, hand in self.game.hands.items():
            spell = spells.get(who, hand[0] if hand else "")
            if spell:
                self.do(c.ChooseSpell(seat=who, spell=spell))
        self.do(c.Reveal())
        return self

    def to_named(self, **spells: str) -> TadaTable:
        """Up to the reveal of these spells, where the cards lie on the table (`dealing="table"`)."""
        self.deal_to_choice()
        for who, spell in spells.items():
            self.do(c.ChooseSpell(seat=who, spell=spell))
        self.do(c.Reveal())
        return self

    def go(self, caster: int | str = "") -> TadaTable:
        """All are ready, GO is called a second from now, comes after the countdown and is the new zero."""
        self.do(c.ReadyAll()) if any(not k_.is_ready for k_ in self._waiting()) else None
        self.do(c.CallGo(caster=seat(caster) if caster else ""), self.now_ms + 1000)
        starts = [
            k_.go_ns for k_ in self.game.casters.values() if k_.go_ns is not None and not k_.has_started
        ]
        last = max(starts)
        self.pass_time((self.sitting.host_ns(last) - self.zero_ns) / MS)
        set_ = next(
            ev for entry in reversed(self.entries) for ev in entry.events if type(ev).__name__ == "GoSet"
        )
        self.zero_ns = set_.at_ns
        return self

    def _waiting(self) -> list[Any]:
        return [k_ for k_ in self.game.casters.values() if k_.go_ns is None and not k_.out and not k_.kept]

    def to_cast(self, **spells: str) -> TadaTable:
        """A whole round up to GO, which is the new zero."""
        return self.to_ready(**spells).go()

    def symbols(self, who: int | str) -> tuple[str, ...]:
        """What the spell of a caster asks for."""
        spell = spell_of(self.sitting, seat(who))
        assert spell is not None
        return spell.symbols

    def lock(
        self, who: int, slot: int, ms: float | None = None, symbol: str = "", actor: Actor = RIA
    ) -> None:
        """A right die on a slot (or this symbol)."""
        self.do(c.LockDie(seat=seat(who), slot=slot, symbol=symbol or self.symbols(who)[slot]), ms, actor)

    def lock_all(self, who: int, ms: float | None = None) -> None:
        """All open slots of a seat's spell."""
        for slot, lies in enumerate(self.game.casters[seat(who)].locks):
            if lies is None:
                self.lock(who, slot, ms)

    def slam(self, who: int, ms: float, u_ms: float = 1.0, *, clock: str = "", own_ms: float = 0.0,
             heard_ms: float | None = None, call: bool = True) -> int:  # fmt: skip
        """A pad slams at `ms`, heard at `heard_ms`, with the call unless told; the number of its entry."""
        at = ms if heard_ms is None else heard_ms
        if call and self.game.phase == "cast" and self.game.casters[seat(who)].is_casting:
            self.order(c.CallTaDa(seat=seat(who)), at)
        stamp = Stamp(at_ns=self.ns(ms), u_ns=round(u_ms * MS), clock=clock, own_u_ns=round(own_ms * MS))
        self.order(c.Slam(seat=seat(who), stamp=stamp), at, PAD)
        return self.entries[-1].n

    def verify(self, who: int, complete: bool = True, ms: float | None = None) -> None:
        """Look at the newest slam of a seat that waits, else at the one that counts."""
        caster = self.game.casters[seat(who)]
        slam = next((s for s in reversed(caster.slams) if s.complete is None), None) or caster.finish
        assert slam is not None
        self.do(c.VerifySlam(seat=seat(who), slam=slam.n, complete=complete), ms)

    def finish(self, who: int, ms: float, u_ms: float = 1.0, **more: Any) -> None:
        """A slam that is verified at once."""
        self.slam(who, ms, u_ms, **more)
        self.verify(who)

    def end(self) -> TadaTable:
        """Call the end as soon as it may be called."""
        instants = [out_at(self.sitting, k_) for k_ in self.game.casters.values() if k_.is_casting]
        late = [self.sitting.host_ns(i) for i in instants if i is not None]
        self.do(c.EndCast(), max([self.now_ms, *((i - self.zero_ns) / MS for i in late)]))
        return self

    def resolve(self, *targets: str) -> TadaTable:
        """Score the round; effects are aimed at `targets` in turn, then at nobody."""
        self.do(c.Resolve())
        aims = list(targets)
        while self.game.aiming:
            self.do(c.ChooseTarget(seat=self.game.aiming[0], target=aims.pop(0) if aims else ""))
        return self

    def round_won_by(self, *groups: int | Sequence[int]) -> TadaTable:
        """A whole round whose finishing order people enter by hand; a group in one place is a tie."""
        self.to_cast()
        order = tuple((seat(g),) if isinstance(g, int) else tuple(map(seat, g)) for g in groups)
        self.do(c.EnterOrder(order=order), self.now_ms + 1)
        return self.resolve()

    def score(self, **spells: int) -> TadaTable:
        """Rounds of one winner each until every seat has so many spells, e.g. `score(s1=5, s2=5)`."""
        for who, count in spells.items():
            while len(self.game.scored[who]) < count:
                self.round_won_by(int(who[1:]))
        return self

    # What can be read

    def rulings(self, rule: str = "") -> list[Ruling]:
        """All rulings so far, or those under one rule."""
        return [r.ruling for r in self.sitting.rulings if rule in ("", r.ruling.rule)]

    def last(self, rule: str) -> Ruling:
        """The newest ruling under a rule."""
        found = self.rulings(rule)
        assert found, f"no ruling under {rule}"
        return found[-1]

    def placings(self) -> dict[str, Placing]:
        """Who has which place, as things stand."""
        return {row.seat: row for row in placings(self.sitting)}

    def places(self) -> dict[str, int]:
        """The place of every finisher, 0 for none."""
        return {row.seat: row.place for row in placings(self.sitting)}

    def won(self) -> tuple[str, ...]:
        """Who succeeds in this round as things stand."""
        return successes(self.sitting)

    def view(self, who: int | str = "referee") -> View:
        """What a seat, the `referee` or the `public` is shown."""
        viewer = {"referee": REFEREE, "public": PUBLIC}.get(str(who)) or Viewer(Role.SEAT, seat(who))
        return show(GAME, self.sitting, viewer)

    def action(self, id_: str, who: int | str = "referee") -> Action | None:
        """A listed action by its id."""
        view = self.view(who)
        listed = (view.primary, *view.actions) if view.primary else view.actions
        return next((a for a in listed if a and a.id == id_), None)

    def answer(self, who: int, id_: str) -> str:
        """The answer that a seat has ready for a question."""
        return next(a.text for a in self.view(who).answers if a.id == id_)

    def refold(self) -> core.Sitting[Tada]:
        """The table as its journal makes it."""
        return history.effective(GAME, self.entries)[1]

    def orphans(self, command: Command) -> tuple[int, ...]:
        """The entries that a correction would leave without effect."""
        order = Order(command=command, actor=RIA, at_ns=self.entries[-1].at_ns, key="preview")
        return history.orphans(GAME, self.entries, order)

    def correct(self, make: Callable[[tuple[int, ...]], Command]) -> tuple[int, ...]:
        """A correction as a referee gives it: preview, then with the orphans named."""
        found = self.orphans(make(()))
        self.do(make(found))
        return found
