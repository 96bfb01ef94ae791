"""Which rulings a fact implies: the rule, the verdict and the sentence why."""

from __future__ import annotations

import msgspec

from companion.core.clock import Fate
from companion.core.event import Event as AnyEvent
from companion.core.event import EventBody, Joined, Left
from companion.core.fitness import waived
from companion.core.ruling import Ruling, Verdict, breach, ok
from companion.games.tada import events as e
from companion.games.tada.model import (
    Placing,
    SlamSeen,
    Table,
    deck_of,
    heat,
    hexes_now,
    placings,
    spell_of,
    successes,
)
from companion.games.tada.rulebook import HAND, places


def rule(before: Table, event: AnyEvent, after: Table) -> tuple[Ruling, ...]:
    """The rulings that a fact implies, `before` and `after` it."""
    name = after.name
    match event:
        case e.HandsDealt():
            return _dealt(event, after)
        case e.FeatRevealed(feat=feat, instead_of=instead):
            shown = deck_of(after).feats()[feat].name if feat in deck_of(after).feats() else feat
            if instead:
                return (ok("TADA-26", f"{shown} takes the place of a feat that somebody cannot do."),)
            return (ok("TADA-8", f"{shown} binds everyone from GO to the end of the cast."),)
        case e.EffectWaived(seat=seat):
            return (ok("TADA-26", f"{name(seat)} need not suffer that effect.", seat),)
        case e.SpellChosen(seat=seat):
            return (ok("TADA-10", f"{name(seat)} has chosen, in secret.", seat),)
        case e.SpellsRevealed():
            return tuple(
                ok("TADA-10", f"{name(k.seat)} casts {spell.name}: {', '.join(spell.symbols)}.", k.seat)
                for k in after.game.casters.values()
                if (spell := spell_of(after, k.seat))
            )
        case e.GoSet(seats=seats):
            set_ = ok("TADA-11", f"GO is set for {', '.join(map(name, seats))}: all dice are in the cups.")
            return (set_, *waived(after, seats))
        case e.FalseStarted(seat=seat):
            return (breach("TADA-11", f"{name(seat)} slammed before GO: it does not count.", seat),)
        case e.DieLocked(seat=seat, symbol=symbol, slot=slot):
            return (ok("TADA-12", f"{name(seat)} locks {symbol} on place {slot + 1}.", seat),)
        case e.DieReturned(seat=seat, slot=slot):
            return (ok("TADA-12", f"{name(seat)}'s die on place {slot + 1} goes back in the cup.", seat),)
        case e.RollSeen(seat=seat, symbols=symbols):
            return (ok("TADA-12", f"{name(seat)} rolls {', '.join(symbols)}".rstrip() + ".", seat),)
        case e.TaDaCalled(seat=seat):
            return (ok("TADA-14", f"{name(seat)} calls TA-DA!", seat),)
        case e.ClockExtended(by_s=by_s):
            return (ok("TADA-19", f"The round clock is changed by {by_s} s."),)
        case e.TurnEnded(seats=seats):
            who = f" for {', '.join(map(name, seats))}" if seats else ""
            return (ok("TADA-19", f"The round clock ran out{who}: the next one casts."),)
        case e.GaveUp(seat=seat):
            return (ok("TADA-19", f"{name(seat)} gives this spell up.", seat),)
        case e.Slammed() | e.SlamVerified() | e.ProtestNoted() | e.BreachFound():
            return _slam_rulings(before, event, after)
        case e.ProtestsClosed(slams=numbers):
            late = [
                after.name(k.seat) for k in after.game.casters.values() if {s.n for s in k.slams} & {*numbers}
            ]
            because = f"Nobody took up the late slam of {' and '.join(late)} in time: the result stands."
            return (ok("TADA-19", because),)
        case e.CastEnded(by_clock=by_clock):
            is_left = any(k.is_casting for k in after.game.casters.values())
            why = "no earlier slam can be in flight" if is_left else "nobody is left who may cast"
            why = "the round clock ran out" if by_clock else why
            return (ok("TADA-19", f"The cast is over: {why}."),)
        case e.HeatSettled(of=of, winners=winners):
            rule_id = "TADA-4" if of == "win" else "TADA-18"
            return (ok(rule_id, f"The table settles the dead heat: {', '.join(map(name, winners))}."),)
        case e.OrderEntered(order=order, why=why):
            came = ", then ".join(" together with ".join(map(name, group)) for group in order)
            return (ok("TADA-18", f"The finishing order was entered by hand: {came}. {why}".strip()),)
        case e.RoundVoided(why=why):
            return (ok("TADA-5", f"The round does not count and is cast anew. {why}".strip()),)
        case e.RoundResolved():
            return _resolved(before, after)
        case e.EffectAimed(seat=seat, target=target):
            aim = f"aims at {name(target)}, who suffers it in the next round" if target else "spares everyone"
            return (ok("TADA-21", f"{name(seat)} {aim}.", seat), *_bound(after, target))
        case Joined(seat=joined):
            return (ok("TADA-24", f"{joined.name} sits down and draws at the next draw.", joined.id),)
        case Left(seat=seat):
            return (ok("TADA-24", f"{name(seat)} leaves; the cards go to the discards.", seat),)
        case _:
            return ()


def _dealt(event: e.HandsDealt, after: Table) -> tuple[Ruling, ...]:
    if after.options["dealing"] == "table":
        return (ok("TADA-6", "Everyone fills the hand to two spells from the deck on the table."),)
    if after.game.phase == "over":
        return (ok("TADA-7", "No card is left for anybody: the game ends."),)
    hands = after.game.hands
    short = [seat.name for seat in after.playing() if len(hands.get(seat.id, ())) < HAND]
    count = sum(map(len, event.drawn.values()))
    found = [ok("TADA-6", f"Every hand is filled to two spells ({count} drawn).")]
    if short:
        because = f"No card is left to fill the hand of {', '.join(short)}: play on with what is held."
        found = [ok("TADA-7", because)]
    if event.reshuffled:
        found.append(ok("TADA-7", "The discards were shuffled back in, since no card was left."))
    return tuple(found)


def _bound(after: Table, target: str) -> tuple[Ruling, ...]:
    if not target:
        return ()
    last = (
        f"{after.name(target)} is bound in round {after.game.hexes[-1].part} only."
        if after.game.hexes
        else ""
    )
    return (ok("TADA-22", last, target),) if last else ()


def _timed(table: Table, ruling: Ruling, slam: SlamSeen | None) -> Ruling:
    caster = table.game.casters.get(ruling.seat)
    if slam is None or caster is None or caster.go_ns is None:
        return ruling
    t_ms = round((slam.play_ns - caster.go_ns) / 1e6, 3)
    return msgspec.structs.replace(ruling, t_ms=t_ms, u_ms=round(slam.stamp.u_ns / 1e6, 3))


def _slam_rulings(before: Table, event: EventBody, after: Table) -> tuple[Ruling, ...]:
    name = after.name
    match event:
        case e.Slammed(seat=seat):
            caster = after.game.casters.get(seat)
            if caster is None or not caster.slams:
                return ()
            slam = caster.slams[-1]
            if not slam.is_claim:
                because = (
                    f"{name(seat)}'s pad is hit, with no call and symbols not seen yet: a bump, unless the dice or"
                    " the call show a claim."
                )
                return (_timed(after, ok("TADA-15", because, seat), slam),)
            found = [_timed(after, ok("TADA-14", f"{name(seat)} slams and claims the spell.", seat), slam)]
            spell = spell_of(after, seat)
            if spell and 0 < caster.rolls < len(spell.symbols):
                seen = "1 roll was" if caster.rolls == 1 else f"{caster.rolls} rolls were"
                because = (
                    f"{name(seat)} slams for {len(spell.symbols)} symbols and {seen} seen: impossible unless one was"
                    " missed; look before you verify."
                )
                found.append(Ruling(verdict=Verdict.TOO_CLOSE, rule="TADA-16", because=because, seat=seat))
            return tuple(found)
        case e.SlamVerified(seat=seat, slam=number, complete=complete, symbols=symbols):
            caster = after.game.casters.get(seat)
            if caster is None:
                return ()
            looked_at = next((s for s in caster.slams if s.n == number), None)
            slam_entry = (f"entry:{number}",)
            spell = spell_of(after, seat)
            wanted = ", ".join(spell.symbols) if spell else ""
            if complete:
                made = ok("TADA-15", f"{name(seat)} has every symbol: {wanted}.", seat, slam_entry)
                return (_timed(after, made, looked_at),)
            lies = f" It lies: {', '.join(symbols)}." if symbols else ""
            because = f"{name(seat)}'s spell asks for {wanted}.{lies} The slam is void{_then(after, seat)}."
            made = breach("TADA-15", because, seat, slam_entry)
            return (_timed(after, made, looked_at), *_late(before, seat, after))
        case e.ProtestNoted(seat=seat):
            when = "before the end became known after it"
            if after.game.phase == "cast":
                when = "before another's became known only when that one stood in the order"
            because = f"{name(seat)}'s slam from {when}: the referee decides."
            made = Ruling(verdict=Verdict.TOO_CLOSE, rule="TADA-19", because=because, seat=seat)
            return (_timed(after, made, after.game.protests[-1] if after.game.protests else None),)
        case e.BreachFound(seat=seat, of="lock", note=note):
            because = (
                f"{name(seat)} locked a wrong or a second die: the slam is void{_then(after, seat)}. {note}"
            )
            return (breach("TADA-12", because.strip(), seat), *_late(before, seat, after))
        case e.BreachFound(seat=seat, of=of, note=note):
            rule_id = "TADA-22" if of == "effect" else "TADA-9"
            because = f"{name(seat)} did not keep the {of} and fails the spell. {note}".strip()
            return (breach(rule_id, because, seat), *_late(before, seat, after))
        case _:
            return ()


def _then(after: Table, seat: str) -> str:
    """What a void slam means for its seat."""
    if after.game.casters[seat].out:
        return " and the seat is out of the round"
    return " and the seat may go on" if after.game.phase == "cast" else ""


def _late(before: Table, seat: str, after: Table) -> tuple[Ruling, ...]:
    """What becomes of a place that is struck out after the end. Rule: TADA-25"""
    if before.game.phase != "resolve" or seat not in successes(before):
        return ()
    if after.game.phase == "ready":
        return (ok("TADA-25", "The place is cast for again."),)
    up = [after.name(s) for s in successes(after) if s not in successes(before)]
    if heat(after)[0]:
        because = "The dead heat for the places is to be settled anew."
    elif up:
        because = f"{' and '.join(up)} {'move' if len(up) > 1 else 'moves'} up."
    elif len(successes(after)) >= places(after.game.players):
        because = "The places are taken all the same."
    else:
        because = "No verified slam is next: the place stays empty."
    return (ok("TADA-25", because),)


def place_ruling(table: Table, row: Placing) -> Ruling:
    """Why a finisher has this place, or none. Rule: TADA-17 TADA-18"""
    name, players = table.name(row.seat), table.game.players
    room = places(players)
    taken = f"{players} players cast for {room} place{'s' if room > 1 else ''}"
    verdict, rule_id = Verdict.OK, "TADA-18"
    if row.fate is Fate.CONTESTED and not row.is_settled:
        verdict = Verdict.TOO_CLOSE
        tail = "all of them succeed" if row.place else "the table settles it"
        because = f"{name} cannot be told apart from others at the last place: {tail}."
    elif row.is_settled:
        because = f"{name} {'won' if row.place else 'lost'} the dead heat as the table settled it."
    elif row.place:
        shared = ", in a dead heat that nobody can tell apart" if row.shared else ""
        because = f"{name} takes place {row.place}{shared}; {taken}."
        verdict = Verdict.TOO_CLOSE if row.shared else Verdict.OK
    else:
        rule_id = "TADA-17"
        because = f"{name} finished too late for a place: {taken}."
    is_timed = row.adjusted_ms is not None and row.u_ms is not None
    return Ruling(
        verdict=verdict,
        rule=rule_id,
        because=because,
        seat=row.seat,
        t_ms=round(row.adjusted_ms or 0, 3) if is_timed else None,
        u_ms=round(row.u_ms or 0, 3) if is_timed else None,
    )


def _resolved(before: Table, after: Table) -> tuple[Ruling, ...]:
    name = after.name
    found = [place_ruling(before, row) for row in placings(before)]
    won = successes(before)
    for seat, caster in before.game.casters.items():
        if seat in won:
            score = len(after.game.scored.get(seat, ()))
            found.append(ok("TADA-20", f"{name(seat)}'s spell counts: {score} of 6.", seat))
        elif caster.spell in before.game.hands.get(seat, ()) or before.options["dealing"] == "table":
            found.append(ok("TADA-20", f"{name(seat)}'s spell goes to the discards.", seat))
    if after.game.winners:
        shared = len(after.game.winners) > 1
        names = " and ".join(map(name, after.game.winners))
        found.append(ok("TADA-3", f"{names} {'share the win' if shared else 'wins'} with six spells."))
        reached = [s for s in won if len(after.game.scored[s]) >= 6]
        if len(reached) > 1:
            how = "those whose slams came first together win" if shared else "the first verified slam wins"
            if "win" in before.game.settled:
                how = "the table settled who wins"
            found.append(ok("TADA-4", f"Of {len(reached)} who reached six, {how}."))
    return tuple(found)


def hindrances(table: Table, seat_id: str) -> tuple[str, ...]:
    """What binds a seat in this round, in words: the feat and its effects. Rule: TADA-8 TADA-22"""
    deck = deck_of(table)
    feat = deck.feats().get(table.game.feat)
    spells = deck.spells()
    found = [f"{feat.name}: {feat.text}"] if feat else []
    found += [
        f"Effect of {table.name(h.by)}'s {spells[h.spell].name}: {spells[h.spell].effect}"
        for h in hexes_now(table, seat_id)
        if h.spell in spells
    ]
    return tuple(found)
