"""What a sensible referee, and players who lay cards by the rules, would do next."""

from __future__ import annotations

from companion.core import chance
from companion.core.command import Command
from companion.core.geometry import Pose
from companion.core.seat import REFEREE
from companion.games.tacta import commands as c
from companion.games.tacta.actions import primary
from companion.games.tacta.deck import SUITS
from companion.games.tacta.model import (
    Table,
    are_ends_known,
    area,
    bumped,
    ends_of,
    free_place,
    is_measured,
    legal_plays,
    mode,
    most_dots,
    to_be_ruled,
)

U_MM, U_DEG = 0.3, 0.3


def policy(table: Table, salt: int) -> Command | None:
    """One command that moves the game on; None when nobody has anything to do."""
    state = table.game
    lot = f"policy/{salt}"

    def pick(word: str, below: int) -> int:
        return chance.number(table.opened.seed, f"{lot}/{word}", below)

    match state.phase:
        case "setup":
            late = next((s.id for s in table.playing() if s.id not in state.suits), None)
            if mode(table) == "sabotage" and late and all(s.id in state.colours for s in table.playing()):
                first = pick("suit", len(SUITS))
                return c.PassSuits(seat=late, keeps=SUITS[first], passes=SUITS[(first + 1) % len(SUITS)])
            found = primary(table, REFEREE)
            if found is not None and isinstance(found.command, c.Begin):
                width, height = area(table).size_mm
                return c.Begin(pose=Pose(width / 2, height / 2, 10.0), u_mm=U_MM)
            return found.command if found else None
        case "play" | "scoring" if (lies := bumped(table)) is not None:
            return c.NoteRestored(n=lies.n)
        case "ends" | "play":
            doubtful = to_be_ruled(table)
            if doubtful is not None:
                return c.RuleCard(n=doubtful.n, is_legal=not doubtful.is_illegal)
            waiting = [s.id for s in table.playing() if not are_ends_known(table, s.id)]
            if waiting:
                known, deck = state.ends.get(waiting[0], ()), state.decks[waiting[0]]
                if len(known) == 1 and len(deck) > 1:
                    others = [card for card in deck if card not in known]
                    return c.ShowEnds(seat=waiting[0], cards=(*known, others[pick("end", len(others))]))
                if state.counts[waiting[0]] == 1:
                    return c.ShowEnds(seat=waiting[0], cards=(deck[pick("end", len(deck))],))
                first = pick("end", len(deck))
                second = (first + 1 + pick("other end", len(deck) - 1)) % len(deck)
                return c.ShowEnds(seat=waiting[0], cards=(deck[first], deck[second]))
            return _lay(table, pick("card", 10**9)) if state.phase == "play" else None
        case "countdown" if state.go_ns is None:
            return c.CallStart()
        case "scoring":
            if not is_measured(table):
                colour = next((x for x in state.colours.values() if x not in state.entered), None)
                if colour is not None:
                    return c.EnterDots(colour=colour, dots=pick("dots", most_dots(table, colour) + 1))
            return c.Score()
        case "scored":
            return c.NextRound()
        case _:
            return None


def _lay(table: Table, lot: int) -> Command | None:
    state = table.game
    holders = [s.id for s in table.playing() if state.decks.get(s.id)]
    if not holders:
        return None
    seat = state.turn or holders[lot % len(holders)]
    ends = ends_of(table, seat)
    if not ends:
        return None
    if not is_measured(table):
        return c.Lay(seat=seat, card=ends[lot % len(ends)])
    if found := legal_plays(table, ends):
        card, play = found[lot % len(found)]
        return c.Lay(seat=seat, card=card, flipped=play.flipped, pose=play.pose, u_mm=U_MM, u_deg=U_DEG)
    if (pose := free_place(table)) is not None:
        return c.Lay(seat=seat, card=ends[0], pose=pose, u_mm=U_MM, u_deg=U_DEG)
    return c.BoxCard(seat=seat, card=ends[0])
