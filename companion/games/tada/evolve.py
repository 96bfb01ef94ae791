"""What each fact does to the game. Pure and total."""

from __future__ import annotations

from typing import Any

import msgspec

from companion.core import chance
from companion.core.event import Event, Joined, Left, Opened, Started, Stopped
from companion.core.game import Moment
from companion.core.timer import Timer
from companion.games.tada import events as e
from companion.games.tada.deck import read
from companion.games.tada.model import (
    Caster,
    Hex,
    SlamSeen,
    Table,
    Tada,
    deck_of,
    placings,
    successes,
    would_win,
)
from companion.games.tada.rulebook import CALL_WINDOW_NS

replace = msgspec.structs.replace


def open_game(opened: Opened) -> Tada:
    """The game before its first draw: both decks shuffled. Rule: TADA-7"""
    deck = read(opened.data)
    return Tada(
        phase="draw",
        part=1,
        deck=chance.shuffled(opened.seed, "spells/0", [spell.id for spell in deck.spell]),
        discard=(),
        feats=chance.shuffled(opened.seed, "feats/0", [feat.id for feat in deck.feat]),
        scored={seat.id: () for seat in opened.seats},
    )


def evolve(table: Table, event: Event, moment: Moment) -> Tada:
    """The game after one fact; `table` has the common part evolved already."""
    state = table.game
    match event:
        case e.HandsDealt():
            hands = {
                seat: state.hands.get(seat, ()) + event.drawn.get(seat, ())
                for seat in {**state.hands, **event.drawn}
            }
            return replace(state, phase="feat", hands=hands, deck=event.deck, discard=event.discard,
                           has_begun=True)  # fmt: skip
        case e.FeatRevealed():
            return replace(state, phase="choose", feat=event.feat, feats=event.feats,
                           feat_discard=event.feat_discard)  # fmt: skip
        case e.EffectWaived(seat=seat, spell=spell):
            waived = tuple(
                replace(h, is_waived=True) if (h.target, h.spell, h.part) == (seat, spell, state.part) else h
                for h in state.hexes
            )
            return replace(state, hexes=waived)
        case e.SpellChosen(seat=seat, spell=spell):
            return replace(state, chosen={**state.chosen, seat: spell})
        case e.SpellsRevealed():
            return _revealed(table, state)
        case e.RoundVoided():
            return replace(_cleared(state), phase="choose", feat=state.feat)
        case e.RoundResolved():
            return _resolved(table, state)
        case e.EffectAimed(seat=seat, target=target):
            return _aimed(state, seat, target)
        case Joined(seat=joined):
            return replace(state, scored={**state.scored, joined.id: ()})
        case Left(seat=seat):
            return _left(table, state, seat)
        case _:
            return _cast(table, state, event, moment)


def _cast(table: Table, state: Tada, event: Event, moment: Moment) -> Tada:
    """The facts of the cast itself."""
    match event:
        case e.CasterReady(seats=seats):
            return _each(state, seats, is_ready=True)
        case e.GoSet(at_ns=at_ns, seats=seats):
            return _go_set(table, state, at_ns, seats)
        case e.GoGiven(seats=seats):
            limit = int(table.options["round_clock_s"]) * 1_000_000_000
            factors = [s.accommodation.time_factor for s in table.seats if s.id in state.casters]
            clock = Timer(
                from_play_ns=table.play_ns(moment.at_ns), length_ns=round(limit * max([1.0, *factors]))
            )
            return replace(
                _each(state, seats, has_started=True), phase="cast", clock=clock if limit else None
            )
        case e.RollSeen(seat=seat, symbols=symbols) if seat in state.casters:
            return _each(state, (seat,), rolls=state.casters[seat].rolls + 1, last_roll=symbols)
        case e.DieLocked(seat=seat, slot=slot, symbol=symbol):
            return _lock(state, seat, slot, symbol)
        case e.DieReturned(seat=seat, slot=slot):
            return _lock(state, seat, slot, None)
        case e.TaDaCalled(seat=seat):
            return _called(state, seat, table.play_ns(moment.at_ns))
        case e.Slammed(seat=seat) if seat in state.casters:
            return _slammed(table, state, event, moment)
        case e.SlamVerified() if event.seat in state.casters:
            return _verified(table, state, event)
        case e.ProtestNoted(stamp=stamp):
            seen = SlamSeen(n=moment.entry, stamp=stamp, play_ns=table.play_ns(stamp.at_ns), is_claim=True)
            protested = replace(state, protests=(*state.protests, seen))
            caster = state.casters.get(event.seat)
            return protested if caster is None else _each(
                protested, (event.seat,), slams=(*caster.slams, seen)
            )  # fmt: skip
        case e.BreachFound(seat=seat):
            return _struck(table, state, seat)
        case e.GaveUp(seat=seat):
            return _each(state, (seat,), out="TADA-19")
        case e.ClockExtended(by_s=by_s) if state.clock is not None:
            return replace(state, clock=state.clock.extended(by_s * 1_000_000_000))
        case e.RuledOut(seats=seats):
            return _each(state, seats, is_ruled_out=True)
        case e.CastEnded():
            return replace(state, phase="resolve", ended_ns=table.play_ns(moment.at_ns), clock=None)
        case e.HeatSettled(of=of, winners=winners):
            return replace(state, settled={**state.settled, of: winners})
        case e.OrderEntered(order=order):
            ended = state.ended_ns if state.ended_ns is not None else table.play_ns(moment.at_ns)
            return replace(state, by_hand=order, phase="resolve", ended_ns=ended, clock=None)
        case Stopped() | Started():
            return state
        case _:
            return state


def _each(state: Tada, seats: tuple[str, ...], **changes: Any) -> Tada:
    casters = {
        seat: replace(caster, **changes) if seat in seats else caster
        for seat, caster in state.casters.items()
    }
    return replace(state, casters=casters)


def _cleared(state: Tada) -> Tada:
    """The state with nothing of the running round in it."""
    return replace(
        state, feat="", chosen={}, casters={}, players=0, ended_ns=None, clock=None, settled={}, by_hand=None,
        protests=(), aiming=(),
    )  # fmt: skip


def _revealed(table: Table, state: Tada) -> Tada:
    spells = deck_of(table).spells()
    casters = {
        seat: Caster(seat=seat, spell=spell, locks=(None,) * len(spells[spell].symbols))
        for seat, spell in sorted(state.chosen.items())
        if spell in spells
    }
    return replace(state, phase="ready", casters=casters)


def _go_set(table: Table, state: Tada, at_ns: int, seats: tuple[str, ...]) -> Tada:
    players = state.players or len(state.casters)
    state = replace(state, players=players, phase="cast" if state.phase == "cast" else "countdown")
    for seat in table.seats:
        if seat.id in seats:
            shift = seat.accommodation.start_shift_ms * 1_000_000
            state = _each(state, (seat.id,), go_ns=table.play_ns(at_ns) + shift)
    return state


def _lock(state: Tada, seat: str, slot: int, symbol: str | None) -> Tada:
    caster = state.casters.get(seat)
    if caster is None or not 0 <= slot < len(caster.locks):
        return state
    return _each(state, (seat,), locks=(*caster.locks[:slot], symbol, *caster.locks[slot + 1 :]))


def _called(state: Tada, seat: str, now: int) -> Tada:
    caster = state.casters.get(seat)
    if caster is None:
        return state
    slams = list(caster.slams)
    if slams and slams[-1].complete is None and now - slams[-1].play_ns <= CALL_WINDOW_NS:
        slams[-1] = replace(slams[-1], is_claim=True)
    return _each(state, (seat,), called_ns=now, slams=tuple(slams))


def _slammed(table: Table, state: Tada, event: e.Slammed, moment: Moment) -> Tada:
    """A slam is a claim with the call, with all symbols locked, or where locks are not tracked.

    Rule: TADA-15
    """
    caster = state.casters[event.seat]
    play_ns = table.play_ns(event.stamp.at_ns)
    called = caster.called_ns is not None and abs(play_ns - caster.called_ns) <= CALL_WINDOW_NS
    is_claim = called or caster.is_complete or table.options["locks"] == "untracked"
    seen = SlamSeen(n=moment.entry, stamp=event.stamp, play_ns=play_ns, is_claim=is_claim)
    return _each(state, (event.seat,), slams=(*caster.slams, seen))


def _verified(table: Table, state: Tada, event: e.SlamVerified) -> Tada:
    caster = state.casters[event.seat]
    slams = tuple(
        replace(slam, complete=event.complete, symbols=event.symbols, is_claim=True)
        if slam.n == event.slam
        else slam
        for slam in caster.slams
    )
    fails = not event.complete and table.options["void_slam"] == "fails"
    was_struck = caster.finish is not None and not event.complete and state.phase == "resolve"
    out = "TADA-15" if fails else ""
    if was_struck and table.options["late_strike"] == "recast":
        return _struck(table, _each(state, (event.seat,), slams=slams), event.seat)
    return _each(state, (event.seat,), slams=slams, out=out)


def _struck(table: Table, state: Tada, seat: str) -> Tada:
    """The seat is out; a success struck out after the end is cast for again where the house says so.

    Rule: TADA-9 TADA-25
    """
    before = replace(table, game=state)
    had_place = state.phase == "resolve" and seat in successes(before)
    after = _each(state, (seat,), out="TADA-9", kept=0)
    if not had_place or table.options["late_strike"] != "recast":
        return after
    rank = {row.seat: row.place for row in placings(before) if row.place and row.seat != seat}
    again: dict[str, Caster] = {}
    for k in after.casters.values():
        fresh = Caster(seat=k.seat, spell=k.spell, locks=(None,) * len(k.locks))
        again[k.seat] = replace(k, kept=rank[k.seat]) if k.seat in rank else (k if k.out else fresh)
    if all(k.out or k.kept for k in again.values()):
        return after
    return replace(after, casters=again, phase="ready", ended_ns=None, settled={}, by_hand=None, protests=())


def _resolved(table: Table, state: Tada) -> Tada:
    """Successes are scored, the other spells discarded, unused ones kept. Rule: TADA-4 TADA-20"""
    won = successes(table)
    first = would_win(table)[:1]
    scored = dict(state.scored)
    hands, discard = dict(state.hands), list(state.discard)
    for seat, caster in state.casters.items():
        hands[seat] = tuple(card for card in hands.get(seat, ()) if card != caster.spell)
        if seat in won:
            scored[seat] = (*scored.get(seat, ()), caster.spell)
        elif table.options["dealing"] == "companion":
            discard.append(caster.spell)
    state = replace(state, hands=hands, scored=scored, discard=tuple(discard))
    if first:
        winners = state.settled.get("win", first[0])
        return replace(state, phase="over", winners=winners, hexes=(), clock=None)
    spells = deck_of(table).spells()
    aiming = tuple(seat for seat in won if spells[state.casters[seat].spell].effect)
    if aiming and len(table.playing()) > 1:
        return replace(state, phase="effects", aiming=aiming)
    return _next_round(state)


def _next_round(state: Tada) -> Tada:
    used = (*state.feat_discard, state.feat) if state.feat else state.feat_discard
    lasting = tuple(h for h in state.hexes if h.part > state.part)
    return replace(_cleared(state), phase="draw", part=state.part + 1, feat_discard=used, hexes=lasting)


def _aimed(state: Tada, seat: str, target: str) -> Tada:
    hexes = state.hexes
    caster = state.casters.get(seat)
    if target and caster is not None:
        hexes = (*hexes, Hex(target=target, by=seat, spell=caster.spell, part=state.part + 1))
    left = tuple(s for s in state.aiming if s != seat)
    state = replace(state, hexes=hexes, aiming=left)
    return state if left else _next_round(state)


def _left(table: Table, state: Tada, seat: str) -> Tada:
    """The leaver's cards go to the discards; it still counts among the round's players. Rule: TADA-24"""
    cards = state.hands.get(seat, ()) + state.scored.get(seat, ())
    state = replace(
        state,
        hands={s: cards for s, cards in state.hands.items() if s != seat},
        chosen={s: spell for s, spell in state.chosen.items() if s != seat},
        discard=state.discard + cards,
        scored={s: () if s == seat else spells for s, spells in state.scored.items()},
        hexes=tuple(h for h in state.hexes if seat not in (h.target, h.by)),
    )
    state = _each(state, (seat,), out="TADA-24", kept=0)
    if not table.playing():
        return replace(state, phase="over")
    if seat in state.aiming:
        return _aimed(state, seat, "")
    return state
