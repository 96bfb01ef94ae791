"""What each viewer sees. A seat sees the cards that face it and the others' outward ones; nobody else sees any.

Rule: ZAZ-24
"""

from __future__ import annotations

from companion.core.score import Standing, standings
from companion.core.seat import Role, Seat, Viewer
from companion.core.view import Answer, Mark, Row, View, Zone
from companion.games.zingazam.actions import actions, primary
from companion.games.zingazam.model import (
    Played,
    Table,
    dealing_to,
    deck_of,
    is_over,
    is_private,
    lots,
    overall_winners,
    points,
    winner_of,
)
from companion.games.zingazam.phrases import (
    REMINDERS,
    asked,
    counts,
    hand_in_words,
    in_play_in_words,
    may_see,
    place_label,
)
from companion.games.zingazam.verdicts import won_by

KEYS = "6789"


def view(table: Table, viewer: Viewer) -> View:
    """The game's own part of a view."""
    state = table.game
    is_public = viewer.role is Role.PUBLIC
    return View(
        game=table.opened.game,
        viewer=viewer,
        phase=state.phase,
        part=state.part,
        headline=_headline(table),
        seats=table.seats,
        primary=None if is_public else primary(table, viewer),
        actions=() if is_public else actions(table, viewer),
        zones=_zones(table, viewer),
        notices=_notices(table),
        answers=_answers(table, viewer) if viewer.role is Role.SEAT else (),
    )


def _headline(table: Table) -> str:
    """Where the game stands, and whom it waits for."""
    state, name = table.game, table.name
    match state.phase:
        case "setup":
            return (
                f"{name(state.oldest)} leads: shuffle the sets."
                if state.oldest
                else "Who is the oldest player?"
            )
        case "deal" if (found := dealing_to(table)) is not None:
            seat, place = found
            whom = f"facing {name(seat)}" if place in lots(table, seat) else "facing the others"
            return f"Deal card {place} to {name(seat)}, {whom}."
        case "taking" if state.played:
            card, _, because = winner_of(state.played)
            return f"{name(card.seat)} wins the round: {because}."
        case "counted":
            return _final(table)
        case "play":
            return _whose(table)
        case _:
            return ""


def _final(table: Table) -> str:
    if is_over(table) and table.game.game > 1:
        winners = overall_winners(table)
        names = " and ".join(map(table.name, winners))
        return f"{names} {'share' if len(winners) > 1 else 'wins'} after {table.game.game} games."
    return won_by(table)


def _whose(table: Table) -> str:
    state, name = table.game, table.name
    if state.drawing:
        return f"{name(state.drawing)} draws a Cat Companion: which?"
    if state.facing_of:
        return f"Whom did {name(state.facing_of)}'s card face?"
    if state.using is not None:
        seat, ability = state.using.seat, state.using.ability
        copied = " copied with a 5" if state.using.is_copy else ""
        return f"{name(seat)} uses the {ability}{copied}: {REMINDERS.get(ability, '')}".strip()
    if not state.turn:
        return ""
    forced = state.forced.get(state.turn)
    return f"{name(state.turn)} plays {f'the card at place {forced}' if forced else 'a card'}."


def score_table(table: Table) -> tuple[Standing, ...]:
    """Standings by points, or by games won; who wins the tie-break first. Rule: ZAZ-22 ZAZ-23"""
    return standings(points(table), overall_winners(table))


def _zones(table: Table, viewer: Viewer) -> tuple[Zone, ...]:
    """What is in play first. The crowd's board has room for one question, and keeps the score above it."""
    state, is_public = table.game, viewer.role is Role.PUBLIC
    found = []
    if state.played:
        found.append(Zone(id="play", title="In play", rows=_play_rows(table)))
    score = Zone(id="score", title="Score", rows=_score_rows(table))
    if is_public:
        found.append(score)
    if questions := asked(table)[: 1 if is_public else None]:
        rows = tuple(Row(id=f"asked-{id_}", label=question, text=text) for id_, question, text in questions)
        found.append(Zone(id="asked", title="Asked at this point", rows=rows))
    found += [_seat_zone(table, seat, viewer) for seat in table.playing()]
    if state.last is not None and not state.played:
        found.append(Zone(id="last", title="The last round", rows=_last_rows(table)))
    if not is_public:
        found.append(score)
    if not state.played and not is_public:
        rows = tuple(Row(id=f"number-{n}", label=str(n), text=text) for n, text in REMINDERS.items())
        found.append(Zone(id="numbers", title="What the numbers do", rows=rows))
    return tuple(found)


def _play_rows(table: Table) -> tuple[Row, ...]:
    """Each card in play with what its number does, and who is frozen."""
    state = table.game
    best = winner_of(state.played)[0].n if state.played else 0
    wins = (Mark(symbol="", text="wins as it stands", state="done"),)
    rows = [
        Row(id=f"played-{card.n}", label=card.card.words, seat=card.seat, text=REMINDERS.get(card.number, ""),
            marks=wins if card.n == best else (), tone=_tone(table, card, best))
        for card in state.played
    ]  # fmt: skip
    rows += [Row(id=f"frozen-{seat}", label="Frozen", seat=seat, text="plays no card in this round", tone="quiet")
             for seat in state.frozen]  # fmt: skip
    return tuple(rows)


def _tone(table: Table, card: Played, best: int) -> str:
    using = table.game.using
    if using is not None and using.seat == card.seat:
        return "doubt"
    return "good" if card.n == best else ""


def _seat_zone(table: Table, seat: Seat, viewer: Viewer) -> Zone:
    state, rows = table.game, []
    if seat.id in state.hands and state.phase != "counted":
        rows.append(Row(id=f"hand-{seat.id}", label="Hand", text=counts(table, seat.id), seat=seat.id,
                        marks=_hand_marks(table, seat.id, viewer)))  # fmt: skip
    if seat.id in state.piles:
        count = len(state.piles[seat.id])
        text = f"{count} card{'' if count == 1 else 's'}"
        rows.append(Row(id=f"pile-{seat.id}", label="Score pile", text=text, seat=seat.id))
    if state.oldest == seat.id and state.phase in ("setup", "deal"):
        rows.append(Row(id=f"oldest-{seat.id}", label="Oldest", text="leads the first round", seat=seat.id))
    if place := state.forced.get(seat.id):
        text = f"must play the card at place {place}"
        rows.append(Row(id=f"forced-{seat.id}", label="Chosen", text=text, seat=seat.id, tone="doubt"))
    return Zone(id=f"seat-{seat.id}", title=seat.name, rows=tuple(rows), seat=seat.id)


def _hand_marks(table: Table, seat: str, viewer: Viewer) -> tuple[Mark, ...]:
    """The cards of a hand that this viewer sees, each with its place."""
    hand = table.game.hands.get(seat, ())
    return tuple(
        Mark(symbol="", text=place_label(table, viewer, seat, place), state="open")
        for place, held in enumerate(hand, 1)
        if may_see(table, viewer, seat, held)
    )


def _last_rows(table: Table) -> tuple[Row, ...]:
    last = table.game.last
    if last is None:
        return ()
    cards = tuple(Mark(symbol="", text=f"{c.card.words} by {table.name(c.seat)}") for c in last.cards)
    text = f"{last.because[:1].upper()}{last.because[1:]} ({last.rule})."
    return (Row(id="last-won", label="Won by", seat=last.seat, text=text, marks=cards, tone="good"),)


def _score_rows(table: Table) -> tuple[Row, ...]:
    state, rows = table.game, []
    is_of_games = table.options["series"] == "games_won" and int(table.options["games"]) > 1
    one, several = ("game won", "games won") if is_of_games else ("point", "points")
    for standing in score_table(table):
        shared = " (shared)" if standing.shared else ""
        tone = (
            "good"
            if state.phase == "counted" and standing.seat in (overall_winners(table) or state.winners)
            else ""
        )
        score = f"{standing.score} {one if standing.score == 1 else several}"
        rows.append(Row(id=f"score-{standing.seat}", label=table.name(standing.seat), seat=standing.seat, tone=tone,
                        text=f"{score}, place {standing.place}{shared}"))  # fmt: skip
    return tuple(rows)


def _notices(table: Table) -> tuple[str, ...]:
    state = table.game
    found = []
    if state.played and state.using is None and (newest := state.played[-1].number) in REMINDERS:
        found.append(f"{newest}: {REMINDERS[newest]}")
    if state.skip is not None:
        found.append(f"{table.name(state.skip.seat)}'s {state.skip.ability} is skipped. {state.skip.because}")
    few = deck_of(table).few
    if table.options["variant"] and few is not None and few.text:
        found.append(few.text)
    if is_private(table):
        found.append(
            "A card is shown that its owner may not see: no picture is kept or shown until it is in the hand."
        )
    if state.phase == "deal":
        found.append(
            "Somebody other than the owner shows each card to the camera, or enters it where nobody looks on."
        )
    return tuple(found)


def _answers(table: Table, viewer: Viewer) -> tuple[Answer, ...]:
    """Answers kept ready for a question asked by a key: what this seat may see, in words. Rule: ZAZ-24"""
    state, seat = table.game, viewer.seat
    others = " ".join(hand_in_words(table, viewer, other) for other in state.hands if other != seat)
    numbers = " ".join(f"{number}: {text}" for number, text in REMINDERS.items())
    in_play = dict.fromkeys(card.number for card in state.played if card.number in REMINDERS)
    now = " ".join(f"{number}: {REMINDERS[number]}" for number in in_play) or numbers
    piles = ", ".join(f"{table.name(who)} {len(pile)}" for who, pile in state.piles.items()) or "none yet"
    found = [
        Answer(id="my_hand", label="My hand", key="1", text=hand_in_words(table, viewer, seat)),
        Answer(id="others", label="What I see of the others", key="2", text=others or "Nobody holds a card."),
        Answer(id="in_play", label="What is in play", key="3", text=in_play_in_words(table)),
        Answer(id="numbers", label="What the numbers in play do", key="4", text=now),
        Answer(id="score", label="Score piles", key="5", text=f"Cards in the score piles: {piles}."),
    ]
    found += [
        Answer(id=id_, label=question, key=KEYS[n] if n < len(KEYS) else "", text=text)
        for n, (id_, question, text) in enumerate(asked(table))
    ]
    return tuple(found)
