"""What the table does back: light, sound and words at each fact."""

from __future__ import annotations

from companion.core.cue import Cue
from companion.core.event import Event
from companion.games.tahwars import events as e
from companion.games.tahwars.model import Table, title
from companion.games.tahwars.rulebook import PHASES
from companion.games.tahwars.verdicts import lands, strike_in_words


def cues(before: Table, event: Event, after: Table) -> tuple[Cue, ...]:
    """The cues of one fact."""
    return (*_of_event(event, after), *_of_turn(before, after))


def _of_event(event: Event, after: Table) -> tuple[Cue, ...]:
    name = after.name
    match event:
        case e.DieLaunched(seat=seat, kind=kind, number=number, is_off_board=is_off):
            lies = "left the board" if is_off else f"shows {number} on {lands(event.terrains)}"
            text = f"{name(seat)}'s {title(kind)} {lies}."
            return (Cue(target="all", pattern="breach" if is_off else "notice", text=text),)
        case e.HitNoted(seat=seat, kind=kind, tower=tower, is_hit=True):
            text = f"{name(seat)}'s {title(kind)} touched {name(tower)}'s tower."
            return (Cue(target="all", pattern="slam", text=text, pads=(tower,)),)
        case e.MoveTakenBack(seat=seat, ruling=ruling):
            return (Cue(target="all", pattern="breach", text=ruling.because, urgent=True, pads=(seat,)),)
        case e.AttackSettled(seat=seat, strikes=strikes):
            told = " ".join(f"{name(s.tower)}: {strike_in_words(after, s)}." for s in strikes)
            is_won = any(strike.is_success for strike in strikes)
            text = told or f"{name(seat)}'s attack touched no tower."
            return (Cue(target="all", pattern="place_1" if is_won else "void", text=text, pads=(seat,)),)
        case e.QuestCompleted(seat=seat):
            text = f"{name(seat)} completes a quest."
            return (Cue(target="all", pattern="place_2", text=text, pads=(seat,)),)
        case e.PutBack(owner=owner, kind=kind):
            what = title(kind) if kind else "tower"
            return (Cue(target="all", pattern="stop", text=f"Put {name(owner)}'s {what} back.", urgent=True),)
        case _:
            return ()


def _of_turn(before: Table, after: Table) -> tuple[Cue, ...]:
    """A new phase for all, whose turn has come for that seat alone, and who has won."""
    old, new = before.game, after.game
    if new.phase == "over":
        if old.phase == "over":
            return ()
        names = " and ".join(map(after.name, new.winners)) or "Nobody"
        return (Cue(target="all", pattern="win", text=f"{names} wins the game.", pads=new.winners),)
    found = []
    if new.phase != old.phase:
        found.append(Cue(target="all", pattern="notice", text=f"{PHASES[new.phase]}."))
    if new.turn and (new.turn != old.turn or new.phase != old.phase):
        text = f"{after.name(new.turn)}, it is your turn."
        found.append(Cue(target=new.turn, pattern="ready", text=text))
    return tuple(found)
