"""Which rulings a fact implies: the rule, the verdict and the sentence why."""

from __future__ import annotations

import msgspec

from companion.core.clock import Fate
from companion.core.event import Event as AnyEvent
from companion.core.event import EventBody, Joined, Left
from companion.core.ruling import Ruling, Verdict, breach, ok
from companion.games.tada import events as e
from companion.games.tada.model import (
    Placing,
    SlamSeen,
    Table,
    deck_of,
    hexes_now,
    placings,
    spell_of,
    successes,
)
from companion.games.tada.rulebook import places


def rule(before: Table, event: AnyEvent, after: Table) -> tuple[Ruling, ...]:
    """The rulings that a fact implies, `before` and `after` it."""
    name = after.name
    match event:
        case e.HandsDealt(drawn=drawn, reshuffled=reshuffled):
            dealt = ok(
                "TADA-6", f"Every hand is filled to two spells ({sum(map(len, drawn.values()))} drawn)."
            )
            again = ok("TADA-7", "The discards were shuffled back in, since no card was left.")
            return (dealt, again) if reshuffled else (dealt,)
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
            return (ok("TADA-11", f"GO is set for {', '.join(map(name, seats))}: all dice are in the cups."),)
        case e.FalseStarted(seat=seat):
            return (breach("TADA-11", f"{name(seat)} slammed before GO: it does not count.", seat),)
        case e.DieLocked(seat=seat, symbol=symbol, slot=slot):
            return (ok("TADA-12", f"{name(seat)} locks {symbol} on place {slot + 1}.", seat),)
        case e.DieReturned(seat=seat, slot=slot):
            return (ok("TADA-12", f"{name(seat)}'s die on place {slot + 1} goes back in the cup.", seat),)
        case e.RollSeen(seat=seat, symbols=symbols):
            return (ok("TADA-12", f"{name(seat)} rolls {', '.join(symbols)}.", seat),)
        case e.TaDaCalled(seat=seat):
            return (ok("TADA-14", f"{name(seat)} calls TA-DA!", seat),)
        case e.ClockExtended(by_s=by_s):
            return (ok("TADA-19", f"The round clock is changed by {by_s} s."),)
        case e.GaveUp(seat=seat):
            return (ok("TADA-19", f"{name(seat)} gives this spell up.", seat),)
        case e.Slammed() | e.SlamVerified() | e.ProtestNoted() | e.BreachFound():
            return _slam_rulings(before, event, after)
        case e.CastEnded(by_clock=by_clock):
            why = "the round clock ran out" if by_clock else "no earlier slam can be in flight"
            return (ok("TADA-19", f"The cast is over: {why}."),)
        case e.HeatSettled(of=of, winners=winners):
            rule_id = "TADA-4" if of == "win" else "TADA-18"
            return (ok(rule_id, f"The table settles the dead heat: {', '.join(map(name, winners))}."),)
        case e.OrderEntered():
            return (ok("TADA-18", "The finishing order was entered by hand."),)
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
            caster = after.game.casters[seat]
            slam = caster.slams[-1]
            if not slam.is_claim:
                bump = ok("TADA-15", f"{name(seat)}'s pad was bumped: no call and symbols are missing.", seat)
                return (_timed(after, bump, slam),)
            found = [_timed(after, ok("TADA-14", f"{name(seat)} slams and claims the spell.", seat), slam)]
            spell = spell_of(after, seat)
            if spell and 0 < caster.rolls < len(spell.symbols):
                because = (
                    f"{name(seat)} was seen to roll {caster.rolls} times for {len(spell.symbols)} symbols."
                )
                found.append(breach("TADA-16", because, seat))
            return tuple(found)
        case e.SlamVerified(seat=seat, slam=number, complete=complete, symbols=symbols):
            caster = after.game.casters[seat]
            looked_at = next((s for s in caster.slams if s.n == number), None)
            spell = spell_of(after, seat)
            wanted = ", ".join(spell.symbols) if spell else ""
            if complete:
                made = ok("TADA-15", f"{name(seat)} has every symbol: {wanted}.", seat)
                return (_timed(after, made, looked_at),)
            lies = f" It lies: {', '.join(symbols)}." if symbols else ""
            out = " and is out of the round" if caster.out else " and may go on"
            because = f"{name(seat)}'s spell asks for {wanted}.{lies} The slam is void{out}."
            return (_timed(after, breach("TADA-15", because, seat), looked_at), *_late(before, seat, after))
        case e.ProtestNoted(seat=seat):
            because = f"{name(seat)}'s slam from before the end became known after it: the referee decides."
            made = Ruling(verdict=Verdict.TOO_CLOSE, rule="TADA-19", because=because, seat=seat)
            return (_timed(after, made, after.game.protests[-1] if after.game.protests else None),)
        case e.BreachFound(seat=seat, of=of, note=note):
            rule_id = {"effect": "TADA-22", "lock": "TADA-12"}.get(of, "TADA-9")
            because = f"{name(seat)} did not keep the {of} and fails the spell. {note}".strip()
            return (breach(rule_id, because, seat), *_late(before, seat, after))
        case _:
            return ()


def _late(before: Table, seat: str, after: Table) -> tuple[Ruling, ...]:
    """What becomes of a place that is struck out after the end. Rule: TADA-25"""
    if before.game.phase != "resolve" or seat not in successes(before):
        return ()
    if after.game.phase == "ready":
        return (ok("TADA-25", "The place is cast for again."),)
    up = [after.name(s) for s in successes(after) if s not in successes(before)]
    because = f"{', '.join(up)} moves up." if up else "No verified slam is next: the place stays empty."
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
        rule_id, verdict = "TADA-17", Verdict.BREACH
        because = f"{name} finished too late: {taken}."
    return Ruling(
        verdict=verdict, rule=rule_id, because=because, seat=row.seat, t_ms=round(row.adjusted_ms, 3),
        u_ms=round(row.u_ms, 3),
    )  # fmt: skip


def _resolved(before: Table, after: Table) -> tuple[Ruling, ...]:
    name = after.name
    found = [place_ruling(before, row) for row in placings(before)]
    won = successes(before)
    for seat, caster in before.game.casters.items():
        if seat in won:
            score = len(after.game.scored.get(seat, ()))
            found.append(ok("TADA-20", f"{name(seat)}'s spell counts: {score} of 6.", seat))
        elif not caster.out:
            found.append(ok("TADA-20", f"{name(seat)}'s spell goes to the discards.", seat))
    if after.game.winners:
        shared = len(after.game.winners) > 1
        names = " and ".join(map(name, after.game.winners))
        found.append(ok("TADA-3", f"{names} {'share' if shared else 'wins with'} six spells."))
        reached = [s for s in won if len(after.game.scored[s]) >= 6]
        if len(reached) > 1:
            found.append(ok("TADA-4", f"Of {len(reached)} who reached six, the first verified slam wins."))
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
