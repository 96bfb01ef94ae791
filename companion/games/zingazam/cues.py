"""What the table does back: light, sound and words at each fact. What one seat may see is said to that seat alone."""

from __future__ import annotations

from companion.core.cue import Cue
from companion.core.event import Event, Left
from companion.games.zingazam import events as e
from companion.games.zingazam.model import Table, dealing_to, lots, overall_winners, winner_of
from companion.games.zingazam.phrases import REMINDERS
from companion.games.zingazam.verdicts import won_by


def cues(before: Table, event: Event, after: Table) -> tuple[Cue, ...]:
    """The cues of one fact."""
    name, state = after.name, after.game
    match event:
        case e.GameBegun():
            said = (
                "The sets are dealt." if state.phase == "deal" else "Shuffle, and hold your cards backwards."
            )
            return (_all(said), *_next(before, after), *_deal_next(after))
        case e.CardDealt() | e.HandSpoiled():
            return (*_deal_next(after), *_next(before, after))
        case e.CardPlayed(seat=seat, card=card):
            reminder = REMINDERS.get(card.number, "")
            return (
                Cue(
                    target="all", pattern="slam", text=f"{name(seat)} plays {card.words}. {reminder}".strip()
                ),
            )
        case e.AbilitySkipped(seat=seat, ability=ability, because=because):
            text = f"{name(seat)}'s {ability} is skipped. {because}"
            return (Cue(target="all", pattern="void", text=text), *_next(before, after))
        case e.CardTurned(seat=seat, position=position):
            where = f" at place {position}" if position else ""
            return (
                _all(f"{name(seat)} turns a card{where}."),
                *_own(after, seat, position),
                *_next(before, after),
            )
        case e.CatDrawn(seat=seat):
            return (_all(f"{name(seat)} draws a Cat Companion."), *_next(before, after))
        case e.CatTold(seat=seat):
            return (*_own(after, seat, len(state.hands.get(seat, ()))), *_next(before, after))
        case e.RoundWon(seat=seat, because=because):
            won = Cue(
                target="all",
                pattern="place_1",
                text=f"{name(seat)} takes the round: {because}.",
                pads=(seat,),
            )
            return (won, *_next(before, after), *_ended(after))
        case Left():
            return (*_next(before, after), *_ended(after)) if before.game != state else ()
        case _:
            return _of_ability(before, event, after)


def _all(text: str) -> Cue:
    return Cue(target="all", pattern="notice", text=text)


def _of_ability(before: Table, event: Event, after: Table) -> tuple[Cue, ...]:
    name = after.name
    match event:
        case e.CardTaken(seat=seat, source=source, card=card):
            text = f"{name(seat)} takes a {card.words} of {name(source)}'s score pile."
        case e.CardGiven(seat=seat, to=to, card=card):
            text = f"{name(seat)} gives a {card.words} to {name(to)}."
        case e.AbilityCopied(seat=seat, ability=ability):
            text = f"{name(seat)} copies the {ability}. {REMINDERS.get(ability, '')}".strip()
        case e.CardChosen(target=target, position=position):
            text = f"{name(target)} must play the card at place {position}."
        case e.PlayerFrozen(target=target):
            text = f"{name(target)} is frozen and plays no card in this round."
        case e.FacingTold() | e.OneKept():
            return _next(before, after)
        case _:
            return ()
    return (_all(text), *_next(before, after))


def _own(after: Table, seat: str, position: int) -> tuple[Cue, ...]:
    """What a card that faces its owner now is, to that seat alone. Rule: ZAZ-24"""
    hand = after.game.hands.get(seat, ())
    if not 1 <= position <= len(hand) or not hand[position - 1].number or not hand[position - 1].faces_owner:
        return ()
    held = hand[position - 1]
    text = f"Your card at place {position} is a {'cat ' if held.is_cat else ''}{held.number}."
    return (Cue(target=seat, pattern="notice", text=text),)


def _deal_next(after: Table) -> tuple[Cue, ...]:
    """Whose card comes next, to who deals."""
    found = dealing_to(after)
    if found is None:
        return ()
    seat, place = found
    whom = "its owner" if place in lots(after, seat) else "the others"
    text = f"Next: card {place} for {after.name(seat)}, facing {whom}."
    return (Cue(target="referee", pattern="notice", text=text),)


def _next(before: Table, after: Table) -> tuple[Cue, ...]:
    """Whose turn has come, to that seat; or who takes the cards of a finished round."""
    state = after.game
    if state.phase == "taking" and before.game.phase != "taking" and state.played:
        card, _, because = winner_of(state.played)
        return (_all(f"The round is over: {after.name(card.seat)} wins, for {because}."),)
    is_new = state.turn != before.game.turn or (state.using is None and before.game.using is not None)
    if (
        state.phase != "play"
        or not state.turn
        or state.using is not None
        or not (is_new or before.game.phase != "play")
    ):
        return ()
    return (Cue(target=state.turn, pattern="ready", text=f"{after.name(state.turn)}, it is your turn."),)


def _ended(after: Table) -> tuple[Cue, ...]:
    if after.game.phase != "counted":
        return ()
    winners = overall_winners(after)
    pattern = "win" if winners else "end"
    return (Cue(target="all", pattern=pattern, text=won_by(after), pads=winners),)
