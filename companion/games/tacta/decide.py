"""May it be done, and which facts does it make. Pure and total."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from companion.core.clock import Stamp, is_surely_before
from companion.core.command import Command, Order
from companion.core.event import Event
from companion.core.game import refuse
from companion.core.geometry import Pose
from companion.core.ruling import Verdict
from companion.core.seat import Role
from companion.games.tacta import commands as c
from companion.games.tacta import events as e
from companion.games.tacta.deck import SUITS
from companion.games.tacta.ground import Laid
from companion.games.tacta.model import (
    Table,
    allowance,
    are_ends_known,
    area,
    bumped,
    colour_of,
    deck_of,
    dots_by_colour,
    ends_of,
    ends_wanted,
    free_place,
    front_of,
    full_name,
    ground_of,
    illegal_cards,
    is_countable,
    is_measured,
    is_under_another,
    legal_plays,
    mode,
    most_dots,
    partner,
)
from companion.games.tacta.phrases import key_of, play_in_words, ranked_plays
from companion.games.tacta.placement import Judged, judge
from companion.games.tacta.rulebook import CLICK_U_NS, MOST_U_MM, RACE_NS

Facts = tuple[Event, ...]
FAR_MM = 10_000.0
STEPS = "A round runs set-up, ends, play, scoring; this belongs to another step."


def decide(table: Table, order: Order) -> Facts:
    """The facts that an order makes at this table."""
    rule = RULES.get(type(order.command))
    if rule is None:
        return refuse(order.command, "TABLE-3", "This game has no such command.")
    phases, because_of, judge_it = rule
    if table.game.phase not in phases:
        seat = getattr(order.command, "seat", "")
        if table.game.phase == "over":
            return refuse(order.command, "TACTA-14", "The game is over.", seat)
        return refuse(order.command, because_of, STEPS, seat)
    return judge_it(table, order, order.command)


def _take_colour(table: Table, _: Order, command: c.TakeColour) -> Facts:
    if command.colour not in deck_of(table).colours:
        known = ", ".join(deck_of(table).colours)
        return refuse(command, "TACTA-1", f"There is no such deck; there are: {known}.", command.seat)
    mates = {command.seat, partner(table, command.seat)}
    others = {colour for seat, colour in table.game.colours.items() if seat not in mates}
    if command.colour in others:
        return refuse(command, "TACTA-23", "Somebody else plays with that colour.", command.seat)
    if table.game.colours.get(command.seat) == command.colour:
        return refuse(command, "TACTA-23", "That seat has this colour already.", command.seat)
    return (e.ColourTaken(seat=command.seat, colour=command.colour),)


def _pass_suits(table: Table, _: Order, command: c.PassSuits) -> Facts:
    if mode(table) != "sabotage":
        return refuse(command, "TACTA-21", "Suits are passed in sabotage only.", command.seat)
    if command.keeps == command.passes or {command.keeps, command.passes} - set(SUITS):
        because = f"Two different suits are played, one of them is passed: {', '.join(SUITS)}."
        return refuse(command, "TACTA-21", because, command.seat)
    return (e.SuitsPassed(seat=command.seat, keeps=command.keeps, passes=command.passes),)


def _begin(table: Table, _: Order, command: c.Begin) -> Facts:
    seats = table.playing()
    if len(seats) < 2:
        return refuse(command, "TACTA-23", "Tacta is played by at least two.")
    without = [seat.name for seat in seats if seat.id not in table.game.colours]
    if without:
        return refuse(command, "TACTA-23", f"Everybody takes a colour first: {', '.join(without)}.")
    if mode(table) == "teams" and len(seats) % 2:
        return refuse(command, "TACTA-19", "Partners sit opposite each other: teams need an even number.")
    if mode(table) == "teams" and any(
        table.game.colours[seat.id] != table.game.colours[partner(table, seat.id)] for seat in seats
    ):
        return refuse(command, "TACTA-19", "Partners play with one colour.")
    if mode(table) == "sabotage" and (late := [s.name for s in seats if s.id not in table.game.suits]):
        return refuse(command, "TACTA-21", f"Everybody chooses two suits first: {', '.join(late)}.")
    if wrong := _why_not_pose(command.pose, command.u_mm):
        return refuse(command, "TACTA-3", wrong)
    return (e.RoundBegun(pose=command.pose, flipped=command.flipped, u_mm=command.u_mm),)


def _show_ends(table: Table, order: Order, command: c.ShowEnds) -> Facts:
    seat, deck = command.seat, table.game.decks.get(command.seat, ())
    cards = tuple(full_name(table, seat, card) for card in command.cards)
    if not cards or len(cards) != ends_wanted(table, seat) or len(set(cards)) != len(cards):
        because = "A deck shows its two outermost cards, or the last one; nothing else of it is looked at."
        return refuse(command, "TACTA-4", because, seat)
    if strange := [card for card in cards if card not in deck]:
        return refuse(command, "TACTA-4", f"{strange[0]} is not in that deck any more.", seat)
    if order.actor.role is not Role.REFEREE and (gone := set(ends_of(table, seat)) - set(cards)):
        because = f"{min(gone)} is known to be outermost: only the referee may say that it is not."
        return refuse(command, "TACTA-4", because, seat)
    return (e.EndsShown(seat=seat, cards=cards),)


def _call_start(table: Table, order: Order, command: c.CallStart) -> Facts:
    if table.game.go_ns is not None:
        return refuse(command, "TACTA-20", "The countdown runs already.")
    lead_ns = int(table.options["countdown_s"]) * 1_000_000_000
    return (e.StartSet(at_ns=order.at_ns + lead_ns),)


def _give_start(table: Table, order: Order, command: c.GiveStart) -> Facts:
    go_ns = table.game.go_ns
    if go_ns is None or table.play_ns(order.at_ns) < go_ns:
        return refuse(command, "TACTA-20", "The start is not due.")
    return (e.Started(),)


def _lay(table: Table, order: Order, command: c.Lay) -> Facts:
    clicked = Stamp(at_ns=order.at_ns, u_ns=CLICK_U_NS)
    stamp = clicked if command.stamp is None or order.actor.role is Role.SEAT else command.stamp
    if order.actor.role is Role.SEAT:
        command = msgspec.structs.replace(command, pose=None, u_mm=0.0, u_deg=0.0)
    card = full_name(table, command.seat, command.card)
    if refused := _why_not_lay(table, command, card, stamp):
        return refused
    judged = _judged(table, command, card, stamp)
    is_seen = command.pose is not None and is_measured(table)
    made = e.CardLaid(
        seat=command.seat, card=card, flipped=command.flipped, pose=command.pose, u_mm=command.u_mm,
        judged=judged, is_apart=judged.target is None if is_seen else command.no_play, stamp=stamp,
    )  # fmt: skip
    return (made,)


def _why_not_lay(table: Table, command: c.Lay, card: str, stamp: Stamp) -> Facts:
    state, seat = table.game, command.seat
    is_free = mode(table) == "free_play"
    if state.phase == "scoring" and (state.ended is None or is_surely_before(state.ended, stamp)):
        because = "A deck is empty: what was not released by then does not count." if is_free else STEPS
        return refuse(command, "TACTA-20" if is_free else "TACTA-14", because, seat)
    if card not in state.decks.get(seat, ()):
        return refuse(command, "TACTA-4", "That card is not in that seat's deck.", seat)
    if not is_free and state.turn != seat:
        because = f"It is {table.name(state.turn)}'s turn: the card goes back."
        return refuse(command, "TACTA-5", because, seat)
    if not is_free and (lies := bumped(table)) is not None:
        because = f"Card {lies.n} was bumped: it goes back to its place before play goes on."
        return refuse(command, "TACTA-10", because, seat)
    if are_ends_known(table, seat) and card not in ends_of(table, seat):
        return refuse(command, "TACTA-4", "Only one of the two outermost cards may be played.", seat)
    if wrong := _why_not_pose(command.pose, command.u_mm) or _why_not_angle(command.u_deg):
        return refuse(command, "TACTA-10", wrong, seat)
    return ()


def _why_not_pose(pose: Pose | None, u_mm: float) -> str:
    numbers = () if pose is None else (pose.x_mm, pose.y_mm, pose.angle_deg)
    if not all(math.isfinite(number) and abs(number) <= FAR_MM for number in numbers):
        return "A card's place is given in mm from the table's corner."
    if not 0 <= u_mm <= MOST_U_MM:
        return f"A place is known to {MOST_U_MM:g} mm at least, or it is left out."
    return ""


def _why_not_angle(u_deg: float) -> str:
    return "" if 0 <= u_deg <= 180 else "The uncertainty of an angle lies between 0 and 180 degrees."


def _judged(table: Table, command: c.Lay, card: str, stamp: Stamp) -> Judged:
    """What is said of the card as it was released."""
    if command.pose is None or not is_measured(table):
        rule, what = (
            ("TACTA-11", "no legal play, so it lies apart") if command.no_play else ("TACTA-6", "right")
        )
        return Judged(verdict=Verdict.OK, rule=rule, because=f"Nobody measured it; the table says: {what}.")
    laid = Laid(
        n=table.game.laid + 1, card=front_of(card), colour=colour_of(card), flipped=command.flipped,
        pose=command.pose, u_mm=command.u_mm,
    )  # fmt: skip
    found = judge(ground_of(table), area(table), laid, allowance(table), command.u_deg)
    if mode(table) == "free_play":
        found = _free_play(table, found, card, stamp)
    if found.target is None and found.verdict is Verdict.OK:
        return _apart(table, command, found)
    return found


def _free_play(table: Table, found: Judged, card: str, stamp: Stamp) -> Judged:
    """Not onto the own colour; of two hands on one shape the first counts, or it is too close to call; and so is a card
    that came as the game ended. Rule: TACTA-20"""
    target = next((each for each in table.game.lying if each.n == found.target), None)
    if target is not None and target.n and target.colour == colour_of(card):
        because = "In free play nobody plays on a card of the own colour."
        return msgspec.structs.replace(found, verdict=Verdict.BREACH, rule="TACTA-20", because=because)
    if target is not None and found.rule == "TACTA-22":
        rivals = [
            each
            for each in table.game.lying
            if (each.judged.target, each.judged.on) == (target.n, found.on)
            and abs(stamp.at_ns - each.stamp.at_ns) <= RACE_NS
        ]
        if any(not is_surely_before(rival.stamp, stamp) for rival in rivals):
            because = "Two hands came to one shape within what the clocks can tell."
            return msgspec.structs.replace(
                found, verdict=Verdict.TOO_CLOSE, rule="TACTA-20", because=because, goes_back=True
            )
        if rivals:
            because = "Another hand released a card on that shape first."
            return msgspec.structs.replace(found, rule="TACTA-20", because=because, goes_back=True)
    if table.game.phase == "scoring" and found.verdict is Verdict.OK:
        because = "It came as a deck ran empty, within what the clocks can tell."
        return msgspec.structs.replace(found, verdict=Verdict.TOO_CLOSE, rule="TACTA-20", because=because)
    return found


def _apart(table: Table, command: c.Lay, found: Judged) -> Judged:
    """Laid apart: right where no outermost card has a legal play. Rule: TACTA-11"""
    if not are_ends_known(table, command.seat):
        because = "It lies apart and touches no other; that nothing could be played is the player's word."
        return msgspec.structs.replace(found, rule="TACTA-11", because=because)
    overlooked = legal_plays(table, ends_of(table, command.seat))
    if not overlooked:
        because = "It lies apart and touches no other: neither outermost card had a legal play."
        return msgspec.structs.replace(found, rule="TACTA-11", because=because)
    is_breach = table.options["overlooked_play"] == "illegal"
    because = f"It lies apart, yet {len(overlooked)} legal placements were at hand" + (
        ", and the house does not allow that." if is_breach else "; that is noted and costs nothing."
    )
    verdict = Verdict.BREACH if is_breach else Verdict.OK
    return msgspec.structs.replace(found, verdict=verdict, rule="TACTA-11", because=because)


def _say_no_play(table: Table, _: Order, command: c.SayNoPlay) -> Facts:
    """Where every place is known the player is told what was overlooked. Rule: TACTA-11"""
    seat = command.seat
    if mode(table) != "free_play" and table.game.turn != seat:
        return refuse(command, "TACTA-5", f"It is {table.name(table.game.turn)}'s turn.", seat)
    if not table.game.decks.get(seat):
        return refuse(command, "TACTA-4", "That seat holds no card.", seat)
    if is_measured(table) and not are_ends_known(table, seat):
        return refuse(command, "TACTA-4", "Show the two outermost cards first: then it can be checked.", seat)
    ends = ends_of(table, seat)
    if found := ranked_plays(table, seat, ends):
        told = play_in_words(table, seat, *found[0])
        because = f"{len(found)} legal placements are at hand, such as {told}."
        return refuse(command, "TACTA-11", because, seat)
    return (e.NoPlaySaid(seat=seat, is_checked=is_measured(table)),)


def _aim(table: Table, _: Order, command: c.Aim) -> Facts:
    seat = command.seat
    if not command.at:
        if seat not in table.game.guided:
            return refuse(command, "TACTA-10", "That seat is not guided.", seat)
        return (e.Aimed(seat=seat, card=""),)
    if mode(table) != "free_play" and table.game.turn != seat:
        return refuse(command, "TACTA-5", f"It is {table.name(table.game.turn)}'s turn.", seat)
    for card, play in ranked_plays(table, seat, ends_of(table, seat)):
        if key_of(card, play) == command.at:
            return (e.Aimed(seat=seat, card=card, flipped=play.flipped, pose=play.pose),)
    return refuse(command, "TACTA-6", "That is none of the legal plays of the outermost cards.", seat)


def _note_laying(table: Table, _: Order, command: c.NoteLaying) -> Facts:
    if command.seat not in table.game.guided:
        return refuse(command, "TACTA-10", "That seat is not guided: what lies is laid.", command.seat)
    if wrong := _why_not_pose(command.pose, 0.0):
        return refuse(command, "TACTA-10", wrong, command.seat)
    return (e.LayingSeen(seat=command.seat, flipped=command.flipped, pose=command.pose),)


def _box(table: Table, _: Order, command: c.BoxCard) -> Facts:
    seat, card = command.seat, full_name(table, command.seat, command.card)
    if card not in table.game.decks.get(seat, ()):
        return refuse(command, "TACTA-4", "That card is not in that seat's deck.", seat)
    if mode(table) != "free_play" and table.game.turn != seat:
        return refuse(command, "TACTA-5", f"It is {table.name(table.game.turn)}'s turn.", seat)
    ends = ends_of(table, seat)
    if are_ends_known(table, seat) and card not in ends:
        return refuse(command, "TACTA-4", "Only one of the two outermost cards may be given up.", seat)
    if are_ends_known(table, seat) and legal_plays(table, ends):
        return refuse(command, "TACTA-11", "One of the outermost cards has a legal play.", seat)
    if free_place(table) is not None:
        return refuse(command, "TACTA-11", "There is room to lay a card apart.", seat)
    return (e.CardBoxed(seat=seat, card=card),)


def _rule_card(table: Table, _: Order, command: c.RuleCard) -> Facts:
    card = next((each for each in table.game.lying if each.n == command.n and each.n), None)
    if card is None:
        return refuse(command, "TACTA-9", "There is no such card on the table.")
    if card.ruled == ("legal" if command.is_legal else "illegal"):
        return refuse(command, "TACTA-9", "The table said so already.", card.seat)
    covered = is_under_another(table, card.n) if command.is_covered is None else command.is_covered
    is_late = table.game.phase != "play" and card.n != table.game.laid and mode(table) != "free_play"
    made = e.CardRuled(
        n=card.n, is_legal=command.is_legal, is_covered=covered or is_late, why=command.why[:200]
    )
    return (made,)


def _bump(table: Table, _: Order, command: c.NoteBump) -> Facts:
    card = next((each for each in table.game.lying if each.n == command.n), None)
    if card is None or card.is_bumped:
        return refuse(command, "TACTA-10", "There is no such card, or its bump is noted.")
    moved = command.moved_mm if math.isfinite(command.moved_mm) else 0.0
    return (e.CardBumped(n=card.n, moved_mm=min(FAR_MM, max(0.0, moved))),)


def _restored(table: Table, _: Order, command: c.NoteRestored) -> Facts:
    if not any(each.n == command.n and each.is_bumped for each in table.game.lying):
        return refuse(command, "TACTA-10", "That card was not bumped.")
    return (e.CardRestored(n=command.n),)


def _enter_dots(table: Table, _: Order, command: c.EnterDots) -> Facts:
    if command.colour not in table.game.colours.values():
        return refuse(command, "TACTA-14", "Nobody plays with that colour.")
    most = most_dots(table, command.colour)
    if not 0 <= command.dots <= most:
        because = f"{command.colour} has {most} dots in this game: {command.dots} is a reading error."
        return refuse(command, "TACTA-2", because)
    return (e.DotsEntered(colour=command.colour, dots=command.dots),)


def _score(table: Table, _: Order, command: c.Score) -> Facts:
    if (lies := bumped(table)) is not None:
        return refuse(command, "TACTA-10", f"Card {lies.n} was bumped: it goes back before the count.")
    if not is_countable(table):
        known = dots_by_colour(table)
        missing = [colour for colour in dict.fromkeys(table.game.colours.values()) if colour not in known]
        because = f"Not every card's place is known: enter the visible dots of {', '.join(missing)}."
        return refuse(command, "TACTA-14", because)
    gone = tuple(card.n for card in illegal_cards(table))
    return (e.RoundScored(dots=dots_by_colour(table), taken_away=gone),)


def _next_round(table: Table, _: Order, command: c.NextRound) -> Facts:
    return (e.RoundCleared(),)


Judge = Callable[[Table, Order, Any], Facts]
SETUP, PLAY, END = frozenset({"setup"}), frozenset({"play"}), frozenset({"scoring"})
RULES: Mapping[type[Command], tuple[frozenset[str], str, Judge]] = {
    c.TakeColour: (SETUP, "TACTA-23", _take_colour),
    c.PassSuits: (SETUP, "TACTA-21", _pass_suits),
    c.Begin: (SETUP, "TACTA-23", _begin),
    c.ShowEnds: (frozenset({"ends", "countdown", "play"}), "TACTA-4", _show_ends),
    c.CallStart: (frozenset({"countdown"}), "TACTA-20", _call_start),
    c.GiveStart: (frozenset({"countdown"}), "TACTA-20", _give_start),
    c.Lay: (PLAY | END, "TACTA-5", _lay),
    c.SayNoPlay: (PLAY, "TACTA-11", _say_no_play),
    c.Aim: (PLAY, "TACTA-10", _aim),
    c.NoteLaying: (PLAY, "TACTA-10", _note_laying),
    c.BoxCard: (PLAY, "TACTA-11", _box),
    c.RuleCard: (PLAY | END, "TACTA-12", _rule_card),
    c.NoteBump: (PLAY | END, "TACTA-10", _bump),
    c.NoteRestored: (PLAY | END, "TACTA-10", _restored),
    c.EnterDots: (END, "TACTA-14", _enter_dots),
    c.Score: (END, "TACTA-14", _score),
    c.NextRound: (frozenset({"scored"}), "TACTA-16", _next_round),
}
"""Which steps each command belongs to, the rule that says so, and who judges it."""
