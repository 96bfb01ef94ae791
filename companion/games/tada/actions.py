"""What each viewer may do now: one primary action a phase, and all others."""

from __future__ import annotations

from collections.abc import Iterator

from companion.core.command import Command, SetAccommodation
from companion.core.fitness import barred, waive_actions
from companion.core.seat import Role, Viewer
from companion.core.view import Action, Choice, Field
from companion.games.tada import commands as c
from companion.games.tada.model import (
    Caster,
    SlamSeen,
    Table,
    deck_of,
    heat,
    hexes_now,
    is_turn_taken,
    is_win_open,
    may_end,
    must_choose,
    named_twice,
    racers,
    spell_of,
    waiting,
    was_called,
    would_win,
)
from companion.games.tada.rulebook import CALL_AGAIN_NS, SPELLS_TO_WIN


def may_accommodate(table: Table) -> bool:
    """Accommodations are agreed before the first draw."""
    return not table.game.has_begun


def _act(id_: str, command: Command, label: str, effect: str, **more: object) -> Action:
    return Action(id=id_, command=command, label=label, effect=effect, **more)  # type: ignore[arg-type]  # keyword bundle


def primary(table: Table, viewer: Viewer) -> Action | None:
    """The one thing to do next, for the referee, or for a seat that is asked for something."""
    state, name = table.game, table.name
    if viewer.role is Role.SEAT:
        return _seat_primary(table, viewer.seat)
    match state.phase:
        case "draw":
            return _act("deal", c.Deal(), "Deal", "Every hand is filled to two spells.")
        case "feat" if table.options["dealing"] == "table":
            return _named_feat(table, c.RevealFeat(), "feat", "Name the feat that was turned up")
        case "feat":
            return _act(
                "feat", c.RevealFeat(), "Turn up the feat", "The feat is read to all and binds everyone."
            )
        case "choose" if _is_all_chosen(table):
            return _act("reveal", c.Reveal(), "Reveal the spells", "All chosen spells are shown and named.")
        case "ready" | "cast" if (next_up := waiting(table)) and not is_turn_taken(table):
            if not all(k.is_ready for k in next_up):
                return _act("ready", c.ReadyAll(), "All dice are in the cups", "Everyone is ready for GO.")
            if barred(table, racers(table)):
                return None
            who = next_up[0] if table.options["in_turn"] else None
            label = f"GO for {name(who.seat)}" if who else "GO!"
            lead = table.options["countdown_s"]
            return _act("go", c.CallGo(caster=who.seat if who else ""), label,
                        f"Pads, pages and board show GO together in {lead} s.")  # fmt: skip
        case "cast" if may_end(table, table.play_ns(table.at_ns)):
            return _act("end", c.EndCast(), "Call the end", "Nobody casts any more; places are as shown.")
        case "cast" | "resolve" if pending := _first_pending(table):
            is_heard = _may_be_complete(table, pending)
            return _verify(table, pending, True) if is_heard else _called(table, pending)
        case "resolve" if heat(table)[0] or is_win_open(table):
            return next(_settle(table), None)
        case "resolve":
            return _act(
                "resolve", c.Resolve(), "Score the round", "Places become points; other spells are discarded."
            )
        case _:
            return None


def _seat_primary(table: Table, seat: str) -> Action | None:
    state = table.game
    caster = state.casters.get(seat)
    if state.phase in ("ready", "cast") and caster in waiting(table) and not caster.is_ready:
        return _act("ready", c.Ready(seat=seat), "My dice are in the cup", "You are ready for GO.")
    if state.phase == "cast" and caster and caster.is_casting and caster.has_started:
        return _act(
            "slam", c.Slam(seat=seat), "TA-DA! Slam", "Your slam is stamped now (for seats without a pad)."
        )
    return None


def _is_all_chosen(table: Table) -> bool:
    chosen = table.game.chosen
    return bool(chosen) and all(seat in chosen for seat in must_choose(table)) and not named_twice(table)


def _first_pending(table: Table) -> Caster | None:
    """Whose claim is looked at next; nobody's where people entered the order."""
    claims = [k for k in table.game.casters.values() if k.pending and table.game.by_hand is None]
    return min(claims, key=lambda k: k.pending.play_ns if k.pending else 0, default=None)


def _open_slam(caster: Caster) -> SlamSeen | None:
    """The slam to be looked at: the claim, else the newest bump."""
    bumps = (s for s in reversed(caster.slams) if s.complete is None)
    return caster.pending or next(bumps, None)


def _may_be_complete(table: Table, caster: Caster) -> bool:
    slam = _open_slam(caster)
    return slam is not None and _was_heard(table, caster, slam)


def _was_heard(table: Table, caster: Caster, slam: SlamSeen) -> bool:
    """Whether the call that the house asks for was made."""
    return not table.options["call_required"] or was_called(caster, slam)


def _called(table: Table, caster: Caster) -> Action:
    return _act(
        f"call-{caster.seat}", c.CallTaDa(seat=caster.seat), f"{table.name(caster.seat)} called TA-DA!",
        "The call is noted.", zone=f"seat-{caster.seat}",
    )  # fmt: skip


def _verify(table: Table, caster: Caster, complete: bool, slam: SlamSeen | None = None) -> Action:
    """Look at this slam, or the one that is to be looked at next."""
    slam = slam or _open_slam(caster) or caster.slams[-1]
    spell = spell_of(table, caster.seat)
    wanted = ", ".join(spell.symbols) if spell else ""
    who, after_s = table.name(caster.seat), (slam.play_ns - (caster.go_ns or 0)) / 1e9
    found = "every symbol lies right" if complete else "something is missing or wrong"
    effect = f"The slam {after_s:.1f} s after GO: {found} ({wanted})."
    which = f", slam at {after_s:.1f} s" if sum(s.complete is None for s in caster.slams) > 1 else ""
    return _act(
        f"verify-{caster.seat}-{slam.n}-{'yes' if complete else 'no'}",
        c.VerifySlam(seat=caster.seat, slam=slam.n, complete=complete),
        f"{who}: {'complete' if complete else 'not complete'}{which}",
        effect,
        zone=f"seat-{caster.seat}",
        is_grave=not complete,
    )


def actions(table: Table, viewer: Viewer) -> tuple[Action, ...]:
    """Everything that this viewer may do now, the primary included."""
    main = primary(table, viewer)
    others = _seat_actions(table, viewer.seat) if viewer.role is Role.SEAT else _referee_actions(table)
    return tuple({action.id: action for action in ((main,) if main else ()) + tuple(others)}.values())


def _seat_actions(table: Table, seat: str) -> Iterator[Action]:
    state = table.game
    yield from _choices(table, seat)
    if state.aiming and state.aiming[0] == seat:
        yield _aim(table, seat)
    caster = state.casters.get(seat)
    if caster and caster.is_casting and caster.has_started and state.phase == "cast":
        yield from _locks(table, caster)
        yield _act("give-up", c.GiveUp(seat=seat), "Give this spell up", "You stop casting.", is_grave=True)


def _choices(table: Table, seat: str) -> Iterator[Action]:
    if table.game.phase != "choose" or seat not in must_choose(table):
        return
    deck, state = deck_of(table).spells(), table.game
    zone = f"seat-{seat}"
    if table.options["dealing"] == "table":
        gone = {s for cards in state.scored.values() for s in cards}
        left = tuple(Choice(value=s.id, label=s.name) for s in deck.values() if s.id not in gone)
        field = Field(name="spell", label="Spell", kind="choice", choices=left)
        yield _act(f"choose-{seat}", c.ChooseSpell(seat=seat, spell=""), "Name the chosen spell",
                   "That card is cast this round.", fields=(field,), zone=zone)  # fmt: skip
        return
    for card in state.hands.get(seat, ()):
        if card in deck:
            spell = deck[card]
            yield _act(f"choose-{seat}-{card}", c.ChooseSpell(seat=seat, spell=card),
                       f"{table.name(seat)}: {spell.name}", f"Cast {', '.join(spell.symbols)} this round.",
                       zone=zone)  # fmt: skip


def _aim(table: Table, seat: str) -> Action:
    others = tuple(Choice(value=s.id, label=s.name) for s in table.playing() if s.id != seat)
    field = Field(name="target", label="Who suffers it", kind="choice",
                  choices=(*others, Choice(value="", label="nobody")))  # fmt: skip
    spell = spell_of(table, seat)
    return _act(f"aim-{seat}", c.ChooseTarget(seat=seat), f"{table.name(seat)} aims the effect",
                spell.effect if spell else "", fields=(field,), zone=f"seat-{seat}")  # fmt: skip


def _locks(table: Table, caster: Caster) -> Iterator[Action]:
    spell, zone = spell_of(table, caster.seat), f"seat-{caster.seat}"
    if spell is None or (caster.rolls and caster.locked >= caster.rolls):
        return
    for slot, symbol in enumerate(spell.symbols):
        if caster.locks[slot] is None:
            yield _act(f"lock-{caster.seat}-{slot}", c.LockDie(seat=caster.seat, slot=slot, symbol=symbol),
                       f"{table.name(caster.seat)} locks {symbol}", f"A die lies on place {slot + 1}.",
                       zone=zone)  # fmt: skip


def _referee_actions(table: Table) -> Iterator[Action]:
    state, name = table.game, table.name
    phase = state.phase
    if not state.has_begun:
        for seat in table.playing():
            yield _agree(seat.id, seat.name)
    yield from waive_actions(table, racers(table))
    if phase == "feat" and table.options["dealing"] == "companion":
        yield _named_feat(table, c.RevealFeat(), "feat-named", "Name the feat that was turned up")
    if phase == "choose":
        for seat_id in must_choose(table):
            yield from _choices(table, seat_id)
        if table.options["replace_feat"] and not state.chosen:
            if table.options["dealing"] == "table":
                yield _named_feat(table, c.ReplaceFeat(), "replace-feat", "Replace the feat by the next card")
            else:
                yield _act(
                    "replace-feat", c.ReplaceFeat(), "Replace the feat", "The next feat card takes its place."
                )
    if phase in ("feat", "choose"):
        spells = deck_of(table).spells()
        for seat in table.playing():
            for h in hexes_now(table, seat.id):
                yield _act(f"waive-{seat.id}-{h.spell}", c.WaiveEffect(seat=seat.id, spell=h.spell),
                           f"Waive {spells[h.spell].name} for {seat.name}", "It need not be done this round.",
                           zone=f"seat-{seat.id}")  # fmt: skip
    if phase in ("ready", "countdown", "cast", "resolve"):
        yield _act("void-round", c.VoidRound(), "Void the round", "It is cast anew with the same hands and feat.",
                   is_grave=True)  # fmt: skip
    if phase in ("ready", "cast"):
        for caster in waiting(table):
            if not caster.is_ready:
                yield _act(f"ready-{caster.seat}", c.Ready(seat=caster.seat), f"{name(caster.seat)} is ready",
                           "Dice are in the cup.", zone=f"seat-{caster.seat}")  # fmt: skip
    if phase in ("ready", "countdown", "cast"):
        for caster in state.casters.values():
            if caster.is_casting:
                yield _act(f"slam-{caster.seat}", c.Slam(seat=caster.seat), f"{name(caster.seat)} slams",
                           "Stamped now, with a person's reaction as uncertainty.",
                           zone=f"seat-{caster.seat}")  # fmt: skip
    if phase in ("cast", "resolve"):
        for caster in state.casters.values():
            yield from _caster_actions(table, caster)
        yield from _endings(table)
    if state.aiming:
        yield _aim(table, state.aiming[0])


def _agree(seat: str, who: str) -> Action:
    factor = Field(name="time_factor", label="Time counts divided by", kind="number", value=1)
    shift = Field(name="start_shift_ms", label="GO later by (ms)", kind="number", value=0)
    proxy = Field(name="proxy", label="Who slams instead", kind="text", is_required=False)
    return _act(f"agree-{seat}", SetAccommodation(seat=seat),
                f"Accommodation for {who}", "Agreed before play; results show raw and adjusted times.",
                fields=(factor, shift, proxy), zone=f"seat-{seat}")  # fmt: skip


def _named_feat(table: Table, command: Command, id_: str, label: str) -> Action:
    feats = deck_of(table).feat
    choices = tuple(Choice(value=f.id, label=f.name) for f in feats if f.id != table.game.feat)
    return _act(id_, command, label, "That feat binds everyone.",
                fields=(Field(name="feat", label="Feat", kind="choice", choices=choices),))  # fmt: skip


def _caster_actions(table: Table, caster: Caster) -> Iterator[Action]:
    seat, who, zone = caster.seat, table.name(caster.seat), f"seat-{caster.seat}"
    is_cast = table.game.phase == "cast"
    if not caster.out and _open_slam(caster) is not None:
        for slam in caster.slams:
            if slam.complete is None and _was_heard(table, caster, slam):
                yield _verify(table, caster, True, slam)
        yield _verify(table, caster, False)
    elif caster.out == "TADA-15" and caster.slams and _was_heard(table, caster, caster.slams[-1]):
        yield _verify(table, caster, True)
    elif caster.finish is not None:
        slam = caster.finish
        yield _act(f"strike-{seat}", c.VerifySlam(seat=seat, slam=slam.n, complete=False),
                   f"{who}: symbols are wrong after all", "The success is struck out.", zone=zone,
                   is_grave=True)  # fmt: skip
    if not caster.out:
        kinds = ("feat", "effect") if caster.is_casting else ("feat", "effect", "lock")
        field = Field(name="of", label="What was not kept", kind="choice",
                      choices=tuple(Choice(value=v, label=v) for v in kinds))  # fmt: skip
        yield _act(f"breach-{seat}", c.FlagBreach(seat=seat), f"{who} broke a rule of the cast",
                   "Feat or effect: the spell fails. A wrong lock: the slam is void.",
                   fields=(field,), zone=zone, is_grave=True)  # fmt: skip
    if is_cast and caster.is_casting and caster.has_started:
        yield from _locks(table, caster)
        for slot, lock in enumerate(caster.locks):
            if lock is not None:
                yield _act(f"return-{seat}-{slot}", c.ReturnDie(seat=seat, slot=slot),
                           f"{who}: {lock} goes back", "A wrong or second lock is put right.", zone=zone)  # fmt: skip
        yield _act(f"roll-{seat}", c.RecordRoll(seat=seat, symbols=()), f"{who} rolls",
                   "The roll is counted; its symbols are not noted.", zone=zone)  # fmt: skip
        yield _act(f"give-up-{seat}", c.GiveUp(seat=seat), f"{who} gives up", "The seat stops casting.",
                   zone=zone, is_grave=True)  # fmt: skip
    since_ns = table.play_ns(table.at_ns) - (caster.called_ns or 0)
    is_new = caster.called_ns is None or since_ns >= CALL_AGAIN_NS
    if caster.has_started and not caster.out and not caster.kept and not caster.finish and is_new:
        yield _called(table, caster)


def _endings(table: Table) -> Iterator[Action]:
    state = table.game
    if state.clock is not None:
        yield _act("extend", c.ExtendClock(by_s=30), "30 s more", "The round clock is extended.")
    if state.phase == "cast" and may_end(table, table.play_ns(table.at_ns)):
        yield _act("end", c.EndCast(), "Call the end", "Nobody casts any more; places are as shown.")
    racers = tuple(
        Choice(value=k.seat, label=table.name(k.seat))
        for k in state.casters.values()
        if not k.out and not k.kept
    )
    if racers:
        yield _act("order", c.EnterOrder(order=()), "Enter the finishing order", "People saw who came when.",
                   fields=(Field(name="order", label="Who finished, in order", kind="order", choices=racers),),
                   is_grave=True)  # fmt: skip
    if state.phase == "resolve":
        yield from _settle(table)


def _settle(table: Table) -> Iterator[Action]:
    among, room = heat(table)
    if among:
        yield _heat(table, "place", among, f"{room} of these succeed{'s' if room == 1 else ''}: name who.")
    if is_win_open(table):
        yield _heat(table, "win", would_win(table), f"Who wins with {SPELLS_TO_WIN} spells, one or several.")


def _heat(table: Table, of: str, among: tuple[str, ...], effect: str) -> Action:
    choices = tuple(Choice(value=s, label=table.name(s)) for s in among)
    return _act(f"settle-{of}", c.SettleHeat(of=of, winners=()), "Settle the dead heat", effect,
                fields=(Field(name="winners", label="Who succeeds", kind="many", choices=choices),))  # fmt: skip
