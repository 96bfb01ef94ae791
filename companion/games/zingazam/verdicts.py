"""Which rulings a fact implies: the rule, the verdict and the sentence why. All they name is open to all."""

from __future__ import annotations

from companion.core.event import Event, Left
from companion.core.ruling import Ruling, breach, ok
from companion.games.zingazam import events as e
from companion.games.zingazam.model import Table, tie_break
from companion.games.zingazam.rulebook import ABILITY_RULES


def rule(before: Table, event: Event, after: Table) -> tuple[Ruling, ...]:
    """The rulings that a fact implies, `before` and `after` it."""
    name = after.name
    match event:
        case e.OldestNamed(seat=seat):
            return (ok("ZAZ-4", f"{name(seat)} is the oldest and leads the first round.", seat),)
        case e.GameBegun(seats=seats):
            return (ok("ZAZ-2", f"{len(seats)} sets are shuffled and held backwards."), *_variant(after))
        case e.HandSpoiled(seat=seat, why=why):
            return (breach("ZAZ-1" if "one set" in why else "ZAZ-2", why, seat),)
        case e.CardPlayed(seat=seat, card=card):
            was_forced = before.game.forced.get(seat)
            chosen = f", as it was chosen (place {was_forced})" if was_forced else ""
            found = [
                ok("ZAZ-15" if was_forced else "ZAZ-5", f"{name(seat)} plays {card.words}{chosen}.", seat)
            ]
            if card.is_cat:
                because = f"A Cat Companion plays like any {card.number}."
                found.append(ok("ZAZ-20", because, seat))
            return tuple(found)
        case e.OneKept(seat=seat):
            return (ok("ZAZ-6", "A 1 is judged at the end of the round.", seat),)
        case e.AbilitySkipped(seat=seat, ability=ability, rule=rule_id, because=because):
            return (ok(rule_id, f"{name(seat)}'s {ability} is skipped. {because}", seat),)
        case e.RoundWon(seat=seat, rule=rule_id, because=because):
            cards = len(before.game.played)
            won = ok(rule_id, f"{name(seat)} takes {_count(cards)}: {because}.", seat)
            return (won, *_ended(after))
        case e.PileStacked(seat=seat):
            return (ok("ZAZ-8", f"{name(seat)}'s cards lie in the order that the table says.", seat),)
        case e.GameCleared():
            return (ok("ZAZ-23", f"Game {after.game.game} begins; points add up."),)
        case Left(seat=seat) if seat in before.game.hands:
            return (
                ok("ZAZ-7", f"{name(seat)} leaves; cards in play and in the score pile stay.", seat),
                *_ended(after),
            )
        case _:
            return _ability(event, after)


def _ability(event: Event, after: Table) -> tuple[Ruling, ...]:
    name = after.name
    match event:
        case e.CardTaken(seat=seat, source=source, place=place, card=card):
            because = f"{name(seat)} takes {_which(place)}, a {card.words}, from {name(source)}'s score pile."
            return (ok("ZAZ-11", because, seat),)
        case e.CardGiven(seat=seat, to=to, place=place, card=card):
            because = (
                f"{name(seat)} gives {_which(place)} of the own score pile, a {card.words}, to {name(to)}."
            )
            return (ok("ZAZ-17", because, seat),)
        case e.CardTurned(seat=seat, position=position):
            which = f"the card at place {position}" if position else "a card"
            return (ok("ZAZ-12", f"{name(seat)} turns {which} to face its owner.", seat),)
        case e.CatDrawn(seat=seat):
            left = after.game.cats_left
            return (ok("ZAZ-13", f"{name(seat)} draws a Cat Companion; {left} are left.", seat),)
        case e.AbilityCopied(seat=seat, ability=ability):
            copied = ABILITY_RULES.get(ability, "ZAZ-14")
            because = f"{name(seat)}'s 5 copies the ability of a {ability} ({copied}), not its number."
            return (ok("ZAZ-14", because, seat),)
        case e.CardChosen(seat=seat, target=target, position=position):
            because = f"{name(seat)} chooses: {name(target)} must play the card at place {position}."
            return (ok("ZAZ-15", because, target),)
        case e.PlayerFrozen(seat=seat, target=target):
            because = f"{name(seat)} freezes {name(target)}, who plays no card in this round."
            return (ok("ZAZ-16", because, target),)
        case _:
            return ()


def _which(place: int) -> str:
    return "the top card" if place == 1 else f"card {place} from the top"


def _count(cards: int) -> str:
    return "the card" if cards == 1 else f"{cards} cards"


def _variant(after: Table) -> tuple[Ruling, ...]:
    if not after.options["variant"]:
        return ()
    return (ok("ZAZ-3", "Played with the variant for few players, as the owner filled it in."),)


def _ended(after: Table) -> tuple[Ruling, ...]:
    """Why the game ends, and by which step it is won. Rule: ZAZ-21 ZAZ-22"""
    state = after.game
    if state.phase != "counted":
        return ()
    found = [ok("ZAZ-21", "The game ends: a player has no card left. Cards left in hands are discarded.")]
    if len(state.hands) < 2:
        found = [ok("ZAZ-21", "The game ends: no two players are left.")]
    return (*found, ok("ZAZ-22", won_by(after)))


def won_by(table: Table) -> str:
    """Who won the game that was counted, and by what, in one sentence. Rule: ZAZ-22"""
    state = table.game
    winners = state.winners
    if not winners:
        return "Nobody has a score pile."
    names = " and ".join(table.name(seat) for seat in winners)
    most = len(state.piles.get(winners[0], ()))
    steps = tie_break(state.piles)
    if not steps:
        return f"{names} wins with the most cards: {most}."
    number, counts = steps[-1]
    if len(winners) > 1:
        return f"{names} share the win: {most} cards each, and equal in every number from 8 to 1."
    told = ", ".join(f"{table.name(seat)} {count}" for seat, count in counts.items())
    return f"{names} wins the tie at {most} cards: most {number}s in the score pile ({told})."
