"""What the table does back: light, sound and words at each fact."""

from __future__ import annotations

from companion.core.clock import Fate
from companion.core.cue import Cue
from companion.core.event import Event, Resumed
from companion.games.tada import events as e
from companion.games.tada.model import Table, deck_of, placings, spell_of, successes


def cues(before: Table, event: Event, after: Table) -> tuple[Cue, ...]:
    """The cues of one fact; GO and its countdown bear the instant at which they are due."""
    name = after.name
    match event:
        case e.HandsDealt() if after.game.phase == "over":
            return (Cue(target="all", pattern="end", text="No card is left: the game is over.", urgent=True),)
        case e.HandsDealt():
            return (Cue(target="all", pattern="notice", text=f"Round {after.game.part}: hands are dealt."),)
        case e.FeatRevealed(feat=feat):
            shown = deck_of(after).feats().get(feat)
            text = f"Feat: {shown.name}. {shown.text}" if shown else "A feat is revealed."
            return (Cue(target="all", pattern="notice", text=text),)
        case e.SpellsRevealed():
            spells = deck_of(after).spells()
            named = ((name(k.seat), spells[k.spell]) for k in after.game.casters.values())
            return tuple(
                Cue(target="all", pattern="notice", text=f"{who} casts {s.name}: {', '.join(s.symbols)}."
                    + (f" Its effect: {s.effect}" if s.effect else ""))
                for who, s in named
            )  # fmt: skip
        case e.CasterReady(seats=seats):
            return tuple(Cue(target=seat, pattern="ready", text=f"{name(seat)} is ready.") for seat in seats)
        case e.GoSet(seats=seats):
            return (Cue(target="all", pattern="countdown", text="Get ready."), *_go(after, seats))
        case Resumed():
            waiting = tuple(
                k.seat for k in after.game.casters.values() if k.go_ns is not None and not k.has_started
            )
            return _go(after, waiting)
        case e.FalseStarted(seat=seat):
            return (
                Cue(target="all", pattern="false_start", text=f"False start: {name(seat)}.", pads=(seat,)),
            )
        case e.Slammed(seat=seat):
            caster = after.game.casters.get(seat)
            if caster is None or not caster.slams or not caster.slams[-1].is_claim:
                return ()
            return (Cue(target="all", pattern="slam", text=f"{name(seat)} slams!", pads=(seat,)),)
        case e.SlamVerified(seat=seat, complete=complete):
            return (_verified(after, seat) if complete else
                    Cue(target="all", pattern="void", text=f"{name(seat)}'s slam is void.", pads=(seat,)),)  # fmt: skip
        case e.BreachFound(seat=seat, of="lock"):
            text = f"{name(seat)}'s slam is void: a wrong lock."
            return (Cue(target="all", pattern="void", text=text, pads=(seat,)),)
        case e.TurnEnded():
            return (Cue(target="all", pattern="end", text="Time is up: the next one casts.", urgent=True),)
        case e.BreachFound(seat=seat, of=of):
            text = f"{name(seat)} did not keep the {of} and is out of the round."
            return (Cue(target="all", pattern="breach", text=text, pads=(seat,)),)
        case e.CastEnded() | e.OrderEntered():
            return (Cue(target="all", pattern="end", text="Stop: the cast is over.", urgent=True),)
        case e.HeatSettled(of="place", winners=winners):
            place = max((row.place for row in placings(after) if row.seat in winners), default=1)
            text = f"The dead heat is settled for {' and '.join(map(name, winners))}."
            return (Cue(target="all", pattern=f"place_{min(3, place)}", text=text, pads=winners),)
        case e.RoundVoided():
            return (Cue(target="all", pattern="void", text="The round does not count.", urgent=True),)
        case e.RoundResolved():
            return _resolved(before, after)
        case e.EffectAimed(seat=seat, target=target) if target:
            spell = spell_of(before, seat)
            what = f": {spell.effect}" if spell and spell.effect else "."
            text = f"{name(seat)} gives {name(target)} an effect for the next round{what}"
            return (Cue(target="all", pattern="notice", text=text),)
        case _:
            return ()


def _go(after: Table, seats: tuple[str, ...]) -> tuple[Cue, ...]:
    """GO for these seats, each at its own host instant; one cue for all who start together."""
    starts: dict[int, list[str]] = {}
    for seat in seats:
        go_ns = after.game.casters[seat].go_ns if seat in after.game.casters else None
        if go_ns is not None:
            starts.setdefault(after.host_ns(go_ns), []).append(seat)
    racing = {k.seat for k in after.game.casters.values() if not k.out and not k.kept}
    everyone = len(starts) == 1 and racing <= set(seats)
    found = []
    for at_ns, starters in starts.items():
        for target in ("all",) if everyone else starters:
            words = "GO!" if everyone else f"GO, {after.name(target)}!"
            found.append(Cue(target=target, pattern="go", text=words, at_ns=at_ns, urgent=True))
    return tuple(found)


def _verified(after: Table, seat: str) -> Cue:
    rows = placings(after)
    row = next((r for r in rows if r.seat == seat), None)
    if row is not None and not row.place and row.fate is Fate.CONTESTED:
        alike = tuple(r.seat for r in rows if not r.place and r.fate is Fate.CONTESTED)
        text = f"{after.name(seat)}'s spell is complete, in a dead heat for the last place."
        return Cue(target="all", pattern="dead_heat", text=text, pads=alike)
    if row is None or not row.place:
        return Cue(target="all", pattern="notice", text=f"{after.name(seat)}'s spell is complete.")
    if row.shared:
        alike = tuple(r.seat for r in rows if r.shared and r.place == row.place)
        text = f"{after.name(seat)} is number {row.place} in a dead heat."
        return Cue(target="all", pattern="dead_heat", text=text, pads=alike)
    pattern = f"place_{min(3, row.place)}"
    return Cue(target="all", pattern=pattern, text=f"{after.name(seat)} is number {row.place}.", pads=(seat,))


def _resolved(before: Table, after: Table) -> tuple[Cue, ...]:
    if after.game.winners:
        names = " and ".join(after.name(seat) for seat in after.game.winners)
        return (Cue(target="all", pattern="win", text=f"{names} won the game!", urgent=True),)
    won = [after.name(seat) for seat in successes(before)]
    text = f"Spells cast by {', '.join(won)}." if won else "Nobody casts a spell in this round."
    return (Cue(target="all", pattern="notice", text=text),)
