"""What each fact does to the game. Pure and total."""

from __future__ import annotations

from typing import Any

import msgspec

from companion.core import chance
from companion.core.event import Event, Joined, Left, Opened
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
    must_choose,
    out_at,
    placings,
    successes,
    takes_over,
    would_win,
)
from companion.games.tada.rulebook import BOUNCE_NS, CALL_WINDOW_NS, PROTEST_NS, places

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
            is_over = table.options["dealing"] == "companion" and not any(hands.values())
            return replace(state, phase="over" if is_over else "feat", hands=hands, deck=event.deck,
                           discard=event.discard, has_begun=True)  # fmt: skip
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
            return _left(table, state, seat, moment)
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
            return _go_given(table, state, seats, moment)
        case e.RollSeen(seat=seat, symbols=symbols) if seat in state.casters:
            rolls = 1 + max(state.casters[seat].rolls, state.casters[seat].locked)
            return _each(state, (seat,), rolls=rolls, last_roll=symbols)
        case e.DieLocked(seat=seat, slot=slot, symbol=symbol):
            return _lock(state, seat, slot, symbol)
        case e.DieReturned(seat=seat, slot=slot):
            return _lock(state, seat, slot, None)
        case e.TaDaCalled(seat=seat):
            return _called(state, seat, table.play_ns(moment.at_ns))
        case e.Slammed(seat=seat) if seat in state.casters:
            return _slammed(table, state, event, moment)
        case e.SlamVerified() if event.seat in state.casters:
            return _verified(table, state, event, moment)
        case e.ProtestNoted(seat=seat) if seat in state.casters:
            return _protested(table, state, event, moment)
        case e.ProtestsClosed(slams=numbers):
            return _unclaimed(state, numbers)
        case e.BreachFound() if event.seat in state.casters:
            return _breached(table, state, event, moment)
        case e.GaveUp(seat=seat):
            return _each(state, (seat,), out="TADA-19")
        case e.TurnEnded(seats=seats):
            return replace(_each(state, seats, out="TADA-19"), clock=None)
        case e.ClockExtended(by_s=by_s) if state.clock is not None:
            return replace(state, clock=state.clock.extended(by_s * 1_000_000_000))
        case e.RuledOut(seats=seats):
            return _each(state, seats, is_ruled_out=True)
        case e.CastEnded():
            return replace(state, phase="resolve", ended_ns=table.play_ns(moment.at_ns), clock=None)
        case e.HeatSettled(of=of, winners=winners):
            return replace(state, settled={**state.settled, of: (*state.settled.get(of, ()), *winners)})
        case e.OrderEntered(order=order):
            ended = state.ended_ns if state.ended_ns is not None else table.play_ns(moment.at_ns)
            return replace(state, by_hand=order, phase="resolve", ended_ns=ended, clock=None, settled={})
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
        protests=(), protest_ends_ns=None, aiming=(),
    )  # fmt: skip


def _revealed(table: Table, state: Tada) -> Tada:
    spells = deck_of(table).spells()
    casters = {
        seat: Caster(seat=seat, spell=spell, locks=(None,) * len(spells[spell].symbols))
        for seat, spell in ((s.id, state.chosen.get(s.id)) for s in table.seats)
        if spell in spells
    }
    return replace(state, phase="ready", casters=casters)


def _go_set(table: Table, state: Tada, at_ns: int, seats: tuple[str, ...]) -> Tada:
    state = replace(state, phase="cast" if state.phase == "cast" else "countdown")
    for seat in table.seats:
        if seat.id in seats:
            shift = seat.accommodation.start_shift_ms * 1_000_000
            state = _each(state, (seat.id,), go_ns=table.play_ns(at_ns) + shift)
    return state


def _go_given(table: Table, state: Tada, seats: tuple[str, ...], moment: Moment) -> Tada:
    """GO: who is in the round now counts for the places, and the round clock starts. Rule: TADA-24"""
    players = state.players or sum(not caster.out for caster in state.casters.values())
    limit_ns = int(table.options["round_clock_s"]) * 1_000_000_000
    on_turn = seats if table.options["in_turn"] else tuple(state.casters)
    factors = [seat.accommodation.time_factor for seat in table.seats if seat.id in on_turn]
    length_ns = round(limit_ns * max([1.0, *factors]))
    clock = Timer(from_play_ns=table.play_ns(moment.at_ns), length_ns=length_ns) if limit_ns else None
    return replace(_each(state, seats, has_started=True), phase="cast", clock=clock, players=players)


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
    near = [i for i, s in enumerate(slams) if s.complete is None and 0 <= now - s.play_ns <= CALL_WINDOW_NS]
    if near and not caster.pending and not caster.finish:
        newest = slams[near[-1]].play_ns  # of a pad that bounces the first hit is the slam
        first = next(i for i in near if newest - slams[i].play_ns <= BOUNCE_NS)
        slams[first] = replace(slams[first], is_claim=True, by_call=True)
    return _each(state, (seat,), called_ns=now, slams=tuple(slams))


def _protested(table: Table, state: Tada, event: e.ProtestNoted, moment: Moment) -> Tada:
    """After the end it is a claim; before it what any slam would be. Rule: TADA-19"""
    after = _slammed(table, state, event, moment)
    caster = after.casters[event.seat]
    seen = caster.slams[-1]
    if state.phase == "resolve" and not seen.is_claim:
        seen = replace(seen, is_claim=True)
        after = _each(after, (event.seat,), slams=(*caster.slams[:-1], seen))
    ends_ns = table.play_ns(moment.at_ns) + PROTEST_NS
    return replace(after, protests=(*state.protests, seen), protest_ends_ns=ends_ns)


def _unclaimed(state: Tada, numbers: tuple[int, ...]) -> Tada:
    casters = {
        seat: replace(
            caster,
            slams=tuple(
                replace(slam, is_claim=False) if slam.n in numbers and slam.complete is None else slam
                for slam in caster.slams
            ),
        )
        for seat, caster in state.casters.items()
    }
    return replace(state, casters=casters, protest_ends_ns=None)


def _slammed(table: Table, state: Tada, event: e.Slammed | e.ProtestNoted, moment: Moment) -> Tada:
    """A slam is a claim with the call, with all symbols locked, or where locks are not tracked.

    Rule: TADA-15
    """
    caster = state.casters[event.seat]
    play_ns = table.play_ns(event.stamp.at_ns)
    called = caster.called_ns is not None and abs(play_ns - caster.called_ns) <= CALL_WINDOW_NS
    is_claim = called or caster.is_complete or table.options["locks"] == "untracked"
    seen = SlamSeen(n=moment.entry, stamp=event.stamp, play_ns=play_ns, is_claim=is_claim, rolls=caster.rolls)
    return _with_slam(state, event.seat, seen)


def _with_slam(state: Tada, seat: str, seen: SlamSeen) -> Tada:
    """The caster with one slam more; a bump to which the call was given in error is a bump again."""
    caster = state.casters[seat]
    slams = caster.slams
    if seen.is_claim and takes_over(caster, seen.play_ns):
        slams = tuple(replace(s, is_claim=False, by_call=False) if s.by_call else s for s in slams)
    return _each(state, (seat,), slams=(*slams, seen))


def _verified(table: Table, state: Tada, event: e.SlamVerified, moment: Moment) -> Tada:
    caster = state.casters[event.seat]
    slams = tuple(
        replace(slam, complete=event.complete, symbols=event.symbols, is_claim=True)
        if slam.n == event.slam
        else slam
        for slam in caster.slams
    )
    if event.complete:
        return replace(_each(state, (event.seat,), slams=slams, out=""), settled={})
    is_final = caster.kept > 0 or state.by_hand is not None
    fails = is_final or table.options["void_slam"] == "fails"
    after = _each(state, (event.seat,), slams=slams, out="TADA-15" if fails else "", kept=0)
    return _struck(table, state, after, event.seat, moment)


def _breached(table: Table, state: Tada, event: e.BreachFound, moment: Moment) -> Tada:
    """The seat is out; a wrong lock that was seen after the slam makes that slam void. Rule: TADA-9 TADA-12"""
    caster = state.casters[event.seat]
    claim = caster.pending or caster.finish
    if event.of == "lock" and claim is not None:
        void = e.SlamVerified(seat=event.seat, slam=claim.n, complete=False, symbols=claim.symbols)
        return _verified(table, state, void, moment)
    out = "TADA-22" if event.of == "effect" else "TADA-9"
    return _struck(table, state, _each(state, (event.seat,), out=out, kept=0), event.seat, moment)


def _struck(table: Table, state: Tada, after: Tada, seat: str, moment: Moment) -> Tada:
    """`after` is `state` without the seat's claim: who moves up, and whether a place is cast for again.

    Rule: TADA-25
    """
    before = replace(table, game=state)
    had_place = state.phase == "resolve" and seat in successes(before)
    after = _reopened(table, after, moment)
    if not had_place or table.options["late_strike"] != "recast":
        return after
    rows = [row for row in placings(before) if row.place and row.seat != seat]
    rank = {row.seat: 1 + sum(other.place < row.place for other in rows) for row in rows}
    again: dict[str, Caster] = {}
    for k in after.casters.values():
        fresh = Caster(seat=k.seat, spell=k.spell, locks=(None,) * len(k.locks))
        gone = replace(k, slams=()) if k.out else fresh
        again[k.seat] = replace(k, kept=rank[k.seat]) if k.seat in rank else gone
    if len(rank) >= places(state.players) or all(k.out or k.kept for k in again.values()):
        return after
    return replace(after, casters=again, phase="ready", ended_ns=None, by_hand=None, protests=(),
                   protest_ends_ns=None)  # fmt: skip


def _reopened(table: Table, state: Tada, moment: Moment) -> Tada:
    """The state when somebody's claim fell away: who was too late may be in time again."""
    now, open_ = table.play_ns(moment.at_ns), replace(state, settled={})
    seen = replace(table, game=open_)
    late = {k.seat: (out_at(seen, k), k) for k in state.casters.values() if k.is_ruled_out}
    early = tuple(seat for seat, (instant, _) in late.items() if instant is None or instant > now)
    return _each(open_, early, is_ruled_out=False)


def _resolved(table: Table, state: Tada) -> Tada:
    """Successes are scored, the other spells discarded, unused ones kept. Rule: TADA-4 TADA-7 TADA-20"""
    won = successes(table)
    first = would_win(table)
    scored = dict(state.scored)
    hands, discard = dict(state.hands), list(state.discard)
    is_ours = table.options["dealing"] == "table"  # the cards are in real hands
    if is_ours and any(caster.spell in discard for caster in state.casters.values()):
        discard = []  # what was put away is in play again: they were shuffled back in
    for seat, caster in state.casters.items():
        if seat in won:
            scored[seat] = (*scored.get(seat, ()), caster.spell)
        elif is_ours or caster.spell in hands.get(seat, ()):
            discard.append(caster.spell)
        if seat in hands:
            hands[seat] = tuple(card for card in hands[seat] if card != caster.spell)
    state = replace(state, hands=hands, scored=scored, discard=tuple(discard))
    if first:
        winners = state.settled.get("win", first)
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


def _left(table: Table, state: Tada, seat: str, moment: Moment) -> Tada:
    """The leaver's cards go to the discards; after GO it still counts among the players. Rule: TADA-24"""
    if state.phase == "over":
        return state
    cards = state.hands.get(seat, ()) + state.scored.get(seat, ())
    state = replace(
        state,
        hands={s: cards for s, cards in state.hands.items() if s != seat},
        chosen={s: spell for s, spell in state.chosen.items() if s != seat},
        discard=state.discard + cards,
        scored={s: () if s == seat else spells for s, spells in state.scored.items()},
        hexes=tuple(h for h in state.hexes if seat not in (h.target, h.by)),
    )
    state = _reopened(table, _each(state, (seat,), out="TADA-24", kept=0), moment)
    if not table.playing():
        return replace(state, phase="over", clock=None)
    if seat in state.aiming:
        return _aimed(state, seat, "")
    is_empty = not must_choose(replace(table, game=state))
    if state.phase in ("feat", "choose") and is_empty:
        used = (*state.feat_discard, state.feat) if state.feat else state.feat_discard
        return replace(_cleared(state), phase="draw", feat_discard=used)
    if state.phase in ("ready", "countdown") and all(k.out or k.kept for k in state.casters.values()):
        return replace(state, phase="resolve", ended_ns=table.play_ns(moment.at_ns))
    return state
