"""Which rulings a fact implies: the rule, the verdict and the sentence why."""

from __future__ import annotations

from companion.core.event import Event, Left
from companion.core.ruling import Ruling, Verdict, breach, ok
from companion.games.tacta import events as e
from companion.games.tacta.model import Table, Tacta, colour_of, front_of, is_measured, mode, value


def rule(before: Table, event: Event, after: Table) -> tuple[Ruling, ...]:
    """The rulings that a fact implies, `before` and `after` it."""
    name, state = after.name, after.game
    match event:
        case e.ColourTaken(seat=seat, colour=colour):
            return (ok("TACTA-23", f"{name(seat)} plays {colour}.", seat),)
        case e.SuitsPassed(seat=seat, keeps=keeps, passes=passes):
            return (ok("TACTA-21", f"{name(seat)} keeps {keeps} and passes {passes} to the left.", seat),)
        case e.RoundBegun():
            return (ok("TACTA-3", "The starting card lies in the middle; the decks are in the hands."),)
        case e.EndsShown(seat=seat):
            return _ends_shown(before, event, after)
        case e.StartSet():
            return (ok("TACTA-20", "The countdown runs: at its end everybody plays at once."),)
        case e.Started():
            return (ok("TACTA-20", "Free play has started: no turns, never onto the own colour."),)
        case e.CardLaid(seat=seat):
            return (_card_laid(event, after),)
        case e.CardBoxed(seat=seat, card=card):
            whose = "" if is_measured(before) else ", by the player's word"
            because = f"{name(seat)} has no legal play and finds no free place{whose}: {words(card)} goes to the box."
            return (ok("TACTA-11", because, seat),)
        case e.NoPlaySaid(seat=seat, is_checked=is_checked):
            how = "it was checked" if is_checked else "that is the player's word"
            because = f"{name(seat)} has no legal play with either outermost card: {how}. One is laid apart."
            return (ok("TACTA-11", because, seat),)
        case e.CardRuled():
            return _ruled(before, event, after)
        case e.CardBumped(n=n, moved_mm=moved):
            far = f" by {moved:.0f} mm" if moved else ""
            return (breach("TACTA-10", f"Card {n} was bumped{far}: it goes back before play goes on."),)
        case e.CardRestored(n=n):
            return (ok("TACTA-10", f"Card {n} lies in its place again."),)
        case e.DotsEntered(colour=colour, dots=dots):
            return (ok("TACTA-14", f"{colour} shows {dots} dots, as counted."),)
        case e.RoundScored():
            return _scored(event, state)
        case e.RoundCleared():
            return (ok("TACTA-16", "The table is cleared: next round."),)
        case Left(seat=seat) if seat in before.game.colours:
            return (ok("TACTA-14", f"{name(seat)} leaves; the cards that lie stay and score.", seat),)
        case _:
            return ()


def words(card: str) -> str:
    """A card as people say it: ``blue circle 3``."""
    return f"{colour_of(card)} {front_of(card).replace('-', ' ')}".strip()


def _ends_shown(before: Table, event: e.EndsShown, after: Table) -> tuple[Ruling, ...]:
    seat, name = event.seat, after.name
    shown = " and ".join(words(card) for card in event.cards)
    found = [ok("TACTA-4", f"{name(seat)}'s outermost cards are {shown}.", seat)]
    if before.game.phase == "ends" and after.game.phase == "play":
        starter = after.game.turn
        ends = after.game.ends.get(starter, ())
        lowest = min((value(after, card) for card in ends), default=0)
        found.append(
            ok("TACTA-5", f"{name(starter)} starts: the lowest outermost card shows {lowest}.", starter)
        )
    return tuple(found)


def _card_laid(event: e.CardLaid, after: Table) -> Ruling:
    judged, who = event.judged, after.name(event.seat)
    how = " the other side up" if event.flipped else ""
    because = f"{who} lays {words(event.card)}{how}. {judged.because}"
    return Ruling(verdict=judged.verdict, rule=judged.rule, because=because, seat=event.seat)


def _ruled(before: Table, event: e.CardRuled, after: Table) -> tuple[Ruling, ...]:
    card = next((each for each in before.game.lying if each.n == event.n), None)
    if card is None:
        return ()
    why = f" {event.why}" if event.why else ""
    what = f"{after.name(card.seat)}'s {words(card.card)}"
    if event.is_legal:
        return (ok("TACTA-9", f"The table says that {what} lies right.{why}", card.seat),)
    if event.is_covered:
        because = f"{what} was laid illegally; it stays until scoring and then scores nothing.{why}"
        return (Ruling(verdict=Verdict.BREACH, rule="TACTA-13", because=because, seat=card.seat),)
    if card.card in after.game.boxed:
        spent = "" if mode(after) == "free_play" else " and the turn is spent"
        return (breach("TACTA-12", f"{what} was laid illegally: it leaves the game{spent}.{why}", card.seat),)
    rule_id = {"free_play": "TACTA-20", "sabotage": "TACTA-21"}.get(mode(after), "TACTA-12")
    return (breach(rule_id, f"{what} was laid illegally: it goes back and is played again.{why}", card.seat),)


def _scored(event: e.RoundScored, state: Tacta) -> tuple[Ruling, ...]:
    told = ", ".join(f"{colour} {dots}" for colour, dots in sorted(event.dots.items(), key=lambda p: -p[1]))
    found = [ok("TACTA-14", f"Visible dots: {told}.")]
    if event.taken_away:
        numbers = ", ".join(map(str, event.taken_away))
        found.append(ok("TACTA-13", f"Taken away before the count, for they lay illegally: card {numbers}."))
    if state.phase == "over":
        found.append(ok("TACTA-16", "The game is over; the highest total wins, equal totals share."))
    return tuple(found)
